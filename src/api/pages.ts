import { CallsheetError } from '../core/errors.ts';
import { ownOf } from '../core/own.ts';
import type { Json, JsonObject } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import type { Operation } from './operation.ts';
import { isSamePage, PAGE_SIZE, type Page, pageOf, pageReader, type ReadPage } from './page.ts';

/** A fleet may change while it is listed; after this many inconsistent listings it is an error. */
const MOST_LISTINGS = 3;

/**
 * Reads every page of a list and checks that together they are the whole of it: as many items as
 * `total` says, none twice, and the same total on every page (Pagination object). A listing that does
 * not add up is read again, and then is an error, never a smaller fleet. With `fields`, items keep these and
 * their id alone.
 */
export async function followPages(
  call: Call,
  operation: Operation,
  perform: (call: Call) => Promise<Json>,
  fields?: readonly string[],
): Promise<readonly JsonObject[]> {
  let problem: string | undefined;
  for (let listing = 1; listing <= MOST_LISTINGS; listing += 1) {
    const pages = operation.paginated
      ? await readPages(call, perform, fields)
      : [leanPage(pageOf(call, await perform(call)), fields)];
    const items = pages.flatMap((page) => page.items);
    problem = problemOf(pages, items);
    if (problem === undefined) return items;
  }
  throw new CallsheetError(
    'api',
    `${operation.method} ${operation.path} did not list everything: ${problem}`,
    { hint: 'Somebody may be creating or deleting at this moment. Try again in a minute.' },
  );
}

async function readPages(
  call: Call,
  perform: (call: Call) => Promise<Json>,
  fields: readonly string[] | undefined,
): Promise<readonly Page[]> {
  const readWhole = pageReader(call, perform);
  const read: ReadPage = async (page) => leanPage(await readWhole(page), fields);
  const first = await read(1);
  if (first.total === undefined) return readWhileFull(first, read);
  const others = Array.from({ length: Math.max(0, first.pages - 1) }, (_, index) => index + 2);
  return [first, ...(await Promise.all(others.map(read)))];
}

/** A page whose items have their id and some fields alone: the rest of a large fleet need not be held. */
function leanPage(page: Page, fields: readonly string[] | undefined): Page {
  if (fields === undefined) return page;
  const names = ['id', ...fields];
  const items = page.items.map((item) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = ownOf(item, name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  );
  return { ...page, items };
}

/** Without `pagination` nothing says where a list ends, so another page is asked for as long as they are full. */
async function readWhileFull(first: Page, read: ReadPage): Promise<readonly Page[]> {
  const pages = [first];
  let last = first;
  while (last.items.length === PAGE_SIZE) {
    last = await read(pages.length + 1);
    if (isSamePage(last, first)) break;
    pages.push(last);
  }
  return pages;
}

function problemOf(pages: readonly Page[], items: readonly JsonObject[]): string | undefined {
  const totals = [...new Set(pages.map(({ total }) => total))];
  const [total] = totals;
  if (totals.length > 1) return `its pages disagree on how many there are (${totals.join(', ')})`;
  if (total !== undefined && items.length !== total) {
    return `it says that there are ${total} and gave ${items.length}`;
  }
  const distinct = new Set(items.map(({ id }) => id)).size;
  return distinct === items.length
    ? undefined
    : `${items.length - distinct} of its items came more than once`;
}
