import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { createSecureContext, type SecureContextOptions, TLSSocket } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { findRefusal } from '../../src/features/stores/remote/failures.ts';
import { networkError } from '../../src/platform/errors.ts';
import { findProxies, trustFrom } from '../../src/platform/trust.ts';
import { openGiven } from '../features/stores/open-given.ts';
import { temporaryFolder } from '../temporary.ts';
import { dial, failure } from './platform.ts';
import { clearConnectionVariables, listening, startProxy } from './secure.ts';
import { mintAuthority, mintCertificate } from './tls/mint.ts';

clearConnectionVariables();

const ours = mintAuthority('Harbor authority');
const strangers = mintAuthority('Stranger authority');
const server = mintCertificate({ name: 'localhost' }, ours);
const client = mintCertificate({ name: 'callsheet.runner' }, ours);

function fileWith(text: string, name = 'some.pem'): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

/** Whom a server saw. */
type Seen = { readonly names: string[]; readonly port: number };

/** An https server that answers everything alike. */
async function startTls(
  options: SecureContextOptions & { requestCert?: boolean },
  body: string,
): Promise<Seen> {
  const names: string[] = [];
  const server = createHttpsServer(
    { ...options, rejectUnauthorized: options.requestCert === true },
    (request, response) => {
      const { socket } = request;
      if (socket instanceof TLSSocket) names.push(String(socket.getPeerCertificate().subject?.CN));
      response.setHeader('content-type', 'application/json').end(body);
    },
  );
  return { names, port: await listening(server, 'localhost') };
}

/** The beginning of a server of PostgreSQL: it takes TLS and goes no further. */
async function startPostgresTls(
  options: SecureContextOptions & { requestCert?: boolean },
): Promise<Seen> {
  const names: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('S', () => {
        const secure = new TLSSocket(socket, {
          isServer: true,
          secureContext: createSecureContext(options),
          requestCert: options.requestCert === true,
          rejectUnauthorized: options.requestCert === true,
        });
        secure.on('error', () => {});
        secure.on('secure', () => {
          const { subject, issuer } = secure.getPeerCertificate();
          if (issuer?.CN === ours.name) names.push(String(subject.CN));
          secure.destroy();
        });
      });
    });
  });
  return { names, port: await listening(server, 'localhost') };
}

type Options = SecureContextOptions & { readonly requestCert?: boolean };

/** What asks a server that is behind TLS, and what it says of it. */
const ASKERS: readonly {
  readonly name: string;
  readonly start: (options: Options) => Promise<Seen>;
  readonly ask: (
    port: number,
  ) => Promise<{ readonly message: string; readonly hint?: string | undefined }>;
}[] = [
  {
    name: 'the platform',
    start: (options) => startTls(options, '{"account_id":"acct"}'),
    ask: async (port) => {
      const asked = dial({ baseUrl: `https://localhost:${port}` }).call({ operation: 'getMe' });
      return asked.then(() => ({ message: 'fine' }), told);
    },
  },
  {
    name: 'a state over HTTP',
    start: (options) => startTls(options, '{}'),
    ask: (port) => load({ http: { address: `https://localhost:${port}/state` } }),
  },
  {
    name: 'a state in S3',
    start: (options) => startTls(options, '{}'),
    ask: (port) =>
      load({
        s3: {
          bucket: 'b',
          key: 'k',
          endpoint: `https://localhost:${port}`,
          region: 'eu-central-1',
        },
      }),
  },
  {
    name: 'a state in PostgreSQL',
    start: startPostgresTls,
    ask: (port) =>
      load({
        postgres: { url: `postgres://u@localhost:${port}/d?sslmode=verify-full`, stack: 's' },
      }),
  },
];

async function load(place: Parameters<typeof openGiven>[0]) {
  const store = openGiven(place, {
    CALLSHEET_STATE_USERNAME: 'u',
    CALLSHEET_STATE_PASSWORD: 'p',
    CALLSHEET_STATE_TIMEOUT: '5',
    AWS_ACCESS_KEY_ID: 'AKIA',
    AWS_SECRET_ACCESS_KEY: 'secret',
    ...(process.env as Record<string, string>),
  });
  try {
    await store.load();
    return { message: 'fine' };
  } catch (error) {
    return told(error);
  } finally {
    await store.close();
  }
}

function told(error: unknown) {
  if (error instanceof CallsheetError) return error;
  throw error;
}

