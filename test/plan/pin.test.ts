import { expect, test } from 'vitest';
import { isStampOver, STAMP_DOUBT_MS } from '../../src/plan/pin.ts';

const AT = Date.parse('2026-11-22T12:00:00.000Z');
const before = (milliseconds: number) => new Date(AT - milliseconds).toISOString();

test.each<readonly [string, string | null, boolean]>([
  ['long ago', before(STAMP_DOUBT_MS * 6), true],
  ['just long enough', before(STAMP_DOUBT_MS), true],
  ['a moment ago', before(STAMP_DOUBT_MS - 1), false],
  ['of now', before(0), false],
  ['to come, by a clock that runs ahead', before(-60_000), false],
  ['with an offset', '2026-11-22T12:30:00.000+01:00', true],
  ['with an offset that makes it a moment ago', '2026-11-22T12:59:59.000+01:00', false],
  ['that does not say its zone', '2026-11-21T12:00:00', false],
  ['that is no time', 'yesterday', false],
  ['that is not told', null, false],
])('a stamp %s', (_, stamp, isOver) => {
  expect(isStampOver(stamp, AT)).toBe(isOver);
});
