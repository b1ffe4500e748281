import { formatNumber, formatSize } from './errors.ts';
import { isList, type Json, type JsonObject } from './value.ts';

/**
 * Bounds on JSON that others write: the platform's answers, a state and its journals. Parsing `[[[[…` or `{},{},…` takes
 * many times the memory of the text, and code that walks a parsed value does so by recursion.
 */
export type Bounds = {
  /** Lists and objects in each other. */
  readonly levels: number;
  readonly values: number;
};

/**
 * Levels of every document of ours that comes back to be read: a plan, a snapshot, a state. Configuration has 100 at most,
 * and they put it into others.
 */
export const DOCUMENT_LEVELS = 128;

/** A text of fewer bytes is parsed without counting first: whatever it holds takes little memory. */
export const COUNTED_FROM_BYTES = 4 * 1024 * 1024;

/** Something beyond a bound. Both texts go on after the name of what has it: `has …`, `at most …`. */
export class Excess extends Error {
  readonly what: string;
  readonly limit: string;

  constructor(what: string, limit: string) {
    super(what);
    this.what = what;
    this.limit = limit;
  }
}

/** Throws `Excess` where something takes more bytes than it may. `noun` says which. */
export function checkSize(bytes: number, most: number, noun: string): void {
  if (bytes > most)
    throw new Excess(`${noun} of more than ${formatSize(most)}`, `at most ${formatSize(most)}`);
}

/**
 * Counts the levels and values of JSON texts as their bytes come; `take` throws `Excess`. A text may come in pieces, and
 * several texts one after the other are counted together.
 */
export function createMeter({ levels, values }: Bounds): {
  readonly take: (bytes: Uint8Array) => void;
} {
  let level = 0;
  let count = 0;
  let isInText = false;
  let isEscaped = false;

  /** The index behind the quote that ends a string, or the end of the piece. */
  function leaveText(bytes: Uint8Array, start: number): number {
    const short = Math.min(bytes.length, start + SHORT_STRING);
    let at = start;
    for (; at < short; at += 1) {
      if (isEscaped) isEscaped = false;
      else if (bytes[at] === BACKSLASH) isEscaped = true;
      else if (bytes[at] === QUOTE) {
        isInText = false;
        return at + 1;
      }
    }
    if (isEscaped && at < bytes.length) {
      isEscaped = false;
      at += 1;
    }
    for (let end = bytes.indexOf(QUOTE, at); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
      if (backslashesBefore(bytes, end, at) % 2 === 1) continue;
      isInText = false;
      return end + 1;
    }
    if (at < bytes.length) isEscaped = backslashesBefore(bytes, bytes.length, at) % 2 === 1;
    return bytes.length;
  }

  return {
    take(bytes) {
      let at = isInText ? leaveText(bytes, 0) : 0;
      while (at < bytes.length) {
        const byte = bytes[at] ?? 0;
        at += 1;
        if (byte === QUOTE) {
          isInText = true;
          at = leaveText(bytes, at);
        } else if (byte === COMMA) count += 1;
        else if ((byte | BRACE_BIT) === OPENING) {
          count += 1;
          level += 1;
          if (level > levels) throw tooDeep(levels);
        } else if ((byte | BRACE_BIT) === CLOSING) level -= 1;
        if (count > values)
          throw new Excess(
            `more than ${formatNumber(values)} values`,
            `at most ${formatNumber(values)} values`,
          );
      }
    },
  };
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

function backslashesBefore(bytes: Uint8Array, end: number, start: number): number {
  let before = end - 1;
  while (before >= start && bytes[before] === BACKSLASH) before -= 1;
  return end - 1 - before;
}

function tooDeep(levels: number): Excess {
  return new Excess(
    `JSON of more than ${levels} levels`,
    `at most ${levels} levels of lists and objects in each other`,
  );
}

/** Throws `Excess` where parsed JSON has more levels than that. It needs no more of the stack than the bound. */
export function checkLevels(value: unknown, levels: number): void {
  if (isNested(value) && isDeeper(value, levels)) throw tooDeep(levels);
}

type Nested = JsonObject | readonly Json[];

function isNested(value: unknown): value is Nested {
  return typeof value === 'object' && value !== null;
}

/** Every answer goes through here: plain loops take half as long as `some` and `isObject`. */
function isDeeper(value: Nested, levels: number): boolean {
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

/** Characters that are put into bytes at once to be counted. */
const PIECE = 1024 * 1024;
const encoder = new TextEncoder();

/** Counts a text that is a string already; as `createMeter`. */
export function countText(text: string, meter: Pick<ReturnType<typeof createMeter>, 'take'>): void {
  for (let at = 0; at < text.length; at += PIECE)
    meter.take(encoder.encode(text.slice(at, at + PIECE)));
}

/** The JSON in a text. Throws `Excess` beyond the bounds, and `SyntaxError` where it is none. */
export function parseWithin(text: string, bounds: Bounds): unknown {
  const isCounted = text.length >= COUNTED_FROM_BYTES;
  if (isCounted) countText(text, createMeter(bounds));
  const value: unknown = JSON.parse(text);
  if (!isCounted) checkLevels(value, bounds.levels);
  return value;
}
