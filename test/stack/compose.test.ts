import { describe, expect, test } from 'vitest';
import type { ValueObject } from '../../src/core/value.ts';
import { broken, type Files, loadGood } from './stack-folder.ts';

/** The document of the only agent of a stack, without what every one has. */
async function documentOf(files: Files): Promise<ValueObject> {
  const { resources } = await loadGood(files);
  expect(resources).toHaveLength(1);
  const { organization_id: _, name: __, ...document } = resources[0]?.document ?? {};
  return document;
}

const TOOL = 'type: webhook, condition: during_call, method: GET';

/** Rows of the table that `lay-over.ts` and docs/language.md state. */
const merges: readonly { title: string; base: string; own: string; gives: ValueObject }[] = [
  {
    title: 'a map is merged, member by member',
    base: 'voice_settings: { speed: 1, language: en }',
    own: 'voice_settings: { speed: 1.1 }',
    gives: { voice_settings: { speed: 1.1, language: 'en' } },
  },
  {
    title: 'a value on top wins',
    base: 'greeting_message: Below',
    own: 'greeting_message: Above',
    gives: { greeting_message: 'Above' },
  },
  {
    title: 'null clears the field',
    base: 'greeting_message: Below',
    own: 'greeting_message: null',
    gives: { greeting_message: null },
  },
  {
    title: '$remove leaves nothing of it',
    base: 'greeting_message: Below\n    description: Kept',
    own: 'greeting_message: { $remove: true }',
    gives: { description: 'Kept' },
  },
  {
    title: '$remove reaches into a map',
    base: 'voice_settings: { speed: 1, language: en }',
    own: 'voice_settings: { language: { $remove: true } }',
    gives: { voice_settings: { speed: 1 } },
  },
  {
    title: '$replace does not merge',
    base: 'voice_settings: { speed: 1, language: en }',
    own: 'voice_settings: { $replace: { speed: 1.1 } }',
    gives: { voice_settings: { speed: 1.1 } },
  },
  {
    title: 'a list with identities is merged by them, new elements last',
    base: `extensions: { tools: [{ ${TOOL}, name: a, url: https://a.test/ }, { ${TOOL}, name: b, url: https://b.test/ }] }`,
    own: `extensions: { tools: [{ ${TOOL}, name: c, url: https://c.test/ }, { name: a, url: https://z.test/ }] }`,
    gives: {
      extensions: {
        tools: [
          tool('a', 'https://z.test/'),
          tool('b', 'https://b.test/'),
          tool('c', 'https://c.test/'),
        ],
      },
    },
  },
  {
    title: 'an element is removed by its identity',
    base: `extensions: { tools: [{ ${TOOL}, name: a, url: https://a.test/ }, { ${TOOL}, name: b, url: https://b.test/ }] }`,
    own: 'extensions: { tools: [{ $remove: a }] }',
    gives: { extensions: { tools: [tool('b', 'https://b.test/')] } },
  },
  {
    title: 'a list with identities can be replaced as a whole',
    base: `extensions: { tools: [{ ${TOOL}, name: a, url: https://a.test/ }] }`,
    own: `extensions: { tools: { $replace: [{ ${TOOL}, name: b, url: https://b.test/ }] } }`,
    gives: { extensions: { tools: [tool('b', 'https://b.test/')] } },
  },
];

function tool(name: string, url: string): ValueObject {
  return { type: 'webhook', condition: 'during_call', method: 'GET', name, url };
}

describe('what is laid over a base', () => {
  test.each(merges)('$title', async ({ base, own, gives }) => {
    const files = {
      'agents.yaml': `bases:\n  common:\n    ${base}\nagents:\n  a:\n    base: common\n    name: A\n    ${own}\n`,
    };
    expect(await documentOf(files)).toEqual(gives);
  });
});

test('a base that several stand on is laid once, beneath all of them', async () => {
  const files = {
    'agents.yaml': `bases:
  common: { model: alpha-4.1-mini, voice_settings: { speed: 1 }, description: common }
  a: { base: common, model: alpha-4.1, voice_settings: { $remove: true } }
  b: { base: common, description: b }
agents: { x: { name: A, base: [a, b] } }
`,
  };
  expect(await documentOf(files)).toEqual({ model: 'alpha-4.1', description: 'b' });
});

