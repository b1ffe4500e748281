import type { Kind } from '../kinds/kind.ts';

/** A resource of a file: where it stands, and the lines that make its rows. */
type Outlined = {
  readonly kind: Kind;
  readonly names: readonly string[];
  /** Its `for_each` and what belongs to it, as YAML; empty where it has none. */
  readonly loop: string;
};

/** What makes rows of a resource. */
const LOOP = ['for_each', 'key'];

const MEMBER = /^ *([A-Za-z_][A-Za-z0-9_-]*|"[^"\\]*"|'[^']*'):(?: +(.*))?$/;

/** A key above the line at hand, with its indentation. */
type Above = { readonly key: string; readonly indent: number };

/**
 * The resources of a file of a stack by its lines alone: nothing of what they say is read but what makes rows. It is
 * there for whoever waits for an answer at a prompt, where parsing everything takes too long. Undefined where the
 * file is written in a way that lines do not tell, such as JSON; then all of it must be read.
 */
export function outlineOf(text: string, kinds: readonly Kind[]): readonly Outlined[] | undefined {
  const sections = new Map(kinds.map((kind) => [kind.section, kind]));
  const found: { kind: Kind; names: readonly string[]; loop: string }[] = [];
  const above: Above[] = [];
  // Lines deeper than this belong to a member of a resource, or to what is none.
  let within: { readonly indent: number; readonly isLoop: boolean } | undefined;
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#') || trimmed === '---') continue;
    const indent = line.length - line.trimStart().length;
    const isItem = trimmed.startsWith('- ') || trimmed === '-';
    if (within !== undefined && (indent > within.indent || (isItem && indent === within.indent))) {
      const last = found.at(-1);
      if (within.isLoop && last !== undefined) last.loop += `${line}\n`;
      continue;
    }
    within = undefined;
    const member = MEMBER.exec(line.trimEnd());
    if (member === null) return undefined;
    const key = (member[1] ?? '').replace(/^["']|["']$/g, '');
    const value = member[2] ?? '';
    while (above.length > 0 && (above.at(-1)?.indent ?? 0) >= indent) above.pop();
    const kind = sections.get(above[0]?.key ?? key);
    const depth = above.length - (kind?.nested === undefined ? 1 : 3);
    const isLeft =
      kind === undefined || (depth === -1 && above.length > 0 && key !== kind.nested?.key);
    // A section, a block or their list that is written on one line holds resources that lines do not tell.
    if (!isLeft && depth < 0 && isFlow(value)) return undefined;
    if (isLeft || depth > 0) {
      within = { indent, isLoop: depth > 0 && LOOP.includes(key) };
      const last = found.at(-1);
      if (within.isLoop && last !== undefined) last.loop += `${line}\n`;
      continue;
    }
    above.push({ key, indent });
    if (depth < 0) continue;
    const names = above.slice(1).filter((_, at) => at !== 1 || kind.nested === undefined);
    found.push({ kind, names: names.map((one) => one.key), loop: inOneLine(value) });
    // The rest of what begins on this line belongs to it.
    if (isFlow(value)) within = { indent, isLoop: false };
  }
  return found;
}

function isFlow(value: string): boolean {
  return value !== '' && !value.startsWith('#');
}

function inOneLine(value: string): string {
  return value.startsWith('{') && value.includes('for_each') ? value : '';
}
