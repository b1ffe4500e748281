import type { PlanDocument } from '../core/plan-document.ts';
import type { Json } from '../core/value.ts';
import { type AlikeGroup, type FirstLook, type Overview, overviewOf } from '../render/overview.ts';
import { headline } from '../render/wording.ts';

/**
 * A document in which a long text that stands in it more than once is written down once. A plan says a prompt
 * up to four times (before and after, of the resource and of the field), and a fleet says it a thousand times.
 */
export type Packed = {
  /** What it comes to, in one line. */
  readonly title: string;
  readonly overview: PackedOverview;
  readonly texts: readonly string[];
  readonly document: Json;
};

/** The overview of a plan, with the places of changes in the document instead of the changes. */
export type PackedOverview = Pick<Overview, 'above'> & {
  readonly first: readonly (Omit<FirstLook, 'address'> & { readonly change: number | null })[];
  readonly groups: readonly (Pick<AlikeGroup, 'title' | 'kind' | 'action' | 'sources'> & {
    /** The fields that change alike. The first change is the example of them. */
    readonly paths: readonly string[];
    readonly changes: readonly number[];
  })[];
  /** Changes of which the groups show every field. */
  readonly told: readonly number[];
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
  return {
    title: headline(document),
    overview: packOverview(document),
    texts: [...indexes.keys()],
    document: packed,
  };
}

function packOverview(document: PlanDocument): PackedOverview {
  const { above, first, groups, changes } = overviewOf(document);
  const places = new Map(document.changes.map(({ address }, at) => [address, at]));
  const left = new Set(changes.map(({ change }) => change.address));
  return {
    above,
    first: first.map(({ address, ...told }) => ({
      ...told,
      change: address === null ? null : (places.get(address) ?? null),
    })),
    groups: groups.map(({ title, kind, action, sources, addresses, example }) => ({
      title,
      kind,
      action,
      sources,
      paths: example.fields.map(({ path }) => path),
      changes: addresses.flatMap((address) => places.get(address) ?? []),
    })),
    told: document.changes.flatMap(({ address }, at) => (left.has(address) ? [] : [at])),
  };
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
