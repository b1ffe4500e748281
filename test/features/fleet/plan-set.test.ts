import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPlanFile } from '../../../src/console/plan.ts';
import { getPlanFile } from '../../../src/features/fleet/plan-set.ts';
import { deep } from '../../state/sample.ts';
import { scene, statuses } from './scene.ts';
import { agents, four, settings, treeOf } from './tree.ts';

/** Four stacks and their plans. */
async function planned() {
  const tree = await scene(four());
  const plans = join(treeOf({}), 'plans');
  const said = await tree.run('plan', { out: plans });
  const digest = JSON.parse(readFileSync(join(plans, 'fleet.json'), 'utf8')).digest;
  return { ...tree, plans, said, digest };
}

test('plans of a folder are applied, exactly these', async () => {
  const { plans, said, read, put, names } = await planned();
  expect(said.err).toContain(
    `The plans are in ${plans}: \`callsheet apply ${plans} --recursive --dir`,
  );
  expect(readdirSync(plans)).toHaveLength(5);
  put('late/callsheet.yaml', settings(0));
  put('late/agents.yaml', agents('Late'));
  put('harbor/east/agents.yaml', agents('Another'));
  const document = await read('apply', {}, { planSet: plans, exit: 5 });
  expect(statuses(document)['harbor/east']).toBe('stale');
  expect(document.totals).toEqual({ done: 3, stale: 1 });
  expect(names()).not.toContain('Late');
  expect(names()).toHaveLength(3);
});

test('only what was approved is applied', async () => {
  const { plans, read, run, writes, digest } = await planned();
  const other = `sha256:${'0'.repeat(64)}`;
  const { err } = await run('apply', { expect: other }, { planSet: plans, exit: 5 });
  expect(err).toContain(`the digest of the plans is ${digest}, not ${other}`);
  expect(writes()).toEqual([]);
  const document = await read('apply', { expect: digest }, { planSet: plans });
  expect(document).toMatchObject({ digest, totals: { done: 4 } });
});

test('without a folder --expect holds for what is planned now', async () => {
  const { run, writes, digest } = await planned();
  const wrong = `sha256:${'0'.repeat(64)}`;
  await run('apply', { autoApprove: true, expect: wrong }, { exit: 5 });
  expect(writes()).toEqual([]);
  await run('apply', { autoApprove: true, expect: digest });
  expect(writes()).toHaveLength(4);
});

test('the digest is that of every plan, whichever job made it and in which order', async () => {
  const { read, digest, put } = await planned();
  expect((await read('plan', { concurrency: 1 })).digest).toBe(digest);
  put('summit/west/agents.yaml', agents('Desk summit/west', 'Another'));
  expect((await read('plan')).digest).not.toBe(digest);
});

