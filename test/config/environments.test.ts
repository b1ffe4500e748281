import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BAY, broken, HARBOR, load, loadGood, MAIN, said } from './stack-folder.ts';

const FILES = {
  'callsheet.yaml': `${MAIN}platform: { base_url: "\${var.base_url}" }
variables: { base_url: { default: https://live.example.test }, hello: { default: Hello } }
guards: { max_delete: 5, max_change_percent: 30 }
environments:
  staging:
    organization: bay
    variables: { base_url: { default: https://staging.example.test } }
    guards: { max_delete: 50 }
    patches:
      agent: { description: Staging }
      agent.clinic: { greeting_message: All rows }
      agent.clinic["b"]: { greeting_message: Only b }
  small:
    patches:
      agent.clinic: { for_each: [a] }
`,
  'agents.yaml': `agents:
  desk: { name: Desk, greeting_message: "\${var.hello}", description: Live }
  clinic: { for_each: [a, b], key: "\${each.value}", name: "Clinic \${each.value}", greeting_message: Row }
`,
};

async function inEnvironment(environment: string | undefined) {
  const stack = await loadGood(FILES, { environment });
  return {
    base: stack.platform.base_url,
    guards: stack.guards,
    state: stack.state.file.slice(stack.dir.length + 1),
    agents: stack.resources.map(({ address, document }) => [
      address,
      document.organization_id,
      document.greeting_message,
      document.description ?? null,
    ]),
  };
}

test('without one the stack is what it is', async () => {
  expect(await inEnvironment(undefined)).toEqual({
    base: 'https://live.example.test',
    guards: { max_delete: 5, max_change_percent: 30 },
    state: join('.callsheet', 'state.json'),
    agents: [
      ['agent.clinic["a"]', HARBOR, 'Row', null],
      ['agent.clinic["b"]', HARBOR, 'Row', null],
      ['agent.desk', HARBOR, 'Hello', 'Live'],
    ],
  });
});

test('one lays its settings and patches over, the widest patch first', async () => {
  expect(await inEnvironment('staging')).toEqual({
    base: 'https://staging.example.test',
    guards: { max_delete: 50, max_change_percent: 30 },
    state: join('.callsheet', 'staging', 'state.json'),
    agents: [
      ['agent.clinic["a"]', BAY, 'All rows', 'Staging'],
      ['agent.clinic["b"]', BAY, 'Only b', 'Staging'],
      ['agent.desk', BAY, 'Hello', 'Staging'],
    ],
  });
});

test('one can have rows of its own', async () => {
  const { agents } = await inEnvironment('small');
  expect(agents.map(([address]) => address)).toEqual(['agent.clinic["a"]', 'agent.desk']);
});

test('each says something else to the digest', async () => {
  const digests = await Promise.all(
    [undefined, 'staging', 'small'].map(
      async (environment) => (await loadGood(FILES, { environment })).digest,
    ),
  );
  expect(new Set(digests).size).toBe(3);
});

describe('what is wrong in one', () => {
  test('a name that does not exist', async () => {
    const { diagnostics, stack } = await load(FILES, { environment: 'stagin' });
    expect(stack).toBeUndefined();
    expect(diagnostics.map(said)).toEqual([
      'callsheet.yaml:7:1 environment/unknown --env stagin: callsheet.yaml has no such environment',
    ]);
    expect(diagnostics[0]?.hint).toBe('Did you mean staging?');
  });

  test('a state that the others would share', async () => {
    const files = {
      'callsheet.yaml': `${MAIN}state: { file: state.json }\nenvironments: { a: {}, b: { state: { file: b.json } } }\n`,
    };
    const { diagnostics } = await load(files, { environment: 'a' });
    expect(diagnostics.map(said)).toEqual([
      'callsheet.yaml:4:1 environment/state callsheet.yaml: environment a would share its state with the others',
    ]);
    expect((await loadGood(files, { environment: 'b' })).state.file).toMatch(/b\.json$/);
  });

  test('a patch that meets nothing, and one that breaks a limit', async () => {
    const { diagnostics } = await load(
      {
        'callsheet.yaml': `${MAIN}environments:\n  a:\n    patches:\n      agent.dekk: {}\n      agent.desk: { status: asleep }\n`,
        'agents.yaml': 'agents: { desk: { name: Desk } }\n',
      },
      { environment: 'a' },
    );
    expect(diagnostics.map(said)).toEqual([
      'callsheet.yaml:7:7 environment/patch environment a patches agent.dekk, which is no resource of the stack',
      'callsheet.yaml:8:29 schema/enum agent.desk: status cannot be "asleep"',
    ]);
  });
});

broken([
  {
    title: 'no environment where only environments have an organization',
    files: {
      'callsheet.yaml': `callsheet: 1\norganizations: { harbor: ${HARBOR} }\nenvironments: { live: { organization: harbor }, test: { organization: harbor } }\n`,
      'agents.yaml': 'agents: { a: { name: A } }\n',
    },
    says: ['agents.yaml:1:11 organization/missing agent.a belongs to no organization'],
    hint: 'Choose an environment with --env (live, test)',
  },
  {
    title: 'settings of an environment that is not chosen',
    files: {
      'callsheet.yaml': `${MAIN}environments:\n  a: { guards: { max_delet: 1 }, stat: {} }\n  b: { platform: { base_url: ftp://x } }\n  c: 7\n`,
    },
    says: [
      'callsheet.yaml:5:18 schema/unknown-key callsheet.yaml: environments.a.guards has no field "max_delet"',
      'callsheet.yaml:5:34 schema/unknown-key callsheet.yaml: environments.a has no field "stat"',
      'callsheet.yaml:6:30 schema/pattern callsheet.yaml: environments.b.platform.base_url must begin with http:// or https://',
      'callsheet.yaml:7:6 schema/type callsheet.yaml: environments.c must be a map, not a number',
    ],
  },
  {
    title: 'environments in another file',
    files: { 'x.yaml': 'environments: {}\n' },
    says: ['x.yaml:1:1 stack/misplaced environments belongs in callsheet.yaml'],
  },
]);
