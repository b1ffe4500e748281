import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** A server that speaks bytes, for answers that no HTTP library would give. */
export type RawServer = {
  readonly port: number;
  readonly baseUrl: string;
  /** How many requests came. */
  readonly requests: () => number;
  /** Resolves when that many requests have come. */
  readonly received: (count: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Lets `answer` deal with each request, whose head has arrived; requests have no body that matters. */
export async function listen(
  answer: (socket: Socket, head: string, number: number) => void,
  port = 0,
): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let requests = 0;
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = text.slice(0, end);
      text = '';
      requests += 1;
      answer(socket, head, requests);
      for (const { count, resolve } of waiting) if (count <= requests) resolve();
      waiting = waiting.filter(({ count }) => count > requests);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port: actual,
    baseUrl: `http://127.0.0.1:${actual}`,
    requests: () => requests,
    received: (count) =>
      requests >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A whole answer with a JSON body. */
export function respond(body: string, status = '200 OK', headers = ''): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
}
