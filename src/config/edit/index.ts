/**
 * `config/edit/` changes values in a YAML or JSON file so that every byte that does not belong to them
 * stays: comments, order, anchors, quotes, indentation and line ends. Nothing is printed anew: each edit
 * becomes stretches of the text and what takes their place.
 */
import { isMap, isPair, isScalar, type Scalar } from 'yaml';
import type { Tree } from '../write-tree.ts';
import { bracketed, valueLines } from '../write-tree.ts';
import { insertion } from './insert.ts';
import { removeItems } from './items.ts';
import {
  type Collection,
  columnOf,
  endOfContent,
  endOfHead,
  isCollection,
  keyOf,
  type Located,
  rangeOf,
  readNodes,
  type Stretch,
  startOfItem,
  Uneditable,
  valueAt,
} from './nodes.ts';
import { means, same } from './same.ts';
import { restyle } from './scalar.ts';
import { joinSplices, type Splice } from './splice.ts';

export { type Stretch, Uneditable } from './nodes.ts';

/** One change of a file. Places are those of nodes of the text as it is. */
export type Edit =
  | { readonly type: 'set'; readonly at: Stretch; readonly tree: Tree }
  /** Takes away the member or element whose value stands there. */
  | { readonly type: 'remove'; readonly at: Stretch }
  /** Adds an element to a list, or a member to a map, behind all others. */
  | { readonly type: 'add'; readonly to: Stretch; readonly key?: string; readonly tree: Tree };

/** What happens to the items of one collection. */
type Plan = {
  readonly located: Located;
  readonly removed: Set<number>;
  /** Behind which item, -1 for none, comes what. */
  readonly added: { readonly after: number; readonly key?: string; readonly tree: Tree }[];
};

type Edition = {
  readonly text: string;
  readonly json: boolean;
  readonly plans: Map<Collection, Plan>;
  readonly splices: Splice[];
};

/** The text with the edits made. Throws `Uneditable` where one cannot be made so that the rest stays. */
export function editYaml(text: string, edits: readonly Edit[], { json = false } = {}): string {
  const find = readNodes(text);
  const edition: Edition = { text, json, plans: new Map(), splices: [] };
  for (const edit of edits) {
    if (edit.type === 'set') set(find(edit.at), edit.tree, edition);
    else if (edit.type === 'remove') remove(find(edit.at), find, edition);
    else add(find(edit.to), edit, edition);
  }
  for (const plan of edition.plans.values()) carryOut(plan, edition);
  return joinSplices(text, edition.splices);
}

function planOf(located: Located, { plans }: Edition): Plan {
  const { node } = located;
  if (!isCollection(node)) throw new Uneditable('what holds it is no list or map');
  const plan = plans.get(node) ?? { located, removed: new Set<number>(), added: [] };
  plans.set(node, plan);
  return plan;
}

function remove({ holder, index }: Located, find: (at: Stretch) => Located, edition: Edition) {
  if (holder === undefined) throw new Uneditable('it is the whole of its file');
  const [start, end] = rangeOf(holder);
  planOf(find({ start, end }), edition).removed.add(index);
}

function add(to: Located, { key, tree }: Edit & { type: 'add' }, edition: Edition): void {
  const { added, located } = planOf(to, edition);
  const count = isCollection(located.node) ? located.node.items.length : 0;
  added.push({ after: count - 1, ...(key === undefined ? {} : { key }), tree });
}

/** Makes a node mean what the tree says, and touches only what does not yet. */
function set(located: Located, tree: Tree, edition: Edition): void {
  const { node } = located;
  if (isScalar(node)) {
    if (tree.type === 'text' && typeof node.value === 'string')
      setText(located, tree.text, edition);
    else if (tree.type === 'bare' && isInPlace(node)) {
      const [start, end] = rangeOf(node);
      edition.splices.push({ start, end, text: tree.text });
    } else setWhole(located, tree, edition);
    return;
  }
  if (isMap(node) && tree.type === 'map') setMembers(located, node, tree.members, edition);
  else if (isCollection(node) && !isMap(node) && tree.type === 'list') {
    setElements(located, node, tree.items, edition);
  } else setWhole(located, tree, edition);
}

/** Whether another value may stand exactly where a scalar does: something does, and no tag or block style is before it. */
function isInPlace(node: Scalar): boolean {
  const [start, end] = rangeOf(node);
  return end > start && node.tag === undefined && !node.type?.startsWith('BLOCK');
}

function setText({ node, isFlow, holder }: Located, text: string, edition: Edition): void {
  if (!isScalar(node)) return;
  const [start, end] = rangeOf(node);
  const written = edition.text.slice(start, end);
  const indent = `${' '.repeat(indentOf(holder, edition.text))}  `;
  const next = restyle(node, text, { isFlow, written, indent, json: edition.json });
  edition.splices.push(replacement(start, end, next, edition.text));
}

