import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { failure, open, type Reply, script, useScripts } from './platform.ts';

useScripts();

const line = 'GET /v1/agents/a/call-logs';
const logs = { operation: 'listCallLogs', path: { agentId: 'a' } };
/** A list whose answer the specification does not show. */
const bareLine = 'GET /v1/email-templates';
const templates = { operation: 'listEmailTemplates' };

/** Calls with the ids from one number up to another. */
const calls = (from: number, to: number): readonly JsonObject[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ id: String(from + index) }));

const page = (data: readonly JsonObject[], total: number, number?: number): Reply => ({
  body: {
    data,
    pagination: {
      ...(number && { page: number }),
      limit: 100,
      total,
      totalPages: Math.ceil(total / 100),
    },
  },
});

async function idsOf(items: AsyncIterable<JsonObject>): Promise<readonly unknown[]> {
  const ids: unknown[] = [];
  for await (const { id } of items) ids.push(id);
  return ids;
}

const ids = (from: number, to: number) => calls(from, to).map(({ id }) => id);

describe('the items of a list one by one', () => {
  it.each<{ case: string; pages: readonly Reply[]; gives: readonly unknown[] }>([
    { case: 'none', pages: [page([], 0)], gives: [] },
    {
      case: 'of several pages',
      pages: [page(calls(1, 100), 150), page(calls(101, 150), 150)],
      gives: ids(1, 150),
    },
    {
      case: 'of a list that grows at its head: what moves on comes once',
      pages: [page(calls(1, 100), 150), page(calls(98, 150), 153)],
      gives: ids(1, 150),
    },
  ])('$case', async ({ pages, gives }) => {
    script({ [line]: pages });
    expect(await idsOf(open().each(logs))).toEqual(gives);
  });

  it.each<{ case: string; pages: readonly Reply[]; gives: readonly unknown[] }>([
    {
      case: 'of pages without pagination, as long as they are full',
      pages: [{ body: { data: calls(1, 100) } }, { body: { data: calls(101, 120) } }],
      gives: ids(1, 120),
    },
    {
      case: 'of a platform that knows no pages',
      pages: [{ body: { data: calls(1, 100) } }, { body: { data: calls(1, 100) } }],
      gives: ids(1, 100),
    },
    {
      case: 'that have no id, equal ones too',
      pages: [{ body: { data: [{ text: 'x' }, { text: 'x' }] } }],
      gives: [undefined, undefined],
    },
  ])('$case', async ({ pages, gives }) => {
    script({ [bareLine]: pages });
    expect(await idsOf(open().each(templates))).toEqual(gives);
  });

  it('asks for no page that nobody wants', async () => {
    const seen = script({ [line]: [page(calls(1, 100), 5_000), page(calls(101, 200), 5_000)] });
    let count = 0;
    for await (const _ of open().each(logs)) {
      count += 1;
      if (count === 100) expect(seen).toHaveLength(1);
      if (count === 150) break;
    }
    expect(seen.map(({ path }) => path)).toEqual([
      '/v1/agents/a/call-logs?page=1&limit=100',
      '/v1/agents/a/call-logs?page=2&limit=100',
    ]);
  });

  it.each<{ case: string; pages: readonly Reply[]; says: RegExp }>([
    {
      case: 'ends too soon',
      pages: [page(calls(1, 100), 150), page(calls(101, 149), 150)],
      says: /reports 150 entries and returned 149$/,
    },
    {
      case: 'repeats a page',
      pages: [page(calls(1, 100), 200), page(calls(1, 100), 200)],
      says: /reports 200 entries and returned 100$/,
    },
    {
      case: 'shrinks',
      pages: [page(calls(1, 100), 250), page(calls(102, 201), 249)],
      says: /had 250 entries at first and 249 later$/,
    },
    {
      case: 'gives another page',
      pages: [page(calls(1, 100), 200), page(calls(101, 200), 200, 3)],
      says: /page 2 was requested, and it returned page 3$/,
    },
    {
      case: 'has an empty page before its last',
      pages: [page(calls(1, 100), 300), page([], 300)],
      says: /its page 2 is empty$/,
    },
    {
      case: 'grows without an end',
      pages: Array.from({ length: 14 }, (_, at) =>
        page(calls(at * 100 + 1, at * 100 + 100), at * 100 + 200),
      ),
      says: /it had 2 pages at first and grows without an end$/,
    },
  ])('is an error of a list that $case, never a shorter list', async ({ pages, says }) => {
    script({ [line]: pages });
    const error = await failure(idsOf(open().each(logs)));
    expect(error).toMatchObject({ code: 'api', message: expect.stringMatching(says) });
    expect(error).toMatchObject({
      message: expect.stringContaining(
        'GET /v1/agents/{agentId}/call-logs did not list everything',
      ),
    });
  });
});
