/** A line of comments between two nodes, or an empty one. */
export type Between = {
  /** Column of the `#`; -1 for an empty line. */
  readonly column: number;
  /** From `#` on; empty for an empty line. */
  readonly text: string;
};

/** What stands between two nodes. */
export type Gap = {
  /** What follows on the line of the node before: the spaces and the comment. */
  readonly trailing: string;
  readonly lines: readonly Between[];
};

/** Something that the formatter does not know how to keep. The file is left as it is. */
export class Unformattable extends Error {
  readonly offset: number;
  constructor(what: string, offset: number) {
    super(what);
    this.offset = offset;
  }
}

const COMMENT = /^[ \t]*(?:#[^\n]*)?$/;

/**
 * Reads the text between two nodes, in which only comments and empty lines can stand.
 *
 * @param offset where the text begins, for what is said when something else stands in it
 */
export function readGap(text: string, offset: number): Gap {
  const [first = '', ...rest] = text.split('\n');
  if (!COMMENT.test(first)) throw new Unformattable('something beside a comment', offset);
  // What comes after the last line break is the indentation of the node that follows.
  const last = rest.at(-1);
  const whole = last !== undefined && last.trim() === '' ? rest.slice(0, -1) : rest;
  const lines = whole.map((line): Between => {
    if (!COMMENT.test(line)) throw new Unformattable('something beside a comment', offset);
    const column = line.indexOf('#');
    return { column, text: column < 0 ? '' : line.slice(column).trimEnd() };
  });
  return { trailing: first.trimEnd() === '' ? '' : first.trimEnd(), lines };
}

/** Several empty lines in a row made one. */
function tidy(lines: readonly Between[]): readonly Between[] {
  return lines.filter(({ text }, index) => text !== '' || lines[index - 1]?.text !== '');
}

/** Splits what follows a node into what belongs to it, being indented deeper than `column`, and the rest. */
export function splitTail(lines: readonly Between[], column: number) {
  const end = lines.findIndex(({ text, column: at }) => text !== '' && at <= column);
  const stop = end < 0 ? lines.length : end;
  const last = lines.slice(0, stop).findLastIndex(({ text }) => text !== '');
  return { own: lines.slice(0, last + 1), rest: lines.slice(last + 1) };
}

/** Splits what stands before the first item of a map or list: comments above an empty line are about all of it. */
export function splitHeader(lines: readonly Between[]) {
  const last = lines.findLastIndex(({ text }) => text === '');
  const header = lines.slice(0, last + 1);
  return {
    header: header.some(({ text }) => text !== '') ? header : [],
    lead: lines.slice(last + 1),
  };
}

/** Comments and empty lines at their new indentation. */
export function gapLines(lines: readonly Between[], indent: string): string[] {
  return tidy(lines).map(({ text }) => (text === '' ? '' : indent + text));
}
