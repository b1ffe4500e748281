/**
 * The one answer to "is this value secret, sensitive or named like one?", and the one walk that takes such values
 * out of a document. Plans, drift, `get`, `pull`, `export`, journals, snapshots, traces and errors all ask here, so
 * that what one of them masks none of them shows.
 *
 * | what tells                              | what is masked                                                 |
 * |-----------------------------------------|----------------------------------------------------------------|
 * | `x-secret`, `x-sensitive`               | every text and number of the field and below it                |
 * | `x-secrets-inside`                      | below it, every text and number that the schema does not name  |
 * | the name of what the schema does not name | every text and number below it                               |
 * | the name in a pair (`{ key, value }`)   | the value beside it                                            |
 * | a list or map of headers                | its values                                                     |
 * | a credential within any text            | that part of the text                                          |
 *
 * An address that is masked as a whole keeps its scheme and host. A plan shows what a name alone hides where the files
 * have it in clear (`InClear`): see decision 14.
 *
 * Harmless values are shown: null, flags, empty texts, placeholders that are filled in during a call, and, where only a
 * name tells, moments and counts. `writeOnly` says that a value is never returned, not that it is secret.
 */

import {
  credentialsIn,
  factsOfName,
  isHarmless,
  MASK,
  maskWhole,
  PLAIN_NAME,
  redactText,
} from './credentials.ts';
import {
  elementSegments,
  extendPath,
  formatPath,
  identitySegment,
  identityText,
  isIdentity,
  type Path,
  shownIdentity,
} from './path.ts';
import type { FieldSchema } from './schema.ts';
import {
  Blob,
  getOwn,
  isList,
  isObject,
  isSameJson,
  type Json,
  type JsonObject,
  LinkedText,
  Ref,
  Secret,
  type Value,
  type ValueObject,
} from './value.ts';
import { elementNode, type FieldNode, memberNode, rootNode } from './walk.ts';

/** How much of a value is secret: nothing, the credentials in a text, or all of it. */
type Sensitivity = 'open' | 'part' | 'whole';

/** Facts of a value that follow from its place. */
export type Secrecy = {
  /** The reason for which it is masked: the schema, or its name. */
  readonly hidden: 'no' | 'name' | 'schema';
  /** Below `x-secrets-inside`. */
  readonly inside: boolean;
  /** An element of a list of headers. */
  readonly headers: boolean;
  /** The name is a plural: numbers are counts (`max_tokens`). */
  readonly counts: boolean;
};

/** A field of a document, on the way down from its root. */
export type FieldContext = { readonly node: FieldNode; readonly secrecy: Secrecy };

/** Nothing is known to be secret. */
export const OPEN: Secrecy = { hidden: 'no', inside: false, headers: false, counts: false };
const BY_SCHEMA: Secrecy = { ...OPEN, hidden: 'schema' };

/** How secret a value is. For a list or an object: `whole` where all below it is masked, `part` where something is. */
export function sensitivity(
  { node, secrecy }: FieldContext,
  value: Value | undefined,
): Sensitivity {
  if (isList(value) || isObject(value)) {
    if (secrecy.hidden !== 'no') return holdsSecret({ node, secrecy }, value) ? 'whole' : 'open';
    return holdsSecret({ node, secrecy }, value) ? 'part' : 'open';
  }
  return scalarSensitivity(secrecy, value);
}

/** Returns true if anything in a value is secret, however deep. */
export function holdsSecret(field: FieldContext, value: Value | undefined): boolean {
  if (isList(value)) {
    const items = itemContext(field);
    return value.some((item) => holdsSecret(items, item));
  }
  if (!isObject(value)) return scalarSensitivity(field.secrecy, value) !== 'open';
  for (const key in value) {
    const member = value[key];
    // Nothing to say of most of what is not set.
    if (member === null || member === undefined || typeof member === 'boolean') continue;
    if (holdsSecret(memberContext(field, key, value), member)) return true;
  }
  return false;
}

/** The same for a text or number, of which only the secrecy of its place is known. */
export function scalarSensitivity(secrecy: Secrecy, value: Value | undefined): Sensitivity {
  if (typeof value === 'string') {
    if (value === '') return 'open';
    if (secrecy.hidden === 'schema') return 'whole';
    if (secrecy.hidden === 'name' && !isHarmless(value, secrecy.counts)) return 'whole';
    return redactText(value) === value ? 'open' : 'part';
  }
  if (typeof value !== 'number') return 'open';
  return secrecy.hidden === 'schema' || (secrecy.hidden === 'name' && !secrecy.counts)
    ? 'whole'
    : 'open';
}

