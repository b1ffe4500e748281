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
  ])('with %s', async (_, csv) => {
    const { resources } = await loadGood(looped(csv));
    expect(resources.map(({ address, document }) => [address, document.name])).toEqual([
      ['agent.clinic["harbor"]', 'Harbor, Bay'],
      ['agent.clinic["oak"]', 'Oak; "Elm"'],
    ]);
  });

  broken([
    {
      title: 'a cell in a column without a name',
      files: looped('slug,name,,\na,A,,x\n'),
      says: ['rows.csv:2:1 csv/row the row has 4 cells, and the first line names 2 columns'],
    },
    {
      title: 'a column without a name between others',
      files: looped('slug,,name\na,,A\n'),
      says: ['rows.csv:1:6 csv/header the column "" cannot be named in ${each.…}'],
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
      says: ['rows.csv:4:5 schema/enum agent.clinic["b"]: status cannot be "actve"'],
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
    },
  ]);
});
