import type { Address } from '../../core/address.ts';
import { MASK, maskWhole, redactText } from '../../core/credentials.ts';
import type { TextPart } from '../../core/desired.ts';
import type { SourcePosition } from '../../core/diagnostics.ts';
import type { ValueLayer } from '../../core/documents.ts';
import { clip } from '../../core/errors.ts';
import {
  identityOrdinal,
  identityText,
  isIdentity,
  type Path,
  pathIdentity,
} from '../../core/path.ts';
import { maskScalar, scalarSensitivity } from '../../core/redact.ts';
import type { FieldSchema } from '../../core/schema.ts';
import { getOwn, type Value } from '../../core/value.ts';
import type { Report } from '../diagnostics.ts';
import {
  eachPath,
  expressionsIn,
  fillParts,
  fillRow,
  formatEach,
  interpolate,
  lookUpCell,
  type Part,
  type Scope,
  variableName,
} from '../expressions.ts';
import { type Folder, isUnreadable } from '../folder.ts';
import { getContent, isForm, splitTexts, textsIn } from '../forms.ts';
import {
  elementField,
  type Field,
  followPath,
  mayBeSecret,
  memberField,
  rootField,
} from '../resolved.ts';
import type { ResolvedResource } from '../resource.ts';
import { configName, resourceSchema } from '../schema.ts';
import { readSource } from '../secrets.ts';
import { OWN_MEMBERS } from '../settings-schema.ts';
import {
  findMember,
  membersIn,
  onlyMember,
  type ScalarNode,
  type SourceRange,
  type SyntaxNode,
  textIn,
  toPosition,
} from '../source.ts';
import type { Variables } from '../variables.ts';

export type Origin = {
  readonly address: Address;
  /** Under the platform's names; empty for the resource as a whole. */
  readonly path: Path;
  /** Undefined where the resource does not have it. */
  readonly value: Value | undefined;
  /** Who says something of it, the lowest first: the last one with a value wins. */
  readonly layers: readonly LayerSaid[];
  /** The values of the expressions and files in the layers. */
  readonly filled: readonly Filling[];
};

type LayerSaid = ValueLayer;

/** Follows a value of a resource back to everything that had a part in it. */
export function traceOrigin(
  resource: ResolvedResource,
  path: Path,
  {
    variables,
    root: settings,
    masked,
  }: {
    readonly variables: Variables;
    readonly root: SyntaxNode | undefined;
    readonly masked: Report['masked'];
  },
): Origin {
  const { kind, address, layers, row, located } = resource;
  const scope: Scope = { variables, row };
  const written = configPath(resource, path);
  const root = resourceSchema(kind);
  const said = layers.flatMap(({ label, body }): Said[] => {
    const found = find(body, written, root, scope);
    if (found === undefined) return [];
    const left = row === undefined ? found : find(fillRow(body, row), written, root, scope);
    const { node, field } = found;
    const says = describeNode(node, left?.node);
    return [{ by: label, node, field, says, position: toPosition(node.range) }];
  });
  const last = said.findLast(({ says }) => says !== 'empty');
  const winner = last?.says === 'value' ? last : undefined;
  const [field = ''] = path;
  if (said.length === 0 && path.length === 1) said.push(...inherited(resource, field, settings));
  return {
    address,
    path,
    // Without errors no value has holes.
    value: (followPath(located, written)?.value ??
      (path.length === 1 ? getOwn(resource.document, field) : undefined)) as Value | undefined,
    layers: said.map(({ by, node, field: own, says, position }) => ({
      by,
      says,
      position,
      text: getText(node, own, masked((node.origin ?? node.range).source.file)),
    })),
    filled: winner === undefined ? [] : listFillings(winner, scope),
  };
}

/**
 * Returns the place of a value: the template or file that a text was read from, the cell that a value is made of, or
 * the line that gives it. Undefined if no layer gives it.
 */
export function getSource({
  layers,
  filled,
}: Origin): { readonly file: string; readonly line?: number } | undefined {
  const text = filled.find(
    ({ expression }) => expression === '$file' || expression === '$template',
  );
  if (text !== undefined) return { file: text.by };
  const last = layers.findLast(({ says }) => says !== 'empty');
  const cell = filled.find(({ expression }) => expression === last?.text)?.position;
  return cell ?? last?.position;
}

/**
 * The text of a field in pieces, with what its row and the values of its template fill in. A variable is the same for all
 * resources, and stands as its value. Undefined for what is no text, or has another file for its text.
 */
export function readTextParts(
  resource: ResolvedResource,
  path: Path,
  { variables, folder }: { readonly variables: Variables; readonly folder: Folder },
): readonly TextPart[] | undefined {
  const scope: Scope = { variables, row: resource.row };
  const root = resourceSchema(resource.kind);
  const found = find(resource.body, configPath(resource, path), root, scope);
  if (found === undefined || mayBeSecret(found.field)) return undefined;
  const node = getContent(found.node);
  const cell = cellAt(node, resource.row);
  if (cell !== undefined) return [cell];
  const file = findMember(node, '$file')?.value;
  if (file !== undefined) {
    const name = interpolate(textIn(file) ?? '', scope).text ?? '';
    const read = name === '' ? undefined : folder.text(name);
    return read === undefined || isUnreadable(read) ? undefined : [read.source.text];
  }
  const fill = (expression: string) => fillParts(expression, scope);
  const [only, ...others] = splitTexts(node, found.field, fill, { folder });
  if (only === undefined || others.length > 0) return undefined;
  return joinFilled(only.parts);
}

