import { createHmac, timingSafeEqual } from 'node:crypto';
import { coded } from './answer.ts';
import type { Platform } from './platform.ts';

type Query = { readonly [name: string]: string | undefined };

/** An address whose signature stands for a token until it expires. `more` is signed as well. */
export function presign(
  platform: Platform,
  path: string,
  lifetimeMs: number,
  more: { readonly type?: string } = {},
): string {
  const given = { expires: String(platform.now().getTime() + lifetimeMs), ...more };
  const query = new URLSearchParams({ ...given, signature: sign(platform, path, given) });
  return `${platform.url}${path}?${query}`;
}

/**
 * Refuses a request to such an address: 403 where the address was altered, is not `known` or has expired, 400
 * where a token came along.
 */
export function checkPresigned(
  platform: Platform,
  path: string,
  query: Query,
  { authorization, isKnown = true }: { authorization: string | undefined; isKnown?: boolean },
): void {
  const { signature = '', expires } = query;
  if (authorization !== undefined)
    throw coded(
      400,
      'invalid_request',
      'Only one way to authenticate is allowed; the address is signed',
    );
  if (!isKnown || !isSameSecret(signature, sign(platform, path, query)))
    throw coded(403, 'signature_mismatch', 'The signature does not fit the address');
  if (Number(expires) < platform.now().getTime())
    throw coded(403, 'expired', 'The address has expired');
}

function sign({ signingKey }: Platform, path: string, { expires = '', type = '' }: Query): string {
  return createHmac('sha256', signingKey).update([path, expires, type].join('\n')).digest('hex');
}

/** Compares without telling by the time it takes how much is right. */
export function isSameSecret(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
