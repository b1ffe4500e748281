// Generated from schemas/*.schema.json by `npm run generate`.
import type { Json, JsonObject } from './value.ts';

export declare namespace Assumptions {
/** What `explain assumptions` prints with `--format json`: what is taken for granted where the specification of the platform is silent. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-assumptions';
  /** Version of this format. */
  readonly version: 1;
  /** The assumptions. */
  readonly assumptions: readonly {
    /** Its name, as plans cite it. */
    readonly id: string;
    /** What the specification says. */
    readonly documented: string;
    /** What is taken for granted. */
    readonly assumed: string;
    /** Why. */
    readonly why: string;
    /** Calls that rest on it, where the stack has them. */
    readonly operations: readonly {
      /** Name of the operation, as `platform.endpoints` takes it. */
      readonly operation: string;
      /** Its method. */
      readonly method: string;
      /** Its path. */
      readonly path: string;
      /** What becomes of it. `shown`: only its details are assumed. `overridden`: `platform.endpoints` says where it is. `refused`: `platform.assume` does. */
      readonly standing: 'shown' | 'assumed' | 'overridden' | 'refused';
    }[];
    /** Fields whose writing rests on it. */
    readonly fields: readonly string[];
    /** Whether resources of the stack rely on it, by their kinds and fields; absent outside of a stack, and where assumptions are named. */
    readonly relied_on?: boolean;
  }[];
};
}

export declare namespace Batch {
/** What `queue add` prints with `--format json`, where it does not wait. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-batch';
  /** Version of this format. */
  readonly version: 1;
  /** Its id, for `queue show`. */
  readonly batch: string;
  /** What workers run in each stack. */
  readonly command: 'plan' | 'apply' | 'drift';
  /** The commit that a worker's checkout must be at; null outside of a repository. */
  readonly commit: string | null;
  /** Stacks of the batch. */
  readonly stacks: number;
  /** False where the same was enqueued before and is not done yet. */
  readonly new: boolean;
};
}

export declare namespace Read {
/** `format` says which document it is. `data` holds what the platform answered, in its own field names: `platform.openapi.yaml` describes it. Members of `data` that are newer than Callsheet are kept. */
export type Document =
  | Records
  | Record
  | History
  | Calls
  | Call
  | Metrics
  | Billing
  | Features
  | Models
  | Stt
  | Organizations
  | Payments
  | Session;

/** What the platform lists of a kind. */
export type Records = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-records';
  /** Version of this format. */
  readonly version: 1;
  /** Name of the kind, such as `agent`. */
  readonly kind: string;
  /** Records that the platform does not confirm to be ready. Absent of kinds that are ready once they are made. */
  readonly unready?: readonly Unready[];
  /** Items of the list, secrets masked; with the owner where an item does not say it. */
  readonly data: readonly JsonObject[];
};
/** A record that is not ready. */
export type Unready = {
  /** The platform's identifier. */
  readonly id: string;
  /** The meaning that Callsheet gives to the status; `unknown`: it is none that Callsheet knows. */
  readonly phase: 'failed' | 'running' | 'unknown';
  /** As the platform returns it; null where it returns none. */
  readonly status: string | null;
  /** When it was last ready, else when it was made; null where the platform does not return it. */
  readonly since: string | null;
};
/** One resource. */
export type Record = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-record';
  /** Version of this format. */
  readonly version: 1;
  /** Name of the kind, such as `agent`. */
  readonly kind: string;
  /** The record, where the platform does not confirm that it is ready. Absent of kinds that are ready once they are made. */
  readonly unready?: readonly Unready[];
  /** A record as the platform returned it, secrets masked. */
  readonly data: JsonObject;
};
/** Versions of an agent, newest first. */
export type History = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-history';
  /** Version of this format. */
  readonly version: 1;
  /** The agent. */
  readonly agent_id: string;
  /** History entries, secrets masked. */
  readonly data: readonly JsonObject[];
  /** The entries that runs of this stack made, as their receipts say; empty where there is no stack. */
  readonly runs?: readonly {
    /** Id of the entry in `data`. */
    readonly entry: number;
    /** The run. */
    readonly run: string;
    /** `apply` or `rollback`. */
    readonly purpose: string;
    /** The run that a rollback undid. */
    readonly undoes: string | null;
    /** When the run began. */
    readonly at: string;
    /** Who ran it. */
    readonly user: string | null;
    /** From which commit. */
    readonly commit: string | null;
  }[];
};
/** Calls of an agent. */
export type Calls = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-calls';
  /** Version of this format. */
  readonly version: 1;
  /** The agent. */
  readonly agent_id: string;
  /** Only calls since then, ISO 8601. */
  readonly since: string | null;
  /** Only calls until then, ISO 8601. */
  readonly until: string | null;
  /** At most so many, counted from the newest. Null: all of that time, as the platform lists them. */
  readonly limit: number | null;
  /** Call logs. */
  readonly data: readonly JsonObject[];
};
/** One call. */
export type Call = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-call';
  /** Version of this format. */
  readonly version: 1;
  /** The agent. */
  readonly agent_id: string;
  /** The call log. */
  readonly data: JsonObject;
};
/** Figures of a span of time. */
export type Metrics = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-metrics';
  /** Version of this format. */
  readonly version: 1;
  /** First moment, ISO 8601. */
  readonly start: string;
  /** Last moment, ISO 8601. */
  readonly end: string;
  /** The organization that was asked for. */
  readonly organization_id: string | null;
  /** The reseller that was asked for. */
  readonly reseller_id: string | null;
  /** The blocks; with `--block` that one alone. */
  readonly data: JsonObject;
};
/** What is charged for. */
export type Billing = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-billing';
  /** Version of this format. */
  readonly version: 1;
  /** The days, ISO 8601. */
  readonly period: {
    /** First day. */
    readonly start_date: string;
    /** Last day. */
    readonly end_date: string;
  };
  /** What the rows come to. */
  readonly totals: {
    /** Minutes of all rows. */
    readonly voice_minutes: number;
    /** Agents of all rows. */
    readonly agent_count: number;
    /** Rows. */
    readonly organizations: number;
  };
  /** One row for each organization. */
  readonly data: readonly JsonObject[];
};
/** The feature matrix of one level. */
export type Features = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-features';
  /** Version of this format. */
  readonly version: 1;
  /** The level that was resolved, and its id. */
  readonly scope: JsonObject | null;
  /** Whether the matrix governs. */
  readonly feature_administration_enabled: boolean | null;
  /** Features; with `--locked` the locked ones alone. */
  readonly data: readonly JsonObject[];
};
/** Language models that may be assigned. */
export type Models = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-models';
  /** Version of this format. */
  readonly version: 1;
  /** The organization that was asked for. */
  readonly organization_id: string | null;
  /** The models. */
  readonly data: readonly JsonObject[];
};
/** Speech-to-text providers. */
export type Stt = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-stt-providers';
  /** Version of this format. */
  readonly version: 1;
  /** The providers. */
  readonly data: readonly JsonObject[];
};
/** The organizations that the key reaches. */
export type Organizations = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-organizations';
  /** Version of this format. */
  readonly version: 1;
  /** The organizations. */
  readonly data: readonly {
    /** Id of the organization. */
    readonly id: string;
    /** Its name; null where the key may not read it. */
    readonly name: string | null;
    /** Id of its reseller; null where there is none, or the key may not read it. */
    readonly reseller_id: string | null;
    /** Name of its reseller. */
    readonly reseller_name: string | null;
    /** What `organizations` of the stack calls it; null where it does not. */
    readonly stack_name: string | null;
  }[];
};
/** Whether an agent may take payments. */
export type Payments = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-payments';
  /** Version of this format. */
  readonly version: 1;
  /** The readiness answer. */
  readonly data: JsonObject;
};
/** A session token. It is a secret. */
export type Session = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-session';
  /** Version of this format. */
  readonly version: 1;
  /** The session. */
  readonly data: {
    /** The token. */
    readonly token: string;
    /** When it ends, ISO 8601. */
    readonly expires_at: string | null;
  };
};
}

export declare namespace Diagnostics {
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-diagnostics';
  /** Version of this format. */
  readonly version: 1;
  /** How many problems there are of each severity. */
  readonly counts: {
    /** Errors. */
    readonly errors: number;
    /** Warnings. */
    readonly warnings: number;
  };
  /** Every problem, by file, line and column; those without a place first. */
  readonly diagnostics: readonly Diagnostic[];
  /** The freeze that is in force now; absent where none is. It is no problem of the configuration: plan and apply are refused while it lasts. */
  readonly freeze?: {
    /** When it ends; null where it does not within a year. */
    readonly until: string | null;
    /** The same by the clock of the window's zone, for people. */
    readonly ends: string | null;
    /** The reasons of the windows that are in force, and where they stand. */
    readonly reason: string;
  };
};
/** One problem of the configuration. */
export type Diagnostic = {
  /** With --strict there are no warnings. */
  readonly severity: 'error' | 'warning';
  /** Stable name of the rule, such as `schema/enum`. */
  readonly rule: string;
  /** What is wrong, to which address and field. No trailing stop. */
  readonly message: string;
  /** What to do now. */
  readonly hint?: string;
  /** The resource that it is about. */
  readonly address?: string;
  /** Path of the field inside the resource. */
  readonly path?: string;
  /** Where it stands. Lines and columns count from 1; columns count characters. */
  readonly position?: {
    /** Relative to the stack folder, with forward slashes. */
    readonly file: string;
    /** Line, from 1. */
    readonly line: number;
    /** Column, from 1, in characters. */
    readonly column: number;
    /** The column behind the last character of what is meant, on the same line. */
    readonly end_column?: number;
  };
  /** The lines around the place, with a caret under it. Secrets are `***`. */
  readonly frame?: string;
};
}

export declare namespace Notification {
/** What `callsheet drift --notify` posts. Secrets and sensitive values are masked. Names, paths, values, actors and sources were written by anybody who can edit the platform: whoever shows them must escape them. Later releases may add members within this version. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-drift-notification';
  /** Version of this format. */
  readonly version: 1;
  /** Of this delivery; also in the header `X-Callsheet-Delivery`, and the same when it is sent again. */
  readonly id: string;
  /** When it was sent. */
  readonly sent_at: string;
  /** True if there is drift; false where something is not ready, and with `--notify-always`. */
  readonly is_drifted: boolean;
  /** A few lines for receivers that show a text, such as chats. It holds addresses and counts and nothing that is only on the platform. */
  readonly text: string;
  /** The account that was looked at. */
  readonly platform: {
    /** Address of the platform. */
    readonly base_url: string;
    /** Account of the credentials. */
    readonly account_id: string;
  };
  /** The environment of the stack (`--env`); null where none was chosen. */
  readonly environment: string | null;
  /** Commit of the stack, where that is known. */
  readonly commit: string | null;
  /** Address of the pipeline's job, where it runs in one. */
  readonly pipeline: string | null;
  /** Over what drifted: the same as the last time where nothing else did. */
  readonly digest: string;
  /** Counts over all changes, those that are left out too. */
  readonly summary: {
    /** Resources that were compared. */
    readonly compared: number;
    /** Resources that drifted. */
    readonly drifted: number;
    /** Those of them that are gone from the platform. */
    readonly gone: number;
    /** Resources that the platform does not confirm to be ready. */
    readonly unready?: number;
    /** Drifted settings by how sure it is who changed them; see `certainty`. */
    readonly fields: {
      /** Settings. */
      readonly entry: number;
      /** Settings. */
      readonly actor: number;
      /** Settings. */
      readonly one_of: number;
      /** Settings. */
      readonly unknown: number;
    };
  };
  /** One for each resource that drifted, in the order of kinds, as many as fit 200,000 characters. */
  readonly changes: readonly Change[];
  /** Changes that did not fit. */
  readonly omitted: number;
  /** Resources that the platform does not confirm to be ready, such as sources whose ingestion failed. */
  readonly unready?: readonly Unready[];
  /** Drifted resources that `watch --heal` no longer puts back, as they drifted again each time, as many as fit 200,000 characters. */
  readonly contested?: readonly Contested[];
};
/** A resource that drifted. */
export type Change = {
  /** Names the resource in the stack. */
  readonly address: string;
  /** Kind of the resource. */
  readonly kind: string;
  /** Name for people. */
  readonly name: string;
  /** Name that the stack has for the organization, or its id; null for what belongs to the account. */
  readonly organization: string | null;
  /** Id on the platform. */
  readonly id: string | null;
  /** Whether it is gone from the platform. */
  readonly is_gone: boolean;
  /** File and line of the configuration. */
  readonly source: string | null;
  /** The settings that drifted; none for what is gone. */
  readonly fields: readonly Field[];
  /** Who took away what is gone; null otherwise. */
  readonly attribution: Attribution | null;
  /** Its history entries since Callsheet last wrote it, newest first. */
  readonly edits: readonly Edit[];
};
/** A setting that drifted. */
export type Field = {
  /** Where it stands; elements of keyed lists by their key. */
  readonly path: string;
  /** What should be; null where there should be nothing. */
  readonly before: Json;
  /** The live value; null where there is none. */
  readonly after: Json;
  /** True if a value was longer than 500 characters: this is its beginning, as a text. */
  readonly is_cut: boolean;
  /** True if the values are masked. */
  readonly secret: boolean;
  /** Whether the configuration changed as well. */
  readonly conflict: boolean;
  /** Who changed it; null where the document has nothing to say. */
  readonly attribution: Attribution | null;
};
/** Who changed it, as far as the history tells. */
export type Attribution = {
  /** `entry`: the edit of the one entry; `actor`: one of several edits by the same actor; `one_of`: one of several edits by several actors; `unknown`: `because` says why. */
  readonly certainty: 'entry' | 'actor' | 'one_of' | 'unknown';
  /** Why it is unknown: history does not record this setting; the kind has no history; there is no entry since the last run; where the last run stands in the history is unknown; the entries no longer reach back to it; the newest change has no entry yet; the resource is gone; the platform does not show its history. Null where it is known. */
  readonly because:
    | 'not_recorded'
    | 'no_history'
    | 'no_entry'
    | 'no_beginning'
    | 'retention'
    | 'late'
    | 'gone'
    | 'unreadable'
    | null;
  /** Ids among the `edits` of the change, newest first; for `unknown` those that there are, none of which need be the one. */
  readonly entries: readonly number[];
};
/** A history entry. */
export type Edit = {
  /** Names the version. */
  readonly id: number;
  /** What was done, such as `updated` or `reverted`; null where the platform does not say. */
  readonly action: string | null;
  /** Who did it; for the API `api:` and the account id. Null where the platform does not say. */
  readonly actor: string | null;
  /** From where, such as `dashboard-api`; null where the platform does not say. */
  readonly source: string | null;
  /** When, as the platform gave it; null where it does not say. */
  readonly at: string | null;
  /** For a revert, the entry that it restored. */
  readonly reverted_from_id: number | null;
};
/** A resource that is not ready. */
export type Unready = {
  /** Its address in the stack. */
  readonly address: string;
  /** `failed`: the next apply has the platform work on it again; `running`: apply leaves it alone; `unknown`: the status is none that Callsheet knows. */
  readonly phase: 'failed' | 'running' | 'unknown';
  /** As the platform returns it; null where it returns none. */
  readonly status: string | null;
  /** When it was last ready, else when it was made or a run last asked for it; null where that is unknown. */
  readonly since: string | null;
  /** One sentence for people. */
  readonly message: string;
};
/** A resource that Callsheet and somebody else write in turn. */
export type Contested = {
  /** Its address in the stack. */
  readonly address: string;
  /** How often Callsheet tried to put it back within the day that ended with the last try. */
  readonly times: number;
  /** The first of these tries; null where none is known. */
  readonly since: string | null;
  /** The settings that drifted. */
  readonly fields: readonly ContestedField[];
};
/** A setting, as both sides write it. */
export type ContestedField = {
  /** Where it stands; elements of keyed lists by their key. */
  readonly path: string;
  /** True if a value was longer than 500 characters: this is its beginning, as a text. */
  readonly is_cut: boolean;
  /** True if the values are masked. */
  readonly secret: boolean;
  readonly ours: Side;
  readonly theirs: Side;
};
/** A value and who wrote it. */
export type Side = {
  /** The value; null where there is none. */
  readonly value: Json;
  /** Who wrote it; null where that is unknown. */
  readonly actor: string | null;
  /** From where; null where that is unknown. */
  readonly source: string | null;
  /** When; null where that is unknown. */
  readonly at: string | null;
};
}

export declare namespace Error {
/** A value as last written. */
export type Leaf =
  | {
      /** The value. */
      readonly value: Json;
      readonly stored?: StoredMark;
    }
  | {
      /** Its digest. */
      readonly digest: string;
      readonly stored?: StoredMark;
    }
  | {
      /** Its keyed fingerprint. */
      readonly fingerprint: string;
      /** A digest of where the value came from: of the text of `$secret`, or the mark of a value that stood in the files. */
      readonly source?: string;
      /** A second fingerprint of a value with the name of a secret that the files had in clear: a plan may show the value where it is live. */
      readonly in_clear?: string;
      readonly stored?: StoredMark;
    }
  | {
      /** Nobody knows what it is. */
      readonly unknown: true;
      /** A digest of the text of `$secret` that it was taken over with. */
      readonly source?: string;
    }
  | {
      /** Nobody knows what it wrote, so it is written again. */
      readonly unsettled: true;
    };
/** The platform stored the written value as another one, which this is the digest of, or the keyed fingerprint where it may be a secret. Both count as equal while the configuration has the written one and the platform the other. */
export type StoredMark = string;

/** What every command prints with `--format json` when it ends before it has anything else to print. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-error';
  /** Version of this format. */
  readonly version: 1;
  readonly error: Failure;
};
/** Why a command ended. */
export type Failure = {
  /** What kind of end it is. `internal` is a bug in Callsheet. */
  readonly kind:
    | 'usage'
    | 'config'
    | 'api'
    | 'network'
    | 'state'
    | 'refused'
    | 'stale'
    | 'locked'
    | 'interrupted'
    | 'internal';
  /** The exit code. */
  readonly exit: number;
  /** What happened, in one or several sentences. */
  readonly message: string;
  /** What to do now; null where nothing in particular helps. */
  readonly hint: string | null;
  /** Problems of the configuration, each with its place. */
  readonly diagnostics: readonly Diagnostic[];
  /** Null where it was none. */
  readonly request: null | {
    /** Its method. */
    readonly method: string;
    /** Its address. */
    readonly url: string;
    /** What was answered. */
    readonly status: number;
    /** The platform's own id of it. */
    readonly request_id: string | null;
  };
  /** The run that it broke off; absent where none was. */
  readonly run?: string;
  /** Every change of the plan of that run, and what became of it; absent where no run was broken off. */
  readonly ledger?: readonly LedgerLine[];
};
/** One problem of the configuration. */
export type Diagnostic = {
  /** With --strict there are no warnings. */
  readonly severity: 'error' | 'warning';
  /** Stable name of the rule, such as `schema/enum`. */
  readonly rule: string;
  /** What is wrong, to which address and field. No trailing stop. */
  readonly message: string;
  /** What to do now. */
  readonly hint?: string;
  /** The resource that it is about. */
  readonly address?: string;
  /** Path of the field inside the resource. */
  readonly path?: string;
  /** Where it stands. Lines and columns count from 1; columns count characters. */
  readonly position?: {
    /** Relative to the stack folder, with forward slashes. */
    readonly file: string;
    /** Line, from 1. */
    readonly line: number;
    /** Column, from 1, in characters. */
    readonly column: number;
    /** The column behind the last character of what is meant, on the same line. */
    readonly end_column?: number;
  };
  /** The lines around the place, with a caret under it. Secrets are `***`. */
  readonly frame?: string;
};
/** What became of one change. */
export type LedgerLine = {
  /** The resource. */
  readonly address: string;
  /** Its name, where the plan had one. */
  readonly name?: string;
  /** What was to be done: the `action` of the plan, or what an edit of the state did. */
  readonly action: string;
  /** What became of it. `blocked`: something that it needs failed. `not_attempted`: its turn did not come, or the plan left it out. */
  readonly status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  /** Why the plan left it out; absent where it did not. */
  readonly verdict?: 'held' | 'refused' | 'unsupported';
  /** The option of a plan with which it would be done; absent where none would help, or where it was not left out. */
  readonly lifted_by?: 'accept_conflicts' | 'allow_delete' | 'force' | 'override_limits' | 'undo_drift';
  /** The platform's identifier; null where there is none. */
  readonly id: string | null;
  /** What went wrong, or what should be known of it, for people. */
  readonly message: string | null;
  /** Paths that were written. */
  readonly fields: readonly string[];
  /** Null for kinds without a history. */
  readonly history: null | {
    /** Before. */
    readonly before: number | null;
    /** After. */
    readonly after: number | null;
  };
  /** The id that it had before, where a rollback made it anew. */
  readonly former_id?: string;
  /** Fields that it changes by an edit that others share, as the plan groups them; absent where there are none. */
  readonly shared?: readonly {
    /** The place of the group in the plan. Lines of one group are alike in its fields. */
    readonly group: number;
    /** The field. */
    readonly path: string;
    /** The file that says so for all of them, with its line; null where each has its own. */
    readonly source: string | null;
  }[];
  /** History entries that somebody else made while the change was carried out; absent where there were none. */
  readonly interleaved?: readonly Interleaved[];
  /** Values that the platform stored otherwise than they were sent; absent where there were none. Secrets are masked. */
  readonly stored?: readonly {
    /** The field. */
    readonly path: string;
    /** The value that was sent. */
    readonly sent: Json;
    /** The value that the platform returned afterwards; null where it returned none. */
    readonly returned: Json;
    /** True where both are masked. */
    readonly secret: boolean;
  }[];
  /** The edits of others that it wrote over, or deleted with the resource; absent where the plan found none. */
  readonly undid?: {
    /** Paths that had been edited. */
    readonly fields: readonly string[];
    /** The edits since the run before, newest first; a history does not say which of them changed which field. */
    readonly edits: readonly {
      /** Id of the history entry; null for a kind without a history. */
      readonly entry: number | null;
      /** Who made it. */
      readonly actor: string | null;
      /** From where, such as `dashboard`. */
      readonly source: string | null;
      /** When, ISO 8601. */
      readonly at: string | null;
    }[];
  };
  readonly leaves?: Leaves;
};
/** A history entry that somebody else made while the change was carried out. */
export type Interleaved = {
  /** Id of the history entry. */
  readonly entry: number;
  /** What the platform calls it. */
  readonly action: string | null;
  /** Who made it. */
  readonly actor: string | null;
  /** From where, such as `dashboard`. */
  readonly source: string | null;
  /** When, ISO 8601. */
  readonly at: string | null;
  /** `before`: between the check and the write. `after`: on top of the write. `unknown`: below the write and without a time. */
  readonly order: 'before' | 'after' | 'unknown';
};
/** Values as last written, by path. */
export type Leaves = {
  readonly [k: string]: Leaf;
};
}