test.each([
  ['twice', (at: number) => `[b${at}, b${at}]`],
  ['once', (at: number) => `b${at}`],
])('as many bases as one likes may stand on each other %s', async (_, on) => {
  const bases = Array.from(
    { length: 3000 },
    (_, at) => `  b${at + 1}: { base: ${on(at)}, greeting_message: g${at + 1} }\n`,
  );
  const files = {
    'a.yaml': `bases:\n  b0: { description: low }\n${bases.join('')}agents: { a: { name: A, base: b3000 } }\n`,
  };
  expect(await documentOf(files)).toEqual({ description: 'low', greeting_message: 'g3000' });
});

test('bases stand on bases, and of a list the last wins', async () => {
  const files = {
    'bases.yaml': `bases:
  ground: { greeting_message: ground, description: ground, voicemail_message: ground }
  left: { base: ground, greeting_message: left, description: left }
  right: { greeting_message: right }
`,
    'agents.yaml': 'agents: { a: { name: A, base: [left, right] } }\n',
  };
  expect(await documentOf(files)).toEqual({
    greeting_message: 'right',
    description: 'left',
    voicemail_message: 'ground',
  });
});

test('a mistake in a base is told once, at its place, with how many it concerns', async () => {
  const { diagnostics } = await (await import('./stack-folder.ts')).load({
    'agents.yaml': `bases: { fast: { status: asleep } }
agents:
  a: { name: A, base: fast }
  b: { name: B, base: fast }
  c: { name: C, base: fast }
`,
  });
  expect(diagnostics).toHaveLength(1);
  expect(diagnostics[0]).toMatchObject({
    rule: 'schema/enum',
    position: { file: 'agents.yaml', line: 1, column: 26 },
  });
  expect(diagnostics[0]?.message).toMatch(/^agent\.a \(and 2 others\): status is "asleep"/);
});

const MANY = Array.from({ length: 12 }, (_, at) => `b${at}`);

