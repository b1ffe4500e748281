import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { apply } from '../../../src/console/apply.ts';
import { plan } from '../../../src/console/plan.ts';
import type { Claim } from '../../../src/state/store.ts';
import { type Stage, staged } from '../../apply/stage.ts';
import { stateCommands } from '../../cli/state-stage.ts';
import {
  began,
  deadPid,
  failureOf,
  holder,
  recorded,
  resource,
  stateWith,
} from '../../state/sample.ts';
import { openGiven } from './open-given.ts';
import { PASSWORD, startPostgres } from './postgres-server.ts';

let server: Awaited<ReturnType<typeof startPostgres>>;
let count = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** A database in which no other test keeps anything. */
async function newDatabase() {
  count += 1;
  const name = `overlaps_${count}`;
  await server.createDatabase(name);
  const url = server.url(name);
  const envOf = (stack: string) => ({
    CALLSHEET_STATE: `${url}?stack=${stack}`,
    CALLSHEET_STATE_PASSWORD: PASSWORD,
  });
  const open = (stack: string) => {
    const store = openGiven({ postgres: { url, stack } }, envOf(stack));
    onTestFinished(() => store.close());
    return store;
  };
  return { envOf, open };
}

const ACCOUNT = 'account-1';
const DESK: Claim = { address: 'agent.reception', kind: 'agent', id: 'a1' };

/** A stack that manages the agent `a1` as `agent.desk`. */
async function managing(open: Awaited<ReturnType<typeof newDatabase>>['open'], stack = 'harbor') {
  const store = open(stack);
  const lease = await store.acquire(holder('r1'));
  await lease.commit(stateWith({ 'agent.desk': resource('a1') }, { account_id: ACCOUNT }));
  return { store, lease };
}

async function claimed(store: ReturnType<Awaited<ReturnType<typeof newDatabase>>['open']>) {
  const lease = await store.acquire(holder('r2'));
  const overlaps = (await lease.claim?.(ACCOUNT, [DESK])) ?? [];
  return { lease, found: overlaps.map(({ other, isRunning }) => ({ ...other, isRunning })) };
}

const BY_HARBOR = { stack: 'harbor', address: 'agent.desk', isRunning: false };

test('what a state holds is told to other stacks, until a commit lets go of it', async () => {
  const { open } = await newDatabase();
  const { lease } = await managing(open);
  const first = await claimed(open('city'));
  expect(first.found).toEqual([BY_HARBOR]);
  await first.lease.release();
  expect(await open('city').overlaps?.(ACCOUNT, [DESK])).toEqual([
    { ...DESK, other: { stack: 'harbor', address: 'agent.desk' }, isRunning: false },
  ]);
  await lease.commit({ ...stateWith({}), serial: 2, account_id: ACCOUNT });
  expect((await claimed(open('city'))).found).toEqual([]);
});

test.each<[string, string, Claim]>([
  ['another account', 'account-2', DESK],
  ['another kind', ACCOUNT, { ...DESK, kind: 'retry_policy' }],
  ['another id', ACCOUNT, { ...DESK, id: 'a2' }],
])('is not told of %s', async (_what, account, claim) => {
  const { open } = await newDatabase();
  await managing(open);
  expect(await open('city').overlaps?.(account, [claim])).toEqual([]);
});

test('the stack itself is no other one, under whatever address', async () => {
  const { open } = await newDatabase();
  const { lease } = await managing(open);
  expect(await lease.claim?.(ACCOUNT, [DESK])).toEqual([]);
});

test('a claim stands while its run is under way, and not after it', async () => {
  const { open } = await newDatabase();
  const first = await claimed(open('harbor'));
  expect(first.found).toEqual([]);
  const second = await claimed(open('city'));
  expect(second.found).toEqual([{ stack: 'harbor', address: 'agent.reception', isRunning: true }]);
  await first.lease.release();
  await second.lease.release();
  expect((await claimed(open('city'))).found).toEqual([]);
});

test('a claim stands while the journal of its run is open', async () => {
  const { open } = await newDatabase();
  const { lease } = await claimed(open('harbor'));
  await lease.append(began('r2'));
  await lease.release();
  expect((await claimed(open('city'))).found).toMatchObject([{ stack: 'harbor', isRunning: true }]);
});

test('what a run made and did not commit is its own', async () => {
  const { open } = await newDatabase();
  const lease = await open('harbor').acquire(holder('r1'));
  await lease.append(began('r1'));
  await lease.append(recorded('agent.desk', resource('a1')));
  expect((await claimed(open('city'))).found).toEqual([{ ...BY_HARBOR, isRunning: true }]);
});

