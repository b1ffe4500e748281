import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createCalloutFinder,
  findCallouts,
  hasCallouts,
} from '../../../src/render/prose/callouts.ts';
import { diffProse } from '../../../src/render/prose/diff.ts';
import { runs } from '../../long.ts';
import { rebuild } from './rebuild.ts';

const word = fc.constantFrom(
  ...'you may call never do not must always before after and or: the a 5 30 {{name}} {{first_name|there}} +15550100200 crm_lookup price, hours. être 你好世界 👩‍👩‍👧 ##  -'.split(
    ' ',
  ),
);
const line = fc
  .tuple(
    fc.constantFrom('', '', '# ', '## ', '- ', '1. ', '```', '  ', '<tag>', '**'),
    fc.array(word, { maxLength: 12 }),
  )
  .map(([start, words]) => start + words.join(' '));
const prompt = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\n\n', ' \n', '\r\n', '\n\n\n')), { maxLength: 14 })
  .map((lines) => lines.map((parts) => parts.join('')).join(''));

/** A prompt and what an editor made of it: lines moved, removed, repeated and put in. */
const edited = fc
  .tuple(prompt, fc.array(fc.tuple(fc.nat(13), fc.nat(13), line), { maxLength: 5 }))
  .map(([text, edits]) => {
    const lines = text.split('\n');
    for (const [from, to, put] of edits) {
      const [taken = ''] = lines.splice(from % (lines.length + 1), 1);
      lines.splice(to % (lines.length + 1), 0, taken, ...(from > to ? [put] : []));
    }
    return [text, lines.join('\n')] as const;
  });
const anything = fc.tuple(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const lone = fc.tuple(
  fc.string({ unit: fc.constantFrom('\ud800', '\udc00', '\n', ' ', 'a', '\u0301', '\ufe0f') }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udc00', '\n', '\r', 'b', '`', '{', '}') }),
);
const texts = fc.oneof(edited, fc.tuple(prompt, prompt), anything, lone);
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

  test('has the call-outs of the way there on the way back', () => {
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

  test('has the same call-outs where equal edits are looked at once', () => {
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

  test('gives each call-out the line where its words begin', () => {
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

  test('of a text with itself folds all of it', () => {
    fc.assert(
      fc.property(prompt, (text) => {
        const { blocks, counts, whitespaceOnly } = diffProse(text, text);
        expect(blocks.every(({ type }) => type === 'same' || type === 'fold')).toBe(true);
        expect([findCallouts(text, text), whitespaceOnly, counts.words]).toEqual([
          [],
          false,
          { removed: 0, added: 0 },
        ]);
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
