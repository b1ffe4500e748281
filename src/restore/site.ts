import type { Address } from '../core/address.ts';
import type { Blob, Secret } from '../core/value.ts';
import type { ResourceState } from '../state/model.ts';
import type { Held, Places } from './held.ts';

/** What is known of where a snapshot is restored to. */
export type Site = {
  readonly places: Places;
  /** Whether it is the account that the snapshot is of, so that its ids may still mean something. */
  readonly isSameAccount: boolean;
  /** Why nothing can be put into a place; undefined where it can. */
  readonly obstacleAt: (place: string) => string | undefined;
  /** Whether the platform has it already. */
  readonly exists: (address: Address) => boolean;
  /** What the state of the restoration says of it. */
  readonly recorded: (address: Address) => ResourceState | undefined;
  /** The secret of a path, where it is at hand. */
  readonly secretAt: (address: Address, path: string) => Secret | undefined;
  /** The file that a resource was made of, where it is at hand. */
  readonly fileFor: (held: Held, address: Address, field: string) => Blob | undefined;
  /** Why a part with an endpoint of its own is left out, by address and field. */
  readonly leftOut: (address: Address, field: string) => string | undefined;
  /** Whether ids are replaced in what people wrote. */
  readonly rewritesTexts: boolean;
};
