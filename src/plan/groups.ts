import { type Address, byAddress, rowsAddress } from '../core/address.ts';
import type { TextPart } from '../core/desired.ts';
import { textKey } from '../core/digest.ts';
import {
  type Callout,
  type Change,
  type ChangeGroup,
  type ColumnEdit,
  type FieldChange,
  isEdited,
  isWritten,
  type TextForm,
} from '../core/plan-document.ts';
import { countEach, type Json } from '../core/value.ts';
import { extremes, findForm, isCounting, matchPieces, readNumbers } from '../diff/form.ts';
import { applyHunks, findHunks, type Hunk, type HunkLine } from '../diff/text.ts';
import { extended } from './held-texts.ts';

/**
 * Puts together what one edit does to many resources, so that it is read once. Members of a group are alike in every
 * line that changes and in the lines around it, apart from values of their rows: those that the edit leaves alone, and
 * those that it changes, which the group lists. The group's edit is carried out on each member; a member with
 * another result stands alone.
 */

/** Fewer resources than this are read one by one. */
const FEWEST = 3;

/** Fewer resources that go are read one by one. */
const FEWEST_GONE = 5;

/** One field of one resource. */
export type Site = { readonly address: Address; readonly path: string };

/** The source of a field's value: a line of a file, or a whole file such as a template. */
export type FieldSource = {
  /** Undefined where no file says what is written, as in a rollback. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  /** The text that the configuration has for the field. */
  readonly parts?: (() => readonly TextPart[] | undefined) | undefined;
};

export type FindSource = (site: Site) => FieldSource | undefined;

type Group = { -readonly [Key in keyof ChangeGroup]: ChangeGroup[Key] };

/**
 * Finds what changes alike in several resources; those that go come first, then the largest groups. `configured`: the
 * addresses of the configuration, which tell whether all rows of a table are in a group.
 */
export function groupAlike(
  changes: readonly Change[],
  findSource: FindSource,
  configured: readonly Address[] = [],
): readonly ChangeGroup[] {
  const slotsAt = oncePerSite(findSource);
  const rows = Map.groupBy(configured, (address) => rowsAddress(address) ?? '');
  const updates = changes.filter(({ action }) => action === 'update');
  const creates = changes.filter(({ action }) => action === 'create');
  const bySize = (groups: readonly ChangeGroup[]) =>
    groups.toSorted((a, b) => b.addresses.length - a.addresses.length);
  return [
    ...bySize([...groupGone(changes, 'delete'), ...groupGone(changes, 'forget')]),
    ...bySize([
      ...groupUpdates(updates, findSource, slotsAt),
      ...groupCreates(creates, findSource, slotsAt),
    ]),
  ].map((group) => withBlocks(group, rows));
}

/** The share of its rows that a block may have as exceptions. */
const MOST_EXCEPT = 1 / 4;

/** Names the blocks of which nearly all rows are in a group. */
function withBlocks(
  group: ChangeGroup,
  rows: ReadonlyMap<string, readonly Address[]>,
): ChangeGroup {
  const members = Map.groupBy(group.addresses, (address) => rowsAddress(address) ?? '');
  const blocks = [...members].flatMap(([block, own]) => {
    const all = block === '' ? [] : (rows.get(block) ?? []);
    if (all.length < FEWEST || all.length < own.length) return [];
    const there = new Set(own);
    const except = all.filter((address) => !there.has(address)).sort(byAddress);
    // Nothing else may be in the group: a row that is no longer configured.
    const isPart = all.length - except.length === own.length;
    return isPart && except.length <= all.length * MOST_EXCEPT ? [{ block, except }] : [];
  });
  return blocks.length === 0 ? group : { ...group, blocks };
}

/** Groups unedited resources that are deleted or forgotten for the same reason. */
function groupGone(
  changes: readonly Change[],
  action: 'delete' | 'forget',
): readonly ChangeGroup[] {
  const gone = changes.filter((one) => one.action === action && !one.fields.some(isEdited));
  const alike = Map.groupBy(gone, ({ kind, verdict, reason }) =>
    JSON.stringify([kind, verdict, reason]),
  );
  return [...alike.values()].flatMap((own): ChangeGroup[] => {
    const [first] = own;
    if (first === undefined || own.length < FEWEST_GONE) return [];
    return [{ kind: first.kind, action, addresses: sorted(own), fields: [] }];
  });
}

function sorted(some: readonly { readonly address: Address }[]): readonly Address[] {
  return some.map(({ address }) => address).sort(byAddress);
}

type FieldSite = Site & { readonly change: Change; readonly field: FieldChange };

/** Sites with one edit, the edit with the values of rows put back, and the values that it changes. */
type Alike = {
  readonly sites: readonly FieldSite[];
  readonly hunks: readonly Hunk[] | undefined;
  readonly columns: readonly ColumnEdit[];
};

