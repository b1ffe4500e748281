import { type CommandEntry, openTable } from '../../src/cli/command-table.ts';
import { COMMON_FLAGS, type Flag } from '../../src/console/flags.ts';
import { EXIT } from '../../src/core/errors.ts';
import { features } from '../../src/features/index.ts';
import { exitHeading } from './exits.ts';
import { anchorOf, code, fenced, page, paragraph, sentence, table, toHeading } from './markdown.ts';

const { commands: COMMANDS } = openTable(features);

/** The page of every command. */
export function commandsPage(): string {
  const rows = COMMANDS.map(({ name, does }) => [
    toHeading(code(name), `callsheet ${name}`),
    sentence(does),
  ]);
  return page(
    '# Commands',
    paragraph(
      'What each command takes and what it ends with. [Commands that read](reading.md) shows what they print, and [Start](../start.md) how plan, apply, drift and rollback go together. `callsheet help COMMAND` shows the same in a terminal, `callsheet help TOPIC` a page of the documentation, and `callsheet help topics` lists the pages.',
    ),
    table(['command', 'does'], rows).join('\n'),
    '## Flags of every command',
    paragraph(
      'Results go to standard output, progress and warnings to standard error. An unknown flag or command is an error.',
    ),
    flagTable(COMMON_FLAGS),
    ...COMMANDS.flatMap(section),
  );
}

function section({ name, does, args = [], flags = [], ...command }: CommandEntry): string[] {
  const usage = [`callsheet ${name}`, '[flags]', ...args.map((one) => one.name)].join(' ');
  const exits = command.exits.map((exit) => {
    const meaning = command.exitMeanings?.[exit];
    const code = `[${EXIT[exit]}](exit-codes.md#${anchorOf(exitHeading(exit))})`;
    return meaning === undefined ? code : `${code} (${meaning})`;
  });
  const described = args.map((one) => [code(one.name), withValues(one.does, one.choices)]);
  return [
    `## ${code(`callsheet ${name}`)}`,
    sentence(does),
    fenced('', usage),
    ...(args.length === 0 ? [] : [table(['argument', 'is'], described).join('\n')]),
    ...(flags.length === 0 ? [] : [flagTable(flags)]),
    paragraph(`Ends with ${exits.join(', ')}.${printed(command.prints)}`),
    fenced('', command.examples.join('\n')),
  ];
}

/** The documents of a command, where it prints any. */
function printed(formats: CommandEntry['prints'] = []): string {
  if (formats.length === 0) return '';
  const links = formats.map((format) => `[${code(format)}](documents.md#${anchorOf(format)})`);
  return ` As JSON: ${links.join(', ')}.`;
}

function flagTable(flags: readonly Flag[]): string {
  return table(
    ['flag', 'means'],
    flags.map(({ spelling, does, choices, byDefault, isRequired = false }) => [
      code(spelling),
      withValues(does, choices, byDefault) + (isRequired ? ' Required.' : ''),
    ]),
  ).join('\n');
}

function withValues(
  description: string,
  choices: readonly string[] | undefined,
  byDefault?: unknown,
): string {
  const one = choices === undefined ? '' : ` One of ${choices.map(code).join(', ')}.`;
  const otherwise = byDefault === undefined ? '' : ` ${code(String(byDefault))} otherwise.`;
  return sentence(description) + one + otherwise;
}
