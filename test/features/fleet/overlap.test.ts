import { expect, test } from 'vitest';
import { agentNamed } from '../../e2e/clinic.ts';
import { scene, statuses } from './scene.ts';
import { agents, ORGANIZATIONS, settings } from './tree.ts';

/** Two stacks that reach for one thing, and one that keeps to itself. */
function trio(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>) {
  const under = (path: string, files: Readonly<Record<string, string>>) =>
    Object.entries(files).map(([name, text]) => [`${path}/${name}`, text]);
  return Object.fromEntries([
    ...under('a', { 'callsheet.yaml': settings(0), ...a }),
    ...under('b', { 'callsheet.yaml': settings(0), ...b }),
    ['c/callsheet.yaml', settings(0)],
    ['c/agents.yaml', agents('Alone')],
  ]);
}

const adopting = (name: string, id: string) => `${agents(name)}    lifecycle: { adopt: ${id} }\n`;
const POLICY =
  'retry_policies:\n  gentle:\n    name: Gentle\n    rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } }\n    on_exhausted: end\n';
const ID = '7d0c6f1e-54a3-4b0e-9b1c-2f6d8e9a0b11';

test.each([
  [
    'a name in an organization',
    trio({ 'agents.yaml': agents('Desk') }, { 'more.yaml': agents('Desk') }),
    'agent.desk (a/agents.yaml:2) and agent.desk of the stack b (b/more.yaml:2) both manage the agent "Desk" of organization',
  ],
  [
    'a name in the account, from two organizations',
    trio({ 'all.yaml': POLICY }, { 'callsheet.yaml': settings(1), 'all.yaml': POLICY }),
    'retry_policy.gentle (a/all.yaml:2) and retry_policy.gentle of the stack b (b/all.yaml:2) both manage the retry policy "Gentle"',
  ],
  [
    'an id that both adopt',
    trio({ 'agents.yaml': adopting('One', ID) }, { 'agents.yaml': adopting('Two', ID) }),
    `agent.one (a/agents.yaml:2) and agent.two of the stack b (b/agents.yaml:2) both manage the live agent ${ID}`,
  ],
])('%s of two stacks is refused in both before anything is written', async (_, files, words) => {
  const { read, run, writes, names } = await scene(files);
  for (const command of ['plan', 'apply'] as const) {
    const document = await read(command, { autoApprove: true }, { exit: 4 });
    expect(statuses(document)).toMatchObject({ a: 'refused', b: 'refused' });
    const [a, b] = document.stacks;
    expect(a?.reason).toContain(words);
    expect(b?.error?.kind).toBe('refused');
  }
  // The third is none of their business.
  expect(names()).toEqual(['Alone']);
  expect(writes()).toEqual(['createAgent']);
  const { err } = await run('validate', {}, { exit: 1 });
  expect(err).toContain(words);
});

/** A stack with another one below it, by where each keeps its state. */
const around = (outer: string, inner: string) => ({
  'a/callsheet.yaml': settings(0, `state: { ${outer} }\n`),
  'a/agents.yaml': agents('A'),
  'a/b/callsheet.yaml': settings(0, `state: { ${inner} }\n`),
  'a/b/agents.yaml': agents('B'),
});

test.each([
  ['a file of one, below the other', 'file: b/shared.json', 'file: ../b/shared.json'],
  [
    'a server',
    'http: { address: "http://127.0.0.1:9/desk?x=1&y=2" }',
    'http: { address: "HTTP://127.0.0.1:9/desk/?y=2&x=1" }',
  ],
  [
    'a database',
    'postgres: { url: postgres://127.0.0.1:5432/fleet, stack: desk }',
    'postgres: { url: "postgresql://sam@127.0.0.1/fleet?sslmode=disable", stack: desk }',
  ],
  [
    'a bucket',
    's3: { bucket: states, key: desk.json, endpoint: http://127.0.0.1:80 }',
    's3: { bucket: states, key: desk.json, region: eu-central-1, endpoint: http://127.0.0.1/ }',
  ],
])('a state of two stacks, however each names it, is refused in both: %s', async (_, a, b) => {
  const { run } = await scene(around(a, b));
  const { err } = await run('validate', {}, { exit: 1 });
  expect(err).toContain('the stacks a and a/b both keep the state');
});