function groupUpdates(
  changes: readonly Change[],
  findSource: FindSource,
  slotsAt: SlotsAt,
): readonly ChangeGroup[] {
  const sites = changes.flatMap((change) =>
    change.fields
      // A conflict is decided one by one.
      .filter((field) => isWritten(field) && field.cause !== 'conflict')
      .map((field): FieldSite => ({ address: change.address, path: field.path, change, field })),
  );
  const found = [...Map.groupBy(sites, getFieldKey).values()]
    .filter((own) => own.length >= FEWEST)
    .flatMap((own) => findAlike(own, slotsAt));
  // The fields that change together: in the same resources, and by the same file, or each by its own.
  const groups = new Map<string, Group>();
  for (const { sites: own, hunks, columns } of found) {
    const [{ change, path }] = own as readonly [FieldSite, ...FieldSite[]];
    const addresses = sorted(own);
    const common = commonSource(own, findSource);
    const texts = withoutValues(own, hunks, slotsAt);
    const isOfRows = columns.length > 0 && texts.before === texts.after;
    // The file that has the values, and not the one that says where they stand.
    const { file, source } = isOfRows ? fileOfColumns(columns) : common;
    const field = { path, source, ...texts, ...(columns.length > 0 && { columns }) };
    const key = textKey(JSON.stringify([addresses, file, isOfRows]));
    const known = groups.get(key);
    const { kind } = change;
    if (known === undefined)
      groups.set(key, { kind, action: 'update', addresses, fields: [field] });
    else known.fields = [...known.fields, field];
  }
  return [...groups.values()];
}

/** The same of all fields that can change in the same way, whatever they change to. */
function getFieldKey({ change, field }: FieldSite): string {
  const { kind, action, undoing, verdict, reason } = change;
  const { path, cause, secret, refused } = field;
  // A limit stops all of a plan for one reason. What is refused by itself is read by itself.
  const judged = verdict === 'ok' ? null : [verdict, reason];
  const author = isEdited(field) ? reason.replace(/\d[\dT:.-]*Z?/g, '') : null;
  return JSON.stringify([kind, action, judged, undoing?.way, path, cause, author, refused, secret]);
}

/** Classes of sites with the same edit. Each member of a class is what the edit of the class makes of it. */
function findAlike(sites: readonly FieldSite[], slotsAt: SlotsAt): readonly Alike[] {
  const listHunks = oncePerEdit();
  const classes = new Map<string, { readonly sites: FieldSite[]; readonly first: FieldSite }>();
  for (const site of sites) {
    const { before, after } = site.field;
    const hunks = listHunks(site.field);
    const key = textKey(JSON.stringify(hunks === undefined ? [before, after] : hunks.map(toKey)));
    const known = classes.get(key);
    if (known === undefined) classes.set(key, { sites: [site], first: site });
    else known.sites.push(site);
  }
  // Edits that differ only by the values of a row are one edit of the text that the rows fill in.
  const read = [...classes].map(([key, { sites: own, first }]) => {
    const hunks = listHunks(first.field);
    const slots = first.field.secret ? undefined : slotsAt(first);
    const readings = slots ? readEdit(hunks, slots, first.field) : [];
    return { key, own, hunks, row: slots && toRowValues(slots), readings };
  });
  const counts = new Map<string, number>();
  for (const { own, readings } of read) {
    for (const { name } of readings) counts.set(name, (counts.get(name) ?? 0) + own.length);
  }
  const merged = new Map<string, Readings>();
  for (const { key, own, hunks, row, readings } of read) {
    // The reading that most resources have is taken.
    const [general] = readings.toSorted(
      (a, b) => (counts.get(b.name) ?? 0) - (counts.get(a.name) ?? 0),
    );
    const name = general?.name ?? key;
    const proven = own.filter(
      ({ field }) => general === undefined || isMade(field, hunks, general, row),
    );
    const known = merged.get(name) ?? { sites: [], hunks: general?.hunks ?? hunks, changed: [] };
    merged.set(name, known);
    known.sites.push(...proven);
    if (general !== undefined && row !== undefined && general.changed.size > 0)
      known.changed.push({ own: proven, general, row });
  }
  return [...merged.values()].flatMap(({ sites: own, hunks, changed }) => {
    if (own.length < FEWEST) return [];
    if (changed.length === 0) return { sites: own, hunks, columns: [] };
    const { columns, left } = listColumns(changed);
    const shown = own.filter((site) => !left.has(site));
    return shown.length < FEWEST ? [] : { sites: shown, hunks, columns };
  });
}

/** Sites whose edits read the same, and of those in which values change the edits that they are. */
type Readings = {
  readonly sites: FieldSite[];
  readonly hunks: Alike['hunks'];
  readonly changed: {
    readonly own: readonly FieldSite[];
    readonly general: General;
    readonly row: RowValues;
  }[];
};

function isScalar(value: Json): value is Scalar {
  return value === null || typeof value !== 'object';
}

function toKey({ at: _, ...hunk }: Hunk): Omit<Hunk, 'at'> {
  return hunk;
}

