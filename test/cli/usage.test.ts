import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type CommandEntry, openTable } from '../../src/cli/command-table.ts';
import { COMMON_FLAGS, type Flag } from '../../src/console/flags.ts';
import { features } from '../../src/features/index.ts';
import type { Transport } from '../../src/platform/transport.ts';
import { openFileStore } from '../../src/state/file/store.ts';
import { began, ended, recorded, resource } from '../state/sample.ts';
import { doRun } from '../state/stores.ts';
import { temporaryFolder } from '../temporary.ts';
import { run, runWith } from './command-line.ts';

const { commands: COMMANDS, groups: GROUPS } = openTable(features);

/** A wrong line is told in one line of one sentence, nothing is printed besides, and the exit code is 1. */
async function sentenceOf(argv: readonly string[]): Promise<string> {
  const { exit, said } = await run(...argv);
  expect(exit, argv.join(' ')).toBe(1);
  expect(said).toMatch(/^Error: [^\n]+[.?]\n$/);
  expect(said.replace(/\.\.\./g, '')).not.toMatch(/[.?!] [A-Z]/);
  return said.slice('Error: '.length).trimEnd();
}

/** What a command must be given, in words that it takes. */
function needed({ args = [], flags = [] }: CommandEntry): readonly string[] {
  return [
    ...args.flatMap(({ name, choices }) => (name.startsWith('<') ? [choices?.[0] ?? 'x'] : [])),
    ...flags.flatMap(({ spelling, isRequired }) =>
      isRequired === true ? [spelling.split(' ')[0] ?? '', 'x'] : [],
    ),
  ];
}

/** A wrong line, and what is said of it. */
type Wrong = readonly [argv: readonly string[], says: string | RegExp];

/**
 * Every wrong line of a command that its entry tells: for each option and argument one that is missing, unknown,
 * empty, given twice, or with a slip in its name or value.
 */
function wrongLines(entry: CommandEntry): readonly Wrong[] {
  const { name, args = [] } = entry;
  const words = name.split(' ');
  const path = `callsheet ${name}`;
  // Those of every command are read the same way everywhere.
  const flags = [...(name === 'plan' ? COMMON_FLAGS : []), ...(entry.flags ?? [])];
  const requiredFlags = needed({ ...entry, args: [] });
  const requiredArgs = needed({ ...entry, flags: [] });
  const given = args.map(({ choices }) => choices?.[0] ?? 'x');
  return [
    [[...words, '--no-such-thing'], `unknown option '--no-such-thing': \`${path} --help\` lists`],
    ...flags.flatMap((flag) => wrongOptions(words, flag)),
    ...args.flatMap(({ name: one, choices }, at): Wrong[] => {
      const before = given.slice(0, at);
      return [
        ...(choices === undefined
          ? [
              [
                [...words, ...requiredFlags, ...before, '', ...given.slice(at + 1)],
                `argument '${one}' is empty: \`${path} --help\``,
              ] as const,
            ]
          : []),
        ...(choices ?? []).flatMap((choice) =>
          slipsOf(choice, choices ?? []).map(
            (slip): Wrong => [
              [...words, ...requiredFlags, ...before, slip],
              `'${slip}' is invalid for argument '${one.slice(1, -1)}': allowed choices are ${choices?.join(', ')}; did you mean ${choice}?`,
            ],
          ),
        ),
      ];
    }),
    ...args.flatMap(({ name: one }, at): Wrong[] => {
      const bare = one.slice(1, -1).replace('...', '');
      return one.startsWith('<')
        ? [
            [
              [...words, ...requiredFlags, ...given.slice(0, at)],
              `missing argument '${bare}': ${path} <`,
            ],
          ]
        : [];
    }),
    ...(args.some(({ name: one }) => one.includes('...'))
      ? []
      : [
          [
            [...words, ...given, 'surplus', ...requiredFlags],
            new RegExp(`^too many arguments: ${path} takes .*surplus\\.$`),
          ] as const,
        ]),
    ...(requiredFlags.length > 0
      ? [[[...words, ...requiredArgs], `${path} needs it`] as const]
      : []),
  ];
}

