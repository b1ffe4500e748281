import type { Address } from '../core/address.ts';
import type { Action } from '../core/plan-document.ts';
import type { LedgerLine } from '../state/journal.ts';

/** What a run tells while it works. It prints nothing itself. */
export type RunEvent =
  | { readonly type: 'run_started'; readonly run: string; readonly changes: number }
  | { readonly type: 'change_started'; readonly address: Address; readonly action: Action }
  | {
      readonly type: 'request_sent';
      readonly address: Address;
      readonly operation: string;
      readonly seq: number;
    }
  | { readonly type: 'change_ended'; readonly line: LedgerLine }
  | { readonly type: 'run_ended'; readonly run: string; readonly status: RunStatus };

/** An event as `apply --events FILE` writes it down: `schemas/events.schema.json`. The first of a run says so. */
export type EventLine = { readonly at: string } & (
  | Exclude<RunEvent, { readonly type: 'run_started' }>
  | ({ readonly format: 'callsheet-events'; readonly version: 1 } & Extract<
      RunEvent,
      { readonly type: 'run_started' }
    >)
);

/** An event with all that its line says. */
export function eventLine(event: RunEvent, at: string): EventLine {
  return event.type === 'run_started'
    ? { format: 'callsheet-events', version: 1, at, ...event }
    : { at, ...event };
}

export type RunStatus = 'done' | 'partial' | 'interrupted';