export declare namespace Events {
/** One line of the file that `apply --events FILE` appends to: JSON Lines. The first line of a run is `run_started`, which carries the format and its version; the last is `run_ended`. */
export type Document = RunStarted | ChangeStarted | RequestSent | ChangeEnded | RunEnded;
/** A value as last written. */
export type Leaf =
  | {
      /** The value. */
      readonly value: Json;
      readonly stored?: StoredMark;
    }
  | {
      /** Its digest. */
      readonly digest: string;
      readonly stored?: StoredMark;
    }
  | {
      /** Its keyed fingerprint. */
      readonly fingerprint: string;
      /** A digest of where the value came from: of the text of `$secret`, or the mark of a value that stood in the files. */
      readonly source?: string;
      /** A second fingerprint of a value with the name of a secret that the files had in clear: a plan may show the value where it is live. */
      readonly in_clear?: string;
      readonly stored?: StoredMark;
    }
  | {
      /** Nobody knows what it is. */
      readonly unknown: true;
      /** A digest of the text of `$secret` that it was taken over with. */
      readonly source?: string;
    }
  | {
      /** Nobody knows what it wrote, so it is written again. */
      readonly unsettled: true;
    };
/** The platform stored the written value as another one, which this is the digest of, or the keyed fingerprint where it may be a secret. Both count as equal while the configuration has the written one and the platform the other. */
export type StoredMark = string;

/** A run begins. */
export type RunStarted = {
  /** Tells the stream from other JSON. */
  readonly format: 'callsheet-events';
  /** Version of this format; of all lines up to the next one that says it. */
  readonly version: 1;
  /** What happened. */
  readonly type: 'run_started';
  /** When, ISO 8601. */
  readonly at: string;
  /** The run. */
  readonly run: string;
  /** How many changes it will carry out. */
  readonly changes: number;
};
/** The turn of a change came. */
export type ChangeStarted = {
  /** What happened. */
  readonly type: 'change_started';
  /** When, ISO 8601. */
  readonly at: string;
  /** The resource. */
  readonly address: string;
  /** What is to be done. */
  readonly action: 'create' | 'update' | 'replace' | 'delete' | 'adopt' | 'forget' | 'no_op';
};
/** A request that changes something is about to leave. */
export type RequestSent = {
  /** What happened. */
  readonly type: 'request_sent';
  /** When, ISO 8601. */
  readonly at: string;
  /** The resource. */
  readonly address: string;
  /** Name of the operation, as in `platform.openapi.yaml`. */
  readonly operation: string;
  /** Counts the requests of the run. */
  readonly seq: number;
};
/** A change came to its end. */
export type ChangeEnded = {
  /** What happened. */
  readonly type: 'change_ended';
  /** When, ISO 8601. */
  readonly at: string;
  readonly line: LedgerLine;
};
/** What became of one change. */
export type LedgerLine = {
  /** The resource. */
  readonly address: string;
  /** Its name, where the plan had one. */
  readonly name?: string;
  /** What was to be done: the `action` of the plan, or what an edit of the state did. */
  readonly action: string;
  /** What became of it. `blocked`: something that it needs failed. `not_attempted`: its turn did not come, or the plan left it out. */
  readonly status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  /** Why the plan left it out; absent where it did not. */
  readonly verdict?: 'held' | 'refused' | 'unsupported';
  /** The option of a plan with which it would be done; absent where none would help, or where it was not left out. */
  readonly lifted_by?: 'accept_conflicts' | 'allow_delete' | 'force' | 'override_limits' | 'undo_drift';
  /** The platform's identifier; null where there is none. */
  readonly id: string | null;
  /** What went wrong, or what should be known of it, for people. */
  readonly message: string | null;
  /** Paths that were written. */
  readonly fields: readonly string[];
  /** Null for kinds without a history. */
  readonly history: null | {
    /** Before. */
    readonly before: number | null;
    /** After. */
    readonly after: number | null;
  };
  /** The id that it had before, where a rollback made it anew. */
  readonly former_id?: string;
  /** Fields that it changes by an edit that others share, as the plan groups them; absent where there are none. */
  readonly shared?: readonly {
    /** The place of the group in the plan. Lines of one group are alike in its fields. */
    readonly group: number;
    /** The field. */
    readonly path: string;
    /** The file that says so for all of them, with its line; null where each has its own. */
    readonly source: string | null;
  }[];
  /** History entries that somebody else made while the change was carried out; absent where there were none. */
  readonly interleaved?: readonly Interleaved[];
  /** Values that the platform stored otherwise than they were sent; absent where there were none. Secrets are masked. */
  readonly stored?: readonly {
    /** The field. */
    readonly path: string;
    /** The value that was sent. */
    readonly sent: Json;
    /** The value that the platform returned afterwards; null where it returned none. */
    readonly returned: Json;
    /** True where both are masked. */
    readonly secret: boolean;
  }[];
  /** The edits of others that it wrote over, or deleted with the resource; absent where the plan found none. */
  readonly undid?: {
    /** Paths that had been edited. */
    readonly fields: readonly string[];
    /** The edits since the run before, newest first; a history does not say which of them changed which field. */
    readonly edits: readonly {
      /** Id of the history entry; null for a kind without a history. */
      readonly entry: number | null;
      /** Who made it. */
      readonly actor: string | null;
      /** From where, such as `dashboard`. */
      readonly source: string | null;
      /** When, ISO 8601. */
      readonly at: string | null;
    }[];
  };
  readonly leaves?: Leaves;
};
/** A history entry that somebody else made while the change was carried out. */
export type Interleaved = {
  /** Id of the history entry. */
  readonly entry: number;
  /** What the platform calls it. */
  readonly action: string | null;
  /** Who made it. */
  readonly actor: string | null;
  /** From where, such as `dashboard`. */
  readonly source: string | null;
  /** When, ISO 8601. */
  readonly at: string | null;
  /** `before`: between the check and the write. `after`: on top of the write. `unknown`: below the write and without a time. */
  readonly order: 'before' | 'after' | 'unknown';
};
/** Values as last written, by path. */
export type Leaves = {
  readonly [k: string]: Leaf;
};
/** The run is over. */
export type RunEnded = {
  /** What happened. */
  readonly type: 'run_ended';
  /** When, ISO 8601. */
  readonly at: string;
  /** The run. */
  readonly run: string;
  /** How it came out. */
  readonly status: 'done' | 'partial' | 'interrupted';
};
}

export declare namespace Export {
/** What `export` prints with `--format json`. No value of a secret is in it. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-export';
  /** Version of this format. */
  readonly version: 1;
  /** The folder of the stack, as it was given. */
  readonly dir: string;
  /** Whether the folder is in a Git repository. */
  readonly in_repository?: boolean;
  /** Organizations that were exported. */
  readonly organizations: readonly {
    /** The platform's identifier. */
    readonly id: string;
    /** Its name in the stack. */
    readonly name: string;
  }[];
  /** Resources by kind. */
  readonly resources: readonly {
    /** The kind. */
    readonly kind: string;
    /** How many. */
    readonly count: number;
  }[];
  /** Bases that common settings were lifted into. */
  readonly bases: number;
  /** Files that were written. */
  readonly files: number;
  /** Files that were in the folder and belong to the stack all the same. */
  readonly kept: readonly string[];
  /** Whether a state was written. */
  readonly state: boolean;
  /** What must be supplied. */
  readonly secrets: readonly {
    /** The variable. */
    readonly name: string;
    /** The resource. */
    readonly address: string;
    /** Path of the value. */
    readonly path: string;
    /** Whether the platform returns its value. */
    readonly told: boolean;
  }[];
  /** Where the values went that the platform returns; null where nobody asked for them. */
  readonly secrets_file: string | null;
  /** What the stack does not say, or not as a field. */
  readonly remarks: readonly {
    /** The resource. */
    readonly address: string;
    /** Path of the value; null for the resource as a whole. */
    readonly path: string | null;
    /** Why. */
    readonly reason: string;
  }[];
  /** Kinds that could not be listed. */
  readonly unlisted: readonly {
    /** The kind. */
    readonly kind: string;
    /** Why. */
    readonly reason: string;
  }[];
  /** Parts that were not asked for: as the resources are, nobody can switch them on. */
  readonly unasked?: readonly {
    /** The kind. */
    readonly kind: string;
    /** The part, as in `payments`. */
    readonly path: string;
    /** How many resources it was not asked of. */
    readonly resources: number;
  }[];
  /** Variables that stand for ids of what the stack cannot have as a resource. */
  readonly variables: readonly {
    /** The variable. */
    readonly name: string;
    /** The id. */
    readonly id: string;
  }[];
};
}

export declare namespace Field {
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-field';
  /** Version of this format. */
  readonly version: 1;
  /** The field in its canonical form: `agent.extensions.readonly tools[].url`. */
  readonly field: string;
  /** Name of the kind; null for a setting of `callsheet.yaml`. */
  readonly kind: string | null;
  /** What it means. */
  readonly description: string;
  /** What it is, and its limits, in words. */
  readonly type: string;
  /** The values that it takes, where they are few. */
  readonly values: readonly unknown[];
  /** What stands for it where it is not given; null for nothing. */
  readonly default: Json;
  /** As it is written in YAML. */
  readonly example: string | null;
  /** Whether it must be given. */
  readonly required: boolean;
  /** Whether null may be given, which clears it. */
  readonly clearable: boolean;
  /** False where only the platform sets it, or it follows from something else. */
  readonly settable: boolean;
  /** Value forms that it takes beside a plain value. */
  readonly forms: readonly string[];
  /** Only ever given as `$secret`. */
  readonly secret: boolean;
  /** Masked wherever it is shown. */
  readonly sensitive: boolean;
  /** Kind of the resource whose id it holds. */
  readonly refers_to: string | null;
  /** Another value means another resource. */
  readonly immutable: boolean;
  /** Whether a history revert brings it back; null where its kind has no history. */
  readonly restored_by_revert: boolean | null;
  /** The feature whose lock governs it, with `…` for what depends on the value. */
  readonly lock: string | null;
  /** The part of the resource that is written through an endpoint of its own. */
  readonly facet: string | null;
  /** The command that lists what it takes. */
  readonly listed_by: string | null;
  /** Id of the assumption that writing it rests on. */
  readonly assumption: string | null;
  /** Member that an element of the list is recognised by. */
  readonly identity: string | null;
  /** A list whose order means nothing. */
  readonly unordered: boolean;
  /** Always written whole. */
  readonly whole: boolean;
  /** The flag while which the platform tells its value. */
  readonly told_while?: string;
  /** The field with which the platform sets it, unless it is given. */
  readonly follows?: string;
  /** The only values that a new resource can have; another one follows by an update. */
  readonly created_as?: readonly string[];
  /** No two resources of one scope may have the same content there. */
  readonly distinct?: true;
  /** Its members, where it is an object or a list of them. */
  readonly members: readonly {
    /** Name of the member. */
    readonly name: string;
    /** What it is, and its limits, in words. */
    readonly type: string;
    /** Whether it must be given. */
    readonly required: boolean;
    /** Whether it can be set. */
    readonly settable: boolean;
    /** What it means. */
    readonly description: string;
  }[];
};
}

export declare namespace Fleet {
/** A value as last written. */
export type Leaf =
  | {
      /** The value. */
      readonly value: Json;
      readonly stored?: StoredMark;
    }
  | {
      /** Its digest. */
      readonly digest: string;
      readonly stored?: StoredMark;
    }
  | {
      /** Its keyed fingerprint. */
      readonly fingerprint: string;
      /** A digest of where the value came from: of the text of `$secret`, or the mark of a value that stood in the files. */
      readonly source?: string;
      /** A second fingerprint of a value with the name of a secret that the files had in clear: a plan may show the value where it is live. */
      readonly in_clear?: string;
      readonly stored?: StoredMark;
    }
  | {
      /** Nobody knows what it is. */
      readonly unknown: true;
      /** A digest of the text of `$secret` that it was taken over with. */
      readonly source?: string;
    }
  | {
      /** Nobody knows what it wrote, so it is written again. */
      readonly unsettled: true;
    };
/** The platform stored the written value as another one, which this is the digest of, or the keyed fingerprint where it may be a secret. Both count as equal while the configuration has the written one and the platform the other. */
export type StoredMark = string;

/** What `validate`, `plan`, `apply` and `drift` print with `--recursive --format json`: what came of every stack of a tree. `plan --recursive --out FOLDER` writes it beside the plans, as `fleet.json`. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-fleet';
  /** Version of this format. */
  readonly version: 1;
  /** What was run in each stack. */
  readonly command: 'validate' | 'plan' | 'apply' | 'drift';
  /** Stacks in the tree, those of other shards among them. */
  readonly found: number;
  /** The part of the tree that was worked on; null for all of it. */
  readonly shard: null | {
    /** Which part, from 1. */
    readonly index: number;
    /** How many parts there are. */
    readonly count: number;
  };
  /** The exit code of the whole: the first of 130, 1, 3, 4, 5, 6, 2 that a stack ended with, otherwise 0. */
  readonly exit: number;
  /** Over the path and the plan digest of each stack, for `apply --recursive --expect`. Null where no plans were made or carried out. */
  readonly digest: string | null;
  /** How many stacks came out which way; a way that none did is absent. */
  readonly totals: {
    /** How many stacks. */
    readonly unchanged?: number;
    /** How many stacks. */
    readonly changes?: number;
    /** How many stacks. */
    readonly done?: number;
    /** How many stacks. */
    readonly failed?: number;
    /** How many stacks. */
    readonly partial?: number;
    /** How many stacks. */
    readonly refused?: number;
    /** How many stacks. */
    readonly stale?: number;
    /** How many stacks. */
    readonly locked?: number;
    /** How many stacks. */
    readonly interrupted?: number;
  };
  /** The stacks that were worked on, by path. */
  readonly stacks: readonly Stack[];
  /** The stacks that workers are at, as `queue show` lists them; absent where there are none. */
  readonly working?: readonly Working[];
};
/** What came of one stack. */
export type Stack = {
  /** Its folder below `--dir`, with forward slashes; `.` for that folder itself. */
  readonly path: string;
  /** How it came out. `changes`: the plan has some, or something drifted. `done`: valid, or applied. `unchanged`: there was nothing to do. */
  readonly status:
    | 'unchanged'
    | 'changes'
    | 'done'
    | 'failed'
    | 'partial'
    | 'refused'
    | 'stale'
    | 'locked'
    | 'interrupted';
  /** What the command would have exited with in that stack alone. */
  readonly exit: number;
  /** By what the command counts: of `plan` as its `summary`, of `apply` changes by how they ended, of `drift` `drifted`, of `validate` `errors` and `warnings`. Empty where it did not come to that. */
  readonly counts: {
    /** How many. */
    readonly [k: string]: number;
  };
  /** The digest of its plan; null where there is none. */
  readonly plan_digest: string | null;
  /** The file of its plan, beside `fleet.json`; null where none was written. */
  readonly plan_file: string | null;
  /** The run that was recorded; null where there was none. */
  readonly run: string | null;
  /** What stands in the way, in one line: the first of it, with its place. Null where nothing does. */
  readonly reason: string | null;
  /** Why it ended; null where it came to its end. */
  readonly error: null | Failure;
};
/** Why a command ended. */
export type Failure = {
  /** What kind of end it is. `internal` is a bug in Callsheet. */
  readonly kind:
    | 'usage'
    | 'config'
    | 'api'
    | 'network'
    | 'state'
    | 'refused'
    | 'stale'
    | 'locked'
    | 'interrupted'
    | 'internal';
  /** The exit code. */
  readonly exit: number;
  /** What happened, in one or several sentences. */
  readonly message: string;
  /** What to do now; null where nothing in particular helps. */
  readonly hint: string | null;
  /** Problems of the configuration, each with its place. */
  readonly diagnostics: readonly Diagnostic[];
  /** Null where it was none. */
  readonly request: null | {
    /** Its method. */
    readonly method: string;
    /** Its address. */
    readonly url: string;
    /** What was answered. */
    readonly status: number;
    /** The platform's own id of it. */
    readonly request_id: string | null;
  };
  /** The run that it broke off; absent where none was. */
  readonly run?: string;
  /** Every change of the plan of that run, and what became of it; absent where no run was broken off. */
  readonly ledger?: readonly LedgerLine[];
};
/** One problem of the configuration. */
export type Diagnostic = {
  /** With --strict there are no warnings. */
  readonly severity: 'error' | 'warning';
  /** Stable name of the rule, such as `schema/enum`. */
  readonly rule: string;
  /** What is wrong, to which address and field. No trailing stop. */
  readonly message: string;
  /** What to do now. */
  readonly hint?: string;
  /** The resource that it is about. */
  readonly address?: string;
  /** Path of the field inside the resource. */
  readonly path?: string;
  /** Where it stands. Lines and columns count from 1; columns count characters. */
  readonly position?: {
    /** Relative to the stack folder, with forward slashes. */
    readonly file: string;
    /** Line, from 1. */
    readonly line: number;
    /** Column, from 1, in characters. */
    readonly column: number;
    /** The column behind the last character of what is meant, on the same line. */
    readonly end_column?: number;
  };
  /** The lines around the place, with a caret under it. Secrets are `***`. */
  readonly frame?: string;
};
/** What became of one change. */
export type LedgerLine = {
  /** The resource. */
  readonly address: string;
  /** Its name, where the plan had one. */
  readonly name?: string;
  /** What was to be done: the `action` of the plan, or what an edit of the state did. */
  readonly action: string;
  /** What became of it. `blocked`: something that it needs failed. `not_attempted`: its turn did not come, or the plan left it out. */
  readonly status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  /** Why the plan left it out; absent where it did not. */
  readonly verdict?: 'held' | 'refused' | 'unsupported';
  /** The option of a plan with which it would be done; absent where none would help, or where it was not left out. */
  readonly lifted_by?: 'accept_conflicts' | 'allow_delete' | 'force' | 'override_limits' | 'undo_drift';
  /** The platform's identifier; null where there is none. */
  readonly id: string | null;
  /** What went wrong, or what should be known of it, for people. */
  readonly message: string | null;
  /** Paths that were written. */
  readonly fields: readonly string[];
  /** Null for kinds without a history. */
  readonly history: null | {
    /** Before. */
    readonly before: number | null;
    /** After. */
    readonly after: number | null;
  };
  /** The id that it had before, where a rollback made it anew. */
  readonly former_id?: string;
  /** Fields that it changes by an edit that others share, as the plan groups them; absent where there are none. */
  readonly shared?: readonly {
    /** The place of the group in the plan. Lines of one group are alike in its fields. */
    readonly group: number;
    /** The field. */
    readonly path: string;
    /** The file that says so for all of them, with its line; null where each has its own. */
    readonly source: string | null;
  }[];
  /** History entries that somebody else made while the change was carried out; absent where there were none. */
  readonly interleaved?: readonly Interleaved[];
  /** Values that the platform stored otherwise than they were sent; absent where there were none. Secrets are masked. */
  readonly stored?: readonly {
    /** The field. */
    readonly path: string;
    /** The value that was sent. */
    readonly sent: Json;
    /** The value that the platform returned afterwards; null where it returned none. */
    readonly returned: Json;
    /** True where both are masked. */
    readonly secret: boolean;
  }[];
  /** The edits of others that it wrote over, or deleted with the resource; absent where the plan found none. */
  readonly undid?: {
    /** Paths that had been edited. */
    readonly fields: readonly string[];
    /** The edits since the run before, newest first; a history does not say which of them changed which field. */
    readonly edits: readonly {
      /** Id of the history entry; null for a kind without a history. */
      readonly entry: number | null;
      /** Who made it. */
      readonly actor: string | null;
      /** From where, such as `dashboard`. */
      readonly source: string | null;
      /** When, ISO 8601. */
      readonly at: string | null;
    }[];
  };
  readonly leaves?: Leaves;
};
/** A history entry that somebody else made while the change was carried out. */
export type Interleaved = {
  /** Id of the history entry. */
  readonly entry: number;
  /** What the platform calls it. */
  readonly action: string | null;
  /** Who made it. */
  readonly actor: string | null;
  /** From where, such as `dashboard`. */
  readonly source: string | null;
  /** When, ISO 8601. */
  readonly at: string | null;
  /** `before`: between the check and the write. `after`: on top of the write. `unknown`: below the write and without a time. */
  readonly order: 'before' | 'after' | 'unknown';
};
/** Values as last written, by path. */
export type Leaves = {
  readonly [k: string]: Leaf;
};
/** A stack that a worker is at. */
export type Working = {
  /** Folder of the stack, seen from the root of the tree. */
  readonly path: string;
  /** The worker, as its log names it. */
  readonly worker: string | null;
  /** The run that it began; null where there is none, or none yet. */
  readonly run: string | null;
  /** How often it was handed out, this time included. */
  readonly attempts: number;
  /** When it was handed out. */
  readonly since: string | null;
};
}

