import { checkBasis } from '../apply/pins.ts';
import { CallsheetError, foldSentences, PLAN_AGAIN } from '../core/errors.ts';
import {
  isChanging,
  isRefused,
  type PlanDocument,
  type PlanOptions,
} from '../core/plan-document.ts';
import { isSameJson } from '../core/value.ts';
import { withRefusals } from '../plan/guards.ts';
import { endedHolds } from '../plan/holds.ts';
import type { Planned, Refresh } from '../plan/make.ts';
import { refuseReferenced } from '../plan/references.ts';
import { movedEndpoints } from '../platform/endpoints.ts';
import { type FailureDocument, failureDocument } from '../render/diagnostics.ts';
import { applyQuestion } from '../render/wording.ts';
import { findBegan, findEnded } from '../state/journal.ts';
import type { RunSummary } from '../state/store.ts';
import { findStanding, type Standing } from './behind.ts';
import type { CallsChoice, RunContext, StackOptions } from './context.ts';
import { tellDeletions } from './deleted.ts';
import { type RunDocument, toFailure } from './document.ts';
import { readBegan, readRun } from './find-run.ts';
import { checkNamed, emitUnread, planConfiguration, plannedDigest, refusalsNow } from './plan.ts';
import { findAtWork } from './recover.ts';
import { isDisturbed, needSecrets, type RunOutcome, type RunRequest, runPlan } from './run.ts';
import { NO_LINEAGE, openSession, type Session } from './session.ts';
import { type Review, runDocument, type UndoOutcome, undo } from './undo.ts';

type ApplyOptions = StackOptions & {
  /** The plan to carry out; without one it is made now, with `options` and `refresh`. */
  readonly plan?: PlanDocument | undefined;
  readonly options: PlanOptions;
  readonly refresh?: Refresh | undefined;
  readonly calls?: CallsChoice['calls'];
  /** The digest of the plan that was approved. */
  readonly expect?: string | undefined;
  /** Milliseconds to wait for another run that holds the state. */
  readonly lockTimeout?: number | undefined;
  /** True if a run that fails is to be undone. */
  readonly rollbackOnFailure?: boolean | undefined;
};

type Applied = RunOutcome | { readonly type: 'declined' };

/** The outcome of undoing a run that failed, or why that was not possible. */
type Undone = UndoOutcome | { readonly type: 'failed'; readonly error: unknown };

export type ApplyOutcome = {
  /** Absent where a run before was to be undone first: then nothing was applied. */
  readonly applied?: Applied;
  /** The run that was undone, whether all of it is, and what came of that. */
  readonly rollback?: {
    readonly run: string;
    readonly isUndone: boolean;
    readonly outcome: Undone;
  };
};

/** `ended` gets the result of the apply before a failed run is undone. */
export type ApplyReview = Review & { readonly ended?: (applied: Applied) => void };

function isUndone(outcome: Undone): boolean {
  if (outcome.type === 'unchanged') return outcome.status === 'done';
  if (outcome.type !== 'ran') return outcome.type === 'nothing';
  return outcome.result.status === 'done' && !isDisturbed(outcome.result);
}

/**
 * Carries out a plan, the given one or one made now. Without `review.agree` it needs no approval.
 *
 * With `rollbackOnFailure`: that a run is to be undone should it fail stands in its first line, so that
 * whatever dies afterwards, the run or its rollback, can be gone on with:
 *
 *   apply ──▶ done
 *     ├─────▶ failed in part ──▶ rollback ──▶ undone
 *     ╳ died                        ╳ died
 *     └──────────────┬──────────────┘
 *                    ▼
 *   the next `apply --rollback-on-failure`, or `rollback`, goes on with the rollback
 */
export async function applyStack(
  options: ApplyOptions,
  context: RunContext,
  review: ApplyReview = {},
): Promise<ApplyOutcome> {
  const turn = await applyInTurn(options, context, review);
  const { applied, owed } = turn;
  if (applied !== undefined) review.ended?.(applied);
  const failed = applied?.type === 'ran' && applied.result.status === 'partial';
  const run = owed ?? (failed ? applied.run : undefined);
  if (options.rollbackOnFailure !== true || run === undefined) return turn;
  const outcome = await undoFailed(run, options, context, review);
  return { ...turn, rollback: { run, isUndone: isUndone(outcome), outcome } };
}

