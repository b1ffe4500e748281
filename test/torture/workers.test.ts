import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openQueue } from '../../src/features/fleet/queue/enqueue.ts';
import { type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { type Outcome, type Running, start } from '../e2e/process.ts';
import { manyStacks } from '../features/fleet/queue/many-stacks.ts';
import { PASSWORD, startPostgres } from '../features/stores/postgres-server.ts';

const STACKS = 200;
const AGENTS = 2;
const WORKERS = 4;
const PER_SECOND = 25;
/** A worker dies every so often, until nothing is left to do. */
const KILL_MS = 6_000;
const LIMIT_MS = 330_000;
/** When the database of the queue and of the states goes away, and for how long. */
const OUTAGES = [
  { at: 12_000, signal: 'SIGINT', downMs: 0 },
  { at: 25_000, signal: 'SIGKILL', downMs: 10_000 },
  { at: 55_000, signal: 'SIGINT', downMs: 0 },
] as const;

const ACCOUNT = 'e7ac14dd-6755-4b7f-bb6b-7319e7f7b316';
const ORGANIZATIONS = Array.from({ length: 40 }, (_, at) => ({
  id: `3c6e0b8a-9c15-4f1d-9f0e-${String(at).padStart(12, '0')}`,
  name: `Harbor ${at}`,
}));

test(`${WORKERS} workers on one PostgreSQL do ${STACKS} stacks while they are killed and it goes away`, async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const sim = await startSimulator({
    seed: { account_id: ACCOUNT, organizations: ORGANIZATIONS },
    rateLimit: { perSecond: PER_SECOND, burst: PER_SECOND / 2 },
  });
  onTestFinished(() => sim.close());
  const root = manyStacks({
    stacks: STACKS,
    agents: AGENTS,
    organizations: ORGANIZATIONS,
    more: (stack) => `state:\n  postgres:\n    url: ${server.url()}\n    stack: ${stack}\n`,
  });
  const env = workerEnv(root, server.url(), sim);
  const all: Running[] = [];
  onTestFinished(() => {
    for (const one of all) if (one.isLeft()) one.signal('SIGKILL');
  });
  const begin = (...args: readonly string[]) => {
    const running = start(args, { cwd: root, env });
    all.push(running);
    return running;
  };

  const enqueued = await begin('queue', 'add', 'apply', '--auto-approve').ended;
  expect(enqueued.exit, told(enqueued)).toBe(0);
  const began = Date.now();
  const waiting = begin('queue', 'add', 'apply', '--auto-approve', '--wait', '--format', 'json');
  const worker = () => begin('queue', 'work', '--stacks', '3', '--concurrency', '6');
  const workers = Array.from({ length: WORKERS }, worker);
  let isDone = false;
  const ended = waiting.ended.finally(() => {
    isDone = true;
  });
  let outages = 0;
  const goingAway = (async () => {
    for (const { at, signal, downMs } of OUTAGES) {
      await Promise.race([ended, sleep(began + at - Date.now())]);
      if (isDone) return;
      const start = await server.end(signal);
      await sleep(downMs);
      await start();
      outages += 1;
    }
  })();
  let kills = 0;
  /** Workers that ended though nobody killed them. */
  const ownEnds: Outcome[] = [];
  while (!isDone && Date.now() - began < LIMIT_MS) {
    await Promise.race([ended, sleep(KILL_MS)]);
    if (isDone) break;
    const at = kills % WORKERS;
    const killed = workers[at];
    if (killed?.isLeft() === false) ownEnds.push(await killed.ended);
    killed?.signal('SIGKILL');
    workers[at] = worker();
    kills += 1;
  }
  const seconds = (Date.now() - began) / 1000;
  if (!isDone) waiting.signal('SIGTERM');
  const report = await ended;
  await goingAway;
  const requests = sim.requests.length;
  const refused = sim.requests.filter(({ status }) => status === 429).length;
  for (const one of workers) one.signal('SIGTERM');
  const ends = await Promise.all(workers.map((one) => one.ended));
  const tries = await triesOf(server.url());
  const figures = {
    stacks: STACKS,
    kills,
    outages,
    ...tries,
    seconds: Math.round(seconds),
    requests,
    perSecond: Math.round(((requests - refused) / seconds) * 10) / 10,
    refusedShare: `${((100 * refused) / requests).toFixed(2)} %`,
  };
  process.stdout.write(`workers: ${JSON.stringify(figures)}\n`);

  expect(report.exit, told(report)).toBe(0);
  const { stacks, totals } = JSON.parse(report.out);
  expect(stacks).toHaveLength(STACKS);
  expect((totals.done ?? 0) + (totals.unchanged ?? 0)).toBe(STACKS);
  expect(
    ends.map(({ exit }) => exit),
    ends.map(told).join('\n'),
  ).toEqual(ends.map(() => 0));
  const names = [...sim.store.agents.values()].map(({ record }) => record.name);
  expect(names).toHaveLength(STACKS * AGENTS);
  expect(new Set(names).size).toBe(STACKS * AGENTS);
  expect(ownEnds.map(told)).toEqual([]);
  expect(kills).toBeGreaterThan(5);
  expect(outages).toBe(OUTAGES.length);
  expect(refused / requests).toBeLessThan(0.02);

  sim.limiter.set(undefined);
  const second = await begin('plan', '--recursive', '--detailed-exitcode', '--format', 'json')
    .ended;
  expect(second.exit, second.err).toBe(0);
  expect(JSON.parse(second.out).totals).toEqual({ unchanged: STACKS });
}, 480_000);

