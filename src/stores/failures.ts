import { CallsheetError } from '../core/errors.ts';

/** What a store that is far away says when it cannot go on. */

const KEPT =
  'Nothing more is sent to the platform, and what was written so far is kept. Look whether the store runs and can be reached from here, then run the same command again: that settles what is open, and goes on.';

/** No answer, or one that leaves open whether it was done. */
export class NoAnswer extends CallsheetError {
  constructor(what: Doing, location: string, why: string, cause?: unknown) {
    super('state', `cannot ${what} the state ${location}: ${why}`, {
      hint: KEPT,
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

export type Doing = 'read' | 'write' | 'lock' | 'unlock' | 'open';

/** A plain no, with what to do about it. */
export function refusedByStore(
  what: Doing,
  location: string,
  why: string,
  hint: string = KEPT,
  cause?: unknown,
): CallsheetError {
  return new CallsheetError('state', `cannot ${what} the state ${location}: ${why}`, {
    hint,
    ...(cause === undefined ? {} : { cause }),
  });
}

const WORDS: { readonly [code: string]: string } = {
  ECONNREFUSED: 'nobody listens there (connection refused)',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
  UND_ERR_SOCKET: 'the connection was lost',
  CONNECTION_CLOSED: 'the connection was lost',
  CONNECTION_DESTROYED: 'the connection was lost',
  CONNECTION_ENDED: 'the connection was lost',
  ENOTFOUND: 'there is no server of that name',
  EAI_AGAIN: 'its name could not be looked up',
  ETIMEDOUT: 'it did not answer in time',
  CONNECT_TIMEOUT: 'it did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'it did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'it did not answer in time',
  EHOSTUNREACH: 'it cannot be reached',
  ENETUNREACH: 'it cannot be reached',
};

/** Why a connection failed, in words; undefined for what is no failure of a connection. */
export function lossOf(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  const isNetwork =
    code in WORDS || /^(UND_ERR_|ERR_TLS|ERR_SSL|CERT_|UNABLE_|SELF_SIGNED|DEPTH_ZERO)/.test(code);
  return isNetwork ? (WORDS[code] ?? code) : undefined;
}

export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
}
