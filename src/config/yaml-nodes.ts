import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { formatPosition } from '../core/diagnostics.ts';
import type { JsonScalar } from '../core/value.ts';
import type { Problem } from './problems.ts';
import { type Place, positionOf, type Source } from './source.ts';
import type { Member, Written, WrittenMap, WrittenScalar } from './written.ts';

/** Nodes that the aliases of one file may add. A few nested aliases are enough for billions. */
const MAX_ALIASED_NODES = 100_000;
/** See `MAX_DEPTH` in `yaml.ts`; aliases can make a document deeper than it is written. */
const MAX_ALIASED_DEPTH = 100;

type Conversion = {
  readonly source: Source;
  readonly anchors: Map<string, Written | 'open'>;
  readonly problems: Problem[];
  aliased: number;
  exhausted: boolean;
};

function placeOfNode(node: Node, source: Source): Place {
  const [start, end] = node.range ?? [0, 0, 0];
  return { source, start, end };
}

function scalar(place: Place, value: JsonScalar, text: string, empty: boolean): WrittenScalar {
  return { type: 'scalar', place, value, text, empty };
}

const LONG = 200;

/**
 * The parser gives a block of text as a chain of its lines. Looking through it makes it one string, before
 * thousands of chains are kept that would each be many small objects.
 */
function joinLines(text: string): void {
  text.includes('\0');
}

function convertScalar(node: Scalar, into: Conversion, place: Place): Written {
  const { value } = node;
  const text = node.source ?? String(value);
  if (value === null || value === undefined) return scalar(place, null, text, node.source === '');
  if (typeof value === 'string') {
    if (value.length > LONG) joinLines(value);
    return scalar(place, value, value, false);
  }
  if (typeof value === 'boolean') return scalar(place, value, text, false);
  if (typeof value === 'number' && Number.isFinite(value)) {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      into.problems.push({
        rule: 'yaml/number',
        message: 'the number has more digits than a number can carry',
        hint: 'Put it in quotes if it is an identifier',
        place,
      });
    }
    return scalar(place, value, text, false);
  }
  into.problems.push({
    rule: 'yaml/number',
    message: 'infinity and not-a-number cannot be sent to the platform',
    place,
  });
  return scalar(place, null, text, false);
}

/** Size and height of a converted node; stops counting once it is beyond what aliases may add. */
function measure(node: Written, limit: number): { readonly size: number; readonly height: number } {
  const children =
    node.type === 'list'
      ? node.items
      : node.type === 'map'
        ? [...node.members.values()].map((member) => member.value)
        : [];
  let size = 1;
  let height = 0;
  for (const child of children) {
    if (size > limit) break;
    const inner = measure(child, limit - size);
    size += inner.size;
    height = Math.max(height, inner.height + 1);
  }
  return { size, height };
}

function convertAlias(name: string, into: Conversion, place: Place, depth: number): Written {
  const nothing = scalar(place, null, '', false);
  if (into.exhausted) return nothing;
  const target = into.anchors.get(name);
  if (target === undefined || target === 'open') {
    const message =
      target === 'open'
        ? `the alias *${name} stands inside what it refers to`
        : `the alias *${name} has no anchor &${name} before it`;
    into.problems.push({ rule: 'yaml/alias', message, place });
    return nothing;
  }
  const { size, height } = measure(target, MAX_ALIASED_NODES - into.aliased);
  into.aliased += size;
  if (into.aliased > MAX_ALIASED_NODES || depth + height > MAX_ALIASED_DEPTH) {
    into.exhausted = true;
    into.problems.push({
      rule: 'yaml/alias',
      message: 'the aliases of the file add up to more than it may hold',
      hint: `At most ${MAX_ALIASED_NODES} values may come from aliases`,
      place,
    });
    return nothing;
  }
  return { ...target, place, origin: target.origin ?? target.place };
}

function keyText(pair: Pair): string | undefined {
  const { key } = pair;
  if (!isScalar(key) || key.value === null) return undefined;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

function convertPair(
  pair: Pair,
  into: Conversion,
  depth: number,
  holder: Place,
): Member | undefined {
  const keyPlace =
    pair.key !== null && typeof pair.key === 'object'
      ? placeOfNode(pair.key as Node, into.source)
      : holder;
  const key = keyText(pair);
  if (key === undefined) {
    into.problems.push({
      rule: 'yaml/key',
      message: 'a key must be a plain text',
      hint: 'Put {{…}} and other texts with brackets in quotes',
      place: keyPlace,
    });
    return undefined;
  }
  if (key === '<<') {
    into.problems.push({
      rule: 'yaml/merge-key',
      message: 'YAML 1.2 has no merge keys',
      hint: 'Lay the map over a base with base:, or use an alias for the whole value',
      place: keyPlace,
    });
    return undefined;
  }
  const value =
    pair.value === null
      ? scalar(keyPlace, null, '', true)
      : convert(pair.value as Node, into, depth + 1);
  // An empty value has no text to point at, so it is shown at its key.
  const placed = value.type === 'scalar' && value.empty ? { ...value, place: keyPlace } : value;
  return { key, keyPlace, value: placed };
}

function convertMap(node: YAMLMap, into: Conversion, place: Place, depth: number): WrittenMap {
  const members = new Map<string, Member>();
  for (const pair of node.items) {
    const member = convertPair(pair, into, depth, place);
    if (member === undefined) continue;
    const first = members.get(member.key);
    if (first === undefined) {
      members.set(member.key, member);
      continue;
    }
    into.problems.push({
      rule: 'yaml/duplicate-key',
      message: `the key "${member.key}" stands twice in one map, first at ${formatPosition(positionOf(first.keyPlace))}`,
      hint: 'Remove one of them',
      place: member.keyPlace,
    });
  }
  return { type: 'map', place, members };
}

function convertList(node: YAMLSeq, into: Conversion, place: Place, depth: number): Written {
  return {
    type: 'list',
    place,
    items: node.items.map((item) => convert(item as Node, into, depth + 1)),
  };
}

function convert(node: Node, into: Conversion, depth: number): Written {
  const place = placeOfNode(node, into.source);
  if (isAlias(node)) return convertAlias(node.source, into, place, depth);
  const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
  if (anchor !== undefined) into.anchors.set(anchor, 'open');
  const written = isMap(node)
    ? convertMap(node, into, place, depth)
    : isSeq(node)
      ? convertList(node, into, place, depth)
      : isScalar(node)
        ? convertScalar(node, into, place)
        : scalar(place, null, '', true);
  if (anchor !== undefined) into.anchors.set(anchor, written);
  return written;
}

/** The nodes of a parsed document as plain data with places. Aliases are followed, within bounds. */
export function toWritten(
  contents: Node | null,
  source: Source,
): { readonly root: Written | undefined; readonly problems: readonly Problem[] } {
  if (contents === null) {
    const place = { source, start: 0, end: 0 };
    return { root: scalar(place, null, '', true), problems: [] };
  }
  const into: Conversion = {
    source,
    anchors: new Map(),
    problems: [],
    aliased: 0,
    exhausted: false,
  };
  const root = convert(contents, into, 0);
  return { root: into.exhausted ? undefined : root, problems: into.problems };
}
