import type { Address } from '../../core/address.ts';
import { parsePath } from '../../core/path.ts';
import type { FieldSchema } from '../../core/schema.ts';
import { getOwn, invert, type Json } from '../../core/value.ts';
import { valueAt } from '../../core/walk.ts';
import {
  type Actor,
  findBegan,
  type IntentRecorded,
  type JournalEntry,
  listLedger,
  type OutcomeRecorded,
  type RunBegan,
  type RunEnded,
  type SnapshotTaken,
} from '../../state/journal.ts';
import { type AppliedLeaf, isConcealed, type State } from '../../state/model.ts';

/** Events of a running run for the page of `callsheet ui`: entries of its journal, without documents. */
export type LiveEvent =
  | (Pick<RunBegan, 'type' | 'run' | 'at' | 'purpose' | 'plan_digest'> & Pick<Actor, 'user'>)
  | Pick<IntentRecorded, 'type' | 'seq' | 'at' | 'address' | 'step'>
  | Pick<OutcomeRecorded, 'type' | 'seq' | 'at' | 'ok' | 'error'>
  | Pick<RunEnded, 'type' | 'at' | 'status'>
  /** The journal is no longer open: the run is among the others now. */
  | { readonly type: 'gone'; readonly run: string };

/** An event, with the place in its journal that a reader who was cut off goes on from. */
export type LiveNote = { readonly id: string; readonly event: LiveEvent };

/** The page of `callsheet ui` starts with these; it asks for the rest. */
export type UiStart = {
  /** Name of the stack's folder. */
  readonly dir: string;
  readonly hasPlan: boolean;
  readonly version: string;
};

/** A run at work, as far as its journal was read. */
export type RunNow = {
  readonly run: string;
  readonly purpose: string;
  readonly user: string | null;
  readonly at: string;
  /** Requests that left, and those that were answered. */
  readonly sent: number;
  readonly answered: number;
  /** Requests that are not answered yet, by their number in the run. */
  readonly waiting: ReadonlyMap<number, Step>;
  readonly failures: readonly (Step & { readonly error: string })[];
  /** The last that were answered, the newest first. */
  readonly latest: readonly Step[];
  readonly status: string | undefined;
};

export type Step = { readonly address: string; readonly step: string };

const LATEST = 8;
const FAILURES = 50;

/** A run after one more entry of its journal; undefined once it is no longer at work. */
export function follow(run: RunNow | undefined, event: LiveEvent): RunNow | undefined {
  if (event.type === 'began') {
    const { run: id, purpose, user, at } = event;
    if (run?.run === id) return run;
    const nothing = { sent: 0, answered: 0, waiting: new Map(), failures: [], latest: [] };
    return { run: id, purpose, user, at, ...nothing, status: undefined };
  }
  if (event.type === 'gone' || run === undefined) return undefined;
  switch (event.type) {
    case 'intent': {
      const { seq, address, step } = event;
      const waiting = new Map(run.waiting).set(seq, { address, step });
      return { ...run, sent: run.sent + 1, waiting };
    }
    case 'outcome': {
      const { seq, ok, error } = event;
      const step = run.waiting.get(seq);
      if (step === undefined) return run;
      const waiting = new Map(run.waiting);
      waiting.delete(seq);
      const failure = { ...step, error: error ?? 'it failed' };
      return {
        ...run,
        waiting,
        answered: run.answered + 1,
        latest: ok ? [step, ...run.latest].slice(0, LATEST) : run.latest,
        failures: ok ? run.failures : [...run.failures, failure].slice(-FAILURES),
      };
    }
    case 'ended':
      return { ...run, status: event.status };
  }
}

/** `callsheet ui` gives its page these, beside the documents of the commands, from the state and the journals alone. */

