import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { openTable } from '../../src/cli/command-table.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { features } from '../../src/features/index.ts';
import { startSimulator } from '../../src/simulator/index.ts';
import { COMMIT } from '../e2e/clinic.ts';
import { runHere } from '../e2e/in-process.ts';
import { numbered, oddAgent } from './bags.ts';
import { openEcho } from './echo.ts';
import { filesBelow } from './leaks.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
/** The places that one agent has at most. */
const PLACES = 200;

/** Every format that a command has. */
function formatsOf(command: string): readonly string[] {
  const { flags = [] } = openTable(features).commands.find(({ name }) => name === command) ?? {};
  return flags.find(({ spelling }) => spelling.startsWith('--format '))?.choices ?? [];
}

/** What one command showed. */
type Shown = { readonly by: string; readonly text: string };

const canariesIn = (text: string, kind: 's' | 'n' | 'p', generation: string) =>
  new Set(text.match(new RegExp(`canary-${kind}-\\d{4}-${generation}`, 'g')));

/** What goes wrong for one set of agents: secrets that something shows, and plain values that `get` does not. */
export type Verdict = {
  readonly leaks: readonly string[];
  readonly missing: readonly string[];
  /** How many plain values were written into files: neither refuses everything. */
  readonly written: { readonly pull: number; readonly export: number };
};

/**
 * A fleet of odd agents is applied, edited in the dashboard in every value, and looked at, pulled, exported, kept,
 * written and rolled back in every way there is.
 */
export async function throughEveryWalker(
  seed: number,
  agents: number,
  isThorough: boolean,
): Promise<Verdict> {
  const odd = fc.sample(oddAgent, { numRuns: agents, seed });
  const documents = (generation: string) =>
    odd.map((one, index) => numbered(one, generation, index * PLACES));
  const sim = await startSimulator({
    seed: {
      organizations: [{ id: HARBOR, name: 'Harbor' }],
      keys: [{ client_id: 'walkers', client_secret: 'walked' }],
    },
  });
  const platform = await openEcho(sim.url);
  const folder = await mkdtemp(join(tmpdir(), 'callsheet-walkers-'));
  const exported = `${folder}-exported`;
  const env = {
    CALLSHEET_FINGERPRINT_KEY: 'a key that the team keeps',
    CALLSHEET_BASE_URL: platform.url,
    CALLSHEET_CLIENT_ID: 'walkers',
    CALLSHEET_CLIENT_SECRET: 'walked',
    CI_COMMIT_SHA: COMMIT,
  };
  const shown: Shown[] = [];
  const run = async (...line: readonly string[]) => {
    const trace = join(folder, 'trace.jsonl');
    const argv = [...line, '--dir', folder, '--verbose', '--trace-http', trace];
    const { out, err, exit } = await runHere(argv, { cwd: folder, env });
    shown.push({ by: line.join(' '), text: out + err });
    return { out, exit, err };
  };
  try {
    const before = documents('a');
    const sections = before.map(({ own }, index) => [
      `odd${index}`,
      { name: `Odd ${index}`, ...own },
    ]);
    await writeFile(
      join(folder, 'callsheet.yaml'),
      JSON.stringify(
        {
          callsheet: 1,
          organizations: { harbor: HARBOR },
          organization: 'harbor',
          agents: Object.fromEntries(sections),
        },
        null,
        2,
      ),
    );
    await run('validate');
    const applied = await run('apply', '--auto-approve');
    if (applied.exit !== 0) throw new Error(`the odd agents cannot be applied:\n${applied.err}`);
    const after = documents('b');
    for (const { record } of [...sim.store.agents.values()]) {
      const { own, theirs } = after[Number(String(record.name).slice(4))] ?? {};
      sim.edit(String(record.id), { ...own, ...theirs } as JsonObject);
    }
    const { out: got } = await run('get', 'agents', '--format', 'json');
    const whole: string[] = [got];
    for (const index of odd.keys())
      whole.push((await run('get', 'agent', `agent.odd${index}`, '--format', 'json')).out);
    for (const format of formatsOf('plan'))
      await run('plan', '--out', join(folder, 'a.plan'), '--format', format);
    for (const format of isThorough ? formatsOf('drift') : ['text'])
      await run('drift', '--format', format);
    await run('get', 'agent', 'agent.odd0');
    await run('explain', 'agent.odd0.extensions');
    await run('history', 'agent.odd0');
    await run('export', '--out', exported);
    await run('snapshot', 'create', '--out', join(folder, 'plain.snapshot'));
    await run('snapshot', 'show', join(folder, 'plain.snapshot'), 'agent.odd0');
    await run('pull', '--theirs', '--dry-run', '--skip-refused');
    await run('pull', '--new', '--dry-run');
    if (isThorough) await run('rehearse', '--accept-conflicts');
    platform.set({ to: 'writes', status: 400, shape: 'issues' });
    await run('apply', '--auto-approve', '--accept-conflicts');
    platform.set(undefined);
    await run(
      'apply',
      '--auto-approve',
      '--accept-conflicts',
      '--events',
      join(folder, 'events.jsonl'),
    );
    for (const format of ['text', 'json', 'markdown']) {
      await run('log', '--format', format);
      await run('log', 'agent.odd0', '--format', format);
    }
    await run('state', 'show', 'agent.odd0');
    await run('rollback', '--auto-approve', '--undo-edited');
    const kept = await filesBelow(folder, new Set(['callsheet.yaml']));
    const files = await filesBelow(exported, new Set());
    const seen = [...shown, ...[...kept, ...files].map(({ name, text }) => ({ by: name, text }))];
    const leaks = ['a', 'b'].flatMap((generation) =>
      (['s', 'n'] as const).flatMap((kind) =>
        seen
          .filter(({ by }) => !(kind === 'n' && generation === 'a' && isPlan(by)))
          .flatMap(({ by, text }) =>
            [...canariesIn(text, kind, generation)].map(
              (canary) => `${by}: ${around(text, canary)}`,
            ),
          ),
      ),
    );
    const open = canariesIn(whole.join('\n'), 'p', 'b');
    const missing = [...canariesIn(JSON.stringify(after), 'p', 'b')].filter(
      (one) => !open.has(one),
    );
    // At last, since it writes into the configuration, where the secrets of the other generation stand.
    await run('pull', '--theirs', '--skip-refused', '--allow-dirty');
    const pulled = await readFile(join(folder, 'callsheet.yaml'), 'utf8');
    const written = {
      pull: canariesIn(pulled, 'p', 'b').size,
      export: canariesIn(files.map(({ text }) => text).join('\n'), 'p', 'b').size,
    };
    const wrote = (['s', 'n'] as const)
      .flatMap((kind) => [...canariesIn(pulled, kind, 'b')])
      .map((canary) => `pull wrote: ${around(pulled, canary)}`);
    return { leaks: [...leaks, ...wrote], missing, written };
  } finally {
    await platform.close();
    await sim.close();
    for (const one of [folder, exported]) await rm(one, { recursive: true, force: true });
  }
}

/** Tells plans, which show what stands in the files in clear, whatever its name. */
function isPlan(by: string): boolean {
  return /^(?:plan|apply|drift|rehearse|rollback)\b|^a\.plan$/.test(by);
}

const AROUND = 80;

function around(text: string, canary: string): string {
  const at = text.indexOf(canary);
  return text.slice(Math.max(0, at - AROUND), at + AROUND);
}
