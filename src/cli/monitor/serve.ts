import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CallsheetError } from '../../core/errors.ts';
import type { ListenAddress } from './listen-address.ts';

/** An answer as it is sent. */
export type Reply = { readonly status: number; readonly type: string; readonly body: string };

/** What is answered below a path, by method. */
export type Routes = {
  readonly [path: string]: {
    readonly [method in 'GET' | 'POST']?: (request: IncomingMessage) => Promise<Reply> | Reply;
  };
};

type Served = {
  /** `127.0.0.1:9464`, with the port that was taken. */
  readonly at: string;
  readonly close: () => Promise<void>;
};

/** Whoever sends a request a byte at a time is not waited for. */
const HEADERS_MS = 5_000;
const REQUEST_MS = 15_000;
/** A prober, a scraper or two, and a few webhooks. */
const MOST_CONNECTIONS = 64;

/** Serves a few paths, and nothing else. */
export async function serveRoutes(address: ListenAddress, routes: Routes): Promise<Served> {
  const options = {
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: HEADERS_MS,
  };
  const server = createServer(options, (request, response) => {
    answer(request, routes).then(
      (reply) => send(request, response, reply),
      () => send(request, response, text(500, 'It could not be answered.')),
    );
  });
  server.maxConnections = MOST_CONNECTIONS;
  await listen(server, address);
  return {
    at: addressOf(server, address),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A sentence as an answer. */
export function text(status: number, body: string): Reply {
  return { status, type: 'text/plain; charset=utf-8', body: `${body}\n` };
}

async function answer(request: IncomingMessage, routes: Routes): Promise<Reply & Allowing> {
  const [path = ''] = (request.url ?? '').split('?');
  const methods = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (methods === undefined) return text(404, 'There is nothing here.');
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const reply = method === 'GET' || method === 'POST' ? methods[method] : undefined;
  if (reply !== undefined) return reply(request);
  const allow = Object.keys(methods).flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name));
  return { ...text(405, 'This is not how it is asked.'), allow: allow.join(', ') };
}

type Allowing = { readonly allow?: string };

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, type, body, allow }: Reply & Allowing,
): void {
  response.setHeader('cache-control', 'no-store');
  response.setHeader('content-type', type);
  response.setHeader('content-length', Buffer.byteLength(body));
  response.setHeader('x-content-type-options', 'nosniff');
  if (allow !== undefined) response.setHeader('allow', allow);
  // Of a body that nobody read the rest is not waited for.
  if (!request.complete) response.setHeader('connection', 'close');
  response.writeHead(status).end(request.method === 'HEAD' ? undefined : body);
}

function listen(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(refused(error, host, port)));
    server.listen(port, host, resolve);
  });
}

const WHY: { readonly [code: string]: string } = {
  EADDRINUSE: 'is in use',
  EADDRNOTAVAIL: 'is no address of this machine',
  EACCES: 'may not be used by this user',
  ENOTFOUND: 'is no host that is known here',
};

function refused(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const why = WHY[error.code ?? ''];
  if (why === undefined) return error;
  return new CallsheetError('usage', `${host}:${port} ${why}`, {
    hint: 'Take another with --listen, such as 127.0.0.1:9465.',
    cause: error,
  });
}

function addressOf(server: Server, { host }: ListenAddress): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
