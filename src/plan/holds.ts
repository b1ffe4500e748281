import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { computeDigest } from '../core/digest.ts';
import { overlaps, startsWith, toPath } from '../core/path.ts';
import type { Change, PlanDocument } from '../core/plan-document.ts';
import { contextAt } from '../core/redact.ts';
import { Blob, getOwn } from '../core/value.ts';
import { idsAt } from '../core/walk.ts';
import { digestOfApplied } from '../diff/applied.ts';
import { isSent } from '../diff/compare.ts';
import { listLeaves, normalise, resolveLeaf, Unknown, type World } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { RunBegan } from '../state/journal.ts';
import {
  type HeldValue,
  type Hold,
  type Holds,
  isConcealed,
  type ResourceState,
  type State,
} from '../state/model.ts';
import { isActing, isWriting } from './document.ts';
import { rememberResource } from './state-entry.ts';

/**
 * Holds: what a rollback undid is not written again by the next pipeline, whatever else changed in the configuration.
 * A hold is on a value at an address, by a digest or, of a secret, a fingerprint; on a resource that is not to be made
 * again as it was; or on one that is not to be deleted again.
 */

/** The change of the holds by a rollback or a release. */
export type HoldChange = {
  /** The run that is undone. */
  readonly undid: string;
  /** True if its values are held from now on; undoing a rollback lifts what that held. */
  readonly isHeld: boolean;
  readonly values: readonly HeldValue[];
};

/**
 * Returns the last written values that a rollback takes away. A value that the state goes back to was not the run's:
 * the run only put it back where somebody had edited it, added an element or deleted the resource.
 */
export function valuesUndone(
  { changes }: Pick<PlanDocument, 'changes'>,
  { resources }: Pick<State, 'resources'>,
  restored: ReadonlyMap<Address, ResourceState | null> = new Map(),
): readonly HeldValue[] {
  return changes.flatMap((change): readonly HeldValue[] => {
    const { address, id, action } = change;
    if (!isWriting(change)) return [];
    const recorded = resources[address];
    const before = restored.get(address);
    if (action === 'create') return [{ address, id: null, path: null, value: null }];
    if (action === 'delete') {
      const value = recorded && digestOfWhole(recorded);
      const isPutBack = before && digestOfWhole(before) === value;
      return value === undefined || isPutBack ? [] : [{ address, id: null, path: null, value }];
    }
    return writtenPaths(change).flatMap(({ text, path }): readonly HeldValue[] => {
      const leavesIn = ({ leaves }: Pick<ResourceState, 'leaves'>) =>
        Object.entries(leaves).filter(([leaf]) => startsWith(toPath(leaf), path));
      const known = recorded ? leavesIn(recorded) : [];
      if (known.length === 0) {
        const isPutBack = before && leavesIn(before).length === 0;
        return isPutBack ? [] : [{ address, id, path: text, value: null }];
      }
      return known.flatMap(([leaf, applied]) => {
        const value = digestOfApplied(applied);
        const then = getOwn(before?.leaves, leaf);
        const isPutBack = then !== undefined && digestOfApplied(then) === value;
        return value === undefined || isPutBack ? [] : [{ address, id, path: leaf, value }];
      });
    });
  });
}

/** The holds after a rollback. */
export function withHoldChange(
  holds: Holds,
  { undid, isHeld, values }: HoldChange,
  rollback: Pick<Hold, 'by' | 'at' | 'user'>,
): Holds {
  if (!isHeld) {
    return Object.fromEntries(Object.entries(holds).filter(([, { by }]) => by !== undid));
  }
  const put = values.map(
    (one) => [computeDigest({ ...one }), { undid, ...rollback, ...one }] as const,
  );
  return { ...holds, ...Object.fromEntries(put) };
}

/**
 * True if undoing a run holds the values that it had written. Undoing an apply does; undoing a rollback lifts what it
 * held, as it brings back what that undid, and so on down. Undefined if that is unknown.
 */
export async function holdsWhenUndone(
  run: string,
  readBegan: (run: string) => Promise<RunBegan | undefined>,
): Promise<boolean | undefined> {
  let isHeld = true;
  const seen = new Set<string>();
  for (let undid: string | undefined = run; undid !== undefined && !seen.has(undid); ) {
    seen.add(undid);
    const began: RunBegan | undefined = await readBegan(undid);
    // The holds of the rollback on top are known to be lifted, whatever is below it.
    if (began === undefined) return undid === run ? undefined : isHeld;
    if (began.purpose !== 'rollback') return isHeld;
    isHeld = !isHeld;
    undid = began.undoes;
  }
  return isHeld;
}

/** The inputs for finding out if a plan would write a held value. */
export type HoldWorld = {
  readonly holds: Holds;
  readonly desired: readonly DesiredResource[];
  readonly world: World;
};

