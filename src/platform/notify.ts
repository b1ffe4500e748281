import { CallsheetError } from '../core/errors.ts';
import { isConfidential, readHttpAddress } from '../core/origin.ts';
import { getErrorCode, NetworkError } from './errors.ts';
import type { Timeouts } from './limits.ts';
import type { Pause } from './rate.ts';
import {
  askedDelay,
  createTransport,
  type Transport,
  USER_AGENT,
  type WireAnswer,
  type WireRequest,
} from './transport.ts';
import { findCertificateFault } from './trust.ts';

/** The address of notices. It is a secret: anyone who has it can post there. It is in no message. */
export type NoticeAddress = {
  readonly url: string;
  /** The place where it was given, in words, for messages. */
  readonly given: string;
  readonly authorization: string | undefined;
};

type Notice = {
  /** The same in every try, so that a receiver can tell a repetition. */
  readonly delivery: string;
  /** JSON, as it is signed. */
  readonly body: string;
  /** Says that the sender knows a secret, where there is one. */
  readonly headers?: Readonly<Record<string, string>>;
};

type NoticeDeps = {
  readonly pause: Pause;
  readonly stop: AbortSignal;
  readonly now: () => Date;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly wire?: ((transport: Transport) => Transport) | undefined;
};

/** A nightly pipeline waits this long for each of the tries, and no longer. */
const TIMEOUTS: Timeouts = { connect: 5_000, headers: 10_000, body: 10_000, answer: 10_000 };
const MOST_TRIES = 3;
const FIRST_DELAY_MS = 1_000;
/** A receiver that asks for more is not waited for. */
const LONGEST_DELAY_MS = 15_000;

/** Checks an address without repeating it. Throws `CallsheetError('usage')`. */
export function readNoticeAddress(text: string, given: string): NoticeAddress {
  const url = readHttpAddress(text.trim());
  if (url === undefined) {
    throw new CallsheetError('usage', `${given} is not an http(s) address`, {
      hint: 'Use the form https://hooks.example.com/… The address itself is not shown, because it is a secret.',
    });
  }
  if (!isConfidential(url)) {
    throw new CallsheetError('usage', `${given} is plain http, which is not encrypted`, {
      hint: 'Use https. Plain http is allowed for loopback addresses only.',
    });
  }
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.hash = '';
  return { url: url.href, given, authorization: basic(username, password) };
}

/** Credentials stand percent-encoded in an address; what is not is taken as it is. */
function basic(...pair: readonly [string, string]): string | undefined {
  if (pair[0] === '') return undefined;
  const plain = pair.map((text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  });
  return `Basic ${Buffer.from(plain.join(':')).toString('base64')}`;
}

/** Posts a notice. What may pass is tried again twice; a redirect is not followed. */
export async function postNotice(
  { url, given, authorization }: NoticeAddress,
  { delivery, body, headers: own }: Notice,
  deps: NoticeDeps,
): Promise<void> {
  const timeouts = { ...TIMEOUTS, ...deps.timeouts };
  const transport = createTransport({ connections: 1, timeouts, wire: deps.wire });
  const headers = {
    'content-type': 'application/json',
    'x-callsheet-delivery': delivery,
    ...own,
    ...(authorization === undefined ? {} : { authorization }),
  };
  try {
    const posted = { url, headers, body: () => body };
    const failed = await deliver(transport, posted, { ...deps, timeouts });
    if (failed !== undefined) throw undelivered(given, failed);
  } finally {
    await transport.close();
  }
}

/** Something that is posted to a server which is not the platform. */
type Posted = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Called for each try: a stream can be read only once. */
  readonly body: () => NonNullable<WireRequest['body']>;
};

type DeliveryDeps = Pick<NoticeDeps, 'pause' | 'stop' | 'now'> & {
  /** How long each try may take. */
  readonly timeouts: Timeouts;
};

/** Why something was not delivered: words about "the receiver", without its address. */
type Undelivered = { readonly why: string; readonly tries: number };

/**
 * Posts until it is taken. What may pass (no answer, 408, 429, 5xx) is tried again twice; a redirect is not followed.
 * Never throws; undefined where it was taken.
 */
