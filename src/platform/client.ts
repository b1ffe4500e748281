/**
 * `platform/` speaks to the platform: operations by name from `platform.openapi.yaml`, one bearer token, one
 * pool of connections, retries for passing faults, pages followed and counted, one error type.
 * No path literal stands anywhere else.
 */
import { CallsheetError } from '../core/errors.ts';
import type { Origin } from '../core/origin.ts';
import type { Json, JsonObject, Blob as StackFile } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import { acceptAnswer, type CalledWith } from './answer.ts';
import {
  authorize,
  type Credentials,
  createTokenSource,
  type TokenSource,
  type TokenSourceOptions,
} from './auth.ts';
import {
  checkBaseUrl,
  checkUploadUrl,
  DEFAULT_ENDPOINTS,
  type Endpoints,
  usableEndpoint,
} from './endpoints.ts';
import { ApiError, plainUrl } from './errors.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import type { Timeouts } from './limits.ts';
import type { TraceEntry } from './operation.ts';
import { type Answered, eachItem, followPages } from './pages.ts';
import { type Pause, realPause, steadyTime } from './rate.ts';
import {
  type BackOff,
  buildContent,
  buildPath,
  buildQuery,
  createBackOff,
  createSender,
  type OpenFile,
  openUnchanged,
  readUnchanged,
  type Sender,
  statedBody,
} from './send.ts';
import { hideSecrets, secretsIn } from './trace.ts';
import {
  createTransport,
  type Transport,
  USER_AGENT,
  type WireAnswer,
  type WireRequest,
} from './transport.ts';

