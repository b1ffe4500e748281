import type { Client } from '../api/client.ts';
import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { Json } from '../core/value.ts';
import type { World } from '../diff/world.ts';
import type { Reader } from '../plan/reader.ts';
import type { ResourceState, State } from '../state/model.ts';
import type { Lease } from '../state/store.ts';

/** Everything that a run acts through. */
export type RunDeps = {
  readonly run: string;
  readonly client: Pick<Client, 'call' | 'upload' | 'list' | 'platformTime'>;
  readonly reader: Reader;
  readonly lease: Pick<Lease, 'append' | 'note'>;
  readonly state: State;
  /** The desired side, which the plan's digest vouches for. */
  readonly desired: ReadonlyMap<Address, DesiredResource>;
  readonly world: Omit<World, 'idOf'>;
  /** What the state goes back to, for a rollback; by address. Null: the state forgets the resource. */
  readonly restored?: ReadonlyMap<Address, ResourceState | null>;
  /** Encrypts what a rollback copy keeps of a sensitive value; absent where no key is given. */
  readonly seal?: (address: Address, path: string, value: Json) => string;
  /** Changes that are worked on at once. */
  readonly concurrency: number;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Once aborted, no further change is begun. */
  readonly stop: AbortSignal;
};
