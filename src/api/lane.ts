import { createTokenSource, type TokenSource, type TokenSourceOptions } from './auth.ts';
import { type Cooldown, createCooldown } from './cooldown.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import { type Pause, realPause } from './retry.ts';
import { createSender } from './sender.ts';
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
  readonly cooldown: Cooldown;
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
};

/** Opens a lane. Sends nothing yet. */
export function openLane(options: LaneOptions): Lane {
  const { concurrency, pause = realPause, trace, now = Date.now } = options;
  const transport = openTransport(options);
  const limiter = createLimiter(concurrency);
  const cooldown = createCooldown(now);
  const closing = new AbortController();
  const stop = closing.signal;
  const sender = createSender({ transport, limiter, cooldown, pause, now, stop, trace });
  const sources = new Map<string, TokenSource>();
  return {
    transport,
    limiter,
    cooldown,
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
