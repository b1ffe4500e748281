import { expect, it } from 'vitest';
import { type FieldSchema, itemSchema, memberSchema } from '../../src/core/schema.ts';
import { isList, isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { createReader } from '../../src/live/reader.ts';
import { staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { samples } from '../kinds/samples.ts';
import { open, script, useScripts } from '../platform/platform.ts';

/** A platform may return a member under the name that it is written under (`x-write`): it is that field all the same. */

useScripts();

/** The record with one member under its write name, for each member that has one; nested ones too. */
function* respelled(
  root: FieldSchema,
  schema: FieldSchema,
  value: Json,
): Generator<readonly [name: string, value: Json]> {
  if (schema['x-whole']) return;
  if (isList(value)) {
    for (const [index, item] of value.entries())
      for (const [name, other] of respelled(root, itemSchema(root, schema), item))
        yield [name, value.with(index, other)];
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      const own = memberSchema(root, schema, key);
      const written = own['x-write'] ?? key;
      if (written !== key) {
        const { [key]: _, ...rest } = value;
        yield [written, { ...rest, [written]: member }];
      }
      for (const [name, other] of respelled(root, own, member))
        yield [`${key}.${name}`, { ...value, [key]: other }];
    }
  }
}

const id = '7d1f2c3b-4a5e-4f60-8b9c-0d1e2f3a4b5c';

const kind = kindNamed('agent');
const facets = new Set(kind.facets.map(({ field }) => field));
const sample = samples.find((one) => one.kind === kind.name)?.whole ?? {};
const record: JsonObject = {
  id,
  ...Object.fromEntries(Object.entries(sample).filter(([field]) => !facets.has(field))),
};

async function read(data: Json): Promise<JsonObject | undefined> {
  script({ [`GET /v1/agents/${id}`]: [{ body: { data } }] });
  const live = await createReader(open()).read(kind, { id, scope: {} }, new Set());
  return live?.document;
}

it.each([...respelled(kind.schema, kind.schema, record)])(
  'a live %s reads as under its own name',
  async (_, other) => expect(await read(other)).toEqual(await read(record)),
);

staged('a member under its write name in an object that is sent whole', async (stage) => {
  await stage.apply();
  const { record } = agentNamed(stage.sim);
  const { mcp_servers: servers } = record.extensions as { mcp_servers: JsonObject[] };
  Object.assign(servers[0] ?? {}, {
    pre_answer_calls: [{ tool_name: 'find', inputSchema: { type: 'object' } }],
  });
  await stage.edit(
    'agents.yaml',
    'name: crm_lookup',
    'name: crm_lookup\n          description: Finds.',
  );
  await stage.apply();
  expect(agentNamed(stage.sim).record.extensions).toMatchObject({
    tools: [{ description: 'Finds.' }],
    mcp_servers: [{ pre_answer_calls: [{ tool_name: 'find', input_schema: { type: 'object' } }] }],
  });
});
