import { describe, expect } from 'vitest';
import type { Fault } from '../../src/simulator/index.ts';
import { stateIn } from '../cli/state-stage.ts';
import { inventory, WHOLE } from '../e2e/clinic.ts';
import { longRows } from '../long.ts';
import { staged } from './stage.ts';

const OLDER = '5b0f0c7e-6b7f-4b0e-9d3e-1f2a3b4c5d6e';

/** Every request that makes something. Sent twice, it would make two. */
const making: readonly Fault['operation'][] = [
  'createCustomVoice',
  'createRetryPolicy',
  'createEmailTemplate',
  'createSmsTemplate',
  'createKnowledgeSource',
  'upload',
  'enqueueKnowledgeSource',
  'createAgent',
];

describe('the work is done and the answer never comes', () => {
  for (const operation of making) {
    staged(`${operation}: settled in the run, without a duplicate`, async (stage) => {
      stage.sim.faults.add({ operation, reset: 'after' });
      await stage.apply();
      expect(inventory(stage.sim)).toEqual(WHOLE);
      expect(stage.sim.faults.pending()).toBe(0);
    });
  }
});

describe('the connection breaks before the work is done', () => {
  // In short: what is made whole by one request, and what by several.
  const short = ['createAgent', 'upload'];
  for (const operation of longRows(making, (one) => short.includes(one))) {
    staged(`${operation}: the next run converges`, async (stage) => {
      stage.sim.faults.add({ operation, reset: 'before' });
      // A document is declared by then: what is missing of it is made up for in the same run.
      const isDeclared = operation === 'upload' || operation === 'enqueueKnowledgeSource';
      const ledger = await stage.apply({}, { exit: isDeclared ? 0 : 3 });
      // It was looked for, and was not there.
      for (const { message } of ledger)
        expect(message ?? '').not.toContain('may have been written');
      await stage.apply();
      expect(inventory(stage.sim)).toEqual(WHOLE);
    });
  }
});

staged('two of a name after a lost answer: the run says so and takes neither', async (stage) => {
  const { faults, store } = stage.sim;
  faults.add({ operation: 'createRetryPolicy', reset: 'after' });
  // Somebody makes another one of that name at the same moment.
  const { set } = store.retryPolicies;
  store.retryPolicies.set = function twice(id, policy) {
    set.call(this, OLDER, { ...policy, id: OLDER });
    return set.call(this, id, policy);
  };
  const ledger = await stage.apply({}, { exit: 3 });
  const line = ledger.find(({ address }) => address === 'retry_policy.gentle');
  expect(line?.status).toBe('failed');
  expect(line?.message).toMatch(
    /the create was lost, and 2 live resources have this name: \S+, \S+/,
  );
});

staged('an older one that took the name meanwhile is not what was made', async (stage) => {
  const { faults, store } = stage.sim;
  faults.add({ operation: 'createAgent', reset: 'after' });
  const { set } = store.agents;
  // Somebody gives an agent of last year that name at the same moment.
  store.agents.set = function renamed(id, agent) {
    store.agents.set = set;
    const record = { ...agent.record, id: OLDER, created_at: '2025-01-01T00:00:00Z' };
    set.call(this, OLDER, { ...agent, id: OLDER, record });
    return set.call(this, id, agent);
  };
  const ledger = await stage.apply();
  const made = ledger.find(({ address }) => address.startsWith('agent.'));
  expect(made).toMatchObject({ status: 'done', action: 'create' });
  expect(made?.id).not.toBe(OLDER);
});

staged(
  'the answer to a creation names another resource: it fails alone, and the state can be read',
  async (stage) => {
    await stage.write(
      'more.yaml',
      'retry_policies:\n  other: { name: Other, rules: { busy: { delay_seconds: 60, max_attempts: 1 } } }\n',
    );
    const twice = { operation: 'createRetryPolicy' as const, body: { data: { id: 'echoed' } } };
    const there = {
      operation: 'getRetryPolicy' as const,
      body: { data: { id: 'echoed', name: 'Echoed' } },
    };
    stage.sim.faults.add(twice, twice, ...Array.from({ length: 20 }, () => there));
    const ledger = await stage.apply({}, { exit: 3 });
    const messages = ledger.flatMap(({ message }) =>
      message?.includes('echoed') ? [message] : [],
    );
    expect(messages).toContainEqual(
      expect.stringContaining(
        'answered the create with the id echoed, which another resource of the stack already has',
      ),
    );
    stage.sim.faults.clear();
    const { resources } = await stateIn(stage);
    const ids = Object.values(resources).map(({ kind, id }) => `${kind} ${id}`);
    expect(new Set(ids).size).toBe(ids.length);
  },
);
