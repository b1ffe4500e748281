import schema from '../../schemas/plan.schema.json' with { type: 'json' };
import type { PlanDocument } from '../core/plan-document.ts';
import { dereference, type FieldSchema } from '../core/schema.ts';
import { createTextTable } from '../core/texts.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import { jsonText } from './untrusted.ts';

/**
 * A plan as JSON: two spaces, members in the order of `schemas/plan.schema.json` and, below what it
 * describes, by name; so equal plans give equal text. Ends in a line break.
 */
export function renderPlanJson(plan: PlanDocument): string {
  return [...listPieces(plan)].join('');
}

/**
 * A plan as its file holds it: each long text once, in `texts`. A change at a time, as the text of a large plan is
 * longer than a string can be.
 */
export function* planFilePieces(plan: PlanDocument): Generator<string> {
  const { texts, pack } = createTextTable();
  // The schema has it last, so it is complete when it is written.
  yield* listPieces({ ...plan, texts }, pack);
}

function* listPieces(
  plan: PlanDocument,
  pack: (value: Json) => Json = (value) => value,
): Generator<string> {
  const indented = (described: FieldSchema, value: Json, by: string) =>
    jsonText(pack(inOrder(described, value))).replaceAll('\n', `\n${by}`);
  let before = '{';
  for (const [name, described, value] of membersInOrder(schema, plan as unknown as JsonObject)) {
    if (value === undefined) continue;
    yield `${before}\n  ${JSON.stringify(name)}: `;
    before = ',';
    if (!isList(value) || value.length === 0) {
      yield indented(described, value, '  ');
      continue;
    }
    const { items = {} } = dereference(schema, described);
    for (const [index, item] of value.entries()) {
      const text = value === plan.texts ? jsonText(item) : indented(items, item, '    ');
      yield `${index === 0 ? '[' : ','}\n    ${text}`;
    }
    yield '\n  ]';
  }
  yield '\n}\n';
}

function inOrder(described: FieldSchema, value: Json): Json {
  const own = dereference(schema, described);
  if (isList(value)) return value.map((item) => inOrder(own.items ?? {}, item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    membersInOrder(own, value).flatMap(([name, below, member]) =>
      member === undefined ? [] : [[name, inOrder(below, member)]],
    ),
  );
}

function membersInOrder(
  own: FieldSchema,
  value: JsonObject,
): readonly (readonly [name: string, described: FieldSchema, member: Json | undefined])[] {
  const members = new Map(Object.entries(value));
  const known = Object.keys(own.properties ?? {}).filter((name) => members.has(name));
  const others = [...members.keys()].filter((name) => own.properties?.[name] === undefined).sort();
  const rest = typeof own.additionalProperties === 'object' ? own.additionalProperties : {};
  return [...known, ...others].map((name) => [
    name,
    own.properties?.[name] ?? rest,
    members.get(name),
  ]);
}
