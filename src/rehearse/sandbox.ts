import type { JsonObject } from '../core/value.ts';
import {
  type Dialect,
  type Fault,
  type LoggedRequest,
  startSimulator,
} from '../simulator/index.ts';
import type { Replica } from './seed.ts';

/** How the simulated platform behaves. */
export type Behaviour = {
  readonly dialect: Partial<Dialect>;
  /** What goes wrong on top. */
  readonly faults: readonly Fault[];
  readonly chaosSeed: string;
};

/** A fresh copy of the fleet on a simulated platform of its own. */
export type Sandbox = {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly requests: () => readonly LoggedRequest[];
  /** Answers every write with 500 once as many of each operation were let through. */
  readonly failAfter: (passing: Tally, all: Tally) => void;
  /** Lets everything through again that only failed on purpose half way. */
  readonly recover: () => void;
  readonly dump: () => JsonObject;
  readonly close: () => Promise<void>;
};

/** Requests that write, by operation. */
type Tally = ReadonlyMap<string, number>;

/** So often that it never ends. */
const ALWAYS = 1_000_000_000;

/** Opens a copy. Whoever does closes it. */
export async function openSandbox(
  { seed, key }: Replica,
  { dialect, faults, chaosSeed }: Behaviour,
  now: () => Date,
): Promise<Sandbox> {
  const simulator = await startSimulator({ seed, dialect, chaosSeed, now, idSalt: 'copy' });
  simulator.faults.add(...faults);
  return {
    url: simulator.url,
    clientId: key?.client_id ?? simulator.clientId,
    clientSecret: key?.client_secret ?? simulator.clientSecret,
    requests: () => simulator.requests,
    failAfter: (passing, all) => simulator.faults.add(...failures(passing, all)),
    recover: () => {
      simulator.faults.clear();
      simulator.faults.add(...faults);
    },
    dump: simulator.dump,
    close: simulator.close,
  };
}

function failures(passing: Tally, all: Tally): readonly Fault[] {
  return [...all.keys()].map((operation) => ({
    // A key of a tally comes from the log of a simulator.
    operation: operation as Fault['operation'],
    skip: passing.get(operation) ?? 0,
    times: ALWAYS,
    status: 500,
  }));
}

/** Requests that were to change something, in the order in which they ended. */
export function writesIn(requests: readonly LoggedRequest[]): readonly LoggedRequest[] {
  return requests.filter(
    ({ method, operation }) => method !== 'GET' && operation !== 'createToken',
  );
}

export function tally(requests: readonly LoggedRequest[]): Tally {
  const counts = new Map<string, number>();
  for (const { operation } of requests) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  return counts;
}
