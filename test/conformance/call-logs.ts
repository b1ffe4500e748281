import { expect } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { ID, TIMESTAMP } from './ids.ts';
import { SEED, withAgent } from './seed.ts';
import { answers, coded, type Row, reads, section, writes } from './suite.ts';
import { records, type World } from './world.ts';

const LOGS = `/v1/agents/${ID.desk}/call-logs`;
const TEXT = expect.stringMatching(/\S/);
const COUNT = expect.toSatisfy(Number.isInteger, 'a whole number');

const logs = async ({ get }: World): Promise<readonly JsonObject[]> => records(await get(LOGS));

const log = async (world: World, id = 'call-1'): Promise<JsonObject> => {
  const found = (await logs(world)).find((one) => one.id === id);
  if (found === undefined) throw new Error(`no call ${id}`);
  return found;
};

const entries = ({ transcript_json: transcript }: JsonObject): readonly JsonObject[] =>
  (Array.isArray(transcript) ? transcript : []).filter((entry: Json) => isObject(entry));

/** A rule that holds for every call of the desk. */
const each = (rule: string, check: (one: JsonObject) => void) =>
  reads(rule, async (world) => {
    const all = await logs(world);
    expect(all.length).toBeGreaterThan(3);
    for (const one of all) check(one);
  });

const FIELDS: { readonly [field: string]: unknown } = {
  id: 'call-1',
  agent_id: ID.desk,
  room_name: TEXT,
  transcript_text: TEXT,
  transcript_json: expect.any(Array),
  entry_count: COUNT,
  call_duration: 120,
  call_started_at: expect.stringMatching(TIMESTAMP),
  call_ended_at: expect.stringMatching(TIMESTAMP),
  session_data: expect.any(Object),
  summary_text: TEXT,
  recording_url: expect.stringMatching(/^https?:/),
  created_at: expect.stringMatching(TIMESTAMP),
  updated_at: expect.stringMatching(TIMESTAMP),
};

const MANY = {
  seed: {
    ...SEED,
    calls: Array.from({ length: 120 }, (_, at) => ({
      agent_id: ID.desk,
      call_started_at: new Date(Date.UTC(2026, 0, 1, at)).toISOString(),
      call_duration: 30,
    })),
  },
};

