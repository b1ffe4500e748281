import { fetch } from 'undici';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { logs, NOW, REPORT_IDS, REPORTS, scoped } from './reports-seed.ts';
import { createWorld, type Reply, type Row, section, type World } from './world.ts';

const { desk, night, recall, gone, nobody } = REPORT_IDS;
const options = { now: () => new Date(NOW) };
const rows = (...all: readonly Row[]): readonly Row[] => all.map((row) => ({ options, ...row }));
const logsOf = ({ body }: Reply): readonly JsonObject[] =>
  Array.isArray(body.data) ? body.data : [];
const entriesOf = ({ transcript_json: entries }: JsonObject): readonly JsonObject[] =>
  Array.isArray(entries) ? entries : [];
const systemTexts = (log: JsonObject) =>
  entriesOf(log).flatMap(({ speaker, text }) => (speaker === 'system' ? [String(text)] : []));

const SUMMARY = new RegExp(
  [
    '^## \\S+( \\S+){2,4}', // a topic of three to five words
    '[^.!?]+\\.( [^.!?]+\\.)?', // one or two sentences
    '### Action Items\\n(- .+\\n?)+?',
    '\\*\\*Sentiment:\\*\\* (Positive|Neutral|Negative)$',
  ].join('\\n\\n'),
);

section(
  'Call logs',
  rows(
    {
      rule: 'the newest call comes first',
      does: (world) => logs(world, desk),
      status: 200,
      body: {
        data: [
          { call_started_at: '2026-03-05T00:00:00.000Z', call_duration: 45 },
          { call_started_at: '2026-03-03T09:59:59.999Z', call_duration: 30 },
          { call_started_at: '2026-03-02T14:00:00.000Z', call_duration: 61 },
          {
            id: 'log-1',
            agent_id: desk,
            call_started_at: '2026-03-02T09:15:00.000Z',
            call_ended_at: '2026-03-02T09:17:00.000Z',
            call_duration: 120,
            created_at: '2026-03-02T09:17:00.000Z',
            updated_at: '2026-03-02T09:17:00.000Z',
          },
        ],
        pagination: { page: 1, limit: 50, total: 4, totalPages: 1, hasNext: false, hasPrev: false },
      },
    },
    {
      rule: 'the oldest comes first under the other dialect',
      options: { ...options, dialect: { callLogOrder: 'oldest' } },
      does: (world) => logs(world, desk),
      status: 200,
      body: { data: [{ id: 'log-1' }, {}, {}, { call_duration: 45 }] },
    },
    {
      rule: 'an agent without calls has an empty page',
      does: async (world) => {
        const body = { name: 'New', organizationId: REPORT_IDS.harbor };
        const made = await world.call('createAgent', { body });
        return logs(world, String(Object(made.body.data).id));
      },
      status: 200,
      body: { data: [], pagination: { total: 0 } },
    },
    {
      rule: 'pages are followed',
      does: (world) => logs(world, desk, { page: 2, limit: 3 }),
      status: 200,
      body: { data: [{ id: 'log-1' }], pagination: { page: 2, total: 4, hasPrev: true } },
    },
    ...[{ limit: 101 }, { limit: 0 }, { page: 0 }, { page: 'x' }].map((query) => ({
      rule: `${JSON.stringify(query)} is a bad request (Limits)`,
      does: (world: World) => logs(world, desk, query),
      status: 400,
      body: { error: 'invalid_request' },
    })),
    {
      rule: 'an unknown agent is not found',
      does: (world) => logs(world, nobody),
      status: 404,
      body: { error: 'not_found' },
    },
    {
      rule: 'neither is one that was deleted, although metrics still know its calls',
      does: (world) => logs(world, gone),
      status: 404,
      body: { error: 'not_found' },
    },
    {
      rule: 'no agent has an id that is none',
      does: (world) => logs(world, 'desk'),
      status: 404,
      body: { error: 'not_found' },
    },
    {
      rule: "an agent outside a key's scope is forbidden, not missing",
      does: async (world) => logs(await scoped(world, 'north'), desk),
      status: 403,
      body: { error: 'forbidden' },
    },
    {
      rule: 'one inside it is read (Authentication 5)',
      does: async (world) => logs(await scoped(world, 'tide'), desk),
      status: 200,
    },
    {
      rule: 'a token that does not hold is invalid_token',
      does: ({ call }) => call('listCallLogs', { path: { agentId: desk }, authorization: null }),
      status: 401,
      body: { error: 'invalid_token' },
    },
  ),
  REPORTS,
);

