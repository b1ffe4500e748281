import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/value.ts';
import { jsonFrame, jsonText } from '../../../src/render/read/json.ts';

const HOSTILE = 'a\u001b[31m\u009b2J\u202eb\u200b\u{e0041}\u007f\u2028 Zoë 👍🏽';

test('a terminal finds nothing to act on, and no value changes', () => {
  const text = jsonText({ [HOSTILE]: [HOSTILE] });
  expect(text).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}]/u);
  expect(JSON.parse(text)).toEqual({ [HOSTILE]: [HOSTILE] });
});

test.each([[[]], [[{ id: 1 }]], [[{ id: 1 }, { id: 2, text: 'a\nb' }, {}]]] satisfies [
  JsonObject[],
][])('a document written item by item: %j', (items) => {
  const frame = jsonFrame({ format: 'callsheet-calls', version: 1 });
  const pieces = [
    frame.open,
    ...items.map((item, index) => frame.item(item, index === items.length - 1)),
    frame.close,
  ];
  expect(pieces.every((piece) => piece.endsWith('\n'))).toBe(true);
  expect(JSON.parse(pieces.join(''))).toEqual({
    format: 'callsheet-calls',
    version: 1,
    data: items,
  });
});
