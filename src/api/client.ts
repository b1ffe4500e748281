/**
 * `api/` speaks to the platform: operations by name from `platform.openapi.yaml`, one bearer token, one
 * pool of connections, retries for passing faults, pages followed and counted, one error type.
 * No path literal stands anywhere else.
 */
import { CallsheetError } from '../core/errors.ts';
import type { Origin } from '../core/origin.ts';
import type { Json, JsonObject, Blob as StackFile } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import { acceptAnswer, checkIds } from './accept.ts';
import { type Credentials, createTokenSource } from './auth.ts';
import { authorize } from './authorize.ts';
import { checkBaseUrl, checkUploadUrl } from './base-url.ts';
import { eachItem } from './each.ts';
import { DEFAULT_ENDPOINTS, type Endpoints, usableEndpoint } from './endpoints.ts';
import { ApiError } from './errors.ts';
import { type OpenFile, openUnchanged, readUnchanged } from './files.ts';
import { hideSecrets } from './hide.ts';
import { type Lane, openTransport } from './lane.ts';
import { createLimiter } from './limiter.ts';
import { plainUrl } from './line.ts';
import type { Answered } from './page.ts';
import { followPages } from './pages.ts';
import { contentOf, pathOf, queryOf, statedBody } from './request.ts';
import { type Pause, realPause } from './retry.ts';
import { createSender } from './sender.ts';
import { steadyTime } from './steady-time.ts';
import type { Timeouts } from './timeouts.ts';
import { secretsIn } from './trace.ts';
import type { TraceEntry } from './trace-entry.ts';
import type { Transport, WireRequest } from './transport.ts';
import { USER_AGENT } from './user-agent.ts';

export type Client = {
  readonly baseUrl: string;
  /**
   * Performs one call and returns the parsed body. Throws `ApiError` for a refusal. `onTry` is told of every
   * time that it is sent, since a try whose answer is lost may have been carried out.
   */
  readonly call: (call: Call, onTry?: () => void) => Promise<Json>;
  /** Performs a list call, all pages of it, and returns the items; with `fields`, these and the id alone of each. */
  readonly list: (call: Call, fields?: readonly string[]) => Promise<readonly JsonObject[]>;
  /** The items of a list call one by one, page by page: who stops early asks for no more pages. */
  readonly each: (call: Call) => AsyncIterable<JsonObject>;
  /** PUTs a file's bytes to a presigned address: its content type, no bearer token (Knowledge base sources). */
  readonly upload: (url: string, file: StackFile) => Promise<void>;
  /**
   * A time that the platform's clock has reached, in milliseconds since 1970: the `Date` of its last answer.
   * Undefined where it sends none.
   */
  readonly platformTime: () => number | undefined;
  /** Requests sent so far and the time they took together, in seconds. */
  readonly spent: () => { readonly requests: number; readonly seconds: number };
  /** Breaks reads off, lets writes in flight finish and sends nothing more: what still waits fails at once. */
  readonly close: () => Promise<void>;
};

