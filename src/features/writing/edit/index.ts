import { isMap, isPair, isScalar, type Node, parseDocument, type Scalar } from 'yaml';
import {
  bracketed,
  elementLines,
  memberLines,
  restyle,
  type Tree,
  valueLines,
} from '../../../stack/tree.ts';
import {
  type Collection,
  endOfContent,
  endOfHead,
  endOfItem,
  getAnchor,
  getColumn,
  getKey,
  getRange,
  isCollection,
  isNode,
  lineStart,
  nextLine,
  startOfItem,
  Uneditable,
  valueAt,
} from './nodes.ts';

/**
 * `edit/` changes values in a YAML or JSON file so that every byte that does not belong to them
 * stays: comments, order, anchors, quotes, indentation and line ends. Nothing is printed again: each edit
 * becomes stretches of the text and what takes their place.
 */

/** One change of a file. Places are those of nodes of the text as it is. */
export type Edit =
  | { readonly type: 'set'; readonly at: Stretch; readonly tree: Tree }
  /** Takes away the member or element whose value stands there. */
  | { readonly type: 'remove'; readonly at: Stretch }
  /** Adds an element to a list, or a member to a map, behind all others. */
  | { readonly type: 'add'; readonly to: Stretch; readonly key?: string; readonly tree: Tree };

/** The edits of one collection's items. */
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
  // Additions to a collection and behind it may go to one place: those inside come first.
  const getStart = ({ located }: Plan) => getRange(located.node)[0];
  const fromInside = [...edition.plans.values()].sort((a, b) => getStart(b) - getStart(a));
  for (const plan of fromInside) carryOut(plan, edition);
  return joinSplices(text, edition.splices);
}

function getPlan(located: Located, { plans }: Edition): Plan {
  const { node } = located;
  if (!isCollection(node)) throw new Uneditable('its parent is not a list or map');
  const plan = plans.get(node) ?? { located, removed: new Set<number>(), added: [] };
  plans.set(node, plan);
  return plan;
}

function remove({ holder, index }: Located, find: (at: Stretch) => Located, edition: Edition) {
  if (holder === undefined) throw new Uneditable('it is the whole file');
  const [start, end] = getRange(holder);
  getPlan(find({ start, end }), edition).removed.add(index);
}

function add(to: Located, { key, tree }: Edit & { type: 'add' }, edition: Edition): void {
  const { added, located } = getPlan(to, edition);
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
      const [start, end] = getRange(node);
      edition.splices.push({ start, end, text: tree.text });
    } else setWhole(located, tree, edition);
    return;
  }
  if (isMap(node) && tree.type === 'map') setMembers(located, node, tree.members, edition);
  else if (isCollection(node) && !isMap(node) && tree.type === 'list') {
    setElements(located, node, tree.items, edition);
  } else setWhole(located, tree, edition);
}

/** Returns true if a scalar can be replaced by its range: it is not empty, and no tag or block style is before it. */
function isInPlace(node: Scalar): boolean {
  const [start, end] = getRange(node);
  return end > start && node.tag === undefined && !node.type?.startsWith('BLOCK');
}

function setText({ node, isFlow, holder }: Located, text: string, edition: Edition): void {
  if (!isScalar(node)) return;
  const [start, end] = getRange(node);
  const written = edition.text.slice(start, end);
  const indent = `${' '.repeat(measureIndent(holder, edition.text))}  `;
  const next = restyle(node, text, { isFlow, written, indent, json: edition.json });
  edition.splices.push(replacement(start, end, next, edition.text));
}

function measureIndent(holder: Collection | undefined, text: string): number {
  if (holder === undefined || holder.items.length === 0) return 0;
  return getColumn(text, startOfItem(holder, 0));
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
    const key = isPair(item) ? getKey(item) : '';
    known.add(key);
    const tree = wanted.get(key);
    const value = valueAt(node, index);
    if (tree === undefined) getPlan(located, edition).removed.add(index);
    else if (value !== null) {
      if (!means(value, tree)) set({ node: value, holder: node, index, isFlow }, tree, edition);
    } else throw new Uneditable('it has a key without a value');
  }
  for (const [key, tree] of members) {
    if (known.has(key)) continue;
    getPlan(located, edition).added.push({ after: node.items.length - 1, key, tree });
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
      getPlan(located, edition).removed.add(index);
    }
    for (const tree of items.slice(next + paired, to)) {
      getPlan(located, edition).added.push({ after: from + paired - 1, tree });
    }
    from = at + 1;
    next = to + 1;
  }
}

