import type { Context } from '../../console/context.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { type LogFlags, showLog } from '../../log/show.ts';
import { restoreStates } from '../../restore/target.ts';
import { withReceipts } from '../../run/receipts.ts';
import { openSettings } from '../../run/stack.ts';

/** `callsheet log [ADDRESS[.FIELD]]`: what became of a stack, a resource or a field, newest first. */
export async function log(
  wanted: string | undefined,
  flags: LogFlags,
  context: Context,
): Promise<ExitCode> {
  const settings = openSettings(flags, context);
  await withReceipts(settings, restoreStates(settings.dir), context, (receipts) =>
    showLog(wanted, flags, receipts, context),
  );
  return EXIT.done;
}
