/** A page as far as tests look at it: its headings, its links, and its lines. */
export type Page = {
  /** Anchors as GitHub makes them of headings, and those that are written as such. */
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly string[];
  /** Lines outside of fenced code. */
  readonly prose: readonly string[];
  readonly fences: readonly { readonly language: string; readonly text: string }[];
};

const FENCE = /^( {0,3})(`{3,})([^`\n]*)\n([\s\S]*?)^ {0,3}\2`*\s*$/gm;
const HEADING = /^#{1,6} +(.*?)(?: +#+)? *$/;
const LINK = /!?\[(?:[^[\]]|\[[^\]]*\])*\]\(([^()\s]+)(?: "[^"]*")?\)/g;
const WRITTEN_ANCHOR = /<a (?:id|name)="([^"]+)">/g;

/** Reads a page of Markdown. */
export function readPage(text: string): Page {
  const fences = [...text.matchAll(FENCE)].map(([, , , language = '', body = '']) => ({
    language: language.trim(),
    text: body,
  }));
  const prose = text.replace(FENCE, '').split('\n');
  const headings = prose.flatMap((line) => HEADING.exec(line)?.[1] ?? []);
  // A link that stands in code is none; the words of a link may hold code.
  const linked = prose.join('\n').replace(/`[^`\n]*`/g, 'code');
  return {
    anchors: new Set([
      ...slugsOf(headings),
      ...[...text.matchAll(WRITTEN_ANCHOR)].map(([, name = '']) => name),
    ]),
    links: [...linked.matchAll(LINK)].map(([, target = '']) => target),
    prose,
    fences,
  };
}

/** The anchors of headings in their order; one that comes again is counted. */
function slugsOf(headings: readonly string[]): readonly string[] {
  const taken = new Map<string, number>();
  return headings.map((heading) => {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim();
    const slug = words
      .toLowerCase()
      .replace(/[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\- ]/gu, '')
      .replace(/ /g, '-');
    const before = taken.get(slug);
    taken.set(slug, (before ?? -1) + 1);
    return before === undefined ? slug : `${slug}-${before + 1}`;
  });
}

/** The cells of a row of a table. */
export function cellsOf(line: string): readonly string[] {
  return line
    .replace(/^\s*\|/, '')
    .replace(/\|\s*$/, '')
    .split(/(?<!\\)\|/);
}
