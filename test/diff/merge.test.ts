import { describe, expect, test } from 'vitest';
import { kindOf } from '../../src/core/address.ts';
import { type Path, parsePath } from '../../src/core/path.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { requestBody } from '../../src/diff/body.ts';
import { mergeDocuments } from '../../src/diff/merge.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { desiredResource, HARBOR, type Written, world } from '../world.ts';

type Write = {
  readonly title: string;
  readonly address?: string;
  readonly desired: Written;
  readonly live: JsonObject;
  /** Paths of what goes away. */
  readonly cleared?: readonly string[];
  /** Paths of secrets that are to be sent. */
  readonly secrets?: readonly string[];
  readonly ignore?: readonly string[];
  readonly fields: readonly string[];
  readonly body: JsonObject;
};

const KNOWN = world().secrets({ 'env:TOKEN': 'the token' });
const IDS: Readonly<Record<string, string>> = { 'retry_policy.gentle': 'p-1' };

function bodyOf(write: Omit<Write, 'title' | 'body'>): JsonObject {
  const { address = 'agent.desk', desired, live, cleared = [], secrets = [], ignore = [] } = write;
  const { schema } = kindNamed(kindOf(address));
  const { document } = desiredResource(address, desired);
  const intent = {
    cleared: new Set(cleared),
    secrets: new Set(secrets),
    ignore: ignore.map(parsePath).filter((path): path is Path => path !== undefined),
  };
  const merged = mergeDocuments(
    schema,
    document,
    live,
    intent,
    KNOWN.given((at) => IDS[at]),
  );
  return requestBody(schema, merged, write.fields);
}

function writes(rows: readonly Write[]): void {
  test.each(rows)('$title', ({ body, ...write }) => {
    expect(bodyOf(write)).toEqual(body);
  });
}

const TOKEN = { $secret: 'env:TOKEN' };
const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  type: 'webhook',
  name,
  url: `https://${name}.example.test`,
  ...more,
});

