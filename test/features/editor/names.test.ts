import { join } from 'node:path';
import { expect, test } from 'vitest';
import { namesIn, outlineFile } from '../../../src/features/editor/names.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { CLINIC } from '../../e2e/clinic.ts';
import { type Files, folderOf, load, MAIN } from '../../stack/stack-folder.ts';

/** The same stack, written in different ways. */
const WAYS: Readonly<Record<string, Files>> = {
  'in blocks': {
    'a.yaml':
      'agents:\n  # one\n  reception:\n    name: Desk\n    system_prompt: |\n      name: x\n      for_each: y\n  "recall":\n    name: R\n',
  },
  'in one line each': {
    'a.yaml': 'agents:\n  reception: { name: Desk }\n  recall: {\n    name: R }\n',
  },
  'in one line': { 'a.yaml': 'agents: { reception: { name: Desk }, recall: { name: R } }\n' },
  'as JSON': { 'a.yaml': '{"agents": {"reception": {"name": "Desk"}, "recall": {"name": "R"}}}' },
  'with lists at the level of their key': {
    'a.yaml':
      'agents:\n  reception:\n    name: Desk\n    lifecycle:\n      ignore:\n      - greeting_message\n  recall:\n    name: R\n',
  },
};

test.each(Object.entries(WAYS))('names of a stack %s', async (_, files) => {
  const { stack, dir } = await loaded(files);
  expect([...namesIn({ dir, env: {}, environment: undefined }).addresses()].sort()).toEqual(
    stack.resources.map(({ address }) => address).sort(),
  );
});

test('rows have names, whichever way they are written', async () => {
  const { stack, dir } = await loaded({
    'rows.csv': 'slug,name\nbay,Bay\n"a ""b""",Odd\n',
    'a.yaml':
      'agents:\n  csv:\n    for_each: { $file: rows.csv }\n    key: ${each.slug}\n    name: ${each.name}\n' +
      '  list:\n    key: ${each.id}\n    for_each:\n    - { id: one, name: L1 }\n    - { id: two, name: L2 }\n    name: ${each.name}\n' +
      '  flow: { for_each: [{ id: x, name: F }], key: "${each.id}", name: "${each.name}" }\n',
  });
  const own = stack.resources.map(({ address }) => address);
  expect(own).toHaveLength(5);
  const names = namesIn({ dir, env: {}, environment: undefined }).addresses();
  expect(names).toEqual(expect.arrayContaining(own));
  expect(names.filter((name) => !own.includes(name))).toEqual([
    'agent.csv',
    'agent.list',
    'agent.flow',
  ]);
});

test('names of a stack with all kinds, and of its settings', () => {
  const names = namesIn({ dir: CLINIC, env: {}, environment: undefined });
  expect(names.addresses()).toEqual(
    expect.arrayContaining(['agent.desk', 'knowledge_source.clinic.faq', 'custom_voice.harbor']),
  );
  expect(names.stateFile()).toBe(join(CLINIC, '.callsheet/state.json'));
});

test('rollouts have names, be they sound or not', () => {
  const main = `${MAIN}rollouts: { careful: {}, quick: { steps: [100%] } }\n`;
  const dir = folderOf({ 'callsheet.yaml': main });
  expect(namesIn({ dir, env: {}, environment: undefined }).rollouts).toEqual(['careful', 'quick']);
});

test('a text that lines do not tell is left to the parser', () => {
  for (const text of ['{"agents": {}}', 'agents: {', '? a\n: b\n', '\tagents:\n'])
    expect(outlineFile(text, kinds), text).toBeUndefined();
});

async function loaded(files: Files) {
  const { stack } = await load(files);
  if (stack === undefined) throw new Error('the stack was not loaded');
  return { stack, dir: stack.dir };
}
