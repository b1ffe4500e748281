import type { Change, Note, Pin } from '../core/plan-document.ts';
import { isSameJson } from '../core/same-json.ts';
import { isWritten, type LeafChange } from '../diff/compare.ts';
import type { World } from '../diff/world.ts';
import type { ResourceState } from '../state/model.ts';
import { unchanged } from './base.ts';
import { isResent, planChange } from './change.ts';
import type { Identity } from './identify.ts';
import type { PlanInput } from './make.ts';
import { attributeDrift, attributeUnrecorded, extentNotes, leafNotes } from './notes.ts';
import { carriedPaths } from './operations.ts';
import { certified, isSamePin, livePin } from './pin.ts';
import { type PreflightContext, preflight } from './preflight.ts';
import { fieldsOf, type HistoryEntry, readWith } from './reader.ts';
import { asOwn, withAuthor } from './reasons.ts';
import { rebind } from './rebind.ts';
import { rememberResource } from './remember.ts';
import { chooseWay, leaveOutRefused, leaveOutUnclearable } from './undoing.ts';
import { compareUnread, isWhollyRemembered } from './unmoved.ts';
import { type Support, withSupport } from './unsupported.ts';

/** What planning one resource came to. */
export type Result = {
  readonly change: Change;
  readonly notes: readonly Note[];
  /** How the configuration and what is live differ. */
  readonly leaves: readonly LeafChange[];
  /** What the state should remember of it although nothing is written; undefined where it does already. */
  readonly state: ResourceState | undefined;
  /** Whether it was planned without being read. */
  readonly isUnread?: boolean;
  /** Paths of what goes back with the change as it was read. */
  readonly carried?: readonly string[];
};

/** What all resources of a plan are planned with. */
type OneInput = Omit<PlanInput, 'world'> & {
  readonly world: World;
  readonly checks: PreflightContext | undefined;
};

/** Plans one resource: reads it, compares it, and asks what the platform would refuse of the change. */
export async function planOne(given: Identity, input: OneInput): Promise<Result> {
  const { world } = input;
  const identity = atItsAddress(given, world);
  const { kind, found, desired, recorded, address, by } = identity;
  if (input.refresh === 'fast') {
    const resent = isResent(address, input.options);
    const unwritten = compareUnread(identity, world, resent);
    if (unwritten !== undefined) return planUnread(identity, unwritten);
  }
  // What could not be read when it was made cannot be told from what is gone.
  const isUnread = recorded?.id === found?.id && recorded?.pin === null;
  const fields = fieldsOf(kind, desired?.document, recorded?.leaves);
  const live = found && (await readWith(input.reader, kind, { ...found, isUnread }, fields));
  const support = supportOf(input);
  const context = {
    world,
    options: input.options,
    now: input.now,
    purpose: input.purpose,
    isToSnapshot: input.snapshot !== undefined,
    version: input.versions.get(address),
    isForgotten: input.isForgotten?.(address) ?? false,
    support,
  };
  const { change: planned, leaves } = planChange(identity, live, context);
  const isWriting = live !== undefined && planned.operations.length > 0;
  const carried = isWriting ? carriedPaths(planned, kind, live.document) : [];
  const supported = withSupport(planned, identity, support, carried);
  const written = { document: desired?.document ?? {}, leaves, live: live?.document ?? {} };
  const { change, notes: untold } = await ask(supported, written, input);
  const notes = [...leafNotes(address, leaves), ...extentNotes(change, live), ...untold];
  const isSame = change.action === 'no_op' || change.action === 'adopt';
  if (isSame && desired && live) {
    // What is known of a resource that is gone says nothing of the one that took its name.
    const known = by === 'state' ? recorded : undefined;
    const seen = livePin(kind, live, known?.pin ?? null);
    const pin = isWhollyRemembered(kind, desired) ? certified(kind, live, seen, known?.pin) : seen;
    const at = { id: live.id, scope: live.scope, document: live.document, pin };
    const state = rememberResource(kind, desired, at, known, new Set(), world);
    const isKnown = recorded !== undefined && isSameJson(state, recorded);
    return { change, notes, leaves, state: isKnown ? undefined : state };
  }
  if (live === undefined || change.pin === null || change.verdict === 'unsupported') {
    return { change, notes, leaves, state: undefined };
  }
  const history = await input.reader.history(kind, live.id, ENTRIES_READ);
  const pinned = pinHistory(identity, change, change.pin, leaves, history, input);
  const isUndone = input.purpose === 'rollback' && change.action === 'update' && desired;
  if (!isUndone) return { change: pinned, notes, leaves, carried, state: undefined };
  if (kind.history === undefined)
    return { change: leaveOutUnclearable(pinned, kind), notes, leaves, carried, state: undefined };
  const version = input.versions.get(address);
  const entries = { read: history, isAll: history.length < ENTRIES_READ };
  const sides = { kind, desired, live: live.document, version, entries, world };
  const undone = leaveOutUnclearable(chooseWay(pinned, sides), kind);
  return { change: undone, notes, leaves, carried, state: undefined };
}

