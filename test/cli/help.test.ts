import { execFileSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { openTable } from '../../src/cli/command-table.ts';
import { TOPICS } from '../../src/cli/topics.ts';
import { COMMON_FLAGS } from '../../src/console/flags.ts';
import { features } from '../../src/features/index.ts';
import '../e2e/build.ts';
import { run } from './command-line.ts';

const { commands: COMMANDS, purposes: PURPOSES } = openTable(features);

test.each([
  [['help', 'vaildate'], "unknown command 'vaildate': did you mean `callsheet validate`?"],
  [['help', 'state', 'mvv'], "unknown command 'mvv': did you mean `callsheet state mv`?"],
])('%j is an error with what may be meant', async (argv, message) => {
  const { exit, said } = await run(...argv);
  expect({ exit, said }).toEqual({ exit: 1, said: `Error: ${message}\n` });
});

test('help of a command below another is its own', async () => {
  const { exit, said } = await run('help', 'state', 'mv');
  expect(exit).toBe(0);
  expect(said).toContain('Usage: callsheet state mv [options] <addresses...>');
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

describe('a page', () => {
  test('is Markdown in a pipe, without what is there for tests', async () => {
    const { exit, said } = await run('help', 'start');
    expect(exit).toBe(0);
    expect(said).toMatch(/^# Start: /);
    expect(said).toContain('```console\n$ callsheet validate\n');
    expect(said).not.toContain('<!--');
  });

  test('may be one of the reference', async () => {
    expect((await run('help', 'settings')).said).toMatch(/^# Settings/m);
    expect((await run('help', 'rules')).said).toMatch(/^# Editors and rules/);
    expect((await run('help', 'reference/rules')).said).toMatch(/^# Rules/m);
  });

  test('is listed with what it is about', async () => {
    const { exit, said } = await run('help', 'topics');
    expect(exit).toBe(0);
    for (const [topic, { about }] of Object.entries(TOPICS))
      expect(said).toMatch(new RegExp(`^  ${topic} +${about}$`, 'm'));
    expect(said.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('is named by the help of everything, and by that of its commands', async () => {
    const { said } = await run('help');
    const [, pages = ''] = said.split('Pages: callsheet help ');
    expect(pages.split(',').map((name) => name.trim())).toEqual(Object.keys(TOPICS));
    for (const [command, topic] of [
      ['plan', 'plans'],
      ['state mv', 'stores'],
      ['get calls', 'reading'],
    ])
      expect((await run('help', ...(command ?? '').split(' '))).said).toContain(
        `\nMore about it: callsheet help ${topic}\n`,
      );
  });

  test.each([
    ['plnas', "unknown topic 'plnas': did you mean `callsheet help plans`?"],
    ['firstweek', "unknown topic 'firstweek': did you mean `callsheet help first-week`?"],
    ['nowhere', "unknown command 'nowhere': `callsheet --help` lists the commands."],
  ])('that is not there is an error: %s', async (topic, message) => {
    expect(await run('help', topic)).toEqual({ exit: 1, said: `Error: ${message}\n` });
  });

  test('that is typed as a command is told', async () => {
    expect(await run('secrets')).toEqual({
      exit: 1,
      said: "Error: unknown command 'secrets': `callsheet help secrets` shows the page of that name.\n",
    });
  });

  /** What a terminal of 80 columns and 24 lines is shown, without colours. */
  function onTerminal(topic: string, env: NodeJS.ProcessEnv): string {
    const line = `stty rows 24 cols 80; "${process.execPath}" "${inject('bin')}" help ${topic}`;
    const shown = execFileSync('script', ['-qec', line, '/dev/null'], {
      env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return stripVTControlCharacters(shown.toString()).replaceAll('\r\n', '\n');
  }

  test.skipIf(!has('script'))('goes through the pager where it is longer than the terminal', () => {
    expect(onTerminal('plans', { PAGER: 'sed s/^/paged:/' })).toMatch(
      /^paged:Reading a plan\npaged:\n/,
    );
  });

  test.skipIf(!has('script')).each([
    ['without a pager', { PAGER: '' }],
    ['where the pager is not there', { PAGER: 'no-such-pager' }],
    ['where the terminal is dumb', { PAGER: 'sed s/^/paged:/', TERM: 'dumb' }],
  ])('is printed %s', (_, env) => {
    const shown = onTerminal('plans', env);
    expect(shown).toMatch(/^(?:# )?Reading a plan\n\n/m);
    expect(shown).not.toContain('paged:');
  });
});

/** Whether a program is on this machine. */
function has(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

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
    expect(said).toMatch(/\nExit: 0 done, 1 error/);
    // What is to be copied is in one line.
    const [laidOut = '', , exits = ''] = said.split(/\n(?=Examples:|Exit:)/);
    const lines = `${laidOut}\n${exits}`.split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });
});
