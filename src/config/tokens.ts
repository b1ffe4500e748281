/** A `{{token}}` that does not open and close as it should. */
export type Unbalanced = {
  readonly offset: number;
  readonly length: number;
  readonly message: string;
};

const SINGLE = /\{[A-Za-z_][\w.]*(?:\|[^{}\n]*)?\}\}/y;
const SHOWN = 40;
/** A text with more of them is not what it was meant to be; saying so this often is enough. */
const MOST = 10;

/** Finds the next `part` from an offset on; offsets only grow, so a text is searched once. */
function finder(text: string, part: string) {
  let known = -1;
  return {
    from: (offset: number): number => {
      if (known < offset) {
        const at = text.indexOf(part, offset);
        known = at < 0 ? Number.POSITIVE_INFINITY : at;
      }
      return known;
    },
  };
}

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
  const closes = finder(text, '}}');
  const opens = finder(text, '{{');
  const lines = finder(text, '\n');
  const found: Unbalanced[] = [];
  let depth = 0;
  for (let at = 0; at < text.length && found.length < MOST; at += 1) {
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
    const close = closes.from(at + 2);
    const next = opens.from(at + 2);
    const closed = close < next && close < lines.from(at);
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
