import { type Address, kindOf } from '../core/address.ts';
import { parsePath } from '../core/path.ts';
import { kinds } from '../kinds/index.ts';
import type { ResourceState, State } from './model.ts';

const kindsByName = new Map(kinds.map((kind) => [kind.name, kind]));

/**
 * What is wrong with a state that its shape does not tell, to go on after its name: `holds …`. Undefined:
 * nothing. A state that breaks one of these rules is neither written nor used.
 */
export function brokenInvariant({ resources }: State): string | undefined {
  const addresses = new Map<string, Address>();
  const paths = new Set<string>();
  for (const [address, resource] of Object.entries(resources)) {
    const broken = brokenResource(address, resource, paths);
    if (broken !== undefined) return broken;
    const own = identityOf(resource);
    const other = addresses.get(own);
    if (other !== undefined) return `holds ${own} twice, as ${other} and as ${address}`;
    addresses.set(own, address);
  }
  return undefined;
}

/** The same of one resource, looked at alone. `paths` gathers those that are sound: most resources have the same. */
export function brokenResource(
  address: Address,
  resource: ResourceState,
  paths = new Set<string>(),
): string | undefined {
  if (kindOf(address) !== resource.kind) return `holds ${address} as one of kind ${resource.kind}`;
  const kind = kindsByName.get(resource.kind);
  if (kind === undefined)
    return `holds ${address}, of a kind that this Callsheet does not know: ${resource.kind}`;
  const missing = kind.scope.find((field) => !resource.scope[field]);
  if (missing !== undefined) return `holds ${address} without its ${missing}`;
  const leaf = Object.keys(resource.leaves).find((path) => {
    if (paths.has(path)) return false;
    if (parsePath(path) === undefined) return true;
    paths.add(path);
    return false;
  });
  if (leaf !== undefined)
    return `holds ${address} with a leaf that has no path: ${JSON.stringify(leaf)}`;
  return undefined;
}

/** What only one address may stand for: `agent 3c6e…`. */
export function identityOf({ kind, id }: ResourceState): string {
  return `${kind} ${id}`;
}
