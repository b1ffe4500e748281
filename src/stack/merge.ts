import { dereference, type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import type { Problem } from './diagnostics.ts';
import {
  findMember,
  type ListNode,
  type MapNode,
  type Member,
  onlyMember,
  type SourceRange,
  type SyntaxNode,
} from './source.ts';

/**
 * Lays one layer of a document over another: a resource over its bases, an environment over both. What is
 * on top wins, field by field:
 *
 * | below and on top                                    | outcome                                       |
 * |-----------------------------------------------------|-----------------------------------------------|
 * | two maps                                            | merged, member by member                      |
 * | two lists whose elements have an identity           | merged by identity, of several with the same one in their order; new elements stand last |
 * | any other list, text, number, value form            | the one on top                                |
 * | an object that is compared as a whole (`x-whole`)   | the one on top                                |
 * | anything, and `null`                                | null: the field is cleared on the platform    |
 * | anything, and `{ $remove: true }`                   | as if it had never been written               |
 * | a list, and an element `{ $remove: name }`          | the list without that element                 |
 * | anything, and `{ $replace: value }`                 | the value as it stands, not merged            |
 */
type Merge = {
  /** Holds the definitions that `$ref`s of the schema lead to. */
  readonly root: FieldSchema;
  readonly add: (problem: Problem) => void;
};

/** One layer of a resource: who says it, and what. */
export type Layer = { readonly label: string; readonly body: MapNode };

export const REMOVE = '$remove';
export const REPLACE = '$replace';

export function mergeLayers(
  below: MapNode,
  top: MapNode,
  schema: FieldSchema,
  merge: Merge,
): MapNode {
  return mergeMaps(below, top, dereference(merge.root, schema), merge);
}

function mergeMaps(below: MapNode, top: MapNode, schema: FieldSchema, merge: Merge): MapNode {
  const members = new Map(below.members);
  for (const member of top.members.values()) {
    const lower = members.get(member.key);
    const field = memberSchema(merge.root, schema, member.key);
    const value = mergeValues(lower, member, field, merge);
    if (value === undefined) members.delete(member.key);
    else members.set(member.key, { ...member, value });
  }
  return { ...top, members };
}

/** Undefined: nothing is left. */
function mergeValues(
  lower: Member | undefined,
  { key, keyPlace, value }: Member,
  schema: FieldSchema,
  merge: Merge,
): SyntaxNode | undefined {
  if (isTrue(onlyMember(value, REMOVE)?.value)) {
    if (lower === undefined) reportNothing(key, keyPlace, merge);
    return undefined;
  }
  const replaced = onlyMember(value, REPLACE);
  if (replaced !== undefined) return settle(replaced.value, schema, merge);
  return combine(lower?.value, value, schema, merge);
}

function combine(
  lower: SyntaxNode | undefined,
  value: SyntaxNode,
  schema: FieldSchema,
  merge: Merge,
): SyntaxNode {
  if (value.type === 'map' && !isForm(value) && schema['x-whole'] !== true) {
    const beneath =
      lower?.type === 'map' && !isForm(lower) ? lower : { ...value, members: new Map() };
    return mergeMaps(beneath, value, schema, merge);
  }
  if (value.type === 'list') {
    const identity = schema['x-identity'];
    if (identity === undefined) return settle(value, schema, merge);
    return mergeLists(lower?.type === 'list' ? lower.items : [], value, identity, schema, merge);
  }
  return value;
}

/** A value with nothing beneath it. */
function settle(value: SyntaxNode, schema: FieldSchema, merge: Merge): SyntaxNode {
  if (value.type !== 'list') return combine(undefined, value, schema, merge);
  const element = itemSchema(merge.root, schema);
  return { ...value, items: value.items.map((item) => combine(undefined, item, element, merge)) };
}

function mergeLists(
  lower: readonly SyntaxNode[],
  list: ListNode,
  identity: string,
  schema: FieldSchema,
  merge: Merge,
): ListNode {
  const element = itemSchema(merge.root, schema);
  const items = [...lower];
  const met = new Map<string, number>();
  for (const item of list.items) {
    const removed = onlyMember(item, REMOVE);
    const name = findName((removed ?? findMember(item, identity))?.value);
    const nth = schema['x-repeats'] === true ? (met.get(name ?? '') ?? 0) : 0;
    met.set(name ?? '', nth + 1);
    // Two elements with one identity that must be unique are a mistake that is reported later, so both stay.
    const under =
      name === undefined
        ? undefined
        : lower.filter((other) => findName(findMember(other, identity)?.value) === name)[nth];
    const beneath = under === undefined ? undefined : items.indexOf(under);
    // One that names nothing stays, so that it is reported where values are resolved.
    if (removed !== undefined && name !== undefined) {
      if (beneath === undefined || beneath < 0) reportNothing(name, item.range, merge);
      else items.splice(beneath, 1);
    } else if (beneath === undefined || beneath < 0)
      items.push(combine(undefined, item, element, merge));
    else items[beneath] = combine(items[beneath], item, element, merge);
  }
  return { ...list, items };
}

/** Identities are compared as they are written: an expression is the same one wherever it stands. */
function findName(node: SyntaxNode | undefined): string | undefined {
  return node?.type === 'scalar' && node.value !== null ? node.text : undefined;
}

/** `{ $remove: false }` is a mistake, which is reported where values are resolved. */
function isTrue(node: SyntaxNode | undefined): boolean {
  return node?.type === 'scalar' && node.value === true;
}

/** Returns true if a map stands for one value, so that nothing is merged into it. */
function isForm(node: MapNode): boolean {
  return [...node.members.keys()].some((key) => key.startsWith('$'));
}

function reportNothing(name: string, range: SourceRange, { add }: Merge): void {
  add({
    rule: 'base/remove',
    message: `removes ${name}, which no layer below it has`,
    hint: 'Correct the name, or remove the line',
    range,
  });
}
