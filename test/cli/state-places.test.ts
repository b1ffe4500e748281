import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import type { RunSummary } from '../../src/state/store.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { COMMIT, FINGERPRINT_KEY } from '../e2e/clinic.ts';
import { runHere } from '../e2e/in-process.ts';
import { commitAll } from '../features/fleet/queue/many-stacks.ts';
import { agents, platform, put, settings, treeOf } from '../features/fleet/tree.ts';
import { formatKeyed, openKeyed } from '../state/keyed.ts';
import { began, deadPid, holder, intent } from '../state/sample.ts';
import { STATE, stateCommands } from './state-stage.ts';

const setAside = ({ folder }: Stage) => rename(join(folder, STATE), join(folder, 'kept.json'));

const ROWS: readonly (readonly [string, (stage: Stage) => Promise<unknown>, RegExp, string])[] = [
  [
    'a folder',
    async (stage) => {
      await setAside(stage);
      await mkdir(join(stage.folder, STATE));
    },
    /the state \S+ is a folder\n/,
    'CALLSHEET_STATE',
  ],
  [
    'a symbolic link',
    async (stage) => {
      await setAside(stage);
      await symlink('../kept.json', join(stage.folder, STATE));
    },
    /the state \S+ is a symbolic link\n/,
    'Set the path of that file',
  ],
  [
    'in a folder that is a file',
    async (stage) => {
      await stage.forget();
      await writeFile(join(stage.folder, '.callsheet'), '');
    },
    /a part of its path is not a folder\n/,
    'CALLSHEET_STATE',
  ],
  [
    'of a newer Callsheet',
    async (stage) =>
      stage.write(STATE, (await stage.read(STATE)).replace('"version":1', '"version":3')),
    /was written by a newer Callsheet/,
    'Use the newer Callsheet',
  ],
];

describe('apply and repair say why, and write nothing, where the state is', () => {
  for (const [name, prepare, words, hint] of ROWS) {
    staged(name, async (stage) => {
      await stage.apply();
      await prepare(stage);
      const before = stage.writes().length;
      const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
      const applied = await stage.run((to) => apply(undefined, flags, to), { exit: 1 });
      for (const { err } of [applied, await stateCommands(stage).repair({ exit: 1 })]) {
        expect(err).toMatch(words);
        expect(err).toContain(hint);
      }
      expect(stage.writes().length).toBe(before);
    });
  }
});

/** A stack and an environment that ask for a state. */
type Asking = {
  readonly dir: string;
  /** What `callsheet.yaml` has beside the organization. */
  readonly more?: string;
  readonly env?: string;
  /** `CALLSHEET_STATE`; unset unless given. */
  readonly state?: string;
};

const ENVIRONMENTS = 'environments: { production: {}, staging: {} }\n';

/** Stacks of a folder, whose command lines run in this process. */
async function ownersIn(stacks: readonly Asking[], git = true) {
  const sim = await platform();
  const root = treeOf({});
  for (const { dir, more = '' } of stacks) {
    put(root, join(dir, 'callsheet.yaml'), settings(0, ENVIRONMENTS + more));
    put(root, join(dir, 'agents.yaml'), agents(`Desk of ${dir}`));
  }
  if (git) commitAll(root);
  async function run(
    { dir, env, state }: Asking,
    args: readonly string[],
    exit: number | undefined = 0,
    more: Readonly<Record<string, string>> = {},
  ) {
    const ended = await runHere(
      [...args, '--dir', dir, ...(env === undefined ? [] : ['--env', env])],
      {
        cwd: root,
        env: {
          PATH: process.env.PATH ?? '',
          CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
          CI_COMMIT_SHA: COMMIT,
          CALLSHEET_BASE_URL: sim.url,
          CALLSHEET_CLIENT_ID: sim.clientId,
          CALLSHEET_CLIENT_SECRET: sim.clientSecret,
          ...(state === undefined ? {} : { CALLSHEET_STATE: state }),
          ...more,
        },
      },
    );
    if (exit !== undefined) expect(ended.exit, `${args}\n${ended.err}${ended.out}`).toBe(exit);
    return ended;
  }
  const apply = (asking: Asking, exit = 0) => run(asking, ['apply', '--auto-approve'], exit);
  const names = () => [...sim.store.agents.values()].map(({ record }) => record.name).sort();
  const writes = () =>
    sim.requests.filter(({ method, operation }) => method !== 'GET' && operation !== 'createToken');
  return { sim, root, run, apply, names, writes };
}