/** Facts about a resource that need no answer of the platform. */
export type ResourceFacts = {
  /** Name of its organization, or the id where the configuration names none; null: it belongs to the account. */
  readonly organization: string | null;
  /** As last written; null where no configuration says it. */
  readonly status: string | null;
  /** The last run that wrote it; null where none of the runs that were looked at did. */
  readonly run: { readonly id: string; readonly at: string } | null;
};

/** Facts of every resource of a state, by address. `receipts`: journals of runs, the newest first. */
export function factsOfFleet(
  { resources }: Pick<State, 'resources'>,
  organizations: { readonly [name: string]: string },
  receipts: readonly (readonly JournalEntry[])[],
): { readonly [address: Address]: ResourceFacts } {
  const names = invert(organizations);
  const runs = new Map<Address, NonNullable<ResourceFacts['run']>>();
  for (const entries of receipts) {
    const began = findBegan(entries);
    if (began === undefined) continue;
    for (const { address } of writtenIn(entries))
      if (!runs.has(address)) runs.set(address, { id: began.run, at: began.at });
  }
  return Object.fromEntries(
    Object.entries(resources).map(([address, { scope, leaves }]) => {
      const id = scope.organization_id;
      const { status } = leaves;
      const hasStatus =
        status !== undefined && 'value' in status && typeof status.value === 'string';
      const facts: ResourceFacts = {
        organization: id === undefined ? null : (getOwn(names, id) ?? id),
        status: hasStatus ? String(status.value) : null,
        run: runs.get(address) ?? null,
      };
      return [address, facts];
    }),
  );
}

/** A value, or why there is none to show. */
type RunValue =
  | { readonly value: Json }
  /** `secret`: secrets and sensitive values are not kept. `digest`: of a long value only its digest is. */
  | { readonly hidden: 'secret' | 'digest' };

export type RunField = {
  readonly path: string;
  readonly before: RunValue;
  readonly after: RunValue;
};

/** The schema of a kind; undefined where there is no such kind, as in the journal of another version. */
type FindSchema = (kind: string) => FieldSchema | undefined;

/** Returns the fields of each resource that a run changed, before and after, as far as the journal keeps them. */
export function valuesOfRun(
  entries: readonly JournalEntry[],
  findSchema: FindSchema,
): { readonly [address: Address]: readonly RunField[] } {
  const snapshots = new Map<Address, SnapshotTaken>();
  const after = new Map<Address, { readonly [path: string]: AppliedLeaf }>();
  for (const entry of entries) {
    if (entry.type === 'snapshot' && !snapshots.has(entry.address))
      snapshots.set(entry.address, entry);
    if (entry.type === 'resource') after.set(entry.address, entry.resource?.leaves ?? {});
  }
  return Object.fromEntries(
    writtenIn(entries).flatMap(({ address, fields }) => {
      const snapshot = snapshots.get(address);
      const leaves = after.get(address);
      if (snapshot === undefined || leaves === undefined) return [];
      const changes = fields.map((path) => ({
        path,
        before: valueBefore(snapshot, path, findSchema(snapshot.kind)),
        after: valueOfLeaf(leaves[path]),
      }));
      return changes.length === 0 ? [] : [[address, changes]];
    }),
  );
}

function writtenIn(entries: readonly JournalEntry[]) {
  return listLedger(entries).filter(({ status }) => status === 'done');
}

function valueBefore(
  { document, withheld, resource }: SnapshotTaken,
  path: string,
  schema: FieldSchema | undefined,
): RunValue {
  const last = resource?.leaves[path];
  if (withheld.includes(path) || (last !== undefined && isConcealed(last)))
    return { hidden: 'secret' };
  const segments = parsePath(path);
  if (document === null || schema === undefined || segments === undefined) return { value: null };
  return { value: valueAt(schema, document, segments) ?? null };
}

function valueOfLeaf(leaf: AppliedLeaf | undefined): RunValue {
  if (leaf === undefined) return { value: null };
  if ('value' in leaf) return { value: leaf.value };
  return { hidden: isConcealed(leaf) ? 'secret' : 'digest' };
}
