import { describe, expect, test } from 'vitest';
import { openPlanReview } from '../../../src/console/events.ts';
import { rowKey } from '../../../src/core/address.ts';
import type { PlanDocument } from '../../../src/core/plan-document.ts';
import { type FindSource, groupAlike } from '../../../src/plan/groups.ts';
import { renderPlanMarkdown } from '../../../src/render/markdown.ts';
import { buildOverview, cutToFit, type Item } from '../../../src/render/overview.ts';
import { reviewPlan } from '../../../src/render/text.ts';
import { longRows } from '../../long.ts';
import { changeOf, fieldOf, planOf } from '../../render/sample.ts';
import { editedTable, SITUATIONS } from '../../render/situations.ts';
import { findMissing, readMarkdown } from '../../render/visible.ts';

const NAMED = SITUATIONS.map((one) => [one.name, one] as const);

const terminal = (width: number, verbose = false) => ({ width, color: false, verbose });

/** Each view as it reads without a click or a flag. */
const VIEWS = {
  'a terminal of 120 columns': ({ plan }) => reviewPlan(plan, terminal(120)).text,
  'a terminal of 60 columns': ({ plan }) => reviewPlan(plan, terminal(60)).text,
  '--verbose': ({ plan }) => reviewPlan(plan, terminal(80, true)).text,
  'a comment': ({ plan }) => readMarkdown(renderPlanMarkdown(plan)),
} satisfies Record<string, (situation: (typeof SITUATIONS)[number]) => string>;

describe.each(Object.entries(VIEWS))('in %s', (view, read) => {
  // Everything of thousands of prompts takes a while.
  const isShort = ([name, { plan }]: (typeof NAMED)[number]) =>
    plan.changes.length < 1000 || (view === 'a comment' && !name.endsWith('rolled back'));
  test.each(longRows(NAMED, isShort))(
    'every address and every edit of %s can be read',
    (_name, situation) => {
      expect(findMissing(read(situation), situation)).toEqual([]);
    },
  );
});

const sixty = SITUATIONS.filter(({ name }) => name.startsWith('one rule of a template'));

test.each(sixty.map((one) => [one.name, one] as const))('%s is short', (_name, { plan }) => {
  expect(plan.groups).toHaveLength(1);
  expect(reviewPlan(plan, terminal(80)).text.split('\n').length).toBeLessThanOrEqual(100);
  expect(renderPlanMarkdown(plan).length).toBeLessThanOrEqual(12_000);
});

describe('the edit of two columns in 1,000 rows', () => {
  const { changes: made, findSource, pairs, odd } = editedTable(1000, 17);
  const { changes } = planOf(made);
  const configured = changes.map(({ address }) => address);
  const plan = planOf(changes, { groups: groupAlike(changes, findSource, configured) });

  test.each([
    ['a terminal of 80 columns', reviewPlan(plan, terminal(80)).text, ' → '],
    ['a comment', readMarkdown(renderPlanMarkdown(plan)), ' | '],
  ])('is read at once in %s', (_view, text, between) => {
    expect(text.split('\n').length).toBeLessThanOrEqual(100);
    expect(text.length).toBeLessThanOrEqual(20_000);
    for (const [at, [before, after]] of pairs.entries()) {
      const count = 66 + Number(at < 10);
      expect(text).toMatch(
        new RegExp(`"${before}"${between.replace('|', '\\|')}"${after}".* ${count} rows, `),
      );
    }
    expect(text).toContain('"Welcome to clinic number <n>, how can we help?"');
    expect(text.split(odd)).toHaveLength(2);
    expect(text).toContain('1 row in full: agent.clinic["alder-bay-garden-center"]');
    expect(text).toContain('all rows of agent.clinic["…"]');
    expect(text).toContain('2 columns of clinics.csv');
  });

  test('names a rule that a value reverses first, with its rows', () => {
    const rules = ['Do not quote any prices.', 'Do not quote prices.', 'You may quote prices.'];
    const [head, tail] = ['# Rules\nYou answer the phone of a clinic.\n', '\nBe friendly.\n'];
    const prompt = (rule = '') => head + rule + tail;
    const some = planOf(
      changes.slice(0, 60).map((change, at) => ({
        ...change,
        fields: [fieldOf('system_prompt', prompt(rules[1]), prompt(rules[at === 7 ? 2 : 0]))],
      })),
    ).changes;
    const rule: FindSource = ({ address }) => {
      const value = rules[address === some[7]?.address ? 2 : 0] ?? '';
      return {
        file: 'prompts/front-desk.md',
        parts: () => [head, { expression: '${rule}', value, file: 'clinics.csv' }, tail],
      };
    };
    const ruled = planOf(some, { groups: groupAlike(some, rule) });
    for (const text of [
      reviewPlan(ruled, terminal(80)).text,
      readMarkdown(renderPlanMarkdown(ruled)),
    ]) {
      const said = text.indexOf('rule reversed: "Do not quote prices." → "You may quote prices."');
      expect(said).toBeGreaterThan(0);
      expect(said).toBeLessThan(text.indexOf('59 rows'));
      expect(text).toContain(`1 row, ${rowKey(some[7]?.address ?? '')}`);
    }
  });
});

