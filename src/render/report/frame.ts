import { sanitise } from '../untrusted.ts';

/** A line of the code frame of a diagnostic. What is secret in it has been replaced. */
export type FrameLine = {
  readonly number: number;
  readonly text: string;
  /** What the carets below the line mark, on the line that the diagnostic is about. */
  readonly marked?: string;
};

const LINE = /^[> ] +(?<number>\d+) \|(?: (?<text>.*))?$/s;
const CARETS = /^ +\| (?<before>[ \t]*)(?<carets>\^+)$/;

/** The lines that a code frame shows, without its margin and its carets. */
export function linesOfFrame(frame: string | undefined): readonly FrameLine[] {
  const rows = frame?.split('\n') ?? [];
  return rows.flatMap((row, index) => {
    const { number, text = '' } = LINE.exec(row)?.groups ?? {};
    if (number === undefined) return [];
    const line = { number: Number(number), text: sanitise(text) };
    const { before, carets } = CARETS.exec(rows[index + 1] ?? '')?.groups ?? {};
    if (before === undefined || carets === undefined) return [line];
    // A caret stands below each character.
    const marked = [...text].slice(before.length, before.length + carets.length).join('');
    return [{ ...line, marked: sanitise(marked) }];
  });
}