/** The outcome of one apply; `owed`: a run before that is to be undone first, and nothing was applied. */
type Turn = { readonly applied?: Applied; readonly owed?: string };

/** Plans again if others wrote while it waited for them: a plan that was not shown is no one's decision. */
async function applyInTurn(
  options: ApplyOptions,
  context: RunContext,
  review: Review,
): Promise<Turn> {
  const freeBy = Date.now() + (options.lockTimeout ?? 0);
  for (;;) {
    try {
      return await applyOnce(options, context, review, freeBy);
    } catch (error) {
      const isMoved = error instanceof CallsheetError && error.code === 'stale';
      const isVouched = options.plan !== undefined || options.expect !== undefined;
      if (!isMoved || isVouched || Date.now() >= freeBy) throw error;
      context.emit({ type: 'planning_again', message: error.message });
    }
  }
}

async function applyOnce(
  options: ApplyOptions,
  context: RunContext,
  review: Review,
  freeBy: number,
): Promise<Turn> {
  const { plan, expect, rollbackOnFailure = false } = options;
  // A wrong file is said before anything is asked of anybody.
  if (plan !== undefined) checkExpectation(plan, expect);
  const check = plan === undefined ? checkNamed(options.options) : undefined;
  const plans = plan === undefined;
  const session = await openSession(options, context, { freeBy, check, plans });
  try {
    if (session.warnings.length > 0)
      context.emit({ type: 'warnings', diagnostics: session.warnings });
    const owed = await findOwed(session, rollbackOnFailure);
    if (owed !== undefined) context.emit({ type: 'rollback_owed', run: owed });
    if (owed !== undefined && rollbackOnFailure) return { owed };
    const request: RunRequest = {
      session,
      context,
      purpose: 'apply',
      freeBy,
      observe: review.observe,
      ...(rollbackOnFailure ? { onFailure: 'rollback' } : {}),
    };
    const applied =
      plan === undefined
        ? await applyNow(options, review, request)
        : await applyGiven(plan, request, review);
    return { applied };
  } finally {
    await session.close();
  }
}

async function applyNow(
  { options, refresh = 'fast', calls, expect }: ApplyOptions,
  review: Review,
  request: RunRequest,
): Promise<Applied> {
  const { session, context } = request;
  const standing = await tellStanding(session, context);
  const made = await planConfiguration(session, options, context, { refresh, calls, standing });
  const planned = await tellDeletions(made, session);
  const { plan } = planned;
  emitUnread(planned, context);
  checkExpectation(plan, expect);
  review.show?.(plan);
  if (isRefused(plan)) return { type: 'refused', plan };
  const { state, claimant, unfinished, stack } = session;
  const isWorth =
    planned.refresh.size > 0 ||
    plan.changes.length > 0 ||
    endedHolds({ ...state, desired: stack.resources }).size > 0;
  const isOwned =
    claimant === undefined || state.serial === 0 || isSameJson(state.owner, claimant.owner);
  if (!isWorth && isOwned && unfinished === undefined)
    return { type: 'unchanged', plan, status: 'done' };
  // Said before anybody is asked.
  await needSecrets(plan, { session });
  // Held deletes, and changes that are left out, need no approval.
  const isAsked = plan.changes.some(isChanging);
  if (isAsked && (await review.agree?.(applyQuestion(plan))) === false) return { type: 'declined' };
  return runPlan(planned, request);
}

/** Reports a doubt about the checkout as a notice: a worker or a fleet's apply shows no notes of plans. */
async function tellStanding(session: Session, context: RunContext): Promise<Standing> {
  const { doubt, ...standing } = await findStanding(session, context);
  if (doubt !== undefined) context.emit({ type: 'notice', text: doubt });
  return standing;
}

/** Applies a given plan without asking, since it was reviewed already, and shows what came with it. */
async function applyGiven(
  given: PlanDocument,
  request: RunRequest,
  review: Review,
): Promise<RunOutcome> {
  const { session } = request;
  const { strategy } = given.options;
  if (strategy !== undefined)
    throw new CallsheetError(
      'refused',
      `the plan is for the ${strategy.feature} ${strategy.name}`,
      {
        hint: `To carry it out step by step: \`callsheet ${strategy.command} PLANFILE\``,
      },
    );
  const by = await findAppliedBy(given, session);
  if (by?.status === 'done') return { type: 'unchanged', plan: given, status: 'done', by: by.run };
  try {
    return await applyChecked(given, request, review);
  } catch (error) {
    const isMoved = error instanceof CallsheetError && error.code === 'stale';
    if (!isMoved || by === undefined) throw error;
    throw new CallsheetError(
      'stale',
      `run ${by.run} applied this plan in part:\n${error.message}`,
      { hint: `\`callsheet runs ${by.run}\` shows what it did. ${PLAN_AGAIN}` },
    );
  }
}

