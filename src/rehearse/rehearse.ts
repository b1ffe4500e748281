/**
 * `rehearse/` tries a plan on a copy of the fleet: it makes a seed of what was read (`seed.ts`), opens simulated
 * platforms with it, has the plan applied, failed half way, resumed and rolled back there by the
 * same commands that do so on the platform, and compares what is left (`compare.ts`).
 *
 * This file: the order of events, and the copies. How a command is run on a copy is passed in as `Driver`.
 */
import type {
  PlanDocument,
  Rehearsal,
  RehearsalSource,
  RehearsalStep,
  RehearsalVerdict,
} from '../core/plan-document.ts';
import type { JsonObject } from '../core/value.ts';
import { isRefused } from '../plan/document.ts';
import {
  type Dialect,
  type Fault,
  type LoggedRequest,
  startSimulator,
} from '../simulator/index.ts';
import { compareDumps, type Words } from './compare.ts';
import type { Replica } from './seed.ts';
import {
  applyStep,
  copyStep,
  type Driver,
  failureStep,
  type Outcome,
  resumeStep,
  returnStep,
  rollbackStep,
  secondStep,
} from './steps.ts';

type RehearsalInput = {
  /** The plan that is rehearsed; undefined where it is the one that the copy gives. */
  readonly plan: PlanDocument | undefined;
  readonly source: RehearsalSource;
  readonly replica: Replica;
  readonly behaviour: Behaviour;
  /** What people call the faults that were asked for. */
  readonly faults: readonly string[];
  /** Gives the commands a copy, with a state of its own. */
  readonly driverOn: (sandbox: Sandbox) => Promise<Driver>;
  readonly assumptionOf: (operation: string) => string | undefined;
  readonly words: Words;
  readonly now: () => Date;
  /** Throws once somebody interrupted. */
  readonly goOn: () => void;
  readonly tell: (text: string) => void;
};

export type Rehearsed = {
  readonly rehearsal: Rehearsal;
  /** The plan, or the one that the copy gave. */
  readonly plan: PlanDocument;
};

/** Leaves that are listed; more of the same say no more. */
const MOST_DIFFERENCES = 200;

type Progress = {
  readonly steps: RehearsalStep[];
  readonly requests: LoggedRequest[];
};

/** Tries a plan on copies of a fleet and says what came of it. Nothing else is written. */
export async function rehearse(input: RehearsalInput): Promise<Rehearsed> {
  const { replica, source, faults, now } = input;
  const progress: Progress = { steps: [], requests: [] };
  const straight = await inSandbox(input, progress, (sandbox, driver) =>
    goStraight(sandbox, driver, input, progress),
  );
  const differences =
    straight.writes === undefined
      ? []
      : await inSandbox(input, progress, (sandbox, driver) =>
          goAstray(sandbox, driver, straight.writes ?? [], input, progress),
        );
  const plan = input.plan ?? straight.plan;
  const used = progress.requests.flatMap(({ operation }) => input.assumptionOf(operation) ?? []);
  const rehearsal: Rehearsal = {
    digest: plan.digest,
    at: now().toISOString(),
    verdict: straight.isEmpty ? 'empty' : verdictOf(progress.steps),
    source,
    copied: replica.copied,
    steps: progress.steps,
    differences: differences.slice(0, MOST_DIFFERENCES),
    differing: differences.length,
    faults,
    filled: replica.filled,
    assumptions: [...new Set([...plan.assumptions, ...used])].sort(),
  };
  return { rehearsal, plan };
}

async function inSandbox<T>(
  { replica, behaviour, now, driverOn }: RehearsalInput,
  { requests }: Progress,
  work: (sandbox: Sandbox, driver: Driver) => Promise<T>,
): Promise<T> {
  const sandbox = await openSandbox(replica, behaviour, now);
  try {
    const driver = await driverOn(sandbox);
    try {
      return await work(sandbox, driver);
    } finally {
      await driver.close();
    }
  } finally {
    requests.push(...sandbox.requests());
    await sandbox.close();
  }
}

type Straight = {
  readonly plan: PlanDocument;
  readonly isEmpty: boolean;
  /** What it wrote; undefined where it did not come through. */
  readonly writes: readonly LoggedRequest[] | undefined;
};

/** Plans, applies, and plans again. */
async function goStraight(
  sandbox: Sandbox,
  driver: Driver,
  { plan: given, tell, goOn, replica }: RehearsalInput,
  { steps }: Progress,
): Promise<Straight> {
  tell('Planning on a copy of the fleet.');
  const plan = await driver.plan('first');
  goOn();
  steps.push(copyStep(given ?? plan, plan, replica.copied));
  if (isRefused(plan) || (given !== undefined && isRefused(given)))
    return { plan, isEmpty: false, writes: undefined };
  const isEmpty = !isWorkFor(given ?? plan);
  if (isEmpty || steps.some(({ outcome }) => outcome === 'failed'))
    return { plan, isEmpty, writes: undefined };
  tell('Applying it there.');
  const applied = await driver.apply(plan);
  goOn();
  const writes = writesIn(sandbox.requests());
  steps.push(applyStep(applied, writes.length));
  if (applied.status !== 'done') return { plan, isEmpty, writes: undefined };
  const second = await driver.plan('second');
  goOn();
  steps.push(secondStep(second));
  const isDone = steps.every(({ outcome }) => outcome !== 'failed');
  return { plan, isEmpty, writes: isDone ? writes : undefined };
}

