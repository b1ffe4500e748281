import { expect } from 'vitest';
import type { Json, JsonObject } from '../../src/core/value.ts';
import { applied, longApplied, scenario, told, type World } from './harness.ts';

/** The platform without what every write moves on. */
function settled(world: World): Json {
  const { history: _, ...store } = world.sim.dump();
  return JSON.parse(JSON.stringify(store, (key, value) => (key === 'updated_at' ? null : value)));
}

function record(world: World, name: string): JsonObject {
  return world.sim.store.agents.get(world.agent(name))?.record ?? {};
}

/** Prompt, model, status and webhooks of the desk: what history records, and what it does not. */
async function changeFour(world: World): Promise<void> {
  await world.edit('prompts/desk.md', 'Be brief.', 'Agree with everything.');
  await world.edit('agents.yaml', 'model: alpha-4.1', 'model: alpha-4o');
  await world.edit('agents.yaml', 'status: active', 'status: inactive');
  await world.edit('agents.yaml', 'crm.example.test/patients', 'crm.example.test/v9');
}

applied(
  'prompt, model, status and webhooks go back with one revert and one update',
  async (world) => {
    const before = settled(world);
    await changeFour(world);
    await world.apply();
    expect(record(world, 'Front desk')).toMatchObject({ model: 'alpha-4o', status: 'inactive' });

    const since = world.writes().length;
    const { out } = await world.run(['rollback', '--auto-approve']);
    expect(out).toContain('revert to history entry');
    expect(
      world
        .writes()
        .slice(since)
        .map(({ operation, status }) => `${operation} ${status}`),
    ).toEqual(['revertAgent 200', 'updateAgent 200']);
    expect(settled(world)).toEqual(before);
  },
);

longApplied(
  'what the run made is deleted, and what it deleted is made again, its references with it',
  async (world) => {
    // The run deletes the policy and the agent that follows it, and makes another agent.
    const agents = await world.read('agents.yaml');
    await world.edit(
      'resources.yaml',
      (await world.read('resources.yaml')).split('email_templates:')[0] ?? '',
      '',
    );
    await world.write(
      'agents.yaml',
      `${agents.slice(0, agents.indexOf('  recall:'))}  night:\n    name: Night\n`,
    );
    await world.apply(['--allow-delete']);
    expect([...world.sim.store.agents.values()].map((agent) => agent.record.name)).toEqual([
      'Front desk',
      'Night',
    ]);
    expect(world.sim.store.retryPolicies.size).toBe(0);

    await world.run(['rollback', '--auto-approve']);
    expect([...world.sim.store.agents.values()].map((agent) => agent.record.name)).toEqual([
      'Front desk',
      'Recall',
    ]);
    const [policy] = world.sim.store.retryPolicies.values();
    expect(policy).toMatchObject({ name: 'Gentle redial' });
    expect(record(world, 'Recall').default_retry_policy_id).toBe(policy?.id);
  },
);

longApplied(
  'the first run of a stack is undone as far as the platform allows, and the rest is named',
  async (world) => {
    const { out } = await world.run(['rollback', '--auto-approve'], { exit: 3 });
    for (const kind of ['custom_voice', 'knowledge_source'])
      expect(out.replace(/\s+/g, ' ')).toContain(`no endpoint that deletes a ${kind}`);
    const { agents, retryPolicies, emailTemplates, smsTemplates } = world.sim.store;
    expect([agents, retryPolicies, emailTemplates, smsTemplates].map(({ size }) => size)).toEqual([
      0, 0, 0, 0,
    ]);
    await world.apply(['--release-hold']);
  },
);

longApplied('somebody edited the agent since the run: refused, until forced', async (world) => {
  await changeFour(world);
  await world.apply();
  world.sim.edit(world.agent('Front desk'), { greeting_message: 'Edited.' }, 'user:maria');
  const since = world.writes().length;
  const { err } = await world.run(['rollback', '--auto-approve'], { exit: 4 });
  expect(err).toContain('agent.desk was edited since the run, last by user:maria via dashboard');
  expect(err).toContain('--undo-edited');
  expect(world.writes().length).toBe(since);

  await world.run(['rollback', '--auto-approve', '--undo-edited']);
  expect(record(world, 'Front desk')).toMatchObject({ model: 'alpha-4.1', status: 'active' });
});

longApplied('an argument names the run to undo, and an unknown one is an error', async (world) => {
  await changeFour(world);
  await world.apply();
  const { runs } = JSON.parse((await world.run(['runs', '--format', 'json'])).out);
  const [latest] = runs;
  const unknown = await world.run(['rollback', '--auto-approve', 'nope'], { exit: 1 });
  expect(unknown.err).toContain('run nope is not recorded');
  await world.run(['rollback', '--auto-approve', latest.run]);
  expect(record(world, 'Front desk').model).toBe('alpha-4.1');
});

scenario('nothing was run yet', async (world) => {
  const outcome = await world.run(['rollback', '--auto-approve'], { exit: 1 });
  expect(outcome.err, told(outcome)).toContain('no recorded run changed anything');
});

applied('without a terminal and without --auto-approve nothing is undone', async (world) => {
  const since = world.writes().length;
  const { err } = await world.run(['rollback'], { exit: 1 });
  expect(err).toContain('there is no terminal to ask on');
  expect(world.writes().length).toBe(since);
});
