import { type Line, span, type Tone, wrap } from '../terminal.ts';
import { padText, widestOf } from '../width.ts';

/** Something said of one thing: what it is called, and its value as it is to be read. */
export type Fact = {
  readonly name: string;
  readonly text: string;
  readonly tone?: Tone;
};

/** Facts below each other, names in a column, values broken to the width. */
export function factLines(facts: readonly Fact[], width: number, indent = 0): readonly Line[] {
  const names = widestOf(facts.map(({ name }) => name));
  return facts.flatMap(({ name, text, tone }) => {
    const head = `${' '.repeat(indent)}${padText(name, names)}  `;
    return wrap([span(head, 'dim'), span(text, tone)], width, head.length);
  });
}
