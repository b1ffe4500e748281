import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { openTable } from '../../../src/cli/command-table.ts';
import { buildProgram } from '../../../src/cli/program.ts';
import { SHELLS } from '../../../src/console/flags.ts';
import {
  answer,
  sourceOfArgument,
  sourceOfFlag,
  splitLine,
} from '../../../src/features/editor/answer.ts';
import { completionScript } from '../../../src/features/editor/completion.ts';
import { features } from '../../../src/features/index.ts';
import { VIEWS } from '../../apply/stage.ts';
import '../../e2e/build.ts';
import { withReason } from '../../long.ts';
import { temporaryFolder } from '../../temporary.ts';

const FILES = {
  'callsheet.yaml': `callsheet: 1
platform: { base_url: 'https://platform.example.test' }
variables: { region: { default: north } }
organizations: { harbor: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 }
organization: harbor
environments: { staging: {}, production: {} }
`,
  'clinics.csv': 'slug,name\nalder-bay-main-street,Alder Bay\n"it\'s ""new"" $HOME",Odd\n',
  'agents/fleet.yaml': `agents:
  reception: { name: Front desk }
  clinic:
    for_each: { $file: clinics.csv }
    key: \${each.slug}
    name: \${each.name}
`,
  'old.yaml': 'retry_policies: { gentle: { name: Gentle } }\n',
  '.callsheet/state.json': '{"resources": {"agent.reception": {}, "agent.gone": {}}}',
  '.callsheet/runs/20261121t094500z-1f3a9c.jsonl': '',
  '.callsheet/runs/20261122t094500z-2f3a9c.jsonl': '',
};

const ALDER = 'agent.clinic["alder-bay-main-street"]';
const ODD = 'agent.clinic["it\'s \\"new\\" $HOME"]';

/** A stack in a folder of its own, with the program on the path. */
async function stack(): Promise<{ readonly dir: string; readonly env: NodeJS.ProcessEnv }> {
  const dir = temporaryFolder();
  for (const [name, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), content);
  }
  const bin = join(dir, '.bin');
  await mkdir(bin);
  const quoted = [process.execPath, inject('bin')].map((path) => `'${path}'`).join(' ');
  await writeFile(join(bin, 'callsheet'), `#!/bin/sh\nexec ${quoted} "$@"\n`);
  await chmod(join(bin, 'callsheet'), 0o755);
  for (const shell of SHELLS) await writeFile(join(bin, shell), completionScript(shell));
  return {
    dir,
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: dir,
      HISTFILE: '/dev/null',
      TERM: 'dumb',
      PS1: '$ ',
    },
  };
}

/** What is offered behind these words; the last one is being typed. `--dir` stands behind the command. */
async function offered(words: readonly string[], dir?: string): Promise<readonly string[]> {
  const first = words.findIndex((word) => word === '' || word.startsWith('-'));
  const place = dir === undefined ? [] : ['--dir', dir];
  const typed = words.toSpliced(first < 0 ? 1 : first, 0, ...place);
  const [also, ...lines] = (await answer(['fish', ...typed], {}, features)).trimEnd().split('\n');
  const values = lines.map((line) => line.split('\t')[0] ?? '');
  return also === 'words' ? values : [`(${also})`, ...values];
}

