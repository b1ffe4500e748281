import { describe, expect, test } from 'vitest';
import { broken, type Files, load, loadGood, MAIN, said } from './stack-folder.ts';

const LOOP = `agents:
  clinic:
    for_each: { $file: rows.csv }
    key: \${each.slug}
    name: \${each.name}
`;

function looped(csv: string, ...more: readonly string[]): Files {
  return { 'agents.yaml': LOOP + more.map((line) => `    ${line}\n`).join(''), 'rows.csv': csv };
}

/** The same two rows, written in each way in which rows can be written. */
const tables: readonly (readonly [name: string, forEach: string, files: Files])[] = [
  ['CSV', '{ $file: rows.csv }', { 'rows.csv': 'slug,name\nharbor,Harbor\noak,Oak\n' }],
  [
    'CSV with Windows line endings, quotes and empty lines',
    '{ $file: rows.csv }',
    { 'rows.csv': 'slug,name\r\n"harbor","Harbor"\r\n\r\noak,Oak\r\n' },
  ],
  [
    'JSON',
    '{ $file: data/rows.json }',
    { 'data/rows.json': '[{"slug":"harbor","name":"Harbor"},{"slug":"oak","name":"Oak"}]' },
  ],
  [
    'YAML in the stack, its path written otherwise',
    '{ $file: ./data//./rows.yaml }',
    { 'data/rows.yaml': '- { slug: harbor, name: Harbor }\n- { slug: oak, name: Oak }\n' },
  ],
  [
    'YAML among the files of the stack',
    '{ $file: rows.yaml }',
    { 'rows.yaml': '- { slug: harbor, name: Harbor }\n- { slug: oak, name: Oak }\n' },
  ],
  ['rows in place', '[{ slug: harbor, name: Harbor }, { slug: oak, name: Oak }]', {}],
];

describe('rows from', () => {
  test.each(tables)('%s', async (_, forEach, files) => {
    const { resources } = await loadGood({
      'agents.yaml': `agents:\n  clinic: { for_each: ${forEach}, key: "\${each.slug}", name: "\${each.name}" }\n`,
      ...files,
    });
    expect(resources.map(({ address, document }) => [address, document.name])).toEqual([
      ['agent.clinic["harbor"]', 'Harbor'],
      ['agent.clinic["oak"]', 'Oak'],
    ]);
  });
});

test('rows of a map have its keys, and rows of plain values are ${each.value}', async () => {
  const { resources } = await loadGood({
    'agents.yaml': `agents:
  map: { for_each: { harbor: { city: Bay }, oak: { city: Elm } }, name: "\${each.key} of \${each.city}" }
  list: { for_each: [1, two], key: "\${each.value}", name: "No \${each.value}" }
`,
  });
  expect(resources.map(({ address, document }) => [address, document.name])).toEqual([
    ['agent.list["1"]', 'No 1'],
    ['agent.list["two"]', 'No two'],
    ['agent.map["harbor"]', 'harbor of Bay'],
    ['agent.map["oak"]', 'oak of Elm'],
  ]);
});

test('a cell becomes what its field takes, and an empty one gives way to the base', async () => {
  const { resources } = await loadGood({
    'agents.yaml': `bases: { common: { greeting_message: Hello, voice_settings: { speed: 1 } } }
agents:
  clinic:
    for_each: { $file: rows.csv }
    key: \${each.slug}
    base: common
    name: \${each.slug}
    greeting_message: \${each.greeting}
    voice_settings: { speed: "\${each.speed}" }
    description: Of \${each.greeting}!
`,
    'rows.csv': 'slug,greeting,speed\na,Good day,1.1\nb,,\n',
  });
  expect(
    resources.map(({ document: { greeting_message, voice_settings, description } }) => ({
      greeting_message,
      voice_settings,
      description,
    })),
  ).toEqual([
    {
      greeting_message: 'Good day',
      voice_settings: { speed: 1.1 },
      description: 'Of Good day!',
    },
    { greeting_message: 'Hello', voice_settings: { speed: 1 }, description: 'Of !' },
  ]);
});

