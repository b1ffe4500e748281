/**
 * `features/rollout/` lets a change reach a few agents first, and the others only if callers fare no worse. A rollout is kept in
 * the state of its stack (`RolloutRecord`), each of its steps is an ordinary run, and taking it back is the ordinary
 * rollback of those runs. `judge.ts` decides, `observe.ts` counts the calls, `command.ts` is the command line.
 *
 * This file: what a rollout goes through.
 *
 *   start ──▶ applying ──▶ judging ──▶ applying … ──▶ done
 *                │            │ worse
 *                ▼            ▼
 *               held     rolling_back ──▶ rolled_back
 *
 * After a crash the next `rollout run` goes on from the status that was written last.
 */
import type { Address } from '../../core/address.ts';
import { commandLine, commandSpan } from '../../core/command-line.ts';
import { computeDigest } from '../../core/digest.ts';
import { CallsheetError, foldSentences, formatFirst } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Change, PlanDocument, PlanOptions, Refusal } from '../../core/plan-document.ts';
import { isRefused } from '../../core/plan-document.ts';
import { oncePer, type ValueObject } from '../../core/value.ts';
import { isWriting } from '../../plan/document.ts';
import { withRefusals } from '../../plan/guards.ts';
import type { Planned } from '../../plan/make.ts';
import { findRenewed, fingerprintMasked } from '../../plan/secrets.ts';
import { formatCount } from '../../render/wording.ts';
import { describeActor, holderFor, runId } from '../../run/actor.ts';
import { checkExpectation, checkPlan } from '../../run/apply.ts';
import { findStanding } from '../../run/behind.ts';
import type { CallsChoice, RunContext, StackOptions } from '../../run/context.ts';
import { readBegan, readRun } from '../../run/find-run.ts';
import { overrideOptions, planConfiguration, refusalsNow } from '../../run/plan.ts';
import { acquireUntil, recordRecovery } from '../../run/recover.ts';
import { isDisturbed, needSecrets, type RunOutcome, releasing, runPlan } from '../../run/run.ts';
import {
  type CheckNamed,
  fingerprintsForRun,
  NO_LINEAGE,
  openSession,
  type Session,
} from '../../run/session.ts';
import { announceBroken, isBroken, refuseBroken } from '../../run/stack.ts';
import { type Review, type UndoOutcome, undo } from '../../run/undo.ts';
import { isMissed, listLedger } from '../../state/journal.ts';
import type { KeptEntries } from '../../state/model.ts';
import { nextState, withKept } from '../../state/replay.ts';
import { findStop } from './assess.ts';
import { forecastSteps } from './forecast.ts';
import { LEAST_OTHERS } from './judge.ts';
import { chooseOrder, isoTime, lookAtCalls, readLogsBefore } from './observe.ts';
import {
  agentsReached,
  checkRecords,
  FEATURE,
  getRollouts,
  isUnderWay,
  listUnderWay,
  type RolloutAgent,
  type RolloutRecord,
  type RolloutSettings,
  recordsIn,
  rolloutNamed,
  stepCounts,
  toEntry,
} from './record.ts';

/** Which stack, and how long to wait for its state. */
export type RolloutOptions = StackOptions & {
  /** Milliseconds to wait for another run that holds the state. */
  readonly lockTimeout?: number | undefined;
  readonly overrideFreeze?: string | undefined;
};

/** Who looks on, and decides. */
export type RolloutReview = Review & {
  /** Gets the verdict of a look at the calls, before anything is done about it. */
  readonly looked?: (record: RolloutRecord) => void;
};

export type RolloutEnd = 'done' | 'waiting' | 'rolled_back' | 'held' | 'interrupted' | 'declined';

export type RolloutOutcome = {
  readonly end: RolloutEnd;
  readonly record: RolloutRecord;
  /** The time of the platform, in milliseconds since 1970. */
  readonly now: number;
  /** The reason of a wait for something else than calls. */
  readonly waitsFor?: string;
};

/** The rollout that is to be started, and what is said of it. */
export type StartOptions = RolloutOptions & {
  /** The plan that was reviewed; without one it is made now, with `allowed`. */
  readonly plan?: PlanDocument | undefined;
  readonly allowed: PlanOptions;
  readonly expect?: string | undefined;
  /** Its name in callsheet.yaml; the only one where none is given. */
  readonly name?: string | undefined;
  readonly calls?: CallsChoice['calls'];
  /** Although a step cannot tell the margin. */
  readonly anyway?: boolean | undefined;
};

