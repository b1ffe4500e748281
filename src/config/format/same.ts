import { Lexer } from 'yaml';
import type { Written } from '../written.ts';

/** Whether two files say the same: equal values in equal spelling, whatever the order of their keys. */
export function sameValues(a: Written | undefined, b: Written | undefined): boolean {
  if (a === undefined || b === undefined || a.type !== b.type) return a === b;
  if (a.type === 'scalar' && b.type === 'scalar') {
    return a.value === b.value && a.text === b.text && a.empty === b.empty;
  }
  if (a.type === 'list' && b.type === 'list') {
    return (
      a.items.length === b.items.length &&
      a.items.every((item, index) => sameValues(item, b.items[index]))
    );
  }
  if (a.type !== 'map' || b.type !== 'map') return false;
  return (
    a.members.size === b.members.size &&
    [...a.members].every(([key, { value }]) => sameValues(value, b.members.get(key)?.value))
  );
}

/** What the lexer puts before the text of a scalar, which may look like anything. */
const SCALAR = '\u001f';

function commentsOf(text: string): readonly string[] {
  const comments: string[] = [];
  let before = '';
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.startsWith('#') && before !== SCALAR) comments.push(lexeme.trimEnd());
    before = lexeme;
  }
  return comments.sort();
}

/** A comment that only one of two texts has, wherever it stands; undefined where they have the same. */
export function strayComment(a: string, b: string): string | undefined {
  const [left, right] = [commentsOf(a), commentsOf(b)];
  const at = left.findIndex((comment, index) => comment !== right[index]);
  return at < 0 ? right[left.length] : left[at];
}
