import fc from 'fast-check';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import type { Log } from '../../../src/core/documents.generated.ts';
import {
  listEditedTexts,
  type TracedParagraph,
  traceParagraphs,
} from '../../../src/features/page/browser/model/heat.ts';
import { splitParagraphs } from '../../../src/render/prose/paragraphs.ts';
import { closeChromium } from '../../chromium.ts';
import { runs } from '../../long.ts';
import { HOSTILE } from '../../render/report/sample.ts';
import { axeFindings } from './axe.ts';
import { contrast } from './contrast.ts';
import { changeOn, foughtChanges, heatDocuments } from './edits.ts';
import { openUi } from './open-ui.ts';

/** The paragraphs of a prompt against its edits: how they are followed, and the picture of them in `callsheet ui`. */

afterAll(closeChromium);

/** Edits that lead from each text to the next. */
const editsOf = (texts: readonly string[]) =>
  texts.slice(1).map((after, at) => ({
    at: null,
    by: null,
    run: null,
    before: texts[at] ?? '',
    after,
  }));

/** Words by edit, 0 where an edit left the paragraph alone. */
const wordsOf = ({ edits }: TracedParagraph) => edits.map((edit) => edit?.words ?? 0);

describe('a paragraph', () => {
  const word = (paragraph: number, at: number) => `${'abcdefgh'[paragraph]}${'klmnopqrstuv'[at]}`;
  /** Twelve words that no other paragraph has; `times` of them were replaced. */
  const write = (paragraph: number, times: number) =>
    Array.from({ length: 12 }, (_, at) => word(paragraph, at) + (at < times ? 'x' : '')).join(' ');
  const edit = fc.record({
    what: fc.constantFrom('edit', 'move', 'edit and move', 'take', 'put back'),
    which: fc.nat(7),
    to: fc.nat(7),
  });

  test('keeps its history wherever it moves, and when it comes back', () => {
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 8 }), (given) => {
        const order = [0, 1, 2, 3, 4, 5, 6, 7];
        const times = order.map(() => 0);
        const history: readonly number[][] = order.map(() => given.map(() => 0));
        const taken: number[] = [];
        const print = () => order.map((one) => write(one, times[one] ?? 0)).join('\n\n');
        const texts = [print()];
        for (const [at, { what, which, to }] of given.entries()) {
          const record = (one: number | undefined, words: number) => {
            const own = history[one ?? -1];
            if (own !== undefined) own[at] = words;
          };
          const one = order[which % Math.max(1, order.length)];
          if (what.includes('edit') && one !== undefined && (times[one] ?? 0) < 4) {
            times[one] = (times[one] ?? 0) + 1;
            record(one, 1);
          }
          if (what.includes('move') && one !== undefined) {
            order.splice(order.indexOf(one), 1);
            order.splice(to % (order.length + 1), 0, one);
          }
          if (what === 'take' && one !== undefined && order.length > 2) {
            taken.push(...order.splice(order.indexOf(one), 1));
            record(one, 12);
          }
          if (what === 'put back' && taken.length > 0) {
            const back = taken.shift() ?? 0;
            order.splice(to % (order.length + 1), 0, back);
            record(back, 12);
          }
          texts.push(print());
        }
        const found = traceParagraphs(editsOf(texts));
        const here = found.filter(({ isGone }) => !isGone);
        expect(here.map(({ text }) => text)).toEqual(
          order.map((one) => write(one, times[one] ?? 0)),
        );
        expect(here.map(wordsOf)).toEqual(order.map((one) => history[one]));
        const gone = found.filter(({ isGone }) => isGone);
        expect(gone.map(wordsOf)).toEqual(taken.toReversed().map((one) => history[one]));
      }),
      { numRuns: runs(500) },
    );
  });

  test('has edits of which each goes on from the one before, whatever the texts are', () => {
    const line = fc.constantFrom('', '- ', '# ', '```').chain((start) =>
      fc
        .array(fc.constantFrom('you', 'may', 'never', '5', 'call', 'price', '你好', '\u202e'), {
          maxLength: 6,
        })
        .map((words) => start + words.join(' ')),
    );
    const text = fc.oneof(
      fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n\n')),
      fc.string({ unit: 'binary', maxLength: 40 }),
    );
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 6 }), (texts) => {
        const found = traceParagraphs(editsOf(texts));
        for (const { text: last, isGone, edits } of found) {
          let own: string | null | undefined;
          for (const one of edits) {
            if (one === undefined) continue;
            // An edit of blanks alone is no edit of a paragraph.
            if (own !== undefined) expect(squeeze(one.before)).toBe(squeeze(own));
            own = one.after;
          }
          if (own !== undefined) expect(squeeze(own)).toBe(isGone ? null : squeeze(last));
        }
        const here = found.flatMap((one) => (one.isGone ? [] : one.text));
        const newest = splitParagraphs(texts.at(-1) ?? '');
        expect(here).toEqual(newest.flatMap((one) => one.text || []));
      }),
      { numRuns: runs(200) },
    );
  });

  const squeeze = (text: string | null) => text?.replaceAll(/\s/g, '') ?? null;
});

