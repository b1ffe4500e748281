import { describe, expect, test } from 'vitest';
import { COMMANDS, PURPOSES } from '../../src/cli/command-table.ts';
import { COMMON_FLAGS } from '../../src/cli/flags.ts';
import { run } from './command-line.ts';

test.each([
  [['help', 'vaildate'], "unknown command 'vaildate': did you mean callsheet validate?"],
  [['help', 'state', 'mvv'], "unknown command 'mvv': did you mean callsheet state mv?"],
])('%j is an error with what may be meant', async (argv, message) => {
  const { exit, said } = await run(...argv);
  expect({ exit, said }).toEqual({ exit: 1, said: `Error: ${message}\n` });
});

test('help of a command below another is its own', async () => {
  const { exit, said } = await run('help', 'state', 'mv');
  expect(exit).toBe(0);
  expect(said).toContain('Usage: callsheet state mv [options] <from> <to>');
});

test.each([[['help']], [['help', 'validate']], [['help', 'state']], [['help', 'options']]])(
  '%j is help',
  async (argv) => {
    const { exit, said } = await run(...argv);
    expect(exit).toBe(0);
    expect(said).toContain('Usage: callsheet');
  },
);

describe('the help of everything', () => {
  test.each([[['--help']], [['help']]])('%j fits one screen', async (argv) => {
    const lines = (await run(...argv)).said.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  test('each command is under one purpose', () => {
    const listed = Object.values(PURPOSES).flat();
    const first = new Set(COMMANDS.map(({ name }) => name.split(' ')[0] ?? ''));
    expect([...listed].sort()).toEqual([...first].sort());
  });

  test('without a command it is an error', async () => {
    expect(await run()).toEqual({ exit: 1, said: (await run('--help')).said });
  });
});

describe('options of every command', () => {
  const names = COMMON_FLAGS.map(({ spelling }) => spelling);

  test('have their description once', async () => {
    const { said } = await run('help', 'options');
    expect(names.filter((name) => !said.includes(`  ${name}  `))).toEqual([]);
  });

  test.each(COMMANDS.map(({ name }) => name))('%s names its own options alone', async (name) => {
    const { exit, said } = await run(...name.split(' '), '--help');
    expect(exit).toBe(0);
    expect(said).toContain('\nOptions of every command: callsheet help options\n');
    expect(names.filter((spelling) => said.includes(`  ${spelling}`))).toEqual([]);
  });
});
