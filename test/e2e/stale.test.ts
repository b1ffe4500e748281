import { expect } from 'vitest';
import { computeDigest } from '../../src/core/digest.ts';
import { inventory, WHOLE } from './clinic.ts';
import { applied, longApplied, longScenario, readRun, type World } from './harness.ts';

/** A change to the desk waits in plan.json. */
async function planned(world: World): Promise<void> {
  await world.edit('agents.yaml', 'how can I help?', 'good day!');
  await world.run(['plan', '--out', 'plan.json', '--detailed-exitcode'], { exit: 2 });
}

/** The plan in plan.json is refused, in these words, and nothing is written. */
async function refused(world: World, pattern: RegExp, args = ['apply', 'plan.json']) {
  const before = world.writes().length;
  const { err } = await world.run(args, { exit: 5 });
  expect(err).toMatch(pattern);
  expect(world.writes().slice(before)).toEqual([]);
}

applied('a dashboard edit between plan and apply stops the apply, and is named', async (world) => {
  await planned(world);
  world.sim.edit(world.agent('Front desk'), { greeting_message: 'Edited.' }, 'user:maria');
  await refused(
    world,
    /\(agent\.desk\) was changed since the plan by user:maria via dashboard at 20/,
  );
});

longApplied('a plan is applied once', async (world) => {
  await planned(world);
  await world.apply(['plan.json']);
  const before = world.writes().length;
  const { out } = await world.apply(['plan.json']);
  expect(out).toMatch(/^Run \S+ applied this plan already: `callsheet runs \S+`$/m);
  expect(world.writes()).toHaveLength(before);
});

applied('the configuration changed since the plan', async (world) => {
  await planned(world);
  await world.edit('prompts/desk.md', 'Be brief.', 'Be very brief.');
  await refused(
    world,
    /\(agent\.desk\) was changed in the configuration since the plan: system_prompt$/m,
  );
});

longApplied('a plan file that was changed by hand', async (world) => {
  await planned(world);
  await world.edit('plan.json', 'good day!', 'good night!');
  await refused(world, /plan\.json was changed after it was made/);
});

applied('--expect takes the plan that was approved, and no other', async (world) => {
  await planned(world);
  const { digest } = JSON.parse(await world.read('plan.json'));
  const wrong = ['apply', 'plan.json', '--expect', computeDigest('something else')];
  await refused(world, /the plan's digest is sha256:[0-9a-f]{64}, not sha256:/, wrong);
  await world.apply(['plan.json', '--expect', digest]);
});

longScenario('--expect holds for a plan that is made on the spot, too', async (world) => {
  const { digest } = await world.plan();
  const before = world.writes().length;
  const { err } = await world.run(['apply', '--auto-approve', '--expect', computeDigest('other')], {
    exit: 5,
  });
  expect(err).toContain(digest);
  expect(world.writes().length).toBe(before);
  await world.apply(['--expect', digest]);
});

const EDITS = [
  ['of a field that the change rests on stops it, and nothing else', 'system_prompt', 5],
  ['of another field stops nothing, and is named', 'greeting_message', 0],
] as const;
for (const [what, field, code] of EDITS)
  applied(`an edit in the middle of a run ${what}`, async (world) => {
    await world.edit('agents.yaml', 'how can I help?', 'good day!');
    await world.edit('resources.yaml', 'delay_seconds: 900', 'delay_seconds: 600');
    await world.edit('agents.yaml', 'due for a check-up', 'due for a visit');
    const gate = await world.gate();
    const policy = gate.hold('request', { method: 'PATCH', path: /retry-policies/ });
    const recall = world.agent('Recall');
    const running = world.start(['apply', '--auto-approve', '--format', 'json']);
    await policy.reached;
    world.sim.edit(recall, { [field]: 'Edited.' }, 'user:maria');
    policy.release();

    const { exit, out } = await running.ended;
    const isStopped = code === 5;
    const lines = JSON.parse(out).ledger.map(
      ({ address, status }: { address: string; status: string }) => `${address} ${status}`,
    );
    expect(lines).toEqual([
      'retry_policy.gentle done',
      'agent.desk done',
      `agent.recall ${isStopped ? 'failed' : 'done'}`,
    ]);
    expect(exit).toBe(code);
    expect(out).toMatch(
      isStopped
        ? /was changed since the plan by user:maria via dashboard at 20\S+: system_prompt/
        : /since the plan it was changed in fields that this change does not rest on/,
    );
    expect(world.sim.store.agents.get(recall)?.record[field]).toBe('Edited.');
    // The next run undoes an edit of an owned field only when somebody agrees to it.
    if (isStopped) return;
    await world.apply();
    expect(world.sim.store.agents.get(recall)?.record[field]).toBe('Edited.');
  });

longScenario(
  'one of the same name that appears during the run is not made a second time',
  async (world) => {
    const gate = await world.gate();
    const policy = gate.hold('request', { method: 'POST', path: /retry-policies/ });
    const running = world.start([
      'apply',
      '--auto-approve',
      '--format',
      'json',
      '--concurrency',
      '1',
    ]);
    await policy.reached;
    const [organization] = world.sim.organizations;
    world.sim.store.smsTemplates.set('twin', {
      id: 'twin',
      organization_id: organization?.id ?? '',
      name: 'Reminder',
      message_type: 'sms',
      body: 'Made by hand.',
    });
    policy.release();

    const outcome = await running.ended;
    expect(outcome.exit).toBe(5);
    const line = readRun(outcome).ledger.find(({ address }) => address === 'sms_template.reminder');
    expect(line?.message).toContain(
      'another resource with its name (twin) was created since the plan',
    );
    // The next run takes it over.
    await world.apply();
    expect(inventory(world.sim)).toEqual(WHOLE);
  },
);
