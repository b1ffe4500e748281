import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FieldSchema } from '../../src/core/schema.ts';
import { kinds } from '../../src/kinds/index.ts';
import sections from '../../src/stack/sections.generated.json' with { type: 'json' };
import { fieldsWith } from './keywords/fields.ts';
import { type Cell, type Keyword, PHASES, TABLE } from './keywords/table.ts';

/** Each fact about fields has a row, and each row says what every phase makes of it (STYLE 30). */

const ROOT = join(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs/contributing/keywords.md');

const KEYWORDS = Object.keys(TABLE) as readonly Keyword[];

/** The facts that the type of a schema has. */
const TYPED = [
  ...readFileSync(join(ROOT, 'src/core/schema.ts'), 'utf8').matchAll(
    /^ {2}readonly '?(readOnly|writeOnly|x-[a-z-]+)'?\?:/gm,
  ),
].map(([, name = '']) => name);

/** The facts that a schema uses, of the kinds or of the settings. */
function factsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(factsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(/^(?:x-|readOnly$|writeOnly$)/.test(name) ? [name] : []),
    ...factsIn(member),
  ]);
}

test('every keyword has a row, and every row a keyword that a schema uses', () => {
  const ofKinds = kinds.flatMap(({ schema }) => factsIn(schema satisfies FieldSchema));
  const known: readonly string[] = KEYWORDS;
  // Settings have their own way with other words; those that they share with fields have rows, too.
  const ofSettings = factsIn(sections).filter((name) => known.includes(name));
  const used = new Set([...ofKinds, ...ofSettings]);
  expect([...TYPED].sort()).toEqual([...KEYWORDS].sort());
  expect([...used].sort()).toEqual([...KEYWORDS].sort());
});

describe.each(KEYWORDS)('%s', (keyword) => {
  const row: { readonly [phase: string]: Cell } = TABLE[keyword];

  test('says something of every phase', () => {
    expect(Object.keys(row)).toEqual([...PHASES]);
    for (const cell of Object.values(row))
      expect(typeof cell === 'string' ? cell : cell.asks).toMatch(/^[\w$].*[\w)]$/);
  });

  for (const phase of PHASES) {
    const cell = row[phase];
    if (cell === undefined || typeof cell === 'string') continue;
    const fields = fieldsWith(keyword).filter((field) => cell.of?.(field) ?? true);
    test(`${phase}: some field shows that ${cell.asks}`, () => {
      expect(fields.length).toBeGreaterThan(0);
    });
    test.each(fields)(`${phase}: ${cell.asks}: $name`, (field) => cell.check(field));
  }
});

test('the page for contributors has the table', () => {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const sections = KEYWORDS.map((keyword) => {
    const rows = PHASES.map((phase) => {
      const cell = TABLE[keyword][phase];
      return line([phase, typeof cell === 'string' ? `– ${cell}` : cell.asks]);
    });
    return [`## ${keyword}`, '', line(['phase', 'asks']), line(['---', '---']), ...rows].join('\n');
  });
  const marks = KEYWORDS.map((keyword) =>
    line([
      `[\`${keyword}\`](#${keyword.toLowerCase()})`,
      ...PHASES.map((phase) => (typeof TABLE[keyword][phase] === 'string' ? '–' : 'asks')),
    ]),
  );
  const page = [
    '<!-- Made by `UPDATE_GOLDEN=1 npx vitest run test/kinds/keywords.test.ts` from `test/kinds/keywords/table.ts`. -->',
    '',
    '# Keywords and phases',
    '',
    'A fact about fields is a keyword of the schemas (`src/core/schema.ts`). Here is what each phase makes of it: where it asks, a test runs for each field that has the keyword; where it does not (–), the reason stands below.',
    '',
    line(['keyword', ...PHASES]),
    line(['---', ...PHASES.map(() => '---')]),
    ...marks,
    '',
    sections.join('\n\n'),
    '',
  ].join('\n');
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});
