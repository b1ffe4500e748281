import { foldedBlock, literalBlock, scalarText } from './yaml-scalar.ts';

/** What is to be written, with everything decided but its layout. */
export type Tree =
  | { readonly type: 'text'; readonly text: string }
  /** A number, a truth value or null. */
  | { readonly type: 'bare'; readonly text: string }
  | { readonly type: 'list'; readonly items: readonly Tree[] }
  | {
      readonly type: 'map';
      readonly members: readonly (readonly [string, Tree])[];
      /** Never between braces, however short: its members are names of things. */
      readonly isOpen?: boolean;
    };

/** Columns that a line may take. A text that has no spaces may take more. */
const WIDTH = 100;
/** More members than this are easier to read, and to review, on lines of their own. */
const MOST_IN_BRACES = 4;
const STEP = '  ';

/** A tree on one line, or undefined where a person would write it on several. */
function inline(tree: Tree, spot: 'block' | 'flow'): string | undefined {
  switch (tree.type) {
    case 'bare':
      return tree.text;
    case 'text':
      return scalarText(tree.text, spot);
    case 'list':
      return inBrackets(tree.items);
    case 'map':
      return tree.isOpen === true ? undefined : inBraces(tree.members);
  }
}

function inBrackets(items: readonly Tree[]): string | undefined {
  if (items.some(({ type }) => type === 'list' || type === 'map')) return undefined;
  return `[${items.map((item) => inline(item, 'flow')).join(', ')}]`;
}

function inBraces(members: readonly (readonly [string, Tree])[]): string | undefined {
  if (members.length === 0) return '{}';
  if (members.length > MOST_IN_BRACES) return undefined;
  const parts: string[] = [];
  for (const [key, value] of members) {
    // A map in a map in a map is a puzzle; the forms, which have one member, are none.
    const isDeep = value.type === 'map' && value.members.some(([, { type }]) => type === 'map');
    const text = isDeep ? undefined : inline(value, 'flow');
    if (text === undefined) return undefined;
    parts.push(`${scalarText(key, 'key')}: ${text}`);
  }
  return `{ ${parts.join(', ')} }`;
}

/** Lines of a tree behind `head`, which is `key:` or `-` with its indentation. */
function linesOf(tree: Tree, head: string, indent: string): readonly string[] {
  const text = inline(tree, 'block');
  const line = text === undefined ? undefined : `${head} ${text}`;
  if (tree.type === 'text') {
    const folded = () => foldedBlock(tree.text, indent, WIDTH);
    const isLong = (line?.length ?? 0) > WIDTH;
    const block = literalBlock(tree.text, indent) ?? (isLong ? folded() : undefined);
    const [first = '', ...rest] = block ?? [text ?? ''];
    return [`${head} ${first}`, ...rest];
  }
  const isEmpty =
    (tree.type === 'list' && tree.items.length === 0) ||
    (tree.type === 'map' && tree.members.length === 0);
  if (line !== undefined && (tree.type === 'bare' || isEmpty || line.length <= WIDTH))
    return [line];
  if (tree.type === 'list') {
    return [head, ...tree.items.flatMap((item) => linesOfElement(item, indent))];
  }
  return tree.type === 'map' ? [head, ...linesOfMembers(tree.members, indent)] : [];
}

/** An element of a list, on lines of its own. */
export function elementLines(item: Tree, indent: string): readonly string[] {
  return linesOfElement(item, indent);
}

/** A member of a map, on lines of its own. */
export function memberLines(key: string, value: Tree, indent: string): readonly string[] {
  return linesOfMembers([[key, value]], indent);
}

/** What stands behind a `key:` or a dash that is indented so: the rest of its line and those below. */
export function valueLines(tree: Tree, indent: string): readonly string[] {
  return linesOf(tree, '', indent + STEP);
}

/** A tree on one line whatever it takes, for a place between brackets or braces, or in a JSON file. */
export function bracketed(tree: Tree, json: boolean): string {
  const text = (one: string, spot: 'flow' | 'key') =>
    json ? JSON.stringify(one) : scalarText(one, spot);
  switch (tree.type) {
    case 'bare':
      return tree.text;
    case 'text':
      return text(tree.text, 'flow');
    case 'list':
      return `[${tree.items.map((item) => bracketed(item, json)).join(', ')}]`;
    case 'map': {
      const members = tree.members.map(
        ([key, value]) => `${text(key, 'key')}: ${bracketed(value, json)}`,
      );
      return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
    }
  }
}

function linesOfElement(item: Tree, indent: string): readonly string[] {
  const [first = '', ...rest] = linesOf(item, `${indent}-`, indent + STEP);
  // A map begins on the line of its dash.
  const [inner, ...others] = first === `${indent}-` ? rest : [];
  return inner === undefined ? [first, ...rest] : [`${first} ${inner.trimStart()}`, ...others];
}

/** The members of a map, each on lines of its own. */
export function linesOfMembers(
  members: readonly (readonly [string, Tree])[],
  indent: string,
): readonly string[] {
  return members.flatMap(([key, value]) =>
    linesOf(value, `${indent}${keyText(key)}:`, indent + STEP),
  );
}

/** A key of more than 1,024 characters would need a form of its own, which nobody reads. */
function keyText(key: string): string {
  return scalarText(key, 'key');
}
