import { mask } from '../../core/redact.ts';
import { HISTORY_FIELDS, renderHistoryText } from '../../render/read/history.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { markEntries } from '../history/marks.ts';
import { readVersions } from '../history/read-history.ts';
import { readReceipts } from '../history/receipts.ts';
import { comparedIn, showDiff } from '../history/show-diff.ts';
import { type PlatformSession, withPlatform } from '../platform-session.ts';
import { type Found, findAgent } from '../read/find.ts';
import type { ScopeFlags } from '../read/scope.ts';
import { type ReadFormat, show } from '../read/show.ts';

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

/** No schema says what a history entry has. */
const UNKNOWN = {};

/** The versions of an agent, and in which run Callsheet made those that it made. */
async function showVersions(
  agent: Found,
  { limit, format }: { readonly limit: number; readonly format: ReadFormat },
  session: PlatformSession,
  context: Context,
): Promise<void> {
  const { records, entries } = await readVersions(agent, limit, session);
  const marks = markEntries(entries, await readReceipts(agent.id, session, context));
  const runs = new Map(marks.map(({ entry, run }) => [entry, run]));
  const data = records.map((record) => mask(UNKNOWN, record));
  const marked = data.map((entry) => ({ ...entry, run: runs.get(Number(entry.id)) ?? null }));
  const { terminal } = context;
  show(
    format,
    {
      text: () => renderHistoryText(agent.label, marked, terminal.render),
      json: () => ({
        format: 'callsheet-history',
        version: 1,
        agent_id: agent.id,
        data,
        runs: marks.map((mark) => ({ ...mark })),
      }),
      csv: () => ({ columns: HISTORY_FIELDS, records: marked }),
    },
    terminal,
  );
}
