import type { RunBegan } from '../state/journal.ts';

/**
 * Whether undoing a run holds what that had written. Undoing an apply does; undoing a rollback lifts what it held, as
 * it brings back what that undid, and so on down. Undefined where nobody can tell.
 */
export async function holdsWhenUndone(
  run: string,
  beganOf: (run: string) => Promise<RunBegan | undefined>,
): Promise<boolean | undefined> {
  let isHeld = true;
  const seen = new Set<string>();
  for (let undid: string | undefined = run; undid !== undefined && !seen.has(undid); ) {
    seen.add(undid);
    const began: RunBegan | undefined = await beganOf(undid);
    // What the rollback on top held is known to be lifted, whatever is below it.
    if (began === undefined) return undid === run ? undefined : isHeld;
    if (began.purpose !== 'rollback') return isHeld;
    isHeld = !isHeld;
    undid = began.undoes;
  }
  return isHeld;
}
