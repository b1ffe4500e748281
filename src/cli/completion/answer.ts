import { buildProgram } from '../program.ts';
import { type Offer, placeOf, type Word } from './place.ts';
import { SHELLS, type Shell } from './shells.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * What a shell's script asks: `callsheet __complete bash LINE`, or `zsh` and `fish` with the words one by one, of
 * which the last is being typed. The first line of the answer says what else may stand there (`words`, `files` or
 * `folders`), each other one is a word and what it means. Whatever is wrong, there is nothing to offer: a prompt is
 * no place for errors.
 */
export async function answer([shell, ...typed]: readonly string[], env: Env): Promise<string> {
  if (!isShell(shell)) return 'words\n';
  const { words, current } = readTyped(shell, typed);
  try {
    const found = await offered(words, current.text, env);
    const lines = found.words
      .filter(({ text }) => text.startsWith(current.text) && !/[\n\t\p{Cc}]/u.test(text))
      .map(({ text, about = '' }) => `${written(shell, text, current)}\t${about}`);
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

async function offered(words: readonly string[], typed: string, env: Env): Promise<Found> {
  const program = buildProgram(() => async () => undefined, '', words);
  const { offers, given } = placeOf(program, words, typed);
  const where = { dir: given.get('--dir') ?? '.', environment: given.get('--env'), env };
  const found = await Promise.all(offers.map((offer) => wordsOf(offer, where, typed)));
  const also = found.find((one) => one.also !== 'words')?.also ?? 'words';
  return { also, words: found.flatMap((one) => one.words) };
}

async function wordsOf(
  offer: Offer,
  where: { readonly dir: string; readonly environment: string | undefined; readonly env: Env },
  typed: string,
): Promise<Found> {
  if (offer.type === 'words') return { also: 'words', words: offer.words };
  const { source, before } = offer;
  if (source === 'files' || source === 'folders') return { also: source, words: [] };
  if (source === 'nothing') return { also: 'words', words: [] };
  const { stackWords } = await import('./stack-words.ts');
  const found = stackWords(source, where, typed.slice(before.length));
  return { also: 'words', words: found.map(({ text, about }) => ({ text: before + text, about })) };
}

/** A word as the shell is to put it into the line. */
function written(shell: Shell, text: string, typed: TypedWord): string {
  // These two put in what is needed themselves.
  return shell === 'bash' ? forBash(text, typed) : text;
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
