import fc from 'fast-check';
import { expect, test } from 'vitest';
import { containsTextEdit } from '../../../src/diff/text.ts';
import { compareVersions, mergeVersions } from '../../../src/render/prose/three-way.ts';

/** Sentences that are all different, so that an edit can be told by its words. */
const paragraph = fc
  .tuple(fc.constantFrom('- ', '## ', '', '1. '), fc.integer({ min: 0, max: 999 }))
  .map(([mark, number]) => `${mark}Rule ${number} says what an agent does.`);
const gap = fc.constantFrom('\n', '\n\n');

const base = fc
  .uniqueArray(fc.tuple(paragraph, gap), { minLength: 1, maxLength: 8, selector: ([text]) => text })
  .map((all) => all.map(([text, blanks]) => ({ text, gap: blanks })));

/** Deeds of one side, one for each paragraph: nothing most often. */
const deeds = fc.array(fc.constantFrom('keep', 'keep', 'keep', 'edit', 'drop', 'insert'), {
  minLength: 9,
  maxLength: 9,
});

type Text = readonly { readonly text: string; readonly gap: string }[];

function edited(text: Text, deeds: readonly string[], side: string): string {
  return text
    .flatMap((one, at) => {
      const added = { text: `${side} adds number ${at} here.`, gap: '\n\n' };
      if (deeds[at] === 'drop') return [];
      if (deeds[at] === 'edit') return [{ ...one, text: `${one.text} ${side} edits ${at}.` }];
      return deeds[at] === 'insert' ? [added, one] : [one];
    })
    .map((one) => one.text + one.gap)
    .join('');
}

const versions = fc.tuple(base, deeds, deeds).map(([text, theirs, ours]) => ({
  base: edited(text, [], ''),
  live: edited(text, theirs, 'Live'),
  own: edited(text, ours, 'Own'),
}));

/** Line breaks between paragraphs are nobody's edit. */
function withoutBlankLines(text: string): string {
  return text.replace(/\n+/g, '\n');
}

test('each version is the sum of its stretches, but for blanks', () => {
  fc.assert(
    fc.property(versions, (given) => {
      const stretches = compareVersions(given) ?? [];
      for (const side of ['base', 'live', 'own'] as const) {
        const whole = stretches.flatMap((one) => one[side].map(({ text, gap }) => text + gap));
        expect(whole.join('')).toBe(given[side]);
      }
    }),
  );
});

test('a side that changed nothing gets all of the other, but for line breaks at the end', () => {
  fc.assert(
    fc.property(versions, fc.constantFrom('live', 'own'), ({ base, live, own }, choice) => {
      const theirs = mergeVersions({ base, live, own: base }, choice)?.text;
      expect(theirs?.trimEnd()).toBe(live.trimEnd());
      expect(mergeVersions({ base, live: base, own }, choice)?.text).toBe(own);
      expect(mergeVersions({ base, live: own, own }, choice)?.text).toBe(own);
    }),
  );
});

test('a merge without what both changed has both edits', () => {
  let clean = 0;
  fc.assert(
    fc.property(versions, ({ base, live, own }) => {
      const merged = mergeVersions({ base, live, own }, 'own');
      if (merged?.both !== 0) return;
      clean += 1;
      const [old, theirs, ours, all] = [base, live, own, merged.text].map(withoutBlankLines);
      expect(containsTextEdit(all ?? '', old ?? '', theirs ?? '')).toBe(true);
      expect(containsTextEdit(all ?? '', old ?? '', ours ?? '')).toBe(true);
    }),
    { numRuns: 1000 },
  );
  expect(clean).toBeGreaterThan(300);
});

test('where both changed a paragraph, one side is taken whole and the rest is merged', () => {
  fc.assert(
    fc.property(versions, (given) => {
      for (const choice of ['live', 'own'] as const) {
        const merged = mergeVersions(given, choice);
        const other = choice === 'live' ? 'own' : 'live';
        for (const { changedBy, ...sides } of compareVersions(given) ?? []) {
          const has = (text: string) => merged?.text.includes(text);
          const side = changedBy === 'both' ? choice : changedBy === 'live' ? 'live' : 'own';
          for (const { text } of sides[side]) expect(has(text)).toBe(true);
          const lost = sides[other].filter(
            ({ text }) => changedBy === 'both' && text.includes(other === 'own' ? 'Own' : 'Live'),
          );
          for (const { text } of lost) expect(has(text)).toBe(false);
        }
      }
    }),
  );
});
