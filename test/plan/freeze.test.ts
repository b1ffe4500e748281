import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freezeAt } from '../../src/core/calendar.ts';
import { type FreezeWindow, WEEKDAYS } from '../../src/core/plan-document.ts';

type Written = Omit<Partial<FreezeWindow>, 'hours'> & {
  readonly hours?: readonly [from: number, to: number];
};

/** `hours` in hours: 1.5 is 01:30. */
function windowOf({ hours, ...rest }: Written): FreezeWindow {
  return {
    zone: 'UTC',
    source: 'callsheet.yaml:3',
    ...rest,
    ...(hours ? { hours: { from: hours[0] * 60, to: hours[1] * 60 } } : {}),
  };
}

type Row = {
  readonly title: string;
  readonly window: Written;
  /** When it is asked → when the freeze ends, or that there is none. */
  readonly at: Readonly<Record<string, string | null>>;
};

function freezes(rows: readonly Row[]): void {
  test.each(rows)('$title', ({ window, at }) => {
    const found = Object.keys(at).map((time) => {
      const freeze = freezeAt([windowOf(window)], new Date(time));
      return [time, freeze?.until?.toISOString().replace(':00.000Z', 'Z') ?? null];
    });
    expect(Object.fromEntries(found)).toEqual(at);
  });
}

describe('hours', () => {
  freezes([
    {
      title: 'begin with their first minute and end before their last',
      window: { hours: [9, 17] },
      at: {
        '2026-03-04T08:59:59Z': null,
        '2026-03-04T09:00:00Z': '2026-03-04T17:00Z',
        '2026-03-04T16:59:59Z': '2026-03-04T17:00Z',
        '2026-03-04T17:00:00Z': null,
      },
    },
    {
      title: 'are those of the zone, not of the machine',
      window: { zone: 'Asia/Kathmandu', hours: [9, 17] },
      at: {
        '2026-03-04T03:14:59Z': null,
        '2026-03-04T03:15:00Z': '2026-03-04T11:15Z',
        '2026-03-04T11:15:00Z': null,
      },
    },
    {
      title: 'over midnight belong to the weekday on which they begin',
      window: { hours: [22, 6], weekdays: ['fri'] },
      at: {
        '2026-03-06T05:00:00Z': null,
        '2026-03-06T21:59:59Z': null,
        '2026-03-06T22:00:00Z': '2026-03-07T06:00Z',
        '2026-03-07T05:59:59Z': '2026-03-07T06:00Z',
        '2026-03-07T06:00:00Z': null,
        '2026-03-07T22:00:00Z': null,
      },
    },
    {
      title: 'over midnight belong to the date on which they begin',
      window: { hours: [22, 6], dates: [{ from: '2026-12-31', to: '2026-12-31' }] },
      at: {
        '2026-12-31T05:00:00Z': null,
        '2027-01-01T05:00:00Z': '2027-01-01T06:00Z',
        '2027-01-01T22:00:00Z': null,
      },
    },
    {
      title: 'that end at midnight end with the day, however that is written',
      window: { hours: [17, 0], weekdays: ['sun'] },
      at: { '2026-03-08T23:59:59Z': '2026-03-09T00:00Z', '2026-03-09T00:00:00Z': null },
    },
  ]);

  test('a window without end is in force all the same', () => {
    const freeze = freezeAt([windowOf({ hours: [0, 24] })], new Date('2026-03-08T12:00:00Z'));
    expect(freeze).toMatchObject({ windows: [{ zone: 'UTC' }], until: undefined });
  });
});

