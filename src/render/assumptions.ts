import type { Assumptions } from '../core/documents.generated.ts';
import {
  cutLine,
  type Line,
  measureWidest,
  noteLines,
  padText,
  paint,
  type RenderOptions,
  spaced,
  span,
  wrap,
} from './terminal.ts';
import { formatCount, formatNumber } from './wording.ts';

export type Standing = AssumedCall['standing'];

export type AssumedCall = AssumptionEntry['operations'][number];

export type AssumptionEntry = Assumptions.Document['assumptions'][number];

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
  const idWidth = measureWidest(relied.map(({ id }) => id)) + 2;
  const count = formatCount(relied.length, 'assumption');
  const isStack = entries.some((entry) => entry.relied_on !== undefined);
  const rest = others === 0 ? 'all of them' : `all of them and ${formatNumber(others)} others`;
  const lines: readonly Line[] = [
    [span(isStack ? `This stack relies on ${count}:` : `${count}:`, 'strong')],
    ...relied.map(({ id, assumed }) =>
      cutLine([span(`  ${padText(id, idWidth)}`), span(assumed)], width),
    ),
    [],
    ...noteLines(
      `\`callsheet explain assumptions NAME\` shows one, with its reason and its calls; --verbose shows ${rest}.`,
      width,
    ),
  ];
  return paint(lines, color);
}

/** Assumptions as a whole: what Callsheet takes for granted where the platform's specification is silent. */
export function renderAssumptionsText(
  entries: readonly AssumptionEntry[],
  { width, color }: RenderOptions,
): string {
  const blocks = entries.map(({ id, documented, assumed, why, operations, fields }) => [
    [span(id, 'strong')],
    ...row('documented', documented, width),
    ...row('assumed', assumed, width),
    ...row('why', why, width),
    ...operations.flatMap((call, at) => row(at === 0 ? 'calls' : '', callText(call), width)),
    ...fields.flatMap((field, at) => row(at === 0 ? 'fields' : '', field, width)),
  ]);
  return paint(spaced(blocks), color);
}

function callText({ operation, method, path, standing }: AssumedCall): string {
  const said = STANDINGS[standing];
  const remark = said === '' ? '' : `: ${said}`;
  return `${method} ${path} (${operation}${remark})`;
}

function row(label: string, text: string, width: number): readonly Line[] {
  const head = `${' '.repeat(INDENT)}${label.padEnd(LABEL)}`;
  return wrap([span(head), span(text)], width, head.length);
}
