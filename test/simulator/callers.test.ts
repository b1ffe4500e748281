import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { getEnd, OUTCOMES } from '../../src/simulator/calls/call.ts';
import { ADMIN_HEADER, ADMIN_PATH, type SeedDocument } from '../../src/simulator/index.ts';
import { createWorld, IDS, type Reply, tokenOf, type World, webhook } from './world.ts';

/** A Wednesday. */
const NOW = Date.parse('2026-03-04T18:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`).join(' ');

const AGENT: JsonObject = {
  organization_id: IDS.harbor,
  timezone: 'America/New_York',
  language: 'en-US',
  greeting_message: 'Harbor Dental, how can I help?',
  system_prompt: `You answer the phone of a dental clinic. ${words(20)}`,
  transfer_enabled: true,
  transfer_rules: 'Transfer callers who are in pain.',
  enable_recording: false,
  extensions: { tools: [webhook('crm_lookup', 'during_call')] },
};

const idOf = (index: number) => `11111111-0000-4000-a000-${String(index).padStart(12, '0')}`;
const FIRST = idOf(0);

const FLEET: SeedDocument = {
  organizations: [{ id: IDS.harbor, name: 'Harbor Dental' }],
  agents: Array.from({ length: 12 }, (_, index) => ({
    ...AGENT,
    organization_id: IDS.harbor,
    id: idOf(index),
    name: `Front desk ${index}`,
  })),
};

const worldOf = (options: Parameters<typeof createWorld>[0] = {}) =>
  createWorld({ seed: FLEET, now: () => new Date(NOW), callers: { weeks: 0 }, ...options });

/** With a new token, since days may have passed. */
const ask = async (world: World, ...[operation, given]: Parameters<World['call']>) => {
  const { clientId, clientSecret } = world.sim;
  const authorization = await tokenOf(world, clientId, clientSecret);
  return world.call(operation, { ...given, authorization });
};

const report = async (world: World, span = { startDate: '2026-01-01', endDate: '2026-12-31' }) => {
  const { body } = await ask(world, 'getMetrics', { query: span });
  return Object(body.data) as { readonly [block: string]: JsonObject };
};

const listOf = ({ body }: Reply): readonly JsonObject[] =>
  Array.isArray(body.data) ? body.data : [];

const logsOf = async (world: World, agentId = FIRST) =>
  listOf(await ask(world, 'listCallLogs', { path: { agentId }, query: { limit: '100' } }));

const TOKEN = 'token-of-this-test';

const steer = ({ sim }: World, command: string, body: JsonObject) =>
  request(`${sim.url}${ADMIN_PATH}/${command}`, {
    method: 'POST',
    headers: { [ADMIN_HEADER]: TOKEN },
    body: JSON.stringify(body),
  });

const callsOf = ({ sim }: World, agentId: string) => sim.store.calls.get(agentId)?.calls ?? [];

type Tally = { readonly [count: string]: number };

/** What metrics say, and of calls what metrics do not show. */
async function tally(world: World): Promise<Tally> {
  const { resolutionBreakdown, metrics } = await report(world);
  const calls = [...world.sim.store.calls.values()].flatMap((book) => book.calls);
  const talks = calls.filter(({ outcome }) => outcome === 'resolved' || outcome === 'transferred');
  return {
    ...Object.fromEntries(OUTCOMES.map((name) => [name, Number(resolutionBreakdown?.[name])])),
    calls: Number(metrics?.totalCalls),
    seconds: Math.round(60 * Number(metrics?.totalMinutes)),
    talked: talks.reduce((sum, { duration }) => sum + duration, 0),
    hangups: calls.filter(({ duration }) => duration < 10).length,
    failed: calls.filter(({ failed }) => failed !== undefined).length,
  };
}

/** The tally of two weeks after an edit of every agent. */
async function twoWeeks(patch: JsonObject, first: JsonObject = {}): Promise<Tally> {
  const agents = FLEET.agents?.map((agent) => ({ ...agent, ...first })) ?? [];
  await using world = await worldOf({ seed: { ...FLEET, agents } });
  if (Object.keys(patch).length > 0) for (const { id } of agents) world.sim.edit(String(id), patch);
  world.sim.advance(2 * WEEK);
  return await tally(world);
}

let usual: Tally;
beforeAll(async () => {
  usual = await twoWeeks({});
});

/** A count as it was before, and a share of other counts of before. */
const of = (name: string, share = 1) => share * (usual[name] ?? 0);

/** What the page says of when a setting counts, an edit that makes it so, and what comes of it. */
const NOTICED: readonly { when: string; patch: JsonObject; expected: () => Tally }[] = [
  {
    when: 'is not `active`',
    patch: { status: 'inactive' },
    expected: () => ({ calls: 0, resolved: 0, abandoned: 0, seconds: 0 }),
  },
  {
    when: 'has more than 40 words',
    patch: { greeting_message: words(41) },
    expected: () => ({
      calls: of('calls'),
      resolved: of('resolved', 0.8),
      transferred: of('transferred', 0.8),
      abandoned: of('abandoned', 0.8) + of('calls', 0.2),
      hangups: of('hangups', 0.8) + of('calls', 0.2),
    }),
  },
  {
    when: 'leaves out a language of the callers: those it had at first, both for `multi`',
    patch: { language: 'es-US' },
    expected: () => ({
      calls: of('calls'),
      resolved: of('resolved', 0.3),
      abandoned: of('abandoned', 0.3) + of('calls', 0.7),
    }),
  },
  ...[{ transfer_enabled: false }, { transfer_rules: null }].map((patch) => ({
    when: 'is empty, or `transfer_enabled` is not true',
    patch,
    expected: () => ({
      resolved: of('resolved'),
      transferred: 0,
      abandoned: of('abandoned') + of('transferred', 0.6),
      other: of('other') + of('transferred', 0.4),
    }),
  })),
  {
    when: 'has fewer than 20 words',
    patch: { system_prompt: words(19) },
    expected: () => ({
      calls: of('calls'),
      resolved: of('resolved', 0.9),
      transferred: of('transferred'),
      abandoned: of('abandoned'),
      other: of('other') + of('resolved', 0.1),
    }),
  },
  {
    when: 'is empty',
    patch: { system_prompt: ' ' },
    expected: () => ({ resolved: of('resolved', 0.4), other: of('other') + of('resolved', 0.6) }),
  },
  {
    when: 'has more than 400 words',
    patch: { system_prompt: words(401) },
    expected: () => ({
      calls: of('calls'),
      resolved: of('resolved'),
      talked: of('talked', 1.3),
      seconds: of('seconds') + of('talked', 0.3),
    }),
  },
  ...['https://broken.example.test/c', 'http://crm.example.test/c'].map((url) => ({
    when: 'has a webhook whose `url` is not https, or whose host begins with `broken.`',
    patch: tools({ url }),
    expected: () => ({ resolved: of('resolved'), failed: of('calls', 0.4) }),
  })),
];

describe('callers notice', () => {
  test.each(NOTICED)('that a setting $when: $patch', async ({ patch, expected }) => {
    const found = await twoWeeks(patch);
    expect(usual.calls).toBeGreaterThan(5000);
    // Four standard deviations of a count; what is the same call by call is far closer. Seconds of calls are rounded.
    for (const [name, count] of Object.entries(expected()))
      expect(Math.abs((found[name] ?? 0) - count), name).toBeLessThanOrEqual(4 * Math.sqrt(count));
  });

  test('an agent that speaks no longer what half of them speak', async () => {
    const both = { language: 'multi' };
    const [before, found] = [await twoWeeks({}, both), await twoWeeks({ language: 'en-US' }, both)];
    const lost = 0.35 * ((before.calls ?? 0) - (before.abandoned ?? 0));
    expect((found.abandoned ?? 0) - (before.abandoned ?? 0)).toBeCloseTo(lost, -2.5);
  });

  test('all that the page says', () => {
    const page = readFileSync(
      new URL('../../docs/reference/simulator.md', import.meta.url),
      'utf8',
    );
    const section = /## Callers\n(.*?)\n## /s.exec(page)?.[1] ?? '';
    const rows = section.matchAll(/^\| `[\w.]+` \| (.*?) \| .*? \|$/gm);
    const said = new Set([...rows].map(([, when]) => when));
    for (const { when } of NOTICED) expect(said).toContain(when);
    expect(said.size).toBe(new Set(NOTICED.map(({ when }) => when)).size);
  });
});

function tools(fields: JsonObject): JsonObject {
  return { extensions: { tools: [{ ...webhook('crm_lookup', 'during_call'), ...fields }] } };
}

test('callers notice nothing else', async () => {
  const unnoticed: readonly JsonObject[] = [
    { greeting_message: 'Harbor Dental, what can I do?' },
    { name: 'Desk', description: words(500), voice_settings: { speed: 1.5 } },
    { greeting_message: words(40) },
    { system_prompt: words(20) },
    { system_prompt: words(400) },
    { transfer_rules: words(3) },
    { language: 'multi' },
    tools({ url: 'https://broken-not.example.test/c' }),
  ];
  await using before = await worldOf();
  await using found = await worldOf();
  for (const [index, patch] of unnoticed.entries()) found.sim.edit(idOf(index), patch);
  for (const { sim } of [before, found]) sim.advance(2 * WEEK);
  expect(await tally(found)).toEqual(await tally(before));
  const calls = (world: World) =>
    unnoticed.map((_, index) =>
      callsOf(world, idOf(index)).map(({ agent: _agent, ...call }) => call),
    );
  expect(JSON.stringify(calls(found))).toBe(JSON.stringify(calls(before)));
});

/** Writes, edits and days, with a look in between where one is wanted. */
async function life(look: (world: World) => unknown) {
  await using world = await worldOf();
  const { sim } = world;
  const pass = async (milliseconds: number) => {
    sim.advance(milliseconds);
    await look(world);
  };
  // Ids are counted, those of tokens too: it is made before anybody looks.
  sim.advance(20 * HOUR);
  const created = await ask(world, 'createAgent', {
    body: {
      organizationId: IDS.harbor,
      name: 'New desk',
      language: 'es-US',
      systemPrompt: words(30),
    },
  });
  const id = String(Object(created.body.data).id);
  await pass(10 * HOUR + 12_345);
  await ask(world, 'updateAgent', {
    path: { agentId: FIRST },
    body: { greetingMessage: words(60) },
  });
  for (let hour = 0; hour < 16; hour += 1) await pass(HOUR);
  sim.edit(idOf(1), { status: 'inactive' });
  await pass(1.5 * DAY);
  sim.edit(idOf(1), { status: 'active' });
  await pass(7 * HOUR);
  await ask(world, 'updateAgent', { path: { agentId: id }, body: { language: 'en-US' } });
  await pass(DAY);
  await ask(world, 'deleteAgent', { path: { agentId: idOf(2) } });
  await pass(DAY);
  const logs = await Promise.all([FIRST, idOf(1), id].map((agent) => logsOf(world, agent)));
  return { report: await report(world), logs };
}

test('the same seed, moves and writes give the same calls, however often somebody looks', async () => {
  const unseen = await life(() => undefined);
  const seen = await life(async (world) => {
    await report(world);
    await ask(world, 'listCallLogs', { path: { agentId: idOf(1) }, query: { limit: '2' } });
  });
  expect(unseen.logs.map(({ length }) => length > 10)).toEqual([true, true, true]);
  expect(seen).toEqual(unseen);
  await using other = await worldOf({ callers: { weeks: 0, seed: 2 } });
  other.sim.advance(DAY);
  expect((await logsOf(other)).at(-1)).not.toEqual(unseen.logs[0]?.at(-1));
});

test('settings count from the moment of the write, and a deleted agent is called no longer', async () => {
  await using world = await worldOf({ callers: { weeks: 0, perDay: 2000 }, admin: TOKEN });
  const { sim } = world;
  const startsOf = (agentId: string) =>
    callsOf(world, agentId).map(({ startedAt }) => Math.floor((startedAt - NOW) / HOUR));
  const update = (status: string) =>
    ask(world, 'updateAgent', { path: { agentId: FIRST }, body: { status } });
  const versions = async () =>
    listOf(await ask(world, 'listAgentHistory', { path: { agentId: idOf(2) } })).map(
      ({ id }) => id,
    );

  sim.advance(2 * HOUR);
  await update('inactive');
  sim.edit(idOf(2), { greeting_message: words(60) });
  sim.advance(HOUR);
  await update('active');
  await ask(world, 'deleteAgent', { path: { agentId: idOf(1) } });
  await steer(world, 'delete', { agentId: idOf(3) });
  await ask(world, 'revertAgent', {
    path: { agentId: idOf(2), versionId: String((await versions()).at(-1)) },
  });
  sim.advance(2 * HOUR);
  await report(world);

  expect(new Set(startsOf(FIRST))).toEqual(new Set([0, 1, 3, 4]));
  for (const deleted of [idOf(1), idOf(3)])
    expect(new Set(startsOf(deleted))).toEqual(new Set([0, 1, 2]));
  const leaving = callsOf(world, idOf(2)).reduce<number[]>((hours, { startedAt, duration }) => {
    const hour = Math.floor((startedAt - NOW) / HOUR);
    if (duration < 10) hours[hour] = (hours[hour] ?? 0) + 1;
    return hours;
  }, []);
  const [, before = 0, during = 0, since = 0] = leaving;
  expect(during).toBeGreaterThan(3 * before);
  expect(during).toBeGreaterThan(3 * since);
});

test('reports have calls that are over, of nine weeks before the start', async () => {
  await using world = await worldOf({ callers: { perDay: 120 } });
  const { sim } = world;
  const calls = () => [...sim.store.calls.values()].flatMap((book) => book.calls);
  const began = calls().reduce((first, { startedAt }) => Math.min(first, startedAt), NOW);
  expect(began - (NOW - 9 * WEEK)).toBeLessThan(DAY);
  expect(began).toBeGreaterThan(NOW - 9 * WEEK);
  const isOverAt = async (time: number) => {
    const span = { start_date: '2025-12-01', end_date: '2026-12-31' };
    const { body } = await ask(world, 'getBillingReport', { query: span });
    const over = calls().filter((call) => getEnd(call) <= time);
    const talked = over.reduce((seconds, { duration }) => seconds + duration, 0);
    expect(Number(Object(body.data)[0]?.voice_minutes)).toBeCloseTo(talked / 60, 1);
    const { metrics } = await report(world, { startDate: '2025-12-01', endDate: '2026-12-31' });
    expect(metrics?.totalCalls).toBe(over.length);
    const logs = await logsOf(world);
    expect(logs.every((log) => Date.parse(String(log.call_ended_at)) <= time)).toBe(true);
    return over.length;
  };
  const known = await isOverAt(NOW);
  // Some have begun and are not over yet.
  expect(known).toBeLessThan(calls().length);
  sim.advance(60_000);
  expect(await isOverAt(NOW + 60_000)).toBeGreaterThan(known);
  expect(new Set(calls().map(({ number }) => number)).size).toBe(calls().length);
});

test('agents, weekdays and hours are unequal, and days are good and bad for all together', async () => {
  await using world = await worldOf({ callers: { perDay: 60, weeks: 10 } });
  const { agentPerformance, dailyVolume, hourlyDistribution } = await report(world, {
    startDate: '2025-12-29',
    endDate: '2026-03-01',
  });
  const volumes = rows(agentPerformance).map(({ totalCalls }) => Number(totalCalls));
  expect(Math.max(...volumes)).toBeGreaterThan(4 * Math.min(...volumes));
  const days = rows(dailyVolume).map(({ totalCalls }) => Number(totalCalls));
  const [monday, , , , , saturday, sunday] = [0, 1, 2, 3, 4, 5, 6].map((weekday) =>
    days.filter((_, at) => at % 7 === weekday).reduce((sum, count) => sum + count, 0),
  );
  expect(monday).toBeGreaterThan(2 * (saturday ?? 0));
  expect(saturday).toBeGreaterThan(1.5 * (sunday ?? 0));
  // 10:00 and 03:00 in New York.
  const hours = rows(hourlyDistribution).map(({ calls }) => Number(calls));
  expect(hours[15]).toBeGreaterThan(20 * (hours[8] ?? 0));
  // Half of the agents tell of the other half whether a day was a good one.
  const [one, other] = [0, 1].map((half) => {
    const agents = [0, 1, 2, 3, 4, 5].map((index) => idOf(2 * index + half));
    const calls = agents.flatMap((agentId) => callsOf(world, agentId));
    return days.flatMap((count, day) => {
      const from = Date.parse('2025-12-29') + day * DAY;
      const held = calls.filter(({ startedAt }) => startedAt >= from && startedAt < from + DAY);
      const resolved = held.filter(({ outcome }) => outcome === 'resolved');
      return count > 500 ? [resolved.length / held.length] : [];
    });
  });
  expect(correlation(one ?? [], other ?? [])).toBeGreaterThan(0.3);
});

function correlation(xs: readonly number[], ys: readonly number[]): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const apart = (values: readonly number[]) => values.map((value) => value - mean(values));
  const product = (as: readonly number[], bs: readonly number[]) =>
    mean(as.map((a, index) => a * (bs[index] ?? 0)));
  const [dx, dy] = [apart(xs), apart(ys)];
  return product(dx, dy) / Math.sqrt(product(dx, dx) * product(dy, dy));
}