/** The field that a whole document is. */
export function rootContext(root: FieldSchema): FieldContext {
  return { node: rootNode(root), secrecy: OPEN };
}

/** A member. `object`: what it stands in, where that is at hand, since a pair says there what its value is. */
export function memberContext(
  field: FieldContext,
  key: string,
  object?: ValueObject,
): FieldContext {
  const { node } = memberNode(field.node, key, '');
  return { node, secrecy: memberSecrecy(field.secrecy, node, key, object) };
}

/** The elements of a list. */
export function itemContext({ node: list, secrecy }: FieldContext): FieldContext {
  const node = elementNode(list);
  return { node, secrecy: elementSecrecy(node, secrecy) };
}

/**
 * The field that a path leads to. An element is recognised by its identity, which is the name in a pair. `document`: the
 * document that the path leads through, where it is at hand: only there stand the names of pairs in other lists.
 */
export function contextAt(root: FieldSchema, path: Path, document?: ValueObject): FieldContext {
  let field = rootContext(root);
  let value: Value | undefined = document;
  let pair: ValueObject | undefined;
  for (const segment of path) {
    // A key of an object may begin with a bracket, too, and be a secret's name.
    const isElement = field.node.identity !== undefined || INDEX.test(segment);
    if (isElement && isIdentity(segment)) {
      value = isList(value) ? findItem(value, field.node.identity, segment) : undefined;
      field = itemContext(field);
      pair = { key: identityText(segment), value: null };
    } else {
      const object = isObject(value) ? value : undefined;
      field = memberContext(field, segment, object ?? pair);
      value = object && getOwn(object, segment);
      pair = undefined;
    }
  }
  return field;
}

/** The element of a list that a segment of a path names. */
function findItem(list: readonly Value[], identity: string | undefined, segment: string) {
  const at =
    identity === undefined
      ? Number(identityText(segment))
      : elementSegments(identity, list).indexOf(segment);
  return list[at];
}

/** The segment of an element of a list that is not keyed. */
const INDEX = /^\[\d+\]$/;

type FieldFacts = Pick<FieldNode, 'hidden' | 'isNamed' | 'isOfElement' | 'secretsInside'>;

/** Returns the secrecy of a member, from the fields above it, its schema and its name. */
export function memberSecrecy(
  above: Secrecy,
  node: FieldFacts,
  key: string,
  object?: ValueObject,
): Secrecy {
  if (node.hidden || above.hidden === 'schema') return BY_SCHEMA;
  // Nearly all: what the schema names and nothing above says anything of.
  if (above === OPEN && node.isNamed && !node.secretsInside && key !== 'value') return OPEN;
  const label = labelBeside(key, object);
  if (isLabel(key, object, node) && (above.headers || above.hidden === 'no'))
    return above.inside || node.secretsInside ? { ...OPEN, inside: true } : OPEN;
  const isNamedPlainly = node.isNamed && label === undefined;
  const { secret, plural, headers } = isNamedPlainly ? PLAIN_NAME : factsOfName(label ?? key);
  const isBelow = above.hidden === 'name';
  const isHidden = secret || headers || isBelow || (above.inside && !node.isNamed);
  const inside = above.inside || node.secretsInside;
  if (isHidden === isBelow && inside === above.inside && !headers) return above;
  const counts = isBelow ? above.counts : secret && plural;
  return { hidden: isHidden ? 'name' : 'no', inside, headers: headers || above.headers, counts };
}

/** The same for an element of a list. */
export function elementSecrecy(node: FieldFacts, above: Secrecy): Secrecy {
  if (node.hidden) return BY_SCHEMA;
  return node.secretsInside && !above.inside ? { ...above, inside: true } : above;
}

/** Members that say what the `value` beside them is. */
const LABELS = ['key', 'name', 'header'];

/** Returns true if a member names its parent: the `key` of an element opens nothing. */
function isLabel(key: string, object: ValueObject | undefined, node: FieldFacts): boolean {
  if (!LABELS.includes(key)) return false;
  if (object !== undefined && Object.hasOwn(object, 'value')) return true;
  return key === 'key' && node.isOfElement;
}

