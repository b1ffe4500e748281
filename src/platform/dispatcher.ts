import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Readable } from 'node:stream';
import type { Dispatcher as Pool } from 'undici';
import { formatSize } from '../core/errors.ts';
import { isLinkLocal, isLoopback } from '../core/origin.ts';
import { beyondLimit, type RequestLine } from './errors.ts';
import { MOST_ANSWER_BYTES, MOST_BYTES_UNDER_WAY, MOST_PIECES, type Timeouts } from './limits.ts';
import { findProxies, trustFrom } from './trust.ts';

/** A request as it goes out; where to is said beside it. */
export type HttpRequest = RequestLine & {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array> | undefined;
  /** Breaks the request off. */
  readonly signal?: AbortSignal | undefined;
};

/** An answer as it came. */
type HttpAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
};

/** Sends requests over pools of keep-alive connections. Redirects are not followed. */
export type Dispatcher = {
  /** Sends a request and takes its whole answer. */
  readonly send: (url: URL, request: HttpRequest) => Promise<HttpAnswer>;
  /** The host of the proxy on the way to an address, where there may be one. */
  readonly proxyFor: (url: URL) => string | undefined;
  /** Lets requests in flight finish. */
  readonly close: () => Promise<void>;
};

type DispatcherOptions = {
  /** An answer of more is an error. */
  readonly mostBytes?: number;
  /** Shows the certificate of the environment to servers that ask for one: the platform and stores. */
  readonly isIdentified?: boolean;
};

/**
 * Opens a dispatcher with the proxy and the authorities that the environment names. Throws
 * `CallsheetError('config')` where these are unfit; connects to nothing yet.
 */
export function createDispatcher(
  connections: number,
  timeouts: Timeouts,
  { mostBytes = MOST_ANSWER_BYTES, isIdentified = false }: DispatcherOptions = {},
): Dispatcher {
  const limits = { time: timeouts.answer, bytes: mostBytes, intake: createIntake() };
  const secureContext = trustFrom(process.env, isIdentified);
  const proxies = findProxies(process.env);
  const tls = secureContext === undefined ? {} : { secureContext };
  const options = {
    connections,
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body,
    connect: { timeout: timeouts.connect, ...tls },
  };
  const isDirect = (url: URL) => isLoopback(url) || isLinkLocal(url);
  let pools: Promise<Pools> | undefined;

  async function openPools(): Promise<Pools> {
    const { Agent, EnvHttpProxyAgent } = await loadUndici();
    const direct = new Agent(options);
    if (proxies === undefined) return { direct, proxied: direct };
    const proxied = new EnvHttpProxyAgent({
      ...options,
      connectTimeout: timeouts.connect,
      httpProxy: proxies.http,
      httpsProxy: proxies.https,
      ...(secureContext === undefined ? {} : { requestTls: tls, proxyTls: tls }),
    });
    return { direct, proxied };
  }

  return {
    async send(url, request) {
      pools ??= openPools();
      const { direct, proxied } = await pools;
      return dispatch(isDirect(url) ? direct : proxied, url, request, limits);
    },
    proxyFor(url) {
      if (isDirect(url) || proxies === undefined) return undefined;
      return URL.parse(url.protocol === 'https:' ? proxies.https : proxies.http)?.host;
    },
    async close() {
      if (pools === undefined) return;
      const { direct, proxied } = await pools;
      await Promise.all([...new Set([direct, proxied])].map((pool) => pool.close()));
    },
  };
}

/** Pools of keep-alive connections. */
type Pools = {
  /** Hosts on this machine or its link are reached directly: a proxy would see the token in clear, or is elsewhere. */
  readonly direct: Pool;
  readonly proxied: Pool;
};

/** A lower status is followed by another answer. */
const FIRST_FINAL_STATUS = 200;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The limits of an answer. */
type Limits = {
  /** Milliseconds from its first byte to its last, as long as it is read. */
  readonly time: number;
  /** Bytes of its body. */
  readonly bytes: number;
  /** Shared with the other answers that come in at the same time. */
  readonly intake: Intake;
};

/**
 * Sends a request and takes its whole answer. The pool hands over the pieces of the body as they come: every answer is
 * read to its end anyway, and a stream in between costs as much again as all the rest.
 */
