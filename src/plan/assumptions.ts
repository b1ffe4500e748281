import type { Address } from '../core/address.ts';
import type { Change } from '../core/plan-document.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { assumptionsAlong, writesOf } from './operations.ts';
import type { Support } from './unsupported.ts';

/**
 * Ids of the assumptions that reading and carrying out the changes relies on (DESIGN §9), sorted, and those that
 * make reading needless for resources of the kinds `unread`. `carried`: paths that go back as they were read. What is
 * unsupported is not carried out, and an operation that is known not to be usable is not called.
 */
export function assumptionsOf(
  changes: readonly Change[],
  unread: readonly Kind[],
  carried: ReadonlyMap<Address, readonly string[]>,
  { assumptionOf, lackOf }: Support,
): readonly string[] {
  const found = new Set(unread.flatMap(({ stamp }) => (stamp ? [stamp.assumption] : [])));
  for (const change of changes) {
    const kind = kindNamed(change.kind);
    const isDone = change.verdict !== 'unsupported';
    const operations = [...kind.operations.read, ...(isDone ? writesOf(change, kind) : [])];
    for (const operation of operations) {
      const assumption = lackOf(operation) === undefined ? assumptionOf(operation) : undefined;
      if (assumption !== undefined) found.add(assumption);
    }
    if (!isDone) continue;
    const paths = [
      ...change.fields.map(({ path }) => path),
      ...(carried.get(change.address) ?? []),
    ];
    for (const path of paths) {
      for (const assumption of assumptionsAlong(kind.schema, path)) found.add(assumption);
    }
  }
  return [...found].sort();
}