/** True if an edit, with the values of a row filled in, turns the old value of a field into the new one. */
function isMade(
  { before, after }: FieldChange,
  own: readonly Hunk[] | undefined,
  general: General,
  row: RowValues | undefined,
): boolean {
  if (own === undefined || general.hunks === undefined || row === undefined) return true;
  return applyHunks(String(before), fillIn(general, row)) === after;
}

/** Edits of a column that are read one by one. */
const MOST_EDITS = 24;
/** Forms of one column: with more of them nothing is read at once. */
const MOST_FORMS = 8;
/** Characters of a value that is read at a glance. */
const SHORT = 40;

type Scalar = ColumnEdit['edits'][number]['before'];
type Pair = {
  readonly before: Scalar;
  readonly after: Scalar;
  readonly sites: readonly FieldSite[];
};

/**
 * Lists the columns whose values change, with each edit of a value and its rows. Many different texts are summed up by
 * their form. `left`: sites with a text that has no form in common with others.
 */
function listColumns(changed: Readings['changed']): {
  readonly columns: readonly ColumnEdit[];
  readonly left: ReadonlySet<FieldSite>;
} {
  const expressions = new Set(changed.flatMap(({ general }) => [...general.changed.keys()]));
  const all = [...expressions].map((expression) => {
    const with_ = changed.filter(({ general }) => general.changed.has(expression));
    const pairs = Map.groupBy(
      with_.flatMap(({ own, general, row }) => {
        const sides = findSides(expression, general, row);
        return own.map((site) => ({ site, ...sides }));
      }),
      ({ before, after }) => textKey(JSON.stringify([before, after])),
    );
    const edits = [...pairs.values()].flatMap((some): Pair[] => {
      const [first] = some;
      if (first === undefined) return [];
      return [{ before: first.before, after: first.after, sites: some.map(({ site }) => site) }];
    });
    const of = with_[0]?.row.columns.get(expression) ?? { source: null };
    return { expression, ...of, ...tellEdits(edits) };
  });
  const left = new Set(all.flatMap(({ left: some }) => some));
  const listShown = (sites: readonly FieldSite[]) =>
    sorted(sites.filter((site) => !left.has(site)));
  const columns = all.map(({ edits, forms, left: _, ...column }): ColumnEdit => {
    const shownEdits = edits
      .map(({ sites, before, after }) => ({ before, after, addresses: listShown(sites) }))
      .filter(({ addresses }) => addresses.length > 0)
      .sort((a, b) => b.addresses.length - a.addresses.length || byFirst(a, b));
    const common = forms
      .map(({ sites, before, after }) => ({ before, after, addresses: listShown(sites) }))
      .filter(({ addresses }) => addresses.length > 0);
    return { ...column, edits: shownEdits, ...(common.length > 0 && { forms: common }) };
  });
  return {
    columns: columns.filter(({ edits, forms = [] }) => edits.length + forms.length > 0),
    left,
  };
}

function byFirst(
  { addresses: [a = ''] }: { readonly addresses: readonly Address[] },
  { addresses: [b = ''] }: { readonly addresses: readonly Address[] },
): number {
  return byAddress(a, b);
}

/** The one file that has the values of some columns. */
function fileOfColumns(columns: readonly ColumnEdit[]): CommonSource {
  const [first = null, ...others] = new Set(columns.map(({ source }) => source));
  return first === null || others.length > 0 ? SEVERAL : { file: first, source: first };
}

/** Both values of an expression, as the texts of the field have them. */
function findSides(expression: string, { own, changed, scalar }: General, { values }: RowValues) {
  if (scalar !== undefined) return scalar;
  const [value = '', other = ''] = [values.get(expression), changed.get(expression)];
  return own === '+' ? { before: other, after: value } : { before: value, after: other };
}

type ShownEdits = {
  readonly edits: readonly Pair[];
  readonly forms: readonly (Pick<Pair, 'sites'> & {
    readonly before: TextForm | null;
    readonly after: TextForm | null;
  })[];
  readonly left: readonly FieldSite[];
};

/** Values that are few or short are listed; of others the forms, and what has none is left. */
function tellEdits(edits: readonly Pair[]): ShownEdits {
  const rows = edits.reduce((sum, { sites }) => sum + sites.length, 0);
  if (edits.length <= MOST_EDITS || edits.length * FEWEST <= rows)
    return { edits, forms: [], left: [] };
  const forms: ShownEdits['forms'][number][] = [];
  const rest: Pair[] = [];
  for (const some of Map.groupBy(edits, joinSorts).values()) {
    let waiting: readonly Pair[] = some;
    while (forms.length < MOST_FORMS) {
      const family = findPairs(waiting);
      if (family === undefined) break;
      const { before, after, members } = family;
      const taken = new Set(members);
      forms.push({ before, after, sites: members.flatMap(({ sites }) => sites) });
      waiting = waiting.filter((one) => !taken.has(one));
    }
    rest.push(...waiting);
  }
  const isShort = (value: Scalar) => typeof value !== 'string' || value.length <= SHORT;
  // Beside a form, whatever does not have it is read by itself.
  const isListed = ({ before, after }: Pair) =>
    forms.length === 0 && isShort(before) && isShort(after);
  const left = rest.filter((one) => !isListed(one)).flatMap(({ sites }) => sites);
  return { edits: rest.filter(isListed), forms, left };
}

