import { expect } from 'vitest';
import { at, IDS, section, update, webhook, withDesk } from './world.ts';

section('Events, webhook limits', [
  ...(
    [
      ['before_call', 2],
      ['during_call', 5],
      ['after_call', 2],
    ] as const
  ).map(([condition, count]) => ({
    rule: `${count} ${condition} are too many`,
    does: update({
      extensions: { tools: Array.from({ length: count }, (_, n) => webhook(`w${n}`, condition)) },
    }),
    status: 400,
    body: { error: 'invalid_request', details: [{ path: 'extensions.tools' }] },
  })),
  {
    rule: 'one, four and one are allowed',
    does: update({
      extensions: {
        tools: [
          'before_call',
          'during_call',
          'during_call',
          'during_call',
          'during_call',
          'after_call',
        ].map((condition, n) => webhook(`w${n}`, condition)),
      },
    }),
    status: 200,
  },
  {
    rule: 'names of webhooks are unique',
    does: update({
      extensions: { tools: [webhook('a', 'before_call'), webhook('a', 'after_call')] },
    }),
    status: 400,
    body: { details: [{ path: 'extensions.tools' }] },
  },
]);

section('Agents, update', [
  {
    rule: 'fields that are left out stay',
    does: update({ greetingMessage: 'Hello' }),
    status: 200,
    body: { data: { greeting_message: 'Hello', system_prompt: 'You answer the phone.' } },
  },
  {
    rule: 'updated_at moves on',
    does: ({ call }) => call('getAgent', at()),
    status: 200,
    also: async (world, { body }) => {
      const { body: after } = await update({ greetingMessage: 'Hello' })(world);
      expect(Object(after.data).updated_at > Object(body.data).updated_at).toBe(true);
    },
  },
  {
    rule: 'an update without organizationId or with the same one is no move; another is refused',
    does: update({ organizationId: IDS.north }),
    status: 400,
    body: { details: [{ path: 'organizationId' }] },
  },
  {
    rule: 'the platform does not take a connection in the shape that it returns',
    does: update({
      extensions: {
        mcp_servers: [
          {
            connection_name: 'Calendar',
            mcp_endpoint_url: 'https://mcp.example.test',
            transport_type: 'http',
          },
        ],
      },
    }),
    status: 400,
    body: { error: 'invalid_request' },
  },
  {
    rule: 'a connection written with its id keeps what was found out about it',
    does: update({
      extensions: {
        mcp_servers: [
          {
            id: IDS.server,
            connectionName: 'Rota',
            mcpEndpointUrl: 'https://mcp.example.test',
            transportType: 'sse',
            authHeaders: { 'X-Key': 'k' },
            preAnswerCalls: [{ toolName: 'find', arguments: { phone: '{{caller_id}}' } }],
          },
        ],
      },
    }),
    status: 200,
    body: {
      data: {
        extensions: {
          mcp_servers: [
            {
              id: IDS.server,
              connection_name: 'Rota',
              transport_type: 'sse',
              fingerprint: 'tested',
              auth_headers: { 'X-Key': 'k' },
              pre_answer_calls: [{ tool_name: 'find', arguments: { phone: '{{caller_id}}' } }],
            },
          ],
        },
      },
    },
  },
  {
    rule: 'transport is lower case only',
    does: update({
      extensions: {
        mcp_servers: [
          { connectionName: 'A', mcpEndpointUrl: 'https://mcp.example.test', transportType: 'SSE' },
        ],
      },
    }),
    status: 400,
    body: {
      details: [
        { path: 'extensions.mcp_servers.0.transportType' },
        { path: 'extensions.mcp_servers.0.transportType' },
      ],
    },
  },
  {
    rule: 'an agent on another provider cannot be updated',
    does: update({ greetingMessage: 'Hi' }, IDS.foreign),
    status: 403,
    body: { error: 'forbidden' },
  },
  {
    rule: 'null clears interpreter settings of an agent that is no translator',
    seed: withDesk({ interpreter_config: { speaker_identification: 'both' } }),
    does: update({ interpreterConfig: null }),
    status: 200,
    body: { data: { interpreter_config: null } },
  },
  {
    rule: 'a translator keeps its settings, also when it becomes something else',
    seed: withDesk({
      agent_type: 'translator',
      interpreter_config: { speaker_identification: 'both' },
    }),
    does: async (world) => {
      await update({ interpreterConfig: null })(world);
      return update({ agentType: 'simple' })(world);
    },
    status: 200,
    body: {
      data: { agent_type: 'simple', interpreter_config: { speaker_identification: 'both' } },
    },
  },
  {
    rule: 'linking a listing brings its details along',
    does: update({ placeId: 'listing-1' }),
    status: 200,
    body: {
      data: {
        place_id: 'listing-1',
        place_context: expect.any(String),
        place_fetched_at: expect.any(String),
      },
    },
  },
  {
    rule: "a cloned voice brings its language into the agent's voice settings",
    does: update({ voiceSettings: { voice_id: IDS.voice } }),
    status: 200,
    body: { data: { voice_settings: { voice_id: IDS.voice, language: 'fr' } } },
  },
  {
    rule: 'a body that is no JSON object is refused',
    does: update([]),
    status: 400,
    body: { error: 'invalid_request' },
  },
]);
