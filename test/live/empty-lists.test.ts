import { describe, expect } from 'vitest';
import { isList, isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { longRows } from '../long.ts';

/** A list may come back as null, as an empty one, or with null among its elements: nothing is in it but what is said. */

const LISTS: JsonObject = {
  email: ['desk@harbor.example.test'],
  knowledgebase_links: ['https://harbor.example.test/faq'],
  extensions: {
    tools: [
      {
        type: 'webhook',
        name: 'crm_lookup',
        condition: 'during_call',
        method: 'GET',
        url: 'https://crm.example.test/patients',
        parameters: [{ key: 'phone', value: '' }],
      },
    ],
    mcp_servers: [
      {
        connection_name: 'Calendar',
        mcp_endpoint_url: 'https://mcp.example.test/mcp',
        transport_type: 'http',
        allowed_tool_names: ['book'],
        pre_answer_calls: [{ tool_name: 'find' }],
      },
    ],
  },
};

/** The document with one of its lists made something else, by the path of the list. */
function* withList(
  value: Json,
  change: (list: readonly Json[]) => Json,
  path = '',
): Generator<readonly [path: string, value: Json]> {
  if (isList(value)) {
    yield [path, change(value)];
    for (const [index, item] of value.entries())
      for (const [name, other] of withList(item, change, path))
        yield [name, value.with(index, other)];
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value))
      for (const [name, other] of withList(member, change, `${path}.${key}`))
        yield [name, { ...value, [key]: other }];
  }
}

const FORMS: Readonly<
  Record<string, { wanted: (list: readonly Json[]) => Json; live: (list: readonly Json[]) => Json }>
> = {
  'null for an empty one': { wanted: () => [], live: () => null },
  'null beside elements': { wanted: (list) => list, live: (list) => [null, ...list, null] },
  'null alone': { wanted: () => [], live: () => [null] },
};

const SECOND = {
  type: 'webhook',
  name: 'after',
  condition: 'after_call',
  method: 'GET',
  url: 'https://crm.example.test/after',
};

for (const [turn, [form, { wanted, live }]] of Object.entries(FORMS).entries()) {
  describe(form, () => {
    const stored = [...withList(LISTS, live)];
    const rows = [...withList(LISTS, wanted)].map(([path, document], at) => ({
      path,
      document: document as JsonObject & { extensions: { tools: readonly Json[] } },
      live: stored[at]?.[1] as JsonObject & { extensions: JsonObject },
    }));
    for (const { path, document, live: given } of longRows(
      rows,
      (_, at) => at % Object.keys(FORMS).length === turn,
    )) {
      staged(`${path}: nothing to change, and its object can be written`, async (stage) => {
        const write = (fields: JsonObject) =>
          stage.write(
            'agents.yaml',
            JSON.stringify({ agents: { desk: { name: 'Front desk', ...fields } } }),
          );
        await write(document);
        await stage.apply();
        const { record } = agentNamed(stage.sim);
        const { mcp_servers: servers } = record.extensions as {
          mcp_servers?: readonly JsonObject[];
        };
        const { mcp_servers: others } = given.extensions;
        // A connection keeps the members that the platform gave it.
        const kept = isList(others)
          ? others.map((one) => (isObject(one) ? { ...servers?.[0], ...one } : one))
          : others;
        Object.assign(record, given, {
          extensions: { ...given.extensions, mcp_servers: kept },
          updated_at: new Date(Date.now() + 1000).toISOString(),
        });
        expect((await stage.plan({ refresh: 'full' })).changes).toEqual([]);
        const { extensions } = document;
        await write({
          ...document,
          extensions: { ...extensions, tools: [...extensions.tools, SECOND] },
          email: ['other@harbor.example.test'],
        });
        await stage.apply();
      });
    }
  });
}
