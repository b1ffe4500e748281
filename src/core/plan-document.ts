import type { Address } from './address.ts';
import type { Json } from './value.ts';

/**
 * The plan document: what every renderer, `--format json` and `apply` read. Secrets and sensitive
 * values are masked when it is built, so nothing that reads it can leak one.
 */
export type PlanDocument = {
  readonly format: 'callsheet-plan';
  readonly version: 1;
  /** `sha256:…` over everything that apply acts on; see `plan/document.ts`. */
  readonly digest: string;
  readonly created_at: string;
  /**
   * What the desired side is: the configuration, what was there before (rollback), a snapshot that is to be
   * there again (restore), or a later one (comparison).
   */
  readonly purpose: 'apply' | 'rollback' | 'restore' | 'drift' | 'comparison';
  /** The run that a rollback undoes. */
  readonly undoes?: string;
  /** The snapshot that a rollback goes back to, or that is restored. */
  readonly snapshot?: SnapshotMark;
  readonly platform: { readonly base_url: string; readonly account_id: string };
  /** Names of the organizations that appear, by id. */
  readonly organizations: { readonly [id: string]: string };
  /** The environment of the stack that it was made for; absent where none was chosen. */
  readonly environment?: string;
  readonly config_digest: string;
  readonly state: { readonly lineage: string; readonly serial: number };
  readonly options: PlanOptions;
  readonly summary: PlanSummary;
  readonly requests: RequestForecast;
  /** Ids of the assumptions that the plan's calls rely on. */
  readonly assumptions: readonly string[];
  /** Operations that the stack has elsewhere than where the specification, or an assumption, has them; absent where none. */
  readonly endpoints?: readonly MovedEndpoint[];
  readonly changes: readonly Change[];
  /** Fields that change alike in several resources, the most first; absent where none do. For people: the digest does not cover it. */
  readonly groups?: readonly ChangeGroup[];
  /** What a person should know that changes nothing. */
  readonly notes: readonly Note[];
  /**
   * What stood against the plan as a whole when it was made; absent where nothing did. Apply asks again,
   * as time goes on, and so the digest does not cover it.
   */
  readonly refusals?: readonly Refusal[];
  /** The run that died before this plan was made, and what was found out about its last requests. */
  readonly settled?: SettledRun;
  /** What came of trying it on a copy of the fleet; absent where nobody did. The digest does not cover it. */
  readonly rehearsal?: Rehearsal;
};

/** Where an operation is called (`platform.endpoints`), and where it would be. */
export type MovedEndpoint = {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly instead_of: { readonly method: string; readonly path: string };
};

/** Which snapshot is meant, wherever its file lies by now. */
export type SnapshotMark = { readonly made_at: string; readonly sha256: string };

/** Why a plan is not run now, whatever it would do. */
export type Refusal = {
  readonly guard: 'freeze' | 'hold' | 'rule';
  /** What stands against it, and where that is said. */
  readonly message: string;
  /** When it is over by itself, ISO 8601; null where that is not known. */
  readonly until: string | null;
  /** What to do now. */
  readonly advice: string;
};

/** What became of what a dead run had asked for without writing down what came of it. */
export type SettledRun = { readonly run: string; readonly findings: readonly SettledFinding[] };

export type SettledFinding = {
  readonly severity: 'info' | 'warning';
  readonly address: Address;
  readonly message: string;
};

/** What a plan may do, and of which resources it is. */
export type PlanChoices = {
  /** Addresses, kinds, or what addresses begin with; all unless given. */
  readonly target?: readonly string[];
  readonly exclude?: readonly string[];
  readonly allowDelete?: boolean;
  readonly acceptConflicts?: boolean;
  readonly skipRefused?: boolean;
  /** All secrets, or those of these addresses. */
  readonly resendSecrets?: boolean | readonly string[];
  /** Why it cannot wait until a freeze is over. */
  readonly overrideFreeze?: string;
  readonly releaseHold?: boolean;
  readonly force?: boolean;
};

/** What the person who planned allowed; apply allows nothing more. */
export type PlanOptions = {
  readonly allow_delete: boolean;
  readonly accept_conflicts: boolean;
  readonly skip_refused: boolean;
  readonly resend_secrets: boolean | readonly Address[];
  readonly target: readonly Address[];
  readonly exclude: readonly Address[];
  readonly force: boolean;
  /** Why the plan is run in a freeze window all the same; absent where it is not. */
  readonly override_freeze?: string;
  /** Whether the hold that a rollback put on this configuration is released; absent where it is not. */
  readonly release_hold?: boolean;
};

export type Action = 'create' | 'update' | 'replace' | 'delete' | 'adopt' | 'forget' | 'no_op';

/**
 * Whether a change can be carried out.
 *
 * - `ok`: apply does it.
 * - `held`: a delete that waits for `--allow-delete`; apply leaves it out.
 * - `refused`: a guard or the platform would refuse it; apply refuses the whole plan.
 * - `unsupported`: the platform has no endpoint for it; apply leaves it out.
 */
