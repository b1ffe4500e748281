import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Origin } from '../../../src/core/origin.ts';
import type { StatePlace } from '../../../src/core/stores.ts';
import {
  type Database,
  openDatabase,
  type Query,
} from '../../../src/features/stores/postgres/database.ts';
import {
  migrate,
  postgresRemote,
  readVersion,
  STEPS,
} from '../../../src/features/stores/postgres/store.ts';
import { openRetries } from '../../../src/features/stores/remote/failures.ts';
import { openRemoteStore } from '../../../src/features/stores/remote/store.ts';
import { realEffects } from '../../../src/state/lock.ts';
import { nextState } from '../../../src/state/replay.ts';
import {
  began,
  ended,
  failureOf,
  holder,
  intent,
  recorded,
  resource,
  stateWith,
} from '../../state/sample.ts';
import {
  contract,
  type Opening,
  openViews,
  type StateFixture,
} from '../../state/stores/contract.ts';
import { appendAll, doRun, RUN } from '../../state/stores.ts';
import { brokenConnection, testBrokenConnections } from './broken-connections.ts';
import { openGiven } from './open-given.ts';
import { PASSWORD, startPostgres } from './postgres-server.ts';

let server: Awaited<ReturnType<typeof startPostgres>>;
let admin: Database;
let count = 0;
const ENV = { CALLSHEET_STATE_PASSWORD: PASSWORD };

beforeAll(async () => {
  server = await startPostgres();
  admin = await openDatabase(Origin.given(server.url()), ENV, 30_000);
});
afterAll(async () => {
  await admin.close();
  await server.stop();
});

/** A database of which some steps fail: each query is one, and each end of a transaction. */
function faulty(database: Database, fault: Opening['fault']): Database {
  let number = 0;
  async function step<T>(work: () => Promise<T>): Promise<T> {
    number += 1;
    const found = await fault?.(number);
    if (found !== undefined && !found.done) throw found.error();
    const result = await work();
    if (found !== undefined) throw found.error();
    return result;
  }
  const stepped =
    (query: Query): Query =>
    (text, values) =>
      step(() => query(text, values));
  return {
    ...database,
    query: stepped(database.query),
    transaction: (kind, work) =>
      step(() => database.transaction(kind, (query) => work(stepped(query)))),
  };
}

function fixtureIn(
  place: StatePlace & { readonly postgres: { readonly url: string; readonly stack: string } },
): StateFixture {
  const { stack } = place.postgres;
  const views = openViews();
  return {
    open({ effects, fault }: Opening = {}) {
      const world = { ...realEffects(), ...effects };
      const opened = openDatabase(Origin.given(place.postgres.url), ENV, 30_000);
      const late: Database = {
        query: async (text, values) => (await opened).query(text, values),
        transaction: async (kind, work) => (await opened).transaction(kind, work),
        close: async () => (await opened).close(),
      };
      const location = server.url('postgres').replace('callsheet@', '');
      const remote = postgresRemote(
        faulty(late, fault),
        stack,
        `${location}#${stack}`,
        openRetries(30_000, world),
      );
      return views.add(openRemoteStore(remote, world));
    },
    async dump() {
      const tables = ['stack', 'resource', 'run', 'journal', 'aside'];
      const texts = tables.map(async (table) => {
        const column = table === 'stack' ? 'name' : 'stack';
        const rows = await admin.query(
          `select t::text as text from callsheet.${table} t where ${column} = $1 order by 1`,
          [stack],
        );
        return rows.map(({ text }) => text).join('\n');
      });
      return (await Promise.all(texts)).join('\n');
    },
    async spoil(how) {
      if (how === 'damaged')
        await admin.query(
          `update callsheet.resource set line = replace(line, 'Desk a1', 'Desk') where stack = $1`,
          [stack],
        );
      else
        await admin.query(
          `update callsheet.stack set head = replace(head, '"version":1', '"version":99') where name = $1`,
          [stack],
        );
    },
    place,
    env: ENV,
    close: views.close,
    credentials: [PASSWORD],
  };
}

function newFixture(): StateFixture {
  count += 1;
  return fixtureIn({ postgres: { url: server.url(), stack: `desk-${count}` }, by: 'operator' });
}

