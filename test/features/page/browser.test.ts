import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { renderReport } from '../../../src/features/page/render.ts';
import { kindNamed } from '../../../src/kinds/index.ts';
import type { Misfit } from '../../../src/plan/identify.ts';
import { misfitReason } from '../../../src/plan/messages.ts';
import { renderPlanMarkdown } from '../../../src/render/markdown.ts';
import { calloutRow } from '../../../src/render/prose/callout-words.ts';
import { renderPlanText } from '../../../src/render/text.ts';
import { closeChromium } from '../../chromium.ts';
import { longRows } from '../../long.ts';
import { changeOf, fieldOf, planOf } from '../../render/sample.ts';
import { SITUATIONS } from '../../render/situations.ts';
import { findMissing, readMarkdown } from '../../render/visible.ts';
import { type OpenedPage, openPage, openReport } from './open-page.ts';
import { crowdedPlan, driftPlan, groupedPlan, reviewPlan } from './plans.ts';

/** What the page does in a real Chromium. */

/** The list of a plan that has one. */
async function openList(): Promise<OpenedPage> {
  const opened = await openReport(crowdedPlan());
  await opened.page.getByRole('button', { name: 'List and search' }).click();
  return opened;
}

/** What runs, or reads as what it is not, where it is not escaped. */
const PAYLOADS = [
  '</script><script>globalThis.pwned=1</script>',
  '<img src=x onerror="globalThis.pwned=2;alert(1)">',
  '<!--<script>',
  'javascript:alert(3)//',
  '"><svg onload=alert(4)>',
  '\u202egnirts\u2066\u001b]0;owned\u0007\u2028{{constructor.constructor("alert(5)")()}}',
];

/** A name that runs, mentions everybody and ends a code span where it is not escaped. */
const EVIL_NAME = '<img src=x onerror="globalThis.pwned=2"> @everyone `x` | [a](javascript:1)';

afterAll(closeChromium);

const focused = (page: Page) =>
  page.evaluate<string>(
    "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent",
  );
const heading = (page: Page) => page.locator('.detail .card > header').innerText();

