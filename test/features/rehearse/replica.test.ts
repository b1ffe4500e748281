import { expect, onTestFinished, test } from 'vitest';
import { Origin } from '../../../src/core/origin.ts';
import { replicate } from '../../../src/features/rehearse/seed.ts';
import { createReader } from '../../../src/live/reader.ts';
import { createClient } from '../../../src/platform/client.ts';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../../src/simulator/index.ts';
import type { ContentRecord } from '../../../src/snapshot/format.ts';
import { readAccount } from '../../../src/snapshot/read-account.ts';

async function open(options: SimulatorOptions): Promise<Simulator> {
  const sim = await startSimulator(options);
  onTestFinished(() => sim.close());
  return sim;
}

/** Everything readable of a platform, sensitive values included. */
async function read(sim: Simulator): Promise<readonly ContentRecord[]> {
  const client = createClient({
    origin: Origin.given(sim.url),
    credentials: { clientId: sim.clientId, clientSecret: sim.clientSecret },
    concurrency: 8,
    openFile: () => Promise.reject(new Error('nothing is uploaded')),
  });
  try {
    const me = await client.call({ operation: 'getMe' });
    const records: ContentRecord[] = [];
    for await (const record of readAccount({
      client,
      reader: createReader(client, me),
      me,
      organization: undefined,
      known: {
        organizations: [],
        knowledgeBases: [...sim.store.knowledgeBases.keys()],
        ids: () => [],
      },
      ahead: 16,
      now: new Date(),
      sensitive: true,
      owner: () => undefined,
    }))
      records.push(record);
    return records;
  } finally {
    await client.close();
  }
}

/** Records without what a copy cannot have: its history, and the limits of a payment tool that is off. */
function comparable(records: readonly ContentRecord[]) {
  return records
    .map((one) => (one.type === 'resource' ? { ...one, history: null } : one))
    .map((one) => JSON.stringify(one, sortedMembers))
    .sort();
}

function sortedMembers(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

test('a copy answers as the platform that it was made from, down to locks on three levels', async () => {
  const original = await open({
    resellers: 2,
    organizations: 5,
    agents: 40,
    seed: { account_id: 'a' },
  });
  const [reseller] = original.store.resellers.keys();
  const [organization] = original.store.organizations.keys();
  original.lock('account', '', 'card_payments');
  original.lock('reseller', reseller ?? '', 'llm.alpha-4o');
  original.lock('organization', organization ?? '', 'custom_voices');
  const records = await read(original);
  const { seed, copied } = replicate(records, {
    account: 'a',
    organizations: {},
    knowledgeBases: [...original.store.knowledgeBases.values()].map(({ id, organizationId }) => ({
      id,
      organization: organizationId,
    })),
    merchants: new Map(),
    level: undefined,
  });
  expect(copied.agent).toBe(40);
  const copy = await open({ seed });
  expect(comparable(await read(copy))).toEqual(comparable(records));
});

test('a platform with models and features of its own has them in the copy', async () => {
  const organization = { id: '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11', name: 'Harbor' };
  const features = [
    { key: 'llm.zeta-9', name: 'Zeta', description: '', category: 'LLM_MODEL' },
    { key: 'custom_voices', name: 'Voices', description: '', category: 'CAPABILITY' },
  ];
  const original = await open({
    seed: {
      account_id: 'a',
      organizations: [organization],
      features,
      llm_models: [{ id: 'zeta-8' }, { id: 'zeta-9' }],
      stt_providers: [{ id: 'ears' }],
      locks: ['llm.zeta-9'],
    },
  });
  const beside = {
    account: 'a',
    organizations: {},
    knowledgeBases: [],
    merchants: new Map(),
    level: undefined,
  };
  const { seed } = replicate(await read(original), beside);
  expect(seed.llm_models?.map(({ id }) => id)).toEqual(['zeta-8', 'zeta-9']);
  expect(seed.stt_providers?.map(({ id }) => id)).toEqual(['ears']);
  expect(seed.features).toEqual(features);
  const copy = await open({ seed });
  expect(comparable(await read(copy))).toEqual(comparable(await read(original)));
});