describe('weekdays and dates', () => {
  freezes([
    {
      title: 'weekdays are those of the zone: it is Saturday in Auckland first',
      window: { zone: 'Pacific/Auckland', weekdays: ['sat', 'sun'] },
      at: {
        '2026-06-05T11:59:59Z': null,
        '2026-06-05T12:00:00Z': '2026-06-07T12:00Z',
        '2026-06-07T11:59:59Z': '2026-06-07T12:00Z',
        '2026-06-07T12:00:00Z': null,
      },
    },
    {
      title: 'and last in Honolulu',
      window: { zone: 'Pacific/Honolulu', weekdays: ['sat', 'sun'] },
      at: { '2026-06-06T09:59:59Z': null, '2026-06-06T10:00:00Z': '2026-06-08T10:00Z' },
    },
    {
      title: 'the last weekday and the first touch',
      window: { weekdays: ['sun', 'mon'] },
      at: { '2026-03-08T00:00:00Z': '2026-03-10T00:00Z', '2026-03-07T23:59:59Z': null },
    },
    {
      title: 'a span of dates lasts from its first day through its last, over the year',
      window: { zone: 'Europe/Berlin', dates: [{ from: '2026-12-20', to: '2027-01-06' }] },
      at: {
        '2026-12-19T22:59:59Z': null,
        '2026-12-19T23:00:00Z': '2027-01-06T23:00Z',
        '2027-01-06T22:59:59Z': '2027-01-06T23:00Z',
        '2027-01-06T23:00:00Z': null,
      },
    },
    {
      title: 'several spans are each in force, and what lies between is free',
      window: {
        dates: [
          { from: '2026-11-26', to: '2026-11-26' },
          { from: '2026-11-28', to: '2026-11-28' },
        ],
      },
      at: {
        '2026-11-26T10:00:00Z': '2026-11-27T00:00Z',
        '2026-11-27T10:00:00Z': null,
        '2026-11-28T10:00:00Z': '2026-11-29T00:00Z',
      },
    },
    {
      title: 'a leap day is a day',
      window: { dates: [{ from: '2028-02-29', to: '2028-02-29' }] },
      at: { '2028-02-28T23:59:59Z': null, '2028-02-29T12:00:00Z': '2028-03-01T00:00Z' },
    },
    {
      title: 'all that is given must hold',
      window: {
        weekdays: ['fri'],
        hours: [9, 17],
        dates: [{ from: '2026-03-01', to: '2026-03-07' }],
      },
      at: {
        '2026-03-06T10:00:00Z': '2026-03-06T17:00Z',
        '2026-03-05T10:00:00Z': null,
        '2026-03-06T18:00:00Z': null,
        '2026-03-13T10:00:00Z': null,
      },
    },
  ]);
});

describe('when the clock is set', () => {
  freezes([
    {
      title: 'forward, a night is an hour shorter',
      window: { zone: 'America/New_York', hours: [22, 6], weekdays: ['sat'] },
      at: { '2026-03-08T03:00:00Z': '2026-03-08T10:00Z', '2026-03-08T10:00:00Z': null },
    },
    {
      title: 'back, a night is an hour longer',
      window: { zone: 'America/New_York', hours: [22, 6], weekdays: ['sat'] },
      at: {
        '2026-11-01T02:00:00Z': '2026-11-01T11:00Z',
        '2026-11-01T10:59:59Z': '2026-11-01T11:00Z',
      },
    },
    {
      title: 'forward over its beginning, a window begins when the clock is set',
      window: {
        zone: 'America/New_York',
        hours: [2.5, 4],
        dates: [{ from: '2026-03-08', to: '2026-03-08' }],
      },
      at: { '2026-03-08T06:59:59Z': null, '2026-03-08T07:00:00Z': '2026-03-08T08:00Z' },
    },
    {
      title: 'forward over its end, it ends when the clock is set',
      window: {
        zone: 'Europe/Berlin',
        hours: [1, 2.5],
        dates: [{ from: '2026-03-29', to: '2026-03-29' }],
      },
      at: { '2026-03-29T00:30:00Z': '2026-03-29T01:00Z', '2026-03-29T01:00:00Z': null },
    },
    {
      title: 'forward over all of it, it is not in force that day',
      window: {
        zone: 'Europe/Berlin',
        hours: [2, 3],
        dates: [{ from: '2026-03-29', to: '2026-03-29' }],
      },
      at: { '2026-03-29T00:59:59Z': null, '2026-03-29T01:00:00Z': null },
    },
    {
      title: 'back over its beginning, it begins the first time and has no hole',
      window: {
        zone: 'America/New_York',
        hours: [1.5, 9],
        dates: [{ from: '2026-11-01', to: '2026-11-01' }],
      },
      at: {
        '2026-11-01T05:29:59Z': null,
        '2026-11-01T05:30:00Z': '2026-11-01T14:00Z',
        '2026-11-01T06:15:00Z': '2026-11-01T14:00Z',
      },
    },
    {
      title: 'back over its end, it ends the second time',
      window: {
        zone: 'Europe/Berlin',
        hours: [1, 2.5],
        dates: [{ from: '2026-10-25', to: '2026-10-25' }],
      },
      at: { '2026-10-25T00:45:00Z': '2026-10-25T01:30Z', '2026-10-25T01:30:00Z': null },
    },
    {
      title: 'by half an hour, it is half an hour',
      window: {
        zone: 'Australia/Lord_Howe',
        hours: [0, 6],
        dates: [{ from: '2026-04-05', to: '2026-04-05' }],
      },
      at: { '2026-04-04T13:00:00Z': '2026-04-04T19:30Z', '2026-04-04T12:59:59Z': null },
    },
    {
      title: 'forward at midnight, the day begins at one',
      window: { zone: 'America/Santiago', dates: [{ from: '2026-09-06', to: '2026-09-06' }] },
      at: { '2026-09-06T03:59:59Z': null, '2026-09-06T04:00:00Z': '2026-09-07T03:00Z' },
    },
    {
      title: 'back to midnight, the day begins with the first one',
      window: { zone: 'America/Havana', dates: [{ from: '2026-10-31', to: '2026-10-31' }] },
      at: { '2026-11-01T03:59:59Z': '2026-11-01T04:00Z', '2026-11-01T04:00:00Z': null },
    },
    {
      title: 'forward by a whole day, that day is not there',
      window: { zone: 'Pacific/Apia', dates: [{ from: '2011-12-30', to: '2011-12-30' }] },
      at: { '2011-12-30T09:59:59Z': null, '2011-12-30T10:00:00Z': null },
    },
  ]);
});

