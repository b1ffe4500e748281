import type { ASTNode } from '@marcbachmann/cel-js';
import plan from '../../schemas/plan.schema.json' with { type: 'json' };
import { insteadOf } from '../core/nearest.ts';
import { dereference, type FieldSchema, memberSchema } from '../core/schema.ts';
import { nodesIn } from './cel.ts';
import type { RuleProblem } from './rule.ts';

/** A document that rules look at: what describes it. */
type Described = { readonly root: FieldSchema; readonly schema: FieldSchema };

const PLAN: FieldSchema = plan;
const PLAN_PARTS: Readonly<Record<string, Described>> = {
  plan: { root: PLAN, schema: PLAN },
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
  for (const node of nodesIn(ast)) {
    const chain = chainOf(node);
    if (chain === undefined) continue;
    const part = PLAN_PARTS[chain.variable];
    const roots =
      chain.variable === 'resource'
        ? schemas.map((schema) => ({ root: schema, schema }))
        : part && [part];
    if (roots === undefined) continue;
    const candidates = roots.map((root) => lookUp(root, chain.keys));
    if (candidates.length === 0 || candidates.includes('known')) continue;
    const names = candidates.flatMap((one) => (one === 'known' ? [] : one.names));
    const key = chain.keys.at(-1) ?? '';
    const { end } = node.range;
    return {
      span: { start: end - key.length, end },
      message: `asks for ${[chain.variable, ...chain.keys].join('.')}, which there is not`,
      hint: hintFor(key, names),
    };
  }
  return undefined;
}

/** What may stand in the place of the last key, in words, where no such resource has it; undefined where one may. */
export function unknownKey(
  schemas: readonly FieldSchema[],
  keys: readonly string[],
): string | undefined {
  const candidates = schemas.map((schema) => lookUp({ root: schema, schema }, keys));
  if (candidates.length === 0 || candidates.includes('known')) return undefined;
  const names = candidates.flatMap((one) => (one === 'known' ? [] : one.names));
  return hintFor(keys.at(-1) ?? '', names);
}

function hintFor(key: string, names: readonly string[]): string {
  const known = [...new Set(names)].sort();
  return insteadOf(key, known, 'The fields', 'callsheet explain lists those of a kind');
}

/** `resource.extensions.tools` as a variable and keys. */
function chainOf(node: ASTNode) {
  const keys: string[] = [];
  let at: ASTNode = node;
  while (at.op === '.' || at.op === '.?') {
    keys.unshift(at.args[1]);
    at = at.args[0];
  }
  return at.op === 'id' && keys.length > 0 ? { variable: at.args, keys } : undefined;
}

/** Whether a key may be there; else those that may be in its place. */
function lookUp(
  { root, schema }: Described,
  keys: readonly string[],
): 'known' | { readonly names: readonly string[] } {
  let here = schema;
  for (const [index, key] of keys.entries()) {
    const { properties, additionalProperties } = here;
    if (properties === undefined || additionalProperties !== false) {
      // What is open may have anything, unless the schema goes on to say more.
      if (properties === undefined || !Object.hasOwn(properties, key)) return 'known';
    }
    const names = Object.entries(properties)
      .filter(([, field]) => field.readOnly !== true)
      .map(([name]) => name);
    // Only the key that is asked for is told; those on the way are told where they end.
    if (!names.includes(key)) return index === keys.length - 1 ? { names } : 'known';
    here = memberSchema(root, here, key);
  }
  return 'known';
}