async function applyChecked(
  given: PlanDocument,
  request: RunRequest,
  review: Review,
): Promise<RunOutcome> {
  const { session, context } = request;
  checkPlan(given, session, request.context);
  if (!isSameJson(given.endpoints ?? [], movedEndpoints(session.client.endpoints))) {
    throw new CallsheetError('stale', 'platform.endpoints changed since the plan', {
      hint: PLAN_AGAIN,
    });
  }
  review.show?.(given);
  const standing = await tellStanding(session, context);
  // The reason for a refusal of the plan may be over, and another may have begun.
  const plan = withRefusals(given, refusalsNow(given, session, standing, context));
  if (isRefused(plan)) return { type: 'refused', plan };
  await checkUses(plan, session);
  const planned: Planned = {
    plan,
    refresh: new Map(),
    ids: new Map(),
    found: new Map(),
    unread: 0,
  };
  return runPlan(planned, { ...request, isGiven: true });
}

/**
 * A run that was to be undone should it fail, did, and is not undone; undefined where there is none. Only one
 * that died is looked at unless it `isAsked`: reading the journal of each last run would cost every apply.
 */
export async function findOwed(session: Session, isAsked: boolean): Promise<string | undefined> {
  const { unfinished, state } = session;
  // One that is at work may still come to its end.
  if (findAtWork(session) !== undefined) return undefined;
  const newest = unfinished?.run ?? (isAsked ? state.last_run : null);
  const entries = newest === null ? undefined : await readRun(session, newest);
  if (newest === null || entries === undefined) return undefined;
  const { on_failure: onFailure, undoes } = findBegan(entries) ?? {};
  const status = findEnded(entries)?.status ?? 'settled';
  // A person who interrupts a run decides what becomes of it.
  if (onFailure === 'rollback')
    return status === 'partial' || status === 'settled' ? newest : undefined;
  // A rollback that ended said what it could not do; one that died did not come to it.
  const undone =
    undoes === undefined || status !== 'settled' ? undefined : await readRun(session, undoes);
  return undone && findBegan(undone)?.on_failure === 'rollback' ? undoes : undefined;
}

/** Undoes a run as far as it can be, without asking: the apply was approved with `--rollback-on-failure`. */
async function undoFailed(
  run: string,
  { plan: _, calls: __, options, ...given }: ApplyOptions,
  context: RunContext,
  { show, observe }: Review,
): Promise<Undone> {
  context.emit({ type: 'rolling_back', run });
  const overrideFreeze =
    options.override_freeze ?? `run ${run} failed, and began before the freeze`;
  const wanted = { ...given, run, skipRefused: true, overrideFreeze };
  try {
    return await undo(wanted, context, { ...(show && { show }), observe });
  } catch (error) {
    context.emit({ type: 'rollback_failed', error });
    return { type: 'failed', error };
  }
}

/** `--expect sha256:…`: only the plan that was approved is applied. */
export function checkExpectation({ digest }: PlanDocument, expected: string | undefined): void {
  if (expected === undefined || expected === digest) return;
  throw new CallsheetError('stale', `the plan's digest is ${digest}, not ${expected}`, {
    hint: `It is not the plan that was approved. ${PLAN_AGAIN}`,
  });
}

/**
 * A plan file belongs to one account, one configuration and one state (DESIGN §5, Pins first). It says what the
 * configuration asks for: what a rollback or a restore writes stands in no file of the stack.
 */