describe('what is offered', () => {
  test.each<readonly [readonly string[], readonly string[]]>([
    [['ap'], ['apply']],
    [['plan', '--detailed'], ['--detailed-exitcode']],
    [
      ['plan', '--format', ''],
      ['text', 'json', 'markdown', ...VIEWS],
    ],
    [['plan', '--format=m'], ['--format=markdown']],
    [['plan', '--quiet', '--format', 'm'], ['markdown']],
    [['plan', '--nothing-such', '--format', 'm'], ['markdown']],
    [
      ['init', '--ci', 'git'],
      ['github', 'gitlab'],
    ],
    [['completion', 'f'], ['fish']],
    [['plan', '--out', ''], ['(files)']],
    [['apply', ''], ['(files)']],
    [['plan', '--concurrency', ''], []],
    [
      ['plan', '--env', ''],
      ['staging', 'production'],
    ],
    [['plan', '--var', ''], ['region=']],
    [
      ['plan', '--target', 'agent.c'],
      ['agent.clinic', ALDER, ODD],
    ],
    [['plan', '--target', 'agent.reception', 'agent.g'], ['agent.gone']],
    [['plan', '--target', 'agent.reception', '--detailed'], ['--detailed-exitcode']],
    [
      ['plan', '--resend-secrets', 'retry'],
      ['retry_policy.gentle', 'retry_policy'],
    ],
    [['pull', 'agent.reception', 'agent.rec'], ['agent.reception']],
    [
      ['history', ''],
      ['agent.reception', 'agent.clinic', ALDER, ODD, 'agent.gone'],
    ],
    [
      ['runs', ''],
      ['prune', '20261122t094500z-2f3a9c', '20261121t094500z-1f3a9c'],
    ],
    [['rollback', '20261121'], ['20261121t094500z-1f3a9c']],
    [['get', 'features', '--organization', ''], ['harbor']],
    [['get', 'agent.re'], ['agent.reception']],
    [['get', 'agents', '--format', 'c'], ['csv']],
    [['get', 'st'], ['stt_providers']],
    [['explain', 'gra'], ['graph']],
    [['get', 'know'], ['knowledge_sources']],
    [['get', 'agents', 'agent.rec'], ['agent.reception']],
    [['explain', 'agent.reception.greeting_m'], ['agent.reception.greeting_message']],
    [['explain', 'retry_policy.rul'], ['retry_policy.rules']],
    [['explain', 'agent.reception.voice_settings.sp'], ['agent.reception.voice_settings.speed']],
    [['explain', 'agent.extensions.tools.ur'], ['agent.extensions.tools.url']],
    [['explain', 'guards.max_d'], ['guards.max_delete']],
    [['log', 'agent.reception.greeting_m'], ['agent.reception.greeting_message']],
    [['simulate', '--dialect', 'mer'], ['merge=']],
    [
      ['simulate', '--dialect', 'merge='],
      ['merge=deep', 'merge=shallow'],
    ],
    [['simulate', '--dialect=merge=s'], ['--dialect=merge=shallow']],
    [['plan', '--env=st'], ['--env=staging']],
    [['plan', '--concurrency', 'nonsense', '--format', 'm'], ['markdown']],
    [['plan', '--', '--form'], []],
    // A second argument where there is but one.
    [['runs', 'x', ''], []],
  ])('%j', async (words, wanted) => {
    const { dir } = await stack();
    expect(await offered(words, words.length === 1 ? undefined : dir)).toEqual(wanted);
  });

  test('no command where an option stands that is refused there', async () => {
    expect(await answer(['fish', '--dir', ''], {}, features)).toBe('words\n');
    expect(await answer(['fish', '--dir', '.', ''], {}, features)).toBe('words\n');
    expect(await answer(['fish', '--v'], {}, features)).toContain('--version');
  });

  test('below groups, and with help', async () => {
    expect(await offered(['state', 'un'])).toEqual(['unlock']);
    expect(await answer(['fish', 'state', 'u'], {}, features)).toContain(
      'unlock\tshow who holds the state',
    );
    expect(await answer(['fish', 'help', 'state', 'm'], {}, features)).toContain('\nmv\t');
    const all = await answer(['fish', ''], {}, features);
    for (const name of ['plan', 'apply', 'state', 'init', 'help'])
      expect(all).toContain(`\n${name}\t`);
  });

  test('of what the state remembers, nothing else', async () => {
    const { dir } = await stack();
    const out = await answer(['fish', 'state', 'show', '--dir', dir, ''], {}, features);
    expect(out).toBe('words\nagent.reception\t\nagent.gone\t\n');
    const elsewhere = { CALLSHEET_STATE: join(dir, 'none.json') };
    expect(await answer(['fish', 'state', 'show', '--dir', dir, ''], elsewhere, features)).toBe(
      'words\n',
    );
  });

  test.each([
    ['no stack', {}],
    ['a broken callsheet.yaml', { 'callsheet.yaml': 'callsheet: [' }],
    ['a broken file', { 'agents/fleet.yaml': 'agents: {{{{' }],
    ['a broken state', { '.callsheet/state.json': '{' }],
    ['a missing table', { 'agents/fleet.yaml': 'agents: { a: { for_each: { $file: no.csv } } }' }],
  ])('with %s nothing is said', async (_, files: Readonly<Record<string, string>>) => {
    const { dir } = await stack();
    if (Object.keys(files).length === 0) await rm(join(dir, 'callsheet.yaml'));
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
    expect(await answer(['zsh', 'plan', '--dir', dir, '--target', ''], {}, features)).toMatch(
      /^words\n/,
    );
  });
});