test.each([
  [
    'which plan',
    (text: string) => text.replace(/(?<="plan_digest": "sha256:)\w/, 'x'),
    'was changed after it was made',
  ],
  [
    'which stack',
    (text: string) => text.replace('"harbor/east"', '"harbor/elsewhere"'),
    'was changed after it was made',
  ],
  [
    'a way out',
    (text: string) => text.replace('"harbor/east"', '"../../etc"'),
    'is not what `callsheet plan --recursive --out FOLDER` writes',
  ],
  [
    'another document',
    () => '{"format": "callsheet-plan"}',
    'is not what `callsheet plan --recursive --out FOLDER` writes',
  ],
  ['no JSON', () => 'harbor', 'is not JSON'],
  [
    'JSON of 10,000 levels',
    (text: string) => text.replace('"stacks":', `"more": ${deep(10_000)}, "stacks":`),
    'has JSON of more than 128 levels',
  ],
])('%s in fleet.json is refused', async (_, edit, words) => {
  const { plans, run, writes } = await planned();
  const file = join(plans, 'fleet.json');
  writeFileSync(file, edit(readFileSync(file, 'utf8')));
  const said = await run('apply', {}, { planSet: plans, exit: words.includes('changed') ? 5 : 1 });
  expect(said.err).toContain(words);
  expect(writes()).toEqual([]);
});

test.each([
  ['the plan of another stack', {}, 'harbor/north'],
  ['a plan of the stack that allows more', { allowDelete: true }, 'harbor/east'],
])('a plan file that became %s is refused, and the others are applied', async (_, flags, path) => {
  const { plans, read, run } = await planned();
  const others = join(treeOf({}), 'others');
  await run('plan', { ...flags, out: others });
  writeFileSync(
    join(plans, getPlanFile('harbor/east')),
    readFileSync(join(others, getPlanFile(path))),
  );
  const document = await read('apply', {}, { planSet: plans, exit: 5 });
  expect(statuses(document)['harbor/east']).toBe('stale');
  expect(document.totals).toEqual({ done: 3, stale: 1 });
});

test('a folder is used again, and nothing of the set before stays', async () => {
  const { plans, run } = await planned();
  await run('plan', { out: plans, shard: '1/4' });
  expect(readdirSync(plans)).toHaveLength(2);
});

test('what an interrupt left is no set', async () => {
  const { plans, run } = await planned();
  const outside = { stop: AbortSignal.abort() };
  await run('plan', { out: plans }, { exit: 130, outside });
  expect(readdirSync(plans)).toEqual([]);
  const { err } = await run('apply', {}, { planSet: plans, exit: 1 });
  expect(err).toContain('holds no plans of many stacks');
});

test('what a killed plan left is planned anew', async () => {
  const { plans, run, read } = await planned();
  rmSync(join(plans, 'fleet.json'));
  const [file = ''] = readdirSync(plans);
  renameSync(join(plans, file), join(plans, `${file}.new`));
  writeFileSync(join(plans, 'fleet.json.new'), '{');
  await run('plan', { out: plans });
  expect(readdirSync(plans)).toContain('fleet.json');
  expect(readdirSync(plans)).toHaveLength(5);
  expect((await read('apply', {}, { planSet: plans })).totals).toEqual({ done: 4 });
});

test('what is somebody else’s is not overwritten', async () => {
  const { run, sim } = await scene(four());
  const out = treeOf({ 'notes.md': 'mine' });
  const { err } = await run('plan', { out }, { exit: 1 });
  expect(err).toContain('already holds other files');
  expect(readdirSync(out)).toEqual(['notes.md']);
  expect(sim.requests).toEqual([]);
});

test('one job plans, and several apply a part each', async () => {
  const { plans, read, names } = await planned();
  for (const index of [1, 2, 3]) {
    const document = await read('apply', { shard: `${index}/3` }, { planSet: plans });
    expect(document.totals.failed).toBeUndefined();
  }
  expect(names()).toHaveLength(4);
});

test('the plans of a shard are applied whole', async () => {
  const { run, read } = await scene(four());
  const plans = join(treeOf({}), 'plans');
  await run('plan', { out: plans, shard: '2/4' });
  const { err } = await run('apply', { shard: '1/2' }, { planSet: plans, exit: 1 });
  expect(err).toContain('these plans are already those of shard 2/4');
  const document = await read('apply', { shard: '2/4' }, { planSet: plans });
  expect(document.totals).toEqual({ done: 1 });
  expect((await read('apply', {}, { planSet: plans })).totals).toEqual({ unchanged: 1 });
});

test('without a terminal a tree is applied as far as nothing needs approval', async () => {
  const { run, read, writes } = await scene(four());
  const { err } = await run('apply', {}, { exit: 1 });
  expect(err).toContain('approval is needed, and there is no terminal to ask on');
  expect(writes()).toEqual([]);
  await run('apply', { autoApprove: true });
  expect((await read('apply')).totals).toEqual({ unchanged: 4 });
});

test('nobody is told to apply plans where there is none', async () => {
  const { run } = await scene({ 'a/callsheet.yaml': settings(0), 'a/agents.yaml': 'agents: []' });
  const { err } = await run('plan', { out: join(treeOf({}), 'plans') }, { exit: 1 });
  expect(err).not.toContain('callsheet apply');
});

test('a folder of plans that is given as a single one says what is missing', async () => {
  const { plans } = await planned();
  const file = await readPlanFile(plans).catch((error: unknown) => error);
  expect(file).toMatchObject({
    message: `the plan file ${plans} is a folder`,
    hint: `If \`callsheet plan --recursive --out ${plans}\` wrote it: \`callsheet apply ${plans} --recursive\` carries its plans out.`,
  });
});

test('a stack that could not be planned is not forgotten when the others are applied', async () => {
  const { run, read, put } = await scene(four());
  put('lagoon/south/agents.yaml', 'agents: []');
  const plans = join(treeOf({}), 'plans');
  await run('plan', { out: plans }, { exit: 3 });
  const document = await read('apply', {}, { planSet: plans, exit: 1 });
  expect(document.totals).toEqual({ done: 3, failed: 1 });
  expect(document.stacks.find(({ path }) => path === 'lagoon/south')?.reason).toContain(
    'it has no plan',
  );
});

test.each([
  ['yes', 0, 4],
  ['no', 1, 0],
  ['y', 1, 0],
])('asked once for all, %j', async (answer, exit, made) => {
  const { run, names } = await scene(four());
  const { out, err } = await run('apply', {}, { answer, exit });
  expect(out).toContain('Planned 4 stacks: 4 with changes; 4 to create.');
  expect(err.includes('Nothing was written.')).toBe(made === 0);
  expect(out.includes('Applied 4 stacks: 4 done; 4 changes done.')).toBe(made > 0);
  expect(names()).toHaveLength(made);
});

test('paths that look alike have files of their own', () => {
  const paths = ['a/b', 'a-b', 'a b', 'A/b', '.', 'a/'.repeat(200), `${'a/'.repeat(200)}b`, '../x'];
  const files = paths.map(getPlanFile);
  expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(paths.length);
  for (const file of files) expect(file).toMatch(/^\w[\w.-]{1,80}\.json$/);
});

test('plans of a rollout are started, not applied', async () => {
  const rollout = 'rollouts: { slow: { steps: [1 agents, 100%] } }\n';
  const { run, put, at } = await scene({
    'a/callsheet.yaml': settings(0, rollout),
    'a/agents.yaml': agents('One', 'Two'),
  });
  await run('apply', { autoApprove: true });
  put('a/agents.yaml', agents('One', 'Two').replaceAll('You are', 'Now you are'));
  const out = at('my plans');
  const { err } = await run('plan', {
    out,
    strategy: { feature: 'rollout', name: 'slow', command: 'rollout start' },
  });
  const file = join(out, getPlanFile('a'));
  expect(err).toContain(`callsheet rollout start '${file}' --dir ${at('a')}`);
  expect(err).not.toContain('--recursive');
  expect((await run('plan', { out })).err).toContain(`callsheet apply '${out}' --recursive`);
});
