import {
  cutLine,
  type Line,
  noteLines,
  padText,
  paint,
  type RenderOptions,
  span,
  widestOf,
  wrap,
} from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { formatCount, formatNumber } from './wording.ts';

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
  /** Whether resources of the stack rely on it; absent where there is no stack, or where assumptions are named. */
  readonly relied_on?: boolean;
};

const INDENT = 4;
const LABEL = 13;

const STANDINGS: { readonly [standing in Standing]: string } = {
  shown: '',
  assumed: '',
  overridden: 'platform.endpoints says so',
  refused: 'refused by platform.assume: false',
};

/** Those that the stack relies on, a line each; all of them where there is no stack. */
export function renderAssumptionList(
  entries: readonly AssumptionEntry[],
  { width, color }: RenderOptions,
): string {
  const relied = entries.filter((entry) => entry.relied_on !== false);
  const others = entries.length - relied.length;
  const idWidth = widestOf(relied.map(({ id }) => id)) + 2;
  const count = formatCount(relied.length, 'assumption');
  const isStack = entries.some((entry) => entry.relied_on !== undefined);
  const rest = others === 0 ? 'all of them' : `all of them and ${formatNumber(others)} others`;
  const lines: readonly Line[] = [
    [span(isStack ? `This stack relies on ${count}:` : `${count}:`, 'strong')],
    ...relied.map(({ id, assumed }) =>
      cutLine([span(`  ${padText(id, idWidth)}`), span(assumed, 'dim')], width),
    ),
    [],
    ...noteLines(
      `callsheet explain assumptions NAME shows one, with its reason and its calls; --verbose shows ${rest}.`,
      width,
      'dim',
    ),
  ];
  return paint(lines, color);
}

/** Assumptions as a whole: what Callsheet takes for granted where the platform's specification is silent. */
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
