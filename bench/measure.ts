import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Case, Program, Surroundings } from './benchmark.ts';

/** What one process took. */
export type Took = {
  /** From its start to its end. */
  readonly ms: number;
  readonly cpu: number;
  /** The most memory that it held. */
  readonly kib: number;
};

/** Both programs, one right after the other: what else the machine does then bears on both. */
export type Pair = { readonly callsheet: Took; readonly floor: Took };

export type Measured = {
  readonly name: string;
  readonly goal?: number;
  readonly pairs: readonly Pair[];
};

export type Extent = {
  readonly size: number;
  /** Runs of each program. */
  readonly runs: number;
  /** No further run begins after so many seconds of one case; a few are always made. */
  readonly seconds: number;
};

/** Fewer have no median worth the name. */
const FEWEST_RUNS = 3;
/** A process that takes longer hangs. */
const PROCESS_TIMEOUT_MS = 120_000;
const PRELOAD = join(import.meta.dirname, 'measured.cjs');
/** Nothing of the person's own may change what is measured. */
const ENV = { PATH: process.env.PATH, CALLSHEET_BENCH_KEY: 'not-a-secret' };

/** Runs a case in a temporary folder, each measurement in a process of its own so that none warms another up. */
export async function measure(one: Case, extent: Extent): Promise<Measured> {
  const dir = mkdtempSync(join(tmpdir(), 'callsheet-bench-'));
  let around: Surroundings | undefined;
  try {
    one.prepare?.(dir, extent.size);
    around = await one.serve?.(dir, extent.size);
    const env = { ...ENV, ...around?.env };
    const pairs: Pair[] = [];
    const began = performance.now();
    while (pairs.length < extent.runs) {
      const isLate = performance.now() - began > extent.seconds * 1000;
      if (isLate && pairs.length >= FEWEST_RUNS) break;
      const floor = await run(one.floor, dir, extent.size, env);
      const callsheet = await run(one.callsheet, dir, extent.size, env);
      pairs.push({ callsheet, floor });
    }
    const goal = one.goal === undefined ? {} : { goal: one.goal };
    return { name: one.name, ...goal, pairs };
  } finally {
    await around?.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function run(
  program: Program,
  dir: string,
  size: number,
  env: NodeJS.ProcessEnv,
): Promise<Took> {
  const argv = program.argv(size);
  const child = spawn(process.execPath, ['--require', PRELOAD, ...argv], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeout: PROCESS_TIMEOUT_MS,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  // All three are pipes.
  const pipes = child.stdio.slice(1) as Readable[];
  const [output = '', problems = '', told = ''] = await Promise.all(
    pipes.map((pipe) => text(pipe)),
  );
  const code = await ended;
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}:\n${output}${problems}`);
  program.check(output, size);
  return JSON.parse(told) as Took;
}
