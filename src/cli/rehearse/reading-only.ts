import type { Transport } from '../../api/transport.ts';

/**
 * A wire that lets nothing through but questions and the minting of a token: whatever a rehearsal does, no write
 * of it can reach the platform.
 */
export function readingOnly(transport: Transport): Transport {
  return {
    ...transport,
    async send(request) {
      const { method, about } = request;
      if (method === 'GET' || about?.operation === 'createToken') return transport.send(request);
      throw new Error(`a rehearsal may not send ${method} to the platform`);
    },
  };
}