/** The holds that a plan would break, by their keys. Only the configuration is held: a rollback brings back something else. */
export function brokenHolds(
  { purpose, changes, options }: Pick<PlanDocument, 'purpose' | 'changes' | 'options'>,
  { holds, desired, world }: HoldWorld,
): ReadonlyMap<string, Hold> {
  if (purpose !== 'apply') return new Map();
  const acting = changes.filter((one) => isActing(one, options));
  const broken = Object.entries(holds).filter(([, hold]) => {
    const meant = acting.filter((one) => isMeant(hold, one));
    return meant.some((change) => {
      const wanted = desired.find((one) => one.address === change.address);
      return isBroken(hold, change, wanted, world);
    });
  });
  return new Map(broken);
}

/** A hold that no plan can break any more, and why. */
type EndedHold = { readonly hold: Hold; readonly why: string };

/**
 * The holds that no plan can break any more, by their keys. The next apply forgets them.
 *
 * | the hold is on                         | and                                                     |
 * |----------------------------------------|---------------------------------------------------------|
 * | anything of a resource                 | it is neither configured nor in the state               |
 * | a resource that is known by its id     | another one has its address, and none has its id        |
 * | a value                                | its field is no longer configured                       |
 */
export function endedHolds({
  holds = {},
  desired,
  resources,
}: {
  readonly holds?: Holds | undefined;
  readonly desired: readonly DesiredResource[];
  readonly resources: State['resources'];
}): ReadonlyMap<string, EndedHold> {
  const all = Object.entries(holds);
  if (all.length === 0) return new Map();
  const configured = new Map(desired.map((one) => [one.address, one]));
  const byId = new Map(Object.entries(resources).map(([address, { id }]) => [id, address]));
  return new Map(
    all.flatMap(([key, hold]): (readonly [string, EndedHold])[] => {
      const { address, id, path, value } = hold;
      const now = byId.get(id ?? '') ?? address;
      const wanted = configured.get(now);
      const known = resources[now];
      const isOther = id !== null && known !== undefined && known.id !== id;
      const isConfigured = () =>
        wanted === undefined ||
        listLeaves(kindNamed(wanted.kind).schema, wanted.document).leaves.has(path ?? '');
      const why =
        wanted === undefined && known === undefined
          ? 'it is neither configured nor in the state any more'
          : isOther
            ? `another resource (${known.id}) has its address by now`
            : path !== null && value !== null && !isConfigured()
              ? 'the field is no longer configured'
              : undefined;
      return why === undefined ? [] : [[key, { hold, why }]];
    }),
  );
}

export function describeEnded({ hold, why }: EndedHold): string {
  return `the hold on ${describeHold(hold)} (run ${hold.by} undid run ${hold.undid}) ends: ${why}`;
}

/** Names a hold for people: `agent.desk greeting_message`. */
export function describeHold({ address, path }: Hold): string {
  return path === null ? address : `${address} ${path}`;
}

/** A resource is known again by its id, whatever its address is by now. */
function isMeant({ address, id }: Hold, change: Change): boolean {
  return change.address === address || (id !== null && change.id === id);
}

function isBroken(
  { address, path: text, value }: Hold,
  change: Change,
  desired: DesiredResource | undefined,
  world: World,
): boolean {
  const kind = kindNamed(change.kind);
  if (text === null && value === null) return change.action === 'delete';
  if (desired === undefined) return false;
  if (text === null) {
    if (change.action !== 'create') return false;
    const at = { id: '', scope: {}, pin: null };
    const all = new Set(change.fields.map(({ path }) => path));
    return digestOfWhole(rememberResource(kind, desired, at, undefined, all, world)) === value;
  }
  const path = toPath(text);
  if (!writtenPaths(change).some((one) => overlaps(path, one.path))) return false;
  const leaf = listLeaves(kind.schema, desired.document).leaves.get(text);
  if (value === null) return leaf === undefined || leaf.value === null;
  const resolved = leaf && resolveLeaf(leaf, world);
  if (leaf === undefined || resolved === undefined || resolved instanceof Unknown) return false;
  if (leaf.value instanceof Blob) return resolved === value;
  const plain = normalise(leaf.schema, resolved);
  return value.startsWith('sha256:')
    ? computeDigest(plain) === value
    : world.fingerprints.matches(value, address, text, plain) === 'equal';
}

function writtenPaths({ fields }: Change) {
  return fields.filter(isSent).map(({ path: text }) => ({ text, path: toPath(text) }));
}

/** All that a resource is made of, but for secrets and for ids, which are others once it is made again. */
function digestOfWhole({ kind, leaves }: Pick<ResourceState, 'kind' | 'leaves'>): string {
  const { schema } = kindNamed(kind);
  const plain = Object.entries(leaves).filter(([text, leaf]) => {
    const { node } = contextAt(schema, toPath(text));
    const hasIds = 'value' in leaf && idsAt(node, leaf.value).length > 0;
    return !isConcealed(leaf) && node.schema['x-ref'] === undefined && !hasIds;
  });
  return computeDigest(
    Object.fromEntries(plain.map(([text, leaf]) => [text, digestOfApplied(leaf) ?? ''])),
  );
}
