import { isResourceName } from '../core/address.ts';
import type { Json } from '../core/value.ts';
import type { WrittenRule } from '../rules/rule.ts';
import { fileWords } from './file-words.ts';
import { isUnreadable } from './folder.ts';
import { nearest } from './nearest.ts';
import { resolve } from './resolve.ts';
import {
  below,
  type Context,
  fail,
  isResolvedList,
  type Resolved,
  type ResolvedObject,
  rootField,
} from './resolved.ts';
import { KIND_NAMES, ruleSchema, rulesSchema } from './rules-schema.ts';
import { type Place, positionOf } from './source.ts';
import { type Member, memberOf, type Written, type WrittenMap } from './written.ts';
import { parseYaml } from './yaml.ts';

/** A rule of the team with its places. */
export type PlacedRule = WrittenRule & {
  /** `on` is one kind, and no list. */
  readonly isOneKind: boolean;
  readonly keyPlace: Place;
  /** Where the value of a member stands, or what keys lead to in its JSON Schema. */
  readonly placeOf: (member: string, keys?: readonly string[]) => Place;
};

type ReadRules = {
  readonly rules: readonly PlacedRule[];
  /** What the settings' schema judges. */
  readonly document: Resolved | undefined;
};

/** Reads `rules:`. A rule of which something is wrong is left out; its schema speaks of most of it. */
export function readRules(node: Written | undefined, context: Context): ReadRules {
  if (node?.type !== 'map') {
    const document = node && resolve(node, rootField(rulesSchema), context);
    return { rules: [], document };
  }
  const read = [...node.members.values()].map(
    (member): [string, Resolved, PlacedRule | undefined] => {
      const { resolved, schema } = resolveRule(member, context);
      const isNamed = checkName(member, context);
      // One that cannot be read was reported, and stands all the same.
      const isShaped = memberOf(member.value, 'schema') !== undefined;
      const document = { ...resolved, ...(isShaped ? { schema: {} } : {}) };
      const isMap = member.value.type === 'map';
      const rule = isNamed && isMap ? placedRule(member, resolved, schema) : undefined;
      return [member.key, isMap ? document : plainOf(member.value), rule && checked(rule, context)];
    },
  );
  return {
    rules: read.flatMap(([, , rule]) => rule ?? []),
    document: Object.fromEntries(read.map(([name, document]) => [name, document])),
  };
}

function fieldOf(name: string) {
  return below(below(rootField(rulesSchema), rulesSchema, 'rules'), ruleSchema, name);
}

/** A rule's members. Its JSON Schema has `$` keys of its own, so no form is looked for in it. */
function resolveRule(
  { key, value }: Member,
  context: Context,
): { readonly resolved: ResolvedObject; readonly schema: Written | undefined } {
  if (value.type !== 'map') return { resolved: {}, schema: undefined };
  const { schema, rest } = withoutSchema(value);
  const resolved = resolve(rest, fieldOf(key), context);
  return {
    resolved:
      typeof resolved === 'object' && resolved !== null && !isResolvedList(resolved)
        ? (Object.fromEntries(Object.entries(resolved)) satisfies ResolvedObject)
        : {},
    schema: schema && readSchema(key, schema, context),
  };
}

function withoutSchema(value: WrittenMap) {
  const rest = [...value.members].filter(([name]) => name !== 'schema');
  return { schema: value.members.get('schema'), rest: { ...value, members: new Map(rest) } };
}

/** A JSON Schema that is written out, or the file that holds it. */
function readSchema(rule: string, { value }: Member, context: Context): Written | undefined {
  const file =
    value.type === 'map' && value.members.size === 1 ? memberOf(value, '$file')?.value : undefined;
  if (file?.type !== 'scalar' || typeof file.value !== 'string') return value;
  const field = below(fieldOf(rule), {}, 'schema');
  const read = context.folder.text(file.value);
  if (isUnreadable(read)) {
    fail(context, field, file.place, fileWords(file.value, read));
    return undefined;
  }
  // JSON is YAML, and both are read with the same bounds.
  const { root, problems } = parseYaml(read.source);
  for (const problem of problems) context.report.add(problem);
  return root;
}

