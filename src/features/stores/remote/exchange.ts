import { CallsheetError, clip } from '../../../core/errors.ts';
import { isLoopback, type Origin } from '../../../core/origin.ts';
import { createDispatcher, decodeText } from '../../../platform/dispatcher.ts';
import { BeyondLimit } from '../../../platform/errors.ts';
import { BeyondBounds, MOST_PART_BYTES } from '../../../state/bounds.ts';
import type { Traffic } from '../../../state/store.ts';
import {
  type Doing,
  findLoss,
  findRefusal,
  NoAnswer,
  type Retries,
  refusedByStore,
} from './failures.ts';

/** One request to a store. */
export type Ask = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
};

/** Sends a request and takes its whole answer. Tests put theirs in between. */
export type Exchange = {
  readonly send: (ask: Ask) => Promise<Answer>;
  /** Bytes of the bodies that were sent, and of those that came. */
  readonly traffic?: () => Traffic;
  readonly close: () => Promise<void>;
};

const CONNECTIONS = 8;
const TO_CONNECT = 10_000;
/** Milliseconds in which a document must have come whole. The state of a large fleet has a hundred megabytes. */
const TO_READ = 600_000;

/**
 * Sends with the proxy and the authorities that the environment names, as to the platform. Redirects are not followed.
 * `timeout`: milliseconds in which an answer must begin, and go on. `origins`: the only servers that it reaches.
 */
export function openExchange(timeout: number, origins: readonly Origin[]): Exchange {
  const connect = Math.min(TO_CONNECT, timeout);
  const timeouts = { connect, headers: timeout, body: timeout, answer: TO_READ };
  const dispatcher = createDispatcher(CONNECTIONS, timeouts, {
    mostBytes: MOST_PART_BYTES,
    isIdentified: true,
  });
  let [sent, read] = [0, 0];
  return {
    traffic: () => ({ sent, read }),
    send: async ({ method, url, headers, body }) => {
      if (!origins.some((origin) => origin.serves(new URL(url))))
        throw new Error(`a store asked ${new URL(url).host}, which it was not opened for`);
      const request = { method, url, headers, body };
      sent += body === undefined ? 0 : Buffer.byteLength(body);
      const { bytes, ...answer } = await dispatcher.send(new URL(url), request);
      read += bytes.length;
      return { ...answer, text: decodeText(bytes) };
    },
    close: () => dispatcher.close(),
  };
}

const PAGE = /^\s*<(!doctype\s+html|html)\b/i;
const SOMETHING_ELSE =
  'Correct the address, or check whether a proxy or a sign-in page is in between.';

const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

type Asking = {
  readonly exchange: Exchange;
  readonly location: string;
  readonly retries: Retries;
};

/**
 * Asks once. Throws `NoAnswer` for a lost connection and for an answer after which the request may still be
 * carried out.
 */
export async function askOnce(
  { exchange, location }: Asking,
  what: Doing,
  ask: Ask,
): Promise<Answer> {
  let answer: Answer;
  try {
    answer = await exchange.send(ask);
  } catch (error) {
    if (error instanceof BeyondLimit) throw new BeyondBounds(`the state ${location}`, error);
    const refused = error instanceof CallsheetError ? undefined : findRefusal(error);
    if (refused !== undefined)
      throw refusedByStore('open', location, refused.why, refused.todo, error);
    const why = error instanceof CallsheetError ? undefined : findLoss(error);
    if (why === undefined) throw error;
    throw new NoAnswer(what, location, why, error);
  }
  if (PASSING.has(answer.status)) throw new NoAnswer(what, location, { words: said(answer) });
  // Otherwise it would be taken for a damaged state, or for a write that was done.
  if (answer.status < 300 && PAGE.test(answer.text))
    throw refusedByStore(what, location, 'the answer is a web page', SOMETHING_ELSE);
  return answer;
}

/** Asks again after a while, for what may be asked twice. */
export function ask(asking: Asking, what: Doing, request: Ask): Promise<Answer> {
  return asking.retries.again(() => askOnce(asking, what, request));
}

/**
 * Keeps the last document that was read, and asks whether it is still the one that is there (`If-None-Match`), so that
 * it is not sent again. A server that names no `ETag` is not asked.
 */
export function rememberAnswer() {
  let last: { readonly tag: string; readonly answer: Answer } | undefined;
  return {
    conditions: (): Readonly<Record<string, string>> =>
      last === undefined ? {} : { 'if-none-match': last.tag },
    /** The answer, or the last one where it says that nothing changed. */
    take(answer: Answer): Answer {
      if (answer.status === 304 && last !== undefined) return last.answer;
      const tag = getETag(answer);
      last = answer.status === 200 && tag !== '' ? { tag, answer } : undefined;
      return answer;
    },
  };
}

export function getETag({ headers }: Answer): string {
  const { etag } = headers;
  return Array.isArray(etag) ? (etag[0] ?? '') : (etag ?? '');
}

export function isDone({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** Returns a server's message, without its page or its JSON. */
export function said({ status, text }: Pick<Answer, 'status' | 'text'>): string {
  const words = clip(wordsIn(text).replace(/\s+/g, ' ').replace(`${status} `, '').trim(), 200);
  return `the server answered ${status}${words === '' ? '' : `: ${words}`}`;
}

function wordsIn(text: string): string {
  const start = text.trimStart();
  if (start.startsWith('<')) return /<Message>([^<]*)/.exec(text)?.[1] ?? '';
  if (!start.startsWith('{')) return text;
  const [, json] = /"(?:message|error|detail)"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  return json === undefined ? text : String(JSON.parse(json));
}

/** The failure that an answer means which is no success. */
export function refusal(
  answer: Answer,
  what: Doing,
  location: string,
  credentials: string,
): CallsheetError {
  const { status } = answer;
  const hint =
    status === 401 || status === 403
      ? `It requires other credentials, or more permissions for these: ${credentials}`
      : status === 413 || status === 507
        ? 'The state is larger than the server accepts, or its disk is full: free some space there.'
        : status >= 300 && status < 400
          ? 'Callsheet does not follow redirects: use the address that it points to.'
          : undefined;
  return refusedByStore(what, location, said(answer), hint);
}

/** Refuses an address to which credentials would be sent in clear. */
export function refuseClearText(url: URL, location: string): void {
  if (url.protocol === 'https:' || isLoopback(url)) return;
  throw refusedByStore(
    'open',
    location,
    'it is not an https address',
    'Plain http is allowed only for a store on this machine.',
  );
}
