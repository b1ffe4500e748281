import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { openAsBlob } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Blob as StackFile } from '../../src/core/value.ts';
import type { FileContent } from '../../src/platform/send.ts';
import { temporaryFolder } from '../temporary.ts';
import { dial, failure } from './platform.ts';

/** A server that tells what it gets, byte by byte, and answers as a voice's creation and as a storage. */
async function serve(onData: (bytes: number) => void = () => {}) {
  const whole: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const body = await read(request, onData);
    if (body === undefined) return;
    whole.push(body);
    response.setHeader('content-type', 'application/json').end('{"data":{"id":"v"}}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, whole };
}

/** The body of a request; undefined where it broke off. */
async function read(request: IncomingMessage, onData: (bytes: number) => void) {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) {
      onData(chunk.length);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  }
}

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** Both ways that a file goes out. */
const WAYS = ['a form', 'an upload'] as const;

async function send(
  way: (typeof WAYS)[number],
  url: string,
  file: StackFile,
  openFile: (file: StackFile) => Promise<FileContent>,
) {
  const client = dial({ baseUrl: url, openFile });
  if (way === 'an upload') return client.upload(`${url}/k`, file);
  const fields = { name: 'Harbor', consent: 'true', organizationId: 'o' };
  await client.call({ operation: 'createCustomVoice', form: { fields, files: { clip: file } } });
}

describe.each(WAYS)('a file in %s', (way) => {
  it('goes out of the file as it is read, however large', async () => {
    const [chunk, count] = [Buffer.alloc(64 * 1024, 'callsheet '), 768];
    let [pulled, arrived, ahead] = [0, 0, 0];
    const content: FileContent = {
      size: chunk.length * count,
      stream: async function* () {
        for (let index = 0; index < count; index += 1) {
          pulled += chunk.length;
          ahead = Math.max(ahead, pulled - arrived);
          yield chunk;
        }
      },
    };
    const hash = createHash('sha256');
    for (let index = 0; index < count; index += 1) hash.update(chunk);
    const file = new StackFile('a.pdf', hash.digest('hex'), content.size, 'application/pdf');
    const server = await serve((bytes) => {
      arrived += bytes;
    });
    await send(way, server.url, file, async () => content);
    expect(arrived).toBeGreaterThanOrEqual(content.size);
    // What is read and has not arrived is in the buffers of the sockets.
    expect(ahead).toBeLessThan(content.size / 3);
  });

  it('comes from the disk byte for byte', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'harbor.wav');
    const bytes = Buffer.concat([
      Buffer.from('RIFF\r\n--callsheet-\r\n'),
      Buffer.alloc(300_000, 7),
    ]);
    await writeFile(path, bytes);
    const file = new StackFile('voices/harbor.wav', sha256(bytes), bytes.length, 'audio/wav');
    const server = await serve();
    await send(way, server.url, file, () => openAsBlob(path));
    expect(server.whole).toHaveLength(1);
    expect(server.whole[0]?.includes(bytes)).toBe(true);
  });

  it.each([
    { what: 'another content of the same size', now: 'RIFX' },
    { what: 'another size', now: 'RIFF+' },
    { what: 'no content any more', now: '' },
  ])('that has $what by now never arrives whole', async ({ now }) => {
    const file = new StackFile('voices/harbor.wav', sha256('RIFF'), 4, 'audio/wav');
    const server = await serve();
    const error = await failure(send(way, server.url, file, async () => new Blob([now])));
    expect(error).toMatchObject({
      code: 'stale',
      message: expect.stringMatching(/^voices\/harbor\.wav changed while it was used: /),
      hint: expect.stringMatching(/plan again/i),
    });
    expect(server.whole).toEqual([]);
  });

  it('that turns out to be another one at its end is not sent to its end', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'callsheet ');
    const content: FileContent = {
      size: 2 * chunk.length,
      stream: async function* () {
        yield chunk;
        yield chunk;
        // Time for what was given to get out, before the hash is known.
        for (let turn = 0; turn < 100; turn += 1) await setImmediate();
      },
    };
    const file = new StackFile('a.wav', sha256('another'), content.size, 'audio/wav');
    let arrived = 0;
    const server = await serve((bytes) => {
      arrived += bytes;
    });
    const error = await failure(send(way, server.url, file, async () => content));
    expect(error).toMatchObject({ code: 'stale' });
    expect(arrived).toBeLessThan(content.size);
    expect(server.whole).toEqual([]);
  });

  it('that changes on the disk after it was opened never arrives whole', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'a.wav');
    await writeFile(path, 'RIFF');
    const file = new StackFile('a.wav', sha256('RIFF'), 4, 'audio/wav');
    const server = await serve();
    const openFile = async () => {
      const content = await openAsBlob(path);
      await writeFile(path, 'RIFX more');
      return content;
    };
    const error = await failure(send(way, server.url, file, openFile));
    expect(error).toMatchObject({ code: 'stale' });
    expect(server.whole).toEqual([]);
  });

  it('that cannot be opened any more is not sent', async () => {
    const file = new StackFile('a.wav', sha256('RIFF'), 4, 'audio/wav');
    const server = await serve();
    const error = await failure(
      send(way, server.url, file, () => Promise.reject(new Error('EACCES'))),
    );
    expect(error).toMatchObject({
      code: 'stale',
      message: 'a.wav changed while it was used: it can no longer be opened',
      cause: new Error('EACCES'),
    });
    expect(server.whole).toEqual([]);
  });
});
