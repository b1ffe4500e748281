import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Change } from '../core/plan-document.ts';
import {
  detached,
  getOwn,
  isList,
  isObject,
  type Json,
  type JsonObject,
  type Value,
} from '../core/value.ts';
import type { LeafChange } from '../diff/compare.ts';

/**
 * Holds the long texts of what is live as the stretch in which they differ from the configured text beside them, which is
 * held anyway. A plan that edits a fleet of long prompts would hold each of them twice. Such a text is put together
 * whenever it is read.
 */

/** Characters of the shortest text that is held so. */
const LONG = 10_000;

/** A text as a part of another one: what both begin and end with, and what stands between. */
type Held = {
  readonly beside: string;
  readonly head: number;
  readonly tail: number;
  /** If it is long, raw deflate of UTF-16: a stretch may begin or end within a pair of surrogates. */
  readonly middle: string | Buffer;
};

/** The text that was read last: the stages of a plan read the same one several times, one after the other. */
let last: { readonly held: Held; readonly text: string } | undefined;

function hold(text: string, beside: string): Held {
  const most = Math.min(text.length, beside.length);
  let head = 0;
  while (head < most && text.charCodeAt(head) === beside.charCodeAt(head)) head += 1;
  let tail = 0;
  const [end, other] = [text.length - 1, beside.length - 1];
  while (tail < most - head && text.charCodeAt(end - tail) === beside.charCodeAt(other - tail))
    tail += 1;
  const middle = text.slice(head, text.length - tail);
  return { beside, head, tail, middle: middle.length < LONG ? detached(middle) : deflate(middle) };
}

/** A copy, since what zlib returns is the beginning of a larger buffer. */
function deflate(text: string): Buffer {
  return Buffer.from(deflateRawSync(Buffer.from(text, 'utf16le'), { level: 1 }));
}

function read(held: Held): string {
  if (last?.held === held) return last.text;
  const { beside, head, tail, middle } = held;
  const between = typeof middle === 'string' ? middle : inflateRawSync(middle).toString('utf16le');
  const text = beside.slice(0, head) + between + beside.slice(beside.length - tail);
  last = { held, text };
  return text;
}

type Holder = (text: string, beside: unknown) => Held | undefined;

/** Holds each text of one change once, wherever it stands. */
function openHolder(): Holder {
  const known: { readonly text: string; readonly held: Held }[] = [];
  return (text, beside) => {
    if (text.length < LONG || text === beside) return undefined;
    const before = known.find((one) => one.text === text);
    if (before !== undefined) return before.held;
    const held = hold(text, typeof beside === 'string' ? beside : '');
    known.push({ text, held });
    return held;
  };
}

/** The same object with a member that is put together when it is read. */
function holding<T extends object>(one: T, name: string, held: Held | undefined): T {
  if (held === undefined) return one;
  const member = { enumerable: true, configurable: true, get: () => read(held) };
  return Object.defineProperty(extended(one, {}), name, member);
}

function holdMembers(document: JsonObject, other: Value | undefined, holder: Holder): JsonObject {
  let light = document;
  for (const [name, value] of Object.entries(document)) {
    const beside = isObject(other) ? getOwn(other, name) : undefined;
    if (typeof value === 'string') light = holding(light, name, holder(value, beside));
    else {
      const inside = holdInside(value, beside, holder);
      if (inside !== value) light = extended(light, { [name]: inside });
    }
  }
  return light;
}

function holdInside(value: Json, other: Value | undefined, holder: Holder): Json {
  if (isObject(value)) return holdMembers(value, other, holder);
  if (!isList(value)) return value;
  const light = value.map((item, at) =>
    holdInside(item, isList(other) ? other[at] : undefined, holder),
  );
  return light.some((item, at) => item !== value[at]) ? light : value;
}

/** A copy with other members. Those that are put together when they are read stay so: to spread them would read them. */
export function extended<T extends object>(one: T, more: Partial<T>): T {
  const members = {
    ...Object.getOwnPropertyDescriptors(one),
    ...Object.getOwnPropertyDescriptors(more),
  };
  return Object.defineProperties({}, members) as T;
}

/** The plan of one resource, with the texts of its live side held lightly. */
export function heldLightly<
  T extends { readonly change: Change; readonly leaves: readonly LeafChange[] },
>(result: T): T {
  const { change, leaves } = result;
  const holder = openHolder();
  const holdBefore = <B extends FieldSides>(one: B): B =>
    typeof one.before === 'string' ? holding(one, 'before', holder(one.before, one.after)) : one;
  const light = leaves.map(holdBefore);
  const fields = change.fields.map(holdBefore);
  // The document of what is taken over as it is has a getter of its own.
  const isAsked = Object.getOwnPropertyDescriptor(change, 'before')?.get !== undefined;
  const { before, after } = isAsked ? { before: null, after: null } : change;
  const document = before && holdMembers(before, after ?? undefined, holder);
  const isSame =
    document === before &&
    light.every((one, at) => one === leaves[at]) &&
    fields.every((one, at) => one === change.fields[at]);
  if (isSame) return result;
  const more = isAsked ? { fields } : { fields, before: document };
  return { ...result, change: extended(change, more), leaves: light };
}

type FieldSides = { readonly before?: unknown; readonly after?: unknown };