export declare namespace Import {
/** What `import` prints with `--format json`. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-import';
  /** Version of this format. */
  readonly version: 1;
  /** The edit of the state, as `runs` shows it; null where there was nothing to do. */
  readonly run: string | null;
  /** Serial of the state since; null where there was nothing to do. */
  readonly serial: number | null;
  /** Addresses that now stand for a live resource. */
  readonly bound: readonly {
    /** The resource. */
    readonly address: string;
    /** The platform's identifier. */
    readonly id: string;
    /** Fields in which the configuration says something else: the next plan shows them. */
    readonly differing: readonly string[];
  }[];
  /** Addresses of which nobody can tell which live resource is meant. */
  readonly unclear: readonly {
    /** The resource. */
    readonly address: string;
    /** Why. */
    readonly reason: string;
    /** Ids that it may be. */
    readonly ids: readonly string[];
    /** One for each id, of which one is to be typed. */
    readonly commands: readonly string[];
  }[];
  /** Addresses that nothing live answers to: the next plan makes them. */
  readonly absent: readonly string[];
};
}

export declare namespace StateCommands {
/** What the commands below `callsheet state` print with `--format json`. `state pull` prints the state itself: `state.schema.json`. `format` says which document it is. */
export type Document = List | Show | Edit | Lock | Repair | Migration;
/** A value as last written. */
export type Leaf =
  | {
      /** The value. */
      readonly value: Json;
      readonly stored?: StoredMark;
    }
  | {
      /** Its digest. */
      readonly digest: string;
      /** The resource of the file was taken over, and this is its digest of then: it was neither sent nor compared with the platform, which returns no content. */
      readonly assumed?: true;
      readonly stored?: StoredMark;
    }
  | {
      /** Its keyed fingerprint. */
      readonly fingerprint: string;
      /** A digest of where the value came from: of the text of `$secret`, or the mark of a value that stood in the files. */
      readonly source?: string;
      /** A second fingerprint of a value with the name of a secret that the files had in clear: a plan may show the value where it is live. */
      readonly in_clear?: string;
      readonly stored?: StoredMark;
    }
  | {
      /** Nobody knows what it is. */
      readonly unknown: true;
      /** A digest of the text of `$secret` that it was taken over with. */
      readonly source?: string;
    }
  | {
      /** Nobody knows what it wrote, so it is written again. */
      readonly unsettled: true;
    };
/** The platform stored the written value as another one, which this is the digest of, or the keyed fingerprint where it may be a secret. Both count as equal while the configuration has the written one and the platform the other. */
export type StoredMark = string;

/** What the state remembers. */
export type List = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-state-list';
  /** Version of this format. */
  readonly version: 1;
  /** Made with the first write; a state of another lineage belongs to another stack. */
  readonly lineage: string;
  /** Counts the writes. */
  readonly serial: number;
  /** The account that the resources belong to; null before the first run. */
  readonly account_id: string | null;
  /** By address. */
  readonly resources: readonly {
    /** The resource. */
    readonly address: string;
    /** Its kind. */
    readonly kind: string;
    /** The platform's identifier. */
    readonly id: string;
    /** Name for people. */
    readonly name: string;
    /** Values of the kind's scope fields. */
    readonly scope: {
      readonly [k: string]: string;
    };
    /** Whether it is never deleted. */
    readonly protect: boolean;
  }[];
};
/** All that the state remembers of a resource. */
export type Show = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-state-resource';
  /** Version of this format. */
  readonly version: 1;
  /** The resource. */
  readonly address: string;
  readonly resource: Resource;
};
/** What the state remembers of a resource. */
export type Resource = {
  /** Its kind. */
  readonly kind: string;
  /** The platform's identifier. */
  readonly id: string;
  /** Values of the kind's scope fields, such as the organization. */
  readonly scope: {
    readonly [k: string]: string;
  };
  /** Name for people. */
  readonly name: string;
  readonly leaves: Leaves;
  /** Null where it was not read. */
  readonly pin: null | Pin;
  /** Whether it is never deleted. */
  readonly protect: boolean;
  /** The rollback that wrote it last; absent where another run did. */
  readonly restored_by?: string;
  /** The fields that this rollback put back. */
  readonly restored_paths?: readonly string[];
  /** When the platform says that it was created; another time means another resource. Absent where it did not say. */
  readonly created_at?: string;
  /** Where edits that runs kept (`guards.drift: keep`) may begin: the last change before them. Absent where no run left an edit in it. */
  readonly kept_since?: {
    /** When that was, as the platform says. */
    readonly updated_at: string | null;
    /** Its history entry. */
    readonly history_id: number | null;
  };
  /** When a run last had the platform work on it after its requests, such as an ingestion. Absent of kinds that are ready once they are made. */
  readonly asked_at?: string;
  /** Requests of its making that were answered, where a run died before the last of them. */
  readonly unfinished?: readonly string[];
};
/** Values as last written, by path. */
export type Leaves = {
  readonly [k: string]: Leaf;
};
/** The live resource as it was when it was last read: what tells whether it moved since. */
export type Pin = {
  /** Digest of its canonical form. */
  readonly digest: string;
  /** When it was changed last, as the platform says. */
  readonly updated_at: string | null;
  /** Its newest history entry. */
  readonly history_id: number | null;
  /** Whether any later change is sure to have another `updated_at`. Absent: not, or nobody knows. */
  readonly certain?: true;
};
/** What an edit of the state did. */
export type Edit = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-state-edit';
  /** Version of this format. */
  readonly version: 1;
  /** The edit, as `runs` shows it; null where nothing had to be written. */
  readonly run: string | null;
  /** Serial of the state since; null where nothing had to be written. */
  readonly serial: number | null;
  /** What it did. */
  readonly ledger: readonly LedgerLine[];
  /** The state that `state mv --to` took the resources to. Not always there. */
  readonly to?: {
    /** Its place, without credentials. */
    readonly location: string;
    /** Its serial since. */
    readonly serial: number;
    /** Records of runs that were taken along. */
    readonly runs: number;
  };
  /** Names, beside the state, under which what was there is kept. */
  readonly set_aside: readonly string[];
};
/** What became of one change. */
export type LedgerLine = {
  /** The resource. */
  readonly address: string;
  /** Its name, where the plan had one. */
  readonly name?: string;
  /** What was to be done: the `action` of the plan, or what an edit of the state did. */
  readonly action: string;
  /** What became of it. `blocked`: something that it needs failed. `not_attempted`: its turn did not come, or the plan left it out. */
  readonly status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  /** Why the plan left it out; absent where it did not. */
  readonly verdict?: 'held' | 'refused' | 'unsupported';
  /** The option of a plan with which it would be done; absent where none would help, or where it was not left out. */
  readonly lifted_by?: 'accept_conflicts' | 'allow_delete' | 'force' | 'override_limits' | 'undo_drift';
  /** The platform's identifier; null where there is none. */
  readonly id: string | null;
  /** What went wrong, or what should be known of it, for people. */
  readonly message: string | null;
  /** Paths that were written. */
  readonly fields: readonly string[];
  /** Null for kinds without a history. */
  readonly history: null | {
    /** Before. */
    readonly before: number | null;
    /** After. */
    readonly after: number | null;
  };
  /** The id that it had before, where a rollback made it anew. */
  readonly former_id?: string;
  /** Fields that it changes by an edit that others share, as the plan groups them; absent where there are none. */
  readonly shared?: readonly {
    /** The place of the group in the plan. Lines of one group are alike in its fields. */
    readonly group: number;
    /** The field. */
    readonly path: string;
    /** The file that says so for all of them, with its line; null where each has its own. */
    readonly source: string | null;
  }[];
  /** History entries that somebody else made while the change was carried out; absent where there were none. */
  readonly interleaved?: readonly Interleaved[];
  readonly leaves?: Leaves;
};
/** A history entry that somebody else made while the change was carried out. */
export type Interleaved = {
  /** Id of the history entry. */
  readonly entry: number;
  /** What the platform calls it. */
  readonly action: string | null;
  /** Who made it. */
  readonly actor: string | null;
  /** From where, such as `dashboard`. */
  readonly source: string | null;
  /** When, ISO 8601. */
  readonly at: string | null;
  /** `before`: between the check and the write. `after`: on top of the write. `unknown`: below the write and without a time. */
  readonly order: 'before' | 'after' | 'unknown';
};
/** Who holds the state. */
export type Lock = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-lock';
  /** Version of this format. */
  readonly version: 1;
  /** Where the state is. */
  readonly location: string;
  /** Null where nobody does. */
  readonly held: null | {
    /** The lease, as `state unlock` takes it. */
    readonly lease: string;
    /** Who took it. */
    readonly holder: {
      /** The run; empty for what is no run. */
      readonly run: string;
      /** The command. */
      readonly command: string;
      /** User. */
      readonly user: string | null;
      /** Machine. */
      readonly host: string;
      /** Process. */
      readonly pid: number;
      /** Since when, ISO 8601. */
      readonly since: string;
    };
    /** The last heartbeat, ISO 8601, by the holder's clock. */
    readonly beat: string;
    /** Whether its process runs, as far as this machine can tell. `silent`: it is there, without heartbeats, as one that is paused. */
    readonly owner: 'running' | 'silent' | 'gone' | 'elsewhere';
  };
  /** Whether the lease was ended. */
  readonly unlocked: boolean;
};
/** What a repair read, kept, found and could not find. */
export type Repair = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-state-repair';
  /** Version of this format. */
  readonly version: 1;
  /** Where the state is. */
  readonly location: string;
  /** What was wrong with it; null where nothing was, or where there was none. */
  readonly problem: string | null;
  /** How much of it could be read. `foreign`: it is another stack's. */
  readonly read: 'whole' | 'part' | 'foreign' | 'nothing';
  /** Journals that something was taken from, or that stand in the way. */
  readonly journals: readonly {
    /** The run. */
    readonly run: string;
    /** Where the journal is. */
    readonly path: string;
    /** Whether the run finished. */
    readonly finished: boolean;
    /** `replayed`: what it recorded was taken over. `stray`: it is another stack's. */
    readonly use: 'replayed' | 'stray' | 'unreadable';
    /** Lines that could not be read. */
    readonly lost: number;
  }[];
  /** The edit, as `runs` shows it; null where nothing had to be written. */
  readonly run: string | null;
  /** Serial of the state since; null where nothing had to be written. */
  readonly serial: number | null;
  /** What it did. */
  readonly ledger: readonly LedgerLine[];
  /** Names, beside the state, under which what was there is kept. */
  readonly set_aside: readonly string[];
  /** What became of each resource. */
  readonly findings: readonly {
    /** The resource. */
    readonly address: string;
    /** `kept`: it was readable. `found`: by its name, as configured. `differs`: by its name, and it differs. `lost`: known, and gone from the platform. `absent`: not on the platform yet. */
    readonly finding: 'kept' | 'found' | 'differs' | 'lost' | 'absent';
    /** The platform's identifier. */
    readonly id: string | null;
  }[];
  /** Entries of features that are not at their end by the new state, such as rollouts. */
  readonly kept?: readonly {
    /** The feature, such as `rollout`. */
    readonly feature: string;
    /** Its name there. */
    readonly name: string;
    /** How it stands, as its feature calls that. */
    readonly status: string;
    /** Why it stands so, or why nobody knows it since the rebuild. */
    readonly why: string | null;
  }[];
};
/** What was moved, and where. */
export type Migration = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-state-migration';
  /** Version of this format. */
  readonly version: 1;
  /** Where the state was. */
  readonly from: string;
  /** Where it is now. */
  readonly to: string;
  /** Serial of the state. */
  readonly serial: number;
  /** Resources that it remembers. */
  readonly resources: number;
  /** Runs whose receipts came with it. */
  readonly runs: number;
  /** Runs whose receipt could not be read, and stays behind. */
  readonly left: readonly string[];
};
}

export declare namespace Log {
/** The document of `callsheet log --format json`: the changes of a stack, a resource or a field, newest first. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-log';
  /** Version of this format. */
  readonly version: 1;
  /** The resources that were asked for; null for the whole stack. */
  readonly address: string | null;
  /** The field that was asked for; null for all. */
  readonly field: string | null;
  /** What is older is left out; null where nothing is. */
  readonly since: string | null;
  /** What the platform was asked. */
  readonly history: {
    /** Resources whose history the platform returned. */
    readonly asked: readonly string[];
    /** Why edits that no run overwrote are missing; null where none are. */
    readonly missing: string | null;
  };
  /** The changes. */
  readonly data: readonly Entry[];
};
/** One change of one resource: by a run, or an edit by somebody else. */
export type Entry = {
  /** When its run began, or when it was edited; null where that is not known. */
  readonly at: string | null;
  /** Who ran it or, of an edit, who made it; null where that is not known, or where it was one of several. */
  readonly by: string | null;
  /** The resource, as it was called then. */
  readonly address: string;
  /** Its identifier on the platform. */
  readonly id: string | null;
  /** What was done: the `action` of a plan, what an edit of the state did, or `edit` for what somebody did on the platform. */
  readonly action: string;
  /** The address that it had before; absent where it was not renamed. */
  readonly moved_from?: string;
  /** `failed`: it was written in part, or nobody knows. */
  readonly status: 'done' | 'failed';
  /** The fields that changed, those that were asked for; null where the platform does not say which. */
  readonly fields: null | readonly Field[];
  /** The run; null for an edit. */
  readonly run: string | null;
  /** What the run was for. */
  readonly purpose: string | null;
  /** The run that it undid. */
  readonly undoes: string | null;
  /** Commit of the stack. */
  readonly commit: string | null;
  /** Address of the job. */
  readonly pipeline: string | null;
  /** Number or address of the pull request. */
  readonly pull_request: string | null;
  /** Who approved it. */
  readonly approved_by: readonly string[];
  /** The run that took it back: a rollback or, of an edit, the run that wrote over it. Null where none did. */
  readonly undone_by: null | {
    /** The run. */
    readonly run: string;
    /** When it began. */
    readonly at: string;
    /** What it was for. */
    readonly purpose: string;
  };
  /** Of an edit: the history entries that it may be, newest first. Of a run: the edits that it undid. */
  readonly edits: readonly {
    /** Id of the history entry; null for a kind without a history. */
    readonly entry: number | null;
    /** Who made it. */
    readonly actor: string | null;
    /** From where, such as `dashboard`. */
    readonly source: string | null;
    /** When, ISO 8601. */
    readonly at: string | null;
  }[];
  /** What should be known of it, for people. */
  readonly message: string | null;
};
/** A field that changed. Secrets and sensitive values are masked. */
export type Field = {
  /** Where it stands. */
  readonly path: string;
  /** What it was; null where nothing was there, or nothing is kept. */
  readonly before: Json;
  /** What it became; null where nothing is there, or nothing is kept. */
  readonly after: Json;
  /** Whether both are masked. */
  readonly secret: boolean;
  /** Of a secret: its value comes from another source since. Absent where it does not. */
  readonly other_source?: true;
  /** Whether a receipt keeps the value: of a long text that no later run met there is a digest alone. */
  readonly kept: {
    /** That before. */
    readonly before: boolean;
    /** That after. */
    readonly after: boolean;
  };
};
}