test('what is cut first is the largest group, and last what stands first', () => {
  for (const { plan } of SITUATIONS) {
    const overview = buildOverview(plan);
    const order: readonly Item[] = [...overview.alone, ...overview.groups];
    const lengthOf = (_: Item, detail: string) => (detail === 'whole' ? 10 : 1);
    for (const room of [0, 5, 50, 500]) {
      const brief = cutToFit(overview, { room }, lengthOf);
      const length = order.reduce(
        (sum, item) => sum + lengthOf(item, brief.has(item) ? 'brief' : 'whole'),
        0,
      );
      // It fits, or everything but the first is cut, and that too where there is no more room at all.
      expect(length <= room || brief.size === order.length - 1).toBe(true);
      const most = { room, most: room };
      expect(cutToFit(overview, most, lengthOf).size).toBe(brief.size + (length <= room ? 0 : 1));
      const cut = [...overview.groups.toReversed(), ...overview.alone.toReversed()];
      expect(cut.slice(0, brief.size)).toEqual([...brief]);
    }
  }
});

test('a group says how many calls all of its agents took, where all are known', () => {
  const plans = [[3, 1407, 0].map((calls) => ({ calls })), [{ calls: 3 }, {}, { calls: 1 }]].map(
    (known) => {
      const fields = [fieldOf('model', 'a', 'b')];
      const changes = known.map((one, at) => changeOf({ address: `agent.a${at}`, fields, ...one }));
      const addresses = changes.map(({ address }) => address);
      const groups = [
        {
          kind: 'agent',
          action: 'update' as const,
          addresses,
          fields: [{ path: 'model', source: null }],
        },
      ];
      return planOf(changes, { groups });
    },
  );
  const told = plans.flatMap((plan) => [
    reviewPlan(plan, terminal(80)).text,
    renderPlanMarkdown(plan),
    buildOverview(plan).groups[0]?.calls,
  ]);
  expect(told[0]).toContain('3 agents alike  1,410 calls in 7 days');
  expect(told[1]).toContain('3 agents alike, 1,410 calls in 7 days');
  expect(told[2]).toBe(1410);
  for (const text of told.slice(3)) expect(text ?? '').not.toContain('calls in');
});

describe('who approves', () => {
  /** What a person reads and is asked who gives some answers, and what comes of it. */
  async function decide(plans: readonly PlanDocument[], ...answers: readonly string[]) {
    const left = [...answers];
    const asked: string[] = [];
    let out = '';
    const review = openPlanReview({
      out: (text) => {
        out += text;
      },
      err: () => undefined,
      render: terminal(80),
      renderErr: terminal(80),
      wrapsErr: false,
      canAsk: true,
      ask: async (question) => {
        asked.push(question);
        return left.shift() ?? '';
      },
    });
    const [only, ...others] = plans;
    if (only !== undefined && others.length === 0) review.show(only);
    else for (const [at, plan] of plans.entries()) review.add(plan, `stack ${at + 1}`);
    const isAgreed = await review.confirm('Apply?');
    return { isAgreed, asked, out };
  }

  const isShort = ([, { plan }]: (typeof NAMED)[number]) => plan.changes.length < 1000;

  test.each(longRows(NAMED, isShort))('reads all of %s before saying yes', async (_, situation) => {
    const { plan } = situation;
    const { folded } = reviewPlan(plan, terminal(80));
    const { isAgreed, asked, out } = await decide([plan], ...(folded > 0 ? ['show'] : []), 'yes');
    expect(isAgreed).toBe(true);
    expect(asked).toHaveLength(folded > 0 ? 2 : 1);
    expect(asked[0]?.includes('shown in brief')).toBe(folded > 0);
    expect(findMissing(out, situation)).toEqual([]);
  });

  const long = SITUATIONS.find(({ name }) => name === 'twelve different edits')?.plan ?? planOf([]);

  test('is told how many changes are shown in brief, and anything but yes is no', async () => {
    const { folded } = reviewPlan(long, terminal(80));
    expect(folded).toBeGreaterThan(1);
    const { asked } = await decide([long], 'no');
    expect(asked).toEqual([
      `${folded} changes are shown in brief. Apply? Type "yes", "no", or "show" to read all of it first: `,
    ]);
    for (const answers of [['no'], ['Show'], [''], ['show', 'show'], ['show', 'no']])
      expect((await decide([long], ...answers)).isAgreed, answers.join()).toBe(false);
  });

  test('is shown the plans of all stacks, each below its title', async () => {
    const { isAgreed, asked, out } = await decide([long, long], 'show', 'yes');
    expect(isAgreed).toBe(true);
    expect(asked[0]).toMatch(/^12 changes are shown in brief\. /);
    expect(out.split(/^stack \d$/m)).toHaveLength(3);
  });
});
