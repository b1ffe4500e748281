import { setTimeout as sleep } from 'node:timers/promises';
import { brokenOff, executePlan, type RunResult } from '../apply/execute.ts';
import { checkBasis, checkPins, confirmPins } from '../apply/pins.ts';
import type { RunDeps } from '../apply/work.ts';
import { type Address, getKind } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { Verification } from '../core/documents.ts';
import { isRunnable, type PlanDocument } from '../core/plan-document.ts';
import { isSameJson } from '../core/value.ts';
import { PACKAGE_VERSION } from '../core/version.ts';
import { kindNamed } from '../kinds/index.ts';
import { createReader } from '../live/reader.ts';
import type { Readings } from '../live/readings.ts';
import { recallAgreed } from '../plan/basis.ts';
import { withRefusals } from '../plan/guards.ts';
import { describeEnded, endedHolds, type HoldChange, withHoldChange } from '../plan/holds.ts';
import type { Planned } from '../plan/make.ts';
import { idsWith } from '../plan/references.ts';
import { secretsWritten } from '../plan/secrets.ts';
import { withLetGo } from '../plan/state-entry.ts';
import type { Fingerprinter } from '../state/fingerprint.ts';
import type { Actor, KeptByRun, RunBegan, SnapshotTaken } from '../state/journal.ts';
import type { AppliedCommit, ResourceState, State } from '../state/model.ts';
import {
  nextState,
  withApplied,
  withDeleted,
  withHolds,
  withKept,
  withStretched,
} from '../state/replay.ts';
import type { Lease, Traffic } from '../state/store.ts';
import { describeActor, describeCheckout, holderFor, runId } from './actor.ts';
import { commitApplied, findStanding, type Standing } from './behind.ts';
import { type Observe, type RunContext, stage } from './context.ts';
import { dropErrored, keepErrored } from './errored.ts';
import { getExpected, guardFindingsNow, refusalsNow } from './plan.ts';
import { acquireUntil, recordRecovery } from './recover.ts';
import { claimForRun, fingerprintsForRun, type Session, sealerFor } from './session.ts';

/** The results of a run, as far as it knows them. */
export type Left = {
  readonly resources: Readonly<Record<Address, ResourceState>>;
  /** The resources that it found right before it wrote, by address. */
  readonly found: ReadonlyMap<Address, Pick<SnapshotTaken, 'id' | 'document'>>;
};

type VerifiedResult = RunResult & { readonly verification?: Verification };

/** Returns true if somebody else wrote what a run wrote, since its plan or in its midst. */
export function isDisturbed({ stale, interleaved }: VerifiedResult): boolean {
  return stale.length > 0 || interleaved.length > 0;
}

export type RunOutcome =
  /** Something stands against it, which the plan now says. Nothing was written. */
  | { readonly type: 'refused'; readonly plan: PlanDocument }
  /** There was nothing to write. `partial`: not all that was wanted can be had; `verification` says what. */
  | {
      readonly type: 'unchanged';
      readonly plan: PlanDocument;
      readonly status: 'done' | 'partial';
      readonly verification?: Verification;
      /** The run that carried the same plan out before. */
      readonly by?: string;
    }
  | {
      readonly type: 'ran';
      readonly run: string;
      readonly plan: PlanDocument;
      readonly result: VerifiedResult;
      /** Bytes that went to the store of the state and came from it; undefined of a file. */
      readonly traffic?: Traffic;
    };

export type RunRequest = {
  readonly session: Session;
  readonly context: RunContext;
  /** Who follows it. */
  readonly observe?: Observe | undefined;
  readonly purpose: 'apply' | 'heal' | 'rollback' | 'restore';
  /** Another command made the plan: all of it is checked before the first write. */
  readonly isGiven?: boolean;
  /** The desired side, where it is not the configuration. */
  readonly desired?: readonly DesiredResource[];
  readonly restored?: ReadonlyMap<Address, ResourceState | null>;
  /** The change that it makes to the holds of values that it undoes. */
  readonly hold?: HoldChange;
  /** Gives what a feature keeps with it, if it is a part of one: as it begins, and with what came of it. */
  readonly kept?: (run: string, result?: RunResult) => KeptByRun;
  /** The step to take if it fails, which a run that dies leaves to the next command. */
  readonly onFailure?: 'rollback';
  /** True if it is a run although it changes nothing: another one waits for it. */
  readonly isAwaited?: boolean;
  /** Until when to wait for another run that holds the state, in milliseconds since the epoch; unset: not at all. */
  readonly freeBy?: number | undefined;
  /** Holds what the run left against what it was to leave, once all of it is done. */
  readonly verify?: (left: Left) => Promise<Verification>;
  /** Keeps what the run reads, for a command that looks at it again. */
  readonly readings?: Readings;
};

