import { formatNumber } from '../core/errors.ts';
import { isList, type Json, type JsonObject } from '../core/value.ts';
import { beyondLimit, type RequestLine } from './errors.ts';

/**
 * What is taken of the platform, so that nothing that it answers takes all memory or no end of time: each limit is far
 * above what the specification's records need, and all of them together hold a command below 512 MB.
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
/** An answer of fewer bytes is parsed without counting first: whatever it holds takes little memory. */
export const COUNTED_FROM_BYTES = 4 * MB;
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
 * Throws where a body has more levels or values than are taken. A large one is to be looked at before it is parsed,
 * since parsing `[[[[…` or `{},{},…` takes many times the memory of the text; of a small one `checkLevels` is cheaper.
 */
export function checkBytes(line: RequestLine, bytes: Uint8Array): void {
  let level = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === COMMA) values += 1;
    else if ((byte | BRACE_BIT) === OPENING) {
      values += 1;
      level += 1;
      if (level > MOST_LEVELS) throw tooDeep(line);
    } else if ((byte | BRACE_BIT) === CLOSING) level -= 1;
    if (values > MOST_VALUES) {
      const most = `${formatNumber(MOST_VALUES)} values`;
      throw beyondLimit(line, `more than ${most}`, `at most ${most} in one answer`);
    }
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** `[` and `{`, `]` and `}` differ in this bit alone. */
const BRACE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;
/** Strings that are longer are searched for their end, which takes a while to begin and is faster then. */
const SHORT_STRING = 64;

/** The index of the quote that ends a string; of the end of the text where none does. */
function endOfString(bytes: Uint8Array, start: number): number {
  const short = Math.min(bytes.length, start + SHORT_STRING);
  let at = start;
  for (; at < short; at += 1) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at += 1;
  }
  for (let end = bytes.indexOf(QUOTE, at); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let before = end - 1;
    while (before >= at && bytes[before] === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return bytes.length;
}

/** Throws where a body has more levels than are taken: what walks it later does so by recursion. */
export function checkLevels(line: RequestLine, body: Json): void {
  if (isNested(body) && isDeeper(body, MOST_LEVELS)) throw tooDeep(line);
}

function isNested(value: Json | undefined): value is JsonObject | readonly Json[] {
  return typeof value === 'object' && value !== null;
}

/**
 * It looks no deeper than it is told to, so it needs no more of the stack than that. Every answer goes through here:
 * plain loops take half as long as `some` and `isObject`.
 */
function isDeeper(value: JsonObject | readonly Json[], levels: number): boolean {
  if (levels === 0) return true;
  if (isList(value)) {
    for (const item of value) if (isNested(item) && isDeeper(item, levels - 1)) return true;
    return false;
  }
  for (const name in value) {
    const member = value[name];
    if (isNested(member) && isDeeper(member, levels - 1)) return true;
  }
  return false;
}

function tooDeep(line: RequestLine): Error {
  return beyondLimit(
    line,
    `JSON of more than ${MOST_LEVELS} levels`,
    `at most ${MOST_LEVELS} levels of lists and objects in each other`,
  );
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
