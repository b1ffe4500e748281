import type { StatePlace } from '../core/state-place.ts';

/** Names a place in messages, without credentials and without what a query may hide. */
export function locationOf(place: StatePlace): string {
  if ('file' in place) return place.file;
  if ('http' in place) return plain(place.http.address);
  if ('s3' in place) return `s3://${place.s3.bucket}/${place.s3.key}`;
  return `${plain(place.postgres.url)}#${place.postgres.stack}`;
}

function plain(address: string): string {
  if (!URL.canParse(address)) return 'at an address that cannot be read';
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}
