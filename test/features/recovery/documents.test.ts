import { describe, expect, test } from 'vitest';
import { packDocuments } from '../../../src/features/recovery/held.ts';

const document = (group: string, index: number) => ({
  name: `Agent ${index} of ${group}`,
  system_prompt: `Grüße, ${'agent '.repeat(index % 40)}${index} \u{1F4DE}`,
  nested: { list: [index, null, true] },
});

/** Documents of some groups, in turn, as a snapshot has them. */
function keepSome(groups: number, limits?: { readonly block: number; readonly open: number }) {
  const keep = packDocuments(limits);
  return Array.from({ length: 120 }, (_, index) => {
    const group = `agent ${index % groups}`;
    return { kept: keep(group, document(group, index)), put: document(group, index) };
  });
}

describe('documents that are kept packed', () => {
  test.each([
    ['while there are few', 3, undefined],
    ['in blocks of some', 3, { block: 2_000, open: 1_000_000 }],
    ['in blocks of one', 2, { block: 1, open: 1_000_000 }],
    ['where groups are too many to fill one', 60, { block: 1_000_000, open: 4_000 }],
    ['where nothing may stay open', 120, { block: 1_000_000, open: 1 }],
  ])('come back as they were %s', (_when, groups, limits) => {
    const all = keepSome(groups, limits);
    for (const { kept, put } of [...all, ...all.toReversed()]) expect(kept()).toEqual(put);
  });

  test('are another object each time', () => {
    const [one] = keepSome(1, { block: 500, open: 1_000 });
    expect(one?.kept()).not.toBe(one?.kept());
  });
});
