import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { worstExit } from '../../../src/features/fleet/run-stack.ts';
import type { Transport } from '../../../src/platform/transport.ts';
import { agentNamed } from '../../e2e/clinic.ts';
import { git } from '../writing/pull/stage.ts';
import { scene, statuses } from './scene.ts';
import { agents, FROZEN, four, settings, twelve } from './tree.ts';

/** Twelve stacks: one is applied already, one is frozen, one is broken. */
async function mixed() {
  const tree = await scene(twelve());
  await tree.run('apply', { autoApprove: true, dir: tree.at('harbor/east') });
  tree.put('lagoon/west/callsheet.yaml', settings(1, FROZEN));
  tree.put('lagoon/south/agents.yaml', 'agents:\n  desk:\n    nmae: Desk\n');
  return tree;
}

const MIXED = {
  'harbor/east': 'unchanged',
  'harbor/north': 'changes',
  'harbor/south': 'changes',
  'harbor/west': 'changes',
  'lagoon/east': 'changes',
  'lagoon/north': 'changes',
  'lagoon/south': 'failed',
  'lagoon/west': 'refused',
  'summit/east': 'changes',
  'summit/north': 'changes',
  'summit/south': 'changes',
  'summit/west': 'changes',
};

test('a plan of all stacks: what is wrong with one hides no other', async () => {
  const { read, sim } = await mixed();
  const before = sim.requests.length;
  const document = await read('plan', {}, { exit: 3 });
  expect(statuses(document)).toEqual(MIXED);
  expect(document).toMatchObject({
    command: 'plan',
    found: 12,
    shard: null,
    exit: 3,
    totals: { unchanged: 1, changes: 9, failed: 1, refused: 1 },
  });
  const [broken, frozen] = ['lagoon/south', 'lagoon/west'].map((path) =>
    document.stacks.find((stack) => stack.path === path),
  );
  expect(broken).toMatchObject({
    exit: 1,
    plan_digest: null,
    reason: 'lagoon/south/agents.yaml:3: agent.desk has no field "nmae"',
    error: { kind: 'config', diagnostics: [{ position: { file: 'agents.yaml', line: 3 } }] },
  });
  expect(frozen).toMatchObject({ exit: 4, counts: { create: 1 }, error: null });
  expect(frozen?.reason).toContain('guards.freeze is in force');
  const tokens = sim.requests.slice(before).filter(({ operation }) => operation === 'createToken');
  expect(tokens).toHaveLength(1);
});

test('the summary of a plan, 80 columns wide', async () => {
  const { run, at } = await mixed();
  const { out, err } = await run('plan', {}, { exit: 3 });
  const summary = out
    .slice(out.indexOf('── 12 stacks'))
    .replace(/sha256:\w+/, 'sha256:…')
    .replaceAll(at('.'), 'TREE');
  expect(summary).toMatchInlineSnapshot(`
    "── 12 stacks ───────────────────────────────────────────────────────────────────

      · harbor/east   unchanged
      ~ harbor/north  changes      1 to create
      ~ harbor/south  changes      1 to create
      ~ harbor/west   changes      1 to create
      ~ lagoon/east   changes      1 to create
      ~ lagoon/north  changes      1 to create
      ✗ lagoon/south  failed
        lagoon/south/agents.yaml:3: agent.desk has no field "nmae"
      ✗ lagoon/west   refused      1 to create
        guards.freeze is in force with no end within a year: "holidays"
        (callsheet.yaml:3)
      ~ summit/east   changes      1 to create
      ~ summit/north  changes      1 to create
      ~ summit/south  changes      1 to create
      ~ summit/west   changes      1 to create

    Planned 12 stacks: 9 with changes, 1 unchanged, 1 refused, 1 failed; 10 to
      create.
    sha256:…

      callsheet apply --recursive --dir TREE
        applies them, after a question
      callsheet plan --dir TREE/lagoon/south
        plans it again
    "
  `);
  expect(out).toContain('── harbor/north ──');
  expect(out).not.toContain('── harbor/east ──');
  expect(err).toContain('── lagoon/south ──');
  expect(err).toContain('agents.yaml:3:5  error');
  const sentences = out.split('\n').filter((line) => !line.startsWith('  callsheet '));
  for (const line of sentences) expect(line.length).toBeLessThanOrEqual(80);
});

test('an apply does what can be done, and the next one has nothing left to do', async () => {
  const { read, names } = await mixed();
  const first = await read('apply', { autoApprove: true }, { exit: 1 });
  const applied = Object.entries(MIXED).map(([path, status]) => [
    path,
    status === 'changes' ? 'done' : status,
  ]);
  expect(statuses(first)).toEqual(Object.fromEntries(applied));
  expect(first.stacks.find(({ path }) => path === 'harbor/north')).toMatchObject({
    counts: { done: 1 },
    run: expect.stringMatching(/^\d{8}t/),
  });
  expect(names()).toHaveLength(10);
  const second = await read('apply', { autoApprove: true }, { exit: 1 });
  expect(second.totals).toEqual({ unchanged: 10, failed: 1, refused: 1 });
});

