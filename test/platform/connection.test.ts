import { expect, test } from 'vitest';
import { Origin } from '../../src/core/origin.ts';
import {
  type ConnectionOptions,
  createClient,
  openConnection,
  UNASKED,
} from '../../src/platform/client.ts';
import type { Transport, WireAnswer } from '../../src/platform/transport.ts';

const BASE = 'http://127.0.0.1:4999';
const OK: WireAnswer = {
  status: 200,
  headers: {},
  requestId: undefined,
  body: { access_token: 'token', expires_in: 3600, account_id: 'account' },
  length: 2,
};

/** Two clients of one account, over a network that answers what each test says. */
function pair(send: Transport['send'], options: Partial<ConnectionOptions> = {}) {
  let closed = 0;
  const wire = (): Transport => ({
    send,
    async close() {
      closed += 1;
    },
  });
  const connection = openConnection({ concurrency: 2, wire, ...options });
  const open = () =>
    createClient({
      origin: Origin.given(BASE),
      credentials: { clientId: 'id', clientSecret: 'secret' },
      concurrency: 2,
      openFile: () => Promise.reject(new Error('no file')),
      connection: () => connection,
      ...(options.pause === undefined ? {} : { pause: options.pause }),
      ...(options.now === undefined ? {} : { now: options.now }),
    });
  return { connection, first: open(), second: open(), closes: () => closed };
}

test('one token is minted for all, and outlives the client that asked for it', async () => {
  const sent: (string | undefined)[] = [];
  const { first, second, connection, closes } = pair(async ({ about }) => {
    sent.push(about?.operation);
    return OK;
  });
  await first.call({ operation: 'getMe' });
  await first.close();
  expect(closes()).toBe(0);
  await second.call({ operation: 'getMe' });
  expect(sent).toEqual(['createToken', 'getMe', 'getMe']);
  await expect(first.call({ operation: 'getMe' })).rejects.toMatchObject({ code: 'interrupted' });
  await connection.close();
  expect(closes()).toBe(1);
});

test('what turns a closed client away makes the other wait, too', async () => {
  const slept: number[] = [];
  let refuse = () => {};
  const refused = new Promise<void>((resolve) => {
    refuse = resolve;
  });
  const pause = { sleep: async (ms: number) => void slept.push(ms), random: () => 0 };
  const { first, second, connection } = pair(
    async ({ about }) => {
      if (about?.operation !== 'createAgent') return OK;
      await refused;
      return { ...OK, status: 429, headers: { 'retry-after': '60' } };
    },
    { pause },
  );
  const call = { operation: 'createAgent', body: { name: 'n' } };
  const create = first.writing(UNASKED).call(call);
  await second.call({ operation: 'getMe' });
  await first.close();
  refuse();
  await expect(create).rejects.toMatchObject({ status: 429 });
  await second.call({ operation: 'getMe' });
  expect(Math.max(...slept)).toBeGreaterThanOrEqual(59_000);
  await connection.close();
});

test('a write without anybody to ask for the lease is a bug, and is not sent', async () => {
  const sent: (string | undefined)[] = [];
  const { first, connection } = pair(async ({ about }) => {
    sent.push(about?.operation);
    return OK;
  });
  const create = first.call({ operation: 'createAgent', body: { name: 'n' } });
  await expect(create).rejects.toThrow('has no lease');
  expect(sent).toEqual(['createToken']);
  await connection.close();
});

test('what waits for its turn is not sent once its client is closed', async () => {
  const sent: (string | undefined)[] = [];
  let wake = () => {};
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const pause = { sleep: () => woken, random: () => 0 };
  const { first, second, connection } = pair(
    async ({ about }) => {
      sent.push(about?.operation);
      return sent.length === 2 ? { ...OK, status: 429, headers: { 'retry-after': '60' } } : OK;
    },
    { pause },
  );
  const one = first.call({ operation: 'getMe' });
  await expect.poll(() => sent).toEqual(['createToken', 'getMe']);
  const create = second.call({ operation: 'createAgent', body: { name: 'n' } });
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  await second.close();
  await expect(create).rejects.toMatchObject({ code: 'interrupted' });
  wake();
  await one;
  expect(sent).toEqual(['createToken', 'getMe', 'getMe']);
  await connection.close();
});

test('what turns one away makes the other wait', async () => {
  const slept: number[] = [];
  let time = 0;
  let wake = () => {};
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const pause = {
    async sleep(milliseconds: number) {
      slept.push(milliseconds);
      await woken;
      time += milliseconds;
    },
    random: () => 0,
  };
  let reads = 0;
  const { first, second, connection } = pair(
    async ({ about }) => {
      if (about?.operation === 'createToken') return OK;
      reads += 1;
      return reads === 1 ? { ...OK, status: 429, headers: { 'retry-after': '60' } } : OK;
    },
    { pause, now: () => time },
  );
  const one = first.call({ operation: 'getMe' });
  await expect.poll(() => slept.length).toBe(1);
  expect(slept[0]).toBeGreaterThanOrEqual(60_000);
  const other = second.call({ operation: 'getMe' });
  // Whatever it has to do before it asks is done by then.
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  expect(reads).toBe(1);
  wake();
  await Promise.all([one, other]);
  expect(reads).toBe(3);
  await connection.close();
});
