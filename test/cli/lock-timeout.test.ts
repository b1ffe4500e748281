import { setTimeout } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { holder } from '../state/sample.ts';
import { storeOf } from './state-stage.ts';

const AGENTS = 'agents:\n  a0: { name: A0, greeting_message: Hello }\n';

/** The state, held by another run of this machine. */
const held = (stage: Stage) => storeOf(stage).acquire(holder('r2'));

const applying = (stage: Stage, lockTimeout?: number) =>
  stage.run(
    (to) =>
      apply(
        undefined,
        {
          dir: stage.folder,
          format: 'text',
          autoApprove: true,
          ...(lockTimeout === undefined ? {} : { lockTimeout }),
        },
        to,
      ),
    { exit: 'any' },
  );

describe('a state that another run holds', () => {
  staged('is said before anything is asked of the platform', async (stage) => {
    const other = await held(stage);
    const before = stage.sim.requests.length;
    const { err } = await applying(stage);
    expect(err).toContain('is locked by');
    expect(stage.sim.requests.length).toBe(before);
    await other.release();
  });

  staged('is waited for, and planned once it is free', async (stage) => {
    await stage.write('agents.yaml', AGENTS);
    const other = await held(stage);
    const before = stage.sim.requests.length;
    const waiting = applying(stage, 60_000);
    await setTimeout(1_200);
    expect(stage.sim.requests.length).toBe(before);
    await other.release();
    expect((await waiting).err).toContain('Waiting: the state');
    expect((await waiting).out).toMatch(/✓ created +.*agent\.a0/);
  });

  staged('is given up on when the time is over', async (stage) => {
    const other = await held(stage);
    const { err } = await applying(stage, 1_500);
    expect(err).toContain('Waiting: the state');
    expect(err).toContain('Error: the state');
    await other.release();
  });

  staged('by two that wait for it, is planned anew by the second', async (stage) => {
    await stage.write('agents.yaml', AGENTS);
    const ends = await Promise.all([applying(stage, 60_000), applying(stage, 60_000)]);
    expect(ends.map(({ err }) => err).join()).not.toContain('Error');
    expect([...stage.sim.store.agents.values()].map(({ record }) => record.name)).toEqual(['A0']);
  });
});
