/** Where a text is to stand: in the block style, between brackets or braces, or before a colon. */
export type ScalarSpot = 'block' | 'flow' | 'key';

/** What YAML 1.2 or 1.1 reads as something else than a text. Other tools than Callsheet read stacks, too. */
const OTHER_TYPES: readonly RegExp[] = [
  /^(?:~|null|true|false|yes|no|on|off|y|n)$/i,
  /^[-+]?(?:0b[01_]+|0o[0-7_]+|0x[\da-f_]+)$/i,
  /^[-+]?(?:\d[\d_]*(?:\.[\d_]*)?|\.[\d_]*)(?:e[-+]?\d+)?$/i,
  /^[-+]?\.inf$|^\.nan$/i,
  // Minutes and hours, and dates.
  /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/,
  /^\d{4}-\d\d?-\d\d?(?:$|[Tt \t])/,
];

/** Characters that cannot stand for themselves, or that nobody would see. */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]|\p{Surrogate}/gu;

/** Words apart by single spaces, as most texts and nearly all keys are: only the first pattern above fits any. */
const WORDS = /^[A-Za-z_][\w-]*(?: [\w-]+)*$/;
/** A key of more characters takes a form of its own. */
const LONGEST_PLAIN_KEY = 120;

/** Whether a text means itself without quotes. */
export function isPlain(text: string, spot: ScalarSpot): boolean {
  if (text.length <= LONGEST_PLAIN_KEY && WORDS.test(text)) return !OTHER_TYPES[0]?.test(text);
  if (text === '' || text !== text.trim() || text.search(UNPRINTABLE) >= 0) return false;
  if (/^[\]?:,[{}#&*!|>'"%@`=]|^-(?![A-Za-z])|^\.\.\.|^<<$/.test(text)) return false;
  if (/: |:$| #|\t/.test(text)) return false;
  if (spot !== 'block' && /[[\]{},]/.test(text)) return false;
  if (spot === 'key' && text.length > LONGEST_PLAIN_KEY) return false;
  return !OTHER_TYPES.some((pattern) => pattern.test(text));
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** A text in quotes, on one line: in double ones unless those would need escapes. */
function quoted(text: string): string {
  const isSimple = text.search(UNPRINTABLE) < 0 && !text.includes("'");
  if (isSimple && /["\\]/.test(text)) return `'${text}'`;
  return JSON.stringify(text).replace(UNPRINTABLE, escaped);
}

/** A text on one line, with quotes only where it would otherwise mean something else. */
export function scalarText(text: string, spot: ScalarSpot): string {
  return isPlain(text, spot) ? text : quoted(text);
}

/** A text as a literal block, line for line; undefined where that would not give back every character. */
export function literalBlock(text: string, indent: string): readonly string[] | undefined {
  if (!text.includes('\n') || text.replaceAll('\n', '').search(UNPRINTABLE) >= 0) return undefined;
  const isClipped = text.endsWith('\n');
  const lines = (isClipped ? text.slice(0, -1) : text).split('\n');
  // A first line that begins with a space needs an indentation indicator; spaces at line ends get lost.
  if (lines[0] === '' || lines.at(-1) === '' || lines[0]?.startsWith(' ')) return undefined;
  if (lines.some((line) => / $/.test(line))) return undefined;
  return [isClipped ? '|' : '|-', ...lines.map((line) => (line === '' ? '' : indent + line))];
}

/** A text of one long line as a folded block; undefined where folding could not be undone. */
export function foldedBlock(
  text: string,
  indent: string,
  width: number,
): readonly string[] | undefined {
  if (/^ | {2}| $/.test(text) || text === '' || text.search(UNPRINTABLE) >= 0) return undefined;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return ['>-', ...[...lines, line].map((folded) => indent + folded)];
}
