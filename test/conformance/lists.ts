import { expect } from 'vitest';
import { isObject, type JsonObject } from '../../src/core/value.ts';
import { ID } from './ids.ts';
import { type Row, reads, section, writes } from './suite.ts';
import { records, type World } from './world.ts';

const FEATURES = `/v1/features?organization_id=${ID.harbor}`;

const feature = async ({ get }: World, key: string, path = FEATURES): Promise<JsonObject> => {
  const found = records(await get(path)).find((entry) => entry.key === key);
  if (found === undefined) throw new Error(`no feature ${key}`);
  return found;
};

const page = async ({ get }: World, query: string): Promise<JsonObject> => {
  const { pagination } = (await get(`/v1/agents?${query}`)).body;
  return isObject(pagination) ? pagination : {};
};

export const lists: readonly Row[] = [
  ...section(
    'Resources · Feature entry',
    ...['key', 'name', 'description', 'category', 'state', 'decided_by'].map((field) =>
      reads(`${field} is text in every entry`, async ({ get }) => {
        const values = records(await get(FEATURES)).map((entry) => typeof entry[field]);
        expect(new Set(values)).toEqual(new Set(['string']));
      }),
    ),
    reads('an entry has seven members and no others', async ({ get }) => {
      for (const entry of records(await get(FEATURES)))
        expect(Object.keys(entry).sort()).toEqual([
          'category',
          'decided_by',
          'description',
          'key',
          'locked_scope',
          'name',
          'state',
        ]);
    }),
    reads('the category is one of seven', async ({ get }) => {
      const categories = new Set(records(await get(FEATURES)).map(({ category }) => category));
      const known = [
        'CAPABILITY',
        'TEMPLATE',
        'LLM_MODEL',
        'TTS',
        'INTEGRATION',
        'OPERATIONAL',
        'COMMERCIAL',
      ];
      expect([...categories].filter((category) => !known.includes(String(category)))).toEqual([]);
    }),
    ...[
      'knowledge_base',
      'custom_voices',
      'integration.smsProvider',
      'llm.alpha-4o',
      'template.outbound',
      'secure_access',
      'phi_redaction',
      'use_reseller_smtp',
    ].map((key) =>
      reads(`${key} is a feature`, async (world) => {
        expect((await feature(world, key)).key).toBe(key);
      }),
    ),
    reads('an available feature has no locked scope', async (world) => {
      expect(await feature(world, 'knowledge_base')).toMatchObject({
        state: 'available',
        locked_scope: null,
      });
    }),
    reads('a decision is one of three', async ({ get }) => {
      const deciders = new Set(records(await get(FEATURES)).map((entry) => entry.decided_by));
      const known = ['feature_administration', 'legacy_column', 'default_available'];
      expect([...deciders].filter((decider) => !known.includes(String(decider)))).toEqual([]);
    }),
    ...(
      [
        ['organization', ID.harbor, 'here'],
        ['reseller', ID.tidewater, 'inherited'],
        ['account', ID.account, 'inherited'],
      ] as const
    ).map(([level, id, scope]) =>
      writes(`a lock of the ${level} shows as ${scope} for the organization`, async (world) => {
        world.sim.lock(level, id, 'custom_voices');
        expect(await feature(world, 'custom_voices')).toMatchObject({
          state: 'locked',
          locked_scope: scope,
          decided_by: 'feature_administration',
        });
      }),
    ),
  ),
  ...section(
    'Resources · Pagination',
    ...['page', 'limit', 'total', 'totalPages'].map((field) =>
      reads(`${field} is an integer`, async (world) => {
        expect((await page(world, ''))[field]).toSatisfy(Number.isInteger);
      }),
    ),
    ...[
      { page: 1, hasNext: true, hasPrev: false },
      { page: 2, hasNext: true, hasPrev: true },
      { page: 3, hasNext: false, hasPrev: true },
    ].map((expected) =>
      reads(`page ${expected.page} of three says what follows and precedes`, async (world) => {
        expect(await page(world, `limit=2&page=${expected.page}`)).toEqual({
          ...expected,
          limit: 2,
          total: 5,
          totalPages: 3,
        });
      }),
    ),
    reads('the pages hold each record once', async ({ get }) => {
      const pages = await Promise.all(
        [1, 2, 3].map(async (number) => records(await get(`/v1/agents?limit=2&page=${number}`))),
      );
      expect(pages.map((items) => items.length)).toEqual([2, 2, 1]);
      expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(5);
    }),
    reads('a page after the last is empty', async ({ get }) => {
      const reply = await get('/v1/agents?limit=2&page=9');
      expect(records(reply)).toEqual([]);
      expect(reply.body.pagination).toMatchObject({ page: 9, hasNext: false });
    }),
  ),
];
