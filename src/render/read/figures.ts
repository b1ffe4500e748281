/**
 * `render/read/` shows what the platform reports and does not plan: records, calls, figures, charts. A
 * `Field` says once how a value is called and written, for the table and for CSV alike. Everything here
 * is live text, so it is sanitised where it becomes a cell.
 */
import { inSeconds } from '../../core/time.ts';
import { isObject, type Json, type JsonObject } from '../../core/value.ts';
import { sanitiseLine } from '../untrusted.ts';

/** How a value is written for people. */
export type Form =
  | 'text'
  | 'number'
  | 'decimal'
  | 'percent'
  | 'seconds'
  | 'milliseconds'
  | 'time'
  | 'words';

/** Stands where there is no value. */
export const NOTHING = '–';

/** Forms whose values are compared by their digits and stand at the right of their column. */
const RIGHT: readonly Form[] = ['number', 'decimal', 'percent', 'seconds', 'milliseconds'];

export function isRightAligned(form: Form): boolean {
  return RIGHT.includes(form);
}

/** A member of a record, or of an object in it: `actor.id`. Undefined where there is none. */
export function valueAt(record: JsonObject, path: string): Json | undefined {
  let at: Json | undefined = record;
  for (const name of path.split('.')) {
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

/** A value in one line. What is not of the form that was expected is shown as it came. */
export function formatFigure(value: Json | undefined, form: Form = 'text'): string {
  if (value === undefined || value === null || value === '') return NOTHING;
  if (typeof value === 'number') return formatNumberAs(value, form);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'string') return sanitiseLine(JSON.stringify(value));
  if (form === 'time') return formatTime(value);
  return sanitiseLine(form === 'words' ? value.replaceAll('_', ' ') : value);
}

function formatNumberAs(value: number, form: Form): string {
  switch (form) {
    case 'percent':
      return `${formatDecimal(value, 1)} %`;
    case 'seconds':
      return formatSeconds(value);
    case 'milliseconds':
      return `${formatDecimal(value, 0)} ms`;
    case 'decimal':
      return formatDecimal(value, 1);
    case 'number':
      return Number.isInteger(value) ? formatDecimal(value, 0) : formatDecimal(value, 2);
    default:
      return String(value);
  }
}

/** `16,204.5`, whatever the locale of the machine. */
export function formatDecimal(value: number, digits: number): string {
  const [whole = '', rest] = value.toFixed(digits).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

/** `45s`, `3m 12s`, `1h 05m`. */
function formatSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (part: number) => String(part).padStart(2, '0');
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  return `${formatDecimal(Math.floor(whole / 3600), 0)}h ${two(Math.floor((whole % 3600) / 60))}m`;
}

/** `2026-11-21T09:45:12Z`: every time is shown in UTC, as receipts of runs have it. */
export function formatTime(text: string): string {
  const time = Date.parse(text);
  if (Number.isNaN(time)) return sanitiseLine(text);
  return inSeconds(new Date(time).toISOString());
}
