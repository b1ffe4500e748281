import {
  formatPath,
  identityText,
  isIdentity,
  type Path,
  pointerParts,
  writtenSegments,
} from '../core/path.ts';
import {
  type FieldContext,
  itemContext,
  labelBeside,
  memberContext,
  rootContext,
} from '../core/redact.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { Blob, type JsonScalar, Ref, Secret, type ValueObject } from '../core/value.ts';
import type { Problem, Report } from './diagnostics.ts';
import { eachPath, expressionsIn, type Given, type Row, variableName } from './expressions.ts';
import type { Folder } from './folder.ts';
import { FORMATS } from './formats.ts';
import { type Layer, mergeLayers } from './merge.ts';
import { listChildren, type MapNode, type SourceRange, type SyntaxNode, textIn } from './source.ts';
import type { Variables } from './variables.ts';

/** Stands where a value could not be worked out. The reason was reported; nothing else is said of it. */
class Failed {
  readonly failed = true;
}

export const FAILED = new Failed();

/** A document with every value form followed, perhaps with holes. */
export type Resolved =
  | JsonScalar
  | Ref
  | Secret
  | Blob
  | Failed
  | readonly Resolved[]
  | ResolvedObject;
export type ResolvedObject = { readonly [key: string]: Resolved };

function isResolvedObject(value: Resolved | undefined): value is ResolvedObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !isResolvedList(value) &&
    !(value instanceof Ref) &&
    !(value instanceof Secret) &&
    !(value instanceof Blob) &&
    !(value instanceof Failed)
  );
}

/** `Array.isArray` does not narrow readonly arrays. */
export function isResolvedList(value: Resolved | undefined): value is readonly Resolved[] {
  return Array.isArray(value);
}

/** The members of an object; none where the value is something else. */
export function toObject(value: Resolved | undefined): ResolvedObject {
  return isResolvedObject(value) ? value : {};
}

/** The members of an object that are texts. */
export function textMembers(value: Resolved | undefined): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(toObject(value)).flatMap(([name, text]): [string, string][] =>
      typeof text === 'string' ? [[name, text]] : [],
    ),
  );
}

/** The texts of a list, or the one in its place. */
export function textsAmong(value: Resolved | undefined): readonly string[] {
  const all = isResolvedList(value) ? value : [value];
  return all.filter((one) => typeof one === 'string');
}

/**
 * A value as its schema says: its defaults filled in, its formats read, its members in camel case. A map with a default
 * of its own has only the members that are given, or those of the default.
 */
export function readValue(schema: FieldSchema, given: Resolved | undefined): unknown {
  const { properties, items, default: ownDefault, format = '' } = schema;
  const value = given ?? (ownDefault as Resolved | undefined);
  if (properties !== undefined) {
    const members = toObject(value);
    const read = Object.entries(properties).flatMap(([name, member]): [string, unknown][] => {
      if (ownDefault !== undefined && !Object.hasOwn(members, name)) return [];
      const one = readValue(member, members[name]);
      const inCamelCase = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      return one === undefined ? [] : [[inCamelCase, one]];
    });
    return Object.fromEntries(read);
  }
  if (items !== undefined && value !== undefined)
    return (isResolvedList(value) ? value : [value]).flatMap((one) => readValue(items, one) ?? []);
  const read = FORMATS[format]?.read;
  return read === undefined ? value : read(String(value));
}

export type RefUse = { readonly address: string; readonly path: Path; readonly range: SourceRange };

export type SecretUse = {
  readonly source: string;
  readonly path: Path;
  readonly range: SourceRange;
};

export type OrganizationLookup =
  | { readonly id: string }
  | { readonly others: readonly string[] }
  | 'unreadable';

/** The inputs of every document's resolution. */
export type Surroundings = {
  readonly report: Report;
  readonly variables: Variables;
  readonly folder: Folder;
  readonly organization: (name: string) => OrganizationLookup;
  /** Id of the stack's default organization; `failed` where it is named wrongly, which was reported. */
  readonly defaultOrganization: string | 'failed' | undefined;
  /** Environments that could be chosen, where none is. */
  readonly unchosen: readonly string[];
  /** True if a file holds resources and so is no table; a `for_each` that names it was reported. */
  readonly isResourceFile: (path: string) => boolean;
  readonly isKind: (name: string) => boolean;
  /** Names of the fields that hold secrets, in any kind. */
  readonly secretNames: readonly string[];
  /** Gets the number of lines of a table, before it is parsed. */
  readonly onLines?: (lines: number) => void;
  /** Gets the characters of a template that was just filled in. */
  readonly onText?: (characters: number) => void;
};