/** Sorts of call-outs that a number or a name is. */
const VALUES: ReadonlySet<Callout['sort']> = new Set(['number', 'link', 'token', 'tool']);

/** Returns the rules that an edit changes: texts that differ in them are not summed up as one. */
function joinSorts({ sites: [site] }: Pair): string {
  const { change: { callouts = [] } = {}, path } = site ?? {};
  const sorts = callouts.filter((one) => one.path === path && !VALUES.has(one.sort));
  return [...new Set(sorts.map(({ sort }) => sort))].sort().join();
}

/** The largest part of some edits whose old texts have one form, and whose new texts have one. */
function findPairs(edits: readonly Pair[]) {
  const fresh = narrow(edits, 'after');
  const both = fresh && narrow(fresh.members, 'before');
  if (fresh === undefined || both === undefined) return undefined;
  const after =
    both.members.length === fresh.members.length ? fresh : narrow(both.members, 'after');
  if (after?.members.length !== both.members.length) return undefined;
  return { before: both.form, after: after.form, members: both.members };
}

/** Edits whose value on one side has the form that most have; `form` is null where they have no value there. */
function narrow(
  edits: readonly Pair[],
  side: 'before' | 'after',
): { readonly form: TextForm | null; readonly members: readonly Pair[] } | undefined {
  const [first] = edits;
  if (first !== undefined && edits.length >= FEWEST && edits.every((one) => one[side] === null))
    return { form: null, members: edits };
  const texts = edits.filter((one) => typeof one[side] === 'string');
  const found = findForm(texts.map((one) => String(one[side])));
  if (found === undefined) return undefined;
  const members = texts.filter((_, at) => found.parts.has(at));
  const gaps = found.pieces.slice(1).map((_, at) => {
    const parts = [...found.parts.values()].map((own) => own[at] ?? '');
    const distinct = [...new Set(parts)];
    const numbers = readNumbers(distinct);
    const [least, most] = extremes(numbers ?? []);
    return {
      count: distinct.length,
      ...(numbers === undefined
        ? { examples: nameParts(distinct) }
        : { from: least, to: most, ...(isCounting(distinct) && { in_row: true }) }),
    };
  });
  return { form: { pieces: found.pieces, gaps }, members };
}

/** The first part, the longest and the shortest: one that is not like the others is among them. */
function nameParts(parts: readonly string[]): readonly string[] {
  const byLength = parts.toSorted((a, b) => b.length - a.length);
  return [...new Set([parts[0], byLength[0], byLength.at(-1)])].filter((one) => one !== undefined);
}

/** The hunks of a changed text; undefined for what is no text, and where too much of it differs. */
function oncePerEdit(): (field: FieldChange) => readonly Hunk[] | undefined {
  const known = new Map<string, readonly Hunk[] | undefined>();
  return ({ before, after, secret }) => {
    if (typeof before !== 'string' || typeof after !== 'string' || secret) return undefined;
    const key = JSON.stringify([textKey(before), textKey(after)]);
    if (!known.has(key)) known.set(key, withOwnLines(findHunks(before, after)));
    return known.get(key);
  };
}

/** The values that a row fills in in a field's text. */
type RowValues = {
  readonly values: ReadonlyMap<string, string>;
  /** The columns that the values come from. */
  readonly columns: ReadonlyMap<string, Pick<ColumnEdit, 'column' | 'source'>>;
};

/** Hunks whose lines are no pieces of the texts that they were found in (see `detached`). */
function withOwnLines<T extends readonly Hunk[] | undefined>(hunks: T): T {
  return hunks && JSON.parse(JSON.stringify(hunks));
}

/** The parts of a field's text that the rows of a table fill in. They are as large as the text, several times over. */
type Slots = RowValues & {
  /** Lines with an expression in them, as they read and with the expression in the place of its value. */
  readonly lines: ReadonlyMap<string, string>;
  /** The expression that is all of the text. */
  readonly whole: string | undefined;
};

type SlotsAt = (site: Site) => Slots | undefined;

/** Stands around an expression that is in the place of its value: no text of a prompt. */
const MARK = '\0';
const MARKED = /\0([^\0]*)\0/g;

/** Characters of the texts whose slots are remembered at once. */
const MOST_REMEMBERED = 1_000_000;

/** Slots that were read last are remembered: all of a small fleet, while those of a large one would be all its texts again. */
function oncePerSite(findSource: FindSource): SlotsAt {
  const known = new Map<string, { readonly slots: Slots | undefined; readonly size: number }>();
  let remembered = 0;
  return ({ address, path }) => {
    const key = `${path}\n${address}`;
    const before = known.get(key);
    if (before !== undefined) return before.slots;
    const source = findSource({ address, path });
    const parts = source?.parts?.();
    const slots = parts && readSlots(parts, source?.file !== undefined);
    const size = parts === undefined ? 0 : countCharacters(parts);
    known.set(key, { slots, size });
    remembered += size;
    for (const [oldest, one] of known) {
      if (remembered <= MOST_REMEMBERED || oldest === key) break;
      known.delete(oldest);
      remembered -= one.size;
    }
    return slots;
  };
}