export type Verdict = 'ok' | 'held' | 'refused' | 'unsupported';

export type PlanSummary = {
  readonly [action in Action]: number;
} & {
  readonly refused: number;
  readonly held: number;
  readonly unsupported: number;
};

/** What apply will ask of the platform. */
export type RequestForecast = {
  readonly reads: number;
  readonly writes: number;
  /** Rough, from the time that reading took. */
  readonly seconds: number;
};

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
export type Change = {
  readonly address: Address;
  readonly kind: string;
  /** Name for people, from the document. */
  readonly name: string;
  readonly organization_id: string | null;
  /** Null until it exists. */
  readonly id: string | null;
  readonly action: Action;
  readonly verdict: Verdict;
  /** Why, for people. Nothing branches on it. */
  readonly reason: string;
  /** Found live by its natural key or by `lifecycle.adopt`, without state. */
  readonly adopted: boolean;
  /** The id that the state holds and that is gone from the platform; null where nothing is missing. */
  readonly missing_id: string | null;
  /** The address that the state has it under, where `moved` says that it is this one now. */
  readonly moved_from?: Address;
  readonly before: Json;
  readonly after: Json;
  readonly fields: readonly FieldChange[];
  /** Secrets that it writes, and stored ones that go elsewhere from now on; absent where there are none. */
  readonly secrets?: readonly SecretTravel[];
  /** What apply compares before it writes; null for what does not exist yet. */
  readonly pin: Pin | null;
  readonly operations: readonly PlannedOperation[];
  /** How a rollback puts it back; absent for what has no history, and where nothing is put back. */
  readonly undoing?: Undoing;
  /** Where the configuration says it: file and line. Null for what it no longer mentions. */
  readonly source: string | null;
  /** In a `drift` document: its history entries since Callsheet last wrote it, newest first. */
  readonly edits?: readonly HistoryEntry[];
  /** In a `drift` document: who took away what is gone. */
  readonly attribution?: Attribution;
};

/**
 * Fields that change in the same way in several resources of one kind: equal values on both sides, or the same edit of
 * texts that differ elsewhere, as those of one template do.
 */
export type ChangeGroup = {
  readonly kind: string;
  readonly action: 'create' | 'update';
  /** In natural order: `clinic["c2"]` before `clinic["c10"]`. */
  readonly addresses: readonly Address[];
  readonly fields: readonly {
    readonly path: string;
    /** The file that says so for all of them, with its line: a base, a template, a table; null where each has its own. */
    readonly source: string | null;
  }[];
};

/** Which of the ways of putting a resource with a history back a rollback takes (DESIGN §6), and why. */
export type Undoing = {
  readonly way: 'revert' | 'revert_and_update' | 'update';
  /** For people. Nothing branches on it. */
  readonly why: string;
};

/** Why a leaf is written: see the table in DESIGN, three-way comparison. */
export type FieldCause =
  | 'changed'
  | 'drifted'
  | 'conflict'
  | 'cleared'
  | 'released'
  | 'secret_changed'
  | 'secret_resent'
  | 'unknown_secret'
  | 'unknown_content';

export type FieldChange = {
  /** `extensions.tools[crm_lookup].url` */
  readonly path: string;
  readonly before: Json;
  readonly after: Json;
  /** Whether before and after are masked. */
  readonly secret: boolean;
  readonly cause: FieldCause;
  /** Of a conflict: what Callsheet last wrote; absent where it is a secret, or too long to be remembered. */
  readonly base?: Json;
  /** In a `drift` document: who changed it. */
  readonly attribution?: Attribution;
  /** Why the platform would refuse it, in a rollback, which leaves it as it is; absent where it would not. */
  readonly refused?: string;
};

/** Where a secret goes once a change is carried out. */
export type SecretTravel = {
  readonly path: string;
  /** Where its value is read from, such as `env:NAME`; null where what is stored stays. */
  readonly source: string | null;
  /** The host, with its scheme where that is not https, or the provider that the platform passes it on to. */
  readonly to: string;
  /** The same as it is now; null where nothing is stored. */
  readonly before: string | null;
};

/** What a plan remembers of a live resource so that apply can tell whether it moved. */
export type Pin = {
  /** Of the canonical form of the whole live document. */
  readonly digest: string;
  readonly updated_at: string | null;
  /** Newest history entry, for kinds that have a history. */
  readonly history_id: number | null;
};

/** One step of a change, as forecast. The executor works out the request's body when its turn comes. */
export type PlannedOperation = {
  readonly step: 'create' | 'update' | 'delete' | 'revert' | 'facet' | 'again';
  /** Top-level fields that it writes; for `facet`, the facet. */
  readonly fields: readonly string[];
  /** The history entry that a revert restores. */
  readonly version?: number;
};

export type Note = {
  readonly severity: 'info' | 'warning';
  readonly address: Address | null;
  readonly message: string;
};

