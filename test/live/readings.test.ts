import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { askingOnce, openReadings } from '../../src/live/readings.ts';
import type { HistoryEntry, LiveResource, Reader } from '../../src/plan/reader.ts';
import { memoryReader } from '../memory-reader.ts';

const AGENT = kindNamed('agent');
const POLICY = 'aa0f1f52-74a4-4b3c-8a31-3a90c5f2f5a1';
const scope = { organization_id: 'o1' };
const at = { id: 'a1', scope };
const NO_FACETS: ReadonlySet<string> = new Set();

const AS_READ = {
  id: 'a1',
  organization_id: 'o1',
  name: 'Desk',
  status: 'active',
  greeting_message: 'Hello',
  updated_at: '2026-03-02T09:00:00.250Z',
};

/** A platform with one agent, and how often it was asked for what. */
function platform(record: JsonObject, readAt?: number) {
  const asked = { list: 0, read: 0, history: 0 };
  const now = { record, policies: [{ id: POLICY, name: 'Gentle' }] as readonly JsonObject[] };
  const inside = () =>
    memoryReader({ records: { agent: [now.record], retry_policy: now.policies }, history: {} });
  const reader: Reader = {
    ...inside(),
    list: (kind, ...rest) => {
      if (kind === AGENT) asked.list += 1;
      return inside().list(kind, ...rest);
    },
    read: async (...given) => {
      asked.read += 1;
      const live = await inside().read(...given);
      return live && ({ ...live, readAt } satisfies LiveResource);
    },
    history: (...given) => {
      asked.history += 1;
      return inside().history(...given);
    },
  };
  return { reader, asked, now };
}

type Row = {
  readonly read?: JsonObject;
  readonly readAt?: number;
  readonly facets?: ReadonlySet<string>;
  readonly assume?: boolean;
  /** What is live by the time that it is looked at again. */
  readonly later?: JsonObject;
  readonly meanwhile?: (world: ReturnType<typeof platform>, readings: Readings) => void;
  readonly isKnown: boolean;
};

type Readings = ReturnType<typeof openReadings>;

const SECONDS = { updated_at: '2026-03-02T09:00:00Z' };
const NOON = Date.parse('2026-03-02T12:00:00Z');

/** What makes a list prove that a resource is as it was read, and what does not. */
const ROWS: Readonly<Record<string, Row>> = {
  'as it was read': { isKnown: true },
  'edited since': { later: { updated_at: '2026-03-02T10:00:00.500Z' }, isKnown: false },
  'shown otherwise at the same time': { later: { name: 'Other' }, isKnown: false },
  'of a list without times': { later: { updated_at: null }, isKnown: false },
  'read right after a whole second': { read: SECONDS, isKnown: false },
  'read long after a whole second': { read: SECONDS, readAt: NOON, isKnown: true },
  'with a part that leaves no time': { facets: new Set(['payments']), isKnown: false },
  'on a platform of which nothing is assumed': { assume: false, isKnown: false },
  'written by the run since': {
    meanwhile: (_, readings) => readings.beginWrite('agent', 'a1'),
    isKnown: false,
  },
  'with a policy that is there': {
    read: { default_retry_policy_id: POLICY },
    isKnown: true,
  },
  'with a policy that is gone': {
    read: { default_retry_policy_id: POLICY },
    meanwhile: ({ now }) => Object.assign(now, { policies: [] }),
    isKnown: false,
  },
  deleted: { meanwhile: ({ now }) => Object.assign(now, { record: { id: 'b2' } }), isKnown: false },
};

describe('a resource is not read again', () => {
  for (const [name, row] of Object.entries(ROWS)) {
    const { read = {}, readAt, facets = NO_FACETS, assume = true, later = {}, isKnown } = row;

    const begin = async () => {
      const world = platform({ ...AS_READ, ...read }, readAt);
      let time = 0;
      const readings = openReadings({ assume }, () => time);
      const keeping = readings.keeping(world.reader);
      const first = await keeping.read(AGENT, at, facets);
      Object.assign(world.now, { record: { ...world.now.record, ...later } });
      row.meanwhile?.(world, readings);
      const wait = (milliseconds: number) => {
        time += milliseconds;
      };
      return { ...world, readings, keeping, first, wait };
    };

    test(`${name}: where its list is at hand`, async () => {
      const { keeping, asked, now, first } = await begin();
      const again = await keeping.read(AGENT, { ...at, record: now.record }, facets);
      expect(asked.read).toBe(isKnown ? 1 : 2);
      if (isKnown) expect(again).toEqual(first);
    });

    test(`${name}: right before a write, some time later`, async () => {
      const { readings, reader, asked, first, wait } = await begin();
      wait(60_000);
      const recent = await readings.recent(reader)(AGENT, at, facets);
      expect(recent).toEqual(isKnown ? first : undefined);
      expect(asked.read).toBe(1);
      if (isKnown) expect(asked.list).toBe(1);
    });

    test(`${name}: once everything is written`, async () => {
      const { readings, reader, asked, first, wait } = await begin();
      wait(1);
      readings.endWrite();
      const after = await readings.afterWrites(reader).read(AGENT, at, facets);
      expect(asked.read).toBe(isKnown ? 1 : 2);
      if (isKnown) expect(after).toEqual(first);
    });
  }
});

