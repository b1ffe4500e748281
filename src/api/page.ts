import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';

/** The largest page that the platform gives (Limits). */
export const PAGE_SIZE = 100;

/** One page of a list. */
export type Page = {
  readonly items: readonly JsonObject[];
  /** Undefined where the answer carries no pagination. */
  readonly total: number | undefined;
  readonly pages: number;
};

/** Reads one page of a list, counted from 1, as large as pages get. */
export type ReadPage = (page: number) => Promise<Page>;

/** How a paginated list is read page by page. */
export function pageReader(call: Call, perform: (call: Call) => Promise<Json>): ReadPage {
  return async (page) => {
    const query = { ...call.query, page: String(page), limit: String(PAGE_SIZE) };
    return pageOf(call, await perform({ ...call, query }));
  };
}

/** What the answer of a list holds. */
export function pageOf(call: Call, answer: Json): Page {
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

/** Whether two pages hold the same items. A platform that knows no pages there gives the first one again. */
export function isSamePage(one: Page, other: Page): boolean {
  return idsOf(one) === idsOf(other);
}

function idsOf({ items }: Page): string {
  return JSON.stringify(items.map(({ id }) => id ?? null));
}

function itemsOf(call: Call, answer: Json): readonly JsonObject[] {
  const data = isObject(answer) ? answer.data : undefined;
  if (!isList(data)) throw new Error(`${call.operation} is no list`);
  return data.filter((item): item is JsonObject => isObject(item));
}
