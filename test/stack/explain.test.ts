import { describe, expect, test } from 'vitest';
import { parsePath } from '../../src/core/path.ts';
import { HARBOR, loadGood, MAIN } from './stack-folder.ts';

const FILES = {
  'callsheet.yaml': `${MAIN}variables: { hello: { default: Hello } }
environments:
  staging:
    patches:
      agent.clinic["oak"]: { voice_settings: { speed: 0.9 } }
`,
  'agents.yaml': `bases:
  ground:
    voice_settings: { speed: 1 }
    description: Ground
    extensions: { tools: [{ type: webhook, name: crm, condition: during_call, method: GET, url: https://crm.test/, headers: [{ key: X-Trace, value: plain }] }] }
  desk:
    base: ground
    greeting_message: \${var.hello}, \${each.name}
agents:
  clinic:
    base: desk
    for_each: { $file: rows.csv }
    key: \${each.slug}
    name: \${each.name}
    voice_settings: { speed: "\${each.speed}" }
    description: { $remove: true }
    system_prompt: { $file: p.md }
    extensions: { tools: [{ name: crm, method: POST }] }
`,
  'rows.csv': 'slug,name,speed\nharbor,Harbor,1.1\noak,Oak,\n',
  'p.md': 'Be kind.\n',
};

async function explain(address: string, path: string, environment?: string) {
  const stack = await loadGood(FILES, { environment, vars: { hello: 'Hi' } });
  const origin = stack.traceOrigin(address, parsePath(path) ?? []);
  if (origin === undefined) return undefined;
  const { value, layers, filled } = origin;
  return {
    value,
    layers: layers.map(({ by, says, text, position }) => [by, says, text, at(position)]),
    filled: filled.map(({ expression, value, by, position }) => [
      expression,
      value,
      by,
      position && at(position),
    ]),
  };
}

function at({ file, line }: { readonly file: string; readonly line: number }): string {
  return `${file}:${line}`;
}

describe('where a value came from', () => {
  test('a text of a base, with a variable and the row', async () => {
    expect(await explain('agent.clinic["harbor"]', 'greeting_message')).toEqual({
      value: 'Hi, Harbor',
      layers: [['base desk', 'value', '${var.hello}, ${each.name}', 'agents.yaml:8']],
      filled: [
        ['${var.hello}', 'Hi', '--var', undefined],
        ['${each.name}', 'Harbor', 'rows.csv', 'rows.csv:2'],
      ],
    });
  });

  test('base, empty cell and overlay', async () => {
    expect(await explain('agent.clinic["oak"]', 'voice_settings.speed', 'staging')).toEqual({
      value: 0.9,
      layers: [
        ['base ground', 'value', '1', 'agents.yaml:3'],
        ['agent.clinic', 'empty', '${each.speed}', 'agents.yaml:15'],
        ['environment staging', 'value', '0.9', 'callsheet.yaml:8'],
      ],
      filled: [],
    });
  });

  test('a cell', async () => {
    expect(await explain('agent.clinic["harbor"]', 'voice_settings.speed')).toEqual({
      value: 1.1,
      layers: [
        ['base ground', 'value', '1', 'agents.yaml:3'],
        ['agent.clinic', 'value', '${each.speed}', 'agents.yaml:15'],
      ],
      filled: [['${each.speed}', '1.1', 'rows.csv', 'rows.csv:2']],
    });
  });

  test('what was removed', async () => {
    expect(await explain('agent.clinic["oak"]', 'description')).toEqual({
      value: undefined,
      layers: [
        ['base ground', 'value', 'Ground', 'agents.yaml:4'],
        ['agent.clinic', 'removed', '{ $remove: true }', 'agents.yaml:16'],
      ],
      filled: [],
    });
  });

  test('a member of a list’s element', async () => {
    expect((await explain('agent.clinic["oak"]', 'extensions.tools[crm].method'))?.layers).toEqual([
      ['base ground', 'value', 'GET', 'agents.yaml:5'],
      ['agent.clinic', 'value', 'POST', 'agents.yaml:18'],
    ]);
  });

  test('a file, and a value that a file stands for', async () => {
    expect(await explain('agent.clinic["oak"]', 'system_prompt')).toEqual({
      value: 'Be kind.\n',
      layers: [['agent.clinic', 'value', '{ $file: p.md }', 'agents.yaml:17']],
      filled: [['$file', undefined, 'p.md', 'p.md:1']],
    });
  });

  test('the organization of the stack', async () => {
    expect(await explain('agent.clinic["oak"]', 'organization_id')).toEqual({
      value: HARBOR,
      layers: [['the stack', 'value', 'harbor', 'callsheet.yaml:3']],
      filled: [],
    });
  });

  test('a sensitive value is not shown as it is written', async () => {
    const header = 'extensions.tools[crm].headers[X-Trace].value';
    const origin = await explain('agent.clinic["oak"]', header);
    expect(origin?.layers.map(([, , text]) => text)).toEqual(['(secret)']);
  });

  test('no resource, and no such field', async () => {
    expect(await explain('agent.nobody', 'name')).toBeUndefined();
    expect(await explain('agent.clinic["oak"]', 'model')).toEqual({
      value: undefined,
      layers: [],
      filled: [],
    });
  });
});
