import {
  type Action,
  type Change,
  isEdited,
  type PlanDocument,
  type Verdict,
} from '../../../../core/plan-document.ts';
import { getMark, withTexts } from '../../../../core/texts.ts';
import { isObject, type Json, type JsonObject, sum } from '../../../../core/value.ts';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import { formatCalls, formatGroup, groupByOwner } from '../../../../render/wording.ts';
import type { Packed, PackedOverview } from '../../pack.ts';

/** A change as the list shows it; the rest of it is unpacked when somebody opens it. */
export type Entry = {
  /** Its index among the changes of the document. */
  readonly index: number;
  readonly address: string;
  readonly name: string;
  readonly kind: string;
  /** The name of its organization, its id where it has none, empty for what belongs to the account. */
  readonly owner: string;
  readonly id: string | null;
  readonly action: Action;
  readonly verdict: Verdict;
  readonly calls?: number;
  /** Somebody else edited one of its fields since it was last written. */
  readonly isEdited: boolean;
};

/** An agent as a picture of the fleet shows it. */
export type Mark = 'changed' | 'new' | 'gone' | 'held' | 'edited';

/** An agent of that picture. */
export type Square = Pick<Entry, 'address' | 'name' | 'owner' | 'calls'> & {
  readonly marks: readonly Mark[];
};

/** A plan in the browser. */
export type Plan = {
  /** The headline, and the counts below it. */
  readonly title: string;
  readonly counts: string;
  /** Everything but the changes. */
  readonly head: PlanDocument;
  readonly entries: readonly Entry[];
  readonly overview: Overview;
  readonly getChange: (entry: Entry) => Change;
  /** A change as it is packed, and the texts that its marks stand for. */
  readonly getPacked: (entry: Entry) => Json;
  readonly texts: readonly string[];
};

/** A plan in the order in which it is read. */
type Overview = Pick<PackedOverview, 'above' | 'below' | 'alreadyTitle'> & {
  /** Changes that are read one by one, the weightiest first. */
  readonly alone: ReadonlySet<Entry>;
  /** Those whose fields say why they change. */
  readonly explained: ReadonlySet<Entry>;
  /** Changes that are read once, the largest group last. */
  readonly groups: readonly Alike[];
  /** Changes that the base of the plan has already. */
  readonly already: readonly Entry[];
};

/** Resources to which the same happens. */
export type Alike = Omit<PackedOverview['groups'][number], 'changes'> & {
  readonly entries: ReadonlySet<Entry>;
};

/** More cards than this are also listed, to be searched and filtered. */
const MOST_UNLISTED = 30;

export function hasList({ overview: { alone, groups } }: Plan): boolean {
  return alone.size + groups.length > MOST_UNLISTED;
}

/** The id of the card that shows a group, or an entry, in the page. */
export function getCardId({ overview }: Plan, shown: Alike | Entry): string {
  if ('entries' in shown) return `group-${overview.groups.indexOf(shown) + 1}`;
  const at = overview.groups.findIndex(({ entries }) => entries.has(shown));
  return overview.alone.has(shown) || at < 0 ? shown.address : `group-${at + 1}`;
}

/** Resources that are recorded, and to which nothing is written. */
export function listAdopted({ entries, overview }: Plan): readonly Entry[] {
  return entries.filter((entry) => entry.action === 'adopt' && !overview.already.includes(entry));
}

/** How many resources are read in which way; what is deleted is not counted again. */
export function countReading({ overview: { alone, groups } }: Plan) {
  const alike = new Set(groups.flatMap(({ entries }) => [...entries]));
  const all = new Set([...alone, ...alike]);
  const gone = [...all].filter(({ action }) => action === 'delete');
  const isGone = ({ action }: Entry) => action === 'delete';
  const single = [...alone].filter((entry) => !isGone(entry));
  const others = [...alike].filter((entry) => !isGone(entry) && !alone.has(entry));
  return { gone: gone.length, single: single.length, alike: others.length, calls: sumCalls(all) };
}

/** The calls of all agents that were there before; undefined where those of one are not known. */
function sumCalls(entries: ReadonlySet<Entry>): number | undefined {
  const counted = new Set(
    [...entries].flatMap(({ kind, calls }) => (calls === undefined ? [] : kind)),
  );
  const live = [...entries].filter(({ kind, id }) => counted.has(kind) && id !== null);
  const calls = live.flatMap((entry) => entry.calls ?? []);
  return calls.length > 0 && calls.length === live.length ? sum(calls) : undefined;
}

/** The agents of a plan; in drift nothing is to change, it was edited. */
export function listSquares({ entries, overview, head }: Plan): readonly Square[] {
  const already = new Set(overview.already);
  const isDrift = head.purpose === 'drift';
  return entries
    .filter(({ kind }) => kind === 'agent')
    .map((entry) => {
      const mark = already.has(entry) ? undefined : MARKS[entry.action];
      const marks: readonly (Mark | false | undefined)[] = [
        isDrift && mark !== 'gone' ? false : mark,
        mark !== undefined && entry.verdict !== 'ok' && 'held',
        (entry.isEdited || isDrift) && mark !== 'gone' && 'edited',
      ];
      return { ...entry, marks: marks.filter((one) => typeof one === 'string') };
    });
}

