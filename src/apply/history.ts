import type { Kind } from '../kinds/kind.ts';
import type { RunDeps } from './deps.ts';

/** History entries appear "within a few seconds" (revert rule 5); the receipt waits no longer than this. */
const LONGEST_WAIT_MS = 5_000;
const FIRST_WAIT_MS = 50;

/** What is expected of a history: an entry newer than `than`, and perhaps more, which need not come. */
export type Expected = { readonly than: number; readonly isMore: boolean };

/**
 * The newest history entry of a resource, once what is expected has appeared; the newest there is when
 * it does not appear in time. Undefined: no newer one is expected.
 */
export async function awaitHistory(
  { reader, sleep }: Pick<RunDeps, 'reader' | 'sleep'>,
  kind: Kind,
  id: string,
  expected: Expected | undefined,
): Promise<number | null> {
  const newest = async () => (await reader.history(kind, id, 1))[0]?.id ?? null;
  let last = await newest();
  if (expected === undefined) return last;
  const isThere = () => last !== null && last > expected.than;
  let waited = 0;
  for (let wait = FIRST_WAIT_MS; !isThere() && waited + wait <= LONGEST_WAIT_MS; wait *= 2) {
    await sleep(wait);
    waited += wait;
    last = await newest();
  }
  if (!expected.isMore || !isThere()) return last;
  // Entries that were made together appear together, but for a moment.
  await sleep(FIRST_WAIT_MS);
  return newest();
}
