import type { Json } from '../core/value.ts';
import type { Answer } from './answer.ts';
import type { Input } from './platform.ts';

/** One page of a list, with its `pagination` (Pagination object). Only the page's records are rendered. */
export function page<T>(
  records: readonly T[],
  { query }: Input,
  render: (record: T) => Json,
): Answer {
  const number = Number(query.page);
  const limit = Number(query.limit);
  const total = records.length;
  const totalPages = Math.ceil(total / limit);
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
