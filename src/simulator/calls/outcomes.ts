import type { Call, Outcome } from './call.ts';
import { percentOf } from './figures.ts';

/** Calls by how they ended, in the order in which reports name them. */
export type OutcomeCounts = { readonly [outcome in Outcome]: number };

export function countOutcomes(calls: readonly Call[]): OutcomeCounts {
  const counts = { resolved: 0, transferred: 0, abandoned: 0, other: 0 };
  for (const { outcome } of calls) counts[outcome] += 1;
  return counts;
}

/** Percent of calls in a good mood, of those in which somebody talked to the agent; null without any. */
export function sentimentPercent(calls: readonly Call[]): number | null {
  const moods = calls.filter(({ outcome }) => outcome === 'resolved' || outcome === 'transferred');
  const positive = moods.filter(({ sentiment }) => sentiment === 'Positive');
  return percentOf(positive.length, moods.length);
}