/** Writes another kind of value in the place of one; an anchor on it stays. */
function setWhole({ node, holder, index, isFlow }: Located, tree: Tree, edition: Edition): void {
  const { text, json } = edition;
  if (holder === undefined) throw new Uneditable('it is the whole file');
  const [start, last] = getRange(node);
  const anchor = getAnchor(node);
  // A new value for an empty one comes right behind the colon: before a comment, or what follows a brace.
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
  const column = getColumn(text, startOfItem(holder, index));
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
    throw new Uneditable('its file would be empty');
  }
  edition.splices.push(...removeItems(node, removed, edition.text));
  for (const { after, key, tree } of added) {
    edition.splices.push(insertion(node, removed, after, key, tree, edition));
  }
}

/** A stretch of a text and what takes its place, with line feeds. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string };

/**
 * The text with all splices made, in its own line ends unless they stand for themselves. Those inside a stretch
 * that goes away are moot.
 */
export function joinSplices(
  text: string,
  splices: readonly Splice[],
  { isVerbatim = false } = {},
): string {
  const lineEnd = isVerbatim ? '\n' : (/\r?\n/.exec(text)?.[0] ?? '\n');
  const ordered = [...splices].sort((a, b) => a.start - b.start || a.end - b.end);
  let at = 0;
  let joined = '';
  let last: Splice | undefined;
  for (const splice of ordered) {
    if (splice.start < at) {
      const isInside = last !== undefined && splice.end <= last.end && last.text === '';
      if (isInside) continue;
      throw new Uneditable('two changes overlap');
    }
    joined += text.slice(at, splice.start) + splice.text.replaceAll('\n', lineEnd);
    at = splice.end;
    last = splice;
  }
  return joined + text.slice(at);
}

/** Pairs of indexes of what a list has and is to have alike, in order: the longest common subsequence. */
function same(node: Collection, items: readonly Tree[]): readonly (readonly [number, number])[] {
  const count = node.items.length;
  const lengths = Array.from({ length: count + 1 }, () =>
    new Array<number>(items.length + 1).fill(0),
  );
  const isSame = (a: number, b: number) => {
    const value = valueAt(node, a);
    const tree = items[b];
    return value !== null && tree !== undefined && means(value, tree);
  };
  const row = (a: number) => lengths[a] ?? [];
  for (let a = count - 1; a >= 0; a -= 1) {
    for (let b = items.length - 1; b >= 0; b -= 1) {
      row(a)[b] = isSame(a, b)
        ? (row(a + 1)[b + 1] ?? 0) + 1
        : Math.max(row(a + 1)[b] ?? 0, row(a)[b + 1] ?? 0);
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let a = 0, b = 0; a < count && b < items.length; ) {
    if (isSame(a, b)) pairs.push([a++, b++]);
    else if ((row(a + 1)[b] ?? 0) >= (row(a)[b + 1] ?? 0)) a += 1;
    else b += 1;
  }
  return pairs;
}

/** Returns true if a node already has a tree's value. */
function means(node: Node, tree: Tree): boolean {
  if (isScalar(node)) {
    if (tree.type === 'text') return node.value === tree.text;
    return (
      tree.type === 'bare' && typeof node.value !== 'string' && String(node.value) === tree.text
    );
  }
  if (!isCollection(node)) return false;
  if (isMap(node)) {
    if (tree.type !== 'map' || tree.members.length !== node.items.length) return false;
    const wanted = new Map(tree.members);
    return node.items.every((item, index) => {
      const inner = wanted.get(getKey(item));
      const value = valueAt(node, index);
      return inner !== undefined && value !== null && means(value, inner);
    });
  }
  if (tree.type !== 'list' || tree.items.length !== node.items.length) return false;
  return tree.items.every((inner, index) => {
    const value = valueAt(node, index);
    return value !== null && means(value, inner);
  });
}

/** Takes items out of a collection that keeps at least one. */
function removeItems(
  holder: Collection,
  removed: ReadonlySet<number>,
  text: string,
): readonly Splice[] {
  return listRuns(removed).map(([first, last]) =>
    holder.flow === true
      ? withoutInFlow(holder, first, last)
      : withoutLines(holder, first, last, text),
  );
}

/** Neighbours as one stretch each: first and last index. */
function listRuns(removed: ReadonlySet<number>): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const index of [...removed].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === index - 1) run[1] = index;
    else runs.push([index, index]);
  }
  return runs;
}

