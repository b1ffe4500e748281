import { getKind } from '../core/address.ts';
import { codeSpan, quoted } from '../core/command-line.ts';
import { isSecretName } from '../core/credentials.ts';
import { nearest, suggestInstead } from '../core/nearest.ts';
import { isIdentity, writtenSegments } from '../core/path.ts';
import type { FieldSchema } from '../core/schema.ts';
import type { Problem } from './diagnostics.ts';
import { interpolate } from './expressions.ts';
import { findForm, resolveForm, resolveText } from './forms.ts';
import { examineNumber } from './plain-secrets.ts';
import {
  type Common,
  type Context,
  elementField,
  type Field,
  fail,
  isHidden,
  type MergedBase,
  mayBeSecret,
  memberField,
  pairIn,
  type Resolved,
  type ResolvedObject,
  redactNode,
  takesSecrets,
} from './resolved.ts';
import { fieldNames, isRefused, listTypes, namedField } from './schema.ts';
import {
  findMember,
  type ListNode,
  listChildren,
  type MapNode,
  type Member,
  type ScalarNode,
  type SyntaxNode,
  textIn,
} from './source.ts';

/** Returns true if the schema allows values of the type. */
function allows(field: Field, type: 'array' | 'object' | 'string'): boolean {
  const types = listTypes(field.node.schema);
  return types.length === 0 || types.includes(type);
}

/** Returns the identity of a list's element, after variables are filled in. */
function getIdentity(item: SyntaxNode, list: Field, context: Context) {
  const key = list.node.schema['x-identity'];
  const value = key === undefined ? undefined : findMember(item, key)?.value;
  const written = textIn(value);
  const text = written === undefined ? undefined : interpolate(written, context).text;
  return value && text !== undefined ? { text, range: value.range } : undefined;
}

function resolveList(node: ListNode, field: Field, context: Context): Resolved {
  const seen = new Set<string>();
  const identities = node.items.map((item) => getIdentity(item, field, context));
  const segments = writtenSegments(identities.map((identity) => identity?.text));
  const repeats = field.node.schema['x-repeats'] === true;
  return node.items.map((item, index) => {
    const identity = identities[index];
    if (!repeats && identity !== undefined && seen.has(identity.text)) {
      fail(context, field, identity.range, {
        rule: 'identity/duplicate',
        message: `has two entries whose ${field.node.schema['x-identity']} is ${JSON.stringify(identity.text)}`,
        hint: 'Callsheet recognises an entry by this name. Give each entry its own',
      });
    }
    if (identity !== undefined) seen.add(identity.text);
    return resolve(item, elementField(field, segments[index] ?? ''), context);
  });
}

/** A key that may be meant as that of a secret has its value kept out of frames, wherever it stands. */
function redactSlip({ key, value }: Member, context: Context): void {
  if (isSecretName(key) || nearest(key, context.secretNames) !== undefined)
    redactNode(context, value);
}

/** The command that documents a field: `callsheet explain 'agent.extensions.tools[]'`. */
function explaining({ path }: Field, { address }: Context): string {
  const kind = address === undefined ? [] : [getKind(address)];
  const name = [...kind, ...path].map((part, at) =>
    isIdentity(part) ? '[]' : at === 0 ? part : `.${part}`,
  );
  return codeSpan(`callsheet explain ${quoted(name.join(''))}`);
}

/** A key that a closed object does not have: most often a slip of the keyboard. */
function reportUnknownKey(member: Member, field: Field, context: Context): void {
  const { key, keyPlace } = member;
  const known = fieldNames(field.node.schema);
  fail(context, field, keyPlace, {
    rule: 'schema/unknown-key',
    message: `has no field ${JSON.stringify(key)}`,
    hint:
      key === 'extends' && field.path.length === 0
        ? 'Did you mean base? A resource is laid over its bases'
        : suggestInstead(key, known, 'The fields', `${explaining(field, context)} lists them`),
  });
  redactSlip(member, context);
}

/**
 * A key of an open object that is nearly one of those the schema names, or that is missing where the specification
 * lists the members. It is sent, so it is only a warning.
 */
function suspectKey(member: Member, node: MapNode, field: Field, context: Context): void {
  const { key, keyPlace } = member;
  const { schema } = field.node;
  redactSlip(member, context);
  const known = fieldNames(schema);
  const close = nearest(
    key,
    known.filter((one) => !node.members.has(one)),
  );
  const isListed = schema['x-section']?.properties !== undefined;
  if (close === undefined && !isListed) return;
  fail(context, field, keyPlace, {
    severity: 'warning',
    rule: 'schema/unknown-key',
    message: `has ${JSON.stringify(key)}, which the schema does not name`,
    hint:
      close === undefined
        ? `It is sent as it is; ${explaining(field, context)} lists the fields`
        : `Did you mean ${close}?`,
  });
}

/** A field that exists and cannot be given: the platform's own, or one that follows from something else. */
function refuseField(
  { key, keyPlace }: Member,
  { readOnly, description }: FieldSchema,
  field: Field,
  context: Context,
) {
  fail(context, field, keyPlace, {
    rule: 'schema/read-only',
    message: `gives ${key}, which ${readOnly === true ? 'only the platform sets' : 'follows from the place of the resource'}`,
    hint: description === undefined ? 'Remove it' : `Remove it: ${description}`,
  });
}

