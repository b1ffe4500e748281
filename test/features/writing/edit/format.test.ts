import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isScalar, parse, parseDocument, Scalar, visit } from 'yaml';
import { fileShape, formatYaml } from '../../../../src/features/writing/edit/format.ts';
import { writeResources } from '../../../../src/features/writing/edit/write.ts';
import { kinds } from '../../../../src/kinds/index.ts';
import { runs, timeFor } from '../../../long.ts';
import { BAY, HARBOR } from '../../../stack/stack-folder.ts';
import { BLANKS, stacks } from './stacks.ts';

const SHAPE = fileShape(kinds);
/** More with CALLSHEET_RUNS=500. */
const RUNS = Number(process.env.CALLSHEET_RUNS ?? runs(20));
/** The same cases in every run; others with CALLSHEET_SEED. */
const SEED = Number(process.env.CALLSHEET_SEED ?? 4711);

function format(text: string): string {
  const formatted = formatYaml({ file: 'a.yaml', text }, SHAPE);
  if ('text' in formatted) return formatted.text;
  throw new Error(`${formatted.problems.map(({ message }) => message).join('\n')}\n${text}`);
}

const ROOT = join(import.meta.dirname, '../../../..');
const FILES = globSync('{examples,test/golden,test/e2e}/**/*.yaml', { cwd: ROOT });

describe('a file of the project', () => {
  test.each(FILES)('%s means the same, formatted once or twice', (file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const once = format(text);
    expect(parse(once, { uniqueKeys: false })).toEqual(parse(text, { uniqueKeys: false }));
    expect(format(once)).toBe(once);
  });
});

type Whim = { readonly swaps: readonly number[]; readonly styles: readonly number[] };

const STYLES = [
  Scalar.PLAIN,
  Scalar.QUOTE_DOUBLE,
  Scalar.QUOTE_SINGLE,
  Scalar.BLOCK_FOLDED,
] as const;

/** The same file in another order and style, with comments strewn in. */
function dishevelled(text: string, { swaps, styles }: Whim): string {
  const document = parseDocument(text);
  let count = 0;
  const next = (list: readonly number[]) => {
    count += 1;
    return list[count % list.length] ?? 0;
  };
  visit(document, {
    Map(_, map) {
      map.items.sort(() => next(swaps) - 3);
      if (next(styles) === 7) map.flow = !map.flow;
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (next(swaps) === 0) key.commentBefore = ` about ${count}`;
        if (next(swaps) === 1) key.spaceBefore = true;
      }
    },
    Scalar(key, scalar) {
      const style = STYLES[next(styles)];
      if (typeof scalar.value === 'string' && style !== undefined && key !== 'key') {
        scalar.type = style;
        if (next(swaps) === 2 && !scalar.value.includes('\n')) scalar.comment = ` behind ${count}`;
      }
    },
  });
  return document.toString({
    lineWidth: next(swaps) < 3 ? 0 : 60,
    indent: next(swaps) < 3 ? 4 : 2,
  });
}

const whims: fc.Arbitrary<Whim> = fc.record({
  swaps: fc.array(fc.nat(6), { minLength: 7, maxLength: 50 }),
  styles: fc.array(fc.nat(8), { minLength: 7, maxLength: 50 }),
});

