import { createHash, randomUUID } from 'node:crypto';
import { CallsheetError } from '../core/errors.ts';
import type { Json, Blob as StackFile } from '../core/value.ts';
import type { Call } from '../kinds/kind.ts';
import { ApiError, NetworkError } from './errors.ts';
import type { Attempt, Limiter } from './limiter.ts';
import type { Operation, TraceEntry } from './operation.ts';
import type { Pause } from './rate.ts';
import { type Outcome, traceEntry } from './trace.ts';
import { askedDelay, type Transport, type WireAnswer, type WireRequest } from './transport.ts';

/** The path of a call, with its parameters filled in. */
export function buildPath(operation: Operation, { path = {} }: Pick<Call, 'path'>): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    if (value === undefined || value === '') throw new Error(`${operation.path} needs ${name}`);
    // Dots survive encoding, and the URL parser would climb up a level for them.
    if (/^\.\.?$/.test(value)) {
      throw new CallsheetError('api', `${JSON.stringify(value)} is no ${name}`);
    }
    return encodeURIComponent(value);
  });
}

/** The query of a call with its question mark; empty where there is none. */
export function buildQuery({ query }: Pick<Call, 'query'>): string {
  if (query === undefined) return '';
  const text = new URLSearchParams(Object.entries(query).flatMap(listPairs)).toString();
  return text === '' ? '' : `?${text}`;
}

function listPairs([name, value]: readonly [string, string | readonly string[]]): readonly [
  string,
  string,
][] {
  if (typeof value === 'string') return [[name, value]];
  return name.endsWith('[]')
    ? value.map((one): [string, string] => [name, one])
    : [[name, value.join(',')]];
}

/** The content of a call, and the headers that describe it. */
type Content = {
  readonly body?: string | AsyncIterable<Uint8Array>;
  readonly headers: { readonly [name: string]: string };
};

/** The body of a call. Throws where a file of it changed. */
export async function buildContent(wanted: Call, openFile: OpenFile): Promise<Content> {
  if (wanted.form !== undefined) return encodeForm(wanted.form, openFile);
  if (wanted.body === undefined) return { headers: {} };
  return {
    body: JSON.stringify(wanted.body),
    headers: { 'content-type': 'application/json' },
  };
}

/** Returns a call's body for a record of it: a file is only named. */
export function statedBody({ body, form }: Call): Json | undefined {
  if (form === undefined) return body;
  const files = Object.entries(form.files).map(([name, { path, size, mime }]) => [
    name,
    `(${path}, ${mime}, ${size} bytes)`,
  ]);
  return { ...form.fields, ...Object.fromEntries(files) };
}

/** A part of a form: text, or the content of a file. */
type Part = string | { readonly file: StackFile; readonly content: FileContent };

