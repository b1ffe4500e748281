import { type Address, byAddress, rowsAddress } from '../core/address.ts';
import type { TextPart } from '../core/desired.ts';
import {
  type Change,
  type ChangeGroup,
  type FieldChange,
  isEdited,
  isWritten,
} from '../core/plan-document.ts';
import { countEach, type Json } from '../core/value.ts';
import { applyHunks, findHunks, type Hunk, type HunkLine } from '../diff/text.ts';

/**
 * Puts together what one edit does to many resources, so that it is read once. Members of a group are alike in every
 * line that changes and in the lines around it, apart from values of their rows that the edit leaves alone. The group's
 * edit is carried out on each member, and whoever comes out otherwise stands alone.
 */

/** Fewer resources than this are read one by one. */
const FEWEST = 3;

/** Fewer resources that go are read one by one. */
const FEWEST_GONE = 5;

/** One field of one resource. */
export type Site = { readonly address: Address; readonly path: string };

/** What gives a field its value: a line of a file, or a file as a whole, as a template is. */
export type FieldSource = {
  /** Undefined where no file says what is written, as in a rollback. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  /** The text that the configuration has for the field. */
  readonly parts?: (() => readonly TextPart[] | undefined) | undefined;
};

export type SourceOf = (site: Site) => FieldSource | undefined;

type Group = { -readonly [Key in keyof ChangeGroup]: ChangeGroup[Key] };

/** Finds what changes alike in several resources; those that go come first, then the largest groups. */
export function groupAlike(changes: readonly Change[], sourceOf: SourceOf): readonly ChangeGroup[] {
  const slotsAt = oncePerSite(sourceOf);
  const updates = changes.filter(({ action }) => action === 'update');
  const creates = changes.filter(({ action }) => action === 'create');
  const bySize = (groups: readonly ChangeGroup[]) =>
    groups.toSorted((a, b) => b.addresses.length - a.addresses.length);
  return [
    ...bySize([...groupGone(changes, 'delete'), ...groupGone(changes, 'forget')]),
    ...bySize([
      ...groupUpdates(updates, sourceOf, slotsAt),
      ...groupCreates(creates, sourceOf, slotsAt),
    ]),
  ];
}

/** Resources that are deleted or forgotten for the same reason, and that nobody edited. */
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

/** Sites with one edit, and the edit with the values of rows put back. */
type Alike = { readonly sites: readonly FieldSite[]; readonly hunks: readonly Hunk[] | undefined };

