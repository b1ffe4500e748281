import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scale, Surroundings } from '../benchmark.ts';
import { CLEAN_ENV, runProcess } from '../process.ts';
import { CONCURRENCY } from './concurrency.ts';
import { startPlatform } from './platform.ts';
import { ROUND_FILE, writeFleet } from './stack.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
const AT_ONCE = ['--concurrency', String(CONCURRENCY)];

/** Stacks with a state that fits what is live, by size: they take longer to make than most cases to run. */
const made = new Map<number, Promise<string>>();

/** A fleet that is live as it is configured. */
export function servePlan(dir: string, scale: Scale): Promise<Surroundings> {
  return serve(dir, scale, async () => {});
}

/** The same, with a plan of its own for each run: every one gives the agents another greeting. */
export function serveApply(dir: string, scale: Scale): Promise<Surroundings> {
  let round = 0;
  return serve(dir, scale, async (env) => {
    round += 1;
    writeFileSync(join(dir, ROUND_FILE), `greeting: Good day (${round}), this is\n`);
    const flags = ['--var-file', ROUND_FILE, '--target', 'agent.changed', ...AT_ONCE];
    await runProcess([MAIN, 'plan', '--out', 'plan.json', ...flags], dir, env);
  });
}

/** Removes the stacks that were made. */
export async function removeFleets(): Promise<void> {
  const folders = await Promise.allSettled(made.values());
  made.clear();
  for (const folder of folders)
    if (folder.status === 'fulfilled') rmSync(folder.value, { recursive: true, force: true });
}

/**
 * Callsheet and the bare loop have a platform each: what one writes would otherwise be there already when the other
 * comes. The loop is told what Callsheet asked for.
 */
async function serve(
  dir: string,
  scale: Scale,
  prepare: (env: NodeJS.ProcessEnv) => Promise<void>,
): Promise<Surroundings> {
  cpSync(await fleetOf(scale.size), dir, { recursive: true });
  const [ours, theirs] = await Promise.all([startPlatform(scale), startPlatform(scale)]);
  return {
    env: ours.env,
    floorEnv: theirs.env,
    async before() {
      await prepare({ ...CLEAN_ENV, ...ours.env });
      await ours.forget();
    },
    between: () => ours.tell(join(dir, 'loop.json')),
    async close() {
      await Promise.all([ours.close(), theirs.close()]);
    },
  };
}

function fleetOf(size: number): Promise<string> {
  const known = made.get(size) ?? makeFleet(size);
  made.set(size, known);
  // What failed is tried again for the next case.
  known.catch(() => made.delete(size));
  return known;
}

/** A stack whose state is made from what is live, as nobody wants to apply it first. */
async function makeFleet(size: number): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'callsheet-bench-fleet-'));
  try {
    writeFleet(dir, size);
    const platform = await startPlatform({ size, latency: 0 });
    try {
      const env = { ...CLEAN_ENV, ...platform.env };
      await runProcess([MAIN, 'state', 'repair'], dir, env);
      // Changes nothing, and the state remembers that every agent was seen to be as it is configured.
      await runProcess([MAIN, 'apply', '--auto-approve', ...AT_ONCE], dir, env);
    } finally {
      await platform.close();
    }
    return dir;
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}