test('a cell of JSON can be a list or a map, and nothing in a cell is filled in', async () => {
  const { resources } = await loadGood({
    'callsheet.yaml':
      'callsheet: 1\norganization: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11\nvariables: { x: { default: filled } }\n',
    'agents.yaml': `agents:
  clinic:
    for_each: { $file: rows.json }
    key: \${each.slug}
    name: \${each.slug}
    greeting_message: \${each.text}
    description: It says \${each.text}
    voice_settings: \${each.voice}
`,
    'rows.json': '[{"slug":"a","text":"a ${var.x} b","voice":{"speed":1.1}}]',
  });
  expect(resources[0]?.document).toMatchObject({
    greeting_message: 'a ${var.x} b',
    description: 'It says a ${var.x} b',
    voice_settings: { speed: 1.1 },
  });
});

test('a form is left out where its cell is empty', async () => {
  const { resources } = await loadGood({
    ...looped('slug,name,prompt\na,A,p.md\nb,B,\n', 'system_prompt: { $file: "${each.prompt}" }'),
    'p.md': 'Be kind.',
  });
  expect(resources.map(({ document }) => document.system_prompt)).toEqual(['Be kind.', undefined]);
});

test('a row stands where its table has it, and its values too', async () => {
  const { resources } = await loadGood(looped('slug,name\n\na,"A ""x"""\nb,B\n'));
  expect(
    resources.map(({ position, locate }) => [position, locate('name')].map((at) => at?.line)),
  ).toEqual([
    [3, 3],
    [4, 4],
  ]);
  expect(resources[1]?.locate('name')).toEqual({ file: 'rows.csv', line: 4, column: 3 });
});

test('a row can refer to the resource of its own row', async () => {
  const { resources } = await loadGood(
    looped(
      'slug,name\na,A\n',
      'default_retry_policy_id: { $ref: \'retry_policy.p["${each.slug}"]\' }',
    ),
  ).catch(async () => ({ resources: [] }));
  expect(resources).toEqual([]);
  const { resources: whole } = await loadGood({
    ...looped(
      'slug,name\na,A\n',
      'default_retry_policy_id: { $ref: \'retry_policy.p["${each.slug}"]\' }',
    ),
    'policies.yaml': `retry_policies:
  p: { for_each: { $file: rows.csv }, key: "\${each.slug}", name: "\${each.name}", rules: {}, on_exhausted: end }
`,
  });
  expect(whole.find(({ kind }) => kind === 'agent')?.references).toEqual(['retry_policy.p["a"]']);
});

test('no rows are an error, unless that is allowed in so many words', async () => {
  const { diagnostics } = await load(looped('slug,name\n'));
  expect(diagnostics.map(said)).toEqual([
    'agents.yaml:3:5 for-each/empty agent.clinic: for_each has no rows: rows.csv is empty',
  ]);
  expect(diagnostics[0]?.hint).toContain('allow_empty: true');
  expect((await loadGood(looped('slug,name\n', 'allow_empty: true'))).resources).toEqual([]);
});

