/** A `{{token}}` that does not open and close as it should. */
export type Unbalanced = {
  readonly offset: number;
  readonly length: number;
  readonly message: string;
};

const SINGLE = /\{[A-Za-z_][\w.]*(?:\|[^{}\n]*)?\}\}/y;
const SHOWN = 40;

function snippet(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return Math.min(SHOWN, (end < 0 ? text.length : end) - from);
}

/**
 * The platform's placeholders that are opened and not closed, or closed and not opened. Single braces
 * are left alone: prompts quote JSON and templates hold CSS, where `}}` is common.
 */
export function findUnbalanced(text: string): readonly Unbalanced[] {
  if (!text.includes('{{') && !text.includes('}}')) return [];
  const found: Unbalanced[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '}') depth = Math.max(0, depth - 1);
    if (char !== '{') continue;
    if (text[at + 1] !== '{') {
      SINGLE.lastIndex = at;
      const length = depth === 0 ? SINGLE.exec(text)?.[0].length : undefined;
      if (length !== undefined) {
        found.push({
          offset: at,
          length,
          message: 'closes with }} a token that opens with one brace',
        });
        at += length - 1;
      } else depth += 1;
      continue;
    }
    const close = text.indexOf('}}', at + 2);
    const line = text.indexOf('\n', at);
    const next = text.indexOf('{{', at + 2);
    const closed = close >= 0 && (line < 0 || close < line) && (next < 0 || close < next);
    if (closed) at = close + 1;
    else {
      found.push({
        offset: at,
        length: snippet(text, at),
        message: 'opens a token with {{ that is not closed with }} on its line',
      });
      at += 1;
    }
  }
  return found;
}
