import { expect, test } from 'vitest';
import { freePort } from '../../../free-port.ts';
import { openStage, postgresForFile } from './stage.ts';

const postgres = postgresForFile();

type Line = { readonly event: string; readonly level: string; readonly [member: string]: unknown };

function linesIn(out: string): readonly Line[] {
  return out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

test('a worker logs what it does as JSON, and answers Prometheus and probes', async () => {
  const stage = await openStage(await postgres.database(), {
    stacks: 2,
    more: (stack) => (stack === 'clinic-001' ? 'no_such_member: 1\n' : ''),
  });
  const { out: batch } = await stage.enqueue(['apply'], { autoApprove: true });
  const port = await freePort();
  const stop = new AbortController();
  const listen = { host: '127.0.0.1', port };
  const working = stage.work(
    { untilEmpty: false, log: 'json', listen, verbose: true },
    { stop: stop.signal },
  );
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  const metrics = async () => (await get('/metrics').catch(() => undefined))?.text();
  await expect.poll(metrics).toContain('callsheet_worker_stacks_total{outcome="failed"} 1\n');
  await expect.poll(metrics).toContain('callsheet_worker_stacks_total{outcome="done"} 1\n');
  const text = String(await metrics());
  expect(text).toMatch(/callsheet_store_duration_seconds_count\{store="queue"\} [1-9]/);
  expect(text).toMatch(/callsheet_store_duration_seconds_count\{store="state"\} [1-9]/);
  expect(text).toMatch(/callsheet_api_requests_total\{status="201"\} [1-9]/);
  const health = await get('/healthz');
  expect([health.status, await health.json()]).toMatchObject([
    200,
    { status: 'ok', reason: null, queue_lost_since: null },
  ]);
  stop.abort();
  const { exit, out } = await working;
  const lines = linesIn(out);
  expect(exit).toBe(0);
  expect(lines.map(({ event }) => event).filter((event) => event !== 'waits_elsewhere')).toEqual([
    'started',
    'stack_began',
    'stack_began',
    'stack_ended',
    'stack_ended',
    'stopping',
    'stopped',
  ]);
  expect(lines.filter(({ event }) => event === 'stack_ended')).toContainEqual(
    expect.objectContaining({
      level: 'error',
      stack: 'clinic-001',
      command: 'apply',
      batch: batch.trim(),
      exit: 1,
    }),
  );
  expect(lines.at(-1)).toMatchObject({ done: 2, failed: 1, given_back: 0 });
});

test('a worker that starts while its queue is away waits for it', async () => {
  const stage = await openStage(await postgres.database(), { stacks: 1 });
  await stage.enqueue(['apply'], { autoApprove: true });
  const port = await freePort();
  const start = await postgres.end();
  const working = stage.work({ log: 'json', listen: { host: '127.0.0.1', port } });
  const health = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).json();
  await expect
    .poll(() => health().catch(() => ({})))
    .toMatchObject({
      status: 'ok',
      queue_lost_since: expect.any(String),
    });
  await start?.();
  const { exit, out } = await working;
  expect(exit).toBe(0);
  expect(linesIn(out).map(({ event }) => event)).toEqual(
    expect.arrayContaining(['queue_lost', 'queue_back', 'stack_ended', 'stopped']),
  );
});