export declare namespace Plan {
/** Names a resource: `agent.reception`, `agent.clinic["harbor"]`. */
export type Address = string;
/** Over the block of the configuration, secrets by their source; null where there is none. */
export type BlockDigest = string | null;
/** Over what the state remembers of the resource, without its pin; null where it does not have it. */
export type EntryDigest = string | null;
/** A resource's fields in the platform's own names, as far as the configuration sets them; masked. `{ "$ref": address }` stands for the id of another resource, `{ "$secret": source }` for a secret, with credentials in a command masked, `{ "$blob": digest, "path", "size", "mime" }` for a file. */
export type Document1 = JsonObject | null;

/** What a plan would do, and all that apply needs to do exactly that. Every renderer reads this document, and `callsheet plan --out` writes it, each long text once. Secrets and sensitive values are masked. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-plan';
  /** Version of this format. */
  readonly version: 1;
  /** Over everything that apply acts on and a reviewer is shown, and nothing that varies from run to run; what `--expect` names. */
  readonly digest: string;
  /** A digest for each part of the plan, what the `digest` leaves out included, by which an edited plan file is refused. */
  readonly checks: {
    readonly [k: string]: string;
  };
  /** When the plan was made. */
  readonly created_at: string;
  /** In a plan file: version of Callsheet. */
  readonly made_by?: string;
  /** Where the desired side comes from: the configuration (`apply`), what a run found before it or a snapshot holds (`rollback`), a snapshot that is brought into an account (`restore`), for `drift`, what is live, compared with what Callsheet last wrote, or, for `comparison`, the later of two snapshots. */
  readonly purpose: 'apply' | 'rollback' | 'restore' | 'drift' | 'comparison';
  /** The run that a rollback undoes. */
  readonly undoes?: string;
  /** Of a rollback of an apply: what takes the change back in Git, which still has it. Null outside of Git, and where the commit is unknown, not in this checkout, reverted already, or not about the stack. The digest does not cover it. */
  readonly revert?: null | Revert;
  /** The snapshot that a rollback goes back to. */
  readonly snapshot?: {
    /** When it was made. */
    readonly made_at: string;
    /** Digest of what it holds. */
    readonly sha256: string;
  };
  /** The account that the plan is bound to. */
  readonly platform: {
    /** Address of the platform. */
    readonly base_url: string;
    /** Account of the credentials. */
    readonly account_id: string;
  };
  /** Names of the organizations that appear, by id. */
  readonly organizations: {
    readonly [k: string]: string;
  };
  /** Names of the resources, organizations and knowledge bases that the plan shows by an id or an address, as far as they are known; those of changes stand there. */
  readonly names?: {
    readonly [k: string]: string;
  };
  /** The environment of the stack that it was made for; absent where none was chosen. */
  readonly environment?: string;
  /** The stack that it was made for, and the commit of its checkout. Absent where the plan is of a sandbox or compares snapshots. The digest does not cover it, and apply acts on none of it. */
  readonly stack?: {
    /** `stack` of callsheet.yaml, its folder within the repository, or its path. */
    readonly name: string;
    /** The commit that is checked out. Absent outside of a repository. */
    readonly commit?: {
      /** Its digest, whole. */
      readonly id: string;
      /** The first line of its message. */
      readonly subject: string;
      /** The name of its author. */
      readonly author: string;
      /** When it was committed, ISO 8601. */
      readonly at: string;
      /** True if the folder of the stack has changes that are not committed. */
      readonly is_changed: boolean;
    };
  };
  /** Over the configuration that was planned. It says what the plan was made from and stops nothing: apply compares the `basis` of each change. */
  readonly config_digest: string;
  /** The state that was planned from. Apply refuses another lineage; a higher serial stops nothing. */
  readonly state: {
    /** Tells the state of one stack from another's. */
    readonly lineage: string;
    /** Counts the writes of that state. */
    readonly serial: number;
  };
  /** What the person who planned allowed. Apply allows nothing more. */
  readonly options: {
    /** How it is carried out, if not by apply, which refuses it: such as the rollout `careful` of callsheet.yaml, which `rollout start` carries out step by step. */
    readonly strategy?: {
      /** The feature, such as `rollout`. */
      readonly feature: string;
      /** Its name in callsheet.yaml. */
      readonly name: string;
      /** The command that carries the plan out, such as `rollout start`. */
      readonly command: string;
    };
    /** Deletes are carried out. */
    readonly allow_delete: boolean;
    /** The configuration wins where both sides changed. */
    readonly accept_conflicts: boolean;
    /** Refused changes are left out instead of stopping the run. */
    readonly skip_refused: boolean;
    /** Secrets are written whether they changed or not: all of them, or those of the addresses. */
    readonly resend_secrets: boolean | readonly Address[];
    /** Only these were planned; empty for all. */
    readonly target: readonly Address[];
    /** These were not planned. */
    readonly exclude: readonly Address[];
    /** Whether what live resources still use is deleted, too (`--delete-used`). */
    readonly force: boolean;
    /** Why the plan is run in a freeze window all the same; absent where it is not. */
    readonly override_freeze?: string;
    /** Why the plan may change or delete more than `guards.max_change_percent` and `guards.max_delete` allow; absent where it may not. */
    readonly override_limits?: string;
    /** Why the plan is run from a checkout without the commit that was applied last; absent where it is not. */
    readonly behind?: string;
    /** Whether the hold that a rollback put on this configuration is released; absent where it is not. */
    readonly release_hold?: boolean;
    /** Whether edits made on the platform stay, whatever `guards.drift` says; absent where that decides. */
    readonly keep_drift?: boolean;
    /** Whether edits made on the platform are undone, whatever `guards.drift` says; absent where that decides. */
    readonly undo_drift?: boolean;
  };
  /** Counts of the changes, by action and by verdict. */
  readonly summary: {
    /** Resources that are made. */
    readonly create: number;
    /** Resources that are changed. */
    readonly update: number;
    /** Resources that are made anew, as a field of theirs cannot be changed. */
    readonly replace: number;
    /** Resources that are deleted. */
    readonly delete: number;
    /** Resources found live and taken over without a write. */
    readonly adopt: number;
    /** Resources that are no longer managed and stay where they are. */
    readonly forget: number;
    /** Resources that equal the configuration; they are not among the changes. */
    readonly no_op: number;
    /** Changes that stop the run. */
    readonly refused: number;
    /** Changes that wait for other flags, or for a feature that has the resource for its own, such as a rollout. */
    readonly held: number;
    /** Changes that the platform has no endpoint for. */
    readonly unsupported: number;
  };
  /** What apply will ask of the platform. A forecast. */
  readonly requests: {
    /** Requests that read. */
    readonly reads: number;
    /** Requests that write. */
    readonly writes: number;
    /** How long it takes, from the time that planning took. */
    readonly seconds: number;
  };
  /** Ids of the assumptions about the platform that the plan's calls rely on; `callsheet explain assumptions` explains them. */
  readonly assumptions: readonly string[];
  /** Those of `assumptions` that the resources of the state rest on already; Markdown leaves them out. */
  readonly known_assumptions?: readonly string[];
  /** Operations that the stack has elsewhere (`platform.endpoints`); absent where it moved none. */
  readonly endpoints?: readonly {
    /** Name of the operation. */
    readonly operation: string;
    /** Method that it is called with. */
    readonly method: string;
    /** Path that it is called at, below the base address. */
    readonly path: string;
    /** Where it would be called without `platform.endpoints`. */
    readonly instead_of: {
      /** Method that it would be called with. */
      readonly method: string;
      /** Path that it would be called at. */
      readonly path: string;
    };
  }[];
  /** One for each resource that is not as configured, or that is adopted, in the order of kinds. */
  readonly changes: readonly Change[];
  /** Fields that change alike in several resources, the most first; absent where none do. Each of them stands in `changes` as well. The digest covers all but the sources. */
  readonly groups?: readonly Group[];
  /** What the state is to remember of resources that are as configured; absent where that is nothing. */
  readonly agreed?: readonly Agreed[];
  /** Edits made on the platform that apply leaves as they are (`guards.drift: keep`, `--keep-drift`), by resource; absent where there are none. They count as no change. */
  readonly kept?: readonly Kept[];
  /** What a person should know that changes nothing. */
  readonly notes: readonly Note[];
  /** The freeze that was in force when the plan was made, and was not overridden; absent where none was. `refusals` has it, too. */
  readonly freeze?: {
    /** When it ends; null where it does not within a year. */
    readonly until: string | null;
    /** The same by the clock of the window's zone, for people. */
    readonly ends: string | null;
    /** The reasons of the windows that are in force, and where they stand. */
    readonly reason: string;
  };
  /** What stood against the plan as a whole when it was made; absent where nothing did. Apply asks again, and the digest does not cover it. */
  readonly refusals?: readonly Refusal[];
  /** The limits that the plan exceeds because `options.override_limits` allows it; absent where it exceeds none. */
  readonly overridden_limits?: readonly ExceededLimit[];
  /** Flags that lift a guard, and who gave each, as the pipeline tells (`CALLSHEET_ALLOWED_BY`); absent where none is told. The digest does not cover it. */
  readonly allowed?: readonly Allowed[];
  readonly behind?: Behind;
  /** The run that died before this plan was made, and what was found out about its last requests. */
  readonly settled?: {
    /** The run that died. */
    readonly run: string;
    /** What became of each change that it had not written down. */
    readonly findings: readonly {
      /** How much it matters. */
      readonly severity: 'info' | 'warning';
      readonly address: Address;
      /** What was found out. */
      readonly message: string;
    }[];
  };
  /** The branch that the plan was compared with (`--base`): each change then has an `origin`. Absent without it. The digest covers none of that, and apply acts on none of it. */
  readonly base?: {
    /** As it was given. */
    readonly ref: string;
    /** The commit that was planned beside the checkout: the newest of the branch where the checkout has it, else the one where the two parted. */
    readonly commit: string;
    /** Commits of the branch that the checkout does not have; absent where Git cannot tell. */
    readonly behind?: number;
  };
  readonly rehearsal?: Rehearsal;
  /** Only in a plan file (`--out`): its texts of 128 characters and more, each once. `$text:0` stands in the place of the first, wherever the file has it. `show PLANFILE --format json` prints the plan with each text in its place, and so does `plan --format json`. The digest is over that. */
  readonly texts?: readonly string[];
};
/** What takes a change back in Git. */
export type Revert = {
  /** The commit that the run applied. */
  readonly commit: string;
  /** What to type: `git revert`, of a merge commit with its first parent as the mainline. */
  readonly command: string;
  /** The pull request that was merged by it; absent where the run did not record one. */
  readonly pull_request?: string;
};
/** One resource's part of the plan. */
export type Change = {
  readonly address: Address;
  /** Kind of the resource, which its address begins with. */
  readonly kind: string;
  /** Name for people. */
  readonly name: string;
  /** The organization that owns it; null for what belongs to the account. */
  readonly organization_id: string | null;
  /** Null until it exists. */
  readonly id: string | null;
  /** What happens to it. */
  readonly action: 'create' | 'update' | 'replace' | 'delete' | 'adopt' | 'forget' | 'no_op';
  /** Says if apply does it (`ok`), leaves it out until it is planned with other flags or the rollout that has it goes on (`held`) or because the platform has no endpoint for it (`unsupported`), or refuses the whole plan because of it (`refused`). */
  readonly verdict: 'ok' | 'held' | 'refused' | 'unsupported';
  /** Why, for people. Programs should not branch on it. */
  readonly reason: string;
  /** Of a change that is refused or held: the option of a plan with which it would be done. Absent where none would help. */
  readonly lifted_by?: 'accept_conflicts' | 'allow_delete' | 'force' | 'override_limits' | 'undo_drift';
  /** Of a plan with a `base`: whether the base has all of the change already (`base`), or the checkout brings some of it (`branch`). The digest does not cover it. */
  readonly origin?: 'branch' | 'base';
  /** Of a refused change: the base alone would be refused for the same. Absent where it would not. */
  readonly refused_on_base?: true;
  /** Found live by its natural key or by `lifecycle.adopt`, without state. */
  readonly adopted: boolean;
  /** The id that the state holds and that is gone from the platform; null where nothing is missing. */
  readonly missing_id: string | null;
  /** The run that deleted what a create makes again, as the state says; absent where none did, or its receipt is gone. A rollback of that run brings back what this create does not set. The digest does not cover it. */
  readonly deleted_by?: {
    /** The run. */
    readonly run: string;
    /** When it began. */
    readonly at: string;
    /** The address that it had then, where that was another. */
    readonly address?: string;
    /** Settings that it had and that the create does not set, the platform's own values among them. */
    readonly settings: number;
  };
  /** The address that the state has it under, where `moved` says that it is this one now; absent where it was not moved. */
  readonly moved_from?: string;
  /** What is live of the fields that the configuration sets; for a delete all of it. Null for a create. In a `drift` document it is what should be, of a conflict what was last written, and `after` is what is live. */
  readonly before: JsonObject | null;
  /** What the configuration says. Null for a delete. */
  readonly after: JsonObject | null;
  /** The leaves that differ; for a create all that are set. */
  readonly fields: readonly Field[];
  /** The call-outs of each edited text of several lines: reversed rules come first, then transfers and phone numbers, other instructions, and values. A text has at most 100; the member is absent where there are none. */
  readonly callouts?: readonly Callout[];
  /** Every secret that the change writes, and every stored one that is sent elsewhere from now on or is removed; absent where there are none. */
  readonly secrets?: readonly Secret[];
  /** What was live when it was planned; null for what does not exist yet. The digest does not cover it: apply compares `basis`. */
  readonly pin: Pin | null;
  readonly basis?: Basis;
  /** The steps, in order. */
  readonly operations: readonly Operation[];
  /** How a rollback puts it back; absent for what has no history, and where nothing is put back. */
  readonly undoing?: {
    /** Through the platform's history, through it and an update for the rest, or through an update alone. */
    readonly way: 'revert' | 'revert_and_update' | 'update';
    /** Why that way, for people. */
    readonly why: string;
  };
  /** Calls that the live resource took in the seven days before the plan, of what is updated, replaced or deleted, by the metrics of the platform; absent where they do not tell, or were not asked for. The digest does not cover it; `checks` do. */
  readonly calls?: number;
  /** File and line of the configuration; null for what it no longer mentions. */
  readonly source: string | null;
  /** In a `drift` document: its history entries since Callsheet last wrote it, newest first. The digest does not cover them. */
  readonly edits?: readonly Edit[];
  readonly attribution?: Attribution;
};
/** One leaf that plan has something to say about. */
export type Field = {
  /** Where the leaf stands; elements of keyed lists by their key. */
  readonly path: string;
  /** What is live; null where there is nothing. In a `drift` document: what should be. */
  readonly before: Json;
  /** What is wanted; null where nothing is. In a `drift` document: what is live. */
  readonly after: Json;
  /** True where before and after, as far as they are there, are masked. An address keeps its scheme and host: `https://host/(secret)`. */
  readonly secret: boolean;
  /** Why: the configuration changed, the platform did (`drifted`; `kept` where `guards.drift` leaves the edit alone), or both (`conflict`); the configuration no longer sets it and it is emptied (`cleared`) or cannot be (`released`); a secret differs from what was last written, has another source than the one last applied (`secret_source_changed`), belongs to an account that is written (`secret_account_changed`), was not written to this resource yet (`secret_unwritten`), is sent again as asked, or cannot be compared; a file's content cannot be compared; the platform stored it so (`stored_as`). `kept`, `released` and the last three write nothing. */
  readonly cause:
    | 'changed'
    | 'drifted'
    | 'kept'
    | 'conflict'
    | 'cleared'
    | 'released'
    | 'secret_changed'
    | 'secret_source_changed'
    | 'secret_account_changed'
    | 'secret_unwritten'
    | 'secret_resent'
    | 'unknown_secret'
    | 'unknown_content'
    | 'stored_as';
  /** The values differ in white space at the ends, line ends, composed letters, the form of an address, or as an empty text and none, so the platform may have changed the written one on the way. Absent where they differ in more, or where the configuration changed. */
  readonly is_alike?: true;
  /** Of a conflict: what Callsheet last wrote there. Absent where it is secret, or too long to be remembered. */
  readonly base?: Json;
  /** In a `drift` document, of a conflict: what the files have. */
  readonly configured?: Json;
  /** Of a change that the base has in part: the base has this field already. Absent of all others. */
  readonly origin?: 'base';
  /** Why the platform would refuse it now; a rollback, and a plan with `--skip-refused`, leave it out and do the rest. Absent where it would not. */
  readonly refused?: string;
  readonly attribution?: Attribution;
  /** In a `drift` document: flags of `pull`, any one of which writes the live value into the files; none where `pull` refuses it. Absent where `pull` needs no flag. The digest does not cover it. */
  readonly pull_flags?: ('--override' | '--change-shared')[];
  /** The file of its own that the text is read from, as with `$file` and `$template`; absent where it stands in the YAML. The digest does not cover it. */
  readonly source?: string;
};
/** Who changed it, as far as the history tells. */
export type Attribution = {
  /** `entry`: the edit of the one entry; `actor`: one of several edits by the same actor; `one_of`: one of several edits by several actors; `unknown`: `because` says why. */
  readonly certainty: 'entry' | 'actor' | 'one_of' | 'unknown';
  /** Why it is unknown: history does not record this setting; the kind has no history; there is no entry since the last run; where the last run stands in the history is unknown; the entries no longer reach back to it; the newest change has no entry yet; the resource is gone; the platform does not show its history. Null where it is known. */
  readonly because:
    | 'not_recorded'
    | 'no_history'
    | 'no_entry'
    | 'no_beginning'
    | 'retention'
    | 'late'
    | 'gone'
    | 'unreadable'
    | null;
  /** Ids among the `edits` of the change, newest first; for `unknown` those that there are, none of which need be the one. */
  readonly entries: readonly number[];
};
/** A change within a text that changes the behaviour of an agent. */
export type Callout = {
  /** The field that it is in. */
  readonly path: string;
  /** The first five name a change of an instruction: it says the opposite (`reversed`), went (`removed`), came (`added`), says something else (`changed`), or stands below a heading that gives it another sense (`moved`). The others name a value: a number, time, price, day or range (`number`), the target of a transfer (`transfer`), a phone number (`phone`), an address (`link`), a `{{token}}` or a tool. */
  readonly sort:
    | 'reversed'
    | 'removed'
    | 'added'
    | 'changed'
    | 'moved'
    | 'number'
    | 'transfer'
    | 'phone'
    | 'link'
    | 'token'
    | 'tool';
  /** The instruction or value as the text before has it, of an instruction at most 1,000 characters; null where it is new. */
  readonly before: string | null;
  /** As the text after has it; null where it is gone, and the same as `before` where it stands elsewhere. */
  readonly after: string | null;
  /** The heading above it. */
  readonly heading: string | null;
  /** Its line in the text after; of what is gone, in the text before. */
  readonly line: number;
  /** How often the text has this same change; `heading` and `line` are those of the first. */
  readonly times: number;
};
/** Where a secret goes once the change is carried out. */
export type Secret = {
  /** The leaf that holds it. */
  readonly path: string;
  /** Where the value that is written is read from, with credentials in a command masked; null where what is stored stays as it is, or is removed. */
  readonly source: string | null;
  /** The host that the platform sends it to, with the scheme where that is not https; a provider's name; or `the platform`. Null where it is removed with what it stands in. */
  readonly to: string | null;
  /** The same as it is now; null where nothing is stored there. */
  readonly before: string | null;
  /** Set where the value comes from another source than the one last applied. */
  readonly another_source?: true;
  /** Of one that is removed: whether a rollback can put it back. True where the platform returns it, as runs with `CALLSHEET_FINGERPRINT_KEY` keep such values encrypted; absent where nothing is removed. */
  readonly restorable?: boolean;
  /** How many other resources read the same source and are not written by this plan: a new value reaches them, too. Absent where there are none. */
  readonly shared_with?: number;
};
/** What a plan remembers of a live resource, so that apply can tell whether it moved. */
export type Pin = {
  /** Of the live document's canonical form. */
  readonly digest: string;
  /** As the platform gave it. */
  readonly updated_at: string | null;
  /** Newest history entry, for kinds that have a history. */
  readonly history_id: number | null;
};
/** What the change was made from, as digests. Apply compares each with what is there now, and writes nothing where one moved. */
export type Basis = {
  readonly configured: BlockDigest;
  readonly entry: EntryDigest;
  /** Over what was live, by field: the values that the configuration sets, and all documented members of an object or list that is sent whole. */
  readonly live: {
    readonly [k: string]: string;
  };
  /** Ids of the resources that it refers to, by address; absent where none of them exists yet. */
  readonly refs?: {
    readonly [k: string]: string;
  };
};
/** One step of a change. */
export type Operation = {
  /** What it does; `facet` writes a part that has an endpoint of its own, `again` ingests afresh. */
  readonly step: 'create' | 'update' | 'delete' | 'revert' | 'facet' | 'again';
  /** Top-level fields that it writes; for `facet`, the facet. */
  readonly fields: readonly string[];
  /** The history entry that a revert restores. */
  readonly version?: number;
};
/** A history entry. */
export type Edit = {
  /** Names the version. */
  readonly id: number;
  /** What was done, such as `updated` or `reverted`; null where the platform does not say. */
  readonly action: string | null;
  /** Who did it; for the API `api:` and the account id. Null where the platform does not say. */
  readonly actor: string | null;
  /** From where, such as `dashboard-api`; null where the platform does not say. */
  readonly source: string | null;
  /** When, as the platform gave it; null where it does not say. */
  readonly at: string | null;
  /** For a revert, the entry that it restored. */
  readonly reverted_from_id: number | null;
};
/** Resources of one kind to which the same happens. Fields that change alike: equal values on both sides, or texts with the same hunks, with the lines around them and the headings above them. Values of a row that the edit leaves alone may differ. New resources: what they have in common. Resources that are deleted or forgotten: no fields. */
export type Group = {
  /** Kind of the resources. */
  readonly kind: string;
  /** What happens to them. */
  readonly action: 'create' | 'update' | 'delete' | 'forget';
  /** The resources, in natural order. */
  readonly addresses: readonly string[];
  /** The fields that change alike in all of them. */
  readonly fields: readonly {
    /** The field, as in `changes`. */
    readonly path: string;
    /** The file that says so for all of them, with its line: a base, a template, a table; null where each has its own. */
    readonly source: string | null;
    /** Where rows have values of their own in the edited lines: the old text of the first resource, with expressions such as `${each.name}` in the place of those values. */
    readonly before?: string;
    /** The new text, in the same way. */
    readonly after?: string;
    /** Values of rows that change, by column; absent where none do. Where `before` and `after` are equal or absent, nothing else of the field changes. */
    readonly columns?: readonly ColumnEdit[];
  }[];
  /** Blocks with `for_each` of which all rows are among the addresses, or all but a few; absent where there are none. */
  readonly blocks?: readonly {
    /** The address without the key of a row. */
    readonly block: string;
    /** Rows of it that are not in the group. */
    readonly except: readonly string[];
  }[];
};
/** A value of rows that changes in a field: each of its edits with the rows that have it. Each resource of the group is in one edit, or in one form, or its row keeps the value. */
export type ColumnEdit = {
  /** The expression that stands for the value in the field. */
  readonly expression: string;
  /** The column that it comes from; absent where it is made of several. */
  readonly column?: string;
  /** The file of the table; null where no file says what is written, as in a rollback. */
  readonly source: string | null;
  /** Edits that are read one by one, the most frequent first. */
  readonly edits: readonly {
    /** The old value, as the field has it. */
    readonly before: string | number | boolean | null;
    /** The new value. */
    readonly after: string | number | boolean | null;
    /** The resources whose value is edited so. */
    readonly addresses: readonly string[];
  }[];
  /** The forms of many different values, which stand in `changes`; absent where all values are among the edits. */
  readonly forms?: readonly {
    /** The form of all old values; null where there are none. */
    readonly before: TextForm | null;
    /** The form of all new values; null where there are none. */
    readonly after: TextForm | null;
    /** The resources whose values have these forms. */
    readonly addresses: readonly string[];
  }[];
};
/** The words that several texts have in common, with gaps in the place of the rest. The pieces, with the parts of one text in the gaps, are exactly that text. */
export type TextForm = {
  /** The words before, between and behind the gaps: one more than there are gaps. */
  readonly pieces: readonly string[];
  /** The parts of each gap. */
  readonly gaps: readonly {
    /** The number of different parts that stand there. */
    readonly count: number;
    /** The least of whole numbers; absent for other parts. */
    readonly from?: number;
    /** The greatest of whole numbers. */
    readonly to?: number;
    /** No number between them is left out. */
    readonly in_row?: boolean;
    /** Some parts that are no whole numbers: the first, the longest and the shortest. */
    readonly examples?: readonly string[];
  }[];
};
/** A resource that is as configured, and of which the state is to remember what the plan found: ownership, protection, values that agree by now, another address. */
export type Agreed = {
  readonly address: Address;
  /** Kind of the resource. */
  readonly kind: string;
  /** Id of the live resource. */
  readonly id: string;
  /** Values of the kind's scope fields, such as the organization. */
  readonly scope: {
    readonly [k: string]: string;
  };
  readonly configured: BlockDigest;
  readonly entry: EntryDigest;
  /** The pin to remember; null for what was not read. */
  readonly pin: null | RememberedPin;
  /** Paths of secrets whose value was at hand and is what is live. */
  readonly secrets?: readonly string[];
  /** Fields that the schema does not know and the platform does not return. */
  readonly unseen?: readonly string[];
  /** Digests of live values that count as what the configuration has, by path: the platform stored it so. */
  readonly stored?: {
    readonly [k: string]: string;
  };
  /** When it was created, as the platform says, of one that the state does not know. */
  readonly created_at?: string;
  /** Whether nothing but the pin is another one. The digest does not cover such an entry. */
  readonly is_read_again?: true;
};
/** A pin, and whether any later change is sure to have another `updated_at`. */
export type RememberedPin = {
  /** Of the live document's canonical form. */
  readonly digest: string;
  /** As the platform gave it. */
  readonly updated_at: string | null;
  /** Newest history entry, for kinds that have a history. */
  readonly history_id: number | null;
  /** Whether it is. Absent: not, or nobody knows. */
  readonly certain?: true;
};
/** The edits of one resource that are left as they are. */
export type Kept = {
  readonly address: Address;
  /** Kind of the resource. */
  readonly kind: string;
  /** Id of the live resource. */
  readonly id: string;
  /** The edited fields. */
  readonly fields: readonly {
    /** Path of the field. */
    readonly path: string;
    /** The value that Callsheet wrote last and that the configuration still has; null where there is none. */
    readonly before: Json;
    /** The live value; null where there is none. */
    readonly after: Json;
    /** True where before and after are masked. */
    readonly secret: boolean;
    /** Who edited the resource and when, in words, as far as its history tells. */
    readonly by: string;
  }[];
};
/** Something to know. */
export type Note = {
  /** How much it matters. */
  readonly severity: 'info' | 'warning';
  /** The resource that it is about; null for the whole plan. */
  readonly address: Address | null;
  /** One sentence. */
  readonly message: string;
  /** The state remembers what it says, so the plan of an earlier run or an export has told it; text, Markdown and page count it. */
  readonly known?: true;
  /** Of a note on secrets that are set: how many of them Callsheet cannot compare with what the platform has. The headline counts them. */
  readonly uncompared?: number;
  /** The identifier of a live resource that has the name of what an earlier run deleted, was made since, and is managed by nothing here. */
  readonly returned?: string;
  /** The part of the resource that the platform did not show: a facet, or `history`. */
  readonly unread?: string;
  /** Identifiers of older versions of the resource that are there beside it, or will be after apply: no endpoint deletes them. */
  readonly older_versions?: readonly string[];
  readonly unready?: Unready;
  /** It rests on the time, or on what is at hand where the plan is made, so the `digest` leaves it out. */
  readonly varies?: true;
};
/** The note is on a resource that the platform works on after it was made, and does not confirm to be ready. */
export type Unready = {
  /** `failed`: the next apply has the platform work on it again; `running`: apply leaves it alone; `unknown`: the status is none that Callsheet knows. */
  readonly phase: 'failed' | 'running' | 'unknown';
  /** As the platform returns it; null where it returns none. */
  readonly status: string | null;
  /** When it was last ready, else when it was made or a run last asked for it; null where that is unknown. */
  readonly since: string | null;
};
/** Why the plan is not run now, whatever it would do. */
export type Refusal = {
  /** A window of `guards.freeze`, the hold that a rollback put on the configuration, a rule of the team (`rules`), or a checkout without the commit that was applied last. */
  readonly guard: 'freeze' | 'hold' | 'limit' | 'rule' | 'behind';
  /** What stands against it, and where that is said. */
  readonly message: string;
  /** When it is over by itself; null where that is not known. */
  readonly until: string | null;
  /** Of a plan with a `base`: the same stands against the base alone. Absent where it does not. */
  readonly origin?: 'base';
  /** What to do now. */
  readonly advice: string;
};
/** A limit of the stack that the plan exceeds, with its figures. */
export type ExceededLimit = {
  /** The limit, below `guards`. */
  readonly limit: 'max_delete' | 'max_change_percent';
  /** What the stack sets it to. */
  readonly set: number;
  /** How many changes that allows. */
  readonly allows: number;
  /** How many changes count for it. */
  readonly counted: number;
  /** Resources of the stack that exist on the platform, also those that the plan leaves out. */
  readonly existing: number;
  /** The run that passed the limit and did not come to its end, where the plan goes on with it; absent where `options.override_limits` lets the plan pass. */
  readonly approved_in?: string;
};
/** A flag of the plan that lifts a guard, and who gave it. */
export type Allowed = {
  /** The flag. */
  readonly flag: string;
  /** Who gave it: who set the label of a pull request, or started the pipeline with it. */
  readonly by: string;
};
/** The commit that was applied last, where the checkout that the plan was made in does not have it; absent where it has it, or that cannot be told. */
export type Behind = {
  /** What was applied last. */
  readonly applied: {
    /** The commit. */
    readonly commit: string;
    /** The run that applied it; null where the platform already matched it. */
    readonly run: string | null;
    /** When, ISO 8601. */
    readonly at: string;
    /** Who applied it. */
    readonly user: string | null;
  };
  /** The commit of the checkout. */
  readonly head: string;
  /** `contained`: the applied commit contains that of the checkout. `diverged`: each has commits that the other lacks. `missing`: the repository has no such commit. */
  readonly found: 'contained' | 'diverged' | 'missing';
};
/** What came of rehearsing a plan. */
export type Rehearsal = {
  /** Of the plan that was rehearsed. */
  readonly digest: string;
  /** When it was. */
  readonly at: string;
  /** `passed`: everything held. `partial`: it can be carried out, and a rollback does not bring everything back. `failed`: carrying it out failed or did not come to an end. `refused`: a guard or a lock stands against it. `empty`: there is nothing to carry out. */
  readonly verdict: 'passed' | 'partial' | 'failed' | 'refused' | 'empty';
  /** What the copy was made from: the platform, or a snapshot. */
  readonly source:
    | {
        /** The platform. */
        readonly type: 'platform';
      }
    | {
        /** A snapshot. */
        readonly type: 'snapshot';
        /** The snapshot's file. */
        readonly file: string;
        /** When the snapshot was made. */
        readonly made_at: string;
      };
  /** Resources in the copy, by kind. */
  readonly copied: {
    readonly [k: string]: number;
  };
  /** What was done, in its order. */
  readonly steps: readonly {
    /** `copy`: plan on the copy. `apply`. `again`: a second plan. `failure`: apply on a fresh copy that fails half way. `resume`: apply again. `rollback`. `return`: compare with what there was. */
    readonly step: 'copy' | 'apply' | 'again' | 'failure' | 'resume' | 'rollback' | 'return';
    /** Whether it held. */
    readonly outcome: 'held' | 'partial' | 'failed' | 'refused';
    /** What came of it, as a sentence without a stop. */
    readonly message: string;
    /** What did not hold, one thing an item. */
    readonly details: readonly string[];
  }[];
  /** Leaves that the rollback did not bring back, the first 200 of them. */
  readonly differences: readonly {
    /** Null for what is not in the stack. */
    readonly address: Address | null;
    /** Its kind. */
    readonly kind: string;
    /** Its name, for people. */
    readonly name: string;
    /** Its id on the copy. */
    readonly id: string;
    /** The leaf; null where the whole resource is there on one side only. */
    readonly path: string | null;
    /** Its value before; null where it had none. Masked where it is secret. */
    readonly before: Json;
    /** Its value after; null where it has none. Masked where it is secret. */
    readonly after: Json;
    /** True if the values are masked. */
    readonly secret: boolean;
  }[];
  /** How many such leaves there are in all. */
  readonly differing: number;
  /** What was made to go wrong on top of the failure half way. */
  readonly faults: readonly string[];
  /** What the platform does not tell, and what stands in its place in the copy. */
  readonly filled: readonly string[];
  /** Ids of the assumptions that the requests to the copy rest on. */
  readonly assumptions: readonly string[];
};
}

