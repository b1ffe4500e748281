import { describe, expect, test } from 'vitest';
import { parsePath } from '../../src/core/path.ts';
import { broken, type Files, load, loadGood } from './stack-folder.ts';

/** One agent a row of `rows.json`, with these lines. */
function looped(rows: readonly unknown[], ...lines: readonly string[]): Files {
  return {
    'agents.yaml': `agents:
  clinic:
    for_each: { $file: rows.json }
    key: \${each.slug}
    name: \${each.slug}
${lines.map((line) => `    ${line}\n`).join('')}`,
    'rows.json': `${JSON.stringify(rows)}\n`,
  };
}

const HOOK =
  '{ type: webhook, name: crm, condition: during_call, method: GET, url: https://crm.test/';

describe('a form in a cell is an error: a table is data', () => {
  broken([
    {
      title: 'a file',
      files: looped([{ slug: 'a', p: { $file: 'callsheet.yaml' } }], 'system_prompt: ${each.p}'),
      says: [
        'rows.json:1:19 for-each/cell agent.clinic["a"]: system_prompt uses ${each.p}, which holds $file, and a table is data',
      ],
      hint: 'Write the form in the resource, { $file: "${each.p}" }, and give the path or name alone in the cell',
    },
    {
      title: 'a secret',
      files: looped(
        [{ slug: 'a', hdr: { $secret: 'env:CALLSHEET_CLIENT_SECRET' } }],
        `extensions: { tools: [${HOOK}, headers: [{ key: K, value: "\${each.hdr}" }] }] }`,
      ),
      says: [
        'rows.json:1:21 for-each/cell agent.clinic["a"]: extensions.tools[crm].headers[K].value uses ${each.hdr}, which holds $secret, and a table is data',
      ],
    },
    {
      title: 'a secret deep in a list',
      files: looped(
        [
          {
            slug: 'a',
            tools: [{ name: 'crm', headers: [{ key: 'K', value: { $secret: 'env:X' } }] }],
          },
        ],
        'extensions: { tools: "${each.tools}" }',
      ),
      says: [
        'rows.json:1:68 for-each/cell agent.clinic["a"]: extensions.tools uses ${each.tools}, which holds $secret, and a table is data',
      ],
    },
    {
      title: 'what a merge would follow',
      files: looped([{ slug: 'a', v: { $remove: true } }], 'voice_settings: ${each.v}'),
      says: [
        'rows.json:1:19 for-each/cell agent.clinic["a"]: voice_settings uses ${each.v}, which holds $remove, and a table is data',
      ],
    },
    {
      title: 'a form as the path of a form',
      files: looped([{ slug: 'a', p: { $file: 'x.md' } }], 'system_prompt: { $file: "${each.p}" }'),
      says: [
        'rows.json:1:19 for-each/cell agent.clinic["a"]: system_prompt uses ${each.p}, which holds $file, and a table is data',
      ],
    },
  ]);

  test('where nothing uses the cell there is no error', async () => {
    const { diagnostics } = await load(looped([{ slug: 'a', p: { $file: 'callsheet.yaml' } }]));
    expect(diagnostics).toEqual([]);
  });
});

const BASE = `bases:
  b:
    voice_settings: { speed: 1, language: en }
    extensions:
      tools:
        - ${HOOK} }
        - { type: webhook, name: book, condition: during_call, method: GET, url: https://book.test/ }
`;

function overBase(row: Readonly<Record<string, unknown>>, ...lines: readonly string[]): Files {
  const { 'agents.yaml': agents = '', ...rest } = looped(
    [{ slug: 'a', ...row }],
    'base: b',
    ...lines,
  );
  return { ...rest, 'agents.yaml': BASE + String(agents) };
}

async function documentOf(files: Files) {
  const { resources } = await loadGood(files);
  return resources[0]?.document;
}

const SPEED = { speed: 1, language: 'en' };

describe('rows have a part in what is laid over a base', () => {
  test.each([
    ['a map', { v: { speed: 1.1 } }, '"${each.v}"', { speed: 1.1 }],
    ['a map that holds cells', { s: 1.1 }, '{ speed: "${each.s}" }', { speed: 1.1 }],
    ['an empty cell', { v: null }, '"${each.v}"', SPEED],
    [
      'a cell of a map that is empty',
      { s: '' },
      '{ speed: "${each.s}", language: de }',
      { language: 'de' },
    ],
  ])('$replace with %s', async (_, row, content, voice) => {
    const document = await documentOf(overBase(row, `voice_settings: { $replace: ${content} }`));
    expect(document?.voice_settings).toEqual(voice);
  });

  test('$replace with a list', async () => {
    const tool = {
      type: 'webhook',
      name: 'own',
      condition: 'during_call',
      method: 'GET',
      url: 'https://own.test/',
    };
    const document = await documentOf(
      overBase({ tools: [tool] }, 'extensions: { tools: { $replace: "${each.tools}" } }'),
    );
    expect(document?.extensions).toEqual({ tools: [tool] });
  });

  test.each([
    ['book', ['crm']],
    ['', ['crm', 'book']],
  ])('$remove of the element that the cell %j names', async (drop, left) => {
    const stack = await loadGood(
      overBase({ drop }, 'extensions: { tools: [{ $remove: "${each.drop}" }] }'),
    );
    expect(stack.resources[0]?.document.extensions).toMatchObject({
      tools: left.map((name) => ({ name })),
    });
    const origin = stack.traceOrigin(
      'agent.clinic["a"]',
      parsePath('extensions.tools[book]') ?? [],
    );
    expect(origin?.layers.map(({ by, says }) => [by, says])).toEqual([
      ['base b', 'value'],
      ...(drop === '' ? [] : [['agent.clinic', 'removed']]),
    ]);
  });
});
