import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, onTestFinished, vi } from 'vitest';

const folder = join(import.meta.dirname, 'tls');

/** The certificate that the platform's one is signed with. */
export const AUTHORITY = join(folder, 'authority.pem');

/** A name that the platform's certificate is for and that leads nowhere. */
export const PLATFORM = 'platform.example.test';

const VARIABLES = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'CALLSHEET_CLIENT_CERT',
  'CALLSHEET_CLIENT_KEY',
];

/** The tests of a file see no proxy, no authority and no certificate of the environment but those that they set. */
export function clearConnectionVariables(): void {
  beforeEach(() => {
    for (const name of VARIABLES) {
      vi.stubEnv(name, undefined);
      vi.stubEnv(name.toLowerCase(), undefined);
    }
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });
}

/** What a server was sent. */
export type Received = {
  readonly line: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};

/** An https server that answers everything with a JSON body, until the test ends. */
export async function startHttps(body: string) {
  const received: Received[] = [];
  const options = {
    key: readFileSync(join(folder, 'platform.key.pem')),
    cert: readFileSync(join(folder, 'platform.pem')),
  };
  const server = createHttpsServer(options, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const line = `${request.method} ${request.url}`;
    received.push({ line, headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.setHeader('content-type', 'application/json').end(body);
  });
  return { port: await listening(server), received };
}

/** A proxy that connects every tunnel to one port of this machine and remembers what it can read. */
export async function startProxy(target: number, answer = '200 Connection Established') {
  const seen = { heads: [] as string[], text: '' };
  const server = createServer((client) => {
    client.on('error', () => {});
    client.once('data', (head) => {
      seen.heads.push(head.toString('latin1'));
      client.write(`HTTP/1.1 ${answer}\r\n\r\n`);
      if (!answer.startsWith('200')) return void client.end();
      const onward = connect(target, '127.0.0.1');
      onward.on('error', () => client.destroy());
      onward.on('close', () => client.destroy());
      client.on('close', () => onward.destroy());
      client.on('data', (chunk) => {
        seen.text += chunk.toString('latin1');
      });
      client.pipe(onward).pipe(client);
    });
  });
  return { port: await listening(server), seen };
}

/** Has a server listen until the test ends, whatever connections it has then. Gives its port. */
export async function listening(server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