function countCharacters(parts: readonly TextPart[]): number {
  return parts.reduce((sum, one) => sum + (typeof one === 'string' ? one : one.value).length, 0);
}

function toRowValues({ values, columns }: Slots): RowValues {
  return { values, columns };
}

/** Undefined where nothing is filled in. `isFromFiles`: the files say what is written. */
function readSlots(parts: readonly TextPart[], isFromFiles: boolean): Slots | undefined {
  const values = new Map<string, string>();
  const columns = new Map<string, Pick<ColumnEdit, 'column' | 'source'>>();
  let [plain, general] = ['', ''];
  for (const part of parts) {
    const isPlain = typeof part === 'string' || part.value.includes('\n');
    const text = typeof part === 'string' ? part : part.value;
    plain += text;
    general += isPlain ? text : MARK + part.expression + MARK;
    if (isPlain) continue;
    const { expression, column, file = null } = part;
    const source = isFromFiles ? file : null;
    values.set(expression, text);
    columns.set(expression, { ...(column !== undefined && { column }), source });
  }
  if (values.size === 0 || plain.includes(MARK)) return undefined;
  const lines = new Map<string, string>();
  const ambiguous = new Set<string>();
  const texts = plain.split('\n');
  for (const [at, line] of general.split('\n').entries()) {
    const text = texts[at] ?? '';
    if ((lines.get(text) ?? line) !== line) ambiguous.add(text);
    lines.set(text, line);
  }
  for (const [text, line] of lines) {
    if (!line.includes(MARK) || ambiguous.has(text)) lines.delete(text);
  }
  const [whole] = general === MARK + [...values.keys()].join() + MARK ? values.keys() : [];
  return { lines, values, columns, whole };
}

/** An edit with expressions in the place of values of its row. */
type General = {
  /** The same for all edits that read the same. */
  readonly name: string;
  /** Undefined where all of the field is one expression. */
  readonly hunks: readonly Hunk[] | undefined;
  /** Lines of the side that has the values of the row. */
  readonly own: '+' | '-';
  /** Expressions that have another value on the other side, and that value. */
  readonly changed: ReadonlyMap<string, string>;
  /** The values of a field that is one expression, which need not be texts. */
  readonly scalar?: Pick<Pair, 'before' | 'after'>;
};

/**
 * The ways to read the edit of a row: as one of what stands around its values, with these as they are, and as one of
 * the values. Each makes the new text of the old one.
 */
function readEdit(
  hunks: readonly Hunk[] | undefined,
  slots: Slots,
  field: FieldChange,
): readonly General[] {
  const whole = readWhole(slots, field);
  if (whole !== undefined) return [whole];
  if (hunks === undefined) return [];
  const lasting = findLasting(hunks, slots, [field.before, field.after]);
  const prove = (own: '+' | '-' | undefined) => {
    const general = putBack(hunks, slots, lasting, own);
    return general !== undefined && isMade(field, hunks, general, slots) ? general : undefined;
  };
  return [prove(undefined), prove('+') ?? prove('-')].filter((one) => one !== undefined);
}

/** The edit of a field that is one expression of its row. */
function readWhole({ whole, values, columns }: Slots, field: FieldChange): General | undefined {
  if (whole === undefined) return undefined;
  const { before, after } = field;
  const value = values.get(whole) ?? '';
  const isValue = (one: Json) =>
    one === value || (typeof one !== 'string' && one !== null && isSameScalar(one, value));
  const own = isValue(after) ? '+' : isValue(before) ? '-' : undefined;
  if (own === undefined || !isScalar(before) || !isScalar(after)) return undefined;
  const other = own === '+' ? before : after;
  if (typeof other === 'string' && /\n/.test(other)) return undefined;
  const scalar = { before, after };
  const name = JSON.stringify([whole, columns.get(whole)]);
  return { name, hunks: undefined, own, changed: new Map([[whole, String(other)]]), scalar };
}

/** Compares a number or a truth value with the text of a cell. */
function isSameScalar(value: Json, cell: string): boolean {
  return typeof value === 'number' ? Number(cell) === value : String(value) === cell;
}

/**
 * An edit with expressions in the place of the values of its row. `own`: lines of the side that has these values, where
 * an expression with another value on the other side is put back, too. Otherwise a value that is part of the change
 * stays as it is. Undefined where nothing is put back.
 */
