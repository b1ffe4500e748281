import { inSeconds } from '../../core/value.ts';
import { escapeText, inlineCode } from '../../render/markdown-text.ts';
import { recordedLines, recordedSides, toPastTense } from '../../render/runs.ts';
import {
  type Line,
  paint,
  type RenderOptions,
  span,
  wholeSpan,
  wrap,
} from '../../render/terminal.ts';
import { formatCount, formatFirst } from '../../render/wording.ts';
import type { RecordedChange } from '../../run/receipts.ts';

/** Actions about a whole resource, whose fields are counted unless they are asked for. */
const WHOLE: ReadonlySet<string> = new Set(['create', 'delete']);

/** One change for the terminal: when, who and what in its first line, where it came from below. */
export function renderChange(
  change: RecordedChange,
  isField: boolean,
  options: RenderOptions,
): string {
  const { width, color, verbose } = options;
  const fields = change.fields ?? [];
  const isListed = verbose || isField || !WHOLE.has(change.action);
  const [only] = fields;
  const isOne = isListed && fields.length === 1;
  const head: Line = [
    span(`${formatMoment(change.at)}  `),
    span(`${whoIn(change)} `),
    span(`${formatDeed(change)} `, change.status === 'done' ? 'plain' : 'error'),
    wholeSpan(isOne ? `${change.address}.${only?.path}` : change.address, 'strong'),
    span(aboutFields(change, isListed)),
  ];
  const margin = span(' '.repeat(INDENT));
  const below = (text: string) => wrap([margin, span(text)], width, INDENT);
  return paint(
    [
      ...wrap(head, width, INDENT),
      ...(only !== undefined && isOne
        ? recordedSides(only, width, INDENT).map((line) => [margin, ...line])
        : isListed
          ? recordedLines(fields, options)
          : []),
      ...formatOrigin(change).flatMap(below),
      ...(change.undone_by === null ? [] : below(undoneWords(change.undone_by))),
    ],
    color,
  );
}

const INDENT = 4;

/** `2026-11-12 10:00Z` */
function formatMoment(at: string | null): string {
  if (at === null) return 'at an unknown time';
  return inSeconds(at)
    .replace('T', ' ')
    .replace(/:\d\dZ$/, 'Z');
}

/** An edit that is one of several has the names of all. */
function whoIn({ by, edits, run }: RecordedChange): string {
  if (by !== null) return by;
  const names = [...new Set(edits.map(({ actor }) => actor ?? 'someone'))];
  if (run === null && names.length > 0)
    return names.length > 1 ? `one of ${names.join(', ')}` : names.join('');
  return 'someone';
}

function formatDeed({ action, purpose, status, moved_from: from }: RecordedChange): string {
  if (status === 'failed') return `tried to ${action}`;
  if (from !== undefined) return `renamed ${from} to`;
  if (purpose !== 'rollback') return toPastTense(action);
  return action === 'update' ? 'rolled back' : `rolled back and ${toPastTense(action)}`;
}

function aboutFields({ action, fields }: RecordedChange, isListed: boolean): string {
  if (fields === null) return ', in fields that the platform does not name';
  if (isListed || fields.length === 0) return '';
  return `${action === 'delete' ? ', which had' : ' with'} ${formatCount(fields.length, 'setting')}`;
}

/** Edits that are named. */
const MOST_NAMED = 3;

function formatOrigin(change: RecordedChange): readonly string[] {
  const { run, undoes, commit, pull_request: request, approved_by: approved, edits } = change;
  const entries = edits.flatMap(({ entry }) => (entry === null ? [] : String(entry)));
  const sources = [...new Set(edits.flatMap(({ source }) => source ?? []))];
  if (run === null) {
    const from = sources.length === 0 ? [] : [`via ${sources.join(', ')}`];
    const word = entries.length === 1 ? 'history entry' : 'history entries';
    const which = entries.length === 0 ? [] : [`${word} ${entries.join(', ')}`];
    const parts = [...from, ...which, ...(change.message === null ? [] : [change.message])];
    return parts.length === 0 ? [] : [parts.join(', ')];
  }
  const origin = [
    `run ${run}`,
    ...(undoes === null ? [] : [`rollback of ${undoes}`]),
    ...(commit === null
      ? []
      : [`commit ${commit.replace(/^[0-9a-f]{8,}/, (one) => one.slice(0, 7))}`]),
    ...(request === null ? [] : [`pull request ${request}`]),
    ...(approved.length === 0 ? [] : [`approved by ${approved.join(', ')}`]),
  ].join(', ');
  const actors = [...new Set(edits.map(({ actor }) => actor ?? 'someone'))];
  const undid =
    edits.length === 0
      ? []
      : [`undid ${formatCount(edits.length, 'edit')} by ${formatFirst(actors, MOST_NAMED)}`];
  return [origin, ...undid, ...(change.message === null ? [] : [change.message])];
}

function undoneWords({ run, at, purpose }: NonNullable<RecordedChange['undone_by']>): string {
  return `undone at ${formatMoment(at)} by run ${run} (${purpose})`;
}

export const MARKDOWN_HEAD = '| When | Who | What | From |\n|---|---|---|---|\n';

/** One change as a row of a table. */
export function renderRow(change: RecordedChange, isField: boolean): string {
  const fields = change.fields ?? [];
  const isListed = isField || !WHOLE.has(change.action);
  const shown = isListed ? fields.slice(0, MOST_IN_ROW) : [];
  const values = shown.map((field) => {
    const lines = recordedSides(field, COLUMNS, 0);
    const sides = lines.map((line) => line.map(({ text }) => text).join(''));
    return `${inlineCode(field.path)} ${escapeText(sides.join(' '))}`;
  });
  const rest = isListed ? fields.length - shown.length : 0;
  const what = [
    `${escapeText(formatDeed(change))} ${inlineCode(change.address)}${aboutFields(change, isListed)}`,
    ...values,
    ...(rest === 0 ? [] : [`${formatCount(rest, 'more field')}`]),
  ];
  const from = [
    ...formatOrigin(change),
    ...(change.undone_by === null ? [] : [undoneWords(change.undone_by)]),
  ].map((text) => escapeText(text));
  const cells = [
    formatMoment(change.at),
    escapeText(whoIn(change)),
    what.join('<br>'),
    from.join('<br>'),
  ];
  return `| ${cells.join(' | ')} |\n`;
}

const MOST_IN_ROW = 6;
/** Columns of two values in a cell. */
const COLUMNS = 120;
