import { unreachable } from '../../../src/core/errors.ts';
import type { Block, Piece } from '../../../src/render/prose/blocks.ts';

/** The text before or after, put together again from the blocks of a comparison. */
export function rebuild(blocks: readonly Block[], side: 'before' | 'after'): string {
  return blocks.map((block) => pickSide(block, side, blocks)).join('');
}

function pickSide(block: Block, side: 'before' | 'after', blocks: readonly Block[]): string {
  switch (block.type) {
    case 'same':
    case 'fold':
      return side === 'before' ? (block.was ?? block.text) : block.text;
    case 'edited':
      return textOf(block.words, side);
    case 'removed':
    case 'added':
      return textOf(block.words, side);
    case 'moved':
      return side === 'before' ? '' : textOf(block.words, side);
    case 'left': {
      const moved = blocks[block.to];
      return side === 'before' && moved?.type === 'moved' ? textOf(moved.words, side) : '';
    }
    default:
      return unreachable(block);
  }
}

function textOf(words: readonly Piece[], side: 'before' | 'after'): string {
  const gone = side === 'before' ? 'added' : 'removed';
  return words
    .filter(({ change }) => change !== gone)
    .map(({ text, was }) => (side === 'before' ? (was ?? text) : text))
    .join('');
}
