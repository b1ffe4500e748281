import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { comparedIn, showDiff } from '../history/show-diff.ts';
import { showVersions } from '../history/show-versions.ts';
import { withPlatform } from '../platform-session.ts';
import { findAgent } from '../read/find.ts';
import type { ScopeFlags } from '../read/scope.ts';
import type { ReadFormat } from '../read/show.ts';

export type HistoryFlags = CommonFlags &
  ScopeFlags & {
    readonly limit: number;
    readonly format: ReadFormat;
    /** Ids of the two versions that are compared. */
    readonly diff?: readonly string[];
  };

/** `callsheet history AGENT`: the versions of an agent, who made them and from where, or how two differ. */
export async function history(
  wanted: string,
  flags: HistoryFlags,
  context: Context,
): Promise<ExitCode> {
  const compared = comparedIn(flags);
  return withPlatform(flags, context, async (session) => {
    const agent = await findAgent(wanted, flags, session);
    await (compared === undefined
      ? showVersions(agent, flags, session, context)
      : showDiff(agent, compared, flags, session, context));
    return EXIT.done;
  });
}
