import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkPins } from '../apply/check-pins.ts';
import { executePlan, type RunResult } from '../apply/execute.ts';
import { ledgerOfDeadRun } from '../apply/settle.ts';
import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError } from '../core/errors.ts';
import { createReader } from '../live/reader.ts';
import type { Planned } from '../plan/make.ts';
import type { Actor } from '../state/journal.ts';
import type { ResourceState, State } from '../state/model.ts';
import { emptyState, nextState, replay } from '../state/replay.ts';
import type { Lease } from '../state/store.ts';
import { describeActor } from './actor.ts';
import type { CommonFlags, Context } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { openProgress } from './progress.ts';
import { showNothingDone, showResult } from './result.ts';
import { fingerprintsFor, type Session } from './session.ts';

const STOPPING =
  'Interrupted: requests in flight are finished, nothing more is begun. Interrupt again to exit at once.';

export type RunRequest = {
  readonly flags: CommonFlags & {
    readonly concurrency?: number;
    readonly events?: string;
    readonly format: 'text' | 'json';
  };
  readonly session: Session;
  readonly context: Context;
  readonly purpose: 'apply' | 'rollback';
  /** Whether every pin is checked before the first write: the plan was made some time ago. */
  readonly checkFirst?: boolean;
  /** The desired side, where it is not the configuration. */
  readonly desired?: readonly DesiredResource[];
  readonly restored?: ReadonlyMap<Address, ResourceState | null>;
};

/** Takes the lease, settles a dead run, carries the plan out, commits the state and shows the ledger. */
export async function runPlan(planned: Planned, request: RunRequest): Promise<ExitCode> {
  const { session, context, purpose } = request;
  const { plan } = planned;
  session.beginWriting();
  const run = runId(context.now());
  const actor = await describeActor(session.stack.dir, context);
  const lease = await session.store.acquire({
    run,
    command: purpose,
    user: actor.user,
    host: hostname(),
    pid: process.pid,
    since: context.now().toISOString(),
  });
  try {
    const state = await settledState(lease, session, context);
    // What is held or left out makes no run: the last one stays the last that did something.
    if (plan.changes.every(({ verdict }) => verdict !== 'ok')) {
      await refreshState(planned, state, lease);
      showNothingDone(plan, 'done', request);
      return EXIT.done;
    }
    return await execute(planned, state, run, actor, lease, request);
  } finally {
    await lease.release();
  }
}

/** The state to start from: what it was at the plan, with a dead run's journal filed. */
async function settledState(lease: Lease, session: Session, context: Context): Promise<State> {
  const { state, pending } = await session.store.load();
  const replayed = replay(state, pending);
  const known = replayed.state ?? emptyState(randomUUID());
  const now: State = { ...known, account_id: session.platform.account_id };
  if (now.serial !== session.state.serial) {
    throw new CallsheetError(
      'stale',
      `another run wrote the state since the plan (serial ${session.state.serial}, now ${now.serial})`,
      { hint: 'Plan again, review, and apply the new plan.' },
    );
  }
  if (replayed.began === undefined) return now;
  await lease.append({
    type: 'ended',
    at: context.now().toISOString(),
    status: 'settled',
    verified: false,
    ledger: ledgerOfDeadRun(pending),
  });
  const settled = nextState(now, replayed.began.run);
  await lease.commit(settled);
  return settled;
}

/** Nothing to do on the platform: the state only remembers that it agrees. */
async function refreshState({ refresh }: Planned, state: State, lease: Lease): Promise<void> {
  if (refresh.size === 0) return;
  const resources = { ...state.resources, ...Object.fromEntries(refresh) };
  await lease.commit(nextState(state, state.last_run, resources));
}

async function execute(
  planned: Planned,
  state: State,
  run: string,
  actor: Actor,
  lease: Lease,
  request: RunRequest,
): Promise<ExitCode> {
  const { session, context, flags } = request;
  const { plan } = planned;
  const desired = new Map(
    (request.desired ?? session.stack.resources).map((resource) => [resource.address, resource]),
  );
  const deps = {
    run,
    client: session.client,
    // A reader of its own: what was listed for the plan may be old by the time somebody agreed to it.
    reader: createReader(session.client, session.endpoints),
    lease,
    state,
    desired,
    world: { secretOf: session.secretOf, fingerprints: fingerprintsFor(state, context) },
    ...(request.restored === undefined ? {} : { restored: request.restored }),
    concurrency: session.concurrency,
    now: context.now,
    sleep: (milliseconds: number) =>
      context.pause?.sleep(milliseconds, context.stop) ?? sleep(milliseconds),
    stop: context.stop,
  };
  if (request.checkFirst === true) await checkPins(plan, deps);
  const progress = await openProgress(plan, flags, context);
  await lease.append({
    type: 'began',
    run,
    at: context.now().toISOString(),
    purpose: request.purpose,
    ...(plan.undoes === undefined ? {} : { undoes: plan.undoes }),
    actor,
    plan_digest: plan.digest,
    config_digest: plan.config_digest,
    account_id: plan.platform.account_id,
    base_url: plan.platform.base_url,
    lineage: state.lineage,
    serial: state.serial,
  });
  context.stop.addEventListener('abort', () => context.terminal.err(STOPPING), { once: true });
  const result = await executePlan(plan, deps, progress.onEvent);
  for (const [address, resource] of planned.refresh) {
    if (result.resources[address] === state.resources[address]) {
      await lease.append({ type: 'resource', address, resource });
    }
  }
  await lease.append({
    type: 'ended',
    at: context.now().toISOString(),
    status: result.status,
    verified: result.status === 'done',
    ledger: result.ledger,
  });
  const refreshed = [...planned.refresh].filter(
    ([address]) => result.resources[address] === state.resources[address],
  );
  const resources = { ...result.resources, ...Object.fromEntries(refreshed) };
  await lease.commit(nextState(state, run, resources));
  await progress.close();
  showResult(run, plan, result, request);
  return runExit(result);
}

function runExit({ status, stale }: RunResult): ExitCode {
  if (status === 'interrupted') return EXIT.interrupted;
  if (stale.length > 0) return EXIT.stale;
  return status === 'done' ? EXIT.done : EXIT.partial;
}

/** Sorts by time and is unique: `20261121t094500z-1f3a9c`. */
function runId(now: Date): string {
  const time = now
    .toISOString()
    .replace(/[-:]|\.\d+/g, '')
    .toLowerCase();
  return `${time}-${randomBytes(3).toString('hex')}`;
}