export async function deliver(
  transport: Transport,
  posted: Posted,
  deps: DeliveryDeps,
): Promise<Undelivered | undefined> {
  for (let tries = 1; ; tries += 1) {
    const failed = await tryOnce(transport, posted, { ...deps, attempt: tries });
    if (failed === undefined) return undefined;
    const delay = delayAfter(tries, failed, deps);
    if (delay === undefined || deps.stop.aborted) return { why: failed.why, tries };
    await deps.pause.sleep(delay, deps.stop);
    if (deps.stop.aborted) return { why: failed.why, tries };
  }
}

/** Why a try failed. */
type Failed = {
  readonly why: string;
  readonly mayPass: boolean;
  readonly retryAfter?: string | undefined;
};

async function tryOnce(
  transport: Transport,
  { url, headers: given, body }: Posted,
  { attempt, timeouts, stop }: DeliveryDeps & { readonly attempt: number },
): Promise<Failed | undefined> {
  const { connect, headers, body: rest } = timeouts;
  // A server that sends its answer drop by drop is not waited for either.
  const timeout = AbortSignal.timeout(connect + headers + rest);
  try {
    const answer = await transport.send({
      method: 'POST',
      url,
      headers: { 'user-agent': USER_AGENT, ...given },
      body: body(),
      attempt,
      signal: AbortSignal.any([stop, timeout]),
    });
    return refusalIn(answer);
  } catch (error) {
    return { why: faultWords(error, timeouts, timeout.aborted || stop.aborted), mayPass: true };
  }
}

function refusalIn({ status, headers }: WireAnswer): Failed | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) {
    const why = `the receiver answered ${status}, a redirect, which is not followed`;
    return { why, mayPass: false };
  }
  return {
    why: `the receiver answered ${status}`,
    mayPass: status >= 500 || status === 429 || status === 408,
    retryAfter: headers['retry-after'],
  };
}

/** Milliseconds until the next try; undefined where there is none. */
function delayAfter(
  attempt: number,
  { mayPass, retryAfter }: Failed,
  { pause, now }: Pick<DeliveryDeps, 'pause' | 'now'>,
): number | undefined {
  if (!mayPass || attempt >= MOST_TRIES) return undefined;
  const own = FIRST_DELAY_MS * 4 ** (attempt - 1) * (0.5 + pause.random() / 2);
  const asked = askedDelay(retryAfter, () => now().getTime());
  return asked > LONGEST_DELAY_MS ? undefined : Math.max(Math.round(own), asked);
}

/** Describes a fault on the way, without the address and without its host, which may be a secret as well. */
function faultWords(error: unknown, timeouts: Timeouts, isLate: boolean): string {
  const cause = error instanceof NetworkError ? error.cause : error;
  const code = getErrorCode(cause);
  const fault = findCertificateFault(code);
  if (fault !== undefined) return `the receiver's certificate ${fault.why}`;
  const words: { readonly [code: string]: string } = {
    ECONNREFUSED: 'nothing listens at its port',
    ENOTFOUND: 'its host name does not exist',
    EAI_AGAIN: 'its host name could not be looked up',
    UND_ERR_CONNECT_TIMEOUT: `it could not be reached within ${timeouts.connect / 1000} s`,
    UND_ERR_HEADERS_TIMEOUT: `the receiver did not answer within ${timeouts.headers / 1000} s`,
    UND_ERR_BODY_TIMEOUT: 'the receiver stopped in the middle of its answer',
    PROXY_REFUSED: 'the proxy refused to connect to it',
  };
  if (words[code] !== undefined) return words[code];
  return isLate ? 'the receiver did not answer in time' : 'the connection to the receiver failed';
}

function undelivered(given: string, { why, tries }: Undelivered): CallsheetError {
  const often = tries === 1 ? '' : `, in ${tries} tries`;
  return new CallsheetError('network', `the notification was not delivered: ${why}${often}`, {
    hint: `The result above is not affected. Check ${given}, the network and the proxy settings.`,
  });
}
