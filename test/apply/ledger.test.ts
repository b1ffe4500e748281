import { describe, expect } from 'vitest';
import type { Fault } from '../../src/simulator/index.ts';
import type { LedgerLine } from '../../src/state/journal.ts';
import { ADDRESSES, inventory, WHOLE } from '../e2e/clinic.ts';
import { type Stage, staged } from './stage.ts';

const ALL_DONE = Object.fromEntries(ADDRESSES.map((address) => [address, 'done']));

function statuses(ledger: readonly LedgerLine[]): Readonly<Record<string, string>> {
  return Object.fromEntries(ledger.map(({ address, status }) => [address, status]));
}

function messageOf(ledger: readonly LedgerLine[], address: string): string {
  return ledger.find((line) => line.address === address)?.message ?? '';
}

describe('a failure blocks what depends on it, and nothing else', () => {
  const refusals: readonly (readonly [Fault['operation'], string, string | undefined])[] = [
    ['createRetryPolicy', 'retry_policy.gentle', 'agent.recall'],
    ['createCustomVoice', 'custom_voice.harbor', 'agent.desk'],
    ['createEmailTemplate', 'email_template.reminder', undefined],
    ['enqueueKnowledgeSource', 'knowledge_source.clinic.prices', undefined],
  ];
  for (const [operation, failed, blocked] of refusals) {
    staged(`${failed}${blocked ? ` → ${blocked}` : ''}`, async (stage) => {
      const body = { error: 'forbidden', error_description: 'Not today' };
      stage.sim.faults.add({ operation, status: 403, body });
      const ledger = await stage.apply({}, { exit: 3 });
      expect(statuses(ledger)).toEqual({
        ...ALL_DONE,
        [failed]: 'failed',
        ...(blocked ? { [blocked]: 'blocked' } : {}),
      });
      expect(messageOf(ledger, failed)).toContain('answered 403: forbidden; Not today');
      if (blocked) expect(messageOf(ledger, blocked)).toBe(`waits for ${failed}`);

      await stage.apply();
      expect(inventory(stage.sim)).toEqual(WHOLE);
    });
  }
});

describe('proof: what the platform took is read back', () => {
  staged('a leaf that did not take is a failure that names it', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.edit('agents.yaml', 'speed: 1.05', 'speed: 1.2');
    stage.sim.faults.add({ operation: 'updateAgent', status: 200, body: { data: {} } });
    const ledger = await stage.apply({}, { exit: 3 });
    expect(messageOf(ledger, 'agent.desk')).toBe(
      'written, but the platform still has the old value of greeting_message, voice_settings.speed',
    );
    await stage.apply();
  });

  staged('what was made before a failure is known to the next run', async (stage) => {
    stage.sim.faults.add({ operation: 'getAgent', status: 500, times: 4 });
    const ledger = await stage.apply({}, { exit: 3 });
    expect(statuses(ledger)).toMatchObject({ 'agent.desk': 'failed', 'agent.recall': 'failed' });
    const made = stage.writes().length;
    await stage.apply();
    expect(
      stage
        .writes()
        .slice(made)
        .map(({ operation }) => operation),
    ).toEqual([]);
    expect(inventory(stage.sim)).toEqual(WHOLE);
  });
});

describe('passing faults are got over', () => {
  const passing: readonly (readonly [string, readonly Fault[]])[] = [
    [
      '429 on everything',
      [{ operation: '*', status: 429, headers: { 'retry-after': '0' }, times: 4 }],
    ],
    [
      '429 on a create',
      [{ operation: 'createAgent', status: 429, headers: { 'retry-after': '0' } }],
    ],
    [
      '429 on the token',
      [{ operation: 'createToken', status: 429, headers: { 'retry-after': '0' } }],
    ],
    ['503 on a list', [{ operation: 'listAgents', status: 503 }]],
    ['a broken connection on a read', [{ operation: 'getAgent', reset: 'before' }]],
    [
      '401 in the middle',
      [{ operation: 'createAgent', status: 401, body: { error: 'invalid_token' } }],
    ],
  ];
  for (const [what, faults] of passing) {
    staged(what, async (stage) => {
      stage.sim.faults.add(...faults);
      await stage.apply();
      expect(inventory(stage.sim)).toEqual(WHOLE);
      expect(stage.sim.faults.pending()).toBe(0);
    });
  }
});

staged(
  'a stop before the first change: nothing is attempted, and the ledger says so',
  async (stage) => {
    const ledger = await stage.apply({}, { exit: 130, stop: AbortSignal.abort() });
    expect(new Set(Object.values(statuses(ledger)))).toEqual(new Set(['not_attempted']));
    expect(ledger.map(({ address }) => address)).toEqual(ADDRESSES);
    expect(stage.writes()).toEqual([]);
    await stage.apply();
  },
);

staged('a resource that is gone when its delete comes is deleted', async (stage) => {
  await stage.apply();
  const agents = await stage.read('agents.yaml');
  await stage.write('agents.yaml', agents.slice(0, agents.indexOf('  recall:')));
  stage.sim.faults.add({ operation: 'deleteAgent', reset: 'after' });
  await stage.apply({ allowDelete: true });
  expect(inventory(stage.sim).agents).toEqual(['Front desk']);
});

describe('resources that refer to each other', () => {
  const CIRCLE = `retry_policies:
  round: { name: Round, on_exhausted: call, on_exhausted_target: { agent_id: { $ref: agent.a } } }
agents:
  a: { name: A, default_retry_policy_id: { $ref: retry_policy.round }, contact_policy: { next: { $ref: agent.b } } }
  b: { name: B, contact_policy: { next: { $ref: agent.a }, own: { $ref: agent.b } } }
`;
  const idsIn = ({ sim: { store } }: Stage) => {
    const agents = [...store.agents.values()].map(({ id, record }) => [
      record.name,
      { id, record },
    ]);
    const policy = [...store.retryPolicies.values()].find(({ name }) => name === 'Round');
    return { ...Object.fromEntries(agents), policy };
  };
  const expectLinked = (stage: Stage) => {
    const { A: a, B: b, policy } = idsIn(stage);
    expect(policy?.on_exhausted_target).toEqual({ agent_id: a.id });
    expect(a.record).toMatchObject({
      default_retry_policy_id: policy?.id,
      contact_policy: { next: b.id },
    });
    expect(b.record).toMatchObject({ contact_policy: { next: a.id, own: b.id } });
  };

  for (const concurrency of [1, 8]) {
    staged(`are made in two steps, ${concurrency} at once`, async (stage) => {
      await stage.write('circle.yaml', CIRCLE);
      await stage.apply({ concurrency });
      expectLinked(stage);
    });
  }

  staged('are completed by the next apply where one of them failed', async (stage) => {
    await stage.apply();
    await stage.write('circle.yaml', CIRCLE);
    const body = { error: 'forbidden', error_description: 'Not today' };
    stage.sim.faults.add({ operation: 'createAgent', status: 403, body });
    stage.sim.faults.add({ operation: 'createAgent', status: 403, body });
    const ledger = await stage.apply({ concurrency: 1 }, { exit: 3 });
    expect(messageOf(ledger, 'retry_policy.round')).toContain(
      'on_exhausted_target waits for agent.a',
    );
    expect(idsIn(stage).policy).toMatchObject({ name: 'Round' });
    const { changes } = await stage.plan();
    expect(changes.map(({ address, action }) => `${address} ${action}`)).toEqual([
      'retry_policy.round update',
      'agent.a create',
      'agent.b create',
    ]);
    await stage.apply({ concurrency: 1 });
    expectLinked(stage);
  });
});