export declare namespace Runs {
/** What `callsheet runs` prints with `--format json`. `format` says which document it is. */
export type Document = Runs | Receipt | Pruning;
/** One entry of a journal. */
export type Entry = Began | Snapshot | Intent | Outcome | ResourceRecorded | Ended;
/** A value as last written. */
export type Leaf =
  | {
      /** The value. */
      readonly value: Json;
      readonly stored?: StoredMark;
    }
  | {
      /** Its digest. */
      readonly digest: string;
      /** The resource of the file was taken over, and this is its digest of then: it was neither sent nor compared with the platform, which returns no content. */
      readonly assumed?: true;
      readonly stored?: StoredMark;
    }
  | {
      /** Its keyed fingerprint. */
      readonly fingerprint: string;
      /** A digest of where the value came from: of the text of `$secret`, or the mark of a value that stood in the files. */
      readonly source?: string;
      /** A second fingerprint of a value with the name of a secret that the files had in clear: a plan may show the value where it is live. */
      readonly in_clear?: string;
      readonly stored?: StoredMark;
    }
  | {
      /** Nobody knows what it is. */
      readonly unknown: true;
      /** A digest of the text of `$secret` that it was taken over with. */
      readonly source?: string;
    }
  | {
      /** Nobody knows what it wrote, so it is written again. */
      readonly unsettled: true;
    };
/** The platform stored the written value as another one, which this is the digest of, or the keyed fingerprint where it may be a secret. Both count as equal while the configuration has the written one and the platform the other. */
export type StoredMark = string;

/** Finished runs, newest first. */
export type Runs = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-runs';
  /** Version of this format. */
  readonly version: 1;
  /** The runs. */
  readonly runs: readonly {
    /** The run. */
    readonly run: string;
    /** When it began, ISO 8601. */
    readonly at: string;
    /** When it ended, ISO 8601; null where it did not. */
    readonly ended: string | null;
    /** The run that it undoes. */
    readonly undoes?: string;
    /** What it was for. */
    readonly purpose: string;
    /** How it came out. */
    readonly status: string;
    /** How many changes it carried out. */
    readonly changes: number;
    /** Its changes by outcome, without those that the plan left out: how many of each kind, action and status. */
    readonly outcomes: readonly {
      /** Kind of the resources. */
      readonly kind: string;
      /** The action that the plan had. */
      readonly action: string;
      /** The outcome. */
      readonly status: 'done' | 'failed' | 'blocked' | 'not_attempted';
      /** How many. */
      readonly count: number;
      /** The name of the resource, or else its address; null where they are several. */
      readonly name: string | null;
    }[];
    /** Who ran it. */
    readonly user: string | null;
    /** From which commit. */
    readonly commit: string | null;
    /** The file of the state that has it, where that is a restore's own and not the stack's. */
    readonly state?: string;
  }[];
};
/** The receipt of one run: its journal. */
export type Receipt = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-receipt';
  /** Version of this format. */
  readonly version: 1;
  /** The run. */
  readonly run: string;
  /** What was recorded, in order. */
  readonly entries: readonly Entry[];
  /** The newest run that rolled it back and ended as `done`; left out where there is none. */
  readonly undone_by?: string;
};
/** A run began. */
export type Began = {
  /** What the entry records. */
  readonly type: 'began';
  /** The run. */
  readonly run: string;
  /** When, ISO 8601. */
  readonly at: string;
  /** What the run was for. */
  readonly purpose:
    | 'apply'
    | 'heal'
    | 'rollback'
    | 'restore'
    | 'drift'
    | 'state mv'
    | 'state rm'
    | 'state trust'
    | 'state adopt'
    | 'state push'
    | 'state repair'
    | 'runs prune'
    | 'import';
  /** The run that it undoes. */
  readonly undoes?: string;
  /** The snapshot that it goes back to, or that is restored. */
  readonly snapshot?: {
    /** When it was made. */
    readonly made_at: string;
    /** Digest of what it holds. */
    readonly sha256: string;
  };
  /** Who ran it and from what. Null where unknown. */
  readonly actor: {
    /** User. */
    readonly user: string | null;
    /** Machine. */
    readonly host: string | null;
    /** Process. */
    readonly pid: number;
    /** Commit of the stack. */
    readonly commit: string | null;
    /** Address of the job. */
    readonly pipeline: string | null;
    /** Number or address of the merged pull request, from `CALLSHEET_PULL_REQUEST`. */
    readonly pull_request?: string | null;
    /** Who approved it, from `CALLSHEET_APPROVED_BY`. */
    readonly approved_by?: readonly string[];
  };
  /** Digest of the plan; empty for an edit of the state. */
  readonly plan_digest: string;
  /** Digest of the configuration; empty for an edit of the state. */
  readonly config_digest: string;
  /** The account. */
  readonly account_id: string;
  /** Address of the platform. */
  readonly base_url: string;
  /** Whose the state is: the stack (null where the state is in its folder) and the environment. */
  readonly owner?: {
    /** The stack. */
    readonly stack: string | null;
    /** The environment. */
    readonly environment: string | null;
  };
  /** Lineage of the state that it starts from. */
  readonly lineage: string;
  /** Serial of the state that it starts from. */
  readonly serial: number;
  readonly applied?: Applied;
  readonly holds?: Holds;
  /** A feature keeps this from the run on, if the run is a part of it, such as a step of a rollout. */
  readonly kept?: {
    /** The feature, by its name. */
    readonly feature: string;
    /** Which part it is, for people: `careful, step 1 of 3`. */
    readonly part: string;
    /** All that the feature keeps, by name: as state.schema.json has it. */
    readonly entries: {
      readonly [k: string]: JsonObject;
    };
  };
  /** What is to be done should it fail or die. */
  readonly on_failure?: 'rollback';
  /** The resources that `state mv --to` takes to another state, and that state. The run has the same id in both. Until it ended, nothing else is applied from the state that they leave. */
  readonly moves?: {
    /** The resources. */
    readonly addresses: readonly string[];
    readonly to?: OtherState;
    readonly from?: OtherState;
  };
  /** The records that `runs prune` removes. */
  readonly prunes?: {
    /** The records that were to stay, in the form of `--keep`. */
    readonly keep: string;
    /** Runs whose records are removed. */
    readonly runs: readonly string[];
  };
  /** Version of Callsheet. */
  readonly made_by?: string;
  /** The run that brought this record from another state, with the resources that it is about. */
  readonly brought_by?: string;
  /** Flags of its plan that lift a guard, and who gave each, as the pipeline told. */
  readonly allowed?: readonly {
    /** The flag. */
    readonly flag: string;
    /** Who gave it. */
    readonly by: string;
  }[];
  /** Guards that it was told to override. */
  readonly overrides?: readonly {
    /** Which guard. */
    readonly guard: 'freeze' | 'hold' | 'limit' | 'behind';
    /** What the guard said. */
    readonly message: string;
    /** Why it was overridden, where a reason is asked for. */
    readonly reason: string | null;
  }[];
};
/** The commit that was applied last. */
export type Applied = {
  /** The commit of the checkout. */
  readonly commit: string;
  /** The Git tree of the stack's folder in that commit; null where the folder had uncommitted changes. */
  readonly tree: string | null;
  /** The run that applied it; null where the platform already matched it, so that only the state was written. */
  readonly run: string | null;
  /** When, ISO 8601. */
  readonly at: string;
  /** Who applied it. */
  readonly user: string | null;
};
/** Values that were rolled back and are not written again until somebody releases them, by a digest of address, path and value. */
export type Holds = {
  readonly [k: string]: {
    /** The resource. */
    readonly address: string;
    /** Its id; null where it has another one once it is made again. */
    readonly id: string | null;
    /** The value; null: the resource as a whole. */
    readonly path: string | null;
    /** Its digest, or the fingerprint of a secret; null: that nothing is there. */
    readonly value: string | null;
    /** The run that had applied it. */
    readonly undid: string;
    /** The rollback. */
    readonly by: string;
    /** When it began, ISO 8601. */
    readonly at: string;
    /** Who ran it. */
    readonly user: string | null;
  };
};
/** A state at another place. */
export type OtherState = {
  /** Its place, without credentials. */
  readonly location: string;
  /** Its lineage. */
  readonly lineage: string;
};
/** What a resource was right before the run touched it. */
export type Snapshot = {
  /** What the entry records. */
  readonly type: 'snapshot';
  /** The resource. */
  readonly address: string;
  /** Its kind. */
  readonly kind: string;
  /** Null where it did not exist. */
  readonly id: string | null;
  /** The live document without secrets and sensitive values; null where there was none. */
  readonly document: JsonObject | null;
  /** What tells whether it moved; null where it did not exist. */
  readonly pin: null | Pin;
  /** What the state said of it. */
  readonly resource: null | Resource;
  /** Sensitive values that `document` leaves out, by path. */
  readonly withheld: readonly string[];
  /** Those of them that are kept encrypted, by path; absent without CALLSHEET_FINGERPRINT_KEY. */
  readonly sealed?: {
    readonly [k: string]: string;
  };
  /** The state is to say this of it once the change took; null if that is nothing. */
  readonly intended: null | {
    /** Its natural key, by which one that was made is found. */
    readonly key: string | null;
    /** Values of the kind's scope fields. */
    readonly scope: {
      readonly [k: string]: string;
    };
    /** Name for people. */
    readonly name: string;
    readonly leaves: Leaves;
    /** Whether it is never deleted. */
    readonly protect: boolean;
    /** Values that are written and that the platform never returns, by path. */
    readonly unreadable: readonly string[];
  };
};
/** The live resource as it was when it was last read: what tells whether it moved since. */
export type Pin = {
  /** Digest of its canonical form. */
  readonly digest: string;
  /** When it was changed last, as the platform says. */
  readonly updated_at: string | null;
  /** Its newest history entry. */
  readonly history_id: number | null;
  /** Whether any later change is sure to have another `updated_at`. Absent: not, or nobody knows. */
  readonly certain?: true;
};
/** What the state remembers of a resource. */
export type Resource = {
  /** Its kind. */
  readonly kind: string;
  /** The platform's identifier. */
  readonly id: string;
  /** Values of the kind's scope fields, such as the organization. */
  readonly scope: {
    readonly [k: string]: string;
  };
  /** Name for people. */
  readonly name: string;
  readonly leaves: Leaves;
  /** Null where it was not read. */
  readonly pin: null | Pin;
  /** Whether it is never deleted. */
  readonly protect: boolean;
  /** The rollback that wrote it last; absent where another run did. */
  readonly restored_by?: string;
  /** The fields that this rollback put back. */
  readonly restored_paths?: readonly string[];
  /** When the platform says that it was created; another time means another resource. Absent where it did not say. */
  readonly created_at?: string;
  /** Where edits that runs kept (`guards.drift: keep`) may begin: the last change before them. Absent where no run left an edit in it. */
  readonly kept_since?: {
    /** When that was, as the platform says. */
    readonly updated_at: string | null;
    /** Its history entry. */
    readonly history_id: number | null;
  };
  /** When a run last had the platform work on it after its requests, such as an ingestion. Absent of kinds that are ready once they are made. */
  readonly asked_at?: string;
  /** Requests of its making that were answered, where a run died before the last of them. */
  readonly unfinished?: readonly string[];
};
/** Values as last written, by path. */
export type Leaves = {
  readonly [k: string]: Leaf;
};
/** A request that is about to leave. */
export type Intent = {
  /** What the entry records. */
  readonly type: 'intent';
  /** Counts the requests of the run, from 1. */
  readonly seq: number;
  /** When, ISO 8601. */
  readonly at: string;
  /** The resource. */
  readonly address: string;
  /** Its part in the change. */
  readonly step: 'create' | 'update' | 'delete' | 'revert' | 'facet' | 'again';
  /** Name of the operation, as in `platform.openapi.yaml`. */
  readonly operation: string;
  /** The platform's identifier; null where there is none yet. */
  readonly id: string | null;
  /** Paths that it is meant to change. */
  readonly fields: readonly string[];
};
/** What came of a request. */
export type Outcome = {
  /** What the entry records. */
  readonly type: 'outcome';
  /** Of its intent. */
  readonly seq: number;
  /** When, ISO 8601. */
  readonly at: string;
  /** Whether it was answered with success. */
  readonly ok: boolean;
  /** The id that a create returned. */
  readonly id: string | null;
  /** Message of the failure. */
  readonly error: string | null;
  /** That the platform refused it, or that it never reached the platform: it changed nothing. Absent where that is not known. */
  readonly refused?: true;
};
/** What the state remembers of a resource from now on. */
export type ResourceRecorded = {
  /** What the entry records. */
  readonly type: 'resource';
  /** The resource. */
  readonly address: string;
  /** Null: it is no longer remembered. */
  readonly resource: null | Resource;
};
/** The run ended. */
export type Ended = {
  /** What the entry records. */
  readonly type: 'ended';
  /** When, ISO 8601. */
  readonly at: string;
  /** How it came out. `settled`: it died, and a later command found out what it had done. */
  readonly status: 'done' | 'partial' | 'interrupted' | 'settled';
  /** Whether everything that was written was read back. */
  readonly verified: boolean;
  /** What became of each change. */
  readonly ledger: readonly LedgerLine[];
  /** Where the platform is not as a rollback wanted it; absent where it is. */
  readonly differs?: readonly Difference[];
  /** What a rollback did not put back; absent where it put everything back. */
  readonly left?: readonly NotUndone[];
};
/** What became of one change. */
export type LedgerLine = {
  /** The resource. */
  readonly address: string;
  /** Its name, where the plan had one. */
  readonly name?: string;
  /** What was to be done: the `action` of the plan, or what an edit of the state did. */
  readonly action: string;
  /** What became of it. `blocked`: something that it needs failed. `not_attempted`: its turn did not come, or the plan left it out. */
  readonly status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  /** Why the plan left it out; absent where it did not. */
  readonly verdict?: 'held' | 'refused' | 'unsupported';
  /** The option of a plan with which it would be done; absent where none would help, or where it was not left out. */
  readonly lifted_by?: 'accept_conflicts' | 'allow_delete' | 'force' | 'override_limits' | 'undo_drift';
  /** The platform's identifier; null where there is none. */
  readonly id: string | null;
  /** What went wrong, or what should be known of it, for people. */
  readonly message: string | null;
  /** Paths that were written. */
  readonly fields: readonly string[];
  /** Null for kinds without a history. */
  readonly history: null | {
    /** Before. */
    readonly before: number | null;
    /** After. */
    readonly after: number | null;
  };
  /** The id that it had before, where a rollback made it anew. */
  readonly former_id?: string;
  /** Fields that it changes by an edit that others share, as the plan groups them; absent where there are none. */
  readonly shared?: readonly {
    /** The place of the group in the plan. Lines of one group are alike in its fields. */
    readonly group: number;
    /** The field. */
    readonly path: string;
    /** The file that says so for all of them, with its line; null where each has its own. */
    readonly source: string | null;
  }[];
  /** History entries that somebody else made while the change was carried out; absent where there were none. */
  readonly interleaved?: readonly Interleaved[];
  /** Values that the platform stored otherwise than they were sent; absent where there were none. Secrets are masked. */
  readonly stored?: readonly {
    /** The field. */
    readonly path: string;
    /** The value that was sent. */
    readonly sent: Json;
    /** The value that the platform returned afterwards; null where it returned none. */
    readonly returned: Json;
    /** True where both are masked. */
    readonly secret: boolean;
  }[];
  /** The edits of others that it wrote over, or deleted with the resource; absent where the plan found none. */
  readonly undid?: {
    /** Paths that had been edited. */
    readonly fields: readonly string[];
    /** The edits since the run before, newest first; a history does not say which of them changed which field. */
    readonly edits: readonly {
      /** Id of the history entry; null for a kind without a history. */
      readonly entry: number | null;
      /** Who made it. */
      readonly actor: string | null;
      /** From where, such as `dashboard`. */
      readonly source: string | null;
      /** When, ISO 8601. */
      readonly at: string | null;
    }[];
  };
  readonly leaves?: Leaves;
};
/** A history entry that somebody else made while the change was carried out. */
export type Interleaved = {
  /** Id of the history entry. */
  readonly entry: number;
  /** What the platform calls it. */
  readonly action: string | null;
  /** Who made it. */
  readonly actor: string | null;
  /** From where, such as `dashboard`. */
  readonly source: string | null;
  /** When, ISO 8601. */
  readonly at: string | null;
  /** `before`: between the check and the write. `after`: on top of the write. `unknown`: below the write and without a time. */
  readonly order: 'before' | 'after' | 'unknown';
};
/** Where the platform is not as it is wanted. Secrets and sensitive values are masked. */
export type Difference = {
  /** The resource. */
  readonly address: string;
  /** The value; null where the resource as a whole should not be there, or should. */
  readonly path: string | null;
  /** What it should be. */
  readonly wanted: Json;
  /** What it is. */
  readonly found: Json;
};
/** What a rollback did not put back. It names values, and holds none. */
export type NotUndone = {
  /** The resource. */
  readonly address: string;
  /** The value; null for the resource as a whole. */
  readonly path: string | null;
  /** Why it was not put back. */
  readonly why: string;
  /** What to do about it. */
  readonly advice: string;
};
/** Records of runs that were removed, and those that must stay. */
export type Pruning = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-pruning';
  /** Version of this format. */
  readonly version: 1;
  /** The edit, as `runs` shows it; null where nothing was written, as with `--dry-run`. */
  readonly run: string | null;
  /** The records that were to stay, in the form of `--keep`. */
  readonly keep: string;
  /** Runs whose records are removed, or with `--dry-run` would be, newest first. */
  readonly pruned: readonly string[];
  /** Older runs whose records stay, newest first. */
  readonly needed: readonly {
    /** The run. */
    readonly run: string;
    /** The last run; what `rollback` undoes; what a hold, an open part of a feature or a deletion names; what rolled back, or brought, a run that stays. */
    readonly reason: 'last_run' | 'rollback' | 'hold' | 'part' | 'deleted' | 'undoes' | 'brought';
    /** What needs it: a run, an address, or a part of a feature such as `rollout careful`. */
    readonly of: string;
  }[];
  /** How many records stay, without that of the edit. */
  readonly kept: number;
  /** How many of the newest the store keeps by itself; null for all. */
  readonly most: number | null;
};
}

