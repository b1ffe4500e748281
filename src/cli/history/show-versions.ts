import { mask } from '../../core/redact.ts';
import { HISTORY_FIELDS, renderHistoryText } from '../../render/read/history.ts';
import type { Context } from '../context.ts';
import type { PlatformSession } from '../platform-session.ts';
import type { Found } from '../read/find.ts';
import { type ReadFormat, show } from '../read/show.ts';
import { markEntries } from './marks.ts';
import { readVersions } from './read-history.ts';
import { readReceipts } from './receipts.ts';

/** No schema says what a history entry has. */
const UNKNOWN = {};

/** The versions of an agent, and in which run Callsheet made those that it made. */
export async function showVersions(
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
