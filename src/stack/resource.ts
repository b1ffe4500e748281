import type { Address } from '../core/address.ts';
import type { Lifecycle } from '../core/desired.ts';
import { didYouMean } from '../core/nearest.ts';
import { formatPath, identityText, isIdentity, type Path, parsePath } from '../core/path.ts';
import {
  dereference,
  type FieldSchema,
  itemSchema,
  type KindSchema,
  memberSchema,
  namesField,
} from '../core/schema.ts';
import { Blob, oncePer, plainId } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Inherited } from './collect.ts';
import type { Composed, ComposedResource } from './compose.ts';
import type { Report } from './diagnostics.ts';
import type { Row } from './expressions.ts';
import type { Layer } from './merge.ts';
import { resolve } from './resolve.ts';
import {
  type Context,
  fail,
  followPath,
  isResolvedList,
  type LocatedValue,
  locateRoot,
  type RefUse,
  type Resolved,
  type ResolvedObject,
  rootField,
  type SecretUse,
  type Surroundings,
  toObject,
} from './resolved.ts';
import { configName, fieldNames, isFree, listTypes, namedField, resourceSchema } from './schema.ts';
import { findMember, type MapNode, type SourceRange, type SyntaxNode } from './source.ts';
import { validate } from './validate.ts';

/** A resource with its forms followed and its schema checked; there may be holes. */
export type ResolvedResource = {
  readonly kind: Kind;
  readonly address: Address;
  /** The place of its key; all rows have the same. */
  readonly keyPlace: SourceRange;
  /** The place of the row, or of the resource itself. */
  readonly ownPlace: SourceRange;
  /** The lowest first. */
  readonly layers: readonly Layer[];
  /** The layers laid over each other. */
  readonly body: MapNode;
  readonly row: Row | undefined;
  /** The whole of it as it was written and became, under the configuration's names. */
  readonly located: LocatedValue;
  /** In the platform's field names; what stood under `unchecked` is beside them. */
  readonly document: ResolvedObject;
  readonly lifecycle: Lifecycle;
  readonly refs: readonly RefUse[];
  readonly secrets: readonly SecretUse[];
  /** Paths of values of `document` with the name of a secret that stand in the files in clear. */
  readonly inClear: readonly string[];
  /** Finds a field of `document`; undefined for one that is not written out. */
  readonly findRange: (path: string) => SourceRange | undefined;
};

/** A field that follows from something else, with the member that it follows from. */
type Derived = { readonly value: Resolved; readonly from: string };

/** Returns the stack's organization for a resource that names none. */
function missingOrganization(
  field: string,
  keyPlace: SourceRange,
  context: Context,
): Resolved | undefined {
  const { defaultOrganization: id, unchosen } = context;
  if (id === undefined) {
    context.report.add({
      rule: 'organization/missing',
      message: `${context.subject} belongs to no organization`,
      hint:
        unchosen.length === 0
          ? 'Add organization: NAME to it, or to callsheet.yaml for all resources'
          : `Choose an environment with --env (${unchosen.join(', ')}), or add organization: NAME`,
      address: context.address,
      path: field,
      range: keyPlace,
    });
  }
  return id === 'failed' ? undefined : id;
}

/** The name of a document: on the platform it is known by its file's, so `name` itself cannot be given. */
function nameOfFile(kind: Kind, fields: ReadonlyMap<string, Resolved>): Derived | undefined {
  if (kind.schema.properties?.name?.['x-config'] !== false) return undefined;
  for (const [field, schema] of Object.entries(kind.schema.properties)) {
    const blob = schema['x-file'] === undefined ? undefined : fields.get(field);
    if (blob instanceof Blob)
      return { value: blob.path.split('/').at(-1) ?? blob.path, from: field };
  }
  return undefined;
}

/** From the platform's names to the configuration's. */
const configNames = oncePer(({ schema: { properties = {} } }: Kind) => {
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(properties)) {
    const config = configName(name, schema);
    if (config !== undefined) names.set(name, config);
  }
  return names;
});

/** A path as `document` has it. */
function platformPath(kind: Kind, [first = '', ...rest]: Path): Path {
  if (first === 'unchecked') return rest;
  const [name = first] = [...configNames(kind)].find(([, config]) => config === first) ?? [];
  return [name, ...rest];
}

