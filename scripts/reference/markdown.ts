import type { Words } from '../../src/render/explain.ts';

/** Prose is broken before this column, as in the other pages. */
const COLUMNS = 118;

/** These characters begin a block of Markdown if they come first on a line. */
const BLOCK = /^(?:[-+*#>]|\d+[.)])/;

/** Text as code, whatever it holds. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** Words with what is literal in them as code. */
export function inline(words: Words): string {
  return words.map((word) => (typeof word === 'string' ? word : code(word.code))).join('');
}

/** A paragraph in lines. Code is never broken. */
export function paragraph(text: string, first = '', next = ''): string {
  // A space belongs to a word where it stands inside of code.
  const words = text.match(/(?:``.*?``|`[^`]*`|[^\s`])+/g) ?? [];
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    const margin = lines.length === 0 ? first : next;
    const isFull = margin.length + line.length + 1 + word.length > COLUMNS;
    if (line !== '' && isFull && !BLOCK.test(word)) {
      lines.push(margin + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push((lines.length === 0 ? first : next) + line);
  return lines.join('\n');
}

export function bullet(text: string): string {
  return paragraph(text, '- ', '  ');
}

export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)];
}

export function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

/** The anchor that GitHub gives a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** A link to a heading of the same page. */
export function toHeading(text: string, heading = text): string {
  return `[${text}](#${anchorOf(heading)})`;
}

/** `A, b and c.` of `a, b and c`. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** The first sentence of a description. */
export function summary(description: string): string {
  const [first = description] = /^.*?[.!?](?=\s[A-Z`])/s.exec(description) ?? [];
  return first;
}

/** Parts of a page, with an empty line between them; a part that says nothing is left out. */
export function page(...parts: readonly string[]): string {
  const mark = '<!-- Made by `npm run generate` from the source. Changes here are lost. -->';
  return `${[mark, ...parts.filter((part) => part !== '')].join('\n\n')}\n`;
}