export function checkPlan(
  plan: PlanDocument,
  { platform, stack, state, world }: Pick<Session, 'platform' | 'stack' | 'state' | 'world'>,
  context: Pick<RunContext, 'features'>,
): void {
  if (plan.purpose !== 'apply') {
    const command = plan.purpose === 'comparison' ? 'snapshot diff' : plan.purpose;
    throw new CallsheetError('usage', `the plan was made by ${command}, and cannot be applied`, {
      hint:
        plan.undoes === undefined
          ? 'Make one with: `callsheet plan --out plan.json`'
          : `To carry it out: \`callsheet rollback ${plan.undoes}\``,
    });
  }
  if (plan.environment !== stack.environment) {
    const flag =
      plan.environment === undefined ? 'without --env' : `with --env ${plan.environment}`;
    throw new CallsheetError(
      'stale',
      `the plan was made ${formatEnvironment(plan)}; this is ${formatEnvironment(stack)}`,
      {
        hint: `Apply it ${flag}.`,
      },
    );
  }
  const { base_url: planned, account_id: account } = plan.platform;
  if (planned !== platform.base_url || account !== platform.account_id) {
    throw new CallsheetError(
      'stale',
      `the plan is for account ${account} at ${planned}; this is account ${platform.account_id} at ${platform.base_url}`,
      { hint: 'Apply it with the credentials and the base_url that it was planned with.' },
    );
  }
  const { strategy } = plan.options;
  if (strategy !== undefined && plan.config_digest !== plannedDigest(plan, { stack }, context)) {
    throw new CallsheetError(
      'stale',
      `the configuration changed since the plan for the ${strategy.feature} ${strategy.name}`,
      { hint: PLAN_AGAIN },
    );
  }
  const isFirst = plan.state.lineage === NO_LINEAGE;
  if (plan.state.lineage !== state.lineage && !isFirst) {
    throw new CallsheetError('stale', 'the plan was made from the state of another stack', {
      hint: `Check CALLSHEET_STATE and --dir. ${PLAN_AGAIN}`,
    });
  }
  const desired = new Map(stack.resources.map((one) => [one.address, one]));
  checkBasis(plan, { desired, state, world });
}

/**
 * The newest run that carried out a plan, and how it ended; undefined where none did. A state that was not written since
 * the plan has no such run, so nothing is read then.
 */
async function findAppliedBy(
  { digest, state: { serial, lineage } }: PlanDocument,
  session: Session,
): Promise<Pick<RunSummary, 'run' | 'status'> | undefined> {
  const { store, state, unfinished } = session;
  const dead = unfinished && findBegan(unfinished.entries);
  if (dead?.plan_digest === digest) return { run: dead.run, status: 'unfinished' };
  const isFirst = lineage === NO_LINEAGE;
  if (state.serial === serial || !(isFirst || state.lineage === lineage)) return undefined;
  const applied = (await store.runs()).filter(({ purpose }) => purpose === 'apply');
  for (const { run, status } of applied) {
    const began = await readBegan(session, run);
    if (began === undefined || began.serial < serial || began.lineage !== state.lineage) break;
    if (began.plan_digest === digest) return { run, status };
  }
  return undefined;
}

function formatEnvironment({ environment }: { readonly environment?: string | undefined }): string {
  return environment === undefined ? 'for no environment' : `for the environment ${environment}`;
}

/** Refuses deletes of a plan file whose resource came into use since it was planned: its own pin does not show that. */
async function checkUses(
  { changes, options }: PlanDocument,
  { stack, state, reader }: Session,
): Promise<void> {
  if (options.force) return;
  const now = await refuseReferenced(changes, { desired: stack.resources, state, reader });
  const struck = now.filter((change) => !changes.includes(change));
  if (struck.length === 0) return;
  const sentences = struck.map(({ address, name, reason }) => ({
    address,
    name,
    message: `${address} would be deleted: ${reason}`,
  }));
  throw new CallsheetError('refused', foldSentences(sentences), {
    hint: `Nothing was written. ${PLAN_AGAIN}`,
  });
}

/** One document: that of the apply, with that of the rollback in it. Undefined where a person declined. */
export function applyDocument({
  applied,
  rollback,
}: ApplyOutcome): RunDocument | FailureDocument | undefined {
  const undone = rollback && rollbackDocument(rollback.outcome);
  if (applied === undefined) return undone;
  if (applied.type === 'declined') return undefined;
  return { ...runDocument(applied), ...(undone && { rollback: undone }) };
}

function rollbackDocument(outcome: Undone): RunDocument | FailureDocument | undefined {
  if (outcome.type === 'failed') return failureDocument(toFailure(outcome.error));
  return outcome.type === 'planned' || outcome.type === 'declined'
    ? undefined
    : runDocument(outcome);
}
