import { InvalidArgumentError, Option } from 'commander';
import type { ExitName } from '../core/errors.ts';
import { millisecondsIn } from '../core/value.ts';

/** A flag as commander spells it, and what is known of it. */
export type Flag = {
  readonly spelling: string;
  /** In a few words, for help and reference. */
  readonly does: string;
  readonly choices?: readonly string[];
  readonly byDefault?: unknown;
  /** The default in the words in which it is typed. */
  readonly defaultSaid?: string;
  readonly isRequired?: boolean;
  /** Reads one value; `before` is what values before it came to. Throws `InvalidArgumentError`. */
  readonly parse?: (value: string, before: unknown) => unknown;
  /** True if it goes into the jobs of `queue add`; the other flags are the worker's own. */
  readonly isInJob?: boolean;
  /** True if it names a file or folder that the command writes. */
  readonly isWritten?: boolean;
  /** True if it may be given again, once for each value. */
  readonly isRepeatable?: boolean;
  /** True if it does a part of what `--force` does elsewhere. */
  readonly isPermission?: boolean;
};

type FlagFacts = Omit<Flag, 'spelling' | 'does'>;

export function flag(spelling: string, does: string, facts: FlagFacts = {}): Flag {
  return { spelling, does, ...facts };
}

/** A flag that is offered where a command is given `--force`, which none has. */
export function permit(spelling: string, does: string, facts: FlagFacts = {}): Flag {
  return flag(spelling, does, { ...facts, isPermission: true });
}

/**
 * A flag that is given once for each value. One that took several at once would swallow the file that a command is
 * about: `restore --map-organization OLD=NEW FILE`.
 */
export function repeatable(spelling: string, does: string): Flag {
  const parse = (value: string, before: unknown) => [
    ...((before as readonly string[]) ?? []),
    value,
  ];
  return flag(spelling, `${does} (repeatable)`, { parse, isRepeatable: true });
}

/** Flags of every command. */
export const COMMON_FLAGS: readonly Flag[] = [
  flag('--dir <folder>', 'folder of the stack', { byDefault: '.' }),
  flag('--env <name>', 'the environment of callsheet.yaml to use', { isInJob: true }),
  repeatable('--var <name=value>', 'set a variable'),
  repeatable('--var-file <file>', 'read variables from a file'),
  repeatable('--allow-env <name>', 'let variables of the stack read this environment variable'),
  flag('--allow-exec', 'run the commands that exec: secrets name'),
  flag('--no-color', 'no colours (also NO_COLOR)'),
  flag('--quiet', 'results only: no progress, no warnings'),
  flag('--verbose', 'show everything'),
  flag('--trace-http <file>', 'append every request to a file, without secrets', {
    isWritten: true,
  }),
];

/** How a result is shown; the first where nothing is said. */
export function format(...choices: readonly string[]): Flag {
  return flag('--format <format>', 'how to show the result', { choices, byDefault: choices[0] });
}

/** How a plan is shown to those who review it. `renderReview` (`console/plan.ts`) renders each. */
export const REVIEW = reviewFlag([]);

/** The same flag where features have views beside the formats of the core. */
export function reviewFlag(views: readonly string[]): Flag {
  return format('text', 'json', 'markdown', ...views);
}

/** `drift` has it where a feature accepts drift. */
export const ACCEPT = flag('--accept <address...>', 'write the live values into the configuration');

/** How the outcome of `validate` is shown. */
export const REPORT = reportFlag([]);

export function reportFlag(reports: readonly string[]): Flag {
  return format('text', 'json', ...reports);
}

export const TARGETS = [
  flag(
    '--target <address...>',
    'only these: an address, a kind, or agent.harbor_* for all that begin so',
    {
      isInJob: true,
    },
  ),
  flag('--exclude <address...>', 'all but these: an address, a kind', { isInJob: true }),
];

export const OVERRIDE_FREEZE = permit(
  '--override-freeze <reason>',
  'write in a freeze window; the reason is recorded',
  { isInJob: true },
);

