import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Recovery, recoverRun, recoveryFindings } from '../apply/recover.ts';
import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError, foldSentences, PLAN_AGAIN } from '../core/errors.ts';
import type { RecoveredRun } from '../core/plan-document.ts';
import type { World } from '../diff/leaves.ts';
import { createReader } from '../live/reader.ts';
import type { Reader } from '../plan/reader.ts';
import type { Client } from '../platform/client.ts';
import { realPause } from '../platform/rate.ts';
import type { Stack } from '../stack/index.ts';
import { type Claimant, checkOwner, lockedState, openMove } from '../state/failures.ts';
import { findBegan, type JournalEntry, type RunEnded } from '../state/journal.ts';
import type { State } from '../state/model.ts';
import { emptyState, nextState, type Replayed, replay, withDeleted } from '../state/replay.ts';
import type { Holder, Lease, StateStore } from '../state/store.ts';
import type { RunContext } from './context.ts';
import { dropErrored } from './errored.ts';

/** A run that began and did not commit. */
export type Unfinished = {
  readonly run: string;
  readonly entries: readonly JournalEntry[];
  /** Undefined while the run is at work. */
  readonly recovery: Recovery | undefined;
};

type Interrupted = {
  readonly store: StateStore;
  readonly state: State;
  /** The resources of the state that no store has. */
  readonly recalled: { readonly size: number };
  readonly unfinished: Unfinished | undefined;
  readonly platform: { readonly account_id: string };
  readonly claimant: Claimant | undefined;
  readonly client: Client;
  readonly world: Omit<World, 'findId'>;
  readonly stack: Pick<Stack, 'resources' | 'dir' | 'environment' | 'state'>;
};

/** Looks whether a run died, and finds out what became of what it asked for. Nothing is written. */
export async function findUnfinished(
  pending: readonly JournalEntry[],
  replayed: Replayed,
  deps: {
    readonly store: StateStore;
    readonly reader: Reader;
    readonly world: Omit<World, 'findId'>;
  },
): Promise<Unfinished | undefined> {
  const run = replayed.began?.run;
  if (run === undefined) return undefined;
  const recovery = (await isAtWork(run, deps.store))
    ? undefined
    : await recoverRun(pending, replayed, deps);
  return { run, entries: pending, recovery };
}

/** The run that is at work; undefined where there is none, or where it died. */
export function findAtWork({ unfinished }: Pick<Interrupted, 'unfinished'>): string | undefined {
  return unfinished?.recovery === undefined ? unfinished?.run : undefined;
}

/** Nothing is undone beside a run that is at work: what it has not done yet would be taken for nothing. */
export async function refuseBeside(session: Pick<Interrupted, 'unfinished' | 'store'>) {
  const run = findAtWork(session);
  if (run === undefined) return;
  const { store } = session;
  const held = await store.lock();
  if (held?.holder.run === run) throw lockedState(store.location, held.holder, held.lease);
}

/** Milliseconds between looks at a lock that one waits for. */
const LOOK_MS = 1_000;

/**
 * Waits until no live run holds the state, at most until a time (milliseconds since the epoch). Throws
 * `CallsheetError('locked')` where one still does then.
 */
export async function awaitLock(
  store: StateStore,
  until: number,
  context: RunContext,
): Promise<void> {
  for (let isReported = false; ; ) {
    const held = await store.lock();
    if (held === undefined || !(await isAtWork(held.holder.run, store))) return;
    await waitFor(lockedState(store.location, held.holder, held.lease), until, isReported, context);
    isReported = true;
  }
}

/** Takes the state, and waits for it until a time where another run has it. */
export async function acquireUntil(
  store: StateStore,
  holder: Holder,
  until: number,
  context: RunContext,
): Promise<Lease> {
  for (let isReported = false; ; isReported = true) {
    try {
      return await store.acquire(holder);
    } catch (error) {
      if (!(error instanceof CallsheetError) || error.code !== 'locked') throw error;
      await waitFor(error, until, isReported, context);
    }
  }
}

async function waitFor(
  locked: CallsheetError,
  until: number,
  isReported: boolean,
  { stop, emit }: RunContext,
): Promise<void> {
  const left = until - Date.now();
  if (left <= 0 || stop.aborted) throw locked;
  if (!isReported) emit({ type: 'waiting', message: locked.message });
  await realPause.sleep(Math.min(LOOK_MS, left), stop);
}

/** The number of looks at a holder during the wait for its heartbeat: a silent holder is taken for dead. */
const GLANCES = 60;

/** Returns true if a run goes on. On another machine its heartbeat shows that, never a comparison of clocks. */
async function isAtWork(run: string, store: StateStore): Promise<boolean> {
  const held = await store.lock();
  if (held === undefined || held.holder.run !== run) return false;
  if (held.owner === 'running') return true;
  if (held.owner === 'gone') return false;
  for (let glance = 0; glance < GLANCES; glance += 1) {
    await sleep(held.watch / GLANCES);
    const now = await store.lock();
    if (now?.lease !== held.lease) return false;
    if (now.beat !== held.beat) return true;
  }
  return false;
}