/** Takes the lease, recovers an interrupted run, carries the plan out and commits the state. */
export async function runPlan(planned: Planned, request: RunRequest): Promise<RunOutcome> {
  const { session, context, purpose } = request;
  await needSecrets(planned.plan, request);
  session.beginWriting();
  const run = runId(context.now());
  const attributes = { 'callsheet.run.id': run, 'callsheet.purpose': purpose };
  return stage(context, 'run', () => runAs(run, planned, request), attributes);
}

async function runAs(run: string, made: Planned, request: RunRequest): Promise<RunOutcome> {
  const { session, context, purpose } = request;
  const { plan } = made;
  const checkout = await describeCheckout(session.stack.dir);
  const actor = await describeActor(session.stack.dir, context, checkout);
  const holder = holderFor(run, purpose, actor, context);
  const lease = await acquireUntil(session.store, holder, request.freeBy ?? 0, context);
  return releasing(lease, async () => {
    // A part of what a feature does writes down all that it keeps as it was when the part was planned.
    const isBased = purpose === 'apply' && request.kept === undefined;
    const recovered = await stage(context, 'recover', () =>
      recordRecovery(lease, session, context, { isBased }),
    );
    const ended = purpose === 'apply' ? findEnded(recovered, request) : NOTHING_ENDED;
    const fingerprints = await fingerprintsForRun(recovered, session, context);
    const state = withStretched(withoutHolds(recovered, ended), await fingerprints.keep());
    const now = { desired: desiredIn(request), state: recovered };
    checkBasis(plan, { ...now, world: session.world });
    const ids = idsWith(recovered, plan.changes);
    const world = { ...session.world, fingerprints, findId: (one: Address) => ids.get(one) };
    const { isGiven = false, restored } = request;
    const planned =
      restored === undefined ? { ...made, refresh: recallAgreed(plan, now, world, isGiven) } : made;
    await claimForRun(lease, planned, session);
    // Time went on while somebody made up their mind, and others may have applied.
    const standing = await findStanding({ ...session, state }, context);
    const refusals = refusalsNow(plan, { ...session, state }, standing, context);
    if (refusals.length > 0) return { type: 'refused', plan: withRefusals(plan, refusals) };
    const appliedBy = (run: string | null) =>
      purpose === 'apply'
        ? commitApplied(checkout, standing, { run, user: actor.user }, context)
        : undefined;
    // Held and left-out changes make no run: the last one stays the last that did something.
    if (!isRunnable(plan) && request.isAwaited !== true) {
      const refreshed = withApplied(state, appliedBy(null));
      await refreshState(planned, refreshed, session.state, lease, ended.size > 0);
      emitReleased(ended, context);
      return { type: 'unchanged', plan, status: 'done' };
    }
    const marks = { run, actor, applied: appliedBy(run), standing };
    const result = await execute(planned, state, fingerprints, marks, lease, request);
    emitReleased(ended, context);
    const traffic = session.store.traffic();
    return { type: 'ran', run, plan, result, ...(traffic && { traffic }) };
  });
}

type Ended = ReturnType<typeof endedHolds>;

const NOTHING_ENDED: Ended = new Map();

function findEnded(state: State, request: RunRequest): Ended {
  return endedHolds({ ...state, desired: [...desiredIn(request).values()] });
}

function withoutHolds(state: State, ended: Ended): State {
  if (ended.size === 0) return state;
  const left = Object.entries(state.holds ?? {}).filter(([key]) => !ended.has(key));
  return withHolds(state, Object.fromEntries(left));
}

/** Said once: from now on the state does not have them. */
function emitReleased(ended: Ended, { emit }: RunContext): void {
  for (const one of ended.values())
    emit({ type: 'notice', text: `Released: ${describeEnded(one)}.` });
}

function desiredIn({
  session,
  desired = session.stack.resources,
}: Pick<RunRequest, 'session' | 'desired'>): ReadonlyMap<Address, DesiredResource> {
  return new Map(desired.map((resource) => [resource.address, resource]));
}

/** Does something under a lease and gives it back. What fails first is thrown. */
export async function releasing<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
  let done: T;
  try {
    done = await work();
  } catch (error) {
    await lease.release().catch(() => undefined);
    throw error;
  }
  await lease.release();
  return done;
}

