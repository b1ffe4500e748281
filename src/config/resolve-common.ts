import type { Common, Foundation } from './foundation.ts';
import type { Problem } from './problems.ts';
import type { Context, Resolved } from './resolved.ts';
import type { Written } from './written.ts';

/**
 * Resolves a member of a resource, or takes what it came to in another one with the same foundation: what is
 * written once for many is resolved once. Where something is wrong with it, each resource says so itself.
 */
export function resolveCommon(
  key: string,
  node: Written,
  foundation: Foundation,
  context: Context,
  resolve: (context: Context) => Resolved,
): Resolved {
  // A layer above may have said something else.
  if (foundation.body.members.get(key)?.value !== node) return resolve(context);
  const known = foundation.common.get(key);
  if (known === 'own') return resolve(context);
  const common = known ?? resolveFirst(node, context, resolve);
  foundation.common.set(key, common);
  if (common === 'own') return resolve(context);
  context.refs.push(...common.refs);
  context.secrets.push(...common.secrets);
  return common.value;
}

function resolveFirst(
  node: Written,
  context: Context,
  resolve: (context: Context) => Resolved,
): Common {
  if (readsRow(node)) return 'own';
  const problems: Problem[] = [];
  const report = { ...context.report, add: (problem: Problem) => problems.push(problem) };
  const found = { refs: [], secrets: [] };
  const value = resolve({ ...context, ...found, report });
  return problems.length > 0 ? 'own' : { value, ...found };
}

/** Whether a row may have a part in what a node comes to; in a template it always may. */
function readsRow(node: Written): boolean {
  if (node.type === 'list') return node.items.some(readsRow);
  if (node.type === 'map') {
    return [...node.members.values()].some(
      ({ key, value }) => key === '$template' || readsRow(value),
    );
  }
  return typeof node.value === 'string' && /\$\{\s*each\./.test(node.value);
}
