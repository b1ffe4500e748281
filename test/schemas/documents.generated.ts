// Generated from schemas/*.schema.json by `npm run generate`.
import type { Json, JsonObject } from '../../src/core/value.ts';

export declare namespace Assumptions {
export interface Document {
  format: 'callsheet-assumptions';
  version: 1;
  assumptions: {
    id: string;
    documented: string;
    assumed: string;
    why: string;
    operations: {
      operation: string;
      method: string;
      path: string;
      standing: 'shown' | 'assumed' | 'overridden' | 'refused';
    }[];
    fields: string[];
  }[];
}
}

export declare namespace Batch {
export interface Document {
  format: 'callsheet-batch';
  version: 1;
  batch: string;
  command: 'plan' | 'apply' | 'drift';
  commit: string | null;
  stacks: number;
  new: boolean;
}
}

export declare namespace Read {
export type Document =
  | Records
  | Record
  | History
  | HistoryDiff
  | Calls
  | Call
  | Metrics
  | Billing
  | Features
  | Models
  | Stt
  | Payments
  | Session;

export interface Records {
  format: 'callsheet-records';
  version: 1;
  kind: string;
  data: JsonObject[];
}
export interface Record {
  format: 'callsheet-record';
  version: 1;
  kind: string;
  data: JsonObject;
}
export interface History {
  format: 'callsheet-history';
  version: 1;
  agent_id: string;
  data: JsonObject[];
  runs?: {
    entry: number;
    run: string;
    purpose: string;
    undoes: string | null;
    at: string;
    user: string | null;
    commit: string | null;
  }[];
}
export interface HistoryDiff {
  format: 'callsheet-history-diff';
  version: 1;
  agent_id: string;
  before: {
    entry: number;
    from: string;
    partial: boolean;
  };
  after: {
    entry: number;
    from: string;
    partial: boolean;
  };
  fields: {
    path: string;
    before: Json;
    after: Json;
    secret: boolean;
    differs: true | null;
    kept: {
      before: boolean;
      after: boolean;
    };
  }[];
}
export interface Calls {
  format: 'callsheet-calls';
  version: 1;
  agent_id: string;
  since: string | null;
  until: string | null;
  limit: number | null;
  data: JsonObject[];
}
export interface Call {
  format: 'callsheet-call';
  version: 1;
  agent_id: string;
  data: JsonObject;
}
export interface Metrics {
  format: 'callsheet-metrics';
  version: 1;
  start: string;
  end: string;
  organization_id: string | null;
  reseller_id: string | null;
  data: JsonObject;
}
export interface Billing {
  format: 'callsheet-billing';
  version: 1;
  period: {
    start_date: string;
    end_date: string;
  };
  totals: {
    voice_minutes: number;
    agent_count: number;
    organizations: number;
  };
  data: JsonObject[];
}
export interface Features {
  format: 'callsheet-features';
  version: 1;
  scope: JsonObject | null;
  feature_administration_enabled: boolean | null;
  data: JsonObject[];
}
export interface Models {
  format: 'callsheet-models';
  version: 1;
  organization_id: string | null;
  data: JsonObject[];
}
export interface Stt {
  format: 'callsheet-stt-providers';
  version: 1;
  data: JsonObject[];
}
export interface Payments {
  format: 'callsheet-payments';
  version: 1;
  data: JsonObject;
}
export interface Session {
  format: 'callsheet-session';
  version: 1;
  data: {
    token: string;
    expires_at: string | null;
  };
}
}

export declare namespace Diagnostics {
export interface Document {
  format: 'callsheet-diagnostics';
  version: 1;
  counts: {
    errors: number;
    warnings: number;
  };
  diagnostics: Diagnostic[];
}
export interface Diagnostic {
  severity: 'error' | 'warning';
  rule: string;
  message: string;
  hint?: string;
  address?: string;
  path?: string;
  position?: {
    file: string;
    line: number;
    column: number;
    end_column?: number;
  };
  frame?: string;
}
}

