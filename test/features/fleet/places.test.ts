import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../temporary.ts';
import { git } from '../writing/pull/stage.ts';
import { scene, statuses } from './scene.ts';
import { agents, four, settings } from './tree.ts';

/** A tree in a repository, which names its stacks by their folders. */
async function inRepository(files: Parameters<typeof scene>[0]) {
  const tree = await scene(files);
  await git({ folder: tree.root }, 'init', '--quiet');
  return tree;
}

test('one variable gives each stack and environment of a tree a state of its own', async () => {
  const tree = four();
  const environments = 'environments: { staging: { variables: {} } }\n';
  const { run, read } = await inRepository({
    ...tree,
    'harbor/east/callsheet.yaml': settings(0, `stack: east-desk\n${environments}`),
  });
  const folder = temporaryFolder();
  const env = { CALLSHEET_STATE: join(folder, '{environment}', '{stack}.json') };
  await run('apply', { autoApprove: true }, { env });
  const states = readdirSync(join(folder, 'default')).filter((name) => name.endsWith('.json'));
  expect(states.sort()).toEqual([
    'east-desk.json',
    'harbor-north.json',
    'lagoon-south.json',
    'summit-west.json',
  ]);
  // Each is found again: nothing is adopted anew.
  const again = await read('plan', {}, { env });
  expect(again.totals).toEqual({ unchanged: 4 });
  expect(again.stacks.map(({ counts }) => counts.adopt)).toEqual([0, 0, 0, 0]);
});

test('stacks whose names come to the same place are refused by name', async () => {
  const { read, writes } = await inRepository({
    'a/b/callsheet.yaml': settings(0),
    'a/b/agents.yaml': agents('One'),
    'c/callsheet.yaml': settings(1, 'stack: a-b\n'),
    'c/agents.yaml': agents('Two'),
  });
  const env = { CALLSHEET_STATE: join(temporaryFolder(), '{stack}.json') };
  const document = await read('apply', { autoApprove: true }, { env, exit: 4 });
  expect(statuses(document)).toEqual({ 'a/b': 'refused', c: 'refused' });
  expect(document.stacks[0]?.reason).toContain('the stacks a/b and c both keep the state');
  expect(writes()).toEqual([]);
});

test.each([
  ['https://{stack}.example.test/state', 'fills in the server of the state'],
  ['s3://{stack}/state.json', 'fills in the server of the state'],
  ['postgres://{environment}@db.example.test/x?stack={stack}', 'fills in the server of the state'],
  ['{stack}.json', 'the stack has no name'],
])('no stack chooses a server, and none is without a name: %s', async (place, words) => {
  const { run, writes } = await inRepository({
    'callsheet.yaml': settings(0),
    'agents.yaml': agents('One'),
  });
  const { err } = await run('plan', {}, { env: { CALLSHEET_STATE: place }, exit: 1 });
  expect(err).toContain(words);
  expect(writes()).toEqual([]);
});
