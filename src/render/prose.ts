import { paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';

/** Sentences for people, broken between words to the width; its own line breaks stay. */
export function renderProse(text: string, { width, color }: RenderOptions): string {
  const lines = text.split('\n').flatMap((line) => wrap([span(sanitiseLine(line))], width, 0));
  return paint(lines, color);
}
