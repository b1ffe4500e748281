import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withTexts } from '../../../src/core/texts.ts';
import type { Json } from '../../../src/core/value.ts';
import { packDocument } from '../../../src/features/page/pack.ts';
import { escapeScript, renderReport } from '../../../src/features/page/render.ts';
import { changeOf, planOf } from '../../render/sample.ts';
import { driftPlan, fleetPlan, reviewPlan } from './plans.ts';

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function partsOf(html: string) {
  const inner = (pattern: RegExp) => pattern.exec(html)?.[1] ?? '';
  return {
    policy: inner(/http-equiv="Content-Security-Policy" content="([^"]*)"/),
    style: inner(/<style>([\s\S]*?)<\/style>/),
    data: inner(/<script type="application\/json"[^>]*>([\s\S]*?)<\/script>/),
    script: inner(/<script>([\s\S]*?)<\/script>/),
  };
}

describe('the report', () => {
  test('carries the document that --format json prints, whole', async () => {
    const plan = reviewPlan();
    const { texts, document } = JSON.parse(partsOf(await renderReport(plan)).data);
    expect(withTexts(document, texts)).toEqual(JSON.parse(JSON.stringify(plan)));
  });

  test('lets its own script and style run, by their hashes, and nothing else', async () => {
    const { policy, script, style } = partsOf(await renderReport(reviewPlan()));
    const directives = Object.fromEntries(
      policy.split('; ').map((one) => [one.split(' ')[0], one.split(' ').slice(1).join(' ')]),
    );
    expect(directives).toEqual({
      'default-src': "'none'",
      'script-src': hashOf(script),
      'style-src': hashOf(style),
      'base-uri': "'none'",
      'form-action': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    });
  });

  test('asks for nothing beside it', async () => {
    const { script, style } = partsOf(await renderReport(driftPlan()));
    expect(style).not.toMatch(/url\(|@import/);
    expect(script).not.toMatch(/\beval\(|new Function|XMLHttpRequest|\bfetch\(|import\(/);
  });

  test('writes a text that many changes share once', async () => {
    const [few, many] = [fleetPlan(100), fleetPlan(300)];
    const json = JSON.stringify(many).length - JSON.stringify(few).length;
    const html = (await renderReport(many)).length - (await renderReport(few)).length;
    expect(json).toBeGreaterThan(5 * html);
  });
});

test('without its script a page shows the text of the terminal, with nothing of it taken for markup', async () => {
  const plan = planOf([changeOf({ name: '</pre></noscript><img src=x>' })]);
  const [, noscript = ''] = /<noscript>(.*?)<\/noscript>/s.exec(await renderReport(plan)) ?? [];
  expect(noscript).toContain('&lt;/noscript&gt;');
  expect(noscript).toContain('agent.reception');
  expect(noscript).not.toContain('<img');
});

describe('JSON in a page', () => {
  test.each([
    '</script><script>alert(1)</script>',
    '<!-- <script>',
    '\u2028\u2029',
    '&lt;/script>',
  ])('%j stays inside its element and reads as it was', (text) => {
    const escaped = escapeScript(JSON.stringify({ text }));
    expect(escaped).not.toMatch(/[<>&\u2028\u2029]/);
    expect(JSON.parse(escaped)).toEqual({ text });
  });
});

const texts = fc.oneof(
  fc.constantFrom('\u00010', '\u0001', 'x'.repeat(64), 'y'.repeat(80), '\u00011x', '__proto__'),
  fc.string(),
);

test('a packed document unpacks to what it was', () => {
  const values = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      texts,
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
    ),
  })).value as fc.Arbitrary<Json>;
  fc.assert(
    fc.property(values, (before) => {
      const plan = JSON.parse(JSON.stringify(planOf([], { notes: [{ before } as never] })));
      const packed = packDocument(plan);
      expect(withTexts(packed.document, packed.texts)).toEqual(plan);
    }),
  );
});
