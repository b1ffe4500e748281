import { align, newBudget } from './prose/align.ts';
import { sanitise } from './untrusted.ts';

/** What a file was and is to be. */
type ChangedText = {
  readonly file: string;
  /** Undefined for a file that is new. */
  readonly before: string | undefined;
  readonly after: string;
  /** Whether a line holds a secret: it is not shown. */
  readonly isHidden?: (line: string) => boolean;
};

/** Unchanged lines around a change, as Git shows them. */
const AROUND = 3;

type Row = { readonly mark: ' ' | '-' | '+'; readonly text: string };

/**
 * A change of a file in the unified format, as `git diff` prints it. It is for reading: what a terminal would act
 * on is escaped, and carriage returns are left out.
 */
export function unifiedDiff({ file, before, after, isHidden = () => false }: ChangedText): string {
  const rows = rowsOf(before ?? '', after);
  const hunks = hunksOf(rows);
  const from = before === undefined ? '/dev/null' : `a/${file}`;
  const lines = [`--- ${sanitise(from)}`, `+++ b/${sanitise(file)}`];
  for (const [start, end] of hunks) {
    const head = rows.slice(0, start);
    const inside = rows.slice(start, end);
    const count = (all: readonly Row[], mark: Row['mark']) =>
      all.filter((row) => row.mark !== mark).length;
    const stretch = (mark: Row['mark']) => {
      const lines = count(inside, mark);
      const first = count(head, mark) + (lines === 0 ? 0 : 1);
      return lines === 1 ? String(first) : `${first},${lines}`;
    };
    lines.push(`@@ -${stretch('+')} +${stretch('-')} @@`);
    for (const { mark, text } of inside) lines.push(...rowLines(mark, text, isHidden));
  }
  return lines.join('\n');
}

function rowLines(mark: Row['mark'], text: string, isHidden: (line: string) => boolean): string[] {
  const bare = text.replace(/\r?\n$/, '');
  const shown = isHidden(bare) ? '(secret)' : sanitise(bare);
  return text.endsWith('\n')
    ? [`${mark}${shown}`]
    : [`${mark}${shown}`, '\\ No newline at end of file'];
}

function rowsOf(before: string, after: string): readonly Row[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const rows: Row[] = [];
  let [a, b] = [0, 0];
  for (const [x, y] of [...align(old, fresh, newBudget()), [old.length, fresh.length] as const]) {
    rows.push(...old.slice(a, x).map((text) => ({ mark: '-', text }) as const));
    rows.push(...fresh.slice(b, y).map((text) => ({ mark: '+', text }) as const));
    const text = fresh[y];
    if (text !== undefined && x < old.length) rows.push({ mark: ' ', text });
    [a, b] = [x + 1, y + 1];
  }
  return rows;
}

/** Lines with their ends. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Stretches of rows around changes; those that nearly touch are one. */
function hunksOf(rows: readonly Row[]): readonly (readonly [number, number])[] {
  const hunks: [number, number][] = [];
  for (const [index, { mark }] of rows.entries()) {
    if (mark === ' ') continue;
    const last = hunks.at(-1);
    const end = Math.min(rows.length, index + AROUND + 1);
    if (last !== undefined && index - AROUND <= last[1]) last[1] = end;
    else hunks.push([Math.max(0, index - AROUND), end]);
  }
  return hunks;
}
