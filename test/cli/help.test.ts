import { expect, onTestFinished, test, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';

async function run(...argv: readonly string[]) {
  let said = '';
  const catching = (chunk: unknown) => {
    said += String(chunk);
    return true;
  };
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(catching),
  );
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  const exit = await runProgram(argv, {
    env: {},
    now: () => new Date('2026-11-21T09:45:00Z'),
    stop: new AbortController().signal,
    version: '0.0.0',
  });
  return { exit, said };
}

test.each([
  [['help', 'vaildate'], "unknown command 'vaildate'", '(Did you mean validate?)'],
  [['help', 'state', 'mvv'], "unknown command 'mvv'", '(Did you mean mv?)'],
])('%j is an error with what may be meant', async (argv, message, hint) => {
  const { exit, said } = await run(...argv);
  expect(exit).toBe(1);
  expect(said).toContain(message);
  expect(said).toContain(hint);
});

test('help of a command below another is its own', async () => {
  const { exit, said } = await run('help', 'state', 'mv');
  expect(exit).toBe(0);
  expect(said).toContain('Usage: callsheet state mv [options] <from> <to>');
});

test.each([[['help']], [['help', 'validate']], [['help', 'state']]])('%j is help', async (argv) => {
  const { exit, said } = await run(...argv);
  expect(exit).toBe(0);
  expect(said).toContain('Usage: callsheet');
});
