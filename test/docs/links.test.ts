import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { cellsOf, type Page, readPage } from './markdown.ts';

const ROOT = join(import.meta.dirname, '../..');

const FILES = globSync('{*.md,docs/**/*.md,examples/**/*.md,test/**/*.md}', { cwd: ROOT }).filter(
  (file) => !file.startsWith('test/golden/') || file.endsWith('README.md'),
);

const pages = new Map<string, Page>();

function pageAt(path: string): Page {
  const known = pages.get(path) ?? readPage(readFileSync(path, 'utf8'));
  pages.set(path, known);
  return known;
}

/** Why a link of a page leads nowhere; undefined where it leads somewhere. */
function brokenAt(file: string, link: string): string | undefined {
  if (/^[a-z]+:/i.test(link)) return undefined;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(ROOT, file) : resolve(ROOT, dirname(file), path);
  if (relative(ROOT, target).startsWith('..')) return `${link} leads out of the repository`;
  if (!existsSync(target)) return `${link}: there is no such file`;
  if (anchor === undefined || !target.endsWith('.md')) return undefined;
  return pageAt(target).anchors.has(anchor) ? undefined : `${link}: there is no such heading`;
}

test('there are pages and links to look at', () => {
  expect(FILES).toEqual(expect.arrayContaining(['README.md', 'docs/reference/kinds/agent.md']));
  expect(pageAt(join(ROOT, 'README.md')).links.length).toBeGreaterThan(10);
});

test.each(FILES)('every link of %s leads somewhere', (file) => {
  const { links } = pageAt(join(ROOT, file));
  expect(links.flatMap((link) => brokenAt(file, link) ?? [])).toEqual([]);
});

test.each(FILES)('every table of %s has as many cells in each row', (file) => {
  const { prose } = pageAt(join(ROOT, file));
  const wrong: string[] = [];
  let columns: number | undefined;
  for (const line of prose) {
    if (!line.startsWith('|')) columns = undefined;
    else {
      columns ??= cellsOf(line).length;
      if (cellsOf(line).length !== columns) wrong.push(line);
    }
  }
  expect(wrong).toEqual([]);
});

test('what the tests take for an anchor is what GitHub makes of a heading', () => {
  const page = readPage(
    [
      '## `extensions.tools[].url`',
      '## What is it?',
      '## What is it?',
      '## `a_b`, [c](d.md) & e',
      '```',
      '## none',
      '```',
      '[x](#y) `[not](#one)` [`code`](z.md#a "title")',
    ].join('\n'),
  );
  expect([...page.anchors]).toEqual([
    'extensionstoolsurl',
    'what-is-it',
    'what-is-it-1',
    'a_b-c--e',
  ]);
  expect(page.links).toEqual(['d.md', '#y', 'z.md#a']);
});
