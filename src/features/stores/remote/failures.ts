import { CallsheetError, formatDuration, formatSize } from '../../../core/errors.ts';
import {
  type CertificateFault,
  findCertificateFault,
  IDENTIFY,
  isIdentityRefused,
} from '../../../platform/trust.ts';
import { MOST_JOURNAL_BYTES } from '../../../state/bounds.ts';
import { Unanswered } from '../../../state/failures.ts';
import type { LockEffects } from '../../../state/lock.ts';

/** Hints of a remote store's failures. */
const LOOK = 'Check that the store runs and can be reached from here.';
const SETTLES =
  'Nothing more is sent to the platform, and everything written so far is kept. Then run the same command again: it recovers what is open, and continues.';

/** Until something is to be written, no run has begun, and nothing is kept or open. */
function hintFor(what: Doing, todo: string): string {
  return what === 'write' ? `${todo} ${SETTLES}` : todo;
}

/** No answer, or one that leaves open whether it was done. */
export class NoAnswer extends Unanswered {
  /** It was waited for as long as one waits. */
  readonly isTimeout: boolean;
  /** No connection came about: nothing was asked yet. */
  readonly isAtDoor: boolean;
  /** The server refused or ended the connection. */
  readonly isBroken: boolean;

  constructor(what: Doing, location: string, loss: Loss, cause?: unknown) {
    const { words, isTimeout = false, isAtDoor = false, isBroken = false } = loss;
    super('state', `cannot ${what} the state ${location}: ${words}`, {
      hint: hintFor(what, LOOK),
      ...(cause === undefined ? {} : { cause }),
    });
    this.isTimeout = isTimeout;
    this.isAtDoor = isAtDoor;
    this.isBroken = isBroken;
  }
}

/** A place that another program uses. */
export function takenByOthers(location: string, what: string): CallsheetError {
  return new CallsheetError('state', `${location} is not a Callsheet state: ${what}`, {
    hint: 'Nothing was written there. Use another database, or rename the schema that is in the way.',
  });
}

/** How a connection failed, in words. */
export type Loss = {
  readonly words: string;
  readonly isTimeout?: boolean;
  readonly isAtDoor?: boolean;
  /** The server refused or ended the connection, as one does that starts again. */
  readonly isBroken?: boolean;
};

export type Doing = 'read' | 'write' | 'lock' | 'unlock' | 'open';

