import type { Address } from '../../../core/address.ts';
import { identityText, isIdentity, type Path } from '../../../core/path.ts';
import type { FieldSchema } from '../../../core/schema.ts';
import { isList, isObject, Ref, type Value } from '../../../core/value.ts';
import { schemaBelow, schemasAlong } from '../../../core/walk.ts';
import { findDelimiter } from '../../../stack/csv.ts';
import { step } from '../../../stack/editor/origin.ts';
import { getContent } from '../../../stack/forms.ts';
import type { ResolvedResource } from '../../../stack/resource.ts';
import { listTypes, resourceSchema } from '../../../stack/schema.ts';
import type { Source, SourceRange, SyntaxNode } from '../../../stack/source.ts';
import type { Tree } from '../../../stack/tree.ts';
import type { Variables } from '../../../stack/variables.ts';
import { formatText } from '../edit/format.ts';
import { type Edit, editYaml, joinSplices, type Splice } from '../edit/index.ts';
import { Uneditable } from '../edit/nodes.ts';
import { writeValue } from '../edit/write.ts';
import type { Group } from './group.ts';
import { type Home, writtenPath } from './home.ts';
import type { LiveEdit } from './live-edit.ts';

/** The edit of one file by a group. */
export type FileEdit = { readonly file: string; readonly range: SourceRange } & (
  | { readonly type: 'yaml'; readonly edit: Edit }
  | { readonly type: 'cell'; readonly splice: Splice }
  /** `now` is what the file held when the stack was read. */
  | { readonly type: 'text'; readonly text: string; readonly now: Value | undefined }
);

type EditInput = {
  readonly byAddress: ReadonlyMap<Address, ResolvedResource>;
  readonly variables: Variables;
  /** The id of a resource, for tables, which hold no references. */
  readonly idOf: (address: Address) => string | undefined;
};

/** The edit that fulfils a group, or why there is none. */
export function buildEdit(
  { liveEdits: [liveEdit], home }: Group,
  input: EditInput,
): FileEdit | { readonly reason: string } {
  if (home.type === 'own') return ownEdit(liveEdit, input);
  const { range } = home;
  if (home.type === 'file') {
    const text = String(liveEdit.next);
    if (/^\ufeff|\p{Surrogate}/u.test(text)) {
      return { reason: `${home.file} cannot hold its text as it is` };
    }
    return { type: 'text', file: home.file, range, text, now: liveEdit.now };
  }
  const { file } = range.source;
  const at = { start: range.start, end: range.end };
  if (home.isCell && file.toLowerCase().endsWith('.csv')) {
    const text = cellText(liveEdit.next, input);
    if (text === undefined)
      return { reason: 'a cell of a table holds one value, and this is none' };
    return { type: 'cell', file, range, splice: editCell(range, text) };
  }
  const yaml = (edit: Edit) => yamlEdit(range, edit);
  if (liveEdit.action === 'remove') return yaml({ type: 'remove', at });
  if (liveEdit.next === undefined) {
    const nothing = nothingFor(home);
    return yaml(
      nothing === undefined ? { type: 'remove', at } : { type: 'set', at, tree: nothing },
    );
  }
  const tree = home.isCell ? dataTree(liveEdit.next, input) : treeFor(liveEdit);
  if ('reason' in tree) return tree;
  return yaml(
    liveEdit.action === 'add' ? { type: 'add', to: at, tree } : { type: 'set', at, tree },
  );
}

function ownEdit(
  liveEdit: LiveEdit,
  { byAddress, variables }: EditInput,
): FileEdit | { readonly reason: string } {
  const resource = byAddress.get(liveEdit.address);
  const tree: Tree | { readonly reason: string } =
    liveEdit.next === undefined ? { type: 'bare', text: 'null' } : treeFor(liveEdit);
  if ('reason' in tree) return tree;
  const own = resource && writeOwn(resource, writtenPath(liveEdit), tree, variables);
  return own ?? { reason: 'the resource has no place of its own for it' };
}

/** An edit of a YAML file, at or in a place of it. */
function yamlEdit(range: SourceRange, edit: Edit): FileEdit {
  return { type: 'yaml', file: range.source.file, range, edit };
}

function treeFor({ kind, address, path, next }: LiveEdit): Tree | { readonly reason: string } {
  const schema = schemasAlong(kind.schema, path).at(-1) ?? {};
  const { tree, unwritable } = writeValue(next ?? null, schema, { kind, address, path });
  const [first] = unwritable;
  return first === undefined ? tree : { reason: first.reason };
}

/**
 * Returns the value that says that there is nothing; undefined if the member is removed for that. Null hides the value
 * of another layer, and an empty list stays owned.
 */
function nothingFor({
  schema,
  isLayered,
  isCell,
}: Home & { readonly type: 'value' }): Tree | undefined {
  const types = listTypes(schema);
  if (types.includes('array')) return { type: 'list', items: [] };
  const takesNull = types.includes('null') || types.length === 0;
  return takesNull && (isLayered || isCell) ? { type: 'bare', text: 'null' } : undefined;
}

/** Data of a table: expressions and references mean nothing there. */
function dataTree(value: Value, input: EditInput): Tree {
  if (value instanceof Ref) return { type: 'text', text: input.idOf(value.address) ?? '' };
  if (typeof value === 'string') return { type: 'text', text: value };
  if (isList(value)) {
    return { type: 'list', items: value.map((item) => dataTree(item, input)) };
  }
  if (isObject(value)) {
    const members = Object.entries(value).map(
      ([key, member]) => [key, dataTree(member, input)] as const,
    );
    return { type: 'map', members };
  }
  return { type: 'bare', text: String(value) };
}

