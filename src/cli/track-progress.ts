import type { RunEvent } from '../apply/events.ts';
import { type Address, kindOf } from '../core/address.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import type { ProgressView } from '../render/progress.ts';

export type Tracker = {
  readonly note: (event: RunEvent) => void;
  readonly view: (seconds: number, retries: number) => ProgressView;
};

/** Follows a run by its events. Work per event does not grow with the plan. */
export function trackProgress(plan: PlanDocument): Tracker {
  const batches = new Map<string, { kind: string; total: number; ended: number; failed: number }>();
  const running = new Set<Address>();
  for (const { kind, verdict } of plan.changes) {
    if (verdict !== 'ok') continue;
    const batch = batches.get(kind) ?? { kind, total: 0, ended: 0, failed: 0 };
    batch.total += 1;
    batches.set(kind, batch);
  }
  return {
    note(event) {
      if (event.type === 'change_started') running.add(event.address);
      if (event.type !== 'change_ended') return;
      const { address, status } = event.line;
      running.delete(address);
      const batch = batches.get(kindOf(address));
      if (batch === undefined) return;
      batch.ended += 1;
      if (status === 'failed' || status === 'blocked') batch.failed += 1;
    },
    view: (seconds, retries) => ({
      purpose: plan.purpose,
      seconds,
      retries,
      batches: [...batches.values()],
      running: [...running],
    }),
  };
}
