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
import { openSharing, type ResourceState } from '../state/model.ts';
import { emptyState, nextState } from '../state/replay.ts';
import type { IdOf } from './index.ts';

/** What the new store asks of the world. */
type StoreWorld = { readonly disk?: Disk; readonly now: () => Date };

/** Gathers what the state remembers of resources that were exported: that they are as the stack says. */
export function openMemory() {
  const resources = new Map<Address, ResourceState>();
  const share = openSharing();

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
      resources.set(address, share(remembered));
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
