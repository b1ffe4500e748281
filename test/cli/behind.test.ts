import { copyFileSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rollback } from '../../src/cli/commands/rollback.ts';
import { runs } from '../../src/cli/commands/state.ts';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import { runTree } from '../../src/features/fleet/apply-tree.ts';
import type { Task } from '../../src/features/fleet/queue/enqueue.ts';
import { performTask } from '../../src/features/fleet/work.ts';
import { agents, put } from '../features/fleet/tree.ts';
import { longRows } from '../long.ts';
import { temporaryFolder } from '../temporary.ts';
import { gitIn, inOneLine, open, type Run, STACK, textIn, type World } from './git-stage.ts';

function cloneOf(world: World, ...how: readonly string[]): string {
  const root = temporaryFolder();
  gitIn(root, 'clone', '--quiet', ...how, `file://${world.main}`, '.');
  return root;
}

/** A checkout with the state as the last apply left it, as a state that all share would be. */
async function checkoutOf({ make }: Situation, world: World): Promise<string> {
  const root = await make(world);
  const [from, to] = [world.main, root].map((one) => join(one, STACK, '.callsheet'));
  if (root !== world.main) cpSync(from ?? '', to ?? '', { recursive: true });
  return root;
}

/** The ways in which somebody learns of it. */
const WAYS: readonly {
  readonly way: string;
  readonly takes: (root: string, world: World) => Promise<Run>;
}[] = [
  { way: 'plan', takes: (root, { run }) => run((to) => plan(textIn(root), to)) },
  {
    way: 'plan --out, apply FILE',
    async takes(root, { run }) {
      const out = join(root, 'plan.json');
      await run((to) => plan({ ...textIn(root), out }, to));
      return run((to) => apply(out, textIn(root), to));
    },
  },
  {
    way: 'apply --recursive',
    takes: (root, { run }) =>
      run((to) =>
        runTree('apply', { dir: root, format: 'text', recursive: true, autoApprove: true }, to),
      ),
  },
  {
    way: 'a worker',
    takes: (root, { run }) =>
      run(async (to) => {
        const task: Task = {
          ...{ stack: STACK, command: 'apply', digest: '', flags: '{"autoApprove":true}' },
          ...{ batch: 'b', number: 1, attempts: 1, deaths: 0, seal: null, isSuspect: false },
          ...{ note: null, delays: 0 },
        };
        const { exit, said } = await performTask(task, { dir: root }, to);
        to.terminal.err(said);
        return exit;
      }),
  },
  {
    way: 'apply',
    takes: (root, { run }) =>
      run((to) => apply(undefined, { ...textIn(root), autoApprove: true }, to)),
  },
];

type Expected = 'goes on' | 'warns' | RegExp;

type Situation = {
  readonly name: string;
  /** Applies something, and gives the root of the checkout that is then worked in. */
  readonly make: (world: World) => Promise<string>;
  readonly expected: Expected;
  /** Whether it takes the path of another one, so that `npm run torture` alone goes through it. */
  readonly isLong?: boolean;
};

const APPLIED = 'the last apply applied [0-9a-f]{12} \\(run \\S+, \\S+Z, by \\S+\\)';
const LACKS = new RegExp(`${APPLIED}, which this checkout does not have: it is at [0-9a-f]{12}`);
const GONE = new RegExp(`${APPLIED}, and this repository has no such commit`);

