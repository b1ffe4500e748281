/**
 * `cli/` is the command line: flags in, stages called, results rendered, an exit code out. Each command
 * is a thin file of its own, loaded when it is asked for.
 */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { nearest } from '../core/nearest.ts';
import { addAuthorCommands } from './author-commands.ts';
import { COMMAND_WORDS } from './command-words.ts';
import type { DriftFlags } from './commands/drift.ts';
import type { ValidateFlags } from './commands/validate.ts';
import type { CommonFlags, Context, RunSecret } from './context.ts';
import { EXIT, type ExitCode, failureIn } from './exit.ts';
import { oneOrTree } from './fleet/enter.ts';
import type { TreeFlags } from './fleet/flags.ts';
import type { Act, MakeCommand } from './making-commands.ts';
import { openTelemetry, type Telemetry } from './monitor/telemetry.ts';
import {
  allowanceOptionsOn,
  commonOptions,
  concurrency,
  format,
  listen,
  log,
  overrideFreeze,
  port,
  positive,
  refresh,
  repeatable,
  span,
  targetOptionsOn,
  treeOptionsOn,
  whole,
} from './options.ts';
import { addPlanningCommands } from './planning-commands.ts';
import { addReadCommands } from './read-commands.ts';
import { addRecoveryCommands } from './recovery-commands.ts';
import { simulationOptionsOn } from './simulation-options.ts';
import { addSnapshotCommands, keyOptionsOn } from './snapshot-commands.ts';
import { addStateCommands } from './state-commands.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { openTraceFile, type TraceFile } from './trace-file.ts';

export type Deps = Omit<Context, 'terminal' | 'trace' | 'traffic' | 'runSecret' | 'telemetry'>;

/** Parses the arguments, runs the command, and says how it ended. Never throws for a user's mistake. */
export async function runProgram(argv: readonly string[], deps: Deps): Promise<ExitCode> {
  let exit: ExitCode = EXIT.done;
  let name = 'callsheet';

  /** Gives a command its context, and turns what it throws into a report. */
  const action =
    <F extends CommonFlags & { readonly format?: string }>(
      run: (flags: F, context: Context) => Promise<ExitCode>,
    ) =>
    async (flags: F): Promise<void> => {
      const screen = openTerminal(flags, deps.env);
      let hasPrinted = false;
      const terminal: Terminal = {
        ...screen,
        get renderErr() {
          return screen.renderErr;
        },
        out: (text) => {
          hasPrinted = true;
          screen.out(text);
        },
      };
      let traced: TraceFile | undefined;
      let telemetry: Telemetry | undefined;
      try {
        traced =
          flags.traceHttp === undefined ? undefined : openTraceFile(flags.traceHttp, terminal);
        const runSecret = flags.allowExec === true ? await secretCommands(deps) : undefined;
        const { env, version, wire } = deps;
        telemetry = openTelemetry({ env, version, tell: terminal.err });
        const context = {
          ...deps,
          ...(telemetry === undefined ? {} : { telemetry, wire: telemetry.through(wire) }),
          terminal,
          runSecret,
          trace: traced?.write,
          traffic: { retries: 0 },
        };
        const work = () => run(flags, context);
        exit = await (telemetry?.task(name, work, { failure: failureIn }) ?? work());
      } catch (thrown) {
        // What goes well needs none of it.
        const { endedBy, failureJson, reportFailure } = await import('./report.ts');
        const error = endedBy(thrown, deps.stop);
        // A program that asked for JSON gets one document, whatever becomes of the command.
        if (flags.format === 'json' && !hasPrinted) screen.out(failureJson(error));
        exit = reportFailure(
          error,
          // `--quiet` keeps progress and warnings back, never why something failed.
          openTerminal({ ...flags, quiet: false }, deps.env),
          flags.verbose === true,
        );
      } finally {
        traced?.close();
        await telemetry?.close();
      }
    };

  const program = buildProgram(action, deps.version, argv);
  program.hook('preAction', (_, command) => {
    name = pathTo(command);
  });
  try {
    refuseUnknownHelp(program, argv);
    await program.parseAsync(helpLine(spreadPairs(argv)), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version are answers, everything else that commander throws is a wrong command line.
    exit = error.exitCode === 0 ? EXIT.done : EXIT.error;
  }
  return exit;
}

/** `callsheet state mv`. */
function pathTo(command: Command): string {
  const { parent } = command;
  return parent === null ? command.name() : `${pathTo(parent)} ${command.name()}`;
}

/** Loaded when it is asked for: it is of no use to most commands. */
async function secretCommands(deps: Deps): Promise<RunSecret> {
  const { runSecretCommand } = await import('./secret-command.ts');
  return runSecretCommand(deps);
}

/** `help state mv` as commander takes it: of its own it reads one word behind `help`. */
function helpLine(argv: readonly string[]): string[] {
  const [first, ...words] = argv;
  return first === 'help' && words.length > 1 ? [...words, '--help'] : [...argv];
}

/** `callsheet help vaildate` is a slip, which commander answers with the help of everything. */
function refuseUnknownHelp(program: Command, [first, ...words]: readonly string[]): void {
  if (first !== 'help') return;
  let at = program;
  for (const word of words.filter((text) => !text.startsWith('-') && text !== 'help')) {
    const next = at.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) {
      const names = at.commands.map((one) => one.name());
      const close = nearest(word, names);
      const meant = close === undefined ? '' : `\n(Did you mean ${close}?)`;
      at.error(`error: unknown command '${word}'${meant}`);
    } else at = next;
  }
}

