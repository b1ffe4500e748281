import { quoted } from './command-line.ts';
import type { Plan } from './documents.generated.ts';
import { inSeconds } from './value.ts';

/**
 * The plan document: what every renderer, `--format json` and `apply` read. `schemas/plan.schema.json` describes its
 * members. Secrets and sensitive values are masked when it is built, so nothing that reads it can leak one.
 */
export type PlanDocument = Plan.Document;

/** An operation that `platform.endpoints` moves, with its own place and the new one. */
export type MovedEndpoint = NonNullable<PlanDocument['endpoints']>[number];

/** Which snapshot is meant, wherever its file lies by now. */
export type SnapshotMark = NonNullable<PlanDocument['snapshot']>;

/** Why a plan is not run now, whatever it would do. */
export type Refusal = Plan.Refusal;

/** That the checkout of a plan does not have the commit that was applied last. */
export type Behind = Plan.Behind;

/** A commit as sentences name it, long enough for Git to find it. */
export function shortCommit(commit: string): string {
  return commit.slice(0, 12);
}

/** A dead run, and the findings on requests whose outcome its journal lacks. */
export type RecoveredRun = NonNullable<PlanDocument['settled']>;
export type RecoveryFinding = RecoveredRun['findings'][number];

/** The plan's options under the names of the flags. All of them have a default. */
export type PlanChoices = {
  readonly [Option in Exclude<
    keyof PlanOptions,
    'force'
  > as FlagName<Option>]?: PlanOptions[Option];
} & {
  /** Delete what live resources still use, too. */
  readonly deleteUsed?: boolean;
};

