import { CallsheetError } from '../../core/errors.ts';

const MILLISECONDS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;

/**
 * A moment as people give it: `2h`, `7d` (so long ago), `2026-11-21` (that day in UTC, its beginning or, as
 * an end, all of it) or `2026-11-21T09:00` (UTC unless it names a zone). Throws `CallsheetError('usage')`.
 */
export function parseMoment(flag: string, text: string, now: Date, edge: 'start' | 'end'): Date {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) {
    return new Date(now.getTime() - Number(count) * (MILLISECONDS[unit] ?? 0));
  }
  if (DAY.test(text) && isDay(text)) {
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
  if (DAY.test(text) && isDay(text)) return text;
  throw new CallsheetError('usage', `${flag} ${text} is no day`, {
    hint: 'Write it as 2026-11-21.',
  });
}

function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Throws where a span ends before it begins. */
export function checkOrder(start: Date, end: Date): void {
  if (start.getTime() <= end.getTime()) return;
  const message = `the time ends (${end.toISOString()}) before it begins (${start.toISOString()})`;
  throw new CallsheetError('usage', message, { hint: 'Swap the two, or leave one out.' });
}
