import { createHash, randomUUID } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import type { S3Place } from '../core/state-place.ts';
import { inFew, type Part } from './document.ts';
import type { DocumentPlace, Put } from './document-remote.ts';
import { type Answer, ask, askOnce, type Exchange, refusal, refuseClearText } from './exchange.ts';
import { type Doing, refusedByStore } from './failures.ts';
import type { Retries } from './patience.ts';

/**
 * A bucket. Its object at `key` is the document, which is replaced only where it is the one that was read
 * (`If-Match`), or made only where there is none (`If-None-Match: *`). State and journals lie in objects of their
 * own, below `key.parts/`: written before the document names them, under names that nobody else gives.
 */
export type S3Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

const TIMING = { beat: 4_000, silent: 16_000, watch: 14_000 };
/** A journal lies in as many objects as it has batches; the state is one, which is read at once. */
const MOST = { runs: 500, size: 1_000_000, state: 400_000_000, journal: Number.POSITIVE_INFINITY };
/** From so many pieces on a finished journal is put together: each is a request for whoever reads it. */
const MANY_PARTS = 16;
const WHERE_CREDENTIALS =
  'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, where there is one, AWS_SESSION_TOKEN.';
/** Another one is there, there is none any more, or somebody writes right now. */
const MOVED = new Set([404, 409, 412]);

export function s3Place(
  given: S3Place,
  credentials: S3Credentials | undefined,
  exchange: Exchange,
  retries: Retries,
  region = given.region ?? 'us-east-1',
): DocumentPlace {
  const location = `s3://${given.bucket}/${given.key}`;
  if (credentials === undefined)
    throw refusedByStore('open', location, 'there are no credentials', `Set ${WHERE_CREDENTIALS}`);
  const root = rootOf(given, region);
  refuseClearText(new URL(root), location);
  const signer = new AwsClient({ ...credentials, service: 's3', region, retries: 0 });
  const asking = { exchange, location, retries };
  const parts = `${given.key}.parts`;

  async function request(
    method: string,
    key: string,
    body?: string,
    conditions: Readonly<Record<string, string>> = {},
  ) {
    const url = `${root}/${key.split('/').map(encoded).join('/')}`;
    const headers = {
      ...conditions,
      'x-amz-content-sha256': createHash('sha256')
        .update(body ?? '')
        .digest('hex'),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const signed = await signer.sign(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return {
      method,
      url,
      headers: { ...Object.fromEntries(signed.headers), 'user-agent': 'callsheet' },
      ...(body === undefined ? {} : { body }),
    };
  }
  const refuse = (answer: Answer, what: Doing) =>
    refusal(answer, what, location, WHERE_CREDENTIALS);

  async function read(key: string): Promise<Answer | undefined> {
    const answer = await ask(asking, 'read', await request('GET', key));
    // A bucket that is missing is no empty state.
    if (answer.status === 404 && !answer.text.includes('NoSuchBucket')) return undefined;
    if (answer.status !== 200) throw refuse(answer, 'read');
    return answer;
  }

  async function store(text: string): Promise<{ readonly at: string }> {
    const at = randomUUID();
    const answer = await ask(asking, 'write', await request('PUT', `${parts}/${at}`, text));
    if (!isDone(answer)) throw refuse(answer, 'write');
    return { at };
  }

  async function discard(at: string): Promise<void> {
    await ask(asking, 'write', await request('DELETE', `${parts}/${at}`));
  }

  /** A service that leaves conditions unread would let two runs write at once. */
  async function refuseUnconditional(): Promise<void> {
    const { at } = await store('');
    for (const condition of [
      { 'if-none-match': '*' },
      { 'if-match': '"00000000000000000000000000000000"' },
    ]) {
      const answer = await ask(
        asking,
        'open',
        await request('PUT', `${parts}/${at}`, '', condition),
      );
      if (answer.status === 412) continue;
      const [name] = Object.keys(condition);
      throw refusedByStore(
        'open',
        location,
        `the service does not write under the condition ${name}`,
        'Two runs could write at once. Use a service with conditional writes, as Amazon S3, Cloudflare R2 and MinIO have them, or another store.',
      );
    }
    await discard(at);
  }

  return {
    location,
    timing: TIMING,
    most: MOST,
    async read() {
      const answer = await read(given.key);
      return answer && { text: answer.text, tag: etagOf(answer) };
    },
    async put(text, tag): Promise<Put> {
      if (tag === undefined) await refuseUnconditional();
      const condition = tag === undefined ? { 'if-none-match': '*' } : { 'if-match': tag };
      const answer = await askOnce(
        asking,
        'write',
        await request('PUT', given.key, text, condition),
      );
      if (MOVED.has(answer.status)) return 'moved';
      if (!isDone(answer)) throw refuse(answer, 'write');
      return { tag: etagOf(answer) };
    },
    enter: async () => true,
    leave: async () => {},
    keep: store,
    fetch: async (at) => (await read(`${parts}/${at}`))?.text,
    discard,
    async pack(own, whole) {
      if (own.length < MANY_PARTS) return own;
      const packed: Part[] = [];
      for (const piece of inFew(await whole())) packed.push(await store(piece));
      return packed;
    },
    retries,
    close: () => exchange.close(),
  };
}

/** A bucket with dots in its name has no certificate as a host. */
/** The address of a bucket. */
export function rootOf({ bucket, endpoint }: S3Place, region = 'us-east-1'): string {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, '')}/${bucket}`;
  return bucket.includes('.')
    ? `https://s3.${region}.amazonaws.com/${bucket}`
    : `https://${bucket}.s3.${region}.amazonaws.com`;
}

/** Whether an address is one of Amazon's, whatever a bucket or a region is called. */
export function isAmazon(root: string): boolean {
  return /(^|\.)s3\.[a-z0-9-]+\.amazonaws\.com$/.test(new URL(root).hostname);
}

function encoded(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function etagOf({ headers }: Answer): string {
  const { etag } = headers;
  return Array.isArray(etag) ? (etag[0] ?? '') : (etag ?? '');
}

function isDone({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}
