import { CallsheetError } from '../core/errors.ts';
import { ownOf } from '../core/own.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import { beyondLimit, MOST_LEAN_CHARACTERS, MOST_LIST_BYTES, megabytes } from './bounds.ts';
import type { Operation } from './operation.ts';
import {
  checkPages,
  isSamePage,
  lineOf,
  PAGE_SIZE,
  type Page,
  type Perform,
  pageOf,
  pageReader,
  type ReadPage,
  strangerOf,
} from './page.ts';

/** A fleet may change while it is listed; after this many listings that do not add up it is an error. */
const MOST_LISTINGS = 4;
/** What is waited before the list is read again, doubled each time. */
const PAUSE_MS = 250;
/** Times that one listing goes back because something was deleted meanwhile. */
const MOST_RETURNS = 50;

/** What is kept of a list: all of its items, or some of their fields and their id. */
export type Keep = {
  readonly fields?: readonly string[] | undefined;
  /** Pages that are asked for at once. */
  readonly width: number;
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
  { fields, width, sleep }: Keep,
): Promise<readonly JsonObject[]> {
  const read = pageReader(call, operation, perform);
  let problem = '';
  for (let listing = 1; listing <= MOST_LISTINGS; listing += 1) {
    if (listing > 1) await sleep(PAUSE_MS * 2 ** (listing - 2));
    const outcome =
      listing > 1 && operation.paginated
        ? await readInOrder(operation, read, fields)
        : await readAtOnce();
    if (typeof outcome !== 'string') return outcome;
    problem = outcome;
  }
  throw new CallsheetError(
    'api',
    `${operation.method} ${operation.path} did not list everything: ${problem}`,
    { hint: 'Somebody may be creating or deleting at this moment. Try again in a minute.' },
  );

  async function readAtOnce(): Promise<readonly JsonObject[] | string> {
    const found = openListing(operation, fields);
    if (operation.paginated) await readPages(found, operation, read, width);
    else found.take(pageOf(call, operation, await perform(call)), 1);
    return found.end();
  }
}

/**
 * Reads a list that changes meanwhile, from its first page to its last, and gives everything that was there from
 * beginning to end. What is created moves others to later pages, which are still to be read, so that some come twice.
 * What is deleted moves others to pages that were read before: it goes back by as many. Where as much is created as
 * deleted between two answers, no total tells. A string is what does not add up.
 */
async function readInOrder(
  operation: Operation,
  read: ReadPage,
  fields: readonly string[] | undefined,
): Promise<readonly JsonObject[] | string> {
  const first = await read(1);
  const { total: start, items: head } = first;
  if (start === undefined) {
    const found = openListing(operation, fields);
    if (found.take(first, 1)) await readWhileFull(found, operation, first, read);
    return found.end();
  }
  checkPages(operation, first.pages, start);
  const gave = (count: number, total: number) =>
    `it says that there are ${total} and gave ${count}`;
  if (head.length * first.pages < start) return gave(head.length, start);
  const found = new Map<Json | undefined, JsonObject>();
  let [total, created, deleted, kept, returns] = [start, 0, 0, 0, 0];
  /** Items that came more than once, and how many may. */
  let [doubles, again] = [0, 0];
  for (let number = 1, page = first; ; page = await read(number)) {
    const strange = strangerOf(page, number);
    if (strange !== undefined) return strange;
    if (page.total === undefined || page.pages > first.pages + MOST_RETURNS)
      return `its pages disagree on how many there are (${start}, ${page.total ?? 'not said'})`;
    const before = (number - 1) * head.length;
    const due = Math.min(head.length, Math.max(0, page.total - before));
    if (page.items.length !== due) return gave(before + page.items.length, page.total);
    for (const item of page.items) {
      if (found.has(item.id)) doubles += 1;
      const one = fields === undefined ? item : lean(item, fields);
      found.set(item.id, one);
      kept += sizeOf(one);
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
    if (doubles > created + again) return `${doubles} of its items came more than once`;
    if (number >= page.pages) {
      if (number * head.length < total) return gave(found.size, total);
      break;
    }
    number += 1;
  }
  if (found.size < start - deleted) return gave(found.size, total);
  return [...found.values()];
}

/** What was read of a list so far. */
type Listing = {
  /** Takes in a page, in any order. False where it does not go with those before it. */
  readonly take: (page: Page, number: number) => boolean;
  /** The items in their order, or what does not add up. */
  readonly end: () => readonly JsonObject[] | string;
};

/** Throws where more would be kept than is taken. */
function openListing(operation: Operation, fields: readonly string[] | undefined): Listing {
  const pages = new Map<number, readonly JsonObject[]>();
  const ids = new Set<Json | undefined>();
  let totals: readonly (number | undefined)[] = [];
  let [count, kept] = [0, 0];
  let problem: string | undefined;

  return {
    take(page, number) {
      const items =
        fields === undefined ? page.items : page.items.map((item) => lean(item, fields));
      kept += fields === undefined ? page.length : sizeOf(items);
      checkKept(operation, kept, fields !== undefined);
      pages.set(number, items);
      count += items.length;
      for (const { id } of items) ids.add(id);
      if (!totals.includes(page.total)) totals = [...totals, page.total];
      if (totals.length > 1) {
        problem ??= `its pages disagree on how many there are (${totals.map((total) => total ?? 'not said').join(', ')})`;
      } else if (ids.size < count) {
        problem ??= `${count - ids.size} of its items came more than once`;
      }
      problem ??= strangerOf(page, number);
      return problem === undefined;
    },
    end() {
      const [total] = totals;
      if (problem === undefined && total !== undefined && count !== total) {
        problem = `it says that there are ${total} and gave ${count}`;
      }
      if (problem !== undefined) return problem;
      return [...pages].sort(([a], [b]) => a - b).flatMap(([, items]) => items);
    },
  };
}

async function readPages(
  found: Listing,
  operation: Operation,
  read: ReadPage,
  width: number,
): Promise<void> {
  const first = await read(1);
  if (!found.take(first, 1)) return;
  if (first.total === undefined) return readWhileFull(found, operation, first, read);
  checkPages(operation, first.pages, first.total);
  // The first page is a full one: where so many of its size are too few, the others cannot make up for it.
  if (first.items.length * first.pages < first.total) return;
  let next = 2;
  let isOver = false;
  const readOn = async () => {
    while (!isOver && next <= first.pages) {
      const number = next;
      next += 1;
      try {
        if (!found.take(await read(number), number)) isOver = true;
      } catch (error) {
        isOver = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, first.pages - 1) }, readOn));
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

/** An item that has its id and some fields alone: the rest of a large fleet need not be held. */
function lean(item: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    ['id', ...fields].flatMap((name) => {
      const value = ownOf(item, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Characters of the texts in a value. */
function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length;
  if (isList(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item), 0);
  if (!isObject(value)) return 0;
  return Object.values(value).reduce<number>((sum, item) => sum + sizeOf(item), 0);
}

function checkKept(operation: Operation, kept: number, isLean: boolean): void {
  const most = isLean ? MOST_LEAN_CHARACTERS : MOST_LIST_BYTES;
  if (kept <= most) return;
  const what = isLean ? 'names and dates' : 'entries';
  throw beyondLimit(
    lineOf(operation),
    `a list whose ${what} take more than ${megabytes(most)}`,
    `at most ${megabytes(most)} of them`,
  );
}
