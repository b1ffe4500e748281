import { type Address, isAddress } from '../../../core/address.ts';
import type { DesiredResource } from '../../../core/desired.ts';
import { nearest } from '../../../core/nearest.ts';
import { formatPath, type Path } from '../../../core/path.ts';
import {
  dereference,
  type FieldSchema,
  itemSchema,
  memberSchema,
  namesField,
} from '../../../core/schema.ts';
import {
  Blob,
  isList,
  isObject,
  oncePer,
  Ref,
  Secret,
  type Value,
  type ValueObject,
} from '../../../core/value.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { FORMS } from '../../../stack/forms.ts';
import { configName, isText } from '../../../stack/schema.ts';
import { linesOfMembers, type Tree } from '../../../stack/tree.ts';
import { inOrder, resourceKeys } from './format.ts';

export type Writable = Pick<DesiredResource, 'address' | 'kind' | 'document' | 'lifecycle'> & {
  /** The base that it is laid over, whose fields `document` leaves out. */
  readonly base?: string | undefined;
};

/** A partial resource that others are laid over. */
export type WritableBase = {
  readonly name: string;
  readonly kind: Kind;
  readonly base?: string | undefined;
  readonly document: ValueObject;
};

/** A text that may stand in a file of its own. */
export type LongText = { readonly address: Address; readonly path: string; readonly text: string };

export type WriteOptions = {
  readonly kinds: readonly Kind[];
  /** Names of organizations → ids, as `callsheet.yaml` has them. */
  readonly organizations: Readonly<Record<string, string>>;
  /** Id of the stack's organization, which its resources need not name. */
  readonly organization?: string | undefined;
  /** Returns the file of a text, relative to the stack folder; undefined for one that stays in the YAML. */
  readonly fileFor?: (text: LongText) => string | undefined;
  /** The expression that stands for an id which no resource of the stack has, such as `${var.voice}`. */
  readonly expressionFor?: (kind: string, id: string) => string | undefined;
  /** The schema that the first line names for editors. */
  readonly schema?: string;
};

/** A value that the language cannot express. */
export type Unwritable = {
  readonly address: Address;
  readonly path: string;
  readonly reason: string;
};

export type WrittenResources = {
  /** Empty where there is nothing to write. */
  readonly text: string;
  /** Contents of the files that the text names with `$file`, by path. */
  readonly files: ReadonlyMap<string, string>;
  readonly unwritable: readonly Unwritable[];
};

type Context = {
  readonly options: WriteOptions;
  readonly kind: Kind;
  readonly address: Address;
  readonly files: Map<string, string>;
  readonly unwritable: Unwritable[];
};

/**
 * Writes resources as a file of a stack, as a careful person would: sections in the order of kinds, fields
 * in that of the schema, blocks for long texts, braces for what is short, quotes only where they are
 * needed. Loading the file gives the same resources again. The result is as `callsheet fmt` leaves it.
 */
export function writeResources(
  resources: readonly Writable[],
  options: WriteOptions,
): WrittenResources {
  return write(options, (contextFor) =>
    options.kinds.flatMap((kind) => {
      const own = resources.filter((resource) => resource.kind === kind.name);
      if (own.length === 0) return [];
      const bodies = own.map((resource): readonly [Writable, Tree] => [
        resource,
        buildBody(resource, contextFor(kind, resource.address)),
      ]);
      return [`${kind.section}:\n${sectionLines(kind, bodies).join('\n')}\n`];
    }),
  );
}

/** Writes `bases:`. What the language has no words for is not expected in them. */
export function writeBases(
  bases: readonly WritableBase[],
  options: WriteOptions,
): WrittenResources {
  return write(options, (contextFor) => {
    const bodies = bases.map((base): readonly [string, Tree] => [
      base.name,
      buildBody(base, contextFor(base.kind, base.name)),
    ]);
    return [`bases:\n${parted(bodies).join('\n')}\n`];
  });
}

