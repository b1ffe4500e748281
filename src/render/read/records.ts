import { stringify } from 'yaml';
import { nameInWords } from '../../core/address.ts';
import { inSeconds, type JsonObject, mapTexts } from '../../core/value.ts';
import { type Line, noteLines, paint, type RenderOptions, sentence, span } from '../terminal.ts';
import { sanitise, sanitiseLine } from '../untrusted.ts';
import { countKind, formatCount, kindTitle } from '../wording.ts';
import { type Field, layOut, tableLines, tableWidth, valueAt } from './table.ts';

/** Records of one kind, as a list shows them. */
type RecordList = {
  /** `agent`. */
  readonly kind: string;
  readonly fields: readonly Field[];
  readonly records: readonly JsonObject[];
  /** Field whose values they are grouped by, such as `organization_id`; undefined for one list. */
  readonly groupedBy: string | undefined;
  /** Names for values of that field. */
  readonly names: ReadonlyMap<string, string>;
  /** Those that the platform does not confirm to be ready. */
  readonly unready: readonly NotReady[];
};

/** A record that is not ready, and the facts in one clause. */
type NotReady = { readonly id: string; readonly since: string | null; readonly says: string };

const byName = new Intl.Collator('en', { numeric: true });

/** A table of records, a group each for every owner, and how many there are. */
export function renderRecordsText(list: RecordList, options: RenderOptions): string {
  const { width, color } = options;
  const { kind, fields, records, groupedBy } = list;
  if (records.length === 0) return `There are no ${kindTitle(kind)}.\n`;
  const groups = groupRecords(list);
  const indent = groupedBy === undefined ? 0 : 2;
  const { heading: titles, row, leftOut } = layOut(fields, records, tableWidth(options), indent);
  const count = noteLines(formatTotal(list, groups.length), width);
  const tables = groups.flatMap(({ heading, members }) => [
    ...(heading === undefined ? [] : [[], heading]),
    ...members.flatMap((record) => row(record)),
  ]);
  const waiting = list.unready.flatMap((one) =>
    noteLines(unreadyWords(one, one.id), width, 'plain'),
  );
  return paint([...titles, ...tables, [], ...count, ...waiting, ...leftOut()], color);
}

function unreadyWords({ since, says }: NotReady, label: string): string {
  const when = since === null ? '' : ` since ${inSeconds(since)}`;
  return sanitiseLine(`${label} is not ready${when}: ${says}`);
}

type Group = { readonly heading: Line | undefined; readonly members: readonly JsonObject[] };

/** Groups in the order of their names, and the records of each by name. */
function groupRecords({ records, groupedBy, names, fields }: RecordList): readonly Group[] {
  const [first] = fields;
  const getName = (record: JsonObject) => String(record[first?.path ?? 'id'] ?? '');
  const sorted = records.toSorted((a, b) => byName.compare(getName(a), getName(b)));
  if (groupedBy === undefined) return [{ heading: undefined, members: sorted }];
  const groups = Map.groupBy(sorted, (record) => String(record[groupedBy] ?? ''));
  return [...groups]
    .map(([id, members]) => ({ id, name: names.get(id) ?? '', members }))
    .sort((a, b) => byName.compare(a.name, b.name) || byName.compare(a.id, b.id))
    .map(({ id, name, members }) => ({ heading: groupHeading(groupedBy, id, name), members }));
}

function groupHeading(field: string, id: string, name: string): Line {
  if (name !== '') return [span(name, 'strong'), span(`  ${id}`)];
  return [span(`${nameInWords(field)} ${id}`, 'strong')];
}

/** `500 agents in 12 organizations.` */
function formatTotal({ kind, records, groupedBy }: RecordList, groups: number): string {
  const count = countKind(records.length, kind);
  if (groupedBy === undefined) return `${count}.`;
  return `${count} in ${formatCount(groups, nameInWords(groupedBy))}.`;
}

/**
 * One record whole, as YAML in the names that the configuration uses too, members of `order` first. That it is not ready
 * is a comment above it.
 */
export function renderRecordText(
  record: JsonObject,
  order: readonly string[],
  { width }: RenderOptions,
  unready: readonly NotReady[] = [],
): string {
  const known = order.filter((name) => Object.hasOwn(record, name));
  const names = new Set([...known, ...Object.keys(record)]);
  const ordered = Object.fromEntries([...names].map((name) => [name, record[name] ?? null]));
  const text = stringify(mapTexts(ordered, sanitise, sanitiseLine), {
    lineWidth: Math.max(width, NARROWEST),
    blockQuote: 'literal',
  });
  const comments = unready.map((one) => `# ${unreadyWords(one, 'It')}\n`);
  // Folding a long text may bring a command to a runner to the beginning of a line.
  return [...comments, sanitise(text)].join('');
}

/** Columns below which folding would tear every line. */
const NARROWEST = 40;

/** The columns of a history entry. */
export const HISTORY_FIELDS: readonly Field[] = [
  { path: 'id', title: 'id', form: 'id' },
  { path: 'version', title: 'version', form: 'id', drop: 4 },
  {
    path: 'action',
    title: 'action',
    tone: (action) => (action === 'reverted' ? 'replaced' : 'plain'),
  },
  { path: 'reverted_from_id', title: 'restored', form: 'id', drop: 2 },
  { path: 'created_at', title: 'when', form: 'time', drop: 1 },
  { path: 'actor.id', title: 'who', least: 12, drop: 2 },
  { path: 'source', title: 'from where', drop: 3 },
  { path: 'run', title: 'run' },
];

/** Columns of a run's id, by which it is asked for: it is never cut. */
const RUN_WIDTH = 23;

/** For people it is the run that made an entry; who ran it, `callsheet runs ID` says. */
function fieldsFor(entries: readonly JsonObject[]): readonly Field[] {
  const least = entries.some(isMadeHere) ? RUN_WIDTH : 12;
  return HISTORY_FIELDS.filter(({ path }) => path !== 'run').map((field) =>
    field.path === 'actor.id' ? { ...field, path: 'who', least, drop: 0 } : field,
  );
}

function isMadeHere({ run }: JsonObject): boolean {
  return typeof run === 'string';
}

function named(entry: JsonObject): JsonObject {
  const who = isMadeHere(entry) ? entry.run : valueAt(entry, 'actor.id');
  return { ...entry, who: who ?? null };
}

/** The versions of an agent, newest first. `label` is what people call the agent. */
export function renderHistoryText(
  label: string,
  entries: readonly JsonObject[],
  options: RenderOptions,
): string {
  const { width, color } = options;
  if (entries.length === 0) return sentence(`No change of ${label} is recorded.`, options);
  const lines = [
    ...tableLines(fieldsFor(entries), entries.map(named), tableWidth(options)),
    [],
    ...noteLines(
      `${formatCount(entries.length, 'version')} of ${label}${madeHere(entries)}.`,
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
