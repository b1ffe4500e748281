import { CallsheetError, formatNumber, formatSize } from '../core/errors.ts';
import { getOwn, inTurns, isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import { beyondLimit, type RequestLine } from './errors.ts';
import {
  MOST_ID_CHARACTERS,
  MOST_LEAN_CHARACTERS,
  MOST_LIST_BYTES,
  MOST_PAGES,
  MOST_UNCOUNTED_PAGES,
} from './limits.ts';
import type { Operation } from './operation.ts';

/** The largest page that the platform gives (Limits). */
export const PAGE_SIZE = 100;

/** A body, and how many characters it had. */
export type Answered = { readonly body: Json; readonly length: number };

/** Makes a call and gives what was answered. */
type Perform = (call: Call) => Promise<Answered>;

/** A fleet may change while it is listed; after this many listings that do not add up it is an error. */
const MOST_LISTINGS = 4;
/** The pause before the list is read again, doubled each time. */
const PAUSE_MS = 250;
/** Times that one listing goes back because something was deleted meanwhile. */
const MOST_RETURNS = 50;

/** How often as many pages as at first a list may come to have while it is read, and some on top. */
const MOST_GROWTH = 2;
const SPARE_PAGES = 10;

/** The part of a list that is kept: all of its items, or some of their fields and their id. */
type Keep = {
  readonly fields?: readonly string[] | undefined;
  /** Pages that are asked for at once. */
  readonly concurrency: number;
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/**
 * Reads every page of a list and checks that together they are the whole of it: as many items as
 * `total` says, none twice, and the same total on every page (Pagination object). It is over with the first page that
 * shows otherwise, however many pages there are said to be. Then somebody may be creating or deleting, and the list is
 * read again after a pause, page after page, in a way that misses nothing meanwhile. One that does not add up even so
 * is an error, never a smaller fleet.
 */
export async function followPages(
  call: Call,
  operation: Operation,
  perform: Perform,
  { fields, concurrency, sleep }: Keep,
): Promise<readonly JsonObject[]> {
  const read = pageReader(call, operation, perform);
  let problem = '';
  for (let listing = 1; listing <= MOST_LISTINGS; listing += 1) {
    if (listing > 1) await sleep(PAUSE_MS * 2 ** (listing - 2));
    const first = await read(1);
    const outcome =
      listing > 1 && first.total !== undefined && operation.paginated
        ? await readInOrder(operation, { ...first, total: first.total }, read, fields)
        : await readAtOnce(operation, first, read, fields, concurrency);
    if (typeof outcome !== 'string') return outcome;
    problem = outcome;
  }
  throw incomplete(operation, problem, 'creating or deleting');
}

/**
 * The items of a list in its order, each once. A page is asked for when its first item is wanted, so who
 * stops early asks for no more. A list may grow meanwhile: what moves on to the next page is not given
 * again. Throws where it shrinks, or ends before all that it had at first came, since then something was
 * passed over (Pagination object).
 */
export async function* eachItem(
  call: Call,
  operation: Operation,
  perform: Perform,
): AsyncGenerator<JsonObject, void, undefined> {
  const known = new Set<Json>();
  let given = 0;
  let first: Page | undefined;
  for await (const page of eachPage(operation, pageReader(call, operation, perform))) {
    first ??= page;
    if (first.total !== undefined && page.total !== undefined && page.total < first.total) {
      const problem = `it had ${first.total} entries at first and ${page.total} later`;
      throw incomplete(operation, problem, 'deleting');
    }
    for (const item of page.items) {
      if (typeof item.id === 'string') {
        if (known.has(item.id)) continue;
        known.add(item.id);
      }
      given += 1;
      yield item;
    }
  }
  const total = first?.total ?? 0;
  if (given < total) throw incomplete(operation, gave(given, total), 'deleting');
}

/** Reads a list that is taken not to change, many pages at once. A string is what does not add up. */
async function readAtOnce(
  operation: Operation,
  first: Page,
  read: ReadPage,
  fields: readonly string[] | undefined,
  concurrency: number,
): Promise<readonly JsonObject[] | string> {
  const found = openListing(operation, fields);
  if (found.take(first, 1) && operation.paginated)
    await readOthers(found, operation, first, read, concurrency);
  return found.end();
}

async function readOthers(
  found: Listing,
  operation: Operation,
  first: Page,
  read: ReadPage,
  concurrency: number,
): Promise<void> {
  if (first.total === undefined) return readWhileFull(found, operation, first, read);
  checkPages(operation, first.pages, first.total);
  // The first page is a full one: where so many of its size are too few, the others cannot make up for it.
  if (first.items.length * first.pages < first.total) return;
  let goesTogether = true;
  function* numbers() {
    for (let number = 2; goesTogether && number <= first.pages; number += 1) yield number;
  }
  await inTurns(numbers(), concurrency, async (number) => {
    goesTogether = found.take(await read(number), number);
  });
}

/** Without `pagination` nothing says where a list ends, so another page is asked for as long as they are full. */
async function readWhileFull(
  found: Listing,
  operation: Operation,
  first: Page,
  read: ReadPage,
): Promise<void> {
  let last = first;
  for (let number = 2; last.items.length === PAGE_SIZE; number += 1) {
    checkPages(operation, number, undefined);
    last = await read(number);
    if (isSamePage(last, first) || !found.take(last, number)) return;
  }
}

/**
 * Reads a list that changes meanwhile, from its first page to its last, and gives everything that was there from
 * beginning to end. What is created moves others to later pages, which are still to be read, so that some come twice.
 * A deletion moves others to pages that were read before: it goes back by as many. Where as much is created as
 * deleted between two answers, no total tells. A string is what does not add up.
 */
async function readInOrder(
  operation: Operation,
  first: Page & { readonly total: number },
  read: ReadPage,
  fields: readonly string[] | undefined,
): Promise<readonly JsonObject[] | string> {
  const { total: start, items: head } = first;
  checkPages(operation, first.pages, start);
  if (head.length * first.pages < start) return gave(head.length, start);
  const found = new Map<Json | undefined, JsonObject>();
  const keep = fields && leanly(fields);
  let [total, created, deleted, kept, returns] = [start, 0, 0, 0, 0];
  /** Items that came more than once, and how many may. */
  let [doubles, again] = [0, 0];
  for (let number = 1, page: Page = first; ; page = await read(number)) {
    const wrong = wrongPage(page, number);
    if (wrong !== undefined) return wrong;
    if (page.total === undefined || page.pages > first.pages + MOST_RETURNS)
      return `its pages disagree on how many there are (${start}, ${page.total ?? 'not said'})`;
    const before = (number - 1) * head.length;
    const due = Math.min(head.length, Math.max(0, page.total - before));
    if (page.items.length !== due) return gave(before + page.items.length, page.total);
    for (const item of page.items) {
      if (found.has(item.id)) doubles += 1;
      const one = keep === undefined ? item : keep(item);
      found.set(item.id, one);
      kept += measureSize(one);
    }
    checkKept(operation, kept, fields !== undefined);
    const gone = Math.max(0, total - page.total);
    created += Math.max(0, page.total - total);
    deleted += gone;
    total = page.total;
    if (gone > 0) {
      returns += 1;
      if (returns > MOST_RETURNS) return `it shrinks as fast as it is read (${start}, ${total})`;
      const back = Math.max(1, number - Math.ceil(gone / Math.max(1, head.length)));
      again += (number + 1 - back) * head.length;
      number = back;
      continue;
    }
    if (doubles > created + again) return `it returned ${doubles} of its items more than once`;
    if (number >= page.pages) {
      if (number * head.length < total) return gave(found.size, total);
      break;
    }
    number += 1;
  }
  if (found.size < start - deleted) return gave(found.size, total);
  return [...found.values()];
}

/** The part of a list that was read so far. */
type Listing = {
  /** Takes in a page, in any order. False where it does not go with those before it. */
  readonly take: (page: Page, number: number) => boolean;
  /** The items in their order, or what does not add up. */
  readonly end: () => readonly JsonObject[] | string;
};

/** Throws where more would be kept than is taken. */
function openListing(operation: Operation, fields: readonly string[] | undefined): Listing {
  const pages = new Map<number, readonly JsonObject[]>();
  const keep = fields && leanly(fields);
  const ids = new Set<Json | undefined>();
  let totals: readonly (number | undefined)[] = [];
  let [count, kept] = [0, 0];
  let problem: string | undefined;

  return {
    take(page, number) {
      const items = keep === undefined ? page.items : page.items.map(keep);
      kept += fields === undefined ? page.length : measureSize(items);
      checkKept(operation, kept, fields !== undefined);
      pages.set(number, items);
      count += items.length;
      for (const { id } of items) ids.add(id);
      if (!totals.includes(page.total)) totals = [...totals, page.total];
      if (totals.length > 1) {
        problem ??= `its pages disagree on how many there are (${totals.map((total) => total ?? 'not said').join(', ')})`;
      } else if (ids.size < count) {
        problem ??= `it returned ${count - ids.size} of its items more than once`;
      }
      problem ??= wrongPage(page, number);
      return problem === undefined;
    },
    end() {
      const [total] = totals;
      if (problem === undefined && total !== undefined && count !== total) {
        problem = gave(count, total);
      }
      if (problem !== undefined) return problem;
      return [...pages].sort(([a], [b]) => a - b).flatMap(([, items]) => items);
    },
  };
}

/** Distinct values of a field that are looked for in other items: a name is another in each, a model is not. */
const MOST_SHARED = 100;

/**
 * Items that have their id and some fields alone: the rest of a large fleet need not be held. Of texts that many have
 * alike there is one copy.
 */
function leanly(fields: readonly string[]): (item: JsonObject) => JsonObject {
  const shared = fields.map((name) => ({ name, values: new Map<Json, Json>() }));
  return (item) => {
    const lean: Record<string, Json> = {};
    if (item.id !== undefined) lean.id = item.id;
    for (const { name, values } of shared) {
      const value = getOwn(item, name);
      if (value === undefined) continue;
      const known = values.get(value);
      if (known === undefined && values.size < MOST_SHARED) values.set(value, value);
      lean[name] = known ?? value;
    }
    // A copy is smaller than what was put together member by member.
    return { ...lean };
  };
}

/** Characters of the texts in a value. */
function measureSize(value: Json): number {
  if (typeof value === 'string') return value.length;
  if (isList(value)) return value.reduce<number>((sum, item) => sum + measureSize(item), 0);
  if (!isObject(value)) return 0;
  return Object.values(value).reduce<number>((sum, item) => sum + measureSize(item), 0);
}

function checkKept(operation: Operation, kept: number, isLean: boolean): void {
  const most = isLean ? MOST_LEAN_CHARACTERS : MOST_LIST_BYTES;
  if (kept <= most) return;
  const what = isLean ? 'names and dates' : 'entries';
  throw beyondLimit(
    getRequestLine(operation),
    `a list whose ${what} take more than ${formatSize(most)}`,
    `at most ${formatSize(most)} of them`,
  );
}

async function* eachPage(
  operation: Operation,
  read: ReadPage,
): AsyncGenerator<Page, void, undefined> {
  const first = await read(1);
  let page = first;
  for (let number = 1; ; ) {
    const wrong = wrongPage(page, number);
    if (wrong !== undefined) throw incomplete(operation, wrong, 'deleting');
    yield page;
    // Without `pagination` a list ends with the first page that is not full.
    const isLast = page.total === undefined ? page.items.length < PAGE_SIZE : number >= page.pages;
    if (isLast || !operation.paginated) return;
    if (page.items.length === 0)
      throw incomplete(operation, `its page ${number} is empty`, 'deleting');
    number += 1;
    checkPages(operation, page.total === undefined ? number : page.pages, page.total);
    if (page.total !== undefined && number > first.pages * MOST_GROWTH + SPARE_PAGES) {
      const problem = `it had ${first.pages} pages at first and grows without an end`;
      throw incomplete(operation, problem, 'deleting');
    }
    page = await read(number);
    if (page.total === undefined && isSamePage(page, first)) return;
  }
}

function incomplete({ method, path }: Operation, problem: string, cause: string): CallsheetError {
  return new CallsheetError('api', `${method} ${path} did not list everything: ${problem}`, {
    hint: `Somebody may be ${cause} at this moment. Try again in a minute.`,
  });
}

function gave(count: number, total: number): string {
  return `it reports ${total} entries and returned ${count}`;
}

/** One page of a list. */
type Page = {
  readonly items: readonly JsonObject[];
  /** Undefined where the answer carries no pagination. */
  readonly total: number | undefined;
  readonly pages: number;
  /** The number that it says it has. */
  readonly number: number | undefined;
  /** Characters of the answer. */
  readonly length: number;
};

/** Reads one page of a list, counted from 1, as large as pages get; a list without pages has one. */
type ReadPage = (page: number) => Promise<Page>;

function pageReader(call: Call, operation: Operation, perform: Perform): ReadPage {
  return async (page) => {
    const query = { ...call.query, page: String(page), limit: String(PAGE_SIZE) };
    const answered = await perform(operation.paginated ? { ...call, query } : call);
    return toPage(call, operation, answered);
  };
}

/** Reads the answer of a list. Throws if it counts its entries by something that is no count. */
function toPage(call: Call, operation: Operation, { body, length }: Answered): Page {
  const items = listItems(call, operation, body);
  const pagination = isObject(body) ? body.pagination : undefined;
  const { total, totalPages, page } = isObject(pagination) ? pagination : {};
  const number = typeof page === 'number' ? page : undefined;
  const isCounted = operation.requires.includes('pagination');
  if (!isCount(total)) {
    if (!isCounted && typeof total !== 'number') {
      return { items, total: undefined, pages: 1, number, length };
    }
    const given = total === undefined ? 'no `total`' : `a \`total\` of ${JSON.stringify(total)}`;
    throw beyondLimit(
      getRequestLine(operation),
      `${given} in its pagination`,
      'a whole number there',
    );
  }
  const said = isCount(totalPages) ? totalPages : Math.ceil(total / PAGE_SIZE);
  // A page that is not the last one is full, so that many it takes; more would be requests for nothing.
  const needed = Math.ceil(total / Math.max(1, items.length));
  return { items, total, pages: Math.min(said, needed), number, length };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Returns true if two pages hold the same items. A platform that knows no pages there gives the first one again. */
function isSamePage(one: Page, other: Page): boolean {
  return joinIds(one) === joinIds(other);
}

function joinIds({ items }: Page): string {
  return JSON.stringify(items.map(({ id }) => id ?? null));
}

function listItems(call: Call, operation: Operation, answer: Json): readonly JsonObject[] {
  const data = isObject(answer) ? answer.data : undefined;
  if (!isList(data)) throw new Error(`${call.operation} is not a list`);
  const items = data.filter((item): item is JsonObject => isObject(item));
  const long = items.find(({ id }) => typeof id === 'string' && id.length > MOST_ID_CHARACTERS);
  if (long === undefined) return items;
  const most = `${formatNumber(MOST_ID_CHARACTERS)} characters`;
  throw beyondLimit(
    getRequestLine(operation),
    `an id of more than ${most}`,
    `ids of at most ${most}`,
  );
}

/** An operation as messages name it. */
function getRequestLine({ method, path }: Operation): RequestLine {
  return { method, url: path };
}

/** A page that is another one than was asked for, in words. */
function wrongPage({ number }: Page, asked: number): string | undefined {
  if (number === undefined || number === asked) return undefined;
  return `page ${asked} was requested, and it returned page ${number}`;
}

/** Throws where a list has more pages than are read. */
function checkPages(operation: Operation, pages: number, total: number | undefined): void {
  const most = total === undefined ? MOST_UNCOUNTED_PAGES : MOST_PAGES;
  if (pages <= most) return;
  const what =
    total === undefined
      ? `more than ${formatNumber(most)} full pages of one list`
      : `a list of ${formatNumber(total)} entries on ${formatNumber(pages)} pages`;
  throw beyondLimit(
    getRequestLine(operation),
    what,
    `at most ${formatNumber(most)} pages of one list`,
  );
}
