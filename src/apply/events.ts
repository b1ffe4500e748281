import type { Events } from '../core/documents.generated.ts';

/** An event as `apply --events FILE` writes it down. The first of a run says the format. */
export type EventLine = Events.Document;

/** What a run tells while it works. It prints nothing itself. */
export type RunEvent = Told<EventLine>;

type Told<Line> = Line extends unknown ? Omit<Line, 'format' | 'version' | 'at'> : never;

/** An event with all that its line says. */
export function eventLine(event: RunEvent, at: string): EventLine {
  return event.type === 'run_started'
    ? { format: 'callsheet-events', version: 1, at, ...event }
    : { at, ...event };
}

export type RunStatus = Events.RunEnded['status'];
