import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { onTerminal } from '../../src/console/events.ts';
import { plan } from '../../src/console/plan.ts';
import { validate } from '../../src/console/validate.ts';
import { CallsheetError } from '../../src/core/errors.ts';
import { storeCredentials } from '../../src/core/stores.ts';
import { type Stage, staged, VIEWS } from '../apply/stage.ts';

/** What a stack of a stranger's pull request may not do. Nothing of it may reach the platform. */

const CLOUD_KEY = 'canary-cloud-1d7e';
const ENV = { CLOUD_KEY, CALLSHEET_VAR_CITY: 'Springfield' };

/** Adds lines to `callsheet.yaml`, or puts others in the place of one. */
async function settings(stage: Stage, lines: string, instead = '') {
  const text = await stage.read('callsheet.yaml');
  expect(text).toContain(instead);
  await stage.write('callsheet.yaml', `${text.replace(instead, '')}${lines}\n`);
}

/** What validate and plan say, which must end alike, with nothing sent. */
async function refused(stage: Stage, env: Readonly<Record<string, string>> = {}, flags = {}) {
  const common = { dir: stage.folder, format: 'text', ...flags } as const;
  const options = { exit: 1, env: { ...ENV, ...env } } as const;
  const checked = await stage.run((to) => validate(common, to), options);
  const planned = await stage.run((to) => plan(common, to), options);
  expect(stage.sim.requests).toEqual([]);
  const said = `${checked.out}${checked.err}${planned.out}${planned.err}`;
  expect(said).not.toContain(CLOUD_KEY);
  return `${checked.out}${checked.err}`.replace(/\s+/g, ' ');
}

const VARIABLES = 'variables: { base_url: { env: CALLSHEET_BASE_URL } }\n';
const reading = (name: string) =>
  `variables:\n  base_url: { env: CALLSHEET_BASE_URL }\n  x: { env: ${name} }`;

const planned = async (stage: Stage, env = {}, flags = {}) =>
  (
    await stage.run((to) => plan({ dir: stage.folder, format: 'text', ...flags }, to), {
      env: { ...ENV, ...env },
    })
  ).out;

describe('a variable of the stack', () => {
  staged('reads no other variable of the environment without leave', async (stage) => {
    await settings(stage, reading('CLOUD_KEY'), VARIABLES);
    await stage.edit('agents.yaml', 'name: ', `description: "\${var.x}"\n    name: `);
    const said = await refused(stage);
    expect(said).toContain('callsheet.yaml:8:13');
    expect(said).toContain('variable/environment');
    expect(said).toContain('--allow-env CLOUD_KEY');
    expect(said).toContain('CALLSHEET_ALLOW_ENV=CLOUD_KEY');
    await refused(stage, { CALLSHEET_ALLOW_ENV: 'OTHER CLOUD' });
  });

  staged('reads it where the command line or the environment allows it', async (stage) => {
    await settings(stage, reading('TOWN'), VARIABLES);
    await stage.edit('agents.yaml', 'name: ', `description: "In \${var.x}"\n    name: `);
    const env = { TOWN: 'Ogdenville' };
    for (const list of ['TOWN', 'OTHER,TOWN', 'A  TOWN', 'TO*'])
      expect(await planned(stage, { ...env, CALLSHEET_ALLOW_ENV: list })).toContain(
        'In Ogdenville',
      );
    expect(await planned(stage, env, { allowEnv: ['OTHER', 'TOWN'] })).toContain('In Ogdenville');
  });

  staged('reads what is named for it without leave', async (stage) => {
    await settings(stage, reading('CALLSHEET_VAR_CITY'), VARIABLES);
    await stage.edit('agents.yaml', 'name: ', `description: "In \${var.x}"\n    name: `);
    expect(await planned(stage)).toContain('In Springfield');
  });

  for (const name of [
    'CALLSHEET_CLIENT_SECRET',
    'CALLSHEET_FINGERPRINT_KEY',
    'CALLSHEET_SNAPSHOT_PASSPHRASE',
    'callsheet_access_token',
    ...storeCredentials().filter((one) => !one.startsWith('CALLSHEET_')),
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  ])
    staged(`never reads ${name}`, async (stage) => {
      await settings(stage, reading(name), VARIABLES);
      const said = await refused(stage, { CALLSHEET_ALLOW_ENV: `${name} C* A* P* O* c*` });
      expect(said).toContain(`${name}, a credential of Callsheet`);
    });

  staged('leave for everything is no leave', async (stage) => {
    const said = await refused(stage, { CALLSHEET_ALLOW_ENV: '*' });
    expect(said).toContain('CALLSHEET_ALLOW_ENV');
  });
});

