import type { JsonScalar } from '../core/value.ts';
import type { Place, Source } from './source.ts';
import type { Member, Written, WrittenMap, WrittenScalar } from './written.ts';

/**
 * Written trees of one file in a few large pieces: numbers in one array, texts in another. As objects, an agent
 * of sixty fields takes fifteen kilobytes, nearly all of it places that nobody ever asks for. A packed map or list
 * is made into its members each time it is looked at; who looks more than once unpacks it first.
 *
 * ```
 * scalar  head start end [origin] value [text]
 * list    head start end [origin] next node…
 * map     head start end [origin] next (key start end node)…
 * ```
 */
type Tape = {
  readonly source: Source;
  numbers: Int32Array;
  length: number;
  readonly values: JsonScalar[];
  /** Where short texts are that were met before. Many are alike. Undefined once the tape is closed. */
  known: Map<string, number> | undefined;
};

const TYPE = 0b11;
const LIST = 0b01;
const MAP = 0b10;
const HAS_ORIGIN = 0b100;
const IS_EMPTY = 0b1000;
const IS_LOOSE = 0b1_0000;
const HAS_TEXT = 0b10_0000;

/** Longer texts are hardly ever alike, and looking for them takes as long as they are. */
const SHORT = 64;

type Packer = {
  /** The same tree, packed. */
  readonly pack: (node: WrittenMap) => WrittenMap;
  /** Lets go of what is only needed while trees come in. */
  readonly close: () => void;
};

/** Packs trees of one file. */
export function openPacker(source: Source): Packer {
  const tape: Tape = {
    source,
    numbers: new Int32Array(256),
    length: 0,
    values: [],
    known: new Map(),
  };
  return {
    pack: (node) => {
      const at = tape.length;
      write(tape, node);
      return new PackedMap(tape, at);
    },
    close: () => {
      tape.numbers = tape.numbers.slice(0, tape.length);
      tape.known = undefined;
    },
  };
}

/** A whole tree as ordinary objects. What is not packed stays as it is. */
export function unpack(node: WrittenMap): WrittenMap {
  return node instanceof PackedMap ? node.whole() : node;
}

class PackedMap {
  readonly type = 'map';
  readonly place: Place;
  declare readonly origin?: Place;
  readonly #tape: Tape;
  readonly #at: number;

  constructor(tape: Tape, at: number) {
    this.#tape = tape;
    this.#at = at;
    this.place = placeAt(tape, at + 1);
    const origin = originAt(tape, at);
    if (origin !== undefined) this.origin = origin;
  }