export declare namespace Notification {
export interface Document {
  format: 'callsheet-drift-notification';
  version: 1;
  id: string;
  sent_at: string;
  is_drifted: boolean;
  text: string;
  platform: {
    base_url: string;
    account_id: string;
  };
  environment: string | null;
  commit: string | null;
  pipeline: string | null;
  digest: string;
  summary: {
    compared: number;
    drifted: number;
    gone: number;
    fields: {
      entry: number;
      actor: number;
      one_of: number;
      unknown: number;
    };
  };
  changes: Change[];
  omitted: number;
}
export interface Change {
  address: string;
  kind: string;
  name: string;
  organization: string | null;
  id: string | null;
  is_gone: boolean;
  source: string | null;
  fields: Field[];
  attribution: Attribution | null;
  edits: Edit[];
}
export interface Field {
  path: string;
  before: Json;
  after: Json;
  is_cut: boolean;
  secret: boolean;
  conflict: boolean;
  attribution: Attribution | null;
}
export interface Attribution {
  certainty: 'entry' | 'actor' | 'one_of' | 'unknown';
  because:
    | 'not_recorded'
    | 'no_history'
    | 'no_entry'
    | 'no_beginning'
    | 'retention'
    | 'late'
    | 'gone'
    | null;
  entries: number[];
}
export interface Edit {
  id: number;
  action: string | null;
  actor: string | null;
  source: string | null;
  at: string | null;
  reverted_from_id: number | null;
}
}

export declare namespace Error {
export interface Document {
  format: 'callsheet-error';
  version: 1;
  error: Failure;
}
export interface Failure {
  kind:
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
  exit: number;
  message: string;
  hint: string | null;
  diagnostics: Diagnostic[];
  request: null | {
    method: string;
    url: string;
    status: number;
    request_id: string | null;
  };
}
export interface Diagnostic {
  severity: 'error' | 'warning';
  rule: string;
  message: string;
  hint?: string;
  address?: string;
  path?: string;
  position?: {
    file: string;
    line: number;
    column: number;
    end_column?: number;
  };
  frame?: string;
}
export interface Failure1 {
  kind:
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
  exit: number;
  message: string;
  hint: string | null;
  diagnostics: Diagnostic[];
  request: null | {
    method: string;
    url: string;
    status: number;
    request_id: string | null;
  };
}
}

export declare namespace Events {
export type Document = RunStarted | ChangeStarted | RequestSent | ChangeEnded | RunEnded;
export type Leaf =
  | {
      value: Json;
      form?: number;
    }
  | {
      digest: string;
      form?: number;
    }
  | {
      fingerprint: string;
      form?: number;
    }
  | {
      unknown: true;
    }
  | {
      unsettled: true;
    };

export interface RunStarted {
  format: 'callsheet-events';
  version: 1;
  type: 'run_started';
  at: string;
  run: string;
  changes: number;
}
export interface ChangeStarted {
  type: 'change_started';
  at: string;
  address: string;
  action: 'create' | 'update' | 'replace' | 'delete' | 'adopt' | 'forget' | 'no_op';
}
export interface RequestSent {
  type: 'request_sent';
  at: string;
  address: string;
  operation: string;
  seq: number;
}
export interface ChangeEnded {
  type: 'change_ended';
  at: string;
  line: LedgerLine;
}
export interface LedgerLine {
  address: string;
  action: string;
  status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  verdict?: 'held' | 'refused' | 'unsupported';
  id: string | null;
  message: string | null;
  fields: string[];
  history: null | {
    before: number | null;
    after: number | null;
  };
  former_id?: string;
  interleaved?: Interleaved[];
  leaves?: Leaves;
}
export interface Interleaved {
  entry: number;
  action: string | null;
  actor: string | null;
  source: string | null;
  at: string | null;
  order: 'before' | 'after' | 'unknown';
}
export interface Leaves {
  [k: string]: Leaf;
}
export interface RunEnded {
  type: 'run_ended';
  at: string;
  run: string;
  status: 'done' | 'partial' | 'interrupted';
}
}

export declare namespace Export {
export interface Document {
  format: 'callsheet-export';
  version: 1;
  dir: string;
  organizations: {
    id: string;
    name: string;
  }[];
  resources: {
    kind: string;
    count: number;
  }[];
  bases: number;
  files: number;
  kept: string[];
  state: boolean;
  secrets: {
    name: string;
    address: string;
    path: string;
    told: boolean;
  }[];
  secrets_file: string | null;
  remarks: {
    address: string;
    path: string | null;
    reason: string;
  }[];
  unlisted: {
    kind: string;
    reason: string;
  }[];
  variables: {
    name: string;
    id: string;
  }[];
}
}

export declare namespace Field {
export interface Document {
  format: 'callsheet-field';
  version: 1;
  field: string;
  kind: string | null;
  description: string;
  type: string;
  values: unknown[];
  default: Json;
  example: string | null;
  required: boolean;
  clearable: boolean;
  settable: boolean;
  forms: string[];
  secret: boolean;
  sensitive: boolean;
  refers_to: string | null;
  immutable: boolean;
  restored_by_revert: boolean | null;
  lock: string | null;
  facet: string | null;
  listed_by: string | null;
  assumption: string | null;
  identity: string | null;
  unordered: boolean;
  whole: boolean;
  members: {
    name: string;
    type: string;
    required: boolean;
    settable: boolean;
    description: string;
  }[];
}
}