/** Whether apply would do anything. */
export function isWorkFor({ changes }: PlanDocument): boolean {
  return changes.some(({ verdict, operations }) => verdict === 'ok' && operations.length > 0);
}

/** Fails half way, resumes, and rolls all of it back. Returns what is not as it was. */
async function goAstray(
  sandbox: Sandbox,
  driver: Driver,
  writes: readonly LoggedRequest[],
  { tell, goOn, words }: RehearsalInput,
  { steps }: Progress,
) {
  const before = sandbox.dump();
  const half = Math.floor(writes.length / 2);
  tell('On a new copy: failing the apply half way.');
  const plan = await driver.plan('first');
  sandbox.failAfter(tally(writes.slice(0, half)), tally(writes));
  const failed = await driver.apply(plan);
  goOn();
  steps.push(failureStep(failed, half, writes.length));
  sandbox.recover();
  tell('Continuing with it.');
  const resumed = await driver.apply();
  goOn();
  steps.push(resumeStep(resumed, await driver.plan('second')));
  tell('Rolling it back.');
  const runs = [resumed.run, failed.run].filter((run) => run !== null);
  steps.push(rollbackStep(await rollBackAll(runs, driver, goOn)));
  const made = new Map(
    [...failed.ledger, ...resumed.ledger].map(({ id, address }) => [id, address] as const),
  );
  const addressOf: Words['addressOf'] = (kind, id) =>
    words.addressOf(kind, id) ?? made.get(id) ?? null;
  return compared(before, sandbox.dump(), { ...words, addressOf }, steps);
}

/** The newest run first. What is refused is tried once more with `--undo-edited` and `--delete-used`: nobody else works on a copy. */
async function rollBackAll(
  runs: readonly string[],
  driver: Driver,
  goOn: () => void,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const run of runs) {
    const outcome = await driver.rollback(run, false);
    goOn();
    const isRetried = outcome.status === 'refused';
    outcomes.push(
      isRetried ? { ...(await driver.rollback(run, true)), forced: outcome.message } : outcome,
    );
    goOn();
  }
  return outcomes;
}

function compared(
  before: JsonObject,
  after: JsonObject,
  words: Words,
  steps: RehearsalStep[],
): ReturnType<typeof compareDumps> {
  const differences = compareDumps(before, after, words);
  steps.push(returnStep(differences));
  return differences;
}

function verdictOf(steps: readonly RehearsalStep[]): RehearsalVerdict {
  const worst = (['refused', 'failed', 'partial'] as const).find((outcome) =>
    steps.some((step) => step.outcome === outcome),
  );
  return worst ?? 'passed';
}

/** How the simulated platform behaves. */
export type Behaviour = {
  readonly dialect: Partial<Dialect>;
  /** What goes wrong on top. */
  readonly faults: readonly Fault[];
  readonly chaosSeed: string;
};

/** A fresh copy of the fleet on a simulated platform of its own. */
export type Sandbox = {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly requests: () => readonly LoggedRequest[];
  /** Answers every write with 500 once as many of each operation were let through. */
  readonly failAfter: (passing: Tally, all: Tally) => void;
  /** Lets everything through again that only failed on purpose half way. */
  readonly recover: () => void;
  readonly dump: () => JsonObject;
  readonly close: () => Promise<void>;
};

/** Requests that write, by operation. */
type Tally = ReadonlyMap<string, number>;

/** So often that it never ends. */
const ALWAYS = 1_000_000_000;

/** Opens a copy. Whoever does closes it. */
async function openSandbox(
  { seed, key }: Replica,
  { dialect, faults, chaosSeed }: Behaviour,
  now: () => Date,
): Promise<Sandbox> {
  const simulator = await startSimulator({ seed, dialect, chaosSeed, now, idSalt: 'copy' });
  simulator.faults.add(...faults);
  return {
    url: simulator.url,
    clientId: key?.client_id ?? simulator.clientId,
    clientSecret: key?.client_secret ?? simulator.clientSecret,
    requests: () => simulator.requests,
    failAfter: (passing, all) => simulator.faults.add(...failures(passing, all)),
    recover: () => {
      simulator.faults.clear();
      simulator.faults.add(...faults);
    },
    dump: simulator.dump,
    close: simulator.close,
  };
}

function failures(passing: Tally, all: Tally): readonly Fault[] {
  return [...all.keys()].map((operation) => ({
    // A key of a tally comes from the log of a simulator.
    operation: operation as Fault['operation'],
    skip: passing.get(operation) ?? 0,
    times: ALWAYS,
    status: 500,
  }));
}

/** Requests that were to change something, in the order in which they ended. */
function writesIn(requests: readonly LoggedRequest[]): readonly LoggedRequest[] {
  return requests.filter(
    ({ method, operation }) => method !== 'GET' && operation !== 'createToken',
  );
}

function tally(requests: readonly LoggedRequest[]): Tally {
  const counts = new Map<string, number>();
  for (const { operation } of requests) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  return counts;
}