  get members(): ReadonlyMap<string, Member> {
    return membersAt(this.#tape, this.#at, shallow);
  }

  whole(): WrittenMap {
    return deep(this.#tape, this.#at) as WrittenMap;
  }
}

class PackedList {
  readonly type = 'list';
  readonly place: Place;
  declare readonly origin?: Place;
  readonly #tape: Tape;
  readonly #at: number;

  constructor(tape: Tape, at: number) {
    this.#tape = tape;
    this.#at = at;
    this.place = placeAt(tape, at + 1);
    const origin = originAt(tape, at);
    if (origin !== undefined) this.origin = origin;
  }

  get items(): readonly Written[] {
    return itemsAt(this.#tape, this.#at, shallow);
  }
}

function put(tape: Tape, number: number): void {
  if (tape.length === tape.numbers.length) {
    const larger = new Int32Array(tape.length * 2);
    larger.set(tape.numbers);
    tape.numbers = larger;
  }
  tape.numbers[tape.length] = number;
  tape.length += 1;
}

function putPlace(tape: Tape, { start, end }: Place): void {
  put(tape, start);
  put(tape, end);
}

function putValue(tape: Tape, value: JsonScalar): void {
  const isShort = typeof value === 'string' && value.length <= SHORT;
  const at = (isShort ? tape.known?.get(value) : undefined) ?? tape.values.push(value) - 1;
  if (isShort) tape.known?.set(value, at);
  put(tape, at);
}

function write(tape: Tape, node: Written): void {
  const { place, origin } = node;
  const type = node.type === 'map' ? MAP : node.type === 'list' ? LIST : scalarHead(node);
  put(tape, type | (origin === undefined ? 0 : HAS_ORIGIN));
  putPlace(tape, place);
  if (origin !== undefined) putPlace(tape, origin);
  if (node.type === 'scalar') {
    putValue(tape, node.value);
    if (node.text !== node.value) putValue(tape, node.text);
    return;
  }
  const next = tape.length;
  put(tape, 0);
  if (node.type === 'list') for (const item of node.items) write(tape, item);
  else {
    for (const { key, keyPlace, value } of node.members.values()) {
      putValue(tape, key);
      putPlace(tape, keyPlace);
      write(tape, value);
    }
  }
  tape.numbers[next] = tape.length;
}

function scalarHead({ value, text, empty, loose }: WrittenScalar): number {
  return (text === value ? 0 : HAS_TEXT) | (empty ? IS_EMPTY : 0) | (loose === true ? IS_LOOSE : 0);
}

function at({ numbers }: Tape, index: number): number {
  return numbers[index] as number;
}

function placeAt(tape: Tape, index: number): Place {
  return { source: tape.source, start: at(tape, index), end: at(tape, index + 1) };
}

function originAt(tape: Tape, node: number): Place | undefined {
  return at(tape, node) & HAS_ORIGIN ? placeAt(tape, node + 3) : undefined;
}

/** Where what a node holds begins: behind its places. */
function contentAt(tape: Tape, node: number): number {
  return node + (at(tape, node) & HAS_ORIGIN ? 5 : 3);
}

function afterNode(tape: Tape, node: number): number {
  const head = at(tape, node);
  const content = contentAt(tape, node);
  if ((head & TYPE) !== 0) return at(tape, content);
  return content + (head & HAS_TEXT ? 2 : 1);
}

type Read = (tape: Tape, node: number) => Written;

function shallow(tape: Tape, node: number): Written {
  const type = at(tape, node) & TYPE;
  if (type === MAP) return new PackedMap(tape, node);
  return type === LIST ? new PackedList(tape, node) : scalarAt(tape, node);
}

function deep(tape: Tape, node: number): Written {
  const type = at(tape, node) & TYPE;
  if (type === 0) return scalarAt(tape, node);
  const place = placeAt(tape, node + 1);
  const origin = originAt(tape, node);
  const placed = origin === undefined ? { place } : { place, origin };
  if (type === MAP) return { type: 'map', ...placed, members: membersAt(tape, node, deep) };
  return { type: 'list', ...placed, items: itemsAt(tape, node, deep) };
}

function scalarAt(tape: Tape, node: number): WrittenScalar {
  const head = at(tape, node);
  const content = contentAt(tape, node);
  const value = tape.values[at(tape, content)] as JsonScalar;
  const text = head & HAS_TEXT ? tape.values[at(tape, content + 1)] : value;
  const place = placeAt(tape, node + 1);
  const empty = (head & IS_EMPTY) !== 0;
  // A scalar without a text of its own is its text.
  const scalar: WrittenScalar = { type: 'scalar', place, value, text: text as string, empty };
  const origin = originAt(tape, node);
  if (origin === undefined && (head & IS_LOOSE) === 0) return scalar;
  return {
    ...scalar,
    ...(origin === undefined ? {} : { origin }),
    ...(head & IS_LOOSE ? { loose: true } : {}),
  };
}

function membersAt(tape: Tape, node: number, read: Read): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  const content = contentAt(tape, node);
  const end = at(tape, content);
  for (let index = content + 1; index < end; index = afterNode(tape, index + 3)) {
    const key = tape.values[at(tape, index)] as string;
    const keyPlace = placeAt(tape, index + 1);
    members.set(key, { key, keyPlace, value: read(tape, index + 3) });
  }
  return members;
}

function itemsAt(tape: Tape, node: number, read: Read): readonly Written[] {
  const items: Written[] = [];
  const content = contentAt(tape, node);
  const end = at(tape, content);
  for (let index = content + 1; index < end; index = afterNode(tape, index)) {
    items.push(read(tape, index));
  }
  return items;
}