describe('the body of a write', () => {
  writes([
    {
      title: 'has the write names of top-level fields, and only those asked for',
      desired: { greeting_message: 'Hello', system_prompt: 'Be kind.', model: 'alpha-4o' },
      live: {},
      fields: ['greeting_message', 'system_prompt', 'organization_id'],
      body: { greetingMessage: 'Hello', systemPrompt: 'Be kind.', organizationId: HARBOR },
    },
    {
      title: 'never re-cases what lies below them',
      desired: { voice_settings: { voice_id: 'v-1' }, amd_config: { on_machine: 'hangup' } },
      live: {},
      fields: ['voice_settings', 'amd_config'],
      body: { voiceSettings: { voice_id: 'v-1' }, amdConfig: { on_machine: 'hangup' } },
    },
    {
      title: 'has nested objects whole: what is live with what is desired laid over it',
      desired: { voice_settings: { speed: 1.1 } },
      live: { voice_settings: { speed: 1, language: 'en', stability: { low: 1 } } },
      fields: ['voice_settings'],
      body: { voiceSettings: { speed: 1.1, language: 'en', stability: { low: 1 } } },
    },
    {
      title: 'has null for what goes away',
      desired: { voice_settings: { language: 'en' } },
      live: { greeting_message: 'Hello', voice_settings: { speed: 1, language: 'en' } },
      cleared: ['greeting_message', 'voice_settings.speed'],
      fields: ['greeting_message', 'voice_settings'],
      body: { greetingMessage: null, voiceSettings: { speed: null, language: 'en' } },
    },
    {
      title: 'has an explicit null for an object as it is',
      desired: { interpreter_config: null },
      live: { interpreter_config: { pair: 'en-es' } },
      fields: ['interpreter_config'],
      body: { interpreterConfig: null },
    },
    {
      title: 'has nothing of what the platform owns',
      desired: { name: 'Desk' },
      live: { id: 'a1', is_active: true, place_data: { a: 1 }, created_at: 'x', name: 'Old' },
      fields: ['name', 'id', 'is_active', 'place_data', 'created_at'],
      body: { name: 'Desk' },
    },
    {
      title: 'has an id for a reference',
      desired: { default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
      live: { default_retry_policy_id: 'p-0' },
      fields: ['default_retry_policy_id'],
      body: { defaultRetryPolicyId: 'p-1' },
    },
    {
      title: 'keeps what is ignored as it is live',
      desired: { voice_settings: { speed: 1.1, language: 'de' } },
      live: { voice_settings: { speed: 1, language: 'en' } },
      ignore: ['voice_settings.speed'],
      fields: ['voice_settings'],
      body: { voiceSettings: { speed: 1, language: 'de' } },
    },
    {
      title: 'leaves out what is ignored and not live',
      desired: { voice_settings: { speed: 1.1, language: 'de' } },
      live: {},
      ignore: ['voice_settings.speed'],
      fields: ['voice_settings'],
      body: { voiceSettings: { language: 'de' } },
    },
    {
      title: 'does not mix an object that is one leaf with the one that is live',
      desired: {
        extensions: { mcp_servers: [{ connection_name: 'C', initialization_options: { a: 1 } }] },
      },
      live: {
        extensions: { mcp_servers: [{ connection_name: 'C', initialization_options: { b: 2 } }] },
      },
      fields: ['extensions'],
      body: {
        extensions: { mcp_servers: [{ connectionName: 'C', initializationOptions: { a: 1 } }] },
      },
    },
    {
      title: 'has no file: its bytes go another way',
      address: 'custom_voice.harbor',
      desired: { name: 'Harbor', consent: true, language: 'en' },
      live: { clip: 'sha256:aa' },
      fields: ['name', 'clip', 'consent', 'language'],
      body: { name: 'Harbor', language: 'en' },
    },
  ]);

  test('waits for an id that is not known yet', () => {
    const desired = { default_retry_policy_id: { $ref: 'retry_policy.unborn' } };
    expect(() => bodyOf({ desired, live: {}, fields: [] })).toThrow('retry_policy.unborn');
  });
});

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

/** Secrets are left out of what is returned; an update that leaves them out keeps them (Secrets rules). */
describe('a secret in a write', () => {
  const PATH = 'integrations.smsProvider.auth_token';
  const desired = { integrations: { smsProvider: { account_sid: 'AC2', auth_token: TOKEN } } };
  const live = { integrations: { smsProvider: { account_sid: 'AC1', connected_at: 'then' } } };
  writes([
    {
      title: 'is left out unless it is to be sent',
      desired,
      live,
      fields: ['integrations'],
      body: { integrations: { smsProvider: { account_sid: 'AC2', connected_at: 'then' } } },
    },
    {
      title: 'is sent where it is to be sent',
      desired,
      live,
      secrets: [PATH],
      fields: ['integrations'],
      body: {
        integrations: {
          smsProvider: { account_sid: 'AC2', connected_at: 'then', auth_token: 'the token' },
        },
      },
    },
    {
      title: 'that the platform returns in clear is sent with its list',
      desired: { extensions: { tools: [{ ...tool('a'), headers: [{ key: 'X', value: TOKEN }] }] } },
      live: { extensions: { tools: [tool('a', { headers: [{ key: 'X', value: 'old' }] })] } },
      fields: ['extensions'],
      body: { extensions: { tools: [tool('a', { headers: [{ key: 'X', value: 'the token' }] })] } },
    },
    {
      title: 'that the platform returns in clear stays as it is where it was not read',
      desired: {
        extensions: {
          tools: [{ ...tool('a'), headers: [{ key: 'X', value: { $secret: 'env:UNREAD' } }] }],
        },
      },
      live: { extensions: { tools: [tool('a', { headers: [{ key: 'X', value: 'old' }] })] } },
      fields: ['extensions'],
      body: { extensions: { tools: [tool('a', { headers: [{ key: 'X', value: 'old' }] })] } },
    },
  ]);
});

describe('a retry policy in a write', () => {
  const address = 'retry_policy.gentle';
  const RULE = { delay_seconds: 900, max_attempts: 3 };
  const BUSY = { delay_seconds: 60 };
  writes([
    {
      title: 'has its rules whole',
      address,
      desired: { name: 'Gentle', rules: { no_answer: { max_attempts: 2 } } },
      live: { name: 'Gentle', rules: { no_answer: RULE, busy: BUSY } },
      fields: ['rules'],
      body: { rules: { no_answer: { delay_seconds: 900, max_attempts: 2 }, busy: BUSY } },
    },
    {
      title: 'has no trace of a rule that goes away',
      address,
      desired: { name: 'Gentle', rules: { busy: BUSY } },
      live: { name: 'Gentle', rules: { no_answer: RULE, busy: BUSY } },
      cleared: ['rules.no_answer.delay_seconds', 'rules.no_answer.max_attempts'],
      fields: ['rules'],
      body: { rules: { busy: BUSY } },
    },
    {
      title: 'has on_exhausted whenever its target changes',
      address,
      desired: { name: 'Gentle', on_exhausted_target: 'agent-2' },
      live: { on_exhausted: 'transfer', on_exhausted_target: 'agent-1' },
      fields: ['on_exhausted_target'],
      body: { on_exhausted: 'transfer', on_exhausted_target: 'agent-2' },
    },
    {
      title: 'has null for caps that go away',
      address,
      desired: { name: 'Gentle', contact_policy: null },
      live: { contact_policy: { per_day: 3 } },
      fields: ['contact_policy'],
      body: { contact_policy: null },
    },
  ]);
});
