import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/value.ts';
import {
  type CallsCommandFlags,
  calls as getCalls,
} from '../../../src/features/reading/reports.ts';
import { openReadStage, type ReadStage, readDocument } from '../../cli/read-stage.ts';
import { call, DESK } from './read-documents.ts';

const LIST = `GET /v1/agents/${DESK}/call-logs`;

/** A platform that lists these calls in pages. */
function listing(calls: readonly JsonObject[]): Promise<ReadStage> {
  return openReadStage({
    [LIST]: ({ searchParams }) => {
      const page = Number(searchParams.get('page'));
      const limit = Number(searchParams.get('limit'));
      const total = calls.length;
      return {
        data: calls.slice((page - 1) * limit, page * limit),
        pagination: { page, limit, total, totalPages: Math.ceil(total / limit) },
      };
    },
  });
}

/** Calls by number; the lower the number, the later the call, a minute apart, the first at 09:00. */
const numbered = (count: number) => Array.from({ length: count }, (_, index) => call(index));
/** The same calls in an order that means nothing. */
const shuffled = (count: number) => numbered(count).map((_, index) => call((index * 11) % count));

/** The numbers of the calls that are shown, and how many pages were read for them. */
async function shown(calls: readonly JsonObject[], flags: Partial<CallsCommandFlags>) {
  const stage = await listing(calls);
  const { out } = await stage.run((to) =>
    getCalls(DESK, { dir: stage.dir, format: 'json', ...flags }, to),
  );
  const { data }: { readonly data: readonly JsonObject[] } = readDocument(out);
  return {
    numbers: data.map(({ id }) => Number(String(id).slice(5, 9))),
    pages: stage.requests.length,
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('newest first: pages are read as long as something on them may be wanted', () => {
  test.each([
    ['the newest fifty', {}, upTo(50), 1],
    ['as many as are asked for', { limit: 120 }, upTo(120), 2],
    ['more than there are', { limit: 1000 }, upTo(350), 4],
    ['the last two hours', { since: '2h' }, upTo(76), 1],
    ['the last five hours', { since: '5h' }, upTo(256), 3],
    [
      'a time with both ends',
      { since: '2026-11-21T08:00Z', until: '2026-11-21T08:10Z' },
      upTo(61).slice(50),
      1,
    ],
    ['the newest of a time', { since: '5h', limit: 3 }, [0, 1, 2], 1],
    ['the newest before a time', { until: '2026-11-21T06:00Z', limit: 2 }, [180, 181], 2],
  ] as const)('%s', async (_, flags, numbers, pages) => {
    expect(await shown(numbered(350), flags)).toEqual({ numbers, pages });
  });
});

describe('another order: everything is read, and nothing is missed', () => {
  test.each([
    ['oldest first', numbered(350).reverse(), 4],
    ['no order', shuffled(350), 4],
    // What is wrong on a page that nobody reads does no harm.
    ['newest first at first', [...numbered(300), ...numbered(350).slice(300).reverse()], 1],
  ])('%s, the last hour', async (_, calls, pages) => {
    const found = await shown(calls, { since: '46m' });
    expect(found.numbers.toSorted((a, b) => a - b)).toEqual(upTo(2));
    expect(found.pages).toBe(pages);
  });

  test.each([
    ['oldest first', numbered(350).reverse()],
    ['no order', shuffled(350)],
  ])('%s, the newest ten', async (_, calls) => {
    expect(await shown(calls, { limit: 10 })).toEqual({ numbers: upTo(10), pages: 4 });
  });

  test('a page whose calls all began at once says nothing of the order', async () => {
    const together = numbered(100).map((one) => ({
      ...one,
      call_started_at: '2026-01-01T00:00:00Z',
    }));
    const { numbers, pages } = await shown([...together, call(100)], { since: '3h' });
    expect({ numbers, pages }).toEqual({ numbers: [100], pages: 2 });
  });
});

describe('calls without a time', () => {
  const timeless = [call(0), call(1)].map(({ call_started_at: _, ...rest }) => rest);

  test.each([
    [{}, [0, 1]],
    [{ since: '7d' }, []],
  ])('%j', async (flags, numbers) => {
    expect((await shown(timeless, flags)).numbers).toEqual(numbers);
  });

  test('are dated by when they were written down', async () => {
    const written = timeless.map((one) => ({ ...one, created_at: '2026-11-20T00:00:00Z' }));
    expect((await shown(written, { since: '7d' })).numbers).toEqual([0, 1]);
  });
});

test('one call is looked for no further than where it is', async () => {
  const stage = await listing(numbered(350));
  const flags = { dir: stage.dir, format: 'json', call: 'call-0150' } as const;
  const { out } = await stage.run((to) => getCalls(DESK, flags, to));
  expect(readDocument(out).data).toEqual(call(150));
  expect(stage.requests.length).toBe(2);
});

test('a call that is not there is an error', async () => {
  const stage = await listing(numbered(3));
  const flags = { dir: stage.dir, format: 'text', call: 'nope' } as const;
  const { err } = await stage.run((to) => getCalls(DESK, flags, to), { exit: 1 });
  expect(err).toContain('has no call whose id begins with nope');
});

describe('text', () => {
  const text = async (calls: readonly JsonObject[], flags: Partial<CallsCommandFlags>) => {
    const stage = await listing(calls);
    return (
      await stage.run((to) => getCalls(DESK, { dir: stage.dir, format: 'text', ...flags }, to))
    ).out;
  };

  test('reports more', async () => {
    expect(await text(numbered(60), {})).toContain(
      `The newest 50 calls of ${DESK}.\n--limit or --since shows more.\n`,
    );
    expect(await text(numbered(50), {})).toContain(`\n50 calls of ${DESK}.\n`);
  });

  test('reports none', async () => {
    expect(await text([], {})).toBe(`No call of ${DESK} in this time.\n`);
    expect(await text([], { transcript: true })).toBe(`No call of ${DESK} in this time.\n`);
  });

  test('shows transcripts one after the other, without summaries', async () => {
    const out = await text(numbered(3), { transcript: true, limit: 2 });
    expect(out.match(/Hello from call \d/g)).toEqual(['Hello from call 0', 'Hello from call 1']);
    expect(out).not.toContain('Sentiment');
    expect(out.split('─'.repeat(60)).length).toBe(2);
  });

  test('shows summaries, without transcripts', async () => {
    const out = await text(numbered(1), { summary: true });
    expect(out).toContain('**Sentiment:** Positive');
    expect(out).not.toContain('Hello from');
  });

  test('falls back on the plain transcript', async () => {
    const { transcript_json: _, ...plain } = call(7);
    expect(await text([plain], { transcript: true })).toContain('  [0] agent: Hello from call 7\n');
  });
});

test('a time that ends before it begins is an error, and nothing is asked', async () => {
  const stage = await listing([]);
  const flags = { dir: stage.dir, format: 'text', since: '2h', until: '7d' } as const;
  const { err } = await stage.run((to) => getCalls(DESK, flags, to), { exit: 1 });
  expect(err).toContain('before it begins');
  expect(stage.requests).toEqual([]);
});

test('csv is written call by call', async () => {
  const stage = await listing(numbered(120));
  const flags = { dir: stage.dir, format: 'csv', since: '1d' } as const;
  const { out } = await stage.run((to) => getCalls(DESK, flags, to));
  expect(out.split('\n').length).toBe(122);
});
