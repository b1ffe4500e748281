import type { Address } from '../core/address.ts';
import { describeFreeze } from '../core/calendar.ts';
import { commandSpan, quoted } from '../core/command-line.ts';
import { formatCount, formatFirst, formatNumber } from '../core/errors.ts';
import {
  type Behind,
  type Change,
  type DriftPolicy,
  type ExceededLimit,
  type Guards,
  isEdited,
  isKept,
  type Note,
  type PlanDocument,
  type PlanJudgement,
  type PlanOptions,
  type PlanRules,
  type Refusal,
  shortCommit,
} from '../core/plan-document.ts';
import { inSeconds } from '../core/value.ts';
import { isActing, isDelete, isWriting, refuse } from './document.ts';
import { isPuttingBack } from './drift.ts';
import { brokenHolds, describeHold, type HoldWorld } from './holds.ts';

export type GuardInput = {
  readonly purpose: PlanDocument['purpose'];
  readonly options: PlanOptions;
  readonly guards: Guards;
  /** The policy for edits on the platform: they are undone unless it is given. */
  readonly drift?: DriftPolicy | undefined;
  /** Addresses that must not be deleted: protected now, or when last written. */
  readonly isProtected: (address: string) => boolean;
  /** Managed resources that exist live, whether they were chosen or not. */
  readonly existing: number;
  readonly isConfigurationEmpty: boolean;
  /** Most changes that are carried out before somebody judges them: all of them, unless a strategy takes steps. */
  readonly atOnce?: number | undefined;
  /** A run that passed the limits, and whose changes the plan goes on with. */
  readonly approved?: Approved | undefined;
  /** Resources that features have for their own. */
  readonly claims: readonly Claim[];
  /** The environment that is planned for, as commands name it. */
  readonly environment?: string | undefined;
};

/** Changes that were approved beyond the limits and are still to be done: their run was cancelled, or failed in part. */
export type Approved = { readonly run: string; readonly addresses: ReadonlySet<Address> };

/** A resource that a feature has for its own, until what it does there ends: a rollout's agents. */
export type Claim = {
  /** Who has it: `rollout careful`. */
  readonly by: string;
  readonly address: Address;
  readonly id: string;
  /** Said of a change of it that waits: `held by the rollout careful, which is at step 1 of 3`. */
  readonly held: string;
  /**
   * Set where it has what the feature wrote. Then an edit of it is put back as ever, and a rollback leaves it to the
   * feature: why, and what to do.
   */
  readonly written: { readonly why: string; readonly advice: string } | null;
};

/**
 * Gives each change its verdict where a guard objects (DESIGN §4.8). A change that is already refused or
 * unsupported stays so.
 */
export function guardChanges(changes: readonly Change[], input: GuardInput): readonly Change[] {
  const guarded = changes.map((change) => guardChange(change, input));
  return guardThresholds(guarded, input);
}

/** The same of one change, but for the limits, which count all of them. */
export function guardChange(change: Change, input: GuardInput): Change {
  const waiting = leaveToOwner(change, input);
  const decided = input.drift === 'refuse' ? refuseUndoing(waiting, input) : waiting;
  return isDelete(decided) ? guardDelete(decided, input) : decided;
}

/** The policy for edits: the flag of this plan, else the setting of the stack. */
export function driftPolicy(
  { drift = 'undo' }: Guards,
  { keep_drift: isKept, undo_drift: isUndone }: Pick<PlanOptions, 'keep_drift' | 'undo_drift'>,
): DriftPolicy {
  return isUndone === true ? 'undo' : isKept === true ? 'keep' : drift;
}

/** `guards.drift: refuse`: somebody must say what becomes of an edit. A delete is a change of the configuration. */
function refuseUndoing(change: Change, { environment: env }: GuardInput): Change {
  const { action, address, reason } = change;
  if (!isWriting(change) || action === 'delete' || !change.fields.some(isEdited)) return change;
  const typed = (command: string) => commandSpan(command, { dir: '.', env });
  const ways = `To take it over: ${typed(`pull ${quoted(address)}`)}. To undo it: ${typed('plan --undo-drift')}`;
  return refuse(
    change,
    `${reason}; guards.drift: refuse lets no edit be undone. ${ways}`,
    'undo_drift',
  );
}

/**
 * A resource that a feature has for its own is its alone until that ends: what the configuration says of one that does not
 * have the change yet is neither drift nor forgotten, and another change beside it would be judged in its place. Of one
 * that has it, what somebody edited is put back as ever.
 */