function indentOf(holder: Collection | undefined, text: string): number {
  if (holder === undefined || holder.items.length === 0) return 0;
  return columnOf(text, startOfItem(holder, 0));
}

function setMembers(
  located: Located,
  node: Collection,
  members: readonly (readonly [string, Tree])[],
  edition: Edition,
): void {
  const wanted = new Map(members);
  const isFlow = node.flow === true;
  const known = new Set<string>();
  for (const [index, item] of node.items.entries()) {
    const key = isPair(item) ? keyOf(item) : '';
    known.add(key);
    const tree = wanted.get(key);
    const value = valueAt(node, index);
    if (tree === undefined) planOf(located, edition).removed.add(index);
    else if (value !== null) {
      if (!means(value, tree)) set({ node: value, holder: node, index, isFlow }, tree, edition);
    } else throw new Uneditable('it has a key without a value');
  }
  for (const [key, tree] of members) {
    if (known.has(key)) continue;
    planOf(located, edition).added.push({ after: node.items.length - 1, key, tree });
  }
}

/** Elements that are the same stay; what stands between two of those is changed in place, as far as it goes. */
function setElements(
  located: Located,
  node: Collection,
  items: readonly Tree[],
  edition: Edition,
): void {
  const isFlow = node.flow === true;
  let from = 0;
  let next = 0;
  for (const [at, to] of [...same(node, items), [node.items.length, items.length] as const]) {
    const paired = Math.min(at - from, to - next);
    for (let step = 0; step < paired; step += 1) {
      const index = from + step;
      const value = valueAt(node, index);
      const tree = items[next + step];
      if (value === null || tree === undefined) throw new Uneditable('it has an empty element');
      set({ node: value, holder: node, index, isFlow }, tree, edition);
    }
    for (let index = from + paired; index < at; index += 1) {
      planOf(located, edition).removed.add(index);
    }
    for (const tree of items.slice(next + paired, to)) {
      planOf(located, edition).added.push({ after: from + paired - 1, tree });
    }
    from = at + 1;
    next = to + 1;
  }
}

/** Writes another kind of value in the place of one; an anchor on it stays. */
function setWhole({ node, holder, index, isFlow }: Located, tree: Tree, edition: Edition): void {
  const { text, json } = edition;
  if (holder === undefined) throw new Uneditable('it is the whole of its file');
  const [start, last] = rangeOf(node);
  const anchor = 'anchor' in node && node.anchor !== undefined ? ` &${node.anchor}` : '';
  // Where nothing stands, what does comes right behind the colon: before a comment, or what follows a brace.
  const isNothing = start === last && anchor === '' && !node.tag;
  const end = isNothing ? endOfHead(holder, index) : endOfContent(node);
  if (isFlow || json) {
    const value = bracketed(tree, json);
    edition.splices.push(
      isNothing ? { start: end, end, text: ` ${value}` } : { start, end, text: value },
    );
    return;
  }
  const head = endOfHead(holder, index);
  const column = columnOf(text, startOfItem(holder, index));
  const lines = valueLines(tree, ' '.repeat(column));
  edition.splices.push(replacement(head, end, `${anchor}${lines.join('\n')}`, text));
}

/** Something of one or more lines in the place of a value; a comment behind that stays behind the first line. */
function replacement(start: number, end: number, next: string, text: string): Splice {
  const body = next.replace(/\n$/, '');
  if (text[end - 1] === '\n') return { start, end, text: `${body}\n` };
  const [first = '', ...rest] = body.split('\n');
  const tail = /^[^\r\n]*/.exec(text.slice(end))?.[0] ?? '';
  if (rest.length === 0 || tail.trim() === '') return { start, end, text: body };
  return { start, end: end + tail.length, text: [first + tail, ...rest].join('\n') };
}

function carryOut({ located, removed, added }: Plan, edition: Edition): void {
  const { node } = located;
  if (!isCollection(node)) return;
  if (removed.size === node.items.length) {
    const isList = !isMap(node);
    const tree: Tree = isList
      ? { type: 'list', items: added.map((one) => one.tree) }
      : { type: 'map', members: added.map(({ key = '', tree }) => [key, tree] as const) };
    if (node.items.length === 0 || located.holder !== undefined) {
      setWhole(located, tree, edition);
      return;
    }
    throw new Uneditable('nothing would be left of its file');
  }
  edition.splices.push(...removeItems(node, removed, edition.text));
  for (const { after, key, tree } of added) {
    edition.splices.push(insertion(node, removed, after, key, tree, edition));
  }
}
