import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CallsheetError } from '../../core/errors.ts';

/** Only this machine: the page shows a whole fleet, and nobody logs in to it. */
const LOOPBACK = '127.0.0.1';

/** What is answered to a path below the token, such as `fleet.json`; undefined for one that there is not. */
export type Answer = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void> | undefined;

type Served = {
  /** With the token, as somebody opens it. */
  readonly url: string;
  readonly close: () => Promise<void>;
};

/** Headers of every answer: it stays out of caches, frames and referrers, and no other site reads it. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** Serves answers on a loopback port, below a token that nobody can guess, to whoever only reads. */
export async function serve(port: number, answer: Answer): Promise<Served> {
  const token = randomBytes(24).toString('base64url');
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const refusal = refusalOf(request, portOf(server));
    if (refusal !== undefined) return end(response, ...refusal);
    const path = pathBelow(token, request.url ?? '');
    const answered = path === undefined ? undefined : answer(path, request, response);
    if (answered === undefined) return end(response, 404, 'There is nothing here.');
    answered.catch(() => {
      if (!response.headersSent) return end(response, 500, 'It could not be read.');
      response.destroy();
    });
  });
  await listen(server, port);
  return {
    url: `http://${LOOPBACK}:${portOf(server)}/${token}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Streams of events never end by themselves.
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      const hint = 'Take another with --port, or let one be chosen with --port 0.';
      reject(
        isTaken
          ? new CallsheetError('usage', `port ${port} is in use`, { hint, cause: error })
          : error,
      );
    });
    server.listen(port, LOOPBACK, resolve);
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/**
 * Why a request is not answered. Another site may lead a browser here by a name of its own (DNS rebinding) or by a
 * link; a name that is not this machine's, or a request that another site made, is refused whatever it asks for.
 */
function refusalOf(
  { method, headers }: IncomingMessage,
  port: number,
): readonly [number, string] | undefined {
  const hosts = [`${LOOPBACK}:${port}`, `localhost:${port}`];
  if (!hosts.includes(headers.host ?? '')) return [421, 'This is not the host that was asked for.'];
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site' || headers.origin !== undefined)
    return [403, 'Another site asks for this.'];
  if (method !== 'GET') return [405, 'This page only shows things.'];
  return undefined;
}

/** What stands behind the token; undefined where another stands in its place. */
function pathBelow(token: string, url: string): string | undefined {
  const [, given = '', path] = /^\/([^/?#]*)\/([^?#]*)$/.exec(url) ?? [];
  const [known, told] = [Buffer.from(token), Buffer.from(given)];
  const isKnown = known.length === told.length && timingSafeEqual(known, told);
  return isKnown ? path : undefined;
}

/** Ends an answer with a sentence. */
function end(response: ServerResponse, status: number, text: string): void {
  if (status === 405) response.setHeader('allow', 'GET');
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}