export declare namespace Fleet {
export interface Document {
  format: 'callsheet-fleet';
  version: 1;
  command: 'validate' | 'plan' | 'apply' | 'drift';
  found: number;
  shard: null | {
    index: number;
    count: number;
  };
  exit: number;
  digest: string | null;
  totals: {
    unchanged?: number;
    changes?: number;
    done?: number;
    failed?: number;
    partial?: number;
    refused?: number;
    stale?: number;
    locked?: number;
    interrupted?: number;
  };
  stacks: Stack[];
}
export interface Stack {
  path: string;
  status:
    | 'unchanged'
    | 'changes'
    | 'done'
    | 'failed'
    | 'partial'
    | 'refused'
    | 'stale'
    | 'locked'
    | 'interrupted';
  exit: number;
  counts: {
    [k: string]: number;
  };
  plan_digest: string | null;
  plan_file: string | null;
  run: string | null;
  reason: string | null;
  error: null | Failure;
}
export interface Failure {
  kind:
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
  exit: number;
  message: string;
  hint: string | null;
  diagnostics: Diagnostic[];
  request: null | {
    method: string;
    url: string;
    status: number;
    request_id: string | null;
  };
}
export interface Diagnostic {
  severity: 'error' | 'warning';
  rule: string;
  message: string;
  hint?: string;
  address?: string;
  path?: string;
  position?: {
    file: string;
    line: number;
    column: number;
    end_column?: number;
  };
  frame?: string;
}
}

export declare namespace Import {
export interface Document {
  format: 'callsheet-import';
  version: 1;
  run: string | null;
  serial: number | null;
  bound: {
    address: string;
    id: string;
    differing: string[];
  }[];
  unclear: {
    address: string;
    reason: string;
    ids: string[];
    commands: string[];
  }[];
  absent: string[];
}
}

export declare namespace StateCommands {
export type Document = List | Show | Edit | Lock | Repair | Migration;
export type Leaf =
  | {
      value: Json;
      form?: number;
    }
  | {
      digest: string;
      form?: number;
    }
  | {
      fingerprint: string;
      form?: number;
    }
  | {
      unknown: true;
    }
  | {
      unsettled: true;
    };

export interface List {
  format: 'callsheet-state-list';
  version: 1;
  lineage: string;
  serial: number;
  account_id: string | null;
  resources: {
    address: string;
    kind: string;
    id: string;
    name: string;
    scope: {
      [k: string]: string;
    };
    protect: boolean;
  }[];
}
export interface Show {
  format: 'callsheet-state-resource';
  version: 1;
  address: string;
  resource: Resource;
}
export interface Resource {
  kind: string;
  id: string;
  scope: {
    [k: string]: string;
  };
  name: string;
  leaves: Leaves;
  pin: null | Pin;
  protect: boolean;
  restored_by?: string;
  unfinished?: string[];
}
export interface Leaves {
  [k: string]: Leaf;
}
export interface Pin {
  digest: string;
  updated_at: string | null;
  history_id: number | null;
  certain?: true;
  form?: number;
}
export interface Edit {
  format: 'callsheet-state-edit';
  version: 1;
  run: string | null;
  serial: number | null;
  ledger: LedgerLine[];
  set_aside: string[];
}
export interface LedgerLine {
  address: string;
  action: string;
  status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  verdict?: 'held' | 'refused' | 'unsupported';
  id: string | null;
  message: string | null;
  fields: string[];
  history: null | {
    before: number | null;
    after: number | null;
  };
  former_id?: string;
  interleaved?: Interleaved[];
  leaves?: Leaves1;
}
export interface Interleaved {
  entry: number;
  action: string | null;
  actor: string | null;
  source: string | null;
  at: string | null;
  order: 'before' | 'after' | 'unknown';
}
export interface Leaves1 {
  [k: string]: Leaf;
}
export interface Lock {
  format: 'callsheet-lock';
  version: 1;
  location: string;
  held: null | {
    lease: string;
    holder: {
      run: string;
      command: string;
      user: string | null;
      host: string;
      pid: number;
      since: string;
    };
    beat: string;
    owner: 'running' | 'gone' | 'elsewhere';
  };
  unlocked: boolean;
}
export interface Repair {
  format: 'callsheet-state-repair';
  version: 1;
  location: string;
  problem: string | null;
  read: 'whole' | 'part' | 'foreign' | 'nothing';
  journals: {
    run: string;
    path: string;
    finished: boolean;
    use: 'replayed' | 'stray' | 'unreadable';
    lost: number;
  }[];
  run: string | null;
  serial: number | null;
  ledger: LedgerLine[];
  set_aside: string[];
  findings: {
    address: string;
    finding: 'kept' | 'found' | 'differs' | 'lost' | 'absent';
    id: string | null;
  }[];
}
export interface Migration {
  format: 'callsheet-state-migration';
  version: 1;
  from: string;
  to: string;
  serial: number;
  resources: number;
  runs: number;
  left: string[];
}
}

