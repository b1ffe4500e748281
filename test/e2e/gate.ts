import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that is held on its way. */
export type Hold = {
  /** Resolves once a request is held. */
  readonly reached: Promise<void>;
  /** Lets it go on; one that its sender has given up goes nowhere. */
  readonly release: () => void;
};

/** Which request: its method and what its path must hold. */
type Match = { readonly method: string; readonly path: RegExp };

/**
 * Stands between the bin and the simulator and holds the requests that a test names, so that the test
 * can do something at exactly that moment. `request`: before the platform sees it. `answer`: after the
 * platform did its work, before the bin knows.
 */
export type Gate = {
  readonly url: string;
  readonly hold: (at: 'request' | 'answer', match: Match) => Hold;
  readonly close: () => Promise<void>;
};

type Armed = Match & {
  readonly at: 'request' | 'answer';
  readonly reach: () => void;
  readonly released: Promise<void>;
};

/** Opens a gate before the platform at `target`. */
export async function openGate(target: string): Promise<Gate> {
  const armed: Armed[] = [];
  const releases: (() => void)[] = [];

  function take(incoming: IncomingMessage): Armed | undefined {
    const index = armed.findIndex(
      ({ method, path }) => method === incoming.method && path.test(incoming.url ?? ''),
    );
    return index < 0 ? undefined : armed.splice(index, 1)[0];
  }

  const server = createServer(async (incoming, outgoing) => {
    const held = take(incoming);
    if (held?.at === 'request') {
      held.reach();
      await held.released;
      if (outgoing.destroyed) return;
    }
    const { method, headers } = incoming;
    const forwarded = request(new URL(incoming.url ?? '/', target), { method, headers });
    forwarded.on('error', () => outgoing.destroy());
    forwarded.on('response', async (answer) => {
      if (held?.at === 'answer') {
        held.reach();
        await held.released;
        if (outgoing.destroyed) return;
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    hold(at, match) {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      armed.push({ at, ...match, reach: reached.resolve, released: released.promise });
      releases.push(released.resolve);
      return { reached: reached.promise, release: released.resolve };
    },
    async close() {
      for (const release of releases) release();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
