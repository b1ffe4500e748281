import { CallsheetError } from './errors.ts';
import { type FreezeWindow, type PlanDocument, WEEKDAYS } from './plan-document.ts';
import { millisecondsIn } from './value.ts';

/**
 * Stretches of time by the wall clocks of time zones, as `Intl` knows them. Instants are milliseconds since 1970.
 */

/** Days of a calendar, and hours of them. */
type Calendar = Omit<FreezeWindow, 'reason' | 'source'>;

type Span = { readonly from: number; readonly until: number };

/** `Mon 2026-11-23 06:00 America/New_York` */
function formatInstant(zone: string, instant: number): string {
  const wall = new Date(wallAt(zone, instant));
  const [day = '', time = ''] = wall.toISOString().split('T');
  const weekday = wall.toUTCString().slice(0, 3);
  return `${weekday} ${day} ${time.slice(0, 5)} ${zone}`;
}

/** When a stretch ends that lasts at an instant; undefined: none does. */
function findEnd(window: Calendar, instant: number): number | undefined {
  const near = [...stretchesAround(window, { from: instant, until: instant })];
  return near.findLast(({ start, end }) => start <= instant && instant < end)?.end;
}

/** Windows that are in force. */
type Freeze = {
  readonly windows: readonly [FreezeWindow, ...FreezeWindow[]];
  /** When none is any more, whichever begin meanwhile. Undefined: not within a year. */
  readonly until: Date | undefined;
};

/** The freeze that is in force at a moment, if there is one. */
export function freezeAt(windows: readonly FreezeWindow[], now: Date): Freeze | undefined {
  const [first, ...others] = windows.filter((one) => findEnd(one, now.getTime()) !== undefined);
  if (first === undefined) return undefined;
  return { windows: [first, ...others], until: endOfAll(windows, now.getTime()) };
}

/** How far ahead an end is looked for. */
const YEAR = 366 * 24 * 60 * 60_000;

function endOfAll(windows: readonly FreezeWindow[], now: number): Date | undefined {
  let end = now;
  while (end < now + YEAR) {
    const ends = windows.flatMap((one) => findEnd(one, end) ?? []);
    if (ends.length === 0) return new Date(end);
    end = Math.max(...ends);
  }
  return undefined;
}

/** The freeze that is in force at a moment, as documents have it. */
export function describeFreeze(
  windows: readonly FreezeWindow[],
  now: Date,
): PlanDocument['freeze'] {
  const freeze = freezeAt(windows, now);
  if (freeze === undefined) return undefined;
  const { windows: inForce, until } = freeze;
  return {
    until: until?.toISOString() ?? null,
    ends: until === undefined ? null : formatInstant(inForce[0].zone, until.getTime()),
    reason: inForce.map(formatFreeze).join(' and '),
  };
}

function formatFreeze({ reason, source }: FreezeWindow): string {
  return reason === undefined ? `the window of ${source}` : `"${reason}" (${source})`;
}

/** The stretches that begin in a span or on the day before it, whole and in order. */
function* stretchesAround(calendar: Calendar, { from, until }: Span) {
  // A stretch that begins on the day before may go on past midnight.
  let day = dayAfter(dayAt(calendar.zone, from), -1);
  for (const last = dayAt(calendar.zone, until); day <= last; day = dayAfter(day, 1))
    if (beginsOn(calendar, day)) yield boundsOn(calendar, day);
}

function beginsOn({ weekdays, dates }: Calendar, day: string): boolean {
  const weekday = WEEKDAYS[new Date(day).getUTCDay()];
  const isWeekday = weekdays === undefined || weekdays.some((one) => one === weekday);
  const isDate = dates === undefined || dates.some(({ from, to }) => from <= day && day <= to);
  return isWeekday && isDate;
}

/**
 * If the clock shows an hour twice, a window lasts from the first to the last of it: rather a freeze that is too long
 * than one with a hole. Midnight is the first one, as the date says.
 */
