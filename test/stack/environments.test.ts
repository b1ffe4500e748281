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
    state: 'file' in stack.state && stack.state.file.slice(stack.dir.length + 1),
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
    for (const environment of [undefined, 'a', 'b']) {
      const { diagnostics } = await load(files, { environment });
      expect(diagnostics.map(said)).toEqual([
        'callsheet.yaml:4:1 environment/state callsheet.yaml: environment a would share its state with the stack without --env',
      ]);
    }
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
      'callsheet.yaml:7:7 environment/patch environment a patches agent.dekk, which is not a resource of the stack',
      'callsheet.yaml:8:29 warning schema/enum agent.desk: status is "asleep", which the specification does not have',
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
  ...['patches: 5', 'patches: null', 'patches: [agent]'].map((patches) => ({
    title: `${patches} of an environment that is not chosen`,
    files: { 'callsheet.yaml': `${MAIN}environments: { a: { ${patches} } }\n` },
    says: [
      `callsheet.yaml:4:31 schema/type callsheet.yaml: environments.a.patches must be a map of addresses, not ${
        { 'patches: 5': 'a number', 'patches: null': 'null' }[patches] ?? 'a list'
      }`,
    ],
  })),
  ...[undefined, 'a'].map((environment) => ({
    title: `patches that are no maps, with --env ${environment}`,
    files: {
      'callsheet.yaml': `${MAIN}environments:\n  a:\n    patches:\n      agent: 5\n      agent.x: null\n      agent.y:\n`,
      'agents.yaml': 'agents: { x: { name: X }, y: { name: Y } }\n',
    },
    options: { environment },
    says: [
      'callsheet.yaml:7:14 schema/type callsheet.yaml: environments.a.patches.agent must be a map of fields, not a number',
      'callsheet.yaml:8:16 schema/type callsheet.yaml: environments.a.patches.agent.x must be a map of fields, not null',
      'callsheet.yaml:9:7 schema/empty callsheet.yaml: environments.a.patches.agent.y has no value',
    ],
  })),
  ...[undefined, 'a'].map((environment) => ({
    title: `a patch for one row that says how rows are made, with --env ${environment}`,
    files: {
      'callsheet.yaml': `${MAIN}environments:\n  a:\n    patches:\n      agent.x["h"]: { base: b, for_each: [h], key: k, description: D }\n`,
      'agents.yaml':
        'bases: { b: {} }\nagents: { x: { name: X, for_each: [h], key: "${each.value}" } }\n',
    },
    options: { environment },
    says: [
      ...['23 base', '32 for_each', '47 key'].map((at) => {
        const [column, member] = at.split(' ');
        return `callsheet.yaml:7:${column} environment/patch callsheet.yaml: environments.a patches agent.x["h"] with ${member}, which one row cannot have`;
      }),
    ],
    hint: 'Write it in the resource, or in a patch for all rows: agent.x',
  })),
  {
    title: 'a patch that takes the rows away',
    files: {
      'callsheet.yaml': `${MAIN}environments: { a: { patches: { agent.x: { for_each: { $remove: true } } } } }\n`,
      'agents.yaml': 'agents: { x: { name: X, for_each: [h], key: "${each.value}" } }\n',
    },
    options: { environment: 'a' },
    says: ['callsheet.yaml:4:56 for-each/rows agent.x: for_each cannot be given as $remove'],
    hint: 'in every environment or in none',
  },
  ...[undefined, '../..', 'a'].map((environment) => ({
    title: `names that are paths, with --env ${environment}`,
    files: { 'callsheet.yaml': `${MAIN}environments: { "../..": {}, "": {}, a: {}, a/b: {} }\n` },
    options: { environment },
    says: [
      ...(environment === '../..'
        ? ['environment/name --env ../..: this is not a valid name for an environment']
        : []),
      'callsheet.yaml:4:17 environment/name callsheet.yaml: environments has "../..", which is not a valid name for an environment',
      'callsheet.yaml:4:30 environment/name callsheet.yaml: environments has "", which is not a valid name for an environment',
      'callsheet.yaml:4:45 environment/name callsheet.yaml: environments has "a/b", which is not a valid name for an environment',
    ],
    hint: 'Use letters, digits, _ and -, and begin with a letter',
  })),
]);