export declare namespace Plan {
export type Address = string;
export type Document1 = JsonObject | null;
export type Document2 = JsonObject | null;
export type Document3 = JsonObject | null;

export interface Document {
  format: 'callsheet-plan';
  version: 1;
  digest: string;
  created_at: string;
  purpose: 'apply' | 'rollback' | 'restore' | 'drift' | 'comparison';
  undoes?: string;
  snapshot?: {
    made_at: string;
    sha256: string;
  };
  platform: {
    base_url: string;
    account_id: string;
  };
  organizations: {
    [k: string]: string;
  };
  environment?: string;
  config_digest: string;
  state: {
    lineage: string;
    serial: number;
  };
  options: {
    allow_delete: boolean;
    accept_conflicts: boolean;
    skip_refused: boolean;
    resend_secrets: boolean | Address[];
    target: Address[];
    exclude: Address[];
    force: boolean;
    override_freeze?: string;
    release_hold?: boolean;
  };
  summary: {
    create: number;
    update: number;
    replace: number;
    delete: number;
    adopt: number;
    forget: number;
    no_op: number;
    refused: number;
    held: number;
    unsupported: number;
  };
  requests: {
    reads: number;
    writes: number;
    seconds: number;
  };
  assumptions: string[];
  endpoints?: {
    operation: string;
    method: string;
    path: string;
    instead_of: {
      method: string;
      path: string;
    };
  }[];
  changes: Change[];
  groups?: Group[];
  notes: Note[];
  refusals?: Refusal[];
  settled?: {
    run: string;
    findings: {
      severity: 'info' | 'warning';
      address: Address;
      message: string;
    }[];
  };
  rehearsal?: Rehearsal;
}
export interface Change {
  address: Address;
  kind: string;
  name: string;
  organization_id: string | null;
  id: string | null;
  action: 'create' | 'update' | 'replace' | 'delete' | 'adopt' | 'forget' | 'no_op';
  verdict: 'ok' | 'held' | 'refused' | 'unsupported';
  reason: string;
  adopted: boolean;
  missing_id: string | null;
  moved_from?: string;
  before: Document1;
  after: Document2;
  fields: Field[];
  secrets?: Secret[];
  pin: Pin | null;
  operations: Operation[];
  undoing?: {
    way: 'revert' | 'revert_and_update' | 'update';
    why: string;
  };
  source: string | null;
  edits?: Edit[];
  attribution?: Attribution1;
}
export interface Field {
  path: string;
  before: Json;
  after: Json;
  secret: boolean;
  cause:
    | 'changed'
    | 'drifted'
    | 'conflict'
    | 'cleared'
    | 'released'
    | 'secret_changed'
    | 'secret_resent'
    | 'unknown_secret'
    | 'unknown_content';
  base?: Json;
  refused?: string;
  attribution?: Attribution;
}
export interface Attribution {
  certainty: 'entry' | 'actor' | 'one_of' | 'unknown';
  because:
    | 'not_recorded'
    | 'no_history'
    | 'no_entry'
    | 'no_beginning'
    | 'retention'
    | 'late'
    | 'gone'
    | null;
  entries: number[];
}
export interface Secret {
  path: string;
  source: string | null;
  to: string;
  before: string | null;
}
export interface Pin {
  digest: string;
  updated_at: string | null;
  history_id: number | null;
}
export interface Operation {
  step: 'create' | 'update' | 'delete' | 'revert' | 'facet' | 'again';
  fields: string[];
  version?: number;
}
export interface Edit {
  id: number;
  action: string | null;
  actor: string | null;
  source: string | null;
  at: string | null;
  reverted_from_id: number | null;
}
export interface Attribution1 {
  certainty: 'entry' | 'actor' | 'one_of' | 'unknown';
  because:
    | 'not_recorded'
    | 'no_history'
    | 'no_entry'
    | 'no_beginning'
    | 'retention'
    | 'late'
    | 'gone'
    | null;
  entries: number[];
}
export interface Group {
  kind: string;
  action: 'create' | 'update';
  addresses: string[];
  fields: {
    path: string;
    source: string | null;
  }[];
}
export interface Note {
  severity: 'info' | 'warning';
  address: Address | null;
  message: string;
}
export interface Refusal {
  guard: 'freeze' | 'hold' | 'rule';
  message: string;
  until: string | null;
  advice: string;
}
export interface Rehearsal {
  digest: string;
  at: string;
  verdict: 'passed' | 'partial' | 'failed' | 'refused' | 'empty';
  source:
    | {
        type: 'platform';
      }
    | {
        type: 'snapshot';
        file: string;
        made_at: string;
      };
  copied: {
    [k: string]: number;
  };
  steps: {
    step: 'copy' | 'apply' | 'again' | 'failure' | 'resume' | 'rollback' | 'return';
    outcome: 'held' | 'partial' | 'failed' | 'refused';
    message: string;
    details: string[];
  }[];
  differences: {
    address: Address | null;
    kind: string;
    name: string;
    id: string;
    path: string | null;
    before: Json;
    after: Json;
    secret: boolean;
  }[];
  differing: number;
  faults: string[];
  filled: string[];
  assumptions: string[];
}
export interface Attribution2 {
  certainty: 'entry' | 'actor' | 'one_of' | 'unknown';
  because:
    | 'not_recorded'
    | 'no_history'
    | 'no_entry'
    | 'no_beginning'
    | 'retention'
    | 'late'
    | 'gone'
    | null;
  entries: number[];
}
export interface Rehearsal1 {
  digest: string;
  at: string;
  verdict: 'passed' | 'partial' | 'failed' | 'refused' | 'empty';
  source:
    | {
        type: 'platform';
      }
    | {
        type: 'snapshot';
        file: string;
        made_at: string;
      };
  copied: {
    [k: string]: number;
  };
  steps: {
    step: 'copy' | 'apply' | 'again' | 'failure' | 'resume' | 'rollback' | 'return';
    outcome: 'held' | 'partial' | 'failed' | 'refused';
    message: string;
    details: string[];
  }[];
  differences: {
    address: Address | null;
    kind: string;
    name: string;
    id: string;
    path: string | null;
    before: Json;
    after: Json;
    secret: boolean;
  }[];
  differing: number;
  faults: string[];
  filled: string[];
  assumptions: string[];
}
}