/** Returns the place of a member: its key, or its value where that is elsewhere, as a cell is. */
function rangeOfMember(
  member:
    | { readonly keyPlace: SourceRange | undefined; readonly value: SyntaxNode | undefined }
    | undefined,
): SourceRange | undefined {
  if (member === undefined) return undefined;
  const { keyPlace, value } = member;
  return value !== undefined && value.range.source !== keyPlace?.source ? value.range : keyPlace;
}

/** Resolves one resource and reports what is wrong with it by itself. */
export function resolveResource(
  composed: ComposedResource,
  inherited: Inherited | undefined,
  surroundings: Surroundings,
): ResolvedResource {
  const { kind, address, keyPlace, isComplete } = composed;
  const report = isComplete ? surroundings.report : withoutAbsence(surroundings.report);
  const made = composed.make(report);
  const { located, context } = resolveMade(composed, made, { ...surroundings, report });
  validate({ subject: address, address, root: located }, context.report);
  const members = toObject(located.value);
  // A field that is new may have any name, also one that an object would take for its prototype.
  const fields = new Map<string, Resolved>(Object.entries(inherited?.fields ?? {}));
  const names = configNames(kind);
  for (const [field, member] of names) {
    if (Object.hasOwn(members, member)) fields.set(field, members[member] ?? null);
    else if (member === 'organization') {
      const id = missingOrganization(field, keyPlace, context);
      if (id !== undefined) fields.set(field, id);
    }
  }
  const name = nameOfFile(kind, fields);
  if (name !== undefined) fields.set('name', name.value);
  if (members.unchecked !== undefined) {
    const written = findMember(made.body, 'unchecked')?.value;
    for (const [field, value] of Object.entries(toObject(members.unchecked))) {
      const known = knownSpelling(kind, field);
      if (known === undefined) fields.set(field, value);
      else
        refuseKnown(kind, field, known, findMember(written, field)?.keyPlace ?? keyPlace, context);
    }
  }
  const life = readLifecycle(members.lifecycle);
  checkIgnored(kind, life.ignore, findMember(made.body, 'lifecycle')?.value, context);
  const { ownPlace, row } = composed;
  const { layers, body } = made;
  return {
    ...{ kind, address, keyPlace, ownPlace, row, layers, body, located },
    document: Object.fromEntries(fields),
    lifecycle: life,
    refs: context.refs,
    secrets: context.secrets,
    inClear: (context.inClear ?? []).map((path) => formatPath(platformPath(kind, path))),
    findRange: (path) => findPlace(path, { kind, located, body, inherited, nameFrom: name?.from }),
  };
}

/** Rules that report a missing member. */
const ABOUT_ABSENCE: readonly string[] = ['schema/required', 'organization/missing'];

/** A report for a resource that lacks a base: what it does not say itself may stand there. */
function withoutAbsence(report: Report): Report {
  return {
    ...report,
    add: (problem) => {
      if (!ABOUT_ABSENCE.includes(problem.rule)) report.add(problem);
    },
  };
}

/**
 * The name that the configuration has for a field given under `unchecked`, where the schema knows it, however it is
 * spelled: as it is read, as it is written, or with other cases and hyphens. Undefined for a field that is new.
 */
export function knownSpelling(kind: Kind, given: string): string | undefined {
  return spellings(kind).get(folded(given));
}

const spellings = oncePer((kind: Kind) => {
  const names = Object.entries(kind.schema.properties ?? {}).flatMap(([name, schema]) => {
    const config = configName(name, schema) ?? name;
    const written = schema['x-write'] ?? name;
    return [name, written, config].map((one) => [folded(one), config] as const);
  });
  return new Map([...impliedNames(kind).map((one) => [folded(one), one] as const), ...names]);
});

