import { describe, expect, test } from 'vitest';
import type { Context } from '../../../../src/console/context.ts';
import { nameQueue } from '../../../../src/features/fleet/queue/enqueue.ts';
import { handOut } from '../../../../src/features/fleet/queue/hand-out.ts';
import { problemsOf } from '../../../documents.ts';
import { failureOf } from '../../../state/sample.ts';
import { openStage, postgresForFile } from './stage.ts';

/** Who waits for a batch hears whether anybody works at it, and does not wait for ever. */

const postgres = postgresForFile();
const OTHER = 'f'.repeat(40);

/** A clock on which each sleep passes at once. */
function fastClock(): Pick<Context, 'now' | 'pause'> {
  let offset = 0;
  return {
    now: () => new Date(Date.now() + offset),
    pause: {
      random: () => 0.5,
      async sleep(milliseconds) {
        offset += milliseconds;
        await new Promise((done) => setTimeout(done, 1));
      },
    },
  };
}

type Asks = 'nobody' | 'another commit' | 'its commit';
type Row = { readonly asks: Asks; readonly lines: number; readonly names: string };

describe.each<Row>([
  { asks: 'nobody', lines: 4, names: 'No other asks either' },
  { asks: 'another commit', lines: 4, names: 'Others ask for ffffffffffff' },
  { asks: 'its commit', lines: 0, names: '' },
])('where $asks asks', ({ asks, lines, names }) => {
  const ways = ['queue add --wait', 'queue show --wait'] as const;
  test.each(ways)('%s says so each half minute, and ends with 6 at its timeout', async (way) => {
    const stage = await openStage(await postgres.database(), { stacks: 2 });
    const queue = await stage.queue();
    const commit = await stage.commit();
    const at = { nobody: undefined, 'another commit': OTHER, 'its commit': commit }[asks];
    if (at !== undefined) await handOut(queue, nameQueue(at), 'w1').ask();
    const flags = { wait: true, timeout: 135_000 };
    const clock = fastClock();
    const ended =
      way === 'queue add --wait'
        ? await stage.enqueue(['plan'], flags, { clock })
        : await stage.report((await stage.enqueue(['plan'])).out.trim(), flags, { clock });
    const said =
      ended.err.match(/2 stacks wait, and no worker of commit [0-9a-f]{12} asks.*/g) ?? [];
    expect(said).toHaveLength(lines);
    for (const line of said) expect(line).toContain(names);
    expect(ended.err).toMatch(/waited for 2 min.* continues in the background/);
    expect(ended.err).toContain('2 of the 2 stacks');
    expect(ended.exit).toBe(6);
  });
});

test('a timeout alone is refused', async () => {
  const stage = await openStage(await postgres.database(), { stacks: 1 });
  for (const work of [
    () => stage.enqueue(['plan'], { timeout: 1_000 }),
    () => stage.report('b', { timeout: 1_000 }),
  ])
    expect(await failureOf(work)).toMatchObject({
      code: 'usage',
      message: '--timeout needs --wait',
    });
});

test.each(['text', 'json'])(
  'what is worked on is shown with its run, worker and try (%s)',
  async (format) => {
    const stage = await openStage(await postgres.database(), { stacks: 1 });
    const id = (await stage.enqueue(['apply'], { autoApprove: true })).out.trim();
    const queue = await stage.queue();
    const hand = handOut(queue, nameQueue(await stage.commit()), 'worker-7');
    const [claim] = await hand.take(1, []);
    if (claim === undefined) throw new Error('nothing was handed out');
    const shown = async () => {
      const { exit, out, err } = await stage.report(id, { format });
      expect(exit).toBe(6);
      if (format === 'text') return err;
      const document = JSON.parse(out);
      expect(await problemsOf('callsheet-fleet', document)).toEqual([]);
      expect(document.working).toHaveLength(1);
      const [{ path, worker, run, attempts, since }] = document.working;
      return `${path} is being worked on: worker ${worker}, ${run === null ? 'no run yet' : `run ${run}`}, try ${attempts}, since ${since}`;
    };
    const since = String.raw`since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
    const before = 'clinic-000 is being worked on: worker worker-7,';
    expect(await shown()).toMatch(new RegExp(`${before} no run yet, try 1, ${since}`));
    await hand.noteRun(claim, 'run-1');
    expect(await shown()).toMatch(new RegExp(`${before} run run-1, try 1, ${since}`));
    await hand.putOff(claim, 'later', 0);
    await hand.take(1, []);
    expect(await shown()).toMatch(new RegExp(`${before} no run yet, try 2, ${since}`));
  },
);

test('a worker writes down that it asks, and the run that it begins', async () => {
  const stage = await openStage(await postgres.database(), { stacks: 1 });
  await stage.enqueue(['apply'], { autoApprove: true });
  expect((await stage.work()).exit).toBe(0);
  const { query } = (await stage.queue()).database;
  const [task] = await query('select run, since, worker from callsheet_queue.callsheet_task', []);
  expect(task).toMatchObject({
    run: expect.stringMatching(/^\d{8}t\d{6}z-/),
    since: expect.anything(),
  });
  const asking = await query('select queue, worker from callsheet_queue.callsheet_worker', []);
  expect(asking).toEqual([{ queue: nameQueue(await stage.commit()), worker: task?.worker }]);
});
