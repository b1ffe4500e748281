import type { Json, JsonObject } from '../core/value.ts';

/** What an operation answers. */
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