/** A file of these sections, under the line that tells editors the schema. */
function write(
  options: WriteOptions,
  writeSections: (contextFor: (kind: Kind, address: Address) => Context) => readonly string[],
): WrittenResources {
  const files = new Map<string, string>();
  const unwritable: Unwritable[] = [];
  const { schema } = options;
  const head = schema === undefined ? [] : [`# yaml-language-server: $schema=${schema}\n`];
  const sections = writeSections((kind, address) => ({
    options,
    kind,
    address,
    files,
    unwritable,
  }));
  return { text: [...head, ...sections].join('\n'), files, unwritable };
}

/** A value as the language writes it, and what it has no words for. */
export function writeValue(
  value: Value,
  schema: FieldSchema,
  at: { readonly kind: Kind; readonly address: Address; readonly path: Path },
): { readonly tree: Tree; readonly unwritable: readonly Unwritable[] } {
  const options: WriteOptions = { kinds: [at.kind], organizations: {} };
  const context: Context = { ...at, options, files: new Map(), unwritable: [] };
  return { tree: buildTree(value, schema, at.path, context), unwritable: context.unwritable };
}

/** `clinic` and `faq` of `knowledge_source.clinic.faq`. */
function listNames(address: Address): readonly string[] {
  return address.replace(/\[.*$/s, '').split('.').slice(1);
}

function sectionLines(kind: Kind, bodies: readonly (readonly [Writable, Tree])[]): string[] {
  const { nested } = kind;
  if (nested === undefined) {
    return parted(bodies.map(([{ address }, body]) => [listNames(address)[0] ?? '', body]));
  }
  const blocks = new Map<string, Tree & { type: 'map' }>();
  for (const [{ address, document }, body] of bodies) {
    const [block = '', name = ''] = listNames(address);
    const inherited = Object.entries(nested.inherit).map(([member, field]): [string, Tree] => [
      member,
      { type: 'text', text: escaped(String(document[field] ?? '')) },
    ]);
    const [, held] = blocks.get(block)?.members.at(-1) ?? [];
    const before = held?.type === 'map' ? held.members : [];
    const inner: Tree = { type: 'map', members: [...before, [name, body]], isOpen: true };
    blocks.set(block, { type: 'map', members: [...inherited, [nested.key, inner]] });
  }
  return parted([...blocks]);
}

/** Named resources or blocks with an empty line between them. */
function parted(named: readonly (readonly [string, Tree])[]): string[] {
  return named.flatMap(([name, body], index) => [
    ...(index === 0 ? [] : ['']),
    ...(body.type === 'map' && body.members.length > 0
      ? [`  ${name}:`, ...linesOfMembers(body.members, '    ')]
      : [`  ${name}: {}`]),
  ]);
}

function baseMember(base: string | undefined): [string, Tree][] {
  return base === undefined ? [] : [['base', { type: 'text', text: base }]];
}

/** The fields of a document under the names of the configuration. */
function fieldMembers(document: ValueObject, context: Context): [string, Tree][] {
  const { kind, options } = context;
  return Object.entries(document).flatMap(([field, value]): [string, Tree][] => {
    if (!namesField(kind.schema, field)) return [];
    const schema = memberSchema(kind.schema, kind.schema, field);
    const name = configName(field, schema);
    if (name === undefined) return [];
    if (schema['x-config'] !== 'organization') {
      return [[name, buildTree(value, schema, [field], context)]];
    }
    if (value === options.organization) return [];
    const known = Object.entries(options.organizations).find(([, id]) => id === value)?.[0];
    return [[name, { type: 'text', text: known ?? escaped(String(value)) }]];
  });
}

/** The body of a resource or of a base, which has no lifecycle. */
function buildBody(
  {
    document,
    lifecycle,
    base,
  }: Pick<Writable, 'document' | 'base'> & Partial<Pick<Writable, 'lifecycle'>>,
  context: Context,
): Tree {
  const { kind } = context;
  const unchecked = Object.fromEntries(
    Object.entries(document).filter(([field]) => !namesField(kind.schema, field)),
  );
  const members = [...baseMember(base), ...fieldMembers(document, context)];
  const own = {
    ...(lifecycle?.protect && { protect: true }),
    ...(lifecycle !== undefined && lifecycle.ignore.length > 0 && { ignore: lifecycle.ignore }),
    ...(lifecycle?.adopt !== undefined && { adopt: lifecycle.adopt }),
    ...(lifecycle?.heal === true && { heal: true }),
  };
  const rest: ValueObject = {
    ...(Object.keys(own).length > 0 && { lifecycle: own }),
    ...(Object.keys(unchecked).length > 0 && { unchecked }),
  };
  for (const [name, value] of Object.entries(rest)) {
    members.push([name, buildTree(value, {}, [name], context)]);
  }
  return { type: 'map', members: inOrder(members, resourceKeys(kind), ([name]) => name) };
}

/** A literal `${` is written `$${`. */
function escaped(text: string): string {
  // A function, since `$$` in a replacement stands for one `$`.
  return !text.includes('${') ? text : text.replaceAll('${', () => '$${');
}

/** Characters of a key on one line, with its quotes (YAML 1.2, 8.2.2). */
const LONGEST_KEY = 1024;

function refuse(path: Path, reason: string, { address, unwritable }: Context): void {
  unwritable.push({ address, path: formatPath(path), reason });
}

function buildTree(value: Value, schema: FieldSchema, path: Path, context: Context): Tree {
  if (value instanceof Ref) return form('$ref', value.address);
  if (value instanceof Secret) return form('$secret', value.source);
  if (value instanceof Blob) return { type: 'text', text: escaped(value.path) };
  if (typeof value === 'string') return textTree(value, schema, path, context);
  if (isList(value)) {
    const inner = itemSchema(context.kind.schema, schema);
    const items = value.map((item, index) =>
      buildTree(item, inner, [...path, `[${index}]`], context),
    );
    return { type: 'list', items };
  }
  if (isObject(value)) return mapTree(value, schema, path, context);
  return { type: 'bare', text: String(value) };
}

function form(name: string, text: string): Tree {
  return { type: 'map', members: [[name, { type: 'text', text: escaped(text) }]] };
}

function textTree(text: string, schema: FieldSchema, path: Path, context: Context): Tree {
  const { options, address, files } = context;
  const target = schema['x-ref'];
  const expression = target === undefined ? undefined : options.expressionFor?.(target, text);
  if (expression !== undefined) return { type: 'text', text: expression };
  if (target !== undefined && isAddress(text)) {
    refuse(path, 'it is an id that reads like the address of a resource', context);
  }
  const file =
    isText(schema) && isStorable(text)
      ? options.fileFor?.({ address, path: formatPath(path), text })
      : undefined;
  if (file === undefined) return { type: 'text', text: escaped(text) };
  files.set(file, text);
  return form('$file', file);
}

/** Returns true if a file can hold the text: no byte order mark, lone surrogates or returns. */
function isStorable(text: string): boolean {
  return !text.startsWith('\ufeff') && !text.includes('\r') && text.isWellFormed();
}

function mapTree(value: ValueObject, given: FieldSchema, path: Path, context: Context): Tree {
  const { schema: root } = context.kind;
  const schema = dereference(root, given);
  const entries = Object.entries(value);
  const magic = Object.keys(value).filter((key) => key.startsWith('$'));
  const isForm = magic.some((key) => FORMS.some((name) => name === key && name !== '$ref'));
  if (isForm || (entries.length === 1 && magic.some((key) => nearest(key, FORMS) !== undefined))) {
    refuse(path, 'it is data that reads like a value form', context);
  }
  if (Object.hasOwn(value, '<<')) refuse(path, 'it has the key <<', context);
  if (Object.keys(value).some((key) => JSON.stringify(key).length > LONGEST_KEY))
    refuse(path, 'it has a key that is longer than one of YAML may be', context);
  const members = entries.map(([key, member]): [string, Tree] => [
    key,
    buildTree(member, memberSchema(root, schema, key), [...path, key], context),
  ]);
  return { type: 'map', members: inOrder(members, listProperties(schema), ([key]) => key) };
}

/** The members that a schema names, as it has them. */
const listProperties = oncePer(({ properties = {} }: FieldSchema) => Object.keys(properties));
