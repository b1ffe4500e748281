import type { Address } from '../core/address.ts';
import { overlaps, parsePaths } from '../core/path.ts';
import type { JsonObject } from '../core/value.ts';
import { compare, type LeafChange, liveKey } from '../diff/compare.ts';
import { exactSides, type World } from '../diff/world.ts';
import { kindNamed } from '../kinds/index.ts';
import { fieldChange } from '../plan/change.ts';
import type { LiveResource } from '../plan/reader.ts';
import type { Difference } from '../state/journal.ts';
import type { Wanted } from './undo.ts';

/** What was read of a resource before and after a rollback. */
export type Seen = {
  /** Right before the rollback wrote to it; undefined where it did not. */
  readonly before: JsonObject | null | undefined;
  readonly after: LiveResource | undefined;
};

/**
 * Holds a resource against what it was, leaf by leaf. A leaf counts where it is to be undone, or where the
 * rollback moved it; what somebody edited elsewhere in the resource since is theirs. Values that no snapshot
 * holds are not compared, and what has no endpoint was named before.
 */
export function differencesOf(
  address: Address,
  wanted: Wanted,
  { before, after }: Seen,
  world: World,
): readonly Difference[] {
  const kind = kindNamed(wanted.kind);
  const presence = (isWanted: boolean): Difference => ({
    address,
    path: null,
    wanted: isWanted ? 'there' : 'gone',
    found: isWanted ? 'gone' : 'there',
  });
  if (wanted.document === null)
    return after === undefined || kind.delete === undefined ? [] : [presence(false)];
  if (after === undefined) return [presence(true)];
  const { document } = wanted;
  const differ = (live: JsonObject) =>
    compare(
      kind.schema,
      document,
      live,
      exactSides(address, parsePaths(wanted.withheld)),
      world,
    ).filter(({ cause }) => cause !== 'unknown_secret' && cause !== 'unknown_content');
  const stood = new Set(before ? differ(before).map(liveKey) : []);
  return differ(after.document)
    .filter((leaf) => isToUndo(leaf, wanted) || (before && !stood.has(liveKey(leaf))))
    .map((leaf) => {
      const { path, before: found, after: value } = fieldChange(kind, leaf);
      return { address, path, wanted: value, found };
    });
}

function isToUndo({ path }: LeafChange, { changed }: Wanted): boolean {
  if (changed === undefined) return true;
  return parsePaths(changed).some((one) => overlaps(path, one));
}
