import {
  getOwn,
  isList,
  isObject,
  type Json,
  type JsonObject,
  mapTexts,
  type Value,
  type ValueObject,
} from './value.ts';

/**
 * Long texts of a document, each held once. A plan says a prompt up to four times (before and after, of the resource
 * and of the field), and a fleet says it a thousand times. In a plan file and in a page a mark such as `$text:0`
 * stands in the place of such a text, and a list holds the texts. What begins like a mark is always in the list, so
 * that no text of the platform passes for one.
 */

/** Begins what stands for a text. */
const MARK = '$text:';
const MARKED = /^\$text:(?:0|[1-9]\d{0,8})$/;

/** Characters of the shortest text in the list: digests, ids and most sentences of a plan stay where they are. */
const LONG = 128;

/** Returns the mark that stands for a text of the list. */
export function getMark(index: number): string {
  return `${MARK}${index}`;
}

/** Node takes a longer text's length for its hash, and a map of many such texts would be searched from end to end. */
const HASHED = 16_000;

/** A list of long texts, which grows with every value that is given to `pack`: it comes back with marks in it. */
export function createTextTable() {
  const texts: string[] = [];
  const marks = new Map<string, string>();
  const pieces = new Map<string, number>();
  const numberPiece = (piece: string) => {
    const known = pieces.get(piece) ?? pieces.size;
    pieces.set(piece, known);
    return known;
  };
  const buildKey = (text: string) => {
    let key = '';
    for (let at = 0; at < text.length; at += HASHED)
      key += `${numberPiece(text.slice(at, at + HASHED))},`;
    return key;
  };
  const held = (text: string) => {
    if (text.length < LONG && !text.startsWith(MARK)) return text;
    const key = buildKey(text);
    const mark = marks.get(key) ?? getMark(texts.push(text) - 1);
    marks.set(key, mark);
    return mark;
  };
  return { texts, pack: (value: Json): Json => mapTexts(value, held) };
}

/** A value with its texts in their places. Throws where a mark names no text. */
export function withTexts(value: Json, texts: readonly Json[]): Json {
  return mapTexts(value, (text) => {
    if (!text.startsWith(MARK)) return text;
    const found = MARKED.test(text) ? texts[Number(text.slice(MARK.length))] : undefined;
    if (typeof found !== 'string') throw new RangeError(`${text} names no text of the document`);
    return found;
  });
}

/** Characters of the shortest text that is worth a comparison. */
const SHARED = 1000;

/**
 * A record in which each long text that another document has at the same place is the very text of that one: whoever
 * keeps both holds it once. Elements of lists count by their position.
 */
export function sharingTexts(record: JsonObject, other: ValueObject): JsonObject {
  return Object.fromEntries(
    Object.entries(record).map(([name, member]) => [name, share(member, getOwn(other, name))]),
  );
}

function share(value: Json, other: Value | undefined): Json {
  if (typeof value === 'string')
    return value.length >= SHARED && typeof other === 'string' && value === other ? other : value;
  if (isList(value)) return isList(other) ? value.map((item, at) => share(item, other[at])) : value;
  return isObject(value) && isObject(other) ? sharingTexts(value, other) : value;
}
