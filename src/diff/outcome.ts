/** Facts about a leaf once a write is read back. */
type Seen = {
  /** It was sent with another value than it had; else it went back as it was read, in an object that is sent whole. */
  readonly isChanged: boolean;
  /** The configuration sets it; else it is a neighbour of a leaf that is set. */
  readonly isOwned: boolean;
  /** The platform returns it now (`x-told-while`). */
  readonly isReturned: boolean;
  /** It has the value that was sent. */
  readonly isAsSent: boolean;
  /** It has the value of before the write. */
  readonly isAsBefore: boolean;
  /** It differs from what was sent in nothing but what platforms change on the way (`isAlike` in `core/alike.ts`). */
  readonly isAlike: boolean;
  /** It is absent or empty. */
  readonly isGone: boolean;
  /** Somebody else wrote meanwhile, or the history does not tell. */
  readonly hasOthers: boolean;
};

export type Outcome =
  | 'unreturned'
  | 'took'
  | 'kept'
  | 'not_taken'
  | 'lost'
  | 'moved'
  | 'stored_as'
  | 'overwritten';

/**
 * Decides what became of a leaf (DESIGN §5, Proof). The proof of a run, a rollback's among them, and the recovery of one
 * that died ask here:
 *
 * | the leaf was        | it is now            | owned | others wrote | outcome       | which is                              |
 * |---------------------|----------------------|-------|--------------|---------------|---------------------------------------|
 * | sent                | not returned         | –     | –            | `unreturned`  | all that can be known                 |
 * | sent as another     | what was sent        | –     | –            | `took`        | what was meant                        |
 * | sent back unchanged | unchanged            | –     | –            | `kept`        | what was meant                        |
 * | sent as another     | what it was before, not alike | – | –       | `not_taken`   | a failure                             |
 * | sent back unchanged | gone                 | –     | –            | `lost`        | a failure                             |
 * | sent                | any other value      | no    | –            | `moved`       | the platform's doing: a line          |
 * | sent                | any other value      | yes   | no           | `stored_as`   | the platform's doing, and said        |
 * | sent                | any other value      | yes   | yes          | `overwritten` | drift or a conflict for the next plan |
 */
export function judgeLeaf(seen: Seen): Outcome {
  if (!seen.isReturned) return 'unreturned';
  if (seen.isAsSent) return seen.isChanged ? 'took' : 'kept';
  if (seen.isChanged && seen.isAsBefore && !seen.isAlike) return 'not_taken';
  if (!seen.isChanged && seen.isGone) return 'lost';
  if (!seen.isOwned) return 'moved';
  return seen.hasOthers ? 'overwritten' : 'stored_as';
}