test('nothing is sent for two stacks with one state', async () => {
  const { read, writes } = await scene(around('file: b/shared.json', 'file: ../b/shared.json'));
  const document = await read('apply', { autoApprove: true }, { exit: 4 });
  expect(statuses(document)).toMatchObject({ a: 'refused', 'a/b': 'refused' });
  expect(document.stacks[0]?.reason).toContain('the stacks a and a/b both keep the state');
  expect(writes()).toEqual([]);
});

test('what another stack has in its state is not taken over, before it lets go of it', async () => {
  const { read, run, put, names } = await scene(
    trio({ 'agents.yaml': agents('Desk', 'Stays') }, { 'agents.yaml': agents('Other') }),
  );
  await run('apply', { autoApprove: true });
  // Moved from one stack to the other: the first would delete what the second takes over.
  put('a/agents.yaml', agents('Stays'));
  put('b/agents.yaml', agents('Other', 'Desk'));
  const document = await read('apply', { autoApprove: true, allowDelete: true }, { exit: 4 });
  expect(statuses(document)).toEqual({ a: 'refused', b: 'refused', c: 'unchanged' });
  expect(document.stacks[1]?.reason).toContain(
    'agent.desk (b/agents.yaml:7) and agent.desk of the stack a (the state of a) both manage the agent "Desk"',
  );
  put('a/callsheet.yaml', settings(0, 'forget: [agent.desk]\n'));
  await run('apply', { autoApprove: true, allowDelete: true });
  expect(names()).toEqual(['Alone', 'Desk', 'Other', 'Stays']);
  const again = await read('plan');
  expect(again.totals).toEqual({ unchanged: 3 });
});

test('a name that another stack gives up is not searched for before it did', async () => {
  const { read, run, put, names, writes } = await scene(
    trio({ 'agents.yaml': agents('Desk') }, { 'agents.yaml': agents('Other') }),
  );
  await run('apply', { autoApprove: true });
  put('a/agents.yaml', agents('Desk').replace('name: Desk', 'name: Front'));
  put('b/agents.yaml', agents('Other', 'Desk'));
  const document = await read('apply', { autoApprove: true }, { exit: 4 });
  expect(statuses(document)).toEqual({ a: 'done', b: 'refused', c: 'unchanged' });
  expect(document.stacks[1]?.error).toMatchObject({
    message: expect.stringContaining(
      'agent.desk (b/agents.yaml:7) takes the name of the agent "Desk" of organization',
    ),
    hint: 'Apply the stack a first.',
  });
  expect(names()).toEqual(['Alone', 'Front', 'Other']);
  await run('apply', { autoApprove: true });
  expect(names()).toEqual(['Alone', 'Desk', 'Front', 'Other']);
  expect(writes().slice(-2)).toEqual(['updateAgent', 'createAgent']);
});

test('two stacks whose agents exchange their names are both applied once they say which they mean', async () => {
  const { sim, read, run, put, names } = await scene(
    trio({ 'agents.yaml': agents('Desk') }, { 'agents.yaml': agents('Other') }),
  );
  await run('apply', { autoApprove: true });
  put('a/agents.yaml', agents('Desk').replace('name: Desk', 'name: Other'));
  put('b/agents.yaml', agents('Other').replace('name: Other', 'name: Desk'));
  // A state with the id of another agent would look the same.
  expect(statuses(await read('apply', { autoApprove: true }, { exit: 4 }))).toMatchObject({
    a: 'refused',
    b: 'refused',
  });
  const [desk, other] = ['Desk', 'Other'].map((name) => agentNamed(sim, name).id);
  put('a/agents.yaml', adopting('Desk', desk ?? '').replace('name: Desk', 'name: Other'));
  put('b/agents.yaml', adopting('Other', other ?? '').replace('name: Other', 'name: Desk'));
  expect(statuses(await read('apply', { autoApprove: true }))).toMatchObject({
    a: 'done',
    b: 'done',
  });
  expect(names()).toEqual(['Alone', 'Desk', 'Other']);
});