test('thousands are claimed beside a large run, and what it made is found among them', async () => {
  const { open } = await newDatabase();
  const lease = await open('harbor').acquire(holder('r1'));
  await lease.append(began('r1'));
  const name = 'A name. '.repeat(200);
  const made = Array.from({ length: 2_000 }, (_, at) =>
    lease.append(recorded(`agent.desk_${at}`, { ...resource(`made-${at}`), name })),
  );
  await Promise.all(made);
  await lease.append(recorded('agent.odd', resource('a "quoted\\ id"')));
  const wanted = Array.from({ length: 5_000 }, (_, at) => ({ ...DESK, id: `new-${at}` }));
  const city = await open('city').acquire(holder('r2'));
  expect(await city.claim?.(ACCOUNT, wanted)).toEqual([]);
  const odd = { address: 'agent.odd', kind: 'agent', id: 'a "quoted\\ id"' };
  const found = await city.claim?.(ACCOUNT, [
    ...wanted.map((one, at) => ({ ...one, address: `agent.new_${at}` })),
    { ...DESK, id: 'made-1999' },
    odd,
  ]);
  expect(found?.map(({ id, other }) => [id, other.address])).toEqual([
    ['made-1999', 'agent.desk_1999'],
    [odd.id, 'agent.odd'],
  ]);
});

test('of many that claim the same at once one gets it', async () => {
  const { open } = await newDatabase();
  await managing(open, 'elsewhere');
  const wanted = { ...DESK, id: 'a9' };
  const leases = await Promise.all(
    Array.from({ length: 6 }, (_, index) => open(`s${index}`).acquire(holder(`r${index}`))),
  );
  const found = await Promise.all(leases.map((lease) => lease.claim?.(ACCOUNT, [wanted])));
  expect(found.filter((overlaps) => overlaps?.length === 0)).toHaveLength(1);
  expect(found.filter((overlaps) => overlaps?.length === 1)).toHaveLength(5);
});

test('who lost the lease claims nothing', async () => {
  const { open } = await newDatabase();
  // Whoever takes the lease from a process that is gone does not wait until it notices.
  const lease = await open('harbor').acquire(holder('r1', deadPid()));
  await open('harbor').unlock(lease.id, holder('u'));
  const failure = await failureOf(async () => lease.claim?.(ACCOUNT, [DESK]));
  expect(failure.code).toBe('locked');
  expect((await claimed(open('city'))).found).toEqual([]);
});

test('a state that was moved away manages nothing', async () => {
  const { open } = await newDatabase();
  const { lease } = await managing(open);
  const moved = {
    ...stateWith({ 'agent.desk': resource('a1') }),
    serial: 2,
    account_id: ACCOUNT,
    moved_to: 'x',
  };
  await lease.commit(moved);
  expect((await claimed(open('city'))).found).toEqual([]);
});

const GREETING = ['how can I help?', 'good day!'] as const;

/** Refused: exit 4, nothing written to the platform, and both ways out are told. */
async function expectRefused(
  stage: Stage,
  env: Record<string, string>,
  run: () => Promise<string>,
) {
  const before = stage.writes().length;
  const err = await run();
  expect(err).toContain('another stack manages resources that this run of');
  expect(err).toMatch(
    /agent\.desk is agent\.desk of stack harbor \(agent [0-9a-f-]+, in its state\)/,
  );
  expect(err).toContain('callsheet state rm retry_policy.gentle');
  expect(err).not.toContain(env.CALLSHEET_STATE_PASSWORD);
  expect(stage.writes().length).toBe(before);
}

staged(
  'two stacks that manage the same agent: the second is refused, until the first lets go',
  async (stage) => {
    const { envOf } = await newDatabase();
    const [harbor, city] = [envOf('harbor'), envOf('city')];
    await stage.apply({}, { env: harbor });

    // Equal as they are, they would be taken over without a request.
    const looked = { dir: stage.folder, format: 'text' } as const;
    const { err } = await stage.run((to) => plan(looked, to), { env: city, exit: 4 });
    expect(err).toContain(
      'Another stack manages the same resources, so apply will refuse this plan:\n  ',
    );
    expect(err).toContain('agent.desk is agent.desk of stack harbor');
    const refused = async () => {
      const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
      return (await stage.run((to) => apply(undefined, flags, to), { env: city, exit: 4 })).err;
    };
    await expectRefused(stage, city, refused);
    await stage.edit('agents.yaml', ...GREETING);
    await expectRefused(stage, city, refused);
    expect(JSON.parse((await stateCommands(stage).list([], { env: city })).out).resources).toEqual(
      [],
    );

    const { rm, list } = stateCommands(stage);
    const { resources } = JSON.parse((await list([], { env: harbor })).out);
    await rm(
      resources.map(({ address }: { address: string }) => address),
      true,
      { env: harbor },
    );
    await stage.apply({}, { env: city });
    expect(stage.sim.store.agents.size).toBe(2);
  },
);

staged(
  'a state that goes to another stack of the database takes what it manages along',
  async (stage) => {
    const { envOf } = await newDatabase();
    await stage.apply({}, { env: envOf('harbor') });
    await stateCommands(stage).migrate(envOf('city').CALLSHEET_STATE, { env: envOf('harbor') });
    await stage.edit('agents.yaml', ...GREETING);
    await stage.apply({}, { env: envOf('city') });
    await stage.rollback({ allowDelete: true }, { env: envOf('city') });
  },
);
