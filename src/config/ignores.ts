import { Lexer } from 'yaml';
import type { SourcePosition } from '../core/diagnostics.ts';
import { extentOf, type Lines, lineText } from './extent.ts';
import { lineAt, lineRange, type Place, type Source } from './source.ts';

/** A rule that a comment silences for a node and everything below it. */
export type Ignore = {
  readonly rule: string;
  /** Where the comment names it. */
  readonly place: Place;
  readonly lines: Lines;
};

const MARK = 'callsheet-ignore';
/** `# callsheet-ignore prompt/growth, prompt/duplicated: reason` */
const COMMENT = /^#+\s*callsheet-ignore(?![\w-])(?<names>[^:]*)(?::|$)/;

/** The comments of a file that silence rules. */
export function readIgnores(source: Source): readonly Ignore[] {
  // Most files have none, and need not be read once more.
  if (!source.text.includes(MARK)) return [];
  return commentsIn(source).flatMap((comment) => {
    const names = COMMENT.exec(source.text.slice(comment.start, comment.end))?.groups?.names;
    if (names === undefined) return [];
    const lines = extentOf(source, subjectLine(comment));
    const from = source.text.indexOf(MARK, comment.start) + MARK.length;
    const named = [...names.matchAll(/[^\s,]+/g)].map(({ 0: rule, index }) => {
      const start = from + index;
      return { rule, lines, place: { source, start, end: start + rule.length } };
    });
    return named.length > 0 ? named : [{ rule: '', lines, place: comment }];
  });
}

/** What the lexer puts between lexemes: begin of a document, end of a flow map, begin of a scalar. */
const MARKS = ['\u0002', '\u0018', '\u001f'];

/** Every comment, as the lexer tells them from a `#` in a text. */
function commentsIn(source: Source): readonly Place[] {
  const found: Place[] = [];
  let at = 0;
  for (const lexeme of new Lexer().lex(source.text)) {
    if (MARKS.includes(lexeme)) continue;
    if (lexeme.startsWith('#')) found.push({ source, start: at, end: at + lexeme.length });
    at += lexeme.length;
  }
  return found.filter(({ start }) => source.text[start] === '#');
}

/** The line of the key that a comment is about: its own, or the next that is neither empty nor a comment. */
function subjectLine({ source, start }: Place): number {
  const line = lineAt(source, start);
  const begin = lineRange(source, line)?.start ?? 0;
  if (source.text.slice(begin, start).trim() !== '') return line;
  for (let next = line + 1; ; next += 1) {
    const text = lineText(source, next);
    if (text === undefined) return line;
    if (!/^\s*(?:#|$)/.test(text)) return next;
  }
}

/** Whether an ignore speaks of a position. */
export function covers({ place, lines }: Ignore, position: SourcePosition | undefined): boolean {
  return (
    position !== undefined &&
    position.file === place.source.file &&
    lines.from <= position.line &&
    position.line <= lines.to
  );
}