/** `allow_delete`: `allowDelete`. */
type FlagName<Option extends string> = Option extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<FlagName<Rest>>}`
  : Option;

/** Permissions given when planning; apply allows nothing more. */
export type PlanOptions = PlanDocument['options'];

/** How a plan is carried out, if not by apply. */
export type Strategy = NonNullable<PlanOptions['strategy']>;

export type PlanSummary = PlanDocument['summary'];

/** Counts by action and by verdict. */
export function summarise(changes: readonly Change[], unchanged: number): PlanSummary {
  const count = (test: (change: Change) => boolean) => changes.filter(test).length;
  const acting = (action: Change['action']) => count((change) => change.action === action);
  return {
    create: acting('create'),
    update: acting('update'),
    replace: acting('replace'),
    delete: acting('delete'),
    adopt: acting('adopt'),
    forget: acting('forget'),
    no_op: unchanged + acting('no_op'),
    refused: count(({ verdict }) => verdict === 'refused'),
    held: count(({ verdict }) => verdict === 'held'),
    unsupported: count(({ verdict }) => verdict === 'unsupported'),
  };
}

/** Tells whether the base of a plan has all of a change already. A resource that is only recorded is no change. */
export function isOnBase({ origin, action }: Pick<Change, 'origin' | 'action'>): boolean {
  return origin === 'base' && action !== 'adopt';
}

/** Requests of apply; the seconds are rough, from the time that reading took. */
export type RequestForecast = PlanDocument['requests'];

/**
 * One resource's part of a plan.
 *
 * | action  | before                   | after                       |
 * |---------|--------------------------|-----------------------------|
 * | create  | null                     | what the configuration says |
 * | update  | its owned leaves, live   | what the configuration says |
 * | replace | its owned leaves, live   | what the configuration says |
 * | delete  | the live document        | null                        |
 * | adopt   | its owned leaves, live   | the same                    |
 * | forget  | null                     | null                        |
 */
export type Change = Plan.Change;

/**
 * Returns true if the resource is gone from the platform, so that a change makes it again; in a drift document: that
 * it is gone.
 */
export function isGone({ action, missing_id: missing }: Change): boolean {
  return action === 'create' && missing !== null;
}

/** In a drift document: the resource is not on the platform. It was deleted, or no state tells whether it ever was there. */
export function isAbsent({ action }: Change): boolean {
  return action === 'create';
}

/** True if a plan was made without a state: edits on the platform then look like changes of the files. */
export function isStateless({ state }: Pick<PlanDocument, 'state'>): boolean {
  return state.lineage === '';
}

/** Fields that change in the same way in several resources. */
export type ChangeGroup = Plan.Group;
/** A value of rows that changes, with each of its edits. */
export type ColumnEdit = Plan.ColumnEdit;
/** The words that several texts have in common. */
export type TextForm = Plan.TextForm;
export type Action = Change['action'];

/**
 * The verdict on a change.
 *
 * - `ok`: apply does it.
 * - `held`: it waits for other flags, or for a feature that has the resource for its own; apply leaves it out.
 * - `refused`: a guard or the platform would refuse it; apply refuses the whole plan.
 * - `unsupported`: the platform has no endpoint for it; apply leaves it out.
 */
export type Verdict = Change['verdict'];

/** Returns true if anything of a plan is carried out, if only to record what is there already. */
export function isRunnable({ changes }: Pick<PlanDocument, 'changes'>): boolean {
  return changes.some(({ verdict }) => verdict === 'ok');
}

/** Returns true if a change is carried out and does more than record what is there already. */
export function isChanging({ verdict, action }: Change): boolean {
  return verdict === 'ok' && action !== 'adopt' && action !== 'no_op';
}

/** Which of the ways of putting a resource with a history back a rollback takes (DESIGN §6), and why. */
export type Undoing = NonNullable<Change['undoing']>;

export type FieldChange = Plan.Field;
/** Why a leaf is written: see the table in DESIGN, three-way comparison. */
export type FieldCause = FieldChange['cause'];

/** A call-out names one change of a text that changes how an agent behaves. */
export type Callout = Omit<Plan.Callout, 'path'>;

/** Finds the call-outs of an edited text; none where it is short. */
export type FindCallouts = (before: string, after: string) => readonly Callout[];

/** Returns true if apply writes the leaf; the plan has a note for leaves that it does not write. */
export function isWritten({ cause }: Pick<FieldChange, 'cause'>): boolean {
  return !isKept({ cause }) && !UNWRITTEN.has(cause);
}

const UNWRITTEN: ReadonlySet<FieldCause> = new Set([
  'released',
  'unknown_secret',
  'unknown_content',
  'stored_as',
]);

/** An edit on the platform that apply leaves as it is (`guards.drift: keep`). */
export function isKept({ cause }: Pick<FieldChange, 'cause'>): boolean {
  return cause === 'kept';
}

/** Returns true if the platform has another value than Callsheet wrote: writing it undoes somebody's edit. */
export function isEdited({ cause }: Pick<FieldChange, 'cause'>): boolean {
  return cause === 'drifted' || cause === 'conflict';
}

/** Edits of one resource that apply leaves as they are. */
export type KeptEdits = NonNullable<PlanDocument['kept']>[number];

/** The destination of a secret once a change is carried out. */
export type SecretTravel = Plan.Secret;

/** True if a secret goes somewhere new, comes from another source, or is removed. */
export function isSecretMoved({ to, before, another_source: isOther }: SecretTravel): boolean {
  return to !== before || isOther === true;
}

/** The plan's record of a live resource, by which apply notices that it moved. */
export type Pin = Plan.Pin;

/** One step of a change, as forecast. The executor works out the request's body when its turn comes. */
export type PlannedOperation = Plan.Operation;

export type Note = Plan.Note;

/** A resource that the platform does not confirm to be ready, as a note of a plan or a drift document says it. */
export type UnreadyNote = Note & {
  readonly address: string;
  readonly unready: NonNullable<Note['unready']>;
};

/** The resources that are not ready, by the notes of a plan or a drift document. */
export function listUnready({ notes }: Pick<PlanDocument, 'notes'>): readonly UnreadyNote[] {
  return notes.filter(
    (note): note is UnreadyNote => note.unready !== undefined && note.address !== null,
  );
}

/** A limit of the stack that a plan exceeds. */
export type ExceededLimit = Plan.ExceededLimit;

/**
 * The result of trying a plan on a copy of the fleet. It is for people: apply acts on none of it,
 * and the digest of the plan does not cover it.
 *
 * | verdict   | means                                                                      |
 * |-----------|----------------------------------------------------------------------------|
 * | `passed`  | everything held                                                            |
 * | `partial` | the plan can be carried out, and a rollback does not bring everything back |
 * | `failed`  | carrying it out failed, or did not come to an end                          |
 * | `refused` | a guard or a lock stands against it                                        |
 * | `empty`   | there is nothing to carry out                                              |
 */
export type Rehearsal = Plan.Rehearsal;
export type RehearsalVerdict = Rehearsal['verdict'];
export type RehearsalSource = Rehearsal['source'];
export type RehearsalStep = Rehearsal['steps'][number];
/** A leaf of the copy that is not what it was before the plan was applied and rolled back. */
export type RehearsalDifference = Rehearsal['differences'][number];

/** A history entry (Agent history entry), as far as it is known. */
export type HistoryEntry = Plan.Edit;

/** `user:mina via dashboard at 2026-11-21T10:12:03Z`, as far as it is known. */
export function formatEdit(edit: Partial<Pick<HistoryEntry, 'actor' | 'source' | 'at'>>): string {
  const from = edit.source ? ` via ${edit.source}` : '';
  const when = edit.at ? ` at ${inSeconds(edit.at)}` : '';
  return `${edit.actor ?? 'someone'}${from}${when}`;
}

/** Says of an edit that the account itself signs and no known run made, who that can have been. */
export const SIGNED_HERE =
  'with the key of this account: by a run that this state does not know, or by another program';

/**
 * Who changed something that drifted, as far as the history of its resource tells. An entry names no field
 * (Agent history entry), so it does not show which of several edits changed a field.
 *
 * | certainty | entries            | means                                              |
 * |-----------|--------------------|----------------------------------------------------|
 * | `entry`   | one                | this edit                                          |
 * | `actor`   | several, one actor | one of these edits, all by the same actor          |
 * | `one_of`  | several            | one of these edits                                 |
 * | `unknown` | those that there are | `because` says why; none of them need be the one |
 */
export type Attribution = Plan.Attribution;

/**
 * Finds the newest edit that an attribution names. Undefined where it is unknown: none of the edits beside something
 * unknown need be the one.
 */
export function findEdit<Edit extends { readonly id: number }>(
  edits: readonly Edit[],
  attribution: Pick<Attribution, 'certainty' | 'entries'> | undefined,
): Edit | undefined {
  if (attribution === undefined || attribution.certainty === 'unknown') return undefined;
  return edits.find(({ id }) => attribution.entries.includes(id));
}

/**
 * Why a history does not tell who changed something.
 *
 * - `not_recorded`: history does not record this setting.
 * - `no_history`: the platform keeps no history of this kind.
 * - `no_entry`: there is no entry since the last run.
 * - `no_beginning`: where the last run stands in the history is unknown.
 * - `retention`: the entries no longer reach back to the last run.
 * - `late`: the newest change has no entry yet.
 * - `gone`: the resource is gone, and its history with it.
 */
export type Doubt = NonNullable<Attribution['because']>;

/** The verdict of the team's own rules on a plan at a moment. */
export type PlanJudgement = {
  readonly refusals: readonly Refusal[];
  readonly notes: readonly Note[];
};

/** The team's own rules over plans, compiled. */
export type PlanRules = {
  (plan: Omit<PlanDocument, 'digest' | 'checks'>, now: Date): PlanJudgement;
  /** One of them reads the `calls` of changes: these are asked for even if the plan is not shown. */
  readonly readsCalls?: boolean;
};

/** Limits that a plan must stay within: `guards:` in callsheet.yaml. */
export type Guards = {
  readonly max_delete?: number;
  /** Percentage of the resources that exist, from 0 to 100. */
  readonly max_change_percent?: number;
  /** Below this many existing resources `max_change_percent` does not count. */
  readonly min_resources?: number;
  /** The policy for edits on the platform; they are undone unless this is set. */
  readonly drift?: DriftPolicy;
  readonly freeze?: readonly FreezeWindow[];
};

/** The policy for an edited field whose configuration did not change since the last apply. */
export const DRIFT_POLICIES = ['undo', 'keep', 'refuse'] as const;
export type DriftPolicy = (typeof DRIFT_POLICIES)[number];

export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/**
 * A stretch of time in which nothing is written. Weekdays and dates name the day on which it begins, by
 * the calendar of its zone; what is not given does not narrow it.
 */
export type FreezeWindow = {
  /** IANA name. */
  readonly zone: string;
  readonly weekdays?: readonly (typeof WEEKDAYS)[number][];
  readonly hours?: Hours;
  readonly dates?: readonly DateSpan[];
  /** Name for people. */
  readonly reason?: string;
  readonly source: string;
};

/** Minutes since midnight, up to 1440. Where `to` is not after `from`, it is on the next day. */
export type Hours = { readonly from: number; readonly to: number };

/** Days such as `2026-12-20`, both included. */
export type DateSpan = { readonly from: string; readonly to: string };

type Lift = NonNullable<Change['lifted_by']>;

/** A flag of a command, and what it does about a refusal. */
type LiftingFlag = { readonly flag: string; readonly does: string };

const LIFTING: {
  readonly [purpose in PlanDocument['purpose']]?: { readonly [option in Lift]?: LiftingFlag };
} = {
  restore: {
    accept_conflicts: { flag: '--over', does: 'restores what was edited since as well' },
  },
  rollback: {
    accept_conflicts: {
      flag: '--undo-edited',
      does: 'undoes the changes of the run in them as well',
    },
    force: { flag: '--delete-used', does: 'also deletes resources that are used since' },
  },
};

/** The flags of a command that lift one of these refusals. Where a reason names its flag itself, none is given. */
export function liftingFlags(
  struck: readonly Change[],
  purpose: PlanDocument['purpose'],
): readonly LiftingFlag[] {
  return listLifts(struck).flatMap((lift) => LIFTING[purpose]?.[lift] ?? []);
}

/** The freeze that a plan waits for; undefined where something else of the branch stands against it, too. */
export function findFreezeAlone(plan: PlanDocument): PlanDocument['freeze'] {
  const { refusals = [], changes, options, freeze } = plan;
  const isStruck = changes.some((one) => one.verdict === 'refused' && !one.refused_on_base);
  const others = refusals.some(({ guard, origin }) => guard !== 'freeze' && origin !== 'base');
  return others || (isStruck && !options.skip_refused) ? undefined : freeze;
}

/** The flags without which changes are held, as they are typed. */
export function holdingFlags(held: readonly Change[]): readonly string[] {
  return listLifts(held).map(toFlag);
}

/** Returns the permissions of a plan as flags: `--allow-delete`, `--target agent.a agent.b`. */
export function allowanceFlags(options: PlanOptions): readonly string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (value === false || (Array.isArray(value) && value.length === 0)) return [];
    const values = value === true ? [] : [value].flat().map(String).map(quoted);
    return [[toFlag(name), ...values].join(' ')];
  });
}

/** `allow_delete`: `--allow-delete`. The document keeps the name that `--delete-used` had before. */
export function toFlag(option: string): string {
  return `--${option === 'force' ? 'delete-used' : option.replaceAll('_', '-')}`;
}

function listLifts(struck: readonly Change[]): readonly Lift[] {
  return [...new Set(struck.flatMap(({ lifted_by: lift }) => lift ?? []))];
}

/** True if something stands against the plan as a whole, whatever it would do. */
export function isHeldBack({ refusals = [] }: PlanDocument): boolean {
  return refusals.length > 0;
}

/** True if a guard or the platform would refuse the plan as it stands. */
export function isRefused(plan: PlanDocument): boolean {
  const isStruck = plan.changes.some(({ verdict }) => verdict === 'refused');
  return (isStruck && !plan.options.skip_refused) || isHeldBack(plan);
}

/** True if the plan would be refused even without the refusals that its base has already (`--base`). */
export function isRefusedByBranch({ changes, refusals = [], ...plan }: PlanDocument): boolean {
  return isRefused({
    ...plan,
    changes: changes.filter(({ refused_on_base: isThere }) => isThere !== true),
    refusals: refusals.filter(({ origin }) => origin !== 'base'),
  });
}
