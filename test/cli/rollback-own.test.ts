import { expect } from 'vitest';
import { type Stage, staged } from '../apply/stage.ts';
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
    const { changes } = await stage.plan({}, { exit: 4 });
    expect(changes[0]?.reason).toBe(`put back by run ${run}, a rollback`);
    stage.sim.edit(desk(stage)?.id ?? '', { greeting_message: 'Mine again.' }, 'user:lee');
    expect((await stage.plan({}, { exit: 'any' })).changes[0]?.reason).toContain('user:lee');
  });