test('drift of one stack shows among those of others', async () => {
  const { read, sim, run } = await scene(twelve());
  await run('apply', { autoApprove: true });
  const { id } = agentNamed(sim, 'Desk summit/east');
  sim.edit(id, { system_prompt: 'Edited.' });
  const document = await read('drift', { detailedExitcode: true }, { exit: 2 });
  expect(document.totals).toEqual({ unchanged: 11, changes: 1 });
  expect(statuses(document)['summit/east']).toBe('changes');
  expect((await run('drift')).out).toContain(
    'Compared 12 stacks: 1 drifted, 11 unchanged; 1 drifted.',
  );
});

test('validate asks nothing of the platform, and reports places as seen from the tree', async () => {
  const { read, run, sim } = await mixed();
  const before = sim.requests.length;
  const document = await read('validate', {}, { exit: 1 });
  expect(document.totals).toEqual({ done: 11, failed: 1 });
  const { out } = await run('validate', { format: 'github' }, { exit: 1 });
  expect(out).toContain('lagoon/south/agents.yaml,line=3');
  const sarif = JSON.parse((await run('validate', { format: 'sarif' }, { exit: 1 })).out);
  expect(JSON.stringify(sarif)).toContain('lagoon/south/agents.yaml');
  expect(sim.requests.length).toBe(before);
});

test('stacks of one account share what it allows: never more requests at once than asked for', async () => {
  const desks = (path: string) => agents(...[1, 2, 3, 4, 5].map((at) => `${path} ${at}`));
  const { run } = await scene({
    ...four(),
    'harbor/east/agents.yaml': desks('East'),
    'harbor/north/agents.yaml': desks('North'),
    'lagoon/south/agents.yaml': desks('South'),
  });
  let running = 0;
  let most = 0;
  const wire = (transport: Transport): Transport => ({
    ...transport,
    async send(request) {
      running += 1;
      most = Math.max(most, running);
      return transport.send(request).finally(() => {
        running -= 1;
      });
    },
  });
  await run('apply', { autoApprove: true, concurrency: 3 }, { outside: { wire } });
  expect(most).toBe(3);
});

test('an interrupt ends what has not begun, and says so', async () => {
  const { read, names } = await scene(twelve());
  const stop = new AbortController();
  const wire = (transport: Transport): Transport => ({
    ...transport,
    send(request) {
      if (request.about?.operation === 'createAgent') stop.abort();
      return transport.send(request);
    },
  });
  const outside = { stop: stop.signal, wire };
  const document = await read(
    'apply',
    { autoApprove: true, concurrency: 1 },
    { exit: 130, outside },
  );
  const [first, ...others] = document.stacks;
  expect(first).toMatchObject({ exit: 130, run: expect.any(String), error: null });
  expect(others).toHaveLength(11);
  for (const { run, error } of others) {
    expect(run).toBeNull();
    expect(error).toMatchObject({ kind: 'interrupted' });
  }
  expect(names()).toEqual(['Desk harbor/east']);
});

test.each([
  ['comes to its end', 0, /^Run \S+ is rolled back; the platform is as it was before it\.$/m],
  ['does not', 9, /^Run \S+ is not rolled back, or only in part; see above\./m],
])('a stack whose rollback %s says so among others', async (_, times, says) => {
  const { run, sim, names } = await scene({
    'a/callsheet.yaml': settings(0),
    'a/agents.yaml': agents('One', 'Two'),
  });
  sim.faults.add({ operation: 'createAgent', skip: 1, status: 400 });
  if (times > 0) sim.faults.add({ operation: 'deleteAgent', status: 400, times });
  const flags = { autoApprove: true, rollbackOnFailure: true, concurrency: 1 };
  const { err } = await run('apply', flags, { exit: 3 });
  expect(err).toMatch(says);
  expect(names()).toHaveLength(times === 0 ? 0 : 1);
});

test('drift is shown whatever becomes of its notification', async () => {
  const { read, run, sim } = await scene(four());
  await run('apply', { autoApprove: true });
  sim.edit(agentNamed(sim, 'Desk harbor/east').id, { model: 'alpha-4o' });
  const pause = { sleep: async () => {}, random: () => 1 };
  const failing = { exit: 1, outside: { pause } };
  const flags = { notify: 'http://127.0.0.1:1/drift' };
  const { stacks } = await read('drift', flags, failing);
  expect(stacks[0]).toMatchObject({ status: 'failed', counts: { drifted: 1 } });
  expect(stacks[0]?.error?.kind).toBe('network');
  const { out } = await run('drift', flags, failing);
  expect(out).toContain('alpha-4o');
});

