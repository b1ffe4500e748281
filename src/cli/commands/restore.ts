import { openSnapshot } from '../../snapshot/read-file.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { type CarryOutFlags, carryOut } from '../restore/carry-out.ts';
import { readHolding } from '../restore/holding.ts';
import { openRestoration } from '../restore/open.ts';
import { type KeyFlags, keysFrom } from '../snapshot/keys.ts';

export type RestoreFlags = CarryOutFlags & KeyFlags;

/** `callsheet restore FILE`: brings what a snapshot holds into an account, and proves that it is there. */
export async function restore(
  file: string,
  flags: RestoreFlags,
  context: Context,
): Promise<ExitCode> {
  const holding = await readHolding(await openSnapshot(file, keysFrom(flags, context)));
  const opened = await openRestoration(holding, flags, context);
  return carryOut(opened, flags, context);
}