function putBack(
  hunks: readonly Hunk[],
  slots: Slots,
  lasting: ReadonlySet<string>,
  own: '+' | '-' | undefined,
): General | undefined {
  const found = own === undefined ? NOTHING_REPLACED : findReplaced(hunks, slots, own, lasting);
  if (found === undefined) return undefined;
  const { changed, forms } = found;
  const getForm = ({ sign, text }: HunkLine) =>
    sign === ' ' || sign === (own ?? sign) ? slots.lines.get(text) : forms.get(text);
  const filled = hunks.map((hunk): Hunk => {
    const under = hunk.under.map((line) => slots.lines.get(line) ?? forms.get(line) ?? line);
    const lines = hunk.lines.filter(({ sign }) => sign !== ' ');
    const isReplaced = lines.some((line) =>
      expressionsIn(getForm(line) ?? '').some((one) => changed.has(one)),
    );
    const values = isReplaced ? lastingNames(slots, lasting) : findUnchanged(lines, slots, lasting);
    return {
      ...hunk,
      under,
      lines: hunk.lines.map((line): HunkLine => {
        const { sign, text } = line;
        const form = isReplaced ? getForm(line) : slots.lines.get(text);
        if (sign === ' ') return { sign, text: form ?? text };
        if (values === undefined) return { sign, text };
        return { sign, text: form ?? replaceValues(text, values) };
      }),
    };
  });
  const read = JSON.stringify(filled.map(toKey));
  const isGeneral = read.includes(JSON.stringify(MARK).slice(1, -1));
  if (!isGeneral) return undefined;
  const key = textKey(read);
  const files = [...changed.keys()].map((one) => slots.columns.get(one)?.source);
  const name = changed.size === 0 ? key : JSON.stringify([key, own, [...new Set(files)]]);
  return { name, hunks: withOwnLines(filled), own: own ?? '+', changed };
}

const NOTHING_REPLACED: Replaced = { changed: new Map(), forms: new Map() };

type Replaced = {
  readonly changed: ReadonlyMap<string, string>;
  /** Lines of the other side, with the expressions that fill them in on this one. */
  readonly forms: ReadonlyMap<string, string>;
};

/**
 * The expressions that have another value on the other side of an edit: a line there has the same form. Undefined where
 * there are none, or where one would have several.
 */
function findReplaced(
  hunks: readonly Hunk[],
  { lines, values }: Slots,
  own: '+' | '-',
  lasting: ReadonlySet<string>,
): Replaced | undefined {
  const others = new Map<string, string>();
  const forms = new Map<string, string>();
  for (const run of hunks.flatMap(changedRuns)) {
    const mine = run.filter(({ sign }) => sign === own);
    const theirs = run.filter(({ sign }) => sign !== own);
    let from = 0;
    for (const [at, { text }] of mine.entries()) {
      const form = lines.get(text);
      if (form === undefined) continue;
      const pieces = form.split(MARKED).filter((_, index) => index % 2 === 0);
      const names = expressionsIn(form);
      const expected = names.map((one) => values.get(one) ?? '');
      // A form without a word of its own fits every line.
      const isBare = !pieces.some((piece) => /[\p{L}\p{N}]/u.test(piece));
      const isThere = (index: number) =>
        isBare ? mine.length === theirs.length && index === at : index >= from;
      const partner = theirs.findIndex(
        (line, index) =>
          isThere(index) && matchPieces(pieces, line.text, { expected }) !== undefined,
      );
      const line = theirs[partner];
      if (line === undefined) continue;
      from = partner + 1;
      const parts = matchPieces(pieces, line.text, { expected }) ?? [];
      for (const [index, name] of names.entries()) {
        const part = parts[index] ?? '';
        if ((others.get(name) ?? part) !== part) return undefined;
        others.set(name, part);
      }
      forms.set(line.text, form);
    }
  }
  const changed = new Map([...others].filter(([name, value]) => value !== values.get(name)));
  if (changed.size === 0 || [...changed.keys()].some((one) => lasting.has(one))) return undefined;
  return { changed, forms };
}

/** Changed lines that stand beside each other. */
function changedRuns({ lines }: Hunk): readonly (readonly HunkLine[])[] {
  const runs: HunkLine[][] = [[]];
  for (const line of lines) {
    if (line.sign === ' ') runs.push([]);
    else runs.at(-1)?.push(line);
  }
  return runs;
}

function lastingNames({ values }: Slots, lasting: ReadonlySet<string>) {
  return new Map([...values].filter(([one, value]) => lasting.has(one) && isName(value)));
}

/** Expressions whose value is as it was: they stand in a line that both texts have and that no hunk changes. */
function findLasting(
  hunks: readonly Hunk[],
  { lines }: Slots,
  texts: readonly Json[],
): ReadonlySet<string> {
  const changed = new Set(
    hunks.flatMap((hunk) => hunk.lines.flatMap(({ sign, text }) => (sign === ' ' ? [] : text))),
  );
  const [old, fresh] = texts.map((text) => new Set(String(text).split('\n')));
  return new Set(
    [...lines].flatMap(([text, line]) =>
      old?.has(text) === true && fresh?.has(text) === true && !changed.has(text)
        ? expressionsIn(line)
        : [],
    ),
  );
}

/**
 * The values that the changed lines of a hunk hold on both sides, or that last elsewhere in the text, by expression.
 * Undefined where an expression of theirs has another value than before.
 */