/** Starts a rollout, and applies its first step. Throws `CallsheetError('config')` where the plan holds more than it. */
export async function startRollout(
  options: StartOptions,
  context: RunContext,
  review: RolloutReview = {},
): Promise<RolloutOutcome | { readonly end: 'refused' | 'declined'; readonly plan: PlanDocument }> {
  const { plan: given, expect } = options;
  if (given !== undefined) checkExpectation(given, expect);
  const session = await openSession(options, context, { freeBy: getDeadline(options), check });
  let name: string;
  try {
    const settings = rolloutNamed(
      options.name ?? given?.options.strategy?.name,
      getRollouts(session.stack),
    );
    name = settings.name;
    refuseBesideOthers(settings, session, options);
    if (given !== undefined) checkPlan(given, session, context);
    const standing = await findStanding(session, context);
    const planned =
      given === undefined
        ? await planConfiguration(
            session,
            { ...stepOptions(options.allowed), strategy: { ...STRATEGY, name } },
            context,
            { refresh: 'fast', calls: options.calls, standing },
          )
        : { plan: withCheckout(given, refusalsNow(given, session, standing, context)) };
    const { plan } = planned;
    checkExpectation(plan, expect);
    review.show?.(plan);
    if (isRefused(plan)) return { end: 'refused', plan };
    refuseMore(plan, settings);
    await needSecrets(plan, { session });
    if (plan.changes.some((change) => isWriting(change) && hasSecrets(change)))
      await fingerprintsForRun(session.state, session, context);
    const now = getTime(session, context);
    const { agents, counts, forecast } = await layOutSteps(settings, plan, session, now);
    for (const text of forecast.texts) context.emit({ type: 'notice', text });
    const { refused } = forecast;
    if (refused !== undefined && options.anyway !== true)
      throw new CallsheetError('refused', refused.message, {
        hint: `${refused.hint} To start it all the same: --anyway`,
      });
    if (refused !== undefined) {
      const text = `${refused.message}: it will wait for ${typed('promote', { name }, options)}.`;
      context.emit({ type: 'notice', text });
    }
    const question = `Start the rollout ${name} with ${counts[0]} of ${agents.length} agents?`;
    if ((await review.agree?.(question)) === false) return { end: 'declined', plan };
    const { user, commit } = await describeActor(session.stack.dir, context);
    const record: RolloutRecord = {
      id: runId(context.now()),
      name,
      status: 'applying',
      why: null,
      started_at: isoTime(now),
      ended_at: null,
      user,
      commit,
      plan_digest: plan.digest,
      allowed: withoutFreeze(stepOptions(plan.options)),
      settings: settingsKept(settings),
      agents,
      steps: counts.map((count) => ({ agents: count, at: null, runs: [] })),
      step: 0,
      judged_from: 0,
      look: null,
      logs: await readLogsBefore(agents, settings, session, now),
      left: [],
    };
    await writeDown(record, { session, options, context });
  } finally {
    await session.close();
  }
  // The reviewed step may write in this window, and no step after it.
  const overrideFreeze = options.overrideFreeze ?? given?.options.override_freeze;
  return goOn(name, { ...options, overrideFreeze }, context, review);
}

/** A plan file that is refused for the checkout of now. What else stands against it is asked with each step. */
function withCheckout(given: PlanDocument, now: readonly Refusal[]): PlanDocument {
  const isOfCheckout = ({ guard }: Refusal) => guard === 'behind';
  const others = (given.refusals ?? []).filter((one) => !isOfCheckout(one));
  return withRefusals(given, [...now.filter(isOfCheckout), ...others]);
}

function withoutFreeze({ override_freeze: _, ...options }: PlanOptions): PlanOptions {
  return options;
}

/** The agents that a plan changes in their order, how many have the change after each step, and what the steps take. */
async function layOutSteps(
  settings: RolloutSettings,
  plan: PlanDocument,
  session: Session,
  now: number,
) {
  const changed = plan.changes.filter(isWriting).map((one) => toRolloutAgent(one, session));
  const agents = await chooseOrder(settings, changed, session, now);
  // Fewer agents may change than are selected, and a step that adds no agent is left out.
  const counts = [...new Set(stepCounts(settings.steps, agents.length))];
  return { agents, counts, forecast: await forecastSteps(settings, agents, counts, session, now) };
}

/** Says line by line what the steps of a planned rollout take; nothing where nothing is known of it. */
export async function describeSteps(
  plan: PlanDocument,
  options: RolloutOptions,
  context: RunContext,
): Promise<readonly string[]> {
  const session = await openSession(options, context, { check });
  try {
    const settings = rolloutNamed(plan.options.strategy?.name, getRollouts(session.stack));
    const now = getTime(session, context);
    const { texts, refused } = (await layOutSteps(settings, plan, session, now)).forecast;
    return [...texts, ...(refused === undefined ? [] : [`${refused.message}. ${refused.hint}`])];
  } finally {
    await session.close();
  }
}

/**
 * Does what is due: applies a step, looks at the calls, or takes the rollout back. `isPromoted`: the next step is
 * taken whatever the calls say.
 */
export async function goOn(
  name: string,
  options: RolloutOptions,
  context: RunContext,
  review: RolloutReview = {},
  isPromoted = false,
): Promise<RolloutOutcome> {
  const turn = await whileStale(() => takeTurn(name, options, context, review, isPromoted));
  if (turn === 'again') return goOn(name, options, context, review, isPromoted);
  return turn === 'rolling_back' ? takeBack(name, options, context, review) : turn;
}

/** Times in a row that others may write the state while something is due. */
const MOST_STALE = 3;

/** Tries again where another run wrote the state meanwhile: what is due then is looked at afresh. */
async function whileStale<T>(work: () => Promise<T>, times = MOST_STALE): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isStale = error instanceof CallsheetError && error.code === 'stale';
    if (!isStale || times === 0) throw error;
    return whileStale(work, times - 1);
  }
}