const SITUATIONS: readonly Situation[] = [
  {
    name: 'the same commit',
    async make(world) {
      world.commit('Two.');
      await world.apply();
      return world.main;
    },
    expected: 'goes on',
  },
  {
    name: 'a later commit',
    async make(world) {
      await world.apply();
      world.commit('Two.');
      return world.main;
    },
    expected: 'goes on',
  },
  {
    name: 'uncommitted changes on the same commit',
    isLong: true,
    async make(world) {
      await world.apply();
      put(world.main, join(STACK, 'agents.yaml'), agents('Desk').replace('Desk.', 'Two.'));
      return world.main;
    },
    expected: 'goes on',
  },
  {
    name: 'an earlier commit',
    async make(world) {
      world.commit('Two.');
      await world.apply();
      world.git('checkout', '--quiet', world.first);
      return world.main;
    },
    expected: LACKS,
  },
  {
    name: 'a branch that left before it',
    async make(world) {
      world.commit('Two.');
      await world.apply();
      world.git('checkout', '--quiet', '-b', 'topic', world.first);
      world.commit('Three.');
      return world.main;
    },
    expected: LACKS,
  },
  {
    name: 'a clone that was made before it',
    isLong: true,
    async make(world) {
      const early = cloneOf(world);
      world.commit('Two.');
      await world.apply();
      return early;
    },
    expected: GONE,
  },
  {
    name: 'a force push that took it out',
    async make(world) {
      world.commit('Two.');
      await world.apply();
      world.git('reset', '--quiet', '--hard', world.first);
      world.commit('Three.');
      return cloneOf(world);
    },
    expected: GONE,
  },
  {
    name: 'the commit before its revert, with the content of before in its history',
    async make(world) {
      const second = world.commit('Two.');
      world.git('revert', '--no-edit', second);
      await world.apply();
      world.git('checkout', '--quiet', second);
      return world.main;
    },
    expected: LACKS,
  },
  {
    name: 'the revert of it',
    async make(world) {
      const second = world.commit('Two.');
      await world.apply();
      world.git('revert', '--no-edit', second);
      return world.main;
    },
    expected: 'goes on',
  },
  {
    name: 'a commit of another folder alone is missing',
    async make(world) {
      const second = world.commit('Two.');
      world.commit('Elsewhere.', 'other');
      await world.apply();
      world.git('checkout', '--quiet', '-b', 'topic', second);
      world.commit('Three.');
      return world.main;
    },
    expected: 'goes on',
  },
  {
    name: 'the same content under another commit',
    async make(world) {
      world.git('checkout', '--quiet', '-b', 'topic');
      world.commit('Two.');
      await world.apply();
      world.git('checkout', '--quiet', 'main');
      world.commit('Two.');
      return world.main;
    },
    expected: 'goes on',
  },
  {
    name: 'a squash merge of it, and more on top',
    async make(world) {
      world.git('checkout', '--quiet', '-b', 'topic');
      world.commit('Two.');
      await world.apply();
      world.git('checkout', '--quiet', 'main');
      world.commit('Two.');
      world.commit('Three.');
      return cloneOf(world, '--single-branch', '--branch', 'main');
    },
    expected: 'goes on',
  },
  {
    name: 'a shallow clone of the same commit',
    isLong: true,
    async make(world) {
      world.commit('Two.');
      await world.apply();
      return cloneOf(world, '--depth', '1');
    },
    expected: 'goes on',
  },
  {
    name: 'a shallow clone of another commit',
    async make(world) {
      await world.apply();
      world.commit('Two.');
      return cloneOf(world, '--depth', '1');
    },
    expected: 'warns',
  },
  {
    name: 'a clone without blobs',
    isLong: true,
    async make(world) {
      world.commit('Two.');
      await world.apply();
      world.git('config', 'uploadpack.allowFilter', 'true');
      const root = cloneOf(world, '--filter', 'blob:none');
      gitIn(root, 'checkout', '--quiet', world.first);
      gitIn(root, 'remote', 'remove', 'origin');
      return root;
    },
    expected: LACKS,
  },
  {
    name: 'no repository',
    async make(world) {
      const early = temporaryFolder();
      cpSync(join(world.main, STACK), join(early, STACK), { recursive: true });
      world.commit('Two.');
      await world.apply();
      return early;
    },
    expected: 'goes on',
  },
  {
    name: 'a folder that the repository does not have',
    isLong: true,
    async make(world) {
      const early = temporaryFolder();
      gitIn(early, 'init', '--quiet');
      gitIn(early, 'commit', '--quiet', '--allow-empty', '--message', 'Begin.');
      cpSync(join(world.main, STACK), join(early, STACK), { recursive: true });
      world.commit('Two.');
      await world.apply();
      return early;
    },
    expected: GONE,
  },
];

/** What all ways say where the checkout is behind is looked at in one world: nothing is written there. */
const isRefused = ({ expected }: Situation) => expected instanceof RegExp;

const TAKEN = longRows(SITUATIONS, ({ isLong }) => isLong !== true);

describe.each(TAKEN.filter(isRefused))('a checkout with $name', (situation) => {
  test('is refused in every way, and nothing is written', async () => {
    const world = await open();
    const root = await checkoutOf(situation, world);
    const before = world.writes();
    for (const { way, takes } of WAYS) {
      const found = await takes(root, world);
      const said = inOneLine(found);
      expect(found.exit, `${way}: ${said}`).toBe(5);
      expect(said, way).toMatch(situation.expected as RegExp);
      expect(said).toContain('`git pull`');
      expect(said).toContain('--behind REASON');
    }
    expect(world.writes()).toBe(before);
  });
});

