import { codeSpan, commandsIn } from '../../src/core/command-line.ts';
import { span, textWidth, wrap } from '../../src/render/terminal.ts';

/** Columns before a text that goes on below itself: what stands there is not broken further to the left. */
const WIDEST_MARGIN = 24;

/** Lines of a text that are wider than the terminal although they could be broken: a command or a long word may be. */
export function linesBeyond(text: string, width: number): readonly string[] {
  return text
    .split('\n')
    .filter((line) => textWidth(line) > width && !isCommand(line) && !isLastWordLong(line, width));
}

function isCommand(line: string): boolean {
  return commandsIn(codeSpan(line.replace(/^ *(?:- |\d+\. +)?/, ''))).length === 1;
}

function isLastWordLong(line: string, width: number): boolean {
  const words = wrap([span(line)], 1, 0).map((parts) => parts.map((part) => part.text).join(''));
  const last = words.at(-1)?.trim() ?? '';
  const margin = textWidth(line) - textWidth(last);
  return margin <= WIDEST_MARGIN && margin + textWidth(last) > width;
}