function findUnchanged(
  changed: readonly HunkLine[],
  { lines, values }: Slots,
  lasting: ReadonlySet<string>,
): ReadonlyMap<string, string> | undefined {
  const unchanged = new Map(
    [...values].filter(([one, value]) => lasting.has(one) && isName(value)),
  );
  const used = new Set(changed.flatMap(({ text }) => expressionsIn(lines.get(text) ?? '')));
  for (const one of used) {
    const value = values.get(one) ?? '';
    const count = (wanted: HunkLine['sign']) =>
      changed
        .filter(({ sign }) => sign === wanted)
        .reduce((sum, { text }) => {
          const line = lines.get(text);
          const own = line === undefined ? findWords(text, value).length : countSlot(line, one);
          return sum + own;
        }, 0);
    if (!lasting.has(one) && (value === '' || count('-') !== count('+'))) return undefined;
    unchanged.set(one, value);
  }
  return unchanged;
}

function expressionsIn(line: string): readonly string[] {
  return [...line.matchAll(MARKED)].map(([, expression = '']) => expression);
}

function countSlot(line: string, expression: string): number {
  return expressionsIn(line).filter((one) => one === expression).length;
}

/** A number or a single letter may stand in a text for anything. */
function isName(value: string): boolean {
  return value.length > 2 && /\p{L}/u.test(value);
}

/** Returns the offsets at which a value is a word of its own. */
function findWords(text: string, value: string): readonly number[] {
  const found: number[] = [];
  if (value === '') return found;
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) {
    const around = [text.slice(0, at), text.slice(at + value.length)];
    if (!/[\p{L}\p{N}]$/u.test(around[0] ?? '') && !/^[\p{L}\p{N}]/u.test(around[1] ?? ''))
      found.push(at);
  }
  return found;
}

/** The longest values first: one may be part of another. */
function replaceValues(text: string, values: ReadonlyMap<string, string>): string {
  const ordered = [...values].sort(([, a], [, b]) => b.length - a.length);
  let general = text;
  for (const [expression, value] of ordered) {
    for (const at of findWords(general, value).toReversed()) {
      // Not inside an expression that stands there already.
      if (general.slice(0, at).split(MARK).length % 2 === 0) continue;
      general = general.slice(0, at) + MARK + expression + MARK + general.slice(at + value.length);
    }
  }
  return general;
}

/** An edit with the values of a row in the place of its expressions. */
function fillIn({ hunks = [], own, changed }: General, { values }: RowValues): readonly Hunk[] {
  const fill = (text: string, isOther: boolean) =>
    text.replace(MARKED, (_, expression: string) => {
      const value = values.get(expression) ?? '';
      return isOther ? (changed.get(expression) ?? value) : value;
    });
  return hunks.map((hunk) => ({
    ...hunk,
    under: hunk.under.map((line) => fill(line, own === '+')),
    lines: hunk.lines.map(({ sign, text }) => ({
      sign,
      text: fill(text, sign !== ' ' && sign !== own),
    })),
  }));
}

/**
 * The texts of the first resource with expressions in the place of the values of its row; nothing where the edit holds
 * none.
 */
function withoutValues(
  sites: readonly FieldSite[],
  hunks: readonly Hunk[] | undefined,
  slotsAt: SlotsAt,
): { readonly before?: string; readonly after?: string } {
  const [first] = sites.toSorted((a, b) => byAddress(a.address, b.address));
  const isGeneral = hunks?.some(({ lines }) => lines.some(({ text }) => text.includes(MARK)));
  if (first === undefined || hunks === undefined || isGeneral !== true) return {};
  const { before } = first.field;
  const own = findHunks(String(before), String(first.field.after)) ?? [];
  const general = slotsAt(first)?.lines;
  const lines = String(before)
    .split('\n')
    .map((line) => general?.get(line) ?? line);
  const sides = (['+', '-'] as const).map((other) => {
    const text: string[] = [];
    let done = 0;
    for (const [index, { at, lines: plain }] of own.entries()) {
      text.push(...lines.slice(done, at));
      text.push(
        ...(hunks[index]?.lines ?? []).filter(({ sign }) => sign !== other).map((one) => one.text),
      );
      done = at + plain.filter(({ sign }) => sign !== '+').length;
    }
    return [...text, ...lines.slice(done)].join('\n').replaceAll(MARK, '');
  });
  return { before: sides[0] ?? '', after: sides[1] ?? '' };
}

/**
 * New resources in families: the rows of one block, or what one base makes. Each is in one group at most, with all
 * that it has in common with the others of it.
 */
