import { describe, expect, test } from 'vitest';
import { type Ambiguity, ambiguousIdentityError } from '../../src/plan/identify.ts';

const TWO: Ambiguity = { type: 'several', address: 'agent.desk', ids: ['a-1', 'a-2'] };
const adopts = (address: string, holder?: string): Ambiguity => ({
  type: 'adopts_nothing',
  address,
  id: 'x-9',
  holder,
});

describe('what cannot be told which resource it stands for is an error', () => {
  test.each<[string, Ambiguity, string]>([
    ['of several that have its name', TWO, 'agent.desk: 2 live resources have this name: a-1, a-2'],
    [
      'of an id that the platform does not have',
      adopts('retry_policy.gentle'),
      'retry_policy.gentle: lifecycle.adopt names x-9, and the platform has no such retry policy',
    ],
    [
      'of an id that another address stands for',
      adopts('agent.desk', 'agent.other'),
      'agent.desk: lifecycle.adopt names x-9, which already belongs to agent.other',
    ],
  ])('%s', (_what, ambiguity, message) => {
    expect(ambiguousIdentityError([ambiguity], 'apply')).toMatchObject({ code: 'config', message });
  });

  test('that says each on a line of its own', () => {
    const { message } = ambiguousIdentityError([TWO, adopts('agent.front')], 'apply');
    expect(message.split('\n')).toEqual([
      expect.stringMatching(/^agent\.desk: 2 live resources/),
      expect.stringMatching(/^agent\.front: lifecycle\.adopt/),
    ]);
  });

  test.each<[string, readonly Ambiguity[], 'apply' | 'restore', RegExp]>([
    ['an id is wrong: correct it', [adopts('agent.desk')], 'apply', /^Correct the id/],
    ['an id is wrong in a restoration', [adopts('agent.desk')], 'restore', /^Correct the id/],
    ['there are several: say which', [TWO], 'apply', /^Choose one with/],
    [
      'there are several and an id is wrong: say which',
      [adopts('agent.front'), TWO],
      'apply',
      /^Choose one with/,
    ],
    ['a restoration made several: name its state', [TWO], 'restore', /^Name the state .* --state/],
  ])('with what to do where %s', (_what, ambiguities, purpose, hint) => {
    expect(ambiguousIdentityError(ambiguities, purpose).hint).toMatch(hint);
  });
});