test('what was read some seconds ago is asked for by no list, nor is what no write came after', async () => {
  const { reader, asked } = platform(AS_READ);
  let time = 0;
  const readings = openReadings({ assume: true }, () => time);
  readings.endWrite();
  time = 1;
  const first = await readings.keeping(reader).read(AGENT, at, NO_FACETS);
  time = 5000;
  expect(await readings.recent(reader)(AGENT, at, NO_FACETS)).toEqual(first);
  expect(await readings.afterWrites(reader).read(AGENT, at, NO_FACETS)).toEqual(first);
  expect(asked).toEqual({ list: 0, read: 1, history: 0 });
});

test('what was read otherwise, or somewhere else, is read', async () => {
  const { reader, asked, now } = platform(AS_READ);
  const keeping = openReadings({ assume: true }).keeping(reader);
  await keeping.read(AGENT, at, NO_FACETS);
  const listed = { ...at, record: now.record };
  await keeping.read(AGENT, listed, new Set(['sip']));
  await keeping.read(AGENT, { ...listed, scope: { organization_id: 'o2' } }, NO_FACETS);
  expect(asked.read).toBe(3);
});

test('a few of a large fleet are read, not listed', async () => {
  const { reader, asked } = platform(AS_READ);
  let time = 0;
  const readings = openReadings({ assume: true }, () => time);
  const large = Array.from({ length: 201 }, (_, index) => ({ id: `a${index}`, scope, record: {} }));
  const keeping = readings.keeping({ ...reader, list: async () => large });
  await keeping.list(AGENT, scope);
  await keeping.read(AGENT, at, NO_FACETS);
  time = 60_000;
  expect(await readings.recent(reader)(AGENT, at, NO_FACETS)).toBeUndefined();
  expect(asked).toEqual({ list: 0, read: 1, history: 0 });
});

test('a reading of a large fleet is confirmed by a list after seconds, and by none that is old', async () => {
  const { reader } = platform(AS_READ);
  let time = 0;
  let lists = 0;
  const records = Array.from({ length: 2000 }, (_, index) => ({ ...AS_READ, id: `a${index}` }));
  const inside: Reader = {
    ...reader,
    list: async () => {
      lists += 1;
      return records.map((record) => ({ id: record.id, scope, record }));
    },
    read: async (_kind, { id }) => ({
      ...{ id, scope, extent: 'whole', document: {} },
      record: { ...AS_READ, id },
    }),
  };
  const readings = openReadings({ assume: true }, () => time);
  const keeping = readings.keeping(inside);
  await keeping.list(AGENT, scope);
  for (const { id } of records.slice(0, 20)) await keeping.read(AGENT, { id, scope }, NO_FACETS);
  const listsAt = async (moment: number) => {
    time = moment;
    lists = 0;
    expect(await readings.recent(inside)(AGENT, at, NO_FACETS)).toMatchObject({ id: 'a1' });
    return lists;
  };
  // Fifty seconds of listing would be allowed by its length alone.
  for (const [moment, asked] of [
    [5_000, 0],
    [6_000, 1],
    [36_000, 0],
    [36_001, 1],
  ] as const)
    expect([moment, await listsAt(moment)]).toEqual([moment, asked]);
});

test('each history is asked for once, for as many as any look takes', async () => {
  const { reader, asked } = platform(AS_READ);
  const once = askingOnce(reader, 100);
  await Promise.all([once.history(AGENT, 'a1', 20), once.history(AGENT, 'a1', 100)]);
  await once.history(AGENT, 'b2', 1);
  expect(asked.history).toBe(2);
});

test('a history that was cut short is asked for again where more is wanted', async () => {
  const entries = Array.from({ length: 30 }, (_, index) => ({ id: 30 - index }) as HistoryEntry);
  const limits: number[] = [];
  const { reader } = platform(AS_READ);
  const history: Reader['history'] = async (_kind, _id, limit) => {
    limits.push(limit);
    return entries.slice(0, limit);
  };
  const once = askingOnce({ ...reader, history }, 20);
  for (const limit of [1, 20, 100, 20, 100])
    expect(await once.history(AGENT, 'a1', limit)).toEqual(entries.slice(0, limit));
  expect(limits).toEqual([20, 100]);
});