export const callLogs: readonly Row[] = [
  ...section(
    'Resources · Call log',
    Object.entries(FIELDS).map(([field, matcher]) =>
      reads(`${field} is returned, in its type`, async (world) => {
        expect((await log(world))[field]).toEqual(matcher);
      }),
    ),
    reads('no other field is returned', async (world) => {
      expect(Object.keys(await log(world)).sort()).toEqual(Object.keys(FIELDS).sort());
    }),
    each('a call belongs to its agent', (one) => expect(one.agent_id).toBe(ID.desk)),
    each('entries are counted', (one) => expect(one.entry_count).toBe(entries(one).length)),
    each('the end is the start and the duration', (one) => {
      const [start, end] = [one.call_started_at, one.call_ended_at].map((at) =>
        Date.parse(String(at)),
      );
      expect(Number(end) - Number(start)).toBe(Number(one.call_duration) * 1000);
    }),
    each('an entry has text, speaker, seconds and whether it is partial', (one) => {
      for (const entry of entries(one))
        expect(entry).toEqual({
          text: expect.any(String),
          speaker: expect.stringMatching(/^(agent|user|system)$/),
          timestamp: expect.any(Number),
          is_partial: expect.any(Boolean),
          created_at: expect.any(Number),
        });
    }),
    each('entries lie inside the call', (one) => {
      for (const { timestamp } of entries(one)) {
        expect(Number(timestamp)).toBeGreaterThanOrEqual(0);
        expect(Number(timestamp)).toBeLessThanOrEqual(Number(one.call_duration));
      }
    }),
    each('an entry was made in seconds since 1970, during the call', (one) => {
      const start = Date.parse(String(one.call_started_at)) / 1000;
      for (const { created_at: at } of entries(one)) {
        expect(Number(at)).toBeGreaterThanOrEqual(start - 1);
        expect(Number(at)).toBeLessThanOrEqual(start + Number(one.call_duration) + 60);
      }
    }),
    each('lines of the transcript begin with seconds and speaker', (one) => {
      for (const line of String(one.transcript_text).split('\n').filter(Boolean))
        expect(line).toMatch(/\d+(\.\d+)?\D*\b(agent|user|system)\b/i);
    }),
    each('the transcript says what the entries say', (one) => {
      const whole = entries(one).filter(({ is_partial: partial }) => partial === false);
      for (const { text } of whole) expect(one.transcript_text).toContain(text);
    }),
    each('the session is that of the call', ({ session_data: session, ...one }) =>
      expect(session).toEqual({
        room_name: one.room_name,
        agent_id: one.agent_id,
        total_entries: COUNT,
        final_entries: COUNT,
        caller_id: expect.stringMatching(/^\+?\d+$/),
      }),
    ),
    each('all entries are at least the final ones', ({ session_data: session, ...one }) => {
      const { total_entries: total, final_entries: final } = isObject(session) ? session : {};
      expect(Number(total)).toBeGreaterThanOrEqual(Number(final));
      expect(Number(final)).toBe(
        entries(one).filter(({ is_partial: partial }) => partial === false).length,
      );
    }),
    reads('the caller is named by number', async (world) => {
      expect((await log(world)).session_data).toMatchObject({ caller_id: '+15550111' });
    }),
    reads('a transfer is logged by the system', async (world) => {
      const transferred = (await logs(world)).find(({ call_duration: length }) => length === 60);
      const system = entries(transferred ?? {}).filter(({ speaker }) => speaker === 'system');
      expect(system.map(({ text }) => text).join('\n')).toMatch(/transfer/i);
    }),
    each('the summary has action items and a mood', ({ summary_text: summary }) => {
      expect(summary).toMatch(/action items/i);
      expect(summary).toMatch(/sentiment\W+(Positive|Neutral|Negative)/i);
    }),
    each('the summary begins with a topic of three to five words', ({ summary_text: summary }) => {
      const [first = ''] = String(summary).split('\n').filter(Boolean);
      const words = first.replace(/^.*topic\W*/i, '').match(/[\p{L}\d][\p{L}\d'’-]*/gu) ?? [];
      expect(words.length, first).toBeGreaterThanOrEqual(3);
      expect(words.length, first).toBeLessThanOrEqual(5);
    }),
    reads('the mood is that of the call', async (world) => {
      expect((await log(world)).summary_text).toMatch(/sentiment\W+Positive/i);
    }),
    writes(
      'without recording there is no address of one',
      async (world) => {
        expect((await log(world)).recording_url ?? null).toBeNull();
      },
      withAgent(ID.desk, { enable_recording: false, config: { enable_recording: false } }),
    ),
  ),
  ...section(
    'Endpoints · Call logs',
    reads(
      'data and pagination are the whole answer',
      answers(({ get }) => get(LOGS), 200, {
        data: expect.any(Array),
        pagination: { page: 1, limit: 50, total: 5, totalPages: 1, hasNext: false, hasPrev: false },
      }),
    ),
    reads('page and limit choose a page', async ({ get }) => {
      const all = records(await get(LOGS)).map(({ id }) => id);
      const page = records(await get(`${LOGS}?page=2&limit=2`)).map(({ id }) => id);
      expect(page).toEqual(all.slice(2, 4));
    }),
    reads(
      'an agent that does not exist is not found',
      answers(({ get }) => get(`/v1/agents/${ID.nobody}/call-logs`), 404, coded('not_found')),
    ),
    reads(
      'an agent without access is forbidden',
      answers(({ get }) => get(LOGS, { as: 'north-key' }), 403, coded('forbidden')),
    ),
  ),
  ...section(
    'Limits · Page size',
    writes(
      'call logs have 50 on a page unless asked otherwise',
      async ({ get }) => expect(records(await get(LOGS))).toHaveLength(50),
      MANY,
    ),
    writes(
      'call logs have 100 where they are asked for',
      async ({ get }) => expect(records(await get(`${LOGS}?limit=100`))).toHaveLength(100),
      MANY,
    ),
    writes(
      'call logs never have more than 100',
      async ({ get }) => {
        const reply = await get(`${LOGS}?limit=101`);
        expect(reply.status === 200 ? records(reply).length : 0).toBeLessThanOrEqual(100);
      },
      MANY,
    ),
  ),
];
