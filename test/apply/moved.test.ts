import { expect } from 'vitest';
import { staged } from './stage.ts';

staged(
  'an agent that gets another address is taken along, not deleted and made anew',
  async (stage) => {
    await stage.apply();
    const before = [...stage.sim.store.agents.keys()];
    const yaml = await stage.read('agents.yaml');
    await stage.write('agents.yaml', yaml.replace('  desk:', '  front:'));

    const plan = await stage.plan({ allowDelete: true });
    expect(plan.changes.map(({ address, action, reason }) => [address, action, reason])).toEqual([
      ['agent.front', 'adopt', 'it was agent.desk before'],
    ]);
    const writes = stage.writes().length;
    await stage.apply({ allowDelete: true });
    expect(stage.writes().length).toBe(writes);
    expect([...stage.sim.store.agents.keys()]).toEqual(before);
  },
);