export declare namespace Pull {
export interface Document {
  format: 'callsheet-pull';
  version: 1;
  status: 'written' | 'dry_run' | 'refused' | 'nothing';
  pulled: {
    address: string;
    path: string;
    file: string;
    line: number | null;
  }[];
  kept: Left[];
  refused: Left[];
  remarks?: {
    address: string;
    path: string | null;
    reason: string;
  }[];
  secrets?: {
    address: string;
    path: string;
    source: string;
  }[];
  files: {
    path: string;
    created: boolean;
    diff?: string;
  }[];
}
export interface Left {
  address: string;
  path: string;
  reason: string;
  advice: string;
}
}

export declare namespace Runs {
export type Document = Runs | Receipt;
export type Entry = Began | Snapshot | Intent | Outcome | ResourceRecorded | Ended;
export type Leaf =
  | {
      value: Json;
      form?: number;
    }
  | {
      digest: string;
      form?: number;
    }
  | {
      fingerprint: string;
      form?: number;
    }
  | {
      unknown: true;
    }
  | {
      unsettled: true;
    };

export interface Runs {
  format: 'callsheet-runs';
  version: 1;
  runs: {
    run: string;
    at: string;
    purpose: string;
    status: string;
    changes: number;
    user: string | null;
    commit: string | null;
  }[];
}
export interface Receipt {
  format: 'callsheet-receipt';
  version: 1;
  run: string;
  entries: Entry[];
}
export interface Began {
  type: 'began';
  run: string;
  at: string;
  purpose:
    | 'apply'
    | 'heal'
    | 'rollback'
    | 'restore'
    | 'drift'
    | 'state mv'
    | 'state rm'
    | 'state trust'
    | 'state push'
    | 'state repair'
    | 'import';
  undoes?: string;
  snapshot?: {
    made_at: string;
    sha256: string;
  };
  actor: {
    user: string | null;
    host: string | null;
    pid: number;
    commit: string | null;
    pipeline: string | null;
  };
  plan_digest: string;
  config_digest: string;
  account_id: string;
  base_url: string;
  lineage: string;
  serial: number;
  holds?: Holds;
  on_failure?: 'rollback';
  overrides?: {
    guard: 'freeze' | 'hold';
    message: string;
    reason: string | null;
  }[];
}
export interface Holds {
  [k: string]: {
    address?: string;
    id?: string | null;
    path?: string | null;
    value?: string | null;
    undid: string;
    by: string;
    at: string;
    user: string | null;
  };
}
export interface Snapshot {
  type: 'snapshot';
  address: string;
  kind: string;
  id: string | null;
  document: JsonObject | null;
  pin: null | Pin;
  resource: null | Resource;
  withheld: string[];
  sealed?: {
    [k: string]: string;
  };
  intended?: null | {
    key: string | null;
    scope: {
      [k: string]: string;
    };
    name: string;
    leaves: Leaves1;
    protect: boolean;
    unreadable: string[];
  };
}
export interface Pin {
  digest: string;
  updated_at: string | null;
  history_id: number | null;
  certain?: true;
  form?: number;
}
export interface Resource {
  kind: string;
  id: string;
  scope: {
    [k: string]: string;
  };
  name: string;
  leaves: Leaves;
  pin: null | Pin;
  protect: boolean;
  restored_by?: string;
  unfinished?: string[];
}
export interface Leaves {
  [k: string]: Leaf;
}
export interface Leaves1 {
  [k: string]: Leaf;
}
export interface Intent {
  type: 'intent';
  seq: number;
  at: string;
  address: string;
  step: 'create' | 'update' | 'delete' | 'revert' | 'facet' | 'again';
  operation: string;
  id: string | null;
  fields: string[];
}
export interface Outcome {
  type: 'outcome';
  seq: number;
  at: string;
  ok: boolean;
  id: string | null;
  error: string | null;
}
export interface ResourceRecorded {
  type: 'resource';
  address: string;
  resource: null | Resource;
}
export interface Ended {
  type: 'ended';
  at: string;
  status: 'done' | 'partial' | 'interrupted' | 'settled';
  verified: boolean;
  ledger: LedgerLine[];
  differs?: Difference[];
  left?: NotUndone[];
}
export interface LedgerLine {
  address: string;
  action: string;
  status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  verdict?: 'held' | 'refused' | 'unsupported';
  id: string | null;
  message: string | null;
  fields: string[];
  history: null | {
    before: number | null;
    after: number | null;
  };
  former_id?: string;
  interleaved?: Interleaved[];
  leaves?: Leaves2;
}
export interface Interleaved {
  entry: number;
  action: string | null;
  actor: string | null;
  source: string | null;
  at: string | null;
  order: 'before' | 'after' | 'unknown';
}
export interface Leaves2 {
  [k: string]: Leaf;
}
export interface Difference {
  address: string;
  path: string | null;
  wanted: Json;
  found: Json;
}
export interface NotUndone {
  address: string;
  path: string | null;
  why: string;
  advice: string;
}
}

