import { createTokenSource, type TokenSource, type TokenSourceOptions } from './auth.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import { type Pause, realPause } from './retry.ts';
import { createSender } from './sender.ts';
import { steadyTime } from './steady-time.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from './timeouts.ts';
import type { TraceEntry } from './trace-entry.ts';
import { createTransport, type Transport } from './transport.ts';

/**
 * What clients of one account have together, where there are several in a process: connections, the limiter, what the
 * platform said of being left alone, the token. The rate budget belongs to the account: clients that each took their
 * own would take several times of it.
 */
export type Lane = {
  readonly transport: Transport;
  readonly limiter: Limiter;
  /** Tokens that are minted at that place, once for all clients. */
  readonly tokens: (source: Pick<TokenSourceOptions, 'place' | 'credentials'>) => TokenSource;
  /** Once the clients are closed. */
  readonly close: () => Promise<void>;
};

export type LaneOptions = {
  /** Requests in flight at once, of all clients together. */
  readonly concurrency: number;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly wire?: ((transport: Transport) => Transport) | undefined;
  readonly pause?: Pause | undefined;
  readonly trace?: ((entry: TraceEntry) => void) | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Takes the place of the limiter that it would have: other processes have a part in the rate. */
  readonly limit?: ((limiter: Limiter) => Limiter) | undefined;
};

/** Opens a lane. Sends nothing yet. */
export function openLane(options: LaneOptions): Lane {
  const { concurrency, pause = realPause, trace, now = Date.now } = options;
  const transport = openTransport(options);
  const closing = new AbortController();
  const stop = closing.signal;
  const own = createLimiter({ most: concurrency, pause, now: options.now ?? steadyTime, stop });
  const limiter = options.limit?.(own) ?? own;
  const sender = createSender({ transport, limiter, pause, now, stop, trace });
  const sources = new Map<string, TokenSource>();
  return {
    transport,
    limiter,
    tokens({ place, credentials }) {
      const { host } = new URL(place.baseUrl);
      const key = `${place.baseUrl}${place.endpoint.path}`;
      const known = sources.get(key);
      if (known !== undefined) return known;
      const send: TokenSourceOptions['send'] = (make) => sender.send(host, make, true);
      const made = createTokenSource({ place, credentials, send, now });
      sources.set(key, made);
      return made;
    },
    async close() {
      closing.abort();
      await transport.close();
    },
  };
}

/** The way to the network, with what stands before it. */
export function openTransport({
  concurrency,
  timeouts,
  wire,
}: Pick<LaneOptions, 'concurrency' | 'timeouts' | 'wire'>): Transport {
  const network = createTransport({
    connections: concurrency,
    timeouts: { ...DEFAULT_TIMEOUTS, ...timeouts },
  });
  return wire?.(network) ?? network;
}
