import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { drawInventions } from '../../src/simulator/dialect.ts';
import type { Fault } from '../../src/simulator/index.ts';
import { createWorld, IDS, SEED, section, type World } from './world.ts';

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

  test('a request may have to wait', async () => {
    await using world = await createWorld({ seed: SEED });
    await world.call('getMe');
    world.sim.faults.add({ operation: 'updateAgent', delayMs: 40 });
    const start = performance.now();
    expect((await world.call('updateAgent', update)).status).toBe(200);
    // Timers may be early by a millisecond.
    expect(performance.now() - start).toBeGreaterThan(38);
  });
});

const greeting = ({ sim }: World) => sim.store.agents.get(IDS.desk)?.record.greeting_message;

/** A request whose answer is read as far as it comes. */
async function receive({ sim }: World): Promise<{ status: number; type: unknown; text: string }> {
  const response = await request(`${sim.url}/v1/nothing`);
  return {
    status: response.statusCode,
    type: response.headers['content-type'],
    text: await response.body.text(),
  };
}

describe('answers that go wrong on their way', () => {
  test.each([
    { fault: { reset: 'head' }, what: 'after its head' },
    { fault: { truncate: true }, what: 'in the middle of its body' },
  ] satisfies { fault: Partial<Fault>; what: string }[])(
    'an answer may break off $what, and the work is done',
    async ({ fault }) => {
      await using world = await createWorld({ seed: SEED });
      world.sim.faults.add({ operation: 'updateAgent', ...fault });
      await expect(world.call('updateAgent', update)).rejects.toThrow();
      expect(greeting(world)).toBe('Hello');
      expect(world.sim.requests.at(-1)).toMatchObject({ operation: 'updateAgent', status: 200 });
    },
  );

  test('a truncated body announces the whole length and ends before it', async () => {
    await using world = await createWorld({ seed: SEED });
    const whole = await receive(world);
    world.sim.faults.add({ operation: '*', truncate: true });
    const response = await request(`${world.sim.url}/v1/nothing`);
    expect(Number(response.headers['content-length'])).toBe(whole.text.length);
    await expect(response.body.text()).rejects.toThrow();
  });

  test.each([
    { hang: 'before', after: 'Harbor Dental.' },
    { hang: 'after', after: 'Hello' },
  ] as const)('silence $hang the update leaves $after', async ({ hang, after }) => {
    await using world = await createWorld({ seed: SEED });
    world.sim.faults.add({ operation: 'updateAgent', hang, hangMs: 20 });
    await expect(world.call('updateAgent', update)).rejects.toThrow();
    expect(greeting(world)).toBe(after);
    expect(world.sim.requests.at(-1)).toMatchObject({ operation: 'updateAgent', status: 0 });
  });

  test('a caller may give up on silence, and is answered the next time', async () => {
    await using world = await createWorld({ seed: SEED });
    world.sim.faults.add({ operation: '*', hang: 'before' });
    const patience = new AbortController();
    const silent = request(`${world.sim.url}/v1/nothing`, { signal: patience.signal });
    await expect.poll(() => world.sim.faults.pending()).toBe(0);
    patience.abort();
    await expect(silent).rejects.toThrow();
    expect(await receive(world)).toMatchObject({ status: 404 });
  });

  test.each([
    { fault: { text: '<h1>Bad gateway</h1>', status: 502 }, status: 502, type: 'text/html' },
    { fault: { text: '{"data":' }, status: 200, type: 'text/html' },
    {
      fault: { text: '{"data":', headers: { 'content-type': 'application/json' } },
      status: 200,
      type: 'application/json',
    },
    { fault: { text: '' }, status: 200, type: 'text/html' },
  ] satisfies { fault: Partial<Fault>; status: number; type: string }[])(
    'a body may be anything: $fault.text as $type',
    async ({ fault, status, type }) => {
      await using world = await createWorld({ seed: SEED });
      world.sim.faults.add({ operation: '*', ...fault });
      const text = fault.text;
      expect(await receive(world)).toEqual({ status, type: expect.stringContaining(type), text });
    },
  );

  test.each([
    { done: false, what: 'nothing was done', after: 'Harbor Dental.' },
    { done: true, what: 'the work was done all the same', after: 'Hello' },
  ])('an error may be answered where $what', async ({ done, after }) => {
    await using world = await createWorld({ seed: SEED });
    world.sim.faults.add({ operation: 'updateAgent', status: 500, done });
    expect((await world.call('updateAgent', update)).status).toBe(500);
    expect(greeting(world)).toBe(after);
  });

  test.each(['before', 'after'] as const)('the process may be killed %s the work', async (kill) => {
    let killed: unknown = 'never';
    await using world = await createWorld({
      seed: SEED,
      kill: () => {
        killed = greeting(world);
      },
    });
    world.sim.faults.add({ operation: 'updateAgent', kill });
    await expect(world.call('updateAgent', update)).rejects.toThrow();
    expect(killed).toBe(kill === 'before' ? 'Harbor Dental.' : 'Hello');
  });
});

