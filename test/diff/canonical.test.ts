import { describe, expect, test } from 'vitest';
import { liveForm } from '../../src/diff/leaves.ts';
import { agent } from '../../src/kinds/agent.ts';
import { compares, type Row } from './rows.ts';

const TOOL = { type: 'webhook', condition: 'during_call', method: 'GET' };
const CRM = { ...TOOL, name: 'crm', url: 'https://crm.example.test' };
const TICKET = { ...TOOL, name: 'ticket', url: 'https://ticket.example.test' };
const MCP = {
  connection_name: 'Calendar',
  mcp_endpoint_url: 'https://mcp.example.test',
  transport_type: 'http',
};

/** Rows in which both sides mean the same. */
const equal: readonly Omit<Row, 'finds'>[] = [
  { title: 'null and absent', desired: { description: null }, live: {} },
  { title: 'absent and null', desired: {}, live: { description: null } },
  {
    title: 'null and absent inside an object',
    desired: { voice_settings: { speed: null, language: 'en' } },
    live: { voice_settings: { language: 'en', voice_id: null } },
  },
  {
    title: 'an explicit null and an object that is null',
    desired: { contact_policy: null },
    live: { contact_policy: null },
  },
  {
    title: 'an explicit null and an object of nulls',
    desired: { config: null },
    live: { config: { user_timezone: null } },
  },
  { title: 'an empty object and none', desired: { config: {} }, live: {} },
  {
    title: 'an empty object and one that holds what is not owned',
    desired: { config: {} },
    live: { config: { a: 1 } },
  },
  { title: 'an empty set and none', desired: { email: [] }, live: {} },
  { title: 'an empty set and null', desired: { email: [] }, live: { email: null } },
  { title: 'no set and an empty one', desired: { email: null }, live: { email: [] } },
  { title: 'an empty list of elements and none', desired: { extensions: { tools: [] } }, live: {} },
  {
    title: 'no elements and an empty list',
    desired: { extensions: { tools: null } },
    live: { extensions: { tools: [] } },
  },
  {
    title: 'an id and the same one in capitals',
    desired: { default_retry_policy_id: 'abcdef12-3456-4789-8abc-def012345678' },
    live: { default_retry_policy_id: 'ABCDEF12-3456-4789-8ABC-DEF012345678' },
  },
  {
    title: 'one final newline',
    desired: { system_prompt: 'Be kind.\n' },
    live: { system_prompt: 'Be kind.' },
  },
  {
    title: 'one final newline, live',
    desired: { system_prompt: 'Be kind.' },
    live: { system_prompt: 'Be kind.\n' },
  },
  {
    title: 'a set in another order',
    desired: { email: ['a@x.test', 'b@x.test'] },
    live: { email: ['b@x.test', 'a@x.test'] },
  },
  {
    title: 'a set with an element twice',
    desired: { knowledgebase_links: ['https://x.test'] },
    live: { knowledgebase_links: ['https://x.test', 'https://x.test'] },
  },
  {
    title: 'webhooks in another order',
    desired: { extensions: { tools: [CRM, TICKET] } },
    live: { extensions: { tools: [TICKET, CRM] } },
  },
  {
    title: 'headers in another order',
    desired: {
      extensions: {
        tools: [
          {
            ...CRM,
            headers: [
              { key: 'A', value: '1' },
              { key: 'B', value: '2' },
            ],
          },
        ],
      },
    },
    live: {
      extensions: {
        tools: [
          {
            ...CRM,
            headers: [
              { key: 'B', value: '2' },
              { key: 'A', value: '1' },
            ],
          },
        ],
      },
    },
  },
  {
    title: 'what the platform keeps of an MCP connection',
    desired: { extensions: { mcp_servers: [MCP] } },
    live: {
      extensions: {
        mcp_servers: [
          {
            ...MCP,
            id: 'b4',
            fingerprint: 'f00d',
            tools: [{ name: 'find', description: 'Finds' }],
          },
        ],
      },
    },
  },
  {
    title: 'tools that an MCP connection may use, in another order',
    desired: { extensions: { mcp_servers: [{ ...MCP, allowed_tool_names: ['a', 'b'] }] } },
    live: { extensions: { mcp_servers: [{ ...MCP, allowed_tool_names: ['b', 'a'] }] } },
  },
  {
    title: 'options that are one leaf, with their keys in another order and nulls',
    desired: {
      extensions: { mcp_servers: [{ ...MCP, initialization_options: { a: 1, b: { c: [2] } } }] },
    },
    live: {
      extensions: {
        mcp_servers: [{ ...MCP, initialization_options: { b: { c: [2], d: null }, a: 1 } }],
      },
    },
  },
  {
    title: 'options that hold nothing',
    desired: { extensions: { mcp_servers: [{ ...MCP, initialization_options: { a: null } }] } },
    live: { extensions: { mcp_servers: [MCP] } },
  },
  {
    title: 'a speaker identification that is never returned',
    desired: { interpreter_config: { speaker_identification: 'none', pair: 'en-es' } },
    live: { interpreter_config: { pair: 'en-es' } },
  },
  {
    title: 'a speaker identification that is returned',
    desired: { interpreter_config: { speaker_identification: 'both' } },
    live: { interpreter_config: { speaker_identification: 'both' } },
  },
  {
    title: 'fields that the platform owns',
    desired: {},
    live: {
      is_active: true,
      place_data: { a: 1 },
      place_context: 'Open on weekdays',
      place_fetched_at: '2026-01-01T00:00:00Z',
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:00Z',
      sip_registration_data: { registrationEnabled: true },
    },
  },
  {
    title: 'payment settings that are defaults while the tool is off',
    desired: { payments: { tool_enabled: false, max_attempts_per_call: 2 } },
    live: {},
    having: (world) =>
      world.facets({ 'id-1': { payment_tool_enabled: false, max_attempts_per_call: 3 } }),
  },
  {
    title: 'payment settings while the tool is on',
    desired: { payments: { tool_enabled: true, max_attempts_per_call: 2 } },
    live: {},
    having: (world) =>
      world.facets({ 'id-1': { payment_tool_enabled: true, max_attempts_per_call: 2 } }),
  },
  {
    title: 'payment settings where nobody says whether the tool is on',
    desired: { payments: { max_attempts_per_call: 2 } },
    live: {},
    having: (world) => world.facets({ 'id-1': {} }),
  },
  {
    title: 'a field that no schema knows',
    desired: { voice_settings: { stability: { low: 1, high: 2 } } },
    live: { voice_settings: { stability: { high: 2, low: 1, mid: 3 } } },
  },
  {
    title: 'rules of a policy that are not owned',
    address: 'retry_policy.gentle',
    desired: { rules: { no_answer: { delay_seconds: 900 } } },
    live: {
      rules: { no_answer: { delay_seconds: 900, max_attempts: 3 }, busy: { delay_seconds: 60 } },
    },
  },
  {
    title: 'tags of a template in another order',
    address: 'sms_template.reminder',
    desired: { message_type: 'sms', tags: ['a', 'b'] },
    live: { message_type: 'sms', tags: ['b', 'a'], version: 4 },
  },
];

