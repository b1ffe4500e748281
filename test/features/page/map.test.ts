import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import type { Change, PlanDocument } from '../../../src/core/plan-document.ts';
import { packDocument } from '../../../src/features/page/pack.ts';
import { closeChromium } from '../../chromium.ts';
import { changeOf, fieldOf, planOf, UPTOWN } from '../../render/sample.ts';
import { axeFindings } from './axe.ts';
import { contrast } from './contrast.ts';
import { openReport } from './open-page.ts';
import { openUi } from './open-ui.ts';
import { driftPlan, fleetPlan, mixedPlan, reviewPlan } from './plans.ts';

/** The picture of a fleet: on the page of a plan, and in `callsheet ui`. */

afterAll(closeChromium);

const HOSTILE = `<img src=x onerror="globalThis.pwned=1">\u202e${'x'.repeat(200)}`;

/** 60 clinics, one of which was edited, one is held and one is new; of others one goes, and one has an evil and long name. */
function landingPlan(): PlanDocument {
  const { changes, ...head } = mixedPlan();
  const others: { readonly [at: number]: Partial<Change> } = {
    3: { fields: [fieldOf('greeting_message', 'Hi.', 'Hello.', { cause: 'drifted' })] },
    4: { verdict: 'held' },
    5: { action: 'create', id: null },
    6: { calls: 0 },
    60: { name: HOSTILE },
  };
  const given = changes.map((change, at) => ({ ...change, ...others[at] }));
  const policy = changeOf({ address: 'retry_policy.gentle', organization_id: null });
  const far = changeOf({ address: 'agent.far', organization_id: UPTOWN, calls: 30 });
  return planOf([...given, policy, far], head);
}

const count = (page: Page, selector: string) => page.locator(`.line ${selector}`).count();

describe('the picture of a plan', () => {
  test('has a square for each agent, with a frame, a dot or a cross as it changes', async () => {
    const { page, wrongs } = await openReport(landingPlan());
    expect(await count(page, '.square')).toBe(63);
    expect(await count(page, '.changed')).toBe(61);
    expect(await count(page, '.new')).toBe(1);
    expect(await count(page, '.gone')).toBe(1);
    expect(await count(page, '.edited')).toBe(1);
    expect(await count(page, '.held')).toBe(1);
    expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
    expect(await page.locator('.map').innerHTML()).not.toMatch(/\p{Cf}|<img/u);
    expect(wrongs).toEqual([]);
  });

  test('says in words what it shows, of all, of each organization and of each agent', async () => {
    const { page } = await openReport(landingPlan());
    const map = page.getByRole('region', { name: 'Where this lands' });
    expect(await map.locator('.legend li').allInnerTexts()).toEqual([
      '61 to change',
      '1 to create',
      '1 to delete',
      '1 of these held or refused',
      '1 edited outside Callsheet',
      '5 with 206 calls or more in 7 days',
      '56 with fewer calls',
      '1 without calls',
    ]);
    const heads = await map.locator('h3').allInnerTexts();
    expect(heads.map((head) => head.replace('\n', ': '))).toEqual([
      'harbor: 62 agents, 60 to change, 1 to create, 1 to delete, 1 of these held or refused, 1 edited outside Callsheet',
      'uptown: 1 agent, 1 to change',
    ]);
    const edited = map.getByRole('link', { name: /edited outside Callsheet$/ });
    expect(await edited.getAttribute('aria-label')).toBe(
      'Clinic 3, agent.clinic["dune-harbor-station-0"], 153 calls in 7 days, to change, edited outside Callsheet',
    );
    expect(await map.getByRole('link').count()).toBe(63);
    expect(await map.locator('.line > p').allInnerTexts()).toContain('alder-bay');
  });

  test('leads to the card of an agent, and is one tab stop', async () => {
    const { page } = await openReport(landingPlan());
    const squares = page.locator('.line a');
    expect(await page.locator('.line a[tabindex="0"]').count()).toBe(1);
    await squares.first().focus();
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowLeft']) await page.keyboard.press(key);
    const focused = 'document.activeElement.getAttribute("href")';
    expect(await page.evaluate(focused)).toBe(await squares.nth(1).getAttribute('href'));
    await page.locator('.line .gone').click();
    await expect
      .poll(() => page.evaluate('document.activeElement.textContent'))
      .toContain('Old front desk');
  });

  test.each([
    ['few agents', reviewPlan()],
    ['few that drifted', driftPlan()],
  ])('is not drawn of %s', async (_, plan) => {
    const { page } = await openReport(plan);
    expect(await page.locator('.map').count()).toBe(0);
  });

  test('shows of drift what was edited, and frames nothing', async () => {
    const { page } = await openReport({ ...mixedPlan(), purpose: 'drift' });
    expect(await count(page, '.edited')).toBe(61);
    expect(await count(page, '.gone')).toBe(1);
    expect(await count(page, '.changed')).toBe(0);
    expect(await page.locator('.map .legend').innerText()).toContain('1 gone');
  });

  test('shades nothing where the calls of one are not known', async () => {
    const { page } = await openReport(fleetPlan(300, 60));
    expect(await count(page, '.many')).toBe(0);
    expect(await page.locator('.legend').innerText()).not.toContain('calls');
  });
});