test.each([
  ['agreed to', () => ({}), { answer: 'yes' }],
  ['expected', (digest: string) => ({ autoApprove: true, expect: digest }), {}],
])('how plans that are %s read the platform is no matter of applying them', async (...row) => {
  const [, flagsFor, options] = row;
  const { read, run, names } = await scene(four());
  const { digest } = await read('plan', { refresh: 'full' });
  const { out } = await run('apply', { refresh: 'full', ...flagsFor(digest ?? '') }, options);
  expect(out).toContain('Applied 4 stacks: 4 done');
  expect(names()).toHaveLength(4);
});

test.each([
  [[0, 2, 6, 5, 4, 3, 1, 130], 130],
  [[0, 2, 6, 5, 4, 3, 1], 1],
  [[0, 2, 6, 5, 4, 3], 3],
  [[0, 2, 6, 5, 4], 4],
  [[0, 2, 6, 5], 5],
  [[0, 2, 6], 6],
  [[0, 2], 2],
  [[0], 0],
  [[], 0],
])('of %j the whole is %d', (exits, whole) => expect(worstExit(exits)).toBe(whole));

/** How a stack of a tree can come out of a plan: the file that makes it so, and the exit code of that stack alone. */
const KINDS = {
  unchanged: ['agents.yaml', '{}\n', 0],
  changes: ['agents.yaml', agents('Desk'), 2],
  refused: ['callsheet.yaml', settings(0, FROZEN), 4],
  broken: ['agents.yaml', 'agents:\n  desk:\n    nmae: Desk\n', 1],
} as const;

type Kind = keyof typeof KINDS;

/** Every set of kinds. */
const TREES = Array.from({ length: 2 ** Object.keys(KINDS).length }, (_, set) =>
  (Object.keys(KINDS) as Kind[]).filter((__, at) => (set & (1 << at)) !== 0),
);

/** A stack that is broken leaves the plan of the others in part (DESIGN §3). */
function exitOfPlans(kinds: readonly Kind[]): number {
  const isBroken = kinds.includes('broken');
  if (isBroken) return kinds.length === 1 ? 1 : 3;
  return Math.max(...kinds.map((kind) => KINDS[kind][2]));
}

test.each(TREES.filter((kinds) => kinds.length > 0).map((kinds) => [kinds.join(', '), kinds]))(
  'a tree with stacks that are %s: every plan that can be made is written and can be applied',
  async (_, kinds) => {
    const { read, run, put, root, at, names } = await scene({});
    for (const kind of kinds) {
      put(`${kind}/callsheet.yaml`, settings(0));
      put(`${kind}/agents.yaml`, agents(`Desk ${kind}`));
      const [file, text] = KINDS[kind];
      put(`${kind}/${file}`, text);
    }
    const exit = exitOfPlans(kinds as readonly Kind[]);
    const out = `${root}-plans`;
    onTestFinished(() => rmSync(out, { recursive: true }));
    const document = await read('plan', { out, detailedExitcode: true }, { exit });
    expect(document.exit).toBe(exit);
    await run('plan', { out, format: 'markdown', detailedExitcode: true }, { exit });
    await run('plan', { out, detailedExitcode: true }, { exit });
    const written = document.stacks.filter(({ plan_file: file }) => file !== null);
    expect(written.map(({ path }) => path)).toEqual(kinds.filter((one) => one !== 'broken').sort());
    await run('plan', { dir: at('.') }, { exit: exit === 2 ? 0 : exit });
    if (document.digest === null) throw new Error('a plan of a tree has a digest');
    await run('apply', { expect: document.digest }, { exit: 'any', planSet: out });
    expect(names()).toEqual(kinds.includes('changes') ? ['Desk'] : []);
  },
);

test('a stack inside a stack is one of its own', async () => {
  const { read, names } = await scene({
    'callsheet.yaml': settings(0),
    'agents.yaml': agents('Outer'),
    'inner/callsheet.yaml': settings(0),
    'inner/agents.yaml': agents('Inner'),
  });
  const document = await read('apply', { autoApprove: true });
  expect(statuses(document)).toEqual({ '.': 'done', inner: 'done' });
  expect(names()).toEqual(['Inner', 'Outer']);
});

test('each stack of a tree says what its base has already', async () => {
  const tree = await scene({ ...four(), '.gitignore': '.callsheet/\n' });
  const at = { folder: tree.root };
  git(at, 'init', '-q', '-b', 'main');
  git(at, 'add', '-A');
  git(at, 'commit', '-q', '-m', 'as it is');
  git(at, 'checkout', '-q', '-b', 'topic');
  tree.put('harbor/east/agents.yaml', agents('Another'));
  const { out } = await tree.run('plan', { base: 'main', format: 'markdown' });
  const [head = '', ...sections] = out.split('<details><summary><code>');
  expect(head).toContain('### Planned 4 stacks: 4 with changes; 1 to create');
  expect(head.match(/Already on main: 1 change/g)).toHaveLength(3);
  const headings = sections.flatMap((section) => /^#+ .*/m.exec(section) ?? []);
  const none = '### No changes of this pull request; main has 1 change already';
  expect(headings).toEqual(['### Plan of this pull request: 1 new agent', none, none, none]);
});