function leaveToOwner(change: Change, { purpose, claims }: GuardInput): Change {
  if (purpose !== 'apply' || !isWriting(change)) return change;
  // An address may have been moved to another resource meanwhile; an id is never.
  const claim =
    claims.find(({ id }) => id === change.id) ??
    claims.find(({ address }) => address === change.address);
  if (claim === undefined || (claim.written !== null && isPuttingBack(change))) return change;
  return { ...change, verdict: 'held', reason: `${change.reason}; ${claim.held}` };
}

/** A guard that stands against a plan as a whole, and whether an option overrides it. */
export type GuardFinding = {
  readonly refusal: Refusal & { readonly guard: 'freeze' | 'hold' | 'limit' | 'behind' };
  readonly isOverridden: boolean;
  /** The freeze that it is about. */
  readonly freeze?: NonNullable<PlanDocument['freeze']>;
  /** The holds that it is about, by their keys. */
  readonly holds?: readonly string[];
  /** Why it is overridden, where a reason is asked for. */
  readonly reason: string | null;
};

/** The circumstances that decide if a plan may be run now. */
type Circumstances = HoldWorld & {
  readonly guards: Guards;
  readonly now: Date;
  /** The commit that was applied last, where the checkout does not have it now. */
  readonly behind?: Behind | undefined;
};

type CheckedPlan = Pick<
  PlanDocument,
  'purpose' | 'config_digest' | 'options' | 'changes' | 'overridden_limits' | 'behind'
>;

/**
 * Returns the findings against running a plan now. A plan without writes is held only against the checkout: from an
 * older one "no changes" and "waits to be deleted" are no news of the configuration.
 */
export function checkGuards(
  plan: CheckedPlan,
  circumstances: Circumstances,
): readonly GuardFinding[] {
  const behind = checkBehind(plan, circumstances);
  if (!plan.changes.some((change) => isActing(change, plan.options))) return behind;
  return [
    ...behind,
    ...checkFreeze(plan, circumstances),
    ...checkHolds(plan, circumstances),
    ...checkLimits(plan),
  ];
}

/**
 * Judges a plan by the team's own rules. Nothing overrides them, and they too skip what is not written: changes without
 * writes, and kept edits beside changes.
 */
export function checkTeamRules(
  plan: Omit<PlanDocument, 'digest' | 'checks'>,
  { rules, now }: { readonly rules: PlanRules; readonly now: Date },
): PlanJudgement {
  if (!plan.changes.some(isWriting)) return NOTHING;
  const changes = plan.changes.map((change) =>
    change.fields.some(isKept)
      ? { ...change, fields: change.fields.filter((field) => !isKept(field)) }
      : change,
  );
  return rules(plan.kept === undefined ? plan : { ...plan, changes }, now);
}

export function refusalsIn(findings: readonly GuardFinding[]): readonly Refusal[] {
  return findings.filter(({ isOverridden }) => !isOverridden).map(({ refusal }) => refusal);
}

/** Returns a plan's notes on findings that were overridden. */
export function overrideNotes(findings: readonly GuardFinding[]): readonly Note[] {
  return findings
    .filter(({ isOverridden }) => isOverridden)
    .map(({ refusal: { message, guard }, reason }) => {
      const how = guard === 'hold' ? 'the hold is released' : `overridden: ${reason}`;
      return { severity: 'warning', address: null, message: `${message}; ${how}` };
    });
}

/** A plan with the refusals of now in the place of those of the time when it was made. */
export function withRefusals<P extends Pick<PlanDocument, 'refusals' | 'freeze'>>(
  { refusals: _, freeze: __, ...plan }: P,
  refusals: readonly Refusal[],
  freeze?: PlanDocument['freeze'],
): Omit<P, 'refusals' | 'freeze'> & Pick<PlanDocument, 'refusals' | 'freeze'> {
  if (refusals.length === 0) return plan;
  return { ...plan, ...(freeze === undefined ? {} : { freeze }), refusals };
}

/** Below this many existing resources a percentage says nothing, unless the stack sets it otherwise. */
const MIN_RESOURCES = 10;

