import type { Kind } from '../kinds/kind.ts';
import type { RunDeps } from './deps.ts';

/** History entries appear "within a few seconds" (revert rule 5); the receipt waits no longer than this. */
const LONGEST_WAIT_MS = 5_000;
const FIRST_WAIT_MS = 50;

/**
 * The newest history entry of a resource, once one newer than `than` has appeared; the newest there is
 * when none appears in time. `than` null: no newer one is expected.
 */
export async function awaitHistory(
  deps: RunDeps,
  kind: Kind,
  id: string,
  than: number | null,
): Promise<number | null> {
  let waited = 0;
  for (let wait = FIRST_WAIT_MS; ; wait *= 2) {
    const [newest] = await deps.reader.history(kind, id, 1);
    const isThere = than === null || (newest !== undefined && newest.id > than);
    if (isThere || waited + wait > LONGEST_WAIT_MS) return newest?.id ?? null;
    await deps.sleep(wait);
    waited += wait;
  }
}
