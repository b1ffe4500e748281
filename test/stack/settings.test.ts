import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadStack } from '../../src/stack/index.ts';
import {
  agent,
  BAY,
  broken,
  folderOf,
  HARBOR,
  load,
  loadGood,
  MAIN,
  said,
} from './stack-folder.ts';

broken([
  {
    title: 'an empty callsheet.yaml',
    files: { 'callsheet.yaml': '' },
    says: ['callsheet.yaml:1:1 schema/required callsheet.yaml needs callsheet'],
    hint: 'Add the line callsheet: 1',
  },
  {
    title: 'an address that is none is said once',
    files: { 'callsheet.yaml': 'callsheet: 1\nplatform: { base_url: api.example }\n' },
    says: [
      'callsheet.yaml:2:23 schema/pattern callsheet.yaml: platform.base_url must begin with http:// or https://',
    ],
  },
  ...[
    {
      url: 'https://key:pw-of-ours@x.test',
      what: 'must not hold credentials, a query or a fragment',
      warned: 'has a password in its address, which is readable in this file',
    },
    {
      url: 'https://x.test/?token=pw-of-ours',
      what: 'must not hold credentials, a query or a fragment',
      warned: 'has a value of "token" in its address, which is readable in this file',
    },
    {
      url: 'http://x.test',
      what: 'http://x.test is plain http, which would send credentials unencrypted',
    },
  ].map(({ url, what, warned }) => ({
    title: `a base address that no command would use: ${url}`,
    files: { 'callsheet.yaml': `${MAIN}platform: { base_url: "${url}" }\n` },
    says: [
      ...(warned === undefined
        ? []
        : [
            `callsheet.yaml:4:23 warning secret/plain-address callsheet.yaml: platform.base_url ${warned}`,
          ]),
      `callsheet.yaml:4:23 platform/base-url callsheet.yaml: platform.base_url ${what}`,
    ],
  })),
  {
    title: 'another version of the format',
    files: { 'callsheet.yaml': 'callsheet: 2\n' },
    says: ['callsheet.yaml:1:12 schema/enum callsheet.yaml: callsheet must be 1'],
  },
  {
    title: 'settings that are none',
    files: {
      'callsheet.yaml': `callsheet: 1
platform: { base_url: ftp://x.test, assume: perhaps, endpoints: { getSmsTemplate: { method: FETCH, path: v1 } } }
organizations: { harbor: here }
organization: harbr
guards: { max_delete: -1, max_change_percent: 101, max_deletes: 1 }
platfrom: {}
include: 1
`,
    },
    says: [
      'callsheet.yaml:2:23 schema/pattern callsheet.yaml: platform.base_url must begin with http:// or https://',
      'callsheet.yaml:2:45 schema/type callsheet.yaml: platform.assume must be true or false, not text',
      'callsheet.yaml:2:93 schema/enum callsheet.yaml: platform.endpoints.getSmsTemplate.method cannot be "FETCH"',
      'callsheet.yaml:2:106 schema/pattern callsheet.yaml: platform.endpoints.getSmsTemplate.path does not have the form that the platform or Callsheet reads',
      'callsheet.yaml:3:26 schema/format callsheet.yaml: organizations.harbor must be an id (UUID)',
      'callsheet.yaml:4:15 organization/unknown callsheet.yaml: organization is "harbr", which is not an organization of the stack',
      'callsheet.yaml:5:23 schema/limit callsheet.yaml: guards.max_delete must be at least 0',
      'callsheet.yaml:5:47 schema/limit callsheet.yaml: guards.max_change_percent must be at most 100',
      'callsheet.yaml:5:52 schema/unknown-key callsheet.yaml: guards has no field "max_deletes"',
      'callsheet.yaml:6:1 schema/unknown-key "platfrom" is not a section that Callsheet knows',
      'callsheet.yaml:7:10 schema/type callsheet.yaml: include must be text or a list, not a number',
    ],
    hint: 'Did you mean platform?',
  },
  {
    title: 'a wrong default organization is said once, not for every resource',
    files: {
      'callsheet.yaml': MAIN.replace('organization: harbor', 'organization: x'),
      ...agent('model: m'),
    },
    says: [
      'callsheet.yaml:3:15 organization/unknown callsheet.yaml: organization is "x", which is not an organization of the stack',
    ],
  },
  {
    title: 'state stores that are not files',
    files: { 'callsheet.yaml': `${MAIN}state: postgres://db.example.test/x\n` },
    says: [
      'callsheet.yaml:4:8 config/not-supported callsheet.yaml: state is an address at postgres://, and does not name its store',
    ],
  },
  {
    title: 'a state in two places',
    files: { 'callsheet.yaml': `${MAIN}state: { file: s.json, http: { address: "https://s" } }\n` },
    says: [
      'callsheet.yaml:4:8 config/state callsheet.yaml: the state cannot be kept in several places: file, http',
    ],
    hint: '$remove',
  },
  {
    title: 'a state at an address of which a variable makes none',
    files: {
      'callsheet.yaml': `${MAIN}variables: { at: { default: db } }\nstate: { postgres: { url: "\${var.at}", stack: s } }\n`,
    },
    says: [
      'callsheet.yaml:5:27 config/state callsheet.yaml: state.postgres.url is not an address that begins with postgres:// or postgresql://',
    ],
    hint: 'callsheet help stores',
  },
  {
    title: 'a state at an address that is missing',
    files: { 'callsheet.yaml': `${MAIN}state: { http: { username: u } }\n` },
    says: ['callsheet.yaml:4:16 config/state callsheet.yaml: state.http needs address'],
  },
  {
    title: 'a state whose address contains a password',
    files: {
      'callsheet.yaml': `${MAIN}state: { http: { address: "https://u:p4ss@s.example.test" } }\n`,
    },
    says: [
      'callsheet.yaml:4:27 secret/plain-address callsheet.yaml: the address of the state contains a password',
    ],
    hint: 'CALLSHEET_STATE_PASSWORD',
  },
  {
    title: 'a base address that is not known yet is a warning: a stack can be checked without one',
    files: {
      'callsheet.yaml': `${MAIN}platform: { base_url: "\${var.url}" }\nvariables: { url: { env: CALLSHEET_BASE_URL } }\n`,
    },
    says: [
      `callsheet.yaml:4:24 warning variable/missing callsheet.yaml: platform.base_url uses \${var.url}, which has no value`,
    ],
    hint: 'Set CALLSHEET_BASE_URL',
  },
  {
    title: 'an include without patterns',
    files: { 'callsheet.yaml': `${MAIN}include: []\n`, ...agent('status: on') },
    says: [
      'agents.yaml:4:13 warning schema/enum agent.a: status is "on", which the specification does not have',
      'callsheet.yaml:4:10 schema/limit callsheet.yaml: include must not be empty',
    ],
  },
  {
    title: 'an include that lets nothing in',
    files: {
      'callsheet.yaml': `${MAIN}include: [agents.yaml, teams/*.yaml]\n`,
      ...agent('model: m'),
    },
    says: [
      'callsheet.yaml:4:24 warning stack/include callsheet.yaml: include has "teams/*.yaml", which matches no YAML file',
    ],
  },
]);

