import type { Attribution, Doubt, HistoryEntry } from '../core/history.ts';
import type { Change, FieldChange } from '../core/plan-document.ts';
import { formatTime } from './read/figures.ts';
import { sanitiseLine } from './untrusted.ts';
import { formatCount, formatNumber, kindTitle } from './wording.ts';

/** Fields of one resource that the same can be said of. */
export type Attributed = {
  /** Who changed them, or why that is unknown; sanitised. Undefined where the document says nothing. */
  readonly who: string | undefined;
  /** The edits that it may have been, newest first; sanitised. */
  readonly edits: readonly string[];
  readonly fields: readonly FieldChange[];
};

/** Edits that are listed, unless everything is asked for. */
const MAX_EDITS = 8;

/** The fields of a drifted resource by who changed them, those first of which that is known. */
export function groupByAuthor(change: Change, verbose: boolean): readonly Attributed[] {
  const groups = Map.groupBy(change.fields, ({ attribution }) => JSON.stringify(attribution));
  const attributed = [...groups.values()].map((fields) => {
    const attribution = fields[0]?.attribution;
    return {
      rank: rankOf(attribution),
      ...said(attribution, fields.length, change, verbose),
      fields,
    };
  });
  return attributed.toSorted((a, b) => a.rank - b.rank).map(({ rank: _, ...group }) => group);
}

/** Who took away what is gone. */
export function whoTook(change: Change, verbose: boolean): Omit<Attributed, 'fields'> {
  return said(change.attribution, 1, change, verbose);
}

function rankOf(attribution: Attribution | undefined): number {
  return attribution?.certainty === 'unknown' ? 1 : 0;
}

function said(
  attribution: Attribution | undefined,
  count: number,
  change: Change,
  verbose: boolean,
): Omit<Attributed, 'fields'> {
  if (attribution === undefined) return { who: undefined, edits: [] };
  const { certainty, because, entries } = attribution;
  const edits = (change.edits ?? []).filter(({ id }) => entries.includes(id));
  const [first] = edits;
  if (because !== null)
    return { who: doubtWords(because, count, change), edits: listed(edits, verbose) };
  if (first === undefined) return { who: undefined, edits: [] };
  if (certainty === 'entry') return { who: `by ${editWords(first)}`, edits: [] };
  const who =
    certainty === 'actor'
      ? `by ${sanitiseLine(first.actor ?? 'someone')}, in one of these edits:`
      : 'by one of these; history does not say which of them changed what:';
  return { who, edits: listed(edits, verbose) };
}

/** `user:maria via dashboard at 2026-11-21T10:12:03Z, restoring entry 58 (history entry 61)` */
export function editWords(edit: HistoryEntry): string {
  const when = edit.at === null ? '' : ` at ${formatTime(edit.at)}`;
  return `${authorWords(edit)}${when}${restoring(edit)} (history entry ${edit.id})`;
}

function authorWords({ actor, source }: HistoryEntry): string {
  return sanitiseLine(`${actor ?? 'someone'}${source === null ? '' : ` via ${source}`}`);
}

function restoring({ reverted_from_id: from }: HistoryEntry): string {
  return from === null ? '' : `, restoring entry ${from}`;
}

function listed(edits: readonly HistoryEntry[], verbose: boolean): readonly string[] {
  // One line that only counts is no shorter than the edit itself.
  const shown = verbose || edits.length <= MAX_EDITS + 1 ? edits : edits.slice(0, MAX_EDITS);
  const rest = edits.slice(shown.length);
  const widest = Math.max(...shown.map(({ id }) => String(id).length));
  const lines = shown.map((edit) => {
    const when = edit.at === null ? '' : `  ${formatTime(edit.at)}`;
    return `${String(edit.id).padStart(widest)}${when}  ${authorWords(edit)}${restoring(edit)}`;
  });
  return rest.length === 0 ? lines : [...lines, counted(rest)];
}

/** `12 more: 7 by user:maria, 5 by user:jo` */
function counted(edits: readonly HistoryEntry[]): string {
  const byActor = [...Map.groupBy(edits, ({ actor }) => actor ?? 'someone')];
  const shares = byActor.map(
    ([actor, own]) => `${formatNumber(own.length)} by ${sanitiseLine(actor)}`,
  );
  return `⋯ ${formatNumber(edits.length)} more: ${shares.slice(0, MAX_EDITS).join(', ')}`;
}

function doubtWords(doubt: Doubt, count: number, { kind, edits = [], pin }: Change): string {
  const changed = pin?.updated_at ?? null;
  const last = changed === null ? '' : `; last changed at ${formatTime(changed)}`;
  const has = edits.length > 0 ? `; it has ${formatCount(edits.length, 'edit')} since:` : '';
  const words: { readonly [name in Doubt]: string } = {
    not_recorded: `history does not record ${count === 1 ? 'this setting' : 'these settings'}`,
    no_history: `the platform keeps no history of ${kindTitle(kind)}${last}`,
    no_entry: `no history entry since the last run explains it${last}`,
    no_beginning: `where its history stood at the last run is not known${last}`,
    retention: `its history no longer reaches back to the last run${has}`,
    late: `the newest change${changed === null ? '' : `, at ${formatTime(changed)},`} has no history entry yet${has}`,
    gone: `its history ${edits.length > 0 ? 'does not say' : 'went with it'}${has}`,
  };
  return `by whom is unknown: ${words[doubt]}`;
}