/** Goes to the next step without waiting for a verdict, or tries the step again that is held. */
export async function promoteRollout(
  name: string | undefined,
  options: RolloutOptions,
  context: RunContext,
  review: RolloutReview = {},
): Promise<RolloutOutcome> {
  const changed = await decide(name, options, context, async (record, session) => {
    if (record.status === 'rolling_back')
      throw new CallsheetError('usage', `the rollout ${record.name} is being rolled back`, {
        hint: `To continue: ${typed('run', record, options)}`,
      });
    const isApplied = record.steps[record.step]?.at != null;
    const isLast = record.step === record.steps.length - 1;
    if (!isApplied || !isLast) refuseBroken(session);
    if (!isApplied) return { ...record, status: 'applying', why: null };
    if (isLast) return ended(record, 'done', getTime(session, context));
    const next = record.steps[record.step + 1];
    const question = `Let ${next?.agents ?? 0} of ${record.agents.length} agents have the change now?`;
    if ((await review.agree?.(question)) === false) return undefined;
    const step = record.step + 1;
    // A person who goes on although callers fare worse is not stopped by the same calls again.
    const judged_from = findStop(record.look) !== null ? step : record.judged_from;
    return { ...record, status: 'applying', why: null, step, judged_from };
  });
  if ('end' in changed) return changed;
  // That one was asked already.
  const { agree: _, ...silent } = review;
  return goOn(changed.name, options, context, silent, true);
}

/** Takes a rollout back, whatever its verdict. */
export async function abortRollout(
  name: string | undefined,
  options: RolloutOptions,
  context: RunContext,
  review: RolloutReview = {},
): Promise<RolloutOutcome> {
  const changed = await decide(name, options, context, async (record, session) => {
    announceBroken(session, options, context);
    const { user } = await describeActor(session.stack.dir, context);
    const question = `Roll back the rollout ${record.name}, and the ${agentsReached(record).length} agents that have the change?`;
    if ((await review.agree?.(question)) === false) return undefined;
    return { ...record, status: 'rolling_back', why: `aborted by ${user ?? 'someone'}` };
  });
  if ('end' in changed) return changed;
  return takeBack(changed.name, options, context, review);
}

/** The rollouts that are under way, or the one that is named. `isLooked`: with what calls say now; nothing is written. */
export async function readRollouts(
  name: string | undefined,
  options: RolloutOptions,
  context: RunContext,
  isLooked = false,
): Promise<{ readonly records: readonly RolloutRecord[]; readonly now: number }> {
  const session = await openSession(options, context, { evenBroken: true, check });
  try {
    const records =
      name === undefined
        ? recordsIn(session.state)
        : [recordNamed(name, session, options, () => true)];
    for (const record of records.filter(isUnderWay)) {
      const { others } = bySettingsOfFiles(record, session);
      if (others !== null) context.emit({ type: 'notice', text: others });
    }
    const now = getTime(session, context);
    const isDue = (one: RolloutRecord) =>
      isUnderWay(one) && one.steps.some(({ at }) => at !== null);
    const shown = records.map(async (record) =>
      isLooked && isDue(record)
        ? { ...record, look: await lookAtCalls(record, session, now) }
        : record,
    );
    return { records: await Promise.all(shown), now };
  } finally {
    await session.close();
  }
}

/** Checks that a rollout wrote its section of the state. */
const check: CheckNamed = ({ state }) => checkRecords(state);

/** For what goes by the record of a rollout: judging a step and taking it back need no configuration. */
function openAsRecorded(options: RolloutOptions, context: RunContext): Promise<Session> {
  return openSession(options, context, { freeBy: getDeadline(options), evenBroken: true, check });
}

type Decision = (record: RolloutRecord, session: Session) => Promise<RolloutRecord | undefined>;

/** Writes down what somebody decided; what is returned has an `end` where nothing was decided. */
function decide(
  name: string | undefined,
  options: RolloutOptions,
  context: RunContext,
  decision: Decision,
): Promise<RolloutRecord | RolloutOutcome> {
  return whileStale(async () => {
    const session = await openAsRecorded(options, context);
    try {
      const found = await withRunsFound(recordNamed(name, session, options, isUnderWay), session);
      const { record, others } = bySettingsOfFiles(found, session);
      if (others !== null) context.emit({ type: 'notice', text: others });
      const next = await decision(record, session);
      const now = getTime(session, context);
      if (next === undefined) return { end: 'declined', record, now };
      await writeDown(next, { session, options, context });
      return isUnderWay(next) ? next : { end: 'done', record: next, now };
    } finally {
      await session.close();
    }
  });
}

function getSecond(id: string): string {
  return id.split('-')[0] ?? '';
}

/** A rollout with the runs of it that journals tell of: an older state that was put back knows fewer. */
async function withRunsFound(record: RolloutRecord, session: Session): Promise<RolloutRecord> {
  for (const { run } of await session.store.runs()) {
    // Ids of runs and rollouts begin with their time; those of one second have no order.
    if (getSecond(run) < getSecond(record.id)) break;
    const { kept } = (await readBegan(session, run)) ?? {};
    const own = kept && recordsIn({ kept: { [kept.feature]: kept.entries } });
    const same = own?.find(({ id }) => id === record.id);
    if (same === undefined) continue;
    const steps = record.steps.map(({ runs, ...step }, index) => {
      const found = same.steps[index];
      return {
        ...step,
        at: step.at ?? found?.at ?? null,
        runs: [...new Set([...runs, ...(found?.runs ?? [])])],
      };
    });
    return { ...record, steps };
  }
  return record;
}

type Turn = RolloutOutcome | 'again' | 'rolling_back';