describe('a review', () => {
  test('shows by the sign of a field what became of it, and none of a new resource', async () => {
    const fields = [fieldOf('a', null, 1), fieldOf('b', 1, null), fieldOf('c', 1, 2)];
    const { page } = await openReport(planOf([changeOf({ fields })]));
    const colors = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.field .sign')].map((sign) => getComputedStyle(sign).color)",
    );
    expect(new Set(colors).size).toBe(3);
    const made = await openReport(
      planOf([changeOf({ action: 'create', fields: fields.slice(0, 1) })]),
    );
    expect(await made.page.locator('.field .sign').isVisible()).toBe(false);
  });

  test('shows the calls of an agent above its change', async () => {
    const calls = '1,412 calls in 7 days';
    const changes = [changeOf({ calls: 1412 }), changeOf({ address: 'agent.night', calls: 0 })];
    const { page } = await openReport(planOf(changes));
    expect(await page.locator('.card .calls').allInnerTexts()).toEqual([
      calls,
      'no calls in 7 days',
    ]);
  });

  test.each([
    ['a plan', { purpose: 'apply' as const }, 'Relies on 1 assumption: agent.delete.'],
    [
      'drift',
      { purpose: 'drift' as const },
      'Who changed what relies on 1 assumption: agent.delete.',
    ],
  ])('says of %s what an assumption is, and which command lists all', async (_, head, relies) => {
    const { page } = await openReport(planOf([], { ...head, assumptions: ['agent.delete'] }));
    await page.getByText(/^About this/).click();
    const facts = await page.locator('.about .pairs').innerText();
    expect(facts).toContain(`${relies} An assumption fills a gap`);
    expect(facts).toContain('documentation. To list them: callsheet explain assumptions');
  });

  test('shows of a conflict what was last written, too', async () => {
    const number = fieldOf('speed', 2, 3, { cause: 'conflict', base: 1 });
    const text = fieldOf('language', 'fr', 'de', { cause: 'conflict', base: 'en' });
    const { page } = await openReport(planOf([changeOf({ fields: [number, text] })]));
    expect(await page.locator('.field .value').innerText()).toBe('applied: 1');
    expect(await page.locator('.field .pair').innerText()).toMatch(/live\s+2\s+this plan\s+3/);
    expect(await page.locator('.three tbody td').allInnerTexts()).toEqual(['en', 'fr', 'de']);
  });

  test('notes what stands against a rollback as the other formats do', async () => {
    const changes = [changeOf({ verdict: 'refused' }), changeOf({ address: 'agent.other' })];
    const plan = planOf(changes, { purpose: 'rollback' });
    const { page } = await openReport(plan);
    const advice = 'Fix the refused changes, or pass --skip-refused to leave them out.';
    expect(await page.locator('.note .do').allInnerTexts()).toEqual([advice]);
    expect(renderPlanText(plan, { width: 200, color: false, verbose: false })).toContain(advice);
  });

  test('is read by keys alone, filtered and searched', async () => {
    const { page, wrongs } = await openList();
    const count = page.getByRole('status');
    expect(await count.innerText()).toBe('47 changes');

    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(await focused(page)).toContain('agent.billing');
    expect(await heading(page)).toContain('agent.billing');
    await page.keyboard.press('k');
    expect(await heading(page)).toContain('custom_voice.harbor');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toContain('Billing desk');
    await expect.poll(() => page.evaluate('location.hash')).toBe('#agent.billing');

    await page.keyboard.press('/');
    await page.keyboard.type('PRICE_LIST night');
    await expect.poll(() => count.innerText()).toBe('1 of 47 changes');
    expect(await heading(page)).toContain('agent.night');
    await page.keyboard.press('Escape');
    await expect.poll(() => count.innerText()).toBe('47 changes');

    await page.getByRole('button', { name: /^delete/ }).click();
    expect(await count.innerText()).toBe('1 of 47 changes');
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByLabel('Organization').selectOption({ label: 'uptown (2)' });
    expect(await count.innerText()).toBe('2 of 47 changes');
    await page.getByLabel('Kind').selectOption({ label: 'retry policies (1)' });
    expect(await count.innerText()).toBe('0 of 47 changes');
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

  test('shows words one above the other, names what turns a prompt, and unfolds', async () => {
    const { page: whole } = await openReport(reviewPlan());
    const page = whole.locator('[id="agent.reception"]');
    const removed = await page.locator('.pair del').allInnerTexts();
    const added = await page.locator('.pair ins').allInnerTexts();
    expect(removed).toContain('two');
    expect(added).toContain('three');
    const callouts = await page.locator('.callouts li').allInnerTexts();
    // The same as in the document, in its order; the last line counts the others.
    const reception = reviewPlan().changes.find(({ address }) => address === 'agent.reception');
    const told = (reception?.callouts ?? []).map(calloutRow).map(({ lead, before, after, place }) =>
      [
        // Its first letter is a capital there, and it has no colon.
        lead.replace(/^[ir](nstruction|ule)( \w+):/, '$1$2'),
        [before, after].filter((side) => side !== null).join(' → '),
        place,
      ]
        .join(' ')
        .trim(),
    );
    expect(callouts.at(-1)).toBe(`${told.length - callouts.length + 1} more`);
    const isOther = (text: string, at: number) =>
      !text.replace(/\s+/g, ' ').endsWith(told[at] ?? 'nothing');
    expect(callouts.slice(0, -1).filter(isOther)).toEqual([]);
    expect(callouts[0]).toMatch(/^Rule reversed\s+"Do not promise a price;/);
    const folds = page.locator('.fold');
    const count = await folds.count();
    await folds.first().click();
    expect(await folds.count()).toBe(count - 1);
    await page
      .locator('.callouts')
      .getByRole('button', { name: / more$/ })
      .click();
    await page.getByRole('button', { name: /Token/ }).click();
    await expect.poll(() => focused(whole)).toContain('{{price_list}}');
  });
});

describe('the column', () => {
  test('shows what stands alone and then the groups, which lead to each other', async () => {
    const { page, wrongs } = await openReport(groupedPlan());
    const titles = await page.locator('.card > header').allInnerTexts();
    const lines = ['old_reminder', 'agent.reception', 'c-007', 'bases.yaml:14', 'front-desk.md'];
    expect(titles).toHaveLength(lines.length);
    for (const [at, line] of lines.entries()) expect(titles[at]).toContain(line);
    const groups = page.locator('.card.many');
    expect(await groups.locator('.path code').allInnerTexts()).toEqual([
      'voice_settings.speed',
      'system_prompt',
    ]);
    await page.getByRole('link', { name: '60 agents alike' }).click();
    await expect.poll(() => page.evaluate('location.hash')).toBe('#group-2');
    expect(await page.getByRole('button', { name: 'List and search' }).count()).toBe(0);
    expect(wrongs).toEqual([]);
  });

  test('is read by keys, and begins at the change that its address names', async () => {
    const { page } = await openReport(groupedPlan());
    for (const _ of 'ab') await page.keyboard.press('j');
    expect(await focused(page)).toContain('Front desk');
    await page.keyboard.press('k');
    expect(await focused(page)).toContain('Old reminder');
    await page.evaluate('location.hash = encodeURIComponent(\'agent.clinic["c-007"]\')');
    await expect.poll(() => focused(page)).toContain('Clinic 7');
    await page.evaluate('location.hash = encodeURIComponent(\'agent.clinic["c-009"]\')');
    await expect.poll(() => focused(page)).toContain('60 agents alike');
  });
});

describe('what can be read without a click', () => {
  // Thousands of changes are many seconds of one core, and take the same path as hundreds.
  const shown = SITUATIONS.filter(({ plan }) => plan.changes.length < 1000);
  const rows = longRows(shown, ({ name }) => !name.includes('rolled back'));
  test.each(rows.map((one) => [one.name, one] as const))('is all of %s', async (_name, one) => {
    const { page } = await openReport(one.plan);
    const read = async () => {
      await page.evaluate("document.querySelector('.rest')?.scrollIntoView()");
      return findMissing(await page.locator('main').innerText(), one);
    };
    await expect.poll(read, { timeout: 30_000 }).toEqual([]);
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
    for (const plan of [reviewPlan(), driftPlan(), groupedPlan(4)]) {
      const { page, wrongs } = await openReport(poisoned(plan));
      for (const text of await page.locator('.card').allInnerTexts())
        expect(text).toContain('<img src=x');
      for (const key of ['j', 't', 'l', 'r']) await page.keyboard.press(key);
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      await page.evaluate("dispatchEvent(new Event('afterprint'))");
      expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
      expect(await page.locator('img, iframe, object, embed, svg[onload]').count()).toBe(0);
      // A direction override would show a text as what it is not.
      expect(await page.locator('body').innerText()).not.toMatch(/[\p{Cf}\u2028]/u);
      expect(wrongs).toEqual([]);
    }
  });
});

/** Each way in which a record may not fit its live resource, with names that somebody else gave. */
const MISFITS: { readonly [T in Misfit['type']]: Extract<Misfit, { readonly type: T }> } = {
  rivals: {
    type: 'rivals',
    live: EVIL_NAME,
    rivals: { name: EVIL_NAME, by: 'state', ids: ['a-1', EVIL_NAME] },
  },
  created: { type: 'created', recorded: EVIL_NAME, live: '2026-03-02T09:00:00Z' },
  unmade: { type: 'unmade', live: EVIL_NAME },
  scope: { type: 'scope', field: 'organization_id', recorded: EVIL_NAME, live: 'o-2' },
  renamed: { type: 'renamed', recorded: EVIL_NAME, live: EVIL_NAME },
};

test('what a forged record is refused with says the same in every view, and runs nothing', async () => {
  const refused = Object.entries(MISFITS).map(([type, misfit]) => {
    const change = changeOf({ address: `agent.${type}`, action: 'delete', name: EVIL_NAME });
    const identity = { kind: kindNamed('agent'), desired: undefined };
    return {
      ...change,
      verdict: 'refused',
      reason: misfitReason(change, misfit, identity),
    } as const;
  });
  const plan = planOf(refused);
  const bare = (text: string) => text.replace(/[\s`]+/g, '');
  const { page, wrongs } = await openReport(plan);
  const markdown = renderPlanMarkdown(plan);
  const views = {
    text: renderPlanText(plan, { width: 10_000, color: false, verbose: true }),
    markdown: readMarkdown(markdown.replace(/<\/?details>/g, '')),
    page: await page.locator('main').innerText(),
  };
  for (const [view, text] of Object.entries(views))
    for (const { reason } of refused) expect(bare(text), view).toContain(bare(reason));
  expect(markdown).not.toMatch(/<img|@everyone/);
  expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
  expect(await page.locator('img').count()).toBe(0);
  expect(wrongs).toEqual([]);
});