test('settings are read with their defaults', async () => {
  const { platform, organizations, guards, state, dir, resources } = await loadGood({});
  expect(platform).toEqual({
    base_url: undefined,
    endpoints: {},
    assume: true,
    by: 'operator',
  });
  expect(organizations).toEqual({ harbor: HARBOR, bay: BAY });
  expect(guards).toEqual({});
  expect(state).toEqual({ file: join(dir, '.callsheet/state.json') });
  expect(resources).toEqual([]);
});

test('settings are read as given', async () => {
  const main = `${MAIN}platform:
  base_url: "https://\${var.host}/api"
  assume: false
  endpoints: { listRetryPolicies: { path: /v1/policies } }
variables: { host: { default: voice.example.test } }
guards: { max_delete: 0, max_change_percent: 12.5 }
state: { file: state/here.json }
`;
  const { platform, guards, state, dir } = await loadGood({ 'callsheet.yaml': main });
  expect(platform).toEqual({
    base_url: 'https://voice.example.test/api',
    endpoints: { listRetryPolicies: { path: '/v1/policies' } },
    assume: false,
    by: expect.objectContaining({ file: 'callsheet.yaml', line: 5, column: 13 }),
  });
  expect(guards).toEqual({ max_delete: 0, max_change_percent: 12.5 });
  expect(state).toEqual({ file: join(dir, 'state/here.json') });
  const moved = await loadGood(
    { 'callsheet.yaml': main },
    { env: { CALLSHEET_STATE: '/var/lib/state.json' } },
  );
  expect(moved.state).toEqual({ file: '/var/lib/state.json' });
});

const HTTP = 'https://gitlab.example.test/api/v4/projects/7/terraform/state/desk';

test.each<[string, string, Record<string, string>, object]>([
  [
    'an address in callsheet.yaml',
    `state: { http: { address: "${HTTP}", username: bot, lock_method: POST } }`,
    {},
    { http: { address: HTTP, username: 'bot', lock_method: 'POST' } },
  ],
  [
    'a database',
    'state: { postgres: { url: "postgres://u@db/x", stack: desk } }',
    {},
    { postgres: { url: 'postgres://u@db/x', stack: 'desk' } },
  ],
  [
    'a bucket',
    'state: { s3: { bucket: b, key: a/s.json, region: eu } }',
    {},
    { s3: { bucket: 'b', key: 'a/s.json', region: 'eu' } },
  ],
  [
    'a bucket in CALLSHEET_STATE',
    '',
    { CALLSHEET_STATE: 's3://b/a/s.json?endpoint=https://s3.example.test' },
    { s3: { bucket: 'b', key: 'a/s.json', endpoint: 'https://s3.example.test' } },
  ],
  [
    'a database in CALLSHEET_STATE',
    '',
    { CALLSHEET_STATE: 'postgres://u:p@db/x?stack=desk' },
    { postgres: { url: 'postgres://u:p@db/x?stack=desk', stack: 'desk' } },
  ],
  [
    'CALLSHEET_STATE, over what callsheet.yaml says',
    'state: { file: x.json }',
    { CALLSHEET_STATE: HTTP },
    { http: { address: HTTP } },
  ],
])('the state may be elsewhere: %s', async (_name, text, env, place) => {
  const { state } = await loadGood({ 'callsheet.yaml': `${MAIN}${text}\n` }, { env });
  const { by, lock_by: _, ...where } = { by: undefined, lock_by: undefined, ...state };
  expect(where).toEqual(place);
  // Only what the environment names is the word of whoever gives the credentials.
  const isGiven = 'CALLSHEET_STATE' in env;
  expect(by).toEqual(isGiven ? 'operator' : expect.objectContaining({ line: 4 }));
});

