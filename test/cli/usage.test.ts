import { describe, expect, onTestFinished, test } from 'vitest';
import { COMMANDS, type CommandEntry, GROUPS } from '../../src/cli/command-table.ts';
import { COMMON_FLAGS, type Flag } from '../../src/console/flags.ts';
import { temporaryFolder } from '../temporary.ts';
import { run } from './command-line.ts';

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

describe.each(COMMANDS.map((entry) => [entry.name, entry] as const))('%s', (name, entry) => {
  const words = name.split(' ');
  const { args = [] } = entry;
  // Those of every command are read the same way everywhere.
  const flags = [...(name === 'plan' ? COMMON_FLAGS : []), ...(entry.flags ?? [])];

  test('an option that there is not', async () => {
    expect(await sentenceOf([...words, '--no-such-thing'])).toContain(
      `unknown option '--no-such-thing': callsheet ${name} --help lists`,
    );
  });

  test.each(flags.map(({ spelling }) => spelling))(
    'an option with a slip in it: %s',
    async (spelling) => {
      const [flag = ''] = spelling.split(' ');
      const slip = `${flag}${flag.slice(-1)}`;
      expect(await sentenceOf([...words, slip])).toBe(
        `unknown option '${slip}': did you mean ${flag}?`,
      );
      // As Terraform spells it.
      expect(await sentenceOf([...words, `${flag.slice(1)}=x`])).toBe(
        `unknown option '${flag.slice(1)}=x': did you mean ${flag}?`,
      );
    },
  );

  const single = flags.filter(
    ({ spelling, isRepeatable }) => / <[^.]*>$/.test(spelling) && isRepeatable !== true,
  );
  test.each(single.map(({ spelling }) => spelling))('%s without a value', async (spelling) => {
    const [flag = ''] = spelling.split(' ');
    expect(await sentenceOf([...words, flag])).toContain(`option '${spelling}' argument missing`);
  });

  test.each(single.map((flag) => [flag.spelling, flag] as const))(
    '%s twice',
    async (spelling, { choices, parse }) => {
      const [flag = ''] = spelling.split(' ');
      const value = choices?.[0] ?? VALUES.find((one) => isRead(parse, one)) ?? '';
      expect(await sentenceOf([...words, flag, value, flag, value])).toBe(
        `option '${flag}' is given twice: choose one of ${value} and ${value}.`,
      );
    },
  );

  test.each(
    flags.flatMap(({ spelling, choices }) =>
      choices === undefined ? [] : [[spelling, choices] as const],
    ),
  )('%s with a slip in its value', async (spelling, choices) => {
    const [flag = ''] = spelling.split(' ');
    const [choice = ''] = choices;
    const said = await sentenceOf([...words, flag, `${choice}${choice.slice(-1)}`]);
    expect(said).toContain(`allowed choices are ${choices.join(', ')}`);
    expect(said).toContain(`did you mean ${choice}?`);
  });

  if (args.some(({ name: one }) => one.startsWith('<')))
    test('a missing argument', async () => {
      const required = needed({ ...entry, args: [] });
      expect(await sentenceOf([...words, ...required])).toContain(`: callsheet ${name} <`);
    });

  if (!args.some(({ name: one }) => one.includes('...')))
    test('one too many', async () => {
      const given = args.map(({ choices }) => choices?.[0] ?? 'x');
      const required = needed({ ...entry, args: [] });
      expect(await sentenceOf([...words, ...given, 'surplus', ...required])).toMatch(
        new RegExp(`^too many arguments: callsheet ${name} takes .*surplus\\.$`),
      );
    });

  if (flags.some(({ isRequired }) => isRequired === true))
    test('a missing option', async () => {
      const given = needed({ ...entry, flags: [] });
      expect(await sentenceOf([...words, ...given])).toContain(`callsheet ${name} needs it`);
    });
});

const VALUES = ['x', '1', '1m', '127.0.0.1:80'];

/** Whether a flag takes a value. */
function isRead(parse: Flag['parse'], value: string): boolean {
  try {
    parse?.(value, undefined);
    return true;
  } catch {
    return false;
  }
}

// What `explain` does not know may be a field.
const SLIPS = [...COMMANDS.map(({ name }) => name), ...Object.keys(GROUPS)].filter(
  (name) => !name.startsWith('explain '),
);

test.each(SLIPS)('the command %s with a slip in it', async (name) => {
  const words = name.split(' ');
  const last = words.at(-1) ?? '';
  const slip = `${last}${last.slice(-1)}`;
  const said = await sentenceOf([...words.slice(0, -1), slip]);
  const [above = ''] = words;
  expect(said).toBe(
    words.length > 1 && above === 'get'
      ? `callsheet get does not know "${slip}": did you mean ${last}?`
      : `unknown command '${slip}': did you mean callsheet ${name}?`,
  );
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
    expect(said).toContain('there is no callsheet.yaml in ');
    expect(said.replace(/\s+/g, ' ')).toMatch(/callsheet init.* callsheet export --out FOLDER/);
  },
);

describe('what people type who come from other tools', () => {
  test.each([
    ['diff', 'callsheet plan '],
    ['preview', 'callsheet plan '],
    ['up', 'callsheet apply '],
    ['sync', 'callsheet apply '],
    ['dump', 'callsheet export --out FOLDER '],
    ['refresh', 'callsheet plan --refresh full'],
    ['destroy', 'remove the resources from it and run callsheet apply --allow-delete'],
    ['delete agent.reception', 'callsheet apply --allow-delete'],
    ['status', 'callsheet drift'],
    ['status', 'callsheet runs'],
    ['describe agent.reception', 'callsheet get ADDRESS'],
    ['force-unlock 1f', 'callsheet state unlock'],
    ['version', 'callsheet --version'],
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
      `unknown command '${word}': run callsheet ${right} instead.`,
    );
  });

  test('an option of a command before the one below it', async () => {
    expect(await sentenceOf(['get', '--format', 'json', 'models'])).toBe(
      "option '--format' belongs after the command: callsheet get models --format.",
    );
  });
});