const CAUSES: readonly (readonly [string, () => Options, RegExp, RegExp])[] = [
  [
    'an unknown issuer',
    () => mintCertificate({ name: 'localhost' }, strangers),
    /certificate of \S+( \S+)? is not trusted: no authority that is known here signed it/,
    /NODE_EXTRA_CA_CERTS or SSL_CERT_FILE/,
  ],
  [
    'an issuer that signed itself',
    () => ({ cert: strangers.cert, key: strangers.key }),
    /is not trusted: no authority that is known here signed it/,
    /NODE_EXTRA_CA_CERTS or SSL_CERT_FILE/,
  ],
  [
    'another name',
    () => mintCertificate({ name: 'other.example.test' }, ours),
    /certificate of \S+( \S+)? is for another name .*other\.example\.test/,
    /a name that the certificate has/,
  ],
  [
    'an end that has passed',
    () => mintCertificate({ name: 'localhost', days: -1 }, ours),
    /certificate of \S+( \S+)? has expired/,
    /Renew it/,
  ],
  [
    'a beginning that has not come',
    () => mintCertificate({ name: 'localhost', days: 30 }, ours),
    /certificate of \S+( \S+)? is not valid yet/,
    /clock of this machine/,
  ],
];

describe.each(ASKERS)('a certificate that is refused by $name', ({ start, ask }) => {
  it.each(CAUSES)('says why: %s', async (_, makeOptions, why, todo) => {
    vi.stubEnv('SSL_CERT_FILE', fileWith(ours.cert));
    const { names, port } = await start(makeOptions());
    const { message, hint } = await ask(port);
    expect(message).toMatch(why);
    expect(hint).toMatch(todo);
    expect(names).toEqual([]);
  });
});

describe.each(ASKERS)('a certificate of our own for $name', ({ name, start, ask }) => {
  const demanding = { ...server, ca: ours.cert, requestCert: true };

  it('is shown to a server that asks', async () => {
    vi.stubEnv('SSL_CERT_FILE', fileWith(ours.cert));
    vi.stubEnv('CALLSHEET_CLIENT_CERT', fileWith(client.cert));
    vi.stubEnv('CALLSHEET_CLIENT_KEY', fileWith(client.key));
    const { names, port } = await start(demanding);
    const { message } = await ask(port);
    expect(message).not.toMatch(/certificate/);
    expect(new Set(names)).toEqual(new Set(['callsheet.runner']));
  });

  it('that is missing, or that another authority signed, ends the connection', async () => {
    vi.stubEnv('SSL_CERT_FILE', fileWith(ours.cert));
    const { names, port } = await start(demanding);
    // A reset may overtake the alert that says why.
    const ended = /wants another certificate|closed the connection|connection was lost/;
    expect((await ask(port)).message, name).toMatch(ended);
    const other = mintCertificate({ name: 'callsheet.runner' }, strangers);
    vi.stubEnv('CALLSHEET_CLIENT_CERT', fileWith(other.cert));
    vi.stubEnv('CALLSHEET_CLIENT_KEY', fileWith(other.key));
    expect((await ask(port)).message, name).toMatch(ended);
    expect(names).toEqual([]);
  });
});

it.each([
  'TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'SSL/TLS_ALERT_BAD_CERTIFICATE',
  'TLSV1_ALERT_UNKNOWN_CA',
])('a server that wants another certificate is told in words: %s', (alert) => {
  const code = `ERR_SSL_${alert}`;
  const cause = Object.assign(new Error('alert'), { code });
  const wanted = {
    why: expect.stringMatching(/wants another certificate/),
    todo: expect.stringMatching(/CALLSHEET_CLIENT_CERT/),
  };
  expect(findRefusal(cause)).toEqual(wanted);
  const line = { method: 'GET', url: 'https://platform.example.test/v1/me' };
  const timeouts = { connect: 1, headers: 1 };
  const error = networkError({ ...line, timeouts, proxy: undefined, hasAnswered: false }, cause);
  expect(error).toMatchObject({
    isUnsent: true,
    message: expect.stringMatching(/platform\.example\.test wants another certificate/),
  });
});

