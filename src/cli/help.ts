import { Command, Help, Option } from 'commander';
import { COMMANDS, GROUPS, TOPICS } from './command-table.ts';
import { COMMON_FLAGS, type Flag } from './flags.ts';

/** Where each help says that the options of every command are. */
const OPTIONS_HINT = 'Options of every command: callsheet help options';

/** `callsheet --help`: every command in one line, by what a person wants to do. It fits one screen. */
export function overview(): string {
  const says = new Map<string, string>([
    ...COMMANDS.map(({ name, does }) => [name, does] as const),
    ...Object.entries(GROUPS),
  ]);
  const width = Math.max(...[...says.keys()].filter((name) => !name.includes(' ')).map(lengthOf));
  const topics = Object.entries(TOPICS).flatMap(([topic, names]) => [
    topic,
    ...names.map((name) => `  ${name.padEnd(width)}  ${says.get(name) ?? ''}`),
  ]);
  return [
    'Usage: callsheet COMMAND [options]',
    '',
    ...topics,
    '',
    'Help of one command: callsheet help COMMAND',
    OPTIONS_HINT,
    '',
  ].join('\n');
}

function lengthOf({ length }: string): number {
  return length;
}

/** `callsheet help options`: the options that every command takes. */
export function optionsHelp(): string {
  const command = new Command('callsheet')
    .usage('COMMAND [options]')
    .helpOption('-h, --help', 'show help of the command');
  for (const flag of COMMON_FLAGS) command.addOption(optionOf(flag));
  command.description('Every command takes these options, behind its name.');
  command.addOption(new Option('-V, --version', 'print the version, without a command'));
  return command.helpInformation();
}

/** How the help of one command is laid out: its own options alone, and where the others are. */
export const HELP = {
  formatHelp(command: Command, helper: Help): string {
    if (command.parent === null) return overview();
    return `${Help.prototype.formatHelp.call(helper, command, helper)}\n${OPTIONS_HINT}\n`;
  },
  // What stands below `get` is listed further down.
  commandUsage: (command: Command): string =>
    Help.prototype.commandUsage.call(new Help(), command).replace(/ \[command\](?= <)/, ''),
  visibleOptions: ({ options }: Command): Option[] => options.filter(({ hidden }) => !hidden),
};

/** A flag of the table for commander. */
export function optionOf(flag: Flag): Option {
  const { spelling, does, choices, byDefault, defaultSaid, isRequired = false, parse } = flag;
  const made = new Option(spelling, does).makeOptionMandatory(isRequired);
  if (choices !== undefined) made.choices([...choices]);
  if (parse !== undefined) made.argParser(parse);
  return byDefault === undefined ? made : made.default(byDefault, defaultSaid);
}
