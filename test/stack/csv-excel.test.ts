import { describe, expect, test } from 'vitest';
import { broken, type Files, loadGood } from './stack-folder.ts';

function looped(csv: string | Uint8Array): Files {
  return {
    'agents.yaml': `agents:
  clinic:
    for_each: { $file: rows.csv }
    key: \${each.slug}
    name: \${each.name}
`,
    'rows.csv': csv,
  };
}

function utf16(text: string): Uint8Array {
  return Buffer.from(`\uFEFF${text}`, 'utf16le');
}

describe('a table that a spreadsheet wrote', () => {
  test.each([
    ['semicolons', 'slug;name\r\nharbor;Harbor, Bay\r\noak;"Oak; ""Elm"""\r\n'],
    ['a byte order mark', '\uFEFFslug,name\r\nharbor,"Harbor, Bay"\r\noak,"Oak; ""Elm"""\r\n'],
    [
      'spaces around the names of columns',
      ' slug , name \nharbor,"Harbor, Bay"\noak,"Oak; ""Elm"""\n',
    ],
    ['empty columns at the end', 'slug,name,,\nharbor,"Harbor, Bay",,\noak,"Oak; ""Elm""",,\n'],
    ['empty cells at the end of a row', 'slug,name\nharbor,"Harbor, Bay"\noak,"Oak; ""Elm""",,,\n'],
    ['empty rows', 'slug,name\nharbor,"Harbor, Bay"\n,\noak,"Oak; ""Elm"""\n,\n,\n'],
    [
      'empty columns of semicolons',
      'slug;name;;\nharbor;Harbor, Bay;;\noak;"Oak; ""Elm""";;\n;;;\n',
    ],
    ['tabs', 'slug\tname\r\nharbor\tHarbor, Bay\r\noak\t"Oak; ""Elm"""\r\n'],
    ['a line for Excel', 'sep=;\r\nslug;name\r\nharbor;Harbor, Bay\r\noak;"Oak; ""Elm"""\r\n'],
    [
      'a comma in a heading between semicolons',
      'slug;name;"Hours, notes";Days, times\nharbor;Harbor, Bay;;\noak;"Oak; ""Elm""";;\n',
    ],
    [
      'headings that nothing uses',
      'slug,name,Opening hours,,Größe,notes,notes,a{b}\nharbor,"Harbor, Bay",1,2,3,4,5,6\noak,"Oak; ""Elm""",,,,,,7\n',
    ],
  ])('with %s', async (_, csv) => {
    const { resources } = await loadGood(looped(csv));
    expect(resources.map(({ address, document }) => [address, document.name])).toEqual([
      ['agent.clinic["harbor"]', 'Harbor, Bay'],
      ['agent.clinic["oak"]', 'Oak; "Elm"'],
    ]);
  });

  test.each([
    ['Opening hours', '${each["Opening hours"]}'],
    ['Opening hours', "${each['Opening hours']}"],
    ['  Opening hours ', '${ each["Opening hours"] }'],
    ['"Opening\nhours"', '${each["Opening hours"]}'],
    ['Größe', '${each.Größe}'],
    ['Größe', '${each["Größe"]}'],
    ['Größe'.normalize('NFD'), '${each.Größe}'],
    ['Größe', '${each.Größe}'.normalize('NFD')],
    ['Say ""hi""', '${each[\'Say "hi"\']}', true],
    ["Doctor's name", '${each["Doctor\'s name"]}'],
    ['1st', '${each["1st"]}'],
    ['a.b', '${each["a.b"]}'],
    ['営業時間', '${each.営業時間}'],
  ])('a column %s is %s', async (heading, expression, isQuoted = false) => {
    const header = isQuoted ? `"${heading}"` : heading;
    const { resources, traceOrigin } = await loadGood({
      'agents.yaml': `agents:
  clinic:
    for_each: { $file: rows.csv }
    key: \${each.slug}
    name: |-
      ${expression}
    description: |-
      Open ${expression}.
`,
      'rows.csv': `slug,${header},notes\na,9 to 5,x\n`,
    });
    expect(resources[0]?.document).toMatchObject({
      name: '9 to 5',
      description: 'Open 9 to 5.',
    });
    expect(JSON.stringify(traceOrigin('agent.clinic["a"]', ['name']))).toContain('rows.csv');
  });

  test('a column of rows in YAML and what is inside it have any name', async () => {
    const { resources } = await loadGood({
      'agents.yaml': `agents:
  clinic:
    for_each: { $file: rows.json }
    key: \${each.slug}
    name: \${each["Front desk"]["Full name"]} \${each["Front desk"].short}
`,
      'rows.json': '[{"slug":"a","Front desk":{"Full name":"Harbor","short":"H"}}]',
    });
    expect(resources[0]?.document).toMatchObject({ name: 'Harbor H' });
  });

  broken([
    {
      title: 'a column that is nearly called so',
      files: {
        'agents.yaml':
          'agents: { clinic: { for_each: { $file: rows.csv }, key: "${each.slug}", name: \'${each["Opening hour"]}\' } }\n',
        'rows.csv': 'slug,Opening hours\na,9\n',
      },
      says: [
        'agents.yaml:1:80 for-each/column agent.clinic["a"]: name uses ${each["Opening hour"]}, which rows.csv has no column for',
      ],
      hint: '${each["Opening hours"]}',
    },
    {
      title: 'a cell in a column without a name',
      files: looped('slug,name,,\na,A,,x\n'),
      says: ['rows.csv:2:1 csv/row the row has 4 cells, and the first line names 2 columns'],
    },
    {
      title: 'a mistake in a row behind Windows line ends, shown where it stands',
      files: {
        'agents.yaml': `agents:
  clinic:
    for_each: { $file: rows.csv }
    key: \${each.slug}
    name: \${each.name}
    status: \${each.status}
`,
        'rows.csv': 'slug,name,status\r\na,"A, B",active\r\n\r\nb,B,actve\r\n',
      },
      says: [
        'rows.csv:4:5 warning schema/enum agent.clinic["b"]: status is "actve", which the specification does not have',
      ],
    },
    ...[
      { what: 'UTF-16', bytes: utf16('slug,name\na,A\n') },
      { what: 'UTF-16 without a mark', bytes: Buffer.from('slug,name\na,A\n', 'utf16le') },
      { what: 'Windows-1252', bytes: Buffer.from('slug,name\na,Zürich\n', 'latin1') },
    ].map(({ what, bytes }) => ({
      title: `a file that is ${what}`,
      files: looped(bytes),
      says: [
        'agents.yaml:3:24 file/encoding agent.clinic: for_each names "rows.csv", which is not UTF-8 text',
      ],
      hint: 'Save it as CSV UTF-8',
    })),
    {
      title: 'a decimal comma',
      files: {
        ...looped('slug;name;speed\na;A;1,1\n'),
        'agents.yaml':
          'agents: { clinic: { for_each: { $file: rows.csv }, key: "${each.slug}", name: "${each.name}", voice_settings: { speed: "${each.speed}" } } }\n',
      },
      says: [
        'rows.csv:2:5 schema/type agent.clinic["a"]: voice_settings.speed must be a number, not text',
      ],
      hint: '1.1',
    },
  ]);
});
