import { paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';

/** Sentences for people, broken between words to the width; its own line breaks stay, and items stay indented. */
export function renderProse(text: string, { width, color }: RenderOptions): string {
  const lines = text.split('\n').flatMap((line) => {
    const indent = line.length - line.trimStart().length;
    return wrap([span(sanitiseLine(line))], width, indent === 0 ? 0 : indent + 2);
  });
  return paint(lines, color);
}