export declare namespace Pull {
/** What `pull` and `drift --accept` print with `--format json`. No live value is in it but in `diff`. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-pull';
  /** Version of this format. */
  readonly version: 1;
  /** What became of it. `refused`: something cannot be pulled, and nothing was written. */
  readonly status: 'written' | 'dry_run' | 'refused' | 'nothing';
  /** Values that are pulled. */
  readonly pulled: readonly {
    /** The resource. */
    readonly address: string;
    /** Path of the value. */
    readonly path: string;
    /** Where it is written, relative to the stack. */
    readonly file: string;
    /** Where it stands after the pull, or, of a value that is gone, the line of what held it; null for a text that is a file of its own. */
    readonly line: number | null;
    /** How many resources share the place and change with it (`--change-shared`). */
    readonly others?: number;
  }[];
  /** Changed in the configuration and not applied yet. */
  readonly kept: readonly Left[];
  /** What cannot be pulled. */
  readonly refused: readonly Left[];
  /** With `--merge`: changed in the configuration and on the platform. The files keep their own words there. */
  readonly undecided?: readonly Left[];
  /** With `--new`: what the new files do not say as the platform has it. */
  readonly remarks?: readonly {
    /** The resource. */
    readonly address: string;
    /** Path of the value; null for the resource as a whole. */
    readonly path: string | null;
    /** Why, in words. */
    readonly reason: string;
  }[];
  /** With `--new`: values that the new files ask for. */
  readonly secrets?: readonly {
    /** The resource. */
    readonly address: string;
    /** Path of the value. */
    readonly path: string;
    /** Where it is looked for, such as `env:NAME`. */
    readonly source: string;
  }[];
  /** Files that are written. */
  readonly files: readonly {
    /** Relative to the stack. */
    readonly path: string;
    /** Whether it is a new file. */
    readonly created: boolean;
    /** In the unified format; with `--dry-run` alone. */
    readonly diff?: string;
  }[];
};
/** A live value that is not pulled. */
export type Left = {
  /** The resource. */
  readonly address: string;
  /** Its path; empty for the resource as a whole. */
  readonly path: string;
  /** Why. */
  readonly reason: string;
  /** What to do now. */
  readonly advice: string;
};
}

export declare namespace Restoration {
/** What `restore` prints with `--format json`: what it did and proved. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-restoration';
  /** Version of this format. */
  readonly version: 1;
  /** How it came out; `planned` of a dry run. `partial`: something failed, or live is not as the snapshot has it. */
  readonly status: 'planned' | 'done' | 'partial' | 'refused' | 'interrupted';
  /** The snapshot. */
  readonly snapshot: {
    /** The file. */
    readonly file: string;
    /** When it was made. */
    readonly made_at: string;
    /** Digest of what it holds. */
    readonly sha256: string;
  };
  /** The account. */
  readonly platform: {
    /** Address of the platform. */
    readonly base_url: string;
    /** Account of the credentials. */
    readonly account_id: string;
  };
  /** Organizations and knowledge bases that resources moved to: the new id by the old one. */
  readonly mapped: {
    readonly [k: string]: string;
  };
  /** Where what was made is remembered. */
  readonly state: string;
  /** The state of the stack in whose folder it ran: its addresses stand for the restored resources. Null without a stack, and where nothing was restored. */
  readonly stack: null | {
    /** The place of the state. */
    readonly location: string;
    /** The edit that recorded them; null where they were recorded already, or could not be. */
    readonly run: string | null;
    /** Addresses that stand for resources of this restore. */
    readonly resources: number;
    /** Secrets that the next apply writes to them. */
    readonly secrets: number;
    /** The reason why the state was not written. */
    readonly problem: string | null;
  };
  /** A CSV file with the id that each restored resource had in the snapshot, and the one that it has now; null where it was not written. */
  readonly ids?: string | null;
  /** The runs that it took. */
  readonly runs: readonly string[];
  /** What is to be done, of a dry run; what is still not as it was, of the others. */
  readonly remaining: readonly {
    /** The resource. */
    readonly address: string;
    /** What is to be done. */
    readonly action: string;
    /** Whether it can be. */
    readonly verdict: string;
    /** Why. */
    readonly reason: string;
    /** Values that differ. */
    readonly paths: readonly string[];
  }[];
  /** Null where the restoration is not done. */
  readonly proof: null | {
    /** Resources. */
    readonly resources: number;
    /** Values. */
    readonly values: number;
  };
  /** What is there already under a name of the snapshot. */
  readonly collisions: readonly {
    /** The resource. */
    readonly address: string;
    /** Its kind. */
    readonly kind: string;
    /** Id of what is there. */
    readonly id: string;
    /** Its name. */
    readonly name: string | null;
    /** Whether it is as the snapshot has it. */
    readonly is_equal: boolean;
  }[];
  /** Secrets that nobody supplied. */
  readonly secrets: readonly {
    /** The resource. */
    readonly address: string;
    /** One of them is enough. */
    readonly any_of: readonly {
      /** Path of the value. */
      readonly path: string;
      /** The variable that it is looked for in. */
      readonly variable: string;
    }[];
  }[];
  /** What is not as it was, and why. */
  readonly exceptions: readonly {
    /** What kind of exception it is. */
    readonly what: string;
    /** The resource; null where it is none in particular. */
    readonly address: string | null;
    /** The name of the thing that only the dashboard sets up; absent where it is none. */
    readonly part?: string;
    /** What it is, for people. */
    readonly message: string;
  }[];
};
}

export declare namespace Rollouts {
/** What `rollout start`, `run`, `show`, `promote` and `abort` print with `--format json`. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-rollouts';
  /** Version of this format. */
  readonly version: 1;
  /** The time of the platform, ISO 8601; the machine's own where the platform gives none. */
  readonly now: string;
  /** The environment of the stack; null where it has none. */
  readonly environment: string | null;
  /** Those that were asked for, by name. */
  readonly rollouts: readonly Rollout[];
};
/** One rollout. */
export type Rollout = {
  /** Its id. */
  readonly id: string;
  /** Its name in callsheet.yaml. */
  readonly name: string;
  /** `applying`: a step is not applied in full; `judging`: it waits for calls; `held`: a person decides; `rolling_back`: it is not taken back in full. */
  readonly status: 'applying' | 'judging' | 'held' | 'rolling_back' | 'done' | 'rolled_back';
  /** Why it is held, or was rolled back; null where it is neither. */
  readonly why: string | null;
  /** Whether its step takes longer than `overdue_after`. */
  readonly overdue: boolean;
  /** When it was started, by the clock of the platform, ISO 8601. */
  readonly started_at: string;
  /** When it ended; null where it is under way. */
  readonly ended_at: string | null;
  /** Who started it; null where unknown. */
  readonly user: string | null;
  /** The commit that it was started from; null where unknown. */
  readonly commit: string | null;
  /** Digest of the plan that was reviewed. */
  readonly plan_digest: string;
  /** Agents that are selected and change. */
  readonly agents: number;
  /** The number of the step that it is at, from 1. */
  readonly step: number;
  /** In order. */
  readonly steps: readonly Step[];
  readonly judge: Judge;
  /** What stops it at once. */
  readonly guard_rails: {
    /** Percent of an agent's calls with an error; null where errors are not looked for. */
    readonly errors: number | null;
    /** Calls that were expected of an agent that got none. */
    readonly silence: number;
  };
  /** The calls as they were last looked at; null where they never were. */
  readonly look: Look | null;
  /** What rolling it back left as it is. */
  readonly left: readonly string[];
  /** What comes next, for people. */
  readonly next: string;
  /** Commands that go on. */
  readonly commands: readonly string[];
};
/** One step. */
export type Step = {
  /** Counted from 1. */
  readonly number: number;
  /** Agents that have the change after it. */
  readonly agents: number;
  /** Agents that get it with this step. */
  readonly adds: readonly string[];
  /** The outcome. */
  readonly status: 'applied' | 'applying' | 'pending' | 'undone';
  /** When it was applied, by the clock of the platform; null where it was not. */
  readonly at: string | null;
  /** Its runs, as `callsheet runs` shows them. */
  readonly runs: readonly string[];
};
/** The calls and days that a promotion needs. */
export type Judge = {
  /** Calls of agents with the change since the step. */
  readonly min_calls: number;
  /** Whole days since the step. */
  readonly min_days: number;
  /** Most whole weeks before the rollout that agents are compared with. */
  readonly baseline_weeks: number;
};
/** The calls as they were at a moment. */
export type Look = {
  /** When, by the clock of the platform, ISO 8601. */
  readonly at: string;
  /** The number of the step that was judged, from 1. */
  readonly step: number;
  /** All measures together. */
  readonly verdict: 'better' | 'no_worse' | 'worse' | 'not_enough_calls' | 'no_figures';
  /** What is missing for a verdict, or what stopped the rollout; null where neither is. */
  readonly why: string | null;
  /** Calls of agents with the change since their step. */
  readonly calls: number;
  /** Agents with the change. */
  readonly agents: number;
  /** Agents of the rest of the fleet that they are compared with. */
  readonly others: number;
  /** One by one. */
  readonly measures: readonly Measure[];
  /**
   * Guard rails that were broken.
   *
   * Items: A broken guard rail.
   */
  readonly broken: readonly {
    /** Which one. */
    readonly rail: 'errors' | 'silence';
    /** The agent. */
    readonly address: string;
    /** What happened. */
    readonly message: string;
    /** The consequence: a rollback, or a hold as long as it is broken. */
    readonly does: 'rollback' | 'hold';
  }[];
  /** False where the other agents moved so far themselves that a stop holds and is no rollback. */
  readonly calm: boolean;
  /** Agents that moved unlike all others of their group, and count for less. */
  readonly odd: readonly string[];
};
/** One measure. Shares are in percent, durations in seconds; effects are in percentage points of shares, and of durations in percent of what they were before. */
export type Measure = {
  /** The measure. */
  readonly name: 'resolved' | 'duration' | 'errors';
  /** Which direction is good. */
  readonly better: 'higher' | 'lower';
  /** How much worse is tolerated, as an effect. */
  readonly margin: number;
  /** Agents with the change, in the weeks before the rollout. */
  readonly before: number | null;
  /** The same agents since they have the change. */
  readonly after: number | null;
  /** The rest of the fleet in the weeks before. */
  readonly others_before: number | null;
  /** The rest of the fleet since the step. */
  readonly others_after: number | null;
  /** How much more the agents with the change moved than the rest of the fleet; null where nothing can be said. */
  readonly effect: number | null;
  /** The lower end of the interval of the effect. */
  readonly low: number | null;
  /** The upper end of it. */
  readonly high: number | null;
  /** What follows from the interval. */
  readonly verdict: 'better' | 'no_worse' | 'worse' | 'not_enough_calls' | 'no_figures';
  /** What is missing for a verdict; null where there is one. */
  readonly why: string | null;
};
}

