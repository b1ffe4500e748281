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

/** A configuration with the run that applied it. */
export type Applied = Pick<HoldChange, 'config_digest' | 'undid'>;

/**
 * What undoing a run means for holds. Undoing an apply holds the configuration that was applied `last`, which the
 * next pipeline would apply again, be it of a later run or of this one. Undoing a rollback brings back what that
 * undid, and so on down. Undefined where nobody can tell.
 */
export async function holdChangeOf(
  run: string,
  beganOf: (run: string) => Promise<RunBegan | undefined>,
  last?: Applied,
): Promise<HoldChange | undefined> {
  let isHeld = true;
  const seen = new Set<string>();
  for (let undid = run; !seen.has(undid); isHeld = !isHeld) {
    seen.add(undid);
    const began = await beganOf(undid);
    if (began === undefined) return undefined;
    const own = ownHold(began);
    if (own !== undefined) return { ...own, isHeld: !isHeld };
    if (began.snapshot !== undefined) return undefined;
    if (began.undoes === undefined) {
      const applied = { config_digest: began.config_digest, undid };
      return { ...((undid === run ? last : undefined) ?? applied), isHeld };
    }
    undid = began.undoes;
  }
  return undefined;
}

/** What a rollback held, if anything: undoing it brings that back. */
function ownHold({ run, holds }: RunBegan): Applied | undefined {
  const own = Object.entries(holds ?? {}).find(([, { by }]) => by === run);
  return own && { config_digest: own[0], undid: own[1].undid };
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
