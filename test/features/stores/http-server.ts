import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';

/**
 * A stand-in for servers that speak the protocol of Terraform's `http` backend, written from what Terraform's
 * client sends and from how GitLab answers: it takes a document under the id of the lock that is held and under
 * no other, checks MD5 sums and passwords, and (as GitLab) refuses a serial that it has seen.
 *
 * | style    | lock                         | a held lock is told by                            |
 * |----------|------------------------------|---------------------------------------------------|
 * | `gitlab` | POST and DELETE `…/lock`     | 409, its id, and the asker's own operation        |
 * | `plain`  | LOCK and UNLOCK the address  | 423 and the info that it was locked with, all of which unlocks it |
 * | `open`   | as `plain`                   | the same, but documents are taken from everybody  |
 */
export type Style = 'gitlab' | 'plain' | 'open';

export type Shelf = {
  text: string | undefined;
  lock: { readonly ID: string; readonly [member: string]: string } | undefined;
  readonly serials: Set<number>;
  /** How it answers whatever is to change something, in the place of what it would say. */
  refuses?: Reply | undefined;
  /** Answers 400 without a word where others say that the lock is not held. */
  isVague?: boolean;
  /** Answers every document with 400. */
  refusesAll?: boolean;
  /** Answers the first LOCK with 400. */
  stumbles?: boolean;
  /** Answers an UNLOCK with 200, and keeps the lock. */
  keepsLock?: boolean;
  /** Documents that are answered with 200 and not kept. */
  forgets?: (text: string) => boolean;
  /**
   * How the writing of a document fails: a full disk leaves half of the only copy, another failure what was there, and a
   * connection ends before the answer.
   */
  fails?: ((text: string) => StoreFault | undefined) | undefined;
};

export type StoreFault = 'truncates' | 'refuses' | 'cuts';

export const USERNAME = 'gitlab-ci-token';
export const PASSWORD = 'glcbt-64_canary/+:state';

export async function startHttpServer() {
  const shelves = new Map<string, Shelf>();
  /** The methods and paths that were asked for. */
  const requests: string[] = [];
  const shelfOf = (path: string) => {
    const shelf = shelves.get(path) ?? { text: undefined, lock: undefined, serials: new Set() };
    shelves.set(path, shelf);
    return shelf;
  };
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    requests.push(`${request.method} ${request.url}`);
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const shelf = shelfOf(path);
    const fault = request.method === 'POST' ? shelf.fails?.(body) : undefined;
    if (fault === 'truncates') shelf.text = body.slice(0, body.length / 2);
    if (fault === 'cuts') return response.destroy();
    if (fault !== undefined)
      return response.writeHead(507).end('{"message":"No space left on device"}');
    const { status, text = '' } = answer(request, body, shelfOf);
    const isFound = request.method === 'GET' && status === 200 && path.includes('/api/v4/');
    const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`;
    if (isFound && request.headers['if-none-match'] === etag)
      return response.writeHead(304, { etag }).end();
    const headers = { 'content-type': 'application/json', ...(isFound && { etag }) };
    return response.writeHead(status, headers).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    shelfOf,
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Reply = { readonly status: number; readonly text?: string };

function answer(request: IncomingMessage, body: string, shelfOf: (path: string) => Shelf): Reply {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const isLock = url.pathname.endsWith('/lock');
  const path = isLock ? url.pathname.slice(0, -'/lock'.length) : url.pathname;
  const style: Style = path.includes('/api/v4/')
    ? 'gitlab'
    : path.includes('open')
      ? 'open'
      : 'plain';
  const basic = `Basic ${Buffer.from(`${USERNAME}:${PASSWORD}`).toString('base64')}`;
  if (request.headers.authorization !== basic)
    return { status: 401, text: '{"message":"401 Unauthorized"}' };
  const sum = createHash('md5').update(body).digest('base64');
  if (body !== '' && request.headers['content-md5'] !== sum) return { status: 400 };
  const shelf = shelfOf(path);
  if (shelf.refuses !== undefined && request.method !== 'GET') return shelf.refuses;
  const method = `${request.method}${isLock ? ' lock' : ''}`;
  switch (method) {
    case 'GET':
      return shelf.text === undefined
        ? { status: style === 'gitlab' ? 204 : 404 }
        : { status: 200, text: shelf.text };
    case 'POST':
      return take(shelf, body, url.searchParams.get('ID') ?? undefined, style);
    case 'POST lock':
    case 'LOCK':
      return lock(shelf, JSON.parse(body), style);
    case 'DELETE lock':
    case 'UNLOCK':
      return unlock(shelf, JSON.parse(body), style);
    default:
      return { status: 405 };
  }
}

function take(shelf: Shelf, body: string, id: string | undefined, style: Style): Reply {
  if (shelf.refusesAll === true) return { status: 400, text: '{"message":"no such document"}' };
  if (style !== 'open' && id !== shelf.lock?.ID && shelf.isVague === true) return { status: 400 };
  if (style !== 'open' && id !== shelf.lock?.ID)
    return { status: style === 'gitlab' ? 409 : 423, text: JSON.stringify(shelf.lock ?? {}) };
  const { serial } = JSON.parse(body);
  if (style === 'gitlab' && (typeof serial !== 'number' || shelf.serials.has(serial)))
    return { status: 422, text: '{"message":"Version has already been taken"}' };
  if (shelf.forgets?.(body)) return { status: 200 };
  shelf.serials.add(serial);
  shelf.text = body;
  return { status: 200 };
}

const INFO = ['ID', 'Operation', 'Info', 'Who', 'Version', 'Created', 'Path'];

function lock(shelf: Shelf, info: NonNullable<Shelf['lock']>, style: Style): Reply {
  const missing = INFO.filter((name) => typeof Reflect.get(info, name) !== 'string');
  if (missing.length > 0) return { status: 400, text: `missing: ${missing.join(', ')}` };
  if (shelf.stumbles === true) {
    shelf.stumbles = false;
    return { status: 400 };
  }
  if (shelf.lock === undefined) {
    shelf.lock = info;
    return { status: 200, text: JSON.stringify(info) };
  }
  const told = style === 'gitlab' ? { ...info, ID: shelf.lock.ID } : shelf.lock;
  return { status: style === 'gitlab' ? 409 : 423, text: JSON.stringify(told) };
}

/** GitLab looks at the id. Others compare the whole info, as nimbolus/terraform-backend does. */
function unlock(shelf: Shelf, info: NonNullable<Shelf['lock']>, style: Style): Reply {
  if (style === 'gitlab' && shelf.lock?.ID !== info.ID) return { status: 409 };
  if (style !== 'gitlab' && !isDeepStrictEqual(shelf.lock, info)) return { status: 400 };
  if (shelf.keepsLock) return { status: 200 };
  shelf.lock = undefined;
  return { status: 200 };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece;
  return text;
}
