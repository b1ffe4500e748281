import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Blob as StackFile } from '../../src/core/value.ts';
import { temporaryFolder } from '../temporary.ts';
import { dial, failure } from './platform.ts';
import { AUTHORITY, clearConnectionVariables, PLATFORM, startHttps, startProxy } from './secure.ts';
import { listen, respond } from './wire.ts';

clearConnectionVariables();

const me = { operation: 'getMe' };
const ACCOUNT = '{"account_id":"acct"}';

async function fileWith(text: string): Promise<string> {
  const folder = temporaryFolder();
  const path = join(folder, 'authorities.pem');
  await writeFile(path, text);
  return path;
}

describe('an authority of the environment', () => {
  it('is trusted beside the others', async () => {
    const server = await startHttps(ACCOUNT);
    vi.stubEnv('SSL_CERT_FILE', AUTHORITY);
    const client = dial({ baseUrl: `https://localhost:${server.port}` });
    await expect(client.call(me)).resolves.toEqual({ account_id: 'acct' });
  });

  it('that is not named is not trusted, and the error says how to name it', async () => {
    const server = await startHttps(ACCOUNT);
    const error = await failure(dial({ baseUrl: `https://localhost:${server.port}` }).call(me));
    expect(error).toMatchObject({
      code: 'network',
      isUnsent: true,
      message: expect.stringMatching(/the certificate of localhost:\d+ is not trusted/),
      hint: expect.stringMatching(/NODE_EXTRA_CA_CERTS or SSL_CERT_FILE/),
    });
    expect(server.received).toEqual([]);
  });

  it.each([
    { what: 'is missing', text: undefined, says: /there is no such file or folder/ },
    { what: 'holds none', text: 'hello', says: /it holds no certificate/ },
    {
      what: 'is damaged',
      text: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      says: /a certificate in it is damaged/,
    },
  ])('whose file $what is an error before anything is sent', async ({ text, says }) => {
    const path = text === undefined ? '/nowhere/authorities.pem' : await fileWith(text);
    vi.stubEnv('SSL_CERT_FILE', path);
    expect(() => dial()).toThrow(says);
    expect(() => dial()).toThrow(`SSL_CERT_FILE ${path} cannot be used`);
  });
});

describe('a proxy of the environment', () => {
  it('carries requests to an https address without seeing what is in them', async () => {
    const server = await startHttps(ACCOUNT);
    const proxy = await startProxy(server.port);
    vi.stubEnv('HTTPS_PROXY', `http://me:proxy-pass@127.0.0.1:${proxy.port}`);
    vi.stubEnv('SSL_CERT_FILE', AUTHORITY);
    const client = dial({ baseUrl: `https://${PLATFORM}` });
    await expect(client.call(me)).resolves.toEqual({ account_id: 'acct' });
    expect(server.received).toMatchObject([
      { line: 'GET /v1/me', headers: { authorization: 'Bearer canary-token', host: PLATFORM } },
    ]);
    const [head = ''] = proxy.seen.heads;
    expect(head).toMatch(/^CONNECT platform\.example\.test:443 HTTP\/1\.1\r\n/);
    expect(head).toContain(`Basic ${Buffer.from('me:proxy-pass').toString('base64')}`);
    expect(proxy.seen.text).not.toBe('');
    expect(head + proxy.seen.text).not.toMatch(/canary|authorization: Bearer|\/v1\/me/i);
    expect(server.received[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('carries uploads, too, which bring no token', async () => {
    const server = await startHttps('{}');
    const proxy = await startProxy(server.port);
    vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv('SSL_CERT_FILE', AUTHORITY);
    const bytes = Buffer.from('%PDF-');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = new StackFile('a.pdf', sha256, bytes.length, 'application/pdf');
    const client = dial({ openFile: async () => new Blob([bytes]) });
    await client.upload('https://storage.example.test/k?sig=canary', file);
    expect(server.received).toMatchObject([{ line: 'PUT /k?sig=canary', body: '%PDF-' }]);
    expect(server.received[0]?.headers).not.toHaveProperty('authorization');
    expect(proxy.seen.heads.join() + proxy.seen.text).not.toContain('canary');
  });

  it.each(['NO_PROXY', 'no_proxy'])('is passed by for what %s names', async (variable) => {
    const proxy = await startProxy(1);
    vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv(variable, 'other.test, .example.test');
    const error = await failure(dial({ baseUrl: `https://${PLATFORM}` }).call({ ...me }));
    expect(error).toMatchObject({ code: 'network' });
    expect(proxy.seen.heads).toEqual([]);
  });

  it.each(['127.0.0.1', '127.9.9.9', 'localhost'])(
    'is passed by on the way to this machine, where http would show it the token: %s',
    async (host) => {
      const proxy = await startProxy(1);
      vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${proxy.port}`);
      const server = await listen((socket) => socket.end(respond(ACCOUNT)));
      onTestFinished(() => server.close());
      const client = dial({ baseUrl: `http://${host}:${server.port}` });
      await client.call(me).catch(() => {});
      expect(proxy.seen.heads).toEqual([]);
    },
  );

  it('that refuses is named, with what it answered and no credentials', async () => {
    const proxy = await startProxy(1, '407 Proxy Authentication Required');
    vi.stubEnv('HTTPS_PROXY', `http://me:canary@127.0.0.1:${proxy.port}`);
    const error = await failure(dial({ baseUrl: `https://${PLATFORM}` }).call(me));
    expect(error).toMatchObject({
      code: 'network',
      message: `GET https://${PLATFORM}/v1/me: the proxy refused to connect to ${PLATFORM} (407) (through the proxy 127.0.0.1:${proxy.port})`,
      hint: expect.stringMatching(/HTTPS_PROXY and the credentials in it/),
    });
    expect(JSON.stringify([String(error), error])).not.toContain('canary');
  });

  it('that is no address is an error before anything is sent', () => {
    vi.stubEnv('HTTPS_PROXY', 'proxy canary');
    expect(() => dial()).toThrow(/^HTTPS_PROXY is not the address of a proxy$/);
  });
});
