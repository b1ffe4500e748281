import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { features } from '../../src/features/index.ts';
import { viewProse } from '../../src/render/prose/view.ts';
import { openCallouts } from '../../src/run/context.ts';
import { readGlob } from '../../src/stack/discover.ts';
import { loadStack } from '../../src/stack/index.ts';
import { longRows } from '../long.ts';

const ORGANIZATION = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const settings = `callsheet: 1\norganization: ${ORGANIZATION}\n`;
const table = [
  'agents:',
  '  desk:',
  '    for_each: { $file: rows.csv }',
  '    key: ${each.slug}',
  '    name: ${each.slug}',
  '    system_prompt: { $template: p.md }',
].join('\n');
const rows = (count: number) =>
  `slug\n${Array.from({ length: count }, (_, at) => `s${at}\n`).join('')}`;

async function problemsOf(files: Readonly<Record<string, string>>) {
  const dir = await mkdtemp(join(tmpdir(), 'callsheet-stack-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  for (const [name, content] of Object.entries({ 'callsheet.yaml': settings, ...files })) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), content);
  }
  const { diagnostics } = await loadStack({ dir, env: {}, secrets: 'skip' });
  return diagnostics.filter(({ severity }) => severity === 'error');
}

describe('a stack that would take all memory or no end of time is an error', () => {
  type Row = { what: string; files: Readonly<Record<string, string>>; says: RegExp };
  const stacks: readonly Row[] = [
    {
      what: 'more rows than a stack can hold',
      files: { 'agents.yaml': table, 'rows.csv': rows(300_000), 'p.md': 'Hello.' },
      says: /for_each has 300,000 rows; a resource may have 250,000/,
    },
    {
      what: 'a large table over a large template',
      files: {
        'agents.yaml': table,
        'rows.csv': rows(2_000),
        'p.md': 'Hello ${each.slug}.'.padEnd(1_000_000, ' x'),
      },
      says: /has 2,000 rows and fills in 1,000,000 characters for each, 2,000,000,000 together; .* may fill in 1,000,000,000/,
    },
    {
      what: 'deep flow',
      files: { 'agents.yaml': `agents: ${'{a: '.repeat(50_000)}1${'}'.repeat(50_000)}\n` },
      says: /more than 100 levels deep/,
    },
    {
      what: 'deep blocks',
      files: {
        'agents.yaml': Array.from({ length: 2_000 }, (_, at) => `${' '.repeat(at)}a:\n`).join(''),
      },
      says: /more than 100 levels deep/,
    },
    {
      what: 'aliases of aliases',
      files: {
        'agents.yaml': [
          'a0: &a0 [1, 1, 1, 1, 1, 1]',
          ...Array.from(
            { length: 30 },
            (_, at) =>
              `a${at + 1}: &a${at + 1} [${Array.from({ length: 6 }, () => `*a${at}`).join(', ')}]`,
          ),
        ].join('\n'),
      },
      says: /alias/i,
    },
    {
      what: 'braces that multiply',
      files: { 'callsheet.yaml': `${settings}include: ["${'{a,b}'.repeat(30)}"]\n` },
      says: /include has .*expands to more than 100 patterns through its braces/,
    },
    {
      what: 'a pattern of patterns',
      files: { 'callsheet.yaml': `${settings}include: ["+(+(a))b.yaml"]\n` },
      says: /include has .*uses \( \), which patterns do not support/,
    },
    {
      what: 'a pattern without an end',
      files: { 'callsheet.yaml': `${settings}include: ["${'*a'.repeat(2_000)}"]\n` },
      says: /include has .*has 4,000 characters; a pattern may have 1,000/,
    },
  ];
  // Three hundred thousand rows take seconds.
  it.each(longRows(stacks, (_, at) => at > 0))('$what', async ({ files, says }) => {
    const problems = await problemsOf(files);
    expect(problems.map(({ message }) => message).join('\n')).toMatch(says);
    expect(problems.length).toBeLessThan(10);
  });
});

describe('a pattern of include', () => {
  it.each<{ pattern: string; yes: readonly string[]; no: readonly string[] }>([
    { pattern: '*.yaml', yes: ['a.yaml', '.yaml'], no: ['a/b.yaml', 'a.yml'] },
    {
      pattern: 'agents/**/*.yaml',
      yes: ['agents/a.yaml', 'agents/b/c/a.yaml'],
      no: ['a.yaml', 'x/agents/a.yaml'],
    },
    { pattern: '**/a?.y{a,}ml', yes: ['ab.yaml', 'x/y/ac.yml'], no: ['a.yaml', 'x/abc.yml'] },
    { pattern: '[a-c]*[!0-9].yaml', yes: ['b1x.yaml', 'ax.yaml'], no: ['d.yaml', 'b1.yaml'] },
    { pattern: '{a,b{1,2}}/x.yaml', yes: ['a/x.yaml', 'b2/x.yaml'], no: ['b/x.yaml'] },
    { pattern: 'a[.yaml', yes: ['a[.yaml'], no: ['a.yaml'] },
    { pattern: `${'*a'.repeat(100)}b`, yes: [`${'a'.repeat(150)}b`], no: ['a'.repeat(255)] },
    { pattern: `${'**/'.repeat(300)}b`, yes: ['a/b', 'b'], no: ['a/'.repeat(1_000)] },
  ])('$pattern', ({ pattern, yes, no }) => {
    const glob = readGlob(pattern);
    if (typeof glob === 'string') throw new Error(glob);
    expect(yes.filter((path) => !glob(path))).toEqual([]);
    expect(no.filter((path) => glob(path))).toEqual([]);
  });
});

describe('a prompt of megabytes is compared, more coarsely', () => {
  const line = (at: number) => `Sentence ${at} says what to do with caller ${at * 7}.`;
  const lines = (count: number, of = line) => Array.from({ length: count }, (_, at) => of(at));
  const long = lines(100_000).join('\n');
  const findCallouts = openCallouts(features);
  const viewTexts = async (before: string, after: string) =>
    viewProse(before, after, (await findCallouts)(before, after));
  const typesOf = async (before: string, after: string) =>
    (await viewTexts(before, after)).rows.map(({ type }) => type);

  it('by its words where little differs, at its own line', async () => {
    const edited = long.replace('Sentence 70000 says', 'Sentence 70000 tells');
    const { rows, summary } = await viewTexts(long, edited);
    expect(rows.map(({ type }) => type)).toEqual(['fold', 'same', 'edited', 'same', 'fold']);
    expect(summary).toBe('1 of 100,000 paragraphs edited');
  });

  const texts = [
    ['all of it differs', long, lines(100_000, (at) => `Other ${at * 3}`).join('\n')],
    ['it is one word', 'x'.repeat(10_000_000), 'y'.repeat(10_000_000)],
    ['it is one paragraph', long.replaceAll('\n', ' '), long.replaceAll('\n', ' ! ')],
  ] as const;
  it.each(longRows(texts, ([what]) => what === 'it is one word'))(
    'as a whole where %s',
    async (_, before, after) => {
      expect(await typesOf(before, after)).toEqual(['removed', 'added']);
      expect((await viewTexts(before, after)).summary).toMatch(
        /too much differs to compare all of it/,
      );
    },
  );

  it('and a long word below that size does not break it', async () => {
    expect(await typesOf('x'.repeat(400_000), `${'x'.repeat(400_000)} y`)).toEqual(['edited']);
  });
});