/** A plain no. `todo`: what a person can do about it. */
export function refusedByStore(
  what: Doing,
  location: string,
  why: string,
  todo: string = LOOK,
  cause?: unknown,
): CallsheetError {
  return new CallsheetError('state', `cannot ${what} the state ${location}: ${why}`, {
    hint: hintFor(what, todo),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A journal of which no more is written, while there is room for what recovers the run. */
export function tooLargeJournal(location: string, run: string, size: number): CallsheetError {
  return refusedByStore(
    'write',
    location,
    `the journal of run ${run} needs ${formatSize(size)}, and the store allows ${formatSize(MOST_JOURNAL_BYTES)}`,
    'Apply in parts, with --target, or keep the state in a file, whose journals may be larger.',
  );
}

/** The code of a connection that ended without one. */
export const LOST = 'ECONNRESET';
const WORDS: { readonly [code: string]: string } = {
  ECONNREFUSED: 'no server listens there (connection refused)',
  [LOST]: 'the connection was lost',
  EPIPE: 'the connection was lost',
  UND_ERR_SOCKET: 'the connection was lost',
  ENOTFOUND: 'the name of the server does not exist',
  EAI_AGAIN: 'its name could not be looked up',
  EHOSTUNREACH: 'it cannot be reached',
  ENETUNREACH: 'it cannot be reached',
};

/** Codes of a server that is there and starts again, or is not there at all: that cannot be told at once. */
const BROKEN = new Set(['ECONNREFUSED', LOST, 'EPIPE', 'UND_ERR_SOCKET']);

/** Codes of our own timeouts. */
export const TIMED_OUT = 'ETIMEDOUT';
export const NOT_CONNECTED = 'UND_ERR_CONNECT_TIMEOUT';
const TIMEOUTS = new Set([TIMED_OUT, 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const NETWORK = /^(UND_ERR_|ERR_TLS|ERR_SSL)/;

/** Why a connection failed, in words; undefined for what is no failure of a connection. */
export function findLoss(error: unknown): Loss | undefined {
  const code = findCode(error);
  if (code === undefined) return undefined;
  const late = { words: 'it did not answer in time', isTimeout: true };
  if (code === NOT_CONNECTED) return { ...late, isAtDoor: true };
  if (TIMEOUTS.has(code)) return late;
  const words = WORDS[code] ?? (NETWORK.test(code) ? code : undefined);
  if (words === undefined) return undefined;
  return BROKEN.has(code) ? { words, isBroken: true } : { words };
}

/** Why TLS ended a connection, and what to do; undefined where it did not. Asked again it would be the same. */
export function findRefusal(error: unknown): CertificateFault | undefined {
  const code = findCode(error) ?? '';
  if (isIdentityRefused(code))
    return { why: 'the server wants another certificate', todo: IDENTIFY };
  const fault = findCertificateFault(code);
  const said = error instanceof Error ? ` (${error.message})` : '';
  return fault && { ...fault, why: `the certificate of the server ${fault.why}${said}` };
}

export function findCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return findCode(error.cause);
}

/** How long a store may take, and how often it is asked again. */
const SECONDS = 30;
const MOST_SECONDS = 600;
const VARIABLE = 'CALLSHEET_STATE_TIMEOUT';

/**
 * Milliseconds in which a store must answer, and for which one that is lost is asked again. Throws
 * `CallsheetError('usage')` where the environment says something else than a number of seconds.
 */
export function timeoutFrom(env: Readonly<Record<string, string | undefined>>): number {
  const text = env[VARIABLE];
  if (text === undefined || text === '') return SECONDS * 1_000;
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds >= 1 && seconds <= MOST_SECONDS) return seconds * 1_000;
  throw new CallsheetError('usage', `${VARIABLE} is ${JSON.stringify(text)}`, {
    hint: `Set the number of seconds in which the state store must answer, and for which a run waits for a store that is away: 1 to ${MOST_SECONDS}, by default ${SECONDS}.`,
  });
}

/** Megabytes that a run may send to a server which takes the whole state with each batch. */
export const TRAFFIC = 'CALLSHEET_STATE_TRAFFIC';
const MOST_TRAFFIC_MB = 500;
const MB = 1024 * 1024;

/** The same in bytes. Throws `CallsheetError('usage')` where the environment says something else than a number. */
export function trafficFrom(env: Readonly<Record<string, string | undefined>>): number {
  const text = env[TRAFFIC];
  if (text === undefined || text === '') return MOST_TRAFFIC_MB * MB;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text) * MB;
  throw new CallsheetError('usage', `${TRAFFIC} is ${JSON.stringify(text)}`, {
    hint: `Set the megabytes that a run may send to a state over HTTP: 1 to 9999999, by default ${MOST_TRAFFIC_MB}.`,
  });
}

/** The most that is waited before the second try and those after it: short, as a run stands still meanwhile. */
const PAUSES = [200, 800, 2_000];
/** Tries where a store has not answered yet. */
const TRIES = PAUSES.length + 1;
/** Milliseconds for which one that refuses or ends connections is waited for, as it may be starting again. */
const STARTING_MS = 5_000;
/** A run that stands still for so long says why. */
const REPORT_AFTER_MS = 2_000;

/** Asks one store again. */
export type Retries = {
  /** Does again, after pauses, what may be done twice and got no answer. */
  readonly again: <T>(work: () => Promise<T>) => Promise<T>;
};

/**
 * Asks a store again for as long as somebody may wait for it.
 *
 *     before its first answer     four tries within seconds: its address may be misspelt; one that refuses or ends
 *                                 connections for five seconds, as it may be starting again
 *     after it                    until `most` milliseconds have passed since it was lost: a restart takes less
 *     its whole time passed       not again: that was as long as somebody may wait
 *
 * `warn`: gets the sentence that a store which answered is waited for, or that it answers again.
 */
export function openRetries(
  most: number,
  { now, sleep }: Pick<LockEffects, 'now' | 'sleep'>,
  warn: (text: string) => void = () => {},
): Retries {
  let hasAnswered = false;
  /** When it was lost: what is asked later waits no longer than what was asked first. */
  let lostAt: number | undefined;
  let isReported = false;

  function answered(): void {
    if (isReported && lostAt !== undefined)
      warn(`The state store answers again, after ${formatDuration((now() - lostAt) / 1_000)}.`);
    hasAnswered = true;
    lostAt = undefined;
    isReported = false;
  }

  function tell({ message, isTimeout }: NoAnswer, away: number): void {
    if (isReported || (away < REPORT_AFTER_MS && !isTimeout)) return;
    isReported = true;
    warn(
      `Waiting for the state store: ${message}. Callsheet tries again for up to ${formatDuration(most / 1_000)} (${VARIABLE}).`,
    );
  }

  return {
    async again(work) {
      // Its own, too: a store may answer others and never this.
      let since: number | undefined;
      let waited = 0;
      for (let attempt = 1; ; attempt += 1) {
        try {
          const result = await work();
          answered();
          return result;
        } catch (error) {
          if (!(error instanceof NoAnswer)) throw error;
          lostAt ??= now();
          since ??= lostAt;
          const away = now() - since;
          const isOver = hasAnswered
            ? away >= most || (error.isTimeout && !error.isAtDoor)
            : error.isTimeout ||
              (error.isBroken ? Math.max(away, waited) >= STARTING_MS : attempt >= TRIES);
          if (isOver) throw error;
          if (hasAnswered) tell(error, away);
          const pause = pauseAfter(attempt);
          waited += pause;
          await sleep(pause);
        }
      }
    },
  };
}

/** Anything up to the pause, so that many who failed at once spread out. */
function pauseAfter(attempt: number): number {
  const longest = PAUSES[Math.min(attempt, PAUSES.length) - 1] ?? 0;
  return Math.round(Math.random() * longest);
}
