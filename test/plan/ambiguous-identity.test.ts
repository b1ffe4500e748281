import { describe, expect, test } from 'vitest';
import { type Ambiguity, ambiguousIdentityError } from '../../src/plan/identify.ts';

const AT = { file: 'agents.yaml', line: 4, column: 3 };
const TWO: Ambiguity = {
  type: 'several',
  address: 'agent.desk["one"]',
  candidates: [
    { id: 'a-1', created: '2026-01-02T03:04:05.678Z', changed: '2026-02-03T04:05:06Z' },
    { id: 'a-2', created: undefined, changed: undefined },
  ],
  position: AT,
};
const CHOICES = `agent.desk["one"] (agents.yaml:4): 2 live resources have this name:
  \`callsheet import 'agent.desk["one"]' a-1\`   # created 2026-01-02T03:04:05Z, changed 2026-02-03T04:05:06Z
  \`callsheet import 'agent.desk["one"]' a-2\``;
const adopts = (address: string, holder?: string): Ambiguity => ({
  type: 'adopts_nothing',
  address,
  id: 'x-9',
  holder,
});

describe('what cannot be told which resource it stands for is an error', () => {
  test.each<[string, Ambiguity, string]>([
    ['of several that have its name', TWO, CHOICES],
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
    expect(ambiguousIdentityError([ambiguity], { purpose: 'apply' })).toMatchObject({
      code: 'config',
      message,
    });
  });

  test('that says each on a line of its own', () => {
    const { message } = ambiguousIdentityError([adopts('agent.front'), TWO], { purpose: 'apply' });
    expect(message.split('\n')).toEqual([
      expect.stringMatching(/^agent\.front: lifecycle\.adopt/),
      ...CHOICES.split('\n'),
    ]);
  });

  test('with commands of the environment, and ids alone in a restoration', () => {
    const staging = ambiguousIdentityError([TWO], { purpose: 'apply', environment: 'staging' });
    expect(staging.message).toContain(' a-2 --env staging`');
    const restored = ambiguousIdentityError([TWO], { purpose: 'restore' });
    expect(restored.message).not.toContain('callsheet import');
    expect(restored.message).toContain('\n  a-2');
  });

  test.each<[string, readonly Ambiguity[], 'apply' | 'restore', RegExp]>([
    ['an id is wrong: correct it', [adopts('agent.desk')], 'apply', /^Correct the id/],
    ['an id is wrong in a restoration', [adopts('agent.desk')], 'restore', /^Correct the id/],
    ['there are several: say which', [TWO], 'apply', /^Run the command/],
    [
      'there are several and an id is wrong: say which',
      [adopts('agent.front'), TWO],
      'apply',
      /^Run the command/,
    ],
    ['a restoration made several: name its state', [TWO], 'restore', /^Name the state .* --state/],
  ])('with what to do where %s', (_what, ambiguities, purpose, hint) => {
    expect(ambiguousIdentityError(ambiguities, { purpose }).hint).toMatch(hint);
  });
});
