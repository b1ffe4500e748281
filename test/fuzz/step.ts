import type { Json } from '../../src/core/value.ts';

/** One thing that is done to a simulator. Plain data, so that a failure can be shrunk and read. */
export type Step = Call | Stray | Delivery;

/** A request to an operation of the document. */
export type Call = {
  readonly do: 'call';
  readonly operation: string;
  readonly as: Caller;
  readonly path: { readonly [name: string]: Place };
  readonly query: readonly (readonly [string, Json])[];
  readonly body: Body;
  /** A documented status that the platform is told to fail with this time. */
  readonly failing: number | undefined;
};

/** A request that the document does not have: another method, another address. */
export type Stray = {
  readonly do: 'stray';
  readonly as: Caller;
  readonly method: string;
  readonly path: string;
};

/** Bytes for an address that a document's creation handed out. */
export type Delivery = {
  readonly do: 'delivery';
  /** Which of the addresses so far. */
  readonly nth: number;
  readonly twist:
    | 'none'
    | 'token'
    | 'type'
    | 'size'
    | 'signature'
    | 'expired'
    | 'method'
    | 'no-query';
};

/** Who asks. Apart from the first three nobody should get far. */
export type Caller =
  | 'account'
  | 'reseller'
  | 'organization'
  | 'nobody'
  | 'expired'
  | 'rotated'
  | 'unknown'
  | 'malformed'
  | 'basic';

/** A value of a path: an id of what is there when the request goes out, or a text. */
export type Place = Live | { readonly text: string };

/** Stands for an id that the store has at that time. */
export type Live = { readonly live: Pool; readonly nth: number };

const POOLS = [
  'organization',
  'reseller',
  'agent',
  'version',
  'base',
  'source',
  'voice',
  'profile',
  'claim',
  'audience',
] as const;

/** Ids of one sort; of kinds with plain endpoints those of their records. */
export type Pool = (typeof POOLS)[number] | `records of ${string}`;

export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: Json; readonly type: string | null }
  | { readonly kind: 'text'; readonly text: string; readonly type: string | null }
  | {
      readonly kind: 'form';
      readonly parts: readonly Part[];
      readonly damage: 'none' | 'cut' | 'no-boundary' | 'other-boundary' | 'line-feeds';
    };

export type Part = {
  readonly name: string;
  readonly value: Json;
  /** A file where given: its name, type and size in bytes. */
  readonly file?: { readonly name: string; readonly type: string; readonly size: number };
};

/** Whether a value of a body stands for a live id. */
export function isLive(value: unknown): value is Live {
  return (
    typeof value === 'object' &&
    value !== null &&
    'live' in value &&
    'nth' in value &&
    !('text' in value)
  );
}
