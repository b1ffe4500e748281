import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { closeChromium } from '../chromium.ts';
import { openReport } from '../features/page/open-page.ts';
import { crowdedPlan } from '../features/page/plans.ts';
import { changeOf, fieldOf, planOf } from '../render/sample.ts';

/** What takes long of the tests of the page in a real Chromium. */

afterAll(closeChromium);

const focused = (page: Page) =>
  page.evaluate<string>(
    "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent",
  );

describe('ten thousand changes', () => {
  test('are there at once, and only those in sight are in the page', async () => {
    const { page, wrongs } = await openReport(crowdedPlan(10_000));
    await page.getByRole('button', { name: 'List and search' }).click();
    expect(await page.getByRole('status').innerText()).toBe('10,007 changes');
    const rows = page.locator('.list li');
    expect(await rows.count()).toBeLessThan(60);
    await page.locator('.list').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await page.getByText('agent.overflow').waitFor();
    expect(await rows.count()).toBeLessThan(60);
    await page.keyboard.press('/');
    await page.keyboard.type('line_7777');
    await expect.poll(() => page.getByRole('status').innerText()).toBe('1 of 10,007 changes');
    expect(wrongs).toEqual([]);
  });
});

test('is reached by Tab alone, and what has the focus shows it', async () => {
  const { page } = await openReport(crowdedPlan());
  await page.getByRole('button', { name: 'List and search' }).click();
  const seen: string[] = [];
  for (let at = 0; at < 40; at += 1) {
    await page.keyboard.press('Tab');
    const outline = await page.evaluate<string>(
      'getComputedStyle(document.activeElement).outlineStyle',
    );
    if ((await page.evaluate('document.activeElement === document.body')) === true) break;
    const name = await focused(page);
    expect(outline, name).not.toBe('none');
    seen.push(name.slice(0, 40));
  }
  const named = seen.join('\n');
  for (const name of ['Search', 'refused', 'Kind', 'retry_policy']) expect(named).toContain(name);
});

test('input of any size is shown in parts', async () => {
  const long = 'All work and no play. '.repeat(48_000);
  const fields = Array.from({ length: 5000 }, (_, at) => fieldOf(`extensions.f${at}`, at, at + 1));
  const { page, wrongs } = await openReport(
    planOf([
      changeOf({ address: 'agent.full', fields }),
      changeOf({ address: 'agent.long', fields: [fieldOf('system_prompt', null, long)] }),
      changeOf({
        address: 'agent.longer',
        fields: [fieldOf('system_prompt', long, `${long.replaceAll('work', 'rest')}!`)],
      }),
    ]),
  );
  const full = page.locator('[id="agent.full"] .field');
  expect(await full.count()).toBe(100);
  await page.getByRole('button', { name: 'Show 100 of 4,900 more fields' }).click();
  expect(await full.count()).toBe(200);
  expect((await page.locator('[id="agent.long"]').innerText()).length).toBeLessThan(25_000);
  await page.getByRole('button', { name: 'Compare' }).click();
  const longer = page.locator('[id="agent.longer"]');
  await longer.locator('.pair').first().waitFor();
  expect((await longer.innerText()).length).toBeLessThan(100_000);
  expect(wrongs).toEqual([]);
});
