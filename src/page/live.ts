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
