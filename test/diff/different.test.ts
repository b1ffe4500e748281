import { describe } from 'vitest';
import { compares } from './rows.ts';

const TOOL = { type: 'webhook', condition: 'during_call', method: 'GET' };
const CRM = { ...TOOL, name: 'crm', url: 'https://crm.example.test' };
const TICKET = { ...TOOL, name: 'ticket', url: 'https://ticket.example.test' };
const MCP = {
  connection_name: 'Calendar',
  mcp_endpoint_url: 'https://mcp.example.test',
  transport_type: 'http',
};

describe('different is', () => {
  compares([
    {
      title: 'more than one final newline',
      desired: { system_prompt: 'Be kind.\n\n' },
      live: { system_prompt: 'Be kind.' },
      finds: { system_prompt: 'changed' },
    },
    {
      title: 'a final space',
      desired: { system_prompt: 'Be kind. ' },
      live: { system_prompt: 'Be kind.' },
      finds: { system_prompt: 'changed' },
    },
    {
      title: 'an empty text from none',
      desired: { greeting_message: '' },
      live: { greeting_message: 'Hello' },
      finds: { greeting_message: 'changed' },
    },
    {
      title: 'false from absent',
      desired: { transfer_enabled: false },
      live: {},
      finds: { transfer_enabled: 'changed' },
    },
    {
      title: 'zero from absent',
      desired: { config: { inactivity_timeout: 0 } },
      live: {},
      finds: { 'config.inactivity_timeout': 'changed' },
    },
    {
      title: 'a number from its text',
      desired: { amd_config: { sensitivity: 3 } },
      live: { amd_config: { sensitivity: '3' } },
      finds: { 'amd_config.sensitivity': 'changed' },
    },
    {
      title: 'a set with one element more',
      desired: { email: ['a@x.test'] },
      live: { email: ['a@x.test', 'b@x.test'] },
      finds: { email: 'changed' },
    },
    {
      title: 'an empty set from one that has elements',
      desired: { email: [] },
      live: { email: ['a@x.test'] },
      finds: { email: 'changed' },
    },
    {
      title: 'calls before the answer in another order',
      desired: {
        extensions: {
          mcp_servers: [{ ...MCP, pre_answer_calls: [{ tool_name: 'a' }, { tool_name: 'b' }] }],
        },
      },
      live: {
        extensions: {
          mcp_servers: [{ ...MCP, pre_answer_calls: [{ tool_name: 'b' }, { tool_name: 'a' }] }],
        },
      },
      finds: { 'extensions.mcp_servers[Calendar].pre_answer_calls': 'changed' },
    },
    {
      title: 'a member more in options that are one leaf',
      desired: { extensions: { mcp_servers: [{ ...MCP, initialization_options: { a: 1 } }] } },
      live: { extensions: { mcp_servers: [{ ...MCP, initialization_options: { a: 1, b: 2 } }] } },
      finds: { 'extensions.mcp_servers[Calendar].initialization_options': 'changed' },
    },
    {
      title: 'one leaf of one webhook, wherever it stands',
      desired: { extensions: { tools: [CRM, TICKET] } },
      live: { extensions: { tools: [TICKET, { ...CRM, url: 'https://old.example.test' }] } },
      finds: { 'extensions.tools[crm].url': 'changed' },
    },
    {
      title: 'a speaker identification that ought to be returned and is not',
      desired: { interpreter_config: { speaker_identification: 'voice' } },
      live: { interpreter_config: {} },
      finds: { 'interpreter_config.speaker_identification': 'changed' },
    },
    {
      title: 'a speaker identification that is to go',
      desired: { interpreter_config: { speaker_identification: 'none' } },
      live: { interpreter_config: { speaker_identification: 'voice' } },
      finds: { 'interpreter_config.speaker_identification': 'changed' },
    },
    {
      title: 'payment settings while the tool is on',
      desired: { payments: { tool_enabled: true, max_attempts_per_call: 2 } },
      live: {},
      having: (world) =>
        world.facets({ 'id-1': { payment_tool_enabled: true, max_attempts_per_call: 3 } }),
      finds: { 'payments.max_attempts_per_call': 'changed' },
    },
    {
      title:
        'the payment tool itself, and its settings, which are not told yet and are written with it',
      desired: { payments: { tool_enabled: true, max_attempts_per_call: 2 } },
      live: {},
      having: (world) =>
        world.facets({ 'id-1': { payment_tool_enabled: false, max_attempts_per_call: 3 } }),
      finds: { 'payments.tool_enabled': 'changed', 'payments.max_attempts_per_call': 'changed' },
    },
    {
      title: 'the payment tool that somebody switched off, and its settings, which go with it',
      applied: { payments: { tool_enabled: true, max_attempts_per_call: 2 } },
      desired: { payments: { tool_enabled: true, max_attempts_per_call: 2 } },
      live: {},
      having: (world) =>
        world.facets({ 'id-1': { payment_tool_enabled: false, max_attempts_per_call: 3 } }),
      finds: { 'payments.tool_enabled': 'drifted', 'payments.max_attempts_per_call': 'drifted' },
    },
    {
      title: 'the payment tool alone where its settings are to be empty',
      desired: { payments: { tool_enabled: true, success_url: null } },
      live: {},
      having: (world) => world.facets({ 'id-1': { payment_tool_enabled: false } }),
      finds: { 'payments.tool_enabled': 'changed' },
    },
    {
      title: 'the payment tool and its settings where the platform says nothing of either',
      desired: { payments: { tool_enabled: true, max_attempts_per_call: 2 } },
      live: {},
      having: (world) => world.facets({ 'id-1': {} }),
      finds: { 'payments.tool_enabled': 'changed', 'payments.max_attempts_per_call': 'changed' },
    },
    {
      title: 'an object from the scalar that stands in its place',
      desired: { config: { limits: { calls: 3 } } },
      live: { config: { limits: 3 } },
      finds: { 'config.limits': 'changed' },
    },
  ]);
});