function wrongOptions(words: readonly string[], flag: Flag): readonly Wrong[] {
  const { spelling, choices, parse, isRepeatable } = flag;
  const [name = '', value = ''] = spelling.split(' ');
  const meant = `did you mean ${name}?`;
  const slips: readonly Wrong[] = [
    ...[...slipsOf(name.slice(2)).map((slip) => `--${slip}`), `${name.slice(1)}=x`].map(
      (slip): Wrong => [[...words, slip], `unknown option '${slip}': ${meant}`],
    ),
  ];
  if (value === '') return slips;
  const missing: Wrong[] = [
    [[...words, name], `option '${spelling}' argument missing`],
    [[...words, name, '--help'], `option '${spelling}' argument missing`],
  ];
  const values = choices ?? VALUES.filter((one) => isRead(parse, one));
  const [first = 'x', second = first] = values;
  const isSingle = isRepeatable !== true && !value.includes('...');
  return [
    ...slips,
    ...(value.startsWith('<') ? missing : []),
    [[...words, `${name}=`], `option '${spelling}' is empty`],
    ...(isSingle
      ? ([
          [[...words, name, first, name, first], `option '${name}' is given twice: give it once.`],
          ...(second === first
            ? []
            : [
                [
                  [...words, name, first, name, second],
                  `option '${name}' is given twice: choose one of ${first} and ${second}.`,
                ] as const,
              ]),
        ] as const)
      : []),
    ...(choices ?? []).flatMap((choice) =>
      slipsOf(choice, choices ?? []).map(
        (slip): Wrong => [
          [...words, name, slip],
          `'${slip}' is invalid: allowed choices are ${(choices ?? []).join(', ')}; did you mean ${choice}?`,
        ],
      ),
    ),
  ];
}

/** A word with a letter too many, one too few, and two that changed places; none of them a right word. */
function slipsOf(word: string, right: readonly string[] = []): readonly string[] {
  const middle = word.length >> 1;
  const slips = [
    `${word}${word.slice(-1)}`,
    `${word.slice(0, middle)}${word.slice(middle + 1)}`,
    `${word.slice(0, middle - 1)}${word[middle]}${word[middle - 1]}${word.slice(middle + 1)}`,
  ];
  // What is left of a word of two letters may be any of them.
  const told = word.length > 2 ? slips : slips.slice(0, 1);
  return told.filter((slip) => slip !== word && !right.includes(slip));
}

const VALUES = ['x', 'y', '1', '2', '1m', '2m', '127.0.0.1:80', '127.0.0.1:81'];