/** Every command with something in it, by its words. */
function commandsOf(
  command: Command,
  above: readonly string[] = [],
): readonly (readonly [string, Command])[] {
  return command.commands.flatMap((inner): readonly (readonly [string, Command])[] => {
    const path = [...above, inner.name()];
    const below = commandsOf(inner, path);
    // `get` and `explain` run themselves and have others below them.
    const runs = below.length === 0 || inner.registeredArguments.length > 0;
    return runs ? [[path.join(' '), inner], ...below] : below;
  });
}

/** Names by what completes them, without those that only whoever types them knows. */
function bySource(found: readonly (readonly [name: string, source: string])[]) {
  const known = found.filter(([, source]) => source !== 'nothing');
  return Object.fromEntries(
    [...Map.groupBy(known, ([, source]) => source)].map(([source, names]) => [
      source,
      [...new Set(names.map(([name]) => name))].sort().join(' '),
    ]),
  );
}

test('every flag and every argument is completed from where its values come', () => {
  const all = commandsOf(buildProgram(openTable(features), () => async () => undefined, ''));
  const flags = all.flatMap(([, { options }]) =>
    options
      .filter((one) => (one.required || one.optional) && one.argChoices === undefined)
      .map((one) => [one.long ?? '', sourceOfFlag(one)] as const),
  );
  expect(bySource(flags)).toEqual({
    addresses: '--accept --exclude --resend-secrets --target',
    dialects: '--dialect',
    environments: '--env',
    files:
      '--base --check --config --events --from --identity --out --passphrase-file --secrets --secrets-file --seed --state --to --trace-http --var-file',
    folders: '--dir --media',
    knowledge_bases: '--knowledge-base',
    organizations: '--organization',
    rollouts: '--rollout',
    variables: '--var',
  });
  const given = all.flatMap(([path, { registeredArguments }]) =>
    registeredArguments
      .filter(({ argChoices }) => argChoices === undefined)
      .map((one) => [`${path} ${one.name()}`, sourceOfArgument(path, one.name())] as const),
  );
  expect(bySource(given.map(([name, source]) => [name.replaceAll(' ', '_'), source]))).toEqual({
    addresses:
      'get_resource import_address pull_addresses snapshot_show_resource state_mv_addresses',
    agents: 'get_calls_agent get_payments_agent history_agent',
    explained: 'explain_name log_address[.field]',
    files:
      'apply_planfile fmt_files rehearse_planfile restore_file show_planfile snapshot_diff_earlier snapshot_diff_later snapshot_show_file state_push_file ui_planfile',
    folders: 'queue_add_plans snapshot_list_folder',
    readable: 'get_what',
    remembered: 'state_list_addresses state_rm_addresses state_show_address state_trust_addresses',
    rollouts: 'rollout_abort_name rollout_promote_name rollout_run_name rollout_show_name',
    runs: 'rollback_run runs_id',
  });
});

