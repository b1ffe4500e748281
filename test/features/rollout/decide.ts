import { assess, type DayOfCalls, findStop, isBad } from '../../../src/features/rollout/assess.ts';
import { AGENTS, BASELINE_WEEKS, type Decision, SPANS, type View } from './worlds.ts';

/** The settings that a rollout has unless callsheet.yaml says otherwise, and a limit of errors. */
const JUDGE = {
  measures: [{ name: 'resolved', margin: 5, better: 'higher' }],
  minCalls: 200,
  minDays: 3,
  baselineWeeks: BASELINE_WEEKS,
} as const;
const LIMIT = 5;

/** Decides as a rollout does that rolls back where callers fare worse. Plays of one rollout follow each other. */
export function openDecisions(): (view: View) => Decision {
  let before: Record<string, { calls: number; errors: number; days: number; badDays: number }>;
  return (view) => {
    const { now, start, cohorts, count, changedAt } = view;
    const { day } = SPANS;
    const agent = (at: number) => ({
      address: `agent.a${at}`,
      id: String(at),
      changedAt: changedAt(at) ?? null,
    });
    const list = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => agent(from + index));
    const days = (at: number, from: number, until: number) => {
      const found = new Map<number, DayOfCalls>();
      for (let begin = Math.floor(from / day) * day; begin < until; begin += day) {
        const { calls, errors } = count(at, Math.max(from, begin), Math.min(until, begin + day));
        if (calls > 0) found.set(begin, { calls, errors });
      }
      return found;
    };
    before ??= Object.fromEntries(
      list(0, AGENTS).map(({ id }) => {
        const known = [...days(Number(id), start - 2 * SPANS.week, start).values()];
        const { calls, errors } = count(Number(id), start - 2 * SPANS.week, start);
        const badDays = known.filter((one) => isBad(one, LIMIT)).length;
        return [id, { calls, errors, days: known.length, badDays }];
      }),
    );
    const since = cohorts[0]?.since ?? start;
    const look = assess(
      {
        now,
        start,
        groups: cohorts.map(({ from, to, since }) => ({ since, changed: list(from, to) })),
        others: list(cohorts.at(-1)?.to ?? 0, AGENTS),
        judge: JUDGE,
        guardRails: { errors: LIMIT, errorWords: [], silence: 30 },
        logs: {
          before,
          since: new Map(list(0, AGENTS).map(({ id }) => [id, days(Number(id), since, now)])),
        },
      },
      (id, from, until) => ({ ...count(Number(id), from, until), seconds: 0 }),
    );
    const stop = findStop(look);
    if (stop !== null) return stop === 'rollback' ? 'rollback' : 'pause';
    return look.verdict === 'no_worse' || look.verdict === 'better' ? 'go' : 'wait';
  };
}
