import { describe, expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { CANARIES } from '../e2e/clinic.ts';
import { mortal } from '../kill/mortal.ts';
import { longRows } from '../long.ts';
import { stateIn } from './state-stage.ts';

const ROTATED = { SMS_TOKEN: 'canary-sms-rotated-77d0' };

function agent({ sim: { store } }: Stage, name: string) {
  return [...store.agents.values()].find(({ record }) => record.name === name);
}

async function changeBoth(stage: Stage): Promise<void> {
  await stage.apply();
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.edit('agents.yaml', 'who are due for a check-up', 'who are late');
  await stage.apply({}, { env: ROTATED });
}

async function killedRollback(stage: Stage, name: string): Promise<void> {
  const { outside, isDead } = mortal({ name, nth: 1 });
  await stage.rollback({ concurrency: 1 }, { outside, exit: 'any' });
  expect(isDead()).toBe(true);
}

const again = (stage: Stage, exit = 0) =>
  stage.run((to) => rollback({ dir: stage.folder, format: 'text', autoApprove: true }, to), {
    exit,
    env: ROTATED,
  });

describe('a rollback that died', () => {
  const moments = [
    'before request POST revertAgent',
    'after request POST revertAgent',
    'before journal resource, snapshot, intent revertAgent',
    'before journal resource, ended',
  ];
  // In short: once the request was sent, and once all was done.
  for (const moment of longRows(moments, (_, at) => at % 2 === 1))
    staged(`${moment}: the next one goes on with it`, async (stage) => {
      await changeBoth(stage);
      await killedRollback(stage, moment);
      // The secret that the run changed stays, so that it ends in part.
      const { err } = await again(stage, 3);
      if (!moment.includes('before request'))
        expect(err).toContain('Continuing the interrupted rollback');
      expect(agent(stage, 'Front desk')?.record).toMatchObject({
        greeting_message: 'Harbor Dental, how can I help?',
      });
      expect(agent(stage, 'Recall')?.record).toMatchObject({
        system_prompt: 'You call people who are due for a check-up.',
      });
      const { out } = await again(stage, 3);
      expect(out).toContain('Not restored: 1 value');
    });

  staged('still refuses where somebody edited since', async (stage) => {
    await changeBoth(stage);
    await killedRollback(stage, 'after request POST revertAgent');
    stage.sim.edit(agent(stage, 'Recall')?.id ?? '', { description: 'Mine' });
    const { err } = await again(stage, 4);
    expect(err).toContain('Recall (agent.recall) was edited since the run, last by user:dashboard');
  });
});

staged(
  'a secret that a rollback could not put back is written by the next apply',
  async (stage) => {
    await changeBoth(stage);
    await stage.rollback({}, { env: ROTATED, exit: 3 });
    await stage.edit('agents.yaml', 'good day!', 'how can I help?');
    await stage.edit('agents.yaml', 'who are late', 'who are due for a check-up');
    await stage.apply();
    expect(agent(stage, 'Front desk')?.record).toMatchObject({
      integrations: { smsProvider: { auth_token: CANARIES.SMS_TOKEN } },
    });
  },
);

longStaged('so is a secret of what it made anew', async (stage) => {
  await stage.apply();
  const agents = await stage.read('agents.yaml');
  await stage.remove('agents.yaml');
  await stage.apply({ allowDelete: true });
  await stage.rollback({}, { exit: 3 });
  await stage.write('agents.yaml', agents);
  await stage.apply();
  expect(agent(stage, 'Front desk')?.record).toMatchObject({
    integrations: { smsProvider: { auth_token: CANARIES.SMS_TOKEN } },
  });
});

describe('an earlier run, once a later one was rolled back', () => {
  /** Two runs that change the desk, of which the later one is rolled back. Returns the earlier one. */
  async function steppedBack(stage: Stage): Promise<string> {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    const run = (await stateIn(stage)).last_run ?? '';
    await stage.edit('agents.yaml', 'good day!', 'good evening!');
    await stage.apply();
    await stage.rollback();
    return run;
  }

  staged('is rolled back as well: what the later one wrote is gone', async (stage) => {
    const run = await steppedBack(stage);
    await stage.rollback({ run });
    expect(agent(stage, 'Front desk')?.record).toMatchObject({
      greeting_message: 'Harbor Dental, how can I help?',
    });
  });

  longStaged('is not where somebody edited between the two', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    const run = (await stateIn(stage)).last_run ?? '';
    stage.sim.edit(agent(stage, 'Front desk')?.id ?? '', { description: 'Mine' });
    await stage.edit('agents.yaml', 'good day!', 'good evening!');
    await stage.apply();
    await stage.rollback();
    const { err } = await stage.run(
      (to) => rollback({ dir: stage.folder, run, format: 'text', autoApprove: true }, to),
      { exit: 4 },
    );
    expect(err).toContain(
      'Front desk (agent.desk) was edited since the run, last by user:dashboard',
    );
  });

  staged(
    'is not of what has no history, until the later one is rolled back there',
    async (stage) => {
      const attempts = () => [...stage.sim.store.retryPolicies.values()].map(({ rules }) => rules);
      const roll = (which: { readonly run?: string }, exit: number) =>
        stage.run(
          (to) => rollback({ dir: stage.folder, ...which, format: 'text', autoApprove: true }, to),
          { exit },
        );
      await stage.apply();
      const first = attempts();
      await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
      await stage.apply();
      const run = (await stateIn(stage)).last_run ?? '';
      await stage.edit('resources.yaml', 'max_attempts: 5', 'max_attempts: 7');
      await stage.apply();
      const later = (await stateIn(stage)).last_run ?? '';
      const { err } = await roll({ run }, 4);
      expect(err).toContain(
        `Gentle redial (retry_policy.gentle) was edited since the run, last by run ${later}`,
      );
      await roll({}, 0);
      await roll({ run }, 0);
      expect(attempts()).toEqual(first);
    },
  );
});