function boundsOn({ zone, hours = WHOLE_DAY }: Calendar, day: string) {
  const { from, to } = hours;
  const start = listInstants(zone, day, from).first;
  const next = dayAfter(day, 1);
  if (to === 1440 || to === 0) return { start, end: listInstants(zone, next, 0).first };
  return { start, end: listInstants(zone, to > from ? day : next, to).last };
}

/** A day by the calendar of the zone, from midnight to midnight. */
const WHOLE_DAY = { from: 0, to: 1440 };

const MINUTE = 60_000;

const DAY = 24 * 60 * MINUTE;

const formats = new Map<string, Intl.DateTimeFormat>();

function getFormat(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formats.set(zone, made);
  return made;
}

/** Returns the time on the clock of a zone, as if it were UTC. */
function wallAt(zone: string, instant: number): number {
  const parts = new Map(
    getFormat(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
}

/** Milliseconds that the clock of a zone is ahead of UTC. */
export function offsetAt(zone: string, instant: number): number {
  return wallAt(zone, instant) - Math.floor(instant / 1000) * 1000;
}

/** The day that the calendar of a zone shows: `2026-11-01`. */
function dayAt(zone: string, instant: number): string {
  return new Date(wallAt(zone, instant)).toISOString().slice(0, 10);
}

/** The day that many days later. */
function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY).toISOString().slice(0, 10);
}

/**
 * When the clock of a zone shows a time of a day. Where it is set back over that time it shows it twice,
 * `first` and `last`; where it is set forward over it, both are the moment at which it is set.
 */
function listInstants(
  zone: string,
  day: string,
  minutes: number,
): { readonly first: number; readonly last: number } {
  const wall = Date.parse(day) + minutes * MINUTE;
  // No clock is more than a day from UTC or set twice within two days: these are the offsets that count.
  const shown = [wall - DAY, wall + DAY]
    .map((around) => wall - offsetAt(zone, around))
    .filter((instant) => wallAt(zone, instant) === wall);
  if (shown.length > 0) return { first: Math.min(...shown), last: Math.max(...shown) };
  const set = firstAtOrAfter(zone, wall);
  return { first: set, last: set };
}

/** The first moment at which the clock shows a time or a later one. */
function firstAtOrAfter(zone: string, wall: number): number {
  let before = wall - DAY;
  let after = wall + DAY;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (wallAt(zone, middle) < wall) before = middle;
    else after = middle;
  }
  return after;
}

/** Returns true if the date exists: `Date` itself takes 31 February for a day of March. */
export function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const ISO_DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;

/**
 * A moment as people give it: `2h`, `7d` (so long ago), `2026-11-21` (that day in UTC, its beginning or, as
 * an end, all of it) or `2026-11-21T09:00` (UTC unless it names a zone). Throws `CallsheetError('usage')`.
 */
export function parseMoment(flag: string, text: string, now: Date, edge: 'start' | 'end'): Date {
  const ago = /^\d{1,6}[mhdw]$/.test(text) ? millisecondsIn(text) : undefined;
  if (ago !== undefined) return new Date(now.getTime() - ago);
  if (ISO_DAY.test(text) && isDay(text)) {
    return new Date(`${text}T${edge === 'start' ? '00:00:00.000' : '23:59:59.999'}Z`);
  }
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/.test(text);
  const time = TIME.test(text) ? Date.parse(hasZone ? text : `${text}Z`) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time);
  throw new CallsheetError('usage', `${flag} ${text} is neither a span nor a date`, {
    hint: 'Write 30m, 2h, 7d or 4w for a time until now, or 2026-11-21 or 2026-11-21T09:00Z.',
  });
}

/** A day of the calendar, `2026-11-21`. Throws `CallsheetError('usage')`. */
export function parseDay(flag: string, text: string): string {
  if (ISO_DAY.test(text) && isDay(text)) return text;
  throw new CallsheetError('usage', `${flag} ${text} is not a day`, {
    hint: 'Write it as 2026-11-21.',
  });
}