export const OVERRIDE_LIMITS = permit(
  '--override-limits <reason>',
  'change more than guards allow, once; the reason is recorded',
  {
    isInJob: true,
  },
);

const BEHIND = permit(
  '--behind <reason>',
  'continue without the commit that was applied last; the reason is recorded',
  { isInJob: true },
);

const ACCEPT_CONFLICTS = permit(
  '--accept-conflicts',
  'write the configured value where both sides changed',
  { isInJob: true },
);
const SKIP_REFUSED = permit('--skip-refused', 'leave out refused changes; apply the rest', {
  isInJob: true,
});
const RELEASE_HOLD = permit('--release-hold', 'apply again a configuration that was rolled back', {
  isInJob: true,
});

const KEEP_DRIFT = flag('--keep-drift', 'leave edits made on the platform as they are', {
  isInJob: true,
});
const UNDO_DRIFT = permit('--undo-drift', 'overwrite edits made on the platform', {
  isInJob: true,
});

/** The allowances that the steps of a rollout may have. */
export const STEP_ALLOWANCES = [
  ACCEPT_CONFLICTS,
  SKIP_REFUSED,
  RELEASE_HOLD,
  OVERRIDE_LIMITS,
  BEHIND,
  KEEP_DRIFT,
  UNDO_DRIFT,
];

export const ALLOWANCES = [
  ...TARGETS,
  permit('--allow-delete', 'delete resources that are no longer configured', { isInJob: true }),
  ACCEPT_CONFLICTS,
  SKIP_REFUSED,
  permit('--delete-used', 'also delete resources that live resources still use', { isInJob: true }),
  RELEASE_HOLD,
  OVERRIDE_FREEZE,
  OVERRIDE_LIMITS,
  BEHIND,
  KEEP_DRIFT,
  UNDO_DRIFT,
  flag('--resend-secrets [addresses...]', 'write secrets again: all, or those of the addresses', {
    isInJob: true,
  }),
];

/** The allowances that were given, as they are typed, by the names that they have among the flags of a command. */
export function allowancesIn(flags: object): ReadonlyMap<string, string> {
  const given = new Map<string, unknown>(Object.entries(flags));
  const options = ALLOWANCES.map(({ spelling }) => new Option(spelling));
  return new Map(
    options
      .map((option) => [option.attributeName(), option.long ?? ''] as const)
      .filter(([name]) => given.get(name) !== undefined),
  );
}

/** A flag that a job may carry and that lifts a guard: its name among the flags of a command, as it is typed, and as `queue work --allow` takes it. */
export type Permission = {
  readonly name: string;
  readonly spelling: string;
  readonly allowedAs: string;
  readonly does: string;
  /** True if it is given a reason, which is recorded. */
  readonly takesReason: boolean;
};

/** Every permission of the queued commands. A function: the table of commands stands below. */
export function listPermissions(): readonly Permission[] {
  const permits = ALLOWANCES.filter(({ isPermission, isInJob }) => isPermission && isInJob);
  return permits.map(({ spelling, does }) => {
    const option = new Option(spelling);
    const long = option.long ?? '';
    const allowedAs = long.replace(/^--(allow-)?/, '');
    const name = option.attributeName();
    return { name, spelling: long, allowedAs, does, takesReason: option.required };
  });
}

/** The permissions that a worker takes from the queue: others can write there. */
export const ALLOW = flag(
  '--allow <permission>',
  'take this permission from the queue: delete, … (repeatable)',
  {
    isRepeatable: true,
    parse(value, before) {
      const known = listPermissions().map(({ allowedAs }) => allowedAs);
      if (!known.includes(value))
        throw new InvalidArgumentError(`It must be one of ${known.join(', ')}.`);
      return [...((before as readonly string[]) ?? []), value];
    },
  },
);

export const CONCURRENCY = flag('--concurrency <n>', 'requests in flight at once', {
  parse: positive,
  byDefault: 8,
});

