import type { Argument, Command, Option } from 'commander';
import { SHELLS, type Shell } from '../../console/flags.ts';
import type { Features } from '../../feature.ts';
import { type CommandTable, openTable } from '../command-table.ts';
import { buildProgram } from '../program.ts';
import { TOPICS, topicPages } from '../topics.ts';
import type { Source, Where, Word } from './stack-words.ts';

/**
 * What a shell's script asks: `callsheet __complete bash LINE`, or `zsh` and `fish` with the words one by one, of
 * which the last is being typed. The first line of the answer says what else may stand there (`words`, `files` or
 * `folders`), each other one is a word and what it means. Whatever is wrong, there is nothing to offer: a prompt is
 * no place for errors.
 */
export async function answer(
  [shell, ...typed]: readonly string[],
  env: Where['env'],
  features: Features,
): Promise<string> {
  if (!isShell(shell)) return 'words\n';
  const { words, current } = readTyped(shell, typed);
  try {
    const found = await offered(words, current.text, env, openTable(features));
    const lines = found.words
      .filter(({ text }) => text.startsWith(current.text) && !/[\n\t\p{Cc}]/u.test(text))
      // The other two put in what is needed themselves.
      .map(
        ({ text, about = '' }) => `${shell === 'bash' ? forBash(text, current) : text}\t${about}`,
      );
    return `${[found.also, ...lines].join('\n')}\n`;
  } catch {
    return 'words\n';
  }
}

function readTyped(shell: Shell, typed: readonly string[]) {
  if (shell === 'bash') {
    const { words, current } = splitLine(typed[0] ?? '');
    return { words: words.slice(1), current };
  }
  // They give the words before as they are, and this one as it was typed.
  const { current } = splitLine((typed.at(-1) ?? '').replaceAll(' ', '\\ '));
  return { words: typed.slice(0, -1), current };
}

type Found = { readonly also: 'words' | 'files' | 'folders'; readonly words: readonly Word[] };

async function offered(
  words: readonly string[],
  typed: string,
  env: Where['env'],
  table: CommandTable,
): Promise<Found> {
  const command = buildProgram(table, () => async () => undefined, '', words);
  const isHelp = words[0] === 'help';
  const start: Walked = {
    ...{ command, path: [], count: 0, pending: undefined, onlyArguments: isHelp },
    given: new Map(),
  };
  const at = (isHelp ? words.slice(1) : words).reduce(step, start);
  const { given } = at;
  const offers = offersAt(at, typed, isHelp);
  const where = { dir: given.get('--dir') ?? '.', environment: given.get('--env'), env };
  const found = await Promise.all(offers.map((offer) => listWords(offer, where, typed)));
  const also = found.find((one) => one.also !== 'words')?.also ?? 'words';
  return { also, words: found.flatMap((one) => one.words) };
}

async function listWords(offer: Offer, where: Where, typed: string): Promise<Found> {
  if (offer.type === 'words') return { also: 'words', words: offer.words };
  const { source, before } = offer;
  if (source === 'files' || source === 'folders') return { also: source, words: [] };
  if (source === 'nothing') return { also: 'words', words: [] };
  const { stackWords } = await import('./stack-words.ts');
  const found = stackWords(source, where, typed.slice(before.length));
  return { also: 'words', words: found.map(({ text, about }) => ({ text: before + text, about })) };
}

/** Characters at which bash begins a new word for completion. */
const BREAK = /(?<!\\)[=:]/g;

/**
 * Bash replaces what stands behind the last of its word breaks, or behind the quote that is open. What is put there
 * must be quoted as the rest of the word is.
 */
function forBash(text: string, { quote, before }: TypedWord): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replaceAll(/["\\$`]/g, '\\$&');
  const escaped = text.replaceAll(/[^\w@%+=:,./-]/g, '\\$&');
  const last = [...before.matchAll(BREAK)].at(-1);
  return last === undefined ? escaped : escaped.slice(last.index + 1);
}

function isShell(text: string | undefined): text is Shell {
  return SHELLS.some((one) => one === text);
}

/** What stands in a command line up to the cursor. */
type TypedLine = {
  /** Finished words, as the program gets them. */
  readonly words: readonly string[];
  readonly current: TypedWord;
};

/** The word that is being typed. */
type TypedWord = {
  /** As the program would get it. */
  readonly text: string;
  /** The quote that is open at the cursor. */
  readonly quote: '' | "'" | '"';
  /** As it was typed, before that quote: nothing where the quote begins the word. */
  readonly before: string;
};

/** Words end behind these, outside of quotes. */
const SPACE = /\s/;

/** Splits a line as shells do. Expansions are left as they are: nothing is carried out. */
export function splitLine(line: string): TypedLine {
  const words: string[] = [];
  let text: string | undefined;
  let quote: TypedWord['quote'] = '';
  let before = '';
  let raw = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    const isEscape = character === '\\' && quote !== "'";
    if (quote === '' && SPACE.test(character)) {
      if (text !== undefined) words.push(text);
      [text, raw, before] = [undefined, '', ''];
      continue;
    }
    raw += character;
    if (isEscape && at + 1 < line.length) {
      at += 1;
      const next = line.charAt(at);
      raw += next;
      // Between double quotes it stands for itself before most characters.
      text = (text ?? '') + (quote === '"' && !'"\\$`'.includes(next) ? `\\${next}` : next);
    } else if (quote === '' && (character === '"' || character === "'")) {
      [quote, before] = [character, raw.slice(0, -1)];
      text ??= '';
    } else if (character === quote) quote = '';
    else text = (text ?? '') + (isEscape ? '' : character);
  }
  return { words, current: { text: text ?? '', quote, before: quote === '' ? raw : before } };
}

