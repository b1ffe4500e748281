import type { JsonObject } from '../core/value.ts';
import { RECORDED } from './agent-fields.ts';
import type { Platform } from './platform.ts';
import type { Agent, HistoryEntry } from './store.ts';

/** Who made a change, and from where. */
type Author = { readonly actor: string; readonly source: string };

/** How changes through the API are signed (Agent history entry). */
export function apiAuthor({ store }: Platform): Author {
  return { actor: `api:${store.account.id}`, source: 'dashboard-api' };
}

/** Adds an entry for what an agent is now, and drops those that retention no longer keeps. */
export function recordHistory(
  platform: Platform,
  agent: Agent,
  action: HistoryEntry['action'],
  author: Author,
  revertedFrom: number | null = null,
): HistoryEntry {
  const { store, dialect, ids } = platform;
  const entries = store.history.get(agent.id) ?? [];
  const createdAt = platform.stamp();
  const entry: HistoryEntry = {
    id: ids.number(),
    version: (entries.at(-1)?.version ?? 0) + 1,
    action,
    revertedFrom,
    ...author,
    createdAt,
    visibleAt: Date.parse(createdAt) + dialect.historyLagMs,
    settings: recordedSettings(agent.record),
  };
  const keep = dialect.historyRetention ?? Number.POSITIVE_INFINITY;
  const kept = [...entries, entry];
  store.history.set(agent.id, kept.slice(Math.max(0, kept.length - keep)));
  return entry;
}

/** Adds an entry for a change of a facet, where history has such entries. */
export function recordFacet(platform: Platform, agent: Agent): void {
  if (platform.dialect.facetEntries) recordHistory(platform, agent, 'updated', apiAuthor(platform));
}

/** The settings that history records; what it does not record is left out (Revert, rule 1). */
export function recordedSettings(record: JsonObject): JsonObject {
  const settings: { [name: string]: JsonObject[string] } = {};
  for (const name of RECORDED) if (record[name] !== undefined) settings[name] = record[name];
  return settings;
}

/** The entries of an agent that can be seen by now, newest first. */
export function visibleHistory(
  { store, now, dialect }: Platform,
  agentId: string,
): readonly HistoryEntry[] {
  const entries = store.history.get(agentId) ?? [];
  const time = now().getTime();
  // Stamps may run ahead of a clock that stands still; without a lag everything is visible.
  return entries
    .filter(({ visibleAt }) => dialect.historyLagMs === 0 || visibleAt <= time)
    .reverse();
}

export function viewEntry({ dialect }: Platform, entry: HistoryEntry): JsonObject {
  return {
    id: entry.id,
    version: entry.version,
    action: entry.action,
    reverted_from_id: entry.revertedFrom,
    actor: { id: entry.actor },
    source: entry.source,
    ...(dialect.historyCreatedAt ? { created_at: entry.createdAt } : {}),
  };
}
