import type { LockEffects } from '../../../../src/state/lock.ts';

/** A clock that stands still but for what is slept, and heartbeats when they are asked for. */
export function clock({
  machine,
  ahead = 0,
  whileAsleep = async () => {},
}: {
  readonly machine: string;
  readonly ahead?: number;
  readonly whileAsleep?: () => Promise<void>;
}) {
  let now = Date.parse('2026-03-02T08:30:00.000Z') + ahead;
  let waited = 0;
  const acts = new Set<() => void>();
  const effects: Partial<LockEffects> = {
    machine,
    now: () => now,
    steady: () => now,
    async sleep(milliseconds) {
      now += milliseconds;
      waited += milliseconds;
      await whileAsleep();
    },
    every(_, act) {
      acts.add(act);
      return () => acts.delete(act);
    },
  };
  return {
    effects,
    waited: () => waited,
    beat() {
      now += 2_000;
      for (const act of acts) act();
    },
  };
}
