import { type Chance, chanceOf, weightedIndex } from './chance.ts';

/** Milliseconds. */
const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Days before the clock in which generated calls lie. */
export const DAYS_OF_CALLS = 90;

/** How busy a day of the week is, Sunday first. */
const WEEKDAYS = [0.15, 1.15, 1.05, 1, 0.98, 0.9, 0.35];

/** How busy an hour of the day is where people work, and where somebody answers at any time. */
const HOURS = {
  office: [
    0.2, 0.1, 0.1, 0.1, 0.1, 0.3, 0.8, 2, 6, 9, 10, 9, 7, 8, 9, 8.5, 7, 5, 3, 2, 1.5, 1, 0.6, 0.3,
  ],
  always: [
    3, 2.5, 2, 1.5, 1.5, 2, 3, 4, 4.5, 4, 3.5, 3.5, 3.5, 3.5, 3.5, 4, 4.5, 6, 7, 7.5, 7.5, 7, 6, 4,
  ],
};
export type Rhythm = keyof typeof HOURS;

/** Draws when a call begins: more on weekdays, at the hours of its rhythm, never after `now`. */
export function callTimes(
  now: number,
): (chance: Chance, rhythm: Rhythm, timezone: string) => number {
  const today = Math.floor(now / DAY);
  const day = weightedIndex(
    Array.from({ length: DAYS_OF_CALLS }, (_, ago) => busyness(today - ago, ago)),
  );
  const hour = { office: weightedIndex(HOURS.office), always: weightedIndex(HOURS.always) };
  const offsets = new Map<string, number>();
  const offsetOf = (timezone: string): number => {
    const known = offsets.get(timezone) ?? zoneOffset(timezone, now);
    offsets.set(timezone, known);
    return known;
  };
  return (chance, rhythm, timezone) => {
    const local = (today - day(chance)) * DAY + hour[rhythm](chance) * HOUR;
    const at = local + Math.floor(chance.next() * HOUR) - offsetOf(timezone);
    return intoWindow(at, now);
  };
}

/** A whole week away, so that the weekday stays: calls are over by now, and no older than the window. */
function intoWindow(at: number, now: number): number {
  const week = 7 * DAY;
  if (at > now - HOUR) return at - week;
  return at < now - DAYS_OF_CALLS * DAY ? at + week : at;
}

/** Weekdays carry most of it; business grows slowly, and no day is like another. */
function busyness(day: number, ago: number): number {
  // The first of January 1970 was a Thursday.
  const weekday = WEEKDAYS[(day + 4) % 7] ?? 1;
  const growth = 1 - (0.25 * ago) / DAYS_OF_CALLS;
  return weekday * growth * (0.85 + 0.3 * chanceOf(day).next());
}

/** Milliseconds that a zone is ahead of UTC now; none where there is no such zone. */
function zoneOffset(timeZone: string, now: number): number {
  try {
    const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
    const name = parts.formatToParts(now).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
    const size = Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * 60_000;
    return sign === '-' ? -size : size;
  } catch {
    return 0;
  }
}
