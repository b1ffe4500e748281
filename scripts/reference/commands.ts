import type { Command, Option } from 'commander';
import { COMMAND_WORDS } from '../../src/cli/command-words.ts';
import { PRINTED } from '../../src/cli/documents.ts';
import { EXIT } from '../../src/cli/exit.ts';
import { commonOptions } from '../../src/cli/options.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { exitHeading } from './exits.ts';
import { anchorOf, code, fenced, page, paragraph, sentence, table, toHeading } from './markdown.ts';

/** A command with the words that it is called with: `state mv`. */
type Called = { readonly path: string; readonly command: Command };

/** The page of every command. */
export function commandsPage(): string {
  const program = buildProgram(() => async () => undefined, '0.0.0');
  const commands = calledBy(program);
  const rows = commands.map(({ path, command }) => [
    toHeading(code(path), `callsheet ${path}`),
    sentence(command.description()),
  ]);
  return page(
    '# Commands',
    paragraph(
      'What each command takes and what it ends with. [Commands that read](../commands.md) shows what they print, and the [README](../../README.md) how plan, apply, drift and rollback go together. `callsheet COMMAND --help` shows in a terminal what stands here.',
    ),
    table(['command', 'does'], rows).join('\n'),
    '## Flags of every command',
    paragraph(
      'Results go to standard output, progress and warnings to standard error. An unknown flag or command is an error.',
    ),
    flagTable(commonOptions()),
    ...commands.flatMap(section),
  );
}

/** Every command that does something, in the order of the program. */
function calledBy(command: Command, above: readonly string[] = []): readonly Called[] {
  return command.commands.flatMap((inner) => {
    const path = [...above, inner.name()];
    return inner.commands.length > 0
      ? calledBy(inner, path)
      : [{ path: path.join(' '), command: inner }];
  });
}

function section({ path, command }: Called): readonly string[] {
  const words = COMMAND_WORDS[path];
  if (words === undefined) throw new Error(`src/cli/command-words.ts has no words for ${path}`);
  const args = command.registeredArguments;
  const isCommon = new Set(commonOptions().map(({ flags }) => flags));
  const own = command.options.filter(({ flags }) => !isCommon.has(flags));
  const usage = [`callsheet ${path}`, '[flags]', ...args.map(argumentTerm)].join(' ');
  const exits = words.exits.map((name) => {
    return `[${EXIT[name]}](exit-codes.md#${anchorOf(exitHeading(name))})`;
  });
  return [
    `## ${code(`callsheet ${path}`)}`,
    sentence(command.description()),
    fenced('', usage),
    ...(args.length === 0
      ? []
      : [
          table(
            ['argument', 'is'],
            args.map((argument) => [
              code(argumentTerm(argument)),
              withValues(argument.description, argument.argChoices, argument.defaultValue),
            ]),
          ).join('\n'),
        ]),
    ...(own.length === 0 ? [] : [flagTable(own)]),
    paragraph(`Ends with ${exits.join(', ')}.${printed(path)}`),
    fenced('', words.examples.join('\n')),
  ];
}

/** The documents of a command, where it prints any. */
function printed(path: string): string {
  const formats = PRINTED[path] ?? [];
  if (formats.length === 0) return '';
  const links = formats.map((format) => `[${code(format)}](documents.md#${anchorOf(format)})`);
  return ` As JSON: ${links.join(', ')}.`;
}

function argumentTerm(argument: Command['registeredArguments'][number]): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function flagTable(options: readonly Option[]): string {
  return table(
    ['flag', 'means'],
    options.map(({ flags, description, argChoices, defaultValue, mandatory, negate }) => [
      code(flags),
      // What is true unless a `--no-` flag says otherwise has no default that anyone types.
      withValues(description, argChoices, negate ? undefined : defaultValue) +
        (mandatory ? ' Required.' : ''),
    ]),
  ).join('\n');
}

function withValues(
  description: string,
  choices: readonly string[] | undefined,
  byDefault: unknown,
): string {
  const one = choices === undefined ? '' : ` One of ${choices.map(code).join(', ')}.`;
  const otherwise = byDefault === undefined ? '' : ` ${code(String(byDefault))} otherwise.`;
  return sentence(description) + one + otherwise;
}
