import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import type { PlanDocument } from '../../../src/core/plan-document.ts';
import { renderReport } from '../../../src/features/page/render.ts';
import { closeChromium } from '../../chromium.ts';
import { longRows } from '../../long.ts';
import { SITUATIONS } from '../../render/situations.ts';
import { findMissing } from '../../render/visible.ts';
import { axeFindings } from './axe.ts';
import { openPage, openReport } from './open-page.ts';
import { crowdedPlan, driftPlan, groupedPlan, mixedPlan, reviewPlan } from './plans.ts';

/** The page of a plan on screens of any size, on paper, and without its script. */

afterAll(closeChromium);

const SIZES = [
  [390, 844],
  [768, 1024],
  [1280, 800],
  [1920, 1080],
] as const;

/** Pixels below the last thing of a page. */
const MARGIN = 96;

/** Tells how a page scrolls: what is wider than the window, what scrolls by itself, and what it ends with. */
const MEASURE = `(() => {
  const root = document.documentElement;
  const all = [...document.querySelectorAll('body *')];
  const seen = all.filter((one) => one.checkVisibility() && one.clientWidth > 1 && one.clientHeight > 1);
  const isScroller = (one) =>
    one.scrollHeight > one.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(one).overflowY);
  const end = Math.max(...seen.map((one) => one.getBoundingClientRect().bottom + scrollY));
  return {
    wider: Math.max(0, root.scrollWidth - innerWidth),
    scrollers: seen.filter(isScroller).map(({ className }) => className),
    height: root.scrollHeight,
    blank: root.scrollHeight > innerHeight ? root.scrollHeight - end : 0,
  };
})()`;

type Measured = {
  readonly wider: number;
  readonly scrollers: readonly string[];
  readonly height: number;
  readonly blank: number;
};

describe('one scroll', () => {
  const PLANS = { reviewPlan, groupedPlan, driftPlan, mixedPlan };
  const rows = Object.entries(PLANS).flatMap(([name, plan]) =>
    SIZES.map(([width, height]) => ({ name, plan, width, height })),
  );
  test.each(longRows(rows, ({ name }) => name === 'groupedPlan'))(
    'of $name in a window of $width by $height',
    async ({ plan, width, height }) => {
      const { page } = await openReport(plan(), { viewport: { width, height } });
      const measured = await page.evaluate<Measured>(MEASURE);
      expect(measured).toMatchObject({ wider: 0, scrollers: [] });
      expect(measured.blank).toBeLessThanOrEqual(MARGIN);
      await page.mouse.move(width / 2, height / 2);
      await page.mouse.wheel(0, 100_000);
      const shown = await page.evaluate<number>(
        `[...document.querySelectorAll('main *')].filter((one) => {
          const { top, bottom, width } = one.getBoundingClientRect();
          return width > 1 && bottom > 0 && top < innerHeight;
        }).length`,
      );
      expect(shown).toBeGreaterThan(0);
    },
  );

  test.each(SIZES)('of the list in a window of %i by %i', async (width, height) => {
    const { page } = await openReport(crowdedPlan(), { viewport: { width, height } });
    await page.getByRole('button', { name: 'List and search' }).click();
    await page.locator('.entry').first().waitFor();
    expect(await page.evaluate(MEASURE)).toMatchObject({ wider: 0, height });
    // Below the long text there are names for screen readers.
    await page.locator('.entry', { hasText: 'agent.billing' }).click();
    expect(await page.evaluate(MEASURE)).toMatchObject({ wider: 0, height });
  });

  test('at 200 %, nothing is wider than the window', async () => {
    const { page } = await openReport(mixedPlan(), {
      viewport: { width: 640, height: 400 },
      deviceScaleFactor: 2,
    });
    expect(await page.evaluate(MEASURE)).toMatchObject({ wider: 0, scrollers: [] });
  });
});

/** Sheets of a page on paper. */
async function countSheets(page: Page): Promise<number> {
  const pdf = await page.pdf({ format: 'A4' });
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
}