const HERE = { state: '../shared.json' } as const;
const OTHERS: readonly {
  readonly name: string;
  readonly own: Asking;
  readonly other: Asking;
  readonly says: readonly [RegExp, RegExp];
  readonly git?: boolean;
}[] = [
  {
    name: 'two environments',
    own: { dir: 'a', env: 'production', ...HERE },
    other: { dir: 'a', env: 'staging', ...HERE },
    says: [/stack \.\/a, the environment production/, /stack \.\/a, the environment staging/],
  },
  {
    name: 'an environment, and none',
    own: { dir: 'a', env: 'production', state: '.callsheet/one.json' },
    other: { dir: 'a', state: '.callsheet/one.json' },
    says: [/the stack in its folder, the environment production/, /the stack \.\/a, no env/],
  },
  {
    name: 'two ids',
    own: { dir: 'a', more: 'stack: harbor\n', ...HERE },
    other: { dir: 'b', more: 'stack: lagoon\n', ...HERE },
    says: [/the stack harbor, no/, /the stack lagoon, no/],
  },
  {
    name: 'two folders of a repository',
    own: { dir: 'clinics/a', state: '../../shared.json' },
    other: { dir: 'clinics/b', state: '../../shared.json' },
    says: [/the stack \.\/clinics\/a, no/, /the stack \.\/clinics\/b, no/],
  },
  {
    name: 'two folders without a repository',
    own: { dir: 'a', ...HERE },
    other: { dir: 'b', ...HERE },
    says: [/the stack \/\S+\/a, no/, /the stack \/\S+\/b, no/],
    git: false,
  },
  {
    name: 'the folder that it lies in, and another one',
    own: { dir: 'a' },
    other: { dir: 'b', state: '../a/.callsheet/state.json' },
    says: [/the stack in its folder, no environment/, /the stack \.\/b, no/],
  },
  {
    name: 'another folder, and the one that it lies in',
    own: { dir: 'b', state: '../a/.callsheet/state.json' },
    other: { dir: 'a' },
    says: [/the stack \.\/b, no/, /the stack \.\/a, no/],
  },
  {
    name: 'a stack, and the one around it',
    own: { dir: 'a/inner' },
    other: { dir: 'a', state: 'inner/.callsheet/state.json' },
    says: [/the stack in its folder, no environment/, /the stack \.\/a, no/],
  },
];

/** Commands that must not touch the state of another stack. */
const REFUSED: readonly (readonly string[])[] = [
  ['plan'],
  ['apply', '--auto-approve'],
  ['drift'],
  ['pull'],
  ['rollback', '--auto-approve'],
  ['import', '--all'],
  ['state', 'mv', 'agent.one', 'agent.two'],
  ['state', 'rm', 'agent.one'],
  ['state', 'trust'],
  ['state', 'push', 'pushed.json'],
  ['state', 'migrate', '--to', 'moved.json'],
  ['state', 'repair'],
];
const READING = [['list'], ['pull']].map((args) => ['state', ...args]);

