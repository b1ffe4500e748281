import { isList, isObject, type Json } from './value.ts';

/**
 * Values that differ in nothing but what platforms change on the way: white space at both ends, line ends, the
 * composition of letters, letter case and slash of an address, null for an empty text. The specification does not show
 * that texts are stored as they were sent (assumption `field.stored-as-sent`).
 *
 * The rule makes no two values equal by itself. It says that a difference may be the platform's doing, so that a plan says
 * so and a write that leaves it is no failure. `isSet`: of lists, order and repeats do not count.
 */
export function isAlike(one: Json, other: Json, isSet = false): boolean {
  const [a, b] = [one, other].map((value) => {
    const reduced = reduce(value);
    // A set is sorted by texts that may have changed.
    const isSorted = isSet && isList(reduced);
    return JSON.stringify(isSorted ? [...new Set(reduced.map(String))].sort() : reduced);
  });
  return a === b;
}

/** A text without white space at both ends, with line feeds, its letters composed. */
export function reduceText(text: string): string {
  return text.normalize('NFC').replaceAll(/\r\n?/g, '\n').trim();
}

/** An address as the WHATWG URL standard writes it; any other text as it is. */
export function writeAddress(text: string): string {
  return URL.parse(text)?.href ?? text;
}

const EMAIL = /^[^\s@<>]+@[^\s@<>]+$/;
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\/\S+$/i;

/** Members in the order of their names: lists keep theirs, as order may count. */
function reduce(value: Json): Json {
  if (typeof value === 'string') return reduceAddress(reduceText(value));
  if (isList(value)) return value.length === 0 ? null : value.map(reduce);
  if (!isObject(value)) return value;
  const members = Object.entries(value).flatMap(([key, member]) => {
    const reduced = reduce(member);
    return reduced === null ? [] : [[key, reduced] as const];
  });
  if (members.length === 0) return null;
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function reduceAddress(text: string): string | null {
  if (text === '') return null;
  if (EMAIL.test(text)) return text.toLowerCase();
  return ADDRESS.test(text) ? writeAddress(text).replace(/\/$/, '') : text;
}
