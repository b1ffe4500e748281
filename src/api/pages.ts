import { CallsheetError } from '../core/errors.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import type { Operation } from './operation.ts';
import { NOT_THE_PLATFORM } from './transport.ts';

/** The largest page that the platform gives (Limits). */
const PAGE_SIZE = 100;

/** A fleet may change while it is listed; after this many inconsistent listings it is an error. */
const MOST_LISTINGS = 3;

type Page = {
  readonly items: readonly JsonObject[];
  /** Undefined where the answer carries no pagination. */
  readonly total: number | undefined;
  readonly pages: number;
};

/**
 * Reads every page of a list and checks that together they are the whole of it: as many items as
 * `total` says, none twice, and the same total on every page (Pagination object). A listing that does
 * not add up is read again, and then is an error, never a smaller fleet.
 */
export async function followPages(
  call: Call,
  operation: Operation,
  perform: (call: Call) => Promise<Json>,
): Promise<readonly JsonObject[]> {
  let problem: string | undefined;
  for (let listing = 1; listing <= MOST_LISTINGS; listing += 1) {
    const pages = operation.paginated
      ? await readPages(call, perform)
      : [pageOf(call, await perform(call))];
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
): Promise<readonly Page[]> {
  const read = async (page: number): Promise<Page> => {
    const query = { ...call.query, page: String(page), limit: String(PAGE_SIZE) };
    return pageOf(call, await perform({ ...call, query }));
  };
  const first = await read(1);
  if (first.total === undefined) return readWhileFull(first, read);
  const others = Array.from({ length: Math.max(0, first.pages - 1) }, (_, index) => index + 2);
  return [first, ...(await Promise.all(others.map(read)))];
}

/**
 * Without `pagination` nothing says where a list ends, so another page is asked for as long as they are
 * full. A platform that knows no pages there gives the first one again.
 */
async function readWhileFull(
  first: Page,
  read: (page: number) => Promise<Page>,
): Promise<readonly Page[]> {
  const pages = [first];
  let last = first;
  while (last.items.length === PAGE_SIZE) {
    last = await read(pages.length + 1);
    if (idsOf(last) === idsOf(first)) break;
    pages.push(last);
  }
  return pages;
}

function idsOf({ items }: Page): string {
  return JSON.stringify(items.map(({ id }) => id ?? null));
}

function pageOf(call: Call, answer: Json): Page {
  const items = itemsOf(call, answer);
  const pagination = isObject(answer) ? answer.pagination : undefined;
  if (!isObject(pagination) || typeof pagination.total !== 'number') {
    return { items, total: undefined, pages: 1 };
  }
  const { totalPages, total } = pagination;
  const pages = typeof totalPages === 'number' ? totalPages : Math.ceil(total / PAGE_SIZE);
  // More pages than items would be nonsense, and a great many requests.
  return { items, total, pages: Math.min(pages, total) };
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

function itemsOf(call: Call, answer: Json): readonly JsonObject[] {
  const data = isObject(answer) ? answer.data : undefined;
  if (isList(data)) {
    const items = data.filter((item): item is JsonObject => isObject(item));
    if (items.length === data.length) return items;
  }
  throw new CallsheetError('api', `${call.operation} answered without a \`data\` list`, {
    hint: NOT_THE_PLATFORM,
  });
}