describe('an end', () => {
  freezes([
    {
      title: 'is told as long as it is less than a leap year away',
      window: { dates: [{ from: '2026-03-02', to: '2027-03-02' }] },
      at: { '2026-03-02T00:00:00Z': null, '2026-03-02T00:00:01Z': '2027-03-03T00:00Z' },
    },
  ]);
});

test('windows that touch or overlap end together, each of them named that is in force', () => {
  const windows = [
    windowOf({ reason: 'Weekend', weekdays: ['sat', 'sun'] }),
    windowOf({ reason: 'Friday night', weekdays: ['fri'], hours: [17, 24] }),
    windowOf({ reason: 'Monday morning', zone: 'Europe/Berlin', weekdays: ['mon'], hours: [0, 8] }),
  ];
  const freeze = freezeAt(windows, new Date('2026-06-05T18:00:00Z'));
  expect(freeze?.windows.map(({ reason }) => reason)).toEqual(['Friday night']);
  // Monday 08:00 in Berlin is 06:00 UTC.
  expect(freeze?.until?.toISOString()).toBe('2026-06-08T06:00:00.000Z');
  expect(freezeAt(windows, new Date('2026-06-07T23:00:00Z'))?.windows).toHaveLength(2);
});

test('an end is the first moment without a freeze, whatever the windows', () => {
  const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Tehran'];
  const hour = fc.integer({ min: 0, max: 1439 });
  const written = fc.record(
    {
      zone: fc.constantFrom(...zones),
      source: fc.constant('callsheet.yaml:3'),
      weekdays: fc.subarray([...WEEKDAYS], { minLength: 1, maxLength: 2 }),
      hours: fc.record({ from: hour, to: hour }).filter(({ from, to }) => from !== to),
    },
    { requiredKeys: ['zone', 'source', 'weekdays'] },
  );
  // Around the days on which clocks are set.
  const days = ['2026-03-08', '2026-03-29', '2026-04-05', '2026-10-04', '2026-10-25', '2026-11-01'];
  const moment = fc
    .tuple(fc.constantFrom(...days), fc.integer({ min: -30 * 60, max: 30 * 60 }))
    .map(([day, minutes]) => Date.parse(day) + minutes * 60_000);
  fc.assert(
    fc.property(fc.array(written, { minLength: 1, maxLength: 3 }), moment, (windows, now) => {
      const isFrozen = (at: number) => freezeAt(windows, new Date(at)) !== undefined;
      const until = freezeAt(windows, new Date(now))?.until?.getTime();
      if (until === undefined) return;
      expect(until).toBeGreaterThan(now);
      expect([isFrozen(until - 1), isFrozen(until)]).toEqual([true, false]);
      for (let at = now; at < until; at += (until - now) / 5) expect(isFrozen(at)).toBe(true);
    }),
    { numRuns: 30 },
  );
});
