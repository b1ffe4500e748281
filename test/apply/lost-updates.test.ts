import { expect } from 'vitest';
import { agentNamed } from '../e2e/clinic.ts';
import { type Stage, staged } from './stage.ts';

/** The clinic as applied a minute ago, and one change of it of which no answer comes. */
async function losing(stage: Stage, reset: 'before' | 'after'): Promise<void> {
  await stage.apply();
  stage.sim.advance(60_000);
  await stage.edit('agents.yaml', 'speed: 1.05', 'speed: 1.1');
  stage.sim.faults.add({ operation: 'updateAgent', reset, times: 20 });
  const [line] = await stage.apply({}, { exit: 3 });
  expect(line?.message).toContain('it may have been written all the same: the next plan reads it');
  stage.sim.faults.clear();
}

for (const reset of ['before', 'after'] as const)
  staged(
    `an update whose answers are all lost ${reset} the work is read by the next plan`,
    async (stage) => {
      await losing(stage, reset);
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await stage.apply();
    },
  );

staged('one whose answers were all lost is rolled back with its run', async (stage) => {
  await losing(stage, 'after');
  await stage.rollback();
  expect(agentNamed(stage.sim).record.voice_settings).toMatchObject({ speed: 1.05 });
});
