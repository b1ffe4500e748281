import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Json } from '../../src/core/value.ts';

/** How a refusal repeats what it was sent. */
type Shape =
  | 'coded'
  | 'issues'
  | 'details'
  | 'members'
  | 'text'
  | 'page'
  | 'headers'
  | 'good'
  | 'cut';

/** What is answered instead of what the platform would say, and to which requests. */
export type Echo = {
  readonly to: 'token' | 'reads' | 'writes' | 'all';
  readonly status: number;
  readonly shape: Shape;
};

/** A platform that repeats in its refusals what it was sent: header values, bodies, tokens. */
export type EchoingPlatform = {
  readonly url: string;
  readonly set: (echo: Echo | undefined) => void;
  /** How many answers repeated a watched value. */
  readonly repeated: () => number;
  readonly close: () => Promise<void>;
};

/** Stands before the platform at `target` and lets everything through that no echo is set for. */
export async function openEcho(target: string): Promise<EchoingPlatform> {
  let echo: Echo | undefined;
  let repeated = 0;
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const body = await buffer(incoming);
    if (echo !== undefined && isMeant(echo, method, url)) {
      const said = saidIn(incoming, body.toString('latin1'));
      if (/canary-|Bearer/.test(JSON.stringify(said))) repeated += 1;
      const answer = refusal(echo, said);
      outgoing.writeHead(echo.status, answer.headers);
      if (echo.shape !== 'cut') return void outgoing.end(answer.body);
      outgoing.write(answer.body.slice(0, -2));
      return void setImmediate(() => outgoing.destroy());
    }
    // Tokens are made for the platform's own address.
    const sent = url.startsWith('/oauth/') ? body.toString().replaceAll(own(), target) : body;
    const { host: _, connection: __, 'content-length': ___, ...kept } = headers;
    const answer = await fetch(new URL(url, target), {
      method,
      headers: kept as Record<string, string>,
      ...(sent.length === 0 ? {} : { body: sent }),
    });
    const received = Buffer.from(await answer.arrayBuffer());
    outgoing.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'application/json',
    });
    outgoing.end(received);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: own(),
    set: (next) => {
      echo = next;
    },
    repeated: () => repeated,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function isMeant({ to }: Echo, method: string, url: string): boolean {
  const isToken = url.startsWith('/oauth/');
  if (to === 'all') return true;
  if (to === 'token') return isToken;
  return !isToken && (method === 'GET') === (to === 'reads');
}

type Said = { readonly plain: string; readonly json: Json; readonly forms: readonly string[] };

/** What a request said in confidence, in the ways that a refusal may repeat it. */
function saidIn({ headers }: IncomingMessage, body: string): Said {
  const { authorization = '', 'x-pbx-api-key': key = '' } = headers;
  const plain = `${authorization} ${String(key)} ${body}`;
  const json = parsed(body);
  const values = [authorization.replace('Bearer ', ''), String(key), ...textsOf(json)];
  const forms = values
    .filter((value) => value.length > 5)
    .flatMap((value) => [
      value,
      encodeURIComponent(value),
      JSON.stringify(value),
      JSON.stringify(JSON.stringify(value)),
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('base64url'),
    ]);
  return { plain, json, forms };
}

function parsed(body: string): Json {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

function textsOf(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** Waiting longer than a command waits for anything: it gives up at once. */
const NEVER = '1000000';

function refusal({ shape }: Echo, { plain, json, forms }: Said) {
  const all = forms.join(' ');
  const headers = {
    'content-type': 'application/json',
    'retry-after': NEVER,
    ...(shape === 'headers'
      ? {
          'x-request-id': (forms[0] ?? '').replace(/[^ -~]/g, ''),
          location: `https://elsewhere.example.test/?${encodeURIComponent(plain)}`,
          'x-debug': encodeURIComponent(plain),
        }
      : {}),
  };
  const bodies: Record<Shape, Json> = {
    coded: { error: 'invalid_request', error_description: `cannot take ${all} of ${plain}` },
    issues: { error: 'Invalid', issues: [{ path: ['body', plain], message: `bad: ${all}` }] },
    details: { error: 'Invalid', details: [{ path: plain, message: all, received: json }] },
    members: { error: all, message: plain, data: json, existing: { id: plain, name: all } },
    text: `${plain} ${all}`,
    page: `<html><body>${plain}<pre>${all}</pre></body></html>`,
    headers: { error: 'invalid_request' },
    good: { data: { id: 'echoed', name: 'echoed', sent: json }, message: all },
    cut: { data: [json], message: all },
  };
  const isBare = shape === 'text' || shape === 'page';
  return {
    headers: isBare ? { ...headers, 'content-type': 'text/html' } : headers,
    body: isBare ? String(bodies[shape]) : JSON.stringify(bodies[shape]),
  };
}
