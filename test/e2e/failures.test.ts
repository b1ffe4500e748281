import { expect } from 'vitest';
import type { Fault } from '../../src/simulator/index.ts';
import type { LedgerLine } from '../../src/state/journal.ts';
import { applied, type Outcome, readRun, scenario, type World } from './harness.ts';

const ALL = [
  'custom_voice.harbor',
  'retry_policy.gentle',
  'email_template.reminder',
  'sms_template.reminder',
  'knowledge_source.clinic.faq',
  'knowledge_source.clinic.prices',
  'agent.desk',
  'agent.recall',
];

/** How many there are of everything that the clinic has; two of one name would be a duplicate. */
function counts({ sim: { store } }: World): readonly number[] {
  const { voices, retryPolicies, emailTemplates, smsTemplates, sources, agents } = store;
  return [voices, retryPolicies, emailTemplates, smsTemplates, sources, agents].map(
    ({ size }) => size,
  );
}
const ONE_OF_EACH = [1, 1, 1, 1, 2, 2];

function statuses(outcome: Outcome): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readRun(outcome).ledger.map(({ address, status }) => [address, status]),
  );
}

scenario(
  'a failure blocks what depends on it and nothing else; the ledger lists all',
  async (world) => {
    world.sim.faults.add({
      operation: 'createRetryPolicy',
      status: 400,
      body: { error: 'invalid_request', error_description: 'No.' },
    });
    const outcome = await world.run(['apply', '--auto-approve', '--format', 'json'], { exit: 3 });
    expect(statuses(outcome)).toEqual({
      ...Object.fromEntries(ALL.map((address) => [address, 'done'])),
      'retry_policy.gentle': 'failed',
      'agent.recall': 'blocked',
    });
    const messages = readRun(outcome).ledger.flatMap(({ message }) => message ?? []);
    expect(messages.join('\n')).toContain('answered 400: invalid_request; No.');
    expect(messages).toContain('waits for retry_policy.gentle');
    await world.apply();
    expect(counts(world)).toEqual(ONE_OF_EACH);
  },
);

scenario('the text ledger names what failed, why, and what it blocked', async (world) => {
  world.sim.faults.add({
    operation: 'createCustomVoice',
    status: 403,
    body: { error: 'forbidden', error_description: 'Custom voices are not enabled' },
  });
  const { out, err } = await world.run(['apply', '--auto-approve'], { exit: 3 });
  expect(out).toMatch(/✗ failed\s+custom_voice\.harbor/);
  expect(out.replace(/\s+/g, ' ')).toContain(
    'answered 403: forbidden; Custom voices are not enabled',
  );
  expect(out).toMatch(
    /agent\.desk.*waits for custom_voice\.harbor|waits for custom_voice\.harbor/s,
  );
  expect(err).toContain('custom_voice.harbor: failed');
});

/** The work is done and its answer never comes: nobody knows, and it must not be done twice. */
const lost: readonly Fault['operation'][] = [
  'createCustomVoice',
  'createRetryPolicy',
  'createEmailTemplate',
  'createSmsTemplate',
  'createKnowledgeSource',
  'upload',
  'enqueueKnowledgeSource',
  'createAgent',
];

for (const operation of lost) {
  scenario(
    `the answer of ${operation} is lost: settled in the run, without a duplicate`,
    async (world) => {
      world.sim.faults.add({ operation, reset: 'after' });
      await world.apply();
      expect(counts(world)).toEqual(ONE_OF_EACH);
      expect(world.sim.faults.pending()).toBe(0);
    },
  );
}

scenario('a create that fails with 500 after it was done is settled as well', async (world) => {
  const { sim } = world;
  sim.faults.add({ operation: 'createAgent', reset: 'before' });
  const { out } = await world.run(['apply', '--auto-approve'], { exit: 3 });
  expect(out).toContain('agent.');
  expect(sim.store.agents.size).toBe(1);
  await world.apply();
  expect(counts(world)).toEqual(ONE_OF_EACH);
});

/** Passing faults that the run gets over. */
const passing: readonly (readonly [string, readonly Fault[]])[] = [
  ['a storm of 429', [{ operation: '*', status: 429, headers: { 'retry-after': '0' }, times: 12 }]],
  [
    'a refused token request',
    [{ operation: 'createToken', status: 429, headers: { 'retry-after': '0' } }],
  ],
  ['503 on reads', [{ operation: 'listAgents', status: 503, times: 2 }]],
  ['broken connections on reads', [{ operation: 'getAgent', reset: 'before', times: 2 }]],
  [
    '401 in the middle',
    [{ operation: 'createAgent', status: 401, body: { error: 'invalid_token' } }],
  ],
];

for (const [what, faults] of passing) {
  scenario(`the run gets over ${what}`, async (world) => {
    world.sim.faults.add(...faults);
    await world.apply();
    expect(counts(world)).toEqual(ONE_OF_EACH);
  });
}

applied('a write that did not take is a failure that names the field', async (world) => {
  await world.edit('agents.yaml', 'how can I help?', 'good day!');
  world.sim.faults.add({ operation: 'updateAgent', status: 200, body: { data: {} } });
  const { out } = await world.run(['apply', '--auto-approve'], { exit: 3 });
  expect(out.replace(/\s+/g, ' ')).toContain('still returns something else for greeting_message');
  await world.apply();
});

scenario('what a failed run made is known to the next one', async (world) => {
  world.sim.faults.add({ operation: 'getAgent', status: 500, times: 9 });
  await world.run(['apply', '--auto-approve'], { exit: 3 });
  expect(world.sim.store.agents.size).toBe(2);
  world.sim.faults.clear();
  await world.apply();
  expect(counts(world)).toEqual(ONE_OF_EACH);
});

scenario('a run shows in runs, with every line of its ledger', async (world) => {
  world.sim.faults.add({ operation: 'createSmsTemplate', status: 400 });
  await world.run(['apply', '--auto-approve'], { exit: 3 });
  const { runs } = JSON.parse((await world.run(['runs', '--format', 'json'])).out);
  expect(runs).toMatchObject([{ purpose: 'apply', status: 'partial', changes: 7 }]);
  const receipt = JSON.parse((await world.run(['runs', runs[0].run, '--format', 'json'])).out);
  const ended = receipt.entries.at(-1);
  expect(ended.ledger.map(({ address }: LedgerLine) => address)).toEqual(ALL);
  const text = await world.run(['runs', runs[0].run]);
  expect(text.out).toContain('sms_template.reminder');
  await world.apply();
});
