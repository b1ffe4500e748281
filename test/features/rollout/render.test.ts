import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { expect, test } from 'vitest';
import type { Rollouts } from '../../../src/core/documents.generated.ts';
import {
  renderRolloutsMarkdown,
  renderRolloutsText,
} from '../../../src/features/rollout/render.ts';
import { problemsOf } from '../../documents.ts';
import { linesBeyond } from '../../render/fit.ts';
import { expectGolden } from '../../render/golden.ts';
import { documentOf, ROLLOUTS, rolloutOf, stepsOf } from './samples.ts';

const OPTIONS = { width: 80, color: false, verbose: false };
const { waiting, held, broken, worse, done } = ROLLOUTS;

const ALONE = Object.values(ROLLOUTS).map((one) => documentOf(one));

/** All of them in one text; those that ended come last in one of several. */
function showAll(render: (document: Rollouts.Document) => string): string {
  return [...ALONE, documentOf(worse, rolloutOf()), documentOf()].map(render).join('\n──\n');
}

/** Members and values that nobody writes. */
const FIXED = ['resolved', 'format', 'now', 'status', 'rail', 'does', 'better', 'verdict'];

/** A document in which everything that somebody may have written is `text`. */
function hostileOf(text: string): Rollouts.Document {
  const plain = JSON.stringify({ ...documentOf({ ...broken, status: 'held' }), environment: '' });
  return JSON.parse(plain, (key, value) =>
    typeof value !== 'string' || FIXED.includes(key) || FIXED.includes(value) ? value : text,
  );
}

test('the documents are as the schema says', async () => {
  const document = documentOf(...Object.values(ROLLOUTS));
  expect(await problemsOf('callsheet-rollouts', document)).toEqual([]);
});

test.each([
  ['rollouts.80.txt', OPTIONS],
  ['rollouts.60.txt', { ...OPTIONS, width: 60 }],
  ['rollouts.100.color.txt', { ...OPTIONS, width: 100, color: true }],
  ['rollouts.verbose.txt', { ...OPTIONS, verbose: true }],
])('%s', (name, options) => {
  expectGolden(
    name,
    showAll((document) => renderRolloutsText(document, options)),
  );
});

test('a comment has the same facts, and absolute times', () => {
  const text = showAll((document) => renderRolloutsMarkdown(document));
  expect(text).not.toContain(' ago');
  expectGolden('rollouts.md', text);
});

test.each([120, 80, 60, 40])('nothing but commands goes beyond %i columns', (width) => {
  const texts = [...ALONE, hostileOf('x'.repeat(200))].flatMap((document) =>
    [false, true].flatMap((verbose) =>
      linesBeyond(renderRolloutsText(document, { width, color: false, verbose }), width),
    ),
  );
  expect(texts).toEqual([]);
});

const shown = {
  text: (rollout: typeof waiting) =>
    renderRolloutsText(documentOf(rollout), { ...OPTIONS, width: 200 }),
  comment: (rollout: typeof waiting) =>
    renderRolloutsMarkdown(documentOf(rollout)).replaceAll(/&#\d+;/g, '_'),
};

test.each(Object.entries(shown))('who is next is named in a %s', (_, show) => {
  const named = (rollout: typeof waiting) => /who is next.*/i.exec(show(rollout))?.[0];
  const applied = (...steps: readonly 'applied'[]) => rolloutOf({ steps: stepsOf(...steps) });
  expect(named(waiting)).toMatch(/c4"[\]_]$/);
  // Those of a step that is not applied in full come again.
  expect(named(held)).toMatch(/c4"[\]_]$/);
  expect(named(applied('applied', 'applied'))).toMatch(/c5".*c12"[\]_] and 8 more$/);
  const last = applied('applied', 'applied', 'applied', 'applied');
  expect([worse, done, broken, last].map(named)).toEqual(Array(4).fill(undefined));
});

test.each(Object.entries(shown))('what a broken guard rail says stands once in a %s', (_, show) => {
  expect(show(broken).split('have an error; 5 % are tolerated')).toHaveLength(2);
  const rails = Array.from({ length: 12 }, (_, at) => ({
    rail: 'silence' as const,
    does: 'hold' as const,
    address: `agent.a${at}`,
    message: `agent.a${at} got no call`,
  }));
  const many = show({ ...broken, look: broken.look && { ...broken.look, broken: rails } });
  expect(many).toContain('silence (holds): agent.a7 got no call\n');
  expect(many).not.toContain('agent.a8');
  expect(many).toMatch(/and 4 more: .*rollout show --verbose/);
});

test('a comment is found again by stack and environment', () => {
  const document = { ...documentOf(waiting), environment: 'staging' };
  const text = renderRolloutsMarkdown(document, { stack: 'stacks/a' });
  expect(text.split('\n')[0]).toBe('<!-- callsheet:rollouts stack=stacks/a env=staging -->');
  expect(text).toContain('### careful for staging: waiting at step 1 of 4 (3 of 40 agents)\n');
});

test('a comment is never longer than it may be, and counts what has no room', () => {
  const many = documentOf(...Array.from({ length: 60 }, () => waiting));
  const text = renderRolloutsMarkdown(many);
  expect(text.length).toBeLessThanOrEqual(65_536);
  const count = text.split('### careful').length - 1;
  expect(count).toBeGreaterThan(10);
  expect(text).toContain(`${60 - count} rollouts not shown`);
  expect(renderRolloutsMarkdown(many, { limit: 100 }).length).toBeLessThanOrEqual(100);
});

/** Acts on a terminal, breaks tables, mentions, links and opens elements. */
const EVIL =
  'Eve\u001b[2J\u202e\r\n| @team <img src=x onerror=alert(1)> ```\n</details> [a](http://e.example) ##[group]';

test('texts that anybody wrote do nothing', () => {
  const document = hostileOf(EVIL);
  const text = renderRolloutsText(document, { width: 60, color: false, verbose: true });
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(text).not.toContain('##[');
  const html = micromark(renderRolloutsMarkdown(document), {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  const elements = new Set(Array.from(html.matchAll(/<([a-z][a-z0-9]*)/g), ([, name]) => name));
  expect([...elements].sort()).toEqual(
    'code details h3 li p pre strong summary table tbody td th thead tr ul'.split(' '),
  );
  expect(html.match(/<details>/g)).toHaveLength(1);
  expect(html.replace(/<(code|pre)[^>]*>[\s\S]*?<\/\1>|<!--.*?-->/g, '')).not.toMatch(
    /@team|:\/\/e\./,
  );
  // What is in the table is in its cells.
  expect(html.match(/<tr>/g)).toHaveLength(html.match(/<tr>\n<t[hd]/g)?.length ?? 0);
});

test('the pipeline finds the rollouts of a comment by what it reads in it', () => {
  const script = join(import.meta.dirname, '../../../examples/ci/github/actions/callsheet');
  const source = readFileSync(join(script, 'comment.mjs'), 'utf8');
  const [, pattern = ''] = /text\.matchAll\(\/(.*)\/gm\)/.exec(source) ?? [];
  const found = [
    ...renderRolloutsMarkdown(documentOf(waiting)).matchAll(new RegExp(pattern, 'gm')),
  ];
  expect(found.map(([, id]) => id)).toEqual([waiting.id]);
});
