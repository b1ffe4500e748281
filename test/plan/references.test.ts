import { describe, expect, test } from 'vitest';
import { Blob } from '../../src/core/value.ts';
import { world } from '../world.ts';
import { plans } from './rows.ts';

const clip = (sha256: string) => new Blob('voices/harbor.wav', sha256, 9, 'audio/wav');

describe('a reference', () => {
  const agents = {
    'agent.desk': { name: 'Desk', default_retry_policy_id: { $ref: 'retry_policy.p' } },
  };
  plans([
    {
      title: 'to what does not exist yet is a change',
      desired: { 'retry_policy.p': { name: 'P' }, ...agents },
      live: { agent: [{ id: 'a1', name: 'Desk', default_retry_policy_id: 'p0' }] },
      says: 'update',
      steps: ['update default_retry_policy_id'],
    },
    {
      title: 'is equal where the id is the one of the resource',
      desired: { 'retry_policy.p': { name: 'P' }, ...agents },
      live: {
        agent: [{ id: 'a1', name: 'Desk', default_retry_policy_id: 'p1' }],
        retry_policy: [{ id: 'p1', name: 'P' }],
      },
      says: 'adopt',
    },
    {
      title: 'is looked up although what it refers to is not targeted',
      desired: { 'retry_policy.p': { name: 'P' }, ...agents },
      live: {
        agent: [{ id: 'a1', name: 'Desk', default_retry_policy_id: 'p1' }],
        retry_policy: [{ id: 'p1', name: 'P', on_exhausted: 'x' }],
      },
      options: { target: ['agent.desk'] },
      says: 'adopt',
    },
    {
      title: 'to what is neither there nor part of the plan is refused',
      desired: { 'retry_policy.p': { name: 'P' }, ...agents },
      options: { target: ['agent.desk'] },
      says: 'create refused',
      because: ['retry_policy.p'],
    },
    {
      title: 'to a voice that stays, since it cannot be replaced, is unchanged',
      desired: {
        'custom_voice.v': { name: 'V', clip: clip('bb'), consent: true },
        'agent.desk': { name: 'Desk', voice_settings: { voice_id: { $ref: 'custom_voice.v' } } },
      },
      live: {
        custom_voice: [{ id: 'v1', name: 'V' }],
        agent: [{ id: 'a1', name: 'Desk', voice_settings: { voice_id: 'v1' } }],
      },
      applied: { 'custom_voice.v': { id: 'v1', name: 'V', clip: clip('aa'), consent: true } },
      says: 'adopt',
    },
    {
      title: 'to a voice that is made anew is a change',
      desired: {
        'custom_voice.v': { name: 'New', clip: clip('aa'), consent: true },
        'agent.desk': { name: 'Desk', voice_settings: { voice_id: { $ref: 'custom_voice.v' } } },
      },
      live: {
        custom_voice: [{ id: 'v1', name: 'V' }],
        agent: [{ id: 'a1', name: 'Desk', voice_settings: { voice_id: 'v1' } }],
      },
      applied: { 'custom_voice.v': { id: 'v1', name: 'V', clip: clip('aa'), consent: true } },
      says: 'update',
      steps: ['update voice_settings'],
    },
  ]);
});

describe('a target', () => {
  const desired = {
    'agent.a': { name: 'A' },
    'agent.b': { name: 'B' },
    'retry_policy.p': { name: 'P' },
  };
  test.each([
    [{ target: ['agent.a'] }, ['agent.a']],
    [{ target: ['agent'] }, ['agent.a', 'agent.b']],
    [{ exclude: ['agent'] }, ['retry_policy.p']],
    [{ target: ['agent'], exclude: ['agent.b'] }, ['agent.a']],
    [{}, ['retry_policy.p', 'agent.a', 'agent.b']],
  ])('%j leaves %j', async (options, expected) => {
    const { plan } = await world().desired(desired).options(options).plan();
    expect(plan.changes.map(({ address }) => address)).toEqual(expected);
  });
});