const SCHEMES = ['light', 'dark'] as const;
const WIDTHS = [390, 1280] as const;

describe.each(SCHEMES)('in %s', (colorScheme) => {
  test.each(WIDTHS)('is never wider than a window of %i, and axe finds nothing', async (width) => {
    const options = { colorScheme, viewport: { width, height: 844 } };
    const { page } = await openReport(landingPlan(), options);
    expect(await count(page, '.square')).toBe(63);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('what is to be told apart has a contrast of 3', async () => {
    const { page } = await openReport(landingPlan(), { colorScheme });
    const colors = await page.evaluate<Colors>(READ_COLORS);
    const pairs = [
      ['few', 'ground'],
      ['many', 'few'],
      ['many', 'ground'],
      ['frame', 'ground'],
      ['edge', 'ground'],
      ['dot', 'ground'],
      ['cross', 'ground'],
    ] as const;
    const faint = pairs.filter(([a, b]) => contrast(colors[a], colors[b]) < 3);
    expect(faint).toEqual([]);
  });
});

type Colors = {
  readonly [part in 'ground' | 'few' | 'many' | 'frame' | 'edge' | 'dot' | 'cross']: string;
};

/** As the browser works them out. */
const READ_COLORS = `(() => {
  const of = (selector, part) => getComputedStyle(document.querySelector(selector), part);
  return {
    ground: of(':root').backgroundColor,
    few: of('.line .few', '::before').backgroundColor,
    many: of('.line .many', '::before').backgroundColor,
    edge: of('.line .none', '::before').borderTopColor,
    frame: of('.line .changed').borderTopColor,
    dot: of('.line .edited', '::after').backgroundColor,
    cross: of('.line .gone', '::before').backgroundImage
      .match(/rgb\\([^)]*\\)/g)
      .find((color) => color !== of(':root').backgroundColor),
  };
})()`;

/** A state of 20 clinics in two organizations, of which the last run wrote two. */
function fleetDocuments() {
  const addresses = Array.from({ length: 20 }, (_, at) => `agent.clinic["c-${at}"]`);
  const resources = addresses.map((address, at) => ({
    address,
    kind: 'agent',
    id: `a-${at}`,
    name: `Clinic ${at}`,
    scope: {},
    protect: false,
  }));
  const facts = addresses.map((address, at) => {
    const run = at < 2 ? { id: 'r-2', at: '2026-02-28T09:00:00Z' } : null;
    return [address, { organization: at < 15 ? 'harbor' : null, status: 'active', run }];
  });
  const policy = { ...resources[0], address: 'retry_policy.gentle', kind: 'retry_policy' };
  return {
    'fleet.json': { serial: 7, account_id: null, resources: [...resources, policy] },
    'facts.json': Object.fromEntries(facts),
  };
}

describe('the picture in ui', () => {
  test('has every agent of the state, and frames what the last run wrote', async () => {
    const page = await openUi(fleetDocuments());
    await page.locator('.line .changed').first().waitFor();
    expect(await count(page, '.square')).toBe(20);
    expect(await page.locator('.legend').innerText()).toBe('2 written by the last run');
    const heads = await page.locator('.map h3').allInnerTexts();
    expect(heads.map((head) => head.split('\n')[0])).toEqual(['Without an organization', 'harbor']);
    await page.getByRole('link', { name: /^Clinic 7,/ }).click();
    await expect.poll(() => page.getByRole('status').last().innerText()).toBe('1 of 21 resources');
  });

  test('shows what the plan that it was given changes, among all that it does not', async () => {
    const changes = ['c-1', 'c-2', 'c-99'].map((key, at) =>
      changeOf({
        address: `agent.clinic["${key}"]`,
        action: (['update', 'delete', 'create'] as const)[at] ?? 'update',
      }),
    );
    const plan = packDocument(planOf(changes));
    const page = await openUi({ ...fleetDocuments(), 'plan.json': plan });
    await page.getByRole('button', { name: 'Fleet' }).click();
    await page.locator('.line .gone').waitFor();
    expect(await count(page, '.square')).toBe(21);
    expect([await count(page, '.changed'), await count(page, '.new')]).toEqual([1, 1]);
    expect(await axeFindings(page)).toEqual([]);
  });

  test.each(SCHEMES)(
    'is as narrow as a phone, and axe finds nothing, in %s',
    async (colorScheme) => {
      const page = await openUi(fleetDocuments(), {
        colorScheme,
        viewport: { width: 390, height: 844 },
      });
      await page.locator('.line').first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect(await axeFindings(page)).toEqual([]);
    },
  );
});
