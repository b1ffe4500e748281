import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { plan } from '../../src/cli/commands/plan.ts';
import type { PlanDocument, SecretTravel } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { parsePlan } from '../../src/plan/parse.ts';
import { renderPlanJson } from '../../src/render/json.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { world } from '../world.ts';

const EMPTY = { SMS_TOKEN: undefined, CRM_KEY: undefined, MCP_TOKEN: undefined };

/** What a plan says in text and in Markdown, blanks taken together, and as JSON. */
async function views(stage: Stage, env = EMPTY) {
  const said = async (format: 'text' | 'markdown') => {
    const { out } = await stage.run((to) => plan({ dir: stage.folder, format }, to), { env });
    return out
      .replace(/&#8203;/g, '')
      .replace(/&#91;/g, '[')
      .replace(/&#93;/g, ']')
      .replace(/\s+/g, ' ');
  };
  const document = await stage.plan({}, { env });
  const secrets = document.changes.flatMap((change) => change.secrets ?? []);
  return { document, secrets, shown: [await said('text'), await said('markdown')] };
}

describe('a plan says where secrets go', () => {
  staged('of a new webhook, also where the secret is not set', async (stage) => {
    await stage.apply();
    await stage.edit(
      'agents.yaml',
      '      mcp_servers:',
      `        - type: webhook
          name: report
          condition: after_call
          method: POST
          url: https://Reports.example.test:8443/calls
          headers: [{ key: Authorization, value: { $secret: env:CRM_KEY } }]
      mcp_servers:`,
    );
    const { secrets, shown } = await views(stage);
    expect(secrets).toEqual([
      {
        path: 'extensions.tools[report].headers[Authorization].value',
        source: 'env:CRM_KEY',
        to: 'reports.example.test:8443',
        before: null,
      },
    ]);
    for (const view of shown)
      expect(view).toContain('secret env:CRM_KEY → reports.example.test:8443');
  });

  staged('that stay as they are while the webhook they go to changes', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'https://crm.example.test', 'http://elsewhere.example.test');
    await stage.edit('agents.yaml', 'https://mcp.example.test', 'https://tools.example.test');
    const all = [EMPTY, {}] as const;
    for (const env of all) {
      const { secrets, shown } = await views(stage, { ...env } as typeof EMPTY);
      expect(secrets.map(({ source, to, before }) => [source, to, before])).toEqual([
        [null, 'http://elsewhere.example.test', 'crm.example.test'],
        [null, 'tools.example.test', 'mcp.example.test'],
      ]);
      for (const view of shown)
        expect(view).toContain(
          'stored secret extensions.mcp_servers[Calendar].auth_headers.Authorization → tools.example.test (was mcp.example.test)',
        );
    }
  });

  staged('and its digest covers that', async (stage) => {
    const out = join(stage.folder, 'plan.json');
    await stage.run((to) => plan({ dir: stage.folder, format: 'text', out }, to));
    const text = await stage.read('plan.json');
    expect(text).toContain('"to": "crm.example.test"');
    const bent = text.replace('"to": "crm.example.test"', '"to": "cdn.example.test"');
    expect(() => parsePlan(bent, 'plan.json')).toThrow('its digest does not fit');
    // What is set where it is planned is no part of it: the same is planned without.
    await stage.run((to) => plan({ dir: stage.folder, format: 'text', out }, to), { env: EMPTY });
    const { digest } = JSON.parse(await stage.read('plan.json')) as PlanDocument;
    expect(renderPlanJson(parsePlan(text, 'plan.json'))).toContain(digest);
  });
});

const TOOL = { type: 'webhook', name: 'crm', condition: 'during_call', method: 'GET' };
const tool = (url: string, more: JsonObject = {}): JsonObject => ({
  extensions: { tools: [{ ...TOOL, url, ...more }] },
});
const server = (url: string, more: JsonObject = {}): JsonObject => ({
  extensions: {
    mcp_servers: [{ connection_name: 'm', mcp_endpoint_url: url, transport_type: 'http', ...more }],
  },
});
const sms = (more: JsonObject): JsonObject => ({ integrations: { smsProvider: more } });
const header = (value: JsonObject | string) => ({ headers: [{ key: 'X-Key', value }] });
const SECRET = { $secret: 'env:KEY' };
const TOKEN = 'integrations.smsProvider.auth_token';
const VALUE = 'extensions.tools[crm].headers[X-Key].value';
const travel = (path: string, source: string | null, to: string, before: string | null) => ({
  path,
  source,
  to,
  before,
});

/** What the configuration wants and what is live of an agent, without a state. */
const rows: readonly (readonly [string, JsonObject, JsonObject, readonly SecretTravel[]])[] = [
  [
    'a literal header whose webhook moves',
    tool('https://new.test/x', header('same')),
    tool('https://old.test/x', header('same')),
    [travel(VALUE, null, 'new.test', 'old.test')],
  ],
  [
    'another path on the same host',
    tool('https://old.test/y', header('a')),
    tool('https://old.test/x', header('a')),
    [],
  ],
  ['no secret', tool('https://new.test/y'), tool('https://old.test/x'), []],
  [
    'a header that nobody declares, of a connection that moves',
    server('https://new.test'),
    server('https://old.test', { auth_headers: { Authorization: 'canary' } }),
    [travel('extensions.mcp_servers[m].auth_headers.Authorization', null, 'new.test', 'old.test')],
  ],
  [
    'a header that goes away with its webhook',
    tool('https://new.test/x', { name: 'other' }),
    tool('https://old.test/x', header('canary')),
    [],
  ],
  [
    'an option of a connection that is named like a secret',
    server('https://new.test', { initialization_options: { password: 'a' } }),
    server('https://old.test', { initialization_options: { password: 'a' } }),
    [travel('extensions.mcp_servers[m].initialization_options', null, 'new.test', 'old.test')],
  ],
  [
    'a provider that is new',
    sms({ account_sid: 'AC1', auth_token: SECRET }),
    {},
    [travel(TOKEN, 'env:KEY', 'smsProvider', null)],
  ],
  [
    'a provider that gets a host of its own, with what is stored and not returned',
    sms({ account_sid: 'AC1', api_base: 'https://sms.new.test/v1' }),
    sms({ account_sid: 'AC1' }),
    [travel(TOKEN, null, 'smsProvider, sms.new.test', 'smsProvider')],
  ],
  [
    'an address with a placeholder',
    tool('https://{{host}}/x', header(SECRET)),
    tool('https://old.test/x'),
    [travel(VALUE, 'env:KEY', '{{host}}', null)],
  ],
];

test.each(rows)('%s', async (_, wanted, live, travels) => {
  const { plan: made } = await world()
    .desired({ 'agent.desk': { name: 'Desk', ...wanted } })
    .live({ agent: [{ id: 'a1', name: 'Desk', ...live }] })
    .plan();
  expect(made.changes.flatMap(({ secrets = [] }) => secrets)).toEqual(travels);
});
