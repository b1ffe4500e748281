/**
 * `e2e/` runs command lines, as a user would, against a simulated platform in this process, in a copy of
 * a stack that a scenario may change. Commands that are only waited for run in this process, too; what a scenario
 * starts, to stop or kill it or to run it beside another, is the built bin, and so is everything in
 * `npm run torture`. What must hold in every scenario is checked here, so that none can
 * forget it: after an apply the second plan is empty, no process is left behind, and no secret shows up
 * in anything that was printed or in any file below the stack.
 */
import { expect, test } from 'vitest';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { LoggedRequest, Simulator } from '../../src/simulator/index.ts';
import type { LedgerLine } from '../../src/state/journal.ts';
import { openStage, type Stage, type StageOptions } from '../apply/stage.ts';
import { isTorture } from '../long.ts';
import { CANARIES, COMMIT, FINGERPRINT_KEY } from './clinic.ts';
import { type Gate, openGate } from './gate.ts';
import { runHere } from './in-process.ts';
import { mint } from './mint.ts';
import { type Outcome, type Running, start } from './process.ts';
import type { StackCopy } from './stack-copy.ts';

export type { Outcome } from './process.ts';

export type WorldOptions = StageOptions & {
  /** Whether the stack is applied already when the scenario begins. */
  readonly isApplied?: boolean;
  /** Whether it is left to `npm run torture`. */
  readonly isLong?: boolean;
};

