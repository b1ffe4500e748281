import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createCalloutFinder,
  findCallouts,
  hasCallouts,
} from '../../../src/features/review/callouts/callouts.ts';
import { runs } from '../../long.ts';
import { edited, prompt, texts } from '../../render/prose/texts.ts';

describe('the call-outs of two texts', () => {
  test('are on the way back those of the way there', () => {
    const back: { readonly [sort: string]: string } = { added: 'removed', removed: 'added' };
    fc.assert(
      fc.property(texts, ([before, after]) => {
        const turned = findCallouts(after, before).map(({ sort, times, ...one }) =>
          JSON.stringify([back[sort] ?? sort, one.after, one.before, times]),
        );
        const told = findCallouts(before, after).map(({ sort, times, ...one }) =>
          JSON.stringify([sort, one.before, one.after, times]),
        );
        expect(told.sort()).toEqual(turned.sort());
      }),
      { numRuns: runs(200) },
    );
  });

  test('are the same where equal edits are looked at once', () => {
    const find = createCalloutFinder();
    fc.assert(
      fc.property(edited, fc.constantFrom('', 'Hello.\n\n', '# Top\n\n- one\n'), (both, above) => {
        const [before, after] = both.map((text) => above + text);
        if (before === undefined || after === undefined || !hasCallouts(before, after)) return;
        expect(find(before, after)).toEqual(findCallouts(before, after));
      }),
      { numRuns: runs(200) },
    );
  });

  test('have the line where their words begin', () => {
    fc.assert(
      fc.property(texts, ([before, after]) => {
        for (const one of findCallouts(before, after)) {
          const lines = (one.after === null ? before : after).split('\n').length;
          expect(one.line).toBeGreaterThanOrEqual(1);
          expect(one.line).toBeLessThanOrEqual(lines);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  test('are none of a text with itself', () => {
    fc.assert(
      fc.property(prompt, (text) => {
        expect(findCallouts(text, text)).toEqual([]);
      }),
      { numRuns: runs(100) },
    );
  });
});
