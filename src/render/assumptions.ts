import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';

/**
 * What becomes of a call that rests on an assumption: only its details are assumed, its place is; the
 * stack says where it is; or the stack refuses it.
 */
export type Standing = 'shown' | 'assumed' | 'overridden' | 'refused';

export type AssumedCall = {
  /** Name of the operation, as `platform.endpoints` takes it. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly standing: Standing;
};

export type AssumptionEntry = {
  readonly id: string;
  readonly documented: string;
  readonly assumed: string;
  readonly why: string;
  /** Calls that rest on it, where the stack has them. */
  readonly operations: readonly AssumedCall[];
  /** Fields whose writing rests on it. */
  readonly fields: readonly string[];
};

const INDENT = 4;
const LABEL = 13;

const STANDINGS: { readonly [standing in Standing]: string } = {
  shown: '',
  assumed: '',
  overridden: 'platform.endpoints says so',
  refused: 'refused by platform.assume: false',
};

/** What Callsheet takes for granted where the platform's specification is silent. */
export function renderAssumptionsText(
  entries: readonly AssumptionEntry[],
  { width, color }: RenderOptions,
): string {
  const lines = entries.flatMap(({ id, documented, assumed, why, operations, fields }, index) => [
    ...(index === 0 ? [] : [[]]),
    [span(id, 'strong')],
    ...row('documented', documented, width),
    ...row('assumed', assumed, width),
    ...row('why', why, width),
    ...operations.flatMap((call, at) => row(at === 0 ? 'calls' : '', callText(call), width)),
    ...fields.flatMap((field, at) => row(at === 0 ? 'fields' : '', field, width)),
  ]);
  return paint(lines, color);
}

function callText({ operation, method, path, standing }: AssumedCall): string {
  const said = STANDINGS[standing];
  const remark = said === '' ? '' : `: ${said}`;
  return sanitiseLine(`${method} ${path} (${operation}${remark})`);
}

function row(label: string, text: string, width: number): readonly Line[] {
  const head = `${' '.repeat(INDENT)}${label.padEnd(LABEL)}`;
  return wrap([span(head, 'dim'), span(text)], width, head.length);
}
