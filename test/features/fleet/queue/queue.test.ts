import { describe, expect, onTestFinished, test } from 'vitest';
import {
  countTasks,
  enqueue,
  type NewBatch,
  nameQueue,
  openQueue,
  type Queue,
  readBatch,
} from '../../../../src/features/fleet/queue/enqueue.ts';
import { handOut } from '../../../../src/features/fleet/queue/hand-out.ts';
import { failureOf } from '../../../state/sample.ts';
import { ENV, postgresForFile } from './stage.ts';

const postgres = postgresForFile();

/** A database of its own, and a way to open its queue as often as there are machines. */
async function database(given = postgres.database()) {
  const url = await given;
  const open = async (isWorker = false): Promise<Queue> => {
    const troubles: unknown[] = [];
    const queue = await openQueue(url, {
      env: ENV,
      isWorker,
      onTrouble: (error) => troubles.push(error),
    });
    onTestFinished(async () => {
      await queue.close();
      expect(troubles).toEqual([]);
    });
    return queue;
  };
  return { url, open };
}

const COMMIT = 'a'.repeat(40);

function batchOf(stacks: number, more: Partial<NewBatch> = {}): NewBatch {
  const tasks = Array.from({ length: stacks }, (_, at) => ({
    stack: `clinic-${at}`,
    digest: `sha256:${at}`,
  }));
  return { command: 'apply', commit: COMMIT, flags: { autoApprove: true }, tasks, ...more };
}

describe('a batch', () => {
  test('is handed out once, settled, and read back in the order of the tree', async () => {
    const { open } = await database();
    const queue = await open();
    await enqueue(queue, batchOf(3), 'b1');
    const [a, b] = ['one', 'two'].map((name) => handOut(queue, nameQueue(COMMIT), name));
    const first = (await a?.take(2, [])) ?? [];
    const second = (await b?.take(2, [])) ?? [];
    expect([first.length, second.length]).toEqual([2, 1]);
    expect(await countTasks(queue.database.query, 'b1')).toMatchObject({ running: 3, done: 0 });
    for (const claim of first) expect(await a?.settle(claim, 0, { said: 'ok' })).toBe(true);
    for (const claim of second) expect(await b?.settle(claim, 4, { said: 'no' })).toBe(true);
    const read = await readBatch(queue.database.query, 'b1');
    expect(read?.tasks.map(({ stack, status }) => [stack, status])).toEqual([
      ['clinic-0', 'done'],
      ['clinic-1', 'done'],
      ['clinic-2', 'done'],
    ]);
    expect([...first, ...second].map(({ task }) => task.attempts)).toEqual([1, 1, 1]);
    expect(read?.tasks.map(({ exit }) => exit).sort()).toEqual([0, 0, 4]);
    expect(await a?.left()).toEqual({ waiting: 0, running: 0, oldestSeconds: 0, elsewhere: [] });
  });

  test('that is enqueued twice at once is there once', async () => {
    const { open } = await database();
    const queues = await Promise.all([open(), open(), open()]);
    const all = await Promise.all(
      queues.map((queue, at) => enqueue(queue, batchOf(5), `twice${at}`)),
    );
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(all.filter(({ isOld }) => !isOld)).toHaveLength(1);
    const [queue] = queues;
    if (queue === undefined) throw new Error('no queue');
    expect(await handOut(queue, nameQueue(COMMIT), 'one').take(20, [])).toHaveLength(5);
  });

  test.each([
    { what: 'open', plan: undefined, exit: undefined, isOld: true },
    { what: 'done, and planned anew each time', plan: undefined, exit: 0, isOld: false },
    { what: 'done, of an approved plan', plan: '{}', exit: 0, isOld: true },
    { what: 'failed, of an approved plan', plan: '{}', exit: 1, isOld: false },
  ])('that is $what: the same again is old: $isOld', async ({ plan, exit, isOld }) => {
    const { open } = await database();
    const queue = await open();
    const tasks = [{ stack: '.', digest: 'sha256:1', ...(plan === undefined ? {} : { plan }) }];
    await enqueue(queue, batchOf(0, { tasks }), 'first');
    const out = handOut(queue, nameQueue(COMMIT), 'one');
    for (const claim of exit === undefined ? [] : await out.take(1, []))
      await out.settle(claim, exit ?? 0, null);
    expect(await enqueue(queue, batchOf(0, { tasks }), 'second')).toEqual({
      id: isOld ? 'first' : 'second',
      isOld,
    });
  });

  test('of another commit is left to others, and seen', async () => {
    const { open } = await database();
    const queue = await open();
    await enqueue(queue, batchOf(2), 'b1');
    const out = handOut(queue, nameQueue(undefined), 'one');
    await enqueue(queue, batchOf(1, { commit: undefined }), 'b2');
    expect((await out.take(5, [])).map(({ task }) => task.batch)).toEqual(['b2']);
    expect(await out.left()).toMatchObject({ elsewhere: [{ commit: COMMIT, tasks: 2 }] });
  });
});

