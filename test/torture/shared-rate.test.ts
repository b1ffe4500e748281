import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openBudget } from '../../src/queue/budget.ts';
import { openQueue } from '../../src/queue/open.ts';
import { createLimiter } from '../../src/simulator/rate-limit.ts';
import { PASSWORD, startPostgres } from '../stores/postgres-server.ts';

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
      const sentAt = await budget.turn(60_000).then(
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
  const PER_SECOND = 150;
  const limiter = createLimiter(() => new Date(), { perSecond: PER_SECOND, burst: 20 });
  const machines: Awaited<ReturnType<typeof machine>>[] = [];
  const refuse = () => limiter.enter().refused !== undefined;
  for (let at = 0; at < 4; at += 1) machines.push(await machine(refuse));
  const sum = (what: 'taken' | 'refused') =>
    machines.reduce((all, { told }) => all + told[what], 0);
  await sleep(1500);
  const before = { taken: sum('taken'), refused: sum('refused') };
  machines[0]?.die();
  machines[1]?.die();
  const start = Date.now();
  await sleep(2500);
  const seconds = (Date.now() - start) / 1000;
  const taken = sum('taken') - before.taken;
  const refused = sum('refused') - before.refused;
  for (const one of machines) await one.end();
  expect(taken / seconds).toBeGreaterThan(PER_SECOND * 0.7);
  expect(refused / (refused + taken)).toBeLessThan(0.05);
});
