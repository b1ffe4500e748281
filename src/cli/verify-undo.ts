import type { RunResult } from '../apply/execute.ts';
import type { Address } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import { kindNamed } from '../kinds/index.ts';
import { createReader } from '../live/reader.ts';
import { scopeOf } from '../plan/natural-key.ts';
import { readWith } from '../plan/reader.ts';
import type { Undo, Wanted } from '../rollback/undo.ts';
import { differencesOf } from '../rollback/verify.ts';
import type { Difference, NotUndone, SnapshotTaken } from '../state/journal.ts';
import type { ResourceState } from '../state/model.ts';
import type { Session } from './session.ts';

/** What a run left, as far as it knows. */
export type Left = {
  readonly resources: Readonly<Record<Address, ResourceState>>;
  /** What it found right before it wrote, by address. */
  readonly found: ReadonlyMap<Address, Pick<SnapshotTaken, 'id' | 'document'>>;
};

/** What came of holding a rollback's result against what was wanted. */
export type Verification = {
  readonly differs: readonly Difference[];
  /** How many resources are as they were. */
  readonly equal: number;
  /** Why it could not be read; null: it was. */
  readonly problem: string | null;
  /** What was not put back, and is known not to be. */
  readonly left: readonly NotUndone[];
};

export type VerifiedResult = RunResult & { readonly verification?: Verification };

/**
 * Reads every resource of a rollback afresh once all of it is done, and holds it against what it was: that a
 * write took says nothing of what the next one did to it.
 */
export async function verifyUndo(
  { wanted }: Pick<Undo, 'wanted'>,
  { resources, found }: Left,
  { client, endpoints, world }: Session,
): Promise<Omit<Verification, 'left'>> {
  const reader = createReader(client, endpoints);
  const now = { ...world, idOf: (address: Address) => resources[address]?.id };
  const read = async ([address, one]: readonly [Address, Wanted]) => {
    const before = found.get(address);
    const id = resources[address]?.id ?? before?.id ?? one.id;
    if (id === null) return [];
    const kind = kindNamed(one.kind);
    const scope =
      resources[address]?.scope ?? scopeOf(kind, one.document ?? before?.document ?? {});
    const after = await readWith(reader, kind, { id, scope }, Object.keys(one.document ?? {}));
    return differencesOf(address, one, { before: before?.document, after }, now);
  };
  try {
    const differences = await Promise.all([...wanted].map(read));
    const equal = differences.filter(({ length }) => length === 0).length;
    return { differs: differences.flat(), equal, problem: null };
  } catch (error) {
    if (!(error instanceof CallsheetError)) throw error;
    return { differs: [], equal: 0, problem: error.message };
  }
}
