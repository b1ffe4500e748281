import { isMap, isNode, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { Document } from '../generate/document.ts';

/** A problem is in a file below the project's folder; line and column are counted from 1. */
export type Problem = {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
};

/** The `path` of a finding holds the keys that lead to it in the bundled document. */
export type Finding = {
  readonly rule: string;
  readonly path: readonly string[];
  readonly message: string;
};

/** The bundled document, and the assumptions that fields of the kinds name. */
export type Subject = { readonly document: Document; readonly usedByKinds: readonly string[] };

export type Rule = (subject: Subject) => readonly Finding[];

/** Turns findings into problems of a YAML file. What a reference put in its place is found at the reference. */
export function createLocator(file: string, text: string): (finding: Finding) => Problem {
  const lines = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: lines });
  return ({ rule, path, message }) => {
    const { line, col } = lines.linePos(offsetOf(contents, path));
    const where = path.join(' → ');
    return { file, line, column: col, message: `${where}: ${message} (${rule})` };
  };
}

/** Returns the offset of the last key of a path that the document has. */
function offsetOf(root: unknown, path: readonly string[]): number {
  let node: unknown = root;
  let offset = 0;
  for (const key of path) {
    const next = memberAt(node, key);
    if (next === undefined) return offset;
    offset = next.key?.range?.[0] ?? offset;
    node = next.value;
  }
  return offset;
}

function memberAt(
  node: unknown,
  key: string,
): { readonly key: Node | undefined; readonly value: unknown } | undefined {
  if (isMap(node)) {
    const pair = node.items.find((item) => String(item.key) === key);
    return pair && { key: isNode(pair.key) ? pair.key : undefined, value: pair.value };
  }
  const item: unknown = isSeq(node) ? node.items[Number(key)] : undefined;
  return isNode(item) ? { key: item, value: item } : undefined;
}
