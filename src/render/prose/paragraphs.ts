/** A paragraph, heading, list item or line of code: what is compared and moves as one. */
export type Paragraph = {
  /** Without the blanks that follow it. */
  readonly text: string;
  /** The blanks that follow, line breaks included. */
  readonly gap: string;
  /** Of its first line, from 1. */
  readonly line: number;
  /** Its words, where it is a heading. */
  readonly title: string | undefined;
  /** The heading above it. */
  readonly heading: string | null;
};

const HEADING = /^ {0,3}#{1,6}[ \t]+(?<title>[^\n]{1,200}?)[ \t#]*$/;
/** `<opening_hours>` alone on a line, as prompts often mark their parts. */
const TAG = /^\s*<(?<title>[a-z][\w-]{0,60})>\s*$/i;
/** `**Hours**` alone on a line. */
const BOLD = /^\s*(?:\*\*|__)(?<title>[^*_\n]{1,80}?):?(?:\*\*|__):?\s*$/;
const FENCE = /^\s*(?:```|~~~)/;
/** What begins a paragraph wherever it stands: list items, quotations, rows of tables, tags. */
const OPENING = /^\s*(?:[-*+•–]\s|\d{1,3}[.)]\s|[a-z][.)]\s|>|\||<\/?[a-z])/i;

/** Below this a line is no sign of how wide a text was broken, above it nobody broke the text. */
const LEAST_WIDE = 60;
const MOST_WIDE = 130;

/**
 * A text in paragraphs: their texts and gaps, one after the other, are the text again. `isList`: each line is
 * one.
 */
export function paragraphsOf(text: string, isList = false): readonly Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let heading: string | null = null;
  for (const { lines, first, isCode } of groupsOf(text, isList)) {
    const whole = lines.join('');
    const body = whole.trimEnd();
    const title =
      isCode || isList || lines.length > 1 + blankLines(lines) ? undefined : titleOf(body);
    paragraphs.push({ text: body, gap: whole.slice(body.length), line: first, title, heading });
    if (title !== undefined) heading = title;
  }
  return paragraphs;
}

/** The words of a heading, or undefined. */
function titleOf(line: string): string | undefined {
  const found = HEADING.exec(line) ?? BOLD.exec(line) ?? TAG.exec(line);
  return found?.groups?.title?.trim();
}

function blankLines(lines: readonly string[]): number {
  return lines.filter(isBlank).length;
}

function isBlank(line: string): boolean {
  return line.trim() === '';
}

/** Lines with their ends, the blank ones with what is above them. */
type Lines = { readonly lines: string[]; readonly first: number; readonly isCode: boolean };

function groupsOf(text: string, isList: boolean): readonly Lines[] {
  const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const groups: Lines[] = [];
  let isCode = false;
  let widest = 0;
  for (const [at, line] of all.entries()) {
    const last = groups.at(-1);
    const isFence = FENCE.test(line);
    if (last !== undefined && isBlank(line)) last.lines.push(line);
    else if (last !== undefined && !isList && !isCode && !isFence && goesOn(last, line, widest)) {
      last.lines.push(line);
    } else groups.push({ lines: [line], first: at + 1, isCode: isCode || isFence });
    if (isFence) isCode = !isCode;
    widest = isBlank(line) ? 0 : Math.max(widest, line.trimEnd().length);
  }
  return groups;
}

/**
 * Whether a line only exists because the one above it was full: then the two are one paragraph, and breaking it
 * anew changes no word. Otherwise somebody wanted a line of its own.
 */
function goesOn({ lines, isCode }: Lines, line: string, widest: number): boolean {
  const above = lines.at(-1) ?? '';
  if (isCode || OPENING.test(line) || titleOf(line) !== undefined) return false;
  if (isBlank(above)) return lines.every(isBlank);
  if (widest > MOST_WIDE || titleOf(above.trimEnd()) !== undefined) return false;
  const word = /^\s*\S{0,200}/.exec(line)?.[0].trim().length ?? 0;
  return above.trimEnd().length + 1 + word > Math.max(widest, LEAST_WIDE);
}
