import type { Span } from './rule.ts';

/** A name that a text speaks of. */
export type Mention = { readonly name: string; readonly span: Span };

/** A name as code is named: `crm_lookup`. Prose has no such words. */
export const SNAKE = '[a-z][a-z0-9]*(?:_[a-z0-9]+)+';

/**
 * What patterns find in a text, by place. Each has the group `name`; a pattern may have it twice, one of
 * which matches. The same place is told once.
 */
export function mentionsIn(text: string, patterns: readonly RegExp[]): readonly Mention[] {
  const found = new Map<number, Mention>();
  for (const pattern of patterns) {
    for (const { groups, indices } of text.matchAll(pattern)) {
      const name = groups?.name;
      const place = indices?.groups?.name;
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
