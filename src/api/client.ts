/**
 * `api/` speaks to the platform: operations by name from `platform.openapi.yaml`, one bearer token, one
 * pool of connections, retries for passing faults, pages followed and counted, one error type.
 * No path literal stands anywhere else.
 */
import pLimit from 'p-limit';
import { FormData } from 'undici';
import { CallsheetError } from '../core/errors.ts';
import { isObject, type Json, type JsonObject, type Blob as StackFile } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import { type Credentials, createTokenSource } from './auth.ts';
import { checkBaseUrl } from './base-url.ts';
import { ApiError } from './errors.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.generated.ts';
import { followPages } from './pages.ts';
import { type Pause, sendWithRetries } from './retry.ts';
import { createTransport, parseAnswer, type WireAnswer, withoutQuery } from './transport.ts';

export type Client = {
  readonly baseUrl: string;
  /** Performs one call and returns the parsed body. Throws `ApiError` for a refusal. */
  readonly call: (call: Call) => Promise<Json>;
  /** Performs a list call, all pages of it, and returns the items. */
  readonly list: (call: Call) => Promise<readonly JsonObject[]>;
  /** PUTs a file's bytes to a presigned address: its content type, no bearer token (Knowledge base sources). */
  readonly upload: (url: string, file: StackFile) => Promise<void>;
  /** Requests sent so far and the time they took together, in seconds. */
  readonly spent: () => { readonly requests: number; readonly seconds: number };
  readonly close: () => Promise<void>;
};

export type ClientOptions = {
  readonly baseUrl: string | undefined;
  readonly credentials: Credentials;
  /** Requests in flight at once. */
  readonly concurrency: number;
  /** Opens a file of the stack. */
  readonly openFile: (file: StackFile) => Promise<Blob>;
  readonly pause?: Pause;
  /** Milliseconds, rising. */
  readonly now?: () => number;
};

const realPause: Pause = {
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random: Math.random,
};

/** Methods that may be sent again when nobody knows whether the first try arrived. */
const REPEATABLE_METHODS = new Set(['GET', 'PUT', 'PATCH', 'DELETE']);

/** Opens a client. Sends nothing yet. Throws where the base address is unfit. */
export function createClient(options: ClientOptions): Client {
  const baseUrl = checkBaseUrl(options.baseUrl);
  const { credentials, concurrency, openFile, pause = realPause, now = Date.now } = options;
  const transport = createTransport(concurrency);
  const tokens = createTokenSource(baseUrl, credentials, transport, now);
  const limit = pLimit(concurrency);
  let requests = 0;
  let milliseconds = 0;

  async function measured(send: () => Promise<WireAnswer>): Promise<WireAnswer> {
    const start = now();
    try {
      return await send();
    } finally {
      requests += 1;
      milliseconds += now() - start;
    }
  }

  async function call(wanted: Call): Promise<Json> {
    const operation = operationNamed(wanted.operation);
    const line = { method: operation.method, url: `${baseUrl}${pathOf(operation, wanted)}` };
    const url = `${line.url}${queryOf(wanted)}`;
    const isRepeatable = operation.repeatable || REPEATABLE_METHODS.has(operation.method);

    const attempt = async (token: string) =>
      sendWithRetries(
        async () => {
          const { body, type } = await bodyOf(wanted, openFile);
          const headers: Record<string, string> = {
            accept: 'application/json',
            authorization: `Bearer ${token}`,
            ...(type === undefined ? {} : { 'content-type': type }),
          };
          const request = { method: line.method, url, headers };
          return measured(() =>
            transport.send(body === undefined ? request : { ...request, body }),
          );
        },
        isRepeatable,
        pause,
      );

    return limit(async () => {
      const token = await tokens.token();
      let answer = await attempt(token);
      if (answer.status === 401 && tokens.canMint)
        answer = await attempt(await tokens.token(token));
      return accept(line, answer, tokens.canMint);
    });
  }

  async function upload(url: string, file: StackFile): Promise<void> {
    checkBaseUrl(withoutQuery(url));
    const line = { method: 'PUT', url: withoutQuery(url) };
    const content = await openFile(file);
    const answer = await limit(() =>
      sendWithRetries(
        () =>
          measured(async () =>
            transport.send({
              method: 'PUT',
              url,
              headers: { 'content-type': file.mime, 'content-length': String(file.size) },
              body: await streamOf(content),
            }),
          ),
        true,
        pause,
      ),
    );
    if (answer.status < 200 || answer.status > 299) {
      throw new ApiError(line, answer.status, undefined, {
        hint: `The upload of ${file.path} was refused; plan and apply again.`,
      });
    }
  }

  return {
    baseUrl,
    call,
    list: (wanted) => followPages(wanted, operationNamed(wanted.operation), call),
    upload,
    spent: () => ({ requests, seconds: milliseconds / 1000 }),
    close: transport.close,
  };
}

