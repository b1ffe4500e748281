import { expect } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { FULL_AGENT } from './full-agent.ts';
import { ID, UUID } from './ids.ts';
import { expectReply, type Row, reads, section, writes } from './suite.ts';
import { type Reply, record, type World } from './world.ts';

const DESK = `/v1/agents/${ID.desk}`;
const BARE = `/v1/agents/${ID.bare}`;

/** A webhook that the platform takes. */
export function webhook(fields: JsonObject = {}): JsonObject {
  return {
    type: 'webhook',
    name: 'lookup',
    friendlyName: 'Lookup',
    description: 'Find the caller.',
    condition: 'during_call',
    method: 'GET',
    url: 'https://crm.example.test/contacts',
    ...fields,
  };
}

/** A connection to a tool server in the names that are assumed for writes. */
export function connection(fields: JsonObject = {}): JsonObject {
  return {
    connectionName: 'Rooms',
    mcpEndpointUrl: 'https://rooms.example.test/mcp',
    transportType: 'http',
    ...fields,
  };
}

/** Writes an extension of the bare agent. */
export function extend({ put }: World, extensions: JsonObject): Promise<Reply> {
  return put(BARE, { body: { extensions } });
}

async function extension(
  { get }: World,
  list: 'tools' | 'mcp_servers',
  path = BARE,
): Promise<JsonObject> {
  const { extensions } = record(await get(path));
  const items: Json | undefined = isObject(extensions) ? extensions[list] : undefined;
  const [first] = Array.isArray(items) ? items : [];
  if (!isObject(first)) throw new Error(`no ${list} at ${path}`);
  return first;
}

const stored = (list: 'tools' | 'mcp_servers'): JsonObject => {
  const items = isObject(FULL_AGENT.extensions) ? FULL_AGENT.extensions[list] : [];
  return Array.isArray(items) ? items[0] : {};
};

const refused = (rule: string, tool: JsonObject) =>
  reads(rule, async (world) => {
    expect((await extend(world, { tools: [tool] })).status).toBe(400);
  });

const refusedConnection = (rule: string, server: JsonObject) =>
  reads(rule, async (world) => {
    expect((await extend(world, { mcp_servers: [server] })).status).toBe(400);
  });

const without = (fields: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));

