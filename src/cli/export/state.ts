import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Writable } from '../../config/write.ts';
import type { Address } from '../../core/address.ts';
import type { DesiredResource } from '../../core/desired.ts';
import type { IdOf } from '../../export/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { livePin } from '../../plan/pin.ts';
import type { LiveResource } from '../../plan/reader.ts';
import { rememberResource } from '../../plan/remember.ts';
import { openFileStore } from '../../state/file-store.ts';
import type { AppliedLeaf, ResourceState } from '../../state/model.ts';
import { emptyState, nextState } from '../../state/replay.ts';
import type { Context } from '../context.ts';

/** Leaves that are looked up; fleets have few values that many agents share. */
const MOST_SHARED = 5_000;

/** Gathers what the state remembers of resources that were exported: that they are as the stack says. */
export function openMemory() {
  const resources = new Map<Address, ResourceState>();
  const known = new Map<unknown, AppliedLeaf>();

  /** Leaves that are alike, as most are in a fleet, are kept once. */
  function shared(leaves: ResourceState['leaves']): ResourceState['leaves'] {
    const entries = Object.entries(leaves).map(([path, leaf]) => {
      // A digest is its resource's own.
      if ('digest' in leaf) return [path, leaf] as const;
      const key = keyOf(leaf);
      const one = known.get(key);
      if (one === undefined && known.size < MOST_SHARED) known.set(key, leaf);
      return [path, one ?? leaf] as const;
    });
    return Object.fromEntries(entries);
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
      const at = { id: live.id, scope: live.scope, pin: livePin(kind, live, null) };
      // What secrets are is not remembered before somebody supplies them.
      const world = { idOf, secretOf: () => undefined, fingerprints: NO_FINGERPRINTS };
      const { address } = writable;
      const remembered = rememberResource(kind, desired, at, undefined, new Set(), world);
      resources.set(address, { ...remembered, leaves: shared(remembered.leaves) });
    },

    /** Writes the state of a new stack. */
    async write(file: string, account: string, context: Context): Promise<void> {
      const store = openFileStore(file, context.disk === undefined ? {} : { disk: context.disk });
      try {
        const lease = await store.acquire({
          run: '',
          command: 'export',
          user: null,
          host: hostname(),
          pid: process.pid,
          since: context.now().toISOString(),
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

/** What no other leaf has. A scalar is its own key, and no list or map reads like one: it begins with its bracket. */
function keyOf(leaf: AppliedLeaf): unknown {
  const isScalar = 'value' in leaf && (typeof leaf.value !== 'object' || leaf.value === null);
  return isScalar && typeof leaf.value !== 'string' ? leaf.value : JSON.stringify(leaf);
}

/** Nothing is asked of them: without the value of a secret there is no fingerprint. */
const NO_FINGERPRINTS = {
  of: () => '',
  matches: () => 'unknown' as const,
};
