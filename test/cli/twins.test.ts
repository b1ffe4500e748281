import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { isList, isObject, type JsonObject } from '../../src/core/value.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentId, agentRecord, commitAll, pulled } from '../features/writing/pull/stage.ts';

/** Elements of a list that share what they are recognised by: none is lost, mixed up or deleted unannounced. */

const DESK = 'Front desk';
const URL = 'https://mcp.example.test/mcp';
const HEADERS = 'headers: [{ key: X-Api-Key, value: { $secret: env:CRM_KEY } }]';

function extensionsOf(stage: Stage): JsonObject {
  const { extensions } = agentRecord(stage, DESK);
  return isObject(extensions) ? extensions : {};
}

function elementsIn(stage: Stage, list: 'tools' | 'mcp_servers'): readonly JsonObject[] {
  const found = extensionsOf(stage)[list];
  return isList(found) ? found.filter((one) => isObject(one)) : [];
}

/** Somebody adds a connection of the same label, before or behind the one that is there. */
function addTwin(stage: Stage, isFirst: boolean): readonly JsonObject[] {
  const [own = {}] = elementsIn(stage, 'mcp_servers');
  const twin = {
    ...own,
    id: '99999999-9999-4999-a999-999999999999',
    mcp_endpoint_url: 'https://two.example.test/mcp?token=canary-of-the-twin',
  };
  const both = isFirst ? [twin, own] : [own, twin];
  stage.sim.edit(agentId(stage, DESK), {
    extensions: { ...extensionsOf(stage), mcp_servers: both },
  });
  return both;
}

describe('two live MCP connections of one label', () => {
  for (const isFirst of [true, false]) {
    staged(`are refused and both named, the twin ${isFirst ? 'first' : 'last'}`, async (stage) => {
      await stage.apply();
      const both = addTwin(stage, isFirst);
      const own = String(both.find(({ mcp_endpoint_url: url }) => url === URL)?.id);
      const planned = await stage.plan({}, { exit: 4 });
      const [change] = planned.changes;
      expect(change).toMatchObject({ action: 'update', verdict: 'refused', operations: [] });
      for (const part of [own, '99999999-9999', URL, 'two.example.test', 'rename or delete one'])
        expect(change?.reason).toContain(part);
      expect(JSON.stringify(planned)).not.toContain('canary-of-the-twin');
      const before = stage.writes().length;
      await stage.apply({}, { exit: 4 });
      expect(stage.writes()).toHaveLength(before);
      expect(elementsIn(stage, 'mcp_servers')).toEqual(both);
    });
  }

  staged('are refused where the configuration lets go of the list', async (stage) => {
    await stage.apply();
    const both = addTwin(stage, true);
    const yaml = await readFile(join(stage.folder, 'agents.yaml'), 'utf8');
    const [servers = ''] = /^ *mcp_servers:\n(?:^ {8}.*\n)+/m.exec(yaml) ?? [];
    await stage.edit('agents.yaml', servers, '');
    const [change] = (await stage.plan({}, { exit: 4 })).changes;
    expect(change?.reason).toContain('99999999-9999');
    expect(elementsIn(stage, 'mcp_servers')).toEqual(both);
  });

  staged('are left as they are where they are ignored, beside what is written', async (stage) => {
    await stage.apply();
    const both = addTwin(stage, true);
    await stage.edit(
      'agents.yaml',
      '    greeting_message: Harbor',
      '    lifecycle: { ignore: [extensions.mcp_servers] }\n    greeting_message: Harbor',
    );
    await stage.edit('agents.yaml', 'https://crm.example.test/patients', 'https://crm.test/v2');
    await stage.apply();
    expect(elementsIn(stage, 'mcp_servers')).toMatchObject(
      both.map(({ id, mcp_endpoint_url: url }) => ({ id, mcp_endpoint_url: url })),
    );
  });

  longStaged('are drift, and no pull writes one of them', async (stage) => {
    await commitAll(stage);
    await stage.apply();
    addTwin(stage, false);
    const flags = { dir: stage.folder, format: 'json' as const, detailedExitcode: true };
    const said = await stage.run((to) => drift(flags, to), { exit: 2 });
    expect(JSON.parse(said.out).changes[0].fields).toMatchObject([
      { path: 'extensions.mcp_servers[Calendar#2]' },
    ]);
    const yaml = await readFile(join(stage.folder, 'agents.yaml'), 'utf8');
    const document = await pulled(stage, {}, { exit: 'any' });
    expect(JSON.stringify(document)).toContain('several of that name');
    expect(await readFile(join(stage.folder, 'agents.yaml'), 'utf8')).toBe(yaml);
  });
});

describe('a header that is there twice', () => {
  const both = (first: string, second: string) =>
    `parameters: [{ key: q, value: "${first}" }, { key: q, value: "${second}" }]\n          ${HEADERS}`;

  staged('is a list in the order of the configuration', async (stage) => {
    await stage.edit('agents.yaml', HEADERS, both('1', '2'));
    await stage.apply();
    const values = () => elementsIn(stage, 'tools')[0]?.parameters;
    expect(values()).toMatchObject([{ value: '1' }, { value: '2' }]);

    await stage.edit('agents.yaml', both('1', '2'), both('1', '3'));
    const [change] = (await stage.plan()).changes;
    expect(change?.fields).toMatchObject([
      { path: 'extensions.tools[crm_lookup].parameters[q#2].value', before: '2', after: '3' },
    ]);
    await stage.apply();
    expect(values()).toMatchObject([{ value: '1' }, { value: '3' }]);
    await stage.rollback();
    expect(values()).toMatchObject([{ value: '1' }, { value: '2' }]);
  });

  staged('is told where somebody adds one, and pulled as a second one', async (stage) => {
    await stage.edit(
      'agents.yaml',
      HEADERS,
      `parameters: [{ key: q, value: "1" }]\n          ${HEADERS}`,
    );
    await commitAll(stage);
    await stage.apply();
    const [tool = {}] = elementsIn(stage, 'tools');
    const parameters = [
      { key: 'q', value: '1' },
      { key: 'q', value: '2' },
    ];
    stage.sim.edit(agentId(stage, DESK), {
      extensions: { ...extensionsOf(stage), tools: [{ ...tool, parameters }] },
    });
    const [change] = (await stage.plan()).changes;
    expect(change?.fields).toMatchObject([
      { path: 'extensions.tools[crm_lookup].parameters[q#2]', cause: 'drifted' },
    ]);
    await pulled(stage);
    expect((await stage.plan()).changes).toEqual([]);
  });
});
