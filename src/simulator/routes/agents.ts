import { refuseLocked } from '../agent-locks.ts';
import { brokenRules } from '../agent-rules.ts';
import { listAgent, viewAgent } from '../agent-view.ts';
import { newRecord, updatedRecord } from '../agent-write.ts';
import { data, GONE } from '../answer.ts';
import { apiAuthor, recordHistory } from '../history.ts';
import { page } from '../pages.ts';
import type { Routes } from '../platform.ts';
import { namedOrganization, organizationFilter, reachedAgent, writableAgent } from '../reach.ts';
import type { Agent } from '../store.ts';
import { invalid } from '../violations.ts';

/** Agents (Agents; Resources, Agent). */
export const agents: Routes<
  'listAgents' | 'createAgent' | 'getAgent' | 'updateAgent' | 'deleteAgent'
> = {
  listAgents: (input, platform) => {
    const wanted = organizationFilter(platform, input);
    const all = [...platform.store.agents.values()].filter((agent) => wanted(agent.organizationId));
    return page(all, input, (agent) => listAgent(platform, agent));
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
    return data(viewAgent(agent), 201);
  },

  getAgent: (input, platform) => {
    const agent = reachedAgent(platform, input);
    for (const change of platform.store.sipChanges)
      if (change.agentId === agent.id) change.pickedUpAt ??= platform.now().toISOString();
    return data(viewAgent(agent));
  },

  updateAgent: (input, platform) => {
    const agent = writableAgent(platform, input);
    const record = updatedRecord(platform, agent.record, input.body);
    const broken = brokenRules(platform, agent.record, record);
    if (broken.length > 0) throw invalid('details', broken);
    refuseLocked(platform, agent.organizationId, agent.record, record);
    agent.record = record;
    recordHistory(platform, agent, 'updated', apiAuthor(platform));
    return data(viewAgent(agent));
  },

  deleteAgent: (input, platform) => {
    platform.store.agents.delete(writableAgent(platform, input).id);
    return GONE;
  },
};
