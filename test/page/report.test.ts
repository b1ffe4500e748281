import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { XmlDocument } from 'libxml2-wasm';
import { describe, expect, test } from 'vitest';
import { withTexts } from '../../src/core/texts.ts';
import type { Json } from '../../src/core/value.ts';
import { escapeScript, renderReport, renderRolloutsPage } from '../../src/page/index.ts';
import { packDocument } from '../../src/page/pack.ts';
import { broken, documentOf, done, long, silent, worse } from '../render/rollouts.ts';
import { changeOf, planOf } from '../render/sample.ts';
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

describe('the page of rollouts', () => {
  test('lets its own style apply, by its hash, and no script at all', async () => {
    const html = await renderRolloutsPage(documentOf(worse()));
    const { policy, style, script } = partsOf(html);
    expect(policy.split('; ').sort()).toEqual([
      "base-uri 'none'",
      "default-src 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      `style-src ${hashOf(style)}`,
      "trusted-types 'none'",
    ]);
    expect(script).toBe('');
    expect(style).not.toMatch(/url\((?!"#)|@import/);
    expect(html).toContain('<title>careful: rolled back at step 1 of 4 (3 of 40 agents)</title>');
  });

  test('is well-formed, and each id in it is one', async () => {
    for (const document of [documentOf(silent()), documentOf(worse(), done(), broken())]) {
      const html = await renderRolloutsPage(document);
      const body = html.slice(html.indexOf('<body>'), html.indexOf('</html>'));
      const xml = XmlDocument.fromString(body.replaceAll('<br>', '<br/>'));
      xml.dispose();
      const ids = Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id]) => id);
      expect(new Set(ids).size).toBe(ids.length);
      // A figure that is none would be drawn at a place that is none.
      expect(body).not.toMatch(/NaN|Infinity|undefined|\[object/);
    }
  });

  test('a long course is drawn whole, and a part of it told', async () => {
    const html = await renderRolloutsPage(documentOf(long()));
    expect(html.length).toBeLessThan(200_000);
    const [, points = ''] = /<polyline class="effect" points="([^"]*)"/.exec(html) ?? [];
    // Up to the hour in which the platform gave no figures.
    expect(points.split(' ')).toHaveLength(60);
    expect(html).toContain('Figures of 28 of 201 looks');
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
