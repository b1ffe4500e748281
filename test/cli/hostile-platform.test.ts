import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { Json } from '../../src/core/value.ts';
import { features } from '../../src/features/index.ts';
import '../e2e/build.ts';
import { longRows } from '../long.ts';

const ID = '6a1f0c52-8d7e-4b39-9f41-0c2d3e4f5a60';
const ORGANIZATION = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const agent = {
  id: ID,
  organization_id: ORGANIZATION,
  name: 'Front desk',
  system_prompt: 'Be kind.',
  updated_at: '2026-03-01T12:00:00Z',
};

const files: Readonly<Record<string, string>> = {
  'callsheet.yaml': `callsheet: 1\norganization: ${ORGANIZATION}\n`,
  'agents.yaml': 'agents:\n  desk:\n    name: Front desk\n    system_prompt: Be kind.\n',
};

/** What is asked for, and with which number of a page. */
type Asked = 'token' | 'me' | 'list' | 'agent' | 'other';
type Answer = (response: ServerResponse, page: number) => void;

const json =
  (body: Json, headers: Readonly<Record<string, string>> = {}, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

const raw =
  (body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };

/** Sends the same piece again and again, for as long as it is read. */
const endless =
  (begin: string, piece: string): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(begin);
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', more);
    more();
  };

/** A few bytes at a time, none of them the last. */
const trickle: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};

const many = (from: number, count: number, more: object = {}) =>
  Array.from({ length: count }, (_, at) => ({
    id: `id-${from + at}`,
    name: `Agent ${from + at}`,
    organization_id: ORGANIZATION,
    ...more,
  }));

const counted =
  (items: (page: number) => readonly Json[], pagination: (page: number) => Json): Answer =>
  (response, page) =>
    json({ data: items(page), pagination: pagination(page) })(response, page);

const fine: Readonly<Record<Asked, Answer>> = {
  token: json({ access_token: 'canary-token', token_type: 'Bearer', expires_in: 86_400 }),
  me: json({ account_id: 'account' }),
  list: counted(
    () => [agent],
    (page) => ({ page, limit: 100, total: 1, totalPages: 1, hasNext: false, hasPrev: false }),
  ),
  agent: json({ data: agent }),
  other: json({
    data: [],
    period: { start_date: '03/01/2026', end_date: '03/02/2026' },
    feature_administration_enabled: false,
    scope: { level: 'account', id: 'account' },
  }),
};

let ways: Partial<Record<Asked, Answer>> = {};
let requests = 0;

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://platform');
  await text(request);
  requests += 1;
  const asked: Asked =
    pathname === '/oauth/token'
      ? 'token'
      : pathname === '/v1/me'
        ? 'me'
        : pathname === '/v1/agents'
          ? 'list'
          : pathname === `/v1/agents/${ID}`
            ? 'agent'
            : 'other';
  (ways[asked] ?? fine[asked])(response, Number(searchParams.get('page') ?? 1));
});

let dir = '';
let url = '';
const env = () => ({
  CALLSHEET_BASE_URL: url,
  CALLSHEET_CLIENT_ID: 'key',
  CALLSHEET_CLIENT_SECRET: 'canary-client-secret',
  CALLSHEET_FINGERPRINT_KEY: 'canary-fingerprint-key-0123456789',
});

/** Milliseconds. On a busy machine an answer that is too large takes seconds to get there. */
const PATIENT = { headers: 30_000, body: 30_000, answer: 60_000 };
const IMPATIENT = { headers: 300, body: 300, answer: 600 };

async function run(argv: readonly string[], timeouts = PATIENT) {
  let said = '';
  const catching = (chunk: unknown) => {
    said += String(chunk);
    return true;
  };
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(catching),
  );
  requests = 0;
  try {
    const exit = await runProgram([...argv, '--dir', dir], {
      features,
      env: env(),
      now: () => new Date('2026-03-02T12:00:00Z'),
      stop: new AbortController().signal,
      version: '0.0.0',
      pause: { sleep: async () => {}, random: () => 1 },
      timeouts,
    });
    return { exit, said: said.replace(/\s+/g, ' ') };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'callsheet-hostile-'));
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await run(['apply', '--auto-approve'])).toMatchObject({ exit: 0 });
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true, force: true });
});

const commands: readonly (readonly string[])[] = [
  ['plan'],
  ['plan', '--refresh', 'full'],
  ['drift'],
  ['get', 'agents'],
  ['export', '--out', 'exported'],
];
/** What takes long is asked of one command alone. */
const planning = commands.slice(0, 1);
const refreshing = commands.slice(1, 2);

type Row = {
  readonly what: string;
  readonly on: Asked;
  readonly answer: Answer;
  readonly says: RegExp;
  /** Whether it is the time that it is refused for. */
  readonly isSlow?: true;
  /** Commands that get that far; all of them unless given. */
  readonly by?: readonly (readonly string[])[];
};

