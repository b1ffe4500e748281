import type { DateSpan, Hours } from '../core/guards.ts';

/** What a text means, or what is wrong with it, in words that end a sentence. */
type Read<T> = { readonly value: T } | { readonly wrong: string };

/** Reads `09:00-17:00`. What ends before it begins ends on the next day; 24:00 is the end of the day. */
export function readHours(text: string): Read<Hours> {
  const match = /^(\d{2}):(\d{2})\s*-\s*(\d{2}):(\d{2})$/.exec(text);
  if (match === null) return { wrong: 'it must be two times with a hyphen, as 09:00-17:00' };
  const [, fromHour = '', fromMinute = '', toHour = '', toMinute = ''] = match;
  const from = minutesOf(fromHour, fromMinute);
  const to = minutesOf(toHour, toMinute);
  if (from === undefined || from === 1440)
    return { wrong: `there is no ${fromHour}:${fromMinute} that it could begin at` };
  if (to === undefined) return { wrong: `there is no time ${toHour}:${toMinute}` };
  if (from === to) return { wrong: 'it ends as it begins; a whole day is 00:00-24:00' };
  return { value: { from, to } };
}

function minutesOf(hour: string, minute: string): number | undefined {
  const minutes = Number(hour) * 60 + Number(minute);
  return Number(minute) < 60 && minutes <= 1440 ? minutes : undefined;
}

/** Reads `2026-12-24`, or `2026-12-20..2027-01-06`, both days included. */
export function readDates(text: string): Read<DateSpan> {
  const [from = '', to = from, ...more] = text.split('..').map((day) => day.trim());
  if (more.length > 0 || ![from, to].every((day) => /^\d{4}-\d{2}-\d{2}$/.test(day)))
    return { wrong: 'it must be a day, as 2026-12-24, or two, as 2026-12-20..2027-01-06' };
  const missing = [from, to].find((day) => !isDay(day));
  if (missing !== undefined) return { wrong: `there is no day ${missing}` };
  if (to < from) return { wrong: `${to} is before ${from}` };
  return { value: { from, to } };
}

/** Whether the calendar has that day. */
function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