/** What may stand at the cursor. */
type Offer =
  | { readonly type: 'words'; readonly words: readonly Word[] }
  /** Values of a source; `before` stands before them in the same word, as in `--env=`. */
  | { readonly type: 'source'; readonly source: Source; readonly before: string };

/** What is known of a line after the words before the cursor. */
type Walked = {
  readonly command: Command;
  readonly path: readonly string[];
  /** Arguments that were given. */
  readonly count: number;
  /** The flag whose value comes next, and whether it must. */
  readonly pending: { readonly option: Option; readonly must: boolean } | undefined;
  readonly onlyArguments: boolean;
  /** Flags that were given, by their long name: `--dir` says which stack is meant. */
  readonly given: Map<string, string>;
};

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
    if (equals < 0) return [{ type: 'words', words: [...command.options.flatMap(flagWord), HELP] }];
    const option = command.options.find(({ long }) => long === current.slice(0, equals));
    return option && takesValue(option) ? [flagValue(option, current.slice(0, equals + 1))] : [];
  }
  const values = pending === undefined ? [] : [flagValue(pending.option, '')];
  // A list of values goes on until the next flag.
  if (pending?.must === true || pending?.option.variadic === true) return values;
  const below: readonly Offer[] =
    command.commands.length > 0 && (at.count === 0 || command.registeredArguments.length === 0)
      ? [{ type: 'words', words: commandWords(command, isHelp) }]
      : [];
  return isHelp ? below : [...values, ...below, ...argumentsAt(at)];
}

const HELP: Word = { text: '--help', about: 'show help' };

function commandWords(command: Command, isHelp: boolean): readonly Word[] {
  const own = command.commands.map((one) => ({ text: one.name(), about: one.description() }));
  if (isHelp && command.parent === null)
    return [
      ...own,
      { text: 'options', about: 'of every command' },
      { text: 'topics', about: 'the pages with what each is about' },
      ...[...topicPages().keys()].map((text) => ({
        text,
        about: TOPICS[text]?.about ?? 'reference',
      })),
    ];
  return isHelp || command.registeredArguments.length > 0
    ? own
    : [...own, { text: 'help', about: 'show help of a command' }];
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
  return { type: 'source', source: sourceOfArgument(command, argument.name()), before: '' };
}

function flagValue(option: Option, before: string): Offer {
  if (option.argChoices) return choices(option.argChoices, before);
  return { type: 'source', source: sourceOfFlag(option), before };
}

function choices(values: readonly string[], before: string): Offer {
  return { type: 'words', words: values.map((text) => ({ text: before + text })) };
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/**
 * What completes the value of a flag: as the flag says, or else as the word says that stands for its value. Only
 * whoever types it knows any other.
 */
const OF_FLAGS: { readonly [flag: string]: Source } = {
  '--env': 'environments',
  '--knowledge-base': 'knowledge_bases',
  '--listen': 'nothing',
  '--organization': 'organizations',
  '--out': 'files',
  '--queue': 'nothing',
  '--var': 'variables',
};

/** The same for arguments, by their command and name. */
const OF_ARGUMENTS: { readonly [argument: string]: Source } = {
  'explain name': 'explained',
  'get what': 'readable',
  'runs id': 'runs',
  'state list addresses': 'remembered',
  'state mv from': 'remembered',
  'state mv to': 'addresses',
  'state rm addresses': 'remembered',
  'state show address': 'remembered',
  'state trust addresses': 'remembered',
};

const OF_WORDS: { readonly [word: string]: Source } = {
  address: 'addresses',
  addresses: 'addresses',
  agent: 'agents',
  earlier: 'files',
  file: 'files',
  files: 'files',
  folder: 'folders',
  later: 'files',
  place: 'files',
  planfile: 'files',
  plans: 'folders',
  resource: 'addresses',
  rollout: 'rollouts',
  run: 'runs',
  snapshot: 'files',
};

/** What completes the value of an option, of those that have no choices. */
export function sourceOfFlag({ long, flags }: Pick<Option, 'long' | 'flags'>): Source {
  const [, word = ''] = /[<[]([^\].>]+)/.exec(flags) ?? [];
  return OF_FLAGS[long ?? ''] ?? OF_WORDS[word] ?? 'nothing';
}

/** What completes an argument of a command, `state mv`, of those that have no choices. */
export function sourceOfArgument(command: string, name: string): Source {
  return OF_ARGUMENTS[`${command} ${name}`] ?? OF_WORDS[name] ?? 'nothing';
}