const bomb = Buffer.alloc(40_000_000, 0x20);
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const total = (count: number, pages: number) => (page: number) => ({
  page,
  limit: 100,
  total: count,
  totalPages: pages,
  hasNext: true,
  hasPrev: page > 1,
});
const full = (page: number) => many(page * 100, 100);

const rows: readonly Row[] = [
  {
    what: 'a body without an end',
    on: 'list',
    answer: endless('{"data":[', `"${'x'.repeat(65_536)}",`),
    says: /GET .*\/v1\/agents answered with more than 32 MB Callsheet takes at most 32 MB in one answer/,
  },
  {
    what: 'a body without an end, in tiny pieces',
    on: 'list',
    answer: (response) => {
      response.writeHead(200, { 'transfer-encoding': 'chunked' });
      response.flushHeaders();
      const piece = '1\r\n \r\n'.repeat(20_000);
      const more = () => {
        while (!response.destroyed && response.socket?.write(piece));
      };
      response.socket?.on('drain', more);
      more();
    },
    says: /answered with its body in more than 500,?000 pieces/,
    by: planning,
  },
  {
    what: 'a body that trickles',
    on: 'list',
    answer: trickle,
    says: /and did not end it/,
    isSlow: true,
    by: planning,
  },
  {
    what: 'no answer',
    on: 'list',
    answer: () => {},
    says: /did not answer within 0.3 s/,
    isSlow: true,
    by: planning,
  },
  ...[
    ['gzip', gzipSync(bomb)] as const,
    ['deflate', deflateSync(bomb)] as const,
    ['br', brotliCompressSync(bomb)] as const,
  ].map(([encoding, body]) => ({
    what: `a ${encoding} bomb`,
    on: 'list' as const,
    answer: raw(body, { 'content-encoding': encoding }),
    says: new RegExp(`answered with a compressed body \\(content-encoding: ${encoding}\\)`),
  })),
  {
    what: 'JSON of a thousand levels',
    on: 'list',
    answer: raw(`{"data":[{"id":"a","x":${deep(1000)}}]}`),
    says: /answered with JSON of more than 120 levels/,
  },
  {
    what: 'JSON of ten million levels',
    on: 'list',
    answer: raw(deep(10_000_000)),
    says: /answered with JSON of more than 120 levels/,
    by: planning,
  },
  {
    what: 'an agent of many levels',
    on: 'agent',
    answer: raw(`{"data":{"id":"${ID}","integrations":${'{"a":'.repeat(500)}1${'}'.repeat(500)}}}`),
    says: /answered with JSON of more than 120 levels/,
    by: refreshing,
  },
  {
    what: 'more values than memory has room for',
    on: 'list',
    answer: raw(`{"data":[${'{},'.repeat(5_000_000)}{}]}`),
    says: /answered with more than 4,000,000 values/,
    by: planning,
  },
  {
    what: 'no pagination',
    on: 'list',
    answer: json({ data: [agent] }),
    says: /answered 200 without `pagination`/,
  },
  {
    what: 'pagination without a total',
    on: 'list',
    answer: json({ data: [agent], pagination: { page: 1 } }),
    says: /answered with no `total` in its pagination/,
  },
  ...[-5, 0.5, 1e300, 'many'].map((count) => ({
    what: `a total of ${count}`,
    on: 'list' as const,
    answer: json({ data: [agent], pagination: { page: 1, total: count, totalPages: 1 } }),
    says: /answered with a `total` of \S+ in its pagination/,
  })),
  {
    what: 'a total beyond numbers',
    on: 'list',
    answer: raw('{"data":[],"pagination":{"total":1e999,"totalPages":1e999}}'),
    says: /answered with a `total` of \S+ in its pagination/,
  },
  {
    what: 'a million pages',
    on: 'list',
    answer: counted(full, total(100_000_000, 1_000_000)),
    says: /a list of 100,000,000 entries on 1,000,000 pages .* at most 10,000 pages/,
  },
  {
    what: 'more pages than it has entries for',
    on: 'list',
    answer: counted((page) => many(page, 1), total(1_000_000, 10_000)),
    says: /did not list everything: it reports 1000000 entries and returned 1\b/,
  },
  {
    what: 'the same page again and again',
    on: 'list',
    answer: counted(() => full(1), total(900_000, 9_000)),
    says: /did not list everything: it returned \d+ of its items more than once/,
  },
  {
    what: 'the first page whichever was asked for',
    on: 'list',
    answer: counted(full, () => total(900_000, 9_000)(1)),
    says: /did not list everything: page \d+ was requested, and it returned page 1/,
  },
  {
    what: 'an id without an end',
    on: 'list',
    answer: json({ data: [{ ...agent, id: 'x'.repeat(5_000_000) }], pagination: total(1, 1)(1) }),
    says: /answered with an id of more than 1,000 characters/,
  },
  {
    what: 'a redirect to itself',
    on: 'list',
    answer: (response) => {
      response.writeHead(302, { location: `${url}/v1/agents` });
      response.end();
    },
    says: /answered 302, a redirect to/,
  },
  {
    what: 'an absurd Retry-After',
    on: 'list',
    answer: json({ error: 'slow_down' }, { 'retry-after': '99999999999' }, 429),
    says: /asks to wait 1,157,407 days/,
  },
  {
    what: 'an error of ten megabytes',
    on: 'list',
    answer: json({ error: 'x'.repeat(10_000_000) }, {}, 400),
    says: /x… \(10,000,000 characters\)/,
    by: planning,
  },
  {
    what: 'another agent',
    on: 'agent',
    answer: json({ data: { ...agent, id: ORGANIZATION } }),
    says: new RegExp(
      `/v1/agents/${ID} answered with another resource: its \`id\` is "${ORGANIZATION}"`,
    ),
    by: refreshing,
  },
  {
    what: 'a page of the web as a token',
    on: 'token',
    answer: raw('<html>'.repeat(1000), { 'content-type': 'text/html' }),
    says: /\/oauth\/token answered 200 with text\/html instead of JSON/,
  },
  {
    what: 'a token without an end',
    on: 'token',
    answer: json({ access_token: 'x'.repeat(5_000_000), token_type: 'Bearer', expires_in: 1 }),
    says: /an access_token of more than 16,384 characters/,
  },
  {
    what: 'a token endpoint that does not end',
    on: 'token',
    answer: endless('{"access_token":"', 'x'.repeat(65_536)),
    says: /\/oauth\/token answered with more than 32 MB/,
    by: planning,
  },
];

