import { Blob, Ref, Secret, type Value } from '../core/value.ts';
import type { Leaf } from './leaves.ts';
import type { World } from './world.ts';

/** An id that is known only once the resource exists. */
export class Unknown {
  readonly address: string;
  constructor(address: string) {
    this.address = address;
  }
}

/**
 * The value that a leaf stands for: ids and secrets looked up, a file by the digest of its bytes.
 * `Unknown` while the resource that it refers to does not exist; undefined where a secret is not at hand.
 */
export function resolveLeaf(leaf: Leaf, world: World): Value | Unknown | undefined {
  const { value } = leaf;
  if (value instanceof Ref) return world.idOf(value.address) ?? new Unknown(value.address);
  if (value instanceof Secret) return world.secretOf(value.source, leaf.text);
  if (value instanceof Blob) return `sha256:${value.sha256}`;
  return value;
}