/** The inputs of one document's resolution, and its collected findings. */
export type Context = Surroundings & {
  /** Messages begin with it: an address or the name of a file. */
  readonly subject: string;
  readonly address: string | undefined;
  readonly refs: RefUse[];
  readonly secrets: SecretUse[];
  /** Takes the paths of values with the name of a secret that stand in the files in clear. */
  readonly inClear?: Path[];
  /** The row of a resource with `for_each`. */
  readonly row?: Row | undefined;
  /** The layers that the resource shares with others. */
  readonly mergedBase?: MergedBase | undefined;
  /** Values of `with` for the current template. */
  readonly given?: ReadonlyMap<string, Given | undefined>;
};

/** A field of the document at hand, with what its schema and its place say of it. */
export type Field = FieldContext & {
  readonly path: Path;
  /** The name beside it, if it is the value of a pair. */
  readonly name?: string | undefined;
};

/**
 * A member of a field; what a schema says about secrets holds for everything below it. `object`: what it stands in, where
 * that is a pair of a name and a value.
 */
export function memberField(field: Field, key: string, object?: ValueObject): Field {
  const last = field.path.at(-1) ?? '';
  // The identity of an element is the name in a pair.
  const isPair = field.node.isElement && isNamedElement(last) && ['key', 'value'].includes(key);
  const pair = isPair ? { key: identityText(last), value: null } : object;
  const name = labelBeside(key, pair);
  return { ...memberContext(field, key, pair), path: [...field.path, key], name };
}

/** Tells the name of an element from its position. */
function isNamedElement(segment: string): boolean {
  return isIdentity(segment) && !/^\[\d*\]$/.test(segment);
}

/** A map that is a pair of a name and a value; undefined for any other. `fill` fills in what stands in a text. */
export function pairIn(
  { members }: MapNode,
  fill: (text: string) => string = (text) => text,
): ValueObject | undefined {
  if (!members.has('value')) return undefined;
  const texts = [...members.values()].flatMap(({ key, value }): [string, string][] => {
    const text = key === 'value' ? '' : textIn(value);
    return text === undefined ? [] : [[key, fill(text)]];
  });
  return Object.fromEntries(texts);
}

/** The elements of a list. */
export function elementField(list: Field, segment: string): Field {
  return { ...itemContext(list), path: [...list.path, segment] };
}

/** The field that a whole document is. */
export function rootField(schema: FieldSchema): Field {
  return { ...rootContext(schema), path: [] };
}

/** Returns true if the field is masked in all output: because of its schema or its name. */
export function isHidden({ secrecy }: Field): boolean {
  return secrecy.hidden !== 'no';
}

/** Returns true if any `$secret` in the field is a secret. */
export function takesSecrets({ secrecy }: Field): boolean {
  return secrecy.hidden === 'schema' || secrecy.inside;
}

/** Returns true if a value of the field may be a secret, so that nothing of it is shown. */
export function mayBeSecret(field: Field): boolean {
  return isHidden(field) || takesSecrets(field);
}

/** `agent.reception: greeting_message`, or `agent.reception` for the document as a whole. */
export function formatSubject(context: Pick<Context, 'subject'>, path: Path): string {
  return path.length === 0 ? context.subject : `${context.subject}: ${formatPath(path)}`;
}

/** Reports a problem with a field. `message` begins with a verb; address and field are put before it. */
export function fail(
  context: Pick<Context, 'report' | 'subject' | 'address'>,
  { path }: Pick<Field, 'path'>,
  range: SourceRange | undefined,
  problem: Problem,
): Failed {
  context.report.add({
    ...problem,
    message: `${formatSubject(context, path)} ${problem.message}`,
    address: context.address,
    path: formatPath(path),
    range,
  });
  return FAILED;
}

