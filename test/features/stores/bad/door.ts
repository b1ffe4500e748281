import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * How a door stands: it lets through, nobody listens behind it, whatever comes in is swallowed, or an answer is torn:
 * its first bytes come through, then the connection is reset. Or something else stands behind it, which answers with a
 * page, as proxies and sign-in portals do.
 */
export type Standing = 'open' | 'shut' | 'silent' | 'torn' | 'page';

const HTML = '<!doctype html>\n<html><title>Sign in</title><p>Who are you?</p></html>';
const PAGE = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "p"\r\nContent-Length: ${HTML.length}\r\nConnection: close\r\n\r\n${HTML}`;

/** A way to a server on this machine that can be cut, or go dead without a word. */
export type Door = {
  readonly port: number;
  readonly turn: (to: Standing) => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function openDoor(target: number): Promise<Door> {
  let standing: Standing = 'open';
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer((incoming) => {
    keep(incoming);
    if (standing === 'silent') return;
    if (standing === 'page') {
      incoming.once('data', () => incoming.end(PAGE));
      return;
    }
    const outgoing = connect(target, '127.0.0.1');
    keep(outgoing);
    // What is written while the door is silent is lost, in both directions.
    const pass = (from: Socket, to: Socket) =>
      from
        .on('data', (piece) => {
          if (standing === 'open' || (standing === 'torn' && from === incoming)) to.write(piece);
          else if (standing === 'torn') to.write(piece.subarray(0, 3), () => to.resetAndDestroy());
        })
        .on('close', () => to.destroy());
    pass(incoming, outgoing);
    pass(outgoing, incoming);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  async function stopListening(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  }
  return {
    port,
    async turn(to) {
      if (to === standing) return;
      standing = to;
      if (to === 'shut') return stopListening();
      // What went through before is of no use after a silence.
      if (to === 'open' || to === 'page') cut();
      if (server.listening) return;
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close: stopListening,
  };
}
