import { expect, test } from 'vitest';
import { judgeLeaf, type Outcome } from '../../src/diff/outcome.ts';

type Seen = Parameters<typeof judgeLeaf>[0];

const FACTS = [
  'isChanged',
  'isOwned',
  'isReturned',
  'isAsSent',
  'isAsBefore',
  'isAlike',
  'isGone',
  'hasOthers',
] as const satisfies readonly (keyof Seen)[];

const ALL: readonly Seen[] = Array.from({ length: 2 ** FACTS.length }, (_, number) => {
  const is = (at: number) => (number >> at) % 2 === 1;
  return {
    isChanged: is(0),
    isOwned: is(1),
    isReturned: is(2),
    isAsSent: is(3),
    isAsBefore: is(4),
    isAlike: is(5),
    isGone: is(6),
    hasOthers: is(7),
  };
});

/** It has another value than what was sent, and was neither lost nor left. */
const OTHERS: readonly Partial<Seen>[] = [
  { isChanged: true, isAsBefore: false },
  { isChanged: true, isAsBefore: true, isAlike: true },
  { isChanged: false, isGone: false },
];

/** The table above `judgeLeaf`: what a row does not name is all one to it. */
const ROWS: readonly (readonly [Partial<Seen>, Outcome])[] = [
  [{ isReturned: false }, 'unreturned'],
  [{ isReturned: true, isChanged: true, isAsSent: true }, 'took'],
  [{ isReturned: true, isChanged: false, isAsSent: true }, 'kept'],
  [
    { isReturned: true, isChanged: true, isAsSent: false, isAsBefore: true, isAlike: false },
    'not_taken',
  ],
  [{ isReturned: true, isChanged: false, isAsSent: false, isGone: true }, 'lost'],
  ...OTHERS.flatMap((facts): (readonly [Partial<Seen>, Outcome])[] => {
    const other = { isReturned: true, isAsSent: false, ...facts };
    return [
      [{ ...other, isOwned: false }, 'moved'],
      [{ ...other, isOwned: true, hasOthers: false }, 'stored_as'],
      [{ ...other, isOwned: true, hasOthers: true }, 'overwritten'],
    ];
  }),
];

test('each row of the table decides, and one row fits whatever is seen', () => {
  for (const seen of ALL) {
    const fitting = ROWS.filter(([row]) =>
      FACTS.every((fact) => (row[fact] ?? seen[fact]) === seen[fact]),
    );
    expect(
      fitting.map(([, outcome]) => outcome),
      JSON.stringify(seen),
    ).toEqual([judgeLeaf(seen)]);
  }
  expect(ALL).toHaveLength(256);
});