describe('equal is', () => {
  compares(equal.map((row) => ({ ...row, finds: {} })));
  // What was written is remembered in the same form, so that state makes no difference.
  describe('and stays so once it is remembered:', () => {
    compares(equal.map((row) => ({ ...row, applied: row.desired, finds: {} })));
  });
});

describe('the form of a live document', () => {
  test('holds what could be owned, and nothing else', () => {
    const form = liveForm(agent.schema, {
      id: 'a1',
      name: 'Desk',
      is_active: true,
      description: null,
      email: [],
      system_prompt: 'Be kind.\n',
      knowledgebase_links: ['https://b.test', 'https://a.test'],
      interpreter_config: { speaker_identification: 'none' },
      extensions: {
        tools: [{ name: 'crm', headers: [{ key: 'X', value: '1' }] }],
        mcp_servers: [],
      },
      updated_at: '2026-01-01T00:00:00Z',
    });
    expect(Object.fromEntries(form)).toEqual({
      name: 'Desk',
      system_prompt: 'Be kind.',
      knowledgebase_links: ['https://a.test', 'https://b.test'],
      'extensions.tools[crm].name': 'crm',
      'extensions.tools[crm].headers[X].key': 'X',
      'extensions.tools[crm].headers[X].value': '1',
    });
  });
});