/** What follows a mistake in the words of a command. */
function helpHint(command: string): string {
  return `(${command} --help shows what there is)`;
}

/** Every command with its arguments and flags; those alone that `argv` names, where it names some. */
export function buildProgram(action: Act, version: string, argv: readonly string[] = []): Command {
  const program = new Command('callsheet')
    .description('Plan, apply and roll back fleets of AI phone agents from YAML in Git.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help of a command')
    .showSuggestionAfterError(true)
    .showHelpAfterError(helpHint('callsheet'))
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();

  const group = (name: string, description: string, parent = program): Command => {
    const words = parent === program ? [name] : [parent.name(), name];
    const made = isSpeltOut(words, argv) ? new Command(name) : listedCommand(name);
    made.description(description).exitOverride();
    made.copyInheritedSettings(program);
    made.showHelpAfterError(helpHint(['callsheet', ...words].join(' ')));
    parent.addCommand(made);
    return made;
  };
  const command = (name: string, description: string, parent = program): Command => {
    const made = group(name, description, parent);
    for (const option of commonOptions()) made.addOption(option);
    return withWords(made, parent === program ? name : `${parent.name()} ${name}`);
  };

  treeOptionsOn(command('validate', 'check the configuration, without a network'))
    .addOption(format('text', 'json', 'sarif', 'junit', 'github'))
    .option('--strict', 'take warnings for errors')
    .option('--secrets', 'check that each secret can be read here, too')
    .action(
      action(async (flags: ValidateFlags & TreeFlags, context) =>
        oneOrTree('validate', flags, context, async () =>
          (await import('./commands/validate.ts')).validate(flags, context),
        ),
      ),
    );

  addAuthorCommands(command, action);

  addPlanningCommands(command, action);

  treeOptionsOn(
    targetOptionsOn(command('drift', 'show what changed on the platform since the last apply')),
  )
    .addOption(refresh())
    .addOption(concurrency())
    .addOption(format('text', 'json', 'markdown', 'html'))
    .option('--detailed-exitcode', 'exit 2 when there is drift')
    .option('--notify [url]', 'post drift as JSON to this address, or to CALLSHEET_NOTIFY_URL')
    .option('--notify-always', 'post it when there is no drift, too')
    .option('--accept <address...>', 'write what changed there into the configuration')
    .action(
      action(async (flags: DriftFlags & TreeFlags, context) =>
        oneOrTree('drift', flags, context, async () =>
          (await import('./commands/drift.ts')).drift(flags, context),
        ),
      ),
    );

  addWatchCommand(command, action);

  command('pull', 'write what is live into the configuration')
    .argument('[addresses...]', 'these alone: an address, a kind, or what it begins with')
    .option('--new', 'write a file for each live resource that the stack does not have')
    .option('--dry-run', 'write nothing; show what would change, as a diff')
    .option('--theirs', 'take what is live where the configuration changed, too')
    .option('--override', 'write on the resource itself what it shares with others')
    .option('--skip-refused', 'leave out what cannot be pulled and write the rest')
    .option('--force', 'write although there are changes that are not committed')
    .addOption(concurrency())
    .addOption(format('text', 'json'))
    .action((addresses: readonly string[], flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/pull.ts')).pull(addresses, given, context),
      )(flags),
    );

  command('runs', 'list runs, or show one')
    .argument('[id]', 'a run')
    .addOption(format('text', 'json'))
    .action((id: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/runs.ts')).runs(id, given, context),
      )(flags),
    );

  const state = group('state', 'look at the state, edit, unlock or rebuild it');
  addStateCommands((name, description) => command(name, description, state), action);

  const snapshot = group('snapshot', 'keep everything of an account in a file, and look at it');
  addSnapshotCommands((name, description) => command(name, description, snapshot), action);
  addRestoreCommand(command, action);
  addRecoveryCommands(command, action);

  command('assumptions', 'list what is taken for granted where the specification is silent')
    .addOption(format('text', 'json'))
    .action(
      action(async (flags, context) =>
        (await import('./commands/assumptions.ts')).assumptions(flags, context),
      ),
    );

  addReadCommands(command, action);
  addQueueCommands(command, action);

  command('ui', 'show the stack in a browser: fleet, runs, drift, a plan; read only')
    .argument('[planfile]', 'a plan made by: callsheet plan --out FILE')
    .addOption(
      new Option('--port <port>', 'loopback port to listen on; 0 takes a free one')
        .argParser(port)
        .default(0),
    )
    .action((file: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/ui.ts')).ui(file, given, context),
      )(flags),
    );

  simulationOptionsOn(command('simulate', 'run a simulated platform on a loopback port'))
    .addOption(
      new Option('--port <port>', 'port to listen on; 0 takes a free one')
        .argParser(port)
        .default(4010),
    )
    .addOption(new Option('--agents <n>', 'make a fleet of this many agents').argParser(whole))
    .addOption(
      new Option('--calls <n>', 'make this many calls of the last 90 days').argParser(whole),
    )
    .addOption(
      new Option('--resellers <n>', 'make a whole account, with this many resellers').argParser(
        whole,
      ),
    )
    .addOption(
      new Option(
        '--organizations <n>',
        'make a whole account, with this many organizations',
      ).argParser(whole),
    )
    .action(
      action(async (flags, context) =>
        (await import('./commands/simulate.ts')).simulate(flags, context),
      ),
    );

  return program;
}