const isGoingOn = (one: Situation) => !isRefused(one);

describe.each(TAKEN.filter(isGoingOn))('a checkout with $name', (situation) => {
  const ways = longRows(WAYS, ({ way }) => way === 'plan --out, apply FILE');
  test.each(ways)('goes on: $way', async ({ way, takes }) => {
    const world = await open();
    const root = await checkoutOf(situation, world);
    const found = await takes(root, world);
    const said = inOneLine(found);
    expect(found.exit, said).toBe(0);
    expect(said).not.toMatch(new RegExp(`${APPLIED}, (which|and) this`));
    expect(said.includes('cannot tell whether'), said).toBe(situation.expected === 'warns');
    if (way === 'plan') return;
    const text = readFileSync(join(root, STACK, 'agents.yaml'), 'utf8');
    expect(text).toContain(world.prompt());
  });
});

/** A stack at its second commit, applied; and the checkout at the first. */
async function behind() {
  const world = await open();
  const second = world.commit('Two.');
  await world.apply();
  world.git('checkout', '--quiet', world.first);
  return { ...world, second };
}

const REASON = 'the new greeting is wrong';
const HELD = { exit: 5 };

test('with a reason it goes on, and plan file, receipt and the next plan know', async () => {
  const { main, run, apply: applyAt, prompt, first, second, git } = await behind();
  const out = join(temporaryFolder(), 'plan.json');
  const planning = { ...textIn(main), out, behind: REASON };
  const planned = await run((to) => plan(planning, to));
  expect(planned.exit, planned.err).toBe(0);
  expect(inOneLine(planned)).toContain(`it is at ${first.slice(0, 12)}; overridden: ${REASON}`);
  expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({
    options: { behind: REASON },
    behind: { applied: { commit: second }, head: first, found: 'contained' },
  });
  const done = await run((to) => apply(out, textIn(main), to));
  expect(done.exit, done.err).toBe(0);
  expect(prompt()).toBe('One.');

  const receipt = inOneLine(await run((to) => runs(undefined, textIn(main), to)));
  const [id = ''] = /\d{8}t\d{6}z-[0-9a-f]{6}/.exec(receipt) ?? [];
  const shown = inOneLine(await run((to) => runs(id, textIn(main), to)));
  expect(shown).toContain(`commit ${first}`);
  expect(shown).toContain('overrode the last apply applied');
  expect(shown).toContain(`reason: ${REASON}`);

  // The newest commit stays what a checkout is to have: this one has to say why again.
  expect(await run((to) => plan(textIn(main), to))).toMatchObject(HELD);
  git('checkout', '--quiet', 'main');
  await applyAt();
  expect(prompt()).toBe('Two.');
});

test('a branch that was applied with a reason is what the next checkout is to have', async () => {
  const { main, run, commit, apply: applyAt, git } = await behind();
  git('checkout', '--quiet', '-b', 'hotfix');
  commit('Three.');
  await applyAt(main, { behind: REASON });
  git('checkout', '--quiet', 'main');
  expect(await run((to) => plan(textIn(main), to))).toMatchObject(HELD);
  git('merge', '--quiet', '--strategy-option', 'theirs', '--message', 'Merge.', 'hotfix');
  await applyAt();
});

test('a reason stands for the commit that it was given for', async () => {
  const { main, run, commit, apply: applyAt, git, first, writes } = await behind();
  const out = join(temporaryFolder(), 'plan.json');
  await run((to) => plan({ ...textIn(main), out, behind: REASON }, to));
  git('checkout', '--quiet', 'main');
  put(main, join(STACK, 'more.yaml'), agents('Night'));
  commit('Two.');
  await applyAt();
  git('checkout', '--quiet', first);
  const before = writes();
  expect(await run((to) => apply(out, textIn(main), to))).toMatchObject(HELD);
  expect(writes()).toBe(before);
});

test('a plan file of a later commit is not applied in an earlier checkout', async () => {
  const { main, run, commit, git, apply: applyAt, first, writes } = await open();
  commit('Two.');
  await applyAt();
  commit('Three.');
  const out = join(temporaryFolder(), 'plan.json');
  expect(await run((to) => plan({ ...textIn(main), out }, to))).toMatchObject({ exit: 0 });
  git('checkout', '--quiet', first);
  put(main, join(STACK, 'agents.yaml'), agents('Desk').replace('You are Desk.', 'Three.'));
  const before = writes();
  expect(await run((to) => apply(out, textIn(main), to))).toMatchObject(HELD);
  expect(writes()).toBe(before);
});

