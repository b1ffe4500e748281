/**
 * Times come in different forms: from the platform in milliseconds, in microseconds or in whole seconds, with or
 * without a zone, and from Callsheet in milliseconds. All comparisons of two of them are here.
 */

/** The milliseconds since 1970 that a written time may stand for, from `from` up to and without `to`. */
type Moment = { readonly from: number; readonly to: number };

const TIMESTAMP =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** One without a zone is in UTC, as receipts of runs are. A fraction of zeros may be mere padding. */
function parseMoment(text: string | null | undefined): Moment | undefined {
  const match = TIMESTAMP.exec(text ?? '');
  if (match === null) return undefined;
  const [, day, minutes, seconds, fraction = '', zone = 'Z'] = match;
  const offset = /^[+-]\d\d$/.test(zone)
    ? `${zone}:00`
    : zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2');
  const start = Date.parse(`${day}T${minutes}:${seconds ?? '00'}${offset.toUpperCase()}`);
  if (Number.isNaN(start)) return undefined;
  if (Number(fraction) === 0)
    return { from: start, to: start + (seconds === undefined ? 60_000 : 1000) };
  const from = start + Number(fraction.slice(0, 3).padEnd(3, '0'));
  return { from, to: from + 10 ** Math.max(0, 3 - fraction.length) };
}

/** The milliseconds since 1970 from which on a time may be meant; NaN of a text that is none. */
export function parseTime(text: string | null | undefined): number {
  return parseMoment(text)?.from ?? Number.NaN;
}

/**
 * True if a moment is surely before another one, moved by so many milliseconds: whatever the precision of either. None
 * is before or after an unknown one.
 */
export function isBefore(at: string | null, other: string | null, moved: number): boolean {
  const [one, two] = [parseMoment(at), parseMoment(other)];
  return one !== undefined && two !== undefined && one.to <= two.from + moved;
}

/** True if a moment may be another one, or come up to so many milliseconds after it. */
export function mayFollow(at: string | null, other: string | null, within: number): boolean {
  const [one, two] = [parseMoment(at), parseMoment(other)];
  if (one === undefined || two === undefined) return false;
  return one.to > two.from && one.from < two.to - 1 + within;
}