export type ClientOptions = {
  /** Where the platform is; the credentials go there and nowhere else. */
  readonly origin: Origin;
  /** Without them only what needs no access token can be called. */
  readonly credentials: Credentials | undefined;
  /** The PBX provider's API token, for the sessions that are minted with it. */
  readonly pbxApiKey?: string | undefined;
  /** Requests in flight at once. */
  readonly concurrency: number;
  readonly openFile: OpenFile;
  /** Where operations lie, unless where the contract has them. */
  readonly endpoints?: Endpoints;
  readonly timeouts?: Partial<Timeouts>;
  /** Told of every try of every request; nothing that it is told is a secret. */
  readonly trace?: ((entry: TraceEntry) => void) | undefined;
  /** Stands between the client and the network. */
  readonly wire?: ((transport: Transport) => Transport) | undefined;
  readonly pause?: Pause;
  /** What it shares with other clients of the account at a base address; nothing unless given. */
  readonly lane?: ((baseUrl: string) => Lane) | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** Methods that may be sent again when nobody knows whether the first try arrived. */
const REPEATABLE_METHODS = new Set(['GET', 'PUT', 'PATCH', 'DELETE']);

/** Opens a client. Sends nothing yet. Throws where the base address, a token or the environment is unfit. */
export function createClient(options: ClientOptions): Client {
  const baseUrl = checkBaseUrl(options.origin.url);
  const { host } = new URL(baseUrl);
  const { concurrency, openFile, pause = realPause, now = Date.now, trace } = options;
  const endpoints = options.endpoints ?? DEFAULT_ENDPOINTS;
  const lane = options.lane?.(baseUrl);
  const transport = lane?.transport ?? openTransport(options);
  const closing = new AbortController();
  const stop = closing.signal;
  const limiter =
    lane?.limiter ??
    createLimiter({ most: concurrency, pause, now: options.now ?? steadyTime, stop });
  const sender = createSender({ transport, limiter, pause, now, stop, trace });
  const source = {
    place: { baseUrl, endpoint: usableEndpoint('createToken', endpoints) },
    credentials: options.credentials,
  };
  const tokens =
    lane?.tokens(source) ??
    createTokenSource({ ...source, send: (make) => sender.send(host, make, true), now });
  const keys = { tokens, pbxApiKey: options.pbxApiKey };
  let closed: Promise<void> | undefined;
  let platformTime: number | undefined;

  async function run<T>(task: () => Promise<T>): Promise<T> {
    return limiter.run(async () => {
      if (stop.aborted) throw new CallsheetError('interrupted', 'the client was closed');
      return task();
    });
  }

  const call = async (wanted: Call, onTry?: () => void) => (await perform(wanted, onTry)).body;

  async function perform(wanted: Call, onTry?: () => void): Promise<Answered> {
    const { operation } = wanted;
    const endpoint = usableEndpoint(operation, endpoints);
    const { method } = endpoint;
    const line = { method, url: `${baseUrl}${pathOf(endpoint, wanted)}` };
    const url = `${line.url}${queryOf(wanted)}`;
    const content = statedBody(wanted);
    const about = { operation, ...(content === undefined ? {} : { content }) };
    const isRepeatable = endpoint.repeatable || REPEATABLE_METHODS.has(method);
    let attempt = 0;

    const make = async (authorization: WireRequest['headers']): Promise<WireRequest> => {
      const { body, headers: described } = await contentOf(wanted, openFile);
      const headers = {
        accept: 'application/json',
        'user-agent': USER_AGENT,
        ...authorization,
        ...described,
      };
      attempt += 1;
      onTry?.();
      const request = { method, url, headers, about, attempt };
      return body === undefined ? request : { ...request, body };
    };

    return run(async () => {
      const { calledWith, renew, ...first } = await authorize(operation, endpoint.auth, keys);
      let { headers } = first;
      let answer = await sender.send(host, () => make(headers), isRepeatable);
      if (answer.status === 401 && renew !== undefined) {
        headers = await renew();
        answer = await sender.send(host, () => make(headers), isRepeatable);
      }
      const date = Date.parse(answer.headers.date ?? '');
      if (!Number.isNaN(date)) platformTime = date;
      const isMoved = endpoints.overrides[operation] !== undefined;
      const called = { operation, endpoint, isMoved, calledWith, answer };
      const hide = hideSecrets(secretsIn({ headers, about }));
      const accepted = acceptAnswer(line, called, hide);
      checkIds(line, endpoint, wanted, accepted);
      return { body: accepted, length: answer.length };
    });
  }

  async function upload(url: string, file: StackFile): Promise<void> {
    checkUploadUrl(url);
    const headers = { 'content-type': file.mime, 'content-length': String(file.size) };
    let attempt = 0;
    const answer = await run(() =>
      sender.send(
        new URL(url).host,
        async () => {
          const body = readUnchanged(file, await openUnchanged(file, openFile));
          attempt += 1;
          return { method: 'PUT', url, headers, body, attempt };
        },
        true,
      ),
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
    list: (wanted, fields) =>
      followPages(wanted, usableEndpoint(wanted.operation, endpoints), perform, {
        fields,
        width: concurrency,
        sleep: (milliseconds) => pause.sleep(milliseconds, stop),
      }),
    each: (wanted) => eachItem(wanted, usableEndpoint(wanted.operation, endpoints), perform),
    upload,
    platformTime: () => platformTime,
    spent: sender.spent,
    close() {
      closing.abort();
      // Others go on with what is shared.
      closed ??= lane === undefined ? transport.close() : Promise.resolve();
      return closed;
    },
  };
}
