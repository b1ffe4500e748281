import { expect, test } from 'vitest';
import { interpolate } from '../../src/stack/expressions.ts';
import { filledText, leanDocument } from '../../src/stack/resolved.ts';
import { unreadableVariables } from '../../src/stack/variables.ts';
import { loadGood } from './stack-folder.ts';

const given = new Map(
  [
    ['who', 'Dr Ames'],
    ['none', ''],
  ].map(([name = '', text = '']) => [name, { text, parts: () => [] }]),
);

test.each([
  'Hello ${who}, and ${ who }.',
  '${who}',
  '${none}${who}${none}',
  'no expression but $${who} and {{who}}',
  '$${who} is ${who}',
  'plain',
])('what is held of %j makes the same text', (text) => {
  const { text: whole, values } = interpolate(text, { variables: unreadableVariables, given });
  const held = filledText({ file: 'p.md', text }, values);
  const document = leanDocument({ prompt: whole ?? '' }, new Map([['prompt', held]]));
  expect(document.prompt).toBe(whole);
});

test('a document with such a text is like any other', () => {
  const plain = { name: 'A', prompt: 'Hello Bay', status: 'active', model: null };
  const held = filledText({ file: 'p.md', text: 'Hello ${town}' }, ['Bay']);
  const lean = leanDocument(plain, new Map([['prompt', held]]));
  expect(lean).toEqual(plain);
  expect(Object.entries(lean)).toEqual(Object.entries(plain));
  expect({ ...lean }).toStrictEqual(plain);
  expect(JSON.stringify(lean)).toBe(JSON.stringify(plain));
  expect(structuredClone(lean)).toEqual(plain);
});

test('rows of one template each have their own text, and hold none', async () => {
  const { resources } = await loadGood({
    'agents.yaml': `agents:
  a:
    for_each: [{ slug: x }, { slug: y }]
    key: \${each.slug}
    name: \${each.slug}
    system_prompt: { $template: p.md, with: { who: "Dr \${each.slug}" } }
`,
    'p.md': 'You are ${who}.\n',
  });
  expect(resources.map(({ document }) => document.system_prompt)).toEqual([
    'You are Dr x.\n',
    'You are Dr y.\n',
  ]);
  for (const { document } of resources) {
    const { get, value } = Object.getOwnPropertyDescriptor(document, 'system_prompt') ?? {};
    expect({ isGetter: get !== undefined, value }).toEqual({ isGetter: true, value: undefined });
  }
});
