import type { Kind, Scope } from '../kinds/kind.ts';
import type { ListedResource, Reader } from './reader.ts';

/**
 * The list that resources are recognised in. Of kinds that have a read of their own only what tells them apart is
 * kept: of a large fleet the rest would fill the memory and be read again anyway.
 */
export function listKnown(
  reader: Pick<Reader, 'list'>,
  kind: Kind,
  scope: Scope,
): Promise<readonly ListedResource[] | undefined> {
  return reader.list(kind, scope, false, knownFields(kind));
}

function knownFields({ get, naturalKey, columns, scope }: Kind): readonly string[] | undefined {
  if (get === undefined) return undefined;
  return [...new Set([...naturalKey.flat(), ...scope, ...columns, 'created_at', 'updated_at'])];
}