/** Shows examples below the flags, and what the command can end with. */
function withWords(command: Command, path: string): Command {
  const { examples, exits } = COMMAND_WORDS[path] ?? { examples: [], exits: [] };
  const codes = exits.map((name) => EXIT[name]).join(', ');
  const lines = ['', 'Examples:', ...examples.map((line) => `  ${line}`), '', `Exit: ${codes}`];
  return command.addHelpText('after', lines.join('\n'));
}

/**
 * Whether a command is spelt out for a line. Most of the time it takes to start would go into flags that nobody
 * asks about; so where a line names commands, the others have nothing but a name.
 */
function isSpeltOut(path: readonly string[], argv: readonly string[]): boolean {
  const [name = '', inner] = path;
  const [first] = argv;
  if (first === 'help' || !argv.some((word) => INNER.has(word))) return true;
  if (!argv.includes(name)) return false;
  const named = INNER.get(name) ?? [];
  return inner === undefined || argv.includes(inner) || !named.some((one) => argv.includes(one));
}

/** The commands below each command, by their names. */
const INNER: ReadonlyMap<string, readonly string[]> = new Map(
  [...Map.groupBy(Object.keys(COMMAND_WORDS), (path) => path.split(' ')[0] ?? '')].map(
    ([name, paths]) => [name, paths.flatMap((path) => path.split(' ')[1] ?? [])],
  ),
);

/** A command that can be listed and suggested, and no more: what is said of it besides is not kept. */
function listedCommand(name: string): Command {
  const made = new Command(name);
  const ignore = () => made;
  return Object.assign(made, {
    ...{ option: ignore, requiredOption: ignore, addOption: ignore },
    ...{ argument: ignore, addArgument: ignore, addHelpText: ignore, action: ignore },
  });
}

/** The commands that spread a tree of stacks over machines. */
function addQueueCommands(command: MakeCommand, action: Act): void {
  allowanceOptionsOn(command('enqueue', 'have workers run a command in every stack of a tree'))
    .addArgument(new Argument('[command]', 'what they run').choices(['plan', 'apply', 'drift']))
    .argument('[plans]', 'for apply: the folder of callsheet plan --recursive --out FOLDER')
    .addOption(queue())
    .option('--auto-approve', 'for apply: do not ask')
    .option('--rollback-on-failure', 'for apply: undo what a run did, should it fail')
    .option('--detailed-exitcode', 'for plan and drift: exit 2 when there are changes')
    .option('--out <folder>', 'for plan, with --wait or --report: write the plans to a folder')
    .option('--wait', 'follow it, and report what came of it')
    .option('--report <batch>', 'report what came of a batch')
    .addOption(format('text', 'json', 'markdown'))
    .action((name: string | undefined, plans: string | undefined, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/enqueue.ts')).enqueueCommand(name, plans, given, context),
      )(flags),
    );

  command('worker', 'run what was enqueued, in the stacks of a checkout')
    .addOption(queue())
    .option('--until-empty', 'end once nothing is left to do')
    .addOption(
      new Option('--stacks <n>', 'stacks at work at once').argParser(atLeastOne).default(4),
    )
    .addOption(
      new Option('--concurrency <n>', 'requests in flight at once, of all stacks together')
        .argParser(atLeastOne)
        .default(8),
    )
    .addOption(listen('/healthz and /metrics'))
    .addOption(log())
    .action(
      action(async (flags, context) =>
        (await import('./commands/worker.ts')).worker(flags, context),
      ),
    );
}

