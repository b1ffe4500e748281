import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { broken, loadGood, MAIN } from './stack-folder.ts';

const guardsOf = (...lines: readonly string[]) => ({
  'callsheet.yaml': `${MAIN}guards:\n${lines.map((line) => `  ${line}\n`).join('')}`,
});
const AT = 'callsheet.yaml: guards.freeze[0]';

describe('a freeze window', () => {
  test.each<[string, string, object]>([
    [
      'hours',
      '{ zone: Europe/Berlin, hours: 09:00-17:30 }',
      { zone: 'Europe/Berlin', hours: { from: 540, to: 1050 } },
    ],
    [
      'hours over midnight',
      '{ zone: UTC, hours: "22:00 - 06:00" }',
      { zone: 'UTC', hours: { from: 1320, to: 360 } },
    ],
    [
      'a whole day',
      '{ zone: UTC, hours: "00:00-24:00" }',
      { zone: 'UTC', hours: { from: 0, to: 1440 } },
    ],
    [
      'weekdays, dates and a reason',
      '{ reason: Season, zone: US/Eastern, weekdays: [sat, sun], dates: [2026-11-26, 2026-12-20..2027-01-06] }',
      {
        zone: 'US/Eastern',
        weekdays: ['sun', 'sat'],
        dates: [
          { from: '2026-11-26', to: '2026-11-26' },
          { from: '2026-12-20', to: '2027-01-06' },
        ],
        reason: 'Season',
      },
    ],
    [
      'one date without a list',
      '{ zone: UTC, dates: 2028-02-29 }',
      { zone: 'UTC', dates: [{ from: '2028-02-29', to: '2028-02-29' }] },
    ],
  ])('may have %s', async (_name, written, read) => {
    const { guards } = await loadGood(guardsOf('max_delete: 5', 'freeze:', `  - ${written}`));
    expect(guards).toEqual({ max_delete: 5, freeze: [{ ...read, source: 'callsheet.yaml:7' }] });
  });

  test('says when, not what: it is no part of the digest; the limits are', async () => {
    const [bare, frozen, limited] = await Promise.all([
      loadGood(guardsOf('max_delete: 5')),
      loadGood(guardsOf('max_delete: 5', 'freeze: [{ zone: UTC, weekdays: [sat] }]')),
      loadGood(guardsOf('max_delete: 6')),
    ]);
    expect(frozen.digest).toBe(bare.digest);
    expect(limited.digest).not.toBe(bare.digest);
  });

  broken(
    [
      {
        written: '{ zone: America/NewYork, weekdays: [sat] }',
        says: ['6:20 schema/format', 'zone must be an IANA time zone'],
        hint: 'Did you mean America/New_York?',
      },
      {
        written: '{ zone: +02:00, hours: 09:00-17:00 }',
        says: ['6:20 schema/format', 'zone must be an IANA time zone'],
      },
      {
        written: '{ zone: UTC, hours: 9-17 }',
        says: [
          '6:32 schema/format',
          'hours must be hours of a day: it must be two times with a hyphen, such as 09:00-17:00',
        ],
      },
      {
        written: '{ zone: UTC, hours: 25:00-26:00 }',
        says: ['6:32 schema/format', 'hours must be hours of a day: its start 25:00 is not a time'],
      },
      {
        written: '{ zone: UTC, hours: 24:00-06:00 }',
        says: ['6:32 schema/format', 'hours must be hours of a day: its start 24:00 is not a time'],
      },
      {
        written: '{ zone: UTC, hours: 09:00-17:60 }',
        says: ['6:32 schema/format', 'hours must be hours of a day: its end 17:60 is not a time'],
      },
      {
        written: '{ zone: UTC, hours: 24:00-24:01 }',
        says: ['6:32 schema/format', 'hours must be hours of a day: its start 24:00 is not a time'],
      },
      {
        written: '{ zone: UTC, hours: 09:00-09:00 }',
        says: [
          '6:32 schema/format',
          'hours must be hours of a day: its start and end are the same; write a whole day as 00:00-24:00',
        ],
      },
      {
        written: '{ zone: UTC, dates: 2026-02-30 }',
        says: [
          '6:32 schema/format',
          'dates must be a day, or the first and the last of several: there is no day 2026-02-30',
        ],
      },
      {
        written: '{ zone: UTC, dates: [2026-12-24, 2027-02-29] }',
        says: [
          '6:45 schema/format',
          'dates[1] must be a day, or the first and the last of several: there is no day 2027-02-29',
        ],
      },
      {
        written: '{ zone: UTC, dates: [2027-01-06..2026-12-20] }',
        says: [
          '6:33 schema/format',
          'dates[0] must be a day, or the first and the last of several: 2026-12-20 is before 2027-01-06',
        ],
      },
      {
        written: '{ zone: UTC, dates: [24.12.2026] }',
        says: [
          '6:33 schema/format',
          'dates[0] must be a day, or the first and the last of several: it must be a day, such as 2026-12-24, or two, such as 2026-12-20..2027-01-06',
        ],
      },
      {
        written: '{ zone: UTC, weekdays: [saturday] }',
        says: ['6:36 schema/enum', 'weekdays[0] cannot be "saturday"'],
        hint: 'Use one of mon, tue, wed, thu, fri, sat, sun',
      },
      {
        written: '{ zone: UTC, weekdays: [] }',
        says: ['6:35 schema/limit', 'weekdays must not be empty'],
      },
      {
        written: '{ zone: UTC }',
        says: ['6:12 schema/required', 'needs one of weekdays, hours, dates'],
      },
      { written: '{ weekdays: [sat] }', says: ['6:12 schema/required', 'needs zone'] },
      {
        written: '{ zone: UTC, hour: 09:00-17:00, weekdays: [sat] }',
        says: ['6:25 schema/unknown-key', 'has no field "hour"'],
        hint: 'Did you mean hours?',
      },
    ].map(({ written, says: [place, words = ''], ...rest }) => ({
      title: `cannot be ${written}`,
      files: guardsOf('max_delete: 5', `freeze: [${written}]`),
      says: [`callsheet.yaml:${place} ${AT}${/^(needs|has) /.test(words) ? ' ' : '.'}${words}`],
      ...rest,
    })),
  );
});

broken([
  {
    title: 'a list of windows that is none, and a floor below nothing',
    files: guardsOf('min_resources: -1', 'freeze: { zone: UTC }'),
    says: [
      'callsheet.yaml:5:18 schema/limit callsheet.yaml: guards.min_resources must be at least 0',
      'callsheet.yaml:6:11 schema/type callsheet.yaml: guards.freeze must be a list, not a map',
    ],
  },
]);

test('what docs/guards.md shows is taken as it stands', async () => {
  const page = await readFile(new URL('../../docs/guards.md', import.meta.url), 'utf8');
  const shown = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text);
  const read = await Promise.all(
    shown.map(async (text) => (await loadGood({ 'callsheet.yaml': MAIN + text })).guards),
  );
  expect(read.map(({ freeze = [] }) => freeze.length)).toEqual([0, 0, 3]);
  expect(read.map(({ drift }) => drift)).toContain('keep');
});
