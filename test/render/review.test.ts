import { describe, expect, test } from 'vitest';
import { packDocument } from '../../src/page/pack.ts';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { buildOverview, cutToFit, type Item } from '../../src/render/overview.ts';
import { reviewPlan } from '../../src/render/text.ts';
import { longRows } from '../long.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';
import { SITUATIONS } from './situations.ts';
import { findMissing, readMarkdown } from './visible.ts';

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
  const isShort = ([, { plan }]: (typeof NAMED)[number]) =>
    view !== '--verbose' || plan.changes.length < 1000;
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
    packDocument(plan).overview.groups[0]?.calls,
  ]);
  expect(told[0]).toContain('3 agents alike  1,410 calls in 7 days');
  expect(told[1]).toContain('3 agents alike, 1,410 calls in 7 days');
  expect(told[2]).toBe(1410);
  for (const text of told.slice(3)) expect(text ?? '').not.toContain('calls in');
});
