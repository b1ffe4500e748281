import { expect } from 'vitest';
import { plan } from '../../src/console/plan.ts';
import { type Stage, staged } from '../apply/stage.ts';

const ENVIRONMENTS = 'environments: { test: {}, "live": {} }\n';

/** The clinic with two environments, and a plan of the first in `plan.json`. */
async function planTest(stage: Stage): Promise<{ readonly out: string; readonly err: string }> {
  await stage.write('callsheet.yaml', `${await stage.read('callsheet.yaml')}${ENVIRONMENTS}`);
  const out = `${stage.folder}/plan.json`;
  const flags = { dir: stage.folder, env: 'test', format: 'text' as const, out };
  return stage.run((to) => plan(flags, to));
}

staged('a plan names its environment, and the command that applies it', async (stage) => {
  const { out, err } = await planTest(stage);
  expect(out).toMatch(/^Plan: .*\n.* · test/);
  expect(err).toContain(
    `callsheet apply ${stage.folder}/plan.json --dir ${stage.folder} --env test`,
  );
});

staged('a plan file is applied in its own environment and in no other', async (stage) => {
  await planTest(stage);
  for (const env of ['live', undefined]) {
    const { err } = await stage.applyFile('plan.json', env === undefined ? {} : { env }, {
      exit: 5,
    });
    expect(err).toContain('the plan was made for the environment test; this is for');
    expect(err).toContain('Apply it with --env test.');
  }
  expect(stage.writes()).toEqual([]);
  await stage.applyFile('plan.json', { env: 'test' });
  expect((await stage.plan({ env: 'test' })).changes).toEqual([]);
});
