import { expect, test } from 'vitest';
import { type Documents, type WorldBuilder, world } from '../world.ts';

/** Every operation that a plan relies on, by its own name, and assumptions that fields bring along. */
async function reliesOn(made: WorldBuilder): Promise<readonly string[]> {
  const { plan } = await made.plan({ findAssumption: (operation) => operation });
  return plan.assumptions;
}

const LIVE = { agent: [{ id: 'a1', name: 'Desk' }] };
const APPLIED: Documents = { 'agent.desk': { id: 'a1', name: 'Desk' } };
const desk = (more: object) => world().desired({ 'agent.desk': { name: 'Desk', ...more } });

test.each<[string, WorldBuilder, readonly string[]]>([
  ['nothing', desk({}).live(LIVE).applied(APPLIED), []],
  ['a create', desk({}), ['createAgent', 'getAgent', 'listAgents']],
  [
    'an update',
    desk({ status: 'inactive' }).live(LIVE).applied(APPLIED),
    ['getAgent', 'listAgents', 'updateAgent'],
  ],
  [
    'an MCP connection, whose write shape is assumed',
    desk({ extensions: { mcp_servers: [{ connection_name: 'C' }] } })
      .live(LIVE)
      .applied(APPLIED),
    ['getAgent', 'listAgents', 'mcp.write-shape', 'updateAgent'],
  ],
  [
    'an MCP connection that goes',
    desk({ extensions: { mcp_servers: [] } })
      .live({
        agent: [{ ...LIVE.agent[0], extensions: { mcp_servers: [{ connection_name: 'C' }] } }],
      })
      .applied(APPLIED),
    ['getAgent', 'listAgents', 'mcp.write-shape', 'updateAgent'],
  ],
  [
    'what is not carried out, since an operation of it is lacking,',
    desk({ extensions: { mcp_servers: [{ connection_name: 'C' }] } })
      .live(LIVE)
      .applied(APPLIED)
      .lacking({ updateAgent: 'absent' }),
    ['getAgent', 'listAgents'],
  ],
  [
    'an MCP connection that goes back as it is',
    desk({ extensions: { tools: [{ name: 'crm' }] } })
      .live({
        agent: [{ ...LIVE.agent[0], extensions: { mcp_servers: [{ connection_name: 'C' }] } }],
      })
      .applied(APPLIED),
    ['getAgent', 'listAgents', 'mcp.write-shape', 'updateAgent'],
  ],
  [
    'a delete',
    world().desired({}).live(LIVE).applied(APPLIED),
    ['deleteAgent', 'getAgent', 'listAgents'],
  ],
  [
    'a revert, with an update for what it leaves alone',
    desk({ status: 'inactive', greeting_message: 'Hi' })
      .live(LIVE)
      .applied(APPLIED)
      .having({ versions: new Map([['agent.desk', 4]]) }),
    ['getAgent', 'listAgentHistory', 'listAgents', 'revertAgent', 'updateAgent'],
  ],
  [
    'a facet',
    desk({ payments: { tool_enabled: true } })
      .live(LIVE)
      .facets({ a1: { payment_tool_enabled: false } })
      .applied(APPLIED),
    ['getAgent', 'getPaymentReadiness', 'listAgents', 'setPaymentTool'],
  ],
])('%s relies on its operations', async (_title, made, expected) => {
  expect(await reliesOn(made)).toEqual(expected);
});