function commentsOf(text: string): readonly string[] {
  return (text.match(/# (?:about|behind) \d+/g) ?? []).sort();
}

test('whatever its order and style, a file keeps its meaning and its comments', {
  timeout: timeFor(RUNS),
}, () => {
  fc.assert(
    fc.property(stacks, whims, (resources, whim) => {
      const organizations = { harbor: HARBOR, bay: BAY };
      const { text } = writeResources(resources, { kinds, organizations });
      const ugly = dishevelled(text, whim);
      // The library that puts it in disorder writes a few texts wrong.
      fc.pre(parseDocument(ugly).errors.length === 0);
      const formatted = format(ugly);
      expect(parse(formatted)).toEqual(parse(ugly));
      expect(commentsOf(formatted)).toEqual(commentsOf(ugly));
      expect(format(formatted)).toBe(formatted);
    }),
    {
      seed: SEED,
      numRuns: RUNS,
      // Every text as the library leaves it without quotes, in blocks and between brackets.
      examples: [
        [BLANKS, { swaps: [3], styles: [0] }],
        [BLANKS, { swaps: [3], styles: [7] }],
      ],
    },
  );
});

describe('a file comes out', () => {
  test.each([
    {
      title: 'with its keys in the order of the schema, each with its comments',
      given: `# head

agents:
  # The desk.
  desk: # of Harbor
    lifecycle: { protect: true }
    zeta: 1
    # What callers see.
    name: "Front desk" # in the dashboard

    organization: harbor
    alpha: 2
    # none of the rest
callsheet: 1 # the format
`,
      wanted: `# head

callsheet: 1 # the format
agents:
  # The desk.
  desk: # of Harbor
    organization: harbor
    # What callers see.
    name: Front desk # in the dashboard

    lifecycle: { protect: true }
    zeta: 1
    alpha: 2
    # none of the rest
`,
    },
    {
      title: 'with sections in the order of kinds and one empty line between them',
      given: 'agents:\n  a: { name: a }\n\n\nretry_policies:\n  b: { name: b }\n\n\n',
      wanted: 'retry_policies:\n  b: { name: b }\n\nagents:\n  a: { name: a }\n',
    },
    {
      title: 'with the schema line first',
      given: '# mine\n# yaml-language-server: $schema=a.json\ncallsheet: 1\n',
      wanted: '# yaml-language-server: $schema=a.json\n\n# mine\ncallsheet: 1\n',
    },
    {
      title: 'with two spaces, line feeds and quotes where they are needed',
      given: `agents:\r\n    a:\r\n        name: 'A'\r\n        model: "yes"\r\n        email:\r\n        - "a@b.example"\r\n        - '+1'\r\n`,
      wanted:
        'agents:\n  a:\n    name: A\n    model: "yes"\n    email:\n      - a@b.example\n      - "+1"\n',
    },
    {
      title: 'with long maps written out and long lists as they were',
      given: `agents:
  a:
    voice_settings: { language: "${'en'.repeat(20)}", speed: 1.05, voice_id: { $ref: custom_voice.${'h'.repeat(30)} } }
    email: [${Array(9).fill('desk@harbor.example').join(', ')}]
`,
      wanted: `agents:
  a:
    voice_settings:
      voice_id: { $ref: custom_voice.${'h'.repeat(30)} }
      speed: 1.05
      language: ${'en'.repeat(20)}
    email: [${Array(9).fill('desk@harbor.example').join(', ')}]
`,
    },
    {
      title: 'with the lines of its blocks as they were',
      given: `agents:
    a:
        system_prompt: |2-
              deeper

          less
        greeting_message: >-
           folded
           here
`,
      wanted: `agents:
  a:
    greeting_message: >-
      folded
      here
    system_prompt: |2-
          deeper

      less
`,
    },
    {
      title: 'with an alias behind its anchor, whatever the order of the schema',
      given: 'agents:\n  a:\n    system_prompt: &p Hi\n    name: *p\n    status: active\n',
      wanted: 'agents:\n  a:\n    system_prompt: &p Hi\n    name: *p\n    status: active\n',
    },
    {
      title: 'with webhooks in their own order',
      given:
        'agents:\n  a:\n    extensions:\n      tools:\n        - url: https://b\n          name: b\n        - name: a\n',
      wanted:
        'agents:\n  a:\n    extensions:\n      tools:\n        - name: b\n          url: https://b\n        - name: a\n',
    },
    {
      title: 'with numbers as they were spelled',
      given: 'variables:\n  a: { default: 1.10 }\n  b: { default: 0x1F }\n',
      wanted: 'variables:\n  a: { default: 1.10 }\n  b: { default: 0x1F }\n',
    },
    {
      title: 'with the line breaks that its last text keeps',
      given: 'a:\n    b: |+\n        c\n\n\n',
      wanted: 'a:\n  b: |+\n    c\n\n\n',
    },
    {
      title: 'without an empty line below a text that keeps its last line breaks',
      given:
        'agents:\n  a:\n    b: |+\n      c\n    name: d\n\n    e: 1\nx: >+\n  y\ncallsheet: 1\n\n# z\n',
      wanted:
        'callsheet: 1\nagents:\n  a:\n    name: d\n\n    b: |+\n      c\n    e: 1\nx: >+\n  y\n# z\n',
    },
    {
      title: 'with a comment below a text of several lines outside of it',
      given: 'a: "b\n  c"  # d\n  # e\nf: |\n    g\n   # h\n',
      wanted: 'a: >- # d\n  b c\n# e\nf: |\n  g\n# h\n',
    },
    {
      title: 'with the lines of a list behind two dashes where they were',
      given: 'a:\n  - - [b,\n       c]\n',
      wanted: 'a:\n  - - [b,\n       c]\n',
    },
    {
      title: 'with one empty line below a block without any text, and none at its end',
      given: 'a:\n  b:\n    - >\n\n\n  c: |\n   \n    \n',
      wanted: 'a:\n  b:\n    - >\n\n  c: |\n',
    },
    {
      title: 'with comments whole that have a line of their own only in JavaScript',
      given: '# a\u2028---\n# b\u2029# yaml-language-server: c\na: "d" # e\u00a0\n',
      wanted: '# a\u2028---\n# b\u2029# yaml-language-server: c\na: d # e\u00a0\n',
    },
    {
      title: 'with the comment behind a text of several lines that ends with a bracket',
      given: 'a: "b\n  {c}" # d\ne: [f,\n  g] # h\ni: { j: "{k\n  l}" } # m\n',
      wanted: 'a: >- # d\n  b {c}\ne: [f,\n  g] # h\ni: { j: "{k l}" } # m\n',
    },
    {
      title: 'with an anchor and a text that touch a no-break space',
      given: 'a: &b\u00a0c   "d"\ne: [ &f \u00a0, *f ]\n',
      wanted: 'a: &b\u00a0c d\ne: [&f \u00a0, *f]\n',
    },
    {
      title: 'with a comment behind the last key, which has no value',
      given: 'a:\n  b: # c\n# d\n',
      wanted: 'a:\n  b: # c\n# d\n',
    },
    {
      title: 'with a comment behind the last dash, which has no value',
      given: 'a:\n- b\n- # c\n',
      wanted: 'a:\n  - b\n  - # c\n',
    },
    {
      title: 'with the anchor of what is between brackets once',
      given: 'a: &b {d: [c]}\ne: &f\n  []\ng:\n  &h i\n',
      wanted: 'a: &b { d: [c] }\ne: &f []\ng: &h i\n',
    },
    {
      title: 'with the comment between a key and its value above both',
      given:
        'a:\n  # b\n  c\nd: # e\n  f # g\nh:\n  -\n    # i\n    j\nk: # l\n  &m # n\n  # o\n  p: q\n',
      wanted: '# b\na: c\n# e\nd: f # g\nh:\n  # i\n  - j\nk: &m # l\n  # n\n  # o\n  p: q\n',
    },
    {
      title: 'with a comment below a dash where it was, and the line below it',
      given: 'a:\n-\n\n  # b\n\n  c: 1\n',
      wanted: 'a:\n  -\n    # b\n\n    c: 1\n',
    },
    {
      title: 'with the comments of a block and of the key that it stands under',
      given: 'a: # b\n  | # c\n  d\n',
      wanted: '# b\na: | # c\n  d\n',
    },
    {
      title: 'with the comment behind the mark that begins it',
      given: '# a\n---   # b\nc: 1\n',
      wanted: '# a\n--- # b\nc: 1\n',
    },
    { title: 'as it went in, where it only has comments', given: '# none\n', wanted: '# none\n' },
  ])('$title', ({ given, wanted }) => {
    expect(format(given)).toBe(wanted);
    expect(format(wanted)).toBe(wanted);
  });
});

describe('a file is left alone', () => {
  test.each([
    ['a: [', 'yaml/syntax'],
    ['a: 1\na: 2\n', 'yaml/duplicate-key'],
    ['a: 1\n---\nb: 2\n', 'yaml/documents'],
    ['? a\n: 1\n', 'fmt/kept'],
    ['a: 1\n...\n', 'fmt/kept'],
  ])('%j', (text, rule) => {
    const formatted = formatYaml({ file: 'a.yaml', text }, SHAPE);
    expect(formatted).toMatchObject({ problems: [{ rule }] });
  });
});