describe('files of the environment that cannot be used', () => {
  const some = () => fileWith(client.cert);
  const key = () => fileWith(client.key);
  it.each<[string, () => Record<string, string>, RegExp]>([
    [
      'a certificate without its key',
      () => ({ CALLSHEET_CLIENT_CERT: some() }),
      /CLIENT_CERT is set, and CALLSHEET_CLIENT_KEY is not/,
    ],
    [
      'a key without its certificate',
      () => ({ CALLSHEET_CLIENT_KEY: key() }),
      /CLIENT_KEY is set, and CALLSHEET_CLIENT_CERT is not/,
    ],
    [
      'a certificate that is not there',
      () => ({ CALLSHEET_CLIENT_CERT: '/nowhere', CALLSHEET_CLIENT_KEY: key() }),
      /CALLSHEET_CLIENT_CERT \/nowhere cannot be used: there is no such file/,
    ],
    [
      'a certificate that is none',
      () => ({ CALLSHEET_CLIENT_CERT: key(), CALLSHEET_CLIENT_KEY: key() }),
      /CALLSHEET_CLIENT_CERT \S+ cannot be used: it holds no certificate/,
    ],
    [
      'a key of another certificate',
      () => ({ CALLSHEET_CLIENT_CERT: some(), CALLSHEET_CLIENT_KEY: fileWith(server.key) }),
      /CALLSHEET_CLIENT_KEY cannot be used: it is not the key of CALLSHEET_CLIENT_CERT/,
    ],
    [
      'a key that is none',
      () => ({ CALLSHEET_CLIENT_CERT: some(), CALLSHEET_CLIENT_KEY: some() }),
      /CALLSHEET_CLIENT_KEY cannot be used: it holds no private key/,
    ],
    [
      'a folder that is not there',
      () => ({ SSL_CERT_DIR: '/nowhere' }),
      /SSL_CERT_DIR \/nowhere cannot be used: there is no such file or folder/,
    ],
    [
      'a folder without certificates',
      () => ({ SSL_CERT_DIR: temporaryFolder() }),
      /SSL_CERT_DIR \S+ cannot be used: there is no certificate in it/,
    ],
  ])('say which and why: %s', (_, env, why) => {
    expect(() => trustFrom(env())).toThrow(why);
  });
});

it('SSL_CERT_DIR names authorities, whatever else lies in its folders', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'sub'));
  symlinkSync('/nowhere', join(folder, 'broken.0'));
  writeFileSync(join(folder, 'notes.txt'), 'no certificate');
  writeFileSync(
    join(folder, 'damaged.pem'),
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
  );
  writeFileSync(join(folder, 'authority.pem'), ours.cert);
  vi.stubEnv('SSL_CERT_DIR', [temporaryFolder(), folder].join(delimiter));
  const { port } = await startTls(server, '{"account_id":"acct"}');
  const client = dial({ baseUrl: `https://localhost:${port}` });
  await expect(client.call({ operation: 'getMe' })).resolves.toEqual({ account_id: 'acct' });
});

describe('ALL_PROXY', () => {
  it('carries requests where no other proxy is named', async () => {
    const { port } = await startTls(server, '{"account_id":"acct"}');
    const proxy = await startProxy(port);
    vi.stubEnv('ALL_PROXY', `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv('SSL_CERT_FILE', fileWith(ours.cert));
    const error = await failure(
      dial({ baseUrl: 'https://platform.example.test' }).call({ operation: 'getMe' }),
    );
    // The server is for another name than the one that was asked for.
    expect(error).toMatchObject({ message: expect.stringMatching(/is for another name/) });
    expect(proxy.seen.heads[0]).toMatch(/^CONNECT platform\.example\.test:443 /);
  });

  it.each<[Record<string, string>, { http: string; https: string } | undefined]>([
    [{}, undefined],
    [{ ALL_PROXY: 'http://all:1' }, { http: 'http://all:1', https: 'http://all:1' }],
    [
      { ALL_PROXY: 'http://all:1', HTTPS_PROXY: 'http://s:1' },
      { http: 'http://all:1', https: 'http://s:1' },
    ],
    [{ HTTP_PROXY: 'http://p:1' }, { http: 'http://p:1', https: 'http://p:1' }],
    [{ HTTPS_PROXY: 'http://s:1' }, { http: '', https: 'http://s:1' }],
    [
      { https_proxy: 'http://low:1', HTTPS_PROXY: 'http://s:1' },
      { http: '', https: 'http://low:1' },
    ],
  ])('is asked last: %j', (env, proxies) => {
    expect(findProxies(env)).toEqual(proxies);
  });

  it.each(['ALL_PROXY', 'all_proxy', 'HTTPS_PROXY'])(
    'that is a SOCKS proxy is refused: %s',
    (name) => {
      expect(() => findProxies({ [name]: 'socks5://127.0.0.1:1080' })).toThrow(
        `${name} names a SOCKS proxy, which Callsheet does not use`,
      );
    },
  );
});
