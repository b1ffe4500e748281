import { ownOf } from '../core/own.ts';
import {
  formatPath,
  identityOrdinal,
  identityText,
  isIdentity,
  type Path,
  parsePath,
  startsWith,
} from '../core/path.ts';
import type { Change, FieldChange } from '../core/plan-document.ts';
import { MASK } from '../core/redact.ts';
import { isObject, type Json } from '../core/value.ts';
import { sanitiseLine } from './untrusted.ts';

/** An element of a keyed list that appears or goes as a whole, such as a new webhook. */
export type Element = {
  readonly path: string;
  readonly appears: boolean;
  /** Why, where all its leaves have the same cause. */
  readonly cause: FieldChange['cause'];
  /** `GET https://crm.example.test/c`: where it leads; empty where it leads nowhere. Sanitised. */
  readonly summary: string;
  /** Everything else that it is made of, by sanitised paths below it. */
  readonly members: readonly ElementLeaf[];
};

type ElementLeaf = { readonly key: string; readonly value: Json };

/**
 * The fields of a change, with the leaves of every new or removed element of a keyed list taken together,
 * so that a webhook of eight leaves is one thing to read. Order is kept, and nothing is left out.
 */
export function gatherElements(change: Change): readonly (FieldChange | Element)[] {
  const gathered: (FieldChange | Element)[] = [];
  const rest = change.fields.map((field) => ({ field, path: pathOf(field) }));
  for (let first = rest.shift(); first !== undefined; first = rest.shift()) {
    const root = elementRoot(first.path, first.field, change);
    const count = root === undefined ? 0 : rest.findIndex(({ path }) => !startsWith(path, root));
    const members = rest.slice(0, count === -1 ? rest.length : count);
    const fields = [first.field, ...members.map(({ field }) => field)];
    if (root === undefined || !alike(fields)) {
      gathered.push(first.field);
      continue;
    }
    rest.splice(0, members.length);
    gathered.push({
      path: formatPath(root),
      appears: first.field.before === null,
      cause: fields.find(({ secret }) => !secret)?.cause ?? first.field.cause,
      ...summarise(root, fields),
    });
  }
  return gathered;
}

/** A path that cannot be read is one segment, shown as it is. */
function pathOf({ path }: FieldChange): Path {
  return parsePath(path) ?? [path];
}

/** The outermost keyed element on the way to the leaf that only one side has. */
function elementRoot(path: Path, field: FieldChange, change: Change): Path | undefined {
  if ((field.before === null) === (field.after === null)) return undefined;
  const other = field.before === null ? change.before : change.after;
  for (const [index, segment] of path.entries()) {
    const root = path.slice(0, index + 1);
    if (isIdentity(segment) && !contains(other, root)) return root;
  }
  return undefined;
}

/** Whether a document holds something at a path. */
function contains(document: Json, path: Path): boolean {
  let at: Json | undefined = document;
  for (const segment of path) {
    if (at === undefined || at === null) return false;
    if (isIdentity(segment)) at = elementOf(at, segment);
    else at = isObject(at) ? ownOf(at, segment) : undefined;
  }
  return at !== undefined && at !== null;
}

/** The element with a member of that value: which member is the key is the schema's affair. */
function elementOf(list: Json, segment: string): Json | undefined {
  const identity = identityText(segment);
  if (isObject(list)) return ownOf(list, identity) ?? ownOf(list, segment);
  if (!Array.isArray(list)) return undefined;
  const named = list.filter((item: Json) =>
    isObject(item) ? Object.values(item).includes(identity as never) : item === identity,
  );
  return named[identityOrdinal(segment) - 1];
}

/** Whether the leaves all come or all go, for one reason; a secret has causes of its own. */
function alike(fields: readonly FieldChange[]): boolean {
  const [first, ...others] = fields.filter(({ secret }) => !secret);
  const appears = fields.every(({ before }) => before === null);
  const goes = fields.every(({ after }) => after === null);
  return (appears || goes) && others.every(({ cause }) => cause === first?.cause);
}

/** Where an element leads, and what else there is of it. Its name stands in its path. */
function summarise(
  root: Path,
  fields: readonly FieldChange[],
): Pick<Element, 'summary' | 'members'> {
  const leaves = fields.flatMap((field) => leavesOf(field, root));
  const named = (pattern: RegExp) =>
    leaves.find(({ key, value }) => pattern.test(key) && typeof value === 'string');
  const url = named(/^(?:\w+_)?url$/);
  const verb = url && named(/^(?:method|transport_type)$/);
  const members = leaves.filter(
    (leaf) => leaf !== url && leaf !== verb && !namesElement(leaf, root),
  );
  return {
    summary: sanitiseLine([verb, url].flatMap((leaf) => leaf?.value ?? []).join(' ')),
    members: members.map(({ key, value }) => ({ key: sanitiseLine(key), value })),
  };
}

/** Members by which elements are recognised. */
const IDENTITY = /^(?:key|(?:\w+_)?name)$/;

/** Whether a leaf says no more than the path of its element does. */
function namesElement({ key, value }: ElementLeaf, root: Path): boolean {
  const path = [...root, ...(parsePath(key) ?? [key])];
  const above = path.at(-2);
  return (
    IDENTITY.test(path.at(-1) ?? '') &&
    above !== undefined &&
    isIdentity(above) &&
    value === identityText(above)
  );
}

/** A field's leaf under the element, or the members of an element given whole. */
function leavesOf(field: FieldChange, root: Path): readonly ElementLeaf[] {
  const value = field.after ?? field.before;
  const below = pathOf(field).slice(root.length);
  if (below.length === 0 && isObject(value)) {
    return Object.entries(value).map(([key, member]: readonly [string, Json]) => ({
      key,
      value: member,
    }));
  }
  return [
    { key: formatPath(below), value: field.secret && typeof value !== 'object' ? MASK : value },
  ];
}