test('an address of no store is refused, and what it carries is not shown', async () => {
  const env = { CALLSHEET_STATE: 'ftp://u:p4ss@x/y' };
  const failure = await loadGood({}, { env }).catch((error: unknown) => String(error));
  expect(failure).toContain('Callsheet cannot keep a state at ftp://');
  expect(failure).not.toContain('p4ss');
});

test('resources may stand in callsheet.yaml, and organizations are given by name or id', async () => {
  const { resources } = await loadGood({
    'callsheet.yaml': `${MAIN}agents: { a: { name: A }, b: { name: A, organization: bay }, c: { name: C, organization: ${BAY} } }\n`,
  });
  expect(resources.map(({ document }) => document.organization_id)).toEqual([HARBOR, BAY, BAY]);
});

test('files below the folder are read, but not hidden ones, other stacks and what include leaves out', async () => {
  const one = (name: string) => `agents: { ${name}: { name: ${name} } }`;
  const files = {
    'a.yaml': one('a'),
    'deep/er/b.yml': one('b'),
    '.github/x.yaml': one('x'),
    'node_modules/p/x.yaml': one('x'),
    'other/callsheet.yaml': 'callsheet: 1',
    'other/x.yaml': one('x'),
    'notes.txt': one('x'),
  };
  const names = async (main: string) =>
    (await loadGood({ ...files, 'callsheet.yaml': main })).resources.map(({ address }) => address);
  expect(await names(MAIN)).toEqual(['agent.a', 'agent.b']);
  expect(await names(`${MAIN}include: deep/**/*.yml\n`)).toEqual(['agent.b']);
  expect(await names(`${MAIN}include: ["./*.yaml"]\n`)).toEqual(['agent.a']);
});

test('a file of variables that lies in the stack is no file of resources', async () => {
  const dir = folderOf({
    'callsheet.yaml': `${MAIN}variables: { x: {} }\n`,
    'prod.yaml': 'x: 1\n',
  });
  const { diagnostics } = await loadStack({
    dir,
    env: {},
    secrets: 'skip',
    varFiles: [join(dir, 'prod.yaml')],
  });
  expect(diagnostics.map(said)).toEqual([]);
});

test.each([
  ['a folder that does not exist', {}, 'nowhere', /does not exist/],
  ['a file', { 'x.txt': '' }, 'x.txt', /is not a folder/],
  [
    'a folder without callsheet.yaml',
    { 'callsheet.yml': 'callsheet: 1' },
    '.',
    /no callsheet\.yaml/,
  ],
])('%s is no stack', async (_, files, path, message) => {
  const dir = join(folderOf(files), path);
  const { stack, diagnostics } = await loadStack({ dir, env: {}, secrets: 'skip' });
  expect(stack).toBeUndefined();
  expect(diagnostics).toHaveLength(1);
  expect(diagnostics[0]).toMatchObject({ severity: 'error', rule: 'stack/missing' });
  expect(diagnostics[0]?.message).toMatch(message);
});

test('a folder where a file is expected', async () => {
  const { diagnostics } = await load({ 'x.yaml/inner.txt': '' });
  expect(diagnostics).toEqual([]);
  const dir = folderOf({ 'callsheet.yaml/x.txt': '' });
  const main = await loadStack({ dir, env: {}, secrets: 'skip' });
  expect(main.diagnostics.map(said)).toEqual([
    'callsheet.yaml:1:1 file/kind the stack names "callsheet.yaml", which is a folder',
  ]);
});

test('a password in the base address is in no frame, wherever the address stands', async () => {
  const url = 'https://key:pw-of-ours@x.test';
  for (const text of [
    `platform: { base_url: "${url}" }\n`,
    `platform: { base_url: "\${var.u}" }\nvariables: { u: { default: "${url}" } }\n`,
  ]) {
    const { diagnostics } = await load({ 'callsheet.yaml': MAIN + text });
    expect(diagnostics.map(({ rule }) => rule)).toContain('platform/base-url');
    expect(diagnostics[0]?.frame?.length).toBeGreaterThan(0);
    expect(JSON.stringify(diagnostics)).not.toContain('pw-of-ours');
  }
  const { stack } = await load({
    'callsheet.yaml': `${MAIN}platform: { base_url: "http://127.0.0.1:8080" }\n`,
  });
  expect(stack).toBeDefined();
});
