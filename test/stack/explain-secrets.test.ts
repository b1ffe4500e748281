import { describe, expect, test } from 'vitest';
import { parsePath } from '../../src/core/path.ts';
import type { Stack } from '../../src/stack/index.ts';
import { type Files, load, loadGood, MAIN } from './stack-folder.ts';

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
    const origin = stack.traceOrigin(address, path === '' ? [] : (parsePath(path) ?? []));
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

const SECRET_URL = 'https://crm.test/?api_key=';

function addressOf(url: string, more = ''): Files {
  return {
    ...stackOf('x'),
    'agents.yaml': `agents:
  one:
    for_each: { $file: rows.csv }
    key: \${each.slug}
    name: Of \${each.slug}
    extensions: { tools: [{ ${HOOK.replace('https://crm.test/', `"${url}"`)} }] }
    ${more}
`,
  };
}

describe('a credential that is a part of an address is never shown', () => {
  test.each([
    ['a cell', `${SECRET_URL}\${each.token}`, 'CELLSECRET99'],
    ['a default', `${SECRET_URL}\${var.dflt}`, 'DEFAULTSECRET'],
    ['a variable of the environment', 'https://kim:${var.tok}@crm.test/', 'VARSECRET'],
    ['a text that a cell makes a credential of', `Bearer LITERAL\${each.token}`, 'LITERAL'],
  ])('%s', async (_, text, secret) => {
    const url = text.includes('://') ? text : 'https://crm.test/';
    const stack = await loadStackOf(addressOf(url, `greeting_message: "${text}"`));
    for (const path of ['', 'greeting_message', 'extensions.tools[crm].url']) {
      const [origin] = originsOf(stack, 'agent.one["a"]', [path]);
      expect(JSON.stringify(origin)).not.toContain(secret);
    }
  });

  test('and what it shares a column with neither', async () => {
    const stack = await loadStackOf(addressOf(`${SECRET_URL}\${each.token}`));
    const named = await loadStackOf(
      addressOf(`${SECRET_URL}\${each.token}`, 'greeting_message: "Is ${each.token}"'),
    );
    for (const one of [stack, named]) {
      const origins = originsOf(one, 'agent.one["a"]', ['', 'greeting_message']);
      expect(JSON.stringify(origins)).not.toContain('CELLSECRET99');
    }
  });

  test('nor in a template or in what is given to it', async () => {
    const stack = await loadStackOf({
      ...addressOf(
        'https://crm.test/',
        'system_prompt: { $template: p.md, with: { a: LITERALSECRET, b: "${each.token}" } }',
      ),
      'p.md': 'Ask https://crm.test/?api_key=${a} or https://kim:${b}@crm.test/ first.\n',
    });
    const [origin] = originsOf(stack, 'agent.one["a"]', ['system_prompt']);
    expect(JSON.stringify(origin)).not.toMatch(/LITERALSECRET|CELLSECRET99/);
    expect(origin?.layers.map(({ text }) => text)).toEqual([
      '{ $template: p.md, with: { a: (secret), b: "${each.token}" } }',
    ]);
  });
});

/** A stack of which warnings are not looked at. */
async function loadStackOf(files: Files): Promise<Stack> {
  const { stack } = await load(files, { env: { CALLSHEET_VAR_TOK: 'VARSECRET' } });
  if (stack === undefined) throw new Error('the stack was not loaded');
  return stack;
}
