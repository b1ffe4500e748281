import { escapeInJson } from '../../render/untrusted.ts';
import type { Terminal } from '../terminal.ts';
import { type Level, levelOf, type WatchEvent } from './events.ts';
import { shownWords } from './words.ts';

/** Takes note of what happens. */
export type Log = (event: WatchEvent) => void;

const RANKS: { readonly [level in Level]: number } = { debug: 0, info: 1, warn: 2, error: 3 };

export type LogOptions = {
  readonly format: 'text' | 'json';
  /** What matters less is left out. */
  readonly least: Level;
  readonly now: () => Date;
};

/**
 * A log on standard output, one line an event as JSON, or as sentences for a person. Values of fields are in none of
 * them: logs are kept for long, and read by many.
 */
export function openLog({ out }: Pick<Terminal, 'out'>, { format, least, now }: LogOptions): Log {
  return (event) => {
    const level = levelOf(event);
    if (RANKS[level] < RANKS[least]) return;
    const time = now().toISOString();
    if (format === 'json') {
      out(escapeInJson(JSON.stringify({ level, time, ...event })));
      return;
    }
    const [first = '', ...rest] = shownWords(event);
    const lines = [`${time.slice(0, 19)}Z ${level.padEnd(5)} ${first}`, ...rest.map(indented)];
    out(lines.join('\n'));
  };
}

function indented(line: string): string {
  return `${' '.repeat(27)}${line}`;
}
