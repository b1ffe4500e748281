import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatAddress,
  getKind,
  isAddress,
  isResourceName,
  matchesAddress,
  rowKey,
  withKey,
} from '../../src/core/address.ts';

describe('an address', () => {
  test.each([
    ['agent', ['reception'], undefined, 'agent.reception'],
    ['agent', ['clinic'], 'harbor', 'agent.clinic["harbor"]'],
    ['knowledge_source', ['clinic', 'faq'], undefined, 'knowledge_source.clinic.faq'],
    ['knowledge_source', ['clinic', 'faq'], 'a "b"', 'knowledge_source.clinic.faq["a \\"b\\""]'],
  ] as const)('of %s %j %s is %4$s', (kind, names, key, address) => {
    const base = formatAddress(kind, names);
    expect(key === undefined ? base : withKey(base, key)).toBe(address);
    expect(isAddress(address)).toBe(true);
    expect(getKind(address)).toBe(kind);
  });

  test('has a key of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (key) => {
        const address = withKey(formatAddress('agent', ['clinic']), key);
        expect(isAddress(address)).toBe(true);
        expect(getKind(address)).toBe('agent');
      }),
      { seed: 20260302, numRuns: 200 },
    );
  });

  test.each([
    'agent',
    'agent.',
    '.reception',
    'Agent.reception',
    'agent.1st',
    'agent.two words',
    'agent.clinic[harbor]',
    'agent.clinic["harbor"',
    'agent.clinic["harbor"].more',
    ' agent.reception',
    '',
  ])('is not %j', (text) => {
    expect(isAddress(text)).toBe(false);
  });
});

test.each([
  ['reception', true],
  ['front-desk_2', true],
  ['_x', true],
  ['2nd', false],
  ['a.b', false],
  ['a b', false],
  ['', false],
])('%j may name a resource: %s', (name, expected) => {
  expect(isResourceName(name)).toBe(expected);
});

describe('a target', () => {
  test.each([
    ['agent', 'agent.reception', true],
    ['agent', 'agent.clinic["harbor"]', true],
    ['agent.clinic', 'agent.clinic["harbor"]', true],
    ['agent.clinic["harbor"]', 'agent.clinic["harbor"]', true],
    ['knowledge_source.clinic', 'knowledge_source.clinic.faq', true],
    ['agent.clinic["harbor"]', 'agent.clinic["bay"]', false],
    ['agent.rec', 'agent.reception', false],
    ['agent.rec*', 'agent.reception', true],
    ['agent.harbor_*', 'agent.bay_desk', false],
    ['agent.reception', 'agent.reception-2', false],
    ['agen', 'agent.reception', false],
    ['agent.reception', 'agent', false],
  ])('%s names %s: %s', (pattern, address, expected) => {
    expect(matchesAddress(pattern, address)).toBe(expected);
  });
});

test.each([
  ['agent.reception', undefined],
  ['agent.clinic["harbor"]', 'harbor'],
  ['agent.clinic["say \\"[a]\\""]', 'say "[a]"'],
])('the key in %s is %s', (address, key) => {
  expect(rowKey(address)).toBe(key);
});
