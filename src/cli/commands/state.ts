import type { CommonFlags, Context } from '../../console/context.ts';
import { say } from '../../console/events.ts';
import { takeBack } from '../../console/result.ts';
import { type ShowFlags, show, stampDocument } from '../../console/show.ts';
import { type Address, getKind, isAddress } from '../../core/address.ts';
import { commandLine, quoted } from '../../core/command-line.ts';
import type { Runs } from '../../core/documents.generated.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { renderRunsText, renderRunText } from '../../render/runs.ts';
import {
  renderAddresses,
  renderAdoption,
  renderEdit,
  renderLock,
  renderMigration,
  renderMovedOver,
  renderPush,
  renderRepair,
  renderResource,
  renderUntouched,
} from '../../render/state.ts';
import type { RenderOptions, Way } from '../../render/terminal.ts';
import { describeActor, findOwner, holderFor } from '../../run/actor.ts';
import type { RunContext } from '../../run/context.ts';
import { type Edit, type Edited, editLine } from '../../run/edit.ts';
import { notRecorded, wholeId } from '../../run/find-run.ts';
import {
  describeReceipt,
  listReceipts,
  openTexts,
  restoreStates,
  withReceipts,
} from '../../run/receipts.ts';
import { announceUnsealed, readState } from '../../run/session.ts';
import { openSettings, openStack } from '../../run/stack.ts';
import { checkOwner } from '../../state/failures.ts';
import { countFingerprints, withoutFingerprints } from '../../state/fingerprint.ts';
import { findBegan, findEnded, type JournalEntry, listLedger } from '../../state/journal.ts';
import type { State } from '../../state/model.ts';
import { openStateSeals } from '../../state/open.ts';
import { replay } from '../../state/replay.ts';
import { formatState } from '../../state/state-text.ts';
import {
  adoptState,
  chooseAddresses,
  editState,
  NO_EDIT,
  noState,
  trustSecrets,
  withStore,
} from '../state/edit.ts';
import { migrateState } from '../state/migrate.ts';
import { moveToState } from '../state/move.ts';
import { pushState, repairState } from '../state/replace.ts';

type RmFlags = ShowFlags & { readonly forgetProtected?: boolean };
type MvFlags = ShowFlags & { readonly to?: string };
type PushFlags = ShowFlags & { readonly overwrite?: boolean };
type UnlockFlags = ShowFlags & { readonly stopRun?: boolean };

/** Says that a run is open, and that it is taken into account. */
function tellUnfinished(run: string | undefined, { terminal }: Context): void {
  if (run === undefined) return;
  say(
    terminal,
    `Run ${run} has not finished: it is still running, or it died. Its effects come from its journal and the platform. The next apply recovers it.`,
  );
}

/** `callsheet state list [ADDRESS…]`: the addresses that the state holds, one a line. */
export function list(
  patterns: readonly Address[],
  flags: ShowFlags,
  context: Context,
): Promise<ExitCode> {
  return withStore(flags, context, async ({ store }) => {
    const { state, unfinished } = await readState(store);
    tellUnfinished(unfinished, context);
    const document = listDocument(state, patterns);
    const { resources } = document;
    announceUnsealed(context);
    show(flags, document, (to) => renderAddresses(resources, to), context);
    if (resources.length === 0)
      context.terminal.err(`The state ${store.location} holds no resource.`);
    return EXIT.done;
  });
}

/** Lists the state's resources, for programs: `schemas/state-list.schema.json`. */
export function listDocument(state: State, patterns: readonly Address[] = []) {
  const chosen = new Set(patterns.flatMap((pattern) => chooseAddresses(pattern, state)));
  const resources = Object.entries(state.resources)
    .filter(([address]) => patterns.length === 0 || chosen.has(address))
    .map(([address, { kind, id, name, scope, protect }]) => {
      return { address, kind, id, name, scope, protect };
    })
    .sort((a, b) => (a.address < b.address ? -1 : 1));
  const { lineage, serial, account_id: account = null } = state;
  return stampDocument('callsheet-state-list', { lineage, serial, account_id: account, resources });
}

