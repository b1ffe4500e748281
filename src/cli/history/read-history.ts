import { CallsheetError } from '../../core/errors.ts';
import { isList, isObject, type JsonObject } from '../../core/value.ts';
import { kindNamed } from '../../kinds/index.ts';
import { historyEntry } from '../../live/history.ts';
import type { HistoryEntry } from '../../plan/reader.ts';
import type { PlatformSession } from '../platform-session.ts';
import type { Found } from '../read/find.ts';
import { onPlatform } from '../read/refusal.ts';

/** Versions of an agent, newest first. */
export type Listed = {
  /** As the platform returned them. */
  readonly records: readonly JsonObject[];
  readonly entries: readonly HistoryEntry[];
};

/** The newest versions of an agent, as many as are asked for. */
export async function readVersions(
  agent: Found,
  limit: number,
  { client }: Pick<PlatformSession, 'client'>,
): Promise<Listed> {
  const call = kindNamed('agent').history?.list(agent.id, limit);
  if (call === undefined) throw new Error('agents have a history');
  const answer = await onPlatform('agent', agent, () => client.call(call));
  const data = isObject(answer) ? answer.data : undefined;
  if (!isList(data)) {
    throw new CallsheetError('api', `${call.operation} answered without a \`data\` list`);
  }
  const records = data
    .filter((entry) => isObject(entry))
    .sort((a, b) => Number(b.id) - Number(a.id));
  // One without an id is shown; nothing is known of it.
  const known = records.filter(({ id }) => typeof id === 'number');
  return { records, entries: known.map((record) => historyEntry(call, record)) };
}
