import type { JsonScalar } from '../core/value.ts';
import type { Place } from './source.ts';

/**
 * YAML as it was written: plain data in which every node knows its place. Bases, rows and overlays can
 * be laid over each other in this form without losing where each value came from.
 */
export type Written = WrittenScalar | WrittenList | WrittenMap;

type Placed = {
  readonly place: Place;
  /** Where the content stands, for a node that was written as an alias. */
  readonly origin?: Place;
};

export type WrittenScalar = Placed & {
  readonly type: 'scalar';
  readonly value: JsonScalar;
  /** The value's own spelling: `1.10` is the number 1.1. */
  readonly text: string;
  /** A key with nothing after it, which YAML reads as null. */
  readonly empty: boolean;
  /** A text that stands for a number or a truth value where a field takes one, as a cell of a CSV does. */
  readonly loose?: true;
};

export type WrittenList = Placed & { readonly type: 'list'; readonly items: readonly Written[] };

export type Member = {
  readonly key: string;
  readonly keyPlace: Place;
  readonly value: Written;
};

export type WrittenMap = Placed & {
  readonly type: 'map';
  readonly members: ReadonlyMap<string, Member>;
};

/** A member's value; undefined where the node is no map or has no such member. */
export function memberOf(node: Written | undefined, key: string): Member | undefined {
  return node?.type === 'map' ? node.members.get(key) : undefined;
}

/** What a node is, in words. */
export function describe(node: Written): string {
  if (node.type === 'list') return 'a list';
  if (node.type === 'map') return 'a map';
  if (node.value === null) return node.empty ? 'empty' : 'null';
  if (typeof node.value === 'string') return 'text';
  return typeof node.value === 'boolean' ? String(node.value) : 'a number';
}