describe('a real PostgreSQL', () => {
  contract(async () => newFixture(), brokenConnection, 17);
});

testBrokenConnections(newFixture);

/** A store with a database of its own, as a stack opens it. */
async function ownDatabase(name: string, env: Record<string, string> = ENV) {
  await server.createDatabase(name);
  return openIn(name, env);
}

function openIn(name: string, env: Record<string, string> = ENV, user = 'callsheet') {
  const url = server.url(name).replace('callsheet@', `${user}@`);
  const store = openGiven({ postgres: { url, stack: 'desk' } }, env);
  onTestFinished(() => store.close());
  return store;
}

async function inDatabase<T>(name: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(Origin.given(server.url(name)), ENV, 30_000);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

describe('says what is wrong, and where', () => {
  test.each<[string, string, string]>([
    ['a wrong password', 'the password is wrong', 'CALLSHEET_STATE_PASSWORD'],
    ['a missing database', 'there is no database of that name', 'Create it'],
  ])('%s', async (name, why, hint) => {
    const env = name === 'a wrong password' ? { CALLSHEET_STATE_PASSWORD: 'x' } : ENV;
    const store = openIn(name === 'a wrong password' ? 'postgres' : 'nowhere', env);
    const failure = await failureOf(() => store.load());
    expect(failure.code).toBe('state');
    expect(failure.message).toContain('cannot open the state postgres://127.0.0.1:');
    expect(failure.message).toContain(why);
    expect(failure.hint).toContain(hint);
    expect(failure.hint).not.toContain('run the same command again');
  });

  test('a database that is read-only, and one without the right to make tables', async () => {
    const store = await ownDatabase('standby');
    await doRun(store);
    await admin.query('alter database standby set default_transaction_read_only = on', []);
    const again = openIn('standby');
    expect((await again.load()).state?.serial).toBe(1);
    const failure = await failureOf(() => again.acquire(holder('r2')));
    expect(failure.message).toContain('cannot write the state');
    expect(failure.message).toContain('the database is read-only');
    await admin.query("create role guest login password 'guest'", []);
    const guest = openIn('postgres', { CALLSHEET_STATE_PASSWORD: 'guest' }, 'guest');
    expect((await failureOf(() => guest.acquire(holder('r2')))).message).toContain('no permission');
  });

  test('a full disk in mid-run stops it before its next write, and it goes on afterwards', async () => {
    const store = await ownDatabase('full');
    const lease = await store.acquire(holder('r1'));
    await appendAll(lease, [began('r1'), intent(1, 'agent.desk')]);
    // What PostgreSQL itself raises where it finds no room.
    await inDatabase('full', async ({ query }) => {
      await query(
        `create function callsheet.full() returns trigger language plpgsql as
         $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
        [],
      );
      await query(
        'create trigger full_disk before insert on callsheet.journal execute function callsheet.full()',
        [],
      );
    });
    const failure = await failureOf(() => lease.append(recorded('agent.desk', resource('a1'))));
    expect(failure.message).toContain('the disk of the database is full');
    await failureOf(() => lease.append(ended()));
    await lease.release();
    await inDatabase('full', ({ query }) =>
      query('drop trigger full_disk on callsheet.journal', []),
    );
    const next = await openIn('full').acquire(holder('r2'));
    expect((await openIn('full').load()).pending).toHaveLength(2);
    await next.append(ended());
  });

  test('a connection that the server ends in mid-run', async () => {
    const store = await ownDatabase('ended');
    const lease = await store.acquire(holder('r1'));
    const cut = () =>
      admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'ended'",
        [],
      );
    await cut();
    await lease.append(began('r1'));
    await admin.query('alter database ended allow_connections false', []);
    await cut();
    const failure = await failureOf(() => lease.append(intent(1, 'agent.desk')));
    expect(failure.code).toBe('state');
    expect(failure.message).toMatch(
      /cannot write the state postgres:.*(lost|does not accept|not currently accepting)/,
    );
    await admin.query('alter database ended allow_connections true', []);
    expect((await openIn('ended').load()).pending).toEqual([began('r1')]);
  });
});

describe('the tables', () => {
  test('of a newer Callsheet are left alone', async () => {
    const store = await ownDatabase('newer');
    await doRun(store);
    await inDatabase('newer', ({ query }) =>
      query('update callsheet.version set version = 99', []),
    );
    const again = openIn('newer');
    for (const work of [
      () => again.load(),
      () => again.salvage(),
      () => again.acquire(holder('r2')),
    ])
      expect((await failureOf(work)).message).toContain('newer Callsheet');
  });

  test('are brought forward step by step, by one of several at once', async () => {
    await ownDatabase('steps');
    const more = [...STEPS, 'alter table callsheet.run add column note text'];
    await inDatabase('steps', async (database) => {
      expect(await readVersion(database.query, 'here')).toBeUndefined();
      await migrate(database, 'here');
      expect(await readVersion(database.query, 'here')).toBe(STEPS.length);
    });
    await Promise.all(
      [1, 2, 3].map(() => inDatabase('steps', (database) => migrate(database, 'here', more))),
    );
    await inDatabase('steps', async ({ query }) => {
      expect(await readVersion(query, 'here', more)).toBe(more.length);
      expect(await query('select note from callsheet.run', [])).toEqual([]);
    });
  });

  test('of the version before are read as they are, and brought forward by the next run', async () => {
    const store = await ownDatabase('before');
    const first = await store.acquire(holder('r1'));
    await appendAll(first, RUN.slice(0, -1));
    await first.release();
    await inDatabase('before', async ({ query }) => {
      await query('drop index callsheet.journal_by_id', []);
      await query('alter table callsheet.journal drop column id', []);
      await query('update callsheet.version set version = 2', []);
    });
    const again = openIn('before');
    expect((await again.load()).pending).toEqual(RUN.slice(0, -1));
    const url = server.url('before');
    const other = openGiven({ postgres: { url, stack: 'other' } }, ENV);
    onTestFinished(() => other.close());
    await inDatabase('before', ({ query }) =>
      query("update callsheet.stack set account = 'account-1'", []),
    );
    const claims = [{ address: 'agent.a', kind: 'agent', id: 'a1' }] as const;
    expect(await other.overlaps?.('account-1', claims)).toHaveLength(1);
    const lease = await again.acquire(holder('r2'));
    await lease.append(ended());
    expect((await openIn('before').load()).pending).toEqual([...RUN.slice(0, -1), ended()]);
    await inDatabase('before', async ({ query }) => {
      expect(await readVersion(query, 'here')).toBe(STEPS.length);
      const rows = await query(
        'select id is null as older from callsheet.journal order by part',
        [],
      );
      expect(rows.map(({ older }) => older)).toEqual([...RUN.slice(0, -1).map(() => true), false]);
    });
  });

  test('get only the rows that a commit changed', async () => {
    const store = await ownDatabase('rows');
    const many = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`agent.a${index}`, resource(`id-${index}`)]),
    );
    const lease = await store.acquire(holder('r1'));
    const first = stateWith(many);
    await lease.commit(first);
    const written = () =>
      inDatabase('rows', async ({ query }) => {
        const rows = await query(
          'select xmin::text as by, count(*)::int as n from callsheet.resource group by 1 order by 2',
          [],
        );
        return rows.map(({ n }) => n);
      });
    expect(await written()).toEqual([300]);
    const changed = { ...many, 'agent.a7': resource('id-7', { name: 'New' }) };
    await lease.commit(nextState(first, null, changed));
    expect(await written()).toEqual([1, 299]);
    await lease.release();
    // Another process knows no more than what the rows say.
    const other = openIn('rows');
    const fewer = Object.fromEntries(
      Object.entries({ ...changed, 'agent.a8': resource('id-8', { name: 'New' }) }).filter(
        ([address]) => address !== 'agent.a9',
      ),
    );
    const next = await other.acquire(holder('r2'));
    const { state } = await other.load();
    await next.commit(nextState(state ?? first, null, fewer));
    expect(await written()).toEqual([1, 1, 297]);
    expect((await openIn('rows').load()).state?.resources).toEqual(fewer);
  });

  test('keep stacks apart', async () => {
    const one = newFixture().open();
    const two = newFixture().open();
    await doRun(one);
    expect(await two.load()).toEqual({ state: undefined, pending: [] });
    await two.acquire(holder('r2'));
    await one.acquire(holder('r1'));
  });
});