/** The name of a value that is one of a pair; undefined for any other member. */
export function labelBeside(key: string, object: ValueObject | undefined): string | undefined {
  if (key !== 'value' || object === undefined) return undefined;
  const label = LABELS.map((name) => object[name]).find((text) => typeof text === 'string');
  return typeof label === 'string' ? label : undefined;
}

// The walk

/** How a document is redacted. */
type Redaction = {
  /**
   * `mask`: secrets are masked where they stand. `withhold`: they are left out and their paths are listed; a text
   * with a credential goes whole.
   */
  readonly how: 'mask' | 'withhold';
  /** Leaves out what the platform owns. */
  readonly onlyOwn?: boolean;
  /** Withholds what is compared as one value as one. */
  readonly asOne?: boolean;
  /**
   * Masks whatever the schema does not name, and as a whole what is masked: the content of a field that is newer
   * than the contract is unknown in a trace.
   */
  readonly strict?: boolean;
  /** Leaves that are secret although nothing here tells: see `knownSecrets`. */
  readonly secrets?: ReadonlySet<string>;
  /** Values that are shown although their names are those of secrets. */
  readonly inClear?: InClear | undefined;
};

/**
 * Finds the values that stand in the files in clear, by path. No name hides them in a plan: Git has them, and a mask
 * would hide the change from its reviewer alone. A schema hides them, and so does a credential within the text.
 */
export type InClear = (path: string) => boolean;

/** Checks that everything in a value that a name hides stands in the files in clear. `path`: where the value is. */
export function isInClear(
  field: FieldContext,
  value: Value | undefined,
  path: string,
  inClear: InClear | undefined,
): boolean {
  if (inClear === undefined || value instanceof Secret) return false;
  const shown = (hidden: InClear) => {
    const how: Redaction = { how: 'mask', inClear: hidden };
    return redactValue(field, value, path, how, []) ?? null;
  };
  return isSameJson(
    shown(inClear),
    shown(() => true),
  );
}

/** A document that may be shown or kept, and the paths of what was left out of it. */
export type Redacted = { readonly document: JsonObject; readonly withheld: readonly string[] };

const NO_PATHS: ReadonlySet<string> = new Set();

/**
 * The one walk: takes out of a document what `sensitivity` calls secret. References and files stay; so does the source
 * of a secret, but for what reads as a credential in its command.
 */
export function redact(root: FieldSchema, document: ValueObject, how: Redaction): Redacted {
  const withheld: string[] = [];
  const value = redactValue(rootContext(root), document, '', how, withheld);
  return { document: isObject(value) ? value : {}, withheld };
}

/** A value that stands at a path, with its secrets masked and without what the platform owns. */
export function maskAt(
  root: FieldSchema,
  path: Path,
  value: Value | undefined,
  {
    inClear,
    document,
  }: { readonly inClear?: InClear | undefined; readonly document?: ValueObject | undefined } = {},
): Json {
  const how: Redaction = { how: 'mask', onlyOwn: true, inClear };
  const text = inClear === undefined ? '' : formatPath(path);
  return redactValue(contextAt(root, path, document), value, text, how, []) ?? null;
}

/** The mask of a value that is masked whatever it is. */
export function maskScalar(value: Value | undefined): string {
  return typeof value === 'string' ? maskWhole(value) : MASK;
}

/** A value of which no schema is known, such as what a platform says in a refusal, with its secrets masked. */
export function maskUnknown(value: Json): Json {
  return redactValue(rootContext(NO_SCHEMA), value, '', { how: 'mask' }, []) ?? null;
}

const NO_SCHEMA: FieldSchema = {};

/** The value at a path as a trace may show it: only what the schema names and does not call secret. */
export function maskStrictly(root: FieldSchema, path: Path, value: Json): Json {
  return redactValue(contextAt(root, path), value, '', { how: 'mask', strict: true }, []) ?? null;
}

/** Every text and number of a value that is secret, and every credential in a text. */
export function secretTexts(field: FieldContext, value: Value | undefined): readonly string[] {
  if (isList(value)) {
    const items = itemContext(field);
    return value.flatMap((item) => secretTexts(items, item));
  }
  if (isObject(value)) {
    return Object.keys(value).flatMap((key) =>
      secretTexts(memberContext(field, key, value), value[key]),
    );
  }
  const found = scalarSensitivity(field.secrecy, value);
  if (found === 'open') return [];
  return found === 'whole' || typeof value !== 'string' ? [String(value)] : credentialsIn(value);
}

