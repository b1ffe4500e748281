import { describe } from 'vitest';
import { TOKEN, tool, writes } from './writes.ts';

describe('a list in a write', () => {
  writes([
    {
      title: 'is sent whole, in the order of the configuration',
      desired: { extensions: { tools: [tool('b'), tool('a')] } },
      live: { extensions: { tools: [tool('a', { friendlyName: 'A' }), tool('b')] } },
      fields: ['extensions'],
      body: { extensions: { tools: [tool('b'), tool('a', { friendlyName: 'A' })] } },
    },
    {
      title: 'loses what only the platform has',
      desired: { extensions: { tools: [tool('a')] } },
      live: { extensions: { tools: [tool('a'), tool('b')] } },
      cleared: ['extensions.tools[b]'],
      fields: ['extensions'],
      body: { extensions: { tools: [tool('a')] } },
    },
    {
      title: 'has only the elements of the configuration, even if nothing says that others go',
      desired: { extensions: { tools: [tool('a')] } },
      live: { extensions: { tools: [tool('a'), tool('b')] } },
      fields: ['extensions'],
      body: { extensions: { tools: [tool('a')] } },
    },
    {
      title: 'does not get an element that is ignored and is not there',
      desired: { extensions: { tools: [tool('a'), tool('b')] } },
      live: { extensions: { tools: [tool('a')] } },
      ignore: ['extensions.tools[b]'],
      fields: ['extensions'],
      body: { extensions: { tools: [tool('a')] } },
    },
    {
      title: 'does not get an element of which only the name is ignored, as it would have none',
      desired: { extensions: { tools: [tool('a'), tool('b')] } },
      live: { extensions: { tools: [tool('a')] } },
      ignore: ['extensions.tools[b].name'],
      fields: ['extensions'],
      body: { extensions: { tools: [tool('a')] } },
    },
    {
      title: 'keeps an element that is ignored',
      desired: { extensions: { tools: [tool('a')] } },
      live: { extensions: { tools: [tool('b'), tool('a')] } },
      ignore: ['extensions.tools[b]'],
      fields: ['extensions'],
      body: { extensions: { tools: [tool('a'), tool('b')] } },
    },
    {
      title: 'is empty when nothing is left of it',
      desired: { extensions: { tools: [] } },
      live: { extensions: { tools: [tool('a')] } },
      cleared: ['extensions.tools[a]'],
      fields: ['extensions'],
      body: { extensions: { tools: [] } },
    },
    {
      title: 'loses only what was ours where it is no longer configured',
      desired: {},
      live: { extensions: { tools: [tool('a'), tool('b')] } },
      cleared: ['extensions.tools[a]'],
      fields: ['extensions'],
      body: { extensions: { tools: [tool('b')] } },
    },
    {
      title: 'stays as it is beside one that is configured',
      desired: { extensions: { tools: [tool('a')] } },
      live: {
        extensions: { mcp_servers: [{ id: 'm1', connection_name: 'C', transport_type: 'sse' }] },
      },
      fields: ['extensions'],
      body: {
        extensions: {
          tools: [tool('a')],
          mcp_servers: [{ id: 'm1', connectionName: 'C', transportType: 'sse' }],
        },
      },
    },
    {
      title: 'has elements without what goes away: a list is replaced, so nothing needs a null',
      desired: { extensions: { tools: [tool('a')] } },
      live: {
        extensions: {
          tools: [tool('a', { friendlyName: 'A', headers: [{ key: 'X', value: '1' }] })],
        },
      },
      cleared: ['extensions.tools[a].friendlyName', 'extensions.tools[a].headers[X]'],
      fields: ['extensions'],
      body: { extensions: { tools: [tool('a', { headers: [] })] } },
    },
    {
      title: 'that is not configured keeps headers of one name apart',
      desired: { extensions: { tools: [tool('a', { url: 'https://new.example.test' })] } },
      live: {
        extensions: {
          tools: [
            tool('a', {
              parameters: [
                { key: 'X', value: '1' },
                { key: 'X', value: '2' },
              ],
            }),
          ],
        },
      },
      fields: ['extensions'],
      body: {
        extensions: {
          tools: [
            {
              ...tool('a', { url: 'https://new.example.test' }),
              parameters: [
                { key: 'X', value: '1' },
                { key: 'X', value: '2' },
              ],
            },
          ],
        },
      },
    },
    {
      title: 'that is a set is replaced',
      desired: { email: ['b@x.test'] },
      live: { email: ['a@x.test'] },
      fields: ['email'],
      body: { email: ['b@x.test'] },
    },
  ]);
});

/** The stored shape must not be pasted into a write (MCP connection as stored and returned). */
describe('an MCP connection in a write', () => {
  const stored = {
    id: 'm1',
    connection_name: 'Calendar',
    mcp_endpoint_url: 'https://old.example.test',
    transport_type: 'http',
    auth_headers: { Authorization: 'Bearer 1' },
    fingerprint: 'f00d',
    tools: [{ name: 'find', description: 'Finds' }],
    pre_answer_calls: [
      { tool_name: 'find', arguments: { who: '{{caller_id}}' }, input_schema: { type: 'object' } },
    ],
  };
  writes([
    {
      title: 'has its own shape, with the id that the platform knows it by',
      desired: {
        extensions: {
          mcp_servers: [
            {
              connection_name: 'Calendar',
              mcp_endpoint_url: 'https://new.example.test',
              transport_type: 'http',
            },
          ],
        },
      },
      live: { extensions: { mcp_servers: [stored] } },
      fields: ['extensions'],
      body: {
        extensions: {
          mcp_servers: [
            {
              id: 'm1',
              connectionName: 'Calendar',
              mcpEndpointUrl: 'https://new.example.test',
              transportType: 'http',
              authHeaders: { Authorization: 'Bearer 1' },
              preAnswerCalls: [
                {
                  toolName: 'find',
                  arguments: { who: '{{caller_id}}' },
                  inputSchema: { type: 'object' },
                },
              ],
            },
          ],
        },
      },
    },
    {
      title: 'that is new has no id, and its headers are sent',
      desired: {
        extensions: {
          mcp_servers: [
            {
              connection_name: 'CRM',
              transport_type: 'sse',
              auth_headers: { Authorization: TOKEN },
            },
          ],
        },
      },
      live: { extensions: { mcp_servers: [stored] } },
      cleared: ['extensions.mcp_servers[Calendar]'],
      fields: ['extensions'],
      body: {
        extensions: {
          mcp_servers: [
            {
              connectionName: 'CRM',
              transportType: 'sse',
              authHeaders: { Authorization: 'the token' },
            },
          ],
        },
      },
    },
    {
      title: 'loses a header without a null, which no header can have',
      desired: { extensions: { mcp_servers: [{ connection_name: 'Calendar' }] } },
      live: {
        extensions: {
          mcp_servers: [{ connection_name: 'Calendar', auth_headers: { A: '1', B: '2' } }],
        },
      },
      cleared: ['extensions.mcp_servers[Calendar].auth_headers.A'],
      fields: ['extensions'],
      body: {
        extensions: { mcp_servers: [{ connectionName: 'Calendar', authHeaders: { B: '2' } }] },
      },
    },
  ]);
});
