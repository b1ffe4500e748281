import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { escapeText, fence, formatMarker, inlineCode } from '../../src/render/markdown-text.ts';
import { documents } from './documents.ts';
import { expectGolden } from './golden.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

test.each(['everything', 'rollback', 'hostile', 'unseen', 'empty'])('the plan `%s`', (name) => {
  expectGolden(`${name}.md`, renderPlanMarkdown(documents[name] ?? planOf([])));
});

test.each([
  ['a mention', '@octocat', '@&#8203;octocat'],
  [
    'references',
    '#12 !3 ~bug %v1 $x',
    '&#35;&#8203;12 !&#8203;3 &#126;&#8203;bug %&#8203;v1 &#36;&#8203;x',
  ],
  ['HTML', '<img src=x onerror=y>', '&#60;img src=x onerror=y&#62;'],
  ['an entity', '&lt;', '&#38;&#8203;lt;'],
  ['a table cell', 'a | b', 'a &#124; b'],
  [
    'links',
    '[a](https://x.test) www.x.test',
    '&#91;a&#93;(https:&#8203;//x.test) w&#8203;ww.x.test',
  ],
  [
    'emphasis and code',
    '*a* _b_ `c` ~~d~~',
    '&#42;a&#42; &#95;b&#95; &#96;c&#96; &#126;&#126;&#8203;d&#126;&#126;',
  ],
  ['names with underscores', 'system_prompt', 'system_prompt'],
  ['options', 'plan with --allow-delete', 'plan with --allow-delete'],
  ['what would begin a list', '- a', '&#45; a'],
  ['what would begin a numbered list', '1. a', '1&#46; a'],
  ['what would begin a heading', '# a', '&#35; a'],
  ['control characters', 'a\u001b\u202e\nb', 'a&#92;x1b&#92;u{202e}&#92;nb'],
])('neutralises %s', (_, text, escaped) => {
  expect(escapeText(text)).toBe(escaped);
});

test('code keeps signs that only refer outside of it', () => {
  expect(inlineCode('agent.x["a@b"] <i>')).toBe('<code>agent.x&#91;"a@b"&#93; &#60;i&#62;</code>');
});

test.each([
  [['plain'], '```'],
  [['a ``` b'], '````'],
  [['`````'], '``````'],
])('%#: the fence is longer than any inside', (lines, ticks) => {
  expect(fence(lines, 'diff')).toBe(`${ticks}diff\n${lines.join('\n')}\n${ticks}`);
});

const MARKER = '<!-- callsheet:plan -->';

test.each([
  ['', undefined, MARKER],
  ['stacks/harbor', undefined, '<!-- callsheet:plan stack=stacks/harbor -->'],
  ['', 'staging', '<!-- callsheet:plan env=staging -->'],
  ['a b', 'eu', '<!-- callsheet:plan stack=a%20b env=eu -->'],
  ['x-->y', undefined, '<!-- callsheet:plan stack=x-%2D%3Ey -->'],
])('the marker of the stack %j in environment %j', (stack, environment, marker) => {
  const plan = { ...planOf([]), ...(environment === undefined ? {} : { environment }) };
  expect(formatMarker('plan', plan, { stack })).toBe(marker);
  expect(renderPlanMarkdown(plan, { stack }).split('\n')[0]).toBe(marker);
});

const fleet = (count: number, field: string) =>
  planOf(
    Array.from({ length: count }, (_, at) =>
      changeOf({
        address: `agent.a${at}`,
        organization_id: `org ${at % 50}`,
        fields: [fieldOf('system_prompt', 'Hello', field)],
      }),
    ),
  );

test.each([
  ['10,000 changes', fleet(10_000, 'Hello, who is this?')],
  ['a rewritten text of 1 MB', fleet(1, 'word '.repeat(200_000))],
  [
    '5,000 fields',
    planOf([
      changeOf({ fields: Array.from({ length: 5000 }, (_, at) => fieldOf(`config.k${at}`, 1, 2)) }),
    ]),
  ],
  [
    'many notes',
    planOf([], {
      notes: Array.from({ length: 5000 }, (_, at) => ({
        severity: 'info' as const,
        address: null,
        message: `${at}`,
      })),
    }),
  ],
])('%s stay within what GitHub takes', (_, plan) => {
  const text = renderPlanMarkdown(plan);
  expect(text.length).toBeLessThanOrEqual(65_536);
  expect(text.startsWith(`${MARKER}\n`)).toBe(true);
});

test('what stands last is one line where there is no room, and it is said', () => {
  const long = Array.from({ length: 50 }, (_, at) => `Rule ${at}.`).join('\n');
  const plan = planOf([
    changeOf({ address: 'agent.first', fields: [fieldOf('model', 'a', 'b')] }),
    changeOf({ address: 'agent.long', fields: [fieldOf('system_prompt', 'Old.', long)] }),
    changeOf({ address: 'agent.last', fields: [fieldOf('system_prompt', 'Old.', long)] }),
  ]);
  const whole = renderPlanMarkdown(plan);
  const text = renderPlanMarkdown(plan, { limit: whole.length - 2700 });
  expect(text).toContain('- model: "a"\n+ model: "b"');
  expect(text).toContain('#### <code>&#126;</code> Front desk · <code>agent.long</code>');
  expect(text).toContain(
    '- <code>&#126;</code> Front desk · <code>agent.last</code>: <code>system_prompt</code>\n',
  );
  expect(text).toContain('_1 change in one line each: they do not fit in a comment.');
});

test.each([
  ['of its own', {}],
  ['that main has already', { origin: 'base' as const }],
])('whatever the limit, no address of an edit by hand %s stands without its author', (_, more) => {
  const edited = (at: number) =>
    changeOf({
      address: `agent.a${at}`,
      action: at % 2 === 0 ? 'delete' : 'update',
      reason: `edited since by user:maria${at}`,
      fields: [fieldOf('system_prompt', 'By hand.', `Rule ${at}.`, { cause: 'drifted' })],
      ...more,
    });
  const plan = planOf(
    Array.from({ length: 60 }, (_, at) => edited(at)),
    Object.keys(more).length === 0 ? {} : { base: { ref: 'main', commit: 'c', behind: 0 } },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 40_000 }), (limit) => {
      const text = renderPlanMarkdown(plan, { limit });
      const shown = plan.changes.filter(({ address }) => new RegExp(`\\b${address}\\b`).test(text));
      const unnamed = shown.filter(({ address }) => {
        const at = address.slice('agent.a'.length);
        return !new RegExp(`user:maria${at}\\b`).test(text);
      });
      if (unnamed.length > 0 || shown.length < 60) expect(text).toMatch(/\b\d+ of them undo/);
    }),
  );
});

test('whatever the limit, it is kept, and fences and blocks are closed', () => {
  const plan = documents.everything ?? planOf([]);
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 12_000 }), (limit) => {
      const text = renderPlanMarkdown(plan, { limit });
      expect(text.length).toBeLessThanOrEqual(limit);
      expect(text.startsWith(MARKER)).toBe(true);
      expect((text.match(/^<details/gm) ?? []).length).toBe(
        (text.match(/^<\/details>/gm) ?? []).length,
      );
      expect((text.match(/^```/gm) ?? []).length % 2).toBe(0);
    }),
  );
});