export const PLANNING = [...ALLOWANCES, CONCURRENCY];

export const REFRESH = flag(
  '--refresh <how>',
  'fast: read only resources that can have changed; full: all',
  {
    choices: ['fast', 'full'],
  },
);

export const NO_CALLS = flag('--no-calls', 'do not ask how many calls the changed agents take');

export const AUTO_APPROVE = flag('--auto-approve', 'do not ask for approval', { isInJob: true });
const ROLLBACK_ON_FAILURE = flag('--rollback-on-failure', 'undo the run if it fails', {
  isInJob: true,
});
const DETAILED_EXITCODE = flag('--detailed-exitcode', 'exit 2 when there are changes', {
  isInJob: true,
});

export const PASSPHRASE_FILE = flag(
  '--passphrase-file <file>',
  'a file with the passphrase (also CALLSHEET_SNAPSHOT_PASSPHRASE)',
);
export const IDENTITY = repeatable('--identity <file>', 'a file with an age key');
export const KEYS = [PASSPHRASE_FILE, IDENTITY];

export const DIALECT = repeatable(
  '--dialect <name=value>',
  'how to read the open points of the specification',
);

export const ORGANIZATION = flag('--organization <name|id>', 'the organization that is meant');

/** How a command that runs for long tells what happens. */
export const LOG = flag('--log <format>', 'how events are written; text on a terminal, else json', {
  choices: ['text', 'json'],
});
/** Each command describes `--listen` in its own words. */
export const LISTEN = { parse: listenAddress };
export const QUEUE = flag(
  '--queue <address>',
  'the database of the queue: postgres://user@host/database (also CALLSHEET_QUEUE)',
);
export const NOTIFY = flag(
  '--notify [url]',
  'post the result as JSON to this address, or to CALLSHEET_NOTIFY_URL',
);

export const LOCK_TIMEOUT = flag(
  '--lock-timeout <span>',
  'how long to wait for a run that holds the state: 30s, 5m, 1h',
  { parse: span },
);

/** The flags of the commands that workers run, beside those of every command. */
/** Commands that `queue add` hands to workers. */
export type QueuedCommand = 'plan' | 'apply' | 'drift';

export const STACK_FLAGS: { readonly [command in QueuedCommand]: readonly Flag[] } = {
  plan: [
    ...PLANNING,
    REFRESH,
    NO_CALLS,
    flag('--out <file>', 'write the plan to a file that apply takes; with --recursive a folder', {
      isWritten: true,
    }),
    flag('--base <ref>', 'tell what the checkout changes from what this branch has already'),
    REVIEW,
    DETAILED_EXITCODE,
  ],
  apply: [
    ...PLANNING,
    REFRESH,
    NO_CALLS,
    AUTO_APPROVE,
    ROLLBACK_ON_FAILURE,
    flag('--expect <digest>', 'apply only the plan with this digest (sha256:…)'),
    flag('--events <file>', "append the run's events to a file, one JSON a line", {
      isWritten: true,
    }),
    LOCK_TIMEOUT,
    format('text', 'json'),
  ],
  drift: [
    ...TARGETS,
    REFRESH,
    CONCURRENCY,
    REVIEW,
    flag('--detailed-exitcode', 'exit 2 when there is drift', { isInJob: true }),
    NOTIFY,
    flag('--notify-always', 'post it also when there is no drift'),
    ACCEPT,
  ],
};

/**
 * The flags in the payload of a job, by what the program calls them. Those that only say how a machine works
 * (`--concurrency`, `--trace-http`, `--allow-exec`, `--allow-env`) are the worker's own. Values of `--var` may be
 * confidential, so no job has them: each worker is given the same, and the digest of the configuration proves it.
 * Beside each name: whether a value is one that the flag can have.
 */
