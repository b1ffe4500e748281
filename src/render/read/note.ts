import { type Line, span, type Tone, wrap } from '../terminal.ts';

/** A sentence above or below a table, broken to the width. */
export function noteLines(text: string, width: number, tone: Tone = 'strong'): readonly Line[] {
  return wrap([span(text, tone)], width, 0);
}
