import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/core/value.ts';
import { COMMANDS } from '../../src/simulator/admin.ts';
import {
  ADMIN_HEADER,
  ADMIN_PATH,
  DEFAULT_DIALECT,
  type SimulatorOptions,
} from '../../src/simulator/index.ts';
import { INVENTIONS } from '../inventions.ts';
import { createWorld, IDS, SEED, type World } from './world.ts';

const DRAWN = { ...DEFAULT_DIALECT, inventions: INVENTIONS };

const TOKEN = 'token-of-this-test';
const steered = (options: SimulatorOptions = {}) =>
  createWorld({ seed: SEED, admin: TOKEN, ...options });

async function steer(
  { sim }: World,
  command: string,
  body?: Json,
  headers: Record<string, string> = { [ADMIN_HEADER]: TOKEN },
): Promise<{ readonly status: number; readonly body: Json }> {
  const [method = '', path = ''] = command.split(' ');
  const response = await request(`${sim.url}${ADMIN_PATH}${path && `/${path}`}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: response.statusCode, body: (await response.body.json()) as Json };
}

describe('commands', () => {
  test('the list names every command', async () => {
    await using world = await steered();
    const { body } = await steer(world, 'GET ');
    expect(body).toEqual(COMMANDS.map(({ name, does }) => ({ command: name, does })));
  });

  test('the documentation names every command', () => {
    const text = readFileSync(
      new URL('../../docs/reference/simulator.md', import.meta.url),
      'utf8',
    );
    expect(COMMANDS.filter(({ name }) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  test('the documentation edits an agent and deletes it as a person would', async () => {
    await using world = await steered();
    const page = readFileSync(
      new URL('../../docs/reference/simulator.md', import.meta.url),
      'utf8',
    );
    const typed = [...page.matchAll(/__simulator\/(\S+) \\\n {2}-d '(\{.*\})'/g)];
    const asked = typed.map(([, path = '', body = '']) => ({ path, body: JSON.parse(body) }));
    expect(asked.map(({ path }) => path)).toEqual(['faults', 'edit', 'delete']);
    const [, edit, gone] = asked;
    const agentId = IDS.desk;
    const edited = await steer(world, 'POST edit', { ...edit?.body, agentId });
    expect(edited.body).toMatchObject({ actor: { id: 'user:anna' }, source: 'dashboard' });
    expect(world.sim.store.agents.get(agentId)?.record).toMatchObject(edit?.body.patch);
    await steer(world, 'POST delete', { ...gone?.body, agentId });
    expect((await world.call('getAgent', { path: { agentId } })).status).toBe(404);
    expect((await steer(world, 'POST delete', { ...gone?.body, agentId })).body).toEqual({
      error: `no agent ${agentId}`,
    });
  });

  test('a dialect is changed in part, or set', async () => {
    await using world = await steered({ dialect: { merge: 'shallow' } });
    await steer(world, 'PATCH dialect', { nulls: 'rejected' });
    expect(world.sim.dialect).toMatchObject({ merge: 'shallow', nulls: 'rejected' });
    await steer(world, 'PATCH dialect', { unset: null });
    expect(world.sim.dialect.unset).toBe('null');
    await steer(world, 'PUT dialect', { me: 'wrapped' });
    expect((await steer(world, 'GET dialect')).body).toEqual({ ...DRAWN, me: 'wrapped' });
    expect((await world.sim.dialect).me).toBe('wrapped');
  });

  test('faults are added, listed and forgotten', async () => {
    await using world = await steered();
    const fault = { operation: 'getMe', status: 500, times: 3 };
    expect((await steer(world, 'POST faults', fault)).body).toEqual({ pending: 1 });
    expect((await steer(world, 'GET faults')).body).toEqual([fault]);
    expect((await world.call('getMe')).status).toBe(500);
    await steer(world, 'DELETE faults');
    expect((await world.call('getMe')).status).toBe(200);
  });

  test('the log has the requests to the platform, not those to the endpoint, and no bodies', async () => {
    await using world = await steered();
    await world.call('updateAgent', { path: { agentId: IDS.desk }, body: { description: 'x' } });
    const { body } = await steer(world, 'GET requests');
    expect(body).toMatchObject([{ operation: 'createToken' }, { operation: 'updateAgent' }]);
    expect(JSON.stringify(body)).not.toContain('body');
    await steer(world, 'DELETE requests');
    expect(world.sim.requests).toEqual([]);
  });

  test('the rate limit and the latency are set and lifted', async () => {
    await using world = await steered({ now: () => new Date('2026-01-01T00:00:00Z') });
    await world.call('getMe');
    await steer(world, 'PUT latency', { latencyMs: 1 });
    await steer(world, 'PUT rate-limit', { perSecond: 1 });
    expect([(await world.call('getMe')).status, (await world.call('getMe')).status]).toEqual([
      200, 429,
    ]);
    await steer(world, 'DELETE rate-limit');
    expect((await world.call('getMe')).status).toBe(200);
  });

  test('the clock moves on', async () => {
    await using world = await steered();
    await world.call('getMe');
    await steer(world, 'POST clock', { advanceMs: 86_400_000 });
    expect((await world.call('getMe')).body).toMatchObject({
      error_description: expect.stringContaining('expired'),
    });
  });

  test('an agent is edited, a feature locked, a key rotated', async () => {
    await using world = await steered();
    const patch = { greeting_message: 'Edited' };
    const edited = await steer(world, 'POST edit', { agentId: IDS.desk, patch, actor: 'user:kim' });
    expect(edited.body).toMatchObject({ action: 'updated', actor: { id: 'user:kim' } });
    const lock = { level: 'account', feature: 'llm.alpha-4o' };
    const write = { path: { agentId: IDS.desk }, body: { model: 'alpha-4o' } };
    await steer(world, 'POST lock', lock);
    expect((await world.call('updateAgent', write)).status).toBe(403);
    await steer(world, 'POST unlock', lock);
    expect((await world.call('updateAgent', write)).status).toBe(200);
    const { body } = await steer(world, 'POST rotate', {});
    expect(body).toEqual({ clientSecret: expect.any(String) });
    expect((await world.call('getMe')).status).toBe(401);
  });

  test('a merchant changes at the payment processor, and a text is sent', async () => {
    await using world = await steered();
    const merchant = { organizationId: IDS.harbor, status: 'restricted', charges: false };
    await steer(world, 'POST merchant', merchant);
    const path = { agentId: IDS.desk };
    const readiness = (query: Record<string, string>) =>
      world.call('getPaymentReadiness', { path, query });
    expect((await readiness({})).body.account_status).toBe('active');
    expect((await readiness({ refresh: 'true' })).body.account_status).toBe('restricted');
    const text = { agentId: IDS.desk, templateId: IDS.sms, to: '+15551234' };
    expect((await steer(world, 'POST texts', text)).body).toMatchObject({ status: 'sent' });
    expect((await steer(world, 'GET registrations')).body).toContainEqual({
      agentId: IDS.desk,
      registered: true,
    });
  });

  test('the dump has the records and no secret', async () => {
    await using world = await steered();
    const { body } = await steer(world, 'GET dump');
    expect(body).toMatchObject({ agents: { [IDS.desk]: { record: { name: 'Front desk' } } } });
    const text = JSON.stringify(body);
    for (const secret of [
      'sms-token',
      'ehr-password',
      'pbx-secret',
      'sip-password',
      'simulated-secret',
    ])
      expect(text).not.toContain(secret);
  });
});

describe('what is refused', () => {
  test.each([
    {
      command: 'PATCH dialect',
      body: { merge: 'both', colour: 1 },
      says: /merge must be.*no option colour/,
    },
    {
      command: 'POST faults',
      body: { operation: 'fly', status: 1 },
      says: /status: .*no operation fly/,
    },
    { command: 'POST faults', body: [], says: /expected object/ },
    { command: 'PUT rate-limit', body: { perSecond: 0 }, says: /perSecond: must be > 0/ },
    {
      command: 'POST lock',
      body: { level: 'account', feature: 'llm.alpha-4.1' },
      says: /never be locked/,
    },
    { command: 'POST edit', body: { agentId: IDS.nobody, patch: {} }, says: /no agent/ },
    { command: 'POST edit', body: {}, says: /agentId: required; patch: required/ },
    { command: 'POST rotate', body: { clientId: 'nobody' }, says: /no key nobody/ },
    { command: 'POST texts', body: { agentId: IDS.recall, to: '1' }, says: /names a sender/ },
  ] satisfies { command: string; body: Json; says: RegExp }[])(
    '$command $body says $says',
    async ({ command, body, says }) => {
      await using world = await steered();
      const refusal = await steer(world, command, body);
      expect(refusal).toEqual({ status: 400, body: { error: expect.stringMatching(says) } });
      expect(world.sim.dialect).toEqual(DRAWN);
      expect(world.sim.faults.pending()).toBe(0);
    },
  );

  test.each([
    { headers: {} },
    { headers: { [ADMIN_HEADER]: 'guess' } },
    { headers: { authorization: `Bearer ${TOKEN}` } },
  ])('a request with $headers has no token', async ({ headers }) => {
    await using world = await steered();
    for (const command of ['GET dialect', 'GET ', 'GET nonsense'])
      expect(
        await steer(world, command, undefined, headers as Record<string, string>),
      ).toMatchObject({ status: 401 });
  });

  test('there is no endpoint unless one was asked for', async () => {
    await using world = await createWorld({ seed: SEED });
    expect(await steer(world, 'GET dialect')).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    });
  });

  test('an unknown command is told apart from an unknown address', async () => {
    await using world = await steered();
    expect(await steer(world, 'GET nonsense')).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('no such command') },
    });
  });
});

test('the endpoint is no part of the contract, and faults do not befall it', async () => {
  const text = readFileSync(
    new URL('../../schemas/platform.openapi.yaml', import.meta.url),
    'utf8',
  );
  expect(text).not.toContain(ADMIN_PATH);
  await using world = await steered({ rateLimit: { perSecond: 1 } });
  world.sim.faults.add({ operation: '*', reset: 'before', times: 9 });
  for (let count = 0; count < 3; count += 1)
    expect((await steer(world, 'GET dialect')).status).toBe(200);
  expect(world.sim.faults.pending()).toBe(1);
});
