import type { Address } from '../core/address.ts';
import {
  type Change,
  type ChangeGroup,
  type FieldChange,
  isEdited,
  isOnBase,
  isSecretMoved,
  type PlanDocument,
} from '../core/plan-document.ts';
import { countEach, sum } from '../core/value.ts';
import { type ColumnView, viewColumns } from './columns.ts';
import { viewFields } from './fields.ts';
import { type Footer, footersAbove, footersBelow } from './footers.ts';
import type { Detail } from './prose/view.ts';
import { gone, isEmpty } from './wording.ts';

/**
 * A plan in the order in which it is read, and how much of it is shown where there is little room. All formats lay out
 * the same overview.
 */
export type Overview = {
  /** Refusals, and secrets that go somewhere new. */
  readonly above: readonly Footer[];
  /** The changes that are read one by one, the weightiest first. */
  readonly alone: readonly AloneItem[];
  /** The changes that are read once for several resources, the largest last. */
  readonly groups: readonly GroupItem[];
  /** Resources that are recorded, and to which nothing is written. */
  readonly adopted: readonly Change[];
  /** Changes that the base of the plan has already, which are read last; undefined where there is none. */
  readonly already: Pick<Overview, 'alone' | 'groups'> | undefined;
  readonly below: readonly Footer[];
};

/** A change, or many changes that are alike, so that reading one is enough. */
export type Item = AloneItem | GroupItem;

/** A change without the fields that a group shows. */
export type AloneItem = {
  readonly type: 'alone';
  readonly change: Change;
  /** How many of its fields a group shows. */
  readonly shared: number;
  /** True if its fields, or the texts above the changes, say why. */
  readonly isExplained: boolean;
};

export type GroupItem = {
  readonly type: 'group';
  readonly kind: string;
  readonly action: ChangeGroup['action'];
  readonly verdict: Change['verdict'];
  readonly addresses: readonly Address[];
  /** Their names, in the same order. Not sanitised. */
  readonly names: readonly string[];
  /** The files that the fields come from, each once. Not sanitised. */
  readonly sources: readonly string[];
  /** One of the resources with these fields alone. */
  readonly example: Change;
  /** Expressions that have another value in each of the resources: the example has those of its own row. */
  readonly varying: readonly string[];
  /** The values of rows that change: the example has those of its own row. */
  readonly columns: readonly ColumnView[];
  /** Blocks of which all rows are here, or all but a few. */
  readonly blocks: NonNullable<ChangeGroup['blocks']>;
  /** Why, each reason once. Not sanitised. */
  readonly reasons: readonly string[];
  /** The calls of all of them; absent where those of one are not known. */
  readonly calls?: number;
};

/** The addresses of a change, or of many. */
export function addressesIn(item: Item): readonly Address[] {
  return item.type === 'group' ? item.addresses : [item.change.address];
}

/** Fewer resources than this are no group. */
const FEWEST = 3;

/** `isWhole`: nothing is put together. */
export function buildOverview(plan: PlanDocument, isWhole = false): Overview {
  const already = plan.changes.filter(isOnBase);
  const own = plan.changes.filter((change) => !isOnBase(change));
  return {
    above: footersAbove(plan),
    ...buildItems(already.length === 0 ? plan : { ...plan, changes: own }, isWhole),
    already: already.length === 0 ? undefined : buildItems({ ...plan, changes: already }, isWhole),
    below: footersBelow(plan, isWhole),
  };
}

function buildItems(
  plan: PlanDocument,
  isWhole: boolean,
): Pick<Overview, 'alone' | 'groups' | 'adopted'> {
  const byAddress = new Map(plan.changes.map((change) => [change.address, change]));
  const shown = new Map<Address, { readonly paths: Set<string>; views: number }>();
  const groups = (isWhole ? [] : (plan.groups ?? [])).flatMap((group) => {
    const there = group.addresses.flatMap((address) => byAddress.get(address) ?? []);
    const item = buildGroup(group, there);
    if (item === undefined) return [];
    const paths = group.fields.map(({ path }) => path);
    const views = viewFields(item.example, plan, false).length;
    for (const address of item.addresses) {
      const known = shown.get(address) ?? { paths: new Set(), views: 0 };
      for (const path of paths) known.paths.add(path);
      known.views += views;
      shown.set(address, known);
    }
    return [item];
  });
  const alone = plan.changes.flatMap((change): AloneItem[] => {
    if (change.action === 'adopt' || (change.action === 'no_op' && !isWhole)) return [];
    const own = shown.get(change.address);
    const fields = change.fields.filter(({ path }) => own?.paths.has(path) !== true);
    const left = { ...change, fields };
    // A field that only a note speaks of is nothing to look at.
    if (own !== undefined && viewFields(left, plan, false).length === 0) return [];
    const isExplained = isPlain(change) && !isWhole;
    return [{ type: 'alone', change: left, shared: own?.views ?? 0, isExplained }];
  });
  return {
    alone: inOrder(alone, plan),
    groups: groups.toSorted(
      (a, b) => weigh(a.example) - weigh(b.example) || a.addresses.length - b.addresses.length,
    ),
    // If there is nothing to do, they are only counted.
    adopted: isWhole || !isEmpty(plan) ? plan.changes.filter((one) => one.action === 'adopt') : [],
  };
}

