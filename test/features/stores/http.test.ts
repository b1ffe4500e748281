import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Origin } from '../../../src/core/origin.ts';
import { httpPlace } from '../../../src/features/stores/http/store.ts';
import { documentRemote } from '../../../src/features/stores/remote/document.ts';
import { openExchange } from '../../../src/features/stores/remote/exchange.ts';
import { openRetries } from '../../../src/features/stores/remote/failures.ts';
import { openRemoteStore } from '../../../src/features/stores/remote/store.ts';
import { realEffects } from '../../../src/state/lock.ts';
import { isTorture } from '../../long.ts';
import { began, failureOf, holder, sealed } from '../../state/sample.ts';
import {
  contract,
  lockContract,
  type Opening,
  openViews,
  type StateFixture,
} from '../../state/stores/contract.ts';
import { doRun } from '../../state/stores.ts';
import { faultyExchange, lostConnection } from './faulty.ts';
import { PASSWORD, type Shelf, startHttpServer, USERNAME } from './http-server.ts';
import { openGiven } from './open-given.ts';

let server: Awaited<ReturnType<typeof startHttpServer>>;
let count = 0;

beforeAll(async () => {
  server = await startHttpServer();
});
afterAll(() => server.stop());

const ENV = { CALLSHEET_STATE_USERNAME: USERNAME, CALLSHEET_STATE_PASSWORD: PASSWORD };

function fixtureAt(path: string): StateFixture {
  const address = `${server.origin}${path}`;
  const credentials = { username: USERNAME, password: PASSWORD };
  const views = openViews();
  return {
    open({ effects, fault }: Opening = {}) {
      const world = { ...realEffects(), ...effects };
      const exchange = faultyExchange(openExchange(30_000, [Origin.given(server.origin)]), fault);
      const place = httpPlace(
        { address },
        credentials,
        exchange,
        world,
        openRetries(30_000, world),
      );
      return views.add(openRemoteStore(documentRemote(place), world));
    },
    dump: async () => server.shelfOf(path).text ?? '',
    async spoil(how) {
      const shelf = server.shelfOf(path);
      const document = JSON.parse(shelf.text ?? '');
      const text: string = document.state.text;
      const state =
        how === 'damaged'
          ? text.replace('Desk a1', 'Desk')
          : sealed({ ...JSON.parse(text), checksum: undefined, version: 99 });
      shelf.text = JSON.stringify({ ...document, state: { text: state } });
    },
    place: { http: { address }, by: 'operator' },
    env: ENV,
    close: views.close,
    credentials: [PASSWORD],
  };
}

function newPath(style: 'gitlab' | 'plain' | 'open'): string {
  count += 1;
  return style === 'gitlab'
    ? `/api/v4/projects/7/terraform/state/desk-${count}`
    : `/${style}/desk-${count}`;
}

describe('a server that answers as GitLab does', () => {
  contract(async () => fixtureAt(newPath('gitlab')), lostConnection, 13);
});

describe('a server that is locked by LOCK and UNLOCK', () => {
  const makeFixture = async () => fixtureAt(newPath('plain'));
  if (isTorture) contract(makeFixture, lostConnection);
  else lockContract(makeFixture);
});

test('a server that takes documents without its lock is refused', async () => {
  const fixture = fixtureAt(newPath('open'));
  const failure = await failureOf(() => fixture.open().acquire(holder('r1')));
  expect(failure.message).toContain('the server accepts a state without its lock');
});

test('a lock whose holder died before it wrote is taken away after a while', async () => {
  const path = newPath('gitlab');
  server.shelfOf(path).lock = { ID: 'of-the-dead' };
  let waited = 0;
  const sleep = async (milliseconds: number) => {
    waited += milliseconds;
  };
  const lease = await fixtureAt(path).open({ effects: { sleep } }).acquire(holder('r1'));
  expect(waited).toBeGreaterThan(6_000);
  expect(waited).toBeLessThanOrEqual(30_000);
  await lease.append(began('r1'));
});

