import type { Limiter } from './limiter.ts';
import { type Pause, sendWithRetries } from './retry.ts';
import { type Outcome, traceEntry } from './trace.ts';
import type { TraceEntry } from './trace-entry.ts';
import type { Transport, WireAnswer, WireRequest } from './transport.ts';

/** Sends requests as often as it takes, and knows how many that were. */
export type Sender = {
  /** The request is made anew for each try, since a stream can be read only once. All go to `host`. */
  readonly send: (
    host: string,
    make: () => WireRequest | Promise<WireRequest>,
    isRepeatable: boolean,
  ) => Promise<WireAnswer>;
  /** Requests sent so far and the time they took together, in seconds. */
  readonly spent: () => { readonly requests: number; readonly seconds: number };
};

export type SenderOptions = {
  readonly transport: Transport;
  readonly limiter: Limiter;
  readonly pause: Pause;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Aborted when the client closes: reads in flight end, and nothing is sent again. */
  readonly stop: AbortSignal;
  readonly trace: ((entry: TraceEntry) => void) | undefined;
};

export function createSender(options: SenderOptions): Sender {
  const { transport, limiter, pause, now, stop, trace } = options;
  let requests = 0;
  let milliseconds = 0;

  async function sendOnce(request: WireRequest): Promise<WireAnswer> {
    const start = now();
    const ended = (outcome: Outcome) => {
      const end = now();
      requests += 1;
      milliseconds += end - start;
      trace?.(traceEntry(request, outcome, start, end));
    };
    try {
      const answer = await transport.send(
        request.method === 'GET' ? { ...request, signal: stop } : request,
      );
      ended({ answer });
      return answer;
    } catch (error) {
      ended({ error });
      throw error;
    }
  }

  return {
    send: (host, make, isRepeatable) =>
      sendWithRetries(
        (one) => limiter.send(host, { ...one, send: async () => sendOnce(await make()) }),
        isRepeatable,
        { pause, now, stop },
      ),
    spent: () => ({ requests, seconds: milliseconds / 1000 }),
  };
}