function groupUpdates(
  changes: readonly Change[],
  sourceOf: SourceOf,
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
  for (const { sites: own, hunks } of found) {
    const [{ change, path }] = own as readonly [FieldSite, ...FieldSite[]];
    const addresses = sorted(own);
    const { file, source } = commonSource(own, sourceOf);
    const field = { path, source, ...withoutValues(own, hunks, slotsAt) };
    const key = JSON.stringify([addresses, file]);
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
  const hunksOf = oncePerEdit();
  const classes = new Map<string, { readonly sites: FieldSite[]; readonly first: FieldSite }>();
  for (const site of sites) {
    const { before, after } = site.field;
    const hunks = hunksOf(site.field);
    const key = JSON.stringify(hunks === undefined ? [before, after] : hunks.map(toKey));
    const known = classes.get(key);
    if (known === undefined) classes.set(key, { sites: [site], first: site });
    else known.sites.push(site);
  }
  // What differs by the values of a row alone is one edit of what the rows fill in.
  const merged = new Map<string, { readonly sites: FieldSite[]; readonly hunks: Alike['hunks'] }>();
  for (const [key, { sites: own, first }] of classes) {
    const hunks = hunksOf(first.field);
    const slots = hunks && slotsAt(first);
    const general = slots && putBack(hunks, slots, first.field);
    const name = general === undefined ? key : JSON.stringify(general.map(toKey));
    const known = merged.get(name);
    const proven = own.filter(({ field }) => isMade(field, general ?? hunks, slots));
    if (known === undefined) merged.set(name, { sites: [...proven], hunks: general ?? hunks });
    else known.sites.push(...proven);
  }
  return [...merged.values()].filter(({ sites: own }) => own.length >= FEWEST);
}

function toKey({ at: _, ...hunk }: Hunk): Omit<Hunk, 'at'> {
  return hunk;
}

/** Whether an edit, with the values of a row filled in, makes the new value of a field of the old one. */
function isMade(
  { before, after }: FieldChange,
  hunks: readonly Hunk[] | undefined,
  slots: Slots | undefined,
): boolean {
  if (hunks === undefined || typeof before !== 'string') return true;
  return applyHunks(before, slots === undefined ? hunks : fillIn(hunks, slots)) === after;
}

/** The hunks of a changed text; undefined for what is no text, and where too much of it differs. */
function oncePerEdit(): (field: FieldChange) => readonly Hunk[] | undefined {
  const known = new Map<string, Map<string, readonly Hunk[] | undefined>>();
  return ({ before, after, secret }) => {
    if (typeof before !== 'string' || typeof after !== 'string' || secret) return undefined;
    const of = known.get(before) ?? new Map<string, readonly Hunk[] | undefined>();
    known.set(before, of);
    if (!of.has(after)) of.set(after, findHunks(before, after));
    return of.get(after);
  };
}

/** What the rows of a table fill in in the text that the configuration has for a field. */
type Slots = {
  /** Lines with an expression in them, as they read and with the expression in the place of its value. */
  readonly lines: ReadonlyMap<string, string>;
  readonly values: ReadonlyMap<string, string>;
};

type SlotsAt = (site: Site) => Slots | undefined;

/** Stands around an expression that is in the place of its value: no text of a prompt. */
const MARK = '\0';
const MARKED = /\0([^\0]*)\0/g;

function oncePerSite(sourceOf: SourceOf): SlotsAt {
  const known = new Map<string, Slots | undefined>();
  return ({ address, path }) => {
    const key = `${path}\n${address}`;
    if (known.has(key)) return known.get(key);
    const parts = sourceOf({ address, path })?.parts?.();
    const slots = parts && readSlots(parts);
    known.set(key, slots);
    return slots;
  };
}

/** Undefined where nothing is filled in. */
function readSlots(parts: readonly TextPart[]): Slots | undefined {
  const values = new Map<string, string>();
  let [plain, general] = ['', ''];
  for (const part of parts) {
    const isPlain = typeof part === 'string' || part.value.includes('\n');
    const text = typeof part === 'string' ? part : part.value;
    plain += text;
    general += isPlain ? text : MARK + part.expression + MARK;
    if (!isPlain) values.set(part.expression, text);
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
  return { lines, values };
}

/**
 * An edit with expressions in the place of the values of its row. A value that is part of the change stays as it is:
 * rows with other values are other edits. Undefined where nothing is put back.
 */
function putBack(
  hunks: readonly Hunk[],
  slots: Slots,
  { before, after }: FieldChange,
): readonly Hunk[] | undefined {
  const lasting = findLasting(hunks, slots, [before, after]);
  const general = hunks.map((hunk): Hunk => {
    const under = hunk.under.map((line) => slots.lines.get(line) ?? line);
    const changed = hunk.lines.filter(({ sign }) => sign !== ' ');
    const values = findUnchanged(changed, slots, lasting);
    const lines = hunk.lines.map(({ sign, text }): HunkLine => {
      const line = slots.lines.get(text);
      if (sign === ' ') return { sign, text: line ?? text };
      if (values === undefined) return { sign, text };
      return { sign, text: line ?? replaceValues(text, values) };
    });
    return { ...hunk, under, lines };
  });
  const isGeneral = JSON.stringify(general).includes(JSON.stringify(MARK).slice(1, -1));
  return isGeneral ? general : undefined;
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

/** Where a value stands as a word of its own. */
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
function fillIn(hunks: readonly Hunk[], { values }: Slots): readonly Hunk[] {
  const fill = (text: string) =>
    text.replace(MARKED, (_, expression: string) => values.get(expression) ?? '');
  return hunks.map((hunk) => ({
    ...hunk,
    under: hunk.under.map(fill),
    lines: hunk.lines.map(({ sign, text }) => ({ sign, text: fill(text) })),
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
  sourceOf: SourceOf,
  slotsAt: SlotsAt,
): readonly ChangeGroup[] {
  const pools = Map.groupBy(changes, ({ kind, verdict, reason, address }) =>
    JSON.stringify([kind, rowsAddress(address), verdict, verdict === 'ok' ? null : reason]),
  );
  return [...pools.values()].flatMap((pool) => {
    const plain = numberValues(pool, () => undefined);
    const counts = countEach(plain.flatMap(({ values }) => [...values.values()]));
    // What most of them have is not asked for what its row fills in.
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
        return { path, source: commonSource(sites, sourceOf).source, ...(isOwn && { after }) };
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
      const value = typeof text === 'string' ? text : MARK + JSON.stringify(text);
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

function commonSource(sites: readonly Site[], sourceOf: SourceOf): CommonSource {
  const lines = new Set<number | undefined>();
  let file: string | undefined;
  for (const [index, site] of sites.slice(0, MOST_ASKED).entries()) {
    const found = sourceOf(site);
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
export function withTextSources(changes: readonly Change[], sourceOf: SourceOf): readonly Change[] {
  return changes.map((change) => {
    if (change.action !== 'update' && change.action !== 'replace') return change;
    const fields = change.fields.map((field) => {
      const { path, after, secret } = field;
      if (typeof after !== 'string' || secret) return field;
      const found = sourceOf({ address: change.address, path });
      return found?.file === undefined || found.line !== undefined
        ? field
        : { ...field, source: found.file };
    });
    return { ...change, fields };
  });
}
