import { ownOf } from '../core/own.ts';
import type { FieldChange } from '../core/plan-document.ts';
import { MASK, mask, maskAt } from '../core/redact.ts';
import type { Json, JsonObject, ValueObject } from '../core/value.ts';
import type { LeafChange } from '../diff/compare.ts';
import type { Kind } from '../kinds/kind.ts';

const NONE: ReadonlySet<string> = new Set();

/** A leaf's change as a plan shows it, masked. `secrets`: see `knownSecrets`. */
export function fieldChange(
  kind: Kind,
  found: LeafChange,
  secrets: ReadonlySet<string> = NONE,
): FieldChange {
  const leaf = secrets.has(found.text) ? conceal(found) : found;
  return {
    path: leaf.text,
    before: maskLeaf(kind, leaf, leaf.before),
    after: maskLeaf(kind, leaf, leaf.after),
    secret: leaf.sensitive,
    cause: leaf.cause,
    ...(leaf.base === undefined || leaf.sensitive ? {} : { base: maskLeaf(kind, leaf, leaf.base) }),
  };
}

/** What the platform returns of a secret that it does not know for one is not shown, whatever it is. */
function conceal(leaf: LeafChange): LeafChange {
  const isThere = leaf.before !== undefined && leaf.before !== null;
  return { ...leaf, sensitive: true, before: isThere ? MASK : leaf.before };
}

function maskLeaf(kind: Kind, leaf: LeafChange, value: LeafChange['before']): Json {
  const shown = maskAt(kind.schema, leaf.path, value);
  return leaf.sensitive && shown !== null && typeof shown !== 'object' ? MASK : shown;
}

/** The live values of the top-level fields that the configuration has, masked. */
export function project(
  kind: Kind,
  document: ValueObject,
  live: JsonObject,
  secrets: ReadonlySet<string>,
): Json {
  const owned = Object.entries(live).filter(([field]) => ownOf(document, field) !== undefined);
  return mask(kind.schema, Object.fromEntries(owned), { secrets, onlyOwn: true });
}
