import { describe, expect, it } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { failure, KEY, minted, open, type Reply, START, script, useScripts } from './platform.ts';

useScripts();

const good: Reply = {
  status: 201,
  body: { data: { name: 'one' }, success: true, message: 'done' },
};
const times = (count: number, reply: Reply) => Array.from({ length: count }, () => reply);
const inSeconds = (seconds: number) => new Date(START + seconds * 1000).toUTCString();

/** A call of each sort, with the line that it sends. */
const calls = {
  get: { line: 'GET /v1/agents/a', operation: 'getAgent', path: { agentId: 'a' } },
  put: { line: 'PUT /v1/agents/a', operation: 'updateAgent', path: { agentId: 'a' }, body: {} },
  patch: {
    line: 'PATCH /v1/agents/a/sip/registration',
    operation: 'setSipRegistration',
    path: { agentId: 'a' },
    body: { registrationEnabled: true },
  },
  delete: { line: 'DELETE /v1/agents/a', operation: 'deleteAgent', path: { agentId: 'a' } },
  revert: {
    line: 'POST /v1/agents/a/history/7/revert',
    operation: 'revertAgent',
    path: { agentId: 'a', versionId: '7' },
  },
  create: { line: 'POST /v1/agents', operation: 'createAgent', body: { name: 'n' } },
  enqueue: {
    line: 'POST /v1/knowledge-bases/k/sources/s/enqueue',
    operation: 'enqueueKnowledgeSource',
    path: { knowledgeBaseId: 'k', sourceId: 's' },
  },
} as const;

const repeatable = ['get', 'put', 'patch', 'delete', 'revert'] as const;
const unrepeatable = ['create', 'enqueue'] as const;

const passing: readonly Reply[] = [
  { status: 502 },
  { status: 503, body: { error: 'temporarily_unavailable' } },
  { status: 504, body: '<html>', headers: { 'content-type': 'text/html' } },
  { fault: 'ECONNRESET' },
  { fault: 'UND_ERR_SOCKET' },
];
const nameOf = ({ status, fault }: Reply) => fault ?? String(status);
const pairs = <T>(kinds: readonly T[]) =>
  kinds.flatMap((kind) => passing.map((reply) => ({ kind, reply, fault: nameOf(reply) })));

describe('a passing fault', () => {
  it.each(pairs(repeatable))('$fault is outlasted by $kind', async ({ kind, reply }) => {
    const { line, ...call } = calls[kind];
    script({ [line]: [reply, reply, good] });
    const client = open();
    await expect(client.call(call)).resolves.toEqual(good.body);
    expect(client.waits).toEqual([250, 500]);
    expect(client.spent().requests).toBe(3);
  });

  it('that takes as long as a request may is outlasted once', async () => {
    const { line, ...call } = calls.get;
    const silent: Reply = { fault: 'UND_ERR_HEADERS_TIMEOUT' };
    script({ [line]: [silent, good, silent, silent] });
    const client = open();
    await expect(client.call(call)).resolves.toEqual(good.body);
    expect(await failure(client.call(call))).toMatchObject({ name: 'NetworkError' });
    expect(client.waits).toEqual([250, 250]);
  });

  it.each(pairs(unrepeatable))('$fault ends $kind at once', async ({ kind, reply }) => {
    const { line, ...call } = calls[kind];
    script({ [line]: [reply] });
    const client = open();
    const error = await failure(client.call(call));
    expect(error).toMatchObject(
      reply.status === undefined
        ? { name: 'NetworkError', code: 'network', isUnsent: false }
        : { name: 'ApiError', status: reply.status },
    );
    expect(client.waits).toEqual([]);
  });

  it.each(passing.map((reply) => ({ reply, fault: nameOf(reply) })))(
    '$fault that does not pass is the error after six attempts',
    async ({ reply }) => {
      script({ [calls.get.line]: times(6, reply) });
      const client = open();
      const error = await failure(client.call(calls.get));
      expect(error).toMatchObject(
        reply.status === undefined ? { code: 'network' } : { status: reply.status },
      );
      expect(client.waits).toEqual([250, 500, 1000, 2000, 4000]);
    },
  );
});

describe('a lasting fault', () => {
  it.each<{ reply: Reply; what: string }>([
    { reply: { status: 400 }, what: '400' },
    { reply: { status: 404 }, what: '404' },
    { reply: { status: 409 }, what: '409' },
    { reply: { status: 500, body: { error: 'internal' } }, what: '500' },
    { reply: { fault: 'ECONNREFUSED' }, what: 'a wrong port' },
    { reply: { fault: 'ENOTFOUND' }, what: 'a wrong host name' },
    { reply: { fault: 'CERT_HAS_EXPIRED' }, what: 'a bad certificate' },
  ])('$what ends a read at once', async ({ reply }) => {
    script({ [calls.get.line]: [reply] });
    const client = open();
    await failure(client.call(calls.get));
    expect(client.waits).toEqual([]);
  });
});

describe('a request that never left', () => {
  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])(
    '%s: is sent again, a create too, once the platform has answered before',
    async (fault) => {
      script({
        [calls.get.line]: [good],
        [calls.create.line]: [{ fault }, { fault }, good],
      });
      const client = open();
      await client.call(calls.get);
      await expect(client.call(calls.create)).resolves.toEqual(good.body);
      expect(client.waits).toEqual([250, 500]);
    },
  );
});

