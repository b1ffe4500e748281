import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isTorture } from '../long.ts';
import { type Month, months, type Played, play, type Story } from './month.ts';
import { RULES, timeOf } from './oracle.ts';

/**
 * A team works on a fleet for days: pull requests, the workflows that `init` writes, edits in the dashboard, and whatever
 * goes wrong on GitHub. Each night an oracle that shares nothing with the program asks who could know what is not live.
 */
const [days, seeds] = isTorture ? [30, [1, 2, 3]] : [2, [63]];

/** Stories of a day. More of them meet in the long months. */
const perDay = isTorture ? 12 : 8;

describe.each(seeds)(`${days} days of a team, seed %i`, (seed) => {
  test(
    'nobody is surprised',
    async () => {
      const [month] = fc.sample(months(days, perDay), { seed, numRuns: 1 });
      if (month === undefined) throw new Error('nothing was drawn');
      expectCalm(await play(month), isTorture ? 2 : 0);
    },
    days * 3 * 60_000,
  );
});

const CAREFUL = {
  who: 'ana',
  after: 20,
  how: 'merge',
  isStale: false,
  labels: false,
  insists: true,
  follows: false,
} as const;

const at = (hour: number, story: Story) => ({ minute: hour * 60, story });
const changed = (what: 'greeting' | 'remove' | 'refused', pick: number, more = {}): Story => ({
  do: 'change',
  change: { what, pick },
  habits: { ...CAREFUL, ...more },
});

/** Short ones that each show one thing that once went wrong. Their days are Wednesday, Thursday and Friday. */
const ONCE: readonly (readonly [name: string, state: Month['state'], days: Month['days']])[] = [
  [
    'three merges while an apply waits',
    'store',
    [
      [
        at(19, {
          do: 'rush',
          habits: CAREFUL,
          changes: [1, 7, 13].map((pick) => ({ what: 'greeting', pick })),
        }),
      ],
    ],
  ],
  ['a delete without its label', 'store', [[at(9, changed('remove', 4))]]],
  [
    'an edit below a delete that waits',
    'store',
    [
      [at(9, { do: 'hand, then remove', pick: 6, habits: CAREFUL })],
      [at(9, changed('remove', 9, { labels: true }))],
    ],
  ],
  [
    'an apply from a checkout that is behind',
    'store',
    [[at(8, changed('greeting', 4)), at(12, { do: 'laptop', who: 'ben', behind: 1 })]],
  ],
  ['a pull request in a freeze', 'store', [[], [], [at(15, changed('greeting', 4))]]],
  [
    'a refused change on main',
    'store',
    [[at(9, changed('refused', 1)), at(11, changed('greeting', 4))]],
  ],
  [
    'a pull request after a rollback',
    'store',
    [
      [
        at(7, { do: 'hand', pick: 9, path: 'greeting_message' }),
        at(8, changed('greeting', 4)),
        at(10, { do: 'rollback', who: 'ana', at: 'desk', habits: CAREFUL }),
        at(14, changed('greeting', 7)),
      ],
    ],
  ],
  [
    'a secret that is rotated after the cache was lost',
    'cache',
    [[at(9, { do: 'lose cache' }), at(10, { do: 'rotate', follows: true })]],
  ],
];

if (isTorture)
  test.each(ONCE)('once: %s', async (_, state, days) => {
    expectCalm(await play({ state, days }), 0);
  });

/** @param mostRed checks that may be red for nothing */
function expectCalm({ findings, outcomes, log, nights }: Played, mostRed: number): void {
  const rows = [...outcomes].map(
    ([event, row]) =>
      `  ${event}: ${[...row].map(([name, count]) => `${count} ${name}`).join(', ')}`,
  );
  const wrong = findings.map(({ rule, at, what }) => `  ${timeOf(at)} ${rule}: ${what}`);
  const dark = new Set(findings.flatMap(({ rule, at }) => (rule === 'untold' ? [at] : [])));
  const numbers = RULES.map(
    (rule) => `${findings.filter((one) => one.rule === rule).length} ${rule}`,
  );
  const story = [
    `${nights} nights, in ${dark.size} of them something that nobody was told; ${numbers.join(', ')}`,
    ...rows,
    ...wrong,
  ].join('\n');
  if (isTorture) process.stdout.write(`${story}\n`);
  const file = process.env.TEAM_LOG;
  if (file !== undefined) writeFileSync(file, `${story}\n\n${log.join('\n')}\n`);
  const red = findings.filter(({ rule }) => rule === 'red for nothing');
  const others = findings.filter(({ rule }) => rule !== 'red for nothing');
  expect(others, `${story}\n\n${log.join('\n')}`).toEqual([]);
  expect(red.length, `${story}\n\n${log.join('\n')}`).toBeLessThanOrEqual(mostRed);
}
