import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { text as textFrom } from 'node:stream/consumers';
import type { CommonFlags, Context } from '../../console/context.ts';
import { type Address, getKind } from '../../core/address.ts';
import type { StateCommands } from '../../core/documents.generated.ts';
import { CallsheetError, explainSystemError } from '../../core/errors.ts';
import type { Change } from '../../core/plan-document.ts';
import { isSameJson } from '../../core/value.ts';
import type { Planned } from '../../plan/make.ts';
import { findOwner } from '../../run/actor.ts';
import { beginEdit, type Edited, editLine, ending, getOrigin } from '../../run/edit.ts';
import { dropErrored } from '../../run/errored.ts';
import { planConfiguration, planOptions } from '../../run/plan.ts';
import { openSession } from '../../run/session.ts';
import { BrokenSeal, type Claimant, checkOwner, MovedAway } from '../../state/failures.ts';
import type { LedgerLine } from '../../state/journal.ts';
import { getIdentity, type ResourceState, type State } from '../../state/model.ts';
import { openStateSeals } from '../../state/open.ts';
import { emptyState } from '../../state/replay.ts';
import type { Seals } from '../../state/seal.ts';
import { parseState } from '../../state/state-text.ts';
import type { StateStore } from '../../state/store.ts';
import { NO_EDIT, type OpenState, settledState, withStore } from './edit.ts';

/** The outcome of a push; without an edit the state was the same already. */
type Pushed = {
  readonly edited: Edited | undefined;
  /** Names, beside the state, of what it took the place of. */
  readonly setAside: readonly string[];
};

/**
 * Puts the state of a file in the place of the stack's. It must be of the same lineage and account, and
 * newer; `overwrite` puts it there whatever it is and whatever is there.
 */
export function pushState(
  file: string,
  overwrite: boolean,
  flags: CommonFlags,
  context: Context,
): Promise<Pushed> {
  return withStore(flags, context, async (open) => {
    const vouches = overwrite ? 'everything' : 'place';
    const seals = openStateSeals(open.settings.state, { env: context.env, vouches });
    const given = await readGiven(file, seals);
    const { began, lease } = await beginEdit('state push', open, context);
    const { run } = began;
    const current = overwrite
      ? (await open.store.salvage()).state
      : await settledState(open, lease, context);
    const claimant = await findOwner(open.settings);
    if (!overwrite) await checkGiven(given, claimant, file);
    if (!overwrite && current !== undefined && isSameJson(current, given))
      return { edited: undefined, setAside: [] };
    if (!overwrite && current !== undefined) checkSuccessor(given, current, open);
    const known = current?.lineage === given.lineage ? current.serial : 0;
    const { owner } = claimant;
    const before = { ...given, owner, serial: Math.max(given.serial, known) };
    const ledger = differences(current, given);
    const state: State = { ...before, serial: before.serial + 1, last_run: run };
    const setAside = await lease.replace(state, [
      { ...began, ...getOrigin(before) },
      ending(ledger, context),
    ]);
    await dropErrored(open.settings, state);
    return { edited: { run, serial: state.serial, ledger }, setAside };
  });
}

/** `-` is standard input. */
async function readGiven(file: string, seals: Seals): Promise<State> {
  try {
    const text = file === '-' ? await textFrom(process.stdin) : await readFile(file, 'utf8');
    return await parseState(text, file === '-' ? 'the state on standard input' : file, seals);
  } catch (error) {
    if (error instanceof BrokenSeal) throw unsealedGiven(error);
    if (error instanceof CallsheetError)
      throw new CallsheetError('usage', error.message, {
        hint: 'Nothing was pushed. `callsheet state pull > FILE` writes a state that can be pushed.',
      });
    throw explainSystemError(error, `the file ${file} cannot be read`, {
      hint: 'Nothing was pushed.',
    });
  }
}

function unsealedGiven({ message }: BrokenSeal): CallsheetError {
  return new CallsheetError('refused', message, {
    hint: 'Nothing was pushed. If you know who wrote the file, --overwrite pushes one that has no seal, or that of another key.',
  });
}

/** A state that was in the folder of its stack does not name it. What it is replaced with is asked about its lineage. */
async function checkGiven({ owner }: State, claimant: Claimant, file: string): Promise<void> {
  if (owner === undefined) return;
  const stack = owner.stack ?? claimant.owner.stack;
  await checkOwner({ owner: { ...owner, stack } }, claimant, file);
}

function checkSuccessor(given: State, current: State, { store }: OpenState): void {
  const refuse = (why: string) => {
    throw new CallsheetError('refused', `the state ${store.location} was not replaced: ${why}`, {
      hint: 'With --overwrite the file replaces it anyway. The old state is kept next to it under another name. Resources that only the old state has are then found by name, or not at all.',
    });
  };
  if (given.lineage !== current.lineage)
    refuse(`the file is of another stack (lineage ${given.lineage}, here ${current.lineage})`);
  if (current.account_id !== undefined && given.account_id !== current.account_id)
    refuse(`the file is of account ${given.account_id ?? 'none'}, this of ${current.account_id}`);
  if (given.serial < current.serial)
    refuse(`the file is older (serial ${given.serial}, here ${current.serial})`);
  if (given.serial === current.serial)
    refuse(`the file differs, though it has the same serial (${given.serial})`);
}

/** Lists the records in which the new state differs from the one before. */
function differences(before: State | undefined, after: State): readonly LedgerLine[] {
  const old = before?.resources ?? {};
  const changed = Object.entries(after.resources).filter(
    ([address, resource]) => !isSameJson(old[address], resource),
  );
  const gone = Object.entries(old).filter(([address]) => after.resources[address] === undefined);
  return [
    ...changed.map(([address, { id }]) => editLine(address, 'record', id)),
    ...gone.map(([address, { id }]) => editLine(address, 'forget', id)),
  ];
}

