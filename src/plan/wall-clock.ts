/** Wall clocks of time zones, as `Intl` knows them. Instants are milliseconds since 1970. */

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
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

/** What the clock of a zone shows, written as if it were UTC. */
function wallAt(zone: string, instant: number): number {
  const parts = new Map(
    formatOf(zone)
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

function offsetAt(zone: string, instant: number): number {
  return wallAt(zone, instant) - Math.floor(instant / 1000) * 1000;
}

/** The day that the calendar of a zone shows: `2026-11-01`. */
export function dayAt(zone: string, instant: number): string {
  return new Date(wallAt(zone, instant)).toISOString().slice(0, 10);
}

/** The day that many days later. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY).toISOString().slice(0, 10);
}

/**
 * When the clock of a zone shows a time of a day. Where it is set back over that time it shows it twice,
 * `first` and `last`; where it is set forward over it, both are the moment at which it is set.
 */
export function instantsOf(
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

/** `Mon 2026-11-23 06:00 America/New_York` */
export function formatInstant(zone: string, instant: number): string {
  const wall = new Date(wallAt(zone, instant));
  const [day = '', time = ''] = wall.toISOString().split('T');
  const weekday = wall.toUTCString().slice(0, 3);
  return `${weekday} ${day} ${time.slice(0, 5)} ${zone}`;
}
