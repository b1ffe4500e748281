/** What stands in a command line up to the cursor. */
export type TypedLine = {
  /** Finished words, as the program gets them. */
  readonly words: readonly string[];
  readonly current: TypedWord;
};

/** The word that is being typed. */
export type TypedWord = {
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