function guardDelete(change: Change, input: GuardInput): Change {
  if (change.verdict !== 'ok') return change;
  if (input.isProtected(change.address)) {
    // A resource that is no longer configured has no block left to take `protect` out of.
    const first = change.action === 'delete' ? 'configure it again without' : 'take out';
    return refuse(
      change,
      `${change.reason}; it is protected: to delete it, first ${first} lifecycle.protect and apply`,
    );
  }
  if (!input.options.allow_delete) {
    const isDropped = change.action === 'delete' && input.purpose === 'apply';
    const keeps = isDropped ? 'forget, moved or state mv --to keeps it; ' : '';
    const reason = `${change.reason}; ${keeps}held until it is planned with --allow-delete`;
    return { ...change, verdict: 'held', reason, lifted_by: 'allow_delete' };
  }
  const isNamed = input.options.target.includes(change.address);
  if (input.isConfigurationEmpty && !isNamed) {
    return refuse(
      change,
      'the configuration has no resources, and Callsheet never reads that as "delete everything"; name each resource to delete with --target',
    );
  }
  return change;
}

/** The limits that the changes exceed by those of them that are carried out. */
function exceededLimits(
  changes: readonly Change[],
  { guards, existing, atOnce = Infinity }: Pick<GuardInput, 'guards' | 'existing' | 'atOnce'>,
): readonly ExceededLimit[] {
  const { max_delete: most = Infinity, max_change_percent: percent = Infinity } = guards;
  const { min_resources: floor = MIN_RESOURCES } = guards;
  const leaving = changes.filter(countsAs.max_delete).length;
  const touched = Math.min(atOnce, changes.filter(countsAs.max_change_percent).length);
  return [
    ...(leaving > most
      ? [{ limit: 'max_delete' as const, set: most, allows: most, counted: leaving, existing }]
      : []),
    ...(existing >= floor && touched > countIn(percent, existing)
      ? [
          {
            limit: 'max_change_percent' as const,
            set: percent,
            allows: countIn(percent, existing),
            counted: touched,
            existing,
          },
        ]
      : []),
  ];
}

/** Returns the limits that a plan exceeds with `override_limits`. */
export function overriddenLimits(
  guarded: readonly Change[],
  input: GuardInput,
): readonly ExceededLimit[] {
  const { options, approved } = input;
  if (options.override_limits !== undefined) return exceededLimits(guarded, input);
  if (approved === undefined) return [];
  // All are counted, so that the run which continues has the whole figure on record.
  return exceededLimits(guarded, input).map((one) => ({ ...one, approved_in: approved.run }));
}

/** Which changes count for a limit. */
const countsAs: { readonly [limit in ExceededLimit['limit']]: (change: Change) => boolean } = {
  max_delete: (change) => isDelete(change) && change.verdict === 'ok',
  max_change_percent: ({ action, verdict }) =>
    verdict === 'ok' && (action === 'update' || action === 'replace' || action === 'delete'),
};

/** How many of all a share is. Percentages are decimal fractions, which binary ones miss by a hair. */
function countIn(percent: number, all: number): number {
  return Math.floor((percent * all) / 100 + 1e-9);
}

function limitMessage({ limit, set, allows, counted, existing }: ExceededLimit): string {
  const name = `guards.${limit}: ${set}`;
  return limit === 'max_delete'
    ? `the plan deletes ${formatCount(counted, 'resource')}, more than ${name} allows`
    : `the plan changes ${formatNumber(counted)} of ${formatCount(existing, 'resource')}, and ${name} allows ${formatNumber(allows)}`;
}

/** Advises on a limit. Only a plan of the configuration takes `--target`, and one reason overrides all limits. */
function limitAdvice({ guards, purpose, options }: GuardInput, exceeded: number): string {
  const { strategy } = options;
  if (strategy !== undefined)
    return `Make its first step smaller. To override the limit once: \`callsheet ${strategy.command} ${strategy.name} --override-limits REASON\``;
  const raise = `Raise the limit${exceeded === 1 ? '' : 's'}, or`;
  if (purpose !== 'apply' && purpose !== 'restore') return `${raise} plan a part with --target`;
  const isBoth = guards.max_delete !== undefined && guards.max_change_percent !== undefined;
  const override = `To override ${isBoth ? 'max_delete and max_change_percent' : 'the limit'} once`;
  return purpose === 'restore'
    ? `${raise} restore a part with --organization. ${override}, pass --override-limits REASON`
    : `${raise} plan a part with --target. ${override}: \`callsheet plan --override-limits REASON\``;
}

function guardThresholds(changes: readonly Change[], input: GuardInput): readonly Change[] {
  if (input.options.override_limits !== undefined) return changes;
  const measured = changes.filter(({ address }) => !input.approved?.addresses.has(address));
  const exceeded = exceededLimits(measured, input);
  return changes.map((change) => {
    if (!measured.includes(change)) return change;
    const against = exceeded.filter(({ limit }) => countsAs[limit](change));
    if (against.length === 0) return change;
    const whole = against.map(limitMessage).join(', and ');
    const { strategy } = input.options;
    const exceeding =
      strategy === undefined
        ? whole
        : whole.replace(
            'the plan changes',
            `the first step of the ${strategy.feature} ${strategy.name} changes`,
          );
    const reason = `${exceeding}. ${limitAdvice(input, against.length)}`;
    return refuse(change, reason, 'override_limits');
  });
}

