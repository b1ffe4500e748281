import type { CommonFlags } from '../../console/context.ts';
import {
  ADVANCING,
  ALLOW,
  ALLOWANCES,
  flag,
  format,
  LISTEN,
  LOG,
  OFFLINE,
  positive,
  QUEUE,
  span,
} from '../../console/flags.ts';
import type { Feature } from '../../feature.ts';
import type { StackCommand, TreeFlags } from './request.ts';

type TreeChoice = Pick<TreeFlags, 'recursive' | 'shard'>;

/** Runs commands in every stack of a tree, here or on many workers. */
export const fleet: Feature = {
  name: 'fleet',
  purposes: { queue: 'Fleets, editor, simulator, applications' },
  groups: {
    queue: 'run the stacks of a tree on many workers',
  },
  tree: {
    flags: [
      flag('--recursive', 'do it in every stack in --dir and below, with one summary'),
      flag('--shard <i/n>', 'with --recursive: the i-th of n parts, for jobs that share the work'),
    ],
    isMeant: ({ recursive, shard }: CommonFlags & TreeChoice) =>
      recursive === true || shard !== undefined,
    load: async () => {
      const { runTree } = await import('./apply-tree.ts');
      const { refuseShardAlone } = await import('./request.ts');
      return async (name, flags: CommonFlags & TreeChoice, context, first) => {
        if (flags.recursive !== true) refuseShardAlone(flags.shard);
        return runTree(name as StackCommand, flags as TreeFlags, context, first as string);
      };
    },
  },
  commands: [
    {
      name: 'queue add',
      does: 'queue a command for every stack of a tree',
      args: [
        { name: '<command>', does: 'the command to run', choices: ['plan', 'apply', 'drift'] },
        {
          name: '[plans]',
          does: 'for apply: the folder of `callsheet plan --recursive --out FOLDER`',
        },
      ],
      flags: [
        ...ALLOWANCES,
        QUEUE,
        flag('--auto-approve', 'for apply: do not ask'),
        flag('--rollback-on-failure', 'for apply: undo a run that fails'),
        flag('--detailed-exitcode', 'for plan and drift: exit 2 when there are changes'),
        flag('--out <folder>', 'for plan, with --wait: write the plans to a folder', {
          isWritten: true,
        }),
        flag('--wait', 'wait for the batch, and report its result'),
        flag('--timeout <span>', 'with --wait: end with 6 once it took so long: 30s, 5m, 1h', {
          parse: span,
        }),
        format('text', 'json', 'markdown'),
      ],
      examples: [
        'callsheet queue add plan --queue postgres://callsheet@db.example.test/queue --wait --out plans',
        'callsheet queue add apply plans --wait',
        'callsheet queue add apply --auto-approve',
      ],
      exits: ADVANCING,
      prints: ['callsheet-batch', 'callsheet-fleet'],
      load: async () => (await import('./queue.ts')).add,
    },
    {
      name: 'queue work',
      does: 'run queued commands in the stacks of a checkout',
      flags: [
        QUEUE,
        flag('--until-empty', 'end once nothing is left to do'),
        ALLOW,
        flag('--stacks <n>', 'stacks at work at once', { parse: positive, byDefault: 4 }),
        flag('--concurrency <n>', 'requests in flight at once, of all stacks together', {
          parse: positive,
          byDefault: 8,
        }),
        flag('--listen <address>', 'the address that serves /healthz and /metrics', LISTEN),
        LOG,
      ],
      examples: [
        'callsheet queue work --queue postgres://callsheet@db.example.test/queue',
        'callsheet queue work --until-empty --stacks 8 --concurrency 16',
      ],
      exits: OFFLINE,
      load: async () => (await import('./worker.ts')).worker,
    },
    {
      name: 'queue show',
      does: 'show the result of a batch',
      args: [{ name: '<batch>', does: 'its id, as `callsheet queue add` printed it' }],
      flags: [
        QUEUE,
        flag('--detailed-exitcode', 'of plan and drift: exit 2 when there are changes'),
        flag('--out <folder>', 'of plan, once it is done: write the plans to a folder', {
          isWritten: true,
        }),
        flag('--wait', 'follow it until it is done'),
        flag('--timeout <span>', 'with --wait: end with 6 once it took so long: 30s, 5m, 1h', {
          parse: span,
        }),
        format('text', 'json', 'markdown'),
      ],
      examples: [
        'callsheet queue show 20261121t101203z-7f3a19',
        'callsheet queue show 20261121t101203z-7f3a19 --wait --out plans',
      ],
      exits: ADVANCING,
      prints: ['callsheet-fleet'],
      load: async () => (await import('./queue.ts')).show,
    },
  ],
};
