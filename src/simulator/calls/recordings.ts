import { createHmac, timingSafeEqual } from 'node:crypto';
import { coded } from '../answer.ts';
import type { Platform } from '../platform.ts';

/** Path under which recordings lie. It is no operation: only call logs hand it out. */
export const RECORDING_PATH = '/recordings/';

/** Milliseconds that an address of a recording holds. The specification gives no figure. */
const LIFETIME = 60 * 60_000;

/** Samples a second of what is played: silence, since nobody spoke. */
const SAMPLE_RATE = 8000;

/** An address of a call's recording that takes no token and expires (Call log, recording_url). */
export function presignRecording(platform: Platform, id: string): string {
  const expires = String(platform.now().getTime() + LIFETIME);
  const query = new URLSearchParams({ expires, signature: sign(platform, id, expires) });
  return `${platform.url}${RECORDING_PATH}${encodeURIComponent(id)}?${query}`;
}

/** A GET of an address of a recording. */
type Request = {
  readonly id: string;
  readonly query: { readonly [name: string]: string };
  readonly authorization: string | undefined;
};

/**
 * A second of silence as a WAV file. 403 where the address was altered or has expired, 400 where a token
 * came along: the signature stands for it.
 */
export function readRecording(platform: Platform, { id, query, authorization }: Request): Buffer {
  const { expires = '', signature = '' } = query;
  if (authorization !== undefined)
    throw coded(
      400,
      'invalid_request',
      'Only one way to authenticate is allowed; the address is signed',
    );
  const [given, right] = [Buffer.from(signature), Buffer.from(sign(platform, id, expires))];
  if (given.length !== right.length || !timingSafeEqual(given, right))
    throw coded(403, 'signature_mismatch', 'The signature does not fit the address');
  if (Number(expires) < platform.now().getTime())
    throw coded(403, 'expired', 'The address has expired');
  return silence(SAMPLE_RATE);
}

function sign({ signingKey }: Platform, id: string, expires: string): string {
  return createHmac('sha256', signingKey)
    .update([RECORDING_PATH, id, expires].join('\n'))
    .digest('hex');
}

/** A WAV file of one channel with a byte a sample. */
function silence(samples: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples, 40);
  return Buffer.concat([header, Buffer.alloc(samples, 0x80)]);
}