/** The outcome of a repair; empty if the state was sound. */
type Repaired = Omit<StateCommands.Repair, 'format' | 'version'>;

/**
 * Rebuilds the state: from what is still readable of it and of the journals, and from what the ordinary
 * planner finds on the platform. What cannot be read is set aside, never deleted, and nothing is written
 * to the platform.
 */
export function repairState(flags: CommonFlags, context: Context): Promise<Repaired> {
  return withStore(flags, context, async (open) => {
    const { store } = open;
    const { began, lease } = await beginEdit('state repair', open, context);
    const { run } = began;
    const { state, problem, read, journals } = await store.salvage();
    // A second living state of one lineage would delete what the first let go of.
    if (problem instanceof MovedAway) throw problem;
    const claimant = await findOwner(open.settings);
    if (state !== undefined) await checkOwner(state, claimant, store.location);
    const common = { location: store.location, problem: problem?.message ?? null, read, journals };
    if (problem === undefined && read === 'whole')
      return { ...common, ...NO_EDIT, findings: [], set_aside: [], kept: [] };

    const known = state ?? emptyState(randomUUID());
    const session = await openSession(flags, context, {
      chooseStore: () => ({
        ...readOnly(store),
        load: async () => ({ state: known, pending: [] }),
      }),
    });
    try {
      const planned = await planConfiguration(session, planOptions({}), context, {
        calls: false,
        drift: 'undo',
      });
      const account = session.platform.account_id;
      const { resources, findings, ledger } = rebuild(known, planned);
      const before = { ...known, account_id: account, owner: claimant.owner };
      const serial = known.serial + 1;
      session.beginWriting();
      const setAside = await lease.replace({ ...before, serial, resources, last_run: run }, [
        { ...began, base_url: session.platform.base_url, ...getOrigin(before) },
        ending(ledger, context),
      ]);
      const kept = Object.entries(known.kept ?? {}).flatMap(([feature, entries]) =>
        Object.entries(entries).flatMap(([name, { open, status, why, doubt = why }]) =>
          open ? [{ feature, name, status, why: doubt }] : [],
        ),
      );
      return { ...common, run, serial, ledger, findings, set_aside: setAside, kept };
    } finally {
      await session.close();
    }
  });
}

/** The store as a session may have it: closing that must not give the lease back. */
function readOnly(store: StateStore): StateStore {
  return { ...store, close: async () => {} };
}

/**
 * The outcome of one address in a repair:
 *
 * | finding   | the readable rest names it | the platform has it      | the new state        |
 * |-----------|----------------------------|--------------------------|----------------------|
 * | `kept`    | yes                        | under that id, even if   | remembers it, at the |
 * |           |                            | the plan is to move it   | address of before    |
 * | `found`   | no, or under another id    | by name, as configured   | remembers it         |
 * | `differs` | no, or under another id    | by name, but otherwise   | is left to the plan  |
 * | `lost`    | yes                        | no                       | forgets it           |
 * | `absent`  | no                         | no                       | is left to the plan  |
 */
type Finding = StateCommands.Repair['findings'][number];

type Rebuilt = {
  readonly resources: State['resources'];
  readonly findings: readonly Finding[];
  /** The records in which the new state differs from the readable rest. */
  readonly ledger: readonly LedgerLine[];
};

/** The resources of the new state, from the readable rest and a plan that was made over it. */
function rebuild(known: State, { plan, ids, refresh }: Planned): Rebuilt {
  const changes = new Map(plan.changes.map((change) => [change.address, change]));
  const liveId = (address: Address) =>
    ids.get(address) ?? changes.get(address)?.id ?? refresh.get(address)?.id;
  const remembered = new Set([...refresh.values()].map(getIdentity));
  const meant = new Set(
    [...ids.entries()].map(([address, id]) => getIdentity({ kind: getKind(address), id })),
  );
  // Under another address by now, which the plan gives it: without what is known it would be gone from there.
  const isMoving = (address: Address, one: ResourceState) =>
    liveId(address) === undefined &&
    meant.has(getIdentity(one)) &&
    !remembered.has(getIdentity(one));
  const kept = Object.entries(known.resources).filter(
    ([address, one]) =>
      (liveId(address) === one.id || isMoving(address, one)) &&
      changes.get(address)?.action !== 'forget',
  );
  const resources = Object.fromEntries([...kept, ...refresh]);
  const addresses = new Set([
    ...Object.keys(known.resources),
    ...refresh.keys(),
    ...changes.keys(),
  ]);
  const findings = [...addresses].sort().map((address): Finding => {
    const recorded = known.resources[address];
    const id = liveId(address) ?? null;
    if (recorded !== undefined && resources[address]?.id === recorded.id)
      return { address, finding: 'kept', id: recorded.id };
    if (resources[address] !== undefined) return { address, finding: 'found', id };
    if (isPresent(changes.get(address))) return { address, finding: 'differs', id };
    return recorded === undefined
      ? { address, finding: 'absent', id: null }
      : { address, finding: 'lost', id: recorded.id };
  });
  return { resources, findings, ledger: findings.flatMap((one) => listLedgerLines(one, known)) };
}

function isPresent(change: Change | undefined): boolean {
  return change !== undefined && change.id !== null && change.action !== 'forget';
}

function listLedgerLines({ address, finding, id }: Finding, known: State): readonly LedgerLine[] {
  const recorded: ResourceState | undefined = known.resources[address];
  if (finding === 'found') return [editLine(address, 'adopt', id ?? '')];
  if (recorded === undefined || finding === 'kept') return [];
  return [editLine(address, 'forget', recorded.id, 'it is gone from the platform')];
}