broken([
  ...['agents: { b: { name: B } }', 'bases: {}', 'moved: []', 'forget: []'].map((text) => ({
    title: `rows in a file of the stack: ${text}`,
    files: {
      'a.yaml':
        'agents: { a: { name: A, for_each: { $file: ./data//b.yaml }, key: "${each.key}" } }\n',
      'data/b.yaml': `${text}\n`,
    },
    says: [
      `a.yaml:1:44 for-each/file agent.a: for_each reads ./data//b.yaml, which is a file of the stack itself: it has ${text.split(':')[0]}`,
    ],
    hint: 'Put the rows into a file of their own',
  })),
  {
    title: 'rows in the file that asks for them',
    files: {
      'a.yaml':
        'agents: { a: { name: A, for_each: { $file: a.yaml }, key: "${each.key}" }, b: { name: B, status: asleep } }\n',
    },
    says: [
      'a.yaml:1:44 for-each/file agent.a: for_each reads a.yaml, which is a file of the stack itself: it has agents',
      'a.yaml:1:98 warning schema/enum agent.b: status is "asleep", which the specification does not have',
    ],
  },
  {
    title: 'rows in callsheet.yaml',
    files: {
      'a.yaml':
        'agents: { a: { name: A, for_each: { $file: callsheet.yaml }, key: "${each.key}" } }\n',
    },
    says: [
      'a.yaml:1:44 for-each/file agent.a: for_each reads callsheet.yaml, which is a file of the stack itself: it has callsheet',
    ],
  },
  {
    title: 'rows in a file of the stack, for an environment that is not chosen',
    files: {
      'callsheet.yaml': `${MAIN}environments: { s: { patches: { agent.a: { for_each: { $file: b.yaml } } } } }\n`,
      'a.yaml': 'agents: { a: { name: A, for_each: [x], key: "${each.value}" } }\n',
      'b.yaml': 'agents: { b: { name: B, status: asleep } }\n',
    },
    says: [
      'b.yaml:1:33 warning schema/enum agent.b: status is "asleep", which the specification does not have',
      'callsheet.yaml:4:63 for-each/file callsheet.yaml: environments.s.patches.agent.a: for_each reads b.yaml, which is a file of the stack itself: it has agents',
    ],
  },
  {
    title: 'a table that is empty to the last byte',
    files: looped(''),
    says: ['agents.yaml:3:5 for-each/empty agent.clinic: for_each has no rows: rows.csv is empty'],
  },
  {
    title: 'a repeated key',
    files: looped('slug,name\na,A\nb,B\na,C\n'),
    says: [
      'rows.csv:4:1 for-each/duplicate-key agent.clinic: for_each has two rows whose key is "a", the first at rows.csv:2:1',
    ],
  },
  {
    title: 'a row without a key',
    files: looped('slug,name\n,A\n'),
    says: ['rows.csv:2:1 for-each/key agent.clinic has a row without a key'],
  },
  {
    title: 'a column that does not exist',
    files: looped('slug,name\na,A\n', 'description: "${each.nmae}!"'),
    says: [
      'agents.yaml:6:19 for-each/column agent.clinic["a"]: description uses ${each.nmae}, which rows.csv has no column for',
    ],
    hint: 'Did you mean ${each.name}?',
  },
  {
    title: 'a cell that does not fit its field, told at the cell',
    files: looped(
      'slug,name,speed,status\na,A,fast,active\nb,B,1,asleep\n',
      'voice_settings: { speed: "${each.speed}" }',
      'status: ${each.status}',
    ),
    says: [
      'rows.csv:2:5 schema/type agent.clinic["a"]: voice_settings.speed must be a number, not text',
      'rows.csv:3:7 warning schema/enum agent.clinic["b"]: status is "asleep", which the specification does not have',
    ],
  },
  {
    title: 'rows with too many and too few cells',
    files: looped('slug,name\na,A,x\nb\n'),
    says: [
      'rows.csv:2:1 csv/row the row has 3 cells, and the first line names 2 columns',
      'rows.csv:3:1 csv/row the row has 1 cell, and the first line names 2 columns',
    ],
  },
  {
    title: 'a quote that is never closed',
    files: looped('slug,name\na,"A\n'),
    says: ['rows.csv:2:1 csv/syntax a quote is opened and never closed'],
  },
  {
    title: 'a column whose name another has, where it is used',
    files: looped('slug,name,name,notes,notes\na,A,B,C,D\n'),
    says: [
      'agents.yaml:5:11 for-each/column agent.clinic["a"]: name uses ${each.name}, and rows.csv has several columns of that name',
    ],
  },
  {
    title: 'for_each without a key, and a key without for_each',
    files: {
      'a.yaml':
        'agents: { a: { name: A, for_each: [1] }, b: { name: B, key: x, allow_empty: true } }\n',
    },
    says: [
      'a.yaml:1:25 for-each/key agent.a has for_each and no key',
      'a.yaml:1:56 for-each/missing agent.b has key and no for_each',
      'a.yaml:1:64 for-each/missing agent.b has allow_empty and no for_each',
    ],
  },
  {
    title: 'rows that are none',
    files: {
      'a.yaml':
        'agents:\n  a: { name: A, key: x, for_each: 7 }\n  b: { name: B, key: x, for_each: { $file: x.txt } }\n  c: { name: C, key: x, for_each: { $file: gone.csv } }\n  d: { name: D, key: "${each.value}", for_each: [[1]] }\n',
      'x.txt': 'a',
    },
    says: [
      'a.yaml:2:35 for-each/rows agent.a: for_each takes a list of rows, a map of rows or { $file: … }, not a number',
      'a.yaml:3:44 for-each/file agent.b: for_each reads x.txt, whose name does not show its format',
      'a.yaml:4:44 file/missing agent.c: for_each names "gone.csv", which does not exist',
      'a.yaml:5:39 for-each/empty agent.d: for_each has no rows',
      'a.yaml:5:50 for-each/rows agent.d: for_each has a row in for_each that is a list',
    ],
  },
  {
    title: 'forms that no rows can have, and typos in the one that they can',
    files: {
      'a.yaml': `agents:
  a: { name: A, for_each: { $fil: x.csv } }
  b: { name: B, for_each: { $file: x.csv, sheet: 1 } }
  c: { name: C, for_each: { $ref: agent.a } }
  d: { name: D, for_each: { $secret: env.ROWS } }
  e: { name: E, for_each: { $template: x.csv, with: { a: 1 } } }
  f: { name: F, for_each: { $file: rows.json } }
  g: { name: G, key: x, for_each: [{ $file: x.csv }], allow_empty: true }
  h: { name: H, for_each: { $schema: { a: 1 }, b: { a: 1 } } }
`,
      'x.csv': 'a\n1\n',
      'rows.json': '{ "$fil": "x.csv" }',
    },
    says: [
      'a.yaml:2:29 form/unknown agent.a: for_each has the unknown form $fil',
      'a.yaml:3:43 form/mixed agent.b: for_each has sheet next to $file',
      'a.yaml:4:29 for-each/rows agent.c: for_each cannot be given as $ref',
      'a.yaml:5:29 for-each/rows agent.d: for_each cannot be given as $secret',
      'a.yaml:6:29 for-each/rows agent.e: for_each cannot be given as $template',
      'a.yaml:8:36 for-each/rows agent.g: for_each has a row in for_each that is a form',
      'a.yaml:9:29 form/unknown agent.h: for_each has the unknown form $schema',
      'rows.json:1:3 form/unknown agent.f: for_each has the unknown form $fil',
    ],
    hint: 'Did you mean $file?',
  },
  {
    title: '${each.…} where there are no rows',
    files: { 'a.yaml': 'agents: { a: { name: A, description: "${each.city}" } }\n' },
    says: [
      'a.yaml:1:39 for-each/each agent.a: description uses ${each.city}, and the resource has no for_each',
    ],
  },
  {
    title: 'a list in the middle of a text',
    files: {
      'a.yaml':
        'agents: { a: { name: A, key: x, for_each: [{ tags: [1] }], description: "x ${each.tags}" } }\n',
    },
    says: [
      'a.yaml:1:76 for-each/cell agent.a["x"]: description uses ${each.tags} inside a text, but its value is a list',
    ],
  },
  {
    title: 'a reference to a resource that has rows',
    files: {
      'a.yaml': `agents: { a: { name: A, default_retry_policy_id: { $ref: retry_policy.p } } }
retry_policies: { p: { for_each: [x], key: "\${each.value}", name: "\${each.value}", rules: {}, on_exhausted: end } }
`,
    },
    says: [
      'a.yaml:1:58 ref/unknown agent.a: default_retry_policy_id refers to retry_policy.p, which does not exist',
    ],
    hint: 'retry_policy.p["x"]',
  },
]);

test('a file is read once, and a template filled in once for each row that takes it', async () => {
  const texts: (readonly [from: string, characters: number])[] = [];
  const { resources } = await loadGood(
    {
      ...looped('slug,name\nharbor,Harbor\noak,Oak\n', 'system_prompt: { $template: desk.md }'),
      'plain.yaml': 'agents: { plain: { name: Plain, system_prompt: { $template: all.md } } }\n',
      'desk.md': 'You answer for ${each.name}.',
      'all.md': 'You answer for all.',
    },
    { onText: (characters, from) => texts.push([from, characters]) },
  );
  const filled = resources.map(({ document }) => String(document.system_prompt));
  expect(filled).toEqual(['You answer for Harbor.', 'You answer for Oak.', 'You answer for all.']);
  const counts = Map.groupBy(texts, ([from]) => from);
  expect(counts.get('template')?.map(([, characters]) => characters)).toEqual([22, 19]);
  // callsheet.yaml, both files of agents, the table and both templates.
  expect(counts.get('file')).toHaveLength(6);
});
