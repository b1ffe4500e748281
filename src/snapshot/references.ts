import { leavesOf } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { ResourceRecord } from './format.ts';

/** Remembers which resources others refer to: where a kind has no list, they are found so (DESIGN §9). */
export function createReferences() {
  const ids = new Map<string, Set<string>>();
  return {
    see({ kind, record }: ResourceRecord): void {
      const { schema } = kindNamed(kind);
      for (const leaf of leavesOf(schema, record).leaves.values()) {
        const referred = leaf.schema['x-ref'];
        if (referred === undefined || typeof leaf.value !== 'string' || leaf.value === '') continue;
        const known = ids.get(referred) ?? new Set();
        ids.set(referred, known.add(leaf.value));
      }
    },
    idsOf: (kind: string): readonly string[] => [...(ids.get(kind) ?? [])],
  };
}
