import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { renderReport } from '../../src/page/report.ts';
import { changeOf, fieldOf, planOf } from '../render/sample.ts';
import { closeChromium } from './chromium.ts';
import { openPage, openReport } from './open-page.ts';
import { driftPlan, fleetPlan, reviewPlan } from './plans.ts';

/** What the page does in a real Chromium. */

afterAll(closeChromium);

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds, in words; its script gets in beside the page's policy, as the developer tools do. */
async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
  );
}

const focused = (page: Page) =>
  page.evaluate<string>(
    "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent",
  );
const heading = (page: Page) => page.locator('.detail h2').innerText();

describe('a review', () => {
  test('is read by keys alone, filtered and searched', async () => {
    const { page, wrongs } = await openReport(reviewPlan());
    const count = page.getByRole('status');
    expect(await count.innerText()).toBe('7 changes');

    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(await focused(page)).toContain('agent.reception');
    expect(await heading(page)).toContain('agent.reception');
    await page.keyboard.press('k');
    expect(await heading(page)).toContain('custom_voice.harbor');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toContain('agent.reception');
    await expect.poll(() => page.evaluate('location.hash')).toBe('#agent.reception');

    await page.keyboard.press('/');
    await page.keyboard.type('PRICE_LIST night');
    await expect.poll(() => count.innerText()).toBe('1 of 7 changes');
    expect(await heading(page)).toContain('agent.night');
    await page.keyboard.press('Escape');
    await expect.poll(() => count.innerText()).toBe('7 changes');

    await page.getByRole('button', { name: /^delete/ }).click();
    expect(await count.innerText()).toBe('1 of 7 changes');
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByLabel('Organization').selectOption({ label: 'uptown (2)' });
    expect(await count.innerText()).toBe('2 of 7 changes');
    await page.getByLabel('Kind').selectOption({ label: 'retry policies (1)' });
    expect(await count.innerText()).toBe('0 of 7 changes');
    expect(await page.locator('.detail').innerText()).toContain('No change fits');

    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.getByLabel('Single keys do this').uncheck();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Show all' }).click();
    const before = await heading(page);
    await page.keyboard.press('j');
    expect(await heading(page)).toBe(before);
    expect(wrongs).toEqual([]);
  });

  test('shows words side by side, names what turns a prompt, and unfolds', async () => {
    const { page } = await openReport(reviewPlan());
    await page
      .getByRole('link', { name: /agent\.reception/ })
      .first()
      .click();
    const removed = await page.locator('.sides del').allInnerTexts();
    const added = await page.locator('.sides ins').allInnerTexts();
    expect(removed).toContain('two');
    expect(added).toContain('three');
    const callouts = await page.locator('.callouts li').allInnerTexts();
    expect(callouts.join('\n')).toMatch(/Negation\s+Do not\s+→\s+You may/);
    const folds = page.locator('.fold button');
    const count = await folds.count();
    await folds.first().click();
    expect(await folds.count()).toBe(count - 1);
    await page.getByRole('button', { name: /Token/ }).click();
    await expect.poll(() => focused(page)).toContain('{{price_list}}');
  });

  test('walks along the graph of its references', async () => {
    const { page } = await openReport(reviewPlan());
    await page.keyboard.press('g');
    const nodes = page.locator('.graph .node');
    expect(await nodes.count()).toBe(6);
    expect(await page.locator('.graph .edge').count()).toBe(8);
    await page.getByRole('link', { name: /agent.night Night line/ }).click();
    await page.getByRole('button', { name: 'Open agent.night' }).click();
    expect(await heading(page)).toContain('agent.night');
    expect(await page.locator('.links').innerText()).toContain('retry_policy.gentle');
  });

  test('is reached by Tab alone, and what has the focus shows it', async () => {
    const { page } = await openReport(reviewPlan());
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
    for (const name of ['Colours', 'Keys', 'Notes', 'Search', 'refused', 'Kind', 'retry_policy'])
      expect(named).toContain(name);
  });
});

describe('axe finds nothing in', () => {
  const VIEWS = [
    ['the changes', reviewPlan, undefined],
    ['the graph', reviewPlan, 'g'],
    ['the notes', reviewPlan, 'n'],
    ['the keys', reviewPlan, '?'],
    ['drift', driftPlan, undefined],
    ['the time line', driftPlan, 't'],
  ] as const;

  test.each(['light', 'dark'] as const)('any view, %s', async (colorScheme) => {
    for (const plan of [reviewPlan, driftPlan]) {
      const { page } = await openReport(plan(), { colorScheme });
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      for (const [name, of, key] of VIEWS) {
        if (of !== plan) continue;
        if (key !== undefined) await page.keyboard.press(key);
        expect(await axeFindings(page), `${name}, ${colorScheme}`).toEqual([]);
      }
    }
  });
});

describe('ten thousand changes', () => {
  test('are there at once, and only those in sight are in the page', async () => {
    const { page, wrongs } = await openReport(fleetPlan(10_000, 60));
    expect(await page.getByRole('status').innerText()).toBe('10,001 changes');
    const rows = page.locator('.list li');
    expect(await rows.count()).toBeLessThan(60);
    await page.locator('.list').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await page.getByText('agent.clinic["clinic-09999"]').waitFor();
    expect(await rows.count()).toBeLessThan(60);
    await page.keyboard.press('/');
    await page.keyboard.type('clinic-07777');
    await expect.poll(() => page.getByRole('status').innerText()).toBe('1 of 10,001 changes');
    expect(wrongs).toEqual([]);
  });
});

