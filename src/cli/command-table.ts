import type {
  CommonFlags,
  Context,
  Telemetry,
  TelemetryDeps,
  ViewSource,
} from '../console/context.ts';
import {
  ACCEPT,
  AUTO_APPROVE,
  CONCURRENCY,
  DIALECT,
  EDITING,
  type Flag,
  flag,
  format,
  KEYS,
  NO_CALLS,
  OFFLINE,
  OVERRIDE_FREEZE,
  permit,
  port,
  READING,
  REPORT,
  REVIEW,
  rate,
  repeatable,
  reportFlag,
  reviewFlag,
  STACK_FLAGS,
  TARGETS,
  upTo,
  WRITING,
  whole,
} from '../console/flags.ts';
import type { DocumentFormat } from '../console/show.ts';
import type { ExitCode, ExitName } from '../core/errors.ts';
import type { RollbackFlags } from './commands/rollback.ts';

/**
 * The table of commands: flags, arguments, examples, exit codes and documents. The program, its help, completion, the
 * reference and the options in the jobs of workers are made from it. A command is an entry here and a file below
 * `commands/`, which is loaded when the command runs.
 */

type Argument = {
  /** `<file>`, `[addresses...]`. */
  readonly name: string;
  readonly does: string;
  readonly choices?: readonly string[];
};

export type CommandEntry = {
  /** The words that it is called with: `plan`, `state mv`. */
  readonly name: string;
  readonly does: string;
  readonly args?: readonly Argument[];
  /** Beside those of every command. */
  readonly flags?: readonly Flag[];
  /** As they are typed, the plainest first. */
  readonly examples: readonly string[];
  /** Everything that it can end with. */
  readonly exits: readonly ExitName[];
  /** The meanings of some of those here, if they are more than their names say. */
  readonly exitMeanings?: { readonly [name in ExitName]?: string };
  /**
   * The documents that it prints with `--format json`, or always. If it ends before that, it prints
   * `callsheet-error`.
   */
  readonly prints?: readonly DocumentFormat[];
  /** It takes the flags that name a strategy, such as `--rollout`, or those of a tree of stacks. */
  readonly takesStrategy?: boolean;
  readonly takesTree?: boolean;
  readonly load: () => Promise<Command>;
};

/** A feature as the command line sees it. */
export type CommandSource = ViewSource & {
  readonly name: string;
  readonly commands?: readonly CommandEntry[];
  /** Words that only have commands below them, and what they are for. */
  readonly groups?: { readonly [word: string]: string };
  /** The heading of `callsheet --help` under which its commands stand, by the first word of each. */
  readonly purposes?: { readonly [word: string]: string };
  /** The flag of `plan` that names one of its strategies, and the command that carries such a plan out. */
  readonly strategyFlag?: Flag & { readonly command: string };
  /** Follows what a command does, where the environment asks for it. */
  readonly observe?: (deps: TelemetryDeps) => Promise<Telemetry | undefined>;
  /** Answers a shell that asks what may come next, by the words behind `callsheet __complete`. */
  readonly complete?: () => Promise<Complete>;
  /** Carries out a command in every stack of a tree; with the flags that ask for it, and if they were given. */
  readonly tree?: {
    readonly flags: readonly Flag[];
    readonly isMeant: (flags: CommonFlags) => boolean;
    readonly load: () => Promise<
      (name: string, flags: CommonFlags, context: Context, first: unknown) => Promise<ExitCode>
    >;
  };
};

type Complete = (
  words: readonly string[],
  env: Context['env'],
  features: readonly CommandSource[],
) => Promise<string>;

/** All commands, those of features among them. */
export type CommandTable = {
  readonly sources: readonly CommandSource[];
  readonly commands: readonly CommandEntry[];
  /** The commands below each command, by their names. */
  readonly inner: ReadonlyMap<string, readonly string[]>;
  /** Commands that do nothing but have others below them, and what those are for. */
  readonly groups: { readonly [name: string]: string };
  /** Commands by what a person wants to do, in the order in which `callsheet --help` lists them. */
  readonly purposes: { readonly [purpose: string]: readonly string[] };
};

