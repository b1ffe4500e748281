import { expect } from 'vitest';
import { applied } from './harness.ts';

const STATE = '.callsheet/state.json';

/** Commands that need no state, or none that is sound. */
const WORKING = [['validate'], ['runs'], ['get', 'agents'], ['state', 'unlock']];

/** Commands that need a sound state; `test/cli/state-repair.test.ts` knows more of them. */
const REFUSING = [
  ['plan'],
  ['apply', '--auto-approve'],
  ['drift'],
  ['rollback', '--auto-approve'],
  ['state', 'list'],
];

applied(
  'a damaged state: what needs it refuses, the rest works, repair rebuilds it',
  async (world) => {
    const damaged = (await world.read(STATE)).slice(0, -30);
    await world.write(STATE, damaged);
    const before = world.writes().length;
    for (const command of REFUSING) {
      const { err } = await world.run(command, { exit: 1 });
      expect(err).toMatch(/the state \S+ was cut off: its end is missing/);
      expect(err).toContain('callsheet state repair');
    }
    for (const command of WORKING) await world.run(command);
    expect(await world.read(STATE)).toBe(damaged);
    expect(world.writes().length).toBe(before);

    const { out } = await world.run(['state', 'repair']);
    expect(out).toContain('8 resources kept');
    await world.apply();
    expect(world.writes().length).toBe(before);
    const { runs } = JSON.parse((await world.run(['runs', '--format', 'json'])).out);
    expect(runs.map(({ purpose }: { purpose: string }) => purpose)).toEqual([
      'state repair',
      'apply',
    ]);
  },
);
