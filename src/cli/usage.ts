import { Command, CommanderError, type ErrorOptions, Help, Option } from 'commander';
import { COMMON_FLAGS, type Flag } from '../console/flags.ts';
import { codeSpan, splitCommands } from '../core/command-line.ts';
import { didYouMean, nearest } from '../core/nearest.ts';
import type { CommandTable } from './command-table.ts';
import { TOPICS, topicAbout, topicPages } from './topics.ts';

/**
 * Words the messages about a wrong command line: one sentence with the nearest right one. Commander finds the
 * mistakes; here they get their words, and people who come from Terraform, Pulumi, kubectl or decK the command that
 * they look for. Below: how help is laid out.
 */

/** Removing resources is a change like any other, so it has no command. */
const DESTROY =
  'Callsheet deletes resources that are no longer configured: remove the resources from it and run `callsheet apply --allow-delete`.';

/** Words that are commands elsewhere or were commands here, and what to do instead. */
const HABITS: { readonly [word: string]: string } = {
  ...runs('callsheet plan', 'diff', 'preview', 'changes', 'whatif', 'dry-run'),
  ...runs('callsheet apply', 'up', 'push', 'sync', 'deploy', 'update'),
  ...runs('callsheet init', 'new', 'create', 'setup'),
  ...runs('callsheet validate', 'lint', 'check', 'test'),
  ...runs('callsheet fmt', 'format'),
  ...runs('callsheet export --out FOLDER', 'dump'),
  ...runs('callsheet snapshot create', 'backup'),
  ...runs('callsheet rollback', 'undo', 'revert'),
  ...runs('callsheet get agents', 'list', 'ls', 'agents', 'output', 'outputs'),
  ...runs('callsheet get ADDRESS', 'describe'),
  ...runs('callsheet get organizations', 'organizations', 'orgs', 'whoami'),
  ...runs('callsheet get models', 'models'),
  ...runs('callsheet get stt_providers', 'stt'),
  ...runs('callsheet get voices', 'voices'),
  ...runs('callsheet get features', 'features'),
  ...runs('callsheet get usage', 'billing', 'usage'),
  ...runs('callsheet get calls AGENT', 'logs', 'calls'),
  ...runs('callsheet get payments AGENT', 'payments'),
  ...runs('callsheet explain assumptions', 'assumptions'),
  ...runs('callsheet explain graph', 'graph'),
  ...runs('callsheet queue add COMMAND', 'enqueue'),
  ...runs('callsheet queue work', 'worker'),
  ...runs('callsheet state unlock', 'force-unlock', 'unlock'),
  ...runs('callsheet state repair', 'repair'),
  ...runs('callsheet state mv', 'mv', 'rename'),
  ...runs('callsheet state rm', 'rm', 'forget'),
  ...runs('callsheet plan --env NAME', 'workspace', 'env', 'context'),
  ...runs('callsheet help pipelines', 'ci', 'github', 'gitlab', 'actions'),
  ...runs('callsheet help guards', 'limits', 'limit'),
  ...runs('callsheet log ADDRESS', 'who', 'blame', 'audit', 'changes'),
  status:
    '`callsheet drift` shows changes on the platform, and `callsheet runs` shows applied runs.',
  refresh:
    'Every plan reads the platform, so there is nothing to refresh: `callsheet plan --refresh full` reads all of it again.',
  destroy: DESTROY,
  delete: DESTROY,
  reset: DESTROY,
  down: DESTROY,
  login:
    'Set CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET, or CALLSHEET_ACCESS_TOKEN: Callsheet stores no credentials.',
  taint:
    'Callsheet has no taint: change the resource in the configuration and run `callsheet plan`.',
  options: 'Run `callsheet help options` for the options of every command.',
};

function runs(line: string, ...words: readonly string[]): { readonly [word: string]: string } {
  return Object.fromEntries(words.map((word) => [word, `Run ${codeSpan(line)} instead.`]));
}

