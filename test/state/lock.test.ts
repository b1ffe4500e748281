import { rmSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openFileLock } from '../../src/state/file/store.ts';
import {
  acquireLease,
  formatBeat,
  formatLockRecord,
  identify,
  type LockEffects,
  RELEASED,
  RELEASED_BEAT,
  TIMING,
} from '../../src/state/lock.ts';
import { deadPid, failureOf, holder, makeFolder } from './sample.ts';

const NOW = Date.parse('2026-03-02T08:30:00.000Z');
const HERE = 'here';

/** Effects without a wait: `watch` is what happens while a taker watches. */
class World implements LockEffects {
  time = NOW;
  /** Milliseconds. */
  watched = 0;
  beat = () => {};
  get machine(): string {
    return HERE;
  }
  readonly #watch: (() => unknown) | undefined;

  constructor(watch?: () => unknown) {
    this.#watch = watch;
  }

  now = () => this.time;

  steady = () => this.time;

  sleep = async (milliseconds: number) => {
    this.watched += milliseconds;
    if (this.#watch === undefined) throw new Error('it waited');
    await this.#watch();
  };

  every = (_milliseconds: number, act: () => void) => {
    this.beat = act;
    return () => {
      this.beat = () => {};
    };
  };
}

type Found = { readonly age?: number; readonly machine?: string; readonly pid?: number };

function ticket({ age = 0, machine = HERE, pid = process.pid }: Found): string {
  return formatLockRecord({
    beat: formatBeat(NOW - age * 1000),
    id: 'lease-1',
    owner: identify(pid, machine),
    holder: holder('r1', pid),
  });
}

async function lockFolder(text?: string): Promise<string> {
  const folder = join(await makeFolder(), 'state.lock');
  if (text === undefined) return folder;
  await mkdir(folder);
  await writeFile(join(folder, '3'), text);
  return folder;
}

async function take(folder: string, world: LockEffects, run = 'r2', pid = process.pid) {
  const place = openFileLock(folder, 'x/state.json', world);
  const { id } = await acquireLease(place, holder(run, pid), world);
  const stop = world.every(TIMING.beat, () => void place.beat(id, formatBeat(world.now())));
  const lock = {
    check: () => place.check(id),
    async release() {
      stop();
      await place.beat(id, RELEASED);
    },
  };
  onTestFinished(() => lock.release());
  return lock;
}

describe('a lock that was', () => {
  const silent = () => {};
  const other = (age: number) => ticket({ age, machine: 'elsewhere' });
  test.each<[string, string | undefined, boolean]>([
    ['never taken', undefined, false],
    ['given back', ticket({}).replace(formatBeat(NOW), RELEASED_BEAT), false],
    ['held by a process that is gone', ticket({ pid: deadPid() }), false],
    [
      'held by an earlier process of the same number',
      ticket({}).replace(/"started":"\d+"/, '"started":"1"'),
      false,
    ],
    ['held elsewhere, silent for 25 s', other(25), true],
    ['held elsewhere, silent for a day', other(86_400), true],
    ['held elsewhere, with a clock an hour ahead', other(-3600), true],
    ['held here by a paused process', ticket({ age: 25 }), true],
    ['left without a word', '', true],
    ['left with half a word', ticket({}).slice(0, 50), true],
  ])('%s is taken', async (_name, text, watches) => {
    const folder = await lockFolder(text);
    const world = new World(watches ? silent : undefined);
    const lock = await take(folder, world);
    lock.check();
    expect(world.watched).toBe(watches ? 6000 : 0);
    expect(await readdir(folder)).toEqual([text === undefined ? '1' : '4']);
    await lock.release();
  });

  test.each<[string, string, ((path: string) => unknown) | undefined]>([
    ['held here', ticket({}), undefined],
    ['held elsewhere', other(0), undefined],
    ['held elsewhere, silent for 20 s', other(20), undefined],
    [
      'held elsewhere under a wrong clock, and beats',
      other(-3600),
      (path) => writeFile(path, other(-3605)),
    ],
    ['held elsewhere, silent, and beats again', other(90), (path) => writeFile(path, other(0))],
    ['just being taken', '', (path) => writeFile(path, other(0))],
  ])('%s is not', async (_name, text, watch) => {
    const folder = await lockFolder(text);
    const world = new World(watch && (() => watch(join(folder, '3'))));
    const failure = await failureOf(() => take(folder, world));
    expect(failure.code).toBe('locked');
    expect(failure.message).toContain('x/state.json is locked by apply (run r1) of sam@desk');
    expect(failure.message).toContain(`process ${process.pid}, since 2026-03-02T08:30:00.000Z`);
    expect(failure.hint).toContain('callsheet state unlock lease-1');
    expect(await readdir(folder)).toEqual(['3']);
  });

  test('given back while one watches is taken', async () => {
    const folder = await lockFolder(other(90));
    const released = other(90).replace(formatBeat(NOW - 90_000), RELEASED_BEAT);
    const lock = await take(folder, new World(() => writeFile(join(folder, '3'), released)));
    lock.check();
    await lock.release();
  });
});

describe('a holder', () => {
  test('beats in place', async () => {
    const folder = await lockFolder();
    const world = new World();
    const lock = await take(folder, world);
    const first = await readFile(join(folder, '1'), 'utf8');
    world.time += 5000;
    world.beat();
    await expect.poll(() => readFile(join(folder, '1'), 'utf8')).not.toBe(first);
    const second = await readFile(join(folder, '1'), 'utf8');
    expect(second).toBe(first.replace(formatBeat(NOW), formatBeat(NOW + 5000)));
    await lock.release();
    const last = await readFile(join(folder, '1'), 'utf8');
    expect(last).toBe(first.replace(formatBeat(NOW), RELEASED_BEAT));
  });

  test('whose clock jumps is kept by its heartbeat', async () => {
    const folder = await lockFolder();
    const world = new World();
    const lock = await take(folder, world, 'r1');
    world.time += 3_600_000;
    const path = join(folder, '1');
    const first = await readFile(path, 'utf8');
    const taker = new World(async () => {
      world.beat();
      await expect.poll(() => readFile(path, 'utf8')).not.toBe(first);
    });
    taker.time = world.time;
    expect((await failureOf(() => take(folder, taker))).message).toContain('run r1');
    expect(taker.watched).toBe(6000);
    lock.check();
  });

  const HOUR = 3_600_000;
  test.each([
    ['an hour ahead for the holder', HOUR, 0],
    ['a day ahead for the holder', 24 * HOUR, 0],
    ['an hour back for the holder', -HOUR, 0],
    ['a year back for the holder', -8760 * HOUR, 0],
    ['an hour ahead for the taker', 0, HOUR],
    ['an hour back for the taker', 0, -HOUR],
    ['hours apart for both', 7 * HOUR, -5 * HOUR],
  ])('is kept when clocks jump %s', async (_name, ownJump, otherJump) => {
    const folder = await lockFolder();
    const world = new World();
    const lock = await take(folder, world, 'r1');
    const path = join(folder, '1');
    world.time += ownJump;
    world.beat();
    await expect.poll(() => readFile(path, 'utf8')).toContain(formatBeat(world.time));
    const taker = new World(async () => {
      // A holder that lives beats at least twice while one watches.
      world.time += 2000;
      world.beat();
      await expect.poll(() => readFile(path, 'utf8')).toContain(formatBeat(world.time));
    });
    taker.time += otherJump;
    const failure = await failureOf(() => take(folder, taker));
    expect([failure.code, failure.message]).toEqual([
      'locked',
      expect.stringContaining('locked by apply (run r1)'),
    ]);
    lock.check();
    expect(await readdir(folder)).toEqual(['1']);
  });

  test.each([
    ['ahead', HOUR],
    ['back', -HOUR],
  ])('that died elsewhere is noticed though the clock jumped an hour %s', async (_name, jump) => {
    const folder = await lockFolder(ticket({ machine: 'elsewhere' }));
    const taker = new World(() => {});
    taker.time += jump;
    (await take(folder, taker)).check();
    expect(taker.watched).toBe(6000);
  });

  test.each<[string, (folder: string) => unknown, string]>([
    ['to another', (folder) => take(folder, new World()), 'apply (run r2) of sam@desk'],
    [
      'to another that ended since',
      async (folder) => (await take(folder, new World())).release(),
      'took the lock over',
    ],
    [
      'to one after another',
      async (folder) => {
        await (await take(folder, new World())).release();
        await take(folder, new World(), 'r3');
      },
      'was removed',
    ],
    [
      'to somebody who removes the folder',
      (folder) => rm(folder, { recursive: true }),
      'was removed',
    ],
  ])('that lost its lock %s notices, and its release harms nobody', async (_name, lose, words) => {
    const folder = await lockFolder();
    const world = new World();
    // Looks dead to others, as a paused process would after half a minute.
    const lock = await take(folder, world, 'r1', deadPid());
    lock.check();
    await lose(folder);
    const names = await readdir(folder).catch(() => []);
    const failure = await failureOf(() => lock.check());
    expect(failure.code).toBe('locked');
    expect(failure.message).toContain('no longer holds the lock on the state x/state.json');
    expect(failure.message).toContain(words);
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
    world.beat();
    await lock.release();
    expect(await readdir(folder).catch(() => [])).toEqual(names);
    expect(await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).toEqual(
      texts,
    );
  });

  test('that gave its lock back has none', async () => {
    const lock = await take(await lockFolder(), new World());
    await lock.release();
    await lock.release();
    expect((await failureOf(() => lock.check())).message).toContain('it gave it back');
  });
});

test('a silent holder that comes back at any moment of a takeover keeps the lock or loses it to the taker', async () => {
  const ends = new Set<string>();
  // The last of these calls come right before it makes its record, so turns of the event loop reach what follows.
  for (let at = 1, turns = 0; ; turns += 1) {
    if (turns === 12) [at, turns] = [at + 1, 0];
    const folder = await lockFolder();
    const there = new World();
    there.time -= 40_000;
    const place = openFileLock(folder, 'x/state.json', there);
    // Another machine, as far as the taker can tell.
    const { id } = await acquireLease(place, holder('r1'), {
      ...effectsOf(there),
      machine: 'there',
    });
    let calls = 0;
    let renewed: Promise<boolean> | undefined;
    const comeBack = () => {
      calls += 1;
      if (calls === at) renewed = renewAfter(turns);
    };
    const renewAfter = async (left: number): Promise<boolean> => {
      for (let turn = 0; turn < left; turn += 1) await setImmediate();
      return (await place.renew?.(id, formatBeat(NOW))) ?? false;
    };
    const taker = new World(comeBack);
    const taken = await acquireLease(openFileLock(folder, 'x/state.json', taker), holder('r2'), {
      ...effectsOf(taker),
      get machine() {
        comeBack();
        return HERE;
      },
      now: () => {
        comeBack();
        return taker.time;
      },
    }).then(
      () => true,
      () => false,
    );
    if (calls < at) break;
    const isKept = await renewed;
    const isHeld = attempt(() => place.check(id));
    expect({ isKept, isHeld }, `at call ${at}, ${turns} turns later`).toEqual({
      isKept: !taken,
      isHeld: !taken,
    });
    ends.add(taken ? 'taken' : 'kept');
    await place.beat(id, RELEASED);
  }
  expect(ends).toEqual(new Set(['kept', 'taken']));
});

function effectsOf({ now, steady, sleep, every }: World) {
  return { now, steady, sleep, every };
}

function attempt(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

test('of many takers of a dead lock one wins', async () => {
  for (let round = 0; round < 20; round += 1) {
    const folder = await lockFolder(ticket({ pid: deadPid() }));
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => take(folder, new World(() => {}), `r${index}`)),
    );
    const won = results.filter(({ status }) => status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const result of results)
      if (result.status === 'fulfilled') {
        result.value.check();
        await result.value.release();
      } else expect(result.reason).toMatchObject({ code: 'locked' });
  }
});

test('a taker that watches while others come and go gives way', async () => {
  const folder = await lockFolder(ticket({ age: 90, machine: 'elsewhere' }));
  const late = new World(async () => {
    await (await take(folder, new World(() => {}), 'r3')).release();
    await (await take(folder, new World(), 'r4')).release();
    await take(folder, new World(), 'r5');
  });
  expect((await failureOf(() => take(folder, late))).message).toContain('run r5');
  expect(await readdir(folder)).toEqual(['6']);
});

test('a taker whose number is past by the time it is made gives way', async () => {
  const folder = await lockFolder(ticket({ pid: deadPid() }));
  let looks = 0;
  const late = new (class extends World {
    // Asked for right after ticket 3 was read, and found to be of a process that is gone.
    override get machine() {
      looks += 1;
      if (looks === 1) {
        writeFileSync(join(folder, '5'), ticket({}));
        rmSync(join(folder, '3'));
      }
      return HERE;
    }
  })();
  expect((await failureOf(() => take(folder, late))).message).toContain('run r1');
  expect(await readdir(folder)).toEqual(['5']);
});