/** Returns the plan's entry for a recovered run. */
export function recoveredRun(unfinished: Unfinished | undefined): RecoveredRun | undefined {
  const { run, recovery } = unfinished ?? {};
  if (run === undefined || recovery === undefined) return undefined;
  return { run, findings: recoveryFindings(recovery) };
}

/** The journal of a run as it will be once it is recovered. */
export function listEntries({ entries, recovery }: Unfinished): readonly JournalEntry[] {
  if (recovery === undefined) return entries;
  return [...entries, ...recovery.records, recoveredEnd(recovery, '')];
}

/**
 * The state to start from: the one of now, with an interrupted run recovered in it for good. Throws `stale` where another
 * run died since the plan, and where another run wrote since, unless each change is held against its basis
 * (`isBased`).
 */
export async function recordRecovery(
  lease: Lease,
  session: Interrupted,
  context: RunContext,
  { isBased = false }: { readonly isBased?: boolean } = {},
): Promise<State> {
  const { store, state: planned, unfinished, platform, recalled } = session;
  const { state: found, pending } = await store.load();
  const replayed = replay(found, pending);
  const known = replayed.state ?? emptyState(randomUUID());
  const { claimant } = session;
  if (claimant !== undefined) await checkOwner(known, claimant, store.location);
  const owned = (one: State): State => ({ ...one, ...(claimant && { owner: claimant.owner }) });
  const now = owned({ ...known, account_id: platform.account_id });
  if (!isBased && now.serial !== planned.serial) {
    const what = `another run wrote the state since the plan (serial ${planned.serial}, now ${now.serial})`;
    throw new CallsheetError('stale', what, { hint: PLAN_AGAIN });
  }
  const { deleted } = planned;
  if (replayed.state === undefined && (recalled.size > 0 || deleted !== undefined)) {
    // A journal names what its run touches alone: should the run die, the state has the rest.
    const first = nextState({ ...now, ...(deleted && { deleted }) }, null, planned.resources);
    await lease.commit(first);
    return first;
  }
  if (replayed.began === undefined) return now;
  const { run } = replayed.began;
  const isKnown = unfinished?.run === run && unfinished.entries.length === pending.length;
  const recovery = isKnown ? unfinished.recovery : undefined;
  const file = (one: Recovery) => {
    refuseUnclear(one, session.stack.resources);
    return fileRecovery(lease, one, found?.resources ?? {}, platform.account_id, context);
  };
  if (recovery !== undefined) {
    const recovered = await file(recovery);
    await dropErrored(session.stack, recovered);
    context.emit({ type: 'recovered', run });
    return owned(recovered);
  }
  // A reader of its own: what was listed for the plan is older than what the run did last.
  const reader = createReader(session.client);
  const fresh = await recoverRun(pending, replayed, { reader, world: session.world });
  if (fresh === undefined) return now;
  await file(fresh);
  throw new CallsheetError(
    'stale',
    `run ${run} was running when this was planned, and has died since`,
    {
      hint: `Callsheet has recovered it: \`callsheet runs ${run}\`. ${PLAN_AGAIN}`,
    },
  );
}

/**
 * Writes down what became of an interrupted run, and files its journal.
 *
 * @param before the resources as they were before the run
 */
export async function fileRecovery(
  lease: Lease,
  recovery: Recovery,
  before: State['resources'],
  account: string | undefined,
  context: RunContext,
): Promise<State> {
  for (const record of recovery.records) await lease.append(record);
  await lease.append(recoveredEnd(recovery, context.now().toISOString()));
  const { run, at, ledger } = recovery;
  const state = withDeleted(recovery.state, before, { run, at }, ledger);
  const recovered = nextState(
    account === undefined ? state : { ...state, account_id: account },
    run,
  );
  await lease.commit(recovered);
  return recovered;
}

function recoveredEnd({ ledger }: Recovery, at: string): RunEnded {
  return { type: 'ended', at, status: 'settled', verified: false, ledger };
}

/**
 * Requires a person's choice among several resources that a dead run may have made. Throws
 * `CallsheetError('refused')` that lists them, unless the configuration makes it.
 */
export function refuseUnclear(
  { run, recovered, entries }: Recovery,
  configured: readonly Pick<DesiredResource, 'address' | 'lifecycle'>[],
): void {
  const began = findBegan(entries);
  if (began?.moves?.to !== undefined) throw openMove(began);
  const unclear = recovered.filter(({ address, candidates = [] }) => {
    const adopt = configured.find((one) => one.address === address)?.lifecycle.adopt;
    return candidates.length > 0 && (adopt === undefined || !candidates.includes(adopt));
  });
  if (unclear.length === 0) return;
  const sentences = unclear.map(({ address, message }) => ({
    address,
    message: `${address} ${message}`,
  }));
  throw new CallsheetError('refused', `run ${run} died:\n${foldSentences(sentences)}`, {
    hint: 'Nothing was written. Plan again once that is done.',
  });
}
