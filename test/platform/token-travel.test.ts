import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Json, Blob as StackFile } from '../../src/core/value.ts';
import { knowledgeSource } from '../../src/kinds/knowledge-source.ts';
import { dial, failure, KEY } from './platform.ts';

const TOKEN = 'canary-token-of-the-platform';

/** A server and every byte that it was sent. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const log: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const head = [`${request.method} ${request.url}`, ...request.rawHeaders];
    log.push([...head, Buffer.concat(chunks).toString()].join('\n'));
    answer(request, response);
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
  return { url: `http://127.0.0.1:${port}`, log };
}

function json(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A platform that mints a token and answers everything else as it is told. */
async function platform(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  return serve((request, response) => {
    if (request.url !== '/oauth/token') return answer(request, response);
    json(response, 200, { access_token: TOKEN, token_type: 'Bearer', expires_in: 86_400 });
  });
}

const path = { agentId: 'a' };
const CALLS = [
  { operation: 'getMe' },
  { operation: 'createAgent', body: { name: 'n' } },
  { operation: 'updateAgent', path, body: { name: 'n' } },
  { operation: 'setSipRegistration', path, body: { registrationEnabled: true } },
  { operation: 'deleteAgent', path },
] as const;

describe.each([301, 302, 303, 307, 308])('a redirect with %i', (status) => {
  it('is not followed by any call, so nothing reaches its target', async () => {
    const target = await serve((_, response) => json(response, 200, { account_id: 'stolen' }));
    const server = await platform((_, response) =>
      response.writeHead(status, { location: `${target.url}/v1/me` }).end(),
    );
    const client = dial({ baseUrl: server.url, credentials: KEY });
    for (const call of CALLS) {
      const error = await failure(client.call(call));
      expect(error).toMatchObject({
        code: 'api',
        message: expect.stringContaining(`answered ${status}, a redirect to ${target.url}/v1/me`),
      });
    }
    expect(server.log).toHaveLength(CALLS.length + 1);
    expect(target.log).toEqual([]);
  });

  it('is not followed when a token is minted, so the secret reaches nobody', async () => {
    const target = await serve((_, response) => json(response, 200, { access_token: 'x' }));
    const server = await serve((_, response) =>
      response.writeHead(status, { location: `${target.url}/oauth/token` }).end(),
    );
    await failure(dial({ baseUrl: server.url, credentials: KEY }).call({ operation: 'getMe' }));
    expect(server.log).toHaveLength(1);
    expect(target.log).toEqual([]);
  });

  it('is not followed by an upload', async () => {
    const target = await serve((_, response) => response.writeHead(200).end());
    const storage = await serve((_, response) =>
      response.writeHead(status, { location: `${target.url}/k` }).end(),
    );
    const openFile = async () => new Blob(['%PDF-']);
    const error = await failure(
      dial({ baseUrl: storage.url, openFile }).upload(`${storage.url}/k`, document()),
    );
    expect(error).toMatchObject({ name: 'ApiError', status });
    expect(storage.log).toHaveLength(1);
    expect(target.log).toEqual([]);
  });
});

function document(): StackFile {
  const sha256 = createHash('sha256').update('%PDF-').digest('hex');
  return new StackFile('docs/prices.pdf', sha256, 5, 'application/pdf');
}

it('a document goes to its storage with its type and without the token', async () => {
  const storage = await serve((_, response) => response.writeHead(200).end());
  const server = await platform((request, response) => {
    if (request.url?.endsWith('/enqueue')) return json(response, 202, { success: true });
    const presignedUrl = `${storage.url}/bucket/k?X-Signature=s`;
    json(response, 201, { data: { sourceId: 's', jobId: 'j', fileKey: 'k', presignedUrl } });
  });
  const openFile = async () => new Blob(['%PDF-']);
  const client = dial({ baseUrl: server.url, credentials: KEY, openFile });
  const body = { name: 'prices.pdf' };
  const scope = { knowledge_base_id: 'k' };
  await knowledgeSource.create(
    { body, scope, files: { file: document() }, again: false, isTaken: () => false },
    client,
  );
  expect(server.log.filter((request) => request.includes(`Bearer ${TOKEN}`))).toHaveLength(2);
  expect(storage.log).toHaveLength(1);
  const [put = ''] = storage.log;
  expect(put).toMatch(/^PUT \/bucket\/k\?X-Signature=s\n/);
  expect(put).toMatch(/content-type\napplication\/pdf\n/);
  expect(put).toMatch(/%PDF-$/);
  expect(put).not.toMatch(/canary|authorization|bearer/i);
});
