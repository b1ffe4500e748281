import { checkLevels as checkBounds, createMeter, Excess } from '../core/bounds.ts';
import type { Json } from '../core/value.ts';
import { beyondLimit, type RequestLine } from './errors.ts';

/**
 * The limits of what is taken of the platform, so that no answer takes all memory or never ends: each is far above
 * what the specification's records need, and all of them together hold a command below 512 MB.
 */
const MB = 1024 * 1024;

/** Bytes of one answer. A page of a hundred agents with prompts of 300 KB stays below, and one agent with 30 MB. */
export const MOST_ANSWER_BYTES = 32 * MB;
/** Bytes of answers that are being received at once; the connections of others are not read meanwhile. */
export const MOST_BYTES_UNDER_WAY = 32 * MB;
/** Pieces that one answer comes in, as each takes memory beside its bytes. A network's are some 1,400 bytes long. */
export const MOST_PIECES = 500_000;
/** Levels of one answer. Configuration may have 100 (`stack/yaml.ts`), and lists wrap it in three more. */
const MOST_LEVELS = 120;
/** Values of one larger answer. A page of call logs with transcripts of an hour has a million. */
const MOST_VALUES = 4_000_000;

/** Pages of one list: a million entries, at a hundred a page. */
export const MOST_PAGES = 10_000;
/** The same where nothing says where a list ends. */
export const MOST_UNCOUNTED_PAGES = 1_000;
/** Bytes of a list that is kept whole. A hundred thousand agents with prompts of 4 KB and as much again have 800 MB. */
export const MOST_LIST_BYTES = 1024 * MB;
/** Characters of what is kept of a list whose entries are reduced to a few fields: 600 for each of 100,000. */
export const MOST_LEAN_CHARACTERS = 64 * MB;
/** Characters of an id, which is a UUID or a number. */
export const MOST_ID_CHARACTERS = 1_000;
/** Characters of an access token: servers take no more in all headers together. */
export const MOST_TOKEN_CHARACTERS = 16_384;

/**
 * Throws where a body has more levels or values than are taken. A large one is to be looked at before it is parsed; of a
 * small one `checkLevels` is cheaper.
 */
export function checkBytes(line: RequestLine, bytes: Uint8Array): void {
  within(line, () => createMeter({ levels: MOST_LEVELS, values: MOST_VALUES }).take(bytes));
}

/** Throws where a body has more levels than are taken. */
export function checkLevels(line: RequestLine, body: Json): void {
  within(line, () => checkBounds(body, MOST_LEVELS));
}

function within(line: RequestLine, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof Excess
      ? beyondLimit(line, error.what, `${error.limit} in one answer`)
      : error;
  }
}

/** How long is waited, in milliseconds. */
export type Timeouts = {
  /** For a connection. */
  readonly connect: number;
  /** For an answer to begin. */
  readonly headers: number;
  /** For the next piece of an answer. */
  readonly body: number;
  /** For an answer to be whole once it has begun, however steadily it trickles. */
  readonly answer: number;
};

/** The platform answers within seconds; a server that stays silent for longer is treated as gone. */
export const DEFAULT_TIMEOUTS: Timeouts = {
  connect: 10_000,
  headers: 30_000,
  body: 60_000,
  answer: 60_000,
};
