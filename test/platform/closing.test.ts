import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Origin } from '../../src/core/origin.ts';
import { Blob as StackFile } from '../../src/core/value.ts';
import { createClient } from '../../src/platform/client.ts';
import { failure, open, useScripts } from './platform.ts';
import { listen, type RawServer, respond } from './wire.ts';

useScripts();

const servers: RawServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function serve(...args: Parameters<typeof listen>): Promise<RawServer> {
  const server = await listen(...args);
  servers.push(server);
  return server;
}

const read = { operation: 'getAgent', path: { agentId: 'a' } };
const write = { operation: 'createAgent', body: { name: 'n' } };

describe('close', () => {
  it('breaks reads off, fails what waits for its turn and sends nothing more', async () => {
    const server = await serve(() => {});
    const client = open({ baseUrl: server.baseUrl, concurrency: 2 });
    const calls = Array.from({ length: 20 }, () => client.call(read));
    const ends = Promise.all(calls.map(failure));
    await server.received(2);
    await client.close();
    const [first, ...others] = await ends;
    expect(first).toMatchObject({ code: 'network' });
    expect(others.at(-1)).toMatchObject({
      code: 'interrupted',
      message: 'the client was closed',
    });
    expect(server.requests()).toBe(2);
    expect(client.waits).toEqual([]);
  });

  it('lets a write in flight finish, and gives its answer', async () => {
    let finish = () => {};
    const server = await serve((socket) => {
      finish = () => socket.end(respond('{"data":{"id":"made"}}', '201 Created'));
    });
    const client = open({ baseUrl: server.baseUrl });
    const made = client.call(write);
    await server.received(1);
    const closed = client.close();
    finish();
    await expect(made).resolves.toEqual({ data: { id: 'made' } });
    await closed;
  });

  it('ends the wait before another attempt, with what the last one came to', async () => {
    const server = await serve((socket) => socket.end(respond('{}', '503 Service Unavailable')));
    let asleep = () => {};
    const sleeping = new Promise<void>((resolve) => {
      asleep = resolve;
    });
    const client = open({
      baseUrl: server.baseUrl,
      pause: {
        random: () => 1,
        sleep: (_milliseconds, stop) =>
          new Promise((resolve) => {
            stop.addEventListener('abort', () => resolve());
            asleep();
          }),
      },
    });
    const end = failure(client.call(read));
    await sleeping;
    await client.close();
    expect(await end).toMatchObject({ name: 'ApiError', status: 503 });
    expect(server.requests()).toBe(1);
  });

  it('does not wait out the real clock either', async () => {
    const retryLater = respond('{}', '429 Too Many Requests', 'retry-after: 250\r\n');
    const server = await serve((socket) => socket.end(retryLater));
    const client = createClient({
      origin: Origin.given(server.baseUrl),
      credentials: { accessToken: 'token' },
      concurrency: 1,
      openFile: () => Promise.reject(new Error('there are no files')),
    });
    const end = failure(client.call(read));
    while (client.spent().requests === 0) await nextTurn();
    await client.close();
    expect(await end).toMatchObject({ status: 429 });
  });

  it('may have many reads to break off without a warning of the runtime', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => void warnings.push(warning);
    process.on('warning', warn);
    const server = await serve(() => {});
    const client = open({ baseUrl: server.baseUrl, concurrency: 30 });
    const ends = Promise.all(Array.from({ length: 30 }, () => failure(client.call(read))));
    await server.received(30);
    await client.close();
    await ends;
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('may be asked for twice', async () => {
    const client = open();
    const first = client.close();
    await expect(client.close()).resolves.toBe(await first);
  });

  it('refuses calls and uploads that come after it', async () => {
    const client = open();
    await client.close();
    const file = new StackFile('f', '', 0, 'text/plain');
    const upload = client.upload('https://storage.example.test/f', file);
    expect(await failure(upload)).toMatchObject({ code: 'interrupted' });
    expect(await failure(client.call(read))).toMatchObject({ code: 'interrupted' });
  });
});