/** One of two words may stand below a command that runs itself. */
export function openTable(features: readonly CommandSource[]): CommandTable {
  const strategies = features.flatMap((one) => one.strategyFlag ?? []);
  const trees = features.flatMap((one) => one.tree?.flags ?? []);
  const review = reviewFlag(features.flatMap(({ views = {} }) => Object.keys(views)));
  const report = reportFlag(features.flatMap(({ reports = {} }) => Object.keys(reports)));
  const accepts = features.some(({ accept }) => accept !== undefined);
  const taking = ({ flags = [], ...entry }: CommandEntry): CommandEntry => {
    const own = flags
      .filter((one) => one !== ACCEPT || accepts)
      .map((one) => (one === REVIEW ? review : one === REPORT ? report : one));
    const ofTree = entry.takesTree === true ? trees : [];
    const ofStrategy = entry.takesStrategy === true ? strategies : [];
    return { ...entry, flags: [...own, ...ofTree, ...ofStrategy] };
  };
  const commands = [COMMANDS, ...features.map(({ commands = [] }) => commands)].flat().map(taking);
  const words = commands.map(({ name }) => name.split(' '));
  const ofFeatures = features.flatMap(({ purposes = {} }) => Object.entries(purposes));
  return {
    sources: features,
    commands,
    inner: new Map(
      [...Map.groupBy(words, ([first = '']) => first)].map(([name, all]) => [
        name,
        all.flatMap(([, second]) => second ?? []),
      ]),
    ),
    groups: Object.assign({}, GROUPS, ...features.map(({ groups = {} }) => groups)),
    purposes: Object.fromEntries(
      Object.entries(PURPOSES).map(([purpose, names]) => [
        purpose,
        [...names, ...ofFeatures.flatMap(([word, one]) => (one === purpose ? [word] : []))],
      ]),
    ),
  };
}

/** Flags with the strategy that one of them names: `--rollout careful` is one of the feature `rollout`. */
export function withStrategy<F extends CommonFlags>(
  { takesStrategy }: CommandEntry,
  flags: F,
  features: readonly CommandSource[],
): F {
  if (takesStrategy !== true) return flags;
  for (const { name: feature, strategyFlag } of features) {
    const [, option = ''] = /^--(\S+) /.exec(strategyFlag?.spelling ?? '') ?? [];
    const { [option]: name, ...others } = flags as Readonly<Record<string, unknown>>;
    if (name === undefined) continue;
    return { ...others, strategy: { feature, name, command: strategyFlag?.command } } as never;
  }
  return flags;
}

/**
 * Carries a command out. It is given the arguments in their order, undefined for those that are left out, then the
 * flags and the context. Each takes what its entry lists: commander has read it, and hands it over without a type.
 */
type Command = (...given: never[]) => Promise<ExitCode>;

/** Runs a command, or hands it to the feature whose flag asks for a tree of stacks. */
export async function runCommand(
  { name, load, takesTree }: Pick<CommandEntry, 'name' | 'load' | 'takesTree'>,
  args: readonly unknown[],
  flags: CommonFlags,
  context: Context,
  features: readonly CommandSource[],
): Promise<ExitCode> {
  const tree =
    takesTree === true ? features.find((one) => one.tree?.isMeant(flags))?.tree : undefined;
  if (tree !== undefined) return (await tree.load())(name, flags, context, args[0]);
  return (await load())(...([...args, flags, context] as never[]));
}