const MARKS: { readonly [action in Action]?: Mark } = {
  create: 'new',
  update: 'changed',
  replace: 'changed',
  delete: 'gone',
};

/** The groups that show fields of a change. */
export function groupsWith({ overview }: Plan, entry: Entry): readonly Alike[] {
  return overview.groups.filter(({ entries }) => entries.has(entry));
}

/** `60 agents alike, 9,310 calls in 7 days, held`. Sanitised. */
export function groupTitle(group: Alike): string {
  const { kind, action, verdict, entries } = group;
  const title = formatGroup(sanitiseLine(kind), action, entries.size);
  const about = [formatCalls(group), verdict === 'ok' ? undefined : verdict];
  return [title, ...about.filter((text) => text !== undefined)].join(', ');
}

/** One of the resources of a group, with the fields of the group alone. */
export function findExample(
  { getChange }: Plan,
  { action, entries, fields }: Alike,
): Change | undefined {
  const [entry] = entries;
  if (entry === undefined) return undefined;
  const change = getChange(entry);
  const general = new Map(fields.map((field) => [field.path, field]));
  const own = change.fields.flatMap((field) => {
    // A new resource is shown with the values of its own row.
    const text = action === 'create' ? undefined : general.get(field.path);
    const { before = field.before, after = field.after } = text ?? {};
    return general.has(field.path) ? { ...field, before, after } : [];
  });
  return { ...change, fields: own };
}

/** A change without the fields that groups show. */
export function omitGroupedFields(plan: Plan, entry: Entry): Change {
  const change = plan.getChange(entry);
  const shown = new Set(
    groupsWith(plan, entry).flatMap(({ fields }) => fields.map(({ path }) => path)),
  );
  return { ...change, fields: change.fields.filter(({ path }) => !shown.has(path)) };
}

/** Changes that stay unpacked: as many as somebody goes to and fro between. */
const KEPT = 200;

/** Reads what `packDocument` wrote. Its shape was checked when it was made. */
export function readPlan({ title, counts, overview, texts, document }: Packed): Plan {
  // The overview says what the groups of the document do.
  const { changes, groups: _, ...rest } = document as JsonObject;
  const packed = changes as readonly JsonObject[];
  const head = {
    ...(withTexts(rest, texts) as JsonObject),
    changes: [],
  } as unknown as PlanDocument;
  const kept = new Map<number, Change>();
  const getChange = ({ index }: Entry): Change => {
    const known = kept.get(index);
    if (known !== undefined) return known;
    const change = withTexts(packed[index] ?? null, texts) as unknown as Change;
    const [oldest] = kept.keys();
    if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(index, change);
    return change;
  };
  const entries = packed.map((one, index) => buildEntry(one, index, head, texts));
  return {
    title,
    counts,
    head,
    entries,
    overview: readOverview(overview, entries),
    getChange,
    getPacked: ({ index }) => packed[index] ?? null,
    texts,
  };
}

function readOverview(
  { above, below, alone, explained, groups, already, alreadyTitle }: PackedOverview,
  entries: readonly Entry[],
): Overview {
  const entriesAt = (places: readonly number[]) => places.flatMap((place) => entries[place] ?? []);
  return {
    above,
    below,
    alreadyTitle,
    alone: new Set(entriesAt(alone)),
    explained: new Set(entriesAt(explained)),
    already: entriesAt(already),
    groups: groups.map(({ changes, ...group }) => ({
      ...group,
      entries: new Set(entriesAt(changes)),
    })),
  };
}

function buildEntry(
  packed: JsonObject,
  index: number,
  { organizations, purpose }: PlanDocument,
  texts: readonly string[],
): Entry {
  const { address, name, kind, organization_id: owner, id, action, verdict, calls } = packed;
  const fields = packed.fields as unknown as Change['fields'];
  const read = (value: Json | undefined) => withTexts(value ?? null, texts);
  const organization = read(owner);
  return {
    index,
    address: String(read(address)),
    name: String(read(name)),
    kind: String(read(kind)),
    owner: typeof organization === 'string' ? (organizations[organization] ?? organization) : '',
    id: id === null ? null : String(read(id)),
    action: seenAs(action as Action, purpose),
    verdict: verdict as Verdict,
    ...(typeof calls === 'number' && { calls }),
    isEdited: fields.some(isEdited),
  };
}

/** A plan would create a missing resource again; as drift it is a resource that went. */
function seenAs(action: Action, purpose: PlanDocument['purpose']): Action {
  return purpose === 'drift' && action === 'create' ? 'delete' : action;
}

/** Returns true if any text in a packed value passes a test, wherever it stands. */
function someText(value: Json, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value);
  if (Array.isArray(value)) return value.some((item: Json) => someText(item, test));
  if (!isObject(value)) return false;
  return Object.values(value).some((member) => someText(member, test));
}

