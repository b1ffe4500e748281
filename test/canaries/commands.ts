import { join } from 'node:path';
import { openTable } from '../../src/cli/command-table.ts';
import { features } from '../../src/features/index.ts';
import { kinds } from '../../src/kinds/index.ts';
import { longRows } from '../long.ts';
import { CLAIM, PROFILE, type Scene } from './scene.ts';

const { commands: COMMANDS } = openTable(features);

/** A command of the program and the formats that it can be shown in. */
export type Known = { readonly name: string; readonly formats: readonly string[] };

/** Every command of the table: a new one is among them at once. */
export function knownCommands(): readonly Known[] {
  return COMMANDS.map(({ name, flags = [] }) => {
    const shown = flags.find(({ spelling }) => spelling === '--format <format>');
    return { name, formats: shown?.choices ?? [''] };
  });
}

/** Commands that need something of their own, and are watched in a test of their own or never end. */
export const APART = ['simulate', 'ui', 'watch', 'queue add', 'queue work', 'queue show'];

type Way = readonly string[];

const AGENT = 'agent.sample';

/** What a command is tried with, and in which order they come: the writing ones first. */
export function waysOf({
  folder,
  outside,
}: Pick<Scene, 'folder' | 'outside'>): Readonly<Record<string, readonly Way[]>> {
  const at = (name: string) => join(folder, name);
  const page = 'knowledge_source.clinic.page';
  const one = (kind: string) => (kind === 'knowledge_source' ? page : `${kind}.sample`);
  return {
    validate: [[], ['--secrets'], ['--strict']],
    schema: [[], ['--out', at('schema.json')]],
    init: [
      ['--yes', '--empty'],
      ['--ci', 'github', '--keep-existing'],
    ],
    // Not `-`: in this process nobody ends standard input.
    fmt: [['--check']],
    explain: [
      [AGENT],
      ['agent.sample.integrations'],
      ['agent.sample.extensions'],
      ['agent.integrations'],
    ],
    'explain graph': [[], ['--rows', '--target', AGENT]],
    completion: [['bash'], ['zsh'], ['fish']],
    plan: [
      ['--out', at('saved.plan')],
      ['--resend-secrets', '--allow-delete', '--accept-conflicts', '--skip-refused'],
      ['--detailed-exitcode', '--target', AGENT],
      ['--recursive', '--out', at('plans')],
    ],
    show: [[at('saved.plan')]],
    'rollout start': ['careful', 'other'].map((name) => [name, '--auto-approve']),
    'rollout run': [[], ['careful']],
    'rollout show': [[], ['careful']],
    'rollout promote': [['careful', '--auto-approve'], []],
    'rollout abort': [['other', '--auto-approve']],
    apply: [
      // What was rolled back just now is held.
      ['--auto-approve', '--accept-conflicts', '--release-hold', '--events', at('events.jsonl')],
      [],
      ['--recursive', '--auto-approve'],
    ],
    drift: [[], ['--detailed-exitcode'], ['--accept', AGENT]],
    pull: [
      ['--dry-run', '--theirs', '--override'],
      ['--new', '--dry-run'],
      ['--skip-refused', '--theirs', '--override', '--allow-dirty'],
    ],
    'snapshot create': [
      ['--out', at('plain.snapshot')],
      ['--out', at('sealed.snapshot'), '--passphrase-file', at('passphrase')],
      ['--out', at('base.snapshot'), '--base', at('plain.snapshot')],
    ],
    'snapshot list': [[folder]],
    'snapshot show': [
      [at('plain.snapshot')],
      [at('sealed.snapshot'), AGENT, '--passphrase-file', at('passphrase')],
      [at('sealed.snapshot'), 'agent.wired', '--passphrase-file', at('passphrase')],
      [at('sealed.snapshot'), AGENT],
    ],
    'snapshot diff': [
      [at('plain.snapshot'), at('base.snapshot')],
      [at('plain.snapshot'), at('sealed.snapshot'), '--passphrase-file', at('passphrase')],
    ],
    rehearse: [
      ['--accept-conflicts', '--out', at('rehearsed.plan')],
      ['--resend-secrets', '--fault', 'lost'],
      ['--from', at('sealed.snapshot'), '--passphrase-file', at('passphrase')],
    ],
    rollback: [
      ['--auto-approve'],
      ['--auto-approve', '--undo-edited'],
      ['--to', at('plain.snapshot'), '--auto-approve', '--undo-edited', '--delete-used'],
    ],
    restore: [
      [at('sealed.snapshot'), '--dry-run', '--passphrase-file', at('passphrase')],
      [at('plain.snapshot'), '--auto-approve'],
      [at('sealed.snapshot'), '--auto-approve', '--over', '--passphrase-file', at('passphrase')],
    ],
    runs: [[]],
    'runs prune': [
      ['--keep', '90d'],
      ['--keep', '1', '--dry-run'],
    ],
    version: [[], ['--check', at('pulled.json')]],
    'state list': [[]],
    'state show': [[AGENT]],
    'state pull': [[]],
    'state mv': [
      [AGENT, 'agent.other'],
      ['agent.other', AGENT],
    ],
    'state rm': [['agent.wired'], ['no.such']],
    'state trust': [['--dry-run'], [AGENT]],
    'state adopt': [[]],
    'state push': [[at('pulled.json'), '--overwrite']],
    'state unlock': [[], ['no-such-lease', '--stop-run']],
    'state migrate': [
      ['--to', at('moved/state.json')],
      ['--to', 'ftp://no.such/place'],
    ],
    'state repair': [[]],
    export: [
      ['--out', join(outside, 'exported')],
      ['--out', join(outside, 'exported'), '--overwrite', '--no-factor'],
    ],
    import: [['--all'], [AGENT, '7d0c6f1e-54a3-4b0e-9b1c-2f6d8e9a0b11']],
    'explain assumptions': [[], ['agent.merge']],
    get: kinds.flatMap(({ name, section }) => {
      const sources = name === 'knowledge_source';
      return [
        [
          sources ? 'knowledge_sources' : section,
          ...(sources ? ['--knowledge-base', 'clinic'] : []),
        ],
        [name, one(name)],
        // Somebody gave this one a header of their own.
        ...(name === 'agent' ? [[name, 'agent.wired']] : []),
      ];
    }),
    history: [[AGENT], ['agent.wired']],
    log: [[], [AGENT], ['agent.wired'], [`${AGENT}.extensions`], ['agent', '--since', '7d']],
    'get payments': [[AGENT], [AGENT, '--refresh']],
    'get calls': [[AGENT], [AGENT, '--transcript', '--summary']],
    metrics: [['--block', 'totals'], []],
    'get usage': [[]],
    'get features': [[], ['--locked']],
    'get models': [[]],
    'get stt_providers': [[]],
    'get organizations': [[]],
    session: [
      ['--profile', PROFILE],
      ['--profile', PROFILE, '--pbx', '--claim', CLAIM],
    ],
  };
}

/** `npm test` tries each command in two ways, and what works on a tree of stacks. */
const isShort = (way: Way, index: number) => index < 2 || way.includes('--recursive');

/** Every command in every way and format, with every switch that makes it say more. */
export function linesOf(scene: Scene, known: readonly Known[]): readonly Way[] {
  const ways = waysOf(scene);
  const order = Object.keys(ways);
  return [...known]
    .filter(({ name }) => !APART.includes(name))
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .flatMap(({ name, formats }) =>
      longRows(ways[name] ?? [], isShort).flatMap((way) =>
        formats.map((format) => [
          ...name.split(' '),
          ...way,
          ...(format === '' ? [] : ['--format', format]),
          '--verbose',
          '--trace-http',
          join(scene.folder, 'trace.jsonl'),
        ]),
      ),
    );
}