/** Every command of the core, in the order of the reference. */
const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'validate',
    does: 'check the configuration, without a network',
    flags: [
      REPORT,
      flag('--strict', 'take warnings for errors'),
      flag('--secrets', 'also check that each secret can be read here'),
    ],
    examples: [
      'callsheet validate',
      'callsheet validate --recursive --dir clinics',
      'callsheet validate --strict --format sarif > callsheet.sarif',
    ],
    exits: READING,
    prints: ['callsheet-diagnostics', 'callsheet-fleet'],
    takesTree: true,
    load: async () => (await import('../console/validate.ts')).validate,
  },
  {
    name: 'explain',
    does: 'show where a value came from, or document a field',
    args: [
      {
        name: '<name>',
        does: 'a value such as agent.reception.greeting_message, or a kind, field or setting',
      },
    ],
    flags: [
      flag('--format <format>', 'how to show it', { choices: ['text', 'json'], byDefault: 'text' }),
    ],
    examples: [
      'callsheet explain agent.reception.greeting_message',
      'callsheet explain agent.voice_settings.speed',
      'callsheet explain guards.max_delete --format json',
    ],
    exits: OFFLINE,
    prints: ['callsheet-value', 'callsheet-field'],
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  {
    name: 'explain graph',
    does: 'draw the references of the stack',
    flags: [
      ...TARGETS,
      flag('--rows', 'draw each row of a fleet, also those that refer to the same'),
    ],
    examples: ['callsheet explain graph', 'callsheet explain graph --target agent.reception'],
    exits: OFFLINE,
    load: async () => (await import('./commands/graph.ts')).graph,
  },
  {
    name: 'explain assumptions',
    does: 'list the assumptions that the stack relies on, or show some',
    args: [
      { name: '[names...]', does: 'only these, as a whole: an id, or the beginning of an id' },
    ],
    flags: [format('text', 'json')],
    examples: ['callsheet explain assumptions', 'callsheet explain assumptions agent.merge'],
    exits: OFFLINE,
    prints: ['callsheet-assumptions'],
    load: async () => (await import('./commands/assumptions.ts')).assumptions,
  },
  {
    name: 'plan',
    does: 'show the changes that apply would make',
    flags: STACK_FLAGS.plan,
    examples: [
      'callsheet plan',
      'callsheet plan --out plan.json --format markdown',
      'callsheet plan --target agent.reception --detailed-exitcode',
      'callsheet plan --recursive --shard 2/4 --out plans',
    ],
    exits: ['done', 'error', 'changes', 'partial', 'refused', 'stale', 'interrupted'],
    exitMeanings: { partial: 'with --recursive: some stacks could not be planned' },
    prints: ['callsheet-plan', 'callsheet-fleet'],
    takesStrategy: true,
    takesTree: true,
    load: async () => (await import('../console/plan.ts')).plan,
  },
  {
    name: 'show',
    does: 'show a plan file as it was made, without a network',
    args: [{ name: '<planfile>', does: 'a plan made by `callsheet plan --out FILE`' }],
    flags: [REVIEW],
    examples: ['callsheet show plan.json', 'callsheet show plan.json --format html > plan.html'],
    exits: ['done', 'error', 'stale'],
    prints: ['callsheet-plan'],
    load: async () => (await import('../console/plan.ts')).showPlan,
  },
  {
    name: 'apply',
    does: 'carry out a plan',
    args: [
      {
        name: '[planfile]',
        does: 'a plan made by `callsheet plan --out FILE`; with --recursive its folder',
      },
    ],
    flags: STACK_FLAGS.apply,
    examples: [
      'callsheet apply plan.json',
      'callsheet apply --auto-approve --allow-delete',
      'callsheet apply plan.json --rollback-on-failure',
      'callsheet apply plans --recursive',
      'callsheet apply --auto-approve --override-freeze "wrong number in the greeting"',
    ],
    exits: WRITING,
    prints: ['callsheet-run', 'callsheet-fleet'],
    takesTree: true,
    load: async () => (await import('../console/apply.ts')).apply,
  },
  {
    name: 'rollback',
    does: 'undo a run, or go back to a snapshot',
    args: [
      {
        name: '[run]',
        does: 'the run to undo: its id or a unique beginning of it; by default the last run',
      },
    ],
    flags: [
      ...KEYS,
      flag('--to <snapshot>', 'a file of `callsheet snapshot create` to go back to'),
      permit('--allow-delete', 'with --to: delete resources created since the snapshot'),
      flag('--target <address...>', 'undo only these: an address, a kind'),
      flag('--exclude <address...>', 'do not change these: an address, a kind'),
      flag('--dry-run', 'show the plan and write nothing'),
      NO_CALLS,
      AUTO_APPROVE,
      permit(
        '--undo-edited',
        'also undo fields of the run that were edited since; no other fields',
      ),
      permit('--delete-used', 'also delete resources that live resources still use'),
      permit(
        '--skip-refused',
        'leave out changes that are refused or were edited since; undo the rest',
      ),
      OVERRIDE_FREEZE,
      CONCURRENCY,
      REVIEW,
    ],
    examples: [
      'callsheet rollback',
      'callsheet rollback --auto-approve --skip-refused',
      'callsheet rollback --to nightly.snapshot',
      'callsheet rollback 20261121t101203z-7f3a19 --target agent.reception',
      'callsheet rollback 7f3a19 --dry-run',
    ],
    exits: WRITING,
    prints: ['callsheet-run', 'callsheet-plan'],
    load: async () => {
      const { rollback } = await import('./commands/rollback.ts');
      return (run: string | undefined, flags: RollbackFlags, context: Context) =>
        rollback(run === undefined ? flags : { ...flags, run }, context);
    },
  },
  {
    name: 'drift',
    does: 'show what changed on the platform since the last apply',
    flags: STACK_FLAGS.drift,
    examples: [
      'callsheet drift',
      'callsheet drift --format markdown > drift.md',
      'CALLSHEET_NOTIFY_URL=… callsheet drift --detailed-exitcode --notify',
      'callsheet drift --accept agent.reception',
    ],
    exits: ['done', 'error', 'changes', 'refused', 'stale', 'interrupted'],
    prints: ['callsheet-plan', 'callsheet-pull', 'callsheet-fleet'],
    takesTree: true,
    load: async () => (await import('./commands/drift.ts')).drift,
  },
  {
    name: 'runs',
    does: 'list runs, or show one',
    args: [{ name: '[id]', does: 'a run' }],
    flags: [format('text', 'json')],
    examples: ['callsheet runs', 'callsheet runs --format json'],
    exits: OFFLINE,
    prints: ['callsheet-runs', 'callsheet-receipt'],
    load: async () => (await import('./commands/state.ts')).runs,
  },
  {
    name: 'runs prune',
    does: 'remove records of old runs; those that are needed stay',
    flags: [
      flag('--keep <age|count>', 'what stays: the runs of 90d, 12w or 48h, or the newest 200', {
        isRequired: true,
      }),
      flag('--dry-run', 'list what would go, and write nothing'),
      format('text', 'json'),
    ],
    examples: ['callsheet runs prune --keep 90d --dry-run', 'callsheet runs prune --keep 200'],
    exits: EDITING,
    prints: ['callsheet-pruning'],
    load: async () => (await import('./commands/prune.ts')).prune,
  },
  {
    name: 'state list',
    does: 'list the resources in the state',
    args: [{ name: '[addresses...]', does: 'only these: an address, a fleet, a kind' }],
    flags: [format('text', 'json')],
    examples: ['callsheet state list', 'callsheet state list agent'],
    exits: OFFLINE,
    prints: ['callsheet-state-list'],
    load: async () => (await import('./commands/state.ts')).list,
  },
  {
    name: 'state show',
    does: 'show a resource in the state',
    args: [{ name: '<address>', does: 'a resource' }],
    flags: [format('text', 'json')],
    examples: ['callsheet state show agent.reception'],
    exits: OFFLINE,
    prints: ['callsheet-state-resource'],
    load: async () => (await import('./commands/state.ts')).showResource,
  },
  {
    name: 'state pull',
    does: 'print the state as it is stored',
    examples: ['callsheet state pull > state.json'],
    exits: OFFLINE,
    prints: ['callsheet-state'],
    load: async () => (await import('./commands/state.ts')).pull,
  },
  {
    name: 'state mv',
    does: 'give a resource another address, or another state; nothing changes on the platform',
    args: [
      {
        name: '<addresses...>',
        does: 'its address now, with all rows of a fleet, and its new one; with --to all to take there',
      },
    ],
    flags: [
      flag('--to <place>', 'take them to another state: the folder of its stack, or its place'),
      format('text', 'json'),
    ],
    examples: [
      'callsheet state mv agent.front agent.reception',
      "callsheet state mv 'agent.clinic_*' --to ../clinics",
    ],
    exits: EDITING,
    prints: ['callsheet-state-edit'],
    load: async () => (await import('./commands/state.ts')).mv,
  },
  {
    name: 'state rm',
    does: 'forget resources; nothing is deleted on the platform',
    args: [{ name: '<addresses...>', does: 'the addresses to forget' }],
    flags: [
      permit('--forget-protected', 'also forget protected resources'),
      format('text', 'json'),
    ],
    examples: ['callsheet state rm agent.reception'],
    exits: EDITING,
    prints: ['callsheet-state-edit'],
    load: async () => (await import('./commands/state.ts')).rm,
  },
  {
    name: 'state trust',
    does: 'record that the platform has the secrets that are set here',
    args: [{ name: '[addresses...]', does: 'only these: an address, a fleet, a kind' }],
    flags: [flag('--dry-run', 'list unknown secrets, and write nothing'), format('text', 'json')],
    examples: ['callsheet state trust --dry-run', 'callsheet state trust agent.reception'],
    exits: EDITING,
    prints: ['callsheet-state-edit'],
    load: async () => (await import('./commands/state.ts')).trust,
  },
  {
    name: 'state adopt',
    does: 'take over the state of a stack that was renamed or moved, and seal it',
    flags: [format('text', 'json')],
    examples: ['callsheet state adopt'],
    exits: EDITING,
    prints: ['callsheet-state-edit'],
    load: async () => (await import('./commands/state.ts')).adopt,
  },
  {
    name: 'state push',
    does: 'replace the state of the stack',
    args: [{ name: '<file>', does: 'the output of `callsheet state pull`; - for standard input' }],
    flags: [
      permit('--overwrite', 'also replace a state that is newer, damaged or of another stack'),
      format('text', 'json'),
    ],
    examples: ['callsheet state push state.json'],
    exits: EDITING,
    prints: ['callsheet-state-edit'],
    load: async () => (await import('./commands/state.ts')).push,
  },
  {
    name: 'state unlock',
    does: 'show who holds the state, or release their lease',
    args: [{ name: '[lease]', does: 'the lease to end' }],
    flags: [
      permit(
        '--stop-run',
        'also where its run is alive on this machine; it stops before its next write',
      ),
      format('text', 'json'),
    ],
    examples: ['callsheet state unlock'],
    exits: ['done', 'error', 'locked'],
    prints: ['callsheet-lock'],
    load: async () => (await import('./commands/state.ts')).unlock,
  },
  {
    name: 'state migrate',
    does: 'move the state and the records of its runs to an empty location',
    flags: [
      flag('--to <place>', 'a path or an address, as CALLSHEET_STATE takes it', {
        isRequired: true,
      }),
      format('text', 'json'),
    ],
    examples: ['callsheet state migrate --to s3://voice-states/production/state.json'],
    exits: EDITING,
    prints: ['callsheet-state-migration'],
    load: async () => (await import('./commands/state.ts')).migrate,
  },
  {
    name: 'state repair',
    does: 'rebuild a damaged state from its readable parts and the platform',
    flags: [format('text', 'json')],
    examples: ['callsheet state repair'],
    exits: ['done', 'error', 'stale', 'locked', 'interrupted'],
    prints: ['callsheet-state-repair'],
    load: async () => (await import('./commands/state.ts')).repair,
  },
  {
    name: 'version',
    does: 'print the version, or who wrote a file and who can read it',
    flags: [
      flag('--check <file>', 'a state, a plan or the record of a run'),
      format('text', 'json'),
    ],
    examples: ['callsheet version', 'callsheet version --check plan.json'],
    exits: OFFLINE,
    prints: ['callsheet-version'],
    load: async () => (await import('./commands/version.ts')).version,
  },
  {
    name: 'simulate',
    does: 'run a simulated platform on a loopback port',
    flags: [
      flag('--seed <file>', 'fill it from a file (YAML or JSON)'),
      flag('--config <file>', 'read seed, dialect, faults and rate limit from a file'),
      DIALECT,
      repeatable('--fault <fault>', "a fault, such as '{ operation: updateAgent, status: 503 }'"),
      flag(
        '--rate-limit <limit>',
        "answer 429 above this many requests a second, or above a limit such as '{ inFlight: 4 }'",
        { parse: rate },
      ),
      flag('--admin', 'serve the admin endpoint, and print its token'),
      flag('--port <port>', 'port to listen on; 0 takes a free one', {
        parse: port,
        byDefault: 4010,
      }),
      flag('--agents <n>', 'create a fleet of this many agents', { parse: whole }),
      flag('--calls <n>', 'create this many calls of the last 90 days', { parse: whole }),
      flag(
        '--callers [calls]',
        'have each agent called about this often a day as the clock moves on (by default 40)',
        { parse: upTo(10_000) },
      ),
      flag('--resellers <n>', 'create a whole account, with this many resellers', { parse: whole }),
      flag('--organizations <n>', 'create a whole account, with this many organizations', {
        parse: whole,
      }),
    ],
    examples: [
      'callsheet simulate --agents 20',
      'callsheet simulate --resellers 3 --organizations 12 --agents 500 --calls 5000',
      'callsheet simulate --agents 40 --callers --admin',
    ],
    exits: OFFLINE,
    load: async () => (await import('./commands/simulate.ts')).simulate,
  },
];

const GROUPS: { readonly [name: string]: string } = {
  state: 'look at the state, edit, unlock or rebuild it',
};

const PURPOSES: { readonly [purpose: string]: readonly string[] } = {
  Start: [],
  Change: ['validate', 'plan', 'show', 'apply'],
  Look: ['drift', 'runs', 'explain', 'version'],
  'Undo and recover': ['rollback', 'state'],
  'Fleets, editor, simulator, applications': ['simulate'],
};
