import type { FreezeWindow, Guards } from '../core/guards.ts';
import type { Note, PlanDocument, Refusal } from '../core/plan-document.ts';
import type { PlanJudgement, PlanRules } from '../core/plan-rules.ts';
import { inSeconds } from '../core/time.ts';
import type { Hold } from '../state/model.ts';
import { freezeAt } from './freeze.ts';
import { brokenHolds, describeHold, type HoldWorld } from './holds.ts';
import { formatInstant } from './wall-clock.ts';

/** A guard that stands against a plan as a whole, and whether the plan was told to go on all the same. */
export type Objection = {
  readonly refusal: Refusal & { readonly guard: 'freeze' | 'hold' };
  readonly isOverridden: boolean;
  /** The holds that it is about, by their keys. */
  readonly holds?: readonly string[];
  /** Why it is overridden, where a reason is asked for. */
  readonly reason: string | null;
};

/** What decides whether a plan may be run now. */
type Circumstances = HoldWorld & {
  readonly guards: Guards;
  readonly now: Date;
};

type Judged = Pick<PlanDocument, 'purpose' | 'config_digest' | 'options' | 'changes'>;

const NOTHING: PlanJudgement = { refusals: [], notes: [] };

/** What stands against running a plan now. Nothing stands against a plan that writes nothing. */
export function objectionsTo(plan: Judged, circumstances: Circumstances): readonly Objection[] {
  if (!writes(plan)) return [];
  return [...freezeObjection(plan, circumstances), ...holdObjections(plan, circumstances)];
}

/** What the team's own rules say of a plan now. Nothing overrides them, and they too let be what writes nothing. */
export function judgeByRules(
  plan: Omit<PlanDocument, 'digest'>,
  { rules, now }: { readonly rules: PlanRules; readonly now: Date },
): PlanJudgement {
  return writes(plan) ? rules(plan, now) : NOTHING;
}

function writes({ changes }: Pick<PlanDocument, 'changes'>): boolean {
  return changes.some(({ verdict, operations }) => verdict === 'ok' && operations.length > 0);
}

/** The objections that nobody overrode. */
export function refusalsIn(objections: readonly Objection[]): readonly Refusal[] {
  return objections.filter(({ isOverridden }) => !isOverridden).map(({ refusal }) => refusal);
}

/** What a plan says of the objections that were overridden. */
export function overrideNotes(objections: readonly Objection[]): readonly Note[] {
  return objections
    .filter(({ isOverridden }) => isOverridden)
    .map(({ refusal: { message, guard }, reason }) => {
      const how = guard === 'hold' ? 'the hold is released' : `overridden: ${reason}`;
      return { severity: 'warning', address: null, message: `${message}; ${how}` };
    });
}

/** A plan with the refusals of now in the place of those of the time when it was made. */
export function withRefusals(
  { refusals: _, ...plan }: PlanDocument,
  refusals: readonly Refusal[],
): PlanDocument {
  return refusals.length === 0 ? plan : { ...plan, refusals };
}

function freezeObjection(
  { options }: Judged,
  { guards, now }: Circumstances,
): readonly Objection[] {
  const freeze = freezeAt(guards.freeze ?? [], now);
  if (freeze === undefined) return [];
  const { windows, until } = freeze;
  const names = windows.map(nameOf).join(' and ');
  const end = until === undefined ? undefined : formatInstant(windows[0].zone, until.getTime());
  const lasts = end === undefined ? 'with no end within a year' : `until ${end}`;
  const how = 'pass --override-freeze REASON, which is recorded with the run.';
  const advice = end === undefined ? `To go on all the same, ${how}` : `Wait until then, or ${how}`;
  return [
    {
      refusal: {
        guard: 'freeze',
        message: `guards.freeze is in force ${lasts}: ${names}`,
        until: until?.toISOString() ?? null,
        advice,
      },
      isOverridden: options.override_freeze !== undefined,
      reason: options.override_freeze ?? null,
    },
  ];
}

function nameOf({ reason, source }: FreezeWindow): string {
  return reason === undefined ? `the window of ${source}` : `"${reason}" (${source})`;
}

/** Values that are named in a refusal; the others are counted. */
const MOST_NAMED = 3;

/** One for each rollback whose holds the plan would break. */
function holdObjections(plan: Judged, circumstances: Circumstances): readonly Objection[] {
  const broken = [...brokenHolds(plan, circumstances)];
  const byRollback = Map.groupBy(broken, ([, { by }]) => by);
  return [...byRollback.values()].flatMap((group) => {
    const [[, { undid, by, at, user }] = NONE] = group;
    const isWhole = group.some(([, { address }]) => address === undefined);
    const named = group.slice(0, MOST_NAMED).map(([, hold]) => describeHold(hold));
    const rest = group.length - named.length;
    const what = isWhole
      ? 'this configuration was'
      : `${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''} ${group.length === 1 ? 'was' : 'were'}`;
    const advice = isWhole
      ? 'Change the configuration, or pass --release-hold to apply the same one again.'
      : 'Change what it says there, or pass --release-hold to write the same again.';
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

const NONE: readonly [string, Hold] = ['', { undid: '', by: '', at: '', user: null }];