test('a lock that was taken away on the server stops the run', async () => {
  const path = newPath('gitlab');
  const lease = await fixtureAt(path).open().acquire(holder('r1'));
  server.shelfOf(path).lock = undefined;
  const failure = await failureOf(() => lease.append(began('r1')));
  expect(failure.code).toBe('locked');
  expect(failure.message).toContain('the lock was removed');
});

describe.each(['gitlab', 'plain'] as const)('a 400 of a server that locks as %s', (style) => {
  const others = {
    ID: 'of-another',
    Operation: '',
    Info: '',
    Who: '',
    Version: '',
    Created: '',
    Path: '',
  };
  test.each<[string, Partial<Shelf>, string, RegExp]>([
    [
      'whose lock was removed',
      { isVague: true, lock: undefined },
      'locked',
      /the lock was removed/,
    ],
    [
      'whose lock another one has',
      { isVague: true, lock: others },
      'locked',
      /the lock was removed/,
    ],
    ['that still has our lock', { refusesAll: true }, 'state', /answered 400: no such document/],
  ])('%s', async (_what, change, code, message) => {
    const path = newPath(style);
    const lease = await fixtureAt(path).open().acquire(holder('r1'));
    const shelf = server.shelfOf(path);
    Object.assign(shelf, change);
    const failure = await failureOf(() => lease.append(began('r1')));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(message);
    // The question leaves no lock behind that was not there.
    if (shelf.isVague === true) expect(shelf.lock?.ID).toBe(change.lock?.ID);
  });

  test('at its lock is asked about as well', async () => {
    const path = newPath(style);
    server.shelfOf(path).stumbles = true;
    const lease = await fixtureAt(path).open().acquire(holder('r1'));
    await lease.append(began('r1'));
    await lease.release();
  });
});

test('the server is unlocked with the lease', async () => {
  const path = newPath('plain');
  await doRun(fixtureAt(path).open());
  expect(server.shelfOf(path).lock).toBeUndefined();
});

test('a lock that the server keeps is said when the lease is given back', async () => {
  const path = newPath('plain');
  const lease = await fixtureAt(path).open().acquire(holder('r1'));
  await lease.append(began('r1'));
  const shelf = server.shelfOf(path);
  // Somebody edited the lock on the server: it no longer is what it was locked with.
  shelf.lock = { ID: shelf.lock?.ID ?? '', Who: 'nobody' };
  const failure = await failureOf(() => lease.release());
  expect(failure.message).toContain(`cannot unlock the state ${server.origin}${path}`);
  expect(failure.hint).toContain('remove the lock on the server itself');
});

test.each([
  ['nobody has it any more', undefined],
  ['somebody else has it', { ID: 'of-another', Info: 'theirs' }],
])('a lock that is gone when the lease is given back is no failure: %s', async (_, lock) => {
  const path = newPath('plain');
  const lease = await fixtureAt(path).open().acquire(holder('r1'));
  await lease.append(began('r1'));
  server.shelfOf(path).lock = lock;
  await lease.release();
  expect(server.shelfOf(path).lock).toEqual(lock);
});

test.each<[string, Record<string, string>, string, string, string]>([
  [
    'wrong credentials',
    { CALLSHEET_STATE_PASSWORD: 'x' },
    '/plain/a',
    'answered 401',
    'CALLSHEET_STATE_PASSWORD',
  ],
  ['no credentials', {}, '/plain/a', 'answered 401', 'CALLSHEET_STATE_PASSWORD'],
])('says what is wrong: %s', async (_name, env, path, message, hint) => {
  const address = `${server.origin}${path}?token=abc`;
  const store = openGiven({ http: { address } }, env);
  onTestFinished(() => store.close());
  const failure = await failureOf(() => store.load());
  expect(failure.code).toBe('state');
  expect(failure.message).toContain(`cannot read the state ${server.origin}${path}: `);
  expect(failure.message).toContain(message);
  expect(failure.message).not.toContain('abc');
  expect(failure.hint).toContain(hint);
});

