import fc from 'fast-check';
import { XmlDocument, XmlElement, type XmlNode, XmlText } from 'libxml2-wasm';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import { renderPlanMarkdown } from '../../src/render/markdown.ts';
import { countsBelow } from '../../src/render/wording.ts';
import { runs } from '../long.ts';
import { documents } from './documents.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

/** What a page consists of. A link, a picture or a script is nothing that we write. */
const ELEMENTS = new Set(
  'page h3 h4 p blockquote table thead tbody tr th td details summary code pre del ins b strong em ul li'.split(
    ' ',
  ),
);

/** The page as a browser gets it: GitHub's dialect rendered, and parsed strictly. */
function pageOf(markdown: string): XmlElement {
  const html = micromark(markdown, {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
  const document = XmlDocument.fromString(
    `<page>${html.replaceAll('<details open>', '<details open="">')}</page>`,
  );
  onTestFinished(() => document.dispose());
  return document.root;
}

function nodesOf(node: XmlNode): readonly XmlNode[] {
  if (!(node instanceof XmlElement)) return [node];
  const children: XmlNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.next) children.push(child);
  return [node, ...children.flatMap(nodesOf)];
}

function elementsOf(page: XmlElement, name: string): readonly XmlElement[] {
  return nodesOf(page).filter(
    (node): node is XmlElement => node instanceof XmlElement && node.name === name,
  );
}

/** Text that references are looked for in: neither GitHub nor GitLab does so in code. */
function loudText(node: XmlNode): string {
  if (node instanceof XmlText) return node.content;
  if (!(node instanceof XmlElement) || node.name === 'code' || node.name === 'pre') return '';
  let text = '';
  for (let child = node.firstChild; child !== null; child = child.next) text += loudText(child);
  return text;
}

function expectSafe(page: XmlElement): void {
  const names = new Set(
    nodesOf(page).flatMap((node) => (node instanceof XmlElement ? [node.name] : [])),
  );
  expect([...names].filter((name) => !ELEMENTS.has(name))).toEqual([]);
  // A quotation is an alert of ours.
  for (const { content } of elementsOf(page, 'blockquote'))
    expect(content.trim()).toMatch(/^\[!(?:CAUTION|WARNING)\]\n/);
  const text = loudText(page);
  expect(text).not.toMatch(/@[\w"]|#\d|![\d]|:\/\/|www\.\w|GH-\d/);
  // GitLab's inline diff, which would pass for one of ours.
  expect(text).not.toMatch(/\{[+-]|[+-]\}|\[[+-]|[+-]\]/);
  expect(elementsOf(page, 'details')).toHaveLength(
    elementsOf(page, 'summary').filter(({ parent }) => parent?.name === 'details').length,
  );
  const nested = elementsOf(page, 'details').filter(({ parent }) => parent?.name !== 'page');
  expect(nested).toEqual([]);
}

describe.each(Object.keys(documents))('the page of `%s`', (name) => {
  const plan = documents[name] ?? planOf([]);

  test('is made of what we write, and of nothing that its texts hold', () => {
    expectSafe(pageOf(renderPlanMarkdown(plan)));
  });

  test('begins with its marker and its counts', () => {
    const markdown = renderPlanMarkdown(plan);
    expect(markdown).toMatch(/^<!-- callsheet:(?:plan|drift) -->\n/);
    const [first] = nodesOf(pageOf(markdown)).filter(
      (node) => node instanceof XmlElement && node.name !== 'page',
    );
    expect((first as XmlElement).name).toBe('h3');
  });
});

test('there is one block for each change, and the counts stand below the headline', () => {
  const plan = documents.everything as PlanDocument;
  const page = pageOf(renderPlanMarkdown(plan));
  const shown = plan.changes.filter(({ action }) => action !== 'adopt' && action !== 'no_op');
  expect(elementsOf(page, 'h4')).toHaveLength(shown.length);
  // What is adopted and the assumptions are all that may be folded.
  expect(elementsOf(page, 'details')).toHaveLength(2);
  const paragraphs = elementsOf(page, 'p').map(({ content }) => content);
  expect(paragraphs).toContain(countsBelow(plan));
});

test('an edited paragraph is a row as it was and one as it is, with its changed words marked', () => {
  const everything = documents.everything as PlanDocument;
  const changes = everything.changes.filter(({ address }) => address === 'agent.reception');
  const page = pageOf(renderPlanMarkdown({ ...everything, changes, groups: [] }));
  const marked = (name: string) => elementsOf(page, name).map(({ content }) => content);
  const rows = elementsOf(page, 'tr').map((row) =>
    elementsOf(row, 'td').map((cell) => cell.content),
  );
  expect(rows).toContainEqual([
    'was',
    'Transfer when the caller reports severe pain or asks for a person twice.',
  ]);
  expect(rows).toContainEqual([
    'now',
    'Transfer when the caller reports severe pain, swelling or bleeding, or asks for a person.',
  ]);
  expect(marked('del')).toEqual(['hello!', 'twice', 'two', 'Do not', '. Say']);
  expect(marked('ins')).toContain(', the earliest first');
});

const hostile = fc.constantFrom(
  '</details>',
  '<details open>',
  '<script>alert(1)</script>',
  '-->',
  '<!--',
  '```',
  '~~~~',
  '    code',
  '> quote',
  '# heading',
  '===',
  '---',
  '| a | b |',
  '|---|---|',
  '- [ ] task',
  '1. one',
  '@octocat',
  '@"team"',
  '#12',
  '!3',
  'GH-7',
  'https://x.test',
  'www.x.test',
  'a@b.test',
  '[a](b)',
  '![a](b)',
  '[^1]: note',
  '[^1]',
  '[a]: https://x.test',
  '**b**',
  '__b__',
  '~~s~~',
  '`c`',
  '$x$',
  '&lt;',
  '\\',
  '{+ new +}',
  '[- old -]',
  '\u202egnp',
  '\x1b[31m',
  '\t',
  ' ',
  'word',
  '*',
  '+',
  '  ',
);
const text = fc
  .array(fc.tuple(hostile, fc.constantFrom('', ' ', '\n', '\n\n')), { maxLength: 12 })
  .map((parts) => parts.flat().join(''));

test('whatever texts hold, the page keeps its shape', () => {
  fc.assert(
    fc.property(text, text, text, (before, after, name) => {
      const plan = planOf([
        changeOf({
          name,
          reason: after,
          fields: [
            fieldOf('system_prompt', `${before}\n\nlast`, `${after}\n\nlast word`),
            fieldOf('greeting_message', before, after),
            fieldOf('config', { [name]: before, list: [after, 'a'.repeat(90)] }, { [name]: after }),
          ],
        }),
        changeOf({ address: 'agent.second', fields: [fieldOf('model', 'a', 'b')] }),
      ]);
      const page = pageOf(renderPlanMarkdown(plan));
      expectSafe(page);
      expect(elementsOf(page, 'h4')).toHaveLength(2);
    }),
    { numRuns: runs(150) },
  );
});

test.each(['  1. one', ' - one', '   # one', '    code'])(
  'a reason that begins with blanks is a paragraph: %j',
  (reason) => {
    const page = pageOf(renderPlanMarkdown(planOf([changeOf({ reason })])));
    expectSafe(page);
    expect(elementsOf(page, 'p').map(({ content }) => content)).toContainEqual(
      expect.stringContaining(reason.trim()),
    );
  },
);

test.each([
  ['#12', '#12__b__'],
  ['[- old -]https://x.test', '[a]: https://x.test'],
])('what two pieces of a quotation make up means nothing: %j, %j', (before, after) => {
  const field = fieldOf('t', `${before}\n\nlast`, `${after}\n\nlast word`);
  expectSafe(pageOf(renderPlanMarkdown(planOf([changeOf({ fields: [field] })]))));
});
