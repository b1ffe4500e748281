/**
 * `api/` speaks to the platform: operations by name from `platform.openapi.yaml`, one bearer token, one
 * pool of connections, retries for passing faults, pages followed and counted, one error type.
 * No path literal stands anywhere else.
 */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallsheetError } from '../core/errors.ts';
import type { Json, JsonObject, Blob as StackFile } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import { acceptAnswer } from './accept.ts';
import { type Credentials, createTokenSource } from './auth.ts';
import { checkBaseUrl, checkUploadUrl } from './base-url.ts';
import { ApiError } from './errors.ts';
import { createLimiter } from './limiter.ts';
import { followPages } from './pages.ts';
import {
  bodyOf,
  type OpenFile,
  openUnchanged,
  operationNamed,
  pathOf,
  queryOf,
} from './request.ts';
import { type Pause, sendWithRetries } from './retry.ts';
import { createTransport, plainUrl, type WireAnswer, type WireRequest } from './transport.ts';

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
  /** Breaks reads off, lets writes in flight finish and sends nothing more: what still waits fails at once. */
  readonly close: () => Promise<void>;
};

export type ClientOptions = {
  readonly baseUrl: string | undefined;
  readonly credentials: Credentials;
  /** Requests in flight at once. */
  readonly concurrency: number;
  readonly openFile: OpenFile;
  readonly pause?: Pause;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

const realPause: Pause = {
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => {}),
  random: Math.random,
};

/** Methods that may be sent again when nobody knows whether the first try arrived. */
const REPEATABLE_METHODS = new Set(['GET', 'PUT', 'PATCH', 'DELETE']);

/** Opens a client. Sends nothing yet. Throws where the base address is unfit. */
export function createClient(options: ClientOptions): Client {
  const baseUrl = checkBaseUrl(options.baseUrl);
  const { credentials, concurrency, openFile, pause = realPause, now = Date.now } = options;
  const transport = createTransport(concurrency);
  const limiter = createLimiter(concurrency);
  const closing = new AbortController();
  const stop = closing.signal;
  let requests = 0;
  let milliseconds = 0;
  let closed: Promise<void> | undefined;

  async function sendOnce(request: WireRequest): Promise<WireAnswer> {
    const start = now();
    try {
      return await limiter.learn(() =>
        transport.send(request.method === 'GET' ? { ...request, signal: stop } : request),
      );
    } finally {
      requests += 1;
      milliseconds += now() - start;
    }
  }

  /** Sends a request, as often as it takes. It is made anew each time, since a stream can be read only once. */
  async function send(
    make: () => WireRequest | Promise<WireRequest>,
    isRepeatable: boolean,
  ): Promise<WireAnswer> {
    const pace = { pause, now, stop };
    return sendWithRetries(async () => sendOnce(await make()), isRepeatable, pace);
  }

  async function run<T>(task: () => Promise<T>): Promise<T> {
    return limiter.run(async () => {
      if (stop.aborted) throw new CallsheetError('interrupted', 'the client was closed');
      return task();
    });
  }

  const tokens = createTokenSource(baseUrl, credentials, (it) => send(() => it, true), now);

  async function call(wanted: Call): Promise<Json> {
    const operation = operationNamed(wanted.operation);
    const { method } = operation;
    const line = { method, url: `${baseUrl}${pathOf(operation, wanted)}` };
    const isRepeatable = operation.repeatable || REPEATABLE_METHODS.has(method);

    async function attempt(token: string): Promise<WireAnswer> {
      return send(async () => {
        const { body, type } = await bodyOf(wanted, openFile);
        const headers = {
          accept: 'application/json',
          authorization: `Bearer ${token}`,
          ...(type === undefined ? {} : { 'content-type': type }),
        };
        const request = { method, url: `${line.url}${queryOf(wanted)}`, headers };
        return body === undefined ? request : { ...request, body };
      }, isRepeatable);
    }

    return run(async () => {
      const token = await tokens.token();
      let answer = await attempt(token);
      if (answer.status === 401 && tokens.canMint)
        answer = await attempt(await tokens.token(token));
      return acceptAnswer(line, operation, answer, tokens.canMint);
    });
  }

  async function upload(url: string, file: StackFile): Promise<void> {
    checkUploadUrl(url);
    const headers = { 'content-type': file.mime, 'content-length': String(file.size) };
    const answer = await run(() =>
      send(async () => {
        const content = await openUnchanged(file, openFile);
        return { method: 'PUT', url, headers, body: Readable.fromWeb(content.stream()) };
      }, true),
    );
    if (answer.status >= 200 && answer.status <= 299) return;
    // What the storage says may quote the signature, so it is not kept.
    throw new ApiError({ method: 'PUT', url: plainUrl(url) }, answer.status, undefined, {
      hint: `The upload of ${file.path} was refused; plan and apply again.`,
    });
  }

  return {
    baseUrl,
    call,
    list: (wanted) => followPages(wanted, operationNamed(wanted.operation), call),
    upload,
    spent: () => ({ requests, seconds: milliseconds / 1000 }),
    close() {
      closing.abort();
      closed ??= transport.close();
      return closed;
    },
  };
}
