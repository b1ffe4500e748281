import { describe, expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { mortal } from '../kill/mortal.ts';
import { longRows } from '../long.ts';

function agent({ sim: { store } }: Stage, name: string) {
  return [...store.agents.values()].find(({ record }) => record.name === name);
}

async function killedApply(stage: Stage, name: string): Promise<void> {
  const { outside, isDead } = mortal({ name, nth: 1 });
  await stage.apply({ concurrency: 1 }, { outside, exit: 'any' });
  expect(isDead()).toBe(true);
}

const undo = (stage: Stage, exit: number, undoEdited = false) =>
  stage.run(
    (to) => rollback({ dir: stage.folder, format: 'text', autoApprove: true, undoEdited }, to),
    {
      exit,
    },
  );

describe('a rollback of a run that died', () => {
  const moments = ['after request PUT updateAgent', 'before journal resource, ended'];
  for (const moment of longRows(moments, (_, at) => at === 0)) {
    staged(`${moment}: somebody's edit since is not undone unawares`, async (stage) => {
      await stage.apply();
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await killedApply(stage, moment);
      stage.sim.edit(agent(stage, 'Front desk')?.id ?? '', { description: 'Mine' });
      const { err } = await undo(stage, 4);
      expect(err).toContain(
        'Front desk (agent.desk) was edited since the run, last by user:dashboard',
      );
      expect(agent(stage, 'Front desk')?.record).toMatchObject({ description: 'Mine' });
    });
  }

  staged('what it is found to have created goes', async (stage) => {
    await killedApply(stage, 'after request POST createAgent');
    expect(stage.sim.store.agents.size).toBe(1);
    // The voice and the documents stay.
    await undo(stage, 3);
    expect(stage.sim.store.agents.size).toBe(0);
    expect(stage.sim.store.retryPolicies.size).toBe(0);
  });

  staged(
    'an edit to it is not taken for what a run wrote that history does not record',
    async (stage) => {
      await stage.apply();
      await stage.edit('agents.yaml', 'status: active', 'status: inactive');
      await killedApply(stage, 'after request PUT updateAgent');
      stage.sim.edit(agent(stage, 'Front desk')?.id ?? '', { description: 'Mine' });
      const { err } = await undo(stage, 4);
      expect(err).toContain(
        'Front desk (agent.desk) was edited since the run, last by user:dashboard',
      );
    },
  );

  longStaged('nor is one that came right before what the run wrote', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    const { outside, isDead } = mortal({ name: 'after request PUT updateAgent', nth: 1 });
    const wire: typeof outside.wire = (plain) => {
      const transport = outside.wire(plain);
      return {
        ...transport,
        send: (request) => {
          const id = agent(stage, 'Front desk')?.id ?? '';
          if (request.method === 'PUT') stage.sim.edit(id, { description: 'Mine' });
          return transport.send(request);
        },
      };
    };
    await stage.apply({ concurrency: 1 }, { outside: { ...outside, wire }, exit: 'any' });
    expect(isDead()).toBe(true);
    const { err } = await undo(stage, 4);
    expect(err).toContain(
      'Front desk (agent.desk) was edited since the run, last by user:dashboard',
    );
  });

  staged('what its own dead rollback wrote is nobody’s edit, what came then is', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.edit('agents.yaml', 'who are due for a check-up', 'who are late');
    await stage.apply();
    const { outside, isDead } = mortal({ name: 'after request POST revertAgent', nth: 1 });
    await stage.rollback({ concurrency: 1 }, { outside, exit: 'any' });
    expect(isDead()).toBe(true);
    for (const name of ['Front desk', 'Recall'])
      stage.sim.edit(agent(stage, name)?.id ?? '', { description: 'Mine' });
    const { err } = await undo(stage, 4);
    expect(err).toContain(
      'Front desk (agent.desk) was edited since the run, last by user:dashboard',
    );
    expect(err).toContain('Recall (agent.recall) was edited since the run, last by user:dashboard');
    await undo(stage, 0, true);
  });
});
