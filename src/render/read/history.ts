import type { JsonObject } from '../../core/value.ts';
import { paint, type RenderOptions } from '../terminal.ts';
import { sanitiseLine } from '../untrusted.ts';
import { formatCount } from '../wording.ts';
import { valueAt } from './figures.ts';
import type { Field } from './layout.ts';
import { noteLines } from './note.ts';
import { tableLines } from './table.ts';

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
