import { expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { staged } from '../apply/stage.ts';
import { dumpOf, expectOneRevertEach, writeFleet } from '../rollback/fleet.ts';

staged(
  'a run over fifty agents, a policy, templates, a new one and a deleted one',
  async (stage) => {
    await writeFleet(stage, 'before');
    await stage.apply();
    const before = dumpOf(stage.sim);
    await writeFleet(stage, 'after');
    await stage.apply({ allowDelete: true });
    expect(dumpOf(stage.sim)).not.toEqual(before);
    const since = stage.writes().length;
    const { out } = await stage.run((to) =>
      rollback({ dir: stage.folder, format: 'text', autoApprove: true }, to),
    );
    expect(dumpOf(stage.sim)).toEqual(before);
    expectOneRevertEach(stage.writes().slice(since));
    expect(out).toContain('Verified: 54 resources read again');
    expect(out.replace(/\s+/g, ' ')).toMatch(
      /agent\.a49 it was created again with the id \S+ \(before: \S+\)/,
    );
  },
);