function queue(): Option {
  return new Option(
    '--queue <address>',
    'the database of the queue: postgres://user@host/database (also CALLSHEET_QUEUE)',
  );
}

function atLeastOne(value: string): number {
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be at least 1.');
}

/** `callsheet restore`: brings back what a snapshot holds. */
function addRestoreCommand(command: MakeCommand, action: Act): void {
  keyOptionsOn(command('restore', 'bring back what a snapshot holds, here or elsewhere'))
    .argument('<file>', 'a file of callsheet snapshot create')
    .addOption(repeatable('--organization <name|id>', 'this organization of the snapshot alone'))
    .addOption(
      repeatable('--map-organization <old=new>', 'this one alone, and into another: names or ids'),
    )
    .addOption(
      repeatable(
        '--map-knowledge-base <old=new>',
        'a knowledge base that takes the place of another',
      ),
    )
    .option('--map-texts', 'put new ids into prompts, transfer rules and contact policies, too')
    .option('--over', 'change what is there already back to what the snapshot has')
    .option('--secrets <file>', 'YAML: address, path, and env:NAME, file:PATH or exec:COMMAND')
    .option('--without-secrets', 'restore although secrets are missing')
    .option('--media <folder>', 'holds voice clips and documents, called as they were')
    .option('--state <file>', 'where to remember what was made')
    .option('--dry-run', 'show what would be done, and which secrets are needed')
    .option('--auto-approve', 'do not ask')
    .option('--skip-refused', 'leave out what is refused and do the rest')
    .addOption(overrideFreeze())
    .addOption(concurrency())
    .addOption(format('text', 'json'))
    .action((file: string, flags) =>
      action(async (given: typeof flags, context) =>
        (await import('./commands/restore.ts')).restore(file, given, context),
      )(flags),
    );
}

/** Flags that take several `OLD=NEW` (DESIGN §3), each given once for commander. */
const FLAGS: ReadonlySet<string> = new Set(['--map-organization', '--map-knowledge-base']);

/**
 * Gives the flag again to each pair that follows one, so that `--map-organization a=b c=d FILE` and
 * `FILE --map-organization a=b c=d` mean the same: a flag that took whatever follows would take the file.
 */
export function spreadPairs(argv: readonly string[]): readonly string[] {
  let flag: string | undefined;
  let hasValue = false;
  return argv.flatMap((word) => {
    if (FLAGS.has(word)) {
      [flag, hasValue] = [word, false];
      return [word];
    }
    const isPair = flag !== undefined && /^[^-=][^=]*=/.test(word);
    if (flag !== undefined && isPair && hasValue) return [flag, word];
    if (isPair) hasValue = true;
    else flag = undefined;
    return [word];
  });
}

/** The command that runs for long. */
function addWatchCommand(command: MakeCommand, action: Act): void {
  targetOptionsOn(command('watch', 'look for drift again and again; put back what is marked'))
    .addOption(
      new Option('--interval <span>', 'time from one pass to the next: 30s, 5m, 1h')
        .argParser(span)
        .default(300_000, '5m'),
    )
    .addOption(
      listen('/healthz, /metrics and /hook').default(
        { host: '127.0.0.1', port: 9464 },
        '127.0.0.1:9464',
      ),
    )
    .option('--heal', 'put back what drifted where lifecycle.heal is true')
    .addOption(
      new Option('--heal-limit <n>', 'tries for one resource within an hour')
        .argParser(positive)
        .default(3),
    )
    .option('--notify [url]', 'post drift as JSON to this address, or to CALLSHEET_NOTIFY_URL')
    .addOption(log())
    .addOption(refresh())
    .addOption(concurrency())
    .action(
      action(async (flags, context) => (await import('./commands/watch.ts')).watch(flags, context)),
    );
}