/** The cell that stands in the place of a value, as `fillRow` puts it there. */
function cellAt({ range }: SyntaxNode, row: Scope['row']): TextPart | undefined {
  const own = row && membersIn(row.cells).find(({ value }) => value.range === range);
  if (own?.value.type !== 'scalar') return undefined;
  const { key: column, value } = own;
  const { file } = range.source;
  return { expression: formatEach([column]), value: value.text, column, file };
}

/** The value of one expression may come in pieces, with one of a variable among them. */
function joinFilled(parts: readonly Part[]): readonly TextPart[] {
  const joined: TextPart[] = [];
  let last: Part['filled'];
  let columns: string[] = [];
  for (const { text, filled, column, findRange } of parts) {
    const isOwn = filled === undefined || variableName(filled.inner) !== undefined;
    const before = joined.at(-1);
    const isNext = filled === last && typeof before === 'object';
    if (!isNext) columns = [];
    const cell = column === undefined ? undefined : findRange?.(0, 0).source.file;
    if (column !== undefined) columns.push(column);
    if (isOwn) joined.push(text);
    else {
      const { value, ...rest } = isNext ? before : { value: '', expression: filled.expression };
      const { column: _, ...others } = rest as Exclude<TextPart, string>;
      joined[joined.length - (isNext ? 1 : 0)] = {
        ...others,
        value: value + text,
        ...(new Set(columns).size === 1 && { column: columns[0] as string }),
        ...(cell !== undefined && { file: cell }),
      };
    }
    last = filled;
  }
  return joined;
}

type Found = { readonly node: SyntaxNode; readonly field: Field };

type Said = Omit<LayerSaid, 'text'> & Found;

/** The organization of the stack stands for that of a resource that names none. */
function inherited(
  { kind }: ResolvedResource,
  field: string,
  settings: SyntaxNode | undefined,
): Said[] {
  const schema = getOwn(kind.schema.properties, field);
  if (schema?.['x-config'] !== 'organization') return [];
  const node = findMember(settings, 'organization')?.value;
  if (node === undefined) return [];
  const own = memberField(rootField(kind.schema), field);
  const position = toPosition(node.range);
  return [{ by: 'the stack', node, field: own, says: 'value', position }];
}

/** The path as the configuration names it. */
export function configPath({ kind }: Pick<ResolvedResource, 'kind'>, [first, ...rest]: Path): Path {
  if (first === undefined) return [];
  const schema = getOwn(kind.schema.properties, first);
  if (schema === undefined)
    return OWN_MEMBERS.includes(first) ? [first, ...rest] : ['unchecked', first, ...rest];
  return [configName(first, schema) ?? first, ...rest];
}

/** Finds a layer's node at a path, or at the last step above it where that is one value. */
function find(body: SyntaxNode, path: Path, root: FieldSchema, scope: Scope): Found | undefined {
  let node: SyntaxNode | undefined = body;
  let field = rootField(root);
  for (const segment of path) {
    const content = node && getContent(node);
    // A form for the whole value stands for the field as well, which may be a secret.
    if (content !== undefined && content.type !== 'scalar' && !isForm(content)) {
      node = step(content, segment, field.node.schema, scope);
      if (node === undefined) return undefined;
    }
    field = isIdentity(segment) ? elementField(field, segment) : memberField(field, segment);
  }
  return node && { node, field };
}

/** The member or the element of a written map or list that a segment of a path names. */
export function step(
  node: SyntaxNode,
  segment: string,
  schema: FieldSchema,
  scope: Scope,
): SyntaxNode | undefined {
  if (node.type !== 'list') return findMember(node, segment)?.value;
  const key = schema['x-identity'];
  const name = identityText(segment);
  const isNamed = (given: SyntaxNode | undefined) => {
    const text = given?.type === 'scalar' ? interpolate(given.text, scope).text : undefined;
    return text !== undefined && pathIdentity(text) === name;
  };
  const named = node.items.filter((item) =>
    isNamed(key === undefined ? item : findMember(item, key)?.value),
  );
  const byName = named[identityOrdinal(segment) - 1];
  const removed = node.items.find((item) => isNamed(findMember(item, '$remove')?.value));
  return byName ?? removed ?? node.items[Number(name)];
}

function describeNode(node: SyntaxNode, left: SyntaxNode | undefined): LayerSaid['says'] {
  if (findMember(node, '$remove') !== undefined) return 'removed';
  return left === undefined ? 'empty' : 'value';
}

const LONGEST = 200;

/**
 * Gives a written value on one line, or its type where it is a whole map or list; masked where it is secret. `masks`:
 * stretches of its file that hold secrets.
 */