/** `callsheet state show ADDRESS`: everything that the state remembers of one resource. */
export function showResource(
  address: Address,
  flags: ShowFlags,
  context: Context,
): Promise<ExitCode> {
  return withStore(flags, context, async ({ store }) => {
    const { state, unfinished } = await readState(store);
    tellUnfinished(unfinished, context);
    const resource = state.resources[address];
    if (resource === undefined) {
      const [first = ''] = chooseAddresses(address, state);
      throw new CallsheetError('usage', `${address} names several resources`, {
        hint: `Name one of them, such as ${first}.`,
      });
    }
    announceUnsealed(context);
    const document = stampDocument('callsheet-state-resource', { address, resource });
    show(flags, document, (to) => renderResource(address, resource, to), context);
    return EXIT.done;
  });
}

/** `callsheet state pull`: the state as it is stored, for a backup or for `state push`. */
export function pull(flags: CommonFlags, context: Context): Promise<ExitCode> {
  return withStore(flags, context, async ({ store, settings }) => {
    const { state, pending } = await store.load();
    if (state === undefined) throw noState(store.location);
    tellUnfinished(replay(state, pending).began?.run, context);
    context.terminal.out(await formatState(state, openStateSeals(settings.state, context)));
    return EXIT.done;
  });
}

/** `callsheet state push FILE`: puts a state in the place of the stack's. */
export async function push(file: string, flags: PushFlags, context: Context): Promise<ExitCode> {
  const { edited, setAside } = await pushState(file, flags.overwrite === true, flags, context);
  const document = editDocument(edited, setAside);
  show(flags, document, (to) => renderPush(edited, setAside, to), context);
  return EXIT.done;
}

/**
 * `callsheet state mv FROM TO`: gives what the state remembers another address. With `--to` all that is named goes to
 * the state of another stack.
 */
export async function mv(
  addresses: readonly Address[],
  flags: MvFlags,
  context: Context,
): Promise<ExitCode> {
  if (flags.to !== undefined) {
    const moved = await moveToState(addresses, flags.to, flags, context);
    const document = { ...editDocument(moved), to: moved.to };
    show(flags, document, (to) => renderMovedOver(moved, to), context);
    return EXIT.done;
  }
  const [from = '', to = '', ...others] = addresses;
  if (to === '' || others.length > 0)
    throw new CallsheetError('usage', 'state mv takes an address and its new one', {
      hint: 'Or any number of addresses, and with --to the stack whose state takes them.',
    });
  const edited = await editState('state mv', flags, context, (state) =>
    moveAddress(from, to, state),
  );
  showEdit(edited, flags, context);
  say(
    context.terminal,
    `If the configuration still has ${from}, rename it there as well: this command does not change the configuration.`,
  );
  return EXIT.done;
}

/** `callsheet state rm ADDRESS…`: forgets resources, and deletes nothing. */
export async function rm(
  addresses: readonly Address[],
  flags: RmFlags,
  context: Context,
): Promise<ExitCode> {
  const edited = await editState('state rm', flags, context, (state) =>
    forgetAddresses(addresses, flags.forgetProtected === true, state),
  );
  showEdit(edited, flags, context);
  say(
    context.terminal,
    'Nothing was deleted on the platform. The next plan finds resources that are still configured by their names.',
  );
  return EXIT.done;
}

/** `callsheet state trust [ADDRESS…]`: from now on a rotation of these secrets is noticed. Writes the state alone. */
export async function trust(
  addresses: readonly Address[],
  flags: ShowFlags & { readonly dryRun?: boolean },
  context: Context,
): Promise<ExitCode> {
  const loaded = await openStack(flags, context);
  const make = (state: State) => trustSecrets(addresses, loaded, state, context);
  const { records, ledger, open } = await withStore(flags, context, async ({ store, settings }) => {
    const { state, unfinished } = await readState(store);
    await checkOwner(state, await findOwner(settings), store.location);
    tellUnfinished(unfinished, context);
    return make(state);
  });
  if (records.length > 0 && flags.dryRun !== true) {
    showEdit(await editState('state trust', flags, context, make), flags, context);
    return open === 0 ? EXIT.done : EXIT.refused;
  }
  const document = editDocument({ ...NO_EDIT, ledger });
  show(flags, document, (to) => renderUntouched(ledger, to), context);
  return open === 0 ? EXIT.done : EXIT.refused;
}

/** `callsheet state adopt`: the state is that of this stack and environment from now on. */
export async function adopt(flags: ShowFlags, context: Context): Promise<ExitCode> {
  const adopted = await adoptState(flags, context);
  const document = editDocument(adopted.edited);
  show(flags, document, (to) => renderAdoption(adopted, to), context);
  return EXIT.done;
}

