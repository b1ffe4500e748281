import { isSameJson, type JsonObject } from '../core/value.ts';
import { RECORDED } from './agent-fields.ts';
import { brokenSettings, refuseLocked } from './agent-rules.ts';
import { type Answer, data, missing } from './answer.ts';
import { forbidden, reachedAgent, refuseForeign } from './auth.ts';
import type { Platform, Routes } from './platform.ts';
import type { Agent, Fields, HistoryEntry } from './store.ts';

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
function recordedSettings(record: JsonObject): JsonObject {
  const settings: { [name: string]: JsonObject[string] } = {};
  for (const name of RECORDED) if (record[name] !== undefined) settings[name] = record[name];
  return settings;
}

/** The entries of an agent that can be seen by now, newest first. */
function visibleHistory(
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

/** Agents, history and revert. */
export const history: Routes<'listAgentHistory' | 'revertAgent'> = {
  listAgentHistory: (input, platform) => {
    const agent = reachedAgent(platform, input);
    const newest = visibleHistory(platform, agent.id).slice(0, Number(input.query.limit));
    const entries = platform.dialect.historyOrder === 'newest' ? newest : newest.toReversed();
    return data(entries.map((entry) => viewEntry(platform, entry)));
  },

  revertAgent: (input, platform) => {
    const agent = reachedAgent(platform, input);
    refuseForeign(agent);
    const id = Number(input.path.versionId);
    const entry = visibleHistory(platform, agent.id).find((one) => one.id === id);
    if (entry === undefined) throw missing('Version');
    if (isSameJson(recordedSettings(agent.record), entry.settings))
      return done('The agent already matches this version');
    const record = restored(agent.record, entry.settings);
    refuseLocked(platform, agent.organizationId, agent.record, record, { reverting: true });
    const [broken] = brokenSettings(platform, record);
    if (broken !== undefined)
      throw forbidden(`The version cannot be saved: ${broken.path.join('.')}: ${broken.message}`);
    agent.record = { ...record, updated_at: platform.stamp() };
    recordHistory(platform, agent, 'reverted', apiAuthor(platform), entry.id);
    return done('The agent was reverted');
  },
};

/** The record with the settings of a version; what history does not record stays (Revert, rule 1). */
function restored(record: JsonObject, settings: JsonObject): JsonObject {
  const next: Fields = { ...record };
  for (const name of RECORDED) delete next[name];
  Object.assign(next, settings);
  // Switching call transfer off takes web transfer along.
  if (record.transfer_enabled === true && next.transfer_enabled !== true)
    next.web_transfer_enabled = false;
  return next;
}

function done(message: string): Answer {
  return { status: 200, body: { success: true, message } };
}