/** Keeps what a node holds out of frames, messages and origins, and whatever is filled in in it. */
export function redactNode(context: Context, node: SyntaxNode): void {
  redactWritten(context.report, node);
  redactCells(context, node.range);
  redactExpressions(context, node);
}

/** The same for a node that stands by itself. */
export function redactWritten(report: Pick<Report, 'mask' | 'hide'>, node: SyntaxNode): void {
  report.mask(node.range);
  if (node.origin !== undefined) report.mask(node.origin);
  if (node.type === 'scalar') report.hide(node.text);
  for (const child of listChildren(node)) redactWritten(report, child);
}

/** Hides the columns of the row at hand that a stretch of its table belongs to: a node may be a cell, or stand in one. */
export function redactCells({ row }: Pick<Context, 'row'>, range: SourceRange): void {
  for (const { key, value } of row?.cells.members.values() ?? []) {
    if (covers(value.range, range)) row?.redaction.hide(key);
  }
}

function redactExpressions(context: Context, node: SyntaxNode): void {
  for (const expression of expressionsIn(textIn(node) ?? '')) {
    const name = variableName(expression);
    if (name !== undefined) context.variables.hide(name);
    const [column] = eachPath(expression) ?? [];
    if (column !== undefined) context.row?.redaction.hide(column);
  }
  for (const child of listChildren(node)) redactExpressions(context, child);
}

function covers(outer: SourceRange, inner: SourceRange): boolean {
  return outer.source === inner.source && outer.start <= inner.start && inner.end <= outer.end;
}

/** Layers that many resources begin with, laid over each other once. */
export type MergedBase = {
  readonly body: MapNode;
  /** Resolved members by key; filled as they are resolved. */
  readonly common: Map<string, Common>;
};

/** The value of a member in every resource; `own` where it differs between them, or something is wrong with it. */
export type Common =
  | 'own'
  | {
      readonly value: Resolved;
      readonly refs: readonly RefUse[];
      readonly secrets: readonly SecretUse[];
      readonly inClear: readonly Path[];
    };

/**
 * The merged base that layers make. Undefined where there is none, and where something is wrong with it: then
 * each resource lays the layers itself, and so is named in what is said.
 */
export type MergedBases = (layers: readonly Layer[], schema: FieldSchema) => MergedBase | undefined;

type Step = MergedBase & { readonly above: WeakMap<MapNode, Step | 'faulty'> };

/** Opens the merged bases of one load: layers are identified by the nodes that they were read into. */
export function openMergedBases(): MergedBases {
  const grounds = new WeakMap<FieldSchema, Step['above']>();
  return (layers, schema) => {
    let above: Step['above'] = grounds.get(schema) ?? new WeakMap();
    grounds.set(schema, above);
    let last: Step | undefined;
    for (const { body } of layers) {
      const step: Step | 'faulty' = above.get(body) ?? mergeStep(body, last?.body, schema);
      above.set(body, step);
      if (step === 'faulty') return undefined;
      ({ above } = step);
      last = step;
    }
    return last;
  };
}

function mergeStep(top: MapNode, below: MapNode | undefined, root: FieldSchema): Step | 'faulty' {
  let isFaulty = false;
  const add = () => {
    isFaulty = true;
  };
  const body = mergeLayers(below ?? { ...top, members: new Map() }, top, root, { root, add });
  return isFaulty ? 'faulty' : { body, common: new Map(), above: new WeakMap() };
}

/** One node of a document: what it became, what its schema says and where it was written. */
export type LocatedValue = {
  readonly path: Path;
  readonly value: Resolved | undefined;
  readonly schema: FieldSchema;
  /** Undefined below a value form: the members of a `$file` are not written out. */
  readonly written: SyntaxNode | undefined;
  /** The place of its key; of a list's element, the element itself. */
  readonly keyPlace: SourceRange | undefined;
};

/** Returns true for a form's outcome and a hole, which no schema describes. */
function isSpecial(value: Resolved | undefined): boolean {
  return (
    value instanceof Ref ||
    value instanceof Secret ||
    value instanceof Blob ||
    value instanceof Failed
  );
}

