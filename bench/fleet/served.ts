import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Case, Scale, Surroundings } from '../benchmark.ts';
import { CLEAN_ENV, runProcess } from '../process.ts';
import { CONCURRENCY } from './concurrency.ts';
import { startPlatform } from './platform.ts';
import { editOne, editPrompt, editTemplate, type Layout, ROUND_FILE, writeFleet } from './stack.ts';

export const MAIN = join(import.meta.dirname, '../../dist/main.js');
export const AT_ONCE = ['--concurrency', String(CONCURRENCY)];

type Serve = NonNullable<Case['serve']>;

type Served = {
  /** How the stack is written; as rows unless given. */
  readonly layout?: Layout;
  /** Agents that are live; all unless given. */
  readonly live?: number;
  /** Variables of Callsheet's runs alone. */
  readonly env?: Surroundings['env'];
  /** Requests a second that the platforms take; any number unless given. */
  readonly perSecond?: number;
  /** Done before each run of Callsheet, the so-manyth, and not measured. */
  readonly before?: (dir: string, env: NodeJS.ProcessEnv, round: number) => Promise<void>;
  /** The same before each run of the floor. */
  readonly between?: (round: number) => void;
};

/** A key as `openssl rand` writes one. */
const SEAL = { CALLSHEET_FINGERPRINT_KEY: '0f'.repeat(32) };

/** Stacks with a state that fits what is live, by layout and size: they take longer to make than most cases to run. */
const made = new Map<string, Promise<string>>();

/** A fleet that is live as it is configured. */
export function servePlan(layout: Layout = 'rows'): Serve {
  return (dir, scale) => serve(dir, scale, { layout });
}

/** The same, and before each run one file was changed, and one agent with it. */
export function serveEdited(layout: Layout = 'rows'): Serve {
  return (dir, scale) =>
    serve(dir, scale, { layout, before: async (_, __, round) => editOne(dir, layout, round) });
}

/** The same on a branch, and before the floor another edit: neither plans what the other changed. */
export function serveBranch(layout: Layout = 'rows'): Serve {
  return (dir, scale) =>
    serve(dir, scale, {
      layout,
      async before(_, __, round) {
        if (round === 1) commitAll(dir);
        editOne(dir, layout, 2 * round);
      },
      between: (round) => editOne(dir, layout, 2 * round + 1),
    });
}

