import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffProse } from '../../../src/render/prose/diff.ts';
import { runs } from '../../long.ts';
import { rebuild } from './rebuild.ts';
import { edited, prompt, texts } from './texts.ts';

const context = fc.constantFrom(0, 1, 2, Infinity);

describe('a comparison of two texts', () => {
  test('holds both of them', () => {
    fc.assert(
      fc.property(texts, context, ([before, after], around) => {
        const { blocks } = diffProse(before, after, { context: around });
        expect(rebuild(blocks, 'before')).toBe(before);
        expect(rebuild(blocks, 'after')).toBe(after);
      }),
      { numRuns: runs(300) },
    );
  });

  test('counts the way back as the way there', () => {
    fc.assert(
      fc.property(texts, ([before, after]) => {
        const there = diffProse(before, after);
        const back = diffProse(after, before);
        const { same, edited: both, moved, removed, added } = back.counts.paragraphs;
        expect(there.counts).toEqual({
          words: { removed: back.counts.words.added, added: back.counts.words.removed },
          paragraphs: { same, edited: both, moved, removed: added, added: removed },
        });
        expect(there.whitespaceOnly).toBe(back.whitespaceOnly);
      }),
      { numRuns: runs(200) },
    );
  });

  test('of a text with itself folds all of it', () => {
    fc.assert(
      fc.property(prompt, (text) => {
        const { blocks, counts, whitespaceOnly } = diffProse(text, text);
        expect(blocks.every(({ type }) => type === 'same' || type === 'fold')).toBe(true);
        expect([whitespaceOnly, counts.words]).toEqual([false, { removed: 0, added: 0 }]);
      }),
      { numRuns: runs(100) },
    );
  });

  test('gives each block the line that it begins with', () => {
    fc.assert(
      fc.property(texts, ([before, after]) => {
        const { blocks } = diffProse(before, after, { context: 0 });
        const [old, fresh] = [before.split('\n'), after.split('\n')];
        for (const block of blocks) {
          if (block.type === 'left') continue;
          const isGone = block.type === 'removed';
          const own = rebuild([block], isGone ? 'before' : 'after');
          if (own === '') continue;
          const [first = ''] = own.split('\n');
          expect((isGone ? old : fresh)[block.line - 1]?.startsWith(first)).toBe(true);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  test('links the old and the new place of what moved', () => {
    fc.assert(
      fc.property(edited, ([before, after]) => {
        const { blocks } = diffProse(before, after);
        for (const [at, block] of blocks.entries()) {
          if (block.type === 'moved') {
            expect(blocks[block.from]).toMatchObject({ type: 'left', to: at });
          }
          if (block.type === 'left') {
            expect(blocks[block.to]).toMatchObject({ type: 'moved', from: at });
          }
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