/** Flags of other tools by their names, and what to do instead. Those of one command alone begin with its name. */
const FOREIGN_FLAGS: { readonly [flag: string]: string } = {
  'init upgrade': 'init has nothing to upgrade: it writes a new stack, and npm updates Callsheet.',
  'init reconfigure': 'Run `callsheet state migrate --to PLACE` to move the state.',
  'init migrate-state': 'Run `callsheet state migrate --to PLACE` to move the state.',
  'apply dry-run': 'Run `callsheet plan` instead: it writes nothing.',
  'plan dry-run': 'Leave it out: plan writes nothing.',
  'plan t': 'Use --target ADDRESS.',
  'apply t': 'Use --target ADDRESS.',
  'drift t': 'Use --target ADDRESS.',
  'apply f': 'Name the plan file alone: `callsheet apply PLANFILE`.',
  'apply filename': 'Name the plan file alone: `callsheet apply PLANFILE`.',
  'plan refresh-only': 'Run `callsheet drift` instead.',
  'apply refresh-only':
    'Run `callsheet drift` instead, and `callsheet pull` to write the changes into the configuration.',
  start: 'Use --since, where the command has it.',
  end: 'Use --until, where the command has it.',
  destroy: DESTROY,
  chdir: 'Use --dir FOLDER.',
  cwd: 'Use --dir FOLDER.',
  C: 'Use --dir FOLDER.',
  f: 'Use --dir FOLDER.',
  s: 'Use --env NAME.',
  stack: 'Use --dir FOLDER for a stack, or --env NAME for an environment of it.',
  n: 'Use --organization NAME, where the command has it.',
  namespace: 'Use --organization NAME, where the command has it.',
  workspace: 'Use --env NAME.',
  o: 'Use --format json.',
  output: 'Use --format json.',
  json: 'Use --format json.',
  y: 'Use --auto-approve.',
  yes: 'Use --auto-approve.',
  parallelism: 'Use --concurrency N.',
  parallel: 'Use --concurrency N.',
  'select-tag': 'Use --target ADDRESS.',
  replace:
    'Callsheet replaces a resource if a changed field requires it: change the field in the configuration.',
  state: 'Set CALLSHEET_STATE, or state in callsheet.yaml.',
  'backend-config': 'Set CALLSHEET_STATE, or state in callsheet.yaml.',
  lock: 'The state is always locked: --lock-timeout SPAN of apply waits for another run.',
  input: 'Callsheet asks nothing where standard input is not a terminal.',
  v: 'Run `callsheet --version`.',
};

/** A mistake of the command line, in one sentence. The catcher prints it. */
export class UsageMistake extends CommanderError {}

/** A command whose mistakes are reported in one sentence. */
export class CliCommand extends Command {
  /** Ends with a sentence for a mistake that commander found. */
  override error(
    message: string,
    { code = 'commander.error', exitCode = 1 }: ErrorOptions = {},
  ): never {
    throw new UsageMistake(exitCode, code, `Error: ${sentenceFor(this, message, code)}`);
  }
}

/** `callsheet state mv`. */
export function pathTo(command: Command): string {
  const { parent } = command;
  return parent === null ? command.name() : `${pathTo(parent)} ${command.name()}`;
}

/** The command that shows the help of one, for a sentence. */
export function helpCommand(command: Command): string {
  return codeSpan(`${pathTo(command)} --help`);
}

/** Says what is wrong with the words behind `help`, if anything is. */
export function refuseUnknownCommand(at: Command, word: string): void {
  at.error(`error: unknown command '${word}'`, { code: 'commander.unknownCommand' });
}

