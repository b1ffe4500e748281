import { expect } from 'vitest';
import { ADDRESSES, inventory, WHOLE } from './clinic.ts';
import type { Gate } from './gate.ts';
import { applied, longApplied, longScenario, readRun, scenario } from './harness.ts';

/** What a run says once it has noticed the first signal. */
const STOPPING = /Interrupted: Callsheet finishes the requests in flight/;

const ONE_AT_A_TIME = ['apply', '--auto-approve', '--concurrency', '1', '--format', 'json'];

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  scenario(
    `${signal}: the request in flight ends, the rest is not begun, exit 130`,
    async (world) => {
      const gate = await world.gate();
      const policy = gate.hold('answer', { method: 'POST', path: /retry-policies/ });
      const running = world.start(ONE_AT_A_TIME);
      await policy.reached;
      running.signal(signal);
      await running.says(STOPPING);
      policy.release();
      const outcome = await running.ended;
      expect([outcome.exit, outcome.signal]).toEqual([130, null]);
      const { ledger } = readRun(outcome);
      expect(ledger.find(({ address }) => address === 'retry_policy.gentle')?.status).toBe('done');
      expect(ledger.filter(({ status }) => status === 'not_attempted').length).toBeGreaterThan(4);
      expect(ledger.map(({ address }) => address)).toEqual(ADDRESSES);

      await world.apply();
      expect(inventory(world.sim)).toEqual(WHOLE);
    },
    { isLong: signal === 'SIGTERM' },
  );
}

scenario(
  'SIGINT while a plan is made ends it, and says that nothing was written',
  async (world) => {
    const gate = await world.gate();
    const list = gate.hold('request', { method: 'GET', path: /\/v1\/agents/ });
    const running = world.start(['plan']);
    await list.reached;
    running.signal('SIGINT');
    const { exit, out, err } = await running.ended;
    expect([exit, out]).toEqual([130, '']);
    expect(err).toContain('interrupted; nothing was written');
  },
);

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

// A pipeline that is cancelled sends one and, seconds later, the other.
for (const [first, second] of SIGNALS.flatMap((one) =>
  SIGNALS.map((other) => [one, other] as const),
))
  scenario(
    `${second} after ${first} ends it at once, and the next run converges`,
    async (world) => {
      const gate = await world.gate();
      const agent = gate.hold('answer', { method: 'POST', path: /agents$/ });
      const running = world.start(ONE_AT_A_TIME);
      await agent.reached;
      running.signal(first);
      await running.says(STOPPING);
      running.signal(second);
      const outcome = await running.ended;
      // It does not wait for the request until that has timed out, and then report.
      expect([outcome.exit, outcome.signal, outcome.out]).toEqual([130, null, '']);
      agent.release();
      await world.apply();
      expect(inventory(world.sim)).toEqual(WHOLE);
    },
    { isLong: first === second || first === 'SIGTERM' },
  );

/** Where a run dies: before the platform saw the request, or after it did the work. */
const deaths: readonly (readonly [string, ...Parameters<Gate['hold']>])[] = [
  ['before a policy is made', 'request', { method: 'POST', path: /retry-policies/ }],
  ['after a policy was made', 'answer', { method: 'POST', path: /retry-policies/ }],
  ['after a voice was made', 'answer', { method: 'POST', path: /custom-voices/ }],
  ['after an e-mail template was made', 'answer', { method: 'POST', path: /email-templates/ }],
  ['after a page was added', 'answer', { method: 'POST', path: /sources$/ }],
  ['before a document is queued', 'request', { method: 'POST', path: /enqueue/ }],
  ['after an agent was made', 'answer', { method: 'POST', path: /agents$/ }],
  ['while an agent is read back', 'request', { method: 'GET', path: /agents\/[^/?]+$/ }],
];

// `test/kill/` has a run die at every step in this process: here one is really killed.
for (const [when, at, match] of deaths) {
  const isLong = when !== 'after an agent was made';
  scenario(
    `killed ${when}: the next apply converges without a duplicate`,
    async (world) => {
      const gate = await world.gate();
      const hold = gate.hold(at, match);
      const running = world.start(ONE_AT_A_TIME);
      await hold.reached;
      running.signal('SIGKILL');
      expect((await running.ended).signal).toBe('SIGKILL');
      hold.release();

      await world.apply();
      expect(inventory(world.sim)).toEqual(WHOLE);
    },
    { isLong },
  );
}

