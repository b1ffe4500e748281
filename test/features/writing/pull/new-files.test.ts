import { expect, test } from 'vitest';
import {
  type Foreign,
  nameResources,
  proposeFiles,
} from '../../../../src/features/writing/pull/new.ts';
import { kindNamed } from '../../../../src/kinds/index.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const PROMPT = '# Desk\n\nTake a message.';

function agent(id: string, name: string, more: object = {}): Foreign {
  const scope = { organization_id: HARBOR };
  const document = { organization_id: HARBOR, name, system_prompt: PROMPT, ...more };
  const kind = kindNamed('agent');
  return { kind, live: { id, scope, extent: 'whole', document, record: { id, name } } };
}

function propose(
  foreign: readonly Foreign[],
  { taken = [], files = [], variables = [] }: Record<string, readonly string[]>,
) {
  return proposeFiles(nameResources(foreign, taken), {
    addressOf: () => undefined,
    organizations: {},
    organization: HARBOR,
    isAmbiguous: () => false,
    schema: undefined,
    isTaken: (file) => files.includes(file),
    isVariableTaken: (name) => variables.includes(name),
  });
}

test('no address, path or variable of the stack is given to a new resource', () => {
  const tools = [
    {
      type: 'webhook',
      name: 'crm',
      condition: 'during_call',
      method: 'GET',
      url: 'https://crm.example.test/n',
      headers: [{ key: 'X-Key', value: 'canary-new-files' }],
    },
  ];
  const [one] = propose([agent('a1', 'Desk', { extensions: { tools } })], {
    taken: ['agent.Desk', 'sms_template.desk_2'],
    files: ['agents/desk_2.yaml', 'prompts/desk_2.md'],
    variables: ['AGENT_CRM_KEY'],
  });
  expect(one?.address).toBe('agent.desk_2');
  expect([...(one?.texts.keys() ?? [])]).toEqual(['agents/desk_2_2.yaml', 'prompts/desk_2_2.md']);
  expect(one?.secrets.map(({ source }) => source)).toEqual(['env:AGENT_DESK_2_CRM_KEY']);
});

test('new resources are given none of each other', () => {
  const all = propose([agent('a2', 'Desk'), agent('a1', 'DESK'), agent('a3', 'desk!')], {});
  expect(new Set(all.map(({ address }) => address)).size).toBe(3);
  const paths = all.flatMap(({ texts }) => [...texts.keys()]);
  expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(6);
});

test('what stands in blocks whose names differ by case alone has no name in common', () => {
  const page = (id: string, block: string): Foreign => {
    const scope = { knowledge_base_id: HARBOR };
    const document = { ...scope, url: 'https://harbor.example.test/faq' };
    const kind = kindNamed('knowledge_source');
    const record = { id, url: document.url };
    return { kind, block, live: { id, scope, extent: 'whole', document, record } };
  };
  const all = propose([page('k1', 'Clinic'), page('k2', 'clinic')], {});
  expect(all.map(({ address }) => address)).toEqual([
    'knowledge_source.Clinic.faq',
    'knowledge_source.clinic.faq_2',
  ]);
});

test('what the configuration has no words for is left out, and told', () => {
  const [one] = propose(
    [agent('a1', 'Desk', { config: { '<<': 1 }, brand_new: 7, api_token: 'canary' })],
    {},
  );
  expect(one?.remarks.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
    'brand_new: no schema knows the field: it stays as it is, unless you write it under unchecked',
    'api_token: it is named like a secret, and no schema says what it is',
    'config: it has the key <<; it is left out',
  ]);
  const [text = ''] = one?.texts.values() ?? [];
  expect(text).not.toContain('unchecked');
  expect(text).not.toContain('canary');
});