describe('a secret of the stack', () => {
  staged('is no credential of Callsheet', async (stage) => {
    await stage.edit('agents.yaml', 'env:SMS_TOKEN', 'env:CALLSHEET_CLIENT_SECRET');
    const said = await refused(stage);
    expect(said).toMatch(/agents\.yaml:\d+:\d+ /);
    expect(said).toContain('secret/credential');
    const dry = { dir: stage.folder, format: 'text', secrets: false } as const;
    await stage.run((to) => validate(dry, to), { exit: 1 });
  });

  for (const path of ['/proc/self/environ', '/proc/self/../self/environ', 'way/environ'])
    staged(`is not read from ${path}`, async (stage) => {
      await symlink('/proc/self', join(stage.folder, 'way'));
      const from = path.startsWith('/') ? path : join(stage.folder, path);
      await stage.edit('agents.yaml', 'env:SMS_TOKEN', `file:${from}`);
      expect(await refused(stage)).toContain('agents.yaml');
    });
});

describe('platform.endpoints', () => {
  const cases: readonly (readonly [operation: string, moved: string, says: string])[] = [
    ['getAgent', '{ method: DELETE }', 'getAgent is documented'],
    ['getAgent', '{ path: "/v2/agents/{agentId}" }', 'getAgent is documented'],
    ['createToken', '{ path: /collect }', 'createToken is documented'],
    ['listSmsTemplates', '{ method: POST }', 'may be GET alone'],
    ['updateSmsTemplate', '{ method: DELETE }', 'may be POST, PUT or PATCH'],
    ['deleteSmsTemplate', '{ method: POST }', 'may be DELETE alone'],
    [
      'updateSmsTemplate',
      '{ method: POST, path: "/v1/agents/{templateId}/history/7/revert" }',
      'revertAgent',
    ],
    [
      'updateSmsTemplate',
      '{ method: PUT, path: "/v1/AGENTS/{templateId}/" }',
      '/v1/agents/{agentId}',
    ],
    [
      'createRetryPolicy',
      '{ method: PUT, path: /v1/agents/8b0e0a52-9d0f-4c53-8f3f-6a1f5f0b7a01 }',
      '/v1/agents/{agentId}',
    ],
    [
      'deleteSmsTemplate',
      '{ path: "/v1/retry-policies/{templateId}" }',
      '/v1/retry-policies/{policyId}',
    ],
    ['getSmsTemplate', '{ path: "/v1/sms/{templateId}/{templateId}" }', '{templateId} twice'],
    ['getSmsTemplate', '{ path: "//evil.example.test/{templateId}" }', 'that a path cannot have'],
    ['getSmsTemplate', '{ path: "/v1/a/../{templateId}" }', 'a step of dots'],
    ['getSmsTemplate', '{ path: "/v1%2Fagents/{templateId}" }', 'that a path cannot have'],
    ['getSmsTemplate', '{ path: "/v1/{templateId}?x=1" }', 'that a path cannot have'],
  ];
  for (const [operation, moved, says] of cases)
    staged(`does not move ${operation} to ${moved}`, async (stage) => {
      const { folder } = stage;
      expect(folder).toBeTruthy();
      await stage.edit(
        'callsheet.yaml',
        '"${var.base_url}" }',
        `"\${var.base_url}", endpoints: { ${operation}: ${moved} } }`,
      );
      const said = await refused(stage);
      expect(said).toContain('callsheet.yaml:3:');
      expect(said).toContain(says);
    });
});

