import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { containsTextEdit } from '../../src/diff/text.ts';
import { compares } from './rows.ts';

const text = (...lines: readonly string[]) => lines.join('\n');

describe('a text contains an edit', () => {
  test.each([
    [
      'that added a line, and one more',
      text('a', 'b', 'c', 'd'),
      text('a', 'b'),
      text('a', 'b', 'c'),
      true,
    ],
    [
      'that added a line before others',
      text('c', 'a', 'x'),
      text('a', 'b'),
      text('c', 'a', 'b'),
      true,
    ],
    [
      'that changed a line',
      text('a', 'B', 'c', 'd'),
      text('a', 'b', 'c'),
      text('a', 'B', 'c'),
      true,
    ],
    ['that took a line away', text('a', 'c', 'd'), text('a', 'b', 'c'), text('a', 'c'), true],
    [
      'but not where the line is there again',
      text('a', 'b', 'c', 'd'),
      text('a', 'b', 'c'),
      text('a', 'c'),
      false,
    ],
    [
      'but not a line that is not there',
      text('a', 'b', 'd'),
      text('a', 'b'),
      text('a', 'b', 'c'),
      false,
    ],
    ['but not of a line that both changed', text('a', 'x'), text('a', 'b'), text('a', 'c'), false],
    ['but not of a text that is another one', 'Good evening', 'Hello', 'Good day', false],
    ['but not in another order', text('d', 'c'), text('a'), text('a', 'c', 'd'), false],
  ])('%s', (_title, own, before, after, isContained) => {
    expect(containsTextEdit(own, before, after)).toBe(isContained);
  });

  const lines = fc.uniqueArray(fc.stringMatching(/^[a-z]{3}$/), { minLength: 1, maxLength: 12 });
  const cuts = fc.array(fc.nat(11), { maxLength: 3 });
  const edited = (all: readonly string[], at: readonly number[], mark: string) =>
    all.flatMap((line, index) => (at.includes(index) ? [`${mark} ${index} ${line}`] : [line]));

  test('that somebody went on from, and never one that is missing', () => {
    fc.assert(
      fc.property(lines, cuts, fc.nat(12), (before, theirs, place) => {
        const after = edited(before, theirs, 'THEIRS');
        const own = after.toSpliced(Math.min(place, after.length), 0, 'OWN');
        expect(containsTextEdit(text(...own), text(...before), text(...after))).toBe(true);
        const without = before.toSpliced(Math.min(place, before.length), 0, 'OWN');
        const isSame = text(...after) === text(...before);
        expect(containsTextEdit(text(...without), text(...before), text(...after))).toBe(isSame);
      }),
    );
  });
});

describe('what contains the edit of the other side is a change', () => {
  const links = (...ids: readonly string[]) => ({ knowledgebase_links: ids });
  compares([
    {
      title: 'of a set with the element that was added',
      applied: links('a'),
      desired: links('a', 'b', 'c'),
      live: links('b', 'a'),
      finds: { knowledgebase_links: 'changed' },
    },
    {
      title: 'but not without it',
      applied: links('a'),
      desired: links('a', 'c'),
      live: links('a', 'b'),
      finds: { knowledgebase_links: 'conflict' },
    },
    {
      title: 'nor with an element that was taken away',
      applied: links('a', 'b'),
      desired: links('a', 'b', 'c'),
      live: links('a'),
      finds: { knowledgebase_links: 'conflict' },
    },
    {
      title: 'of a short text with the line that was added',
      applied: { description: 'One.' },
      desired: { description: 'One.\nTwo.\nThree.' },
      live: { description: 'One.\nTwo.' },
      finds: { description: 'changed' },
    },
    {
      title: 'not of a number',
      applied: { voice_settings: { speed: 1 } },
      desired: { voice_settings: { speed: 1.2 } },
      live: { voice_settings: { speed: 1.1 } },
      finds: { 'voice_settings.speed': 'conflict' },
    },
  ]);
});