function sentenceFor(command: Command, message: string, code: string): string {
  const text = message.replace(/^error: /, '').replace(/\n\(Did you mean [^)]*\)$/, '');
  const word = /'([^']*)'/.exec(text)?.[1] ?? '';
  const path = pathTo(command);
  switch (code) {
    case 'commander.unknownCommand':
      return unknownCommand(command, word);
    case 'commander.unknownOption':
      return unknownOption(command, word);
    case 'commander.missingArgument':
      return `missing argument '${word}': ${path} ${formatUsage(command)}${formatChoices(command, word)}.`;
    case 'commander.excessArguments': {
      const [, got = ''] = /but got \d+: ([\s\S]*)\.$/.exec(text) ?? [];
      const expected = formatUsage(command);
      const takes = expected === '' ? 'takes none' : `takes ${expected}`;
      const isTarget = command.options.some(({ long }) => long === '--target');
      if (expected === '' && isTarget && /^[a-z_]+\.\S+(?:, [a-z_]+\.\S+)*$/.test(got))
        return `too many arguments: ${path} ${takes}; did you mean --target ${got.replaceAll(', ', ' --target ')}?`;
      return `too many arguments: ${path} ${takes}, and was given ${got}.`;
    }
    case 'commander.optionMissingArgument':
      return `${text}: ${helpCommand(command)} shows what it takes.`;
    case 'commander.missingMandatoryOptionValue': {
      // It may be there with a slip in it.
      const unknown = command.args.find((arg) => /^-./.test(arg));
      return unknown === undefined
        ? `${text}: ${path} needs it.`
        : unknownOption(command, unknown.replace(/(?<=^--[^=]*)=.*$/s, ''));
    }
    case 'commander.invalidArgument':
      return invalidArgument(text);
    default:
      return text;
  }
}

function unknownCommand(command: Command, word: string): string {
  const above = command.parent === null ? '' : `${pathTo(command)} `;
  const habit = above === '' && Object.hasOwn(HABITS, word) ? HABITS[word] : undefined;
  const unknown = `unknown command '${word}'`;
  if (habit !== undefined) return `${unknown}: ${lowered(habit)}`;
  if (above === '' && Object.hasOwn(TOPICS, word))
    return `${unknown}: \`callsheet help ${word}\` shows the page of that name.`;
  const names = command.commands.map((one) => one.name());
  const below = names.length === 0 ? 'has no commands below it.' : `takes ${names.join(', ')}.`;
  const all = above === '' ? '`callsheet --help` lists the commands.' : `${above}${below}`;
  const near = didYouMean(word, names, all, (close) =>
    codeSpan(`${above || 'callsheet '}${close}`),
  );
  return `${unknown}: ${lowered(near)}`;
}

function unknownOption(command: Command, given: string): string {
  const unknown = `unknown option '${given}'`;
  const [name = ''] = given.replace(/^--?/, '').split('=');
  const own = command.options.map(({ long }) => long ?? '');
  const isGlobal = COMMON_FLAGS.some(({ spelling }) => spelling.split(' ')[0] === `--${name}`);
  if (command.parent === null && isGlobal) {
    return `${unknown}: it belongs after the command, such as \`callsheet plan --${name}\`.`;
  }
  // Terraform's flags have one dash.
  if (own.includes(`--${name}`)) return `${unknown}: did you mean --${name}?`;
  if (name === 'version' || given === '-V')
    return `${unknown}: did you mean \`callsheet --version\`?`;
  const forcing = name === 'force' ? forcingOptions(command) : '';
  if (forcing !== '') return `${unknown}: ${forcing}`;
  const foreign = [`${command.name()} ${name}`, name].find((key) =>
    Object.hasOwn(FOREIGN_FLAGS, key),
  );
  if (foreign !== undefined) return `${unknown}: ${lowered(FOREIGN_FLAGS[foreign] ?? '')}`;
  const all = `${helpCommand(command)} lists its options, and \`callsheet help options\` those of every command.`;
  return `${unknown}: ${lowered(didYouMean(`--${name}`, [...own, '--help'], all))}`;
}

