import { appendFileSync, cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nameQueue } from '../../../../src/features/fleet/queue/enqueue.ts';
import { handOut, type Left } from '../../../../src/features/fleet/queue/hand-out.ts';
import { longTest } from '../../../long.ts';
import { failureOf } from '../../../state/sample.ts';
import { temporaryFolder } from '../../../temporary.ts';
import { openStage, postgresForFile } from './stage.ts';

const postgres = postgresForFile();
const APPLY = ['apply'] as const;
const AGREED = { autoApprove: true } as const;

function openIn({ waiting, running }: Left): number {
  return waiting + running;
}

function temporary(): string {
  const folder = temporaryFolder();
  return folder;
}

describe('queue add, work and show', () => {
  test('apply a tree and report it as one', async () => {
    const stage = await openStage(await postgres.database(), { stacks: 5 });
    const { exit, out } = await stage.enqueue(APPLY, AGREED);
    expect(exit).toBe(0);
    const id = out.trim();
    const early = await stage.report(id);
    expect([early.exit, early.err]).toEqual([6, expect.stringContaining('5 of the 5 stacks')]);
    expect(await stage.enqueue(APPLY, AGREED)).toMatchObject({
      out: id,
      err: expect.stringContaining('Already enqueued'),
    });
    const worked = await stage.work();
    expect(worked).toMatchObject({
      exit: 0,
      out: expect.stringContaining('5 stacks done, 0 of them with a failure; 0 given back'),
    });
    expect(stage.names()).toEqual([0, 1, 2, 3, 4].map((at) => `clinic-00${at} desk 0`));
    const report = await stage.report(id);
    expect(report.exit).toBe(0);
    expect(report.out).toContain('Applied 5 stacks: 5 done');

    const waiting = stage.enqueue(['plan'], { wait: true, format: 'json', detailedExitcode: true });
    let isWaiting = true;
    void waiting.finally(() => {
      isWaiting = false;
    });
    // It may have nothing to do yet.
    while (isWaiting) await stage.work();
    const planned = await waiting;
    expect([planned.exit, JSON.parse(planned.out).totals]).toEqual([0, { unchanged: 5 }]);
  });

  test('carry out exactly the plans that were approved', async () => {
    const stage = await openStage(await postgres.database());
    const plans = join(temporary(), 'plans');
    const { out } = await stage.enqueue(['plan']);
    // A part of them is not what was planned.
    const early = await stage.report(out.trim(), { out: plans });
    expect([early.exit, early.err]).toEqual([6, expect.stringContaining('No plans were written.')]);
    expect(existsSync(plans)).toBe(false);
    await stage.work();
    expect((await stage.report(out.trim(), { out: plans })).exit).toBe(0);
    const apply = await stage.enqueue(['apply', plans]);
    await stage.work();
    const report = await stage.report(apply.out.trim(), { format: 'json' });
    expect([report.exit, JSON.parse(report.out).totals]).toEqual([0, { done: 3 }]);
    const changes = { detailedExitcode: true };
    expect((await stage.report(out.trim(), changes)).exit).toBe(2);
    expect((await stage.report(apply.out.trim(), changes)).exit).toBe(0);
    // They are spent: the same again is the batch that is done.
    expect((await stage.enqueue(['apply', plans])).out).toBe(apply.out);
  });

  test('name the queue in the command that shows the report, where a flag named it', async () => {
    const url = await postgres.database();
    const stage = await openStage(url, { stacks: 1 });
    const { out: id, err } = await stage.enqueue(['plan'], { queue: url });
    expect(err).toContain(`callsheet queue show ${id.trim()} --queue ${url} --dir`);
  });

  test('refuse plans that were changed since', async () => {
    const stage = await openStage(await postgres.database(), { stacks: 1 });
    const plans = join(temporary(), 'plans');
    const { out } = await stage.enqueue(['plan']);
    await stage.work();
    await stage.report(out.trim(), { out: plans });
    const { stacks } = JSON.parse((await stage.report(out.trim(), { format: 'json' })).out);
    writeFileSync(join(plans, 'fleet.json'), JSON.stringify({ ...stacks, stacks: [] }));
    expect((await failureOf(() => stage.enqueue(['apply', plans]))).message).toMatch(/fleet\.json/);
  });

  test('leave what another checkout has to others, and say so', async () => {
    const stage = await openStage(await postgres.database());
    const { out } = await stage.enqueue(APPLY, AGREED);
    // Another checkout of the same commit, with a change that is in none.
    const other = temporary();
    cpSync(stage.dir, other, { recursive: true });
    appendFileSync(join(other, 'clinic-001', 'agents.yaml'), '    greeting_message: Hello.\n');
    const worked = await stage.work({ dir: other });
    expect(worked.out).toContain('2 stacks done, 0 of them with a failure; 1 given back');
    expect(worked.out).toContain('its configuration differs at a worker');
    expect(stage.names()).not.toContain('clinic-001 desk 0');
    expect((await stage.report(out.trim())).exit).toBe(6);
  });

  test('keep values of variables and secrets out of the queue', async () => {
    const stage = await openStage(await postgres.database(), {
      stacks: 1,
      more: () => 'variables:\n  greeting: { default: Hello }\n',
    });
    const path = join(stage.dir, 'clinic-000', 'agents.yaml');
    appendFileSync(path, '    greeting_message: "${var.greeting}"\n');
    const given = { var: ['greeting=canary-variable'] };
    const env = { CALLSHEET_FINGERPRINT_KEY: 'canary-fingerprint-key-0123456789' };
    await stage.enqueue(APPLY, { ...AGREED, ...given }, { env });
    const without = await stage.work({}, { env });
    expect(without.out).toContain('1 given back');
    const queue = await stage.queue();
    const tables = ['job', 'callsheet_batch', 'callsheet_task', 'callsheet_budget'];
    const rows = await Promise.all(
      tables.map((table) => queue.database.query(`select * from callsheet_queue.${table}`, [])),
    );
    const dump = JSON.stringify(rows);
    expect(dump).toContain('clinic-000');
    expect(dump).not.toMatch(/canary-|simulated-secret/);
  });
});

