import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderTopic } from '../../src/render/topic.ts';
import { readPage } from '../docs/markdown.ts';
import { linesBeyond } from './fit.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = globSync('docs/{*,reference/**/*}.md', { cwd: ROOT });

function render(text: string, width = 80, color = false): string {
  return renderTopic(text, { width, color, verbose: false }, (href) => `at ${href}`);
}

describe('a page in a terminal', () => {
  test('has headings, paragraphs, lists, code and links', () => {
    const page = [
      '# Start **here**',
      '',
      'A `plan` reads what is live, compares it with the files, and writes nothing. See [the plans](plans.md), or',
      'stay.',
      '',
      '<!-- exit: 4 -->',
      '```console',
      '$ callsheet plan',
      '```',
      '',
      '1. One thing that takes more than a line of the terminal, so that it goes on below.',
      '2. Another.',
      '   - Below it.',
    ].join('\n');
    expect(render(page, 60)).toBe(
      [
        '# Start here',
        '',
        'A `plan` reads what is live, compares it with the files, and',
        'writes nothing. See the plans [at plans.md], or stay.',
        '',
        '  $ callsheet plan',
        '',
        '1. One thing that takes more than a line of the terminal, so',
        '   that it goes on below.',
        '2. Another.',
        '   - Below it.',
        '',
      ].join('\n'),
    );
  });

  test('has colours instead of marks where there are colours', () => {
    expect(render('## Plan\n\nRun `callsheet plan`.', 60, true)).toBe(
      '\x1b[1mPlan\x1b[0m\n\nRun \x1b[1mcallsheet plan\x1b[0m.\n',
    );
  });

  const TABLE = [
    '| guard | says | overridden by |',
    '|---|---|---|',
    '| deletes wait | `held until it is planned with --allow-delete` | `--allow-delete` |',
    '| limits | a share of all | raising it |',
  ].join('\n');

  test('has tables whose cells are broken to the width', () => {
    expect(render(TABLE, 60)).toBe(
      [
        'guard         says                          overridden by',
        '------------------------------------------------------------',
        'deletes wait  `held until it is planned     `--allow-delete`',
        '              with --allow-delete`',
        'limits        a share of all                raising it',
        '',
      ].join('\n'),
    );
  });

  test('has rows apart where the first cell is broken', () => {
    expect(
      render(
        '| what happened | do |\n|---|---|\n| the fleet is gone, or must move to another account | `restore` |\n| died | wait |',
        40,
      ),
    ).toBe(
      [
        'what happened                  do',
        '----------------------------------------',
        'the fleet is gone, or must     `restore`',
        'move to another account',
        '',
        'died                           wait',
        '',
      ].join('\n'),
    );
  });

  test('has a list in the place of a table with too many columns', () => {
    const names = ['one_name', 'another_name', 'some_third_name', 'the_fourth_name'];
    const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
    const page = [row(names), row(names.map(() => '---')), row(names.map((name) => `of_${name}`))];
    expect(render(page.join('\n'), 40)).toBe(
      [
        'of_one_name',
        '  another_name: of_another_name',
        '  some_third_name: of_some_third_name',
        '  the_fourth_name: of_the_fourth_name',
        '',
      ].join('\n'),
    );
  });

  test('has nothing that a terminal would act on', () => {
    expect(render('Bell\x07 and `\x1b[2J`, [a\x9b](b)')).toBe(
      'Bell\\x07 and `\\x1b[2J`, a\\x9b [at b]\n',
    );
  });
});

describe.each(PAGES)('%s', (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const page = readPage(text);

  test.each([40, 80, 120])('fits %i columns, but for code', (width) => {
    const code = new Set(
      page.fences.flatMap((fence) => fence.text.split('\n').map((line) => line.trim())),
    );
    const wide = linesBeyond(render(text, width), width);
    expect(wide.filter((line) => !code.has(line.trim()))).toEqual([]);
  });

  test('loses no word', () => {
    const shown = render(text, 110);
    const words = page.prose
      .filter((line) => !/^(?:<!--|\|[-| ]+\|$)/.test(line))
      .flatMap(
        (line) =>
          line.replace(/\]\([^)]*\)/g, '] ').match(/[\p{L}\p{N}][\p{L}\p{N}_]{2,30}/gu) ?? [],
      );
    expect(words.length).toBeGreaterThan(10);
    expect(words.filter((word) => !shown.includes(word))).toEqual([]);
  });
});