/** A form as `multipart/form-data` (RFC 7578), whose files are read while it is sent. Throws where one of them changed. */
async function encodeForm(
  { fields, files }: NonNullable<Call['form']>,
  openFile: OpenFile,
): Promise<Content> {
  const boundary = `callsheet-${randomUUID()}`;
  const parts: Part[] = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\n${disposition(name)}\r\n\r\n${value}\r\n`,
  );
  for (const [name, file] of Object.entries(files)) {
    const content = await openUnchanged(file, openFile);
    const title = disposition(name, file.path.split('/').at(-1));
    const head = `--${boundary}\r\n${title}\r\nContent-Type: ${file.mime}\r\n\r\n`;
    parts.push(head, { file, content }, '\r\n');
  }
  parts.push(`--${boundary}--\r\n`);
  const sizes = parts.map((part) =>
    typeof part === 'string' ? Buffer.byteLength(part) : part.content.size,
  );
  const length = sizes.reduce((sum, size) => sum + size, 0);
  return {
    body: concatenate(parts),
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(length),
    },
  };
}

async function* concatenate(parts: readonly Part[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const part of parts) {
    if (typeof part === 'string') yield Buffer.from(part);
    else yield* readUnchanged(part.file, part.content);
  }
}

function disposition(name: string, file?: string): string {
  const named = `Content-Disposition: form-data; name="${escaped(name)}"`;
  return file === undefined ? named : `${named}; filename="${escaped(file)}"`;
}

/** Escapes the characters that would end a quoted name, as browsers write it. */
function escaped(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

/** Opens a file of the stack, without reading it yet. */
export type OpenFile = (file: StackFile) => Promise<FileContent>;

/** A file's content, such as `fs.openAsBlob` gives it. */
export type FileContent = {
  /** Bytes. */
  readonly size: number;
  readonly stream: () => AsyncIterable<Uint8Array>;
};

/**
 * Opens a file whose size was announced. Throws `CallsheetError('stale')` where it is gone or has another
 * one by now.
 */
export async function openUnchanged(file: StackFile, openFile: OpenFile): Promise<FileContent> {
  const content = await openFile(file).catch((cause: unknown) => {
    throw changed(file, 'it can no longer be opened', cause);
  });
  if (content.size === file.size) return content;
  throw changed(file, `${file.size} bytes before, ${content.size} now`);
}

/**
 * A file's bytes, read as they are sent. They are hashed on the way, and the last of them are held back
 * until the hash is known: of a file that changed, the platform never gets the whole. Throws
 * `CallsheetError('stale')` then.
 */
export async function* readUnchanged(
  file: StackFile,
  content: FileContent,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash('sha256');
  let held: Uint8Array | undefined;
  try {
    for await (const chunk of content.stream()) {
      hash.update(chunk);
      if (held !== undefined) yield held;
      held = chunk;
    }
  } catch (cause) {
    throw changed(file, 'it can no longer be read', cause);
  }
  if (hash.digest('hex') !== file.sha256) throw changed(file, 'its content is another one');
  if (held !== undefined) yield held;
}

function changed(file: StackFile, how: string, cause?: unknown): CallsheetError {
  return new CallsheetError('stale', `${file.path} changed while it was used: ${how}`, {
    hint: 'The upload did not complete. Plan again, review, and apply the new plan.',
    cause,
  });
}

/** Sends requests as often as it takes, and knows how many that were. */
export type Sender = {
  /** Makes the request again for each try, since a stream can be read only once. All go to `host`. */
  readonly send: (
    host: string,
    make: () => WireRequest | Promise<WireRequest>,
    isRepeatable: boolean,
  ) => Promise<WireAnswer>;
  /**
   * Sends a read that is of no consequence: once, and only before `until`. Undefined: its turn did not come. Neither the
   * limiter nor `spent` takes note of the answer, so that a slow or refused one slows nothing else.
   */
  readonly sendOnce: (
    host: string,
    make: () => WireRequest | Promise<WireRequest>,
    until: AbortSignal,
  ) => Promise<WireAnswer | undefined>;
  /** Requests sent so far and the time they took together, in seconds. */
  readonly spent: () => { readonly requests: number; readonly seconds: number };
};

type SenderOptions = {
  readonly transport: Transport;
  readonly limiter: Limiter;
  readonly pause: Pause;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Aborted when the client closes: reads in flight end, and nothing is sent again. */
  readonly stop: AbortSignal;
  readonly trace: ((entry: TraceEntry) => void) | undefined;
};

/** Attempts of one request that end in a passing fault. */
const MOST_ATTEMPTS = 6;
/** The same for one that took as long as it may: a platform that stays silent is given up after a minute. */
const MOST_ATTEMPTS_SLOW = 2;
/** Those that are refused are counted apart: rates are limited by the minute or so, which the others would not outlast. */
const MOST_ATTEMPTS_LIMITED = 10;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 20_000;
/** The same where `Retry-After` says when to come again. */
const LONGEST_DELAY_ASKED_MS = 1000;
/** All the waiting for one request, for the sake of others included. A `Retry-After` beyond it is an error at once: a pipeline should not hang. */
export const LONGEST_WAIT_MS = 300_000;

/** Nothing was saved (503), or something between here and the platform failed (502, 504). */
const PASSING_STATUS = new Set([502, 503, 504]);

/**
 * Sends until there is an answer that is not a passing fault, and gives the last one.
 *
 * | outcome                               | is sent again                     |
 * |---------------------------------------|-----------------------------------|
 * | 429: it was turned away               | always                            |
 * | 502, 503, 504                         | if repeating is harmless          |
 * | a network fault after it was sent     | if repeating is harmless          |
 * | a timeout                             | once, if repeating is harmless    |
 * | a network fault before it was sent    | unless nothing ever answered there |
 *
 * So a create is never sent twice blindly (`isRepeatable` is false, see `createBackOff`). Waits for a full-jitter exponential
 * time, and at least as long as `Retry-After` asks (Limits, Errors). After a 429 every request to the
 * host waits as long, not only this one.
 */
export function createSender(options: SenderOptions): Sender {
  const { transport, limiter, pause, now, stop, trace } = options;
  let requests = 0;
  let milliseconds = 0;

  async function attemptOnce(request: WireRequest): Promise<WireAnswer> {
    const start = now();
    try {
      return await transmit(request.method === 'GET' ? { ...request, signal: stop } : request);
    } finally {
      requests += 1;
      milliseconds += now() - start;
    }
  }

  async function transmit(request: WireRequest): Promise<WireAnswer> {
    const start = now();
    const ended = (outcome: Outcome) => trace?.(traceEntry(request, outcome, start, now()));
    try {
      const answer = await transport.send(request);
      ended({ answer });
      return answer;
    } catch (error) {
      ended({ error });
      throw error;
    }
  }

  function delayAfter(attempt: number, outcome: Outcome): number {
    const header = 'answer' in outcome ? outcome.answer.headers['retry-after'] : undefined;
    return delayBefore(attempt + 1, header, options);
  }

  const send: Sender['send'] = async (host, make, isRepeatable) => {
    const attempts = { refused: 0, failed: 0 };
    let waited = 0;
    let last: Outcome | undefined;

    for (;;) {
      let delay: number | undefined;
      const isOver = (outcome: Outcome, attempt: number, wait: number) =>
        attempt >= attemptsFor(outcome, isRepeatable) || waited + wait > LONGEST_WAIT_MS;

      /** A permanent refusal of the host is no reason to let others wait. */
      const pauseAfter: Attempt['pauseAfter'] = (answer, { refusals, held }) => {
        const attempt = attempts.refused + 1;
        delay = delayAfter(Math.max(attempt, refusals), { answer });
        return isOver({ answer }, attempt, held + delay) ? 0 : delay;
      };

      const patience = LONGEST_WAIT_MS - waited;
      const outcome = await limiter
        .send(host, {
          pauseAfter,
          patience,
          stop,
          send: async () => (stop.aborted ? undefined : attemptOnce(await make())),
        })
        .then(
          ({ answer, held }): Outcome | undefined => {
            waited += held;
            return answer && { answer };
          },
          (error: unknown) => ({ error }),
        );
      // The client closed before it was sent.
      if (outcome === undefined) return settled(last ?? { error: wasClosed() });
      last = outcome;
      const attempt = count(attempts, outcome);
      delay ??= delayAfter(attempt, outcome);
      if (isOver(outcome, attempt, delay) || stop.aborted) return settled(outcome);
      waited += delay;
      await pause.sleep(delay, stop);
      if (stop.aborted) return settled(outcome);
    }
  };

  const sendOnce: Sender['sendOnce'] = async (host, make, until) => {
    const signal = AbortSignal.any([stop, until]);
    let answer: WireAnswer | undefined;
    await limiter.send(host, {
      pauseAfter: () => 0,
      patience: LONGEST_WAIT_MS,
      stop: signal,
      async send() {
        if (!signal.aborted) answer = await transmit({ ...(await make()), signal });
        // The limiter learns nothing from an answer that it does not see.
        return undefined;
      },
    });
    return answer;
  };

  return { send, sendOnce, spent: () => ({ requests, seconds: milliseconds / 1000 }) };
}

function wasClosed(): CallsheetError {
  return new CallsheetError('interrupted', 'the client was closed');
}

function settled(outcome: Outcome): WireAnswer {
  if ('error' in outcome) throw outcome.error;
  return outcome.answer;
}

/** Counts an attempt among those that ended like it, and gives their number. */
function count(attempts: { refused: number; failed: number }, outcome: Outcome): number {
  const kind = 'answer' in outcome && outcome.answer.status === 429 ? 'refused' : 'failed';
  attempts[kind] += 1;
  return attempts[kind];
}

/** How often a request may be sent that came to this. */
function attemptsFor(outcome: Outcome, isRepeatable: boolean): number {
  if ('answer' in outcome) {
    const { status } = outcome.answer;
    if (status === 429) return MOST_ATTEMPTS_LIMITED;
    return PASSING_STATUS.has(status) && isRepeatable ? MOST_ATTEMPTS : 1;
  }
  const { error } = outcome;
  if (!(error instanceof NetworkError) || error.isLasting) return 1;
  if (!isRepeatable && !error.isUnsent) return 1;
  return error.isTimeout ? MOST_ATTEMPTS_SLOW : MOST_ATTEMPTS;
}

/** Milliseconds to wait before a try. `header`: what the last answer had as `Retry-After`. */
function delayBefore(
  attempt: number,
  header: string | undefined,
  { pause, now }: Pick<SenderOptions, 'pause' | 'now'>,
): number {
  const longest = header === undefined ? LONGEST_DELAY_MS : LONGEST_DELAY_ASKED_MS;
  return Math.max(askedDelay(header, now), fullJitter(attempt - 1, pause.random, longest));
}

/**
 * Waits between the tries of one request that is not repeatable, while its caller finds out each time that the last try
 * did nothing. False: no other try is due, because the last one failed otherwise than in the table, all tries or all
 * time are used up, or `stop` is aborted.
 *
 * | the try ended in              | another one is due                                         |
 * |-------------------------------|------------------------------------------------------------|
 * | 503                           | yes: nothing was saved (Errors)                            |
 * | a 502 that is not the platform's own | yes: the answer was lost                            |
 * | a broken connection           | yes: the answer was lost                                   |
 * | 504, a timeout                | no: the platform may still be at work on it                |
 */
export type BackOff = (error: unknown) => Promise<boolean>;

export function createBackOff(options: Pick<SenderOptions, 'pause' | 'now' | 'stop'>): BackOff {
  const { pause, stop } = options;
  let attempt = 1;
  let waited = 0;
  return async (error) => {
    if (!isPassing(error) || attempt >= MOST_ATTEMPTS) return false;
    attempt += 1;
    const header = error instanceof ApiError ? error.retryAfter : undefined;
    const delay = delayBefore(attempt, header, options);
    waited += delay;
    if (waited > LONGEST_WAIT_MS || stop.aborted) return false;
    await pause.sleep(delay, stop);
    return !stop.aborted;
  };
}

function isPassing(error: unknown): boolean {
  if (error instanceof NetworkError) return !error.isUnsent && !error.isTimeout;
  if (!(error instanceof ApiError)) return false;
  return error.status === 503 || (error.status === 502 && error.error === undefined);
}

/** Anywhere between nothing and a time that doubles with each attempt. */
export function fullJitter(
  attempt: number,
  random: () => number,
  longest = LONGEST_DELAY_MS,
): number {
  const ceiling = Math.min(longest, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return Math.round(random() * ceiling);
}
