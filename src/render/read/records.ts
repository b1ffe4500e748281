import { stringify } from 'yaml';
import { isList, isObject, type Json, type JsonObject } from '../../core/value.ts';
import { type Line, noteLines, paint, type RenderOptions, span } from '../terminal.ts';
import { sanitise, sanitiseLine } from '../untrusted.ts';
import { formatCount, kindTitle } from '../wording.ts';
import { type Field, layOut } from './table.ts';

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
};

const byName = new Intl.Collator('en', { numeric: true });

/** A table of records, a group each for every owner, and how many there are. */
export function renderRecordsText(list: RecordList, { width, color }: RenderOptions): string {
  const { kind, fields, records, groupedBy } = list;
  if (records.length === 0) return `There are no ${kindTitle(kind)}.\n`;
  const groups = groupRecords(list);
  const indent = groupedBy === undefined ? 0 : 2;
  const { heading: titles, row, leftOut } = layOut(fields, records, width, indent);
  const count = noteLines(countOf(list, groups.length), width);
  const tables = groups.map(({ heading, members }) => {
    const lines = members.map((record) => row(record));
    return paint(heading === undefined ? lines : [[], heading, ...lines], color);
  });
  return [paint([titles], color), ...tables, paint([[], ...count, ...leftOut()], color)].join('');
}

type Group = { readonly heading: Line | undefined; readonly members: readonly JsonObject[] };

/** Groups in the order of their names, and the records of each by name. */
function groupRecords({ records, groupedBy, names, fields }: RecordList): readonly Group[] {
  const [first] = fields;
  const nameOf = (record: JsonObject) => String(record[first?.path ?? 'id'] ?? '');
  const sorted = records.toSorted((a, b) => byName.compare(nameOf(a), nameOf(b)));
  if (groupedBy === undefined) return [{ heading: undefined, members: sorted }];
  const groups = Map.groupBy(sorted, (record) => String(record[groupedBy] ?? ''));
  return [...groups]
    .map(([id, members]) => ({ id, name: names.get(id) ?? '', members }))
    .sort((a, b) => byName.compare(a.name, b.name) || byName.compare(a.id, b.id))
    .map(({ id, name, members }) => ({ heading: groupHeading(groupedBy, id, name), members }));
}

function groupHeading(field: string, id: string, name: string): Line {
  if (name !== '')
    return [span(sanitiseLine(name), 'strong'), span(`  ${sanitiseLine(id)}`, 'dim')];
  return [span(`${ownerTitle(field)} ${sanitiseLine(id)}`, 'strong')];
}

/** `500 agents in 12 organizations.` */
function countOf({ kind, records, groupedBy }: RecordList, groups: number): string {
  const count = formatCount(records.length, kind.replaceAll('_', ' '), kindTitle(kind));
  if (groupedBy === undefined) return `${count}.`;
  return `${count} in ${formatCount(groups, ownerTitle(groupedBy))}.`;
}

/** `knowledge base` of `knowledge_base_id`. */
function ownerTitle(field: string): string {
  return field.replace(/_id$/, '').replaceAll('_', ' ');
}

/** One record whole, as YAML in the names that the configuration uses too, members of `order` first. */
export function renderRecordText(
  record: JsonObject,
  order: readonly string[],
  { width }: RenderOptions,
): string {
  const known = order.filter((name) => Object.hasOwn(record, name));
  const names = new Set([...known, ...Object.keys(record)]);
  const ordered = Object.fromEntries([...names].map((name) => [name, record[name] ?? null]));
  return stringify(sanitiseAll(ordered), {
    lineWidth: Math.max(width, NARROWEST),
    blockQuote: 'literal',
  });
}

/** Columns below which folding would tear every line. */
const NARROWEST = 40;

function sanitiseAll(value: Json): Json {
  if (typeof value === 'string') return sanitise(value);
  if (isList(value)) return value.map(sanitiseAll);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: readonly [string, Json]) => [
      sanitiseLine(name),
      sanitiseAll(member),
    ]),
  );
}