/** An empty set or text leaves out nothing. */
export type Filter = {
  readonly actions: ReadonlySet<Action>;
  readonly verdicts: ReadonlySet<Verdict>;
  readonly kind: string;
  readonly owner: string | null;
  /** Those with fields of a group, or those of which no group shows every field. */
  readonly alike: Alike | 'left' | null;
  readonly words: string;
};

export const NO_FILTER: Filter = {
  actions: new Set(),
  verdicts: new Set(),
  kind: '',
  owner: null,
  alike: null,
  words: '',
};

/** Returns true if the filter leaves out anything. */
export function isFiltering({ actions, verdicts, kind, owner, alike, words }: Filter): boolean {
  return (
    actions.size > 0 ||
    verdicts.size > 0 ||
    kind !== '' ||
    owner !== null ||
    alike !== null ||
    words.trim() !== ''
  );
}

/**
 * The entries that a filter lets through. Every word must stand somewhere in a change: in its address, name, kind,
 * organization, action, verdict or any text of it. A text that many changes share is searched once.
 */
export function filterEntries(plan: Plan, filter: Filter): readonly Entry[] {
  const tests = filter.words
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => findsWord(word, plan.texts));
  return plan.entries.filter(
    (entry) => passes(entry, filter, plan.overview) && tests.every((test) => test(entry, plan)),
  );
}

function passes(
  entry: Entry,
  { actions, verdicts, kind, owner, alike }: Filter,
  { alone }: Overview,
): boolean {
  return (
    (actions.size === 0 || actions.has(entry.action)) &&
    (verdicts.size === 0 || verdicts.has(entry.verdict)) &&
    (kind === '' || entry.kind === kind) &&
    (owner === null || entry.owner === owner) &&
    (alike === null || (alike === 'left' ? alone.has(entry) : alike.entries.has(entry)))
  );
}

function findsWord(word: string, texts: readonly string[]): (entry: Entry, plan: Plan) => boolean {
  const pattern = new RegExp(word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
  const shared = new Map<string, boolean>(
    texts.map((text, index) => [getMark(index), pattern.test(text)]),
  );
  const holds = (text: string) => shared.get(text) ?? pattern.test(text);
  return (entry, plan) => {
    const { address, name, kind, owner, action, verdict } = entry;
    const texts = [address, name, kind.replaceAll('_', ' '), owner, action, verdict];
    return texts.some((text) => pattern.test(text)) || someText(plan.getPacked(entry), holds);
  };
}

/** One line of the list: a heading, or a change below it. */
export type Row =
  | { readonly type: 'heading'; readonly title: string; readonly count: number }
  | { readonly type: 'entry'; readonly entry: Entry };

/** Pixels of each, as the style sheet has them. */
export const ROW_HEIGHT: { readonly [type in Row['type']]: number } = { heading: 40, entry: 54 };

/** By organization and then kind, as the other formats group them. */
export function listRows(entries: readonly Entry[]): readonly Row[] {
  return groupByOwner(entries, ({ owner }) => owner).flatMap(
    ({ title, changes }): readonly Row[] => [
      { type: 'heading', title, count: changes.length },
      ...changes.map((entry): Row => ({ type: 'entry', entry })),
    ],
  );
}

/** Returns the offset of each row, and the end of the list. */
export function listOffsets(rows: readonly Row[]): readonly number[] {
  const offsets = [0];
  let at = 0;
  for (const { type } of rows) {
    at += ROW_HEIGHT[type];
    offsets.push(at);
  }
  return offsets;
}

/** The row at a height of the list. */
export function rowAt(offsets: readonly number[], height: number): number {
  let [low, high] = [0, Math.max(0, offsets.length - 2)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((offsets[middle] ?? 0) <= height) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** One edit of a resource that drifted. */
export type Edit = {
  readonly entry: Entry;
  readonly id: number;
  /** ISO 8601; null where the history does not say. */
  readonly at: string | null;
  readonly actor: string;
  readonly source: string | null;
  readonly action: string | null;
  readonly revertedFrom: number | null;
  /** Fields that it is known to have changed, and those that it may have. */
  readonly changed: readonly string[];
  readonly maybe: readonly string[];
};

/** Who changed what and when, the newest first. */
export function listEdits(plan: Plan): readonly Edit[] {
  if (plan.head.purpose !== 'drift') return [];
  return plan.entries
    .flatMap((entry) => editsOfChange(entry, plan.getChange(entry)))
    .sort((a, b) => ((a.at ?? '') > (b.at ?? '') ? -1 : 1));
}

function editsOfChange(entry: Entry, { edits = [], fields }: Change): readonly Edit[] {
  return edits.map((edit) => {
    const own = fields.filter(({ attribution }) => attribution?.entries.includes(edit.id) === true);
    const isSure = ({ attribution }: Change['fields'][number]) =>
      attribution?.certainty === 'entry';
    return {
      entry,
      id: edit.id,
      at: edit.at,
      actor: edit.actor ?? 'someone',
      source: edit.source,
      action: edit.action,
      revertedFrom: edit.reverted_from_id,
      changed: own.filter(isSure).map(({ path }) => path),
      maybe: own.filter((field) => !isSure(field)).map(({ path }) => path),
    };
  });
}