export declare namespace Run {
/** A value as last written. */
export type Leaf =
  | {
      /** The value. */
      readonly value: Json;
      readonly stored?: StoredMark;
    }
  | {
      /** Its digest. */
      readonly digest: string;
      readonly stored?: StoredMark;
    }
  | {
      /** Its keyed fingerprint. */
      readonly fingerprint: string;
      /** A digest of where the value came from: of the text of `$secret`, or the mark of a value that stood in the files. */
      readonly source?: string;
      /** A second fingerprint of a value with the name of a secret that the files had in clear: a plan may show the value where it is live. */
      readonly in_clear?: string;
      readonly stored?: StoredMark;
    }
  | {
      /** Nobody knows what it is. */
      readonly unknown: true;
      /** A digest of the text of `$secret` that it was taken over with. */
      readonly source?: string;
    }
  | {
      /** Nobody knows what it wrote, so it is written again. */
      readonly unsettled: true;
    };
/** The platform stored the written value as another one, which this is the digest of, or the keyed fingerprint where it may be a secret. Both count as equal while the configuration has the written one and the platform the other. */
export type StoredMark = string;

/** What `apply` and `rollback` print with `--format json`: what became of each change. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-run';
  /** Version of this format. */
  readonly version: 1;
  /** The run; null where nothing was carried out. */
  readonly run: string | null;
  /** Digest of the plan that was carried out; null where there was none. */
  readonly plan_digest: string | null;
  /** How it came out. `partial`: something failed or was blocked. `refused`: a guard stood against it, and nothing was written. `interrupted`: stopped cleanly. */
  readonly status: 'done' | 'partial' | 'interrupted' | 'refused';
  /** The run that was to be undone, where it had changed nothing. */
  readonly undoes?: string;
  /** Of a rollback of an apply: what takes the change back in Git; null where that is not known. See plan.schema.json. */
  readonly revert?: null | Revert;
  /** What stood against the plan as a whole; absent where nothing did. */
  readonly refusals?: readonly Refusal[];
  /** Edits made on the platform that the plan left as they are; absent where there were none. See plan.schema.json. */
  readonly kept?: readonly Kept[];
  /** What reading everything again after a rollback came to; absent for other runs. */
  readonly verification?: {
    /** Where the platform is not as it was. */
    readonly differs: readonly Difference[];
    /** How many resources are as they were. */
    readonly equal: number;
    /** Why it could not be read; null where it was. */
    readonly problem: string | null;
    /** What was not put back, and is known not to be. */
    readonly left: readonly NotUndone[];
  };
  /** Bytes that the run sent to the store of its state and read from it; absent of a state in a file. */
  readonly state_bytes?: {
    /** Bytes that were sent. */
    readonly sent: number;
    /** Bytes that came. */
    readonly read: number;
  };
  /** Every change of the plan, in the order in which they ended. */
  readonly ledger: readonly LedgerLine[];
  /** What came of undoing it, with `--rollback-on-failure`; absent where nothing was to be undone. */
  readonly rollback?: Run | Error;
};
/** What takes a change back in Git. */
export type Revert = {
  /** The commit that the run applied. */
  readonly commit: string;
  /** What to type: `git revert`, of a merge commit with its first parent as the mainline. */
  readonly command: string;
  /** The pull request that was merged by it; absent where the run did not record one. */
  readonly pull_request?: string;
};
/** Why the plan is not run now, whatever it would do. */
export type Refusal = {
  /** A window of `guards.freeze`, the hold that a rollback put on the configuration, a rule of the team (`rules`), or a checkout without the commit that was applied last. */
  readonly guard: 'freeze' | 'hold' | 'limit' | 'rule' | 'behind';
  /** What stands against it, and where that is said. */
  readonly message: string;
  /** When it is over by itself; null where that is not known. */
  readonly until: string | null;
  /** What to do now. */
  readonly advice: string;
};
/** The edits of one resource that are left as they are. */
export type Kept = {
  /** The resource. */
  readonly address: string;
  /** Kind of the resource. */
  readonly kind: string;
  /** Id of the live resource. */
  readonly id: string;
  /** The edited fields. */
  readonly fields: readonly {
    /** Path of the field. */
    readonly path: string;
    /** The value that Callsheet wrote last and that the configuration still has; null where there is none. */
    readonly before: Json;
    /** The live value; null where there is none. */
    readonly after: Json;
    /** True where before and after are masked. */
    readonly secret: boolean;
    /** Who edited the resource and when, in words, as far as its history tells. */
    readonly by: string;
  }[];
};
/** Where the platform is not as it is wanted. Secrets and sensitive values are masked. */
export type Difference = {
  /** The resource. */
  readonly address: string;
  /** The value; null where the resource as a whole should not be there, or should. */
  readonly path: string | null;
  /** What it should be. */
  readonly wanted: Json;
  /** What it is. */
  readonly found: Json;
};
/** What a rollback did not put back. It names values, and holds none. */
export type NotUndone = {
  /** The resource. */
  readonly address: string;
  /** The value; null for the resource as a whole. */
  readonly path: string | null;
  /** Why it was not put back. */
  readonly why: string;
  /** What to do about it. */
  readonly advice: string;
};
/** What became of one change. */
export type LedgerLine = {
  /** The resource. */
  readonly address: string;
  /** Its name, where the plan had one. */
  readonly name?: string;
  /** What was to be done: the `action` of the plan, or what an edit of the state did. */
  readonly action: string;
  /** What became of it. `blocked`: something that it needs failed. `not_attempted`: its turn did not come, or the plan left it out. */
  readonly status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  /** Why the plan left it out; absent where it did not. */
  readonly verdict?: 'held' | 'refused' | 'unsupported';
  /** The option of a plan with which it would be done; absent where none would help, or where it was not left out. */
  readonly lifted_by?: 'accept_conflicts' | 'allow_delete' | 'force' | 'override_limits' | 'undo_drift';
  /** The platform's identifier; null where there is none. */
  readonly id: string | null;
  /** What went wrong, or what should be known of it, for people. */
  readonly message: string | null;
  /** Paths that were written. */
  readonly fields: readonly string[];
  /** Null for kinds without a history. */
  readonly history: null | {
    /** Before. */
    readonly before: number | null;
    /** After. */
    readonly after: number | null;
  };
  /** The id that it had before, where a rollback made it anew. */
  readonly former_id?: string;
  /** Fields that it changes by an edit that others share, as the plan groups them; absent where there are none. */
  readonly shared?: readonly {
    /** The place of the group in the plan. Lines of one group are alike in its fields. */
    readonly group: number;
    /** The field. */
    readonly path: string;
    /** The file that says so for all of them, with its line; null where each has its own. */
    readonly source: string | null;
  }[];
  /** History entries that somebody else made while the change was carried out; absent where there were none. */
  readonly interleaved?: readonly Interleaved[];
  /** Values that the platform stored otherwise than they were sent; absent where there were none. Secrets are masked. */
  readonly stored?: readonly {
    /** The field. */
    readonly path: string;
    /** The value that was sent. */
    readonly sent: Json;
    /** The value that the platform returned afterwards; null where it returned none. */
    readonly returned: Json;
    /** True where both are masked. */
    readonly secret: boolean;
  }[];
  /** The edits of others that it wrote over, or deleted with the resource; absent where the plan found none. */
  readonly undid?: {
    /** Paths that had been edited. */
    readonly fields: readonly string[];
    /** The edits since the run before, newest first; a history does not say which of them changed which field. */
    readonly edits: readonly {
      /** Id of the history entry; null for a kind without a history. */
      readonly entry: number | null;
      /** Who made it. */
      readonly actor: string | null;
      /** From where, such as `dashboard`. */
      readonly source: string | null;
      /** When, ISO 8601. */
      readonly at: string | null;
    }[];
  };
  readonly leaves?: Leaves;
};
/** A history entry that somebody else made while the change was carried out. */
export type Interleaved = {
  /** Id of the history entry. */
  readonly entry: number;
  /** What the platform calls it. */
  readonly action: string | null;
  /** Who made it. */
  readonly actor: string | null;
  /** From where, such as `dashboard`. */
  readonly source: string | null;
  /** When, ISO 8601. */
  readonly at: string | null;
  /** `before`: between the check and the write. `after`: on top of the write. `unknown`: below the write and without a time. */
  readonly order: 'before' | 'after' | 'unknown';
};
/** Values as last written, by path. */
export type Leaves = {
  readonly [k: string]: Leaf;
};
/** What `apply` and `rollback` print with `--format json`: what became of each change. */
export type Run = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-run';
  /** Version of this format. */
  readonly version: 1;
  /** The run; null where nothing was carried out. */
  readonly run: string | null;
  /** Digest of the plan that was carried out; null where there was none. */
  readonly plan_digest: string | null;
  /** How it came out. `partial`: something failed or was blocked. `refused`: a guard stood against it, and nothing was written. `interrupted`: stopped cleanly. */
  readonly status: 'done' | 'partial' | 'interrupted' | 'refused';
  /** The run that was to be undone, where it had changed nothing. */
  readonly undoes?: string;
  /** Of a rollback of an apply: what takes the change back in Git; null where that is not known. See plan.schema.json. */
  readonly revert?: null | Revert;
  /** What stood against the plan as a whole; absent where nothing did. */
  readonly refusals?: readonly Refusal[];
  /** Edits made on the platform that the plan left as they are; absent where there were none. See plan.schema.json. */
  readonly kept?: readonly Kept[];
  /** What reading everything again after a rollback came to; absent for other runs. */
  readonly verification?: {
    /** Where the platform is not as it was. */
    readonly differs: readonly Difference[];
    /** How many resources are as they were. */
    readonly equal: number;
    /** Why it could not be read; null where it was. */
    readonly problem: string | null;
    /** What was not put back, and is known not to be. */
    readonly left: readonly NotUndone[];
  };
  /** Bytes that the run sent to the store of its state and read from it; absent of a state in a file. */
  readonly state_bytes?: {
    /** Bytes that were sent. */
    readonly sent: number;
    /** Bytes that came. */
    readonly read: number;
  };
  /** Every change of the plan, in the order in which they ended. */
  readonly ledger: readonly LedgerLine[];
  /** What came of undoing it, with `--rollback-on-failure`; absent where nothing was to be undone. */
  readonly rollback?: Run | Error;
};
/** Why the rollback ended before it could do anything. */
export type Error = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-error';
  /** Version of this format. */
  readonly version: 1;
  readonly error: Failure;
};
/** Why a command ended. */
export type Failure = {
  /** What kind of end it is. `internal` is a bug in Callsheet. */
  readonly kind:
    | 'usage'
    | 'config'
    | 'api'
    | 'network'
    | 'state'
    | 'refused'
    | 'stale'
    | 'locked'
    | 'interrupted'
    | 'internal';
  /** The exit code. */
  readonly exit: number;
  /** What happened, in one or several sentences. */
  readonly message: string;
  /** What to do now; null where nothing in particular helps. */
  readonly hint: string | null;
  /** Problems of the configuration, each with its place. */
  readonly diagnostics: readonly Diagnostic[];
  /** Null where it was none. */
  readonly request: null | {
    /** Its method. */
    readonly method: string;
    /** Its address. */
    readonly url: string;
    /** What was answered. */
    readonly status: number;
    /** The platform's own id of it. */
    readonly request_id: string | null;
  };
  /** The run that it broke off; absent where none was. */
  readonly run?: string;
  /** Every change of the plan of that run, and what became of it; absent where no run was broken off. */
  readonly ledger?: readonly LedgerLine[];
};
/** One problem of the configuration. */
export type Diagnostic = {
  /** With --strict there are no warnings. */
  readonly severity: 'error' | 'warning';
  /** Stable name of the rule, such as `schema/enum`. */
  readonly rule: string;
  /** What is wrong, to which address and field. No trailing stop. */
  readonly message: string;
  /** What to do now. */
  readonly hint?: string;
  /** The resource that it is about. */
  readonly address?: string;
  /** Path of the field inside the resource. */
  readonly path?: string;
  /** Where it stands. Lines and columns count from 1; columns count characters. */
  readonly position?: {
    /** Relative to the stack folder, with forward slashes. */
    readonly file: string;
    /** Line, from 1. */
    readonly line: number;
    /** Column, from 1, in characters. */
    readonly column: number;
    /** The column behind the last character of what is meant, on the same line. */
    readonly end_column?: number;
  };
  /** The lines around the place, with a caret under it. Secrets are `***`. */
  readonly frame?: string;
};
}

export declare namespace Snapshot {
/** One line of a snapshot, which is JSON Lines, compressed with gzip and, when asked, encrypted. The first line is the header and the last one the end. */
export type Document = Header | Resource | Organization | Answer | List | Media | Gap | Same | End;

/** What the snapshot is of. */
export type Header = {
  readonly type: 'header';
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-snapshot';
  /** Version of the format. A newer one is refused. */
  readonly version: 1;
  /** Tells it from every other snapshot. */
  readonly id: string;
  /** When reading began. */
  readonly made_at: string;
  /** Version of Callsheet. */
  readonly made_by: string;
  readonly platform: {
    readonly base_url: string;
    readonly account_id: string;
  };
  /** The one organization that it was narrowed to; null: everything that the credentials see. */
  readonly organization: string | null;
  /** Whether sensitive values are in it. Without encryption they are left out. */
  readonly sensitive: boolean;
  /** The stack whose addresses it holds. */
  readonly stack: null | {
    readonly lineage: string;
  };
  /** The snapshot that holds the records which did not change. */
  readonly base: null | {
    readonly file: string;
    readonly id: string;
    readonly sha256: string;
  };
};
/** One resource. */
export type Resource = {
  readonly type: 'resource';
  readonly kind: string;
  readonly id: string;
  /** Values of the kind's scope fields. */
  readonly scope: {
    readonly [k: string]: string;
  };
  /** Whether all of it could be read, or what its list shows. */
  readonly extent: 'whole' | 'listed';
  /** As the platform returned it. */
  readonly record: JsonObject;
  /** There if no change after the reading can have the same `updated_at`: a list that still has it proves that nothing changed. */
  readonly certain?: true;
  /** Parts with endpoints of their own, in the shape of the configuration. */
  readonly facets: JsonObject;
  /** The newest history entry, where entries have no times to find it by later. */
  readonly history: JsonObject | null;
  /** Paths of sensitive values that were left out. */
  readonly withheld: readonly string[];
  /** Its address in the stack that the snapshot was made in. */
  readonly address: string | null;
  /** What the state of that stack said of it (`state.schema.json`). It holds no secret. */
  readonly state: JsonObject | null;
};
/** An organization, as the billing report names it. */
export type Organization = {
  readonly type: 'organization';
  readonly id: string;
  readonly name: string | null;
  readonly reseller_id: string | null;
  readonly reseller_name: string | null;
};
/** What the platform answered to a question that is not about one resource. */
export type Answer = {
  readonly type: 'answer';
  /** Its name in `platform.openapi.yaml`. */
  readonly operation: string;
  readonly organization_id: string | null;
  readonly reseller_id: string | null;
  /** The whole body. */
  readonly answer: Json;
};
/** A list that was read to its end: what it does not hold was not there. */
export type List = {
  readonly type: 'list';
  readonly kind: string;
  readonly scope: {
    readonly [k: string]: string;
  };
};
/** A piece of a file that a resource was made of, kept on request from the files of the stack: the platform returns none. */
export type Media = {
  readonly type: 'media';
  readonly sha256: string;
  readonly name: string;
  readonly mime: string;
  readonly size: number;
  readonly part: number;
  readonly parts: number;
  /** In base64. */
  readonly data: string;
};
/** Something that could not be read. */
export type Gap = {
  readonly type: 'gap';
  readonly of: string;
  readonly why: string;
};
/** A record of the base that did not change. */
export type Same = {
  readonly type: 'same';
  /** What it is about. */
  readonly key: string;
  /** Of its canonical JSON. */
  readonly digest: string;
};
/** Closes a snapshot; one without it was cut off. */
export type End = {
  readonly type: 'end';
  /** Lines by type, without header and end. */
  readonly records: {
    readonly [k: string]: number;
  };
  /** Resources by kind, those of the base included. */
  readonly resources: {
    readonly [k: string]: number;
  };
  /** Sensitive values that were left out. */
  readonly withheld: number;
  /** Of every line before this one. */
  readonly sha256: string;
};
}

