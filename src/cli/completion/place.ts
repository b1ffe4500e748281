import type { Argument, Command, Option } from 'commander';
import { OF_ARGUMENTS, OF_FLAGS, type Source } from './sources.ts';

/** What may stand at the cursor. */
export type Offer =
  | { readonly type: 'words'; readonly words: readonly Word[] }
  /** Values of a source; `before` stands before them in the same word, as in `--env=`. */
  | { readonly type: 'source'; readonly source: Source; readonly before: string };

export type Word = { readonly text: string; readonly about?: string | undefined };

/** Flags that were given, by their long name: `--dir` says which stack is meant. */
type Given = ReadonlyMap<string, string>;

type Place = { readonly offers: readonly Offer[]; readonly given: Given };

/** What is known of a line after the words before the cursor. */
type Walked = {
  readonly command: Command;
  readonly path: readonly string[];
  /** Arguments that were given. */
  readonly count: number;
  /** The flag whose value comes next, and whether it must. */
  readonly pending: { readonly option: Option; readonly must: boolean } | undefined;
  readonly onlyArguments: boolean;
  readonly given: Map<string, string>;
};

/** What may come at the cursor of `callsheet WORDS… CURRENT`. */
export function placeOf(program: Command, words: readonly string[], current: string): Place {
  const isHelp = words[0] === 'help';
  const start: Walked = {
    ...{ command: program, path: [], count: 0, pending: undefined, onlyArguments: isHelp },
    given: new Map(),
  };
  const at = (isHelp ? words.slice(1) : words).reduce(step, start);
  return { offers: offersAt(at, current, isHelp), given: at.given };
}

function step(at: Walked, word: string): Walked {
  const { command, pending, onlyArguments, given } = at;
  const isFlag = !onlyArguments && word.startsWith('-') && word !== '-';
  if (isFlag && pending?.must !== true) {
    if (word === '--') return { ...at, pending: undefined, onlyArguments: true };
    const [flag = '', ...value] = word.split('=');
    const option = command.options.find(({ long, short }) => long === flag || short === flag);
    if (option === undefined || !takesValue(option)) return { ...at, pending: undefined };
    if (value.length === 0) return { ...at, pending: { option, must: option.required } };
    if (option.long) given.set(option.long, value.join('='));
    return { ...at, pending: undefined };
  }
  if (pending !== undefined) {
    const { option } = pending;
    if (option.long) given.set(option.long, word);
    return { ...at, pending: option.variadic ? { option, must: false } : undefined };
  }
  const inner = command.commands.find((one) => one.name() === word);
  if (inner !== undefined && at.count === 0)
    return { ...at, command: inner, path: [...at.path, word] };
  return { ...at, count: at.count + 1 };
}

function offersAt(at: Walked, current: string, isHelp: boolean): readonly Offer[] {
  const { command, pending, onlyArguments } = at;
  if (!onlyArguments && pending?.must !== true && current.startsWith('-')) {
    const equals = current.indexOf('=');
    if (equals < 0)
      return [
        { type: 'words', words: command.createHelp().visibleOptions(command).flatMap(flagWord) },
      ];
    const option = command.options.find(({ long }) => long === current.slice(0, equals));
    return option && takesValue(option) ? [flagValue(option, current.slice(0, equals + 1))] : [];
  }
  const values = pending === undefined ? [] : [flagValue(pending.option, '')];
  // A list of values goes on until the next flag.
  if (pending?.must === true || pending?.option.variadic === true) return values;
  if (command.commands.length > 0)
    return [...values, { type: 'words', words: commandWords(command, isHelp) }];
  return isHelp ? [] : [...values, ...argumentsAt(at)];
}

function commandWords(command: Command, isHelp: boolean): readonly Word[] {
  const own = command.commands.map((one) => ({ text: one.name(), about: one.description() }));
  return isHelp ? own : [...own, { text: 'help', about: 'show help of a command' }];
}

function flagWord({ long, description }: Option): readonly Word[] {
  return long ? [{ text: long, about: description }] : [];
}

function argumentsAt({ command, path, count }: Walked): readonly Offer[] {
  const all = command.registeredArguments;
  const last = all.at(-1);
  const argument = all[count] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined ? [] : [argumentValue(argument, path.join(' '))];
}

function argumentValue(argument: Argument, command: string): Offer {
  if (argument.argChoices) return choices(argument.argChoices, '');
  const source = OF_ARGUMENTS[`${command} ${argument.name()}`] ?? 'nothing';
  return { type: 'source', source, before: '' };
}

function flagValue({ long, argChoices }: Option, before: string): Offer {
  if (argChoices) return choices(argChoices, before);
  return { type: 'source', source: OF_FLAGS[long ?? ''] ?? 'nothing', before };
}

function choices(values: readonly string[], before: string): Offer {
  return { type: 'words', words: values.map((text) => ({ text: before + text })) };
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}
