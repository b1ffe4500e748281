import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, computeDigest, digestOfMembers, textKey } from '../../src/core/digest.ts';
import { Blob, Ref, Secret } from '../../src/core/value.ts';
import { runs } from '../long.ts';

describe('canonical JSON', () => {
  test.each([
    ['keys in order', { b: 1, a: { d: 2, c: 3 } }, '{"a":{"c":3,"d":2},"b":1}'],
    // As objects of JavaScript have them: stored digests do.
    [
      'keys that are numbers first',
      { a: 1, 10: 2, 9: 3, '-1': 4, '01': 5 },
      '{"9":3,"10":2,"-1":4,"01":5,"a":1}',
    ],
    [
      'a member that has no JSON left out',
      { a: () => 1, b: [() => 1, undefined] },
      '{"b":[null,null]}',
    ],
    ['lists as they are', [3, 1, { b: 1, a: 2 }], '[3,1,{"a":2,"b":1}]'],
    ['undefined members left out', { a: undefined, b: null }, '{"b":null}'],
    ['a text', 'a "b"', '"a \\"b\\""'],
    ['a reference', { id: new Ref('agent.a') }, '{"id":{"$ref":"agent.a"}}'],
    ['a secret by its source', new Secret('env:TOKEN'), '{"$secret":"env:TOKEN"}'],
    [
      'a file by its content',
      new Blob('a.pdf', 'ab', 2, 'application/pdf'),
      '{"$blob":"sha256:ab","mime":"application/pdf","path":"a.pdf","size":2}',
    ],
  ])('has %s', (_title, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test('is the same whatever the order of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(turned)).toBe(canonicalJson(value));
      }),
      { seed: 20260302, numRuns: runs(200) },
    );
  });
});

describe('a digest', () => {
  test('is the SHA-256 of the canonical JSON', () => {
    const hex = createHash('sha256').update('{"a":1,"b":2}').digest('hex');
    expect(computeDigest({ b: 2, a: 1 })).toBe(`sha256:${hex}`);
  });

  test('is the same for what is hashed piece by piece', () => {
    const hashed = (value: unknown) =>
      `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(computeDigest(value)).toBe(hashed(value));
      }),
      { seed: 20260302, numRuns: runs(200) },
    );
    const long = 'é"𝒳'.repeat(30_000);
    for (const value of [
      { changes: [{ after: long }, undefined, { b: [() => 1], a: undefined }], id: new Ref('a') },
      { a: undefined, b: () => 1, c: { d: undefined }, e: [], f: {}, 2: new Secret('env:A') },
      [new Secret('env:A'), [undefined, long, { toJSON: 1 }], { a: { toJSON: () => undefined } }],
      { a: { toJSON: () => undefined }, b: 1 },
    ])
      expect(computeDigest(value)).toBe(hashed(value));
  });

  test.each([
    [1, '1'],
    [null, 'null'],
    [[], {}],
    [{ a: null }, {}],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 'x' }, { b: 'x' }],
  ])('tells %j from %j', (one, other) => {
    expect(computeDigest(one)).not.toBe(computeDigest(other));
  });
});

test('a digest of members is that of the object that has them', () => {
  const member = fc.oneof(fc.jsonValue(), fc.constant(undefined));
  const key = fc.oneof(fc.string(), fc.nat().map(String), fc.constant('__proto__'));
  fc.assert(
    fc.property(fc.array(fc.tuple(key, member)), (entries) => {
      const members = new Map(entries);
      expect(digestOfMembers(members)).toBe(computeDigest(Object.fromEntries(members)));
    }),
  );
});

test('a key of a text is bounded, and no two texts have the same', () => {
  const texts = [
    '',
    'a',
    'a'.repeat(64),
    'a'.repeat(65),
    'a'.repeat(20_000),
    `${'a'.repeat(19_999)}b`,
  ];
  const keys = texts.map(textKey);
  expect(new Set(keys).size).toBe(texts.length);
  expect(Math.max(...keys.map(({ length }) => length))).toBeLessThanOrEqual(64);
  expect(keys.slice(0, 3)).toEqual(texts.slice(0, 3));
});
