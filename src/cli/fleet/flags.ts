import { CallsheetError } from '../../core/errors.ts';
import { kinds } from '../../kinds/index.ts';
import { refusePlanningFlags } from '../commands/apply.ts';
import type { Context } from '../context.ts';
import type { StackCommand, StackFlags } from './run-stack.ts';
import { parseShard, type Shard } from './shard.ts';

export type TreeFormat = 'text' | 'json' | 'markdown' | 'sarif' | 'junit' | 'github' | 'html';

/** Flags of a command that runs in every stack of a tree. */
export type TreeFlags = StackFlags & {
  /** The folder that the stacks lie in. */
  readonly dir: string;
  readonly format: TreeFormat;
  readonly recursive?: boolean;
  readonly shard?: string;
};

/** What was asked of a tree, once it is known to make sense. */
export type TreeRequest = {
  readonly command: StackCommand;
  readonly flags: TreeFlags;
  readonly shard: Shard | undefined;
  /** The folder that `plan --out` wrote, for `apply`. */
  readonly planSet: string | undefined;
};

/** Throws `CallsheetError('usage')` for what makes no sense for many stacks at once. */
export function checkTree(
  command: StackCommand,
  flags: TreeFlags,
  planSet: string | undefined,
  { env, terminal }: Pick<Context, 'env' | 'terminal'>,
): TreeRequest {
  const shard = flags.shard === undefined ? undefined : parseShard(flags.shard);
  refuseAddresses(flags);
  refuseBeside('--accept', flags.accept, 'What drifted is accepted stack by stack, with --dir.');
  refuseBeside(
    '--events',
    flags.events,
    'Events do not say of which stack they are. Apply one stack, with --dir.',
  );
  const html = flags.format === 'html' ? true : undefined;
  refuseBeside(
    '--format html',
    html,
    'A page shows one plan: render that of one stack, with --dir.',
  );
  if ((env.CALLSHEET_STATE ?? '') !== '') {
    throw new CallsheetError(
      'usage',
      'CALLSHEET_STATE names one state, and --recursive is about many stacks',
      {
        hint: 'Unset it: each stack keeps its state where its callsheet.yaml says.',
      },
    );
  }
  if (command === 'apply' && planSet !== undefined) refusePlanningFlags(flags);
  if (
    command === 'apply' &&
    planSet === undefined &&
    flags.autoApprove !== true &&
    !terminal.canAsk
  ) {
    throw new CallsheetError('usage', 'nobody is there to agree: stdin is not a terminal', {
      hint: 'Apply what callsheet plan --recursive --out FOLDER wrote, or pass --auto-approve.',
    });
  }
  return { command, flags, shard, planSet };
}

/** Throws where `--shard` stands alone. */
export function refuseShardAlone(shard: string | undefined): void {
  if (shard === undefined) return;
  parseShard(shard);
  throw new CallsheetError('usage', '--shard splits a tree of stacks, and this is one stack', {
    hint: 'Pass --recursive, too.',
  });
}

function refuseBeside(flag: string, value: unknown, hint: string): void {
  if (value === undefined) return;
  throw new CallsheetError('usage', `${flag} cannot stand beside --recursive`, { hint });
}

/** An address belongs to one stack, and would be a mistake in all others. A kind is in any. */
function refuseAddresses({ target, exclude, resendSecrets }: TreeFlags): void {
  const names = new Set(kinds.map(({ name }) => name));
  const given = [
    ...(target ?? []).map((one) => ['--target', one] as const),
    ...(exclude ?? []).map((one) => ['--exclude', one] as const),
    ...(Array.isArray(resendSecrets) ? resendSecrets : []).map(
      (one) => ['--resend-secrets', String(one)] as const,
    ),
  ];
  const single = given.find(([, pattern]) => !names.has(pattern));
  if (single === undefined) return;
  const [flag, pattern] = single;
  throw new CallsheetError(
    'usage',
    `${flag} ${pattern} cannot stand beside --recursive: an address belongs to one stack`,
    {
      hint: `Choose a kind, such as ${flag} agent, or work on one stack with --dir.`,
    },
  );
}
