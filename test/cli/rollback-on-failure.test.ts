import { describe, expect } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { type ApplyFlags, apply } from '../../src/console/apply.ts';
import type { Json, JsonObject } from '../../src/core/value.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { mortal } from '../kill/mortal.ts';
import { longRows } from '../long.ts';

/** The platform without what every write moves on, and without the history that a rollback adds to. */
function settled({ sim }: Stage): JsonObject {
  const { history: _, organizations: __, ...store } = sim.dump();
  return JSON.parse(
    JSON.stringify(store, (key, value: Json) =>
      key === 'updated_at' || key === 'version' ? null : value,
    ),
  );
}

async function changeAll(stage: Stage): Promise<void> {
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.edit('agents.yaml', 'who are due for a check-up', 'who are late');
  await stage.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
}

/** The platform refuses the policy's update, whatever is tried. */
const failPolicy = (stage: Stage) =>
  stage.sim.faults.add({ operation: 'updateRetryPolicy', status: 400, times: 2 });

const flags = (stage: Stage, more: Partial<ApplyFlags> = {}): ApplyFlags => ({
  dir: stage.folder,
  format: 'text',
  autoApprove: true,
  rollbackOnFailure: true,
  concurrency: 1,
  ...more,
});

describe('apply --rollback-on-failure', () => {
  staged('undoes what a run did that failed in part, and ends as it did', async (stage) => {
    await stage.apply();
    const before = settled(stage);
    await changeAll(stage);
    failPolicy(stage);
    const { out, err } = await stage.run((to) => apply(undefined, flags(stage), to), { exit: 3 });
    expect(out).toContain('Partly done');
    expect(out).toMatch(/Verified: 2 resources read again, every leaf as before run/);
    expect(err).toMatch(/Run (\S+) is rolled back; the platform is as it was before it/);
    expect(settled(stage)).toEqual(before);
    // Its values are held until somebody changes them.
    await stage.run((to) => apply(undefined, flags(stage), to), { exit: 4 });
  });

  staged('tells a program both in one document', async (stage) => {
    await stage.apply();
    await changeAll(stage);
    failPolicy(stage);
    const said = await stage.run((to) => apply(undefined, flags(stage, { format: 'json' }), to), {
      exit: 3,
    });
    expect(JSON.parse(said.out)).toMatchObject({
      format: 'callsheet-run',
      status: 'partial',
      rollback: { format: 'callsheet-run', status: 'done', verification: { differs: [] } },
    });
  });

  staged('does nothing where all is done', async (stage) => {
    await changeAll(stage);
    const said = await stage.run((to) => apply(undefined, flags(stage), to));
    expect(said.err).not.toContain('rolled back');
    expect((await stage.plan()).changes).toEqual([]);
  });

  const another = [
    '  gentle:',
    '  firm:\n    name: Firm redial\n    rules: { no_answer: { delay_seconds: 60, max_attempts: 2 } }\n    on_exhausted: end\n  gentle:',
  ] as const;
  const change = ['max_attempts: 3', 'max_attempts: 5'] as const;
  const refused = [
    ['an update is refused', change, { operation: 'updateRetryPolicy', status: 400, times: 50 }],
    ['an update fails', change, { operation: 'updateRetryPolicy', status: 500, times: 50 }],
    ['a read fails', change, { operation: 'getRetryPolicy', status: 400, skip: 1, times: 1 }],
    ['a creation is refused', another, { operation: 'createRetryPolicy', status: 400, times: 50 }],
  ] as const;
  for (const [what, [from, to], fault] of refused)
    staged(
      `undoes nothing where nothing was written, and is not in the way: ${what}`,
      async (stage) => {
        await stage.apply();
        await stage.edit('resources.yaml', from, to);
        const before = settled(stage);
        stage.sim.faults.add(fault);
        await stage.run((to) => apply(undefined, flags(stage), to), { exit: 3 });
        expect(settled(stage)).toEqual(before);
        stage.sim.faults.clear();
        const { err } = await stage.run((to) => apply(undefined, flags(stage), to));
        expect(err).not.toContain('was started with --rollback-on-failure');
        expect((await stage.plan()).changes).toEqual([]);
      },
    );

  staged('says so where it could not', async (stage) => {
    await stage.apply();
    await changeAll(stage);
    failPolicy(stage);
    // The rollback finds the platform gone.
    stage.sim.faults.add({ operation: 'revertAgent', status: 500, times: 50 });
    const { err, out } = await stage.run((to) => apply(undefined, flags(stage), to), { exit: 3 });
    expect(err).toMatch(/is not rolled back, or only in part; see above/);
    expect(out).toContain('Not as before run');
  });
});

describe('what died of it is gone on with', () => {
  const moments = [
    ['the apply', 'after request PUT updateAgent', 1],
    ['right after the apply', 'before journal began', 2],
    ['the rollback', 'after request POST revertAgent', 1],
  ] as const;
  const cases = moments.flatMap((moment) =>
    (['apply', 'rollback'] as const).map((next) => ({ moment, next })),
  );
  // In short: each moment once, and each of the two commands.
  const short = longRows(cases, (_, at) => at === 0 || at === 3 || at === 4);
  for (const {
    moment: [what, name, nth],
    next,
  } of short)
    staged(`${what}, killed ${name}: by ${next}`, async (stage) => {
      await stage.apply();
      const before = settled(stage);
      await changeAll(stage);
      failPolicy(stage);
      const { outside, isDead } = mortal({ name, nth });
      await stage.run((to) => apply(undefined, flags(stage), to), { outside, exit: 'any' });
      expect(isDead()).toBe(true);
      stage.sim.faults.clear();

      const { err } = await (next === 'apply'
        ? stage.run((to) => apply(undefined, flags(stage), to), { exit: 3 })
        : stage.run((to) =>
            rollback({ dir: stage.folder, format: 'text', autoApprove: true }, to),
          ));
      if (next === 'apply') expect(err).toContain('Nothing else was applied: apply again.');
      expect(settled(stage)).toEqual(before);
    });

  staged('a plain apply says that it is owed, and goes ahead', async (stage) => {
    await stage.apply();
    await changeAll(stage);
    const { outside } = mortal({ name: 'after request PUT updateAgent', nth: 1 });
    await stage.run((to) => apply(undefined, flags(stage), to), { outside, exit: 'any' });
    const { err } = await stage.run((to) =>
      apply(undefined, { ...flags(stage), rollbackOnFailure: false }, to),
    );
    expect(err).toContain('was started with --rollback-on-failure');
    expect((await stage.plan()).changes).toEqual([]);
  });
});
