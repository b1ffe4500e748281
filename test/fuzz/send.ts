import type { Client, Dispatcher } from 'undici';
import type { Json } from '../../src/core/value.ts';
import type { ContractOperation } from './document.ts';
import type { Body, Call, Delivery, Part } from './step.ts';
import type { World } from './world.ts';

/** A request as it goes over the wire. */
export type Wire = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | Buffer | undefined;
};

export type Reply = {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Sends a request as it stands. Throws where the connection breaks. */
export async function send(client: Client, { method, path, headers, body }: Wire): Promise<Reply> {
  const known: Dispatcher.HttpMethod | undefined = METHODS.find((one) => one === method);
  const answer = await client.request({
    method: known ?? 'GET',
    path,
    headers: { ...headers },
    body: body ?? null,
  });
  const type = answer.headers['content-type'];
  return {
    status: answer.statusCode,
    type: typeof type === 'string' ? type : undefined,
    text: await answer.body.text(),
  };
}

/** The request of a call, its placeholders filled in with what the store has now. */
export function wireOf(world: World, operation: ContractOperation, call: Call): Wire {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    printable(world.resolvePath(call.path[name] ?? { text: '' }, call)),
  );
  const query = call.query.flatMap(([name, value]) =>
    queryTexts(name, world.resolve(value, call)).map((text) => `${encode(name)}=${encode(text)}`),
  );
  const { body, type } = bodyOf(world, call);
  return {
    method: operation.method,
    path: query.length === 0 ? path : `${path}?${query.join('&')}`,
    headers: {
      ...world.headers(call.as, operation.auth),
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    body,
  };
}

/** A list goes out once an element under a name with brackets, with commas otherwise. */
function queryTexts(name: string, value: Json): readonly string[] {
  if (!Array.isArray(value)) return [textOf(value)];
  const texts: readonly string[] = value.map(textOf);
  return name.endsWith('[]') ? texts : [texts.join(',')];
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** What no request line may hold is escaped; everything else goes out as it is, wrong escapes too. */
function printable(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]|[?#]/gu, encode);
}

type Payload = { readonly body: string | Buffer | undefined; readonly type: string | undefined };

function bodyOf(world: World, call: Call): Payload {
  const { body } = call;
  switch (body.kind) {
    case 'none':
      return { body: undefined, type: undefined };
    case 'json':
      return {
        body: JSON.stringify(world.resolve(body.value, call)),
        type: body.type ?? undefined,
      };
    case 'text':
      return { body: body.text, type: body.type ?? undefined };
    case 'form':
      return formOf(body, (value) => textOf(world.resolve(value, call)));
  }
}

const BOUNDARY = 'callsheet-fuzz';

function formOf(
  { parts, damage }: Extract<Body, { kind: 'form' }>,
  resolve: (value: Json) => string,
): Payload {
  const chunks = parts.map((part) => partOf(part, resolve(part.value)));
  const whole = Buffer.concat([...chunks, Buffer.from(`--${BOUNDARY}--\r\n`)]);
  const type = 'multipart/form-data; boundary=';
  switch (damage) {
    case 'none':
      return { body: whole, type: `${type}${BOUNDARY}` };
    case 'cut':
      return { body: whole.subarray(0, Math.floor(whole.length / 2)), type: `${type}${BOUNDARY}` };
    case 'no-boundary':
      return { body: whole, type: 'multipart/form-data' };
    case 'other-boundary':
      return { body: whole, type: `${type}other` };
    case 'line-feeds':
      return { body: whole.toString('latin1').replaceAll('\r', ''), type: `${type}${BOUNDARY}` };
  }
}

function partOf({ name, file }: Part, text: string): Buffer {
  const quoted = (value: string) => value.replaceAll('"', '%22').replaceAll(/[\r\n]/g, ' ');
  const head = [
    `--${BOUNDARY}`,
    `Content-Disposition: form-data; name="${quoted(name)}"${file ? `; filename="${quoted(file.name)}"` : ''}`,
    ...(file ? [`Content-Type: ${file.type}`] : []),
  ];
  const content = file ? Buffer.alloc(file.size, 'x') : Buffer.from(text);
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), content, Buffer.from('\r\n')]);
}

/** A PUT to an address that was handed out, or nearly; undefined where none was. */
export function deliveryOf({ uploads }: World, { nth, twist }: Delivery): Wire | undefined {
  const address = uploads[nth % Math.max(1, uploads.length)];
  if (address === undefined) return undefined;
  const { pathname, searchParams: query } = new URL(address);
  if (twist === 'signature') query.set('signature', 'x');
  if (twist === 'expired') query.set('expires', '0');
  return {
    method: twist === 'method' ? 'POST' : 'PUT',
    path: twist === 'no-query' ? pathname : `${pathname}?${query}`,
    headers: {
      'content-type': twist === 'type' ? 'image/png' : (query.get('type') ?? 'text/plain'),
      ...(twist === 'token' ? { authorization: 'Bearer account' } : {}),
    },
    body: Buffer.alloc(twist === 'size' ? 6 : 5, 'x'),
  };
}