describe('a text', () => {
  const [one, other] = ['First rule.\n\nSecond rule.', 'First rule.\n\nAnother rule.'];

  test('has the edits of which both sides are known, and the number of the others', () => {
    const lost = { kept: { before: true, after: false } };
    expect(
      listEditedTexts([
        changeOn(9, other, null, { field: lost }),
        changeOn(8, one, other, { status: 'failed' }),
        changeOn(7, one, other),
        changeOn(6, one, one),
        changeOn(5, null, one, { action: 'create' }),
        changeOn(4, other, null, { action: 'delete' }),
        { ...changeOn(3, one, other), fields: null },
      ]),
    ).toMatchObject([{ path: 'system_prompt', edits: [{ run: 'r-7' }], lost: 1 }]);
  });

  test('is none where it is masked, or has one paragraph', () => {
    const masked = { secret: true };
    expect(listEditedTexts([changeOn(7, one, other, { field: masked })])).toEqual([]);
    expect(listEditedTexts([changeOn(7, 'Hello.', 'Good day.')])).toEqual([]);
  });

  test('shows the rule that is being fought over', () => {
    const [text] = listEditedTexts(foughtChanges().toReversed());
    const traced = traceParagraphs(text?.edits ?? []);
    const counted = traced.map((one) => [
      one.text.slice(0, 12),
      wordsOf(one).filter((words) => words > 0).length,
    ]);
    expect(counted).toEqual([
      ['# Front desk', 0],
      ['You answer t', 0],
      ['You may quot', 7],
      ['We are open ', 1],
      ['If somebody ', 0],
      ['Read the day', 0],
    ]);
  });
});

/** A fleet of one agent with some changes, whose texts are open. */
async function openTexts(changes: readonly Log.Entry[], options: BrowserContextOptions = {}) {
  const page = await openUi(heatDocuments(changes), options);
  await page.getByRole('button', { name: 'agent.desk', exact: true }).click();
  await page.getByText('Reading the runs').waitFor({ state: 'detached' });
  await page.locator('h1 ~ .hint').first().waitFor();
  return page;
}

