import { expect, test } from 'vitest';
import type { Change, FieldChange } from '../../src/core/plan-document.ts';
import { viewFields } from '../../src/render/fields.ts';
import type { Shown } from '../../src/render/names.ts';
import { inlineValue } from '../../src/render/value-text.ts';
import { changeOf, fieldOf } from './sample.ts';

/** `~ path: before → after (remark)` */
function show(change: Change, verbose = false): readonly string[] {
  return viewFields(change, { purpose: 'apply' }, verbose).map(
    ({ sign, path, content, remark }) => {
      const value =
        content.type === 'element'
          ? [content.summary, ...content.members.map(memberText)].filter(Boolean).join(', ')
          : content.type === 'one'
            ? inlineValue(content.value)
            : content.type === 'both'
              ? `${inlineValue(content.before)} → ${inlineValue(content.after)}`
              : `${inlineValue(content.live)} | ${inlineValue(content.wanted)}`;
      return `${sign} ${path}: ${value}${remark === null ? '' : ` (${remark})`}`;
    },
  );
}

function memberText({ key, value }: { readonly key: string; readonly value: Shown }): string {
  return `${key}: ${inlineValue(value)}`;
}

const FILE = {
  $blob: `sha256:${'ab'.repeat(32)}`,
  path: 'a.pdf',
  size: 2048,
  mime: 'application/pdf',
};

test.each<[string, FieldChange, string]>([
  ['a changed value', fieldOf('speed', 1, 1.5), '~ speed: 1 → 1.5'],
  ['a new value', fieldOf('speed', null, 1.5), '+ speed: 1.5'],
  ['a cleared value', fieldOf('speed', 1, null, { cause: 'cleared' }), '- speed: 1 (cleared)'],
  [
    'a conflict',
    fieldOf('speed', 2, 1, { cause: 'conflict' }),
    '! speed: 2 | 1 (both changed: live is overwritten)',
  ],
  [
    'a conflict over nothing',
    fieldOf('speed', 2, null, { cause: 'conflict' }),
    '! speed: 2 | (none) (both changed: live is overwritten)',
  ],
  [
    'a masked value',
    fieldOf('key', '(secret)', '(secret)', { secret: true }),
    '~ key: (secret) (changed)',
  ],
  [
    'a secret that changed',
    fieldOf('key', null, { $secret: 'env:K' }, { secret: true, cause: 'secret_changed' }),
    '~ key: (secret from env:K) (changed since Callsheet last wrote it)',
  ],
  [
    'a secret sent again',
    fieldOf('key', null, { $secret: 'env:K' }, { secret: true, cause: 'secret_resent' }),
    '~ key: (secret from env:K) (sent again, as asked)',
  ],
  [
    'a new file',
    fieldOf('clip', null, FILE, { secret: true }),
    '~ clip: file a.pdf (2 KB, application/pdf, sha256:abababababab…) (new content)',
  ],
  ['a reference', fieldOf('p', 'x', { $ref: 'retry_policy.a' }), '~ p: "x" → id of retry_policy.a'],
  [
    'a live object that looks like one',
    fieldOf('p', { $ref: '#/$defs/x' }, 1),
    '~ p: { $ref: "#/$defs/x" } → 1',
  ],
  ['quotes inside a value', fieldOf('t', 'a" → "b', 'c'), '~ t: "a\\" → \\"b" → "c"'],
  [
    'a value that breaks out of its line',
    fieldOf('t', 'a\nb\u001b', 'c'),
    '~ t: "a\\nb\\x1b" → "c"',
  ],
])('%s', (_, field, line) => {
  expect(show(changeOf({ fields: [field] }))).toEqual([line]);
});

const TOOL = [
  fieldOf('tools[crm].name', null, 'crm'),
  fieldOf('tools[crm].method', null, 'GET'),
  fieldOf('tools[crm].url', null, 'https://crm.example.test'),
];
const OTHER = fieldOf('speed', 1, 2);

test.each<[string, Partial<Change>, readonly string[]]>([
  [
    'a new element is one line',
    { fields: [...TOOL, OTHER] },
    ['+ tools[crm]: GET https://crm.example.test', '~ speed: 1 → 2'],
  ],
  [
    'a new leaf of an element that exists stands alone',
    { fields: TOOL.slice(1, 2), before: { tools: [{ name: 'crm' }] } },
    ['+ tools[crm].method: "GET"'],
  ],
  [
    'a new element inside one that exists',
    {
      fields: [fieldOf('tools[crm].headers[X].value', null, '(secret)', { secret: true })],
      before: { tools: [{ name: 'crm', headers: [] }] },
    },
    ['+ tools[crm].headers[X]: value: (secret)'],
  ],
  [
    'an element that goes',
    {
      fields: [
        fieldOf('tools[crm]', { name: 'crm', url: 'https://a.test' }, null, {
          cause: 'cleared',
          secret: true,
        }),
      ],
    },
    ['- tools[crm]: https://a.test'],
  ],
  [
    'an element that somebody added',
    {
      fields: [
        fieldOf('tools[crm]', { name: 'crm', url: 'https://a.test' }, null, { cause: 'drifted' }),
      ],
    },
    ['- tools[crm]: https://a.test (added outside Callsheet)'],
  ],
  [
    'an element without an address',
    { fields: ['a', 'b', 'c', 'd', 'e'].map((key) => fieldOf(`list["x y"].${key}`, null, 1)) },
    ['+ list["x y"]: a: 1, b: 1, c: 1, d: 1, e: 1'],
  ],
  ['a path that cannot be read', { fields: [fieldOf('a[', null, 1)] }, ['+ a[: 1']],
  [
    'a new resource does not repeat its name and organization',
    {
      action: 'create',
      name: 'Desk',
      organization_id: 'o',
      fields: [fieldOf('name', null, 'Desk'), fieldOf('organization_id', null, 'o'), OTHER],
    },
    ['  speed: 2'],
  ],
  ['a deleted resource has no fields', { action: 'delete', before: { name: 'Desk' } }, []],
])('%s', (_, change, lines) => {
  expect(show(changeOf(change))).toEqual(lines);
});

test('verbose leaves elements in their leaves and lists what is deleted', () => {
  expect(show(changeOf({ fields: TOOL }), true)).toHaveLength(3);
  expect(
    show(changeOf({ action: 'delete', before: { name: 'Desk', a: { b: null, c: [1] } } }), true),
  ).toEqual(['- name: "Desk"', '- a.c: [1]']);
});

test('drift is said of the fields where the reason does not say it of all of them', () => {
  const drifted = fieldOf('speed', 2, 1, { cause: 'drifted' });
  expect(show(changeOf({ fields: [drifted] }))).toEqual(['~ speed: 2 → 1']);
  expect(show(changeOf({ fields: [drifted, fieldOf('model', 'a', 'b')] }))).toContain(
    '~ speed: 2 → 1 (changed outside Callsheet)',
  );
});

test('a refused change still says which of its fields were changed outside', () => {
  const fields = [fieldOf('speed', 1, 1.5, { cause: 'drifted' })];
  // Its reason is why it is refused, and says nothing of the fields.
  const refused = changeOf({ fields, verdict: 'refused', reason: 'the plan touches too much' });
  expect(show(refused)).toEqual(['~ speed: 1 → 1.5 (changed outside Callsheet)']);
  expect(show(changeOf({ fields, reason: 'changed outside Callsheet' }))).toEqual([
    '~ speed: 1 → 1.5',
  ]);
});
