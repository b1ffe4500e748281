import type { OpenGauges } from '../../run/context.ts';
import { isUnderWay, type RolloutRecord, recordsIn } from './record.ts';

const STATUSES: readonly RolloutRecord['status'][] = [
  'applying',
  'judging',
  'held',
  'rolling_back',
  'done',
  'rolled_back',
];

/** Gauges of rollouts, as they were last written down. They name measures and no agent. */
export const openGauges: OpenGauges = (gauge) => {
  const of = ['stack', 'rollout'] as const;
  const status = gauge('rollout_status', 'The status of a rollout: 1 for the one that it has.', [
    ...of,
    'status',
  ]);
  const step = gauge('rollout_step', 'The step that a rollout is at, from 1.', of);
  const agents = gauge('rollout_agents', 'Agents that have the change of a rollout.', of);
  const since = gauge('rollout_step_timestamp_seconds', 'When its step was applied.', of);
  const overdueAt = gauge(
    'rollout_overdue_timestamp_seconds',
    'While a rollout goes on by itself: from when on it is overdue.',
    of,
  );
  const calls = gauge('rollout_calls', 'Calls of agents with the change since their step.', of);
  const effect = gauge(
    'rollout_effect',
    'How much more agents with the change moved than others, and the ends of the interval.',
    [...of, 'measure', 'bound'],
  );
  const all = [status, step, agents, since, overdueAt, calls, effect];

  const show = (stack: string, record: RolloutRecord) => {
    const { name: rollout, steps, step: index, look } = record;
    const labels = { stack, rollout };
    const at = steps[index]?.at ?? null;
    for (const one of STATUSES)
      status.set({ ...labels, status: one }, one === record.status ? 1 : 0);
    step.set(labels, index + 1);
    agents.set(labels, steps.findLast((one) => one.at !== null)?.agents ?? 0);
    if (at !== null) since.set(labels, toSeconds(at));
    if (isUnderWay(record) && record.status !== 'held')
      overdueAt.set(
        labels,
        toSeconds(at ?? record.started_at) + record.settings.overdueAfter / 1000,
      );
    if (look === null) return;
    calls.set(labels, look.calls);
    for (const { name: measure, effect: value, low, high } of look.measures)
      for (const [bound, figure] of Object.entries({ effect: value, low, high }))
        if (figure !== null) effect.set({ ...labels, measure, bound }, figure);
  };

  // No series may stand that an alert waits for once its rollout ended, or is gone with the state.
  const latest = new Map<string, readonly RolloutRecord[]>();
  return (stack, state) => {
    latest.set(stack, recordsIn(state));
    for (const one of all) one.reset();
    for (const [name, records] of latest) for (const record of records) show(name, record);
  };
};

function toSeconds(time: string): number {
  return Date.parse(time) / 1000;
}
