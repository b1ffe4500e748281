import { expect, test } from 'vitest';
import type { EventLine } from '../../src/console/progress.ts';
import type * as schemas from '../../src/core/documents.generated.ts';
import type { Json } from '../../src/core/value.ts';
import type { AssumptionEntry } from '../../src/render/assumptions.ts';
import type { FailureDocument } from '../../src/render/diagnostics.ts';
import type { FleetDocument } from '../../src/render/fleet.ts';
import type { DriftNotification } from '../../src/render/notification.ts';
import type { RestorationSummary } from '../../src/render/restoration.ts';
import type { ListedSnapshot, SnapshotSummary } from '../../src/render/snapshot.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import type { ResourceState } from '../../src/state/model.ts';
import type { HeldLock, RunSummary, SalvagedJournal } from '../../src/state/store.ts';

/** A type without what says nothing about the value: `readonly`, and how it was put together. */
type Plain<T> = [Json] extends [T]
  ? 'json'
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { -readonly [Member in keyof T]: Plain<T[Member]> }
      : T;

type IsSame<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** True where the types are the same, member by member, optional ones too. The compiler checks it. */
type Same<Ours, Theirs> = IsSame<Plain<Ours>, Plain<Theirs>>;

/** What a rollout remembers of its calls is described in the document of rollouts alone. */
type WithoutRollouts<Entry> = Entry extends unknown ? Omit<Entry, 'rollouts'> : never;

/** What the program builds, and what the schema says of it. */
type Pairs = {
  assumption: Same<AssumptionEntry, schemas.Assumptions.Document['assumptions'][number]>;
  error: Same<FailureDocument, schemas.Error.Document>;
  event: Same<EventLine, schemas.Events.Document>;
  fleet: Same<FleetDocument, schemas.Fleet.Document>;
  journal: Same<
    WithoutRollouts<JournalEntry>,
    WithoutRollouts<schemas.Runs.Receipt['entries'][number]>
  >;
  listed: Same<ListedSnapshot, schemas.SnapshotCommands.List['snapshots'][number]>;
  lock: Same<Omit<HeldLock, 'watch'> | null, schemas.StateCommands.Lock['held']>;
  notification: Same<DriftNotification, schemas.Notification.Document>;
  resource: Same<ResourceState, schemas.StateCommands.Resource>;
  restoration: Same<RestorationSummary, schemas.Restoration.Document>;
  runs: Same<RunSummary, schemas.Runs.Runs['runs'][number]>;
  salvage: Same<SalvagedJournal, schemas.StateCommands.Repair['journals'][number]>;
  snapshot: Same<SnapshotSummary, schemas.SnapshotCommands.Summary>;
};

const same: Pairs = {
  assumption: true,
  error: true,
  event: true,
  fleet: true,
  journal: true,
  listed: true,
  lock: true,
  notification: true,
  resource: true,
  restoration: true,
  runs: true,
  salvage: true,
  snapshot: true,
};

test('documents are of the types that their schemas say', () => {
  // What holds is held by the compiler: `false` is not assignable where types differ.
  expect(Object.values(same)).not.toContain(false);
});
