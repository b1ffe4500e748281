import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Answer, coded } from './answer.ts';
import type { Platform } from './platform.ts';
import type { Source, Upload } from './store.ts';

/** Path under which presigned addresses lie. It is no operation: only the platform hands it out. */
export const UPLOAD_PATH = '/uploads/';

/** Milliseconds that a presigned address holds. The specification gives no figure. */
const LIFETIME = 15 * 60_000;

/** An address that takes one document's bytes without a token (Knowledge base sources, file flow). */
export function presign(platform: Platform, { fileKey, mime }: Upload): string {
  const expires = String(platform.now().getTime() + LIFETIME);
  const query = new URLSearchParams({
    expires,
    type: mime,
    signature: sign(platform, fileKey, expires, mime),
  });
  return `${platform.url}${UPLOAD_PATH}${fileKey}?${query}`;
}

/** A PUT to a presigned address, as an object store takes it. */
type Delivery = {
  readonly fileKey: string;
  readonly query: { readonly [name: string]: string | undefined };
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly bytes: Buffer;
};

/** Stores the bytes. The signature stands for the token: a request that brings both is refused. */
export function receiveUpload(platform: Platform, delivery: Delivery): Answer {
  const { fileKey, query, bytes } = delivery;
  const { expires = '', type = '', signature = '' } = query;
  const source = findSource(platform, fileKey);
  if (delivery.authorization !== undefined)
    throw coded(
      400,
      'invalid_request',
      'Only one way to authenticate is allowed; the address is signed',
    );
  if (source?.upload === undefined || !equal(signature, sign(platform, fileKey, expires, type)))
    throw coded(403, 'signature_mismatch', 'The signature does not fit the address');
  if (Number(expires) < platform.now().getTime())
    throw coded(403, 'expired', 'The address has expired');
  if (delivery.contentType !== source.upload.mime)
    throw coded(403, 'signature_mismatch', `The content type must be ${source.upload.mime}`);
  if (bytes.length !== source.upload.size)
    throw coded(
      400,
      'size_mismatch',
      `${source.upload.size} bytes were announced and ${bytes.length} came`,
    );
  source.upload.bytes = bytes;
  return { status: 200 };
}

function findSource({ store }: Platform, fileKey: string): Source | undefined {
  return [...store.sources.values()].find(({ upload }) => upload?.fileKey === fileKey);
}

function sign({ signingKey }: Platform, fileKey: string, expires: string, mime: string): string {
  return createHmac('sha256', signingKey).update([fileKey, expires, mime].join('\n')).digest('hex');
}

function equal(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