const PAUSED = { rounds: 20, atOnce: 5, stacks: 2, agents: 10 };
/** As long as a round may take before it is given up: a lease of a paused worker ends after half a minute. */
const ROUND_MS = 240_000;

test(`a worker that is paused in mid-run makes nothing twice when it goes on, ${PAUSED.rounds} rounds`, async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const all: Running[] = [];
  onTestFinished(() => {
    for (const one of all) if (one.isLeft()) one.signal('SIGKILL');
  });
  const rounds: { madeBefore: number; made: number; doubled: number; seconds: number }[] = [];
  let next = 0;
  const inTurn = async () => {
    for (let round = next; round < PAUSED.rounds; round = next) {
      next += 1;
      rounds[round] = await pauseOnce(round, server, all);
    }
  };
  await Promise.all(Array.from({ length: PAUSED.atOnce }, inTurn));
  const doubled = rounds.reduce((sum, one) => sum + one.doubled, 0);
  for (const [at, row] of rounds.entries())
    process.stdout.write(`paused worker, round ${at + 1}: ${JSON.stringify(row)}\n`);
  process.stdout.write(`paused workers: ${JSON.stringify({ ...PAUSED, doubled })}\n`);
  expect(doubled).toBe(0);
  expect(rounds.map(({ made }) => made)).toEqual(rounds.map(() => PAUSED.stacks * PAUSED.agents));
}, 1_200_000);

/** One worker begins, is paused, and goes on once another one has done everything. */
async function pauseOnce(
  round: number,
  server: Awaited<ReturnType<typeof startPostgres>>,
  all: Running[],
) {
  const since = Date.now();
  // So slow that requests wait to be sent, and to be sent again.
  const sim = await startSimulator({
    seed: { account_id: ACCOUNT, organizations: ORGANIZATIONS },
    rateLimit: { perSecond: 6, burst: 2 },
  });
  onTestFinished(() => sim.close());
  await server.createDatabase(`round_${round}`);
  const url = server.url(`round_${round}`);
  const root = manyStacks({
    stacks: PAUSED.stacks,
    agents: PAUSED.agents,
    organizations: ORGANIZATIONS,
    more: (stack) => `state:\n  postgres:\n    url: ${url}\n    stack: ${stack}\n`,
  });
  const env = workerEnv(root, url, sim);
  const begin = (...args: readonly string[]) => {
    const running = start(args, { cwd: root, env });
    all.push(running);
    return running;
  };
  const enqueued = await begin('queue', 'add', 'apply', '--auto-approve').ended;
  expect(enqueued.exit, told(enqueued)).toBe(0);
  const work = () => begin('queue', 'work', '--until-empty', '--stacks', '2');
  const paused = work();
  const madeBefore = 1 + (round % 12);
  while (sim.store.agents.size < madeBefore && paused.isLeft()) await sleep(5);
  paused.signal('SIGSTOP');
  const other = await within(work(), ROUND_MS);
  expect(other.exit, told(other)).toBe(0);
  paused.signal('SIGCONT');
  // It ends by itself, as nothing is left: what it still had in hand is sent by then, or never.
  const resumed = await within(paused, ROUND_MS / 4);
  expect(resumed.exit, told(resumed)).not.toBeNull();
  const names = [...sim.store.agents.values()].map(({ record }) => record.name);
  const made = new Set(names).size;
  await sim.close();
  const seconds = Math.round((Date.now() - since) / 1000);
  return { madeBefore, made, doubled: names.length - made, seconds };
}

/** How a command ended, which is killed where it takes longer. */
async function within(running: Running, ms: number): Promise<Outcome> {
  const timer = setTimeout(() => running.signal('SIGKILL'), ms);
  try {
    return await running.ended;
  } finally {
    clearTimeout(timer);
  }
}

function workerEnv(home: string, queue: string, sim: Simulator) {
  return {
    PATH: process.env.PATH,
    HOME: home,
    CALLSHEET_QUEUE: queue,
    CALLSHEET_STATE_PASSWORD: PASSWORD,
    CALLSHEET_FINGERPRINT_KEY: 'a-key-for-this-test-alone-0123456789',
    CALLSHEET_BASE_URL: sim.url,
    CALLSHEET_CLIENT_ID: sim.clientId,
    CALLSHEET_CLIENT_SECRET: sim.clientSecret,
  };
}

/** How often stacks were handed out, and what the deaths of workers cost them. */
async function triesOf(url: string) {
  const env = { CALLSHEET_QUEUE_PASSWORD: PASSWORD };
  const queue = await openQueue(url, { env, isWorker: false, onTrouble: () => {} });
  try {
    const [row] = await queue.database.query(
      `select sum(attempts)::int as handed, count(*) filter (where suspect)::int as suspects,
              max(cardinality(died)) as most from callsheet_queue.callsheet_task`,
      [],
    );
    return { handedOut: row?.handed, workedAtAlone: row?.suspects, mostDeathsOfOne: row?.most };
  } finally {
    await queue.close();
  }
}

function told({ args, exit, out, err }: Outcome): string {
  return `callsheet ${args.join(' ')} (exit ${exit})\n${out.slice(-2000)}${err.slice(-6000)}`;
}