/** `callsheet state unlock [LEASE]`: shows who holds the state, or takes the lease from them. */
export function unlock(
  lease: string | undefined,
  flags: UnlockFlags,
  context: Context,
): Promise<ExitCode> {
  return withStore(flags, context, async ({ store, settings }) => {
    const held = await store.lock();
    if (lease !== undefined) {
      if (held?.lease === lease && held.owner === 'running' && flags.stopRun !== true)
        throw new CallsheetError(
          'locked',
          `process ${held.holder.pid}, which holds the state ${store.location}, runs on this machine`,
          {
            hint: `Wait for it, or interrupt it (Ctrl-C): it then stops cleanly. To stop it before its next write, run \`callsheet state unlock ${lease} --stop-run\``,
          },
        );
      const actor = await describeActor(settings.dir, context);
      await store.unlock(lease, holderFor('', 'state unlock', actor, context));
    }
    const { watch: _, ...heldLock } = held ?? { watch: 0 };
    const seen = {
      location: store.location,
      held: 'lease' in heldLock ? heldLock : null,
      unlocked: lease !== undefined,
    };
    const document = stampDocument('callsheet-lock', seen);
    show(flags, document, (to) => renderLock(seen, context.now(), to), context);
    return EXIT.done;
  });
}

/** `callsheet state repair`: rebuilds the state from what is readable and from what is live. */
export async function repair(flags: ShowFlags, context: Context): Promise<ExitCode> {
  const repaired = await repairState(flags, context);
  const document = stampDocument('callsheet-state-repair', repaired);
  show(flags, document, (to) => renderRepair(repaired, to), context);
  if (repaired.run !== null) say(context.terminal, '`callsheet plan` shows the remaining changes.');
  return EXIT.done;
}

/** `callsheet state migrate --to PLACE`: moves the state into an empty place. */
export async function migrate(
  flags: ShowFlags & { readonly to: string },
  context: Context,
): Promise<ExitCode> {
  const migrated = await migrateState(flags.to, flags, context);
  const document = stampDocument('callsheet-state-migration', migrated);
  show(flags, document, (to) => renderMigration(migrated, to), context);
  return EXIT.done;
}

function editDocument(
  edited: Pick<Edited, 'ledger'> | undefined,
  setAside: readonly string[] = [],
) {
  return stampDocument('callsheet-state-edit', { ...(edited ?? NO_EDIT), set_aside: setAside });
}

function showEdit(edited: Edited, flags: ShowFlags, context: Context): void {
  show(flags, editDocument(edited), (to) => renderEdit(edited, to), context);
}

/**
 * Makes the state forget what it remembers of some addresses. Throws `CallsheetError('usage')` where it
 * holds one of them not at all, and `refused` where one is protected, unless that is meant.
 */
function forgetAddresses(patterns: readonly Address[], withProtected: boolean, state: State): Edit {
  const { resources, deleted = {} } = state;
  const chosen = new Set(
    patterns.flatMap((pattern) => chooseAddresses(pattern, state, { isGone: true })),
  );
  const found = Object.entries(resources).filter(([address]) => chosen.has(address));
  const guarded = found.filter(([, { protect }]) => protect).map(([address]) => address);
  if (guarded.length > 0 && !withProtected) {
    const what = guarded.length === 1 ? 'is protected' : 'are protected';
    throw new CallsheetError('refused', `${guarded.join(', ')} ${what}, and the state keeps that`, {
      hint: 'Nothing was forgotten. With --forget-protected the state also forgets the protection.',
    });
  }
  return {
    records: [...chosen].map((address) => [address, null]),
    ledger: [...chosen].map((address) => {
      const message = 'it stays on the platform, unchanged';
      const run = deleted[address]?.run;
      return resources[address] === undefined
        ? editLine(address, 'forget', null, run ? `that run ${run} deleted it` : 'that it went')
        : editLine(address, 'forget', resources[address].id, message);
    }),
  };
}

/**
 * Gives what the state remembers another address. Of a fleet or a block all of it moves. Fingerprints are
 * bound to the address, so they are left behind: they would make every secret look changed. Throws
 * `CallsheetError('usage')` where that cannot be.
 */
