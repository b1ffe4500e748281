import { CallsheetError } from '../../core/errors.ts';
import { hasChanges } from '../../plan/document.ts';
import { compareSnapshots } from '../../snapshot/compare.ts';
import { openSnapshot } from '../../snapshot/read-file.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type KeyFlags, keysFrom } from '../snapshot/keys.ts';
import { type ReviewFormat, renderReview } from './plan.ts';

export type DiffFlags = CommonFlags &
  KeyFlags & { readonly format: ReviewFormat; readonly detailedExitcode?: boolean };

/** `callsheet snapshot diff A B`: what changed from one snapshot to another, as a plan shows it. */
export async function diff(
  earlier: string,
  later: string,
  flags: DiffFlags,
  context: Context,
): Promise<ExitCode> {
  const keys = keysFrom(flags, context);
  const [before, after] = [await openSnapshot(earlier, keys), await openSnapshot(later, keys)];
  const [old, now] = [before.header.platform, after.header.platform];
  if (old.account_id !== now.account_id) {
    throw new CallsheetError(
      'usage',
      `the snapshots are of different accounts: ${old.account_id} and ${now.account_id}`,
      { hint: 'Two accounts share no ids, so that nothing could be compared.' },
    );
  }
  const document = await compareSnapshots(before, after, context.now());
  context.terminal.out(await renderReview(document, flags.format, context.terminal));
  const isDifferent = hasChanges(document) || document.notes.length > 0;
  return isDifferent && flags.detailedExitcode === true ? EXIT.changes : EXIT.done;
}