/** Returns the fields that a kind adds to its bodies by itself, with and without a file. */
function impliedNames({ implied }: Kind): readonly string[] {
  const file = new Blob('', '', 0, '');
  const common = { body: {}, scope: {}, again: true, isTaken: () => false };
  const drafts = [{}, { file }].map((files) => implied?.({ ...common, files }) ?? {});
  return drafts.flatMap(Object.keys);
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

function refuseKnown(
  { schema }: Kind,
  given: string,
  known: string,
  range: SourceRange,
  context: Context,
): void {
  fail(context, { path: ['unchecked', given] }, range, {
    rule: 'unchecked/known',
    message: `is a field of the schema${given === known ? '' : `, as ${known}`}`,
    hint: isGivable(schema, known)
      ? `Write ${known} in the resource itself, where it is checked`
      : 'Remove it: the platform or Callsheet sets it',
  });
}

function isGivable({ properties = {} }: FieldSchema, known: string): boolean {
  return Object.entries(properties).some(([name, field]) => configName(name, field) === known);
}

/** Finds where a field of a document stands; undefined for one that is not written out. */
function findPlace(
  path: string,
  {
    kind,
    located,
    body,
    inherited,
    nameFrom,
  }: Pick<ResolvedResource, 'kind' | 'located' | 'body'> & {
    readonly inherited: Inherited | undefined;
    readonly nameFrom: string | undefined;
  },
): SourceRange | undefined {
  const [first, ...rest] = parsePath(path) ?? [];
  if (first === undefined) return undefined;
  const handedDown = inherited?.places.get(first);
  if (handedDown !== undefined) return handedDown;
  const own = first === 'name' ? nameFrom : undefined;
  const isNew = own === undefined && first !== 'lifecycle' && !namesField(kind.schema, first);
  const member = own ?? configNames(kind).get(first) ?? first;
  // A field as a whole stands where it is written, whatever it became.
  if (rest.length === 0 && !isNew) return rangeOfMember(body.members.get(member));
  const at = isNew ? ['unchecked', first, ...rest] : [member, ...rest];
  const found = followPath(located, at);
  return found && rangeOfMember({ keyPlace: found.keyPlace, value: found.written });
}

type ResolvedValue = {
  /** The whole of it as it was written and became, under the configuration's names. */
  readonly located: LocatedValue;
  readonly context: Context;
};

/** Follows the forms of a resource whose layers were laid over each other. */
function resolveMade(
  { kind, address, keyPlace, row, mergedBase }: ComposedResource,
  { body }: Composed,
  surroundings: Surroundings,
): ResolvedValue {
  const root = resourceSchema(kind);
  const found = { refs: [], secrets: [], inClear: [] };
  const own = { subject: address, address, ...found, mergedBase, row };
  const context: Context = { ...surroundings, ...own };
  const value = resolve(body, rootField(root), context);
  return { located: locateRoot(root, value, body, keyPlace), context };
}

const LIFECYCLE_DEFAULTS: Lifecycle = { protect: false, ignore: [] };

/** A resource's `lifecycle` block with its defaults. */
function readLifecycle(value: Resolved | undefined): Lifecycle {
  if (value === undefined) return LIFECYCLE_DEFAULTS;
  const { protect, ignore, adopt, heal } = toObject(value);
  const paths = isResolvedList(ignore) ? ignore : [];
  return {
    protect: protect === true,
    ignore: paths.filter((path) => typeof path === 'string'),
    ...(typeof adopt === 'string' ? { adopt: plainId(adopt) } : {}),
    // Absent and false are one, so that writing the default out changes no digest.
    ...(heal === true ? { heal } : {}),
  };
}

/** Reports paths of `lifecycle.ignore` that ignore nothing, as no document has what they name. */
function checkIgnored(
  kind: Kind,
  paths: readonly string[],
  written: SyntaxNode | undefined,
  context: Context,
): void {
  const list = findMember(written, 'ignore')?.value;
  const field = { path: ['lifecycle', 'ignore'] };
  const seen = new Set<string>();
  for (const [index, text] of paths.entries()) {
    const range = (list?.type === 'list' ? list.items[index]?.range : undefined) ?? list?.range;
    if (range === undefined) continue;
    const path = parsePath(text);
    const wrong = wrongPath(kind, path);
    if (wrong !== undefined) {
      fail(context, field, range, {
        severity: wrong.isUncertain === true ? 'warning' : 'error',
        rule: 'lifecycle/path',
        message: `names ${JSON.stringify(text)}, which is ${wrong.message}`,
        hint: wrong.hint,
      });
    } else if (path !== undefined && seen.has(formatPath(path))) {
      fail(context, field, range, {
        severity: 'warning',
        rule: 'lifecycle/path',
        message: `names ${JSON.stringify(text)} twice`,
        hint: 'Remove one of them',
      });
    }
    if (path !== undefined) seen.add(formatPath(path));
  }
}

/** Why a path of `lifecycle.ignore` ignores nothing. */
type WrongPath = {
  /** It follows the path in the message. */
  readonly message: string;
  readonly hint?: string | undefined;
  /** True if the platform may have the field, as the object takes any. */
  readonly isUncertain?: boolean;
};

/** The message for a path that the kind does not have at all. */
const NO_FIELD = 'no field';

/** Returns what is wrong with a path; undefined if it can lead to a field. */
function wrongPath({ name, schema: root }: Kind, path: Path | undefined): WrongPath | undefined {
  const wrong = path === undefined ? { message: NO_FIELD } : wrongStep(root, path);
  return wrong?.message === NO_FIELD ? { ...wrong, message: `no field of ${name}` } : wrong;
}

/** The first step that leads nowhere. */
function wrongStep(root: KindSchema, path: Path): WrongPath | undefined {
  let schema: FieldSchema = root;
  for (const [index, step] of path.entries()) {
    if (isFree(schema)) return undefined;
    const before = path.slice(0, index);
    const wrong = isIdentity(step)
      ? wrongElement(root, schema, before, step, path.slice(index + 1))
      : wrongMember(root, schema, before, step);
    if (wrong !== undefined) return wrong;
    if (schema['x-whole']) return isPart(before);
    schema = isIdentity(step) ? itemSchema(root, schema) : memberSchema(root, schema, step);
  }
  return undefined;
}

function isPart(of: Path): WrongPath {
  const whole = formatPath(of);
  return { message: `a part of ${whole}, which is compared as a whole`, hint: `Write ${whole}` };
}

function isList(schema: FieldSchema): boolean {
  return listTypes(schema).includes('array');
}

/** `tools[a]` */
function wrongElement(
  root: KindSchema,
  schema: FieldSchema,
  before: Path,
  step: string,
  after: Path,
): WrongPath | undefined {
  const whole = formatPath(before);
  if (!isList(schema)) {
    return { message: `an element of ${whole || 'the resource'}, which is not a list` };
  }
  const identity = schema['x-identity'];
  if (identity === undefined) {
    return {
      message: `an element of ${whole}, whose elements have no identity`,
      hint: `Only the whole list can be ignored: ${whole}`,
    };
  }
  if (!/^(\*|-?\d+)$/.test(identityText(step))) return undefined;
  return {
    message: 'an element by its position, and elements have no fixed position',
    hint: byIdentity(root, schema, before, after),
  };
}

/** How an element is named: `Elements go by their name, such as extensions.tools[crm_lookup].url`. */
function byIdentity(root: KindSchema, list: FieldSchema, before: Path, after: Path): string {
  const identity = list['x-identity'] ?? '';
  const field = itemSchema(root, list).properties?.[identity];
  const example = field && dereference(root, field).examples?.[0];
  const name = typeof example === 'string' ? example : 'name';
  return `Name elements by their ${identity}, such as ${formatPath([...before, `[${name}]`, ...after])}`;
}

/** `tools.url`, `greeting_mesage` */
function wrongMember(
  root: KindSchema,
  schema: FieldSchema,
  before: Path,
  step: string,
): WrongPath | undefined {
  const whole = formatPath(before);
  if (isList(schema)) {
    const message = `below ${whole}, which is a list`;
    return schema['x-identity'] === undefined
      ? { message, hint: `Only the whole list can be ignored: ${whole}` }
      : { message, hint: byIdentity(root, schema, before, [step]) };
  }
  if (!listTypes(schema).includes('object')) {
    return {
      message: `below ${whole}, which has no members`,
      hint: `Write ${whole}`,
    };
  }
  const named = namedField(schema, step);
  if (named === undefined) return unknownMember(schema, before, step);
  if (named.readOnly === true) {
    return { message: 'a field that only the platform sets, and that is never compared' };
  }
  return typeof named['x-config'] === 'string' ? notIgnorable(named['x-config']) : undefined;
}

/** Nothing else tells whose a resource is than such a member (`organization`), so it is always compared. */
function notIgnorable(name: string): WrongPath {
  return { message: `the ${name} of a resource, which cannot be ignored` };
}

function unknownMember(schema: FieldSchema, before: Path, step: string): WrongPath | undefined {
  const fields = Object.values(schema.properties ?? {});
  if (fields.some((field) => field['x-config'] === step)) return notIgnorable(step);
  const known = fieldNames(schema).filter(
    (name) => typeof namedField(schema, name)?.['x-config'] !== 'string',
  );
  const hint = didYouMean(step, known, undefined, (close) => formatPath([...before, close]));
  if (schema.additionalProperties === false) {
    return { message: NO_FIELD, hint };
  }
  if (hint === undefined || typeof schema.additionalProperties === 'object') return undefined;
  return { message: `no known field of ${formatPath(before)}`, hint, isUncertain: true };
}
