import { describe, expect, test } from 'vitest';
import { type Edit, editYaml } from '../../../../src/features/writing/edit/index.ts';
import type { Tree } from '../../../../src/stack/tree.ts';

const text = (value: string): Tree => ({ type: 'text', text: value });
const bare = (value: unknown): Tree => ({ type: 'bare', text: String(value) });
const list = (...items: readonly Tree[]): Tree => ({ type: 'list', items });
const map = (members: Readonly<Record<string, Tree>>): Tree => ({
  type: 'map',
  members: Object.entries(members),
});

/** The stretch of a value, which is the `snippet` between the marks « and ». */
function marked(given: string): {
  readonly yaml: string;
  readonly at: { start: number; end: number };
} {
  const start = given.indexOf('«');
  const end = given.indexOf('»') - 1;
  return { yaml: given.replace(/[«»]/g, ''), at: { start, end } };
}

type Row = {
  readonly title: string;
  /** The value that is edited stands between « and ». */
  readonly before: string;
  readonly edit: Tree | 'remove' | { readonly add: Tree; readonly key?: string };
  readonly after: string;
  readonly json?: true;
};

function editOf({ edit }: Row, at: { start: number; end: number }): Edit {
  if (edit === 'remove') return { type: 'remove', at };
  if ('add' in edit)
    return { type: 'add', to: at, tree: edit.add, ...(edit.key && { key: edit.key }) };
  return { type: 'set', at, tree: edit };
}

const ROWS: readonly Row[] = [
  {
    title: 'a plain text keeps its comment and its anchor',
    before: 'a: &x «hello»   # said first\nb: *x\n',
    edit: text('good day'),
    after: 'a: &x good day   # said first\nb: *x\n',
  },
  {
    title: 'a plain text gets quotes where it needs them',
    before: 'a: «hello» # c\n',
    edit: text('yes: no'),
    after: 'a: "yes: no" # c\n',
  },
  {
    title: 'double quotes stay',
    before: 'a: «"hello"»\n',
    edit: text('good "day"'),
    after: 'a: "good \\"day\\""\n',
  },
  {
    title: 'single quotes stay',
    before: "a: «'it''s'»\n",
    edit: text("it's {me}"),
    after: "a: 'it''s {me}'\n",
  },
  {
    title: 'a plain text of several lines becomes a block',
    before: 'm:\n  a: «hello»\n  b: 1\n',
    edit: text('one\ntwo\n'),
    after: 'm:\n  a: |\n    one\n    two\n  b: 1\n',
  },
  {
    title: 'a comment behind a text stays on its line when the text becomes a block',
    before: 'm:\n  a: «hello»  # note\n  b: 1\n',
    edit: text('one\ntwo'),
    after: 'm:\n  a: |-  # note\n    one\n    two\n  b: 1\n',
  },
  {
    title: 'a comment behind a value stays on its line when a map takes its place',
    before: 'm:\n  a: «null»  # note\n  b: 1\n',
    edit: map({ c: text('one\ntwo'), d: list(map({ e: bare(1) })) }),
    after: 'm:\n  a:  # note\n    c: |-\n      one\n      two\n    d:\n      - { e: 1 }\n  b: 1\n',
  },
  {
    title: 'a literal block keeps its indentation, its comment and the blank line behind it',
    before: 'm:\n  a: «|- # note\n     one\n     two\n»\n  b: 1\n',
    edit: text('one\n\nthree'),
    after: 'm:\n  a: |- # note\n     one\n\n     three\n\n  b: 1\n',
  },
  {
    title: 'a folded block keeps lines in which nothing changed',
    before: 'a: «>-\n  one two\n  three four\n  five six\n»b: 1\n',
    edit: text('one two three 4 five six'),
    after: 'a: >-\n  one two\n  three 4\n  five six\nb: 1\n',
  },
  {
    title: 'Windows line ends stay',
    before: 'm:\r\n  a: «|\r\n    one\r\n»  b: 1\r\n',
    edit: text('one\ntwo\n'),
    after: 'm:\r\n  a: |\r\n    one\r\n    two\r\n  b: 1\r\n',
  },
  {
    title: 'a number',
    before: 'a: {s: «1.10», t: 2}\n',
    edit: bare(1.2),
    after: 'a: {s: 1.2, t: 2}\n',
  },
  {
    title: 'null in the place of a text',
    before: 'a: «hello» # c\nb: 1\n',
    edit: bare(null),
    after: 'a: null # c\nb: 1\n',
  },
  {
    title: 'null in the place of a map',
    before: 'a:\n  «b: 1\n  c: 2\n»\nd: 1\n',
    edit: bare(null),
    after: 'a: null\n\nd: 1\n',
  },
  {
    title: 'a map in the place of null',
    before: 'm:\n  a: «null» # c\n  d: 1\n',
    edit: map({ b: text('x'), c: bare(2) }),
    after: 'm:\n  a: { b: x, c: 2 } # c\n  d: 1\n',
  },
  {
    title: 'a map member by member',
    before: 'm:\n  «a: 1 # one\n  b: 2 # two\n  c: 3\n»d: 1\n',
    edit: map({ a: bare(1), b: bare(5), e: text('new') }),
    after: 'm:\n  a: 1 # one\n  b: 5 # two\n  e: new\nd: 1\n',
  },
  {
    title: 'a map between braces',
    before: 'm: «{ a: 1, b: 2,  c: 3 }» # x\n',
    edit: map({ a: bare(1), c: bare(3), d: text('a, b') }),
    after: 'm: { a: 1, c: 3, d: "a, b" } # x\n',
  },
  {
    title: 'a list between brackets',
    before: 'm: «[ one, two , three ]»\n',
    edit: list(text('one'), text('2'), text('three'), text('four')),
    after: 'm: [ one, "2" , three, four ]\n',
  },
  {
    title: 'a list of lines',
    before: 'm:\n  # all\n  «- one # 1\n  # about two\n  - two\n\n  - three\n»n: 1\n',
    edit: list(text('zero'), text('one'), text('three'), text('four')),
    after: 'm:\n  # all\n  - zero\n  - one # 1\n\n  - three\n  - four\nn: 1\n',
  },
  {
    title: 'the last of a list',
    before: 'm:\n  «- one\n»n: 1\n',
    edit: list(),
    after: 'm: []\nn: 1\n',
  },
  {
    title: 'the first of an empty list',
    before: 'm: «[]» # none\n',
    edit: list(text('one')),
    after: 'm: [one] # none\n',
  },
  {
    title: 'an element goes, with the comment above it',
    before:
      'm:\n  - name: a\n    url: x\n  # the second\n  - «name: b\n    url: y\n»\n  - name: c\n',
    edit: 'remove',
    after: 'm:\n  - name: a\n    url: x\n\n  - name: c\n',
  },
  {
    title: 'the member beside a dash goes',
    before: 'm:\n  - a: «1»\n    b: 2\n',
    edit: 'remove',
    after: 'm:\n  - b: 2\n',
  },
  {
    title: 'a member goes',
    before: 'm:\n  a: 1\n  b: «2» # gone\n  c: 3\n',
    edit: 'remove',
    after: 'm:\n  a: 1\n  c: 3\n',
  },
  {
    title: 'the last element between brackets goes',
    before: 'm: [{ a: 1 }, «{ a: 2 }»]\n',
    edit: 'remove',
    after: 'm: [{ a: 1 }]\n',
  },
  {
    title: 'an element is added behind the others',
    before: 'm:\n  «- a: 1 # one\n    b: 2 # two\n»  # end\nn: 1\n',
    edit: { add: map({ a: bare(3), b: list(text('x')) }) },
    after: 'm:\n  - a: 1 # one\n    b: 2 # two\n  - a: 3\n    b: [x]\n  # end\nn: 1\n',
  },
  {
    title: 'a member is added to a file that ends without a line break',
    before: 'm:\n  «a: 1»',
    edit: { add: text('x'), key: 'b' },
    after: 'm:\n  a: 1\n  b: x',
  },
  {
    title: 'an element is added to a list that is not indented',
    before: 'm:\n«- a: 1\n»n: 1\n',
    edit: { add: map({ a: text('x\ny\n') }) },
    after: 'm:\n- a: 1\n- a: |\n    x\n    y\nn: 1\n',
  },
  {
    title: 'a number where nothing stood',
    before: 'm:\n  a:«»\n  b: 1\n',
    edit: bare(30),
    after: 'm:\n  a: 30\n  b: 1\n',
  },
  {
    title: 'a text where nothing stood but a comment',
    before: 'm:\n  a: «»# later\n  b: 1\n',
    edit: text('x\ny\n'),
    after: 'm:\n  a: | # later\n    x\n    y\n  b: 1\n',
  },
  {
    title: 'a value where nothing stood between braces',
    before: 'm: { a:«», b: 1 }\n',
    edit: bare(true),
    after: 'm: { a: true, b: 1 }\n',
  },
  {
    title: 'a member where nothing stood, beside others',
    before: 'm:\n  «a: # later\n  b: 1\n»n: 2\n',
    edit: map({ a: list(map({ c: bare(1) })), b: bare(2) }),
    after: 'm:\n  a: # later\n    - { c: 1 }\n  b: 2\nn: 2\n',
  },
  {
    title: 'null keeps the comment above a text on a line of its own',
    before: 'a: # why\n  «x»\nb: 1\n',
    edit: bare(null),
    after: 'a: # why\n  null\nb: 1\n',
  },
  {
    title: 'a map without members is added to a list of maps',
    before: 'm:\n  «- a: 1\n    b: 2\n»n: 1\n',
    edit: { add: map({}) },
    after: 'm:\n  - a: 1\n    b: 2\n  - {}\nn: 1\n',
  },
  {
    title: 'JSON stays JSON',
    before: '[{"a": "x", "b": «1»}]\n',
    edit: map({ c: text('yes') }),
    after: '[{"a": "x", "b": { "c": "yes" }}]\n',
    json: true,
  },
];