/**
 * A document as a journal keeps it: without what the platform owns and without secrets, and the paths of the latter.
 * A value that is compared as one is withheld as one if anything in it is secret.
 */
export function withhold(
  root: FieldSchema,
  document: ValueObject,
  secrets: ReadonlySet<string> = NO_PATHS,
): Redacted {
  return redact(root, document, { how: 'withhold', onlyOwn: true, asOne: true, secrets });
}

/** A document with its secrets masked. */
export function mask(
  root: FieldSchema,
  document: ValueObject,
  more: Omit<Redaction, 'how'> = {},
): JsonObject {
  return redact(root, document, { ...more, how: 'mask' }).document;
}

function redactValue(
  field: FieldContext,
  value: Value | undefined,
  text: string,
  redaction: Redaction,
  withheld: string[],
): Json | undefined {
  if (value === undefined || value === null) return null;
  if (value instanceof Secret) return new Secret(redactText(value.source)).toJSON();
  if (value instanceof Ref || value instanceof Blob) return value.toJSON();
  if (value instanceof LinkedText)
    return redactValue(field, value.toJSON(), text, redaction, withheld);
  const { how, secrets = NO_PATHS } = redaction;
  const isMask = how === 'mask';
  const withhold = () => {
    withheld.push(text);
    return undefined;
  };
  if (secrets.size > 0 && secrets.has(text)) return isMask ? maskScalar(value) : withhold();
  const isContainer = isList(value) || isObject(value);
  if (redaction.strict === true && (field.node.isFree || field.secrecy.hidden !== 'no'))
    return MASK;
  if (isContainer) {
    const isOne = redaction.asOne === true && isComparedWhole(field.node, value);
    if (isOne && field.secrecy.hidden !== 'schema' && holdsSecret(field, value)) return withhold();
    return redactMembers(field, value, text, redaction, withheld);
  }
  const found = scalarSensitivity(field.secrecy, value);
  if (found === 'open') return value;
  if (!isMask) return withhold();
  const isShown = field.secrecy.hidden === 'name' && redaction.inClear?.(text) === true;
  if (found === 'whole' && !isShown) return maskScalar(value);
  return typeof value === 'string' ? redactText(value) : value;
}

/** An element that still says which one it is, where its identity was left out for a credential in it. */
function identified(left: Json, element: Value, identity: string | undefined): Json {
  if (identity === undefined || !isObject(left) || !isObject(element)) return left;
  const name = getOwn(element, identity);
  if (typeof name !== 'string' || Object.hasOwn(left, identity)) return left;
  return { [identity]: shownIdentity(name), ...left };
}

function isComparedWhole({ isWhole, identity }: FieldNode, value: Value): boolean {
  return isWhole || (isList(value) && identity === undefined);
}

function redactMembers(
  field: FieldContext,
  value: readonly Value[] | ValueObject,
  text: string,
  redaction: Redaction,
  withheld: string[],
): Json {
  const { node, secrecy } = field;
  // The path of a masked value is not needed.
  const isPlaced =
    redaction.how === 'withhold' ||
    redaction.secrets !== undefined ||
    redaction.inClear !== undefined;
  if (isList(value)) {
    const items = itemContext(field);
    const list: Json[] = [];
    const { identity } = node;
    const segments =
      isPlaced && identity !== undefined ? elementSegments(identity, value) : undefined;
    for (const [index, item] of value.entries()) {
      const segment = segments?.[index] ?? identitySegment(String(index));
      const at = isPlaced ? extendPath(text, segment) : '';
      const one = redactValue(items, item, at, redaction, withheld);
      if (one !== undefined) list.push(identified(one, item, identity));
    }
    return list;
  }
  const members: [string, Json][] = [];
  for (const [key, member] of Object.entries(value)) {
    const { node: below, text: at } = memberNode(node, key, text);
    if (member === undefined || (redaction.onlyOwn === true && below.isReadOnly)) continue;
    const inner = { node: below, secrecy: memberSecrecy(secrecy, below, key, value) };
    const one = redactValue(inner, member, at, redaction, withheld);
    if (one !== undefined) members.push([key, one]);
  }
  // Put in one by one, a member named `__proto__` would be none.
  return Object.fromEntries(members);
}
