/**
 * `cli/` is the command line: flags in, stages called, results rendered, an exit code out. Each command
 * is a thin file of its own, loaded when it is asked for.
 */

import { Argument, type Command, CommanderError } from 'commander';
import type { CommonFlags, Context, Telemetry } from '../console/context.ts';
import { COMMON_FLAGS, type Flag } from '../console/flags.ts';
import { openTerminal, sizeTerminals } from '../console/terminal.ts';
import { codeSpan } from '../core/command-line.ts';
import { CallsheetError, EXIT, type ExitCode, failureIn, RunFailure } from '../core/errors.ts';
import type { Features } from '../feature.ts';
import {
  type CommandEntry,
  type CommandTable,
  openTable,
  runCommand,
  withStrategy,
} from './command-table.ts';
import { openTraceFile, type TraceFile } from './trace-file.ts';
import {
  buildOption,
  CliCommand,
  foldedList,
  helpColumns,
  helpCommand,
  layHelp,
  optionsHelp,
  pathTo,
  refuseUnknownCommand,
  topicsHelp,
  UsageMistake,
} from './usage.ts';

export type Deps = Omit<
  Context,
  'terminal' | 'emit' | 'confirm' | 'trace' | 'traffic' | 'runSecret' | 'telemetry' | 'features'
> & { readonly features: Features };

