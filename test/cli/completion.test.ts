import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';

/** What the command prints. */
async function scriptFor(shell: string): Promise<string> {
  const { write } = process.stdout;
  let out = '';
  process.stdout.write = (text: string | Uint8Array) => {
    out += String(text);
    return true;
  };
  try {
    const exit = await runProgram(['completion', shell], {
      env: {},
      now: () => new Date(0),
      stop: new AbortController().signal,
      version: '1.2.3',
    });
    expect(exit).toBe(0);
  } finally {
    process.stdout.write = write;
  }
  return out;
}

/** What bash offers behind these words; the last one is being typed. */
async function offered(words: readonly string[]): Promise<readonly string[]> {
  const script = await scriptFor('bash');
  const quoted = ['callsheet', ...words].map((word) => `'${word}'`).join(' ');
  const ask = `${script}
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _callsheet; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync('bash', ['--noprofile', '--norc', '-c', ask], { encoding: 'utf8' });
  return out.split('\n').filter((line) => line !== '');
}

describe('bash completes', () => {
  test.each<readonly [readonly string[], readonly string[]]>([
    [['ap'], ['apply']],
    [['state', 'un'], ['unlock']],
    [['plan', '--detailed'], ['--detailed-exitcode']],
    [
      ['plan', '--format', ''],
      ['text', 'json', 'markdown', 'html'],
    ],
    [['plan', '--dir', 'x', '--format', 'm'], ['markdown']],
    [
      ['init', '--ci', 'git'],
      ['github', 'gitlab'],
    ],
    [['completion', 'f'], ['fish']],
    // Paths are left to the shell.
    [['plan', '--out', ''], []],
  ])('%j', async (words, wanted) => {
    const given = await offered(words);
    expect(given).toEqual(wanted);
  });

  test('every command', async () => {
    expect(await offered([''])).toEqual(expect.arrayContaining(['plan', 'apply', 'state', 'init']));
  });
});

test.each(['bash', 'zsh'])('the script for %s is one that a shell reads', async (shell) => {
  execFileSync('bash', ['-n', '-c', await scriptFor(shell)]);
});

test('fish is told of commands, flags and values', async () => {
  const lines = (await scriptFor('fish')).split('\n');
  expect(lines).toContain(
    "complete -c callsheet -n '__fish_seen_subcommand_from plan' -l format -x -a 'text json markdown html' -d 'how to show the result'",
  );
});

test('an unknown shell is a mistake', async () => {
  const exit = runProgram(['completion', 'tcsh'], {
    env: {},
    now: () => new Date(0),
    stop: new AbortController().signal,
    version: '1.2.3',
  });
  expect(await exit).toBe(1);
});
