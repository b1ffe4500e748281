import { describe, expect, test } from 'vitest';
import { Blob } from '../../src/core/value.ts';
import { customVoice } from '../../src/kinds/custom-voice.ts';
import type { Planned } from '../../src/plan/make.ts';
import { world } from '../world.ts';
import { plans } from './rows.ts';

const clip = (sha256: string) => new Blob('voices/harbor.wav', sha256, 9, 'audio/wav');

const voice = { clip: clip('aa'), consent: true };
const spoken = { voice_settings: { voice_id: { $ref: 'custom_voice.v' } } };

/** A voice of another name is another voice. */
const RENAMED = {
  desired: {
    'custom_voice.v': { name: 'New', ...voice },
    'agent.desk': { name: 'Desk', ...spoken },
  },
  live: {
    custom_voice: [{ id: 'v1', name: 'V' }],
    agent: [{ id: 'a1', name: 'Desk', voice_settings: { voice_id: 'v1' } }],
  },
  applied: { 'custom_voice.v': { id: 'v1', name: 'V', ...voice } },
};

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
      ...RENAMED,
      says: 'update',
      steps: ['update voice_settings'],
    },
  ]);
});

describe('what is not replaced after all keeps its id', () => {
  const desired = { ...RENAMED.desired, 'agent.fresh': { name: 'Fresh', ...spoken } };
  const made = world().desired(desired).live(RENAMED.live).applied(RENAMED.applied);
  const verdictsOf = ({ plan }: Planned) =>
    plan.changes.map(({ address, action, verdict }) => `${address} ${action} ${verdict}`);

  test('beyond a limit, which counts what would refer to the new one', async () => {
    const limited = { guards: { max_change_percent: 50, min_resources: 1 } };
    const planned = await made.plan(limited);
    expect(verdictsOf(planned)).toEqual([
      'custom_voice.v replace refused',
      'agent.desk update refused',
      'agent.fresh create ok',
    ]);
    expect(planned.ids.get('custom_voice.v')).toBe('v1');

    const overridden = await made.options({ override_limits: 'INC-1' }).plan(limited);
    expect(verdictsOf(overridden)).toEqual([
      'custom_voice.v replace ok',
      'agent.desk update ok',
      'agent.fresh create ok',
    ]);
    expect(overridden.ids.has('custom_voice.v')).toBe(false);
  });

  test('held, where it is of a kind that can be deleted', async ({ onTestFinished }) => {
    // The platform deletes no voice, and nothing else that is replaced is referred to.
    Object.assign(customVoice, { delete: async () => {} });
    onTestFinished(() => void Reflect.deleteProperty(customVoice, 'delete'));
    expect(verdictsOf(await made.plan())).toEqual([
      'custom_voice.v replace held',
      'agent.desk adopt ok',
      'agent.fresh create ok',
    ]);
    expect(verdictsOf(await made.options({ allow_delete: true }).plan())).toEqual([
      'custom_voice.v replace ok',
      'agent.desk update ok',
      'agent.fresh create ok',
    ]);
  });
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