test.each([
  ['a b', ['a'], 'b', ''],
  ['a b ', ['a', 'b'], '', ''],
  ["a 'b c", ['a'], 'b c', "'"],
  ['a "b \\" $x', ['a'], 'b " $x', '"'],
  ['a b\\ c\\[\\"', ['a'], 'b c["', ''],
  [`a 'b'"c"d `, ['a', 'bcd'], '', ''],
  ["a '' b", ['a', ''], 'b', ''],
])('%s is split as a shell does', (line, words, text, quote) => {
  const split = splitLine(line);
  expect(split.words).toEqual(words);
  expect(split.current).toMatchObject({ text, quote });
});

/** Whether a shell is on this machine; bash always is. */
function has(shell: string): boolean {
  try {
    execFileSync(shell, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('bash', () => {
  // The last part is what bash replaces: `=` and a quote begin one.
  test.each([
    [
      'callsheet plan --target ',
      'agent.clinic\\[\\"al',
      'agent.clinic\\[\\"alder-bay-main-street\\"\\]',
    ],
    ["callsheet plan --target '", 'agent.clinic["al', ALDER],
    [
      'callsheet plan --target "',
      'agent.clinic[\\"al',
      'agent.clinic[\\"alder-bay-main-street\\"]',
    ],
    ['callsheet plan --format=', 'mark', 'markdown'],
  ])('%s%s', async (before, part, wanted) => {
    const line = before.replace('--target', `--dir '${(await stack()).dir}' --target`) + part;
    const said = await answer(['bash', line, part], {}, features);
    expect(said).toBe(`words\n${wanted}\t\n`);
  });

  // A terminal of its own, in which a person presses the tabulator.
  const hasScript = has('script');
  const typed = 'a word that was completed is read as the address';
  test.skipIf(!hasScript)(withReason(typed, hasScript, 'there is no script in PATH'), async () => {
    const { dir, env } = await stack();
    const child = spawn('script', ['-qec', 'bash --norc --noprofile -i', '/dev/null'], {
      cwd: dir,
      env,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    const says = (text: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          if (!said.includes(text)) return;
          child.stdout.off('data', look);
          said = '';
          resolve();
        };
        child.stdout.on('data', look).once('end', () => reject(new Error(`no ${text} in ${said}`)));
        look();
      });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const echo = `callsheet() { if [ "$1" = __complete ]; then command callsheet "$@"; else printf '<%s>' "$@"; fi; }`;
    child.stdin.write(`source .bin/bash; ${echo}; echo rea""dy\r`);
    await says('ready');
    for (const typed of ['agent.clinic\\[\\"al', '\'agent.clinic["al', '"agent.clinic[\\"al']) {
      child.stdin.write(`callsheet plan --target ${typed}\t`);
      await says('main-street');
      child.stdin.write('\r');
      await says(`<plan><--target><${ALDER}>`);
    }
    child.stdin.write('callsheet plan --target \'agent.clinic["it\t');
    await says('HOME');
    child.stdin.write('\r');
    await says(`<${ODD}>`);
    const closed = once(child, 'close');
    child.stdin.write('exit\r');
    await closed;
  });
});

describe('fish', () => {
  const hasFish = has('fish');
  const offers = 'offers what Callsheet does';
  test.skipIf(!hasFish)(withReason(offers, hasFish, 'there is no fish in PATH'), async () => {
    const { dir, env } = await stack();
    const ask = (line: string) =>
      execFileSync('fish', ['--no-config', '-c', 'source .bin/fish; complete -C $argv[1]', line], {
        ...{ cwd: dir, env, encoding: 'utf8' },
      });
    expect(ask('callsheet plan --target \'agent.clinic["al')).toBe(`${ALDER}\n`);
    expect(ask('callsheet state m')).toContain('mv\tgive a resource another address');
    expect(ask('callsheet apply old')).toBe('old.yaml\n');
  });
});

test.each(SHELLS.filter(has))('the script for %s is one that it reads', async (shell) => {
  const { dir } = await stack();
  execFileSync(shell, ['-n', join(dir, '.bin', shell)]);
});

test('an unknown shell has no answer', async () => {
  expect(await answer(['tcsh', 'pl'], {}, features)).toBe('words\n');
  expect(await answer([], {}, features)).toBe('words\n');
});
