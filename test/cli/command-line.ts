import { onTestFinished, vi } from 'vitest';
import { type Deps, runProgram } from '../../src/cli/program.ts';
import { features } from '../../src/features/index.ts';

/** Runs a command line in this process, and gives what it printed to either stream. */
export function run(...argv: readonly string[]) {
  return runWith({}, argv);
}

/** The same with something of the outside world. */
export async function runWith(outside: Partial<Deps>, argv: readonly string[]) {
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
    features,
    env: {},
    now: () => new Date('2026-11-21T09:45:00Z'),
    stop: new AbortController().signal,
    version: '0.0.0',
    ...outside,
  });
  return { exit, said };
}
