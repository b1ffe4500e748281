/** What is known of a history entry (Agent history entry). */
export type HistoryEntry = {
  /** Addresses the version. */
  readonly id: number;
  readonly action: string | null;
  readonly actor: string | null;
  readonly source: string | null;
  readonly at: string | null;
  readonly reverted_from_id: number | null;
};

/**
 * Who changed something that drifted, as far as the history of its resource tells. An entry names no field
 * (Agent history entry), so what one edit changed cannot be told from what another did.
 *
 * | certainty | entries            | means                                              |
 * |-----------|--------------------|----------------------------------------------------|
 * | `entry`   | one                | this edit                                          |
 * | `actor`   | several, one actor | one of these edits, all by the same actor          |
 * | `one_of`  | several            | one of these edits                                 |
 * | `unknown` | those that there are | `because` says why; none of them need be the one |
 */
export type Attribution = {
  readonly certainty: 'entry' | 'actor' | 'one_of' | 'unknown';
  /** Null where it is known. */
  readonly because: Doubt | null;
  /** Ids of entries, newest first. */
  readonly entries: readonly number[];
};

/**
 * Why a history does not tell who changed something.
 *
 * - `not_recorded`: history does not record this setting.
 * - `no_history`: the platform keeps no history of this kind.
 * - `no_entry`: there is no entry since the last run.
 * - `no_beginning`: where the last run stands in the history is unknown.
 * - `retention`: the entries no longer reach back to the last run.
 * - `late`: the newest change has no entry yet.
 * - `gone`: the resource is gone, and its history with it.
 */
export type Doubt =
  | 'not_recorded'
  | 'no_history'
  | 'no_entry'
  | 'no_beginning'
  | 'retention'
  | 'late'
  | 'gone';
