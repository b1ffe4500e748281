import type { RunBegan } from '../state/journal.ts';
import type { Hold, Holds } from '../state/model.ts';

/** What a rollback means for the configuration that lies at its bottom. */
export type HoldChange = {
  readonly config_digest: string;
  /** The run that applied that configuration. */
  readonly undid: string;
  /** Whether it is undone from now on; undoing a rollback brings it back. */
  readonly isHeld: boolean;
};

/**
 * What undoing a run means for holds. Undoing an apply holds its configuration; undoing a rollback brings
 * back what that undid, and so on down. Undefined where nobody can tell.
 */
export async function holdChangeOf(
  run: string,
  beganOf: (run: string) => Promise<RunBegan | undefined>,
): Promise<HoldChange | undefined> {
  let isHeld = true;
  const seen = new Set<string>();
  for (let undid = run; !seen.has(undid); isHeld = !isHeld) {
    seen.add(undid);
    const began = await beganOf(undid);
    if (began === undefined) return undefined;
    if (began.snapshot !== undefined) return releaseOf(began, isHeld);
    if (began.undoes === undefined) return { config_digest: began.config_digest, undid, isHeld };
    undid = began.undoes;
  }
  return undefined;
}

/** A rollback to a snapshot held what it undid, if anything: undoing it brings that back. */
function releaseOf({ run, holds }: RunBegan, isHeld: boolean): HoldChange | undefined {
  const own = Object.entries(holds ?? {}).find(([, { by }]) => by === run);
  return own && { config_digest: own[0], undid: own[1].undid, isHeld: !isHeld };
}

/** The holds after a rollback. */
export function withHoldChange(
  holds: Holds,
  { config_digest: digest, undid, isHeld }: HoldChange,
  rollback: Omit<Hold, 'undid'>,
): Holds {
  const others = withoutHold(holds, digest);
  return isHeld ? { ...others, [digest]: { undid, ...rollback } } : others;
}

/** The holds without that of a configuration. */
export function withoutHold(holds: Holds, digest: string): Holds {
  return Object.fromEntries(Object.entries(holds).filter(([held]) => held !== digest));
}