function commitAll(dir: string): void {
  const who = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.test'];
  const git = (...args: string[]) => execFileSync('git', ['-C', dir, ...who, ...args]);
  writeFileSync(join(dir, '.gitignore'), '.callsheet/\nloop.json\n');
  git('init', '--quiet', '--initial-branch', 'main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'as it is');
}

/** Agents with a secret each that is not set, and beside them a stack of the same agents without any. */
export const serveSecrets: Serve = async (dir, scale) => {
  cpSync(await fleetOf('rows', scale.size), join(dir, PLAIN), { recursive: true });
  return serve(dir, scale, { layout: 'secrets' });
};

export const PLAIN = 'plain';

/** A plan of its own for each run: every one gives the agents that change another greeting. */
export const serveApply: Serve = (dir, scale) =>
  serve(dir, scale, {
    async before(_, env, round) {
      writeRound(dir, greetings(round));
      await runProcess([MAIN, 'plan', '--out', 'plan.json', ...ROUND, ...AT_ONCE], dir, env);
    },
  });

/** Each run comes right after an apply. */
export const serveApplied: Serve = (dir, scale) =>
  serve(dir, scale, {
    async before(_, env, round) {
      writeRound(dir, greetings(round));
      await runProcess([MAIN, 'apply', '--auto-approve', ...ROUND, ...AT_ONCE], dir, env);
    },
  });

/** The same fleet, as far away as another continent, and before each run one prompt was changed. */
export function servePrompt(perSecond: number): Serve {
  return (dir, scale) =>
    serve(
      dir,
      { ...scale, latency: FAR_MS },
      { layout: 'exported', perSecond, before: async (_, __, round) => editPrompt(dir, round) },
    );
}

/** Milliseconds of a round trip. */
export const FAR_MS = 80;

/** A live fleet that is written into files, and an earlier snapshot of it. */
export const serveBackup: Serve = (dir, scale) =>
  serve(dir, scale, {
    async before(_, env, round) {
      const create = [MAIN, 'snapshot', 'create', '--out', BASE_FILE];
      if (round === 1) await runProcess(create, dir, env);
      rmSync(join(dir, SNAPSHOT_FILE), { force: true });
      removeExported();
    },
  });

export const BASE_FILE = 'base.snapshot';
export const SNAPSHOT_FILE = 'then.snapshot';
/** A stack is not exported into another one. */
export const EXPORTED = join(tmpdir(), `callsheet-bench-exported-${process.pid}`);

function removeExported(): void {
  rmSync(EXPORTED, { recursive: true, force: true });
}

/** The same fleet whose state was thrown away. */
export const serveAdopt: Serve = (dir, scale) =>
  serve(dir, scale, { before: async () => forgetState(dir) });

/** Serves a fleet and writes another greeting of a few agents before each run. */
export function serveUpdate(perSecond?: number): Serve {
  return (dir, scale) =>
    serve(dir, scale, {
      ...(perSecond !== undefined && { perSecond }),
      before: async (_, __, round) => writeRound(dir, { few: greetings(round).few }),
    });
}

/** Serves a fleet of long prompts whose template was edited before each run. */
export const serveLong: Serve = (dir, scale) =>
  serve(dir, scale, {
    layout: 'texts',
    before: async (_, __, round) => editTemplate(dir, 'texts', round),
  });

/** Serves a platform without agents, and forgets the state before each run: every agent is created. */
export function serveCreate(perSecond?: number, layout: Layout = 'rows'): Serve {
  return (dir, scale) =>
    serve(dir, scale, {
      layout,
      ...(perSecond !== undefined && { perSecond }),
      live: 0,
      before: async () => forgetState(dir),
    });
}

/** A snapshot of a fleet that is gone, and with it the state: each run restores all of it. */
export const serveRestore: Serve = (dir, scale) =>
  serve(dir, scale, {
    live: 0,
    async before(_, env, round) {
      const run = (...argv: string[]) => runProcess([MAIN, ...argv], dir, env);
      if (round === 1) {
        await run('apply', '--auto-approve', ...AT_ONCE);
        await run('snapshot', 'create', '--out', GONE);
      }
      forgetState(dir);
    },
  });

export const GONE = 'gone.snapshot';

/** The same of Callsheet with the key that seals a state, and of the floor without one. */
export const serveSealed: Serve = (dir, scale) =>
  serve(dir, scale, {
    live: 0,
    env: SEAL,
    before: async () => forgetState(dir),
    between: () => forgetState(dir),
  });

/** Flags with which a stack is what a round made of it. */
export const ROUND = ['--var-file', ROUND_FILE];

function greetings(round: number) {
  const greeting = `Good day (${round}), this is`;
  return { few: greeting, changed: greeting };
}

function writeRound(dir: string, variables: Readonly<Record<string, string>>): void {
  writeFileSync(join(dir, ROUND_FILE), `${JSON.stringify(variables)}\n`);
}

function forgetState(dir: string): void {
  rmSync(join(dir, '.callsheet'), { recursive: true, force: true });
}

/** Removes the stacks that were made. */
export async function removeFleets(): Promise<void> {
  const folders = await Promise.allSettled(made.values());
  made.clear();
  removeExported();
  for (const folder of folders)
    if (folder.status === 'fulfilled') rmSync(folder.value, { recursive: true, force: true });
}

/**
 * Callsheet and the floor have a platform each: what one writes would otherwise be there already when the other
 * comes. The floor gets the requests that Callsheet made.
 */
async function serve(dir: string, scale: Scale, served: Served): Promise<Surroundings> {
  const { layout = 'rows', live = scale.size, env = {}, perSecond, before, between } = served;
  cpSync(await fleetOf(layout, scale.size), dir, { recursive: true });
  const start = () => startPlatform({ ...scale, size: live }, perSecond, layout);
  const [ours, theirs] = await Promise.all([start(), start()]);
  let round = 0;
  return {
    env: { ...ours.env, ...env },
    floorEnv: theirs.env,
    async before() {
      round += 1;
      await before?.(dir, { ...CLEAN_ENV, ...ours.env }, round);
      await Promise.all([ours.forget(), theirs.forget()]);
    },
    async between() {
      await ours.tell(join(dir, 'loop.json'));
      between?.(round);
    },
    async requests() {
      const [callsheet, floor] = await Promise.all([ours.tell(), theirs.tell()]);
      return { callsheet: callsheet.requests, floor: floor.requests };
    },
    async roundTrips() {
      return scale.latency === 0 ? undefined : (await ours.tell()).roundTrips;
    },
    async close() {
      await Promise.all([ours.close(), theirs.close()]);
    },
  };
}

function fleetOf(layout: Layout, size: number): Promise<string> {
  const key = `${size} ${layout}`;
  const known = made.get(key) ?? makeFleet(layout, size);
  made.set(key, known);
  // A fleet that failed is made again for the next case.
  known.catch(() => made.delete(key));
  return known;
}

/** Makes a stack and its state. The state comes from what is live, so that no apply has to create it. */
async function makeFleet(layout: Layout, size: number): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'callsheet-bench-fleet-'));
  try {
    const platform = await startPlatform({ size, latency: 0 }, undefined, layout);
    const env = { ...CLEAN_ENV, ...platform.env };
    try {
      if (layout === 'exported') await runProcess([MAIN, 'export', '--out', '.'], dir, env);
      else {
        writeFleet(dir, size, layout);
        // Long texts are taken over by the apply alone.
        if (layout !== 'texts') await runProcess([MAIN, 'state', 'repair'], dir, env);
        // Changes nothing, and the state remembers that every agent was seen to be as it is configured.
        await runProcess([MAIN, 'apply', '--auto-approve', ...AT_ONCE], dir, env);
      }
    } finally {
      await platform.close();
    }
    return dir;
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}