function dispatch(
  pool: Pool,
  url: URL,
  request: HttpRequest,
  { time, bytes: most, intake }: Limits,
): Promise<HttpAnswer> {
  const { method, headers, body, signal } = request;
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    let size = 0;
    let status = 0;
    let received: HttpAnswer['headers'] = {};
    let forget = () => {};
    let timer: NodeJS.Timeout | undefined;
    let reading: Reading | undefined;
    const end = () => {
      forget();
      clearTimeout(timer);
      if (reading !== undefined) intake.end(reading);
      reading = undefined;
    };
    const begin = (controller: Pool.DispatchController): Reading => {
      const watch = () => {
        timer = setTimeout(() => controller.abort(new TooSlow(time, size)), time);
      };
      watch();
      return intake.begin({
        pause() {
          clearTimeout(timer);
          controller.pause();
        },
        resume() {
          watch();
          controller.resume();
        },
      });
    };
    pool.dispatch(
      {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers,
        body: body === undefined || typeof body === 'string' ? (body ?? null) : Readable.from(body),
      },
      {
        onRequestStart(controller) {
          // Sent once more over another connection, it starts again.
          end();
          pieces = [];
          size = 0;
          if (signal === undefined) return;
          const breakOff = () => controller.abort(getAbortReason(signal));
          if (signal.aborted) return breakOff();
          signal.addEventListener('abort', breakOff, { once: true });
          forget = () => signal.removeEventListener('abort', breakOff);
        },
        onResponseStart(_, code, given) {
          if (code < FIRST_FINAL_STATUS) return;
          status = code;
          received = given;
        },
        onResponseData(controller, piece) {
          size += piece.length;
          if (size > most || pieces.length >= MOST_PIECES) {
            pieces = [];
            controller.abort(tooLarge(request, size, most));
            return;
          }
          pieces.push(piece);
          reading ??= begin(controller);
          intake.take(reading, piece.length);
        },
        onResponseEnd() {
          end();
          resolve({ status, headers: received, bytes: joined(pieces) });
        },
        onResponseError(_, error) {
          end();
          reject(error);
        },
      },
    );
  });
}

/** An answer that comes, and takes too long to. */
class TooSlow extends Error {
  readonly code = 'TOO_SLOW';
  constructor(milliseconds: number, bytes: number) {
    super(`sent ${bytes} bytes of an answer in ${milliseconds / 1000} s and did not end it`);
  }
}

function tooLarge(line: RequestLine, size: number, most: number): Error {
  const limit = `at most ${formatSize(most)} in one answer`;
  return size > most
    ? beyondLimit(line, `more than ${formatSize(most)}`, limit)
    : beyondLimit(line, `its body in more than ${MOST_PIECES} pieces`, limit);
}

/** How the reading of one answer is held up. */
type Hold = { readonly pause: () => void; readonly resume: () => void };
type Reading = Hold & { bytes: number; isPaused: boolean };

/**
 * Takes in answers that come at the same time. When they come to too much together, only the one that came first is
 * read on until it is whole: each of them may be large, and all of them at once must not be.
 */
type Intake = {
  readonly begin: (hold: Hold) => Reading;
  readonly take: (reading: Reading, bytes: number) => void;
  readonly end: (reading: Reading) => void;
};

function createIntake(most = MOST_BYTES_UNDER_WAY): Intake {
  const readings = new Set<Reading>();
  let held = 0;
  const isFirst = (reading: Reading) => readings.values().next().value === reading;
  const readOn = () => {
    for (const reading of [...readings]) {
      if (!reading.isPaused || (held > most && !isFirst(reading))) continue;
      reading.isPaused = false;
      reading.resume();
    }
  };
  return {
    begin(hold) {
      const reading = { ...hold, bytes: 0, isPaused: false };
      readings.add(reading);
      return reading;
    },
    take(reading, bytes) {
      reading.bytes += bytes;
      held += bytes;
      if (held <= most || isFirst(reading)) return;
      reading.isPaused = true;
      reading.pause();
    },
    end(reading) {
      if (!readings.delete(reading)) return;
      held -= reading.bytes;
      // One parser cannot go on while another one is at work, as it is where an answer ends.
      setImmediate(readOn);
    },
  };
}

function getAbortReason({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('broken off');
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}

/** The text of a body, without a mark of its byte order. */
export function decodeText(bytes: Buffer): string {
  const isMarked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return bytes.toString('utf8', isMarked ? BYTE_ORDER_MARK.length : 0);
}

/** The keys of undici's dispatcher for every `fetch` of the process, by version of its interface. */
const PLACES = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));

/** With a listener here undici does not set up its own, which print what is sent where `NODE_DEBUG` asks. */
const CHANNELS = ['undici:client:connected', 'undici:request:headers'];
const listen = () => {};

/**
 * Loads undici when something is about to be sent. It sets itself up as the sender of every `fetch` in the
 * process, which is not for a library to decide: what was there before is put back. Its debug lines stay off: they
 * show presigned addresses whole; `--trace-http` shows what may be shown.
 */
async function loadUndici(): Promise<typeof import('undici')> {
  const before = PLACES.map((place) => Reflect.get(globalThis, place));
  for (const channel of CHANNELS) subscribe(channel, listen);
  const undici = await import('undici').finally(() => {
    for (const channel of CHANNELS) unsubscribe(channel, listen);
  });
  PLACES.forEach((place, index) => {
    if (Reflect.has(globalThis, place)) Reflect.set(globalThis, place, before[index]);
  });
  return undici;
}
