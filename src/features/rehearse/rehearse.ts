/**
 * `rehearse/` tries a plan on a copy of the fleet: it makes a seed of what was read (`seed.ts`), opens simulated
 * platforms with it, has the plan applied, failed half way, resumed and rolled back there by the
 * same commands that do so on the platform, and compares what is left (`compare.ts`).
 *
 * This file: the order of events, and the copies. `driver.ts` runs a command on one of them.
 */
import type { Context, PlanFlags } from '../../console/context.ts';
import type {
  PlanDocument,
  PlanOptions,
  Rehearsal,
  RehearsalDifference,
  RehearsalStep,
  RehearsalVerdict,
} from '../../core/plan-document.ts';
import { isRefused } from '../../core/plan-document.ts';
import { isWriting } from '../../plan/document.ts';
import { findAssumption, readEndpoints } from '../../platform/endpoints.ts';
import { operations } from '../../platform/operations.generated.ts';
import {
  type Dialect,
  type Fault,
  type LoggedRequest,
  type Simulator,
  startSimulator,
} from '../../simulator/index.ts';
import { ownersIn } from '../../state/model.ts';
import { compareDumps, type Words } from './compare.ts';
import { type Driver, goOn, type Outcome, openDriver } from './driver.ts';
import type { Fleet } from './fleet.ts';
import type { Replica } from './seed.ts';
import {
  applyStep,
  copyStep,
  failureStep,
  resumeStep,
  returnStep,
  rollbackStep,
  secondStep,
} from './steps.ts';

type Trial = {
  /** The plan that is rehearsed; undefined where it is the one that the copy gives. */
  readonly plan: PlanDocument | undefined;
  readonly options: PlanOptions;
  readonly behaviour: Behaviour;
  /** The requested faults, by the names that people know. */
  readonly faults: readonly string[];
};

/** How the simulated platform behaves. */
export type Behaviour = {
  readonly dialect: Partial<Dialect>;
  readonly faults: readonly Fault[];
  readonly chaosSeed: string;
};

/** One rehearsal: what is tried, on copies of what, and what came of it so far. */
type Trying = Pick<Trial, 'plan' | 'options' | 'behaviour'> & {
  readonly fleet: Fleet;
  readonly replica: Replica;
  readonly flags: PlanFlags;
  readonly context: Context;
  readonly steps: RehearsalStep[];
  readonly requests: LoggedRequest[];
};

/** A fresh copy of the fleet on a simulated platform of its own, and the commands there. */
type Copy = { readonly simulator: Simulator; readonly driver: Driver };

type Rehearsed = {
  readonly rehearsal: Rehearsal;
  /** The plan, or the one that the copy gave. */
  readonly plan: PlanDocument;
};

/** Leaves that are listed; more of the same say no more. */
const MOST_DIFFERENCES = 200;

/** Reads the fleet, tries a plan on copies of it, and says what came of it. Nothing else is written. */
export async function tryOnCopies(
  { plan: given, options, behaviour, faults }: Trial,
  fleet: Fleet,
  flags: PlanFlags,
  context: Context,
): Promise<Rehearsed> {
  context.terminal.err('Reading the fleet.');
  const replica = await fleet.replica(given);
  const absent = [...fleet.lacks().absent, ...(behaviour.dialect.absent ?? [])];
  const trying: Trying = {
    plan: given,
    options,
    behaviour: { ...behaviour, dialect: { ...behaviour.dialect, absent } },
    fleet,
    replica,
    flags,
    context,
    steps: [],
    requests: [],
  };
  const straight = await onCopy(trying, (copy) => goStraight(copy, trying));
  const { writes } = straight;
  const differences =
    writes === undefined ? [] : await onCopy(trying, (copy) => goAstray(copy, writes, trying));
  const plan = given ?? straight.plan;
  const { steps, requests } = trying;
  const endpoints = readEndpoints(fleet.stack.platform);
  // The log of a copy has uploads, too, which are no operation of the platform.
  const used = requests.flatMap(({ operation }) =>
    Object.hasOwn(operations, operation) ? (findAssumption(operation, endpoints) ?? []) : [],
  );
  const rehearsal: Rehearsal = {
    digest: plan.digest,
    at: context.now().toISOString(),
    verdict: straight.isEmpty ? 'empty' : getVerdict(steps),
    source: fleet.source,
    copied: replica.copied,
    steps,
    differences: differences.slice(0, MOST_DIFFERENCES),
    differing: differences.length,
    faults,
    filled: replica.filled,
    assumptions: [...new Set([...plan.assumptions, ...used])].sort(),
  };
  return { rehearsal, plan };
}

/** Opens a copy, works on it, and keeps its requests. */
async function onCopy<T>(
  { replica, behaviour, fleet: { state }, requests, ...trying }: Trying,
  work: (copy: Copy) => Promise<T>,
): Promise<T> {
  const { seed, key } = replica;
  const { dialect, faults, chaosSeed } = behaviour;
  const { now } = trying.context;
  const simulator = await startSimulator({ seed, dialect, chaosSeed, now, idSalt: 'copy' });
  simulator.faults.add(...faults);
  const credentials = {
    clientId: key?.client_id ?? simulator.clientId,
    clientSecret: key?.client_secret ?? simulator.clientSecret,
  };
  try {
    const sandbox = { baseUrl: simulator.url, credentials };
    const driver = await openDriver({ ...trying, sandbox, state });
    try {
      return await work({ simulator, driver });
    } finally {
      await driver.close();
    }
  } finally {
    requests.push(...simulator.requests);
    await simulator.close();
  }
}