describe('what platform.endpoints moves', () => {
  const MOVED =
    'updateSmsTemplate is called at PUT /v2/texts/{templateId} instead of PATCH /v1/sms-templates/{templateId} (platform.endpoints).';

  staged('stands in every view of the plan, and under its digest', async (stage) => {
    await stage.edit(
      'callsheet.yaml',
      '"${var.base_url}" }',
      `"\${var.base_url}", endpoints: { updateSmsTemplate: { method: PUT, path: "/v2/texts/{templateId}" } } }`,
    );
    const out = join(stage.folder, 'plan.json');
    expect((await planned(stage, {}, { out })).replace(/\s+/g, ' ')).toContain(MOVED);
    const plain = (text: string) => text.replace(/\\/g, '').replace(/\s+/g, ' ');
    expect(plain(await planned(stage, {}, { format: 'markdown' }))).toContain(MOVED);
    for (const format of VIEWS)
      expect(await planned(stage, {}, { format })).toContain('"updateSmsTemplate"');
    const plan = JSON.parse(await stage.read('plan.json'));
    expect(plan.endpoints).toEqual([
      {
        operation: 'updateSmsTemplate',
        method: 'PUT',
        path: '/v2/texts/{templateId}',
        instead_of: { method: 'PATCH', path: '/v1/sms-templates/{templateId}' },
      },
    ]);
    const { endpoints: _, ...without } = plan;
    await stage.write('plan.json', JSON.stringify(without));
    const { err } = await stage.applyFile('plan.json', {}, { exit: 5 });
    expect(err).toContain('its digest does not match');
    expect(stage.writes()).toEqual([]);
  });
});

describe('state.file', () => {
  for (const file of ['../elsewhere.json', '/tmp/elsewhere.json', 'way/state.json'])
    staged(`stays in the stack folder: ${file}`, async (stage) => {
      await symlink('/tmp', join(stage.folder, 'way'));
      await settings(stage, `state: { file: ${file} }`);
      const said = await refused(stage);
      expect(said).toContain('callsheet.yaml:7:');
      expect(said).toContain('CALLSHEET_STATE');
    });

  staged('nor is the default one behind a link that leads out', async (stage) => {
    await symlink('/tmp', join(stage.folder, '.callsheet'));
    expect(await refused(stage)).toContain('CALLSHEET_STATE');
  });
});

describe('a host that the stack names', () => {
  staged(
    'is asked for once on a terminal, and the answer is kept with the person',
    async (stage) => {
      const home = await mkdtemp(join(tmpdir(), 'callsheet-home-'));
      const asked: string[] = [];
      const sent: string[] = [];
      const planOnTerminal = async (answer: string) => {
        const ask = async (question: string) => {
          asked.push(question);
          return answer;
        };
        const { err } = await stage.run(
          (to) =>
            plan(
              { dir: stage.folder, format: 'text' },
              { ...to, ...onTerminal({ ...to.terminal, canAsk: true, ask }) },
            ),
          {
            exit: 1,
            env: { CALLSHEET_BASE_URL: undefined, HOME: home },
            outside: {
              wire: (transport) => ({
                ...transport,
                send: async ({ url }) => {
                  sent.push(new URL(url).host);
                  throw new CallsheetError('network', 'nobody is there');
                },
              }),
            },
          },
        );
        return err;
      };
      await stage.edit('callsheet.yaml', '"${var.base_url}"', 'https://Voice.example.test');
      try {
        expect(await planOnTerminal('no')).toContain('CALLSHEET_ALLOW_HOSTS=voice.example.test');
        expect(sent).toEqual([]);
        await planOnTerminal('yes');
        expect(sent).toContain('voice.example.test');
        expect(asked).toHaveLength(2);
        expect(asked[0]).toContain('callsheet.yaml:3:23 names voice.example.test');
        await planOnTerminal('no');
        expect(asked).toHaveLength(2);
        const kept = await readFile(join(home, '.local/state/callsheet/hosts'), 'utf8');
        expect(kept).toBe('voice.example.test\n');
        await stage.edit('callsheet.yaml', 'Voice.example', 'other.example');
        expect(await planOnTerminal('no')).toContain('other.example.test');
      } finally {
        await rm(home, { recursive: true });
      }
    },
  );
});
