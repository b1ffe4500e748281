import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { plan } from '../../src/console/plan.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { parsePlan } from '../../src/plan/document.ts';
import { renderPlanJson } from '../../src/render/json.ts';
import { type Stage, staged } from '../apply/stage.ts';

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
          'stored secret Authorization of Calendar → tools.example.test (was mcp.example.test)',
        );
    }
  });

  staged('and its digest covers that', async (stage) => {
    const out = join(stage.folder, 'plan.json');
    await stage.run((to) => plan({ dir: stage.folder, format: 'text', out }, to));
    const text = await stage.read('plan.json');
    expect(text).toContain('"to": "crm.example.test"');
    const bent = text.replace('"to": "crm.example.test"', '"to": "cdn.example.test"');
    expect(() => parsePlan(bent, 'plan.json')).toThrow('its digest does not match');
    // What is set where it is planned is no part of it: the same is planned without.
    await stage.run((to) => plan({ dir: stage.folder, format: 'text', out }, to), { env: EMPTY });
    const { digest } = JSON.parse(await stage.read('plan.json')) as PlanDocument;
    expect(renderPlanJson(parsePlan(text, 'plan.json'))).toContain(digest);
  });

  staged('with the credential in a command masked, in whatever shows its source', async (stage) => {
    const secret = 'exec:curl https://vault.example.test/sms?token=hvs-4711';
    await stage.edit('agents.yaml', 'env:SMS_TOKEN', JSON.stringify(secret));
    const { document, secrets, shown } = await views(stage);
    expect(secrets.map(({ source }) => source)).toContain(secret.replace(/hvs.*/, '(secret)'));
    for (const view of [...shown, JSON.stringify(document)]) {
      expect(view).toContain('vault.example.test');
      expect(view).not.toContain('hvs-4711');
    }
  });

  staged('and shows no credential of an address that has no host to name', async (stage) => {
    await stage.apply();
    await stage.edit(
      'agents.yaml',
      'https://crm.example.test',
      'https://crm.example.test:{{port}}/?token=hvs-4711&path=',
    );
    const { secrets, shown, document } = await views(stage);
    expect(secrets.map(({ to }) => to).join()).toContain('crm.example.test:{{port}}');
    for (const view of [...shown, JSON.stringify(document)]) expect(view).not.toContain('hvs-4711');
  });
});
