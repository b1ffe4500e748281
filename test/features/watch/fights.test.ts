import { describe, expect, test } from 'vitest';
import {
  DAY_LIMITS,
  DAY_MS,
  findContested,
  findGivenUp,
  recentTries,
  WEEK_MS,
} from '../../../src/features/watch/healer.ts';
import { problemsOf } from '../../documents.ts';
import { drift } from './left-alone.ts';
import { liveField, ofEvent, openApplied, openReceiver, startWatching } from './watching.ts';

const MINUTE_MS = 60_000;
const NONE: ReadonlySet<string> = new Set();

test('tries of the last week are kept in the order of time, and older ones are forgotten', () => {
  const now = 10 * WEEK_MS;
  const by = (run: string, at: number) => ({ run, at });
  const tries = recentTries(
    new Map([
      ['agent.a', [by('1', now - WEEK_MS), by('2', now - WEEK_MS + 1)]],
      ['agent.b', [by('3', now - WEEK_MS)]],
    ]),
    [
      { address: 'agent.a', at: now, run: '5' },
      { address: 'agent.a', at: now - 1, run: '4' },
      { address: 'agent.c', at: now, run: '5' },
    ],
    now,
  );
  expect([...tries]).toEqual([
    ['agent.a', [by('2', now - WEEK_MS + 1), by('4', now - 1), by('5', now)]],
    ['agent.c', [by('5', now)]],
  ]);
});

test('an address is contested from the limit on, and until it is seen without drift', () => {
  const at = (...times: number[]) => times.map((one) => ({ at: one, run: 'r' }));
  const tries = new Map([
    ['agent.a', at(1, 2)],
    ['agent.b', at(1)],
    ['agent.calm', at(1, 2, 3)],
  ]);
  const drifted = ['agent.a', 'agent.b', 'agent.before'];
  const before = new Set(['agent.before', 'agent.calm']);
  expect([...findContested(drifted, before, tries, { limit: 2, now: 3 })]).toEqual([
    'agent.a',
    'agent.before',
  ]);
});

describe('another program that writes on a schedule is given up within a day', () => {
  const minutes = [1, 5, 10, 19, 20, 21, 25, 29, 30, 31, 45, 59, 60, 61, 90, 120, 180, 239];
  const rows = [1, 2, 3, 5].flatMap((limit) => minutes.map((every) => ({ limit, every })));
  // More seldom than the tries of a day, it is no fight.
  const fights = rows.filter(({ limit, every }) => every * MINUTE_MS * DAY_LIMITS * limit < DAY_MS);
  test.each(fights)('every $every min, with a limit of $limit', ({ limit, every }) => {
    const start = Date.parse('2026-11-01T00:00:00Z');
    let tries: ReturnType<typeof recentTries> = new Map();
    let now = start;
    while (findContested(['agent.a'], NONE, tries, { limit, now }).size === 0) {
      tries = recentTries(tries, [{ address: 'agent.a', at: now, run: 'r' }], now);
      now += every * MINUTE_MS;
      expect(now - start).toBeLessThanOrEqual(DAY_MS);
    }
    // Read from the receipts by a watch that starts again, it is given up as well.
    const last = tries.get('agent.a')?.at(-1)?.at ?? 0;
    const later = recentTries(tries, [], last + 3 * DAY_MS);
    expect(findGivenUp(later, limit)).toEqual(['agent.a']);
  });
});

test('a writer every 25 minutes is given up, the chat hears so, and a restart changes nothing', async () => {
  const stage = await openApplied(['desk']);
  const { received, url } = await openReceiver();
  const options = {
    flags: { heal: true, notify: true },
    env: { CALLSHEET_NOTIFY_URL: url },
  } as const;
  const first = await startWatching(stage, options);
  const start = first.now().getTime();
  let healed = 0;
  while (first.now().getTime() - start < DAY_MS) {
    drift(stage, `Written again, ${healed}.`);
    const lines = await first.pass();
    if (ofEvent(lines, 'heal_contested').length > 0) break;
    healed += 1;
    first.advance(20 * MINUTE_MS);
  }
  expect(ofEvent(first.lines, 'heal_contested')).toMatchObject([
    { address: 'agent.desk', times: 6, since: expect.stringMatching(/^20/) },
  ]);
  expect(healed).toBe(6);
  const runs = ofEvent(first.lines, 'heal_ended').map(({ run }) => run);
  const posted: object | undefined = received.at(-1);
  expect(posted).toMatchObject({
    text: expect.stringMatching(/^Contested: .*\n(.*\n)*agent\.desk: 1 setting, contested/),
    contested: [
      {
        address: 'agent.desk',
        times: 6,
        fields: [
          {
            path: 'greeting_message',
            ours: {
              value: 'Harbor Dental, how can I help?',
              actor: expect.any(String),
              source: runs.at(-1),
            },
            theirs: { value: 'Written again, 6.', source: expect.any(String) },
          },
        ],
      },
    ],
  });
  expect(await problemsOf('callsheet-drift-notification', posted)).toEqual([]);
  first.advance(2 * DAY_MS);
  expect(ofEvent(await first.pass(), 'heal_ended', 'heal_contested')).toEqual([]);
  const offset = first.now().getTime() - Date.now();
  await first.stop();

  const second = await startWatching(stage, { ...options, offset });
  await second.pass();
  expect(ofEvent(second.lines, 'heal_contested')).toMatchObject([{ times: 6 }]);
  expect(ofEvent(second.lines, 'heal_ended')).toEqual([]);
  expect(liveField(stage, 'Front desk', 'greeting_message')).toBe('Written again, 6.');
  // Once it is settled, another edit is put back again.
  await stage.apply();
  expect(ofEvent(await second.pass(), 'heal_agreed')).toHaveLength(1);
  drift(stage, 'Another day.');
  expect(ofEvent(await second.pass(), 'heal_ended')).toMatchObject([{ status: 'done' }]);
});