describe('429', () => {
  it.each([...repeatable, ...unrepeatable])('is outlasted by %s', async (kind) => {
    const { line, ...call } = calls[kind];
    script({ [line]: [{ status: 429 }, { status: 429 }, good] });
    const client = open();
    await expect(client.call(call)).resolves.toEqual(good.body);
    expect(client.waits).toEqual([250, 500]);
  });

  it('is the error after ten attempts, which outlast a limit by the minute', async () => {
    script({ [calls.get.line]: times(10, { status: 429 }) });
    const client = open();
    const error = await failure(client.call(calls.get));
    expect(error).toMatchObject({ status: 429, hint: expect.stringMatching(/--concurrency/) });
    expect(client.waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
  });

  it('waits anywhere between nothing and the longest time', async () => {
    script({ [calls.get.line]: [{ status: 429 }, { status: 429 }, good] });
    const waits: number[] = [];
    let clock = START;
    const sleep = async (milliseconds: number) => {
      waits.push(milliseconds);
      clock += milliseconds;
    };
    const randoms = [0, 0.5];
    const random = () => randoms.shift() ?? 1;
    await open({ pause: { sleep, random }, now: () => clock }).call(calls.get);
    // Within the millisecond of the refusal nothing is sent.
    expect(waits).toEqual([0, 1, 250]);
  });
});

describe('Retry-After', () => {
  it.each([
    { asks: '7', waits: 7000 },
    { asks: ' 7 ', waits: 7000 },
    { asks: '1.5', waits: 1500 },
    { asks: inSeconds(30), waits: 30_000 },
    { asks: '0', waits: 250 },
    { asks: '0.1', waits: 250 },
    { asks: inSeconds(-30), waits: 250 },
    { asks: 'soon', waits: 250 },
    { asks: '', waits: 250 },
    { asks: '-7', waits: 250 },
  ])('$asks', async ({ asks, waits }) => {
    const headers = { 'retry-after': asks };
    script({ [calls.get.line]: [{ status: 429, headers }, { status: 503, headers }, good] });
    const client = open();
    await client.call(calls.get);
    expect(client.waits[0]).toBe(waits);
    expect(client.waits).toHaveLength(2);
  });

  it.each([
    { asks: '301', attempts: 1, waits: [] },
    { asks: '300', attempts: 2, waits: [300_000] },
    { asks: '140', attempts: 3, waits: [140_000, 140_000] },
    { asks: inSeconds(3600), attempts: 1, waits: [] },
  ])('$asks is waited for while five minutes last', async ({ asks, attempts, waits }) => {
    script({
      [calls.get.line]: times(attempts, { status: 429, headers: { 'retry-after': asks } }),
    });
    const client = open();
    expect(await failure(client.call(calls.get))).toMatchObject({ status: 429 });
    expect(client.waits).toEqual(waits);
  });
});

it('a request that is sent again after a new token starts with fresh attempts', async () => {
  script({
    'POST /oauth/token': [
      { body: { access_token: 't1', expires_in: 60 } },
      { body: { access_token: 't2', expires_in: 60 } },
    ],
    [calls.get.line]: [{ status: 503 }, { status: 401 }, { status: 503 }, good],
  });
  const client = open({ credentials: KEY });
  await expect(client.call(calls.get)).resolves.toEqual(good.body);
  expect(client.waits).toEqual([250, 250]);
});

describe('whoever is asked before a write leaves', () => {
  const writes = [...repeatable, ...unrepeatable].filter((kind) => kind !== 'get');

  /** Asks are counted; the one of that number is refused. */
  function asking(refused = Number.POSITIVE_INFINITY) {
    let asked = 0;
    const ask = async () => {
      asked += 1;
      if (asked === refused) throw new CallsheetError('locked', 'the lock is lost');
    };
    return { ask, asked: () => asked };
  }

  it.each(writes)('is asked before each try of %s, once its wait is over', async (kind) => {
    const { line, ...call } = calls[kind];
    script({ [line]: [{ status: 429, headers: { 'retry-after': '30' } }, { status: 429 }, good] });
    const client = open();
    const { ask, asked } = asking();
    const waitsWhenAsked: number[] = [];
    const writer = client.writing(async () => {
      waitsWhenAsked.push(client.waits.length);
      await ask();
    });
    await writer.call(call);
    expect([asked(), waitsWhenAsked]).toEqual([3, [0, 1, 2]]);
  });

  it.each(writes)('stops %s by refusing: nothing leaves any more', async (kind) => {
    const { line, ...call } = calls[kind];
    const seen = script({ [line]: [{ status: 429 }] });
    let left = 0;
    const writer = open().writing(asking(2).ask);
    const count = () => {
      left += 1;
    };
    const error = await failure(writer.call(call, count));
    expect([error, seen.length, left]).toEqual([expect.objectContaining({ code: 'locked' }), 1, 1]);
  });

  it('is asked again once another token is minted', async () => {
    const { line, ...call } = calls.put;
    script({
      'POST /oauth/token': [minted('one'), minted('two')],
      [line]: [{ status: 401 }, good],
    });
    const { ask, asked } = asking();
    await open({ credentials: KEY }).writing(ask).call(call);
    expect(asked()).toBe(2);
  });
});