function moveAddress(from: Address, to: Address, state: State): Edit {
  if (!isAddress(to)) throw cannot(from, to, `${to} is not an address`);
  if (!isAddress(from)) throw cannot(from, to, `${from} is not an address`);
  if (getKind(from) !== getKind(to))
    throw cannot(from, to, `a resource of kind ${getKind(from)} cannot become ${getKind(to)}`);
  if (from === to) throw cannot(from, to, 'that is where it is');
  const chosen = new Set(chooseAddresses(from, state));
  const moved = Object.entries(state.resources)
    .filter(([address]) => chosen.has(address))
    .map(([address, resource]) => {
      const target = `${to}${address.slice(from.length)}`;
      return { address, target, before: resource, resource: withoutFingerprints(resource) };
    });
  const nowhere = moved.find(({ target }) => !isAddress(target));
  if (nowhere !== undefined)
    throw cannot(
      from,
      to,
      `${nowhere.address} would be ${nowhere.target}, which is not an address`,
    );
  const taken = moved.find(({ target }) => state.resources[target] !== undefined);
  if (taken !== undefined) throw cannot(from, to, `the state holds ${taken.target} already`);
  return {
    // The new address first: a resource has one, so that writing it down takes the old one away.
    records: moved.flatMap(({ address, target, resource }) => [
      [target, resource] as const,
      [address, null] as const,
    ]),
    ledger: moved.map(({ address, target, before, resource }) =>
      editLine(
        target,
        'move',
        resource.id,
        describeMove(address, target, countFingerprints(before)),
      ),
    ),
  };
}

function describeMove(address: Address, target: Address, dropped: number): string {
  const was = `it was ${address}`;
  if (dropped === 0) return was;
  const secrets = dropped === 1 ? 'its secret' : `its ${dropped} secrets`;
  return `${was}; whether ${secrets} changed since the last write is no longer known (--resend-secrets ${quoted(target)} writes the configured values)`;
}

function cannot(from: string, to: string, why: string): CallsheetError {
  return new CallsheetError('usage', `${from} cannot be moved to ${to}: ${why}`, {
    hint: 'Nothing was moved. `callsheet state list` shows the contents of the state.',
  });
}

/** `callsheet runs [ID]`: what was applied and rolled back, by whom and from which commit. */
export async function runs(
  id: string | undefined,
  flags: ShowFlags,
  context: Context,
): Promise<ExitCode> {
  const document = await runsDocument(id, flags, context);
  const render = (to: RenderOptions) =>
    document.format === 'callsheet-runs'
      ? renderRunsText(document.runs, to, context.now())
      : renderRunText(document.entries, to, {
          fields: fieldsIn(document.entries),
          ways: listWays(document, flags),
        });
  show(flags, document, render, context);
  return EXIT.done;
}

/** The command that takes a run back, or shows what did; none for a run that wrote nothing or was no apply. */
function listWays(
  {
    run,
    entries,
    undone_by: by,
  }: Pick<Runs.Receipt, 'run' | 'undone_by'> & { readonly entries: readonly JournalEntry[] },
  flags: CommonFlags,
): readonly Way[] {
  if (by !== undefined)
    return [[commandLine(`runs ${by}`, flags), 'shows the run that took it back']];
  const isDone = findEnded(entries)?.status === 'done';
  const isBegun = listLedger(entries).some(({ status }) => status === 'done');
  const isApply = findBegan(entries)?.purpose === 'apply';
  return isApply && isBegun ? [takeBack(run, isDone, flags)] : [];
}

/** All runs, or what one did: `schemas/runs.schema.json`. */
export function runsDocument(id: string | undefined, flags: CommonFlags, context: RunContext) {
  const settings = openSettings(flags, context);
  return withReceipts(settings, restoreStates(settings.dir), context, async ({ list, read }) => {
    const runs = await list();
    if (id === undefined) return { format: 'callsheet-runs', version: 1, runs } as const;
    const ids = runs.map(({ run }) => run);
    const run = wholeId(id, ids);
    const entries = await read(run);
    if (entries === undefined) throw notRecorded(run, ids);
    const by = runs.find(({ undoes, status }) => undoes === run && status === 'done');
    return {
      format: 'callsheet-receipt',
      version: 1,
      run,
      entries,
      ...(by === undefined ? {} : { undone_by: by.run }),
    } as const;
  });
}

/** The changes of a run, by resource. */
function fieldsIn(entries: readonly JournalEntry[]) {
  const texts = openTexts();
  return new Map(
    listReceipts(entries).map((receipt) => {
      const { change } = describeReceipt(receipt, texts);
      return [change.address, change.fields ?? []] as const;
    }),
  );
}
