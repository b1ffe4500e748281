import { describe, expect } from 'vitest';
import { realPause } from '../../src/platform/rate.ts';
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

/** Faults after which a create is looked for, and sent again where it is not there (DESIGN §5, Journal). */
const MISHAPS: Readonly<Record<string, Omit<Fault, 'operation'>>> = {
  'a broken connection': { reset: 'before' },
  'two broken connections': { reset: 'before', times: 2 },
  'a 503': { status: 503 },
  'three 503': { status: 503, times: 3 },
  'a 503 although it was done': { status: 503, done: true },
  'a page of a gateway': { status: 502, text: '<html>Bad gateway</html>' },
};

describe('the work is not done, or nobody knows', () => {
  const rows = making.flatMap((operation) =>
    Object.keys(MISHAPS).map((mishap) => ({ operation, mishap })),
  );
  // In short: what is made whole by one request, and what by several.
  const isShort = ({ operation, mishap }: (typeof rows)[number]) =>
    ['createAgent', 'createKnowledgeSource'].includes(operation) && mishap.includes('503');
  for (const { operation, mishap } of longRows(rows, isShort)) {
    staged(`${operation} after ${mishap}: made once, in the same run`, async (stage) => {
      stage.sim.faults.add({ operation, ...MISHAPS[mishap] });
      await stage.apply();
      expect(inventory(stage.sim)).toEqual(WHOLE);
      expect(stage.sim.faults.pending()).toBe(0);
    });
  }
});

staged('a create is given up where 503 goes on, and the next run converges', async (stage) => {
  stage.sim.faults.add({ operation: 'createAgent', status: 503, times: 100 });
  const outside = { pause: { ...realPause, sleep: async () => {} } };
  const ledger = await stage.apply({}, { exit: 3, outside });
  const line = ledger.find(({ address }) => address === 'agent.desk');
  expect(line?.message).toContain('answered 503');
  // It was looked for, and was not there.
  expect(line?.message).not.toContain('may have been written');
  stage.sim.faults.clear();
  await stage.apply();
  expect(inventory(stage.sim)).toEqual(WHOLE);
});

/** The platform may still be at work on these creates: they are looked for, and not sent a second time. */
const UNDER_WAY: Readonly<Record<string, Omit<Fault, 'operation'>>> = {
  'a 504': { status: 504, body: {} },
  'a 500': { status: 500 },
  'a failure of the platform itself (502)': { status: 502, body: { error: 'cloning failed' } },
};

for (const [mishap, fault] of Object.entries(UNDER_WAY)) {
  staged(`a create is sent once where ${mishap} is answered`, async (stage) => {
    stage.sim.faults.add({ operation: 'createCustomVoice', ...fault });
    await stage.apply({}, { exit: 3 });
    const sent = stage.sim.requests.filter(({ operation }) => operation === 'createCustomVoice');
    expect(sent).toHaveLength(1);
    await stage.apply();
    expect(inventory(stage.sim)).toEqual(WHOLE);
  });
}

staged('a name that a lost create took is no conflict of the next try', async (stage) => {
  const pagination = {
    page: 1,
    limit: 100,
    total: 0,
    totalPages: 0,
    hasNext: false,
    hasPrev: false,
  };
  stage.sim.faults.add(
    { operation: 'createRetryPolicy', status: 503, done: true },
    // The look after the 503 does not have it yet.
    { operation: 'listRetryPolicies', skip: 1, status: 200, body: { data: [], pagination } },
  );
  await stage.apply();
  expect(inventory(stage.sim)).toEqual(WHOLE);
  expect(stage.sim.faults.pending()).toBe(0);
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