function groupCreates(
  changes: readonly Change[],
  findSource: FindSource,
  slotsAt: SlotsAt,
): readonly ChangeGroup[] {
  const pools = Map.groupBy(changes, ({ kind, verdict, reason, address }) =>
    JSON.stringify([kind, rowsAddress(address), verdict, verdict === 'ok' ? null : reason]),
  );
  return [...pools.values()].flatMap((pool) => {
    const plain = numberValues(pool, () => undefined);
    const counts = countEach(plain.flatMap(({ values }) => [...values.values()]));
    // Values that most resources share are not looked for in their rows.
    let left = numberValues(pool, (site, at) => {
      const number = plain[at]?.values.get(site.path) ?? -1;
      return (counts.get(number) ?? 0) < pool.length / 2 ? slotsAt(site) : undefined;
    });
    const groups: ChangeGroup[] = [];
    while (left.length >= FEWEST) {
      const family = findFamily(left);
      if (family === undefined) break;
      const { values, members } = family;
      const [first] = members.toSorted((a, b) => byAddress(a.change.address, b.change.address));
      if (first === undefined) break;
      const paths = [...first.values].flatMap(([path, one]) => (values.has(one) ? path : []));
      const { kind } = first.change;
      const addresses = sorted(members.map(({ change }) => change));
      const fields = paths.map((path) => {
        const sites = addresses.map((address) => ({ address, path }));
        const field = first.change.fields.find((one) => one.path === path);
        const slots = slotsAt({ address: first.change.address, path });
        const after = field && slots && generalText(field, slots).replaceAll(MARK, '');
        const isOwn = after !== undefined && after !== field?.after;
        return { path, source: commonSource(sites, findSource).source, ...(isOwn && { after }) };
      });
      groups.push({ kind, action: 'create', addresses, fields });
      left = left.filter((one) => !members.includes(one));
    }
    return groups;
  });
}

/** A new resource, with a number for the value of each of its fields. */
type Member = { readonly change: Change; readonly values: ReadonlyMap<string, number> };

/** Gives the same number to the same value of a field, with the expressions that it is made of. */
function numberValues(
  changes: readonly Change[],
  slotsAt: (site: Site, change: number) => Slots | undefined,
): readonly Member[] {
  const known = new Map<string, Map<string, number>>();
  let count = 0;
  return changes.map((change, at) => {
    const values = change.fields.map(({ path, after, secret, refused = '' }): [string, number] => {
      const isText = typeof after === 'string' && !secret;
      const slots = isText ? slotsAt({ address: change.address, path }, at) : undefined;
      const text = slots === undefined ? after : generalText({ after }, slots);
      const value = textKey(typeof text === 'string' ? text : MARK + JSON.stringify(text));
      const numbers = known.get(`${path}\n${refused}`) ?? new Map<string, number>();
      known.set(`${path}\n${refused}`, numbers);
      const number = numbers.get(value) ?? count++;
      numbers.set(value, number);
      return [path, number];
    });
    return { change, values: new Map(values) };
  });
}

function generalText({ after }: Pick<FieldChange, 'after'>, { lines }: Slots): string {
  return String(after)
    .split('\n')
    .map((line) => lines.get(line) ?? line)
    .join('\n');
}

/** The largest part of some new resources that have the same of what most of them have. */
function findFamily(
  pool: readonly Member[],
): { readonly values: ReadonlySet<number>; readonly members: readonly Member[] } | undefined {
  const counts = countEach(pool.flatMap(({ values }) => [...values.values()]));
  const least = Math.max(FEWEST, pool.length / 2);
  const parts = Map.groupBy(pool, ({ values }) =>
    [...values.values()]
      .filter((one) => (counts.get(one) ?? 0) >= least)
      .sort((a, b) => a - b)
      .join(),
  );
  const [largest] = [...parts].sort(([, a], [, b]) => b.length - a.length);
  if (largest === undefined || largest[1].length < FEWEST || largest[0] === '') return undefined;
  const [shared, members] = largest;
  return { values: new Set(shared.split(',').map(Number)), members };
}

/** Equal edits are asked where they come from as long as it takes little time. */
const MOST_ASKED = 100;

/** The source of all of some fields, or its file where only that is the same; null where they have several. */
type CommonSource = { readonly file: string | null; readonly source: string | null };

const SEVERAL: CommonSource = { file: null, source: null };

function commonSource(sites: readonly Site[], findSource: FindSource): CommonSource {
  const lines = new Set<number | undefined>();
  let file: string | undefined;
  for (const [index, site] of sites.slice(0, MOST_ASKED).entries()) {
    const found = findSource(site);
    if (index > 0 && found?.file !== file) return SEVERAL;
    file = found?.file;
    lines.add(found?.line);
  }
  if (file === undefined) return SEVERAL;
  const [line] = lines;
  const isOne = lines.size === 1 && line !== undefined;
  return { file, source: isOne ? `${file}:${line}` : file };
}

/** Names with each changed text the file that it is read from, where that is a file of its own. */
export function withTextSources(
  changes: readonly Change[],
  findSource: FindSource,
): readonly Change[] {
  return changes.map((change) => {
    if (change.action !== 'update' && change.action !== 'replace') return change;
    const fields = change.fields.map((field) => {
      const { path, after, secret } = field;
      if (typeof after !== 'string' || secret) return field;
      const found = findSource({ address: change.address, path });
      return found?.file === undefined || found.line !== undefined
        ? field
        : extended(field, { source: found.file });
    });
    return { ...change, fields };
  });
}