/** Has the secrets at hand that a plan writes. Throws `CallsheetError('config')` that names those which are missing. */
export function needSecrets(
  { changes }: PlanDocument,
  { session, desired = session.stack.resources }: Pick<RunRequest, 'session' | 'desired'>,
): Promise<void> {
  const documents = new Map(desired.map(({ address, document }) => [address, document]));
  return session.needSecrets(
    changes.flatMap((change) => {
      const { address, kind, verdict } = change;
      const written =
        verdict === 'ok'
          ? secretsWritten(change, kindNamed(kind), documents.get(address) ?? {})
          : [];
      return written.map((secret) => ({ ...secret, address }));
    }),
  );
}

/** Nothing to do on the platform: the state only remembers that it agrees, and whose it is. */
async function refreshState(
  { refresh }: Planned,
  state: State,
  { owner }: State,
  lease: Lease,
  isReleased: boolean,
): Promise<void> {
  if (refresh.size === 0 && !isReleased && isSameJson(owner, state.owner)) return;
  const resources = { ...state.resources, ...Object.fromEntries(refresh) };
  await lease.commit(nextState(state, state.last_run, resources));
}

/** Who runs it, and from what. */
type Marks = {
  readonly run: string;
  readonly actor: Actor;
  /** The commit that it applies; undefined where it applies none. */
  readonly applied: AppliedCommit | undefined;
  readonly standing: Standing;
};

async function execute(
  planned: Planned,
  state: State,
  fingerprints: Fingerprinter,
  { run, actor, applied, standing }: Marks,
  lease: Lease,
  request: RunRequest,
): Promise<VerifiedResult> {
  const { session, context } = request;
  const { plan } = planned;
  const desired = desiredIn(request);
  const found = new Map<Address, SnapshotTaken>();
  const sealer = sealerFor(state, session, context);
  const { readings } = request;
  // A reader of its own: what was listed for the plan may be old by the time somebody agreed to it.
  const reader = createReader(session.client);
  const deps = {
    run,
    client: session.client,
    reader: readings?.keeping(reader) ?? reader,
    ...(readings === undefined ? {} : { recent: readings.recent(reader) }),
    lease: readings === undefined ? lease : noteWrites(lease, readings),
    state,
    desired,
    world: { findSecret: session.findSecret, fingerprints },
    agreed: planned.refresh,
    ...(sealer === undefined ? {} : { seal: sealer.seal }),
    ...(request.restored === undefined ? {} : { restored: request.restored }),
    concurrency: session.concurrency,
    now: context.now,
    sleep: (milliseconds: number) =>
      context.pause?.sleep(milliseconds, context.stop) ?? sleep(milliseconds),
    stop: context.stop,
    onBrokenOff: (failure: unknown, resources: RunResult['resources']) =>
      keepErrored(failure, nextState(state, run, resources), session.stack, context),
  };
  if (request.isGiven === true) await checkPins(plan, deps, session.client.endpoints.assume);
  await lease.reserve(getExpected(plan, state));
  const observer = await request.observe?.(plan);
  try {
    const guarded = getGuards({ run, actor, standing }, planned, state, request);
    const at = context.now().toISOString();
    await lease.append({
      type: 'began',
      run,
      at,
      purpose: request.purpose,
      ...(plan.undoes === undefined ? {} : { undoes: plan.undoes }),
      ...(plan.snapshot === undefined ? {} : { snapshot: plan.snapshot }),
      actor,
      made_by: PACKAGE_VERSION,
      plan_digest: plan.digest,
      config_digest: plan.config_digest,
      account_id: plan.platform.account_id,
      base_url: plan.platform.base_url,
      lineage: state.lineage,
      serial: state.serial,
      ...(state.owner && { owner: state.owner }),
      ...(applied && { applied }),
      ...(request.onFailure === undefined ? {} : { on_failure: request.onFailure }),
      ...guarded,
    });
    const forgetStop = emitStop(context);
    // Only the verification of a rollback compares with what the run found.
    const noting =
      request.verify === undefined ? deps : { ...deps, lease: noteSnapshots(deps.lease, found) };
    const executed = await stage(context, 'apply', () =>
      executePlan(plan, noting, observer?.onEvent ?? (() => undefined)),
    ).finally(() => {
      forgetStop();
      observer?.stop();
    });
    const { result, confirmed } = await stage(context, 'verify', async () => {
      const known = await verified(executed, found, request);
      return { result: known, confirmed: await confirm(known, deps, request) };
    });
    const isUntouched = (address: Address) =>
      result.resources[address] === state.resources[address];
    const refreshed = new Map(
      [...confirmed, ...planned.refresh].filter(
        ([address]) => confirmed.has(address) || isUntouched(address),
      ),
    );
    const { differs = [], left = [] } = result.verification ?? {};
    const resources = { ...result.resources, ...Object.fromEntries(refreshed) };
    const kept = request.kept?.(run, result);
    const changed = withKept(withHolds(withApplied(state, applied), guarded.holds), kept);
    const recorded = withDeleted(changed, state.resources, { run, at }, result.ledger);
    const next = nextState(withLetGo(recorded, state.resources, resources), run, resources);
    try {
      await lease.append({
        type: 'ended',
        at: context.now().toISOString(),
        status: result.status,
        verified: result.status === 'done',
        ledger: result.ledger,
        ...(differs.length > 0 ? { differs } : {}),
        ...(left.length > 0 ? { left } : {}),
      });
      await stage(context, 'commit', () => lease.commit(next));
      await dropErrored(session.stack, next);
    } catch (error) {
      throw brokenOff(await keepErrored(error, next, session.stack, context), deps, result.ledger);
    }
    return result;
  } finally {
    await observer?.close();
  }
}