describe('a task', () => {
  test('that is put off comes again when it is due, and counts how often for one reason', async () => {
    const { open } = await database();
    const queue = await open();
    await enqueue(queue, batchOf(1), 'b1');
    const out = handOut(queue, nameQueue(COMMIT), 'one');
    const seen: unknown[] = [];
    for (const why of ['locked', 'locked', 'stopped']) {
      const [claim] = await out.take(1, []);
      if (claim === undefined) throw new Error('nothing was handed out');
      seen.push([claim.task.attempts, claim.task.deaths, claim.task.delays]);
      expect(await out.putOff(claim, why, 0)).toBe(true);
    }
    expect(seen).toEqual([
      [1, 0, 0],
      [2, 0, 1],
      [3, 0, 2],
    ]);
    const [claim] = await out.take(1, []);
    if (claim === undefined) throw new Error('nothing was handed out');
    expect(claim.task.delays).toBe(1);
    await out.putOff(claim, 'locked', 3600);
    expect(await out.take(1, [])).toEqual([]);
    expect(await out.left()).toMatchObject({ waiting: 1, running: 0 });
  });

  test('of a worker that went silent goes to another one, and the silent one writes nothing any more', async () => {
    const { open } = await database();
    const [dead, living] = [await open(), await open(true)];
    await enqueue(dead, batchOf(1), 'b1');
    const before = handOut(dead, nameQueue(COMMIT), 'dead');
    const [lost] = await before.take(1, []);
    if (lost === undefined) throw new Error('nothing was handed out');
    // Time goes by: a heartbeat of long ago, instead of a test that waits.
    await dead.database.query(
      `update callsheet_queue.job set heartbeat_on = now() - interval '1 minute' where id = $1::uuid`,
      [lost.job.id],
    );
    await living.boss.supervise(nameQueue(COMMIT));
    const after = handOut(living, nameQueue(COMMIT), 'living');
    const [claim] = await after.take(1, []);
    expect(claim?.task).toMatchObject({ attempts: 2, isSuspect: true });
    expect(await before.settle(lost, 0, null)).toBe(false);
    expect(await before.putOff(lost, 'late', 0)).toBe(false);
    if (claim !== undefined) expect(await after.settle(claim, 0, null)).toBe(true);
  });
});

describe('a queue', () => {
  test('is made by many at once', async () => {
    const { open } = await database(postgres.empty());
    const queues = await Promise.all(Array.from({ length: 3 }, (_, at) => open(at % 2 === 0)));
    for (const queue of queues)
      expect(await readBatch(queue.database.query, 'none')).toBeUndefined();
  });

  test('of a newer Callsheet is refused', async () => {
    const { url, open } = await database();
    const queue = await open();
    await queue.database.query('update callsheet_queue.callsheet_version set version = 99', []);
    const options = { env: ENV, isWorker: false, onTrouble: () => {} };
    expect((await failureOf(() => openQueue(url, options))).message).toMatch(
      /made by a newer Callsheet .*99/,
    );
  });

  test.each([
    {
      what: 'nobody listens',
      address: () => 'postgres://callsheet@127.0.0.1:1/postgres',
      says: /does not answer: no server listens there/,
    },
    {
      what: 'no such database',
      address: () => postgres.url('nowhere'),
      says: /refused: there is no database of that name/,
    },
    {
      what: 'a password on the command line',
      address: () => 'postgres://callsheet:secret@127.0.0.1/postgres',
      says: /--queue has a password in it/,
    },
    { what: 'no address', address: () => '', says: /no queue is named/ },
    {
      what: 'another store',
      address: () => 's3://b/k',
      says: /is not the address of a PostgreSQL/,
    },
  ])('says what is wrong: $what', async ({ address, says }) => {
    const options = { env: ENV, isWorker: false, onTrouble: () => {} };
    const { message: failed } = await failureOf(() => openQueue(address(), options));
    expect(failed).toMatch(says);
    expect(failed).not.toContain('secret');
  });

  test('that this user may not make says which right is missing', async () => {
    const [url, other] = [await postgres.empty(), await database()];
    const admin = await other.open();
    await admin.database.query("create role weak login password 'weak'", []);
    const options = {
      env: { CALLSHEET_QUEUE_PASSWORD: 'weak' },
      isWorker: false,
      onTrouble: () => {},
    };
    const weak = url.replace('callsheet@', 'weak@');
    expect((await failureOf(() => openQueue(weak, options))).message).toMatch(
      /refused: this user has no permission for that/,
    );
  });
});
