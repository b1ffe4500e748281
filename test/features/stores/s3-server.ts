import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StoreFault } from './http-server.ts';

/**
 * A stand-in for S3-compatible services: objects of one bucket, conditional writes as Amazon documents them, and
 * signatures (version 4) that it works out by itself. No server on npm has conditional writes.
 */
export const BUCKET = 'states';
export const KEY_ID = 'AKIACANARYEXAMPLE';
export const SECRET = 'canary/s3+secret+key';

export type Objects = Map<string, string>;

/** Keys that a service knows. */
export type Known = {
  readonly secret: string;
  readonly token?: string;
  readonly hasExpired?: boolean;
};

export async function startS3(hasConditions = true) {
  const objects: Objects = new Map();
  /** By their ids. */
  const keys = new Map<string, Known>([[KEY_ID, { secret: SECRET }]]);
  /** How writes below a key are answered, in the place of what would be said. */
  const refusals = new Map<string, Reply>();
  /** By their keys, objects that are answered with 200 and not kept. */
  const forgets = new Map<string, (text: string) => boolean>();
  const faults: {
    fails?: ((key: string, text: string) => StoreFault | undefined) | undefined;
    /** Answers 403 for what is missing, as Amazon does without `s3:ListBucket`. */
    hidesMissing?: boolean;
  } = {};
  /** The methods and paths that were asked for. */
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    requests.push(`${request.method} ${request.url}`);
    const [, , ...rest] = (request.url ?? '').split('/');
    const put = decodeURIComponent(rest.join('/'));
    const fault = request.method === 'PUT' ? faults.fails?.(put, body) : undefined;
    if (fault === 'cuts') return response.destroy();
    if (fault !== undefined) return response.writeHead(507).end();
    const { status, code, text = '', etag } = answer(request, body);
    const page =
      code === undefined ? text : `<Error><Code>${code}</Code><Message>${code}</Message></Error>`;
    return response.writeHead(status, etag === undefined ? {} : { etag }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  function answer(request: IncomingMessage, body: string): Reply {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const fault = signatureFault(request, url, body, keys);
    if (fault === 'ExpiredToken') return { status: 400, code: fault };
    if (fault !== undefined) return { status: 403, code: fault };
    const [, bucket, ...rest] = url.pathname.split('/');
    if (bucket !== BUCKET) return { status: 404, code: 'NoSuchBucket' };
    const key = decodeURIComponent(rest.join('/'));
    const there = objects.get(key);
    const refusal = [...refusals].find(([prefix]) => key.startsWith(prefix))?.[1];
    if (refusal !== undefined && request.method !== 'GET') return refusal;
    switch (request.method) {
      case 'GET':
        return there === undefined
          ? faults.hidesMissing === true
            ? { status: 403, code: 'AccessDenied' }
            : { status: 404, code: 'NoSuchKey' }
          : { status: 200, text: there, etag: etagOf(there) };
      case 'PUT':
        return put(key, there, body, request);
      case 'DELETE':
        objects.delete(key);
        return { status: 204 };
      default:
        return { status: 405, code: 'MethodNotAllowed' };
    }
  }

  function put(
    key: string,
    there: string | undefined,
    body: string,
    { headers }: IncomingMessage,
  ): Reply {
    const { 'if-match': match, 'if-none-match': noneMatch } = headers;
    if (hasConditions && match !== undefined) {
      if (there === undefined) return { status: 404, code: 'NoSuchKey' };
      if (match !== etagOf(there)) return { status: 412, code: 'PreconditionFailed' };
    }
    if (hasConditions && noneMatch === '*' && there !== undefined)
      return { status: 412, code: 'PreconditionFailed' };
    if (forgets.get(key)?.(body) !== true) objects.set(key, body);
    return { status: 200, etag: etagOf(body) };
  }

  return Object.assign(faults, {
    port,
    keys,
    refusals,
    forgets,
    requests,
    endpoint: `http://127.0.0.1:${port}`,
    objects,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

type Reply = {
  readonly status: number;
  readonly code?: string;
  readonly text?: string;
  readonly etag?: string;
};

function etagOf(text: string): string {
  return `"${createHash('md5').update(text).digest('hex')}"`;
}

/** What is wrong with the signature of a request, as Amazon calls it. */
export function signatureFault(
  request: IncomingMessage,
  url: URL,
  body: string,
  keys: ReadonlyMap<string, Known>,
): string | undefined {
  const given = request.headers.authorization ?? '';
  const [, id = ''] = /Credential=([^/]+)/.exec(given) ?? [];
  const known = keys.get(id);
  if (known === undefined) return 'InvalidAccessKeyId';
  if (signatureOf(request, url, body, { id, secret: known.secret }) !== given)
    return 'SignatureDoesNotMatch';
  if (request.headers['x-amz-security-token'] !== known.token) return 'InvalidToken';
  return known.hasExpired === true ? 'ExpiredToken' : undefined;
}

/** The header that a request must have, by Amazon's description of signature version 4. */
function signatureOf(
  { method, headers }: IncomingMessage,
  url: URL,
  body: string,
  { id, secret }: { readonly id: string; readonly secret: string },
): string {
  const given = headers.authorization ?? '';
  const [, scope = ''] = /Credential=[^/]+\/([^,]+)/.exec(given) ?? [];
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(given) ?? [];
  const sum = createHash('sha256').update(body).digest('hex');
  // Of the services that are stood in for, S3 alone asks for it.
  if (scope.includes('/s3/') && headers['x-amz-content-sha256'] !== sum)
    return 'no sum of the body';
  const lines = names.split(';').map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`);
  const canonical = [method, url.pathname, '', lines.join(''), names, sum].join('\n');
  const date = String(headers['x-amz-date']);
  const toSign = [
    'AWS4-HMAC-SHA256',
    date,
    scope,
    createHash('sha256').update(canonical).digest('hex'),
  ];
  const key = scope
    .split('/')
    .reduce<string | Buffer>(
      (from, part) => createHmac('sha256', from).update(part).digest(),
      `AWS4${secret}`,
    );
  const signature = createHmac('sha256', key).update(toSign.join('\n')).digest('hex');
  return `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
}
