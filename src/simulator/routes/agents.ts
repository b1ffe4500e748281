import { canonicalJson } from '../../core/digest.ts';
import type { JsonObject } from '../../core/value.ts';
import { refuseLocked } from '../agent-locks.ts';
import { brokenRules } from '../agent-rules.ts';
import { listAgent, viewAgent } from '../agent-view.ts';
import { newRecord, updatedRecord } from '../agent-write.ts';
import { data } from '../answer.ts';
import { apiAuthor, recordHistory } from '../history.ts';
import { without } from '../json.ts';
import { ordered, page } from '../pages.ts';
import type { Routes } from '../platform.ts';
import { namedOrganization, organizationFilter, reachedAgent, writableAgent } from '../reach.ts';
import type { Agent } from '../store.ts';
import { invalid } from '../violations.ts';
import { created, deleted, updated } from '../written.ts';

/** Agents (Agents; Resources, Agent). */
export const agents: Routes<
  'listAgents' | 'createAgent' | 'getAgent' | 'updateAgent' | 'deleteAgent'
> = {
  listAgents: (input, platform) => {
    const wanted = organizationFilter(platform, input);
    const { store, dialect } = platform;
    const found: Agent[] = [];
    // A fleet of a hundred thousand is looked through a thousand times, a page each: no copy is made of it first.
    for (const agent of store.agents.values()) if (wanted(agent.organizationId)) found.push(agent);
    const all = ordered(dialect, found, ({ record }) => record.name);
    return page(dialect, all, input, (agent) => listAgent(platform, agent));
  },

  createAgent: ({ key, body }, platform) => {
    const organization = namedOrganization(platform, key, String(body.organizationId));
    const id = platform.ids.uuid('agent');
    const record = newRecord(platform, id, body);
    const broken = brokenRules(platform, {}, record);
    if (broken.length > 0) throw invalid('details', broken);
    refuseLocked(platform, organization.id, {}, record);
    const agent: Agent = {
      id,
      organizationId: organization.id,
      record,
      payments: { enabled: false, limits: {} },
      supported: true,
    };
    platform.store.agents.set(id, agent);
    recordHistory(platform, agent, 'created', apiAuthor(platform));
    return created(platform.dialect, viewAgent(platform, agent));
  },

  getAgent: (input, platform) => data(viewAgent(platform, reachedAgent(platform, input))),

  updateAgent: (input, platform) => {
    const agent = writableAgent(platform, input);
    const record = updatedRecord(platform, agent.record, input.body);
    const broken = brokenRules(platform, agent.record, record);
    if (broken.length > 0) throw invalid('details', broken);
    refuseLocked(platform, agent.organizationId, agent.record, record);
    if (platform.dialect.emptyUpdates === 'recorded' || !isSame(agent.record, record)) {
      agent.record = record;
      recordHistory(platform, agent, 'updated', apiAuthor(platform));
    }
    return updated(platform.dialect, data(viewAgent(platform, agent)));
  },

  deleteAgent: (input, platform) => {
    platform.store.agents.delete(writableAgent(platform, input).id);
    return deleted(platform.dialect);
  },
};

/** Whether two records differ in nothing but the time of their change. */
function isSame(a: JsonObject, b: JsonObject): boolean {
  return canonicalJson(without(a, 'updated_at')) === canonicalJson(without(b, 'updated_at'));
}
