import { CallsheetError } from '../core/errors.ts';
import { isList, isObject, type Json } from '../core/value.ts';
import { grouped, MOST_ISSUES, MOST_LEVELS, MOST_SAID_CHARACTERS } from './bounds.ts';
import type { RequestLine } from './line.ts';

/** One complaint of a validation error, whichever of the body shapes it came in. */
export type ApiIssue = { readonly path: string; readonly message: string };

/**
 * A refusal by the platform. The message is status, method and URL; what the body said stands in
 * fields, whichever of the three shapes it had (Errors).
 */
export class ApiError extends CallsheetError {
  readonly status: number;
  readonly method: string;
  readonly url: string;
  /** `error` of the body: a code such as `not_found`, or a text. */
  readonly error: string | undefined;
  /** `error_description` or the like. */
  readonly description: string | undefined;
  readonly issues: readonly ApiIssue[];
  readonly requestId: string | undefined;
  /** The parsed body, where it was JSON. */
  readonly body: Json | undefined;

  constructor(
    line: RequestLine,
    status: number,
    body: Json | undefined,
    options: { readonly requestId?: string | undefined; readonly hint?: string | undefined } = {},
  ) {
    const { hint } = options;
    super('api', `${status} ${line.method} ${line.url}`, hint === undefined ? {} : { hint });
    this.name = 'ApiError';
    this.status = status;
    this.method = line.method;
    this.url = line.url;
    this.error = clipped(textMember(body, 'error'));
    this.description = clipped(
      textMember(body, 'error_description') ?? textMember(body, 'message'),
    );
    this.issues = issuesOf(body);
    this.requestId = options.requestId;
    this.body = body;
  }
}

/**
 * Whether the platform itself says that there is no such thing. A 404 without its body may come from
 * whatever stands before it, and proves nothing.
 */
export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404 && error.error !== undefined;
}

/** What the platform said, in one sentence for people, without a full stop. */
export function describeApiError(error: ApiError): string {
  const said = [...new Set([error.error, error.description])].filter((text) => text !== undefined);
  const issues = error.issues
    .map(({ path, message }) => (path ? `${path}: ${message}` : message))
    // A description that repeats its issues has said them.
    .filter((issue) => !said.some((text) => text.includes(issue)));
  const details = [...said, ...issues, ...existingSource(error.body)]
    .map((text) => text.trim().replace(/\.$/, ''))
    .join('; ');
  const where = `${error.method} ${error.url} answered ${error.status}`;
  const id = error.requestId === undefined ? '' : ` (request ${error.requestId})`;
  return details === '' ? `${where}${id}` : `${where}: ${details}${id}`;
}

/** The source that a 409 `duplicate_source` says is there already (Knowledge base sources). */
function existingSource(body: Json | undefined): readonly string[] {
  const details = isObject(body) ? body.details : undefined;
  const source = isObject(details) ? details.existingSource : undefined;
  const id = clipped(textMember(source, 'id'));
  if (id === undefined) return [];
  const name = clipped(textMember(source, 'name'));
  const status = clipped(textMember(source, 'status'));
  return [
    `it is there${name === undefined ? '' : ` as ${JSON.stringify(name)}`}, id ${id}${status === undefined ? '' : `, ${status}`}`,
  ];
}

/** A text that is a member of a body; undefined where it has none. */
export function textMember(body: Json | undefined, name: string): string | undefined {
  const value = isObject(body) ? body[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** `details` or `issues`, whose paths are a text or a list of keys (Errors, validation shapes). */
function issuesOf(body: Json | undefined): readonly ApiIssue[] {
  if (!isObject(body)) return [];
  const list = isList(body.issues) ? body.issues : body.details;
  if (!isList(list)) return [];
  return list.slice(0, MOST_ISSUES).flatMap((item: Json) => {
    if (!isObject(item)) return [];
    const path = isList(item.path) ? item.path.slice(0, MOST_LEVELS).join('.') : item.path;
    return [
      {
        path: clipped(String(path ?? '')),
        message: clipped(String(item.message ?? 'is not valid')),
      },
    ];
  });
}

/** As much of a text as people read. */
function clipped<T extends string | undefined>(text: T): T | string {
  if (text === undefined || text.length <= MOST_SAID_CHARACTERS) return text;
  return `${text.slice(0, MOST_SAID_CHARACTERS)}… (${grouped(text.length)} characters)`;
}
