import { expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { runs } from '../../src/cli/commands/state.ts';
import type { StateStore } from '../../src/state/store.ts';
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

staged(
  'the runs that edited fifty agents since are read once, not once for each',
  async (stage) => {
    await writeFleet(stage, 'before');
    await stage.apply();
    await writeFleet(stage, 'after');
    await stage.apply({ allowDelete: true });
    const { out } = await stage.run((to) =>
      runs(undefined, { dir: stage.folder, format: 'json' }, to),
    );
    const [last, first] = JSON.parse(out).runs.map(({ run }: { readonly run: string }) => run);
    const read: string[] = [];
    const timed = (store: StateStore): StateStore => ({
      ...store,
      run: (run, ...more) => {
        read.push(run);
        return store.run(run, ...more);
      },
    });
    const { err } = await stage.run(
      (to) => rollback({ dir: stage.folder, format: 'text', run: first, autoApprove: true }, to),
      { exit: 4, outside: { timed } },
    );
    expect(err).toContain(`was edited since the run, last by run ${last}`);
    expect(read.length).toBeLessThan(10);
  },
);
