import type { Span } from './rule.ts';

/** A name that a text speaks of. */
export type Mention = { readonly name: string; readonly span: Span };

/** A name as code is named: `crm_lookup`. Prose has no such words. */
const SNAKE = '[a-z][a-z0-9]*(?:_[a-z0-9]+)+';

/**
 * The source of a pattern for a name that `rest` follows. It begins at the first underscore of the name and looks
 * back from there: prose has few underscores, and a pattern that began with a letter would try every word. What
 * looks back is tried from its right: \b stands there, so that the name is only read where it begins.
 */
export function snakeBefore(rest: string): string {
  const name = `(?<=(?=(?<name>${SNAKE}))\\b[a-z][a-z0-9]*_)`;
  return `_${name}[a-z0-9]+(?:_[a-z0-9]+)*${rest}`;
}

/** The source of a pattern for a name that stands after `before`. It begins and looks back in the same way. */
export function snakeAfter(before: string): string {
  return `_(?<=${before}(?=(?<name>${SNAKE}))\\b[a-z][a-z0-9]*_)[a-z0-9]+(?:_[a-z0-9]+)*`;
}

/** Patterns by what a text must hold for any of them to match: most prompts are then looked through quickly. */
export type Patterns = {
  /** Those that need a quotation mark. */
  readonly quoted: readonly RegExp[];
  /** Those that need a `SNAKE`. */
  readonly named: readonly RegExp[];
};

/**
 * What patterns find in a text, by place. Each has the group `name`; a pattern may have it twice, one of
 * which matches. The same place is told once.
 */
export function mentionsIn(text: string, { quoted, named }: Patterns): readonly Mention[] {
  const patterns = [...(/[`"“]/.test(text) ? quoted : []), ...(text.includes('_') ? named : [])];
  return findAll(text, patterns);
}

/** What patterns find in a text, whatever they need. */
export function findAll(text: string, patterns: readonly RegExp[]): readonly Mention[] {
  const found = new Map<number, Mention>();
  for (const pattern of patterns) {
    // Not matchAll, which copies its pattern for every text.
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const name = match.groups?.name;
      const place = match.indices?.groups?.name;
      if (name === undefined || place === undefined) continue;
      const [start, end] = place;
      if (!found.has(start)) found.set(start, { name, span: { start, end } });
    }
  }
  return [...found.values()].sort((a, b) => a.span.start - b.span.start);
}

/** The first mention of each name. */
export function firstOfEach(mentions: readonly Mention[]): readonly Mention[] {
  const seen = new Set<string>();
  return mentions.filter(({ name }) => !seen.has(name) && seen.add(name));
}