export function listJobFlags(
  command: QueuedCommand,
): ReadonlyMap<string, (value: unknown) => boolean> {
  const flags = [...COMMON_FLAGS, ...STACK_FLAGS[command]].filter(({ isInJob }) => isInJob);
  const named = flags.map(({ spelling }) => {
    const option = new Option(spelling);
    return [option.attributeName(), (value: unknown) => fits(option, value)] as const;
  });
  return new Map([...named, ...(command === 'plan' ? [['strategy', isStrategy] as const] : [])]);
}

/** Tells whether a value is what the flag of a strategy, such as `--rollout`, comes to. */
function isStrategy(value: unknown): boolean {
  const { feature, name, command } = (value ?? {}) as Record<string, unknown>;
  return [feature, name, command].every((one) => typeof one === 'string');
}

/** Tells whether a value is one that a flag comes to on a command line. */
function fits({ required, optional, variadic }: Option, value: unknown): boolean {
  if (value === true) return !required;
  if (variadic) return Array.isArray(value) && value.every((one) => typeof one === 'string');
  return (required || optional) && typeof value === 'string';
}

export function whole(value: string): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be a whole number.');
}

export function positive(value: string): number {
  const number = whole(value);
  if (number > 0) return number;
  throw new InvalidArgumentError('It must be at least 1.');
}

export function upTo(most: number): (value: string) => number {
  return (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : 0;
    if (number >= 1 && number <= most) return number;
    throw new InvalidArgumentError(
      most === Number.MAX_SAFE_INTEGER
        ? 'It must be a whole number, at least 1.'
        : `It must be a whole number from 1 to ${most}.`,
    );
  };
}

export function port(value: string): number {
  const number = whole(value);
  if (number <= 65_535) return number;
  throw new InvalidArgumentError('It must be at most 65535.');
}

/** `30s`, `5m`, `1h` in milliseconds. */
export function span(value: string): number {
  const milliseconds = (/^\d{1,6}[smh]$/.test(value) ? millisecondsIn(value) : undefined) ?? 0;
  // Timers of a machine take no more than 24 days.
  if (milliseconds >= 1_000 && milliseconds <= 7 * 86_400_000) return milliseconds;
  throw new InvalidArgumentError('It must be a span such as 30s, 5m or 1h, up to 168h.');
}

export type ListenAddress = { readonly host: string; readonly port: number };

/** `127.0.0.1:9464`, `[::1]:9464`; undefined where a text is none. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, six, four, digits] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const host = six ?? four;
  if (host === undefined || digits === undefined || port > 65_535) return undefined;
  return { host, port };
}

function listenAddress(value: string): unknown {
  const address = parseListenAddress(value);
  if (address !== undefined) return address;
  throw new InvalidArgumentError('It must be an address and port such as 127.0.0.1:9464.');
}

/** A number, or the text of a limit. */
export function rate(text: string): number | string {
  if (text.trimStart().startsWith('{')) return text;
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new InvalidArgumentError('It must be a number above 0, or a limit in braces.');
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Pipelines that `init` knows. Apart, as every start of the program names them. */
export const PIPELINES = ['none', 'github', 'gitlab', 'shell'] as const;
export type Pipeline = (typeof PIPELINES)[number];

/** Exits of commands that ask the platform nothing. */
export const OFFLINE: readonly ExitName[] = ['done', 'error'];
/** Exits of commands that only read on the platform. */
export const READING: readonly ExitName[] = ['done', 'error', 'interrupted'];
/** Exits of commands that edit the state. They recover an interrupted run first, and ask the platform about it. */
export const EDITING: readonly ExitName[] = [
  'done',
  'error',
  'refused',
  'stale',
  'locked',
  'interrupted',
];
/** Exits of commands that write on the platform, under the lock of the state. */
export const WRITING: readonly ExitName[] = [
  'done',
  'error',
  'partial',
  'refused',
  'stale',
  'locked',
  'interrupted',
];
/** Exits of commands that go on with something: `changes` where it waits, or found some. */
export const ADVANCING: readonly ExitName[] = [
  'done',
  'error',
  'changes',
  'partial',
  'refused',
  'stale',
  'locked',
  'interrupted',
];
