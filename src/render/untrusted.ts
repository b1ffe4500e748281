import { escapeUnits } from '../core/value.ts';

/**
 * Text from the platform may have been written by anybody. A terminal would act on control characters in it, and
 * invisible or direction-changing ones make a text read differently from what it says: all of them are shown as
 * escapes.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Joins two pictures into one, as in a family or a profession: the only joiner that is let through. */
const PICTURE_JOINER =
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)\u200d(?=\p{Extended_Pictographic})/u;

/** Chooses between the text and the picture form of the character before it. */
const PRESENTATION = /(?<=[\p{Emoji}\p{Extended_Pictographic}])[\ufe0e\ufe0f]/u;

const ALLOWED = new RegExp(`${PICTURE_JOINER.source}|${PRESENTATION.source}`, 'uy');

const NAMED: { readonly [character: string]: string } = { '\r': '\\r', '\n': '\\n', '\t': '\\t' };

/** `\x1b`, `\u{202e}`, or the name that a character has in code. */
export function escapeOne(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return (
    NAMED[character] ??
    (code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`)
  );
}

/** `U+202E` */
export function formatCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/**
 * The commands to a runner of GitHub, anywhere in a log: `##[…]` anywhere, `::…::` at the beginning of a line. Either
 * could hide or fake what the log says.
 */
const COMMAND = /(?<=##)\[|(?<=^[^\S\n]*):(?=:)/gm;

/**
 * A text with its control, direction and invisible characters shown as `\x1b`, `\u{202e}`, and with commands to
 * a runner broken up in the same way. Line breaks and tabs stay.
 */
export function sanitise(text: string): string {
  return withoutCommands(visible(text));
}

/** Pieces that are harmless each may make a command together. */
export function withoutCommands(text: string): string {
  return text.replace(COMMAND, escapeOne);
}

function visible(text: string): string {
  return text.replace(UNSEEN, (character: string, at: number) => {
    if (character === '\n' || character === '\t') return character;
    ALLOWED.lastIndex = at;
    return ALLOWED.test(text) ? character : escapeOne(character);
  });
}

/** As `sanitise`, for where one line is expected: line breaks and tabs are escaped too. */
export function sanitiseLine(text: string): string {
  return withoutCommands(visible(text).replace(/[\n\t]/g, escapeOne));
}

/** Letters of scripts that run from right to left, with the signs among them. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LETTER = /\p{L}/u;

/** Begins an isolate that runs from left to right, or from right to left; ends it. */
const ISOLATES = { left: '\u2066', right: '\u2067' } as const;
export const END_OF_ISOLATE = '\u2069';

/**
 * The character that keeps the direction of a text from what stands beside it, to be ended by `END_OF_ISOLATE`. Empty
 * for a text without letters that run from right to left, which needs none.
 */
export function isolateFor(text: string): string {
  if (!RIGHT_TO_LEFT.test(text)) return '';
  const first = LETTER.exec(text)?.[0] ?? '';
  return first === '' || RIGHT_TO_LEFT.test(first) ? ISOLATES.right : ISOLATES.left;
}

/**
 * A sanitised text that does not change the places of what stands beside it: a Hebrew value would trade places with the
 * value behind the arrow. It is isolated last, since sanitising shows the isolate as an escape.
 */
export function isolate(text: string): string {
  const start = isolateFor(text);
  if (start === '') return text;
  // White space around it is of the line, not of the text.
  const own = text.trim();
  const [before, after] = text.split(own, 2);
  return `${before}${start}${own}${END_OF_ISOLATE}${after}`;
}

/**
 * A JSON document with the same characters as escapes of JSON: a parser reads what it would have read,
 * and a terminal that the document is shown on sees nothing to act on. Line breaks between members stay.
 */
export function escapeInJson(text: string): string {
  // No line of JSON begins with a colon, so of a runner's commands only one can stand in it.
  return text
    .replace(UNSEEN, (character) => (character === '\n' ? character : escapeUnits(character)))
    .replaceAll('##[', `##${escapeUnits('[')}`);
}

/** A value as JSON over several lines, escaped in this way. */
export function jsonText(value: unknown): string {
  return escapeInJson(JSON.stringify(value, null, 2));
}

const CHARACTERS: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => CHARACTERS[character] ?? character);
}
