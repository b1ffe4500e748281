import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseCsv } from '../../src/stack/csv.ts';
import { broken, type Files, load, MAIN } from './stack-folder.ts';

const SECRETS = /SUPERSECRET|OTHERSECRET/;

/** Rows with a token that a header's value is made of, and a wrong status, so that frames are drawn around them. */
function stackOf(value: string, csv: string): Files {
  return {
    'agents.yaml': `agents:
  clinic:
    for_each: { $file: rows.csv }
    key: \${each.slug}
    name: \${each.slug}
    status: \${each.status}
    extensions: { tools: [{ type: webhook, name: crm, condition: during_call, method: GET, url: https://crm.test/, headers: [{ key: X-Auth-Token, value: ${value} }] }] }
`,
    'rows.csv': csv,
  };
}

/** Everything that is said of a stack, with the frames. */
async function framesOf(files: Files): Promise<string> {
  const { diagnostics } = await load(files);
  expect(diagnostics).not.toEqual([]);
  return diagnostics.map(({ message, frame }) => `${message}\n${frame}`).join('\n');
}

const TABLES: readonly (readonly [what: string, csv: string])[] = [
  ['a wrong cell beside it', 'slug,status,token\na,wrong,SUPERSECRET\n'],
  [
    'a wrong cell of the next row',
    'slug,status,token\na,active,SUPERSECRET\nb,wrong,OTHERSECRET\n',
  ],
  [
    'a cell with doubled quotes before it',
    'slug,note,token,status\na,"say ""hi""",SUPERSECRET,wrong\n',
  ],
  ['a cell that is a part of it', 'slug,note,token,status\na,cret,SUPERSECRET,wrong\n'],
  ['a quoted secret', 'slug,status,token\na,wrong,"SUPERSECRET ""x"" SUPERSECRET"\n'],
  ['a secret of two lines', 'slug,token,status\na,"SUPERSECRET\nOTHERSECRET",wrong\n'],
  ['a row left out for its key', 'slug,status,token\na,active,SUPERSECRET\na,active,OTHERSECRET\n'],
  ['all rows left out', 'slug,status,token\n,active,SUPERSECRET\n,active,OTHERSECRET\n'],
  ['a row with too few cells', 'slug,status,token\na,SUPERSECRET\nb,active,OTHERSECRET\n'],
  ['a row with too many cells', 'slug,status,token\na,b,active,SUPERSECRET\n'],
  ['an open quote', 'slug,status,token\na,active,SUPERSECRET\nb,"active,OTHERSECRET\n'],
  ['semicolons', 'slug;status;token\na;wrong;SUPERSECRET\n'],
];

describe('a cell that a sensitive field is filled in from is in no frame', () => {
  for (const value of [
    '"${each.token}"',
    '"Bearer ${each.token}"',
    '{ $replace: "${each.token}" }',
  ]) {
    test.each(TABLES)(`${value}: %s`, async (_, csv) => {
      expect(await framesOf(stackOf(value, csv))).not.toMatch(SECRETS);
    });
  }
});

test.each([
  [
    'JSON',
    'rows.json',
    '[{ "slug": "a", "auth": { "token": "SUPERSECRET" } },\n{ "slug": "a", "auth": { "token": "OTHERSECRET" } }]',
  ],
  [
    'JSON that is broken',
    'rows.json',
    '[{ "slug": "a", "auth": { "token": "SUPERSECRET" } },\n{ "slug": ]',
  ],
  [
    'YAML',
    'rows.yaml',
    '- { slug: a, auth: { token: SUPERSECRET } }\n- { slug: a, auth: { token: OTHERSECRET } }\n',
  ],
])('nor is one of %s', async (_, file, text) => {
  const files = stackOf('"Bearer ${each.auth.token}"', '');
  const agents = String(files['agents.yaml'])
    .replace('rows.csv', file)
    .replace(/ +status.*\n/, '');
  expect(await framesOf({ 'agents.yaml': agents, [file]: text })).not.toMatch(SECRETS);
});

test('a column is hidden in all rows where one of its cells looks like a credential', async () => {
  const frames = await framesOf({
    'agents.yaml': `agents:
  clinic:
    for_each: { $file: rows.csv }
    key: \${each.slug}
    name: \${each.slug}
    extensions: { tools: [{ type: webhook, name: crm, condition: during_call, method: GET, url: "\${each.url}" }] }
`,
    'rows.csv': 'slug,url\na,https://u:SUPERSECRET@crm.test/\na,https://u:OTHERSECRET@crm.test/\n',
  });
  expect(frames).not.toMatch(SECRETS);
});

test.each([
  ['used', {}],
  ['overruled', { vars: { tok: 'x' } }],
])(
  'the default of a variable in a sensitive field is in no frame, %s or not',
  async (_, options) => {
    const { diagnostics } = await load(
      {
        'callsheet.yaml': `${MAIN}variables:\n  tok: { default: SUPERSECRET }\n  1: { default: a }\n`,
        ...stackOf('"Bearer ${var.tok}"', 'slug,status\na,active\n'),
      },
      options,
    );
    expect(diagnostics.map(({ frame }) => frame).join('\n')).toMatch(/tok: \{ default: \*\*\* \}/);
  },
);

broken([
  {
    title: 'cells after one with doubled quotes are told where they stand',
    files: stackOf('"${each.token}"', 'slug,note,token,status\na,"say ""hi""",SUPERSECRET,wrong\n'),
    says: [
      'rows.csv:2:16 warning secret/plain-header agent.clinic["a"]: extensions.tools[crm].headers[X-Auth-Token].value looks like a credential written in the configuration',
      'rows.csv:2:28 warning schema/enum agent.clinic["a"]: status is "wrong", which the specification does not have',
    ],
  },
]);

test('each cell stands where it is written', () => {
  const text = 'a,b,c,d\n1,"2 ""x"", y",,"4\n5"\n"",1,1,\n';
  const { rows, problems } = parseCsv({ file: 'rows.csv', text });
  expect(problems).toEqual([]);
  const written = rows.map(({ members }) =>
    [...members.values()].map(({ value: { range } }) => text.slice(range.start, range.end)),
  );
  expect(written).toEqual([
    ['1', '2 ""x"", y', '', '4\n5'],
    ['', '1', '1', ''],
  ]);
});

test('no cell is looked for beyond its row, whatever quotes it has', () => {
  const rows = Array.from({ length: 2_000 }, (_, index) => `${index},"say ""hi""",end`);
  const text = `a,b,c\n${rows.join('\n')}\n`;
  const { indexOf } = String.prototype;
  let steps = 0;
  const spy = vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (
    this: string,
    what: string,
    from = 0,
  ) {
    const at: number = Reflect.apply(indexOf, this, [what, from]);
    steps += (at < 0 ? this.length : at) - from;
    return at;
  });
  onTestFinished(() => spy.mockRestore());
  const table = parseCsv({ file: 'rows.csv', text });
  expect(table.rows).toHaveLength(2_000);
  expect(steps).toBeGreaterThan(0);
  expect(steps).toBeLessThan(4 * text.length);
});