describe('a state that two have', () => {
  const shares = (at: string, name: string, other: string) =>
    `callsheet.yaml:${at} environment/state callsheet.yaml: environment ${name} would share its state with ${other}`;
  const stack = 'the stack without --env';
  test.each<readonly [title: string, text: string, ...says: readonly string[]]>([
    [
      'an empty state over one of the stack',
      'state: { file: s.json }\nenvironments: { s: { state: {} } }',
      shares('5:22', 's', stack),
    ],
    [
      'the same file, written otherwise',
      'state: { file: s.json }\nenvironments: { s: { state: { file: ./x/../s.json } } }',
      shares('5:37', 's', stack),
    ],
    [
      'two environments',
      'environments: { s: { state: { file: s.json } }, t: { state: { file: ./s.json } } }',
      shares('4:69', 't', 'environment s'),
    ],
    [
      'that of the stack, which it does not name',
      'environments: { s: { state: { file: .callsheet/state.json } } }',
      shares('4:37', 's', stack),
    ],
    [
      'that of another environment, which that does not name',
      'environments: { s: { state: { file: .callsheet/t/state.json } }, t: {} }',
      shares('4:66', 't', 'environment s'),
    ],
    [
      'the same address',
      'state: { http: { address: "https://s.example.test/a" } }\nenvironments: { s: { state: { http: { username: u } } } }',
      shares('5:22', 's', stack),
    ],
    [
      'a database of several stacks',
      'state: { postgres: { url: "postgres://u@db/x", stack: a } }\nenvironments: { s: { state: { postgres: { stack: b } } } }',
    ],
    [
      'addresses of their own',
      'state: { http: { address: "https://s.example.test/a" } }\nenvironments: { s: { state: { http: { address: "https://s.example.test/b" } } } }',
    ],
    [
      'a file and an address',
      'state: { file: s.json }\nenvironments: { s: { state: { file: { $remove: true }, http: { address: "https://s.example.test/b" } } } }',
    ],
    [
      'files of their own',
      'state: { file: s.json }\nenvironments: { s: { state: { file: t.json } }, t: { state: { $remove: true } }, u: { state: { file: { $remove: true } } } }',
    ],
    [
      'the same file, in place of what the stack says',
      'environments: { s: { state: { $replace: { file: s.json } } }, t: { state: { file: { $replace: s.json } } } }',
      shares('4:95', 't', 'environment s'),
    ],
    [
      'the same database, in place of another',
      'state: { postgres: { url: "postgres://u@db/x", stack: a } }\nenvironments: { s: { state: { postgres: { stack: { $replace: a } } } } }',
      shares('5:22', 's', stack),
    ],
    [
      'others in place of what the stack says',
      'state: { postgres: { url: "postgres://u@db/x", stack: a } }\nenvironments: { s: { state: { $replace: { file: s.json } } }, t: { state: { postgres: { stack: { $replace: t } } } } }',
    ],
    [
      'what only variables tell',
      'state: { file: s.json }\nvariables: { v: { default: s } }\nenvironments: { s: { state: { file: "${var.v}.json" } } }',
    ],
  ])('%s', async (_, text, ...says) => {
    for (const environment of [undefined, 's']) {
      const { diagnostics } = await load({ 'callsheet.yaml': `${MAIN}${text}\n` }, { environment });
      expect(diagnostics.map(said)).toEqual(says);
    }
  });
});

test.each(['environments.other.patches.agent.x', 'agents.x'])(
  'a base that %s uses is used in every environment',
  async (where) => {
    const isPatch = where.startsWith('environments');
    const files = {
      'callsheet.yaml': `${MAIN}environments: { other: { patches: { agent.x: { base: ${isPatch ? 'b' : 'c'} } } }, none: {} }\n`,
      'agents.yaml': `bases: { b: { base: ground }, ground: {}, c: {} }\nagents: { x: { name: X, base: ${isPatch ? 'c' : 'b'} } }\n`,
    };
    for (const environment of [undefined, 'none', 'other']) await loadGood(files, { environment });
  },
);
