import { describe, expect, test } from 'vitest';
import { A_WHILE_MS, type RefreshStage, refreshStage, type Stack } from './stage.ts';

/**
 * Two changes of one second have the same `updated_at` on a platform that tells time in seconds. The clock stands
 * still here unless it is moved on.
 */
const STACK: Stack = {
  agents: {
    ann: { name: 'ann', greeting_message: 'Hello' },
    ben: { name: 'ben', greeting_message: 'Hello' },
  },
};
const NOON = new Date('2026-11-22T12:00:00.100Z');

function changed(key: string, greeting_message: string): Stack {
  return { agents: { ...STACK.agents, [key]: { name: key, greeting_message } } };
}

const stageInSeconds = () =>
  refreshStage(STACK, { timestamps: 'seconds' }, { platformNow: () => NOON });

/** What agents say, changed behind everybody's back. */
function editUnseen({ record }: RefreshStage, name: string): void {
  Object.assign(record(name), { greeting_message: 'By hand' });
}

const found = async (stage: RefreshStage) =>
  (await stage.agree()).changes.map(({ address }) => address);

describe('an edit in the same second', () => {
  test('as the last write of a run is found', async () => {
    const stage = await stageInSeconds();
    await stage.apply();
    editUnseen(stage, 'ben');
    stage.sim.advance(A_WHILE_MS);
    expect(await found(stage)).toEqual(['agent.ben']);
  });

  test('as an edit that a plan saw is found', async () => {
    const stage = await stageInSeconds();
    await stage.settle();
    stage.alter('ben', { description: 'By hand' });
    await stage.apply();
    editUnseen(stage, 'ben');
    stage.sim.advance(A_WHILE_MS);
    expect(await found(stage)).toEqual(['agent.ben']);
  });

  test('as a write is found although a later run looks at it again', async () => {
    const stage = await stageInSeconds();
    await stage.apply();
    editUnseen(stage, 'ben');
    stage.sim.advance(A_WHILE_MS);
    await stage.configure(changed('ann', 'New'));
    await applyByFile(stage);
    stage.sim.advance(A_WHILE_MS);
    expect(await found(stage)).toEqual(['agent.ben']);
  });
});

async function applyByFile(stage: RefreshStage): Promise<void> {
  await stage.plan({ out: `${stage.folder}/plan.json`, target: ['agent.ann'] } as object);
  await stage.applyFile('plan.json', {}, { leaves: ({ address }) => address === 'agent.ben' });
}

test('what a run wrote is looked at again by the next, once it is over', async () => {
  const stage = await stageInSeconds();
  await stage.apply();
  stage.sim.advance(A_WHILE_MS);
  expect(await stage.reads()).toEqual(['ann', 'ben']);
  await stage.configure(changed('ann', 'New'));
  await applyByFile(stage);
  stage.sim.advance(A_WHILE_MS);
  // The first run wrote `ben`, and this one saw that nobody did since.
  expect(await stage.reads()).toEqual(['ann']);
});

test('a run looks again at what it wrote itself some time ago', async () => {
  let past = 0;
  const stage = await refreshStage(
    STACK,
    { timestamps: 'seconds' },
    // Each look at the clock takes four seconds.
    { platformNow: () => new Date(NOON.getTime() + 4_000 * past++) },
  );
  await stage.apply();
  stage.sim.advance(A_WHILE_MS);
  expect((await stage.reads()).length).toBeLessThan(2);
});
