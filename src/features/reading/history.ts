import { locateWrites } from '../../apply/history.ts';
import type { Context } from '../../console/context.ts';
import { type ReadFlags, show, stampDocument } from '../../console/show.ts';
import type { Read } from '../../core/documents.generated.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { mask } from '../../core/redact.ts';
import { kindNamed } from '../../kinds/index.ts';
import { listIn } from '../../kinds/making.ts';
import { historyEntry } from '../../live/reader.ts';
import { findAuthor } from '../../plan/drift.ts';
import type { HistoryEntry } from '../../plan/reader.ts';
import { HISTORY_FIELDS, renderHistoryText } from '../../render/read/records.ts';
import { withPlatform } from '../../run/platform-session.ts';
import { isMadeBy, listReceipts, type Receipt, withReceipts } from '../../run/receipts.ts';
import type { StackSettings } from '../../stack/index.ts';
import { findAgent, onPlatform, type ScopeFlags } from './find.ts';

export type HistoryFlags = ReadFlags & ScopeFlags & { readonly limit: number };

/** No schema says what a history entry has. */
const UNKNOWN = {};

/**
 * `callsheet history AGENT`: the versions of an agent as the platform lists them, and in which run of the stack Callsheet
 * made those that it made.
 */
export async function history(
  wanted: string,
  flags: HistoryFlags,
  context: Context,
): Promise<ExitCode> {
  return withPlatform(flags, context, async (session) => {
    const agent = await findAgent(wanted, flags, session);
    const call = kindNamed('agent').history?.list(agent.id, flags.limit);
    if (call === undefined) throw new Error('agents have a history');
    const answer = await onPlatform('agent', agent, () => session.client.call(call));
    const records = listIn(answer).toSorted((a, b) => Number(b.id) - Number(a.id));
    // One without an id is shown; nothing is known of it.
    const known = records.filter(({ id }) => typeof id === 'number');
    const entries = known.map((record) => historyEntry(call, record));
    const marks = await markEntries(agent.id, entries, session.settings, context);
    const runs = new Map(marks.map(({ entry, run }) => [entry, run]));
    const data = records.map((record) => mask(UNKNOWN, record));
    const marked = data.map((entry) => ({ ...entry, run: runs.get(Number(entry.id)) ?? null }));
    show(
      flags,
      stampDocument('callsheet-history', { agent_id: agent.id, data, runs: marks }),
      (to) => renderHistoryText(agent.label, marked, to),
      context,
      { columns: HISTORY_FIELDS, records: marked },
    );
    return EXIT.done;
  });
}

/** A history entry that Callsheet made. */
type Mark = NonNullable<Read.History['runs']>[number];

/** A history that goes back further than this many runs is not marked to its end. */
const MOST_RUNS = 500;

/** The entries that runs made, newest first. None where the folder has no stack. */
async function markEntries(
  id: string,
  history: readonly HistoryEntry[],
  settings: StackSettings | undefined,
  context: Context,
): Promise<readonly Mark[]> {
  if (settings === undefined) return [];
  return withReceipts(settings, [], context, async ({ journals }) => {
    const marks = new Map<number, Mark>();
    let read = 0;
    for await (const { entries: journal = [] } of journals()) {
      read += 1;
      if (read > MOST_RUNS) break;
      for (const receipt of listReceipts(journal).filter(({ ids }) => ids.includes(id))) {
        const author = findAuthor(receipt.began.account_id);
        const entries = await locateWrites(receipt.entries, author, async () => history);
        for (const entry of history)
          if (!marks.has(entry.id) && isMadeBy(entry, { ...receipt, entries }))
            marks.set(entry.id, getMark(entry.id, receipt));
      }
    }
    return [...marks.values()].sort((a, b) => b.entry - a.entry);
  });
}

function getMark(entry: number, { began }: Receipt): Mark {
  const { run, purpose, undoes = null, at, actor } = began;
  return { entry, run, purpose, undoes, at, user: actor.user, commit: actor.commit };
}
