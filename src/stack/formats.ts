import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isDay } from '../core/calendar.ts';
import { nearest } from '../core/nearest.ts';
import { type DateSpan, type FreezeWindow, type Hours, WEEKDAYS } from '../core/plan-document.ts';
import { isUuid, millisecondsIn } from '../core/value.ts';

/** A part of some resources, of which a share is rounded up. */
export type StepSize = { readonly agents: number } | { readonly percent: number };

const zones = new Map<string, boolean>();

/** Zone names of the IANA database that JavaScript lists. It takes more than it lists: aliases such as US/Eastern. */
function listedZones(): ReadonlySet<string> {
  return new Set([...Intl.supportedValuesOf('timeZone'), 'UTC']);
}

function checkZone(name: string): boolean {
  const listed = listedZones();
  if (listed.has(name)) return true;
  // `Intl` also takes offsets such as +02:00, which are no zones, and any case, which others may not.
  if (!/^[A-Z]/.test(name)) return false;
  const lower = name.toLowerCase();
  for (const zone of listed) if (zone.toLowerCase() === lower) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function isTimeZone(name: string): boolean {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const valid = checkZone(name);
  zones.set(name, valid);
  return valid;
}

function isUri(text: string): boolean {
  const { uri } = fullFormats;
  // The platform fills in its own {{tokens}}; what they become is not known here.
  const filled = text.replace(/\{\{[^{}]*\}\}/g, 'token');
  return typeof uri === 'function' && uri(filled) === true;
}

function isEmail(text: string): boolean {
  const { email } = fullFormats;
  return email instanceof RegExp && email.test(text);
}

/**
 * Returns true for a sender of text messages (SMS templates): a phone number as E.164 has it, a short code, or a
 * sender id, which has at most 11 letters, digits and spaces, and not only digits.
 */
function isSmsSender(text: string): boolean {
  return (
    /^\+[1-9]\d{6,14}$/.test(text) ||
    /^\d{3,8}$/.test(text) ||
    (/^[A-Za-z0-9 ]{1,11}$/.test(text) && /[A-Za-z]/.test(text))
  );
}

/** A number with what people put between its digits, without it: `+1 (555) 010-0100`. */
function plainNumber(text: string): string | undefined {
  const plain = text.replace(/[\s()./-]/g, '').replace(/^00/, '+');
  return plain !== text && isSmsSender(plain) && plain.startsWith('+') ? plain : undefined;
}

type Format = {
  readonly check: (text: string) => boolean;
  readonly noun: string;
  readonly example: string;
  readonly nearest?: (text: string) => string | undefined;
  /** Returns why a text is wrong, in words that end a sentence. */
  readonly wrong?: (text: string) => string | undefined;
  /** Reads a text; undefined where it is wrong. A format without this means its text. */
  readonly read?: (text: string) => unknown;
};

/** The formats that schemas use. */
export const FORMATS: Readonly<Record<string, Format>> = {
  uri: { check: isUri, noun: 'an address', example: 'https://example.test/page' },
  'web-address': {
    check: (text) => isUri(text) && /^https?:\/\//i.test(text),
    noun: 'an address',
    example: 'https://example.test/page',
    wrong: (text) =>
      isUri(text)
        ? `it begins with ${text.split(':')[0]}:, not with http:// or https://`
        : undefined,
  },
  'sms-sender': {
    check: isSmsSender,
    noun: 'a phone number, a short code or a sender id',
    example: '+15550100, 55501 or HARBOR',
    nearest: plainNumber,
  },
  email: { check: isEmail, noun: 'an e-mail address', example: 'desk@example.test' },
  uuid: {
    check: isUuid,
    noun: 'an id (UUID)',
    example: '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11',
  },
  'iana-timezone': {
    check: isTimeZone,
    noun: 'an IANA time zone',
    example: 'America/New_York',
    nearest: (text) => nearest(text, listedZones()),
  },
  'freeze-hours': { ...asRead(readHours), noun: 'hours of a day', example: '09:00-17:00' },
  'freeze-dates': {
    ...asRead(readDates),
    noun: 'a day, or the first and the last of several',
    example: '2026-12-20..2027-01-06',
  },
  duration: { ...asRead(readDuration), noun: 'a length of time', example: '10s, 12h or 7d' },
  'step-size': {
    ...asRead(readStep),
    noun: 'a number of agents or a share of them',
    example: '3 agents or 10%',
  },
};

function asRead(read: (text: string) => Read<unknown>): Pick<Format, 'check' | 'wrong' | 'read'> {
  return {
    check: (text) => 'value' in read(text),
    wrong(text) {
      const found = read(text);
      return 'wrong' in found ? found.wrong : undefined;
    },
    read(text) {
      const found = read(text);
      return 'value' in found ? found.value : undefined;
    },
  };
}

/** The meaning of a text, or what is wrong with it, in words that end a sentence. */
type Read<T> = { readonly value: T } | { readonly wrong: string };

/** Reads `09:00-17:00`. What ends before it begins ends on the next day; 24:00 is the end of the day. */
function readHours(text: string): Read<Hours> {
  const match = /^(\d{2}):(\d{2})\s*-\s*(\d{2}):(\d{2})$/.exec(text);
  if (match === null) return { wrong: 'it must be two times with a hyphen, such as 09:00-17:00' };
  const [, fromHour = '', fromMinute = '', toHour = '', toMinute = ''] = match;
  const from = toMinutes(fromHour, fromMinute);
  const to = toMinutes(toHour, toMinute);
  if (from === undefined || from === 1440)
    return { wrong: `its start ${fromHour}:${fromMinute} is not a time` };
  if (to === undefined) return { wrong: `its end ${toHour}:${toMinute} is not a time` };
  if (from === to)
    return { wrong: 'its start and end are the same; write a whole day as 00:00-24:00' };
  return { value: { from, to } };
}

/** Hours and weekdays as far as they can be read. What is wrong with them, their schemas say. */
export function readTimes(
  hours: unknown,
  weekdays: readonly string[] | undefined,
): Pick<FreezeWindow, 'hours' | 'weekdays'> {
  const times = typeof hours === 'string' ? readHours(hours) : undefined;
  return {
    ...(weekdays === undefined
      ? {}
      : { weekdays: WEEKDAYS.filter((day) => weekdays.includes(day)) }),
    ...(times && 'value' in times ? { hours: times.value } : {}),
  };
}

/** Reads `10s` or `7d`, as milliseconds. */
export function readDuration(text: string): Read<number> {
  const value = millisecondsIn(text);
  if (value === undefined)
    return { wrong: 'it must be a number and one of s, m, h, d and w, such as 12h' };
  return value > 0 ? { value } : { wrong: 'it must be more than 0' };
}

/** Reads `3 agents` or `10%`. */
export function readStep(text: string): Read<StepSize> {
  const [, count, unit] = /^(\d+(?:\.\d+)?) ?(%|agents?)$/.exec(text) ?? [];
  const number = Number(count);
  if (unit === '%')
    return number > 0 && number <= 100
      ? { value: { percent: number } }
      : { wrong: 'a share is more than 0% and at most 100%' };
  if (unit === undefined) return { wrong: 'it must be written as 3 agents or as 10%' };
  return Number.isSafeInteger(number) && number > 0
    ? { value: { agents: number } }
    : { wrong: 'agents are counted in whole numbers from 1' };
}

function toMinutes(hour: string, minute: string): number | undefined {
  const minutes = Number(hour) * 60 + Number(minute);
  return Number(minute) < 60 && minutes <= 1440 ? minutes : undefined;
}

/** Reads `2026-12-24`, or `2026-12-20..2027-01-06`, both days included. */
export function readDates(text: string): Read<DateSpan> {
  const [from = '', to = from, ...more] = text.split('..').map((day) => day.trim());
  if (more.length > 0 || ![from, to].every((day) => /^\d{4}-\d{2}-\d{2}$/.test(day)))
    return {
      wrong: 'it must be a day, such as 2026-12-24, or two, such as 2026-12-20..2027-01-06',
    };
  const missing = [from, to].find((day) => !isDay(day));
  if (missing !== undefined) return { wrong: `there is no day ${missing}` };
  if (to < from) return { wrong: `${to} is before ${from}` };
  return { value: { from, to } };
}
