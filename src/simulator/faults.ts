import { createHash } from 'node:crypto';
import type { OperationId } from '../platform/operations.generated.ts';
import type { Simulation } from './documents.generated.ts';

export type Fault = Omit<Simulation.Fault, 'operation'> & {
  readonly operation: OperationId | 'upload' | 'ingestion' | '*';
};

/** A request as a fault sees it. */
type Target = {
  readonly operation: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
};

/** The seed of the draws for faults with a `probability`. */
export type Seed = NonNullable<Simulation.Document['chaosSeed']>;

/** The faults that are set. */
export type Faults = {
  readonly add: (...faults: readonly Fault[]) => void;
  /** Answers that many requests with 429, and with `Retry-After` in seconds where it is given. */
  readonly storm: (times: number, retryAfter?: number, operation?: Fault['operation']) => void;
  readonly clear: () => void;
  /** How many have not been spent. */
  readonly pending: () => number;
  /** Those that have not been spent. */
  readonly list: () => readonly Fault[];
  /** Begins the draws again from another seed. */
  readonly reseed: (seed: Seed) => void;
  /** The fault that strikes a request, if one does; it is counted as used. */
  readonly strike: (target: Target) => Fault | undefined;
};

type Armed = {
  readonly fault: Fault;
  /** Tells draws of one fault from those of another. */
  readonly number: number;
  /** How often each request was drawn for. */
  readonly draws: Map<string, number>;
  skip: number;
  times: number;
};

export function createFaults(seed: Seed = 'callsheet'): Faults {
  let [armed, added, source]: [readonly Armed[], number, Seed] = [[], 0, seed];
  const add = (...faults: readonly Fault[]) => {
    for (const fault of faults) {
      const endless = fault.probability === undefined ? 1 : Number.POSITIVE_INFINITY;
      const [skip, times] = [fault.skip ?? 0, fault.times ?? endless];
      armed = [...armed, { fault, number: added, draws: new Map(), skip, times }];
      added += 1;
    }
  };
  return {
    add,
    storm: (times, retryAfter, operation = '*') =>
      add({
        operation,
        status: 429,
        times,
        ...(retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } }),
      }),
    clear: () => {
      armed = [];
    },
    pending: () => armed.length,
    list: () => armed.map(({ fault }) => fault),
    reseed: (next) => {
      source = next;
      added = 0;
      const faults = armed.map(({ fault }) => fault);
      armed = [];
      add(...faults);
    },
    strike: (target) => {
      for (const one of armed) {
        if (!befalls(one.fault, target) || !drawn(source, one, target)) continue;
        if (one.skip > 0) {
          one.skip -= 1;
          continue;
        }
        one.times -= 1;
        armed = armed.filter(({ times }) => times > 0);
        return one.fault;
      }
      return undefined;
    },
  };
}

function befalls(fault: Fault, { operation, path }: Target): boolean {
  // Ingestions are no requests, so that only a fault that names them befalls them.
  const named = fault.operation === '*' ? operation !== 'ingestion' : fault.operation === operation;
  return named && (fault.path === undefined || path.includes(fault.path));
}

/**
 * Draws for a request. The draw depends on the request and on how often it was made, not on the requests in
 * between, so that concurrent runs repeat as well; nor on ids, which come in the order of creates.
 */
function drawn(seed: Seed, { fault, number, draws }: Armed, { method, path }: Target): boolean {
  if (fault.probability === undefined) return true;
  const request = `${method} ${path.replaceAll(ID, '*')}`;
  const count = draws.get(request) ?? 0;
  draws.set(request, count + 1);
  const digest = createHash('sha256').update([seed, number, request, count].join('\n')).digest();
  return digest.readUInt32BE(0) / 2 ** 32 < fault.probability;
}

const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;
