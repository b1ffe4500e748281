import type { Transport } from '../api/transport.ts';

/** What was sent to the platform so far. */
export type Traffic = { retries: number };

/** A transport that counts what it sends once more. */
export function counted(transport: Transport, traffic: Traffic): Transport {
  return {
    ...transport,
    send(request) {
      if (request.attempt > 1) traffic.retries += 1;
      return transport.send(request);
    },
  };
}
