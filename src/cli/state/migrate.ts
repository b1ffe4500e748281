import type { CommonFlags, Context } from '../../console/context.ts';
import type { StateCommands } from '../../core/documents.generated.ts';
import { CallsheetError } from '../../core/errors.ts';
import { placeKey } from '../../core/stores.ts';
import { isSameJson } from '../../core/value.ts';
import { describeActor, findOwner, holderFor } from '../../run/actor.ts';
import { withoutLinks } from '../../stack/folder.ts';
import { checkOwner, MovedAway } from '../../state/failures.ts';
import type { State } from '../../state/model.ts';
import { nextState } from '../../state/replay.ts';
import type { KeptRun, StateStore } from '../../state/store.ts';
import {
  acquireBoth,
  noState,
  openTarget,
  parseTarget,
  readReceipts,
  unsettled,
  withStore,
} from './edit.ts';

type Migrated = Omit<StateCommands.Migration, 'format' | 'version'>;

/**
 * Moves a state, with the receipts of its runs, into an empty place. Run again after a crash, it goes on.
 *
 *     step                                         a crash before it leaves
 *     1  take both leases, look at both            what was there
 *     2  write the receipts, then the state        the source as it was, some receipts in the target
 *     3  read all of it back and compare           the source as it was, and the same state in the target
 *     4  leave a note in the source                the same
 *     5  done                                      the note, which names the target
 */
export function migrateState(to: string, flags: CommonFlags, context: Context): Promise<Migrated> {
  const place = parseTarget(to, flags);
  return withStore(flags, context, async ({ store, settings }) => {
    const target = openTarget(place, context);
    try {
      if (placeKey(place, withoutLinks) === placeKey(settings.state, withoutLinks))
        throw new CallsheetError('usage', `the state is already at ${store.location}`);
      const done = await findDone(store, target);
      if (done !== undefined) return done;
      const actor = await describeActor(settings.dir, context);
      const holder = holderFor('', 'state migrate', actor, context);
      const leases = await acquireBoth(store, target, holder);
      const { state, pending } = await store.load();
      if (state === undefined) throw noState(store.location);
      await checkOwner(state, await findOwner(settings), store.location);
      if (pending.length > 0) throw unsettled(store.location, 'migrate');
      const { receipts, left } = await readAllReceipts(store);
      const { owner } = await findOwner({ ...settings, state: place });
      const moved = { ...state, owner };
      const isThere = await refuseTaken(target, receipts, moved, store.location);
      if (!isThere) await leases.target.receive(moved, receipts);
      await compare(moved, receipts, target);
      await leases.source.commit({ ...nextState(state), moved_to: target.location });
      return describeMigration(store, target, state, receipts.length, left);
    } finally {
      await target.close();
    }
  });
}

/** The outcome of a migration to that place that left its note; undefined where there is none. Throws the note of another one. */
async function findDone(store: StateStore, target: StateStore): Promise<Migrated | undefined> {
  const note = await store.load().then(
    ({ state }) => {
      if (state === undefined) throw noState(store.location);
    },
    (error: unknown) => {
      if (error instanceof MovedAway && error.to === target.location) return error;
      throw error;
    },
  );
  if (note === undefined) return undefined;
  const { state } = await target.load();
  if (state?.lineage !== note.lineage) throw note;
  return describeMigration(store, target, state, (await target.runIds()).length, []);
}

function describeMigration(
  { location: from }: StateStore,
  { location: to }: StateStore,
  { serial, resources }: State,
  runs: number,
  left: readonly string[],
): Migrated {
  return { from, to, serial, resources: Object.keys(resources).length, runs, left };
}

/** Oldest first, as they were filed. */
async function readAllReceipts(
  store: StateStore,
): Promise<{ readonly receipts: readonly KeptRun[]; readonly left: readonly string[] }> {
  const receipts: KeptRun[] = [];
  const left: string[] = [];
  for await (const { run, entries } of readReceipts(store)) {
    if (entries === undefined) left.push(run);
    else receipts.push({ run, entries });
  }
  return { receipts: receipts.reverse(), left: left.reverse() };
}

/**
 * Throws where the target has anything but what an earlier try left: receipts without a state, or the whole of it, for
 * which it returns true. The note of a state that went from there to where it comes from now gives its place back, with
 * the receipts that are still there.
 */
async function refuseTaken(
  target: StateStore,
  receipts: readonly KeptRun[],
  moved: State,
  from: string,
): Promise<boolean> {
  const there = await target.load().catch((error: unknown) => {
    if (!(error instanceof MovedAway)) throw error;
    if (error.to === from && error.lineage === moved.lineage) return undefined;
    throw taken(target.location, `of a state that was moved to ${error.to}`);
  });
  if (there === undefined) return false;
  const { state, pending } = there;
  const isThere = state !== undefined && pending.length === 0 && isSameJson(state, moved);
  const own = new Set(receipts.map(({ run }) => run));
  const others = (await target.runs()).filter(({ run }) => !own.has(run));
  if (others.length === 0 && (isThere || (state === undefined && pending.length === 0)))
    return isThere;
  if (state?.lineage === moved.lineage) throw wentOn(target.location, from, state, moved);
  throw taken(target.location);
}

/** A try before left the state in both places, and a run used one of them since. */
function wentOn(there: string, from: string, { serial }: State, moved: State): CallsheetError {
  return new CallsheetError(
    'refused',
    `${there} has the same state at serial ${serial}, and ${from} at serial ${moved.serial}: both were used since a migration stopped`,
    {
      hint: 'Nothing was moved. Keep the one whose runs are right (`callsheet runs` in both), remove the other, and run it again.',
    },
  );
}

function taken(location: string, what?: string): CallsheetError {
  const found = what === undefined ? 'a state' : `the note ${what}`;
  return new CallsheetError('refused', `there is already ${found} at ${location}`, {
    hint: 'Nothing was moved. Use an empty location, or the location that this state came from.',
  });
}

/** A store may keep fewer runs than it was given: those that it lists must be as they were. */
async function compare(
  state: State,
  receipts: readonly KeptRun[],
  target: StateStore,
): Promise<void> {
  const there = await target.load();
  const listed = new Set((await target.runs()).map(({ run }) => run));
  const differs = receipts.filter(({ run }) => listed.has(run));
  const runs = await Promise.all(
    differs.map(async ({ run, entries }) => isSameJson(await target.run(run), entries)),
  );
  const isSame = there.state !== undefined && isSameJson(there.state, state);
  if (isSame && there.pending.length === 0 && runs.every(Boolean)) return;
  throw new CallsheetError(
    'state',
    `the state read back from ${target.location} differs from the state written there`,
    {
      hint: 'The state is still at its old location, and nothing uses the new one. Check that store before you use it.',
    },
  );
}
