import { describe, expect, test } from 'vitest';
import { parsePath } from '../../src/core/path.ts';
import type { Stack } from '../../src/stack/index.ts';
import { type Files, loadGood, MAIN } from './stack-folder.ts';

const HOOK =
  'type: webhook, name: crm, condition: during_call, method: GET, url: https://crm.test/';
const LITERAL = 'LITERALSECRET';

function headers(value: string): string {
  return `[{ ${HOOK}, headers: [{ key: X-Trace, value: ${value} }] }]`;
}

function stackOf(value: string): Files {
  return {
    'callsheet.yaml': `${MAIN}variables: { tok: { env: CALLSHEET_VAR_TOK }, dflt: { default: DEFAULTSECRET } }\n`,
    'agents.yaml': `agents:
  one:
    for_each: { $file: rows.csv }
    key: \${each.slug}
    name: Of \${each.slug}
    extensions: { tools: ${headers(value)} }
`,
    'rows.csv': 'slug,token\na,CELLSECRET99\n',
  };
}

function originsOf(stack: Stack, address: string, paths: readonly string[]) {
  return paths.map((path) => {
    const origin = stack.originOf(address, path === '' ? [] : (parsePath(path) ?? []));
    return { layers: origin?.layers ?? [], filled: origin?.filled ?? [] };
  });
}

/** Everything that stands above a sensitive field, and the field. */
const ABOVE = [
  '',
  'extensions',
  'extensions.tools',
  'extensions.tools[crm]',
  'extensions.tools[crm].headers',
  'extensions.tools[crm].headers[X-Trace]',
  'extensions.tools[crm].headers[X-Trace].value',
];

describe('what is filled in in a sensitive field is never shown, asked about anything above it', () => {
  test.each([
    ['a variable of the environment', '"Bearer ${var.tok}"', 'VARSECRET', '${var.tok}'],
    ['the default of a variable', '"${var.dflt}"', 'DEFAULTSECRET', '${var.dflt}'],
    ['a cell', '"${each.token}"', 'CELLSECRET99', '${each.token}'],
    ['a cell in a text', '"Bearer ${each.token}"', 'CELLSECRET99', '${each.token}'],
    ['a cell in $replace', '{ $replace: "${each.token}" }', 'CELLSECRET99', '${each.token}'],
  ])('%s', async (_, value, secret, expression) => {
    const stack = await loadGood(stackOf(value), { env: { CALLSHEET_VAR_TOK: 'VARSECRET' } });
    const origins = originsOf(stack, 'agent.one["a"]', ABOVE);
    expect(JSON.stringify(origins)).not.toContain(secret);
    for (const { filled } of origins) {
      const filling = filled.find((one) => one.expression === expression);
      expect(filling).toMatchObject({ value: '(secret)' });
    }
  });

  test('what is filled in elsewhere is', async () => {
    const stack = await loadGood(stackOf('"${each.token}"'));
    const [whole] = originsOf(stack, 'agent.one["a"]', ['']);
    expect(whole?.filled.find(({ expression }) => expression === '${each.slug}')?.value).toBe('a');
  });
});

describe('what is written in a sensitive field is never shown, whatever form it has', () => {
  test.each([
    ['$replace far above it', `{ $replace: { tools: ${headers(LITERAL)} } }`],
    ['$replace right above it', `{ tools: { $replace: ${headers(LITERAL)} } }`],
    ['$replace of the field', `{ tools: ${headers(`{ $replace: ${LITERAL} }`)} }`],
  ])('%s', async (_, extensions) => {
    const stack = await loadGood({
      'agents.yaml': `agents: { two: { name: T, extensions: ${extensions} } }\n`,
    });
    const origins = originsOf(stack, 'agent.two', ABOVE);
    expect(JSON.stringify(origins)).not.toContain(LITERAL);
    expect(origins.at(-1)?.layers.map(({ text }) => text)).toEqual(['(secret)']);
  });

  test.each([
    ['a form that is none', `{ $secret: ${LITERAL} }`],
    ['a form with a map', `{ $file: { a: ${LITERAL} } }`],
    ['a form with other members', `{ $file: a.md, b: ${LITERAL} }`],
  ])('%s, in a base that is overlaid', async (_, value) => {
    const stack = await loadGood({
      'agents.yaml': `bases: { b: { extensions: { tools: ${headers(value)} } } }
agents:
  two:
    base: b
    name: T
    extensions: { tools: [{ name: crm, headers: [{ key: X-Trace, value: { $secret: "env:NAME" } }] }] }
`,
    });
    const origins = originsOf(stack, 'agent.two', ABOVE);
    expect(JSON.stringify(origins)).not.toContain(LITERAL);
    expect(origins.at(-1)?.layers.map(({ text }) => text)).toEqual([
      '(secret)',
      '{ $secret: "env:NAME" }',
    ]);
  });
});

test('a form with members that the field does not know shows none of them', async () => {
  const stack = await loadGood({
    'agents.yaml': `bases: { b: { extensions: { $file: x.md, tools: ${headers(LITERAL)} } } }
agents: { two: { base: b, name: T, extensions: { tools: [] } } }
`,
  });
  const origins = originsOf(stack, 'agent.two', ABOVE);
  expect(JSON.stringify(origins)).not.toContain(LITERAL);
});