/** A session with the state as it is now, and what the command was given. */
type Visit = {
  readonly session: Session;
  readonly options: RolloutOptions;
  readonly context: RunContext;
  readonly review: RolloutReview;
  /** True if a person goes to the next step whatever the calls say. */
  readonly isPromoted: boolean;
};

/** One thing that is due, in a session of its own: whatever is written makes the state another one. */
async function takeTurn(
  name: string,
  options: RolloutOptions,
  context: RunContext,
  review: RolloutReview,
  isPromoted: boolean,
): Promise<Turn> {
  const session = await openAsRecorded(options, context);
  try {
    const found = recordNamed(name, session, options, () => true);
    const { record, others } = bySettingsOfFiles(found, session);
    if (record.status !== 'applying') announceBroken(session, options, context);
    const now = getTime(session, context);
    const visit = { session, options, context, review, isPromoted };
    const isGoing = record.status === 'applying' || record.status === 'judging';
    // It is judged by other settings than at its start: it goes on once somebody says so.
    if (others !== null && isGoing) {
      const looked = await lookAfter(record, visit);
      const why = `${others}. To go on: ${typed('promote', record, options)}; to take it back: ${typed('abort', record, options)}`;
      return looked.turn ?? (await hold(looked.record, why, visit));
    }
    switch (record.status) {
      case 'applying':
        return await applyStep(record, visit);
      case 'judging':
        return await judgeStep(record, visit);
      case 'rolling_back':
        return 'rolling_back';
      case 'held':
        return await lookWhileHeld(record, visit);
      case 'done':
      case 'rolled_back':
        return { end: record.status, record, now };
    }
  } finally {
    await session.close();
  }
}

/**
 * A rollout with the settings of callsheet.yaml, where that has one of its name, and a sentence on those that the state has
 * otherwise. The state may be anybody's word, and the files may have changed: neither lets a change through unasked.
 */
