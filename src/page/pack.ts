import type { PlanDocument } from '../core/plan-document.ts';
import type { Json } from '../core/value.ts';
import { headline } from '../render/wording.ts';

/**
 * A document in which a long text that stands in it more than once is written down once. A plan says a prompt
 * up to four times (before and after, of the resource and of the field), and a fleet says it a thousand times.
 */
export type Packed = {
  /** What it comes to, in one line. */
  readonly title: string;
  readonly texts: readonly string[];
  readonly document: Json;
};

/** Begins what stands for a text, in the place of that text. */
export const MARK = '\u0001';

/** A shorter text is no longer than what would stand for it, with what that costs to look up. */
export const WORTH = 64;

/** The document for a page; `unpack` gives it back as it was. */
export function packDocument(document: PlanDocument): Packed {
  const plain = document as unknown as Json;
  const counts = new Map<string, number>();
  visitTexts(plain, (text) => {
    if (text.length >= WORTH) counts.set(text, (counts.get(text) ?? 0) + 1);
  });
  const indexes = new Map<string, number>();
  const packed = mapTexts(plain, (text) => {
    // A text that begins like a mark is always looked up, so that none is taken for what it is not.
    if ((counts.get(text) ?? 0) < 2 && !text.startsWith(MARK)) return text;
    const index = indexes.get(text) ?? indexes.size;
    indexes.set(text, index);
    return `${MARK}${index}`;
  });
  return { title: headline(document), texts: [...indexes.keys()], document: packed };
}

/** A value of a packed document with its texts in their places. */
export function unpack(value: Json, texts: readonly string[]): Json {
  return mapTexts(value, (text) =>
    text.startsWith(MARK) ? (texts[Number(text.slice(MARK.length))] ?? '') : text,
  );
}

export function visitTexts(value: Json, see: (text: string) => void): void {
  if (typeof value === 'string') see(value);
  else if (Array.isArray(value)) for (const item of value) visitTexts(item, see);
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) visitTexts(member, see);
}

export function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => mapTexts(item, change));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]: readonly [string, Json]) => [
      key,
      mapTexts(member, change),
    ]),
  );
}
