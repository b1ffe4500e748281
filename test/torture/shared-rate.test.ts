import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openBudget } from '../../src/features/fleet/queue/budget.ts';
import { openQueue } from '../../src/features/fleet/queue/enqueue.ts';
import { createLimiter } from '../../src/simulator/rate-limit.ts';
import { PASSWORD, startPostgres } from '../features/stores/postgres-server.ts';

let server: Awaited<ReturnType<typeof startPostgres>>;
const ENV = { CALLSHEET_QUEUE_PASSWORD: PASSWORD };

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** Requests of a process under way at once. */
const AT_ONCE = 8;
const LATENCY_MS = 20;

/** A machine with connections of its own, that sends as many requests as its budget lets it. */
async function machine(refuse: () => boolean) {
  const queue = await openQueue(server.url(), { env: ENV, isWorker: false, onTrouble: () => {} });
  const budget = openBudget(queue.database, { baseUrl: 'https://api.test', account: 'a' });
  onTestFinished(() => queue.close());
  let isOver = false;
  const told = { taken: 0, refused: 0 };
  const loops = Array.from({ length: AT_ONCE }, async () => {
    while (!isOver) {
      const sentAt = await budget
        .turn({ patience: 60_000, stop: new AbortController().signal })
        .then(
          () => Date.now(),
          () => undefined,
        );
      if (sentAt === undefined) return;
      const isRefused = refuse();
      await sleep(LATENCY_MS);
      told[isRefused ? 'refused' : 'taken'] += 1;
      budget.heard({ sentAt, at: Date.now(), ...(isRefused ? { pause: 100 } : {}) });
    }
  });
  return {
    told,
    /** It is gone in the middle of what it does, and tells nobody. */
    die: () => {
      isOver = true;
    },
    async end() {
      isOver = true;
      await budget.close();
      await Promise.all(loops);
    },
  };
}

test('four machines stay below one limit together, and take over what a dead one had', async () => {
  const limiter = createLimiter(() => new Date(), { perSecond: 150, burst: 20 });
  const machines: Awaited<ReturnType<typeof machine>>[] = [];
  const refuse = () => limiter.enter().refused !== undefined;
  const sum = (what: 'taken' | 'refused') =>
    machines.reduce((all, { told }) => all + told[what], 0);
  /** What they take a second, and how much of what they send is refused. */
  async function measure(milliseconds: number) {
    const before = { taken: sum('taken'), refused: sum('refused'), at: Date.now() };
    await sleep(milliseconds);
    const seconds = (Date.now() - before.at) / 1000;
    const [taken, refused] = [sum('taken') - before.taken, sum('refused') - before.refused];
    return { perSecond: taken / seconds, refused: refused / (refused + taken) };
  }

  machines.push(await machine(refuse));
  await sleep(1500);
  // As much as this machine can do: a busy one does less.
  const alone = await measure(2500);
  for (let at = 1; at < 4; at += 1) machines.push(await machine(refuse));
  await sleep(1500);
  machines[0]?.die();
  machines[1]?.die();
  const left = await measure(2500);
  for (const one of machines) await one.end();
  expect(left.perSecond).toBeGreaterThan(alone.perSecond * 0.7);
  expect(left.refused).toBeLessThan(0.05);
});
