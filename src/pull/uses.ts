import type { Scope } from '../config/interpolate.ts';
import type { ResolvedResource } from '../config/resource.ts';
import { resourceSchema } from '../config/schema.ts';
import { spotsBelow } from '../config/trace.ts';
import type { Variables } from '../config/variables.ts';
import type { Address } from '../core/address.ts';
import { formatPath } from '../core/path.ts';
import { fileKey, keyOf, pathOfFile } from './home.ts';

/** A field of a resource that reads a value. */
export type Use = {
  readonly address: Address;
  /** As the configuration names it. */
  readonly path: string;
};

/**
 * Who reads each of the values: several resources may have one from the same base, row, anchor or file. What
 * is changed there changes for all of them.
 */
export function usesOf(
  keys: ReadonlySet<string>,
  resources: readonly ResolvedResource[],
  variables: Variables,
): ReadonlyMap<string, readonly Use[]> {
  const uses = new Map<string, Use[]>();
  if (keys.size === 0) return uses;
  const note = (key: string, use: Use) => {
    if (!keys.has(key)) return;
    const known = uses.get(key);
    if (known === undefined) uses.set(key, [use]);
    else known.push(use);
  };
  for (const resource of resources) {
    const { address, kind, spot, row } = resource;
    const scope: Scope = { variables, row };
    for (const { written, path } of spotsBelow(resourceSchema(kind), spot)) {
      if (written === undefined) continue;
      const use = { address, path: formatPath(path) };
      note(keyOf(written.place), use);
      if (written.origin !== undefined) note(keyOf(written.origin), use);
      const file = pathOfFile(written, scope);
      if (file !== undefined) note(fileKey(file), use);
    }
  }
  return uses;
}
