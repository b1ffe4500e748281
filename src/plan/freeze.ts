import { type FreezeWindow, WEEKDAYS } from '../core/guards.ts';
import { dayAfter, dayAt, instantsOf } from './wall-clock.ts';

/** Windows that are in force. */
type Freeze = {
  readonly windows: readonly [FreezeWindow, ...FreezeWindow[]];
  /** When none is any more, whichever begin meanwhile. Undefined: not within a year. */
  readonly until: Date | undefined;
};

/** How far ahead an end is looked for. */
const YEAR = 366 * 24 * 60 * 60_000;

/** A day by the calendar of the window's zone, from midnight to midnight. */
const WHOLE_DAY = { from: 0, to: 1440 };

/** The freeze that is in force at a moment, if there is one. */
export function freezeAt(windows: readonly FreezeWindow[], now: Date): Freeze | undefined {
  const [first, ...others] = windows.filter((one) => endOf(one, now.getTime()) !== undefined);
  if (first === undefined) return undefined;
  return { windows: [first, ...others], until: endOfAll(windows, now.getTime()) };
}

function endOfAll(windows: readonly FreezeWindow[], now: number): Date | undefined {
  let end = now;
  while (end < now + YEAR) {
    const ends = windows.flatMap((one) => endOf(one, end) ?? []);
    if (ends.length === 0) return new Date(end);
    end = Math.max(...ends);
  }
  return undefined;
}

/** When a window ends that is in force at an instant; undefined: it is not. */
function endOf(window: FreezeWindow, instant: number): number | undefined {
  const today = dayAt(window.zone, instant);
  // Yesterday's may go on past midnight.
  for (const day of [today, dayAfter(today, -1)]) {
    if (!beginsOn(window, day)) continue;
    const { start, end } = boundsOn(window, day);
    if (start <= instant && instant < end) return end;
  }
  return undefined;
}

function beginsOn({ weekdays, dates }: FreezeWindow, day: string): boolean {
  const weekday = WEEKDAYS[new Date(day).getUTCDay()];
  const isWeekday = weekdays === undefined || weekdays.some((one) => one === weekday);
  const isDate = dates === undefined || dates.some(({ from, to }) => from <= day && day <= to);
  return isWeekday && isDate;
}

/**
 * Where the clock shows an hour twice, a window lasts from the first to the last of it: rather a freeze
 * that is too long than one with a hole. Midnight is the first one, as the date says.
 */
function boundsOn({ zone, hours = WHOLE_DAY }: FreezeWindow, day: string) {
  const { from, to } = hours;
  const start = instantsOf(zone, day, from).first;
  const next = dayAfter(day, 1);
  if (to === 1440 || to === 0) return { start, end: instantsOf(zone, next, 0).first };
  return { start, end: instantsOf(zone, to > from ? day : next, to).last };
}
