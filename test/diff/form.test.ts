import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fillPieces, findForm, matchPieces } from '../../src/diff/form.ts';
import { runs } from '../long.ts';

const word = fc.constantFrom('Desk', 'open', 'to', 'Alder', 'Bay', '5', '17', 'é', '.', ', ');
const piece = fc.array(word, { maxLength: 3 }).map((words) => words.join(' '));
const pieces = fc.array(piece, { minLength: 1, maxLength: 4 });

test('the parts that are found between pieces give the text again', () => {
  fc.assert(
    fc.property(pieces, fc.array(piece, { minLength: 3, maxLength: 3 }), (own, parts) => {
      const text = fillPieces(own, parts.slice(0, own.length - 1));
      const found = matchPieces(own, text);
      // Only where nothing says where a part ends none are found.
      if (found === undefined) expect(own.slice(1, -1)).toContain('');
      else expect(fillPieces(own, found)).toBe(text);
    }),
    { numRuns: runs(500) },
  );
});

test('a form gives each of its texts exactly', () => {
  const drawn = fc.array(fc.tuple(pieces, fc.array(piece, { minLength: 3, maxLength: 3 })), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(pieces, drawn, (common, some) => {
      const texts = some.map(([own, parts], at) =>
        fillPieces(at % 4 === 3 ? own : common, parts).trim(),
      );
      const form = findForm(texts);
      for (const [at, parts] of form?.parts ?? [])
        expect(fillPieces(form?.pieces ?? [], parts)).toBe(texts[at]);
    }),
    { numRuns: runs(500) },
  );
});

describe('texts have a form in common', () => {
  const numbers = Array.from({ length: 40 }, (_, at) => at);
  const towns = ['Alder Bay', 'Cedar', 'Elm Crossing, North', 'Birch Falls', 'Dune', 'Fern Hollow'];

  test.each([
    ['by a number', numbers.map((at) => `Welcome to clinic number ${at}, hello.`), 40],
    ['by names of several words', towns.map((one) => `This is ${one}. How can I help?`), 6],
    [
      'apart from one that says something else',
      [...numbers.map((at) => `This is desk ${at}.`), 'We moved to another street.'],
      40,
    ],
    ['but not where each is a sentence', ['Good day.', 'We are closed.', 'Call again later.'], 0],
    [
      'but not by a part that is a sentence',
      ['We quote. Always.', 'Never.', 'No. Ask us.'].map((one) => `This is our desk, ${one}`),
      0,
    ],
    [
      'but not by phone numbers, each of which is somebody',
      [2075550101, 9005550199, 2075550177].map((one) => `Ask for a person at +1${one}, please.`),
      0,
    ],
    [
      'but not by a choice, which may be that of a rule',
      [...numbers, 99].map((at) => `Desk ${at}: ${at === 99 ? 'never' : 'always'} quote prices.`),
      40,
    ],
  ])('%s', (_title, texts, count) => {
    const form = findForm(texts);
    expect(form?.parts.size ?? 0).toBe(count);
    for (const [at, parts] of form?.parts ?? [])
      expect(texts[at]?.split(/\b/)).toEqual(expect.arrayContaining(parts[0]?.split(/\b/) ?? []));
  });
});
