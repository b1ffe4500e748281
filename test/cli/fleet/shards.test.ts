import { expect, test } from 'vitest';
import { scene } from './scene.ts';
import { agents, settings, twelve } from './tree.ts';

test('four jobs plan every stack once between them', async () => {
  const { read } = await scene(twelve());
  const whole = await read('plan');
  const parts = [];
  for (const index of [1, 2, 3, 4]) parts.push(await read('plan', { shard: `${index}/4` }));
  const paths = parts.flatMap(({ stacks }) => stacks.map(({ path }) => path));
  expect(paths.toSorted()).toEqual(whole.stacks.map(({ path }) => path));
  expect(parts.map(({ stacks }) => stacks.length)).toEqual([3, 3, 3, 3]);
  expect(parts[1]).toMatchObject({ found: 12, shard: { index: 2, count: 4 } });
});

test('a part that holds nothing says so and is done', async () => {
  const { run, read } = await scene({
    'a/callsheet.yaml': settings(0),
    'a/agents.yaml': agents('A'),
  });
  const counts = [];
  for (const shard of ['1/2', '2/2']) counts.push((await read('plan', { shard })).stacks.length);
  expect(counts.toSorted()).toEqual([0, 1]);
  const empty = `${counts.indexOf(0) + 1}/2`;
  const { out } = await run('plan', { shard: empty });
  expect(out).toBe(`Shard ${empty} holds none of the 1 stack: nothing to do.\n`);
});
