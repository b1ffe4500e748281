import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NetworkError } from '../../src/platform/errors.ts';
import { failure, open, START, useScripts } from './platform.ts';
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
const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

const faults: readonly {
  readonly fault: string;
  readonly breakOff: (socket: Socket) => void;
  readonly says: RegExp;
}[] = [
  {
    fault: 'a reset before the answer',
    breakOff: (socket) => socket.resetAndDestroy(),
    says: /closed the connection before its answer was complete$/,
  },
  {
    fault: 'a connection closed without an answer',
    breakOff: (socket) => socket.end(),
    says: /closed the connection before its answer was complete$/,
  },
  {
    fault: 'half a head',
    breakOff: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-ty'),
    says: /closed the connection before its answer was complete$/,
  },
  {
    fault: 'half a body of a known length',
    breakOff: (socket) => socket.end(`${head}content-length: 99\r\n\r\n{"data":`),
    says: /closed the connection before its answer was complete$/,
  },
  {
    fault: 'half a body in chunks',
    breakOff: (socket) => socket.end(`${head}transfer-encoding: chunked\r\n\r\n8\r\n{"data":\r\n`),
    says: /closed the connection before its answer was complete$/,
  },
  {
    fault: 'half a body without a length',
    breakOff: (socket) => socket.end(`${head}connection: close\r\n\r\n{"data":`),
    says: /broke off in the middle of an answer$/,
  },
  {
    fault: 'something that is not HTTP',
    breakOff: (socket) => socket.end('220 ready\r\n'),
    says: /GET|POST/,
  },
];

describe.each(faults)('$fault', ({ breakOff, says }) => {
  it('is outlasted by a read', async () => {
    const server = await serve((socket, _head, number) =>
      number < 3 ? breakOff(socket) : socket.end(respond('{"data":{}}')),
    );
    const client = open({ baseUrl: server.baseUrl });
    await expect(client.call(read)).resolves.toEqual({ data: {} });
    expect(client.waits).toEqual([250, 500]);
    expect(server.requests()).toBe(3);
  });

  it('ends a create, which is not sent twice', async () => {
    const server = await serve(breakOff);
    const error = await failure(open({ baseUrl: server.baseUrl }).call(write));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ code: 'network', isUnsent: false });
    expect(error).toMatchObject({
      message: expect.stringContaining(`POST ${server.baseUrl}/v1/agents: `),
    });
    expect(error).toMatchObject({ message: expect.stringMatching(says) });
    expect(server.requests()).toBe(1);
  });
});

describe('nothing listens', () => {
  it('at first contact it is the address that is wrong: the error comes at once', async () => {
    const server = await listen(() => {});
    await server.close();
    const client = open({ baseUrl: server.baseUrl });
    const error = await failure(client.call(read));
    expect(error).toMatchObject({
      code: 'network',
      isUnsent: true,
      message: `GET ${server.baseUrl}/v1/agents/a: nothing listens at 127.0.0.1:${server.port}`,
      hint: expect.stringMatching(/base_url/),
    });
    expect(client.waits).toEqual([]);
  });

  it('later it is a restart: even a create waits for it, since it never left', async () => {
    const answer = (socket: Socket) => socket.end(respond('{"data":{"name":"made"}}'));
    const first = await listen(answer);
    let clock = START;
    const client = open({
      baseUrl: first.baseUrl,
      now: () => clock,
      pause: {
        random: () => 1,
        sleep: async (milliseconds) => {
          clock += milliseconds;
          if (servers.length === 0) await serve(answer, first.port);
        },
      },
    });
    await client.call(read);
    await first.close();
    await expect(client.call(write)).resolves.toEqual({ data: { name: 'made' } });
    expect(servers[0]?.requests()).toBe(1);
  });
});

describe('a proxy of the environment', () => {
  const variables = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy'];
  const useProxy = ({ baseUrl }: RawServer) => {
    for (const name of variables) vi.stubEnv(name, baseUrl);
    for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, '');
  };
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('is used', async () => {
    const heads: string[] = [];
    const proxy = await serve((socket, head) => {
      heads.push(head.split('\r\n')[0] ?? '');
      socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
    });
    useProxy(proxy);
    const error = await failure(open({ baseUrl: 'https://platform.example.test' }).call(write));
    expect(error).toMatchObject({ code: 'network', hint: expect.stringMatching(/proxy/) });
    expect(heads).toEqual(['CONNECT platform.example.test:443 HTTP/1.1']);
  });

  it('is passed by on the way to this machine, since http would show it the token', async () => {
    const proxy = await serve((socket) => socket.end(respond('{}')));
    const server = await serve((socket) => socket.end(respond('{"data":{}}')));
    useProxy(proxy);
    await expect(open({ baseUrl: server.baseUrl }).call(read)).resolves.toEqual({ data: {} });
    expect(proxy.requests()).toBe(0);
  });
});

describe('a server that says nothing', () => {
  it.each<{ what: string; answer: (socket: Socket) => void; says: RegExp }>([
    { what: 'at all', answer: () => {}, says: /did not answer within 0.02 s$/ },
    {
      what: 'any more',
      answer: (socket) => socket.write(`${head}content-length: 99\r\n\r\n{"data":`),
      says: /stopped in the middle of an answer$/,
    },
  ])('$what is given up after the time that the options say', async ({ answer, says }) => {
    const server = await serve(answer);
    const timeouts = { headers: 20, body: 20 };
    const error = await failure(open({ baseUrl: server.baseUrl, timeouts }).call(write));
    expect(error).toMatchObject({ code: 'network', message: expect.stringMatching(says) });
    expect(server.requests()).toBe(1);
  });
});

describe('the words of a network fault', () => {
  it('hold no query', async () => {
    const server = await serve((socket) => socket.resetAndDestroy());
    const error = await failure(
      open({ baseUrl: server.baseUrl }).call({
        operation: 'listAgents',
        query: { organization_id: 'canary' },
      }),
    );
    expect(error).toMatchObject({ code: 'network' });
    expect(JSON.stringify([String(error), error])).not.toContain('canary');
  });
});