section(
  'Call log',
  rows(
    {
      rule: 'a transfer is told of: who asked, that it was done, and how the call ended',
      does: (world) => logs(world, desk, { page: 3, limit: 1 }),
      status: 200,
      also: (_, reply) => {
        const [log = {}] = logsOf(reply);
        expect(systemTexts(log)).toEqual([
          'Transfer requested: Complaint',
          'Transfer completed',
          'Call ended: transferred',
        ]);
        expect(log.session_data).toMatchObject({ caller_id: '+12065550101', agent_id: desk });
      },
    },
    {
      rule: 'webhooks that ran are told of, in the order in which they fire (Events)',
      does: (world) => logs(world, night, { limit: 1 }),
      status: 200,
      also: (_, reply) => {
        const [log = {}] = logsOf(reply);
        expect(systemTexts(log)).toEqual([
          'Webhook prefetch (before_call) executed: POST answered 200',
          'Webhook lookup (during_call) executed: POST answered 200',
          'Transfer requested: Complaint',
          'Transfer completed',
          'Call ended: transferred',
          'Webhook archive (after_call) executed: POST answered 200',
        ]);
      },
    },
    {
      rule: 'an agent that speaks Spanish has Spanish calls',
      does: (world) => logs(world, recall),
      status: 200,
      also: (_, reply) =>
        expect(String(logsOf(reply)[0]?.transcript_text)).toMatch(/agent: .*[¿áéíóúñ]/),
    },
    {
      rule: 'a call does not change when its agent does',
      does: async (world) => {
        const before = await logs(world, desk);
        const body = { name: 'Else', language: 'es-US', greetingMessage: 'Other' };
        await world.call('updateAgent', { path: { agentId: desk }, body });
        const after = await logs(world, desk);
        expect(after.body).toEqual(before.body);
        return after;
      },
      status: 200,
    },
    {
      rule: 'there is an address of the recording where recording was on, and only there',
      does: (world) => logs(world, desk),
      status: 200,
      also: async (world, reply) => {
        const all = [...logsOf(reply), ...logsOf(await logs(world, night))];
        expect(all.map((log) => 'recording_url' in log)).toEqual([
          true,
          false,
          true,
          true,
          false,
          false,
        ]);
      },
    },
  ),
  REPORTS,
);

const clock = { at: new Date(NOW) };

test.each([
  { name: 'as it is', change: (url: string) => url, status: 200 },
  { name: 'altered', change: (url: string) => url.replace('log-1', 'log-2'), status: 403 },
  {
    name: 'with a later end',
    change: (url: string) => url.replace(/expires=\d/, 'expires=9'),
    status: 403,
  },
  { name: 'after an hour', laterMs: 3_600_001, change: (url: string) => url, status: 403 },
  {
    name: 'with a token beside the signature',
    change: (url: string) => url,
    headers: { authorization: 'Bearer x' },
    status: 400,
  },
])('Call log: the address of a recording $name answers $status', async (row) => {
  clock.at = new Date(NOW);
  await using world = await createWorld({ seed: REPORTS, now: () => clock.at });
  const url = String(logsOf(await logs(world, desk)).at(-1)?.recording_url);
  clock.at = new Date(clock.at.getTime() + (row.laterMs ?? 0));
  const response = await fetch(row.change(url), { headers: row.headers ?? {} });
  expect(response.status).toBe(row.status);
  const body = Buffer.from(await response.arrayBuffer());
  if (row.status === 200) expect(body.subarray(0, 4).toString()).toBe('RIFF');
});

test('Call log: every log of a generated account keeps to the table', async () => {
  await using world = await createWorld({ ...options, agents: 60, calls: 600, organizations: 12 });
  let [count, partials] = [0, 0];
  for (const agentId of world.sim.store.agents.keys())
    for (const log of logsOf(await logs(world, agentId, { limit: 100 }))) {
      keepsToTable(log);
      count += 1;
      partials += entriesOf(log).filter(({ is_partial: isPartial }) => isPartial === true).length;
    }
  expect(count).toBeGreaterThan(500);
  expect(partials).toBeGreaterThan(count / 2);
});

function keepsToTable(log: JsonObject): void {
  const entries = entriesOf(log);
  const final = entries.filter(({ is_partial: isPartial }) => isPartial === false);
  const times = entries.map(({ timestamp }) => Number(timestamp));
  const started = Date.parse(String(log.call_started_at));
  expect(log.entry_count).toBe(entries.length);
  expect(log.session_data).toEqual({
    room_name: log.room_name,
    agent_id: log.agent_id,
    total_entries: entries.length,
    final_entries: final.length,
    caller_id: expect.stringMatching(/^\+1\d{10}$/),
  });
  expect(log.transcript_text).toBe(
    final
      .map(
        ({ timestamp, speaker, text }) => `[${Number(timestamp).toFixed(1)}s] ${speaker}: ${text}`,
      )
      .join('\n'),
  );
  expect(log.transcript_text).not.toMatch(/[{}]|undefined/);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times.at(-1)).toBe(log.call_duration);
  for (const { timestamp, created_at: at } of entries)
    expect(Number(at)).toBeCloseTo(started / 1000 + Number(timestamp), 0);
  expect(entries.at(-1)).toMatchObject({ speaker: 'system' });
  for (const [index, { is_partial: isPartial, text }] of entries.entries())
    if (isPartial === true)
      expect(String(entries[index + 1]?.text).startsWith(`${String(text)} `)).toBe(true);
  expect(Date.parse(String(log.call_ended_at)) - started).toBe(Number(log.call_duration) * 1000);
  expect(log.summary_text).toMatch(SUMMARY);
}
