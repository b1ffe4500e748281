import type { Kind } from '../kinds/kind.ts';

/** What makes rows of a resource. */
const LOOP = ['for_each', 'key', 'allow_empty'];

/** What is known while lines go by. */
type Outline = {
  readonly lines: string[];
  /** Keys above the line at hand, with their indentation; the first is the section. */
  readonly above: { readonly key: string; readonly indent: number }[];
  /** Lines deeper than this belong to a member that is kept, or that is left out. */
  within: { readonly indent: number; readonly kept: boolean } | undefined;
  /** The resource whose name was the last line, and of which nothing is kept so far. */
  bare: number | undefined;
};

const MEMBER = /^( *)([A-Za-z_][A-Za-z0-9_-]*|"[^"\\]*"|'[^']*'):(?: +(.*))?$/;

/**
 * The text of a file of a stack without what resources hold but their rows: what there is under which address, and
 * nothing of what it says. It is there for whoever waits for an answer at a prompt. Undefined where the file is
 * written in a way that lines do not tell, such as JSON; then all of it must be read.
 */
export function outlineOf(text: string, kinds: readonly Kind[]): string | undefined {
  const sections = new Map(kinds.map((kind) => [kind.section, kind]));
  const outline: Outline = { lines: [], above: [], within: undefined, bare: undefined };
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const indent = line.length - line.trimStart().length;
    const { within } = outline;
    const isItem = trimmed.startsWith('- ') || trimmed === '-';
    if (within !== undefined && (indent > within.indent || (isItem && indent === within.indent))) {
      if (within.kept) outline.lines.push(line);
      continue;
    }
    outline.within = undefined;
    const member = MEMBER.exec(line.trimEnd());
    if (member === null) return undefined;
    take(line, indent, member[2] ?? '', member[3] ?? '', sections, outline);
  }
  close(outline);
  return `${outline.lines.join('\n')}\n`;
}

function take(
  line: string,
  indent: number,
  key: string,
  value: string,
  sections: ReadonlyMap<string, Kind>,
  outline: Outline,
): void {
  const { above, lines } = outline;
  while (above.length > 0 && (above.at(-1)?.indent ?? 0) >= indent) above.pop();
  const leave = () => {
    outline.within = { indent, kept: false };
  };
  const keep = () => {
    outline.bare = undefined;
    outline.within = { indent, kept: true };
    lines.push(line);
  };
  const [section] = above;
  if (section === undefined) {
    close(outline);
    if (!sections.has(key)) {
      leave();
      return;
    }
  } else {
    const nested = sections.get(section.key)?.nested;
    const depth = above.length - (nested === undefined ? 1 : 3);
    const isLeft = depth > 0 || (depth === -1 && key !== nested?.key);
    if (isLeft) {
      if (depth > 0 && LOOP.includes(key)) keep();
      else leave();
      return;
    }
    close(outline);
    if (depth === 0 && (value === '' || value.startsWith('#'))) outline.bare = lines.length;
  }
  above.push({ key, indent });
  lines.push(line);
}

/** A resource of which nothing was kept is an empty one. */
function close(outline: Outline): void {
  const { bare, lines } = outline;
  if (bare !== undefined) lines[bare] = `${(lines[bare] ?? '').replace(/ *(?:#.*)?$/, '')} {}`;
  outline.bare = undefined;
}
