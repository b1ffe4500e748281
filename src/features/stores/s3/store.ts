import { hash, randomUUID } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import type { CallsheetError } from '../../../core/errors.ts';
import type { S3Place } from '../../../core/stores.ts';
import { MOST_JOURNAL_BYTES, MOST_STATE_BYTES } from '../../../state/bounds.ts';
import { type DocumentPlace, inFew, type Part, type Put } from '../remote/document.ts';
import {
  type Answer,
  ask,
  askOnce,
  type Exchange,
  getETag,
  isDone,
  refusal,
  refuseClearText,
  said,
} from '../remote/exchange.ts';
import { type Doing, type Retries, refusedByStore } from '../remote/failures.ts';
import { type AwsCredentials, type AwsKeys, SOURCES } from './credentials.ts';

/**
 * A bucket. Its object at `key` is the document, which is replaced only where it is the one that was read
 * (`If-Match`), or made only where there is none (`If-None-Match: *`). State and journals lie in objects of their
 * own, below `key.parts/`: written before the document names them, under unique names.
 */
const TIMING = { beat: 4_000, silent: 16_000, watch: 14_000 };
/** A journal lies in as many objects as it has batches; the state is one. What recovers a run is read with its journal. */
const MOST = {
  runs: 500,
  size: 1_000_000,
  state: MOST_STATE_BYTES,
  journal: MOST_JOURNAL_BYTES,
};
/** From so many pieces on a finished journal is put together: each piece costs its reader a request. */
const MANY_PARTS = 16;
/** Another one is there, there is none any more, or somebody writes right now. */
const MOVED = new Set([404, 409, 412]);

const DENIED = /<Code>AccessDenied<\/Code>/;
const EXPIRED = /<Code>(ExpiredToken|ExpiredTokenException|TokenRefreshRequired)<\/Code>/;

const MAY_LIST =
  'Give the credentials s3:ListBucket on the bucket, beside s3:GetObject below the key: without it Amazon answers 403 where there is no state yet.';

export function s3Place(
  given: S3Place,
  credentials: AwsCredentials,
  exchange: Exchange,
  retries: Retries,
  region: string,
): DocumentPlace {
  const location = `s3://${given.bucket}/${given.key}`;
  const root = getRoot(given, region);
  refuseClearText(new URL(root), location);
  /** Keys that signatures are made with, which hold for a day. */
  const cache = new Map<string, ArrayBuffer>();
  const asking = { exchange, location, retries };
  const parts = `${given.key}.parts`;

  /** Sends a request. One that is refused since its keys have expired was not carried out: it is sent with new ones. */
  async function send(how: typeof ask, what: Doing, request: Request): Promise<AnswerToKeys> {
    let keys = await credentials.current(what);
    for (let isRepeated = false; ; isRepeated = true) {
      const answer = await how(asking, what, await signed(request, keys));
      const others =
        isRepeated || !hasExpired(answer) ? undefined : await credentials.renewed(what, keys);
      if (others === undefined) return { ...answer, keys };
      keys = others;
    }
  }

  async function signed({ method, key, body, conditions = {} }: Request, keys: AwsKeys) {
    const signer = new AwsClient({ ...keys, service: 's3', region, retries: 0, cache });
    const url = `${root}/${key.split('/').map(encoded).join('/')}`;
    const headers = {
      ...conditions,
      'x-amz-content-sha256': hash('sha256', body ?? ''),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const { headers: all } = await signer.sign(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return {
      method,
      url,
      headers: { ...Object.fromEntries(all), 'user-agent': 'callsheet' },
      ...(body === undefined ? {} : { body }),
    };
  }
  /** True once the service has said what is there, or that nothing is. */
  let isRead = false;

  function refuse(answer: AnswerToKeys, what: Doing): CallsheetError {
    const { from } = answer.keys;
    if (what === 'read' && !isRead && answer.status === 403 && DENIED.test(answer.text))
      return refusedByStore(
        what,
        location,
        said(answer),
        `${MAY_LIST} Those of ${from} were sent.`,
      );
    if (!hasExpired(answer))
      return refusal(answer, what, location, `those of ${from} were sent. ${SOURCES}`);
    return refusedByStore(
      what,
      location,
      `the credentials of ${from} have expired`,
      `Get others. ${SOURCES}`,
    );
  }

  async function read(key: string): Promise<Answer | undefined> {
    const answer = await send(ask, 'read', { method: 'GET', key });
    // A bucket that is missing is no empty state.
    const isMissing = answer.status === 404 && !answer.text.includes('NoSuchBucket');
    if (!isMissing && answer.status !== 200) throw refuse(answer, 'read');
    isRead = true;
    if (isMissing) return undefined;
    return answer;
  }

  async function store(text: string): Promise<{ readonly at: string }> {
    const at = randomUUID();
    const answer = await send(ask, 'write', { method: 'PUT', key: `${parts}/${at}`, body: text });
    if (!isDone(answer)) throw refuse(answer, 'write');
    return { at };
  }

  async function discard(at: string): Promise<void> {
    await send(ask, 'write', { method: 'DELETE', key: `${parts}/${at}` });
  }

  /** A service that leaves conditions unread would let two runs write at once. */
  async function refuseUnconditional(): Promise<void> {
    const { at } = await store('');
    for (const conditions of [
      { 'if-none-match': '*' },
      { 'if-match': '"00000000000000000000000000000000"' },
    ]) {
      const request = { method: 'PUT', key: `${parts}/${at}`, body: '', conditions };
      const answer = await send(ask, 'open', request);
      if (answer.status === 412) continue;
      const [name] = Object.keys(conditions);
      throw refusedByStore(
        'open',
        location,
        `the service does not support conditional writes with ${name}`,
        'Two runs could write at once. Use a service with conditional writes, such as Amazon S3, Cloudflare R2 or MinIO, or another store.',
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
      return answer && { text: answer.text, tag: getETag(answer) };
    },
    async put(text, tag): Promise<Put> {
      if (tag === undefined) await refuseUnconditional();
      const conditions = tag === undefined ? { 'if-none-match': '*' } : { 'if-match': tag };
      const request = { method: 'PUT', key: given.key, body: text, conditions };
      const answer = await send(askOnce, 'write', request);
      if (MOVED.has(answer.status)) return 'moved';
      if (!isDone(answer)) throw refuse(answer, 'write');
      return { tag: getETag(answer) };
    },
    enter: async () => true,
    leave: async () => {},
    traffic: exchange.traffic,
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

/** A request below the bucket. */
type Request = {
  readonly method: string;
  readonly key: string;
  readonly body?: string;
  readonly conditions?: Readonly<Record<string, string>>;
};

/** An answer, and the keys that it was given for. */
type AnswerToKeys = Answer & { readonly keys: AwsKeys };

function hasExpired({ status, text }: Answer): boolean {
  return (status === 400 || status === 403) && EXPIRED.test(text);
}

/** The address of a bucket. One with dots in its name has no certificate as a host. */
export function getRoot({ bucket, endpoint }: S3Place, region = 'us-east-1'): string {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, '')}/${bucket}`;
  return bucket.includes('.')
    ? `https://s3.${region}.amazonaws.com/${bucket}`
    : `https://${bucket}.s3.${region}.amazonaws.com`;
}

/** Returns true for an address of Amazon's, whatever a bucket or a region is called. */
export function isAmazon(root: string): boolean {
  return /(^|\.)s3\.[a-z0-9-]+\.amazonaws\.com$/.test(new URL(root).hostname);
}

function encoded(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