describe('an edit', () => {
  test.each(ROWS)('$title', (row) => {
    const { yaml, at } = marked(row.before);
    expect(editYaml(yaml, [editOf(row, at)], { json: row.json === true })).toBe(row.after);
  });

  test.each([['from inside'], ['from outside']])(
    'adds to what stands last and behind it: %s',
    (order) => {
      const yaml = 'list:\n  - name: a\n  - name: b\n    map:\n      x: 1\nend: 1\n';
      const at = (first: string, last: string) => ({
        start: yaml.indexOf(first),
        end: yaml.indexOf(last),
      });
      const whole = at('- name: a', 'end');
      const edits: readonly Edit[] = [
        { type: 'add', to: at('x: 1', 'end'), key: 'z', tree: bare(2) },
        { type: 'add', to: at('name: b', 'end'), key: 'c', tree: bare(3) },
        { type: 'add', to: whole, tree: map({ name: text('d') }) },
      ];
      expect(editYaml(yaml, order === 'from inside' ? edits : edits.toReversed())).toBe(
        'list:\n  - name: a\n  - name: b\n    map:\n      x: 1\n      z: 2\n    c: 3\n  - name: d\nend: 1\n',
      );
    },
  );

  test('finds nothing where no value stands', () => {
    const edit: Edit = { type: 'remove', at: { start: 0, end: 1 } };
    expect(() => editYaml('a: 1\n', [edit])).toThrow('cannot edit the way');
  });
});
