import schema from '../../schemas/plan.schema.json' with { type: 'json' };
import type { PlanDocument } from '../core/plan-document.ts';
import { dereference, type FieldSchema } from '../core/schema.ts';
import { jsonText } from './untrusted.ts';

/**
 * A plan as JSON: two spaces, members in the order of `schemas/plan.schema.json` and, below what it
 * describes, by name; so equal plans give equal text. Ends in a line break.
 */
export function renderPlanJson(plan: PlanDocument): string {
  return [...planJsonPieces(plan)].join('');
}

/** The same text, a change at a time: that of a large plan is longer than a string can be. */
export function* planJsonPieces(plan: PlanDocument): Generator<string> {
  let before = '{';
  for (const [name, described, value] of membersInOrder(schema, plan)) {
    if (value === undefined) continue;
    yield `${before}\n  ${JSON.stringify(name)}: `;
    before = ',';
    if (!Array.isArray(value) || value.length === 0) {
      yield indented(inOrder(described, value), '  ');
      continue;
    }
    const { items = {} } = dereference(schema, described);
    for (const [index, item] of value.entries())
      yield `${index === 0 ? '[' : ','}\n    ${indented(inOrder(items, item), '    ')}`;
    yield '\n  ]';
  }
  yield '\n}\n';
}

function indented(value: unknown, by: string): string {
  return jsonText(value).replaceAll('\n', `\n${by}`);
}

function inOrder(described: FieldSchema, value: unknown): unknown {
  const own = dereference(schema, described);
  if (Array.isArray(value)) return value.map((item: unknown) => inOrder(own.items ?? {}, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    membersInOrder(own, value).map(([name, below, member]) => [name, inOrder(below, member)]),
  );
}

function membersInOrder(
  own: FieldSchema,
  value: object,
): readonly (readonly [name: string, described: FieldSchema, member: unknown])[] {
  const members = new Map<string, unknown>(Object.entries(value));
  const known = Object.keys(own.properties ?? {}).filter((name) => members.has(name));
  const others = [...members.keys()].filter((name) => own.properties?.[name] === undefined).sort();
  const rest = typeof own.additionalProperties === 'object' ? own.additionalProperties : {};
  return [...known, ...others].map((name) => [
    name,
    own.properties?.[name] ?? rest,
    members.get(name),
  ]);
}
