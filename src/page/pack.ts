import type { PlanDocument } from '../core/plan-document.ts';
import { createTextTable } from '../core/texts.ts';
import type { Json } from '../core/value.ts';
import {
  type AlikeGroup,
  buildOverview,
  type FirstLook,
  type Overview,
} from '../render/overview.ts';
import { headline } from '../render/wording.ts';

/** A document in which every long text is written down once (`core/texts.ts`). */
export type Packed = {
  /** What it comes to, in one line. */
  readonly title: string;
  readonly overview: PackedOverview;
  readonly texts: readonly string[];
  readonly document: Json;
};

/** The overview of a plan, with the places of changes in the document instead of the changes. */
export type PackedOverview = Pick<Overview, 'above' | 'below'> & {
  readonly first: readonly (Omit<FirstLook, 'address'> & { readonly change: number | null })[];
  readonly groups: readonly (Pick<AlikeGroup, 'title' | 'kind' | 'action' | 'sources'> & {
    /** The fields that change alike. The first change is the example of them. */
    readonly paths: readonly string[];
    readonly changes: readonly number[];
  })[];
  /** Changes of which the groups show every field. */
  readonly told: readonly number[];
};

/** The document for a page; `withTexts` gives it back as it was. */
export function packDocument(document: PlanDocument): Packed {
  const { texts, pack } = createTextTable();
  const packed = pack(document as unknown as Json);
  return { title: headline(document), overview: packOverview(document), texts, document: packed };
}

function packOverview(document: PlanDocument): PackedOverview {
  const { above, first, groups, changes, below } = buildOverview(document);
  const places = new Map(document.changes.map(({ address }, at) => [address, at]));
  const left = new Set(changes.map(({ change }) => change.address));
  return {
    above,
    below,
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
