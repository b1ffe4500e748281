import { Command, Help, Option } from 'commander';
import { COMMON_FLAGS, type Flag } from '../console/flags.ts';
import { COMMANDS, GROUPS, PURPOSES } from './command-table.ts';
import { TOPICS, topicAbout, topicPages } from './topics.ts';
import { pathTo } from './usage.ts';

/** Where each help says that the options of every command are. */
const OPTIONS_HINT = 'Options of every command: callsheet help options';

/** Every terminal has as many. */
const COLUMNS = 80;

/** `callsheet --help`: every command in one line, by what a person wants to do. It fits one screen. */
export function overview(): string {
  const says = new Map<string, string>([
    ...COMMANDS.map(({ name, does }) => [name, does] as const),
    ...Object.entries(GROUPS),
  ]);
  const width = Math.max(...[...says.keys()].filter((name) => !name.includes(' ')).map(lengthOf));
  const purposes = Object.entries(PURPOSES).flatMap(([purpose, names]) => [
    purpose,
    ...names.map((name) => `  ${name.padEnd(width)}  ${says.get(name) ?? ''}`),
  ]);
  return [
    'Usage: callsheet COMMAND [options]',
    '',
    ...purposes,
    '',
    'One command: callsheet help COMMAND    Options of all: callsheet help options',
    ...pagesHint(),
    '',
  ].join('\n');
}

/** The pages that `callsheet help TOPIC` shows, by their names. */
function pagesHint(): readonly string[] {
  return foldedList('Pages: callsheet help', Object.keys(TOPICS), '');
}

/** `callsheet help topics`: the pages with what each is about. */
export function topicsHelp(): string {
  const width = Math.max(...Object.keys(TOPICS).map(lengthOf));
  const pages = Object.entries(TOPICS).map(
    ([name, { about }]) => `  ${name.padEnd(width)}  ${about}`,
  );
  const others = [...topicPages().keys()].filter((name) => !Object.hasOwn(TOPICS, name));
  const reference = foldedList('Of the reference:', others);
  return ['Usage: callsheet help TOPIC', '', ...pages, '', ...reference, ''].join('\n');
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
    if (line.length + word.length >= COLUMNS) lines.push(`${indent}${word}`);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
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
  command.description('Every command takes these options, after its name.');
  command.addOption(new Option('-V, --version', 'print the version, without a command'));
  return command.helpInformation();
}

/** How the help of one command is laid out: its own options alone, and where the others are. */
export const HELP = {
  formatHelp(command: Command, helper: Help): string {
    if (command.parent === null) return overview();
    const topic = topicAbout(pathTo(command).replace(/^callsheet /, ''));
    const more = topic === undefined ? '' : `More about it: callsheet help ${topic}\n`;
    return `${Help.prototype.formatHelp.call(helper, command, helper)}\n${OPTIONS_HINT}\n${more}`;
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
