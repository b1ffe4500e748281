import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/value.ts';
import type { Call } from '../../src/kinds/kind.ts';
import { DEFAULT_ENDPOINTS, usableEndpoint } from '../../src/platform/endpoints.ts';
import { followPages } from '../../src/platform/pages.ts';
import { runs } from '../long.ts';
import { failure, open, type Reply, script, useScripts } from './platform.ts';

useScripts();

const agents = 'GET /v1/agents';
const list = { operation: 'listAgents', query: { organization_id: 'o' } };
/** A list whose answer the specification does not show. */
const templates = 'GET /v1/email-templates';
const bareList = { operation: 'listEmailTemplates' };

/** Items with the ids from one number up to another. */
const items = (from: number, to: number): readonly JsonObject[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => ({ id: String(from + index) }));

/** A page that says how many items and pages there are. */
const page = (
  data: readonly Json[],
  total: number,
  totalPages = Math.ceil(total / 100),
): Reply => ({
  body: { data, pagination: { limit: 100, total, totalPages } },
});

/** A page that says nothing of others. */
const bare = (data: readonly Json[]): Reply => ({ body: { data } });

const numbered = (data: readonly Json[], number: number): Json => ({
  data,
  pagination: { page: number, limit: 100, total: 200, totalPages: 2 },
});

const threePages = [
  page(items(1, 100), 250),
  page(items(101, 200), 250),
  page(items(201, 250), 250),
];

describe('a list', () => {
  it.each<{ case: string; pages: readonly Reply[]; gives: readonly Json[] }>([
    { case: 'that is empty', pages: [page([], 0)], gives: [] },
    { case: 'that is empty and counts a page', pages: [page([], 0, 1)], gives: [] },
    { case: 'of one page', pages: [page(items(1, 3), 3)], gives: items(1, 3) },
    { case: 'of one full page', pages: [page(items(1, 100), 100)], gives: items(1, 100) },
    { case: 'of several pages', pages: threePages, gives: items(1, 250) },
    {
      case: 'whose pages are smaller than asked for',
      pages: [page(items(1, 2), 4, 2), page(items(3, 4), 4, 2)],
      gives: items(1, 4),
    },
    {
      case: 'that does not count its pages',
      pages: [
        { body: { data: items(1, 100), pagination: { total: 101 } } },
        { body: { data: items(101, 101), pagination: { total: 101 } } },
      ],
      gives: items(1, 101),
    },
    {
      case: 'that counts more pages than items',
      pages: [page(items(1, 1), 1, 1e12)],
      gives: items(1, 1),
    },
    {
      case: 'that a deletion made inconsistent once',
      pages: [page(items(1, 100), 101), page([], 100), page(items(1, 100), 100)],
      gives: items(1, 100),
    },
    {
      case: 'that gave an item twice, and then grows',
      pages: [
        ...[page(items(1, 100), 102), page(items(100, 101), 102)],
        ...[page(items(1, 100), 102), page(items(101, 103), 103)],
      ],
      gives: items(1, 103),
    },
  ])('$case', async ({ pages, gives }) => {
    script({ [agents]: pages });
    await expect(open({ concurrency: 1 }).list(list)).resolves.toEqual(gives);
  });

  it.each<{ case: string; pages: readonly Reply[]; gives: readonly Json[] }>([
    { case: 'without pagination', pages: [bare(items(1, 3))], gives: items(1, 3) },
    { case: 'without pagination, larger', pages: [bare(items(1, 130))], gives: items(1, 130) },
    {
      case: 'without pagination, in pages all the same',
      pages: [bare(items(1, 100)), bare(items(101, 200)), bare(items(201, 230))],
      gives: items(1, 230),
    },
    {
      case: 'without pagination, in full pages',
      pages: [bare(items(1, 100)), bare([])],
      gives: items(1, 100),
    },
    {
      case: 'without pagination, of as many as a page by chance',
      pages: [bare(items(1, 100)), bare(items(1, 100))],
      gives: items(1, 100),
    },
  ])('$case', async ({ pages, gives }) => {
    script({ [templates]: pages });
    await expect(open({ concurrency: 1 }).list(bareList)).resolves.toEqual(gives);
  });

  it('is asked for by page, with its own query', async () => {
    const seen = script({ [agents]: threePages });
    await open({ concurrency: 1 }).list(list);
    expect(seen.map(({ path }) => path)).toEqual([
      '/v1/agents?organization_id=o&page=1&limit=100',
      '/v1/agents?organization_id=o&page=2&limit=100',
      '/v1/agents?organization_id=o&page=3&limit=100',
    ]);
  });

  it('that the platform gives whole is asked for without pages', async () => {
    const seen = script({ 'GET /v1/custom-voices': [bare(items(1, 100))] });
    const voices = { operation: 'listCustomVoices', query: { organizationId: 'o' } };
    await expect(open().list(voices)).resolves.toHaveLength(100);
    expect(seen[0]?.path).toBe('/v1/custom-voices?organizationId=o');
  });
});

