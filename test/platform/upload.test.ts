import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Blob as StackFile } from '../../src/core/value.ts';
import { failure, open, useScripts } from './platform.ts';

useScripts();

type Stored = {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
};

/** The storage behind presigned addresses. */
const stored: Stored[] = [];
let answers: ((response: ServerResponse) => void)[] = [];
let address = '';
const storage = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return;
  }
  const line = `${request.method} ${request.url}`;
  stored.push({ line, headers: request.headers, bytes: Buffer.concat(chunks) });
  const answer = answers.shift() ?? ((one: ServerResponse) => one.writeHead(200).end());
  answer(response);
});

beforeEach(async () => {
  stored.length = 0;
  answers = [];
  storage.listen(0, '127.0.0.1');
  await once(storage, 'listening');
  const at = storage.address();
  address = `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}`;
});

afterEach(async () => {
  storage.closeAllConnections();
  storage.close();
  await once(storage, 'close');
});

const bytes = Buffer.alloc(3_000_000, 'callsheet ');
const sha256 = createHash('sha256').update(bytes).digest('hex');
const file = new StackFile('docs/prices.pdf', sha256, bytes.length, 'application/pdf');
const openFile = async () => new Blob([bytes], { type: file.mime });
const signed = () => `${address}/bucket/key%201?X-Signature=canary&X-Date=1`;
const refuse =
  (status: number, body = '') =>
  (response: ServerResponse) =>
    response.writeHead(status, { 'content-type': 'application/xml' }).end(body);

describe('an upload', () => {
  it('PUTs the bytes with type and length, and without the bearer token', async () => {
    await open({ openFile }).upload(signed(), file);
    const [put] = stored;
    expect(stored).toHaveLength(1);
    expect(put?.line).toBe('PUT /bucket/key%201?X-Signature=canary&X-Date=1');
    expect(put?.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': '3000000',
    });
    // Signatures cover headers, and most storages refuse chunks.
    expect(Object.keys(put?.headers ?? {}).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
    ]);
    expect(put?.bytes.equals(bytes)).toBe(true);
  });

  it('reads the file as it goes', async () => {
    let pulled = 0;
    const streamed = new Blob([bytes]);
    const read = streamed.stream.bind(streamed);
    streamed.stream = () => {
      pulled += 1;
      return read();
    };
    streamed.arrayBuffer = () => Promise.reject(new Error('the whole file was asked for'));
    await open({ openFile: async () => streamed }).upload(signed(), file);
    expect(pulled).toBe(1);
    expect(stored[0]?.bytes.length).toBe(bytes.length);
  });

  it.each([
    { fault: '503', answer: refuse(503) },
    { fault: '429', answer: refuse(429) },
    { fault: 'a reset', answer: (response: ServerResponse) => void response.destroy() },
  ])('starts again from the first byte after $fault', async ({ answer }) => {
    answers = [answer];
    const client = open({ openFile });
    await client.upload(signed(), file);
    expect(stored.map((put) => put.bytes.equals(bytes))).toEqual([true, true]);
    expect(client.waits).toEqual([250]);
  });

  it.each([301, 307, 400, 403, 404, 500])(
    '%i is an error that names the file and nothing of the signature',
    async (status) => {
      answers = [refuse(status, '<Error><SignatureProvided>canary</SignatureProvided></Error>')];
      const error = await failure(open({ openFile }).upload(signed(), file));
      expect(error).toMatchObject({
        name: 'ApiError',
        status,
        message: `${status} PUT ${address}/bucket/key%201`,
        hint: expect.stringContaining('docs/prices.pdf'),
      });
      expect(JSON.stringify([String(error), error])).not.toContain('canary');
      expect(stored).toHaveLength(1);
    },
  );

  it('that breaks off tells nothing of the signature either', async () => {
    answers = Array.from({ length: 6 }, () => (response: ServerResponse) => {
      response.destroy();
    });
    const client = open({ openFile });
    const error = await failure(client.upload(signed(), file));
    expect(error).toMatchObject({ code: 'network' });
    expect(JSON.stringify([String(error), error])).not.toContain('canary');
    expect(client.waits).toHaveLength(5);
  });

  it('is not begun for a file that has another size by now', async () => {
    const error = await failure(
      open({ openFile: async () => new Blob(['%PDF']) }).upload(signed(), file),
    );
    expect(error).toMatchObject({ code: 'stale' });
    expect(stored).toEqual([]);
  });

  it('is not begun in clear', async () => {
    const error = await failure(
      open({ openFile }).upload('http://storage.example.test/k?s=canary', file),
    );
    expect(error).toMatchObject({ code: 'api', hint: expect.stringMatching(/https/) });
  });
});
