import type { Json } from '../core/value.ts';
import type { Written } from './written.ts';

/** A node as the plain data that it is, with no form followed and nothing filled in. */
export function plainOf(node: Written): Json {
  if (node.type === 'scalar') return node.value;
  if (node.type === 'list') return node.items.map(plainOf);
  return Object.fromEntries(
    [...node.members.values()].map(({ key, value }) => [key, plainOf(value)]),
  );
}
