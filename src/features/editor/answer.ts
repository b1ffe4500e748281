import type { Argument, Command, Option } from 'commander';
import { type CommandSource, type CommandTable, openTable } from '../../cli/command-table.ts';
import { buildProgram, spreadPairs } from '../../cli/program.ts';
import { TOPICS, topicPages } from '../../cli/topics.ts';
import { pathTo } from '../../cli/usage.ts';
import { SHELLS } from '../../console/flags.ts';
import type { Source, Where, Word } from './stack-words.ts';

/**
 * Answers a shell's script: `callsheet __complete bash LINE PART`, where bash replaces the last part of the line, or
 * `zsh` and `fish` with the words one by one, of which the last is being typed. The first line of the answer says
 * what else may stand there (`words`, `files` or `folders`), each other one is a word and what it means. After an
 * error it offers nothing: a prompt is no place for errors.
 */
export async function answer(
  [shell, ...typed]: readonly string[],
  env: Where['env'],
  features: readonly CommandSource[],
): Promise<string> {
  if (!SHELLS.some((one) => one === shell)) return 'words\n';
  const isBash = shell === 'bash';
  const [line = '', part = ''] = isBash ? typed : typed.slice(-1);
  const { words, current } = splitLine(line);
  try {
    const before = isBash ? words.slice(1) : typed.slice(0, -1);
    const found = await offered(before, current.text, env, openTable(features));
    const lines = found.words
      .filter(({ text }) => text.startsWith(current.text) && !/[\n\t\p{Cc}]/u.test(text))
      // The other two put in what is needed themselves.
      .map(({ text, about = '' }) => `${isBash ? forBash(text, current, part) : text}\t${about}`);
    return `${[found.also, ...lines].join('\n')}\n`;
  } catch {
    return 'words\n';
  }
}

/**
 * Bash puts this in the place of the part that it replaces, which begins behind the last of its word breaks or behind
 * the quote that is open. It must be quoted as the rest of the word is.
 */
