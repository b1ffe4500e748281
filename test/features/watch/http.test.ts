import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import parsePrometheus from 'parse-prometheus-text-format';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseListenAddress } from '../../../src/console/flags.ts';
import { serveRoutes } from '../../../src/console/monitor/serve.ts';
import { hookSecret, LARGEST_BODY } from '../../../src/console/notify.ts';
import { isLoopback } from '../../../src/core/origin.ts';
import { openMetrics } from '../../../src/features/watch/events.ts';
import { buildRoutes } from '../../../src/features/watch/watch.ts';
import { watchHealth } from '../../../src/features/watch/watched.ts';
import { stateWith } from '../../state/sample.ts';

const SECRET = 'canary-hook-secret-9f1e';
const MINUTE = 60_000;

async function opened({ secret }: { readonly secret: string | undefined } = { secret: SECRET }) {
  let now = Date.parse('2026-11-22T00:00:00Z');
  let triggers = 0;
  const lines: object[] = [];
  const metrics = openMetrics('clinic', { version: '1.2.3' }, new Date(now));
  const health = watchHealth({ interval: 5 * MINUTE, version: '1.2.3', now: () => new Date(now) });
  const debounce = {
    trigger() {
      triggers += 1;
    },
  };
  const log = (event: object) => void lines.push(event);
  const routes = buildRoutes({ health, metrics, debounce, secret, log });
  const served = await serveRoutes({ host: '127.0.0.1', port: 0 }, routes);
  onTestFinished(served.close);
  const url = `http://${served.at}`;
  return {
    url,
    at: served.at,
    metrics,
    health,
    lines,
    triggers: () => triggers,
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
    hook: (headers: Record<string, string>, body = BODY) =>
      fetch(`${url}/hook`, { method: 'POST', headers, body }),
  };
}

const BODY = '{"ref":"refs/heads/main"}';
const signed = (secret: string, body = BODY) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

describe('a webhook', () => {
  const rows: readonly (readonly [string, Record<string, string>, number, number])[] = [
    ['signed as GitHub does', { 'x-hub-signature-256': signed(SECRET) }, 202, 1],
    [
      'a ping of GitHub',
      { 'x-hub-signature-256': signed(SECRET), 'x-github-event': 'ping' },
      202,
      0,
    ],
    ['with the token of GitLab', { 'x-gitlab-token': SECRET }, 202, 1],
    ['with neither', {}, 401, 0],
    ['signed with another secret', { 'x-hub-signature-256': signed('another') }, 401, 0],
    ['signed for another body', { 'x-hub-signature-256': signed(SECRET, '{}') }, 401, 0],
    [
      'signed in capitals, which GitHub never does',
      { 'x-hub-signature-256': signed(SECRET).toUpperCase() },
      401,
      0,
    ],
    [
      'signed without a scheme',
      { 'x-hub-signature-256': signed(SECRET).replace('sha256=', '') },
      401,
      0,
    ],
    ['with another token', { 'x-gitlab-token': `${SECRET}x` }, 401, 0],
    ['with an empty token', { 'x-gitlab-token': '' }, 401, 0],
    [
      'with the right token and a wrong signature',
      { 'x-gitlab-token': SECRET, 'x-hub-signature-256': signed('another') },
      401,
      0,
    ],
  ];
  test.each(rows)('%s', async (_, headers, status, triggers) => {
    const stage = await opened();
    const answer = await stage.hook(headers);
    const said = await answer.text();
    expect([answer.status, stage.triggers()]).toEqual([status, triggers]);
    expect(`${said}${JSON.stringify(stage.lines)}`).not.toContain(SECRET);
    expect((await stage.metrics.expose()).text).toContain(
      `callsheet_hooks_total{status="${status}"} 1\n`,
    );
  });

  test("is signed as in GitHub's own example", async () => {
    const { hook } = await opened({ secret: "It's a Secret to Everybody" });
    const digest = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    const answer = await hook({ 'x-hub-signature-256': `sha256=${digest}` }, 'Hello, World!');
    expect(answer.status).toBe(202);
  });

  test('that is too large is refused before it is read', async () => {
    const { at, triggers } = await opened();
    const [host, port] = at.split(':');
    const socket = connect(Number(port), host);
    socket.write(
      `POST /hook HTTP/1.1\r\nhost: x\r\nx-gitlab-token: ${SECRET}\r\ncontent-length: ${LARGEST_BODY + 1}\r\n\r\n{`,
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 .*connection: close/s);
    expect(triggers()).toBe(0);
  });

  test('has nowhere to go without a secret', async () => {
    const { hook, triggers } = await opened({ secret: undefined });
    expect((await hook({ 'x-gitlab-token': '' })).status).toBe(404);
    expect(triggers()).toBe(0);
  });

  test('needs a secret that cannot be guessed', () => {
    const VARIABLE = 'CALLSHEET_HOOK_SECRET';
    expect(hookSecret({}, VARIABLE)).toBeUndefined();
    expect(hookSecret({ [VARIABLE]: '' }, VARIABLE)).toBeUndefined();
    expect(hookSecret({ [VARIABLE]: SECRET }, VARIABLE)).toBe(SECRET);
    expect(() => hookSecret({ [VARIABLE]: 'short' }, VARIABLE)).toThrow(/less than 16/);
  });
});

