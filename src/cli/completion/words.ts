import type { Command, Option } from 'commander';

/** A command as a shell completes it. */
export type Words = {
  /** `callsheet state list`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionWords[];
  /** What its first argument is one of, where that is known. */
  readonly choices: readonly string[];
};

export type OptionWords = {
  /** `--format`. */
  readonly flag: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
};

/** Every command of a program with all that can be typed behind it. */
export function wordsOf(command: Command, above = ''): readonly Words[] {
  const path = above === '' ? command.name() : `${above} ${command.name()}`;
  const own: Words = {
    path,
    commands: command.commands.map((inner) => ({
      name: inner.name(),
      description: inner.description(),
    })),
    options: command.createHelp().visibleOptions(command).flatMap(optionWords),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  return [own, ...command.commands.flatMap((inner) => wordsOf(inner, path))];
}

function optionWords({ long, description, flags, argChoices }: Option): readonly OptionWords[] {
  if (long === undefined || long === null) return [];
  return [{ flag: long, description, takesValue: /[<[]/.test(flags), choices: argChoices ?? [] }];
}
