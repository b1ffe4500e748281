import { MASK } from '../../core/redact.ts';
import { isSameJson, type Json, type JsonObject } from '../../core/value.ts';
import { fieldLines } from '../field-lines.ts';
import type { FieldView } from '../fields.ts';
import { noteLines, paint, type RenderOptions, span, wrap } from '../terminal.ts';
import { sanitiseLine } from '../untrusted.ts';
import { formatCount } from '../wording.ts';
import { type Field, tableLines, valueAt } from './table.ts';

/** What is shown of a history entry. */
export const HISTORY_FIELDS: readonly Field[] = [
  { path: 'id', title: 'id', form: 'number' },
  { path: 'version', title: 'version', form: 'number', drop: 4 },
  {
    path: 'action',
    title: 'action',
    tone: (action) => (action === 'reverted' ? 'replaced' : 'plain'),
  },
  { path: 'reverted_from_id', title: 'restored', form: 'number', drop: 2 },
  { path: 'created_at', title: 'when', form: 'time', drop: 1 },
  { path: 'actor.id', title: 'who', least: 12, drop: 2 },
  { path: 'source', title: 'from where', drop: 3 },
  { path: 'run', title: 'run' },
];

/** Columns of `run ` and a run's id, by which it is asked for: it is never cut. */
const RUN_WIDTH = 27;

/** For people it is the run that made an entry; who ran it, `callsheet runs ID` says. */
function fieldsFor(entries: readonly JsonObject[]): readonly Field[] {
  const least = entries.some(isMadeHere) ? RUN_WIDTH : 12;
  return HISTORY_FIELDS.filter(({ path }) => path !== 'run').map((field) =>
    field.path === 'actor.id' ? { ...field, path: 'who', least, drop: 1 } : field,
  );
}

function isMadeHere({ run }: JsonObject): boolean {
  return typeof run === 'string';
}

function named(entry: JsonObject): JsonObject {
  const who = isMadeHere(entry) ? `run ${String(entry.run)}` : valueAt(entry, 'actor.id');
  return { ...entry, who: who ?? null };
}

/** The versions of an agent, newest first. `label` is what people call the agent. */
export function renderHistoryText(
  label: string,
  entries: readonly JsonObject[],
  { width, color }: RenderOptions,
): string {
  if (entries.length === 0) return `No change of ${sanitiseLine(label)} is recorded.\n`;
  const lines = [
    ...tableLines(fieldsFor(entries), entries.map(named), width),
    [],
    ...noteLines(
      `${formatCount(entries.length, 'version')} of ${sanitiseLine(label)}${madeHere(entries)}.`,
      width,
    ),
  ];
  return paint(lines, color);
}

/** `, 3 of them made by runs of this stack` */
function madeHere(entries: readonly JsonObject[]): string {
  const made = entries.filter(isMadeHere).length;
  return made === 0
    ? ''
    : `, ${formatCount(made, 'of them', 'of them')} made by runs of this stack`;
}

/** A setting in which two versions of an agent differ, or may. */
export type VersionField = {
  readonly path: string;
  readonly before: Json;
  readonly after: Json;
  /** Whether before and after are masked. */
  readonly secret: boolean;
  /** Null where that cannot be told. */
  readonly differs: true | null;
  /** Whether the value is known; a long one need not be. */
  readonly kept: { readonly before: boolean; readonly after: boolean };
};

/** A version that is compared, and where its settings are known from. */
type ComparedVersion = {
  readonly entry: number;
  readonly from: string;
  /** Whether only what a run configured is known. */
  readonly partial: boolean;
};

/** The field diff between two versions. */
export function renderVersionDiffText(
  label: string,
  [one, other]: readonly [ComparedVersion, ComparedVersion],
  fields: readonly VersionField[],
  options: RenderOptions,
): string {
  const { width } = options;
  const told = ({ entry, from, partial }: ComparedVersion) =>
    `${entry}  ${sanitiseLine(from)}${partial ? ', of which only the configured values are known' : ''}`;
  const count =
    fields.length === 0
      ? 'no setting differs'
      : `${formatCount(fields.length, 'setting')} ${fields.length === 1 ? 'differs' : 'differ'}`;
  const head = `${sanitiseLine(label)}, version ${one.entry} → ${other.entry}: ${count}`;
  const note =
    'The platform does not return the settings of a version. These come from the runs of the stack and from the live resource. Settings that the history does not record are not compared.';
  return paint(
    [
      ...noteLines(head, width),
      ...[one, other].flatMap((version) =>
        wrap([span(`  ${told(version)}`, 'dim')], width, `${version.entry}`.length + 4),
      ),
      ...(fields.length === 0 ? [] : [[], ...fieldLines(fields.map(viewOf), options)]),
      [span('')],
      ...noteLines(note, width, 'dim'),
    ],
    options.color,
  );
}

function viewOf({ path, before, after, differs, kept }: VersionField): FieldView {
  const view = { path: sanitiseLine(path), remark: null };
  const words = (text: string): FieldView => ({
    ...view,
    sign: '~',
    content: { type: 'element', summary: text, members: [] },
  });
  if (differs === null) return words('not known: a run no longer configured it');
  if (!(kept.before && kept.after)) return words('differs; of the long text only a digest is kept');
  if (before === MASK && after === MASK) return words(MASK);
  if (isSameJson(before, after)) return words('the masked value differs');
  if (before === null) return { ...view, sign: '+', content: { type: 'one', value: after } };
  if (after === null) return { ...view, sign: '-', content: { type: 'one', value: before } };
  return { ...view, sign: '~', content: { type: 'both', before, after } };
}