type Straight = {
  readonly plan: PlanDocument;
  readonly isEmpty: boolean;
  /** The writes that it sent; undefined where it failed. */
  readonly writes: readonly LoggedRequest[] | undefined;
};

/** Plans, applies, and plans again. */
async function goStraight(
  { simulator, driver }: Copy,
  { plan: given, context, replica, steps }: Trying,
): Promise<Straight> {
  context.terminal.err('Planning on a copy of the fleet.');
  const plan = await driver.plan('first');
  goOn(context);
  steps.push(copyStep(given ?? plan, plan, replica.copied));
  if (isRefused(plan) || (given !== undefined && isRefused(given)))
    return { plan, isEmpty: false, writes: undefined };
  const isEmpty = !(given ?? plan).changes.some(isWriting);
  if (isEmpty || steps.some(({ outcome }) => outcome === 'failed'))
    return { plan, isEmpty, writes: undefined };
  context.terminal.err('Applying it there.');
  const applied = await driver.apply(plan);
  goOn(context);
  const writes = writesIn(simulator.requests);
  steps.push(applyStep(applied, writes.length));
  if (applied.status !== 'done') return { plan, isEmpty, writes: undefined };
  const second = await driver.plan('second');
  goOn(context);
  steps.push(secondStep(second));
  const isDone = steps.every(({ outcome }) => outcome !== 'failed');
  return { plan, isEmpty, writes: isDone ? writes : undefined };
}

/** Fails half way, resumes, and rolls all of it back. Returns what is not as it was. */
async function goAstray(
  { simulator, driver }: Copy,
  writes: readonly LoggedRequest[],
  { plan: rehearsed, behaviour, fleet, context, steps }: Trying,
): Promise<readonly RehearsalDifference[]> {
  const { faults } = simulator;
  const { err: tell } = context.terminal;
  const before = simulator.dump();
  const half = Math.floor(writes.length / 2);
  tell('On a new copy: failing the apply half way.');
  const plan = await driver.plan('first');
  faults.add(...failuresAfter(writes.slice(0, half), writes));
  const failed = await driver.apply(plan);
  goOn(context);
  steps.push(failureStep(failed, half, writes.length));
  // Only what failed on purpose half way is let through again.
  faults.clear();
  faults.add(...behaviour.faults);
  tell('Continuing with it.');
  const resumed = await driver.apply();
  goOn(context);
  steps.push(resumeStep(resumed, await driver.plan('second')));
  tell('Rolling it back.');
  const runs = [resumed.run, failed.run].filter((run) => run !== null);
  steps.push(rollbackStep(await rollBackAll(runs, driver, context)));
  const words = wordsFor(fleet, rehearsed, [...failed.ledger, ...resumed.ledger]);
  const differences = compareDumps(before, simulator.dump(), words);
  steps.push(returnStep(differences));
  return differences;
}

/** Resources by what the plan, the state or, for those that were made on the copy, its runs call them. */
function wordsFor(
  { state, secretValues: secrets }: Fleet,
  plan: PlanDocument | undefined,
  ledger: Outcome['ledger'],
): Words {
  const made = new Map(ledger.map(({ id, address }) => [id, address] as const));
  const addresses = ownersIn(state);
  for (const { kind, id, address } of plan?.changes ?? []) addresses.set(`${kind} ${id}`, address);
  const findAddress: Words['findAddress'] = (kind, id) =>
    addresses.get(`${kind} ${id}`) ?? made.get(id) ?? null;
  return { findAddress, secrets };
}

/** Rolls back the newest run first. A refused one is tried again with `--undo-edited --delete-used`: it is a copy. */
async function rollBackAll(
  runs: readonly string[],
  driver: Driver,
  context: Context,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const run of runs) {
    const outcome = await driver.rollback(run, false);
    goOn(context);
    const isRetried = outcome.status === 'refused';
    outcomes.push(
      isRetried ? { ...(await driver.rollback(run, true)), forced: outcome.message } : outcome,
    );
    goOn(context);
  }
  return outcomes;
}

function getVerdict(steps: readonly RehearsalStep[]): RehearsalVerdict {
  const worst = (['refused', 'failed', 'partial'] as const).find((outcome) =>
    steps.some((step) => step.outcome === outcome),
  );
  return worst ?? 'passed';
}

/** So often that it never ends. */
const ALWAYS = 1_000_000_000;

/** Answers every write with 500 once as many of each operation were let through. */
function failuresAfter(
  passing: readonly LoggedRequest[],
  all: readonly LoggedRequest[],
): readonly Fault[] {
  return [...new Set(all.map(({ operation }) => operation))].map((operation) => ({
    // It comes from the log of a simulator.
    operation: operation as Fault['operation'],
    skip: passing.filter((one) => one.operation === operation).length,
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
