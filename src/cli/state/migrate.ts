import { resolve } from 'node:path';
import type { CommonFlags, Context } from '../../console/context.ts';
import type { StateCommands } from '../../core/documents.generated.ts';
import { CallsheetError } from '../../core/errors.ts';
import { passwordVariable } from '../../core/stores.ts';
import { isSameJson } from '../../core/value.ts';
import { describeActor, findOwner, holderFor } from '../../run/actor.ts';
import { openStore } from '../../run/session.ts';
import { parsePlace } from '../../stack/index.ts';
import { checkOwner, MovedAway } from '../../state/failures.ts';
import type { State } from '../../state/model.ts';
import { nextState } from '../../state/replay.ts';
import type { KeptRun, StateStore } from '../../state/store.ts';
import { noState, readReceipts, withStore } from './edit.ts';

type Migrated = Omit<StateCommands.Migration, 'format' | 'version'>;

/**
 * Moves a state, with the receipts of its runs, into an empty place.
 *
 *     step                                         a crash before it leaves
 *     1  take both leases, look at both            what was there
 *     2  write the receipts, then the state        the source as it was, some receipts in the target: go on
 *     3  read all of it back and compare           the source as it was, a target that is not empty any more
 *     4  leave a note in the source                the same
 */
export function migrateState(to: string, flags: CommonFlags, context: Context): Promise<Migrated> {
  const place = parsePlace(to, resolve(flags.dir));
  if (URL.parse(to)?.password)
    throw new CallsheetError('usage', 'the address of --to contains a password', {
      hint: `Other users can read a command line. Set ${passwordVariable(place)} instead.`,
    });
  return withStore(flags, context, async ({ store, settings }) => {
    const target = openStore({ state: place }, context);
    try {
      if (target.location === store.location)
        throw new CallsheetError('usage', `the state is already at ${store.location}`);
      const actor = await describeActor(settings.dir, context);
      const holder = holderFor('', 'state migrate', actor, context);
      const source = await store.acquire(holder);
      const { state, pending } = await store.load();
      if (state === undefined) throw noState(store.location);
      await checkOwner(state, await findOwner(settings), store.location);
      if (pending.length > 0) throw unsettled(store.location);
      const { receipts, left } = await readAllReceipts(store);
      const lease = await target.acquire(holder);
      await refuseTaken(target, receipts, { ...state, location: store.location });
      const { owner } = await findOwner({ ...settings, state: place });
      const moved = { ...state, owner };
      await lease.receive(moved, receipts);
      await compare(moved, receipts, target);
      await source.commit({ ...nextState(state), moved_to: target.location });
      return {
        from: store.location,
        to: target.location,
        serial: state.serial,
        resources: Object.keys(state.resources).length,
        runs: receipts.length,
        left,
      };
    } finally {
      await target.close();
    }
  });
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
 * Receipts without a state are what a migration left that was cut short. The note of a state that went from there to
 * where it comes from now gives its place back, with the receipts that are still there.
 */
async function refuseTaken(
  target: StateStore,
  receipts: readonly KeptRun[],
  source: { readonly location: string; readonly lineage: string },
): Promise<void> {
  const there = await target.load().catch((error: unknown) => {
    if (!(error instanceof MovedAway)) throw error;
    if (error.to === source.location && error.lineage === source.lineage) return undefined;
    throw taken(target.location, `of a state that was moved to ${error.to}`);
  });
  if (there === undefined) return;
  const own = new Set(receipts.map(({ run }) => run));
  const others = (await target.runs()).filter(({ run }) => !own.has(run));
  if (there.state === undefined && there.pending.length === 0 && others.length === 0) return;
  throw taken(target.location);
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

function unsettled(location: string): CallsheetError {
  return new CallsheetError('refused', `${location} has a run that did not finish`, {
    hint: 'Nothing was moved. Run `callsheet apply`, which recovers it, then migrate.',
  });
}