export declare namespace Restoration {
export interface Document {
  format: 'callsheet-restoration';
  version: 1;
  status: 'planned' | 'done' | 'partial' | 'refused' | 'interrupted';
  snapshot: {
    file: string;
    made_at: string;
    sha256: string;
  };
  platform: {
    base_url: string;
    account_id: string;
  };
  mapped: {
    [k: string]: string;
  };
  state: string;
  runs: string[];
  remaining: {
    address: string;
    action: string;
    verdict: string;
    reason: string;
    paths: string[];
  }[];
  proof: null | {
    resources: number;
    values: number;
  };
  collisions: {
    address: string;
    kind: string;
    id: string;
    name: string | null;
    is_equal: boolean;
  }[];
  secrets: {
    address: string;
    any_of: {
      path: string;
      variable: string;
    }[];
  }[];
  exceptions: {
    what: string;
    address: string | null;
    message: string;
  }[];
}
}

export declare namespace Run {
export type Leaf =
  | {
      value: Json;
      form?: number;
    }
  | {
      digest: string;
      form?: number;
    }
  | {
      fingerprint: string;
      form?: number;
    }
  | {
      unknown: true;
    }
  | {
      unsettled: true;
    };

export interface Document {
  format: 'callsheet-run';
  version: 1;
  run: string | null;
  plan_digest: string | null;
  status: 'done' | 'partial' | 'interrupted' | 'refused';
  undoes?: string;
  refusals?: Refusal[];
  verification?: {
    differs: Difference[];
    equal: number;
    problem: string | null;
    left: NotUndone[];
  };
  ledger: LedgerLine[];
  rollback?: Run | Error;
}
export interface Refusal {
  guard: 'freeze' | 'hold' | 'rule';
  message: string;
  until: string | null;
  advice: string;
}
export interface Difference {
  address: string;
  path: string | null;
  wanted: Json;
  found: Json;
}
export interface NotUndone {
  address: string;
  path: string | null;
  why: string;
  advice: string;
}
export interface LedgerLine {
  address: string;
  action: string;
  status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  verdict?: 'held' | 'refused' | 'unsupported';
  id: string | null;
  message: string | null;
  fields: string[];
  history: null | {
    before: number | null;
    after: number | null;
  };
  former_id?: string;
  interleaved?: Interleaved[];
  leaves?: Leaves;
}
export interface Interleaved {
  entry: number;
  action: string | null;
  actor: string | null;
  source: string | null;
  at: string | null;
  order: 'before' | 'after' | 'unknown';
}
export interface Leaves {
  [k: string]: Leaf;
}
export interface Run {
  format: 'callsheet-run';
  version: 1;
  run: string | null;
  plan_digest: string | null;
  status: 'done' | 'partial' | 'interrupted' | 'refused';
  undoes?: string;
  refusals?: Refusal[];
  verification?: {
    differs: Difference[];
    equal: number;
    problem: string | null;
    left: NotUndone[];
  };
  ledger: LedgerLine[];
  rollback?: Run | Error;
}
export interface Error {
  format: 'callsheet-error';
  version: 1;
  error: Failure;
}
export interface Failure {
  kind:
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
  exit: number;
  message: string;
  hint: string | null;
  diagnostics: Diagnostic[];
  request: null | {
    method: string;
    url: string;
    status: number;
    request_id: string | null;
  };
}
export interface Diagnostic {
  severity: 'error' | 'warning';
  rule: string;
  message: string;
  hint?: string;
  address?: string;
  path?: string;
  position?: {
    file: string;
    line: number;
    column: number;
    end_column?: number;
  };
  frame?: string;
}
export interface Leaves1 {
  [k: string]: Leaf;
}
export interface Failure1 {
  kind:
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
  exit: number;
  message: string;
  hint: string | null;
  diagnostics: Diagnostic[];
  request: null | {
    method: string;
    url: string;
    status: number;
    request_id: string | null;
  };
}
}

