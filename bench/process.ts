import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

export type Took = {
  /** From its start to its end. */
  readonly ms: number;
  readonly cpu: number;
  /** The most memory that it held. */
  readonly kib: number;
};

/** A process that takes longer hangs. */
const PROCESS_TIMEOUT_MS = 15 * 60_000;
const PRELOAD = join(import.meta.dirname, 'measured.cjs');

/** Nothing of the person's own may change what is measured. */
export const CLEAN_ENV = { PATH: process.env.PATH, CRM_BENCH_KEY: 'not-a-secret' };

/** Runs Node with these arguments. Throws where it does not end with 0. */
export async function runProcess(
  argv: readonly string[],
  dir: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly output: string; readonly took: Took }> {
  const child = spawn(process.execPath, ['--require', PRELOAD, ...argv], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeout: PROCESS_TIMEOUT_MS,
  });
  const ended = new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal));
  });
  // All three are pipes.
  const pipes = child.stdio.slice(1) as Readable[];
  const [output = '', problems = '', told = ''] = await Promise.all(
    pipes.map((pipe) => text(pipe)),
  );
  const end = await ended;
  if (end !== 0) throw new Error(`${argv.join(' ')} ended with ${end}:\n${output}${problems}`);
  return { output, took: JSON.parse(told) as Took };
}
