import { unreachable } from '../core/errors.ts';
import {
  type Attribution,
  type Change,
  type Doubt,
  type FieldChange,
  formatEdit,
  type HistoryEntry,
  isAbsent,
} from '../core/plan-document.ts';
import { sanitiseLine } from './untrusted.ts';
import { formatCount, formatNumber, formatTime, kindTitle } from './wording.ts';

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

/** The fields of a drifted resource by who changed them, those first of which that is known; all of one that is gone. */
export function groupByAuthor(change: Change, verbose: boolean): readonly Attributed[] {
  if (isAbsent(change))
    return [{ ...said(change.attribution, 1, change, verbose), fields: change.fields }];
  const groups = Map.groupBy(change.fields, ({ attribution }) => JSON.stringify(attribution));
  return [...groups.values()]
    .map((fields) => ({ fields, attribution: fields[0]?.attribution }))
    .toSorted((a, b) => getRank(a.attribution) - getRank(b.attribution))
    .map(({ fields, attribution }, at) => {
      // Edits that need not be it are only worth a look where no others are named.
      const isHint = getRank(attribution) === LAST && at > 0;
      const shown = isHint ? { ...change, edits: [] } : change;
      return { ...said(attribution, fields.length, shown, verbose), fields };
    });
}

const LAST = 2;

function getRank(attribution: Attribution | undefined): number {
  if (attribution?.certainty !== 'unknown') return 0;
  return attribution.because === 'not_recorded' ? LAST : 1;
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
  if (because !== null) {
    const who = `the author is unknown: ${unknownMessage(because, count, edits, change)}`;
    return { who, edits: listed(edits, verbose) };
  }
  const [first] = edits;
  if (first === undefined) return { who: undefined, edits: [] };
  if (certainty === 'entry') return { who: `by ${editText(first, change.edits)}`, edits: [] };
  const who =
    certainty === 'actor'
      ? `by ${sanitiseLine(first.actor ?? 'someone')}, in one of these edits:`
      : 'by one of these edits; the history does not say which edit changed which field:';
  return { who, edits: listed(edits, verbose) };
}

/** `user:maria via dashboard at 2026-11-21T10:12:03Z, restoring entry 58 (history entry 61)` */
function editText(edit: HistoryEntry, among: readonly HistoryEntry[] = []): string {
  const when = edit.at === null ? '' : ` at ${formatTime(edit.at)}`;
  return `${authorText(edit)}${when}${restoring(edit, among)} (history entry ${edit.id})`;
}

function authorText({ actor, source }: HistoryEntry): string {
  return sanitiseLine(formatEdit({ actor, source }));
}

/** Names the entry that a revert restored, and its actor if the entry is one of these. */
function restoring(
  { reverted_from_id: from }: HistoryEntry,
  among: readonly HistoryEntry[] = [],
): string {
  if (from === null) return '';
  const actor = among.find(({ id }) => id === from)?.actor ?? null;
  return `, restoring entry ${from}${actor === null ? '' : ` of ${sanitiseLine(actor)}`}`;
}

function listed(edits: readonly HistoryEntry[], verbose: boolean): readonly string[] {
  // One line that only counts is no shorter than the edit itself.
  const shown = verbose || edits.length <= MAX_EDITS + 1 ? edits : edits.slice(0, MAX_EDITS);
  const rest = edits.slice(shown.length);
  const widest = Math.max(...shown.map(({ id }) => String(id).length));
  const lines = shown.map((edit) => {
    const when = edit.at === null ? '' : `  ${formatTime(edit.at)}`;
    return `${String(edit.id).padStart(widest)}${when}  ${authorText(edit)}${restoring(edit)}`;
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

function unknownMessage(
  doubt: Doubt,
  count: number,
  edits: readonly HistoryEntry[],
  { kind, pin }: Change,
): string {
  const changed = pin?.updated_at ?? null;
  const last = changed === null ? '' : `; last changed at ${formatTime(changed)}`;
  const has = edits.length > 0 ? `; it has ${formatCount(edits.length, 'edit')} since:` : '';
  switch (doubt) {
    case 'not_recorded':
      return `history does not record ${count === 1 ? 'this setting' : 'these settings'}${has}`;
    case 'no_history':
      return `the platform keeps no history of ${kindTitle(kind)}${last}`;
    case 'no_entry':
      return `no history entry since the last run explains it${last}`;
    case 'no_beginning':
      return `the newest history entry at the last run is not known${last}`;
    case 'retention':
      return `its history no longer reaches back to the last run${has}`;
    case 'late':
      return `the newest change${changed === null ? '' : `, at ${formatTime(changed)},`} has no history entry yet${has}`;
    case 'gone':
      return `its history ${edits.length > 0 ? 'does not say' : 'was deleted with it'}${has}`;
    case 'unreadable':
      return `its history cannot be read${last}`;
    default:
      return unreachable(doubt);
  }
}
