import { describe, expect, test } from 'vitest';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { buildOverview, cutToFit } from '../../src/render/overview.ts';
import { reviewPlan } from '../../src/render/text.ts';
import { longRows } from '../long.ts';
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