function withoutInFlow(holder: Collection, first: number, last: number): Splice {
  const isLast = last === holder.items.length - 1;
  return isLast
    ? { start: endOfItem(holder, first - 1), end: endOfItem(holder, last), text: '' }
    : { start: startOfItem(holder, first), end: startOfItem(holder, last + 1), text: '' };
}

function withoutLines(holder: Collection, first: number, last: number, text: string): Splice {
  const start = startOfItem(holder, first);
  const line = lineStart(text, start);
  // `- name: x`: the next member takes the place behind the dash.
  if (text.slice(line, start).trim() !== '') {
    return { start, end: startOfItem(holder, last + 1), text: '' };
  }
  const from = first === 0 ? line : aboveComments(text, line, getColumn(text, start));
  return { start: from, end: nextLine(text, endOfItem(holder, last)), text: '' };
}

/** A comment right above an item goes with it. */
function aboveComments(text: string, line: number, column: number): number {
  let from = line;
  while (from > 0) {
    const above = lineStart(text, from - 1);
    const words = text.slice(above, from);
    if (!words.trimStart().startsWith('#') || getColumn(words, words.indexOf('#')) !== column)
      break;
    from = above;
  }
  return from;
}

/** An element that is a map stands on lines of its own where its neighbours do. */
function likeOthers(tree: Tree, node: Collection): Tree {
  const isOpen = node.items.some((item) => isMap(item) && item.flow !== true);
  return tree.type === 'map' && tree.members.length > 0 && isOpen ? { ...tree, isOpen } : tree;
}

/** Inserts behind an item, or before the first, whatever is removed there. */
function insertion(
  node: Collection,
  removed: ReadonlySet<number>,
  after: number,
  key: string | undefined,
  tree: Tree,
  { text, json }: { readonly text: string; readonly json: boolean },
): Splice {
  const kept = node.items.map((_, index) => index).filter((index) => !removed.has(index));
  const before = kept.findLast((index) => index <= after);
  if (node.flow === true || json) {
    const value = bracketed(tree, json);
    const member =
      key === undefined ? value : `${bracketed({ type: 'text', text: key }, json)}: ${value}`;
    if (before === undefined) {
      const start = startOfItem(node, kept[0] ?? 0);
      return { start, end: start, text: `${member}, ` };
    }
    const start = endOfItem(node, before);
    return { start, end: start, text: `, ${member}` };
  }
  const first = startOfItem(node, 0);
  const indent = ' '.repeat(getColumn(text, first));
  const lines =
    key === undefined
      ? elementLines(likeOthers(tree, node), indent)
      : memberLines(key, tree, indent);
  if (before !== undefined) {
    const start = nextLine(text, endOfItem(node, before));
    const lead = text[start - 1] === '\n' ? '' : '\n';
    const tail = lead === '' ? '\n' : '';
    return { start, end: start, text: `${lead}${lines.join('\n')}${tail}` };
  }
  const start = startOfItem(node, kept[0] ?? 0);
  const isAlone = text.slice(lineStart(text, start), start).trim() === '';
  if (isAlone) {
    const line = lineStart(text, start);
    return { start: line, end: line, text: `${lines.join('\n')}\n` };
  }
  return { start, end: start, text: `${lines.join('\n').trimStart()}\n${indent}` };
}

/** A stretch of a text by its offsets; `end` is exclusive. */
type Stretch = { readonly start: number; readonly end: number };

/** A node of a file with the collection that holds it; the document's own node has none. */
type Located = {
  readonly node: Node;
  readonly holder: Collection | undefined;
  readonly index: number;
  /** The columns that what stands below the node is indented by at least. */
  readonly isFlow: boolean;
};

/** The nodes of a text, found by where they stand. */
function readNodes(text: string): (at: Stretch) => Located {
  const document = parseDocument(text, { keepSourceTokens: true, uniqueKeys: false });
  const found = new Map<string, Located>();
  const visit = (located: Located): void => {
    const [start, end] = getRange(located.node);
    found.set(`${start}:${end}`, located);
    const { node } = located;
    if (!isCollection(node)) return;
    const isFlow = node.flow === true;
    for (const [index, item] of node.items.entries()) {
      const value = isPair(item) ? item.value : item;
      if (isNode(value)) visit({ node: value, holder: node, index, isFlow });
    }
  };
  if (document.contents !== null) {
    visit({ node: document.contents, holder: undefined, index: 0, isFlow: false });
  }
  return ({ start, end }) => {
    const located = found.get(`${start}:${end}`);
    if (located === undefined)
      throw new Uneditable('Callsheet cannot edit the way in which it is written');
    return located;
  };
}
