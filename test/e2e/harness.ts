/**
 * `e2e/` runs the built bin, as a user would, against a simulated platform in this process, in a copy of
 * a stack that a scenario may change. What must hold in every scenario is checked here, so that none can
 * forget it: after an apply the second plan is empty, no process is left behind, and no secret shows up
 * in anything that was printed or in any file below the stack.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { LoggedRequest, Simulator, SimulatorOptions } from '../../src/simulator/index.ts';
import { startSimulator } from '../../src/simulator/index.ts';
import { CANARIES, findLeaks } from './canaries.ts';
import { type Gate, openGate } from './gate.ts';
import { type Outcome, type Running, start } from './process.ts';
import { SEED } from './seed.ts';

export type WorldOptions = {
  /** Folder of the stack that is copied; the clinic beside this file unless given. */
  readonly stack?: string;
  readonly seed?: SimulatorOptions['seed'];
  readonly dialect?: SimulatorOptions['dialect'];
  /** Values of secrets, by the names of their environment variables. */
  readonly secrets?: Readonly<Record<string, string>>;
};

export type RunOptions = {
  /** The exit code that it must end with; 0 unless given. */
  readonly exit?: number;
  /** On top of the world's own environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
};

export type World = {
  readonly sim: Simulator;
  /** The copy of the stack. Commands run in it. */
  readonly folder: string;
  /** Starts a command and does not wait for it. */
  readonly start: (args: readonly string[], options?: Pick<RunOptions, 'env'>) => Running;
  /** Runs a command to its end and checks its exit code. */
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Outcome>;
  /** `apply --auto-approve`, or of a plan file, to the end; then plans again and finds nothing to do. */
  readonly apply: (args?: readonly string[], options?: ApplyOptions) => Promise<Outcome>;
  /** The plan as JSON; its exit code must be 0. */
  readonly plan: (...args: readonly string[]) => Promise<PlanDocument>;
  readonly read: (file: string) => Promise<string>;
  readonly write: (file: string, text: string) => Promise<void>;
  /** Replaces a part of a file, which must be there. */
  readonly edit: (file: string, from: string, to: string) => Promise<void>;
  /** Throws the state away, journals and all. */
  readonly forget: () => Promise<void>;
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
};

const CLINIC = join(import.meta.dirname, 'clinic');

/** A test that has a world of its own. Scenarios of a file run beside each other. */
export function scenario(
  name: string,
  body: (world: World) => Promise<void>,
  options: WorldOptions = {},
): void {
  test.concurrent(name, async () => {
    const { world, check, close } = await openWorld(options);
    try {
      await body(world);
      await check();
    } finally {
      await close();
    }
  });
}

async function openWorld(options: WorldOptions) {
  const { stack = CLINIC, seed = SEED, dialect = {}, secrets = CANARIES } = options;
  const home = await mkdtemp(join(tmpdir(), 'callsheet-e2e-'));
  const folder = join(home, 'stack');
  await cp(stack, folder, { recursive: true });
  const sim = await startSimulator({ seed, dialect });
  const runs: Running[] = [];
  const outcomes: Outcome[] = [];
  const gates: Gate[] = [];
  let env: Record<string, string | undefined> = {
    PATH: process.env.PATH,
    HOME: home,
    ...secrets,
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
  const run: World['run'] = async (args, { exit = 0, ...more } = {}) => {
    const outcome = await begin(args, more).ended;
    expect(outcome.exit, told(outcome)).toBe(exit);
    return outcome;
  };

  const world: World = {
    sim,
    folder,
    start: begin,
    run,
    async apply(args = [], { held = false, env: more = {} } = {}) {
      const outcome = await run(['apply', '--auto-approve', ...args], { env: more });
      const second = await begin(['plan', '--detailed-exitcode', '--format', 'json'], { env: more })
        .ended;
      expect(second.exit, `second plan after ${told(outcome)}\n${told(second)}`).toBe(held ? 2 : 0);
      const { changes } = readPlan(second);
      expect(changes.filter(({ verdict }) => !held || verdict !== 'held')).toEqual([]);
      return outcome;
    },
    plan: async (...args) => readPlan(await run(['plan', '--format', 'json', ...args])),
    read: (file) => readFile(join(folder, file), 'utf8'),
    write: (file, text) => writeFile(join(folder, file), text),
    async edit(file, from, to) {
      const text = await world.read(file);
      expect(text).toContain(from);
      await world.write(file, text.replace(from, to));
    },
    forget: () => rm(join(folder, '.callsheet'), { recursive: true }),
    async gate() {
      const gate = await openGate(sim.url);
      gates.push(gate);
      // Tokens are minted for the platform's own address, so one is brought along.
      env = { ...env, CALLSHEET_BASE_URL: gate.url, CALLSHEET_ACCESS_TOKEN: await mint(sim) };
      return gate;
    },
    writes: () =>
      sim.requests.filter(
        ({ method, operation }) => method !== 'GET' && operation !== 'createToken',
      ),
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
      const hidden = [...Object.values(secrets), sim.clientSecret, ...sim.store.tokens.keys()];
      expect(await findLeaks(hidden, outcomes, folder)).toEqual([]);
    },
    async close() {
      for (const running of runs) if (running.isLeft()) running.signal('SIGKILL');
      for (const gate of gates) await gate.close();
      await sim.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The plan document that a command printed. */
export function readPlan({ out }: Outcome): PlanDocument {
  return JSON.parse(out);
}

/** A command and what it said, for the message of a failed expectation. */
export function told({ args, exit, out, err }: Outcome): string {
  return `callsheet ${args.join(' ')} (exit ${exit})\n${out}${err}`;
}

async function mint({ url, clientId, clientSecret }: Simulator): Promise<string> {
  const answer = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id: clientId,
      client_secret: clientSecret,
      audience: `${url}/`,
      grant_type: 'client_credentials',
    }),
  });
  const { access_token: token } = (await answer.json()) as { readonly access_token: string };
  return token;
}