/** Finds the overridden limits, to report and record each once; limits stop single changes (`guardThresholds`). */
function checkLimits({
  options: { override_limits: reason },
  overridden_limits: limits = [],
}: CheckedPlan): readonly GuardFinding[] {
  return limits.map((limit) => {
    const message = limitMessage(limit);
    const refusal = { guard: 'limit' as const, message, until: null, advice: '' };
    const { approved_in: run } = limit;
    const approval = run === undefined ? null : `approved with run ${run}, which this continues`;
    return { refusal, isOverridden: true, reason: reason ?? approval };
  });
}

/** A reason stands for the commit that it was given for: what others applied since is another question. */
function checkBehind(plan: CheckedPlan, { behind }: Circumstances): readonly GuardFinding[] {
  if (behind === undefined || plan.purpose !== 'apply') return [];
  const { behind: reason } = plan.options;
  const isMeant = plan.behind?.applied.commit === behind.applied.commit;
  return [
    {
      refusal: {
        guard: 'behind',
        message: describeBehind(behind),
        until: null,
        advice: adviseBehind(behind),
      },
      isOverridden: reason !== undefined && isMeant,
      reason: reason ?? null,
    },
  ];
}

function describeBehind({ applied, head, found }: Behind): string {
  const { commit, run, at, user } = applied;
  const facts = [...(run === null ? [] : [`run ${run}`]), inSeconds(at)];
  const who = user === null ? '' : `, by ${user}`;
  const applying = `the last apply applied ${shortCommit(commit)} (${facts.join(', ')}${who})`;
  return found === 'missing'
    ? `${applying}, and this repository has no such commit: it is at ${shortCommit(head)}`
    : `${applying}, which this checkout does not have: it is at ${shortCommit(head)}`;
}

function adviseBehind({ applied: { commit }, found }: Behind): string {
  const get = {
    contained: 'Get it with `git pull`.',
    diverged: `Get it with \`git pull\`, on a branch with \`git merge ${shortCommit(commit)}\`.`,
    missing:
      'Get it with `git pull`. If it is not there then, it was never pushed, or a force push took it out.',
  };
  return `${get[found]} To continue without it, which takes back what it changed, plan and apply with --behind REASON; the reason is recorded with the run.`;
}

const NOTHING: PlanJudgement = { refusals: [], notes: [] };

function checkFreeze(
  { options }: CheckedPlan,
  { guards, now }: Circumstances,
): readonly GuardFinding[] {
  const freeze = describeFreeze(guards.freeze ?? [], now);
  if (freeze === undefined) return [];
  const { until, ends, reason } = freeze;
  const lasts = ends === null ? 'with no end within a year' : `until ${ends}`;
  const how = 'pass --override-freeze REASON, which is recorded with the run.';
  const advice = ends === null ? `To continue anyway, ${how}` : `Wait until then, or ${how}`;
  return [
    {
      freeze,
      refusal: {
        guard: 'freeze',
        message: `guards.freeze is in force ${lasts}: ${reason}`,
        until,
        advice,
      },
      isOverridden: options.override_freeze !== undefined,
      reason: options.override_freeze ?? null,
    },
  ];
}

/** Values that are named in a refusal; the others are counted. */
const MOST_NAMED = 3;

/** One for each rollback whose holds the plan would break. */
function checkHolds(plan: CheckedPlan, circumstances: Circumstances): readonly GuardFinding[] {
  const broken = [...brokenHolds(plan, circumstances)];
  const byRollback = Map.groupBy(broken, ([, { by }]) => by);
  return [...byRollback.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const [, { undid, by, at, user }] = first;
    const named = group.map(([, hold]) => describeHold(hold));
    const what = `${formatFirst(named, MOST_NAMED)} ${group.length === 1 ? 'was' : 'were'}`;
    const advice =
      'Change the configured value, or pass --release-hold to write the same value again.';
    return {
      refusal: {
        guard: 'hold' as const,
        message: `${what} rolled back by ${user ?? 'someone'} at ${inSeconds(at)}: run ${by} undid run ${undid}`,
        until: null,
        advice,
      },
      isOverridden: plan.options.release_hold === true,
      holds: group.map(([key]) => key),
      reason: null,
    };
  });
}