describe('what there is', () => {
  const rows: readonly (readonly [string, string, number, string | null])[] = [
    ['GET', '/healthz', 200, null],
    ['HEAD', '/healthz', 200, null],
    ['GET', '/healthz?verbose=1', 200, null],
    ['GET', '/metrics', 200, null],
    ['POST', '/healthz', 405, 'GET, HEAD'],
    ['DELETE', '/metrics', 405, 'GET, HEAD'],
    ['GET', '/hook', 405, 'POST'],
    ['GET', '/', 404, null],
    ['GET', '/healthz/', 404, null],
    ['GET', '/constructor', 404, null],
    ['GET', '/%2e%2e/etc/passwd', 404, null],
  ];
  test.each(rows)('%s %s: %i', async (method, path, status, allow) => {
    const { url } = await opened();
    const answer = await fetch(`${url}${path}`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([status, allow]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

test('health fails once no pass has ended for three intervals, and says why', async () => {
  const { url, health, advance } = await opened();
  const ask = async () => {
    const answer = await fetch(`${url}/healthz`);
    return { code: answer.status, report: await answer.json() };
  };
  expect(await ask()).toMatchObject({ code: 200, report: { status: 'ok', last_pass_at: null } });
  advance(14 * MINUTE);
  health.passBegan();
  health.passEnded([]);
  advance(15 * MINUTE);
  expect(await ask()).toMatchObject({ code: 200, report: { reason: null } });
  advance(1000);
  expect(await ask()).toMatchObject({
    code: 503,
    report: {
      status: 'failing',
      reason: 'no pass has ended for 15 min 1 s, longer than 15 min',
      last_pass_at: '2026-11-22T00:14:00.000Z',
    },
  });
  // Passes that fail are passes: a restart would not bring the platform back.
  const failures = [{ stack: 'clinic', kind: 'network' as const, passes: 4 }];
  health.passEnded(failures);
  advance(15 * MINUTE);
  expect(await ask()).toMatchObject({ code: 200, report: { failures } });
});

test('metrics are what another program reads as Prometheus text', async () => {
  const { url, metrics } = await opened();
  const seen = { compared: 8, drifted: 2, unready: 0, pending: 1, healed: 1, contested: 0 };
  const verdicts = { ok: 3, held: 0, refused: 1, unsupported: 0 };
  const at = new Date('2026-11-22T00:00:00Z');
  metrics.passEnded({
    outcome: 'done',
    seconds: 0.7,
    at,
    seen: { ...seen, verdicts, state: stateWith({}) },
  });
  metrics.passEnded({
    outcome: 'failed',
    seconds: 40,
    at: new Date(at.getTime() + 1000),
  });
  metrics.healEnded('done');
  metrics.notified(false);
  const answer = await fetch(`${url}/metrics`);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const exposed = await answer.text();
  const families = parsePrometheus(exposed);
  const named = new Map(families.map((family) => [family.name, family]));
  const values = (name: string) => named.get(`callsheet_${name}`)?.metrics;
  expect(families.filter(({ help, type }) => help === '' || type === 'UNTYPED')).toEqual([]);
  expect(values('passes_total')).toEqual([
    { value: '1', labels: { stack: 'clinic', outcome: 'done' } },
    { value: '1', labels: { stack: 'clinic', outcome: 'failed' } },
    { value: '0', labels: { stack: 'clinic', outcome: 'postponed' } },
  ]);
  expect(values('pass_duration_seconds')).toMatchObject([
    { buckets: { '0.5': '0', '1': '1', '60': '2', '+Inf': '2' } },
  ]);
  expect(exposed).toContain('callsheet_pass_duration_seconds_sum{stack="clinic"} 40.7\n');
  expect(values('last_success_timestamp_seconds')?.[0]?.value).toBe(String(at.getTime() / 1000));
  expect(values('last_pass_timestamp_seconds')?.[0]?.value).toBe(String(at.getTime() / 1000 + 1));
  expect(values('drifted_resources')?.[0]?.value).toBe('2');
  expect(values('planned_changes')).toContainEqual({
    value: '1',
    labels: { stack: 'clinic', verdict: 'refused' },
  });
  expect(values('build_info')).toEqual([{ value: '1', labels: { version: '1.2.3' } }]);
  expect(named.get('process_resident_memory_bytes')?.type).toBe('GAUGE');
});

test('a name of a stack breaks no line', async () => {
  const metrics = openMetrics('a"\\\nb', { version: '1' }, new Date());
  const families = parsePrometheus((await metrics.expose()).text);
  const passes = families.find(({ name }) => name === 'callsheet_passes_total');
  expect(passes?.metrics.map(({ labels }) => labels?.stack)).toEqual(Array(3).fill('a"\\\nb'));
});

test.each([
  ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }, true],
  ['[::1]:0', { host: '::1', port: 0 }, true],
  ['localhost:80', { host: 'localhost', port: 80 }, true],
  ['0.0.0.0:9464', { host: '0.0.0.0', port: 9464 }, false],
  ['[::]:9464', { host: '::', port: 9464 }, false],
  ['127.0.0.1.example.test:1', { host: '127.0.0.1.example.test', port: 1 }, false],
  [':9464', undefined, false],
  ['9464', undefined, false],
  ['127.0.0.1', undefined, false],
  ['::1:9464', undefined, false],
  ['127.0.0.1:65536', undefined, false],
] as const)('an address to listen on: %s', (written, address, loopback) => {
  const parsed = parseListenAddress(written);
  expect(parsed).toEqual(address);
  if (parsed !== undefined) expect(isLoopback({ hostname: parsed.host })).toBe(loopback);
});
