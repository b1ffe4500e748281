import { expect, test } from 'vitest';
import { renderProse } from '../../src/render/prose.ts';

test('items below a sentence stay indented where they are broken', () => {
  expect(
    renderProse('these are there:\n  one two three four', {
      width: 18,
      color: false,
      verbose: false,
    }),
  ).toBe('these are there:\n  one two three\n    four\n');
});
