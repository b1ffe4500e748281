import type { PlannedOperation } from '../core/plan-document.ts';
import type { RunEnded, RunPurpose } from '../state/journal.ts';

/** What the page of `callsheet ui` is told while a run is at work: entries of its journal, without documents. */
export type LiveEvent =
  | {
      readonly type: 'began';
      readonly run: string;
      readonly at: string;
      readonly purpose: RunPurpose;
      readonly user: string | null;
      readonly plan_digest: string;
    }
  | {
      readonly type: 'intent';
      readonly seq: number;
      readonly at: string;
      readonly address: string;
      readonly step: PlannedOperation['step'];
    }
  | {
      readonly type: 'outcome';
      readonly seq: number;
      readonly at: string;
      readonly ok: boolean;
      readonly error: string | null;
    }
  | { readonly type: 'ended'; readonly at: string; readonly status: RunEnded['status'] }
  /** The journal is no longer open: the run is among the others now. */
  | { readonly type: 'gone'; readonly run: string };

/** An event, with the place in its journal that a reader who was cut off goes on from. */
export type LiveNote = { readonly id: string; readonly event: LiveEvent };

/** What the page of `callsheet ui` knows from the beginning; it asks for the rest. */
export type UiStart = {
  /** Name of the stack's folder. */
  readonly dir: string;
  readonly hasPlan: boolean;
  readonly version: string;
};

/** A run at work, as far as its journal has told. */
export type RunNow = {
  readonly run: string;
  readonly purpose: string;
  readonly user: string | null;
  readonly at: string;
  /** Requests that left, and those that were answered. */
  readonly sent: number;
  readonly answered: number;
  /** What was asked for and not answered yet, by its number in the run. */
  readonly waiting: ReadonlyMap<number, Step>;
  readonly failures: readonly (Step & { readonly error: string })[];
  /** The last that were answered, the newest first. */
  readonly latest: readonly Step[];
  readonly status: string | undefined;
};

export type Step = { readonly address: string; readonly step: string };

const LATEST = 8;
const FAILURES = 50;

/** A run after one more entry of its journal; undefined once it is no longer at work. */
export function follow(run: RunNow | undefined, event: LiveEvent): RunNow | undefined {
  if (event.type === 'began') {
    const { run: id, purpose, user, at } = event;
    if (run?.run === id) return run;
    const nothing = { sent: 0, answered: 0, waiting: new Map(), failures: [], latest: [] };
    return { run: id, purpose, user, at, ...nothing, status: undefined };
  }
  if (event.type === 'gone' || run === undefined) return undefined;
  switch (event.type) {
    case 'intent': {
      const { seq, address, step } = event;
      const waiting = new Map(run.waiting).set(seq, { address, step });
      return { ...run, sent: run.sent + 1, waiting };
    }
    case 'outcome': {
      const { seq, ok, error } = event;
      const step = run.waiting.get(seq);
      if (step === undefined) return run;
      const waiting = new Map(run.waiting);
      waiting.delete(seq);
      const failure = { ...step, error: error ?? 'it failed' };
      return {
        ...run,
        waiting,
        answered: run.answered + 1,
        latest: ok ? [step, ...run.latest].slice(0, LATEST) : run.latest,
        failures: ok ? run.failures : [...run.failures, failure].slice(-FAILURES),
      };
    }
    case 'ended':
      return { ...run, status: event.status };
  }
}