export declare namespace SnapshotCommands {
/** What the commands below `callsheet snapshot` print with `--format json`; `snapshot diff` prints a plan. `format` says which document it is. What is in the file itself: `snapshot.schema.json`. */
export type Document = Summary | List | Resource;

/** What a snapshot is and what it holds. */
export type Summary = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-snapshot-summary';
  /** Version of this format. */
  readonly version: 1;
  /** The file. */
  readonly file: string;
  /** Bytes. */
  readonly size: number;
  /** How the file is encrypted. */
  readonly encryption: 'none' | 'passphrase' | 'age';
  /** When it was made, ISO 8601. */
  readonly made_at: string;
  /** Version of Callsheet. */
  readonly made_by: string;
  /** The account. */
  readonly platform: {
    /** Address of the platform. */
    readonly base_url: string;
    /** Account of the credentials. */
    readonly account_id: string;
  };
  /** The organization that it is limited to; null: all. */
  readonly organization: string | null;
  /** Whether it holds sensitive values. */
  readonly sensitive: boolean;
  /** The snapshot that it builds on; null: none. */
  readonly base: string | null;
  /** Digest of what it holds. */
  readonly sha256: string;
  /** How many resources there are of each kind. */
  readonly resources: {
    readonly [k: string]: number;
  };
  /** How many organizations. */
  readonly organizations: number;
  /** How many other answers of the platform. */
  readonly answers: number;
  /** Sensitive values that were left out, by resource. */
  readonly withheld: readonly {
    /** Its address, or its kind and id. */
    readonly resource: string;
    /** Name for people. */
    readonly name: string | null;
    /** Paths of the values. */
    readonly paths: readonly string[];
  }[];
  /** What could not be read. */
  readonly gaps: readonly {
    /** What is missing. */
    readonly of: string;
    /** Why. */
    readonly why: string;
  }[];
  /** The requests of a restore of all of it once everything is gone. */
  readonly restore: {
    /** Secrets that it asks for, as no snapshot holds any. */
    readonly secrets: readonly {
      /** The resource. */
      readonly address: string;
      /** One of them is enough. */
      readonly any_of: readonly {
        /** Path of the value. */
        readonly path: string;
        /** The variable that it is looked for in. */
        readonly variable: string;
      }[];
    }[];
    /** Exceptions: they cannot come back by themselves, or at all. */
    readonly exceptions: readonly {
      /** The sort of exception. */
      readonly what: string;
      /** The resource; null where it is none in particular. */
      readonly address: string | null;
      /** The name of the thing that only the dashboard sets up; absent where it is none. */
      readonly part?: string;
      /** The exception in words, for people. */
      readonly message: string;
    }[];
  };
};
/** The snapshots of a folder, newest first. */
export type List = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-snapshots';
  /** Version of this format. */
  readonly version: 1;
  /** The snapshots. */
  readonly snapshots: readonly {
    /** Name of the file. */
    readonly file: string;
    /** Bytes. */
    readonly size: number;
    /** How the file is encrypted. */
    readonly encryption: 'none' | 'passphrase' | 'age';
    /** When it was made; null where it cannot be read. */
    readonly made_at: string | null;
    /** The account; null where it cannot be read. */
    readonly account_id: string | null;
    /** Address of the platform; null where it cannot be read. */
    readonly base_url: string | null;
    /** The snapshot that it builds on. */
    readonly base: string | null;
    /** Why it cannot be read; null where it can. */
    readonly problem: string | null;
  }[];
};
/** One resource of a snapshot. */
export type Resource = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-snapshot-resource';
  /** Version of this format. */
  readonly version: 1;
  /** Its kind. */
  readonly kind: string;
  /** The platform's identifier. */
  readonly id: string;
  /** Its address, where the stack had one for it. */
  readonly address: string | null;
  /** Its newest history entry; null where there is none. */
  readonly history: null | Edit;
  /** Sensitive values that were left out, by path. */
  readonly withheld: readonly string[];
  /** Its document in the names of the configuration, secrets masked. */
  readonly data: JsonObject;
};
/** A history entry. Null where unknown. */
export type Edit = {
  /** Names the version. */
  readonly id: number;
  /** What was done, such as `updated` or `reverted`; null where the platform does not say. */
  readonly action: string | null;
  /** Who did it; for the API `api:` and the account id. Null where the platform does not say. */
  readonly actor: string | null;
  /** From where, such as `dashboard-api`; null where the platform does not say. */
  readonly source: string | null;
  /** When, as the platform gave it; null where it does not say. */
  readonly at: string | null;
  /** For a revert, the entry that it restored. */
  readonly reverted_from_id: number | null;
};
}

export declare namespace State {
/** The platform stored the written value as another one, which this is the digest of, or the keyed fingerprint where it may be a secret. Both count as equal while the configuration has the written one and the platform the other. */
export type StoredMark = string;
/** The live resource as it was when it was last read: what tells whether it moved since. */
export type Pin = {
  readonly digest: string;
  readonly updated_at: string | null;
  readonly history_id: number | null;
  /** Whether the resource was as it is remembered here and `updated_at` was long over by the platform's own clock when it was read, so that any later change has another one. Absent: not, or nobody knows. */
  readonly certain?: true;
} | null;
/** One entry of a run's journal. Each line of the file is `{"sum": …, "entry": …}`, where `sum` is the first 16 hex digits of the SHA-256 of the entry's text. */
export type Entry = Began | Snapshot | Intent | Outcome | ResourceRecorded | Ended;

/** What Callsheet last wrote, and which resource an address stands for. It holds no secret and no sensitive value. Not meant to be edited: a changed file is refused. The lines of a run's journal are described under `$defs/entry`. */
export type Document = {
  /** SHA-256 of the compact JSON of everything else but the seal, members in the order of the file. */
  readonly checksum: string;
  /** A keyed digest of the checksum and the place of the state: the id of the key, a digest of the place, and the HMAC. Absent without CALLSHEET_FINGERPRINT_KEY. */
  readonly seal?: string;
  readonly format: 'callsheet-state';
  /** Version of this format, and of the form in which leaves are compared and digested. */
  readonly version: 1;
  /** Made once. A state of another lineage belongs to another stack. */
  readonly lineage: string;
  /** Counts the writes. */
  readonly serial: number;
  /** Salts the fingerprints where no key is given. */
  readonly salt: string;
  /** Stretched secrets, encrypted under what all of them together are stretched to, so that the next run does that once and not once a secret. Absent with a key. */
  readonly stretched?: string;
  /** The account that the resources belong to; a state is used with no other. */
  readonly account_id?: string;
  readonly owner?: Owner;
  /** The run that wrote last; null before the first. */
  readonly last_run: string | null;
  /** Version of the Callsheet that wrote it. Absent in one of an early version. */
  readonly made_by?: string;
  readonly applied?: Applied;
  readonly holds?: Holds;
  readonly kept?: Kept;
  readonly deleted?: Deleted;
  readonly let_go?: LetGo;
  /** Where the state was moved to: a note. Such a state is not used any more. */
  readonly moved_to?: string;
  /** What is remembered of each resource, by address. */
  readonly resources: {
    readonly [k: string]: Resource;
  };
};
export type Owner = {
  /** The stack: `stack` of callsheet.yaml, its folder within the repository, or its path. Null where the state is in the folder of the stack, and goes with it. */
  readonly stack: string | null;
  /** The environment; null for none. */
  readonly environment: string | null;
};
/** The commit that was applied last. Absent where no stack of a Git repository was applied. */
export type Applied = {
  /** The commit of the checkout. */
  readonly commit: string;
  /** The Git tree of the stack's folder in that commit; null where the folder had uncommitted changes. */
  readonly tree: string | null;
  /** The run that applied it; null where the platform already matched it, so that only the state was written. */
  readonly run: string | null;
  /** When, ISO 8601. */
  readonly at: string;
  /** Who applied it. */
  readonly user: string | null;
};
/** Values that were rolled back and are not written again until somebody releases them, by a digest of address, path and value. Absent where there is none. */
export type Holds = {
  readonly [k: string]: {
    /** The resource. */
    readonly address: string;
    /** Its id; null where it has another one once it is made again. */
    readonly id: string | null;
    /** The value; null: the resource as a whole. */
    readonly path: string | null;
    /** Its digest, or the fingerprint of a secret; null: that nothing is there. */
    readonly value: string | null;
    /** The run that had applied it. */
    readonly undid: string;
    /** The rollback. */
    readonly by: string;
    /** When it began, ISO 8601. */
    readonly at: string;
    /** Who ran it. */
    readonly user: string | null;
  };
};
/** Sections that features keep, by feature and name, such as rollouts. Absent where there never was one; a feature that is not there leaves its own as it is. */
export type Kept = {
  readonly [k: string]: {
    readonly [k: string]: KeptEntry;
  };
};
/** An entry that a feature keeps under a name. */
export type KeptEntry = {
  /** How it stands, such as `held`: a word of the feature. */
  readonly status: string;
  /** Why it stands so, for people; null where the status says it all. */
  readonly why: string | null;
  /** It goes on; false once it ended. */
  readonly open: boolean;
  /** The runs that belong to it, the oldest first. While it is open their journals are kept however old they get. */
  readonly runs: readonly string[];
  /** Why nobody knows how it stands, after the state was rebuilt: the feature leaves it to a person. */
  readonly doubt?: string;
  /** Everything else, in the form of the feature. */
  readonly data: JsonObject;
};
/** Resources that runs deleted, or that commits took out while no state was kept, and that are not there again, by address, the newest last. Absent where there is none. */
export type Deleted = {
  readonly [k: string]: {
    /** The run that deleted it; null where Git alone tells that it went. */
    readonly run: string | null;
    /** The commit that took it out of the files; absent where the run is known. */
    readonly commit?: string;
    /** When that run began, or when that commit was made, ISO 8601. */
    readonly at: string;
    readonly kind: string;
    readonly scope: {
      readonly [k: string]: string;
    };
    readonly name: string;
  };
};
/** Content of files that was sent to resources which no address stands for any more, by kind and id, the newest last. Absent where there is none. */
export type LetGo = {
  /** Digests by the path of the field. */
  readonly [k: string]: {
    readonly [k: string]: string;
  };
};
export type Resource = {
  readonly kind: string;
  /** The platform's identifier. */
  readonly id: string;
  /** Values of the kind's scope fields. */
  readonly scope: {
    readonly [k: string]: string;
  };
  /** Name for people. */
  readonly name: string;
  readonly leaves: Leaves;
  readonly pin: Pin;
  /** Never deleted by Callsheet. */
  readonly protect: boolean;
  /** The rollback that wrote it last; absent where another run did. */
  readonly restored_by?: string;
  /** The fields that this rollback put back. */
  readonly restored_paths?: readonly string[];
  /** When the platform says that it was created; another time means another resource. Absent where it did not say. */
  readonly created_at?: string;
  /** Where edits that runs kept (`guards.drift: keep`) may begin: the last change before them. Absent where no run left an edit in it. */
  readonly kept_since?: {
    /** When that was, as the platform says. */
    readonly updated_at: string | null;
    /** Its history entry. */
    readonly history_id: number | null;
  };
  /** When a run last had the platform work on it after its requests, such as an ingestion. Absent of kinds that are ready once they are made. */
  readonly asked_at?: string;
  /** Requests of its making that were answered, where a run died before the last of them. */
  readonly unfinished?: readonly string[];
};
/** Owned leaves as last written, by path. */
export type Leaves = {
  readonly [k: string]: Leaf;
};
/** A leaf as last written: the value itself, the digest of a long one, or the fingerprint of a secret or sensitive one. `unknown`: a secret that was taken over and never written. `unsettled`: nobody knows that it was written, because a run died, or a rollback created the resource again without it. `source`: a digest of where the value of a secret or sensitive one came from. */
export type Leaf = {
  readonly source?: string;
  readonly value?: unknown;
  /** The resource of the file was taken over, and this is its digest of then: it was neither sent nor compared with the platform, which returns no content. */
  readonly assumed?: true;
  readonly digest?: string;
  readonly fingerprint?: string;
  /** A second fingerprint of a value with the name of a secret that the files had in clear: a plan may show the value where it is live. */
  readonly in_clear?: string;
  readonly stored?: StoredMark;
  readonly unknown?: true;
  readonly unsettled?: true;
};
export type Began = {
  readonly type: 'began';
  readonly run: string;
  readonly at: string;
  readonly purpose:
    | 'apply'
    | 'heal'
    | 'rollback'
    | 'restore'
    | 'drift'
    | 'state mv'
    | 'state rm'
    | 'state trust'
    | 'state adopt'
    | 'state push'
    | 'state repair'
    | 'runs prune'
    | 'import';
  readonly undoes?: string;
  readonly snapshot?: {
    readonly made_at: string;
    readonly sha256: string;
  };
  readonly actor: {
    readonly user: string | null;
    readonly host: string | null;
    readonly pid: number;
    readonly commit: string | null;
    readonly pipeline: string | null;
    readonly pull_request?: string | null;
    readonly approved_by?: readonly string[];
  };
  readonly plan_digest: string;
  readonly config_digest: string;
  readonly account_id: string;
  readonly base_url: string;
  readonly lineage: string;
  readonly serial: number;
  readonly owner?: Owner;
  readonly applied?: Applied;
  readonly holds?: Holds;
  /** A feature keeps this from the run on, if the run is a part of it. */
  readonly kept?: {
    /** The feature, by its name. */
    readonly feature: string;
    /** Which part it is, for people: `careful, step 1 of 3`. */
    readonly part: string;
    /** All that the feature keeps, by name. */
    readonly entries: {
      readonly [k: string]: KeptEntry;
    };
  };
  /** What is to be done should it fail or die. */
  readonly on_failure?: 'rollback';
  /** The resources that `state mv --to` takes to another state, and that state. */
  readonly moves?: {
    readonly addresses: readonly string[];
    readonly to?: OtherState;
    readonly from?: OtherState;
  };
  /** The records of runs that it removes, and what was to stay. */
  readonly prunes?: {
    readonly keep: string;
    readonly runs: readonly string[];
  };
  /** Version of Callsheet. */
  readonly made_by?: string;
  /** The run that brought this journal from another state. */
  readonly brought_by?: string;
  /** Flags of its plan that lift a guard, and who gave each. */
  readonly allowed?: readonly {
    readonly flag: string;
    readonly by: string;
  }[];
  /** Guards that it was told to override. */
  readonly overrides?: readonly {
    readonly guard: 'freeze' | 'hold' | 'limit' | 'behind';
    readonly message: string;
    readonly reason: string | null;
  }[];
};
export type OtherState = {
  readonly location: string;
  readonly lineage: string;
};
export type Snapshot = {
  readonly type: 'snapshot';
  readonly address: string;
  readonly kind: string;
  readonly id: string | null;
  readonly document: JsonObject | null;
  readonly pin: Pin;
  readonly resource: null | Resource;
  readonly withheld: readonly string[];
  /** Those of them that are kept encrypted, by path. */
  readonly sealed?: {
    readonly [k: string]: string;
  };
  readonly intended: {
    readonly key: string | null;
    readonly scope: {
      readonly [k: string]: string;
    };
    readonly name: string;
    readonly leaves: Leaves;
    readonly protect: boolean;
    readonly unreadable: readonly string[];
  } | null;
};
export type Intent = {
  readonly type: 'intent';
  readonly seq: number;
  readonly at: string;
  readonly address: string;
  readonly step: 'create' | 'update' | 'delete' | 'revert' | 'facet' | 'again';
  readonly operation: string;
  readonly id: string | null;
  readonly fields: readonly string[];
};
export type Outcome = {
  readonly type: 'outcome';
  readonly seq: number;
  readonly at: string;
  readonly ok: boolean;
  readonly id: string | null;
  readonly error: string | null;
  readonly refused?: true;
};
export type ResourceRecorded = {
  readonly type: 'resource';
  readonly address: string;
  readonly resource: null | Resource;
};
export type Ended = {
  readonly type: 'ended';
  readonly at: string;
  readonly status: 'done' | 'partial' | 'interrupted' | 'settled';
  readonly verified: boolean;
  readonly ledger: readonly LedgerLine[];
  /** Where the platform is not as a rollback wanted it; absent where it is. */
  readonly differs?: readonly {
    readonly address: string;
    readonly path: string | null;
  }[];
  /** What a rollback did not put back; absent where it put everything back. */
  readonly left?: readonly {
    readonly address: string;
    readonly path: string | null;
    readonly why: string;
    readonly advice: string;
  }[];
};
export type LedgerLine = {
  readonly address: string;
  readonly name?: string;
  readonly action: string;
  readonly status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  readonly verdict?: 'held' | 'refused' | 'unsupported';
  readonly lifted_by?: 'accept_conflicts' | 'allow_delete' | 'force' | 'override_limits' | 'undo_drift';
  readonly id: string | null;
  readonly message: string | null;
  readonly fields: readonly string[];
  readonly history: {
    readonly before: number | null;
    readonly after: number | null;
  } | null;
  /** The id that it had before, where a rollback made it anew. */
  readonly former_id?: string;
  /** Fields that it changes by an edit that others share, as the plan groups them; absent where there are none. */
  readonly shared?: readonly {
    /** The place of the group in the plan. Lines of one group are alike in its fields. */
    readonly group: number;
    /** The field. */
    readonly path: string;
    /** The file that says so for all of them, with its line; null where each has its own. */
    readonly source: string | null;
  }[];
  /** History entries that somebody else made while the change was carried out. */
  readonly interleaved?: readonly {
    readonly entry: number;
    readonly action: string | null;
    readonly actor: string | null;
    readonly source: string | null;
    readonly at: string | null;
    readonly order: 'before' | 'after' | 'unknown';
  }[];
  /** Values that the platform stored otherwise than they were sent; absent where there were none. Secrets are masked. */
  readonly stored?: readonly {
    /** The field. */
    readonly path: string;
    /** The value that was sent. */
    readonly sent: Json;
    /** The value that the platform returned afterwards; null where it returned none. */
    readonly returned: Json;
    /** True where both are masked. */
    readonly secret: boolean;
  }[];
  /** The edits of others that it wrote over, or deleted with the resource. */
  readonly undid?: {
    readonly fields: readonly string[];
    readonly edits: readonly {
      readonly entry: number | null;
      readonly actor: string | null;
      readonly source: string | null;
      readonly at: string | null;
    }[];
  };
  readonly leaves?: Leaves;
};
}

export declare namespace Value {
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-value';
  /** Version of this format. */
  readonly version: 1;
  /** The resource. */
  readonly address: string;
  /** The value's path, under the configuration's names; empty for the resource as a whole. */
  readonly field: string;
  /** Whether the resource has it. */
  readonly given: boolean;
  /** Masked as in a plan; null where it is not given. */
  readonly value: Json;
  /** Who says something of it, the lowest first: the last one with a value wins. */
  readonly layers: readonly {
    /** `base NAME`, an address, or `environment NAME`. */
    readonly by: string;
    /** `removed`: it takes away what lies beneath. `empty`: its cell holds nothing, so it gives way. */
    readonly says: 'value' | 'removed' | 'empty';
    /** As it is written; masked where it is sensitive. */
    readonly text: string;
    readonly position: Position;
  }[];
  /** What expressions and files in it stand for. */
  readonly filled: readonly {
    /** The expression, or the form that names a file. */
    readonly expression: string;
    /** Null for a file, and where it stands for nothing. */
    readonly value: string | null;
    /** What gave it. */
    readonly by: string;
    /** Where it comes from; null where that is the command line or the environment. */
    readonly position: Position | null;
  }[];
};
export type Position = {
  /** Relative to the stack folder. */
  readonly file: string;
  /** Line, from 1. */
  readonly line: number;
  /** In characters, from 1. */
  readonly column: number;
  /** The column behind its last character, on the same line. */
  readonly end_column?: number;
};
}

export declare namespace Version {
/** What `callsheet version` prints with `--format json`. */
export type Document = {
  /** Tells the document from other JSON. */
  readonly format: 'callsheet-version';
  /** Version of this format. */
  readonly version: 1;
  /** Version of this Callsheet. */
  readonly callsheet: string;
  /** The file of `--check`; null without one. */
  readonly checked: null | Checked;
};
/** Who wrote a file, and if it can be read here. */
export type Checked = {
  /** The file. */
  readonly file: string;
  /** Its format. */
  readonly format: string;
  /** The version of its format. */
  readonly format_version: number;
  /** The versions of that format that are read here. */
  readonly reads: {
    /** The smallest. */
    readonly from: number;
    /** The largest. */
    readonly to: number;
  };
  /** Version of the Callsheet that wrote it; null where it does not say. */
  readonly made_by: string | null;
  /** The run that wrote it; null for a plan, and for a state before the first run. */
  readonly run: string | null;
  /** When the run began or the plan was made, ISO 8601; null where that is unknown. */
  readonly at: string | null;
  /** Whether it can be read here. */
  readonly readable: boolean;
  /** Why it cannot be read; null where it can. */
  readonly problem: string | null;
};
}