test('says what is wrong: nobody listens, after it asked more than once', async () => {
  const pauses: number[] = [];
  const sleep = async (milliseconds: number) => {
    pauses.push(milliseconds);
  };
  const world = { ...realEffects(), sleep };
  const at = { address: 'http://127.0.0.1:1/x' };
  const exchange = openExchange(30_000, [Origin.given(at.address)]);
  const place = httpPlace(
    at,
    { username: 'u', password: 'p' },
    exchange,
    world,
    openRetries(30_000, world),
  );
  const store = openRemoteStore(documentRemote(place), world);
  onTestFinished(() => store.close());
  const { message, hint } = await failureOf(() => store.load());
  expect(message).toContain('cannot read the state http://127.0.0.1:1/x: no server listens there');
  expect(hint).toBe('Check that the store runs and can be reached from here.');
  const waited = pauses.reduce((sum, pause) => sum + pause, 0);
  expect(waited).toBeGreaterThanOrEqual(4_000);
  expect(waited).toBeLessThanOrEqual(7_000);
});

test('says what is wrong: no encryption', async () => {
  const at = { address: 'http://u:secret@state.example.test/x' };
  const store = openGiven({ http: at }, {});
  onTestFinished(() => store.close());
  const { message } = await failureOf(() => store.load());
  expect(message).toContain('http://state.example.test/x: it is not an https address');
});

test.each(['gitlab', 'plain'] as const)(
  'a server that answers an UNLOCK with 200 and unlocks nothing is said, after one UNLOCK of each run (%s)',
  async (style) => {
    const path = newPath(style);
    const shelf = server.shelfOf(path);
    shelf.keepsLock = true;
    const first = await fixtureAt(path).open().acquire(holder('r1'));
    server.requests.length = 0;
    const atEnd = await failureOf(() => first.release());
    expect(atEnd.message).toContain('the server answered that it did, and still has the lock');
    expect(atEnd.hint).toContain('The changes of the run are made and recorded');
    const isUnlock = (request: string) => /^(UNLOCK|DELETE) /.test(request);
    expect(server.requests.filter(isUnlock)).toHaveLength(1);
    // A heartbeat that gives it back, the UNLOCK, and one look.
    expect(server.requests).toHaveLength(3);
    server.requests.length = 0;
    const waits: number[] = [];
    const sleep = async (milliseconds: number) => {
      waits.push(milliseconds);
    };
    const next = await failureOf(() =>
      fixtureAt(path).open({ effects: { sleep } }).acquire(holder('r2')),
    );
    expect(next.code).toBe('state');
    expect(next.message).toContain('still has the lock');
    expect(next.hint).toContain('Nothing was sent to the platform');
    expect(server.requests.filter(isUnlock)).toHaveLength(1);
    expect(server.requests.length).toBeLessThan(10);
  },
);

test('a server that gives the lock to somebody else each time is given up', async () => {
  const path = newPath('plain');
  const shelf = server.shelfOf(path);
  let ids = 0;
  // Whoever asks finds another holder.
  Object.defineProperty(shelf, 'lock', { get: () => ({ ID: `other-${ids++}` }), set() {} });
  const sleep = async () => {};
  server.requests.length = 0;
  const failure = await failureOf(() =>
    fixtureAt(path).open({ effects: { sleep } }).acquire(holder('r1')),
  );
  expect(failure.message).toContain('could not be locked in 8 tries');
  expect(server.requests.length).toBeLessThan(100);
});

test("another program's document is refused, and left as it is", async () => {
  const path = newPath('plain');
  const terraform = '{"version":4,"terraform_version":"1.9.0","serial":3,"resources":[]}';
  server.shelfOf(path).text = terraform;
  const store = fixtureAt(path).open();
  for (const work of [() => store.load(), () => store.acquire(holder('r1'))])
    expect((await failureOf(work)).message).toContain('is not a Callsheet state');
  expect(server.shelfOf(path)).toMatchObject({ text: terraform, lock: undefined });
});