/** A resource of which it is known, without reading it, that there is nothing to write. */
function planUnread(identity: Identity, leaves: readonly LeafChange[]): Result {
  const notes = leafNotes(identity.address, leaves);
  const change = unchanged(identity, identity.found?.id ?? null);
  return { change, notes, leaves, state: undefined, isUnread: true };
}

/** Asks what the platform would refuse. A rollback leaves that out, and does the rest. */
async function ask(
  change: Change,
  written: Parameters<typeof preflight>[1],
  { checks, purpose }: OneInput,
): Promise<{ readonly change: Change; readonly notes: readonly Note[] }> {
  if (checks === undefined) return { change, notes: [] };
  return purpose === 'rollback'
    ? leaveOutRefused(change, written, checks)
    : preflight(change, written, checks);
}

/** A resource that was moved, with what the state says of it bound to where it is now. */
function atItsAddress(identity: Identity, world: World): Identity {
  const { kind, desired, recorded, movedFrom } = identity;
  if (!desired || !recorded || movedFrom === undefined) return identity;
  return { ...identity, recorded: rebind(kind, desired, recorded, movedFrom, world) };
}

/** A change to a resource with a history is pinned to its newest entry, and says who made it drift. */
function pinHistory(
  { kind, recorded }: Identity,
  change: Change,
  seen: Pin,
  leaves: readonly LeafChange[],
  history: readonly HistoryEntry[],
  input: Pick<OneInput, 'settled' | 'platform'>,
): Change {
  const pin = { ...seen, history_id: history[0]?.id ?? null };
  const moved = leaves.some(
    (leaf) => isWritten(leaf) && (leaf.cause === 'drifted' || leaf.cause === 'conflict'),
  );
  const author = kind.history
    ? attributeDrift(history, recorded?.pin?.history_id)
    : attributeUnrecorded(pin.updated_at);
  const own = moved ? ownRun(recorded, seen, history[0], change.address, input) : undefined;
  if (own !== undefined) return { ...change, pin, reason: asOwn(change.reason, own) };
  const who = moved ? author : undefined;
  return {
    ...change,
    pin,
    reason: who === undefined ? change.reason : withAuthor(change.reason, who),
  };
}

/**
 * Which run of ours left a resource as it is now, in words: a rollback whose result nobody changed since, or a run
 * that died in the middle, where no later entry is somebody else's. Undefined: it may have been anybody.
 */
function ownRun(
  recorded: ResourceState | undefined,
  now: Pin,
  newest: HistoryEntry | undefined,
  address: string,
  { settled, platform }: Pick<OneInput, 'settled' | 'platform'>,
): string | undefined {
  const { restored_by: run, pin } = recorded ?? {};
  if (run !== undefined && pin && isSamePin(pin, now)) return `put back by run ${run}, a rollback`;
  const isDead = settled?.findings.some((one) => one.address === address) === true;
  const isOthers = newest !== undefined && newest.actor !== `api:${platform.account_id}`;
  return isDead && !isOthers ? `changed by run ${settled.run}, which died` : undefined;
}

/** Entries that are read to say who changed a resource since the last run. */
const ENTRIES_READ = 20;

/** What the platform has, and which assumption an operation rests on. */
export function supportOf({
  reader,
  assumptionOf,
  assume = true,
}: Pick<PlanInput, 'reader' | 'assumptionOf' | 'assume'>): Support {
  return { lackOf: reader.lackOf, assumptionOf, assume };
}
