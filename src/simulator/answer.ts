import { isObject, type Json, type JsonObject } from '../core/value.ts';
import type { Dialect } from './dialect.ts';

/** Parameters of a query as they were read, declared defaults filled in. */
export type Query = {
  readonly [name: string]: string | number | boolean | readonly string[] | undefined;
};

export type Answer = {
  readonly status: number;
  readonly body?: Json;
  /** A body that is sent as it stands, instead of `body`. */
  readonly text?: string | Buffer;
  /** Content type of `text`. */
  readonly type?: string;
  readonly headers?: { readonly [name: string]: string };
};

/** An answer that is an error; thrown by whatever finds out. */
export class Refusal extends Error {
  readonly answer: Answer;
  constructor(status: number, body: JsonObject) {
    super(`${status} ${JSON.stringify(body)}`);
    this.answer = { status, body };
  }
}

/** Codes of errors whose status is not specified, so that the dialect says it. */
export const CODES = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  409: 'conflict',
} as const;

/** An error in the coded shape (Errors). */
export function coded(status: number, error: string, description: string): Refusal {
  return new Refusal(status, { error, error_description: description });
}

/** An error in the flat shape (Errors). */
export function flat(status: number, error: string): Refusal {
  return new Refusal(status, { error });
}

/** An unknown or unreachable record. */
export function missing(what: string): Refusal {
  return coded(404, 'not_found', `${what} not found or access denied`);
}

/** One record or a list, wrapped as the platform wraps them. */
export function data(value: Json, status = 200): Answer {
  return { status, body: { data: value } };
}

/** 204. */
export const GONE: Answer = { status: 204 };

/** Answers a creation whose answer is not shown: the record, or its id alone. */
export function created(dialect: Dialect, record: JsonObject): Answer {
  const shown = dialect.createAnswer === 'record' ? record : { id: record.id ?? null };
  return data(shown, dialect.createdStatus);
}

/** Answers an update whose answer is not shown. */
export function updated({ updateAnswer }: Dialect, answer: Answer): Answer {
  return updateAnswer === 'record' ? answer : { status: 200, body: { success: true } };
}

/** Answers a deletion whose answer is not shown. */
export function deleted({ deletedStatus }: Dialect): Answer {
  return deletedStatus === 204 ? GONE : { status: 200, body: { success: true } };
}

/** The records of the page that a request asks for. */
function onPage<T>(records: readonly T[], { query }: { readonly query: Query }): readonly T[] {
  const limit = Number(query.limit);
  const start = (Number(query.page) - 1) * limit;
  return records.slice(start, start + limit);
}

/** One page of a list, with its `pagination` (Pagination object). Only the page's records are rendered. */
export function page<T>(
  { emptyListPages }: Dialect,
  records: readonly T[],
  input: { readonly query: Query },
  render: (record: T) => Json,
): Answer {
  const number = Number(input.query.page);
  const limit = Number(input.query.limit);
  const total = records.length;
  const totalPages = total === 0 ? emptyListPages : Math.ceil(total / limit);
  return {
    status: 200,
    body: {
      data: onPage(records, input).map(render),
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
  input: { readonly query: Query },
  render: (record: T) => Json,
): Answer {
  switch (dialect.listPages) {
    case 'counted':
      return page(dialect, records, input, render);
    case 'whole':
      return data(records.map(render));
    case 'bare':
      return data(onPage(records, input).map(render));
  }
}

/** Records, which come as they were created, in the order that lists have. */
export function ordered<T>(
  { listOrder }: Dialect,
  records: Iterable<T>,
  getName: (record: T) => unknown,
): readonly T[] {
  const created: readonly T[] = Array.isArray(records) ? records : [...records];
  switch (listOrder) {
    case 'created':
      return created;
    case 'newest':
      return created.toReversed();
    case 'name':
      return created.toSorted((a, b) => (String(getName(a)) < String(getName(b)) ? -1 : 1));
  }
}

/** A record as it is returned: texts that were emptied come back as the dialect has them. */
export function dress({ emptyText }: Dialect, record: JsonObject): JsonObject {
  if (emptyText === 'kept') return record;
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => {
      if (value !== '') return [[name, value] as const];
      return emptyText === 'null' ? [[name, null] as const] : [];
    }),
  );
}

/** Members that a platform may fill in where an agent has the object around them. */
const FILLED: { readonly [field: string]: JsonObject } = {
  voice_settings: { speed: 1, language: 'en' },
  config: { inactivity_timeout: 30, enable_recording: false },
};

/** An agent's record with what the platform fills in, if it does. */
export function fill({ nestedDefaults }: Dialect, record: JsonObject): JsonObject {
  if (!nestedDefaults) return record;
  const filled = Object.entries(FILLED).flatMap(([name, defaults]) => {
    const value = record[name];
    return isObject(value) ? [[name, { ...defaults, ...value }] as const] : [];
  });
  return { ...record, ...Object.fromEntries(filled) };
}
