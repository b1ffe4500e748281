import { expect } from 'vitest';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { stateIn } from './state-stage.ts';

const desk = ({ sim }: Stage) =>
  [...sim.store.agents.values()].find(({ record }) => record.name === 'Front desk');

for (const edit of [
  { greeting_message: 'Mine.' },
  // Of a field that no history records.
  { status: 'inactive' },
])
  staged(`a value that a rollback put back is its own: ${Object.keys(edit)}`, async (stage) => {
    await stage.apply();
    stage.sim.edit(desk(stage)?.id ?? '', edit, 'user:maria');
    await stage.apply();
    await stage.rollback();
    const { last_run: run } = await stateIn(stage);
    expect(desk(stage)?.record).toMatchObject(edit);
    // The run only put back what the edit had changed, so nothing is held.
    const { changes } = await stage.plan();
    expect(changes[0]?.reason).toBe(`put back by run ${run}, a rollback`);
    stage.sim.edit(desk(stage)?.id ?? '', { greeting_message: 'Mine again.' }, 'user:lee');
    expect((await stage.plan({}, { exit: 'any' })).changes[0]?.reason).toContain('user:lee');
  });

// A clock that stands still stamps all of them in one second.
const HALTED = { dialect: { timestamps: 'seconds' }, platformNow: () => new Date(NOON) } as const;
const NOON = '2026-11-23T12:00:00.000Z';

longStaged(
  'a run is undone although the run before it wrote in the same second',
  async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    await stage.apply();
    await stage.edit('agents.yaml', 'good day!', 'good night!');
    await stage.apply();
    const { last_run: run } = await stateIn(stage);
    await stage.rollback(run === null ? {} : { run });
    expect(desk(stage)?.record.greeting_message).toContain('good day!');
  },
  HALTED,
);
