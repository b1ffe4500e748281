import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { afterAll, describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/value.ts';
import { renderReport } from '../../../src/features/page/render.ts';
import { renderPlanMarkdown } from '../../../src/render/markdown.ts';
import { renderPlanText } from '../../../src/render/text.ts';
import { closeChromium } from '../../chromium.ts';
import { changeOf, fieldOf, planOf } from '../../render/sample.ts';
import { openPage } from './open-page.ts';

/** Text from right to left, as a browser draws it: where each word comes to stand. */

afterAll(closeChromium);

const planWith = (before: Json, after: Json) =>
  planOf([changeOf({ name: 'מרפאה', fields: [fieldOf('metadata["שדה"].note', before, after)] })]);

const shell = (body: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><h1>Plan</h1>${body}</html>`;

/** GitHub turns each block by its first letter. */
const asOnGitHub = (html: string) =>
  html.replaceAll('<details>', '<details open>').replace(/<(p|li|pre|h[34])>/g, '<$1 dir="auto">');

const VIEWS: { readonly [name: string]: (before: Json, after: Json) => Promise<string> | string } =
  {
    page: (before, after) => renderReport(planWith(before, after)),
    Markdown: (before, after) =>
      shell(
        asOnGitHub(
          micromark(renderPlanMarkdown(planWith(before, after)), {
            allowDangerousHtml: true,
            extensions: [gfm()],
            htmlExtensions: [gfmHtml()],
          }),
        ),
      ),
    text: (before, after) => {
      const options = { width: 140, color: false, verbose: false };
      return shell(`<pre>${renderPlanText(planWith(before, after), options)}</pre>`);
    },
  };

type Edges = { readonly left: number; readonly right: number; readonly top: number };

/** In the browser: the edges of each word where it first stands, and how high; null where it is not seen. */
const FIND_EDGES = `(wanted) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = new Map();
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement.closest('script, style, .paper') !== null) continue;
    for (const word of wanted) {
      const at = node.textContent.indexOf(word);
      if (at < 0 || found.has(word)) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + word.length);
      const { left, right, top } = range.getBoundingClientRect();
      if (right > left) found.set(word, { left, right, top });
    }
  }
  return wanted.map((word) => found.get(word) ?? null);
}`;

async function placesOf(name: string, sides: readonly [Json, Json], words: readonly string[]) {
  const { page } = await openPage((await VIEWS[name]?.(...sides)) ?? '', {
    viewport: { width: 1280, height: 1000 },
  });
  const places = await page.evaluate<readonly (Edges | null)[]>(
    `(${FIND_EDGES})(${JSON.stringify(words)})`,
  );
  for (const [at, place] of places.entries()) expect(place, words[at]).not.toBeNull();
  return places.filter((place) => place !== null);
}

const isLeftOf = ({ right }: Edges, { left }: Edges) => right <= left + 1;

describe.each(Object.keys(VIEWS))('in the view %s', (name) => {
  test('a value before the arrow stands left of the one behind it', async () => {
    const [old, fresh] = await placesOf(name, ['שלום', 'להתראות'], ['שלום', 'להתראות']);
    if (old === undefined || fresh === undefined) return;
    // In a block each has a line of its own.
    if (Math.abs(old.top - fresh.top) < 3) expect(isLeftOf(old, fresh)).toBe(true);
    else expect(old.top).toBeLessThan(fresh.top);
  });

  test('a path and a sign of a value stand left of the value', async () => {
    const [path, value] = await placesOf(name, ['שלום', 'להתראות'], ['metadata', 'שלום']);
    const above = path !== undefined && value !== undefined && path.top < value.top - 3;
    expect(above || (path && value && isLeftOf(path, value))).toBe(true);
  });

  test('a sentence that was edited reads from right to left, with the old words first', async () => {
    const sentence = (until: string) => `המרפאה פתוחה בין תשע ${until} בכל יום חול`;
    const sides = [sentence('לחמש'), sentence('לשש')] as const;
    const [first, old, fresh, last] = await placesOf(name, sides, ['המרפאה', 'לחמש', 'לשש', 'חול']);
    if (!first || !old || !fresh || !last) return;
    expect(isLeftOf(old, first)).toBe(true);
    if (name === 'page') return;
    // As it was and as it is are two rows.
    expect([old.top < fresh.top - 3, isLeftOf(last, old)]).toEqual([true, true]);
  });

  test('an edited word of Hebrew in English reads from left to right', async () => {
    const sentence = (word: string) => `Say ${word} to all who call the clinic by day`;
    const sides = [sentence('שלום'), sentence('בוקר')] as const;
    const [say, old, fresh, to] = await placesOf(name, sides, ['Say', 'שלום', 'בוקר', 'to all']);
    if (!say || !old || !fresh || !to) return;
    expect(isLeftOf(say, old)).toBe(true);
    if (name === 'page') return;
    expect([old.top < fresh.top - 3, isLeftOf(old, to)]).toEqual([true, true]);
  });
});