const rows = (block: unknown): readonly JsonObject[] => (Array.isArray(block) ? block : []);

describe('a webhook that fails', () => {
  const SAYS = /\b(?:error|failed)\b/i;
  const said = (log: JsonObject) =>
    rows(log.transcript_json).filter(
      ({ speaker, text }) => speaker === 'system' && SAYS.test(String(text)),
    );

  test.each([
    ['before_call', (entry: JsonObject) => entry.timestamp === 0],
    ['during_call', (entry: JsonObject, log: JsonObject) => isBetween(entry, log)],
    ['after_call', (entry: JsonObject, log: JsonObject) => entry.timestamp === log.call_duration],
  ])('is in 40 of 100 transcripts once, %s', async (condition, isThen) => {
    const broken = tools({ url: 'https://broken.example.test/c', condition });
    await using world = await worldOf();
    for (const { id } of FLEET.agents ?? []) world.sim.edit(String(id), broken);
    world.sim.advance(WEEK);
    const all = (
      await Promise.all([0, 1, 2, 3, 4, 5].map((index) => logsOf(world, idOf(index))))
    ).flat();
    const failed = all.filter((log) => said(log).length > 0);
    expect(failed.length / all.length).toBeCloseTo(0.4, 1);
    for (const log of failed) {
      const [entry = {}, ...more] = said(log);
      expect(more).toEqual([]);
      expect(String(entry.text)).toContain('crm_lookup');
      expect(isThen(entry, log), JSON.stringify(entry)).toBe(true);
      const times = rows(log.transcript_json).map(({ timestamp }) => Number(timestamp));
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(JSON.stringify(log.transcript_json)).not.toMatch(/crm_lookup[^"]*answered 200/);
    }
    expect(all.length - failed.length).toBeGreaterThan(100);
  });

  const isBetween = ({ timestamp }: JsonObject, { call_duration: duration }: JsonObject) =>
    Number(timestamp) <= Number(duration);

  test('is told in words that differ from start to start, and always in one of two', async () => {
    const told = new Set<string>();
    for (let inventions = 1; inventions <= 12; inventions += 1) {
      await using world = await worldOf({ dialect: { inventions } });
      world.sim.edit(FIRST, tools({ url: 'http://crm.example.test/c' }));
      world.sim.advance(DAY);
      const texts = (await logsOf(world)).flatMap((log) => said(log).map(({ text }) => text));
      expect(new Set(texts).size).toBe(1);
      told.add(String(texts[0]));
    }
    expect(told.size).toBeGreaterThan(2);
  });

  test('is in no call from before it was broken', async () => {
    await using world = await worldOf();
    world.sim.advance(DAY);
    world.sim.edit(FIRST, tools({ url: 'http://crm.example.test/c' }));
    world.sim.advance(DAY);
    const logs = await logsOf(world);
    const early = logs.filter((log) => Date.parse(String(log.call_started_at)) <= NOW + DAY);
    expect(early.length).toBeGreaterThan(5);
    expect(early.flatMap(said)).toEqual([]);
    expect(logs.flatMap(said).length).toBeGreaterThan(2);
  });
});

describe('Date', () => {
  test('follows the clock, in answers that break off and in errors as well', async () => {
    await using world = await worldOf({ admin: TOKEN });
    const moved = await steer(world, 'clock', { advanceMs: 3 * DAY });
    const date = new Date(NOW + 3 * DAY).toUTCString();
    expect(moved.headers.date).toBe(date);
    expect((await ask(world, 'getMe')).headers.get('date')).toBe(date);
    expect((await ask(world, 'getAgent', { path: { agentId: 'x' } })).headers.get('date')).toBe(
      date,
    );
    world.sim.faults.add({ operation: 'getMe', truncate: true });
    const cut = await request(`${world.sim.url}/v1/me`);
    expect(cut.headers.date).toBe(date);
    await cut.body.dump().catch(() => undefined);
    const undecodable = await request(`${world.sim.url}/%E0`);
    expect([undecodable.statusCode, undecodable.headers.date]).toEqual([404, date]);
  });

  test('is left out of answers that break off where a platform has none', async () => {
    await using world = await worldOf({ dialect: { dates: false } });
    world.sim.faults.add({ operation: 'getMe', truncate: true });
    const cut = await request(`${world.sim.url}/v1/me`);
    expect(cut.headers.date).toBeUndefined();
    await cut.body.dump().catch(() => undefined);
  });

  test('a token ends by that clock, and a new one is at hand', async () => {
    await using world = await worldOf();
    expect((await world.call('getMe')).status).toBe(200);
    world.sim.advance(DAY + 1000);
    expect((await world.call('getMe')).status).toBe(401);
    expect((await ask(world, 'getMe')).status).toBe(200);
  });
});

describe('metrics', () => {
  const spans = [
    { startDate: '2026-02-26', endDate: '2026-03-03' },
    { startDate: '2026-03-04T14:00:00Z', endDate: '2026-03-04T17:59:59Z' },
  ];

  test('that are late know of a call six hours after its end', async () => {
    await using whole = await worldOf({ callers: { weeks: 1 } });
    await using late = await worldOf({ callers: { weeks: 1 }, dialect: { metrics: 'late' } });
    const [, today = spans[0]] = spans;
    const [known, unknown] = [await report(whole, today), await report(late, today)];
    expect(Number(known.metrics?.totalCalls)).toBeGreaterThan(50);
    expect(unknown).toMatchObject({ metrics: { totalCalls: 0 }, agentPerformance: [] });
    expect((await logsOf(late)).length).toBeGreaterThan(50);
    for (const { sim } of [whole, late]) sim.advance(7 * HOUR);
    expect(await report(late, today)).toEqual(await report(whole, today));
    expect(await report(late)).not.toEqual(await report(whole));
  });

  test('that are partial count all agents and list two thirds of them', async () => {
    await using whole = await worldOf({ callers: { weeks: 1 } });
    await using partial = await worldOf({ callers: { weeks: 1 }, dialect: { metrics: 'partial' } });
    for (const span of spans) {
      const [all, part] = [await report(whole, span), await report(partial, span)];
      const listed = rows(all.agentPerformance);
      expect(part.metrics).toEqual(all.metrics);
      expect(part.agentPerformance).toEqual(listed.slice(0, Math.ceil((2 * listed.length) / 3)));
    }
  });
});
