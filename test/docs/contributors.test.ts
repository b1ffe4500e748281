import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = globSync('{CONTRIBUTING.md,docs/{contributing,decisions}/*.md}', { cwd: ROOT });
const DECISIONS = globSync('docs/decisions/*.md', { cwd: ROOT }).sort();

/** Files of the repository where a decision may be named by its number. */
const NAMING = globSync(
  '{*.md,{docs,examples}/**/*.md,{src,test,scripts,bench,mutation}/**/*.{ts,tsx,mjs}}',
  { cwd: ROOT },
);

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

test.each(PAGES)('every file that %s names is there', (page) => {
  const named = textOf(page).matchAll(
    /`((?:src|test|scripts|bench|schemas|docs|\.ci)\/[\w./-]+)`/g,
  );
  expect(
    [...named].flatMap(([, path = '']) => (existsSync(join(ROOT, path)) ? [] : [path])),
  ).toEqual([]);
});

test('decisions are numbered from 1 without a gap, and say their number', () => {
  const headings = DECISIONS.map((file) => /^# (\d+)\. /.exec(textOf(file))?.[1]);
  expect(headings).toEqual(DECISIONS.map((_, index) => String(index + 1)));
  expect(DECISIONS.map((file) => Number(/\/(\d{4})-/.exec(file)?.[1]))).toEqual(
    headings.map(Number),
  );
});

test('a decision that is named by its number is there', () => {
  const wrong = NAMING.flatMap((file) =>
    [...textOf(file).matchAll(/\bdecisions?[ /](\d{1,4})\b/gi)].flatMap(([words, number]) =>
      DECISIONS[Number(number) - 1] === undefined ? [`${file}: ${words}`] : [],
    ),
  );
  expect(wrong).toEqual([]);
});

test('a link that says the number of a decision leads to that one', () => {
  const wrong = NAMING.flatMap((file) =>
    [
      ...textOf(file).matchAll(/\[(?:decision )?(\d+)\]\([^)]*?(\d{4})-[\w-]+\.md[^)]*\)/gi),
    ].flatMap(([link, said, meant]) =>
      Number(said) === Number(meant) ? [] : [`${file}: ${link}`],
    ),
  );
  expect(wrong).toEqual([]);
});