function locateMember(
  root: FieldSchema,
  located: LocatedValue,
  key: string,
): LocatedValue | undefined {
  if (!isResolvedObject(located.value) || !Object.hasOwn(located.value, key)) return undefined;
  const member = located.written?.type === 'map' ? located.written.members.get(key) : undefined;
  return {
    path: [...located.path, key],
    value: located.value[key],
    schema: memberSchema(root, located.schema, key),
    written: member?.value,
    keyPlace: member?.keyPlace,
  };
}

/** The identity of a list's element: the member its schema names, or a set's text itself. */
function getIdentity(list: FieldSchema, element: Resolved | undefined): unknown {
  const key = list['x-identity'];
  if (key !== undefined) return isResolvedObject(element) ? element[key] : undefined;
  return list['x-set'] === true ? element : undefined;
}

function segmentsIn(list: FieldSchema, items: readonly Resolved[]): readonly string[] {
  // Nearly all lists have elements without a name.
  const isNamed = list['x-identity'] !== undefined || list['x-set'] === true;
  return writtenSegments(
    isNamed ? items.map((item) => getIdentity(list, item)) : items.map(() => undefined),
  );
}

function locateElement(
  root: FieldSchema,
  located: LocatedValue,
  index: number,
): LocatedValue | undefined {
  if (!isResolvedList(located.value) || !(index in located.value)) return undefined;
  const items = located.value;
  const written = located.written?.type === 'list' ? located.written.items[index] : undefined;
  return {
    path: [...located.path, segmentsIn(located.schema, items)[index] ?? ''],
    value: items[index],
    schema: itemSchema(root, located.schema),
    written,
    keyPlace: written?.range,
  };
}

/** A whole document. */
export function locateRoot(
  schema: FieldSchema,
  value: Resolved,
  written: SyntaxNode,
  keyPlace: SourceRange,
): LocatedValue {
  return { path: [], value, schema: dereference(schema, schema), written, keyPlace };
}

/** Follows a JSON pointer as far as it leads; a form's outcome is not entered. */
export function followPointer(start: LocatedValue, pointer: string): LocatedValue {
  let located = start;
  for (const key of pointerParts(pointer)) {
    if (isSpecial(located.value)) return located;
    const next = isResolvedList(located.value)
      ? locateElement(start.schema, located, Number(key))
      : locateMember(start.schema, located, key);
    if (next === undefined) break;
    located = next;
  }
  return located;
}

/** Returns true if a JSON pointer leads to or through a form's outcome: `followPointer` without the way there. */
export function isBelowSpecial(value: Resolved, pointer: string): boolean {
  let at: Resolved | undefined = value;
  for (const key of pointerParts(pointer)) {
    if (isSpecial(at)) return true;
    if (isResolvedList(at)) at = at[Number(key)];
    else at = isResolvedObject(at) ? at[key] : undefined;
  }
  return isSpecial(at);
}

/** A value and every one below it; what stands for one value, as a form does, is not entered. */
export function* valuesBelow(root: FieldSchema, located: LocatedValue): Iterable<LocatedValue> {
  yield located;
  const { value } = located;
  if (isResolvedList(value)) {
    for (const index of value.keys()) {
      const inner = locateElement(root, located, index);
      if (inner !== undefined) yield* valuesBelow(root, inner);
    }
  } else if (isResolvedObject(value)) {
    for (const key of Object.keys(value)) {
      const inner = locateMember(root, located, key);
      if (inner !== undefined) yield* valuesBelow(root, inner);
    }
  }
}

/** Follows a path whose list elements are named by identity; undefined where it leads nowhere. */
export function followPath(start: LocatedValue, path: Path): LocatedValue | undefined {
  let located: LocatedValue | undefined = start;
  for (const segment of path) {
    if (located === undefined) return undefined;
    const here: LocatedValue = located;
    if (isIdentity(segment) && isResolvedList(here.value)) {
      const index = segmentsIn(here.schema, here.value).indexOf(segment);
      located = locateElement(
        start.schema,
        here,
        index < 0 ? Number(identityText(segment)) : index,
      );
    } else located = locateMember(start.schema, here, segment);
  }
  return located;
}

/** The elements of a list, or what stands in its place. */
export function listElements(at: LocatedValue | undefined): readonly LocatedValue[] {
  if (at === undefined) return [];
  if (!isResolvedList(at.value)) return [at];
  return at.value.flatMap((_, index) => followPath(at, [`[${index}]`]) ?? []);
}
