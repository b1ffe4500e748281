import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { describe, expect, test } from 'vitest';
import type { Rollouts } from '../../../src/core/documents.generated.ts';
import {
  getFigures,
  renderRolloutsMarkdown,
  renderRolloutsText,
  verdictWord,
} from '../../../src/features/rollout/render.ts';
import { problemsOf } from '../../documents.ts';
import { linesBeyond } from '../../render/fit.ts';
import { expectGolden } from '../../render/golden.ts';
import {
  broken,
  documentOf,
  done,
  hostile,
  measureOf,
  NOW,
  ROLLOUTS,
  rolloutOf,
  silent,
  stale,
  waiting,
  worse,
} from './samples.ts';

const OPTIONS = { width: 80, color: false, verbose: false };

const all = (render: (document: Rollouts.Document) => string) =>
  Object.entries(ROLLOUTS)
    .map(([name, document]) => `── ${name}\n${render(document)}`)
    .join('\n');

test('the documents are as the schema says', async () => {
  const found = await Promise.all(
    Object.values(ROLLOUTS).map((document) => problemsOf('callsheet-rollouts', document)),
  );
  expect(found.flat()).toEqual([]);
});

describe('in a terminal', () => {
  test.each([
    ['rollouts.80.txt', OPTIONS],
    ['rollouts.60.txt', { ...OPTIONS, width: 60 }],
    ['rollouts.100.color.txt', { ...OPTIONS, width: 100, color: true }],
  ])('%s', (name, options) => {
    expectGolden(
      name,
      all((document) => renderRolloutsText(document, options)),
    );
  });

  test('all of one with --verbose', () => {
    const text = renderRolloutsText(documentOf(waiting()), { ...OPTIONS, verbose: true });
    expectGolden('rollouts.verbose.txt', text);
  });

  test.each([
    [80, 2, 14],
    [60, 1, 16],
  ])('one that waits is short: %i columns, %i measures, %i lines', (width, count, most) => {
    const { look, ...rest } = waiting();
    const few = look && { ...look, measures: look.measures.slice(0, count) };
    const text = renderRolloutsText(documentOf({ ...rest, look: few }), { ...OPTIONS, width });
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(most);
  });

  test.each([120, 80, 60, 40])('nothing but commands goes beyond %i columns', (width) => {
    const texts = Object.values({ ...ROLLOUTS, hostile: hostile('x'.repeat(200)) }).flatMap(
      (document) =>
        [false, true].flatMap((verbose) =>
          linesBeyond(renderRolloutsText(document, { width, color: false, verbose }), width),
        ),
    );
    expect(texts).toEqual([]);
  });

  test('what ended takes two or three lines beside what goes on, and all of them alone', () => {
    const text = renderRolloutsText(documentOf(done(), worse(), waiting()), OPTIONS);
    expect(text.split('\n\n').map((part) => part.split('\n')[0])).toEqual([
      'careful: waiting at step 1 of 4 (3 of 40 agents)',
      '  In every row: verdict too few calls',
      expect.stringContaining('no verdict'),
      'careful: done, 4 steps (40 agents)',
      'careful: rolled back at step 1 of 4 (3 of 40 agents)',
    ]);
    expect(text).not.toContain('voice_settings.speed');
    expect(renderRolloutsText(documentOf(worse()), OPTIONS)).toContain('voice_settings.speed');
  });

  test('what is broken is named, the rest counted', () => {
    const one = broken();
    const rails = Array.from({ length: 7 }, (_, at) => ({
      rail: 'silence' as const,
      does: 'hold' as const,
      address: `agent.a${at}`,
      message: `agent.a${at} got no call`,
    }));
    const look = one.look && { ...one.look, broken: rails };
    const text = renderRolloutsText(documentOf({ ...one, look }), OPTIONS);
    expect(text).toContain('silence (holds): agent.a2 got no call\n');
    expect(text).not.toContain('agent.a3');
    expect(text).toContain('⋯ 4 more broken; --verbose lists them\n');
  });

  test('an environment is named, and that there is none at all', () => {
    const document = { ...documentOf(rolloutOf()), environment: 'staging' };
    expect(renderRolloutsText(document, OPTIONS)).toMatch(
      /^careful for staging: waiting at step 1 of 4 \(3 of 40 agents\)\n/,
    );
    expect(renderRolloutsText(document, OPTIONS)).toContain('not looked at yet');
    expect(renderRolloutsText(documentOf(), OPTIONS)).toBe('No rollout is recorded.\n');
  });
});