longScenario(
  'a plan shows what became of a killed run, and the next apply records it',
  async (world) => {
    const gate = await world.gate();
    const hold = gate.hold('answer', { method: 'POST', path: /sms-templates/ });
    const running = world.start(ONE_AT_A_TIME);
    await hold.reached;
    running.signal('SIGKILL');
    await running.ended;
    hold.release();
    const { out } = await world.run(['plan', '--detailed-exitcode'], { exit: 2 });
    expect(out).toMatch(
      /Settled from run \S+, which died:\n.*sms_template\.reminder +was created \(id \S+\)/,
    );
    await world.apply();
    expect((await world.run(['plan'])).out).not.toContain('Settled');
    const { runs } = JSON.parse((await world.run(['runs', '--format', 'json'])).out);
    expect(runs.map(({ status }: { status: string }) => status)).toEqual(['done', 'settled']);
  },
);

applied(
  'killed in the middle of an update: what was written is no drift afterwards',
  async (world) => {
    await world.edit('agents.yaml', 'how can I help?', 'good day!');
    const gate = await world.gate();
    const hold = gate.hold('answer', { method: 'PUT', path: /agents/ });
    const running = world.start(ONE_AT_A_TIME);
    await hold.reached;
    running.signal('SIGKILL');
    await running.ended;
    hold.release();
    const before = world.writes().length;
    await world.apply();
    expect(world.writes().length).toBe(before);
  },
);

longApplied('a killed run can be rolled back', async (world) => {
  await world.edit('agents.yaml', 'how can I help?', 'good day!');
  await world.edit('agents.yaml', 'status: active', 'status: inactive');
  const gate = await world.gate();
  const hold = gate.hold('answer', { method: 'PUT', path: /agents/ });
  const running = world.start(ONE_AT_A_TIME);
  await hold.reached;
  running.signal('SIGKILL');
  await running.ended;
  hold.release();
  await world.run(['rollback', '--auto-approve']);
  expect(world.sim.store.agents.get(world.agent('Front desk'))?.record).toMatchObject({
    greeting_message: 'Harbor Dental, how can I help?',
    status: 'active',
  });
});

longApplied('a rollback that is killed is gone on with', async (world) => {
  await world.edit('agents.yaml', 'how can I help?', 'good day!');
  await world.edit('agents.yaml', 'who are due for a check-up', 'who are late');
  await world.apply();
  const gate = await world.gate();
  const hold = gate.hold('answer', { method: 'POST', path: /revert/ });
  const running = world.start(['rollback', '--auto-approve', '--concurrency', '1']);
  await hold.reached;
  running.signal('SIGKILL');
  await running.ended;
  hold.release();
  const { err } = await world.run(['rollback', '--auto-approve']);
  expect(err).toContain('Continuing the interrupted rollback of run');
  const records = [...world.sim.store.agents.values()].map(({ record }) => record);
  expect(records).toMatchObject([
    { greeting_message: 'Harbor Dental, how can I help?' },
    { system_prompt: 'You call people who are due for a check-up.' },
  ]);
});

scenario(
  'two applies at once: the second is told who holds the state, and writes nothing',
  async (world) => {
    const gate = await world.gate();
    const hold = gate.hold('request', { method: 'POST', path: /retry-policies/ });
    const first = world.start(ONE_AT_A_TIME);
    await hold.reached;
    const before = world.writes().length;
    const { err } = await world.run(['apply', '--auto-approve'], { exit: 6 });
    expect(err).toMatch(
      /the state .* is locked by apply \(run \S+\) of \S+, process \d+, since 20/,
    );
    expect(world.writes().length).toBe(before);
    const planned = await world.run(['plan']);
    expect(planned.out).toContain('Plan:');
    hold.release();
    expect((await first.ended).exit).toBe(0);
    await world.apply();
    expect(inventory(world.sim)).toEqual(WHOLE);
  },
);
