import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { Kind } from '../kinds/kind.ts';
import { facetsRead, fieldsOf, type LiveResource } from '../plan/reader.ts';
import { fastRefreshPin, livePin } from '../plan/refresh.ts';
import { rememberResource } from '../plan/state-entry.ts';
import type { Writable } from '../stack/edit/write.ts';
import type { Disk } from '../state/file/disk.ts';
import { openFileStore } from '../state/file/store.ts';
import type { AppliedLeaf, ResourceState } from '../state/model.ts';
import { emptyState, nextState } from '../state/replay.ts';
import type { IdOf } from './index.ts';

/** What the new store asks of the world. */
type StoreWorld = { readonly disk?: Disk; readonly now: () => Date };

/** Leaves that are looked up; fleets have few values that many agents share. */
const MOST_SHARED = 5_000;

/** Gathers what the state remembers of resources that were exported: that they are as the stack says. */
export function openMemory() {
  const resources = new Map<Address, ResourceState>();
  const known = new Map<unknown, AppliedLeaf>();

  /** Leaves that are alike, as most in a fleet are, are kept once. */
  function shared(leaves: ResourceState['leaves']): ResourceState['leaves'] {
    const kept: Record<string, AppliedLeaf> = {};
    for (const [path, leaf] of Object.entries(leaves)) {
      const value = 'value' in leaf ? leaf.value : undefined;
      // A digest is its resource's own, and a list or a map is rarely another's, too.
      const isShared = value !== undefined && (typeof value !== 'object' || value === null);
      kept[path] = isShared ? sharedLeaf(value, leaf) : leaf;
    }
    return kept;
  }

  function sharedLeaf(value: unknown, leaf: AppliedLeaf): AppliedLeaf {
    const one = known.get(value);
    if (one === undefined && known.size < MOST_SHARED) known.set(value, leaf);
    return one ?? leaf;
  }

  return {
    remember(kind: Kind, writable: Writable, live: LiveResource, idOf: IdOf): void {
      const desired: DesiredResource = {
        ...writable,
        isPartial: false,
        references: [],
        position: undefined,
        locate: () => undefined,
      };
      // What is written is what is live, so the next plan need not read it, and one that does finds the same digest.
      const pin = fastRefreshPin(kind, live, livePin(kind, asPlanned(kind, live, desired), null));
      const at = { id: live.id, scope: live.scope, pin };
      // What secrets are is not remembered before somebody supplies them.
      const world = { idOf, secretOf: () => undefined, fingerprints: NO_FINGERPRINTS };
      const { address } = writable;
      const remembered = rememberResource(kind, desired, at, undefined, new Set(), world);
      resources.set(address, { ...remembered, leaves: shared(remembered.leaves) });
    },

    /** Writes the state of a new stack. */
    async write(file: string, account: string, world: StoreWorld): Promise<void> {
      const store = openFileStore(file, world.disk === undefined ? {} : { disk: world.disk });
      try {
        const lease = await store.acquire({
          run: '',
          command: 'export',
          user: null,
          host: hostname(),
          pid: process.pid,
          since: world.now().toISOString(),
        });
        const first = { ...emptyState(randomUUID()), account_id: account };
        const sorted = [...resources].sort(([a], [b]) => (a < b ? -1 : 1));
        await lease.commit(nextState(first, null, Object.fromEntries(sorted)));
      } finally {
        await store.close();
      }
    },
  };
}

/** A resource as a plan of its configuration reads it: without the facets that nothing was written of. */
function asPlanned(kind: Kind, live: LiveResource, { document }: DesiredResource): LiveResource {
  const read = facetsRead(kind, fieldsOf(kind, document, undefined));
  const unread = new Set(kind.facets.map(({ field }) => field).filter((one) => !read.has(one)));
  const members = Object.entries(live.document).filter(([field]) => !unread.has(field));
  return { ...live, document: Object.fromEntries(members) };
}

/** Nothing is asked of them: without the value of a secret there is no fingerprint. */
const NO_FINGERPRINTS = {
  of: () => '',
  matches: () => 'unknown' as const,
};