function buildGroup(
  { kind, action, fields, blocks = [] }: ChangeGroup,
  there: readonly Change[],
): GroupItem | undefined {
  const [first] = there;
  // A change that was refused since for a reason of its own is read by itself.
  const changes = there.filter(
    (change) =>
      change.action === action &&
      change.verdict === first?.verdict &&
      (change.verdict === 'ok' || change.reason === first.reason),
  );
  if (first === undefined || changes.length < FEWEST) return undefined;
  const own = new Map(fields.map((field) => [field.path, field]));
  const edited = first.fields.flatMap(({ source: _, ...field }): FieldChange[] => {
    const group = own.get(field.path);
    if (group === undefined) return [];
    if (action === 'create') return [field];
    const { before = field.before, after = field.after } = group;
    // If values of rows alone change, those of the first row are shown.
    return [before === after ? field : { ...field, before, after }];
  });
  const calls = changes.flatMap((change) => change.calls ?? []);
  const general = action === 'create' ? fields.map(({ after = '' }) => after).join('\n') : '';
  return {
    type: 'group',
    kind,
    action,
    verdict: first.verdict,
    addresses: changes.map(({ address }) => address),
    names: changes.map(({ name }) => name),
    sources: [
      ...new Set(fields.flatMap(({ path, source }) => source ?? textSources(changes, path))),
    ],
    example: { ...first, fields: edited },
    varying: [...new Set(general.match(/\$\{[^{}\n]+\}/g) ?? [])],
    columns: viewColumns({ fields }, changes),
    // A row that was taken out since is none of those that are said to be all.
    blocks: changes.length === there.length ? blocks : [],
    reasons: edited.some(isEdited) ? [...new Set(changes.map(({ reason }) => reason))] : [],
    ...(calls.length === changes.length && { calls: sum(calls) }),
  };
}

/** The files of their own that a field of several resources is read from. */
function textSources(changes: readonly Change[], wanted: string): readonly string[] {
  return changes.flatMap(({ fields }) =>
    fields.flatMap(({ path, source }) => (path === wanted && source !== undefined ? source : [])),
  );
}

/** True if the fields that change are reason enough. */
function isPlain({ action, verdict, adopted, moved_from: from, fields }: Change): boolean {
  const isOwn = action === 'update' && verdict === 'ok' && !adopted && from === undefined;
  return isOwn && fields.length > 0 && fields.every(({ cause }) => cause === 'changed');
}

/** The weight of a change, of which the light ones are read first: refusals, losses, edits undone, then secrets that go elsewhere and rules that are reversed. */
function weigh(change: Change): number {
  const { verdict, action, fields, secrets = [], callouts = [] } = change;
  if (verdict !== 'ok') return 0;
  if (action === 'delete') return 1;
  if (action === 'replace') return 2;
  if (fields.some(isEdited)) return 3;
  if (secrets.some((travel) => isSecretMoved(travel) && travel.before !== null)) return 4;
  if (callouts.some(({ sort }) => sort === 'reversed')) return 4;
  if (action === 'update') return 5;
  return action === 'forget' ? 6 : 7;
}

/**
 * By weight; of one weight first what few resources change, then texts, then in the order of the plan. So a field that
 * one of hundreds changes stands before what all others change.
 */
function inOrder(alone: readonly AloneItem[], plan: PlanDocument): readonly AloneItem[] {
  const seen = plan.purpose === 'drift' ? gone : (change: Change) => change;
  const formatKey = (kind: string, path: string) => `${kind} ${path}`;
  const counts = countEach(
    plan.changes.flatMap(({ kind, fields }) => fields.map(({ path }) => formatKey(kind, path))),
  );
  const ranked = alone.map((item) => {
    const { kind, action, fields } = item.change;
    const often = fields.map(({ path }) => counts.get(formatKey(kind, path)) ?? 0);
    const rarity = action === 'update' ? Math.min(...often, plan.changes.length) : 0;
    return { item, weight: weigh(seen(item.change)), rarity, isText: fields.some(isProse) };
  });
  return ranked
    .toSorted(
      (a, b) => a.weight - b.weight || a.rarity - b.rarity || Number(b.isText) - Number(a.isText),
    )
    .map(({ item }) => item);
}

/** True if it is a text that an agent speaks or follows, rather than a setting. */
function isProse({ before, after, secret }: FieldChange): boolean {
  return [before, after].some(
    (value) => typeof value === 'string' && !secret && value.trimEnd().includes('\n'),
  );
}

/**
 * Items that have to be shown in brief so that all fit in some room. The largest group is cut first. What stands first
 * is not cut, as long as there are no more than `most`: a plan of one change has the room that this takes. `measure`
 * measures an item in the unit of the room.
 */
export function cutToFit(
  { alone, groups }: Pick<Overview, 'alone' | 'groups'>,
  { room, most = Infinity }: { readonly room: number; readonly most?: number },
  measure: (item: Item, detail: Detail) => number,
): ReadonlySet<Item> {
  const brief = new Set<Item>();
  const items: readonly Item[] = [...groups.toReversed(), ...alone.toReversed()];
  let over = items.reduce((sum, item) => sum + measure(item, 'whole'), -room);
  for (const item of items) {
    if (over <= 0 || (item === items.at(-1) && over + room <= most)) break;
    const saved = measure(item, 'whole') - measure(item, 'brief');
    if (saved <= 0) continue;
    brief.add(item);
    over -= saved;
  }
  return brief;
}
