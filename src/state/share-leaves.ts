import { isRecord } from './shape.ts';

/**
 * Gives what was just parsed of a resource one copy of what many resources have alike: most agents of a fleet speak
 * one language, and a state of a hundred thousand would hold that as often. Nothing is checked here.
 */
export function openSharing(): (resource: unknown) => unknown {
  const leaves = new Map<unknown, unknown>();
  const scopes = new Map<string, unknown>();

  function shareLeaf(leaf: unknown): unknown {
    if (!isRecord(leaf) || Object.keys(leaf).length !== 1) return leaf;
    const { value } = leaf;
    if (value === undefined || (typeof value === 'object' && value !== null)) return leaf;
    const known = leaves.get(value);
    if (known !== undefined) return known;
    leaves.set(value, leaf);
    return leaf;
  }

  function shareScope(scope: unknown): unknown {
    const text = JSON.stringify(scope) ?? '';
    const known = scopes.get(text) ?? scope;
    scopes.set(text, known);
    return known;
  }

  return (resource) => {
    if (!isRecord(resource) || !isRecord(resource.leaves)) return resource;
    const shared = Object.entries(resource.leaves).map(([path, leaf]) => [path, shareLeaf(leaf)]);
    return { ...resource, scope: shareScope(resource.scope), leaves: Object.fromEntries(shared) };
  };
}