/** Confirms what the run wrote, and runs before it, now that some time has passed. */
async function confirm(
  { status, resources }: RunResult,
  deps: RunDeps,
  { purpose, session }: RunRequest,
): Promise<ReadonlyMap<Address, ResourceState>> {
  const isWorth =
    purpose === 'apply' && session.client.endpoints.assume && status !== 'interrupted';
  return isWorth ? confirmPins(resources, deps) : new Map();
}

/** Says once that an interrupt was heard. Apart, so that what waits for one keeps nothing of the run in memory. */
function emitStop({ stop, emit }: RunContext): () => void {
  const tell = () => emit({ type: 'stopping' });
  stop.addEventListener('abort', tell, { once: true });
  return () => stop.removeEventListener('abort', tell);
}

/** The lease, which keeps what the run finds before it writes. */
function noteSnapshots(lease: Lease, found: Map<Address, SnapshotTaken>): Lease {
  return {
    ...lease,
    note(entry) {
      if (entry.type === 'snapshot') found.set(entry.address, entry);
      lease.note(entry);
    },
  };
}

/** The lease, which has readings forget what is written. */
function noteWrites(lease: Lease, readings: Readings): Lease {
  return {
    ...lease,
    async append(entry) {
      if (entry.type === 'intent') readings.beginWrite(getKind(entry.address), entry.id);
      if (entry.type === 'outcome') readings.endWrite();
      await lease.append(entry);
    },
  };
}

/** A run that did all it set out to do, and whose result is not what was wanted, is done in part. */
async function verified(
  result: RunResult,
  found: Left['found'],
  { verify }: RunRequest,
): Promise<VerifiedResult> {
  if (verify === undefined || result.status === 'interrupted') return result;
  const verification = await verify({ resources: result.resources, found });
  const { differs, problem, left } = verification;
  const isAsWanted = differs.length === 0 && problem === null && left.length === 0;
  const status = result.status === 'done' && !isAsWanted ? 'partial' : result.status;
  return { ...result, status, verification };
}

/** Returns what a run does to the holds, and what it overrides. */
function getGuards(
  { run, actor: { user }, standing }: Omit<Marks, 'applied'>,
  { plan }: Planned,
  state: State,
  { session, context, hold, kept }: RunRequest,
): Pick<RunBegan, 'holds' | 'allowed' | 'overrides' | 'kept'> {
  const overridden = guardFindingsNow(plan, { ...session, state }, standing, context).filter(
    ({ isOverridden }) => isOverridden,
  );
  const overrides = overridden.map(({ refusal: { guard, message }, reason }) => {
    return { guard, message, reason };
  });
  const { holds = {} } = state;
  const released = new Set(overridden.flatMap(({ holds: keys = [] }) => keys));
  const by = { by: run, at: context.now().toISOString(), user };
  const changed =
    hold !== undefined
      ? withHoldChange(holds, hold, by)
      : released.size > 0
        ? Object.fromEntries(Object.entries(holds).filter(([key]) => !released.has(key)))
        : undefined;
  return {
    ...(changed === undefined ? {} : { holds: changed }),
    ...(kept === undefined ? {} : { kept: kept(run) }),
    ...(plan.allowed && { allowed: plan.allowed }),
    ...(overrides.length === 0 ? {} : { overrides }),
  };
}