export type RunOptions = {
  /** The exit code that it must end with; 0 unless given. */
  readonly exit?: number;
  /** On top of the world's own environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
};

/** Commands run in the copy of the stack. */
export type World = Omit<StackCopy, 'discard'> & {
  readonly sim: Simulator;
  /** Starts a command as a process of its own and does not wait for it. */
  readonly start: (args: readonly string[], options?: Pick<RunOptions, 'env'>) => Running;
  /** Runs a command to its end and checks its exit code. */
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Outcome>;
  /** `apply --auto-approve`, or of a plan file, to the end; then plans again and finds nothing to do. */
  readonly apply: (args?: readonly string[], options?: ApplyOptions) => Promise<Outcome>;
  /** The plan as JSON; its exit code must be 0. */
  readonly plan: (...args: readonly string[]) => Promise<PlanDocument>;
  /** Puts a gate before the platform, for the commands that follow. */
  readonly gate: () => Promise<Gate>;
  /** Requests that change something, in the order in which they ended. */
  readonly writes: () => readonly LoggedRequest[];
  /** Id of the agent of that name. */
  readonly agent: (name: string) => string;
};

type ApplyOptions = Pick<RunOptions, 'env'> & {
  /** The second plan still shows deletes that wait for `--allow-delete`. */
  readonly held?: boolean;
  /** Flags of the second plan, where the first had some that choose resources. */
  readonly again?: readonly string[];
};

/** A test that has a world of its own. Scenarios of a file run beside each other. */
export function scenario(
  name: string,
  body: (world: World) => Promise<void>,
  options: WorldOptions = {},
): void {
  if ((options.isLong ?? false) !== isTorture) return;
  test.concurrent(name, async ({ signal }) => {
    const stage = await openStage(options);
    const { world, check, close } = openWorld(stage, options.secrets);
    // A body that takes too long is left alone by the runner: what it started ends, and so does the body.
    signal.addEventListener('abort', () => void close());
    try {
      if (options.isApplied === true) await stage.apply();
      await body(world);
      await check();
    } finally {
      await close();
      await stage.close();
    }
  });
}

/** The same in a world in which the stack is applied already. */
export function applied(
  name: string,
  body: (world: World) => Promise<void>,
  options: WorldOptions = {},
): void {
  scenario(name, body, { ...options, isApplied: true });
}

/** A scenario that `npm run torture` alone goes through. */
export function longScenario(...[name, body, options]: Parameters<typeof scenario>): void {
  scenario(name, body, { ...options, isLong: true });
}

/** The same in a world in which the stack is applied already. */
export function longApplied(...[name, body, options]: Parameters<typeof scenario>): void {
  applied(name, body, { ...options, isLong: true });
}

function openWorld(stage: Stage, secrets: Readonly<Record<string, string>> = CANARIES) {
  const { sim, folder } = stage;
  const runs: Running[] = [];
  const outcomes: Outcome[] = [];
  const gates: Gate[] = [];
  const abort = new AbortController();
  const stop = { stop: abort.signal };
  let env: Record<string, string | undefined> = {
    PATH: process.env.PATH,
    HOME: folder,
    CI_COMMIT_SHA: COMMIT,
    ...secrets,
    CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
    CALLSHEET_BASE_URL: sim.url,
    CALLSHEET_CLIENT_ID: sim.clientId,
    CALLSHEET_CLIENT_SECRET: sim.clientSecret,
  };

  const begin: World['start'] = (args, { env: more = {} } = {}) => {
    const running = start(args, { cwd: folder, env: { ...env, ...more } });
    runs.push(running);
    running.ended.then((outcome) => outcomes.push(outcome));
    return running;
  };
  const end = async (args: readonly string[], more: Pick<RunOptions, 'env'>): Promise<Outcome> => {
    if (isTorture) return begin(args, more).ended;
    const outcome = await runHere(args, { cwd: folder, env: { ...env, ...more.env } }, stop);
    outcomes.push(outcome);
    return outcome;
  };
  const run: World['run'] = async (args, { exit = 0, ...more } = {}) => {
    const outcome = await end(args, more);
    expect(outcome.exit, told(outcome)).toBe(exit);
    return outcome;
  };

  const world: World = {
    ...stage,
    start: begin,
    run,
    async apply(args = [], { held = false, again = [], env: more = {} } = {}) {
      const outcome = await run(['apply', '--auto-approve', ...args], { env: more });
      const plan = ['plan', '--detailed-exitcode', '--format', 'json', ...again];
      const second = await end(plan, { env: more });
      expect(second.exit, `second plan after ${told(outcome)}\n${told(second)}`).toBe(held ? 2 : 0);
      const { changes } = readPlan(second);
      expect(changes.filter(({ verdict }) => !held || verdict !== 'held')).toEqual([]);
      return outcome;
    },
    plan: async (...args) => readPlan(await run(['plan', '--format', 'json', ...args])),
    async gate() {
      const gate = await openGate(sim.url);
      gates.push(gate);
      // Tokens are minted for the platform's own address, so one is brought along.
      env = { ...env, CALLSHEET_BASE_URL: gate.url, CALLSHEET_ACCESS_TOKEN: await mint(sim) };
      return gate;
    },
    agent(name) {
      for (const [id, { record }] of sim.store.agents) if (record.name === name) return id;
      throw new Error(`the platform has no agent named ${name}`);
    },
  };

  return {
    world,
    /** What must hold at the end of every scenario. */
    async check() {
      for (const { ended } of runs) await ended;
      expect(runs.filter(({ isLeft }) => isLeft())).toEqual([]);
      const printed = outcomes.map(({ args, out, err }) => ({
        by: `callsheet ${args.join(' ')}`,
        text: `${out}${err}`,
      }));
      expect(stage.leaks(printed)).toEqual([]);
    },
    async close() {
      abort.abort();
      for (const running of runs) if (running.isLeft()) running.signal('SIGKILL');
      for (const gate of gates) await gate.close();
    },
  };
}

/** The plan document that a command printed. */
export function readPlan({ out }: Outcome): PlanDocument {
  return JSON.parse(out);
}

/** The ledger that `--format json` of a run printed. */
export function readRun({ out }: Outcome): { readonly ledger: readonly LedgerLine[] } {
  return JSON.parse(out);
}

/** A command and what it said, for the message of a failed expectation. */
export function told({ args, exit, out, err }: Outcome): string {
  return `callsheet ${args.join(' ')} (exit ${exit})\n${out}${err}`;
}
