import { describe, expect, test } from 'vitest';
import type { ResourceState, State } from '../../src/state/model.ts';
import { nextState, replay } from '../../src/state/replay.ts';
import { formatState, parseState } from '../../src/state/state-text.ts';
import { began, failureOf, recorded, resource, sealed, stateWith } from './sample.ts';

const odd = (more: object) => ({ ...resource('a1'), ...more }) as ResourceState;

const BROKEN: readonly (readonly [string, State['resources'], string])[] = [
  [
    'two addresses for one resource',
    { 'agent.desk': resource('a1'), 'agent.line': resource('a1') },
    'holds agent a1 twice, as agent.desk and as agent.line',
  ],
  [
    'an address of another kind',
    { 'retry_policy.desk': resource('a1') },
    'holds retry_policy.desk with the kind agent',
  ],
  [
    'a kind that nobody knows',
    { 'robot.desk': odd({ kind: 'robot' }) },
    'of a kind that this Callsheet does not know: robot',
  ],
  [
    'no organization',
    { 'agent.desk': odd({ scope: {} }) },
    'agent.desk without its organization_id',
  ],
  [
    'a leaf without a path',
    { 'agent.desk': odd({ leaves: { 'a[': { value: 1 } } }) },
    'a leaf that has no path: "a["',
  ],
  [
    'a digest of another form',
    { 'agent.desk': odd({ leaves: { name: { digest: 'md5:00' } } }) },
    'must match pattern',
  ],
  [
    'a fingerprint of another form',
    { 'agent.desk': odd({ leaves: { name: { fingerprint: 'canary' } } }) },
    'must match pattern',
  ],
  [
    'a leaf of two forms',
    { 'agent.desk': odd({ leaves: { name: { value: 1, digest: `sha256:${'0a'.repeat(32)}` } } }) },
    'must match exactly one schema in oneOf',
  ],
  [
    'a source of what is no secret',
    {
      'agent.desk': odd({
        leaves: { name: { value: 1, source: `sha256:${'0a'.repeat(32)}` } as never },
      }),
    },
    "must have required property 'fingerprint'",
  ],
  [
    'a source in clear',
    {
      'agent.desk': odd({
        leaves: { name: { fingerprint: 'hmac:00000000:ff', source: 'exec:vault' } },
      }),
    },
    'must match pattern',
  ],
  ['an address that is none', { desk: resource('a1') }, '/resources must match pattern'],
];

describe('a state that breaks a rule is neither written nor used', () => {
  test.each(BROKEN)('%s', async (_name, resources, words) => {
    const state = stateWith(resources);
    const refused = await failureOf(() => formatState(state));
    expect(refused.code).toBe('state');
    expect(refused.message).toContain('refused to write a state that could not be read again: it ');
    expect(refused.message).toContain(words);
    const read = await failureOf(async () => parseState(await sealed(state), 'x/state.json'));
    expect(read.message).toContain('the state x/state.json ');
    expect(read.message).toContain(words);
    expect(read.hint).toContain('callsheet state repair');
  });

  test('a serial that cannot be counted on', async () => {
    const state = stateWith({}, { serial: 2 ** 53 });
    expect((await failureOf(() => formatState(state))).message).toContain('/serial must be <=');
  });
});

describe('a resource has one address, and the fresh one has it', () => {
  const desk = resource('a1');
  const before = stateWith({ 'agent.desk': desk });

  test('in the next state', () => {
    const resources = { 'agent.desk': desk, 'agent.front': desk };
    expect(nextState(before, 'r2', resources).resources).toEqual({ 'agent.front': desk });
  });

  test('in the next state of a run that took it back', () => {
    const moved = stateWith({ 'agent.front': desk });
    const resources = { 'agent.desk': desk, 'agent.front': desk };
    expect(nextState(moved, 'r2', resources).resources).toEqual({ 'agent.desk': desk });
  });

  test('after a run that died before it forgot the other', () => {
    const entries = [began('r2', 1), recorded('agent.front', desk)];
    expect(replay(before, entries).state?.resources).toEqual({ 'agent.front': desk });
  });

  test('and of two fresh ones the first, in the next state and after a run that died', () => {
    const claimed = { 'agent.desk': desk, 'agent.front': desk };
    const empty = stateWith({});
    expect(nextState(empty, 'r2', claimed).resources).toEqual({ 'agent.desk': desk });
    const entries = [began('r2', 1), recorded('agent.front', desk), recorded('agent.desk', desk)];
    expect(replay(empty, entries).state?.resources).toEqual({ 'agent.front': desk });
  });

  test('and one of another kind with the same id is another', () => {
    const policy = { ...resource('a1'), kind: 'retry_policy' };
    const resources = { 'agent.desk': desk, 'retry_policy.gentle': policy };
    expect(nextState(before, 'r2', resources).resources).toEqual(resources);
  });
});