export declare namespace Snapshot {
export type Document = Header | Resource | Organization | Answer | List | Media | Gap | Same | End;

export interface Header {
  type: 'header';
  format: 'callsheet-snapshot';
  version: 1;
  id: string;
  made_at: string;
  made_by: string;
  platform: {
    base_url: string;
    account_id: string;
  };
  organization: string | null;
  sensitive: boolean;
  stack: null | {
    lineage: string;
  };
  base: null | {
    file: string;
    id: string;
    sha256: string;
  };
}
export interface Resource {
  type: 'resource';
  kind: string;
  id: string;
  scope: {
    [k: string]: string;
  };
  extent: 'whole' | 'listed';
  record: JsonObject;
  facets: JsonObject;
  history: JsonObject | null;
  withheld: string[];
  address: string | null;
  state: JsonObject | null;
}
export interface Organization {
  type: 'organization';
  id: string;
  name: string | null;
  reseller_id: string | null;
  reseller_name: string | null;
}
export interface Answer {
  type: 'answer';
  operation: string;
  organization_id: string | null;
  reseller_id: string | null;
  answer: Json;
}
export interface List {
  type: 'list';
  kind: string;
  scope: {
    [k: string]: string;
  };
}
export interface Media {
  type: 'media';
  sha256: string;
  name: string;
  mime: string;
  size: number;
  part: number;
  parts: number;
  data: string;
}
export interface Gap {
  type: 'gap';
  of: string;
  why: string;
}
export interface Same {
  type: 'same';
  key: string;
  digest: string;
}
export interface End {
  type: 'end';
  records: {
    [k: string]: number;
  };
  resources: {
    [k: string]: number;
  };
  withheld: number;
  sha256: string;
}
}

export declare namespace SnapshotCommands {
export type Document = Summary | List | Resource;

export interface Summary {
  format: 'callsheet-snapshot-summary';
  version: 1;
  file: string;
  size: number;
  encryption: 'none' | 'passphrase' | 'age';
  made_at: string;
  made_by: string;
  platform: {
    base_url: string;
    account_id: string;
  };
  organization: string | null;
  sensitive: boolean;
  base: string | null;
  sha256: string;
  resources: {
    [k: string]: number;
  };
  organizations: number;
  answers: number;
  withheld: {
    resource: string;
    name: string | null;
    paths: string[];
  }[];
  gaps: {
    of: string;
    why: string;
  }[];
}
export interface List {
  format: 'callsheet-snapshots';
  version: 1;
  snapshots: {
    file: string;
    size: number;
    encryption: 'none' | 'passphrase' | 'age';
    made_at: string | null;
    account_id: string | null;
    base_url: string | null;
    base: string | null;
    problem: string | null;
  }[];
}
export interface Resource {
  format: 'callsheet-snapshot-resource';
  version: 1;
  kind: string;
  id: string;
  address: string | null;
  history: null | Edit;
  withheld: string[];
  data: JsonObject;
}
export interface Edit {
  id: number;
  action: string | null;
  actor: string | null;
  source: string | null;
  at: string | null;
  reverted_from_id: number | null;
}
}

