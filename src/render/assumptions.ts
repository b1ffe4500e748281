import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';

export type AssumptionEntry = {
  readonly id: string;
  readonly documented: string;
  readonly assumed: string;
  readonly why: string;
  /** Calls that rest on it, as method and path. */
  readonly operations: readonly string[];
};

const INDENT = 4;
const LABEL = 13;

/** What Callsheet takes for granted where the platform's specification is silent. */
export function renderAssumptionsText(
  entries: readonly AssumptionEntry[],
  { width, color }: RenderOptions,
): string {
  const lines = entries.flatMap(({ id, documented, assumed, why, operations }, index) => [
    ...(index === 0 ? [] : [[]]),
    [span(id, 'strong')],
    ...row('documented', documented, width),
    ...row('assumed', assumed, width),
    ...row('why', why, width),
    ...operations.flatMap((operation, at) => row(at === 0 ? 'calls' : '', operation, width)),
  ]);
  return paint(lines, color);
}

function row(label: string, text: string, width: number): readonly Line[] {
  const head = `${' '.repeat(INDENT)}${label.padEnd(LABEL)}`;
  return wrap([span(head, 'dim'), span(text)], width, head.length);
}
