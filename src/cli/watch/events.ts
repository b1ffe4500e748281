import type { Level, Log as LogOf } from '../monitor/log.ts';
import type { Wake } from './bell.ts';

export type Log = LogOf<WatchEvent>;

/** Who changed something, as far as history tells. */
export type Author = {
  readonly certainty: 'entry' | 'actor' | 'one_of' | 'unknown' | null;
  readonly because: string | null;
  /** Of the newest edit that it may have been. */
  readonly actor: string | null;
  readonly source: string | null;
  readonly at: string | null;
};

/** What is written to the log: each line is one of these, with its level and time. Stands in docs/watch.md. */
export type WatchEvent =
  | {
      readonly event: 'started';
      readonly stacks: readonly string[];
      readonly interval_seconds: number;
      readonly listen: string;
      readonly heal: boolean;
      readonly hooks: boolean;
      readonly version: string;
    }
  | { readonly event: 'exposed'; readonly listen: string }
  | ({
      readonly event: 'pass_ended';
      readonly stack: string;
      readonly because: Wake;
      readonly seconds: number;
    } & Counts)
  | { readonly event: 'pass_postponed'; readonly stack: string; readonly run: string }
  | {
      readonly event: 'pass_failed';
      readonly stack: string;
      readonly kind: string;
      readonly message: string;
      readonly hint: string | null;
      /** What is wrong with the configuration, with file and line. */
      readonly problems: readonly string[];
    }
  | {
      readonly event: 'pass_recovered';
      readonly stack: string;
      readonly failures: number;
      readonly since: string;
    }
  | { readonly event: 'pass_slow'; readonly stack: string; readonly seconds: number }
  | ({
      readonly event: 'drift_found';
      readonly stack: string;
      readonly address: string;
      /** Null: the resource itself is gone. */
      readonly field: string | null;
    } & Author)
  | {
      readonly event: 'drift_ended';
      readonly stack: string;
      readonly address: string;
      readonly field: string | null;
    }
  | {
      readonly event: 'heal_ended';
      readonly stack: string;
      readonly run: string;
      readonly address: string;
      readonly status: string;
      readonly fields: readonly string[];
      readonly message: string | null;
    }
  | {
      readonly event: 'heal_left';
      readonly stack: string;
      readonly address: string;
      readonly message: string;
    }
  | { readonly event: 'heal_skipped'; readonly stack: string; readonly message: string }
  | {
      readonly event: 'heal_contested';
      readonly stack: string;
      readonly address: string;
      readonly times: number;
    }
  | { readonly event: 'heal_agreed'; readonly stack: string; readonly address: string }
  | {
      readonly event: 'notification_sent';
      readonly stack: string;
      readonly is_drifted: boolean;
    }
  | { readonly event: 'notification_failed'; readonly stack: string; readonly message: string }
  | {
      readonly event: 'hook_taken';
      readonly sender: 'github' | 'gitlab';
      readonly delivery: string | null;
    }
  | { readonly event: 'hook_refused'; readonly status: number; readonly message: string }
  | { readonly event: 'stopping'; readonly message: string }
  | { readonly event: 'stopped' }
  | { readonly event: 'note'; readonly stack: string; readonly message: string };

/** What a pass came to. */
export type Counts = {
  readonly compared: number;
  readonly drifted: number;
  /** Changes of the configuration that nobody applied. */
  readonly pending: number;
  readonly healed: number;
  /** Drifted resources that are not healed any more, as somebody else changes them again and again. */
  readonly contested: number;
};

/** How much each event matters. Of `heal_ended` the outcome decides. */
export function levelOf(event: WatchEvent): Level {
  switch (event.event) {
    case 'pass_failed':
    case 'heal_contested':
    case 'notification_failed':
      return 'error';
    case 'heal_ended':
      return event.status === 'done' ? 'info' : 'error';
    case 'exposed':
    case 'pass_slow':
    case 'drift_found':
    case 'heal_left':
    case 'heal_skipped':
      return 'warn';
    // Anybody who reaches the port could fill a log with them; they are counted.
    case 'hook_refused':
    case 'note':
      return 'debug';
    default:
      return 'info';
  }
}
