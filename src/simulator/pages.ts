import type { Json } from '../core/value.ts';
import type { Answer } from './answer.ts';
import type { Dialect } from './dialect.ts';
import type { Input } from './platform.ts';

/** One page of a list, with its `pagination` (Pagination object). Only the page's records are rendered. */
export function page<T>(
  { emptyListPages }: Dialect,
  records: readonly T[],
  { query }: Input,
  render: (record: T) => Json,
): Answer {
  const number = Number(query.page);
  const limit = Number(query.limit);
  const total = records.length;
  const totalPages = total === 0 ? emptyListPages : Math.ceil(total / limit);
  const start = (number - 1) * limit;
  return {
    status: 200,
    body: {
      data: records.slice(start, start + limit).map(render),
      pagination: {
        page: number,
        limit,
        total,
        totalPages,
        hasNext: number < totalPages,
        hasPrev: number > 1 && total > 0,
      },
    },
  };
}

/** A list whose answer is not shown: a page, a page that says nothing of the others, or everything. */
export function assumedPage<T>(
  dialect: Dialect,
  records: readonly T[],
  input: Input,
  render: (record: T) => Json,
): Answer {
  switch (dialect.listPages) {
    case 'counted':
      return page(dialect, records, input, render);
    case 'whole':
      return { status: 200, body: { data: records.map(render) } };
    case 'bare': {
      const [number, limit] = [Number(input.query.page), Number(input.query.limit)];
      const start = (number - 1) * limit;
      return { status: 200, body: { data: records.slice(start, start + limit).map(render) } };
    }
  }
}

/** Records, which come as they were created, in the order that lists have. */
export function ordered<T>(
  { listOrder }: Dialect,
  records: Iterable<T>,
  nameOf: (record: T) => unknown,
): readonly T[] {
  const created: readonly T[] = Array.isArray(records) ? records : [...records];
  switch (listOrder) {
    case 'created':
      return created;
    case 'newest':
      return created.toReversed();
    case 'name':
      return created.toSorted((a, b) => (String(nameOf(a)) < String(nameOf(b)) ? -1 : 1));
  }
}