describe('a list that does not add up, however often it is read', () => {
  const always = (...pages: readonly Reply[]) => [...pages, ...pages, ...pages, ...pages];
  it.each<{ case: string; pages: readonly Reply[]; says: RegExp }>([
    {
      case: 'a short page',
      pages: [page(items(1, 99), 150), page(items(101, 150), 150)],
      says: /^GET \/v1\/agents did not list everything: it reports 150 entries and returned 149$/,
    },
    {
      case: 'too many items',
      pages: [page(items(1, 3), 2)],
      says: /reports 2 entries and returned 3$/,
    },
    {
      case: 'the first page again',
      pages: [page(items(1, 100), 200), page(items(1, 100), 200)],
      says: /100 of its items more than once$/,
    },
    {
      case: 'a total that changes, and no page for it',
      pages: [page(items(1, 100), 200), page(items(101, 200), 201, 2)],
      says: /reports 201 entries and returned 200$/,
    },
    {
      case: 'fewer pages than it takes',
      pages: [page(items(1, 100), 250, 1)],
      says: /reports 250 entries and returned 100$/,
    },
    {
      case: 'another page than was asked for',
      pages: [page(items(1, 100), 200), { body: numbered(items(101, 200), 3) }],
      says: /page 2 was requested, and it returned page 3$/,
    },
    {
      case: 'more pages than its first one lets expect',
      pages: [page(items(1, 1), 500, 5)],
      says: /reports 500 entries and returned 1$/,
    },
  ])('$case', async ({ pages, says }) => {
    script({ [agents]: always(...pages) });
    const error = await failure(open({ concurrency: 1 }).list(list));
    expect(error).toMatchObject({
      code: 'api',
      message: expect.stringMatching(says),
      hint: expect.stringMatching(/Try again/),
    });
  });

  it('is an error of a list without pagination, too', async () => {
    script({ [templates]: always(bare([...items(1, 2), ...items(2, 2)])) });
    expect(await failure(open().list(bareList))).toMatchObject({
      message: expect.stringMatching(/1 of its items more than once$/),
    });
  });

  it('is an error of a list that should come whole, too', async () => {
    script({ 'GET /v1/custom-voices': always(page(items(1, 50), 60)) });
    const voices = { operation: 'listCustomVoices', query: { organizationId: 'o' } };
    expect(await failure(open().list(voices))).toMatchObject({
      message: expect.stringMatching(/reports 60 entries and returned 50$/),
    });
  });
});

it('a refusal of one page is the error', async () => {
  script({
    [agents]: [page(items(1, 100), 200), { status: 403, body: { error: 'forbidden' } }],
  });
  expect(await failure(open().list(list))).toMatchObject({ status: 403, error: 'forbidden' });
});

it('of a list whose fields are named, items keep these and their id alone', async () => {
  const whole: readonly JsonObject[] = [
    { id: '1', name: 'a', prompt: 'long', constructor: 'x' },
    { id: '2', prompt: 'long' },
  ];
  script({ [agents]: [page(whole, 2)] });
  expect(await open().list(list, ['name', 'toString'])).toEqual([
    { id: '1', name: 'a' },
    { id: '2' },
  ]);
});

describe('a list that changes while it is read', () => {
  const listAgents = usableEndpoint('listAgents', DEFAULT_ENDPOINTS);
  const change = fc.record({
    /** How many requests it comes after. */
    after: fc.integer({ min: 0, max: 12 }),
    does: fc.oneof(
      fc.record({ create: fc.integer({ min: 1, max: 120 }) }),
      fc.record({ remove: fc.double({ min: 0, max: 0.999, noNaN: true }) }),
    ),
  });

  type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

  /** A platform of so many agents, of which some come and go between its answers. */
  function changing(size: number, order: 'created' | 'newest', changes: readonly Change[]) {
    let all = Array.from({ length: size }, (_, at) => `first-${at}`);
    const [start, ever] = [new Set(all), new Set(all)];
    let [answered, made] = [0, 0];
    const perform = async ({ query }: Call) => {
      for (const { does } of changes.filter(({ after }) => after === answered)) {
        if ('create' in does) {
          const fresh = Array.from({ length: does.create }, () => `later-${made++}`);
          for (const id of fresh) ever.add(id);
          all = order === 'created' ? [...all, ...fresh] : [...fresh, ...all];
        } else all = all.filter((_, at) => at !== Math.floor(does.remove * all.length));
      }
      answered += 1;
      const number = Number(query?.page);
      const ids = all.slice((number - 1) * 100, number * 100);
      const pagination = {
        total: all.length,
        page: number,
        totalPages: Math.ceil(all.length / 100),
      };
      return { body: { data: ids.map((id) => ({ id })), pagination }, length: 1 };
    };
    const stayed = () => all.filter((id) => start.has(id));
    return { perform, stayed, ever };
  }

  const sleep = async () => {};

  it('is given with everything that was there all the time, or is an error', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 450 }),
        fc.constantFrom('created', 'newest'),
        // Of what evens out between two answers no total tells.
        fc.uniqueArray(change, { maxLength: 8, selector: ({ after }) => after }),
        fc.constantFrom(1, 4),
        async (size, order, changes, width) => {
          const { perform, stayed, ever } = changing(size, order, changes);
          const found = await followPages({ operation: 'listAgents' }, listAgents, perform, {
            concurrency: width,
            sleep,
          });
          const ids = found.map(({ id }) => String(id));
          expect(new Set(ids).size).toBe(ids.length);
          expect(stayed().filter((id) => !ids.includes(id))).toEqual([]);
          expect(ids.filter((id) => !ever.has(id))).toEqual([]);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('is given although something is created before every answer', async () => {
    const growth = Array.from({ length: 60 }, (_, after) => ({ after, does: { create: 3 } }));
    for (const order of ['created', 'newest'] as const) {
      const { perform, stayed } = changing(360, order, growth);
      const found = await followPages({ operation: 'listAgents' }, listAgents, perform, {
        concurrency: 4,
        sleep,
      });
      expect(new Set(found.map(({ id }) => id))).toEqual(
        new Set([
          ...stayed(),
          ...found.flatMap(({ id }) => (String(id).startsWith('later') ? [id] : [])),
        ]),
      );
    }
  });
});
