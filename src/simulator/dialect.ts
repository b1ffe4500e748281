import type { OperationId } from '../api/operations.generated.ts';

/**
 * How the simulator behaves where the specification is silent. Callsheet must come to the same end under
 * every one of them.
 */
export type Dialect = {
  /** Whether an update of a nested object changes its members or replaces it. Secrets survive both. */
  merge: 'deep' | 'shallow';
  /** Whether null clears a field, or is refused where the specification does not name it as a value. */
  nulls: 'clears' | 'rejected';
  /** Whether items of the agent list carry `updated_at`. */
  listUpdatedAt: boolean;
  /** Milliseconds until a history entry can be seen. */
  historyLagMs: number;
  /** How many entries an agent keeps; null keeps all. */
  historyRetention: number | null;
  /** How often a list of sources still shows an ingestion as running. */
  ingestionReads: number;
  /** Operations that this platform does not have; they answer 404. */
  absent: readonly OperationId[];
};

export const DEFAULT_DIALECT: Dialect = {
  merge: 'deep',
  nulls: 'clears',
  listUpdatedAt: true,
  historyLagMs: 0,
  historyRetention: null,
  ingestionReads: 0,
  absent: [],
};