broken([
  {
    title: 'a base that does not exist',
    files: { 'a.yaml': 'bases: { front: {} }\nagents: { a: { name: A, base: frnt } }\n' },
    says: ['a.yaml:2:31 base/unknown the base "frnt" does not exist'],
    hint: 'Did you mean front?',
  },
  {
    title: 'a base that does not exist, where there are too many to list',
    files: {
      'a.yaml': `agents: { a: { name: A, base: night }, b: { name: B, base: [${MANY.join(', ')}] } }\nbases: { ${MANY.map((name) => `${name}: {}`).join(', ')} }\n`,
    },
    says: ['a.yaml:1:31 base/unknown the base "night" does not exist'],
    hint: 'The bases are b0, b1, b2, b3, b4, b5, b6, b7, b8, b9 and 2 more',
  },
  {
    title: 'a base that does not exist, and nothing of what it may have had',
    files: {
      'callsheet.yaml':
        'callsheet: 1\nplatform: { base_url: http://127.0.0.1:1 }\norganizations: { harbor: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 }\n',
      'a.yaml':
        'bases: { clinic: { name: A, organization: harbor, status: active } }\nagents: { a: { base: clinci } }\n',
    },
    says: ['a.yaml:2:22 base/unknown the base "clinci" does not exist'],
  },
  {
    title: 'a base that another one names and that does not exist',
    files: {
      'a.yaml':
        'bases: { clinic: { base: comon } }\nagents: { a: { base: clinic, status: asleep } }\n',
    },
    says: [
      'a.yaml:1:26 base/unknown the base "comon" does not exist',
      'a.yaml:2:38 warning schema/enum agent.a: status is "asleep", which the specification does not have',
    ],
  },
  {
    title: 'a base that does not exist under a table of rows',
    files: {
      'a.yaml':
        'agents: { a: { for_each: [{ n: x }, { n: y }], key: "${each.n}", base: clinci } }\n',
    },
    says: ['a.yaml:1:72 base/unknown the base "clinci" does not exist'],
  },
  {
    title: 'bases in a circle',
    files: {
      'a.yaml':
        'bases: { x: { base: y }, y: { base: [z] }, z: { base: x } }\nagents: { a: { name: A, base: x } }\n',
    },
    says: ['a.yaml:1:55 base/cycle the base x refers to itself: x → y → z → x'],
  },
  {
    title: 'a base that stands on itself, met from two sides',
    files: {
      'a.yaml':
        'bases: { x: { base: y }, y: { base: [y, x] } }\nagents: { a: { name: A, base: x }, b: { name: B, base: y } }\n',
    },
    says: [
      'a.yaml:1:38 base/cycle the base y refers to itself: y → y',
      'a.yaml:1:41 base/cycle the base x refers to itself: x → y → x',
    ],
  },
  {
    title: 'a base that is written twice',
    files: {
      'a.yaml': 'bases: { x: {} }\nagents: { a: { name: A, base: x } }\n',
      'b.yaml': 'bases: { x: {} }\n',
    },
    says: ['b.yaml:1:10 base/duplicate the base x is defined twice, first at a.yaml:1:10'],
  },
  {
    title: 'a base with what only a resource can have',
    files: {
      'a.yaml': 'bases: { x: { for_each: [] } }\nagents: { a: { name: A, base: x } }\n',
    },
    says: ['a.yaml:1:15 base/member the base x has for_each, which only a resource can have'],
  },
  {
    title: 'a name of a base that is none',
    files: { 'a.yaml': 'agents: { a: { name: A, base: [1] }, b: { name: B, base: {} } }\n' },
    says: [
      'a.yaml:1:32 schema/type base must be the name of a base or a list of names, not a number',
      'a.yaml:1:58 schema/type base must be the name of a base or a list of names, not a map',
    ],
  },
  {
    title: 'removing with something else than true',
    files: {
      'a.yaml': `bases: { x: { model: alpha-4.1, description: D, config: { a: 1, b: 2 } } }
agents:
  a:
    base: x
    name: A
    model: { $remove: false }
    description: { $remove: "true" }
    voice_settings: { speed: { $remove: null } }
    config: { a: { $remove: 1 }, b: { $remove: true } }
    extensions: { tools: [{ $remove: {} }, { $remove: null }] }
    integrations: { smsProvider: { auth_token: { $remove: hunter2 } } }
`,
    },
    says: [
      'a.yaml:6:23 form/value agent.a: model needs $remove: true and nothing else',
      'a.yaml:7:29 form/value agent.a: description needs $remove: true and nothing else',
      'a.yaml:8:41 form/value agent.a: voice_settings.speed needs $remove: true and nothing else',
      'a.yaml:9:29 form/value agent.a: config.a needs $remove: true and nothing else',
      'a.yaml:10:38 form/value agent.a: extensions.tools[0] needs $remove: name and nothing else',
      'a.yaml:10:55 form/value agent.a: extensions.tools[1] needs $remove: name and nothing else',
      'a.yaml:11:48 secret/literal agent.a: integrations.smsProvider.auth_token is a secret, and must not be written in the configuration',
    ],
    hint: 'Write { $remove: true }',
  },
  {
    title: 'removing what is not there',
    files: {
      'a.yaml':
        'agents: { a: { name: A, description: { $remove: true }, extensions: { tools: [{ $remove: x }] } } }\n',
    },
    says: [
      'a.yaml:1:25 base/remove agent.a removes description, which no layer below it has',
      'a.yaml:1:79 base/remove agent.a removes x, which no layer below it has',
    ],
  },
]);

describe('what resources have in common is resolved once, and', () => {
  const COMMON = `bases:
  desk:
    system_prompt: { $file: prompt.md }
    transfer_rules: { $template: rules.md }
    greeting_message: Hello from \${each.town}
    extensions: { tools: [{ ${TOOL}, name: crm, friendlyName: CRM, url: https://crm.example.test, headers: [{ key: X-Api-Key, value: { $secret: env:KEY } }] }] }
`;
  const ROWS = `agents:
  clinic:
    for_each: [{ town: Alder }, { town: Birch, rules: Nobody }]
    key: \${each.town}
    base: desk
    name: \${each.town}
    voice_settings: { speed: 1 }
`;
  const texts = { 'prompt.md': 'Be kind.', 'rules.md': 'Rules of ${each.town}.' };

  test('a row has its part where it has one', async () => {
    const { resources, secrets } = await loadGood(
      { 'bases.yaml': COMMON, 'agents.yaml': ROWS, ...texts },
      { env: { KEY: 'x' } },
    );
    const said = resources.map(({ document }) => [
      document.greeting_message,
      document.transfer_rules,
      document.system_prompt,
    ]);
    expect(said).toEqual([
      ['Hello from Alder', 'Rules of Alder.', 'Be kind.'],
      ['Hello from Birch', 'Rules of Birch.', 'Be kind.'],
    ]);
    expect(secrets.map(({ address, path }) => `${address} ${path}`)).toEqual(
      ['Alder', 'Birch'].map(
        (town) => `agent.clinic["${town}"] extensions.tools[crm].headers[X-Api-Key].value`,
      ),
    );
  });
});