/** Lists the flags that a command has instead of `--force`, with what each allows. Empty if it has none. */
function forcingOptions(command: Command): string {
  const flags = command.options.flatMap((option) => PERMISSIONS.get(option) ?? []);
  const forcing = flags.map(({ spelling, does }) => ({
    // `--override-limits <reason>`: `--override-limits REASON`.
    term: spelling.replace(/<(\w+)>/, (_, value: string) => value.toUpperCase()),
    does: does.replace(/;.*/, ''),
  }));
  const [first, ...others] = forcing;
  if (first === undefined) return '';
  if (others.length === 0) return `use ${first.term} to ${first.does}.`;
  const width = Math.max(...forcing.map(({ term }) => term.length));
  const lines = forcing.map(({ term, does }) => `  ${term.padEnd(width)}  ${does}`);
  return [`${pathTo(command)} has one for each permission:`, ...lines].join('\n');
}

/** `option '--format <format>' argument 'yaml' is invalid: allowed choices are text, json.` */
function invalidArgument(text: string): string {
  const [, head = text, given = '', rest = ''] =
    /^(.*'([^']*)' is invalid[^.]*)\. (.*)$/s.exec(text) ?? [];
  const choices = /^Allowed choices are (.*)\.$/.exec(rest)?.[1]?.split(', ') ?? [];
  const typed = /argument(?: value)? '([^']*)' is invalid/.exec(text)?.[1] ?? given;
  const near = nearest(typed, choices);
  const meant = near === undefined ? '' : `; did you mean ${near}?`;
  if (rest === '') return text;
  return `${head}: ${lowered(rest).replace(/\.$/, '')}${meant === '' ? '.' : meant}`;
}

/** `<from> <to>`: the arguments that a command takes. */
function formatUsage({ registeredArguments }: Command): string {
  return registeredArguments
    .map((one) => {
      const name = `${one.name()}${one.variadic ? '...' : ''}`;
      return one.required ? `<${name}>` : `[${name}]`;
    })
    .join(' ');
}

function formatChoices({ registeredArguments }: Command, name: string): string {
  const choices = registeredArguments.find((one) => one.name() === name)?.argChoices;
  return choices === undefined ? '' : `, where it is one of ${choices.join(', ')}`;
}

/** A sentence as the end of another one: names keep their capitals. */
function lowered(sentence: string): string {
  return /^[A-Z][a-z]+ /.test(sentence) && !/^(Callsheet|Terraform) /.test(sentence)
    ? sentence.charAt(0).toLowerCase() + sentence.slice(1)
    : sentence;
}

/** Each help refers to the options of every command with this. */
const OPTIONS_HINT = 'Options of every command: callsheet help options';

/** Columns of the terminal; 80 where one says 0 (a serial line, `docker exec -t`), or there is none. */
export function helpColumns(): number {
  return process.stdout.columns || 80;
}

/** `callsheet --help`: every command in one line, by what a person wants to do. It fits one screen. */
function overview({ commands, groups, purposes: all }: CommandTable): string {
  const says = new Map<string, string>([
    ...commands.map(({ name, does }) => [name, does] as const),
    ...Object.entries(groups),
  ]);
  const single = [...says.keys()].filter((name) => !name.includes(' '));
  const item = itemsFor(single);
  const purposes = Object.entries(all).flatMap(([purpose, names]) => [
    purpose,
    ...names.map((name) => item(name, says.get(name) ?? '')),
  ]);
  return [
    'Usage: callsheet COMMAND [options]',
    ...purposes,
    '',
    ...['One command: callsheet help COMMAND    Options of all: callsheet help options'].flatMap(
      (line) => (line.length < helpColumns() ? [line] : line.split(/ {4}/)),
    ),
    ...foldedList('Pages: callsheet help', Object.keys(TOPICS), ''),
    '',
  ].join('\n');
}

/** `callsheet help topics`: the pages with what each is about. */
export function topicsHelp(): string {
  const item = itemsFor(Object.keys(TOPICS));
  const pages = Object.entries(TOPICS).map(([name, { about }]) => item(name, about));
  const others = [...topicPages().keys()].filter((name) => !Object.hasOwn(TOPICS, name));
  const reference = foldedList('Of the reference:', others);
  return ['Usage: callsheet help TOPIC', '', ...pages, '', ...reference, ''].join('\n');
}