export declare namespace State {
export type Form = number;
export type Pin = {
  digest: string;
  updated_at: string | null;
  history_id: number | null;
  form?: Form;
  certain?: true;
} | null;
export type Entry = Began | Snapshot | Intent | Outcome | ResourceRecorded | Ended;

export interface Document {
  checksum: string;
  format: 'callsheet-state';
  version: 2;
  lineage: string;
  serial: number;
  salt: string;
  account_id?: string;
  last_run: string | null;
  holds?: Holds;
  moved_to?: string;
  resources: {
    [k: string]: Resource;
  };
}
export interface Holds {
  [k: string]: {
    address?: string;
    id?: string | null;
    path?: string | null;
    value?: string | null;
    undid: string;
    by: string;
    at: string;
    user: string | null;
  };
}
export interface Resource {
  kind: string;
  id: string;
  scope: {
    [k: string]: string;
  };
  name: string;
  leaves: Leaves;
  pin: Pin;
  protect: boolean;
  restored_by?: string;
  unfinished?: string[];
}
export interface Leaves {
  [k: string]: Leaf;
}
export interface Leaf {
  form?: Form;
  value?: unknown;
  digest?: string;
  fingerprint?: string;
  unknown?: true;
  unsettled?: true;
}
export interface Began {
  type: 'began';
  run: string;
  at: string;
  purpose:
    | 'apply'
    | 'heal'
    | 'rollback'
    | 'restore'
    | 'drift'
    | 'state mv'
    | 'state rm'
    | 'state trust'
    | 'state push'
    | 'state repair'
    | 'import';
  undoes?: string;
  snapshot?: {
    made_at: string;
    sha256: string;
  };
  actor: {
    user: string | null;
    host: string | null;
    pid: number;
    commit: string | null;
    pipeline: string | null;
  };
  plan_digest: string;
  config_digest: string;
  account_id: string;
  base_url: string;
  lineage: string;
  serial: number;
  holds?: Holds1;
  on_failure?: 'rollback';
  overrides?: {
    guard: 'freeze' | 'hold';
    message: string;
    reason: string | null;
  }[];
}
export interface Holds1 {
  [k: string]: {
    address?: string;
    id?: string | null;
    path?: string | null;
    value?: string | null;
    undid: string;
    by: string;
    at: string;
    user: string | null;
  };
}
export interface Snapshot {
  type: 'snapshot';
  address: string;
  kind: string;
  id: string | null;
  document: JsonObject | null;
  pin: Pin;
  resource: null | Resource;
  withheld: string[];
  sealed?: {
    [k: string]: string;
  };
  intended?: {
    key: string | null;
    scope: {
      [k: string]: string;
    };
    name: string;
    leaves: Leaves;
    protect: boolean;
    unreadable: string[];
  } | null;
}
export interface Intent {
  type: 'intent';
  seq: number;
  at: string;
  address: string;
  step: 'create' | 'update' | 'delete' | 'revert' | 'facet' | 'again';
  operation: string;
  id: string | null;
  fields: string[];
}
export interface Outcome {
  type: 'outcome';
  seq: number;
  at: string;
  ok: boolean;
  id: string | null;
  error: string | null;
}
export interface ResourceRecorded {
  type: 'resource';
  address: string;
  resource: null | Resource;
}
export interface Ended {
  type: 'ended';
  at: string;
  status: 'done' | 'partial' | 'interrupted' | 'settled';
  verified: boolean;
  ledger: LedgerLine[];
  differs?: {
    address: string;
    path: string | null;
  }[];
  left?: {
    address: string;
    path: string | null;
    why: string;
    advice: string;
  }[];
}
export interface LedgerLine {
  address: string;
  action: string;
  status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  verdict?: 'held' | 'refused' | 'unsupported';
  id: string | null;
  message: string | null;
  fields: string[];
  history: {
    before: number | null;
    after: number | null;
  } | null;
  former_id?: string;
  interleaved?: {
    entry: number;
    action: string | null;
    actor: string | null;
    source: string | null;
    at: string | null;
    order: 'before' | 'after' | 'unknown';
  }[];
  leaves?: Leaves;
}
}

export declare namespace Value {
export interface Document {
  format: 'callsheet-value';
  version: 1;
  address: string;
  field: string;
  given: boolean;
  value: Json;
  layers: {
    by: string;
    says: 'value' | 'removed' | 'empty';
    text: string;
    position: Position;
  }[];
  filled: {
    expression: string;
    value: string | null;
    by: string;
    position: Position | null;
  }[];
}
export interface Position {
  file: string;
  line: number;
  column: number;
  end_column?: number;
}
}