/** Whether a flag takes a value. */
function isRead(parse: Flag['parse'], value: string): boolean {
  try {
    parse?.(value, undefined);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with how a line ended: it is one sentence with the nearest right one, exit 1, and nothing else. */
async function complaintsOf([argv, says]: Wrong): Promise<readonly string[]> {
  const { exit, said } = await run(...argv);
  const sentence = said.slice('Error: '.length).trimEnd();
  const isSaid = typeof says === 'string' ? sentence.includes(says) : says.test(sentence);
  const isOne =
    /^Error: [^\n]+[.?]\n$/.test(said) && !/[.?!] [A-Z]/.test(said.replaceAll('...', ''));
  return exit === 1 && isSaid && isOne
    ? []
    : [`${argv.join(' ')}: exit ${exit}, ${said}; not ${says}`];
}

describe('what each command is given wrongly', () => {
  test.each(COMMANDS.map((entry) => [entry.name, entry] as const))('%s', async (_, entry) => {
    const complaints: string[] = [];
    for (const line of wrongLines(entry)) complaints.push(...(await complaintsOf(line)));
    expect(complaints).toEqual([]);
  });

  // What `explain` does not know may be a field, and what `runs` does not know a run.
  const names = [...COMMANDS.map(({ name }) => name), ...Object.keys(GROUPS)].filter(
    (name) => !/^(explain|runs) /.test(name),
  );
  test.each(names)('the command %s with a slip in it', async (name) => {
    const words = name.split(' ');
    const [above = ''] = words;
    const last = words.at(-1) ?? '';
    const beside = names.map((one) => one.split(' ').at(-1) ?? '');
    const complaints: string[] = [];
    for (const slip of slipsOf(last, beside)) {
      const says =
        words.length > 1 && above === 'get'
          ? `\`callsheet get\` does not know "${slip}": did you mean ${last}?`
          : `unknown command '${slip}': did you mean \`callsheet ${name}\`?`;
      complaints.push(...(await complaintsOf([[...words.slice(0, -1), slip], says])));
    }
    expect(complaints).toEqual([]);
  });
});

const RUN = '20261121t101203z-7f3a19';

/** Every file below a folder, with its size. */
function filesIn(dir: string): readonly (readonly [string, number])[] {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  // What is parsed is kept for the next command, and who edits the state takes its lock first.
  const isOwn = (file: string) => /^\.callsheet.(?:cache|state\.lock)/.test(file);
  return files
    .filter((file) => !isOwn(file))
    .map((file) => [file, statSync(join(dir, file))] as const)
    .flatMap(([file, found]) => (found.isFile() ? [[file, found.size] as const] : []));
}

/** What names something of a stack that it does not have, and what is said of it. */
const UNKNOWN: readonly (readonly [line: string, says: string, hint?: string])[] = [
  ...[
    ...['plan', 'apply --auto-approve', 'drift', 'rehearse', 'explain graph'].flatMap((command) => [
      `${command} --target`,
      `${command} --exclude`,
    ]),
    ...['plan --resend-secrets', 'rehearse --resend-secrets', 'pull', 'drift --accept'],
  ].map((line) => {
    const [flag = ''] = / --(?:target|exclude|resend-secrets)$/.exec(line) ?? [];
    const says = `${flag.trim()} agent.recption matches no resource of this stack`.trim();
    return [`${line} agent.recption`, says, 'Did you mean agent.reception?'] as const;
  }),
  ...['get', 'get calls', 'get payments', 'history'].map(
    (line) =>
      [
        `${line} agent.recption`,
        'agent.recption is not a resource of this stack',
        'Did you mean agent.reception?',
      ] as const,
  ),
  ...['get agents', 'get calls agent.reception', 'get features', 'get models'].map(
    (line) =>
      [
        `${line} --organization harbr`,
        '--organization harbr is not among the stack',
        'Did you mean harbor?',
      ] as const,
  ),
  ...['state list', 'state show', 'state rm', 'state trust'].map(
    (line) =>
      [
        `${line} agent.recption`,
        'the state holds no agent.recption',
        'Did you mean agent.reception?',
      ] as const,
  ),
  [
    'import agent.recption 7d0c',
    'the configuration has no agent.recption',
    'Did you mean agent.reception?',
  ],
  ['import agent.reception', 'an address of the configuration and a live id are needed'],
  ['runs 20261121t101203z-7f3a18', 'run 20261121t101203z-7f3a18 is not recorded', `mean ${RUN}?`],
  ['rollback 20261121t101203z-7f3a18', 'is not recorded', `Did you mean ${RUN}?`],
  ['rollback nope', 'run nope is not recorded', '`callsheet runs` lists the recorded runs.'],
  ['explain agent.reception.greting_message', 'greting_message', 'mean agent.greeting_message?'],
  ['explain assumptions agent.merg', 'agent.merg', 'Did you mean agent.merge?'],
];

test('what the stack does not have is refused before anything is asked or written', async () => {
  const dir = temporaryFolder();
  writeFileSync(
    join(dir, 'callsheet.yaml'),
    'callsheet: 1\norganizations: { harbor: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 }\norganization: harbor\n',
  );
  writeFileSync(
    join(dir, 'agents.yaml'),
    'agents:\n  reception: { name: Desk, agent_type: receptionist, model: alpha-4.1, system_prompt: Hi }\n',
  );
  const store = openFileStore(join(dir, '.callsheet/state.json'));
  await doRun(store, [began(RUN), recorded('agent.reception', resource('a1')), ended()]);
  await store.close();
  const asked: string[] = [];
  const outside = {
    env: { CALLSHEET_BASE_URL: 'http://127.0.0.1:9', CALLSHEET_ACCESS_TOKEN: 'token' },
    wire: (): Transport => ({
      send: async ({ url }) => {
        asked.push(url);
        throw new Error('nothing may be asked');
      },
      close: async () => {},
    }),
  };
  const before = filesIn(dir);
  const complaints: string[] = [];
  for (const [line, says, hint = ''] of UNKNOWN) {
    const { exit, said } = await runWith(outside, [...line.split(' '), '--dir', dir]);
    const [first = '', second = '', ...more] = said.trimEnd().split('\n');
    const isTold = first.startsWith('Error: ') && first.includes(says) && second.includes(hint);
    if (exit !== 1 || !isTold || more.length > 0) complaints.push(`${line}: exit ${exit}, ${said}`);
  }
  expect(complaints).toEqual([]);
  expect(asked).toEqual([]);
  expect(filesIn(dir)).toEqual(before);
});

test('a mistake is broken to the width of a terminal', async () => {
  const { isTTY, columns } = process.stderr;
  onTestFinished(() => {
    Object.assign(process.stderr, { isTTY, columns });
  });
  Object.assign(process.stderr, { isTTY: true, columns: 60 });
  const { exit, said } = await run('plan', '--no-such-thing');
  expect(exit).toBe(1);
  expect(said.trimEnd().split('\n').length).toBeGreaterThan(1);
  expect(said.split('\n').filter((line) => line.length > 60)).toEqual([]);
});

const IN_A_STACK = ['plan', 'apply', 'drift', 'validate', 'fmt', 'pull', 'runs', 'rollback'];

test.each([...IN_A_STACK, 'state list', 'rehearse', 'history agent.a'])(
  '%s in an empty folder names the commands that write a stack',
  async (line) => {
    const { exit, said } = await run(...line.split(' '), '--dir', temporaryFolder());
    expect(exit).toBe(1);
    expect(said).toMatch(/there is no callsheet\.yaml in\s/);
    expect(said.replace(/\s+/g, ' ')).toMatch(/callsheet init.* .?callsheet export --out FOLDER/);
  },
);

describe('what people type who come from other tools', () => {
  test.each([
    ['diff', '`callsheet plan`'],
    ['preview', '`callsheet plan`'],
    ['up', '`callsheet apply`'],
    ['sync', '`callsheet apply`'],
    ['push', '`callsheet apply`'],
    ['dump', '`callsheet export --out FOLDER`'],
    ['refresh', 'callsheet plan --refresh full'],
    ['destroy', 'remove the resources from it and run `callsheet apply --allow-delete`'],
    ['delete agent.reception', 'callsheet apply --allow-delete'],
    ['status', 'callsheet drift'],
    ['status', 'callsheet runs'],
    ['describe agent.reception', 'callsheet get ADDRESS'],
    ['force-unlock 1f', 'callsheet state unlock'],
    ['plan -target=agent.reception', '--target'],
    ['plan agent.reception', 'did you mean --target agent.reception?'],
    ['drift agent.a agent.b', 'did you mean --target agent.a --target agent.b?'],
    ['plan -t agent.reception', 'use --target ADDRESS'],
    ['plan --dry-run', 'plan writes nothing'],
    ['plan -detailed-exitcode', '--detailed-exitcode'],
    ['plan -refresh-only', 'callsheet drift'],
    ['plan -destroy', 'callsheet apply --allow-delete'],
    ['apply -auto-approve', '--auto-approve'],
    ['apply -y', '--auto-approve'],
    ['apply -f plan.json', 'callsheet apply PLANFILE'],
    ['apply --dry-run', 'callsheet plan'],
    ['apply --parallelism=4', '--concurrency'],
    ['get agents -o json', '--format json'],
    ['init -upgrade', 'init has nothing to upgrade'],
    ['export --force --out fleet', '--overwrite'],
    ['state rm --force agent.reception', '--forget-protected'],
    ['state push --force state.json', '--overwrite'],
    ['state unlock --force 1f', '--stop-run'],
    ['get usage --start 2026-11-01', '--since'],
    ['metrics --end 2026-11-01', '--until'],
    ['-chdir=stack plan', '--dir FOLDER'],
    ['--dir stack plan', 'after the command'],
    ['plan --version', 'callsheet --version'],
  ])('%s', async (line, right) => {
    expect(await sentenceOf(line.split(' '))).toContain(right);
  });

  test.each(['plan', 'apply', 'rehearse'])(
    '%s --force: every option that does a part of it, with what it allows',
    async (command) => {
      const { exit, said } = await run(command, '--force');
      expect(exit).toBe(1);
      expect(said.trimEnd().split('\n')).toEqual([
        `Error: unknown option '--force': callsheet ${command} has one for each permission:`,
        '  --allow-delete            delete resources that are no longer configured',
        '  --accept-conflicts        write the configured value where both sides changed',
        '  --skip-refused            leave out refused changes',
        '  --delete-used             also delete resources that live resources still use',
        '  --release-hold            apply again a configuration that was rolled back',
        '  --override-freeze REASON  write in a freeze window',
        '  --override-limits REASON  change more than guards allow, once',
        '  --behind REASON           continue without the commit that was applied last',
        '  --undo-drift              overwrite edits made on the platform',
      ]);
    },
  );

  test.each([
    ['rollback -force', '--undo-edited'],
    ['rollback -force', '--delete-used'],
    ['pull --force', '--allow-dirty'],
    ['pull --force', '--theirs'],
  ])('%s: %s among others', async (line, right) => {
    expect((await run(...line.split(' '))).said).toContain(`\n  ${right}`);
  });

  test.each([
    ['models', 'get models'],
    ['stt', 'get stt_providers'],
    ['voices', 'get voices'],
    ['features --locked', 'get features'],
    ['billing', 'get usage'],
    ['logs agent.reception', 'get calls AGENT'],
    ['payments agent.reception', 'get payments AGENT'],
    ['assumptions', 'explain assumptions'],
    ['graph --rows', 'explain graph'],
    ['enqueue plan', 'queue add COMMAND'],
    ['worker --until-empty', 'queue work'],
  ])('%s, which was a command here', async (line, right) => {
    const [word = ''] = line.split(' ');
    expect(await sentenceOf(line.split(' '))).toBe(
      `unknown command '${word}': run \`callsheet ${right}\` instead.`,
    );
  });

  test('an option of a command before the one below it', async () => {
    expect(await sentenceOf(['get', '--format', 'json', 'models'])).toBe(
      "option '--format' belongs after the command: `callsheet get models --format`.",
    );
  });
});