describe('a worker', () => {
  test('may be there before anything is enqueued', async () => {
    const stage = await openStage(await postgres.database(), { stacks: 1 });
    expect((await stage.work()).out).toContain(
      '0 stacks done, 0 of them with a failure; 0 given back',
    );
    await stage.enqueue(APPLY, AGREED);
    expect((await stage.work()).out).toContain('1 stack done');
  });

  test('that is stopped gives back what it has, and ends well', async () => {
    const stage = await openStage(await postgres.database());
    await stage.enqueue(APPLY, AGREED);
    const stop = new AbortController();
    const working = stage.work({ untilEmpty: false, stacks: 1 }, { stop: stop.signal });
    const queue = await stage.queue();
    const out = handOut(queue, nameQueue(await stage.commit()), 'looking');
    await expect.poll(async () => openIn(await out.left())).toBeLessThan(3);
    stop.abort();
    expect((await working).exit).toBe(0);
    const left = openIn(await out.left());
    expect(await out.take(9, [])).toHaveLength(left);
  });

  test('whose connections are cut goes on, and loses nothing', async () => {
    const url = await postgres.database();
    const stage = await openStage(url, { stacks: 6 });
    const { out } = await stage.enqueue(APPLY, AGREED);
    const working = stage.work({ stacks: 1 });
    const queue = await stage.queue();
    const left = handOut(queue, nameQueue(await stage.commit()), 'looking').left;
    for (const most of [6, 4, 2]) {
      await expect.poll(async () => openIn(await left())).toBeLessThan(most);
      await queue.database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
        [],
      );
    }
    expect((await working).exit).toBe(0);
    expect(stage.names()).toHaveLength(6);
    expect((await stage.report(out.trim())).exit).toBe(0);
  });

  longTest('whose database is restarted, and killed, goes on and loses nothing', async () => {
    const stage = await openStage(await postgres.database(), { stacks: 6 });
    const { out } = await stage.enqueue(APPLY, AGREED);
    const working = stage.work({ stacks: 1 });
    const queue = await stage.queue();
    const left = handOut(queue, nameQueue(await stage.commit()), 'looking').left;
    for (const [most, signal] of [
      [6, 'SIGINT'],
      [3, 'SIGKILL'],
    ] as const) {
      await expect.poll(async () => openIn(await left())).toBeLessThan(most);
      await postgres.restart(signal);
    }
    expect((await working).exit).toBe(0);
    expect(stage.names()).toHaveLength(6);
    expect((await stage.report(out.trim())).exit).toBe(0);
  });

  test('keeps its stacks apart: one state for all of them is refused', async () => {
    const stage = await openStage(await postgres.database());
    const noKey = { env: { CALLSHEET_FINGERPRINT_KEY: '' } };
    await stage.enqueue(APPLY, { ...AGREED, allowDelete: true }, noKey);
    const env = { CALLSHEET_STATE: join(temporary(), 'state.json') };
    const { message } = await failureOf(() => stage.work({ stacks: 1 }, { env }));
    expect(message).toBe('CALLSHEET_STATE names one state, and queue work works on many stacks');
    expect(stage.names()).toEqual([]);
    // Others can write to the queue: a permission in it is not taken unless somebody says so at the worker.
    const refused = await stage.work({}, noKey);
    expect(refused.out).toContain(
      'the batch has --allow-delete, and this worker takes no such permission from the queue',
    );
    expect(stage.names()).toEqual([]);
    await stage.enqueue(APPLY, { ...AGREED, allowDelete: true }, noKey);
    await stage.work({ allow: ['delete'] }, noKey);
    expect(stage.names()).toHaveLength(3);
  });

  test('takes with a key what was enqueued with it, permissions included, and nothing else', async () => {
    const stage = await openStage(await postgres.database(), { stacks: 1 });
    const { query } = (await stage.queue()).database;
    const columns = {
      digest: 'callsheet_task',
      plan: 'callsheet_task',
      seal: 'callsheet_task',
      command: 'callsheet_batch',
      flags: 'callsheet_batch',
    } as const;
    const values = {
      digest: 'x',
      plan: '{}',
      seal: null,
      command: 'drift',
      flags: '{"target":[]}',
    };
    for (const [column, table] of Object.entries(columns)) {
      await stage.enqueue(APPLY, { ...AGREED, allowDelete: true });
      await query(`update callsheet_queue.${table} set ${column} = $1`, [
        values[column as keyof typeof values],
      ]);
      const { out } = await stage.work();
      expect(out, column).toMatch(
        column === 'seal' ? /has no seal, and CALLSHEET_FINGER/ : /has a seal that does not fit/,
      );
      expect(stage.names()).toEqual([]);
      await query('delete from callsheet_queue.callsheet_batch', []);
    }
    await stage.enqueue(APPLY, { ...AGREED, allowDelete: true });
    const other = { env: { CALLSHEET_FINGERPRINT_KEY: 'canary-another-key' } };
    expect((await stage.work({}, other)).out).toContain('has a seal that does not fit');
    await stage.enqueue(APPLY, { ...AGREED, allowDelete: true });
    await stage.work();
    expect(stage.names()).toHaveLength(1);
  });

  test('leaves a stack alone that five workers died at which had nothing else', async () => {
    const stage = await openStage(await postgres.database(), { stacks: 1 });
    const { out } = await stage.enqueue(APPLY, AGREED);
    const queue = await stage.queue();
    await queue.database.query(
      `update callsheet_queue.callsheet_task set suspect = true, died = '{a,b,c,d,e}'`,
      [],
    );
    expect((await stage.work()).out).toContain(
      '1 stack done, 1 of them with a failure; 0 given back',
    );
    const report = await stage.report(out.trim());
    expect(report.exit).toBe(1);
    expect(report.out).toContain('5 workers died while they worked only on this stack');
    expect(stage.names()).toEqual([]);
  });
});

test('queue add refuses what makes no sense, and says why', async () => {
  const stage = await openStage(await postgres.database(), { stacks: 1 });
  for (const { words, flags, says } of WRONG) {
    expect((await failureOf(() => stage.enqueue(words, flags))).message).toMatch(says);
  }
  expect((await failureOf(() => stage.report('x'))).message).toMatch(/has no batch x/);
});

const WRONG = [
  { words: ['apply'], flags: {}, says: /approval is needed/ },
  { words: ['drift', 'x'], flags: {}, says: /drift takes no folder/ },
  { words: ['plan'], flags: { target: ['agent.a'] }, says: /--target agent\.a/ },
  {
    words: ['drift'],
    flags: { allowDelete: true },
    says: /--allow-delete is not a flag of drift/,
  },
  { words: ['plan'], flags: { out: 'x' }, says: /--out writes the plans/ },
] as const;
