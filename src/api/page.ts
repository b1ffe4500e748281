import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import {
  beyondLimit,
  grouped,
  MOST_ID_CHARACTERS,
  MOST_PAGES,
  MOST_UNCOUNTED_PAGES,
} from './bounds.ts';
import type { RequestLine } from './line.ts';
import type { Operation } from './operation.ts';

/** The largest page that the platform gives (Limits). */
export const PAGE_SIZE = 100;

/** One page of a list. */
export type Page = {
  readonly items: readonly JsonObject[];
  /** Undefined where the answer carries no pagination. */
  readonly total: number | undefined;
  readonly pages: number;
  /** The number that it says it has. */
  readonly number: number | undefined;
  /** Characters of the answer. */
  readonly length: number;
};

/** A body, and how many characters it had. */
export type Answered = { readonly body: Json; readonly length: number };

/** Makes a call and gives what was answered. */
export type Perform = (call: Call) => Promise<Answered>;

/** Reads one page of a list, counted from 1, as large as pages get. */
export type ReadPage = (page: number) => Promise<Page>;

/** How a paginated list is read page by page. */
export function pageReader(call: Call, operation: Operation, perform: Perform): ReadPage {
  return async (page) => {
    const query = { ...call.query, page: String(page), limit: String(PAGE_SIZE) };
    return pageOf(call, operation, await perform({ ...call, query }));
  };
}

/** What the answer of a list holds. Throws where it counts its entries by something that is no count. */
export function pageOf(call: Call, operation: Operation, { body, length }: Answered): Page {
  const items = itemsOf(call, operation, body);
  const pagination = isObject(body) ? body.pagination : undefined;
  const { total, totalPages, page } = isObject(pagination) ? pagination : {};
  const number = typeof page === 'number' ? page : undefined;
  const isCounted = operation.requires.includes('pagination');
  if (!isCount(total)) {
    if (!isCounted && typeof total !== 'number') {
      return { items, total: undefined, pages: 1, number, length };
    }
    const given = total === undefined ? 'no `total`' : `a \`total\` of ${JSON.stringify(total)}`;
    throw beyondLimit(lineOf(operation), `${given} in its pagination`, 'a whole number there');
  }
  const said = isCount(totalPages) ? totalPages : Math.ceil(total / PAGE_SIZE);
  // A page that is not the last one is full, so that many it takes; more would be requests for nothing.
  const needed = Math.ceil(total / Math.max(1, items.length));
  return { items, total, pages: Math.min(said, needed), number, length };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Whether two pages hold the same items. A platform that knows no pages there gives the first one again. */
export function isSamePage(one: Page, other: Page): boolean {
  return idsOf(one) === idsOf(other);
}

function idsOf({ items }: Page): string {
  return JSON.stringify(items.map(({ id }) => id ?? null));
}

function itemsOf(call: Call, operation: Operation, answer: Json): readonly JsonObject[] {
  const data = isObject(answer) ? answer.data : undefined;
  if (!isList(data)) throw new Error(`${call.operation} is no list`);
  const items = data.filter((item): item is JsonObject => isObject(item));
  const long = items.find(({ id }) => typeof id === 'string' && id.length > MOST_ID_CHARACTERS);
  if (long === undefined) return items;
  const most = `${grouped(MOST_ID_CHARACTERS)} characters`;
  throw beyondLimit(lineOf(operation), `an id of more than ${most}`, `ids of at most ${most}`);
}

/** An operation as messages name it. */
export function lineOf({ method, path }: Operation): RequestLine {
  return { method, url: path };
}

/** A page that is another one than was asked for, in words. */
export function strangerOf({ number }: Page, asked: number): string | undefined {
  if (number === undefined || number === asked) return undefined;
  return `page ${asked} was asked for and it gave page ${number}`;
}

/** Throws where a list has more pages than are read. */
export function checkPages(operation: Operation, pages: number, total: number | undefined): void {
  const most = total === undefined ? MOST_UNCOUNTED_PAGES : MOST_PAGES;
  if (pages <= most) return;
  const what =
    total === undefined
      ? `more than ${grouped(most)} full pages of one list`
      : `a list of ${grouped(total)} entries on ${grouped(pages)} pages`;
  throw beyondLimit(lineOf(operation), what, `at most ${grouped(most)} pages of one list`);
}
