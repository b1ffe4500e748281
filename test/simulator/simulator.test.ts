import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { operations } from '../../src/api/operations.generated.ts';
import { CallsheetError } from '../../src/core/errors.ts';
import { type Fault, readSeed } from '../../src/simulator/index.ts';
import { createWorld, IDS, SEED, section } from './world.ts';

const getDesk = { path: { agentId: IDS.desk } };
const update = { ...getDesk, body: { greetingMessage: 'Hello' } };

describe('faults', () => {
  section('Errors', [
    {
      rule: 'a storm of 429 with Retry-After ends',
      does: async ({ sim, call }) => {
        sim.faults.add({
          operation: 'getAgent',
          times: 2,
          status: 429,
          headers: { 'retry-after': '1' },
        });
        for (let count = 0; count < 2; count += 1) {
          const reply = await call('getAgent', getDesk);
          expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '1']);
        }
        return call('getAgent', getDesk);
      },
      status: 200,
      also: ({ sim }) => expect(sim.faults.pending()).toBe(0),
    },
    {
      rule: 'a fault may let some pass, and strike one path only',
      does: async ({ sim, call }) => {
        const body = { error: 'temporarily_unavailable', error_description: 'Try again' };
        sim.faults.add({ operation: '*', path: IDS.desk, skip: 1, status: 500, body });
        expect((await call('getAgent', getDesk)).status).toBe(200);
        expect((await call('getAgent', { path: { agentId: IDS.recall } })).status).toBe(200);
        return call('getAgent', getDesk);
      },
      status: 500,
      body: { error: 'temporarily_unavailable' },
    },
  ]);

  test.each([
    { reset: 'before', greeting: 'Harbor Dental.' },
    { reset: 'after', greeting: 'Hello' },
  ] satisfies { reset: Fault['reset']; greeting: string }[])(
    'a connection that breaks $reset the update leaves $greeting',
    async ({ reset, greeting }) => {
      await using world = await createWorld({ seed: SEED });
      world.sim.faults.add({ operation: 'updateAgent', reset });
      await expect(world.call('updateAgent', update)).rejects.toThrow();
      expect(world.sim.store.agents.get(IDS.desk)?.record.greeting_message).toBe(greeting);
      expect(world.sim.requests.at(-1)).toMatchObject({ operation: 'updateAgent', status: 0 });
    },
  );

  test('a delay comes before everything else', async () => {
    await using world = await createWorld({ seed: SEED });
    await world.call('getMe');
    world.sim.faults.add({ operation: 'updateAgent', delayMs: 40 });
    const slow = world.call('updateAgent', update);
    await world.call('getAgent', getDesk);
    await slow;
    const order = world.sim.requests.slice(-2).map(({ operation }) => operation);
    expect(order).toEqual(['getAgent', 'updateAgent']);
  });
});

test('requests are remembered with their bodies', async () => {
  await using world = await createWorld({ seed: SEED });
  await world.call('updateAgent', update);
  expect(world.sim.requests.at(-1)).toEqual({
    method: 'PUT',
    path: `/v1/agents/${IDS.desk}`,
    operation: 'updateAgent',
    authorized: true,
    status: 200,
    body: { greetingMessage: 'Hello' },
    at: expect.any(String),
  });
});

test('an address that is none answers 404 in the coded shape', async () => {
  await using world = await createWorld({ seed: SEED });
  const { statusCode, body } = await request(`${world.sim.url}/v1/nothing`);
  expect([statusCode, await body.json()]).toMatchObject([404, { error: 'not_found' }]);
});

test('a body that is no JSON is a bad request', async () => {
  await using world = await createWorld({ seed: SEED });
  const { statusCode, body } = await request(`${world.sim.url}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{',
  });
  expect([statusCode, await body.json()]).toMatchObject([400, { error: 'invalid_request' }]);
});

test('every operation of the table is there: none of them is an unknown address', async () => {
  await using world = await createWorld({ seed: SEED });
  for (const { method, path } of Object.values(operations)) {
    const url = world.sim.url + path.replaceAll(/\{\w+\}/g, '1');
    await (await request(url, { method })).body.dump();
  }
  expect(world.sim.requests.map(({ operation }) => operation)).toEqual(Object.keys(operations));
});

describe('fleets', () => {
  test('the same number gives the same account, spread over five organizations', async () => {
    const dumps = await Promise.all(
      [0, 1].map(async () => {
        await using world = await createWorld({
          agents: 12,
          now: () => new Date('2026-01-01T00:00:00Z'),
        });
        expect(world.sim.organizations).toHaveLength(5);
        return JSON.stringify(world.sim.dump());
      }),
    );
    expect(dumps[0]).toBe(dumps[1]);
  });

  test('the agents that it makes can be saved again as they are', async () => {
    await using world = await createWorld({ agents: 5 });
    for (const { id, record } of world.sim.store.agents.values()) {
      const body = { systemPrompt: record.system_prompt, voiceSettings: record.voice_settings };
      expect((await world.call('updateAgent', { path: { agentId: id }, body })).status).toBe(200);
    }
  });
});

describe('seeds', () => {
  test('the seed of the documentation can be planted', async () => {
    const text = readFileSync(new URL('../../docs/simulator.md', import.meta.url), 'utf8');
    const seed = readSeed(/```yaml\n(.*?)```/s.exec(text)?.[1] ?? '');
    await using world = await createWorld({ seed });
    expect((await world.call('listAgents')).body).toMatchObject({ data: [{ name: 'Front desk' }] });
  });

  const harbor = `organizations: [{ id: ${IDS.harbor}, name: Harbor }]`;

  test('YAML and JSON are read alike', () => {
    expect(readSeed(harbor)).toEqual(readSeed(JSON.stringify(readSeed(harbor))));
  });

  test.each([
    { text: 'a: [', says: /flow/i },
    { text: 'organisations: []', says: /unknown property: organisations/ },
    { text: 'organizations: [{ id: 1, name: x }]', says: /organizations.0.id: expected string/ },
    { text: 'agents: [{ name: x }]', says: /agents.0.organization_id: required/ },
    {
      text: `agents: [{ name: x, organization_id: ${IDS.harbor} }]`,
      says: /x names the organization/,
    },
    {
      text: 'organizations: [{ id: 3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11, name: x, reseller_id: r }]',
      says: /reseller r/,
    },
    {
      text: `${harbor}\nsources: [{ knowledge_base_id: ${IDS.base}, url: x }]`,
      says: /knowledge base/,
    },
    { text: '[]', says: /expected object/ },
  ])('$text is refused in words', ({ text, says }) => {
    expect(() => readSeed(text)).toThrow(CallsheetError);
    expect(() => readSeed(text)).toThrow(says);
  });
});
