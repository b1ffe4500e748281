/**
 * `monitor/` is what commands that run for long have in common: a log, metrics for Prometheus, and a `/healthz`. What
 * is logged and measured is said by each of them (`watch/`, `queue/`).
 */
import { escapeInJson, sanitiseLine } from '../../render/untrusted.ts';
import type { CommonFlags } from '../context.ts';
import type { Terminal } from '../terminal.ts';

/** How much an event matters. */
export type Level = 'debug' | 'info' | 'warn' | 'error';

/** Takes note of what happens. */
export type Log<Event> = (event: Event) => void;

export type LogFlags = Pick<CommonFlags, 'quiet' | 'verbose'> & {
  /** Text on a terminal and JSON elsewhere, unless given. */
  readonly log?: 'text' | 'json';
};

const RANKS: { readonly [level in Level]: number } = { debug: 0, info: 1, warn: 2, error: 3 };

type LogOptions<Event> = {
  readonly flags: LogFlags;
  readonly now: () => Date;
  readonly levelOf: (event: Event) => Level;
  /** An event as a sentence, for a terminal. */
  readonly wordsOf: (event: Event) => string;
};

/**
 * A log on standard output, one line an event as JSON, or as sentences for a person. Values of fields are in none of
 * them: logs are kept for long, and read by many.
 */
export function openLog<Event extends { readonly event: string }>(
  { out }: Pick<Terminal, 'out'>,
  { flags, now, levelOf, wordsOf }: LogOptions<Event>,
): Log<Event> {
  const format = flags.log ?? (process.stdout.isTTY === true ? 'text' : 'json');
  const least = flags.quiet === true ? 'warn' : flags.verbose === true ? 'debug' : 'info';
  return (event) => {
    const level = levelOf(event);
    if (RANKS[level] < RANKS[least]) return;
    const time = now().toISOString();
    if (format === 'json') {
      out(escapeInJson(JSON.stringify({ level, time, ...event })));
      return;
    }
    // What others wrote is sanitised line by line.
    const [first = '', ...rest] = wordsOf(event)
      .split('\n')
      .map((line) => sanitiseLine(line));
    const lines = [`${time.slice(0, 19)}Z ${level.padEnd(5)} ${first}`, ...rest.map(indented)];
    out(lines.join('\n'));
  };
}

function indented(line: string): string {
  return `${' '.repeat(27)}${line}`;
}
