import { randomBytes } from 'node:crypto';

/** Sorts by time and is unique: `20261121t094500z-1f3a9c`. */
export function runId(now: Date): string {
  const time = now
    .toISOString()
    .replace(/[-:]|\.\d+/g, '')
    .toLowerCase();
  return `${time}-${randomBytes(3).toString('hex')}`;
}