describe('the picture in ui', () => {
  test('has a cell for each edit of a paragraph, with the time and author as its name', async () => {
    const page = await openTexts(foughtChanges());
    const rows = page.locator('.paragraphs > li:not([aria-hidden])');
    const cells = await rows.evaluateAll((all) =>
      all.map((row) => row.querySelectorAll('button').length),
    );
    expect(cells).toEqual([0, 0, 7, 1, 0, 0]);
    // A paragraph that was never changed has no cells at all.
    expect(await rows.nth(0).locator('.cells').count()).toBe(0);
    expect(await rows.nth(2).locator('.cells > *').count()).toBe(8);
    const fought = rows.nth(2).getByRole('button');
    expect(await fought.first().getAttribute('aria-label')).toBe(
      '2026-11-03 09:00:00 UTC, by ann: 9 words changed',
    );
    expect(await fought.last().getAttribute('aria-label')).toBe(
      '2026-11-24 09:00:00 UTC, by marc: 1 word changed',
    );
    expect(await fought.allInnerTexts()).toEqual(['9', '9', '9', '15', '15', '7', '1']);
    expect(await page.locator('.worst').innerText()).toBe(
      'Changed most often, in 7 of 8 edits: “You may quote the price of a check-up. Offer a call back for…”',
    );
  });

  test('is one tab stop, and shows the edit of a cell', async () => {
    const page = await openTexts(foughtChanges());
    const cells = page.locator('.cells button');
    expect(await page.locator('.cells [tabindex="0"]').count()).toBe(1);
    await cells.first().focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'Enter'])
      await page.keyboard.press(key);
    expect(await cells.nth(1).getAttribute('aria-expanded')).toBe('true');
    expect(await page.locator('.heat .fields').innerText()).toContain('Never');
    expect(await page.locator('.heat .fields').innerText()).toContain('run r-9');
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    expect(await page.locator('.heat .fields').count()).toBe(0);
  });

  test('leads back to what was searched', async () => {
    const page = await openUi(heatDocuments(foughtChanges()));
    await page.getByRole('searchbox').fill('desk');
    await page.getByRole('button', { name: 'agent.desk', exact: true }).click();
    await page.getByRole('heading', { name: 'agent.desk' }).waitFor();
    expect(await page.getByRole('searchbox').count()).toBe(0);
    await page.keyboard.press('Enter');
    expect(await page.getByRole('searchbox').inputValue()).toBe('desk');
  });

  test('is a line where there are fewer than three edits, and none where there are none', async () => {
    const [made, ...edits] = foughtChanges();
    const two = await openTexts([made, ...edits.slice(0, 2)].flatMap((one) => one ?? []));
    expect(await two.locator('.cells').count()).toBe(0);
    expect(await two.locator('.heat').innerText()).toBe(
      'system_prompt\n\nEdited 2026-11-03 09:00:00 UTC, by ann; 2026-11-06 09:00:00 UTC, by marc.',
    );
    const none = await openTexts(made === undefined ? [] : [made]);
    expect(await none.locator('h1 ~ .hint').innerText()).toContain('No text of several paragraphs');
  });

  test('shows hostile texts, authors and times as they are', async () => {
    const texts = ['', ...HOSTILE].map((text) => `First.\n\nSecond ${text}.\n\n<img src=x>${text}`);
    const changes = texts.slice(1).map((after, at) =>
      changeOn(at + 1, texts[at] ?? '', after, {
        by: HOSTILE[at] ?? '',
        run: HOSTILE[at] ?? '',
        field: { path: 'system_prompt' },
      }),
    );
    const page = await openTexts(changes);
    for (const cell of await page.locator('.cells button').all()) {
      await cell.click();
      expect(await page.locator('.heat').innerHTML()).not.toMatch(/\p{Cf}|<img/u);
    }
    expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
  });

  const SCHEMES = ['light', 'dark'] as const;
  test.each(SCHEMES)('is as narrow as a phone and can be read, in %s', async (colorScheme) => {
    const page = await openTexts(foughtChanges(), {
      colorScheme,
      viewport: { width: 390, height: 844 },
    });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await axeFindings(page)).toEqual([]);
    // Axe does not compute the contrast of a text of one character.
    const colors = await page.evaluate<readonly (readonly [string, string])[]>(
      `[...document.querySelectorAll('.cells button')]
        .map((cell) => getComputedStyle(cell))
        .map((style) => [style.color, style.backgroundColor])`,
    );
    const faint = colors.filter(([text, ground]) => contrast(text, ground) < 4.5);
    expect([colors.length, faint]).toEqual([8, []]);
    await page.locator('.cells button').first().click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await axeFindings(page)).toEqual([]);
  });
});
