import type { Attribution, Doubt, HistoryEntry } from '../core/history.ts';
import { parsePath } from '../core/path.ts';
import type { Change } from '../core/plan-document.ts';
import { schemasAlong } from '../diff/along.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Edits } from './edits.ts';

/** A drifted resource with who changed each of its leaves, as far as its history tells. */
export function attributeChange(change: Change, edits: Edits): Change {
  const { entries } = edits;
  const recorded = attributeRecorded(edits);
  const isGone = change.action === 'create' && change.missing_id !== null;
  const fields = change.fields.map((field) => {
    const doubt = doubtOf(change.kind, field.path);
    return { ...field, attribution: doubt === null ? recorded : unknown(doubt, entries) };
  });
  const told = { ...change, fields, edits: entries };
  return isGone ? { ...told, attribution: unknown('gone', entries) } : told;
}

/** Why no history could tell who changed a leaf; null where it could. */
function doubtOf(kindName: string, text: string): Doubt | null {
  const kind = kindNamed(kindName);
  if (kind.history === undefined) return 'no_history';
  const along = schemasAlong(kind.schema, parsePath(text) ?? [text]);
  return along.some((schema) => schema['x-revert'] === false) ? 'not_recorded' : null;
}

/**
 * Who changed settings that history records. A revert sets all of them (revert rule 1), so that nothing
 * before it is left: what is live was set by the revert or later, and later where it restored what the run
 * had written.
 */
function attributeRecorded({ entries, base, doubt }: Edits): Attribution {
  const at = entries.findIndex(({ action }) => action === 'reverted');
  const last = entries[at];
  if (doubt === 'late' || doubt === 'no_beginning') return unknown(doubt, entries);
  if (last === undefined) return doubt === null ? oneOf(entries) : unknown(doubt, entries);
  const isBack = last.reverted_from_id === base;
  return oneOf(entries.slice(0, isBack ? at : at + 1));
}

function oneOf(entries: readonly HistoryEntry[]): Attribution {
  const [first] = entries;
  if (first === undefined) return unknown('no_entry');
  const isOneActor = first.actor !== null && entries.every(({ actor }) => actor === first.actor);
  const certainty = entries.length === 1 ? 'entry' : isOneActor ? 'actor' : 'one_of';
  return { certainty, because: null, entries: idsOf(entries) };
}

function unknown(because: Doubt, entries: readonly HistoryEntry[] = []): Attribution {
  return { certainty: 'unknown', because, entries: idsOf(entries) };
}

function idsOf(entries: readonly HistoryEntry[]): readonly number[] {
  return entries.map(({ id }) => id);
}