describe('on paper', () => {
  const sixty = SITUATIONS.find(({ name }) => name.startsWith('one rule of a template for 60'));
  const SHEETS: readonly (readonly [string, PlanDocument | undefined, number])[] = [
    ['60 alike and two by themselves', sixty?.plan, 3],
    ['60 alike in long prompts, and a delete', mixedPlan(), 3],
    ['1,000 alike', groupedPlan(1000), 20],
  ];
  test.each(SHEETS)('%s', async (_, plan, most) => {
    if (plan === undefined) throw new Error('there is no such plan');
    const { page } = await openReport(plan);
    expect(await countSheets(page)).toBeLessThanOrEqual(most);
  });

  test('has every change, the worst first, and says what it leaves out', async () => {
    const { page } = await openReport(mixedPlan());
    await page.emulateMedia({ media: 'print' });
    const titles = await page.locator('.card h3').allInnerTexts();
    expect(titles[0]).toContain('Old front desk');
    expect(titles.at(-1)).toContain('60 agents alike');
    const { page: long } = await openReport(crowdedPlan(700));
    await long.emulateMedia({ media: 'print' });
    await expect.poll(() => long.locator('.card').count()).toBe(500);
    expect(await long.locator('.column').innerText()).toContain('207 more changes are not printed');
  });
});

test('the list is printed as it is filtered, each change whole', async () => {
  const { page } = await openReport(crowdedPlan());
  await page.getByRole('button', { name: 'List and search' }).click();
  await page.getByRole('button', { name: /^delete/ }).click();
  await page.emulateMedia({ media: 'print' });
  await expect.poll(() => page.locator('.column .card').count()).toBe(1);
  expect(await page.locator('.two').isVisible()).toBe(false);
  expect(await page.locator('.column').innerText()).toContain('sms_template.old_reminder');
});

describe('without its script', () => {
  const rows = longRows(SITUATIONS, ({ name }) => name.startsWith('one rule of a template'));
  test.each(rows.map((one) => [one.name, one] as const))('has all of %s', async (_, one) => {
    const { page } = await openPage(await renderReport(one.plan), { javaScriptEnabled: false });
    expect(findMissing(await page.locator('body').innerText(), one)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(MEASURE)).toMatchObject({ wider: 0, scrollers: [] });
  });
});

describe('"I have looked at this"', () => {
  test('is counted, kept on reload, and forgotten with the tab', async () => {
    const { page } = await openReport(mixedPlan());
    const count = page.getByRole('status');
    expect(await count.innerText()).toBe('0 of 3 looked at');
    await page.getByLabel('I have looked at this: Old front desk').check();
    await page.getByLabel('I have looked at this: 60 agents alike').check();
    expect(await count.innerText()).toBe('2 of 3 looked at');
    await page.reload();
    expect(await count.innerText()).toBe('2 of 3 looked at');
    await page.getByLabel('I have looked at this: Old front desk').uncheck();
    expect(await count.innerText()).toBe('1 of 3 looked at');
    const other = await page.context().newPage();
    await other.goto(page.url());
    expect(await other.getByRole('status').innerText()).toBe('0 of 3 looked at');
  });
});

describe('axe finds nothing in', () => {
  const VIEWS = (['light', 'dark'] as const).flatMap((scheme) =>
    [390, 1280].map((width) => [scheme, width] as const),
  );
  const few = longRows(VIEWS, ([scheme, width]) => (scheme === 'light') === (width === 1280));
  test.each(few)('any plan, %s and %i wide', async (colorScheme, width) => {
    const viewport = { width, height: 844 };
    for (const plan of [mixedPlan(), reviewPlan(), groupedPlan(9), driftPlan()]) {
      const { page } = await openReport(plan, { colorScheme, viewport });
      expect(await axeFindings(page), plan.purpose).toEqual([]);
    }
    const { page } = await openReport(crowdedPlan(), { colorScheme, viewport });
    await page.getByRole('button', { name: 'List and search' }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.locator('.entry').first().click();
    expect(await axeFindings(page)).toEqual([]);
  });
});

describe('many changes', () => {
  test('are added by need, and the page says how many there are', async () => {
    const { page, wrongs } = await openReport(crowdedPlan(1000));
    const cards = page.locator('.card');
    expect(await cards.count()).toBeLessThanOrEqual(200);
    expect(await page.locator('.rest').innerText()).toContain('The page shows');
    await page.evaluate("location.hash = '#agent.line_900'");
    await expect.poll(() => page.locator('[id="agent.line_900"]').count()).toBe(1);
    expect(wrongs).toEqual([]);
  });

  test('that are alike are one card', async () => {
    const { page } = await openReport(groupedPlan(1000));
    expect(await page.locator('.card').count()).toBe(5);
  });
});
