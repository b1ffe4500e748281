import type { ASTNode } from '@marcbachmann/cel-js';
import plan from '../../../schemas/plan.schema.json' with { type: 'json' };
import { suggestInstead } from '../../core/nearest.ts';
import { dereference, type FieldSchema, memberSchema } from '../../core/schema.ts';
import { getOwn } from '../../core/value.ts';
import { childrenIn } from './cel.ts';
import type { RuleProblem } from './rule.ts';

/** A document that rules look at: what describes it. */
type Described = { readonly root: FieldSchema; readonly schema: FieldSchema };

const PLAN: FieldSchema = plan;
const PLAN_PARTS: Readonly<Record<string, Described>> = {
  plan: wholly(PLAN),
  change: { root: PLAN, schema: dereference(PLAN, { $ref: '#/$defs/change' }) },
};

/**
 * The first field that an expression asks for and that no such document has: `resource.agent_typ`. A slip
 * would otherwise make a rule that never speaks. `schemas` are those of the kinds that the rule is about.
 */
export function unknownField(
  ast: ASTNode,
  schemas: readonly FieldSchema[],
): Omit<RuleProblem, 'member'> | undefined {
  for (const { node, bound } of nodesWithBound(ast, new Set())) {
    const chain = findChain(node);
    if (chain === undefined || bound.has(chain.variable)) continue;
    const part = getOwn(PLAN_PARTS, chain.variable);
    const roots = chain.variable === 'resource' ? schemas.map(wholly) : part && [part];
    if (roots === undefined) continue;
    const hint = insteadOfKey(roots, chain.keys);
    if (hint === undefined) continue;
    const key = chain.keys.at(-1) ?? '';
    const { end } = node.range;
    return {
      span: { start: end - key.length, end },
      message: `asks for ${[chain.variable, ...chain.keys].join('.')}, which does not exist`,
      hint,
    };
  }
  return undefined;
}

/** Macros whose first argument names what stands for each element, or for a value, in those that follow. */
const BINDING = ['all', 'exists', 'exists_one', 'map', 'filter', 'optMap', 'optFlatMap', 'bind'];

/** The nodes of an expression, outermost first, each with the names that macros around it bind. */
function* nodesWithBound(
  node: ASTNode,
  bound: ReadonlySet<string>,
): Generator<{ readonly node: ASTNode; readonly bound: ReadonlySet<string> }> {
  yield { node, bound };
  const inner = findBinding(node);
  if (inner === undefined) {
    for (const child of childrenIn(node.args)) yield* nodesWithBound(child, bound);
    return;
  }
  const within = new Set([...bound, inner.name]);
  for (const child of inner.outside) yield* nodesWithBound(child, bound);
  for (const child of inner.inside) yield* nodesWithBound(child, within);
}

/** Returns the name that a macro binds, and the parts that see it: of `cel.bind(name, value, rest)` the rest alone. */
function findBinding(node: ASTNode) {
  if (node.op !== 'rcall') return undefined;
  const [macro, receiver, [first, ...rest]] = node.args;
  if (!BINDING.includes(macro) || first?.op !== 'id' || rest.length === 0) return undefined;
  const name = first.args;
  if (macro !== 'bind') return { name, outside: [receiver], inside: rest };
  return { name, outside: [receiver, ...rest.slice(0, 1)], inside: rest.slice(1) };
}

/** Returns a hint for a last key that no such resource has; undefined where one may have it. */
export function unknownKey(
  schemas: readonly FieldSchema[],
  keys: readonly string[],
): string | undefined {
  return insteadOfKey(schemas.map(wholly), keys);
}

function wholly(schema: FieldSchema): Described {
  return { root: schema, schema };
}

function insteadOfKey(described: readonly Described[], keys: readonly string[]) {
  const candidates = described.map((one) => lookUp(one, keys));
  if (candidates.length === 0 || candidates.includes('known')) return undefined;
  const names = candidates.flatMap((one) => (one === 'known' ? [] : one.names));
  const known = [...new Set(names)].sort();
  const more = '`callsheet explain` lists those of a kind';
  return suggestInstead(keys.at(-1) ?? '', known, 'The fields', more);
}

/** `resource.extensions.tools` as a variable and keys. */
function findChain(node: ASTNode) {
  const keys: string[] = [];
  let at: ASTNode = node;
  while (at.op === '.' || at.op === '.?') {
    keys.unshift(at.args[1]);
    at = at.args[0];
  }
  return at.op === 'id' && keys.length > 0 ? { variable: at.args, keys } : undefined;
}

/** Returns `known` if the key may be there, else the names that may be in its place. */
function lookUp(
  { root, schema }: Described,
  keys: readonly string[],
): 'known' | { readonly names: readonly string[] } {
  let here = schema;
  for (const [index, key] of keys.entries()) {
    const { properties, additionalProperties } = here;
    if (
      properties === undefined ||
      (additionalProperties !== false && here['x-section']?.properties === undefined)
    ) {
      // An open object may have any key, unless the schema goes on to say more.
      if (properties === undefined || !Object.hasOwn(properties, key)) return 'known';
    }
    const names = Object.entries(properties)
      .filter(([, field]) => field.readOnly !== true)
      .map(([name]) => name);
    // Only the key that is asked for is reported; those on the way are reported as paths of their own.
    if (!names.includes(key)) return index === keys.length - 1 ? { names } : 'known';
    here = memberSchema(root, here, key);
  }
  return 'known';
}