function getText(node: SyntaxNode, field: Field, masks: readonly SourceRange[]): string {
  if (isMasked(node, field)) return maskScalar(node.type === 'scalar' ? node.text : null);
  const content = getContent(node);
  const merged = content === node ? '' : ', not merged';
  if (content.type === 'list') return `a list of ${content.items.length}${merged}`;
  if (content.type === 'map' && !isForm(content)) {
    return `a map of ${[...content.members.keys()].join(', ')}${merged}`;
  }
  const text = node.type === 'scalar' ? redactScalar(node, masks) : redactForm(node, masks);
  return clip(redactText(text).replace(/\s+/g, ' ').trim(), LONGEST);
}

/** A text that is masked as a whole holds a credential: as it is written, or only once it is filled in. */
function redactScalar(
  { text, range, origin: { start, end } = range }: ScalarNode,
  masks: readonly SourceRange[],
): string {
  const isHidden = masks.some((mask) => mask.start <= start && end <= mask.end);
  return isHidden && redactText(text) === text && text.includes('${') ? maskWhole(text) : text;
}

/** A form as it is written, without the stretches that hold secrets. */
function redactForm({ range: { source, start, end } }: SyntaxNode, masks: readonly SourceRange[]) {
  let [text, from] = ['', start];
  for (const mask of masks.toSorted((a, b) => a.start - b.start)) {
    if (mask.start < from || mask.end > end) continue;
    text += source.text.slice(from, mask.start) + MASK;
    from = mask.end;
  }
  return text + source.text.slice(from, end);
}

/** A field that may hold a secret is only shown if it plainly names a source. */
function isMasked(node: SyntaxNode, { secrecy }: Field): boolean {
  const content = getContent(node);
  if (isPlainSecret(content)) return false;
  if (node.type === 'scalar' && scalarSensitivity(secrecy, node.text) === 'whole') return true;
  return secrecy.hidden === 'schema' || (secrecy.inside && (isForm(node) || content !== node));
}

function isPlainSecret(node: SyntaxNode): boolean {
  const source = onlyMember(node, '$secret')?.value;
  return source?.type === 'scalar' && !('words' in readSource(source.text));
}

type Filling = {
  /** `${each.name}`, `${var.city}`, `$file`. */
  readonly expression: string;
  /** Undefined for a file, and where it stands for nothing; masked where a secret may be made of it. */
  readonly value?: string | undefined;
  /** The source of the value: `clinics.csv`, `--var`, `its default`. */
  readonly by: string;
  readonly position?: SourcePosition | undefined;
};

/** Everything that is filled in in the written value of a field, each once. */
function listFillings({ node, field }: Found, scope: Scope): readonly Filling[] {
  const expressions = new Map<string, { readonly hidden: boolean }>();
  for (const { text, field: own } of textsIn(node, field)) {
    for (const inner of expressionsIn(text)) {
      const known = expressions.get(inner)?.hidden === true;
      expressions.set(inner, { hidden: mayBeSecret(own) || known });
    }
  }
  const filled = [...expressions].flatMap(([inner, { hidden }]) => {
    const filling = findFilling(inner, scope);
    if (filling === undefined) return [];
    const { value } = filling;
    if (value === undefined) return filling;
    const isSecret = hidden || isRedacted(inner, scope);
    return { ...filling, value: isSecret ? maskWhole(value) : redactText(value) };
  });
  return mayBeSecret(field) ? filled : [...filled, ...filesIn(node, scope)];
}

/** Checks for a variable or a column that fills in a secret, here or elsewhere. */
function isRedacted(inner: string, { variables, row }: Scope): boolean {
  const name = variableName(inner);
  if (name !== undefined) return variables.isHidden(name);
  return row?.redaction.isHidden(eachPath(inner)?.[0] ?? '') === true;
}

function findFilling(inner: string, scope: Scope): Filling | undefined {
  const expression = `\${${inner}}`;
  const name = variableName(inner);
  if (name !== undefined) {
    const origin = scope.variables.findOrigin(name);
    const found = scope.variables.lookup(name);
    const value = typeof found === 'object' && 'value' in found ? found.value : undefined;
    const position = origin?.range && toPosition(origin.range);
    return { expression, value, by: origin?.by ?? 'nothing', position };
  }
  const path = eachPath(inner);
  if (path === undefined || scope.row === undefined) return undefined;
  const found = lookUpCell(scope.row, path);
  const { label, cells } = scope.row;
  if (typeof found === 'string' || !('cell' in found)) {
    return { expression, by: label, position: toPosition(cells.range) };
  }
  const { cell } = found;
  const value = cell.type === 'scalar' ? cell.text : undefined;
  return { expression, value, by: label, position: toPosition(cell.range) };
}

function filesIn(written: SyntaxNode, scope: Scope): readonly Filling[] {
  const node = getContent(written);
  if (node.type !== 'map') return [];
  return ['$file', '$template'].flatMap((form) => {
    const path = node.members.get(form)?.value;
    const text = path?.type === 'scalar' ? interpolate(path.text, scope).text : undefined;
    return text === undefined
      ? []
      : [{ expression: form, by: text, position: { file: text, line: 1, column: 1 } }];
  });
}