export type Client = {
  readonly baseUrl: string;
  /** The places of the operations, and whether assumed ones may be called. */
  readonly endpoints: Endpoints;
  /** Performs one call that reads, and returns the parsed body. Throws `ApiError` for a refusal. */
  readonly call: (call: Call) => Promise<Json>;
  /**
   * Performs calls that write. `ask` is asked before each try of each of them, once all waiting is done (for a turn, a
   * token, a `Retry-After`): where it throws, nothing leaves any more, and the call fails with that.
   */
  readonly writing: (ask: () => Promise<void>) => Writer;
  /** Begins to wait between tries of a request that its caller repeats (a create). It ends with `stop` and with the client. */
  readonly backOff: (stop: AbortSignal) => BackOff;
  /**
   * Performs a read that is of no consequence: it is sent once, and not after `until`. Undefined: it was not sent.
   * However it ends, it slows no other call, and `spent` does not count it.
   */
  readonly callOnce: (call: Call, until: AbortSignal) => Promise<Json | undefined>;
  /** Performs a list call, all pages of it, and returns the items; with `fields`, these and the id alone of each. */
  readonly list: (call: Call, fields?: readonly string[]) => Promise<readonly JsonObject[]>;
  /** The items of a list call one by one, page by page: who stops early asks for no more pages. */
  readonly each: (call: Call) => AsyncIterable<JsonObject>;
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

/** `onTry` is called each time that a request leaves, since a try whose answer is lost may have been carried out. */
export type Writer = {
  /** Performs one call and returns the parsed body. Throws `ApiError` for a refusal. */
  readonly call: (call: Call, onTry?: () => void) => Promise<Json>;
  /** PUTs a file's bytes to a presigned address: its content type, no bearer token (Knowledge base sources). */
  readonly upload: (url: string, file: StackFile, onTry?: () => void) => Promise<void>;
};

/** For requests that no state is about: there is no lease to ask. */
export const UNASKED = async (): Promise<void> => {};

export type ClientOptions = Omit<ConnectionOptions, 'limit'> & {
  /** The platform's address; the credentials go there and nowhere else. */
  readonly origin: Origin;
  /** Without them only what needs no access token can be called. */
  readonly credentials: Credentials | undefined;
  /** The PBX provider's API token, for the sessions that are minted with it. */
  readonly pbxApiKey?: string | undefined;
  readonly openFile: OpenFile;
  /** The places of the operations; absent: those of the contract. */
  readonly endpoints?: Endpoints;
  /** The connection that clients of the account share at a base address; absent: its own. */
  readonly connection?: ((baseUrl: string) => Connection) | undefined;
};

export type ConnectionOptions = {
  /** Requests in flight at once, of all clients together. */
  readonly concurrency: number;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** Stands between the client and the network. */
  readonly wire?: ((transport: Transport) => Transport) | undefined;
  readonly pause?: Pause | undefined;
  /** Receives every try of every request, without secrets. */
  readonly trace?: ((entry: TraceEntry) => void) | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Takes the place of the limiter that it would have: other processes have a part in the rate. */
  readonly limit?: ((limiter: Limiter) => Limiter) | undefined;
};

/** `ask` is called before a request leaves, and `onTry` when it does. */
type Leaving = { readonly ask?: () => Promise<void>; readonly onTry?: (() => void) | undefined };

/** Methods that may be sent again when the first try may have arrived. */
const REPEATABLE_METHODS = new Set(['GET', 'PUT', 'PATCH', 'DELETE']);

/** Opens a client. Sends nothing yet. Throws where the base address, a token or the environment is unfit. */
export function createClient(options: ClientOptions): Client {
  const baseUrl = checkBaseUrl(options.origin.url);
  const { host } = new URL(baseUrl);
  const { concurrency, openFile, pause = realPause, now = Date.now, trace } = options;
  const endpoints = options.endpoints ?? DEFAULT_ENDPOINTS;
  const shared = options.connection?.(baseUrl);
  const connection = shared ?? openConnection(options);
  const { transport, limiter } = connection;
  const closing = new AbortController();
  const stop = closing.signal;
  const sender =
    shared === undefined
      ? connection.sender
      : createSender({ transport, limiter, pause, now, stop, trace });
  const tokens = connection.tokens({
    place: { baseUrl, endpoint: usableEndpoint('createToken', endpoints) },
    credentials: options.credentials,
  });
  const keys = { tokens, pbxApiKey: options.pbxApiKey };
  let closed: Promise<void> | undefined;
  let platformTime: number | undefined;

  function run<T>(task: () => Promise<T>): Promise<T> {
    return limiter.run(async () => {
      if (stop.aborted) throw new CallsheetError('interrupted', 'the client was closed');
      return task();
    });
  }

  const call = async (wanted: Call) => (await perform(wanted)).body;

  /**
   * The one way out of a request: each try of a write is asked for when nothing is left to wait for. A read asks
   * for nothing, and a write without a lease is a bug.
   */
  function submit(
    host: string,
    make: () => Promise<WireRequest>,
    isRepeatable: boolean,
    { ask, onTry }: Leaving = {},
  ): Promise<WireAnswer> {
    const makeAsked = async () => {
      const request = await make();
      if (request.method !== 'GET') {
        if (ask === undefined) throw new Error(`${request.method} ${request.url} has no lease`);
        await ask();
        if (stop.aborted) throw new CallsheetError('interrupted', 'the client was closed');
      }
      onTry?.();
      return request;
    };
    return sender.send(host, makeAsked, isRepeatable);
  }

  /** How the requests of a call are made, and what is made of its answer. */
  function prepare(wanted: Call) {
    const { operation } = wanted;
    const endpoint = usableEndpoint(operation, endpoints);
    const { method } = endpoint;
    const line = { method, url: `${baseUrl}${buildPath(endpoint, wanted)}` };
    const url = `${line.url}${buildQuery(wanted)}`;
    const content = statedBody(wanted);
    const about = { operation, ...(content === undefined ? {} : { content }) };
    let attempt = 0;

    const make = async (authorization: WireRequest['headers']): Promise<WireRequest> => {
      const { body, headers: described } = await buildContent(wanted, openFile);
      const headers = {
        accept: 'application/json',
        'user-agent': USER_AGENT,
        ...authorization,
        ...described,
      };
      attempt += 1;
      return { method, url, headers, body, about, attempt };
    };

    const accept = (
      answer: WireAnswer,
      calledWith: CalledWith,
      headers: WireRequest['headers'],
    ) => {
      const isMoved = endpoints.overrides[operation] !== undefined;
      const called = { call: wanted, endpoint, isMoved, calledWith, answer };
      const hide = () => hideSecrets(secretsIn({ headers, about }));
      return { body: acceptAnswer(line, called, hide), length: answer.length };
    };
    return { endpoint, make, accept };
  }

  async function perform(wanted: Call, leaving?: Leaving): Promise<Answered> {
    const { endpoint, make, accept } = prepare(wanted);
    const isRepeatable = endpoint.repeatable || REPEATABLE_METHODS.has(endpoint.method);
    return run(async () => {
      const { calledWith, renew, ...first } = await authorize(
        wanted.operation,
        endpoint.auth,
        keys,
      );
      let { headers } = first;
      let answer = await submit(host, () => make(headers), isRepeatable, leaving);
      if (answer.status === 401 && renew !== undefined) {
        headers = await renew();
        answer = await submit(host, () => make(headers), isRepeatable, leaving);
      }
      const date = Date.parse(answer.headers.date ?? '');
      if (!Number.isNaN(date)) platformTime = date;
      return accept(answer, calledWith, headers);
    });
  }

  async function callOnce(wanted: Call, until: AbortSignal): Promise<Json | undefined> {
    const { endpoint, make, accept } = prepare(wanted);
    const { headers, calledWith } = await authorize(wanted.operation, endpoint.auth, keys);
    // Beside the tasks: it waits for a free connection, and not for all the calls that were made before it.
    const answer = await sender.sendOnce(host, () => make(headers), until);
    return answer && accept(answer, calledWith, headers).body;
  }

  async function upload(url: string, file: StackFile, leaving: Leaving): Promise<void> {
    checkUploadUrl(url);
    const headers = { 'content-type': file.mime, 'content-length': String(file.size) };
    let attempt = 0;
    const answer = await run(() =>
      submit(
        new URL(url).host,
        async () => {
          const body = readUnchanged(file, await openUnchanged(file, openFile));
          attempt += 1;
          return { method: 'PUT', url, headers, body, attempt };
        },
        true,
        leaving,
      ),
    );
    if (answer.status >= 200 && answer.status <= 299) return;
    // The storage's message may quote the signature, so it is not kept.
    throw new ApiError({ method: 'PUT', url: plainUrl(url) }, answer.status, undefined, {
      hint: `The upload of ${file.path} was refused; plan and apply again.`,
    });
  }

  return {
    baseUrl,
    endpoints,
    call,
    writing: (ask) => ({
      call: async (wanted, onTry) => (await perform(wanted, { ask, onTry })).body,
      upload: (url, file, onTry) => upload(url, file, { ask, onTry }),
    }),
    backOff: (until) => createBackOff({ pause, now, stop: AbortSignal.any([stop, until]) }),
    callOnce,
    list: (wanted, fields) =>
      followPages(wanted, usableEndpoint(wanted.operation, endpoints), perform, {
        fields,
        concurrency,
        sleep: (milliseconds) => pause.sleep(milliseconds, stop),
      }),
    each: (wanted) => eachItem(wanted, usableEndpoint(wanted.operation, endpoints), perform),
    platformTime: () => platformTime,
    spent: sender.spent,
    close() {
      closing.abort();
      // Others go on with what is shared.
      closed ??= shared === undefined ? connection.close() : Promise.resolve();
      return closed;
    },
  };
}

/**
 * A connection to an account, which several clients in a process share: sockets, rate limiter, token. The rate limit is
 * the account's: clients that each had a limiter of their own would send several times as much.
 */
export type Connection = {
  readonly transport: Transport;
  readonly limiter: Limiter;
  /** Sends the requests for tokens, which belong to no client in particular. */
  readonly sender: Sender;
  /** Tokens that are minted at that place, once for all clients. */
  readonly tokens: (source: Pick<TokenSourceOptions, 'place' | 'credentials'>) => TokenSource;
  /** Once the clients are closed. */
  readonly close: () => Promise<void>;
};

/** Opens a connection. Sends nothing yet. */
export function openConnection(options: ConnectionOptions): Connection {
  const { concurrency, pause = realPause, trace, now = Date.now } = options;
  const transport = createTransport({ ...options, connections: concurrency, isIdentified: true });
  const closing = new AbortController();
  const stop = closing.signal;
  const own = createLimiter({ most: concurrency, pause, now: options.now ?? steadyTime, stop });
  const limiter = options.limit?.(own) ?? own;
  const sender = createSender({ transport, limiter, pause, now, stop, trace });
  const sources = new Map<string, TokenSource>();
  return {
    transport,
    limiter,
    sender,
    tokens({ place, credentials }) {
      const { host } = new URL(place.baseUrl);
      const key = `${place.baseUrl}${place.endpoint.path}`;
      const known = sources.get(key);
      if (known !== undefined) return known;
      const send: TokenSourceOptions['send'] = (make) => sender.send(host, make, true);
      const made = createTokenSource({ place, credentials, send, now });
      sources.set(key, made);
      return made;
    },
    async close() {
      closing.abort();
      await transport.close();
    },
  };
}