describe('a state belongs to one stack and environment', () => {
  test.each(OTHERS)('$name', async ({ own, other, says: [mine, theirs], git }) => {
    const { root, run, apply, names, writes } = await ownersIn([own, other], git);
    await apply(own);
    const made = names();
    const file = join(root, own.dir, own.state ?? '.callsheet/state.json');
    const before = await readFile(file, 'utf8');
    await writeFile(join(root, 'pushed.json'), before);
    const written = writes().length;
    for (const args of REFUSED) {
      const { err, out } = await run(other, args, 4);
      expect(err + out, args.join(' ')).toMatch(mine);
      expect(err + out, args.join(' ')).toMatch(theirs);
    }
    expect(await readFile(file, 'utf8')).toBe(before);
    expect(names()).toEqual(made);
    expect(writes().length).toBe(written);

    const [{ run: id } = { run: '' }] = JSON.parse(
      (await run(other, ['runs', '--format', 'json'])).out,
    ).runs;
    const [address = ''] = Object.keys(JSON.parse(before).resources);
    for (const args of [...READING, ['state', 'show', address], ['runs', id]])
      expect((await run(other, args)).out).not.toBe('');
    // Whose it was is left to say so.
    await apply(own);
    await run(other, ['state', 'adopt']);
    await run(own, ['plan'], 4);
  });

  test('the state in its folder goes along with it', async () => {
    const { root, run, apply, writes } = await ownersIn([{ dir: 'a' }]);
    await apply({ dir: 'a' });
    const before = writes().length;
    await rename(join(root, 'a'), join(root, 'b'));
    expect((await run({ dir: 'b' }, ['plan', '--detailed-exitcode'])).out).toContain('No changes');
    await apply({ dir: 'b' });
    expect(writes().length).toBe(before);
    expect((await run({ dir: 'b' }, ['state', 'adopt'])).out).toContain('already');
  });

  test('that of a folder which was moved is taken over once', async () => {
    const [from, to] = [
      { dir: 'a', ...HERE },
      { dir: 'clinics/a', state: '../../shared.json' },
    ];
    const { root, run, apply, names } = await ownersIn([from]);
    await apply(from);
    await mkdir(join(root, 'clinics'));
    await rename(join(root, from.dir), join(root, to.dir));
    const { err } = await apply(to, 4);
    expect(err).toContain('callsheet state adopt');
    const [first, second] = [
      await run(to, ['state', 'adopt']),
      await run(to, ['state', 'adopt', '--format', 'json']),
    ];
    expect(first.out).toMatch(
      /was that of the stack \.\/a, .* is that of the stack \.\/clinics\/a/s,
    );
    expect(JSON.parse(second.out)).toMatchObject({ run: null, ledger: [] });
    await apply(to);
    expect(names()).toEqual(['Desk of a']);
    const { out } = await run(to, ['runs', '--format', 'json']);
    expect(JSON.parse(out).runs.map(({ purpose }: { purpose: string }) => purpose)).toEqual([
      'state adopt',
      'apply',
    ]);
  });

  test('one that says nothing of its owner takes the first that applies', async () => {
    const [one, other] = [
      { dir: 'a', ...HERE },
      { dir: 'b', ...HERE },
    ];
    const { root, run, apply } = await ownersIn([one, other]);
    await apply(one);
    const file = join(root, 'shared.json');
    const { owner: _, checksum: __, seal: ___, ...old } = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, await formatKeyed(old, file));
    await run(other, ['plan']);
    await apply(one);
    await run(other, ['plan'], 4);
    await run({ dir: 'a' }, ['state', 'adopt'], 1);
  });

  test('one whose first run died, too, and runs lists it until it is settled', async () => {
    const [one, other] = [
      { dir: 'a', ...HERE },
      { dir: 'b', ...HERE },
    ];
    const { root, sim, run, apply } = await ownersIn([one, other]);
    const store = openKeyed(join(root, 'shared.json'));
    const lease = await store.acquire(holder('r1', deadPid()));
    await lease.append({
      ...began('r1', 0),
      account_id: sim.store.account.id,
      owner: { stack: './a', environment: null },
    });
    await lease.append(intent(1, 'agent.desk_of_a'));
    await store.close();
    const listed = async (asking: Asking) => {
      const { out } = await run(asking, ['runs', '--format', 'json']);
      return JSON.parse(out).runs.map(({ run: id, status }: RunSummary) => [id, status]);
    };
    expect(await listed(other)).toEqual([['r1', 'died']]);
    expect((await run(one, ['runs'])).out).toMatch(/died/);
    const { out } = await run(one, ['runs', 'r1', '--format', 'json']);
    expect(JSON.parse(out).entries.map(({ type }: JournalEntry) => type)).toEqual([
      'began',
      'intent',
    ]);
    await run(other, ['plan'], 4);
    await run(other, ['state', 'mv', 'agent.one', 'agent.two'], 4);
    await apply(one);
    expect([...(await listed(one))].sort()).toEqual(
      [
        ['r1', 'settled'],
        [expect.any(String), 'done'],
      ].sort(),
    );
    await run(other, ['plan'], 4);
  });

  test('a push makes it that of the stack that it is pushed to', async () => {
    const inFolder = { dir: 'a' };
    const outside = { dir: 'a', ...HERE };
    const { root, run, apply } = await ownersIn([inFolder]);
    await apply(inFolder);
    const { out } = await run(inFolder, ['state', 'pull']);
    await writeFile(join(root, 'pulled.json'), out);
    await run(outside, ['state', 'push', 'pulled.json']);
    await apply(outside);
    await run({ ...outside, env: 'staging' }, ['plan'], 4);
  });
});

test('a relative CALLSHEET_STATE names one place, wherever the command is typed', async () => {
  const stack = { dir: 'a', state: '../states/one.json' };
  const { root, run, apply } = await ownersIn([stack]);
  await apply(stack);
  const { out } = await run({ ...stack, dir: join(root, 'a') }, ['state', 'list']);
  expect(out).toBe('agent.desk_of_a\n');
  await mkdir(join(root, 'elsewhere'));
  const there = await runHere(['state', 'list', '--dir', '../a'], {
    cwd: join(root, 'elsewhere'),
    env: { CALLSHEET_STATE: stack.state, CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY },
  });
  expect(there.out).toBe(out);
  expect(existsSync(join(root, 'states/one.json'))).toBe(true);
});

test('runs and repair refuse a place that a state was moved from, and name the new one', async () => {
  const stack = { dir: 'a' };
  const { run, apply } = await ownersIn([stack]);
  await apply(stack);
  await run(stack, ['state', 'migrate', '--to', '../moved.json']);
  for (const args of [['runs'], ['state', 'repair'], ['plan'], ['state', 'adopt']]) {
    const { err } = await run(stack, args, 1);
    expect(err, args.join(' ')).toMatch(/moved\.json/);
  }
  await run({ ...stack, state: '../moved.json' }, ['plan', '--detailed-exitcode']);
});
