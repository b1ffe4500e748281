import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { operations } from '../../src/platform/operations.generated.ts';
import { readSeed } from '../../src/simulator/index.ts';
import { createWorld, IDS, SEED } from './world.ts';

const getDesk = { path: { agentId: IDS.desk } };
const update = { ...getDesk, body: { greetingMessage: 'Hello' } };

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
    const text = readFileSync(
      new URL('../../docs/reference/simulator.md', import.meta.url),
      'utf8',
    );
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