describe('in a comment', () => {
  test('has the same figures, and absolute times', () => {
    const text = all((document) => renderRolloutsMarkdown(document));
    expect(text).not.toContain(' ago');
    expectGolden('rollouts.md', text);
  });

  test('is found again by stack and environment', () => {
    const document = { ...documentOf(waiting()), environment: 'staging' };
    const [first] = renderRolloutsMarkdown(document, { stack: 'stacks/a' }).split('\n');
    expect(first).toBe('<!-- callsheet:rollouts stack=stacks/a env=staging -->');
    expect(renderRolloutsMarkdown(documentOf())).toContain('No rollout is recorded');
  });

  test('steps that have no row are counted', () => {
    const step: Rollouts.Step = {
      number: 1,
      agents: 1,
      adds: [],
      status: 'pending',
      at: null,
      runs: [],
    };
    const steps = Array.from({ length: 25 }, (_, at) => ({
      ...step,
      number: at + 1,
      agents: at + 1,
    }));
    const markdown = renderRolloutsMarkdown(documentOf(rolloutOf({ steps })));
    expect(markdown).toContain('\n- **Step 16:** 16 agents');
    expect(markdown).not.toContain('**Step 17:**');
    expect(markdown).toContain('\n- and 9 more: `callsheet rollout show --verbose` lists them\n');
  });

  test('is never longer than it may be, and counts what has no room', () => {
    const many = documentOf(...Array.from({ length: 60 }, waiting));
    const text = renderRolloutsMarkdown(many);
    expect(text.length).toBeLessThanOrEqual(65_536);
    const shown = text.split('### careful').length - 1;
    expect(shown).toBeGreaterThan(10);
    expect(text).toContain(`${60 - shown} rollouts not shown`);
    const limit = 100;
    expect(renderRolloutsMarkdown(many, { limit }).length).toBeLessThanOrEqual(limit);
  });
});

/** Acts on a terminal, breaks tables, mentions, links and opens elements. */
const EVIL =
  'Eve\u001b[2J\u202e\r\n| @team <img src=x onerror=alert(1)> ```\n</details> [a](http://e.example) ##[group]';

test('texts that anybody wrote do nothing', () => {
  const document = hostile(EVIL);
  const text = renderRolloutsText(document, { width: 60, color: false, verbose: true });
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(text).not.toContain('##[');
  const markdown = renderRolloutsMarkdown(document);
  const html = micromark(markdown, {
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

test('enough calls in too few days are no lack of calls', () => {
  const rollout = waiting();
  const word = (calls: number, at: string) =>
    verdictWord('not_enough_calls', { at, step: 1, calls }, rollout);
  expect(word(199, NOW)).toBe('too few calls');
  expect(word(200, NOW)).toBe('too early');
  expect(word(200, '2026-11-29T09:59:00Z')).toBe('too few calls');
  expect(verdictWord('worse', { at: NOW, step: 1, calls: 200 }, rollout)).toBe('worse');
});

test('figures have the digits and the unit of their measure', () => {
  const shown = (name: 'resolved' | 'duration', effect: number, half: number) =>
    getFigures(measureOf(name, [effect, half, 'no_worse']));
  expect(shown('resolved', -0.04, 1)).toMatchObject({
    effect: '0.0',
    interval: '−1.0 to +1.0',
    margin: '−5 points',
    changed: '71.2 → 71.5 %',
  });
  expect(shown('duration', 1234.5, 1)).toMatchObject({ effect: '+1,234.5', margin: '+20 %' });
  expect(getFigures(measureOf('duration', null))).toEqual({
    effect: null,
    interval: null,
    margin: '+20 %',
    changed: null,
    others: null,
  });
});

test('why there is no verdict is not said where it no longer matters', () => {
  const text = (document: Rollouts.Document) => renderRolloutsText(document, OPTIONS);
  expect(text(documentOf(waiting()))).toContain('no verdict  138 of at least 200 calls so far.\n');
  expect(text(documentOf(broken()))).not.toContain('no verdict');
  const { look } = silent();
  const said = { ...silent(), look: look && { ...look, why: null } };
  expect(text(documentOf(said))).toContain(
    'The platform gives no figures for resolved. The platform gives no\n              figures for errors.\n',
  );
});

test('a step that failed in part may have reached any of its agents', () => {
  const [first, ...others] = rolloutOf().steps;
  if (first === undefined) throw new Error('a rollout has steps');
  const begun = { ...first, status: 'applying' as const, runs: ['20260302t083000z-000000'] };
  const failed = rolloutOf({ status: 'held', steps: [begun, ...others] });
  expect(renderRolloutsText(documentOf(failed), OPTIONS)).toContain(
    `held at step 1 of ${failed.steps.length} (0 to ${first.agents} of 40 agents)`,
  );
});

test('why it is held may be several lines, and a broken guard rail says it alone', () => {
  expect(renderRolloutsText(documentOf(stale()), OPTIONS)).toContain(
    '  why     run 20261126t100000z-1f3a9c did not apply all of it:\n          agent.clinic["c4"]:',
  );
  expect(renderRolloutsMarkdown(documentOf(stale()))).toContain(
    'did not apply all of it:\n\n- agent.clinic&#91;"c4"&#93;: greeting_message was changed',
  );
  for (const text of [
    renderRolloutsText(documentOf(broken()), { ...OPTIONS, width: 100 }),
    renderRolloutsMarkdown(documentOf(broken())),
  ])
    expect(text.split('have an error; 5 % are tolerated')).toHaveLength(2);
});

test('an effect without an interval is shown as it is', () => {
  const measures = [{ ...measureOf('resolved', [-2, 1, 'not_enough_calls']), low: null }];
  const { look } = waiting();
  const document = documentOf({ ...waiting(), look: look && { ...look, measures } });
  expect(renderRolloutsText(document, OPTIONS)).toContain('  too few calls  −2.0     ');
  expect(renderRolloutsMarkdown(document)).toContain('| −2.0 |');
});