test('a rollback leaves the commit that it undoes as the last one', async () => {
  const { main, run, commit, apply: applyAt, git, first, prompt } = await open();
  await applyAt();
  const second = commit('Two.');
  await applyAt();
  const undoing = { ...textIn(main), autoApprove: true } as const;
  const undone = await run((to) => rollback(undoing, to));
  expect(undone.exit, undone.err).toBe(0);
  git('checkout', '--quiet', first);
  expect(await run((to) => plan(textIn(main), to))).toMatchObject(HELD);
  git('checkout', '--quiet', 'main');
  git('revert', '--no-edit', second);
  await applyAt();
  expect(prompt()).toBe('One.');
});

test('what is removed since is no delete that waits, but a checkout to bring forward', async () => {
  const { main, run, commit, apply: applyAt, git, first } = await open();
  put(main, join(STACK, 'more.yaml'), agents('Night'));
  commit('One.');
  await applyAt();
  git('checkout', '--quiet', first);
  const found = await run((to) => plan(textIn(main), to));
  expect(found).toMatchObject(HELD);
  expect(inOneLine(found)).toMatch(LACKS);
});

test.each([
  { flags: { behind: ' ' }, exit: 1, says: '--behind needs a reason' },
  { flags: {}, exit: 5, says: 'this checkout does not have' },
])('$flags: $says', async ({ flags, exit, says }) => {
  const { main, run } = await behind();
  const found = await run((to) => plan({ ...textIn(main), ...flags }, to));
  expect(found.exit).toBe(exit);
  expect(inOneLine(found)).toContain(says);
});

test('with --base the checkout is asked, though the base has the commit', async () => {
  const { main, run, commit, git } = await behind();
  git('checkout', '--quiet', '-b', 'topic');
  commit('Three.');
  const found = await run((to) => plan({ ...textIn(main), base: 'main' }, to));
  expect(found).toMatchObject(HELD);
  expect(inOneLine(found)).toMatch(LACKS);
  git('merge', '--quiet', '--strategy-option', 'ours', '--message', 'Merge.', 'main');
  expect(await run((to) => plan({ ...textIn(main), base: 'main' }, to))).toMatchObject({ exit: 0 });
});

test('a reason is given when it is planned, not with the plan file', async () => {
  const { main, run } = await behind();
  const out = join(temporaryFolder(), 'plan.json');
  await run((to) => plan({ ...textIn(main), out }, to));
  const found = await run((to) => apply(out, { ...textIn(main), behind: REASON }, to));
  expect(found.exit).toBe(1);
  expect(inOneLine(found)).toContain('--behind cannot be used with a plan file');
});

test('nothing that the repository configures is run by looking at it', async () => {
  const world = await open();
  const { main, git } = world;
  const ran = join(temporaryFolder(), 'ran');
  const script = join(main, 'run.sh');
  writeFileSync(script, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`, { mode: 0o755 });
  await world.apply();
  world.commitFile('.gitattributes', '* filter=own diff=own\n', 'Attributes');
  for (const [key, value] of [
    ['core.fsmonitor', script],
    ['core.hooksPath', main],
    ['diff.external', script],
    ['diff.own.textconv', script],
    ['diff.own.command', script],
    ['filter.own.clean', script],
    ['filter.own.smudge', script],
    ['filter.own.required', 'true'],
  ])
    git('config', String(key), String(value));
  for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout'])
    copyFileSync(script, join(main, hook));
  // Git looks into a file whose time is not the one that it knows.
  put(main, join(STACK, 'agents.yaml'), readFileSync(join(main, STACK, 'agents.yaml'), 'utf8'));
  const flags = { ...textIn(main), base: 'HEAD~1' };
  const planned = await world.run((to) => plan(flags, to));
  expect(planned.exit, planned.err).toBe(0);
  await world.apply(main, { behind: 'a test' });
  expect(existsSync(ran) ? readFileSync(ran, 'utf8') : '').toBe('');
  // The repository would run it.
  git('-c', 'core.fsmonitor=', 'status');
  expect(readFileSync(ran, 'utf8')).toContain('run.sh');
});