function forBash(word: string, { text, quote }: TypedWord, part: string): string {
  const kept = text.length - splitLine(quote + part).current.text.length;
  const put = word.slice(kept);
  if (quote === "'") return put.replaceAll("'", "'\\''");
  if (quote === '"') return put.replaceAll(/["\\$`]/g, '\\$&');
  return put.replaceAll(/[^\w@%+=:,./-]/g, '\\$&');
}

/** The word that is being typed, as the program would get it, and the quote that is open at the cursor. */
type TypedWord = { readonly text: string; readonly quote: '' | "'" | '"' };

/** White space, or a piece of a word: escaped, in quotes that may still be open, or plain. */
const PIECE =
  /(?<space>\s+)|\\(?<escaped>.?)|'(?<single>[^']*)(?<end>'?)|"(?<double>(?:[^"\\]|\\.)*)(?<close>"?)|[^\s\\'"]+/gs;

/** Splits a line up to the cursor as shells do. Expansions are left as they are: nothing is carried out. */
export function splitLine(line: string): {
  readonly words: readonly string[];
  readonly current: TypedWord;
} {
  const words: string[] = [];
  let text: string | undefined;
  let quote: TypedWord['quote'] = '';
  for (const { 0: plain, groups = {} } of line.matchAll(PIECE)) {
    const { space, escaped, single, end, double, close } = groups;
    quote = end === '' ? "'" : close === '' ? '"' : '';
    // Between double quotes a backslash stands for itself before most characters.
    const piece = escaped ?? single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? plain;
    if (space === undefined) text = (text ?? '') + piece;
    else if (text !== undefined) words.push(text);
    if (space !== undefined) text = undefined;
  }
  return { words, current: { text: text ?? '', quote } };
}

type Found = { readonly also: 'words' | 'files' | 'folders'; readonly words: readonly Word[] };

/** The words that may stand at the cursor. */
type Offer =
  | { readonly type: 'words'; readonly words: readonly Word[] }
  /** Values of a source; `before` stands before them in the same word, as in `--env=`. */
  | { readonly type: 'source'; readonly source: Source; readonly before: string };

async function offered(
  words: readonly string[],
  typed: string,
  env: Where['env'],
  table: CommandTable,
): Promise<Found> {
  const place = findPlace(words, typed, table);
  const { dir = '.', env: environment } = place.command.opts();
  const where = { dir, environment, env };
  const found = await Promise.all(listOffers(place).map((offer) => listWords(offer, where, typed)));
  const also = found.find((one) => one.also !== 'words')?.also ?? 'words';
  return { also, words: found.flatMap((one) => one.words) };
}

async function listWords(offer: Offer, where: Where, typed: string): Promise<Found> {
  if (offer.type === 'words') return { also: 'words', words: offer.words };
  const { source, before } = offer;
  if (source === 'files' || source === 'folders') return { also: source, words: [] };
  if (source === 'nothing') return { also: 'words', words: [] };
  const { stackWords } = await import('./stack-words.ts');
  const found = await stackWords(source, where, typed.slice(before.length));
  return { also: 'words', words: found.map(({ text, about }) => ({ text: before + text, about })) };
}

/** The place of the cursor in a line. */
type Place = {
  readonly command: Command;
  readonly isHelp: boolean;
  /** The option whose value is typed, and what of it stands in the same word: `--env=`. */
  readonly option: Option | undefined;
  readonly before: string;
  /** Which argument is typed; -1 for none. */
  readonly argument: number;
  /** The name of an option is typed. */
  readonly isName: boolean;
};

/** Stands for what is typed, which commander then finds a place for. No argument of a process can hold it. */
const CURSOR = '\0';

/** Has commander parse the line with a mark at the cursor, and looks where the mark came to lie. */
function findPlace(words: readonly string[], typed: string, table: CommandTable): Place {
  const isHelp = words[0] === 'help';
  const [before = ''] = /^--[^=]+=/.exec(typed) ?? [];
  const mark = before === '' && typed.startsWith('-') ? `-${CURSOR}` : CURSOR;
  let command = buildProgram(table, () => async () => undefined, '', words);
  let rest = [...spreadPairs(isHelp ? ['--', ...words.slice(1)] : words, table), before + mark];
  let operands: readonly string[] = [];
  for (;;) {
    // The mark is no good value of anything.
    for (const option of command.options) delete option.parseArg;
    const parsed = command.parseOptions(rest);
    operands = [...operands, ...parsed.operands];
    rest = parsed.unknown;
    const inner = command.commands.find((one) => one.name() === operands[0]);
    if (inner === undefined) break;
    command = inner;
    operands = operands.slice(1);
  }
  const option = command.options.find((one) =>
    [command.getOptionValue(one.attributeName())].flat().includes(mark),
  );
  const isName = before === '' && mark !== CURSOR && rest.includes(mark);
  return { command, isHelp, option, before, argument: operands.indexOf(mark), isName };
}

function listOffers({
  command,
  isHelp,
  option,
  before,
  argument,
  isName,
}: Place): readonly Offer[] {
  if (isName) return [{ type: 'words', words: [...command.options.flatMap(flagWord), HELP] }];
  if (option !== undefined) return [flagValue(option, before)];
  const below: readonly Offer[] =
    argument === 0 && command.commands.length > 0
      ? [{ type: 'words', words: commandWords(command, isHelp) }]
      : [];
  return isHelp || argument < 0 ? below : [...below, ...argumentsAt(command, argument)];
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

function argumentsAt(command: Command, at: number): readonly Offer[] {
  const all = command.registeredArguments;
  const last = all.at(-1);
  const argument = all[at] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined ? [] : [argumentValue(argument, pathTo(command))];
}

function argumentValue(argument: Argument, command: string): Offer {
  if (argument.argChoices) return choices(argument.argChoices, '');
  const source = sourceOfArgument(command.replace(/^callsheet /, ''), argument.name());
  return { type: 'source', source, before: '' };
}

function flagValue(option: Option, before: string): Offer {
  if (option.argChoices) return choices(option.argChoices, before);
  return { type: 'source', source: sourceOfFlag(option), before };
}

function choices(values: readonly string[], before: string): Offer {
  return { type: 'words', words: values.map((text) => ({ text: before + text })) };
}

/**
 * The source of a flag's value, by the flag, or else by the word that stands for its value. Other values are known
 * only to the person who types them.
 */
const OF_FLAGS: { readonly [flag: string]: Source } = {
  '--dialect': 'dialects',
  '--env': 'environments',
  '--knowledge-base': 'knowledge_bases',
  '--listen': 'nothing',
  '--organization': 'organizations',
  '--out': 'files',
  '--queue': 'nothing',
  '--rollout': 'rollouts',
  '--var': 'variables',
};

/** The same for arguments, by their command and name. */
const OF_ARGUMENTS: { readonly [argument: string]: Source } = {
  'explain name': 'explained',
  'get what': 'readable',
  'log address[.field]': 'explained',
  'rollout abort name': 'rollouts',
  'rollout promote name': 'rollouts',
  'rollout run name': 'rollouts',
  'rollout show name': 'rollouts',
  'runs id': 'runs',
  'state list addresses': 'remembered',
  'state mv addresses': 'addresses',
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
  run: 'runs',
  snapshot: 'files',
};

/** Returns the source that completes an option without choices. */
export function sourceOfFlag({ long, flags }: Pick<Option, 'long' | 'flags'>): Source {
  const [, word = ''] = /[<[]([^\].>]+)/.exec(flags) ?? [];
  return OF_FLAGS[long ?? ''] ?? OF_WORDS[word] ?? 'nothing';
}

/** Returns the source that completes an argument without choices, of a command such as `state mv`. */
export function sourceOfArgument(command: string, name: string): Source {
  return OF_ARGUMENTS[`${command} ${name}`] ?? OF_WORDS[name] ?? 'nothing';
}
