import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  enqueue,
  nameQueue,
  openQueue,
  type Queue,
} from '../../../../src/features/fleet/queue/enqueue.ts';
import {
  type Claim,
  type HandOut,
  handOut,
} from '../../../../src/features/fleet/queue/hand-out.ts';
import { MOST_DEATHS } from '../../../../src/features/fleet/work.ts';
import { ENV, postgresForFile } from './stage.ts';

/**
 * Workers that claim, begin, finish and die at drawn moments, on the real queue. The model knows what the queue cannot:
 * which stack kills whoever works at it, and which workers only fell silent and go on.
 */

const postgres = postgresForFile();
const STACKS = 5;
const WORKERS = 3;

type Worker = { readonly name: string; readonly out: HandOut; running: readonly Claim[] };

type Step = {
  readonly is: 'take' | 'settle' | 'put off' | 'kill' | 'silence';
  readonly worker: number;
  readonly most: number;
};

const step: fc.Arbitrary<Step> = fc.record({
  is: fc.constantFrom('take', 'take', 'take', 'settle', 'put off', 'kill', 'kill', 'silence'),
  worker: fc.nat(WORKERS - 1),
  most: fc.integer({ min: 1, max: 4 }),
});

/** Workers of a batch of which one stack may kill whoever works at it. */
async function openModel(queue: Queue, batch: string, poison: string | undefined) {
  // Each batch has a queue of its own, so that no run sees what another one left.
  const name = nameQueue(batch);
  const tasks = Array.from({ length: STACKS }, (_, at) => ({ stack: `s${at}`, digest: batch }));
  await enqueue(queue, { command: 'plan', commit: batch, flags: {}, tasks }, batch);
  let hired = 0;
  const hire = (): Worker => {
    hired += 1;
    const worker = `${batch}-w${hired}`;
    return { name: worker, out: handOut(queue, name, worker), running: [] };
  };
  const workers = Array.from({ length: WORKERS }, hire);
  /** Deaths of workers that worked at this stack and at nothing else. */
  const own = new Map<string, number>();
  /** Living workers that were taken for dead, and did not find out yet. */
  const silent = new Set<Worker>();
  let kills = 0;

  /** What a worker holds lapses, as if twelve seconds had gone by. */
  async function lapse(worker: Worker): Promise<void> {
    await queue.database.query(
      `update callsheet_queue.job set heartbeat_on = now() - interval '1 minute'
       where state = 'active' and exists (select 1 from callsheet_queue.callsheet_task t
         where t.worker = $1 and t.batch || '/' || t.number = job.singleton_key)`,
      [worker.name],
    );
    // pg-boss looks every three seconds at the most. The rows of other queues may be locked, and in another order.
    await queue.database.query(
      'update callsheet_queue.queue set monitor_claim_on = null, monitor_on = null where name = $1',
      [name],
    );
    await queue.boss.supervise(name);
  }

  async function kill(at: number): Promise<void> {
    const worker = workers[at];
    if (worker === undefined) return;
    const [only, ...others] = worker.running;
    if (only !== undefined && others.length === 0)
      own.set(only.task.stack, (own.get(only.task.stack) ?? 0) + 1);
    kills += 1;
    silent.delete(worker);
    workers[at] = hire();
    await lapse(worker);
  }

  async function finish(worker: Worker, how: 'settle' | 'put off'): Promise<void> {
    const [claim, ...rest] = worker.running;
    if (claim === undefined) return;
    worker.running = rest;
    if (how === 'settle') await worker.out.settle(claim, 0, null);
    else await worker.out.putOff(claim, 'locked', 0);
    if (rest.length === 0) silent.delete(worker);
  }

  async function take(at: number, most: number): Promise<void> {
    const worker = workers[at];
    if (worker === undefined) return;
    const claims = await worker.out.take(most, worker.running);
    const left = claims.filter(({ task }) => task.deaths >= MOST_DEATHS);
    for (const claim of left) await worker.out.settle(claim, 1, 'left alone');
    worker.running = [...worker.running, ...claims.filter((claim) => !left.includes(claim))];
    if (worker.running.some(({ task }) => task.stack === poison)) await kill(at);
  }

  return {
    workers,
    kills: () => kills,
    own: (stack: string) => own.get(stack) ?? 0,
    silent: () => silent.size,
    async run({ is, worker: at, most }: Step): Promise<void> {
      const worker = workers[at];
      if (worker === undefined) return;
      if (is === 'take') return take(at, most);
      if (is === 'kill') return kill(at);
      if (is === 'silence') {
        if (worker.running.length > 0) silent.add(worker);
        return lapse(worker);
      }
      return finish(worker, is);
    },
    /** Everybody finishes what it has, and takes more, until nothing is left. */
    async toTheEnd(): Promise<void> {
      for (let round = 0; round < 200; round += 1) {
        for (const worker of workers)
          while (worker.running.length > 0) await finish(worker, 'settle');
        const { waiting, running } = await handOut(queue, name, 'looking').left();
        if (waiting + running === 0) return;
        for (const [at] of workers.entries()) await take(at, 3);
      }
      throw new Error('the batch does not come to its end');
    },
    tasks: async () =>
      (
        await queue.database.query(
          `select stack, exit, cardinality(died) as deaths from callsheet_queue.callsheet_task
           where batch = $1 order by number`,
          [batch],
        )
      ).map(({ stack, exit, deaths }) => ({
        stack: String(stack),
        exit: exit === null ? undefined : Number(exit),
        deaths: Number(deaths),
      })),
  };
}

test('a stack loses a try only with a worker that died while it worked at nothing else', async () => {
  const options = { env: ENV, isWorker: true, onTrouble: () => {} };
  const queue = await openQueue(await postgres.database(), options);
  let batches = 0;
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 40 }),
        fc.boolean(),
        async (steps, isPoisoned) => {
          batches += 1;
          const poison = isPoisoned ? 's0' : undefined;
          const model = await openModel(queue, `batch${batches}`, poison);
          for (const one of steps) {
            await model.run(one);
            for (const { stack, deaths } of await model.tasks())
              expect(deaths, stack).toBeLessThanOrEqual(model.own(stack) + model.silent());
          }
          const before = model.kills();
          await model.toTheEnd();
          const tasks = await model.tasks();
          for (const { stack, deaths } of tasks)
            expect(deaths, stack).toBeLessThanOrEqual(model.own(stack));
          const failed = tasks.filter(({ exit }) => exit !== 0).map(({ stack }) => stack);
          const killed = (stack: string) => stack === poison || model.own(stack) >= MOST_DEATHS;
          expect(failed.filter((stack) => !killed(stack))).toEqual([]);
          // The one that kills is found: once among others, and then by itself.
          if (poison !== undefined) expect(failed).toContain(poison);
          expect(model.kills() - before).toBeLessThanOrEqual(isPoisoned ? MOST_DEATHS + 1 : 0);
        },
      ),
      { numRuns: 25 },
    );
  } finally {
    await queue.close();
  }
}, 120_000);