/** Parses the arguments, runs the command, and says how it ended. Never throws for a user's mistake. */
export async function runProgram(argv: readonly string[], deps: Deps): Promise<ExitCode> {
  let exit: ExitCode = EXIT.done;
  let name = 'callsheet';
  sizeTerminals(deps.env);
  const table = openTable(deps.features);

  const action: Act = (entry, run) => async (given) => {
    const flags = withStrategy(entry, given, deps.features);
    let hasPrinted = false;
    const terminal = openTerminal(flags, deps.env, () => {
      hasPrinted = true;
    });
    let traced: TraceFile | undefined;
    let telemetry: Telemetry | undefined;
    try {
      refuseLostFolder();
      await refuseLinkedFiles(entry, flags);
      traced = flags.traceHttp === undefined ? undefined : openTraceFile(flags.traceHttp, terminal);
      const { onTerminal } = await import('../console/events.ts');
      // Loaded when it is asked for: it is of no use to most commands.
      const runSecret =
        flags.allowExec === true
          ? (await import('./secret-command.ts')).runSecretCommand(deps)
          : undefined;
      const { env, version, wire } = deps;
      for (const { observe } of deps.features)
        telemetry ??= await observe?.({ env, version, tell: terminal.err });
      const context = {
        ...deps,
        ...(telemetry === undefined ? {} : { telemetry, wire: telemetry.through(wire) }),
        ...onTerminal(terminal),
        runSecret,
        trace: traced?.write,
        traffic: { retries: 0 },
      };
      const work = () => run(flags, context);
      exit = await (telemetry?.task(name, work, { failure: failureIn }) ?? work());
    } catch (thrown) {
      // A command that succeeds needs none of it.
      const { endedBy, failureJson, reportFailure } = await import('../console/events.ts');
      const error = endedBy(thrown, deps.stop);
      if (error instanceof RunFailure && flags.format !== 'json')
        (await import('../console/result.ts')).tellBrokenOff(error, terminal);
      // A program that asked for JSON gets one document, whatever becomes of the command.
      if (flags.format === 'json' && !hasPrinted) terminal.out(failureJson(error));
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

  const program = buildProgram(table, action, deps.version, argv);
  program.hook('preAction', (_, command) => {
    name = pathTo(command);
  });
  try {
    const shown = await showHelp(program, argv, deps.env, table);
    if (shown !== undefined) return shown;
    await program.parseAsync(helpLine(spreadPairs(argv, table)), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error instanceof UsageMistake) await tellMistake(error, deps);
    // Help and version are answers, everything else that commander throws is a wrong command line.
    exit = error.exitCode === 0 ? EXIT.done : EXIT.error;
  }
  return exit;
}

/** Throws `CallsheetError('usage')` where a file that a flag names to be written is behind a link of the repository. */
async function refuseLinkedFiles({ flags: own = [] }: CommandEntry, given: object): Promise<void> {
  for (const one of [...COMMON_FLAGS, ...own]) {
    if (one.isWritten !== true) continue;
    const option = buildOption(one);
    const file = Object.entries(given).find(([name]) => name === option.attributeName())?.[1];
    if (typeof file !== 'string') continue;
    const { refuseLinks } = await import('../console/named-file.ts');
    refuseLinks(option.long ?? '', file);
  }
}

/** Throws `CallsheetError('usage')` where the current folder was removed: every path would be looked up in it. */
function refuseLostFolder(): void {
  try {
    process.cwd();
  } catch (cause) {
    throw new CallsheetError('usage', 'the current folder was removed', {
      hint: 'Nothing was done. Change to a folder that exists (cd), and run the command again.',
      cause,
    });
  }
}

/** Says what is wrong with a command line, laid out as any other failure. */
async function tellMistake({ message }: UsageMistake, { env }: Deps): Promise<void> {
  const { say } = await import('../console/events.ts');
  say(openTerminal({}, env), message);
}

/** `help state mv` as commander takes it: of its own it reads one word behind `help`. */
function helpLine(argv: readonly string[]): string[] {
  const [first, ...words] = argv;
  return first === 'help' && words.length > 1 ? [...words, '--help'] : [...argv];
}

/** Help that is no command's: of all options, the list of pages, and a page. Undefined for that of a command. */
async function showHelp(
  program: Command,
  [first, ...words]: readonly string[],
  env: NodeJS.ProcessEnv,
  { inner }: CommandTable,
): Promise<ExitCode | undefined> {
  if (first !== 'help') return undefined;
  const named = words.filter((text) => !text.startsWith('-') && text !== 'help');
  const [word, ...more] = named;
  if (word === undefined) return undefined;
  if (!inner.has(word)) {
    const own = { options: optionsHelp, topics: topicsHelp }[word];
    if (own !== undefined && more.length === 0) {
      process.stdout.write(own());
      return EXIT.done;
    }
    const { nearestTopic, showTopic } = await import('./commands/help.ts');
    const flags = { color: !words.includes('--no-color') };
    const shown = more.length === 0 ? await showTopic(word, flags, env) : undefined;
    if (shown !== undefined) return shown;
    const topic = nearestTopic(word, [...inner.keys()]);
    if (topic !== undefined)
      program.error(`unknown topic '${word}': did you mean \`callsheet help ${topic}\`?`);
  }
  // `callsheet help vaildate` is a slip, which commander answers with the help of everything.
  let at = program;
  for (const one of named) {
    const next = at.commands.find((inner) => inner.name() === one);
    if (next === undefined) refuseUnknownCommand(at, one);
    else at = next;
  }
  return undefined;
}

type ActFlags = CommonFlags & { readonly format?: string };

/** Gives a command its context, and turns what it throws into a report and an exit code. */
type Act = (
  entry: CommandEntry,
  run: (flags: ActFlags, context: Context) => Promise<ExitCode>,
) => (flags: ActFlags) => Promise<void>;

/** Every command with its arguments and flags; those alone that `argv` names, where it names some. */
export function buildProgram(
  table: CommandTable,
  action: Act,
  version: string,
  argv: readonly string[] = [],
): Command {
  const program = new CliCommand('callsheet')
    .description('Plan, apply and roll back fleets of AI phone agents from YAML in Git.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help of a command')
    .configureHelp(layHelp(table))
    .configureOutput({ getOutHelpWidth: helpColumns })
    // In `get models --format csv` the flag is that of `get models`.
    .enablePositionalOptions()
    .exitOverride();

  const add = (words: readonly string[], does: string, parent: Command): Command => {
    const name = words.at(-1) ?? '';
    const made = new CliCommand(name);
    made.description(does).exitOverride();
    made.copyInheritedSettings(program);
    made.enablePositionalOptions();
    parent.addCommand(made);
    return made;
  };

  const groups = new Map<string, Command>();
  const addGroup = (name: string): Command => {
    const made = groups.get(name) ?? add([name], table.groups[name] ?? '', program);
    groups.set(name, made);
    return made;
  };

  for (const entry of table.commands) {
    const words = entry.name.split(' ');
    const [first = ''] = words;
    const command = add(words, entry.does, words.length > 1 ? addGroup(first) : program);
    if (words.length === 1) groups.set(first, command);
    if (isSpeltOut(words, argv, table)) spellOut(command, entry, action, table);
  }
  return program;
}

/** Gives a command its arguments and options, and what it does. */
function spellOut(command: Command, entry: CommandEntry, action: Act, table: CommandTable): void {
  const { args: expected = [], flags: own = [] } = entry;
  for (const { name, does, choices } of expected) {
    const argument = new Argument(name, does);
    command.addArgument(choices === undefined ? argument : argument.choices([...choices]));
  }
  // Before commander reads the values: that one is there at all comes first.
  refuseUnusable(command, [...COMMON_FLAGS, ...own]);
  for (const flag of own) command.addOption(buildOption(flag));
  for (const flag of COMMON_FLAGS) command.addOption(buildOption(flag).hideHelp());
  command.addHelpText('after', afterHelp(entry));
  command.action((...given) => {
    refuseOptionsAbove(command);
    // Arguments, then flags, then the command itself. Commander read them as the entry lists them.
    const args = given.slice(0, -2);
    for (const [at, arg] of args.entries()) {
      if (arg !== '' && !(Array.isArray(arg) && arg.includes(''))) continue;
      const { name = '' } = expected[at] ?? {};
      command.error(`argument '${name}' is empty: ${helpCommand(command)} shows what it takes.`);
    }
    return action(entry, (flags, context) =>
      runCommand(entry, args, flags, context, table.sources),
    )(given.at(-2));
  });
}

/**
 * Refuses values that are surely a mistake: an empty one, which is a variable of a script that is not set; another
 * option of the command, which stands where the value was left out; and a second one where an option takes one.
 */
function refuseUnusable(command: Command, flags: readonly Flag[]): void {
  for (const { spelling, isRepeatable = false } of flags) {
    const [, name = '', value = ''] = /^--(\S+) [<[](.*)[>\]]$/.exec(spelling) ?? [];
    if (name === '') continue;
    const isSingle = !isRepeatable && !value.endsWith('...');
    const given: string[] = [];
    command.on(`option:${name}`, (typed: string | null) => {
      if (typed === '')
        command.error(
          `option '${spelling}' is empty: ${helpCommand(command)} shows what it takes.`,
        );
      if (typed === null) return;
      if (hasOption(command, typed))
        command.error(`option '${spelling}' argument missing`, {
          code: 'commander.optionMissingArgument',
        });
      const [first] = given;
      given.push(typed);
      if (!isSingle || first === undefined) return;
      const advice = first === typed ? 'give it once' : `choose one of ${first} and ${typed}`;
      command.error(`option '--${name}' is given twice: ${advice}.`);
    });
  }
}

function hasOption({ options }: Command, word: string): boolean {
  const [name = ''] = word.split('=');
  return name === '--help' || options.some(({ long, short }) => name === long || name === short);
}

/** Refuses `get --format json models`: the flag would be that of `get`, and would be ignored. */
function refuseOptionsAbove(command: Command): void {
  const { parent } = command;
  const above = parent?.options.find(
    (option) => parent.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (above !== undefined)
    command.error(
      `option '${above.long}' belongs after the command: ${codeSpan(`${pathTo(command)} ${above.long}`)}.`,
    );
}

/** Examples below the flags, and what the command can end with. */
function afterHelp({ examples, exits, exitMeanings = {} }: CommandEntry): string {
  const codes = exits.map((name) => `${EXIT[name]} ${exitMeanings[name] ?? name}`);
  const typed = examples.map((line) => `  ${line}`);
  return ['', 'Examples:', ...typed, '', ...foldedList('Exit:', codes)].join('\n');
}

/**
 * Returns true if a command is spelt out for a line. Spelling out every command would take most of the time to start;
 * so if a line names commands, the others are only listed.
 */
function isSpeltOut(
  path: readonly string[],
  argv: readonly string[],
  table: CommandTable,
): boolean {
  const [name = '', inner] = path;
  const [first] = argv;
  if (first === 'help' || !argv.some((word) => table.inner.has(word))) return true;
  if (!argv.includes(name)) return false;
  const named = table.inner.get(name) ?? [];
  return inner === undefined || argv.includes(inner) || !named.some((one) => argv.includes(one));
}

/** Flags that take several `OLD=NEW` (DESIGN §3), each given once for commander. */
function listPairFlags({ commands }: CommandTable): ReadonlySet<string> {
  const all = commands.flatMap(({ flags = [] }) => flags);
  return new Set(all.flatMap(({ spelling }) => /^(\S+) <old=new>$/.exec(spelling)?.[1] ?? []));
}

/**
 * Gives the flag again to each pair that follows one, so that `--map-organization a=b c=d FILE` and
 * `FILE --map-organization a=b c=d` mean the same: a flag that took whatever follows would take the file.
 */
export function spreadPairs(argv: readonly string[], table: CommandTable): readonly string[] {
  const pairFlags = listPairFlags(table);
  let flag: string | undefined;
  let hasValue = false;
  return argv.flatMap((word) => {
    if (pairFlags.has(word)) {
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
