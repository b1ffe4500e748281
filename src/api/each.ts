import { CallsheetError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import type { Operation } from './operation.ts';
import {
  checkPages,
  isSamePage,
  PAGE_SIZE,
  type Page,
  type Perform,
  pageOf,
  pageReader,
  strangerOf,
} from './page.ts';

/** How often as many pages as at first a list may come to have while it is read, and some on top. */
const MOST_GROWTH = 2;
const SPARE_PAGES = 10;

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
  for await (const page of eachPage(call, operation, perform)) {
    first ??= page;
    checkTotal(operation, first, page);
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
  if (given < total) {
    throw incomplete(operation, `it says that there are ${total} and gave ${given}`);
  }
}

async function* eachPage(
  call: Call,
  operation: Operation,
  perform: Perform,
): AsyncGenerator<Page, void, undefined> {
  if (!operation.paginated) {
    yield pageOf(call, operation, await perform(call));
    return;
  }
  const read = pageReader(call, operation, perform);
  const first = await read(1);
  let page = first;
  for (let number = 1; ; ) {
    const stranger = strangerOf(page, number);
    if (stranger !== undefined) throw incomplete(operation, stranger);
    yield page;
    if (isLast(page, number)) return;
    if (page.items.length === 0) throw incomplete(operation, `its page ${number} is empty`);
    number += 1;
    checkPages(operation, page.total === undefined ? number : page.pages, page.total);
    if (page.total !== undefined && number > first.pages * MOST_GROWTH + SPARE_PAGES) {
      throw incomplete(operation, `it had ${first.pages} pages at first and grows without an end`);
    }
    page = await read(number);
    if (page.total === undefined && isSamePage(page, first)) return;
  }
}

/** Without `pagination` a list ends with the first page that is not full. */
function isLast({ items, total, pages }: Page, number: number): boolean {
  return total === undefined ? items.length < PAGE_SIZE : number >= pages;
}

function checkTotal(operation: Operation, { total: first }: Page, { total: now }: Page): void {
  if (first === undefined || now === undefined || now >= first) return;
  throw incomplete(operation, `it had ${first} entries at first and ${now} later`);
}

function incomplete({ method, path }: Operation, problem: string): CallsheetError {
  return new CallsheetError('api', `${method} ${path} did not list everything: ${problem}`, {
    hint: 'Somebody may be deleting at this moment. Try again in a minute.',
  });
}
