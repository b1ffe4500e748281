import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { apply } from '../../../src/console/apply.ts';
import { plan } from '../../../src/console/plan.ts';
import type { StatePlace } from '../../../src/core/stores.ts';
import { stores } from '../../../src/features/stores/index.ts';
import type { State } from '../../../src/state/model.ts';
import { openStateStore } from '../../../src/state/open.ts';
import { emptyState } from '../../../src/state/replay.ts';
import type { StateStore } from '../../../src/state/store.ts';
import { openStage } from '../../apply/stage.ts';
import { longRows } from '../../long.ts';
import { began, holder, intent, outcome, resource } from '../../state/sample.ts';
import { type Servers, startServers } from '../../state/tamper/places.ts';
import { PASSWORD as HTTP_PASSWORD, USERNAME } from './http-server.ts';
import { admitAll } from './open-given.ts';
import { PASSWORD as PG_PASSWORD } from './postgres-server.ts';
import { BUCKET, KEY_ID, SECRET } from './s3-server.ts';

/** Bytes that a run costs, by store. */

let servers: Servers;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers.stop());

const MB = 1024 * 1024;
const MANY = 2_000;
const CHANGES = 200;

const PLACES: Readonly<Record<string, () => StatePlace>> = {
  GitLab: () => ({
    http: { address: `${servers.http.origin}/api/v4/projects/7/terraform/state/cost` },
    by: 'operator',
  }),
  HTTP: () => ({ http: { address: `${servers.http.origin}/plain/cost` }, by: 'operator' }),
  S3: () => ({
    s3: {
      bucket: BUCKET,
      key: 'cost.json',
      endpoint: servers.s3.endpoint,
      region: 'eu-central-1',
    },
    by: 'operator',
  }),
  PostgreSQL: () => ({
    postgres: { url: servers.postgres.url(), stack: 'cost' },
    by: 'operator',
  }),
};

const ENV = {
  GitLab: { CALLSHEET_STATE_USERNAME: USERNAME, CALLSHEET_STATE_PASSWORD: HTTP_PASSWORD },
  HTTP: { CALLSHEET_STATE_USERNAME: USERNAME, CALLSHEET_STATE_PASSWORD: HTTP_PASSWORD },
  S3: { AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET },
  PostgreSQL: { CALLSHEET_STATE_PASSWORD: PG_PASSWORD },
} as const;

const NAMES = ['GitLab', 'HTTP', 'S3', 'PostgreSQL'] as const;

function open(name: keyof typeof ENV, more: Readonly<Record<string, string>> = {}): StateStore {
  const place = PLACES[name]?.();
  if (place === undefined) throw new Error(name);
  const env = { ...ENV[name], ...more };
  return openStateStore(place, { features: [stores], env, admit: admitAll });
}

function fleet(): State {
  const names = Array.from({ length: MANY }, (_, index) => `agent.a${index}`);
  const lineage = '3f0a6f1e-8d0f-4b7e-9a51-6f6c2b1d7e10';
  const resources = Object.fromEntries(names.map((name, index) => [name, resource(`id-${index}`)]));
  return { ...emptyState(lineage), serial: 1, resources };
}

const spent = (store: StateStore) => store.traffic() ?? { sent: 0, read: 0 };

/** GitLab speaks HTTP, with locks of its own. */
test.each(longRows(NAMES, (name) => name !== 'GitLab'))(
  'a run in %s sends a part of the state for each batch, and reads it once',
  async (name) => {
    const state = fleet();
    const size = JSON.stringify(state).length;
    const first = open(name);
    const lease = await first.acquire(holder('r1'));
    await lease.commit(state);
    await first.close();

    const store = open(name);
    await store.load();
    const once = spent(store).read;
    const run = await store.acquire(holder('r2'));
    await store.load();
    const again = spent(store).read - once;
    // A server that names no version of its document sends it again: packed.
    expect(again).toBeLessThan(name === 'HTTP' ? size / 2 : size / 10);
    await run.append({ ...began('r2', 1), lineage: state.lineage });
    const before = spent(store).sent;
    for (let seq = 1; seq <= CHANGES; seq += 1) {
      await run.append(intent(seq, `agent.a${seq}`));
      await run.append(outcome(seq, `id-${seq}`));
    }
    const batches = 2 * CHANGES;
    expect((spent(store).sent - before) / batches).toBeLessThan(size / 5);
    await run.release();
    await store.close();
    expect((await open(name).load()).pending).toHaveLength(batches + 1);
  },
);

test('a batch is a heartbeat, and none is written beside it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const path = '/plain/beats';
    const place: StatePlace = {
      http: { address: `${servers.http.origin}${path}` },
      by: 'operator',
    };
    const store = openStateStore(place, { features: [stores], env: ENV.HTTP, admit: admitAll });
    const lease = await store.acquire(holder('r1'));
    const beat = () => JSON.parse(servers.http.shelfOf(path).text ?? '').ticket.beat;
    const acquired = beat();
    await new Promise((go) => setTimeout(go, 5));
    await lease.append(began('r1'));
    expect(beat()).not.toBe(acquired);
    const posts = () =>
      servers.http.requests.filter((one) => one.startsWith(`POST ${path}`)).length;
    const before = posts();
    vi.advanceTimersByTime(5_000);
    await new Promise((go) => setTimeout(go, 50));
    expect(posts()).toBe(before);
    await lease.release();
    await store.close();
  } finally {
    vi.useRealTimers();
  }
});

test('what a run would send is estimated, and refused above the bound with its setting', async () => {
  const store = open('HTTP', { CALLSHEET_STATE_TRAFFIC: '1' });
  await store.load();
  const expected = { resources: MANY, changes: 1_000 };
  const { bytes = 0, most } = (await store.estimate(expected)) ?? {};
  expect(most).toBe(MB);
  expect(bytes).toBeGreaterThan(MB);
  const lease = await store.acquire(holder('r3'));
  await expect(lease.reserve(expected)).rejects.toMatchObject({
    code: 'refused',
    hint: expect.stringMatching(/PostgreSQL or S3.*CALLSHEET_STATE_TRAFFIC/s),
  });
  await store.close();
  const raised = open('HTTP');
  const other = await raised.acquire(holder('r4'));
  await other.reserve(expected);
  await raised.close();
  for (const name of ['S3', 'PostgreSQL'] as const)
    expect(await open(name).estimate(expected)).toBeUndefined();
});

test('a plan says what its apply would send, and an apply what it sent', async () => {
  const stage = await openStage();
  onTestFinished(() => stage.close());
  const path = '/plain/said';
  const shelf = servers.http.shelfOf(path);
  const env = { ...ENV.HTTP, CALLSHEET_STATE: `${servers.http.origin}${path}` };
  const flags = { dir: stage.folder, format: 'json', autoApprove: true } as const;
  const { out } = await stage.run((to) => apply(undefined, flags, to), { env });
  expect(JSON.parse(out).state_bytes.sent).toBeGreaterThan((shelf.text ?? '').length);
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  const text = { ...flags, format: 'text' } as const;
  expect((await stage.run((to) => plan(text, to), { env })).err).not.toContain('sends about');
  // The server keeps as much as a large fleet has.
  shelf.text = `${shelf.text}${' '.repeat(3 * MB)}`;
  const small = { ...env, CALLSHEET_STATE_TRAFFIC: '1' };
  const { err } = await stage.run((to) => plan(text, to), { env: small });
  expect(err).toMatch(/sends about [\d.]+ MB .*refuses to send more than 1 MB.*PostgreSQL or S3/s);
  await stage.apply({}, { env });
});
