import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Case, Program, Scale, Side, Surroundings } from './benchmark.ts';
import { CLEAN_ENV, runProcess, type Took } from './process.ts';

/** Both programs, one right after the other: what else the machine does then bears on both. */
export type Pair = Readonly<Record<Side, Took>> & {
  readonly requests?: Readonly<Record<Side, number>>;
  readonly roundTrips?: number;
};

export type Measured = Scale & {
  readonly name: string;
  readonly goal?: number;
  /** MB that no run of Callsheet may exceed. */
  readonly most?: number;
  readonly pairs: readonly Pair[];
};

export type Extent = {
  /** Runs of each program. */
  readonly runs: number;
  /** No further run of a case begins that is likely to end after so many seconds; one is always made. */
  readonly seconds: number;
};

/**
 * Runs a case in a temporary folder, each measurement in a process of its own so that none warms another up.
 * Throws where one of the programs fails.
 */
export async function measure(one: Case, scale: Scale, extent: Extent): Promise<Measured> {
  const dir = mkdtempSync(join(tmpdir(), 'callsheet-bench-'));
  let around: Surroundings | undefined;
  try {
    one.prepare?.(dir, scale.size);
    around = await one.serve?.(dir, scale);
    const pairs: Pair[] = [];
    const began = performance.now();
    for (let last = 0; pairs.length < extent.runs; ) {
      const start = performance.now();
      const isLate = start + last - began > extent.seconds * 1000;
      if (isLate && pairs.length > 0) break;
      pairs.push(await runPair(one, dir, scale.size, around));
      last = performance.now() - start;
    }
    const promised = typeof one.goal === 'function' ? one.goal(scale) : one.goal;
    const goal = promised === undefined ? {} : { goal: promised };
    const most = one.memory?.(scale.size);
    return { name: one.name, ...scale, ...goal, ...(most !== undefined && { most }), pairs };
  } finally {
    await around?.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function runPair(
  one: Case,
  dir: string,
  size: number,
  around: Surroundings | undefined,
): Promise<Pair> {
  const run = async (program: Program, more: Surroundings['env'] | undefined) => {
    const { output, took } = await runProcess(program.argv(size), dir, { ...CLEAN_ENV, ...more });
    program.check(output, size);
    return took;
  };
  await around?.before?.();
  const callsheet = await run(one.callsheet, around?.env);
  const megabytes = (callsheet.kib * 1024) / 1e6;
  const bound = one.memory?.(size) ?? Number.POSITIVE_INFINITY;
  if (megabytes > bound)
    throw new Error(`${megabytes.toFixed(0)} MB, where at most ${bound.toFixed(0)} are allowed`);
  await around?.between?.();
  const alone = await run(one.floor, around?.floorEnv ?? around?.env);
  const beside = one.beside && (await run(one.beside, around?.env));
  const floor = beside !== undefined && beside.ms > alone.ms ? beside : alone;
  const requests = await around?.requests?.();
  if (requests === undefined) return { callsheet, floor };
  const trips = await around?.roundTrips?.();
  if (trips !== undefined && trips > (one.roundTrips ?? trips))
    throw new Error(`${trips} round trips in a row, where at most ${one.roundTrips} are allowed`);
  const most = one.requests?.(size) ?? Number.POSITIVE_INFINITY;
  if (requests.callsheet > most)
    throw new Error(`${requests.callsheet} requests, where at most ${most} are allowed`);
  return { callsheet, floor, requests, ...(trips !== undefined && { roundTrips: trips }) };
}
