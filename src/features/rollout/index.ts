import {
  ADVANCING,
  AUTO_APPROVE,
  CONCURRENCY,
  flag,
  format,
  LOCK_TIMEOUT,
  NO_CALLS,
  NOTIFY,
  OVERRIDE_FREEZE,
  permit,
  READING,
  STEP_ALLOWANCES,
  WRITING,
} from '../../console/flags.ts';
import { commandSpan } from '../../core/command-line.ts';
import type { Feature } from '../../feature.ts';
import type { Claim } from '../../plan/guards.ts';
import type { StackPlace, StrategyScope } from '../../run/context.ts';
import type { State } from '../../state/model.ts';
import {
  agentsReached,
  checkRecords,
  FEATURE,
  getRollouts,
  listUnderWay,
  rolloutNamed,
  stepCounts,
} from './record.ts';

const COMMON = {
  exits: ADVANCING,
  exitMeanings: {
    changes: 'waiting for calls or the end of a freeze window',
    partial: 'rolled back',
    refused: 'held, or refused',
  },
  prints: ['callsheet-rollouts'],
} as const;
const NAME = {
  name: '[name]',
  does: 'a rollout of callsheet.yaml; by default the only one that is under way',
};
const FLAGS = [
  AUTO_APPROVE,
  OVERRIDE_FREEZE,
  LOCK_TIMEOUT,
  NOTIFY,
  flag('--notify-always', 'post it also while it waits'),
  CONCURRENCY,
  format('text', 'json', 'markdown'),
];

/** Lets a change reach a few agents first, and the others only if callers fare no worse. */
export const rollout: Feature = {
  name: FEATURE,
  purposes: { rollout: 'Change' },
  groups: { rollout: 'give a change to a few agents first, judge it by their calls' },
  commands: [
    {
      ...COMMON,
      name: 'rollout start',
      does: 'give a change to a few agents first, and to the others if callers fare no worse',
      args: [
        {
          name: '[planfile|name]',
          does: 'a plan made by `callsheet plan --out FILE`; or a rollout of callsheet.yaml, which is planned now',
        },
      ],
      flags: [
        flag('--rollout <name>', 'with a plan file: which rollout of callsheet.yaml it is'),
        flag('--expect <digest>', 'start only the plan with this digest (sha256:…)'),
        permit('--anyway', 'start although a step cannot tell the margin by its calls'),
        ...STEP_ALLOWANCES,
        NO_CALLS,
        ...FLAGS,
      ],
      examples: ['callsheet rollout start careful', 'callsheet rollout start plan.json'],
      load: async () => (await import('./command.ts')).start,
    },
    {
      ...COMMON,
      name: 'rollout run',
      does: 'do what is due in rollouts, for pipelines: look at the calls, go on or roll back',
      args: [NAME],
      flags: FLAGS,
      examples: ['callsheet rollout run', 'callsheet rollout run careful --format markdown'],
      load: async () => (await import('./command.ts')).run,
    },
    {
      name: 'rollout show',
      does: 'show rollouts as they were last looked at',
      args: [NAME],
      flags: [format('text', 'json', 'markdown')],
      examples: ['callsheet rollout show', 'callsheet rollout show careful --verbose'],
      exits: READING,
      prints: COMMON.prints,
      load: async () => (await import('./command.ts')).show,
    },
    {
      ...COMMON,
      name: 'rollout promote',
      does: 'go to the next step now, whatever the calls say',
      args: [NAME],
      flags: FLAGS,
      examples: ['callsheet rollout promote careful'],
      load: async () => (await import('./command.ts')).promote,
    },
    {
      name: 'rollout abort',
      does: 'roll a rollout back',
      args: [NAME],
      flags: FLAGS,
      examples: ['callsheet rollout abort careful --auto-approve'],
      exits: WRITING,
      exitMeanings: { partial: 'rolled back but for what it names' },
      prints: COMMON.prints,
      load: async () => (await import('./command.ts')).abort,
    },
  ],
  settings: {
    key: 'rollouts',
    load: async () => (await import('./settings.ts')).readRollouts,
  },
  claims,
  strategyFlag: {
    ...flag(
      '--rollout <name>',
      'plan the agents of a rollout, for: `callsheet rollout start FILE`',
    ),
    command: 'rollout start',
  },
  strategy: {
    find: findScope,
    forecast: async () => (await import('./rollout.ts')).describeSteps,
  },
  gauges: async () => (await import('./gauges.ts')).openGauges,
};

/** The agents of a rollout are its alone until it ends, and those that it reached have its change. */
async function claims(state: State, place: StackPlace): Promise<readonly Claim[]> {
  await checkRecords(state);
  return listUnderWay(state).flatMap((record) => {
    const { name, step, steps, agents } = record;
    const shown = commandSpan(`rollout show ${name}`, place);
    const held = `held by the rollout ${name}, which is at step ${step + 1} of ${steps.length}: ${shown}`;
    const written = {
      why: `has the change of the rollout ${name}, which is under way`,
      advice: `To take the rollout back: ${commandSpan(`rollout abort ${name}`, place)}`,
    };
    const reached = agentsReached(record).length;
    return agents.map(({ address, id }, at) => ({
      ...{ by: `${FEATURE} ${name}`, address, id, held },
      written: at < reached ? written : null,
    }));
  });
}

function findScope(
  name: string | undefined,
  stack: Parameters<typeof getRollouts>[0],
): StrategyScope {
  const { position: _, ...settings } = rolloutNamed(name, getRollouts(stack));
  const { steps, agents } = settings;
  const atOnce = stepCounts(steps, agents.length)[0] ?? agents.length;
  const note = `rollout start carries the plan out: ${settings.name} has ${steps.length} steps, the first with ${atOnce} agents at most`;
  return { target: agents, atOnce, settings, note };
}