describe('the policy', () => {
  test('keeps out a script, a style, a handler and a request that got into the page', async () => {
    const html = await renderReport(planOf([]));
    const asked: string[] = [];
    const server = createServer(({ url }, response) => {
      asked.push(url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const elsewhere = `http://127.0.0.1:${port}`;
    const evil = [
      '<script>globalThis.pwned = 1</script>',
      `<img src="${elsewhere}/x" onerror="globalThis.pwned = 2">`,
      '<style>h1 { color: rgb(1, 2, 3) }</style>',
      '<iframe srcdoc="<script>top.pwned = 3</script>"></iframe>',
      `<form action="${elsewhere}/"><button id="send">send</button></form>`,
    ].join('');
    const { page, wrongs } = await openPage(html.replace('</body>', `${evil}</body>`));
    expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
    const colour = await page.evaluate("getComputedStyle(document.querySelector('h1')).color");
    expect(colour).not.toBe('rgb(1, 2, 3)');
    await page.evaluate("document.getElementById('send').click()");
    expect(asked).toEqual([]);
    expect(wrongs.filter((wrong) => /Content.Security.Policy/i.test(wrong)).length).toBeGreaterThan(
      2,
    );
    const trusted = await page
      .evaluate("document.body.innerHTML = '<b>x</b>'")
      .catch((error: unknown) => String(error));
    expect(trusted).toContain('TrustedHTML');
  });
});

describe('bad input', () => {
  const PAYLOADS = [
    '</script><script>globalThis.pwned=1</script>',
    '<img src=x onerror="globalThis.pwned=2;alert(1)">',
    '<!--<script>',
    'javascript:alert(3)//',
    '"><svg onload=alert(4)>',
    '\u202egnirts\u2066\u001b]0;owned\u0007\u2028{{constructor.constructor("alert(5)")()}}',
  ];

  /** Every text of a plan that is live or configured, with a payload behind it. */
  function poisoned<T>(value: T, key = ''): T {
    const kept = [
      'format',
      'purpose',
      'action',
      'verdict',
      'cause',
      'step',
      'certainty',
      'because',
    ];
    const spoil = (one: unknown): unknown => {
      if (typeof one === 'string') return `${one}${PAYLOADS.join(' ')}`;
      return poisoned(one, key);
    };
    if (Array.isArray(value)) return value.map(spoil) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const isKept = kept.includes(name) || name === 'weight' || name === 'severity';
        const named = key === 'before' || key === 'after' ? `${name}${PAYLOADS[1]}` : name;
        return [named, isKept ? member : poisoned(spoil(member), name)];
      }),
    ) as T;
  }

  test('runs nothing and asks for nothing, in whatever text it stands', async () => {
    for (const plan of [reviewPlan(), driftPlan()]) {
      const { page, wrongs } = await openReport(poisoned(plan));
      for (const change of plan.changes) {
        await page.keyboard.press('j');
        expect(await page.locator('.detail').innerText()).toContain('<img src=x');
        expect(change.address).not.toBe('');
      }
      for (const key of ['g', 't', 'n', 'c']) await page.keyboard.press(key);
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      await page.evaluate("dispatchEvent(new Event('afterprint'))");
      expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
      expect(await page.locator('img, iframe, object, embed, svg[onload]').count()).toBe(0);
      // A direction override would show a text as what it is not.
      expect(await page.locator('body').innerText()).not.toMatch(/[\p{Cf}\u2028]/u);
      expect(wrongs).toEqual([]);
    }
  });

  test('of any size is shown in parts', async () => {
    const long = 'All work and no play. '.repeat(48_000);
    const fields = Array.from({ length: 5000 }, (_, at) =>
      fieldOf(`extensions.f${at}`, at, at + 1),
    );
    const { page, wrongs } = await openReport(
      planOf([
        changeOf({ address: 'agent.many', fields }),
        changeOf({ address: 'agent.long', fields: [fieldOf('system_prompt', null, long)] }),
        changeOf({
          address: 'agent.longer',
          fields: [fieldOf('system_prompt', long, `${long.replaceAll('work', 'rest')}!`)],
        }),
      ]),
    );
    expect(await page.locator('.field').count()).toBe(100);
    await page.getByRole('button', { name: 'Show 100 of 4,900 more fields' }).click();
    expect(await page.locator('.field').count()).toBe(200);
    await page.keyboard.press('j');
    await expect.poll(() => heading(page)).toContain('agent.long');
    expect((await page.locator('.detail').innerText()).length).toBeLessThan(25_000);
    await page.keyboard.press('j');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.locator('.sides').waitFor();
    expect((await page.locator('.detail').innerText()).length).toBeLessThan(100_000);
    expect(wrongs).toEqual([]);
  });
});

test('paper shows every change, with nothing folded', async () => {
  const { page, wrongs } = await openReport(reviewPlan());
  await page.emulateMedia({ media: 'print' });
  await page.locator('.paper').waitFor();
  expect(await page.locator('.paper article').count()).toBe(7);
  expect(await page.locator('.paper .fold').count()).toBe(0);
  expect(await page.locator('.paper details:not([open])').count()).toBe(0);
  expect(await page.locator('.two').isVisible()).toBe(false);
  expect((await page.pdf()).length).toBeGreaterThan(20_000);
  expect(wrongs).toEqual([]);
});
