import { canonicalJson } from '../../core/digest.ts';
import type { JsonObject } from '../../core/value.ts';
import { RECORDED } from '../agent-fields.ts';
import { refuseLocked } from '../agent-locks.ts';
import { brokenSettings } from '../agent-rules.ts';
import { type Answer, data, missing } from '../answer.ts';
import {
  apiAuthor,
  recordedSettings,
  recordHistory,
  viewEntry,
  visibleHistory,
} from '../history.ts';
import type { Routes } from '../platform.ts';
import { forbidden, reachedAgent, refuseForeign } from '../reach.ts';
import type { Fields } from '../store.ts';

/** What was changed on agents, and putting it back (Agents, history and revert). */
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
    if (same(recordedSettings(agent.record), entry.settings))
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

function same(a: JsonObject, b: JsonObject): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

function done(message: string): Answer {
  return { status: 200, body: { success: true, message } };
}