test('stacks that each say which resource they mean share a name that another one gives up', async () => {
  const { sim, read, run, put, names } = await scene(
    trio({ 'agents.yaml': agents('Desk') }, { 'agents.yaml': agents('Other') }),
  );
  await run('apply', { autoApprove: true });
  put('a/agents.yaml', agents('Desk').replace('name: Desk', 'name: Front'));
  for (const [stack, name] of Object.entries({ b: 'Other', c: 'Alone' })) {
    const told = adopting(name, agentNamed(sim, name).id);
    put(`${stack}/agents.yaml`, told.replace(`name: ${name}`, 'name: Desk'));
  }
  const document = await read('apply', { autoApprove: true });
  expect(statuses(document)).toEqual({ a: 'done', b: 'done', c: 'done' });
  expect(names()).toEqual(['Desk', 'Desk', 'Front']);
});

test('an id in a state is not adopted by another stack', async () => {
  const { read, run, put, sim } = await scene(
    trio({ 'agents.yaml': agents('Desk') }, { 'agents.yaml': agents('Other') }),
  );
  await run('apply', { autoApprove: true });
  const { id } = agentNamed(sim, 'Desk');
  put('b/agents.yaml', adopting('Renamed', id));
  const { stacks } = await read('plan', {}, { exit: 4 });
  expect(stacks[1]?.reason).toContain(
    `agent.renamed (b/agents.yaml:2) and agent.desk of the stack a (a/agents.yaml:2) both manage the live agent ${id}`,
  );
});

test('a shard looks at the whole tree: what it overlaps with may be the work of another job', async () => {
  const { read } = await scene(
    trio({ 'agents.yaml': agents('Desk') }, { 'agents.yaml': agents('Desk') }),
  );
  const parts = [];
  for (const shard of ['1/3', '2/3', '3/3']) {
    const { stacks } = await read('apply', { autoApprove: true, shard }, { exit: 'any' });
    parts.push(...stacks);
  }
  expect(parts.map(({ status }) => status).toSorted()).toEqual(['done', 'refused', 'refused']);
});

test('what only looks alike is no overlap', async () => {
  const { read, sim } = await scene(
    trio(
      { 'agents.yaml': agents('Desk') },
      { 'callsheet.yaml': settings(1), 'agents.yaml': agents('Desk') },
    ),
  );
  const document = await read('apply', { autoApprove: true });
  expect(document.totals).toEqual({ done: 3 });
  const places = [...sim.store.agents.values()].map(({ record }) => record.organization_id);
  expect(new Set(places)).toEqual(new Set([ORGANIZATIONS[0].id, ORGANIZATIONS[1].id]));
});

test('two spellings of one address are one platform', async () => {
  const { sim, read, put, writes } = await scene(
    trio({ 'agents.yaml': agents('Desk') }, { 'agents.yaml': agents('Desk') }),
  );
  const at = (url: string) => settings(0, `platform: { base_url: "${url}" }\n`);
  put('a/callsheet.yaml', at(sim.url));
  put('b/callsheet.yaml', at(`${sim.url}/`));
  put('c/callsheet.yaml', at(sim.url));
  const env = { CALLSHEET_BASE_URL: undefined, CALLSHEET_ALLOW_HOSTS: new URL(sim.url).host };
  const document = await read('apply', { autoApprove: true }, { exit: 4, env });
  expect(statuses(document)).toEqual({ a: 'refused', b: 'refused', c: 'done' });
  expect(writes()).toEqual(['createAgent']);
});

test('a broken stack claims nothing, and stops nobody', async () => {
  const { read } = await scene(
    trio({ 'agents.yaml': agents('Desk') }, { 'agents.yaml': `${agents('Desk')}    nmae: x\n` }),
  );
  const document = await read('apply', { autoApprove: true }, { exit: 1 });
  expect(statuses(document)).toEqual({ a: 'done', b: 'failed', c: 'done' });
});