function bySettingsOfFiles(
  record: RolloutRecord,
  session: Session,
): { readonly record: RolloutRecord; readonly others: string | null } {
  const { name, settings: known } = record;
  const configured = getRollouts(session.stack).find((one) => one.name === name);
  if (configured === undefined || isBroken(session)) return { record, others: null };
  const settings = settingsKept(configured);
  const others = SETTINGS.filter(
    (one) => computeDigest(settings[one]) !== computeDigest(known[one]),
  ).map(
    (one) => `rollouts.${name}.${one.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
  );
  if (others.length === 0) return { record, others: null };
  const sentence = `the state has ${others.join(' and ')} otherwise than callsheet.yaml, which counts`;
  return { record: { ...record, settings }, others: sentence };
}

/** Settings that decide whether a rollout goes on. */
const SETTINGS = ['judge', 'guardRails', 'onWorse', 'overdueAfter'] as const;

/** The settings of a rollout that are kept with it. */
function settingsKept(settings: RolloutSettings): RolloutRecord['settings'] {
  const { agents: _, steps: __, first: ___, position: ____, ...kept } = settings;
  return kept;
}

/** It stays as it is until somebody decides. */
async function hold(record: RolloutRecord, why: string, visit: Visit): Promise<RolloutOutcome> {
  const held: RolloutRecord = { ...record, status: 'held', why };
  await writeDown(held, visit);
  return { end: 'held', record: held, now: getTime(visit.session, visit.context) };
}

/** Applies what the step adds, as it was reviewed and not otherwise. */
async function applyStep(begun: RolloutRecord, visit: Visit): Promise<Turn> {
  const { session, options, context, review } = visit;
  const { name, step } = begun;
  const now = getTime(session, context);
  // It may have waited for a freeze window or a file since the last look, which callers did not.
  const isOld = !visit.isPromoted && now - Date.parse(begun.look?.at ?? '0') > FRESH_MS;
  const { record, turn } = isOld ? await lookAfter(begun, visit) : { record: begun };
  if (turn !== undefined) return turn;
  refuseBroken(session);
  const { adds, gone } = placedNow(addedBy(record, step), session);
  if (gone.length > 0)
    return hold(record, `${formatNames(gone)} no longer in the configuration`, visit);
  const addresses = adds.map(({ address }) => address);
  const { overrideFreeze } = options;
  const allowed = {
    ...record.allowed,
    ...overrideOptions(overrideFreeze === undefined ? {} : { overrideFreeze }),
  };
  const standing = await findStanding(session, context);
  const planned = await planConfiguration(
    session,
    { ...stepOptions(allowed), target: addresses },
    context,
    // Judged changes no longer count for a limit.
    { refresh: 'fast', by: formatOwner(record), ...(step > 0 && { atOnce: 0 }), standing },
  );
  const { refusals = [] } = planned.plan;
  if (refusals.length > 0 && refusals.every(({ guard }) => guard === 'freeze')) {
    return { end: 'waiting', record, now, waitsFor: refusals[0]?.message ?? '' };
  }
  if (isRefused(planned.plan)) return hold(record, refusedWhy(planned.plan), visit);
  const written = await writtenBy(record.steps[step]?.runs ?? [], session);
  const moved = movedSince(adds, planned, written, session);
  if (moved.length > 0) return hold(record, foldSentences(moved), visit);
  const isDue = planned.plan.changes.some(isWriting);
  if (!isDue) {
    await writeDown(withStepApplied(record, now), visit);
    return 'again';
  }
  const outcome = await runPlan(planned, {
    session,
    context,
    purpose: 'apply',
    freeBy: getDeadline(options),
    observe: review.observe,
    kept: (run, result) => {
      const begun = withRun(record, run);
      const after = result === undefined ? begun : afterRun(begun, run, result, session, context);
      const part = `${name}, step ${step + 1} of ${record.steps.length}`;
      return { feature: FEATURE, part, entries: entriesWith(after, session.state) };
    },
  });
  if (outcome.type === 'refused') return hold(record, refusedWhy(outcome.plan), visit);
  if (outcome.type === 'ran' && outcome.result.status === 'interrupted')
    return { end: 'interrupted', record: withRun(record, outcome.run), now };
  return 'again';
}

/** A look that is older than this was made by another command. */
const FRESH_MS = 10 * 60_000;

/** Agents of a step by the addresses that they have now, which `moved:` and `state mv` change; and those that are gone. */
function placedNow(
  agents: readonly RolloutAgent[],
  { stack, state }: Session,
): { readonly adds: readonly RolloutAgent[]; readonly gone: readonly RolloutAgent[] } {
  const configured = new Set(stack.resources.map(({ address }) => address));
  const known = new Map(Object.entries(state.resources).map(([address, { id }]) => [id, address]));
  const adds: RolloutAgent[] = [];
  const gone: RolloutAgent[] = [];
  for (const agent of agents) {
    const before = known.get(agent.id) ?? agent.address;
    const moved = stack.moves.moved.find(({ from }) => from === before)?.to;
    const address = [agent.address, before, moved].find((one) => one && configured.has(one));
    if (address === undefined) gone.push(agent);
    else adds.push({ ...agent, address });
  }
  return { adds, gone };
}

type RunResult = Extract<RunOutcome, { type: 'ran' }>['result'];

/** Returns the rollout after the run of a step. */
function afterRun(
  record: RolloutRecord,
  run: string,
  result: RunResult,
  session: Session,
  context: RunContext,
): RolloutRecord {
  if (result.status === 'interrupted') return record;
  const failed = result.ledger.filter(({ status }) => status !== 'done');
  if (failed.length === 0 && !isDisturbed(result))
    return withStepApplied(record, getTime(session, context));
  const sentences = failed.map(({ address, message }) => ({
    address,
    message: `${address}: ${message ?? 'not applied'}`,
  }));
  const what =
    sentences.length > 0
      ? `run ${run} did not apply all of it:\n${foldSentences(sentences)}`
      : `somebody edited its agents while run ${run} was under way: \`callsheet runs ${run}\``;
  return { ...record, status: 'held', why: what };
}

/** A rollout whose step at hand has something else. */
function withStep(
  record: RolloutRecord,
  change: (step: RolloutRecord['steps'][number]) => Partial<RolloutRecord['steps'][number]>,
): RolloutRecord {
  const steps = record.steps.map((one, index) =>
    index === record.step ? { ...one, ...change(one) } : one,
  );
  return { ...record, steps };
}

function withRun(record: RolloutRecord, run: string): RolloutRecord {
  return withStep(record, ({ runs }) => ({ runs: [...runs, run] }));
}

function withStepApplied(record: RolloutRecord, now: number): RolloutRecord {
  return { ...withStep(record, () => ({ at: isoTime(now) })), status: 'judging' };
}

/** Looks at the calls, and decides what comes of them. Nothing is written where nothing does. */
async function judgeStep(record: RolloutRecord, visit: Visit): Promise<Turn> {
  const { session, context, review } = visit;
  const look = await lookAtCalls(record, session, getTime(session, context));
  const now = getTime(session, context);
  const looked: RolloutRecord = { ...record, look };
  review.looked?.(looked);
  const isLast = record.step === record.steps.length - 1;
  const isGood = look.verdict === 'no_worse' || look.verdict === 'better';
  // Once all have it there may be too few left to compare with, and no call would ever change that.
  const isAlone = isLast && look.others < LEAST_OTHERS;
  if (findStop(look) !== null) return stopFor(looked, visit);
  if (isLast && (isGood || isAlone)) {
    // Without others to compare with, the look before says more.
    const done = ended(isAlone ? record : looked, 'done', now);
    await writeDown(done, visit);
    return { end: 'done', record: done, now };
  }
  if (!isGood) return { end: 'waiting', record: looked, now };
  await writeDown({ ...looked, status: 'applying', step: record.step + 1 }, visit);
  return 'again';
}

/** Nothing goes on until somebody decides, or until the calls no longer say what they were held for. */
async function lookWhileHeld(held: RolloutRecord, visit: Visit): Promise<Turn> {
  const now = getTime(visit.session, visit.context);
  const { record, turn } = await lookAfter(held, visit);
  if (turn !== undefined) return turn;
  const isByCalls = findStop(held.look) === 'hold' && held.why === whyStopped(held);
  if (!isByCalls || findStop(record.look) !== null) return { end: 'held', record, now };
  await writeDown({ ...record, status: 'judging', why: null }, visit);
  return 'again';
}

/**
 * Agents that have the change are looked after whatever their rollout waits for: callers do not. `turn`: what comes of it
 * where they fare worse than when it was last written down.
 */
async function lookAfter(
  record: RolloutRecord,
  visit: Visit,
): Promise<{ readonly record: RolloutRecord; readonly turn?: Turn }> {
  const { session, context } = visit;
  if (record.steps.every(({ at }) => at === null)) return { record };
  const look = await lookAtCalls(record, session, getTime(session, context));
  const looked: RolloutRecord = { ...record, look };
  const [stop, before] = [findStop(look), findStop(record.look)];
  const isWorse = stop !== null && stop !== before && before !== 'rollback';
  return isWorse ? { record: looked, turn: await stopFor(looked, visit) } : { record: looked };
}

/** Callers fare worse, or may do. */
async function stopFor(record: RolloutRecord, visit: Visit): Promise<Turn> {
  const { session, context, review } = visit;
  const { onWorse } = record.settings;
  const why = whyStopped(record);
  const isAgreed =
    findStop(record.look) === 'rollback' &&
    (onWorse === 'rollback' ||
      (onWorse === 'ask' && (await review.agree?.(`${why}. Roll back ${record.name}?`)) === true));
  const next: RolloutRecord = { ...record, status: isAgreed ? 'rolling_back' : 'held', why };
  await writeDown(next, visit);
  return isAgreed ? 'rolling_back' : { end: 'held', record: next, now: getTime(session, context) };
}

function whyStopped({ look }: RolloutRecord): string {
  const broken = look?.broken ?? [];
  const [first] = [...broken.filter(({ does }) => does === 'rollback'), ...broken];
  const isFirst = first !== undefined && (first.does === 'rollback' || look?.verdict !== 'worse');
  return (isFirst ? first.message : look?.why) ?? 'callers fare worse';
}

/**
 * Undoes the runs of a rollout, the newest first. What is undone already is passed over, so that a rollback that died, or
 * that another run came between, is gone on with.
 */
function takeBack(
  name: string,
  options: RolloutOptions,
  context: RunContext,
  review: RolloutReview,
): Promise<RolloutOutcome> {
  return whileStale(() => takeBackNow(name, options, context, review));
}

async function takeBackNow(
  name: string,
  options: RolloutOptions,
  context: RunContext,
  review: RolloutReview,
): Promise<RolloutOutcome> {
  const { record, runs } = await readRuns(name, options, context);
  const left: string[] = [];
  const overrideFreeze =
    options.overrideFreeze ?? `the rollout ${name} is taken back: ${record.why ?? ''}`;
  const { show, observe } = review;
  for (const { run, isRecorded } of runs) {
    if (!isRecorded) {
      left.push(
        `run ${run} is no longer recorded, so its changes stay: revert them in the configuration and apply`,
      );
      continue;
    }
    context.emit({ type: 'notice', text: `Rolling back run ${run} of the rollout ${name}.` });
    const wanted = { ...options, run, skipRefused: true, overrideFreeze, by: formatOwner(record) };
    const outcome = await undo(wanted, context, { ...(show && { show }), observe });
    if (outcome.type === 'ran' && outcome.result.status === 'interrupted')
      return { end: 'interrupted', record, now: context.now().getTime() };
    left.push(...leftBy(outcome));
  }
  const session = await openAsRecorded(options, context);
  try {
    const current = recordNamed(name, session, options, () => true);
    const now = getTime(session, context);
    left.push(...(await findUnlike(current, session, context)));
    const back = ended({ ...current, left: [...new Set(left)] }, 'rolled_back', now);
    await writeDown(back, { session, options, context });
    return { end: 'rolled_back', record: back, now };
  } finally {
    await session.close();
  }
}

/**
 * Agents that no run of a rollout reached as far as is known, and that are not as they were before it. They are planned
 * again: where those that were taken back wait for the reviewed change, these must, too.
 */
async function findUnlike(
  record: RolloutRecord,
  session: Session,
  context: RunContext,
): Promise<readonly string[]> {
  if (isBroken(session)) return [];
  const { adds } = placedNow(record.agents, session);
  const target = adds.map(({ address }) => address);
  const planned = await planConfiguration(
    session,
    { ...stepOptions(record.allowed), target },
    context,
    { refresh: 'fast', by: formatOwner(record), standing: await findStanding(session, context) },
  );
  const unlike = new Set(movedSince(adds, planned, new Set(), session).map((one) => one.address));
  const reached = new Set(agentsReached(record).map(({ id }) => id));
  const isAsReviewed = adds.some(({ id, address }) => reached.has(id) && !unlike.has(address));
  if (!isAsReviewed) return [];
  return adds
    .filter(({ id, address }) => !reached.has(id) && unlike.has(address))
    .map(({ address }) => `${address}: it is not as before the rollout, and no run of it says why`);
}

/** The runs of a rollout, the newest first. A state that was brought from elsewhere has no journals to undo them by. */
async function readRuns(name: string, options: RolloutOptions, context: RunContext) {
  const session = await openAsRecorded(options, context);
  try {
    const record = recordNamed(name, session, options, () => true);
    const runs: { readonly run: string; readonly isRecorded: boolean }[] = [];
    for (const run of record.steps.flatMap((step) => step.runs).toReversed())
      runs.push({ run, isRecorded: (await readRun(session, run)) !== undefined });
    return { record, runs };
  } finally {
    await session.close();
  }
}

/** Returns the resources that an undo did not put back, in words. */
function leftBy(outcome: UndoOutcome): readonly string[] {
  if (outcome.type === 'refused')
    return outcome.plan.changes
      .filter(({ verdict }) => verdict !== 'ok')
      .map(({ address, reason }) => `${address}: ${reason}`);
  if (outcome.type !== 'ran' && outcome.type !== 'unchanged') return [];
  const verification = outcome.type === 'ran' ? outcome.result.verification : outcome.verification;
  const ledger = outcome.type === 'ran' ? outcome.result.ledger : [];
  return [
    ...ledger
      .filter(isMissed)
      .map(({ address, message }) => `${address}: ${message ?? 'not undone'}`),
    ...(verification?.left ?? []).map(
      ({ address, path, why }) => `${address}: ${path === null ? '' : `${path} `}${why}`,
    ),
    ...(verification?.differs ?? []).map(
      ({ address, path }) => `${address}: ${path ?? 'it'} is not what it was`,
    ),
  ];
}

function ended(record: RolloutRecord, status: 'done' | 'rolled_back', now: number): RolloutRecord {
  return { ...record, status, ended_at: isoTime(now) };
}

/** Agents that get the change with a step. */
export function addedBy({ agents, steps }: RolloutRecord, step: number): readonly RolloutAgent[] {
  return agents.slice(steps[step - 1]?.agents ?? 0, steps[step]?.agents);
}

/** The time that a rollout goes by is that of the platform, as its calls do. */
function getTime({ client }: Pick<Session, 'client'>, { now }: RunContext): number {
  return client.platformTime() ?? now().getTime();
}

function getDeadline({ lockTimeout = 0 }: RolloutOptions): number {
  return Date.now() + lockTimeout;
}

/** Everything that rollouts keep, with this one. */
function entriesWith(record: RolloutRecord, { kept = {} }: Session['state']): KeptEntries {
  return { ...kept[FEATURE], [record.name]: toEntry(record) };
}

const STRATEGY = { feature: FEATURE, command: 'rollout start' };

/** Who has the agents of a rollout for its own. */
function formatOwner({ name }: Pick<RolloutRecord, 'name'>): string {
  return `${FEATURE} ${name}`;
}

/** Writes a rollout into the state. Throws `CallsheetError('stale')` where another run wrote the state meanwhile. */
async function writeDown(
  record: RolloutRecord,
  { session, options, context }: Pick<Visit, 'session' | 'options' | 'context'>,
): Promise<void> {
  session.beginWriting();
  const actor = await describeActor(session.stack.dir, context);
  const holder = holderFor('', `rollout ${record.name}`, actor, context);
  const lease = await acquireUntil(session.store, holder, getDeadline(options), context);
  await releasing(lease, async () => {
    const state = await recordRecovery(lease, session, context);
    const kept = { feature: FEATURE, entries: entriesWith(record, state) };
    await lease.commit(nextState(withKept(state, kept)));
  });
}

/**
 * Returns the permissions of a step: fewer than a plan's, as a rollout deletes nothing and writes secrets only where
 * they change.
 */
function stepOptions({ strategy: _, ...options }: PlanOptions): PlanOptions {
  const none = {
    target: [],
    exclude: [],
    allow_delete: false,
    resend_secrets: false,
    force: false,
  };
  return { ...options, ...none };
}

/** Returns the digest of the reviewed parts of a change: its effect and its target, not its time, reason or address. */
function reviewedDigest({ id, action, fields, operations }: Change): string {
  return computeDigest({
    id,
    action,
    fields: fields
      .filter(({ cause }) => cause !== 'unknown_secret')
      .map(({ path, before, after, cause, secret }) => ({ path, before, after, cause, secret }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    operations: operations.map((one) => ({ ...one, fields: [...one.fields].sort() })),
  });
}

function toRolloutAgent(change: Change, session: Session): RolloutAgent {
  const { address, id } = change;
  if (id === null) throw new Error(`${address} is updated and has no id`);
  const changed_at = change.pin?.updated_at ?? null;
  const agent = { address, id, change: reviewedDigest(change), changed_at };
  // A state that no run has made yet will have another salt.
  if (session.state.lineage === NO_LINEAGE || !hasSecrets(change)) return agent;
  const document = documentsIn(session).get(address) ?? {};
  const secrets = fingerprintMasked(change, document, id, getWorld(session));
  return Object.keys(secrets).length === 0 ? agent : { ...agent, secrets };
}

function hasSecrets({ fields }: Change): boolean {
  return fields.some(({ secret }) => secret);
}

/** Asked for every agent of a fleet. */
const documentsIn = oncePer(
  ({ stack }: Session): ReadonlyMap<Address, ValueObject> =>
    new Map(stack.resources.map(({ address, document }) => [address, document])),
);

function getWorld({ world, state }: Session) {
  return { ...world, findId: (address: Address) => state.resources[address]?.id };
}

/** Agents of a step whose change is not the one that was reviewed, and that the step has not changed already. */
function movedSince(
  adds: readonly RolloutAgent[],
  { plan }: Planned,
  written: ReadonlySet<Address>,
  session: Session,
): readonly { readonly address: Address; readonly message: string }[] {
  const changes = new Map(plan.changes.filter(isWriting).map((one) => [one.address, one]));
  return adds.flatMap(({ address, id, change: reviewed, secrets = {} }) => {
    const change = changes.get(address);
    if (change === undefined && written.has(address)) return [];
    if (change === undefined)
      return [{ address, message: `${address} no longer has the change that was reviewed` }];
    const document = documentsIn(session).get(address) ?? {};
    const paths =
      reviewedDigest(change) === reviewed
        ? findRenewed(change, document, id, secrets, getWorld(session))
        : change.fields.filter(({ cause }) => cause !== 'unknown_secret').map(({ path }) => path);
    if (paths.length === 0) return [];
    const message = `${address} would change otherwise than reviewed: ${paths.join(', ')}`;
    return [{ address, message }];
  });
}

/** Addresses that runs changed, as their receipts say. */
async function writtenBy(runs: readonly string[], session: Session): Promise<ReadonlySet<Address>> {
  const journals = await Promise.all(runs.map((run) => readRun(session, run)));
  const ledgers = journals.flatMap((entries = []) => listLedger(entries));
  return new Set(ledgers.filter(({ status }) => status === 'done').map(({ address }) => address));
}

function refusedWhy({ refusals = [], changes }: PlanDocument): string {
  const sentences = changes
    .filter(({ verdict }) => verdict === 'refused')
    .map(({ address, reason }) => ({ address, message: `${address}: ${reason}` }));
  return [
    ...refusals.map(({ message }) => message),
    ...(sentences.length > 0 ? [foldSentences(sentences)] : []),
  ].join('; ');
}

function formatNames(agents: readonly RolloutAgent[]): string {
  const names = agents.map(({ address }) => address);
  return `${formatFirst(names, 3)} ${names.length === 1 ? 'is' : 'are'}`;
}

/** A rollout is of one kind of change: what it does not select, and what cannot be judged by calls, is refused. */
function refuseMore(plan: PlanDocument, { name, agents, position }: RolloutSettings): void {
  const where = `rollouts.${name} (${position.file}:${position.line})`;
  const acting = plan.changes.filter(isWriting);
  const refuse = (found: readonly Change[], what: string, hint: string) => {
    if (found.length === 0) return;
    const sentences = found.map(({ address, name, action, source }) => ({
      ...{ address, name },
      message: `${address}: ${action}${source === null ? '' : `, ${source}`}`,
    }));
    throw new CallsheetError('config', `${what}:\n${foldSentences(sentences)}`, { hint });
  };
  const others = acting.filter(({ address }) => !agents.includes(address));
  refuse(
    others,
    `the plan changes ${formatCount(others.length, 'resource')} that ${where} does not select`,
    `Apply them first, or plan the rollout alone: \`callsheet rollout start ${name}\``,
  );
  refuse(
    acting.filter(({ action }) => action !== 'update'),
    `${where}: only updates of agents can be judged by their calls`,
    'Apply these with `callsheet plan` and `callsheet apply`, or leave them out of the selection.',
  );
  if (acting.length === 0)
    throw new CallsheetError('usage', `nothing of ${where} changes`, {
      hint: '`callsheet plan` shows what the configuration changes.',
    });
}

/** Refuses a second rollout of an agent: its calls could not be attributed to one of them. */
function refuseBesideOthers(
  { name, agents }: RolloutSettings,
  { state }: Session,
  options: RolloutOptions,
): void {
  const other = listUnderWay(state).find(
    (one) => one.name === name || one.agents.some(({ address }) => agents.includes(address)),
  );
  if (other === undefined) return;
  const shared = other.agents.find(({ address }) => agents.includes(address))?.address;
  const message =
    other.name === name
      ? `the rollout ${name} is under way already`
      : `the rollout ${other.name} is under way, and has ${shared ?? 'agents of this one'}, too`;
  throw new CallsheetError('refused', message, {
    hint: `See it with ${typed('show', other, options)}. To end it: ${typed('promote', other, options)}, or ${typed('abort', other, options)}`,
  });
}

/** A command about a rollout, as it is typed for the stack at hand. */
function typed(what: string, { name }: { readonly name: string }, options: RolloutOptions): string {
  return commandLine(`rollout ${what} ${name}`, options);
}

/** The rollout that is meant: the only one of that sort where none is named. */
function recordNamed(
  name: string | undefined,
  session: Session,
  options: RolloutOptions,
  isMeant: (record: RolloutRecord) => boolean,
): RolloutRecord {
  const all = recordsIn(session.state);
  const found = name === undefined ? all.filter(isMeant) : all.filter((one) => one.name === name);
  const [only] = found;
  const names = all.map((one) => one.name);
  const refused = (message: string, hint: string) => new CallsheetError('usage', message, { hint });
  if (name === undefined && only === undefined)
    throw refused(
      'no rollout is under way',
      `To start one: ${commandSpan('rollout start NAME', options)}`,
    );
  if (only === undefined) {
    const named = { name: name ?? '' };
    const set = getRollouts(session.stack).map((one) => one.name);
    const listed = `${commandSpan('rollout show', options)} lists those that were started.`;
    throw refused(
      `no rollout ${named.name} was started`,
      set.includes(named.name)
        ? `To start it: ${typed('start', named, options)}`
        : didYouMean(named.name, [...names, ...set], listed),
    );
  }
  if (found.length > 1)
    throw refused(`several rollouts are under way: ${names.join(', ')}`, 'Name one.');
  if (!isMeant(only))
    throw refused(
      `the rollout ${only.name} ${only.status === 'done' ? 'is done' : 'was rolled back'}`,
      `To start it again: ${typed('start', only, options)}`,
    );
  return only;
}
