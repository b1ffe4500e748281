// How long it takes to make an entry of a run's journal durable, beside a small and a large state. The
// journal is written at its end alone, so that the size of the state must not matter: node bench/journal.ts
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileStore } from '../src/state/file/store.ts';
import type { IntentRecorded, RunBegan } from '../src/state/journal.ts';
import type { ResourceState, State } from '../src/state/model.ts';
import { emptyState } from '../src/state/replay.ts';

const SIZES = [10, 100_000];
const APPENDS = 500;
const LINEAGE = '8f0f7c52-6d0a-4a53-9a4e-0a1f5a6f2b11';

function resource(index: number): ResourceState {
  return {
    kind: 'agent',
    id: `agent-${index}`,
    scope: { organization_id: 'organization-1' },
    name: `Agent ${index}`,
    leaves: {
      name: { value: `Agent ${index}` },
      model: { value: 'alpha-4.1' },
      system_prompt: { digest: `sha256:${'0a'.repeat(32)}` },
    },
    pin: { digest: `sha256:${'0b'.repeat(32)}`, updated_at: null, history_id: index },
    protect: false,
  };
}

function stateOf(size: number): State {
  const resources = Array.from({ length: size }, (_, index) => [
    `agent.a${index}`,
    resource(index),
  ]);
  return { ...emptyState(LINEAGE), serial: 1, resources: Object.fromEntries(resources) };
}

function began(run: string): RunBegan {
  const at = new Date().toISOString();
  const actor = { user: null, host: null, pid: process.pid, commit: null, pipeline: null };
  const origin = { account_id: '', base_url: '', lineage: LINEAGE, serial: 1 };
  return {
    type: 'began',
    run,
    at,
    purpose: 'apply',
    actor,
    plan_digest: '',
    config_digest: '',
    ...origin,
  };
}

function intent(seq: number): IntentRecorded {
  const at = new Date().toISOString();
  const what = { address: `agent.a${seq}`, step: 'update', operation: 'updateAgent' } as const;
  return { type: 'intent', seq, at, ...what, id: `agent-${seq}`, fields: ['system_prompt'] };
}

/** Milliseconds of each append, one after the other, so that none shares a sync with another. */
async function measure(folder: string, size: number): Promise<readonly number[]> {
  const store = openFileStore(join(folder, String(size), 'state.json'));
  const holder = { run: 'bench', command: 'bench', user: null, host: hostname(), pid: process.pid };
  const lease = await store.acquire({ ...holder, since: new Date().toISOString() });
  await lease.commit(stateOf(size));
  await lease.append(began('bench'));
  const times: number[] = [];
  for (let seq = 1; seq <= APPENDS; seq += 1) {
    const start = performance.now();
    await lease.append(intent(seq));
    times.push(performance.now() - start);
  }
  await store.close();
  return times.sort((a, b) => a - b);
}

const folder = await mkdtemp(join(tmpdir(), 'callsheet-bench-'));
try {
  console.log(`${APPENDS} appends, each synced, in milliseconds`);
  for (const size of SIZES) {
    const times = await measure(folder, size);
    const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(3);
    console.log(`${String(size).padStart(7)} resources   median ${at(0.5)}   p99 ${at(0.99)}`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
