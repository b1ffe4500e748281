import type { Client } from '../api/client.ts';
import { ApiError } from '../api/errors.ts';
import { NOT_THE_PLATFORM } from '../api/line.ts';
import { CallsheetError } from '../core/errors.ts';
import { isList, isObject, type Json } from '../core/value.ts';
import type { Call, Kind } from '../kinds/kind.ts';
import type { HistoryEntry } from '../plan/reader.ts';

/** Entries that are asked for at least: the order of fewer says nothing. */
const FEWEST = 2;
/** Asked for where the first answer holds the oldest entries: the largest page that other lists give (Limits). */
const MOST = 100;

/**
 * The newest history entries, newest first. The specification gives no order, so an answer that is full
 * and rises holds the oldest entries: then more are asked for.
 */
export async function readHistory(
  client: Pick<Client, 'call'>,
  kind: Kind,
  id: string,
  limit: number,
): Promise<readonly HistoryEntry[]> {
  const { history } = kind;
  if (history === undefined) return [];
  const read = async (count: number) => readEntries(client, history.list(id, count));
  const asked = Math.max(limit, FEWEST);
  const first = await read(asked);
  const entries =
    asked < MOST && first.length >= asked && rises(first) ? await readMore(read, first) : first;
  return entries.toSorted((a, b) => b.id - a.id).slice(0, limit);
}

/** A platform that refuses so many keeps its first answer. */
async function readMore(
  read: (count: number) => Promise<readonly HistoryEntry[]>,
  first: readonly HistoryEntry[],
): Promise<readonly HistoryEntry[]> {
  try {
    return await read(MOST);
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return first;
    throw error;
  }
}

function rises(entries: readonly HistoryEntry[]): boolean {
  return entries.every(({ id }, index) => index === 0 || id > (entries[index - 1]?.id ?? 0));
}

async function readEntries(
  client: Pick<Client, 'call'>,
  call: Call,
): Promise<readonly HistoryEntry[]> {
  const answer = await client.call(call);
  if (isObject(answer) && isList(answer.data)) {
    return answer.data.map((entry) => historyEntry(call, entry));
  }
  throw new CallsheetError('api', `${call.operation} answered without a \`data\` list`, {
    hint: NOT_THE_PLATFORM,
  });
}

/** What is known of an entry, as the platform returned it. */
export function historyEntry(call: Call, entry: Json): HistoryEntry {
  if (!isObject(entry) || typeof entry.id !== 'number') {
    throw new CallsheetError('api', `${call.operation} answered an entry without a numeric id`, {
      hint: NOT_THE_PLATFORM,
    });
  }
  const actor = isObject(entry.actor) ? entry.actor.id : undefined;
  return {
    id: entry.id,
    action: text(entry.action),
    actor: text(actor),
    source: text(entry.source),
    at: text(entry.created_at),
    reverted_from_id: typeof entry.reverted_from_id === 'number' ? entry.reverted_from_id : null,
  };
}

function text(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