function resolveMap(node: MapNode, field: Field, context: Context): ResolvedObject {
  const resolved: [string, Resolved][] = [];
  const { properties, additionalProperties } = field.node.schema;
  const pair = pairIn(node, (text) => interpolate(text, context).text ?? text);
  for (const member of node.members.values()) {
    const { key, value } = member;
    const named = namedField(field.node.schema, key);
    if (named !== undefined && isRefused(named)) {
      refuseField(member, named, field, context);
      continue;
    }
    if (named === undefined) {
      if (additionalProperties === false) {
        reportUnknownKey(member, field, context);
        continue;
      }
      if (properties !== undefined) suspectKey(member, node, field, context);
    }
    const inner = memberField(field, key, pair);
    const mergedBase = field.path.length === 0 ? context.mergedBase : undefined;
    const outcome =
      mergedBase === undefined
        ? resolve(value, inner, context)
        : resolveCommon(key, value, mergedBase, context, (own) => resolve(value, inner, own));
    resolved.push([key, outcome]);
  }
  return Object.fromEntries(resolved);
}

/** A secret given as it is. It is never quoted, and no frame shows it. */
function refuseLiteral(node: SyntaxNode, field: Field, context: Context): Resolved {
  redactNode(context, node);
  return fail(context, field, node.range, {
    rule: 'secret/literal',
    message: 'is a secret, and must not be written in the configuration',
    hint: 'Write { $secret: env:NAME } and change the secret if the file was ever shared',
  });
}

/** A number that no schema asks for may be a text, such as a telephone number, whose spelling would be lost. */
function checkSpelling(
  { text, range }: ScalarNode,
  value: number,
  field: Field,
  context: Context,
): Resolved {
  if (listTypes(field.node.schema).length > 0 || text === JSON.stringify(value)) return value;
  const lost = isHidden(field) ? '' : `: ${text} becomes ${value}`;
  return fail(context, field, range, {
    rule: 'yaml/number',
    message: `is a number whose spelling would be lost${lost}`,
    hint: 'Put it in quotes if it is a text, or write the number as it is sent',
  });
}

/**
 * Follows the value forms of a document and fills in variables, guided by its schema. What does not fit
 * the schema's types is left as it is: `validate.ts` speaks of it.
 */
export function resolve(node: SyntaxNode, field: Field, context: Context): Resolved {
  // A feature reads it, and says what is wrong with it.
  if (field.node.schema['x-verbatim'] === true) return {};
  if (node.type === 'scalar' && node.value === null) {
    if (!node.empty) return null;
    return fail(context, field, node.range, {
      rule: 'schema/empty',
      message: 'has no value',
      hint: 'Write a value, write null to clear the field, or remove the line',
    });
  }
  const form = node.type === 'map' ? findForm(node, field, context) : undefined;
  if (field.node.schema['x-secret'] === true && form?.key !== '$secret') {
    return refuseLiteral(node, field, context);
  }
  if (form !== undefined && node.type === 'map') return resolveForm(form, node, field, context);
  if (node.type !== 'scalar') {
    if (node.type === 'map' && allows(field, 'object')) return resolveMap(node, field, context);
    if (node.type === 'list' && allows(field, 'array')) return resolveList(node, field, context);
    if (mayBeSecret(field)) redactNode(context, node);
    return node.type === 'map' ? {} : [];
  }
  if (isHidden(field) || (takesSecrets(field) && !allows(field, 'string')))
    redactNode(context, node);
  if (typeof node.value === 'string') return resolveText(node, node.value, field, context);
  if (typeof node.value === 'number') {
    examineNumber(node.value, node.range, field, context);
    return checkSpelling(node, node.value, field, context);
  }
  return node.value;
}

/**
 * Resolves a member of a resource, or takes what it came to in another one with the same merged base: what is
 * written once for many is resolved once. Where something is wrong with it, each resource says so itself.
 */
function resolveCommon(
  key: string,
  node: SyntaxNode,
  mergedBase: MergedBase,
  context: Context,
  resolve: (context: Context) => Resolved,
): Resolved {
  // A layer above may have said something else.
  if (mergedBase.body.members.get(key)?.value !== node) return resolve(context);
  const known = mergedBase.common.get(key);
  if (known === 'own') return resolve(context);
  const common = known ?? resolveFirst(node, context, resolve);
  mergedBase.common.set(key, common);
  if (common === 'own') return resolve(context);
  context.refs.push(...common.refs);
  context.secrets.push(...common.secrets);
  context.inClear?.push(...common.inClear);
  return common.value;
}

function resolveFirst(
  node: SyntaxNode,
  context: Context,
  resolve: (context: Context) => Resolved,
): Common {
  if (readsRow(node)) return 'own';
  const problems: Problem[] = [];
  const report = { ...context.report, add: (problem: Problem) => problems.push(problem) };
  const found = { refs: [], secrets: [], inClear: [] };
  const value = resolve({ ...context, ...found, report });
  return problems.length > 0 ? 'own' : { value, ...found };
}

/** Returns true if a row may have a part in a node's value; in a template it always may. */
function readsRow(node: SyntaxNode): boolean {
  if (node.type === 'scalar') {
    return /\$\{\s*each[.[]/.test(textIn(node) ?? '');
  }
  return findMember(node, '$template') !== undefined || listChildren(node).some(readsRow);
}