section('Errors, the platform fails', [
  ...(
    [
      ['revertAgent', 503, { error: 'temporarily_unavailable' }],
      ['listFeatures', 503, { error: 'service_unavailable' }],
      ['getPaymentReadiness', 502, { error: 'Failed to load payment status' }],
      [
        'createCustomVoice',
        502,
        { error: expect.any(String), error_description: expect.any(String) },
      ],
      ['getAgent', 500, { error: expect.any(String) }],
    ] as const
  ).map(([operation, status, body]) => ({
    rule: `${operation} answers ${status} with its own body, and nothing is done`,
    does: async (world: World) => {
      world.sim.faults.add({ operation, status });
      const reply = await world.call(operation, { path: { agentId: IDS.desk, versionId: '1' } });
      expect(reply.body).not.toHaveProperty('data');
      return reply;
    },
    status,
    body,
  })),
]);

describe('chaos', () => {
  const storm = async (chaosSeed: string): Promise<readonly number[]> => {
    await using world = await createWorld({ seed: SEED, chaosSeed });
    await world.call('getMe');
    world.sim.faults.add({ operation: 'getMe', status: 500, probability: 0.5 });
    const statuses: number[] = [];
    for (let count = 0; count < 24; count += 1) statuses.push((await world.call('getMe')).status);
    return statuses;
  };

  test('the same seed strikes the same requests, another one others', async () => {
    const [first, again, other] = await Promise.all(['a', 'a', 'b'].map(storm));
    expect(new Set(first)).toEqual(new Set([200, 500]));
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test.each([
    { probability: 0, status: 200 },
    { probability: 1, status: 500 },
  ])('a probability of $probability is certain', async ({ probability, status }) => {
    await using world = await createWorld({ seed: SEED });
    await world.call('getMe');
    world.sim.faults.add({ operation: '*', status: 500, probability });
    expect((await world.call('getMe')).status).toBe(status);
    expect(world.sim.faults.pending()).toBe(1);
  });

  test('what another request does in between changes no draw', async () => {
    const run = async (isBusy: boolean): Promise<readonly number[]> => {
      await using world = await createWorld({ seed: SEED });
      await world.call('getMe');
      world.sim.faults.add({ operation: '*', status: 500, probability: 0.5 });
      const statuses: number[] = [];
      for (let count = 0; count < 12; count += 1) {
        if (isBusy) await world.call('getAgent', getDesk);
        statuses.push((await world.call('getMe')).status);
      }
      return statuses;
    };
    expect(await run(true)).toEqual(await run(false));
  });
});

test('an ingestion that a fault befalls fails, and no request does', async () => {
  await using world = await createWorld({ seed: SEED });
  world.sim.faults.add({ operation: 'ingestion' });
  const path = { knowledgeBaseId: IDS.base };
  const body = { sourceType: 'url', url: 'https://harbor.example.test/faq' };
  expect((await world.call('createKnowledgeSource', { path, body })).status).toBe(201);
  const { body: listed } = await world.call('listKnowledgeSources', { path });
  const { states, nothing } = drawInventions(world.sim.dialect.inventions);
  expect(listed).toMatchObject({ data: [{ status: states.failed, ...nothing }] });
});
