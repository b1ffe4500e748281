import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/platform/transport.ts';
import { failure, open, type Reply, script, useScripts } from './platform.ts';

useScripts();

const LINE = 'GET /v1/metrics';
const METRICS = {
  operation: 'getMetrics',
  query: { startDate: '2026-02-22', endDate: '2026-03-01' },
};
const NEVER = new AbortController().signal;
const good: Reply = { body: { data: { agentPerformance: [] } } };
const me: Reply = { body: { account_id: 'a1' } };

describe('a read that is of no consequence', () => {
  it('answers like any other', async () => {
    const seen = script({ [LINE]: [good] });
    const answer = await open().callOnce(METRICS, NEVER);
    expect(answer).toEqual(good.body);
    expect(seen).toMatchObject([
      { headers: { authorization: 'Bearer canary-token', accept: 'application/json' } },
    ]);
  });

  it.each<Reply>([
    { status: 401, body: { error: 'invalid_token' } },
    { status: 403 },
    { status: 404 },
    { status: 429, headers: { 'retry-after': '30' } },
    { status: 500 },
    { status: 503 },
    { fault: 'ECONNRESET' },
    { fault: 'UND_ERR_HEADERS_TIMEOUT' },
    { body: 'no JSON' },
  ])('is sent once, and slows nothing down, where it ends in %j', async (reply) => {
    script({ [LINE]: [reply], 'GET /v1/me': [me] });
    const client = open();
    expect(await failure(client.callOnce(METRICS, NEVER))).toBeInstanceOf(Error);
    expect(client.spent()).toEqual({ requests: 0, seconds: 0 });
    await expect(client.call({ operation: 'getMe' })).resolves.toEqual(me.body);
    expect(client.waits).toEqual([]);
    expect(client.spent().requests).toBe(1);
  });

  it('is not sent once its time is over', async () => {
    script({});
    await expect(open().callOnce(METRICS, AbortSignal.abort())).resolves.toBeUndefined();
  });

  it('says nothing of the clock of the platform', async () => {
    script({ [LINE]: [{ ...good, headers: { date: 'Sun, 01 Mar 2026 13:00:00 GMT' } }] });
    const client = open();
    await client.callOnce(METRICS, NEVER);
    expect(client.platformTime()).toBeUndefined();
  });
});

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A client of one connection whose answers come when they are let go, and what was sent, in order. */
function openHeld() {
  const sent: string[] = [];
  const held: (() => void)[] = [];
  const wire = (transport: Transport): Transport => ({
    ...transport,
    send: ({ about, signal }) =>
      new Promise((resolve, reject) => {
        sent.push(about?.operation ?? '');
        signal?.addEventListener('abort', () => reject(new Error('broken off')));
        const { body = null } = about?.operation === 'getMe' ? me : good;
        held.push(() =>
          resolve({ status: 200, headers: {}, requestId: undefined, body, length: 1 }),
        );
      }),
  });
  const letGo = async () => {
    held.shift()?.();
    await nextTurn();
  };
  return { client: open({ concurrency: 1, wire }), sent, letGo };
}

describe('a read that is of no consequence, beside many others', () => {
  it('takes the next connection that is free, and none beside', async () => {
    const { client, sent, letGo } = openHeld();
    const others = [1, 2, 3].map(() => client.call({ operation: 'getMe' }));
    await nextTurn();
    const once = client.callOnce(METRICS, NEVER);
    await nextTurn();
    expect(sent).toEqual(['getMe']);
    await letGo();
    expect(sent).toEqual(['getMe', 'getMetrics']);
    for (let left = 3; left > 0; left -= 1) await letGo();
    await Promise.all([...others, once]);
    expect(sent).toEqual(['getMe', 'getMetrics', 'getMe', 'getMe']);
  });

  it('is broken off when its time is over, and gives its connection back', async () => {
    const { client, sent, letGo } = openHeld();
    const over = new AbortController();
    const once = failure(client.callOnce(METRICS, over.signal));
    await nextTurn();
    const other = client.call({ operation: 'getMe' });
    expect(sent).toEqual(['getMetrics']);
    over.abort();
    expect(await once).toMatchObject({ message: 'broken off' });
    await letGo();
    await letGo();
    await other;
    expect(sent).toEqual(['getMetrics', 'getMe']);
  });
});