/**
 * What came of trying a plan on a copy of the fleet. It is a member of the plan document and says what was
 * seen, for people: apply acts on none of it, and the digest of the plan does not cover it.
 */
export type Rehearsal = {
  /** Of the plan that was rehearsed. */
  readonly digest: string;
  readonly at: string;
  readonly verdict: RehearsalVerdict;
  /** What the copy was made from. */
  readonly source: RehearsalSource;
  /** Resources in the copy, by kind. */
  readonly copied: { readonly [kind: string]: number };
  readonly steps: readonly RehearsalStep[];
  /** Leaves that the rollback did not bring back, the first of them. */
  readonly differences: readonly RehearsalDifference[];
  /** How many there are in all. */
  readonly differing: number;
  /** What was made to go wrong on top of the failure half way, one fault an item. */
  readonly faults: readonly string[];
  /** What the platform does not tell, and what stands in its place in the copy. */
  readonly filled: readonly string[];
  /** Ids of the assumptions that the requests to the copy rest on. */
  readonly assumptions: readonly string[];
};

/**
 * | verdict   | means                                                                      |
 * |-----------|----------------------------------------------------------------------------|
 * | `passed`  | everything held                                                            |
 * | `partial` | the plan can be carried out, and a rollback does not bring everything back |
 * | `failed`  | carrying it out failed, or did not come to an end                          |
 * | `refused` | a guard or a lock stands against it                                        |
 * | `empty`   | there is nothing to carry out                                              |
 */
export type RehearsalVerdict = 'passed' | 'partial' | 'failed' | 'refused' | 'empty';

export type RehearsalSource =
  | { readonly type: 'platform' }
  | { readonly type: 'snapshot'; readonly file: string; readonly made_at: string };

export type RehearsalStep = {
  readonly step: 'copy' | 'apply' | 'again' | 'failure' | 'resume' | 'rollback' | 'return';
  readonly outcome: 'held' | 'partial' | 'failed' | 'refused';
  /** One sentence, without a stop. */
  readonly message: string;
  /** What did not hold, one thing an item. */
  readonly details: readonly string[];
};

/** A leaf of the copy that is not what it was before the plan was applied and rolled back. */
export type RehearsalDifference = {
  /** Null for what is not in the stack. */
  readonly address: Address | null;
  readonly kind: string;
  readonly name: string;
  readonly id: string;
  /** Null where the whole resource is there on one side only. */
  readonly path: string | null;
  /** Masked where it is secret. */
  readonly before: Json;
  readonly after: Json;
  readonly secret: boolean;
};

/** What is known of a history entry (Agent history entry). */
export type HistoryEntry = {
  /** Addresses the version. */
  readonly id: number;
  readonly action: string | null;
  readonly actor: string | null;
  readonly source: string | null;
  readonly at: string | null;
  readonly reverted_from_id: number | null;
};

/**
 * Who changed something that drifted, as far as the history of its resource tells. An entry names no field
 * (Agent history entry), so what one edit changed cannot be told from what another did.
 *
 * | certainty | entries            | means                                              |
 * |-----------|--------------------|----------------------------------------------------|
 * | `entry`   | one                | this edit                                          |
 * | `actor`   | several, one actor | one of these edits, all by the same actor          |
 * | `one_of`  | several            | one of these edits                                 |
 * | `unknown` | those that there are | `because` says why; none of them need be the one |
 */
export type Attribution = {
  readonly certainty: 'entry' | 'actor' | 'one_of' | 'unknown';
  /** Null where it is known. */
  readonly because: Doubt | null;
  /** Ids of entries, newest first. */
  readonly entries: readonly number[];
};

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
export type Doubt =
  | 'not_recorded'
  | 'no_history'
  | 'no_entry'
  | 'no_beginning'
  | 'retention'
  | 'late'
  | 'gone';

/** What the team's own rules say of a plan at a moment. */
export type PlanJudgement = {
  readonly refusals: readonly Refusal[];
  readonly notes: readonly Note[];
};

/** The team's own rules over plans, compiled. */
export type PlanRules = (plan: Omit<PlanDocument, 'digest'>, now: Date) => PlanJudgement;

/** Limits that a plan must stay within: `guards:` in callsheet.yaml. */
export type Guards = {
  readonly max_delete?: number;
  /** Of the resources that exist, from 0 to 100. */
  readonly max_change_percent?: number;
  /** Below this many existing resources `max_change_percent` does not count. */
  readonly min_resources?: number;
  readonly freeze?: readonly FreezeWindow[];
};

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
  /** Where it stands: `callsheet.yaml:14`. */
  readonly source: string;
};

/** Minutes since midnight, up to 1440. Where `to` is not after `from`, it is on the next day. */
export type Hours = { readonly from: number; readonly to: number };

/** Days such as `2026-12-20`, both included. */
export type DateSpan = { readonly from: string; readonly to: string };