/** What the client refuses it refuses to every command: here each answer is given to `plan`, and to one other in turn. */
const withCommands = rows.map((row, at) => ({
  ...row,
  by: row.by ?? longRows(commands, (_, index) => index === 0 || index === 1 + (at % 4)),
}));

describe.each(withCommands)('a platform that answers with $what', (row) => {
  const { on, answer, says, by, isSlow } = row;
  it.each(by.map((argv) => argv.join(' ')))('is an error of %s', async (line) => {
    ways = { [on]: answer };
    try {
      const { exit, said } = await run(line.split(' '), isSlow ? IMPATIENT : PATIENT);
      expect(said.slice(0, 4000)).toMatch(says);
      expect(exit).toBe(1);
      expect(said).not.toMatch(/Callsheet itself failed|RangeError|\bat \w+ \(/);
      expect(said.length).toBeLessThan(5_000);
      expect(requests).toBeLessThan(60);
    } finally {
      ways = {};
      server.closeAllConnections();
    }
  });
});

describe('in half a gigabyte', () => {
  const reporting = `data:text/javascript,${encodeURIComponent(
    "process.on('exit', () => process.stderr.write(`peak ${process.resourceUsage().maxRSS}`));",
  )}`;

  const answers: readonly { what: string; answer: Answer; says: RegExp }[] = [
    {
      what: 'several bodies without an end at once',
      answer: (response, page) =>
        page === 1
          ? counted(full, total(10_000, 100))(response, page)
          : endless('{"data":["', 'x'.repeat(65_536))(response, page),
      says: /answered with more than 32 MB/,
    },
    {
      what: 'pages that are each as large as may be',
      answer: counted(
        (page) => many(page * 100, 100, { name: `${page}${'é'.repeat(150_000)}` }),
        total(10_000, 100),
      ),
      says: /a list whose names and dates take more than 64 MB/,
    },
    {
      what: 'values without an end',
      answer: raw(`{"data":[${'{},'.repeat(9_000_000)}{}]}`),
      says: /answered with more than 4,000,000 values/,
    },
  ];
  it.each(longRows(answers, ({ what }) => what === 'values without an end'))(
    'plan ends with an error of $what',
    async ({ answer, says }) => {
      ways = { list: answer };
      try {
        const child = spawn(
          process.execPath,
          ['--import', reporting, inject('bin'), 'plan', '--dir', dir],
          { env: { PATH: process.env.PATH, ...env() }, stdio: ['ignore', 'ignore', 'pipe'] },
        );
        const [said] = await Promise.all([text(child.stderr), once(child, 'close')]);
        expect(said.replace(/\s+/g, ' ')).toMatch(says);
        expect(child.exitCode).toBe(1);
        expect(Number(/peak (\d+)/.exec(said)?.[1]) / 1024).toBeLessThan(512);
      } finally {
        ways = {};
        server.closeAllConnections();
      }
    },
  );
});
