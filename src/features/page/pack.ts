import type { PlanDocument } from '../../core/plan-document.ts';
import { createTextTable } from '../../core/texts.ts';
import type { Json } from '../../core/value.ts';
import { columnSentences } from '../../render/columns.ts';
import {
  addressesIn,
  buildOverview,
  type GroupItem,
  type Item,
  type Overview,
} from '../../render/overview.ts';
import { countsBelow, headline, titleOnBase } from '../../render/wording.ts';

/** A document in which every long text is written down once (`core/texts.ts`). */
export type Packed = {
  /** The headline, and the counts below it. */
  readonly title: string;
  readonly counts: string;
  readonly overview: PackedOverview;
  readonly texts: readonly string[];
  readonly document: Json;
};

/** The overview of a plan, with the places of changes in the document instead of the changes. */
export type PackedOverview = Pick<Overview, 'above' | 'below'> & {
  /** In the order in which they are read; without the fields that a group shows. */
  readonly alone: readonly number[];
  /** Those whose fields say why they change. */
  readonly explained: readonly number[];
  /** Changes that the base of the plan has already; none without one. */
  readonly already: readonly number[];
  /** The title of `already`. */
  readonly alreadyTitle: string;
  readonly groups: readonly (Pick<
    GroupItem,
    'kind' | 'action' | 'verdict' | 'sources' | 'varying' | 'blocks' | 'reasons' | 'calls'
  > & {
    /** The fields that change alike, and their texts where rows have values of their own in them. */
    readonly fields: readonly {
      readonly path: string;
      readonly before?: string | undefined;
      readonly after?: string | undefined;
    }[];
    /** The first one is the example. */
    readonly changes: readonly number[];
  })[];
};

/** The document for a page; `withTexts` gives it back as it was. */
export function packDocument(document: PlanDocument): Packed {
  const { texts, pack } = createTextTable();
  const packed = pack(document as unknown as Json);
  return {
    title: headline(document),
    counts: countsBelow(document),
    overview: packOverview(document),
    texts,
    document: packed,
  };
}

function packOverview(document: PlanDocument): PackedOverview {
  const { above, alone, groups, already, below } = buildOverview(document);
  const places = new Map(document.changes.map(({ address }, at) => [address, at]));
  const listPlaces = (items: readonly Item[]) =>
    items.flatMap((item) => addressesIn(item).flatMap((address) => places.get(address) ?? []));
  const general = new Map(
    (document.groups ?? []).map(({ addresses, fields }) => [addresses.join('\n'), fields]),
  );
  return {
    above,
    below,
    alone: listPlaces(alone),
    explained: listPlaces(alone.filter(({ isExplained }) => isExplained)),
    already: listPlaces([...(already?.alone ?? []), ...(already?.groups ?? [])]),
    alreadyTitle: titleOnBase(document),
    groups: groups.map(({ addresses, names: _, example, columns, ...group }) => ({
      ...group,
      reasons: [...group.reasons, ...columnSentences(columns)],
      fields: example.fields.map(({ path }) => {
        const { before, after } =
          general.get(addresses.join('\n'))?.find((field) => field.path === path) ?? {};
        return before === after ? { path } : { path, before, after };
      }),
      changes: addresses.flatMap((address) => places.get(address) ?? []),
    })),
  };
}
