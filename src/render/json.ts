import schema from '../../schemas/plan.schema.json' with { type: 'json' };
import type { PlanDocument } from '../core/plan-document.ts';
import { dereference, type FieldSchema } from '../core/schema.ts';
import { escapeInJson } from './untrusted.ts';

/**
 * A plan as JSON: two spaces, members in the order of `schemas/plan.schema.json` and, below what it
 * describes, by name; so equal plans give equal text. Ends in a line break.
 */
export function renderPlanJson(plan: PlanDocument): string {
  return `${escapeInJson(JSON.stringify(inOrder(schema, plan), null, 2))}\n`;
}

function inOrder(described: FieldSchema, value: unknown): unknown {
  const own = dereference(schema, described);
  if (Array.isArray(value)) return value.map((item: unknown) => inOrder(own.items ?? {}, item));
  if (typeof value !== 'object' || value === null) return value;
  const members = new Map<string, unknown>(Object.entries(value));
  const known = Object.keys(own.properties ?? {}).filter((name) => members.has(name));
  const others = [...members.keys()].filter((name) => own.properties?.[name] === undefined).sort();
  const rest = typeof own.additionalProperties === 'object' ? own.additionalProperties : {};
  return Object.fromEntries(
    [...known, ...others].map((name) => [
      name,
      inOrder(own.properties?.[name] ?? rest, members.get(name)),
    ]),
  );
}
