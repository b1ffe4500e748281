import type { Held } from '../../../src/features/recovery/held.ts';

/** A resource of a snapshot of which little is known. */
export function held(id: string, name: string, more: Partial<Held> = {}): Held {
  return {
    kind: 'agent',
    id,
    scope: { organization_id: 'o' },
    name: name === '' ? id : name,
    key: id,
    organization: 'o',
    references: [],
    document: () => ({ name }),
    withheld: [],
    unknown: [],
    address: null,
    secrets: undefined,
    files: {},
    storedLeaves: {},
    protect: false,
    isWhole: true,
    ...more,
  };
}
