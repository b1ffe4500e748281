import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  elementSegments,
  formatPath,
  identityOrdinal,
  identitySegment,
  identityText,
  type Path,
  parsePath,
  startsWith,
} from '../../src/core/path.ts';
import { runs } from '../long.ts';

/** Fixed, so that a failure can be run again. */
const RUNS = { seed: 20260302, numRuns: runs(300) };

describe('the text of a path', () => {
  const rows: readonly (readonly [string, Path])[] = [
    ['name', ['name']],
    ['voice_settings.speed', ['voice_settings', 'speed']],
    ['extensions.tools[crm_lookup].url', ['extensions', 'tools', '[crm_lookup]', 'url']],
    [
      'extensions.tools[crm].headers[X-Api-Key].value',
      ['extensions', 'tools', '[crm]', 'headers', '[X-Api-Key]', 'value'],
    ],
    ['extensions.tools["look up"]', ['extensions', 'tools', '["look up"]']],
    ['extensions.tools["a]b"].url', ['extensions', 'tools', '["a]b"]', 'url']],
    ['extensions.tools["say \\"hi\\""]', ['extensions', 'tools', '["say \\"hi\\""]']],
    [
      'knowledgebase_links[https://harbor.example.test/faq]',
      ['knowledgebase_links', '[https://harbor.example.test/faq]'],
    ],
    [
      'extensions.tools[crm].headers[Cookie#2].value',
      ['extensions', 'tools', '[crm]', 'headers', '[Cookie#2]', 'value'],
    ],
    ['extensions.tools["look up"#12]', ['extensions', 'tools', '["look up"#12]']],
    ['extensions.tools["crm#2"]', ['extensions', 'tools', '["crm#2"]']],
    ['config."x.y".z', ['config', 'x.y', 'z']],
    ['config."two words"', ['config', 'two words']],
    ['config."["', ['config', '[']],
    ['config."[a b]".c', ['config', '[a b]', 'c']],
    ['config."[a#1]"', ['config', '[a#1]']],
    ['"a key"', ['a key']],
    ['config.""', ['config', '']],
    ['extensions.tools[""]', ['extensions', 'tools', '[""]']],
    ['voice_settings."größe"', ['voice_settings', 'größe']],
  ];

  test.each(rows)('%s', (text, path) => {
    expect(formatPath(path)).toBe(text);
    expect(parsePath(text)).toEqual(path);
  });

  test('leads back to any path', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 8 });
    const key = fc.oneof(
      text,
      text.map((one) => `[${one}`),
    );
    const step = fc.oneof(key, text.map(identitySegment));
    const paths = fc.tuple(key, fc.array(step, { maxLength: 5 }));
    fc.assert(
      fc.property(paths, ([first, rest]) => {
        const path = [first, ...rest];
        expect(parsePath(formatPath(path))).toEqual(path);
      }),
      RUNS,
    );
  });

  test('tells any two paths apart', () => {
    const key = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('[a', '[a]b', '[]', '["a"]'));
    const path = fc.array(fc.oneof(key, key.map(identitySegment)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(path, path, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(formatPath(one) === formatPath(other)).toBe(isSame);
      }),
      RUNS,
    );
  });
});

describe('a path that a person writes', () => {
  test.each([
    ['extensions.tools["crm"].url', ['extensions', 'tools', '[crm]', 'url']],
    ['extensions.tools[look up]', ['extensions', 'tools', '["look up"]']],
    ['"name"', ['name']],
    ['config."user_timezone"', ['config', 'user_timezone']],
  ])('%s is the same as its usual form', (text, path) => {
    expect(parsePath(text)).toEqual(path);
  });

  test.each([
    '',
    '.',
    '.name',
    'name.',
    'a..b',
    'tools[',
    'tools[]',
    'tools[a',
    'tools]',
    '"open',
    '"\\q"',
    'tools["\\q"]',
    '"line\nbreak"',
  ])('%j is none', (text) => {
    expect(parsePath(text)).toBeUndefined();
  });

  test('is read without an exception, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab.[]"\\ \n'), maxLength: 10 }), (text) => {
        const path = parsePath(text);
        if (path !== undefined) expect(parsePath(formatPath(path))).toEqual(path);
      }),
      { ...RUNS, examples: [['"["'], ['\\.\\"[["a ']] },
    );
  });
});

test.each([
  [['extensions', 'tools', '[crm]', 'url'], ['extensions'], true],
  [['extensions', 'tools', '[crm]'], ['extensions', 'tools', '[crm]'], true],
  [['extensions', 'tools'], ['extensions', 'tools', '[crm]'], false],
  [['extensions', 'tools', '[crm2]'], ['extensions', 'tools', '[crm]'], false],
  [['name'], [], true],
])('%j starts with %j: %s', (path, prefix, expected) => {
  expect(startsWith(path, prefix)).toBe(expected);
});

test('a path has no credential that an identity has, and leads to the element all the same', () => {
  const at = (token: string) => `https://desk:${token}@mcp.example.test/?token=${token}`;
  const list = [{ name: at('one') }, { name: at('two') }];
  const shown = '"https://desk:(secret)@mcp.example.test/?token=(secret)"';
  expect(elementSegments('name', list)).toEqual([`[${shown}]`, `[${shown}#2]`]);
  expect(parsePath(`servers[${JSON.stringify(at('one'))}].url`)).toEqual([
    'servers',
    `[${shown}]`,
    'url',
  ]);
});

describe('elements that share an identity', () => {
  const names = fc.array(fc.constantFrom('a', 'a#2', 'a b', 'a]', '#2', '', '"a"#2', '2'), {
    maxLength: 6,
  });

  test('have segments of their own, which say what they are', () => {
    fc.assert(
      fc.property(names, (given) => {
        const segments = elementSegments(
          'key',
          given.map((key) => ({ key })),
        );
        expect(new Set(segments).size).toBe(given.length);
        for (const [index, segment] of segments.entries()) {
          expect(identityText(segment)).toBe(given[index]);
          const before = given.slice(0, index).filter((name) => name === given[index]).length;
          expect(identityOrdinal(segment)).toBe(before + 1);
          expect(parsePath(formatPath(['headers', segment]))).toEqual(['headers', segment]);
        }
      }),
      RUNS,
    );
  });
});
