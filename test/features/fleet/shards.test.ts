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

test.each([
  ['agreed to', { answer: 'yes' }, () => ({})],
  ['expected', {}, (digest: string) => ({ autoApprove: true, expect: digest })],
])('a part is planned, %s and applied in one go', async (_, options, flagsFor) => {
  const { read, run, names } = await scene(twelve());
  const { digest, stacks } = await read('plan', { shard: '2/4' });
  const { out } = await run('apply', { shard: '2/4', ...flagsFor(digest ?? '') }, options);
  expect(out).toContain('Applied 3 of 12 stacks (shard 2/4): 3 done');
  expect(names()).toEqual(stacks.map(({ path }) => `Desk ${path}`));
});
