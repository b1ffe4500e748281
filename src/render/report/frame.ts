import { sanitise } from '../untrusted.ts';

/** A line of the code frame of a diagnostic. What is secret in it has been replaced. */
export type FrameLine = {
  readonly number: number;
  readonly text: string;
  /** It is the line that the diagnostic is about. */
  readonly isMarked: boolean;
};

/** The lines that a code frame shows, without its margin and its carets. */
export function linesOfFrame(frame: string | undefined): readonly FrameLine[] {
  if (frame === undefined) return [];
  return sanitise(frame)
    .split('\n')
    .flatMap((row) => {
      const {
        mark,
        number,
        text = '',
      } = /^(?<mark>[> ]) +(?<number>\d+) \|(?: (?<text>.*))?$/s.exec(row)?.groups ?? {};
      return number === undefined ? [] : [{ number: Number(number), text, isMarked: mark === '>' }];
    });
}