function cellText(value: Value | undefined, { idOf }: EditInput): string | undefined {
  if (value === undefined || value === null) return '';
  if (value instanceof Ref) return idOf(value.address);
  return typeof value === 'object' ? undefined : String(value);
}

/**
 * The text of a file after its edits. A file that was as `callsheet fmt` leaves it is so again; in any other,
 * nothing but the edited values changes. Throws `Uneditable`.
 */
export function textAfter(source: Source, edits: readonly FileEdit[]): string {
  const texts = edits.flatMap((edit) => (edit.type === 'text' ? [edit.text] : []));
  if (texts.length > 0) {
    if (new Set(texts).size > 1) throw new Uneditable('two texts are wanted in one file');
    return texts[0] ?? '';
  }
  const cells = edits.flatMap((edit) => (edit.type === 'cell' ? [edit.splice] : []));
  // A line break in a cell is a part of its text.
  if (cells.length > 0) return joinSplices(source.text, cells, { isVerbatim: true });
  const yaml = edits.flatMap((edit) => (edit.type === 'yaml' ? [edit.edit] : []));
  const json = source.file.toLowerCase().endsWith('.json');
  const after = editYaml(source.text, joined(yaml), { json });
  const isFormatted = !json && formatText(source.file, source.text).after === source.text;
  return isFormatted ? (formatText(source.file, after).after ?? after) : after;
}

/** Several members that are added to a map which is itself added make one. */
function joined(edits: readonly Edit[]): readonly Edit[] {
  const kept: Edit[] = [];
  const made = new Map<string, number>();
  for (const edit of edits) {
    const key =
      edit.type === 'add' && edit.key !== undefined
        ? `${edit.to.start}:${edit.to.end} ${edit.key}`
        : '';
    const known = made.get(key);
    const other = known === undefined ? undefined : kept[known];
    if (edit.type === 'add' && known !== undefined && other?.type === 'add') {
      kept[known] = { ...other, tree: mergeTrees(other.tree, edit.tree) };
      continue;
    }
    if (key !== '') made.set(key, kept.length);
    kept.push(edit);
  }
  return kept;
}

function mergeTrees(one: Tree, other: Tree): Tree {
  if (one.type === 'list' && other.type === 'list') {
    return { ...one, items: [...one.items, ...other.items] };
  }
  if (one.type !== 'map' || other.type !== 'map') return other;
  const members = new Map(one.members);
  for (const [key, tree] of other.members) {
    const known = members.get(key);
    members.set(key, known === undefined ? tree : mergeTrees(known, tree));
  }
  return { ...one, members: [...members] };
}

/** A cell of a CSV file with another text: quotes that stand around it stay, and come where they are needed. */
export function editCell({ source, start, end }: SourceRange, text: string) {
  const isQuoted = source.text[start - 1] === '"';
  const inner = text.replaceAll('"', '""');
  if (isQuoted) return { start, end, text: inner };
  const needsQuotes = new RegExp(`["\\r\\n${findDelimiter(source.text).delimiter}]|^\\s|\\s$`).test(
    text,
  );
  return { start, end, text: needsQuotes ? `"${inner}"` : text };
}

/**
 * Writes a value on the resource itself, where it wins over its bases. Undefined for a row: all rows share
 * what is written there.
 */
function writeOwn(
  { address, kind, layers, row }: ResolvedResource,
  path: Path,
  tree: Tree,
  variables: Variables,
): FileEdit | undefined {
  const own = layers.find(({ label }) => label === address)?.body;
  if (own === undefined || row !== undefined) return undefined;
  const root = resourceSchema(kind);
  let node: SyntaxNode = own;
  let schema: FieldSchema = root;
  for (const [index, segment] of path.entries()) {
    const content = getContent(node);
    const inner =
      content.type === 'scalar' ? undefined : step(content, segment, schema, { variables });
    if (inner === undefined) {
      const { range } = content;
      const [first, ...rest] = path.slice(index);
      const made = wrap(rest, tree, schemaBelow(root, schema, segment), root);
      const to = { start: range.start, end: range.end };
      if (content.type === 'list') {
        const element = buildElement(segment, schema, made);
        return yamlEdit(range, { type: 'add', to, tree: element });
      }
      return yamlEdit(range, { type: 'add', to, key: first ?? '', tree: made });
    }
    node = inner;
    schema = schemaBelow(root, schema, segment);
  }
  const { range } = node;
  return yamlEdit(range, { type: 'set', at: { start: range.start, end: range.end }, tree });
}

/** A value below the maps and elements that lead to it. */
function wrap(path: Path, tree: Tree, schema: FieldSchema, root: FieldSchema): Tree {
  const [segment, ...rest] = path;
  if (segment === undefined) return tree;
  const inner = wrap(rest, tree, schemaBelow(root, schema, segment), root);
  if (!isIdentity(segment)) return { type: 'map', members: [[segment, inner]] };
  return { type: 'list', items: [buildElement(segment, schema, inner)] };
}

/** An element with the name that it is known by, so that it is laid over the one of a base. */
function buildElement(segment: string, list: FieldSchema, tree: Tree): Tree {
  const identity = list['x-identity'] ?? 'name';
  const others = tree.type === 'map' ? tree.members.filter(([key]) => key !== identity) : [];
  const name: Tree = { type: 'text', text: identityText(segment) };
  return { type: 'map', members: [[identity, name], ...others] };
}