function operationNamed(name: string): Operation {
  const operation: Operation | undefined = operationsByName[name];
  if (operation === undefined) throw new Error(`unknown operation: ${name}`);
  return operation;
}

const operationsByName: Readonly<Record<string, Operation>> = operations;

function pathOf(operation: Operation, { path = {} }: Call): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    if (value === undefined || value === '') throw new Error(`${operation.path} needs ${name}`);
    return encodeURIComponent(value);
  });
}

function queryOf({ query = {} }: Call): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}

async function bodyOf(wanted: Call, openFile: ClientOptions['openFile']) {
  if (wanted.form === undefined) {
    return wanted.body === undefined
      ? { body: undefined, type: undefined }
      : { body: JSON.stringify(wanted.body), type: 'application/json' };
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(wanted.form.fields)) form.set(name, value);
  for (const [name, file] of Object.entries(wanted.form.files)) {
    form.set(name, await openFile(file), file.path.split('/').at(-1));
  }
  return { body: form, type: undefined };
}

async function streamOf(content: Blob) {
  const { Readable } = await import('node:stream');
  return Readable.fromWeb(content.stream());
}

/** The body of a good answer; an error for every other. */
function accept(
  line: { readonly method: string; readonly url: string },
  answer: WireAnswer,
  canMint: boolean,
): Json {
  if (answer.status >= 300 && answer.status < 400) {
    throw new CallsheetError(
      'api',
      `${line.method} ${line.url} answered ${answer.status}, a redirect to ${withoutQuery(answer.location ?? 'nowhere')}`,
      { hint: 'Credentials are not sent on. Set base_url to the address that it redirects to.' },
    );
  }
  if (answer.status < 400) return parseAnswer(line, answer);
  let body: Json | undefined;
  try {
    body = parseAnswer(line, answer);
  } catch {
    body = undefined;
  }
  throw new ApiError(line, answer.status, body, {
    requestId: answer.requestId,
    hint: hintFor(answer.status, body, canMint),
  });
}

/** What to do about a refusal, where there is something to do (Errors, Authentication). */
function hintFor(status: number, body: Json | undefined, canMint: boolean): string | undefined {
  const code = isObject(body) ? body.error : undefined;
  switch (status) {
    case 401:
      return canMint
        ? 'A token minted just now was refused, so the key is gone or its secret was rotated: check CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET.'
        : 'CALLSHEET_ACCESS_TOKEN has expired (tokens live 24 hours) or its key was rotated: set a fresh one.';
    case 403:
      return code === 'insufficient_scope'
        ? 'The key is limited to one reseller or organization; this needs a key for the whole account.'
        : 'A feature may be locked for the organization, or the key has no access to it.';
    case 429:
      return 'The platform limits the rate of requests: try again later or with a lower --concurrency.';
    case 503:
      return 'The platform is briefly unavailable; nothing was saved. Try again.';
    default:
      return undefined;
  }
}
