/**
 * Holds the words that people read against the vocabulary of `docs/contributing/words.json`: the pages for users, the
 * README, each message of `src/`, and the descriptions of rules and fields. textlint reads the Markdown, so code in it
 * is not judged.
 */
import { glob, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { styleText } from 'node:util';
import { TextlintKernel, type TextlintKernelRule } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import { parseAst } from 'rolldown/parseAst';

const require = createRequire(import.meta.url);

/** It brings no types. */
const terminology: {
  readonly default: TextlintKernelRule['rule'];
} = require('textlint-rule-terminology');

const ROOT = join(import.meta.dirname, '..');

const VOCABULARY = 'docs/contributing/words.json';

/** These files are not checked: the simulator speaks as the platform does, and `callouts/` holds words of prompts. */
const SILENT = [/^src\/simulator\//, /^src\/features\/review\/callouts\//, /\.generated\.ts$/];

/** A message has three words at least; SQL is for a database. */
const MESSAGE = /[a-z]{2,}[ ,:;]+\S*[a-z]{2,}[ ,:;]+\S*[a-z]{2,}/i;

const DESCRIBING = new Set(['description', 'summary', 'remedy']);

const CLAUSE = /^\s*(?:\/\*\*|\/\/) (What|Whether|Of|Whoever|Whatever|Whose|Nobody) /;

const SQL = /^\s*(?:select|insert|update|delete|create|alter|with) .*[a-z]/s;

/** A stretch of text and where it is from. */
type Passage = { readonly place: string; readonly text: string };

type Finding = { readonly place: string; readonly message: string };

const kernel = new TextlintKernel();

const words: readonly { readonly refuse: string; readonly use: string }[] = JSON.parse(
  await readFile(join(ROOT, VOCABULARY), 'utf8'),
);

const findings: Finding[] = [];
const pages = [join(ROOT, 'README.md'), ...(await filesOf('docs/*.md'))];
for (const file of pages) {
  const found = await lint(await readFile(file, 'utf8'));
  findings.push(
    ...found.map(({ line, message }) => ({ place: `${relative(ROOT, file)}:${line}`, message })),
  );
}

const passages = [
  ...(await Promise.all((await filesOf('src/**/*.{ts,tsx}')).map((file) => messagesOf(file)))),
  ...(await Promise.all((await filesOf('schemas/{rules,kinds/*}.json')).map(descriptionsOf))),
].flat();
// One message a paragraph: the line of a finding tells which it is.
for (const { line, message } of await lint(passages.map(({ text }) => text).join('\n\n'))) {
  const { place } = passages[(line - 1) / 2] ?? { place: 'src' };
  findings.push({ place, message });
}

findings.push(...(await commentsWithoutSubject()));

for (const { place, message } of findings) {
  console.log(`${styleText('red', place)}  ${message}`);
}
console.log(
  `${findings.length} of ${VOCABULARY} in ${pages.length} pages and ${passages.length} messages`,
);
if (findings.length > 0) process.exitCode = 1;

async function lint(text: string) {
  const { messages } = await kernel.lintText(text, {
    ext: '.md',
    plugins: [{ pluginId: 'markdown', plugin: markdown.default }],
    rules: [
      {
        ruleId: 'terminology',
        rule: terminology.default,
        options: {
          defaultTerms: false,
          skip: [],
          terms: words.map(({ refuse, use }) => [refuse, use]),
        },
      },
    ],
  });
  return messages.map(({ loc, message }) => ({ line: loc.start.line, message }));
}

/** Comments that begin with a clause instead of a sentence (CONTRIBUTING). Generated files have the words of schemas. */
async function commentsWithoutSubject(): Promise<readonly Finding[]> {
  const files = (await filesOf('{src,scripts}/**/*.{ts,tsx}')).filter(
    (file) => !/generated/.test(file),
  );
  const found = await Promise.all(
    files.map(async (file) => {
      const lines = (await readFile(file, 'utf8')).split('\n');
      return lines.flatMap((line, at): readonly Finding[] => {
        const [, word] = CLAUSE.exec(line) ?? [];
        if (word === undefined) return [];
        const message = `The comment begins with ${word}: give it a subject and a verb, or delete it`;
        return [{ place: `${relative(ROOT, file)}:${at + 1}`, message }];
      });
    }),
  );
  return found.flat();
}

/** The texts of a source file that are sentences, with … for whatever is filled in. */
async function messagesOf(file: string): Promise<readonly Passage[]> {
  const path = relative(ROOT, file);
  if (SILENT.some((silent) => silent.test(path))) return [];
  const source = await readFile(file, 'utf8');
  const found: Passage[] = [];
  visit(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file), (node) => {
    const text = textOf(node);
    if (text === undefined || !MESSAGE.test(text) || SQL.test(text)) return;
    const line = source.slice(0, Number(node.start)).split('\n').length;
    found.push({ place: `${path}:${line}`, text: plain(text) });
  });
  return found;
}

/** The texts of rules and fields, which `explain`, editors and the reference show. */
async function descriptionsOf(file: string): Promise<readonly Passage[]> {
  const place = relative(ROOT, file);
  const found: Passage[] = [];
  JSON.parse(await readFile(file, 'utf8'), (key, value: unknown) => {
    if (DESCRIBING.has(key) && typeof value === 'string')
      found.push({ place: `${place} "${value.slice(0, 60)}"`, text: plain(value) });
    return value;
  });
  return found;
}

type Node = {
  readonly type?: unknown;
  readonly start?: unknown;
  readonly value?: unknown;
  readonly quasis?: unknown;
};

function visit(value: unknown, each: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, each);
  if (!isNode(value)) return;
  each(value);
  for (const member of Object.values(value)) visit(member, each);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(node: Node): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node.quasis)) return undefined;
  return node.quasis.map(({ value }) => value.raw).join('…');
}

/** One line that Markdown reads as a paragraph, whatever it begins with. */
function plain(text: string): string {
  return `\u200b${text.replace(/\s+/g, ' ').trim()}`;
}

async function filesOf(pattern: string): Promise<readonly string[]> {
  const files: string[] = [];
  for await (const file of glob(pattern, { cwd: ROOT })) files.push(join(ROOT, file));
  return files.sort();
}