export const extensions: readonly Row[] = [
  ...section(
    'Resources · Webhook tool',
    Object.keys(stored('tools')).map((field) =>
      reads(`${field} is returned as it was stored`, async (world) => {
        expect((await extension(world, 'tools', DESK))[field]).toEqual(stored('tools')[field]);
      }),
    ),
    ...['before_call', 'during_call', 'after_call'].map((condition) =>
      writes(`condition takes ${condition}`, async (world) => {
        expectReply(await extend(world, { tools: [webhook({ condition })] }), 200);
        expect((await extension(world, 'tools')).condition).toBe(condition);
      }),
    ),
    refused('condition takes nothing else', webhook({ condition: 'on_hold' })),
    ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) =>
      writes(`method takes ${method}`, async (world) => {
        expectReply(await extend(world, { tools: [webhook({ method })] }), 200);
        expect((await extension(world, 'tools')).method).toBe(method);
      }),
    ),
    refused('method takes nothing else', webhook({ method: 'HEAD' })),
    refused('type takes nothing but webhook', webhook({ type: 'socket' })),
    ...['type', 'name', 'condition', 'method', 'url'].map((field) =>
      refused(`${field} cannot be left out`, without(webhook(), field)),
    ),
    reads('two webhooks of an agent cannot have one name', async (world) => {
      const tools = [webhook(), webhook({ condition: 'after_call' })];
      expect((await extend(world, { tools })).status).toBe(400);
    }),
    writes('headers and parameters can be left out', async (world) => {
      expectReply(await extend(world, { tools: [webhook()] }), 200);
      expect(await extension(world, 'tools')).toEqual(webhook());
    }),
    refused(
      'headers are pairs of key and value',
      webhook({ headers: [{ name: 'X', value: '1' }] }),
    ),
    refused('parameters are pairs of key and value', webhook({ parameters: ['phone'] })),
    writes('an empty parameter value stays empty, for the AI to fill', async (world) => {
      const parameters = [{ key: 'phone', value: '' }];
      await extend(world, { tools: [webhook({ parameters })] });
      expect((await extension(world, 'tools')).parameters).toEqual(parameters);
    }),
    writes('webhooks can be given on creation', async ({ post }) => {
      const tools = [webhook()];
      const agent = record(
        await post('/v1/agents', {
          body: { name: 'New', organizationId: ID.harbor, extensions: { tools } },
        }),
      );
      expect(agent.extensions).toMatchObject({ tools });
    }),
  ),
  ...section(
    'Resources · MCP connection',
    Object.keys(stored('mcp_servers')).map((field) =>
      reads(`${field} is returned as it was stored`, async (world) => {
        expect((await extension(world, 'mcp_servers', DESK))[field]).toEqual(
          stored('mcp_servers')[field],
        );
      }),
    ),
    writes('a saved connection has an id', async (world) => {
      expectReply(await extend(world, { mcp_servers: [connection()] }), 200);
      expect((await extension(world, 'mcp_servers')).id).toMatch(UUID);
    }),
    writes('it is written in one shape and returned in another', async (world) => {
      await extend(world, { mcp_servers: [connection()] });
      expect(await extension(world, 'mcp_servers')).toMatchObject({
        connection_name: 'Rooms',
        mcp_endpoint_url: 'https://rooms.example.test/mcp',
        transport_type: 'http',
      });
    }),
    writes('one that was never tested has no fingerprint', async (world) => {
      await extend(world, { mcp_servers: [connection()] });
      expect(await extension(world, 'mcp_servers')).not.toHaveProperty('fingerprint');
    }),
    writes('one that was never tested has no tools', async (world) => {
      await extend(world, { mcp_servers: [connection()] });
      expect((await extension(world, 'mcp_servers')).tools).toEqual([]);
    }),
    reads('cached tools carry name and description and no schema', async (world) => {
      const { tools } = await extension(world, 'mcp_servers', DESK);
      expect(tools).toEqual([{ name: expect.any(String), description: expect.any(String) }]);
    }),
    ...['sse', 'http'].map((transport) =>
      writes(`the transport can be ${transport}`, async (world) => {
        expectReply(
          await extend(world, { mcp_servers: [connection({ transportType: transport })] }),
          200,
        );
        expect((await extension(world, 'mcp_servers')).transport_type).toBe(transport);
      }),
    ),
    refusedConnection('the transport is in lower case', connection({ transportType: 'HTTP' })),
    refusedConnection('the transport is nothing else', connection({ transportType: 'websocket' })),
    ...['http', 'https'].map((scheme) =>
      writes(`the endpoint can have the scheme ${scheme}`, async (world) => {
        const mcpEndpointUrl = `${scheme}://rooms.example.test/mcp`;
        expectReply(await extend(world, { mcp_servers: [connection({ mcpEndpointUrl })] }), 200);
        expect((await extension(world, 'mcp_servers')).mcp_endpoint_url).toBe(mcpEndpointUrl);
      }),
    ),
    refusedConnection(
      'the endpoint has no other scheme',
      connection({ mcpEndpointUrl: 'ftp://rooms.example.test/mcp' }),
    ),
    refusedConnection('header values are text', connection({ authHeaders: { 'X-Room': 2 } })),
    writes('optional members that were not given are absent or empty', async (world) => {
      await extend(world, { mcp_servers: [connection()] });
      const { allowed_tool_names: allowed, pre_answer_calls: calls } = await extension(
        world,
        'mcp_servers',
      );
      expect([allowed ?? [], calls ?? []]).toEqual([[], []]);
    }),
    writes('options of any shape are passed on as they are', async (world) => {
      const initializationOptions = {
        room: { id: 2, tags: ['a', null, { deep: true }] },
        camelCase: 1,
      };
      await extend(world, { mcp_servers: [connection({ initializationOptions })] });
      expect((await extension(world, 'mcp_servers')).initialization_options).toEqual(
        initializationOptions,
      );
    }),
    writes('tools that are allowed can be named', async (world) => {
      await extend(world, { mcp_servers: [connection({ allowedToolNames: ['a', 'b'] })] });
      expect((await extension(world, 'mcp_servers')).allowed_tool_names).toEqual(['a', 'b']);
    }),
    writes('a tool’s schema in a pre-answer call is kept', async (world) => {
      const inputSchema = { type: 'object', properties: { phone: { type: 'string' } } };
      const preAnswerCalls = [{ toolName: 'find', arguments: {}, inputSchema }];
      await extend(world, { mcp_servers: [connection({ preAnswerCalls })] });
      expect((await extension(world, 'mcp_servers')).pre_answer_calls).toEqual([
        { tool_name: 'find', arguments: {}, input_schema: inputSchema },
      ]);
    }),
    writes('placeholders in pre-answer calls are kept', async (world) => {
      const preAnswerCalls = [{ toolName: 'find', arguments: { phone: '{{caller_id}}' } }];
      await extend(world, { mcp_servers: [connection({ preAnswerCalls })] });
      expect((await extension(world, 'mcp_servers')).pre_answer_calls).toEqual([
        { tool_name: 'find', arguments: { phone: '{{caller_id}}' } },
      ]);
    }),
    reads('what was returned cannot be written back as it is', async ({ get, put }) => {
      const { extensions: returned } = record(await get(DESK));
      const servers = isObject(returned) ? returned.mcp_servers : [];
      const { status } = await put(DESK, { body: { extensions: { mcp_servers: servers ?? [] } } });
      expect(status).toBe(400);
    }),
  ),
];