/** Lays out a name and what it is for, beside each other, with all names in one column. */
function itemsFor(names: readonly string[]): (name: string, does: string) => string {
  const helper = Object.assign(new Help(), HELP, { helpWidth: helpColumns() });
  const width = Math.max(...names.map(({ length }) => length));
  return (name, does) => helper.formatItem(name, width, does, helper);
}

/** Names behind what they are, in lines of a terminal's width. */
export function foldedList(
  title: string,
  names: readonly string[],
  indent = '  ',
): readonly string[] {
  const words = names.map((name, at) => (at < names.length - 1 ? `${name},` : name));
  const lines = [title];
  for (const word of words) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length >= helpColumns()) lines.push(`${indent}${word}`);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

/** `callsheet help options`: the options that every command takes. */
export function optionsHelp(): string {
  const command = new Command('callsheet')
    .usage('COMMAND [options]')
    .helpOption('-h, --help', 'show help of the command');
  for (const flag of COMMON_FLAGS) command.addOption(buildOption(flag));
  command.description('Every command takes these options, after its name.');
  command.addOption(new Option('-V, --version', 'print the version, without a command'));
  return command.helpInformation();
}

/** Stands for a blank at which no line is broken; no help has it. */
const HELD = '\u0001';

/** Columns beside a name, with the blanks around it: in fewer than 40, commander breaks no line. */
const NARROWEST = 44;

/** Lays out the help of everything, and that of one command: its own options alone, and where the others are. */
export function layHelp(table: CommandTable) {
  return {
    ...HELP,
    formatHelp: (command: Command, helper: Help) =>
      command.parent === null ? overview(table) : HELP.formatHelp(command, helper),
  };
}

const HELP = {
  /** A name and what it is for, which stands below it where there is no room beside. */
  formatItem(term: string, width: number, does: string, helper: Help): string {
    const columns = helper.helpWidth ?? helpColumns();
    if (columns - width >= NARROWEST || does === '')
      return Help.prototype.formatItem.call(helper, term, width, does, helper);
    const lines = helper.boxWrap(does, columns - 6).split('\n');
    return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join('\n');
  },
  formatHelp(command: Command, helper: Help): string {
    const topic = topicAbout(pathTo(command).replace(/^callsheet /, ''));
    const more = topic === undefined ? '' : `More about it: callsheet help ${topic}\n`;
    return `${Help.prototype.formatHelp.call(helper, command, helper)}\n${OPTIONS_HINT}\n${more}`;
  },
  /** Commander breaks lines at blanks: those of a command are none for it. */
  boxWrap(text: string, width: number): string {
    const held = splitCommands(text).map((one) =>
      one.isCommand ? codeSpan(one.text.replaceAll(' ', HELD)) : one.text,
    );
    return Help.prototype.boxWrap.call(this, held.join(''), width).replaceAll(HELD, ' ');
  },
  // Commands below `get` are listed further down.
  commandUsage: (command: Command): string =>
    Help.prototype.commandUsage.call(new Help(), command).replace(/ \[command\](?= <)/, ''),
  visibleOptions: ({ options }: Command): Option[] => options.filter(({ hidden }) => !hidden),
};

/** The flags that permit something, by what commander has of them. */
const PERMISSIONS = new WeakMap<Option, Flag>();

/** A flag of the table for commander. */
export function buildOption(flag: Flag): Option {
  const { spelling, does, choices, byDefault, defaultSaid, isRequired = false, parse } = flag;
  const made = new Option(spelling, does).makeOptionMandatory(isRequired);
  if (flag.isPermission === true) PERMISSIONS.set(made, flag);
  if (choices !== undefined) made.choices([...choices]);
  if (parse !== undefined) made.argParser(parse);
  return byDefault === undefined ? made : made.default(byDefault, defaultSaid);
}