function checkName({ key, keyPlace }: Member, context: Context): boolean {
  if (isResourceName(key)) return true;
  context.report.add({
    rule: 'rules/name',
    message: `rules has ${JSON.stringify(key)}, which cannot name a rule`,
    hint: 'Use letters, digits, _ and -, and begin with a letter',
    place: keyPlace,
  });
  return false;
}

function placedRule(
  { key, keyPlace, value }: Member,
  resolved: ResolvedObject,
  schema: Written | undefined,
): PlacedRule | undefined {
  const text = (name: string): string | undefined => {
    const given = resolved[name];
    return typeof given === 'string' && given !== '' ? given : undefined;
  };
  const { on } = resolved;
  const kinds = (isResolvedList(on) ? on : [on]).filter((kind) => typeof kind === 'string');
  const message = text('message');
  const require = text('require');
  if (message === undefined || (require === undefined && schema === undefined)) return undefined;
  const { file, line } = positionOf(keyPlace);
  const over = text('over');
  return {
    name: key,
    over: over === 'change' || over === 'plan' ? over : 'resource',
    on: on === undefined ? undefined : kinds,
    isOneKind: typeof on === 'string',
    when: text('when'),
    require,
    schema: schema && plainOf(schema),
    field: text('field'),
    message,
    severity: text('severity') === 'warning' ? 'warning' : 'error',
    source: `${file}:${line}`,
    keyPlace,
    placeOf: (member, keys = []) =>
      (keys.length > 0 && schema !== undefined ? placeBelow(schema, keys) : undefined) ??
      memberOf(value, member)?.value.place ??
      keyPlace,
  };
}

/** The key or element that keys lead to. */
function placeBelow(node: Written, keys: readonly string[]): Place | undefined {
  let [at, place]: readonly [Written | undefined, Place | undefined] = [node, undefined];
  for (const key of keys) {
    const member = memberOf(at, key);
    const next: Written | undefined = at?.type === 'list' ? at.items[Number(key)] : member?.value;
    [at, place] = [next, member?.keyPlace ?? next?.place];
  }
  return place;
}

/** What a schema cannot say of a rule. */
function checked(rule: PlacedRule, context: Context): PlacedRule | undefined {
  const { name, over, on = [], placeOf } = rule;
  // In a list its schema tells.
  const unknown = rule.isOneKind ? on.find((kind) => !KIND_NAMES.includes(kind)) : undefined;
  const tell = (member: string, message: string, hint: string) => {
    fail(context, below(fieldOf(name), {}, member), placeOf(member), {
      rule: 'rules/invalid',
      message,
      hint,
    });
    return undefined;
  };
  if (unknown !== undefined) {
    const close = nearest(unknown, KIND_NAMES);
    const list = `The kinds are ${KIND_NAMES.join(', ')}`;
    const hint = close === undefined ? list : `Did you mean ${close}?`;
    return tell('on', `names ${JSON.stringify(unknown)}, which is no kind`, hint);
  }
  if (over === 'resource') return rule;
  const given = (['schema', 'field'] as const).find((member) => rule[member] !== undefined);
  if (given !== undefined) {
    return tell(
      given,
      `is of no use in a rule over ${over}`,
      'Say it with require, or judge resources',
    );
  }
  if (over === 'plan' && on.length > 0) {
    return tell('on', 'is of no use in a rule over plan', 'Use over: change');
  }
  return rule;
}

/** A node as the plain data that it is, with no form followed and nothing filled in. */
function plainOf(node: Written): Json {
  if (node.type === 'scalar') return node.value;
  if (node.type === 'list') return node.items.map(plainOf);
  return Object.fromEntries(
    [...node.members.values()].map(({ key, value }) => [key, plainOf(value)]),
  );
}
