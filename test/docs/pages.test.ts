import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, relative, resolve } from 'node:path';
import { Option } from 'commander';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { openTable } from '../../src/cli/command-table.ts';
import { TOPICS, topicAbout, topicPages } from '../../src/cli/topics.ts';
import { ALLOWANCES, COMMON_FLAGS } from '../../src/console/flags.ts';
import { STORES } from '../../src/core/stores.ts';
import { features } from '../../src/features/index.ts';
import { type Page, readPage } from './markdown.ts';

const { commands: COMMANDS, groups: GROUPS } = openTable(features);

/** The pages that `callsheet help TOPIC` shows: how many there are, and that what they say can be typed and followed. */

const ROOT = join(import.meta.dirname, '../..');
/** Every file with its path, of those that users read. */
const FOR_USERS = globSync('docs/*.md', { cwd: ROOT }).sort();
const SHIPPED = [...FOR_USERS, ...globSync('docs/reference/**/*.md', { cwd: ROOT }).sort()];

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

test('there are about twelve pages for users, and they are read in two hours', () => {
  const pages = FOR_USERS.filter((file) => file !== 'docs/README.md');
  expect(pages.length).toBeLessThanOrEqual(14);
  const words = FOR_USERS.map((file) => textOf(file).split(/\s+/).length);
  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThan(25_000);
});

test('each page for users is a topic that help lists, in the order of the index', () => {
  const pages = FOR_USERS.map((file) => file.replace(/^docs\/(.*)\.md$/, '$1'));
  const listed = Object.keys(TOPICS);
  expect([...pages, 'reference'].filter((page) => page !== 'README').sort()).toEqual(
    [...listed].sort(),
  );
  const rows = [...textOf('docs/README.md').matchAll(/^\| \[([\w-]+)\]/gm)];
  expect(rows.map(([, name]) => name)).toEqual(listed);
});

test('each page of the reference is a topic, and no topic is a command', () => {
  const pages = [...topicPages().values()].map((path) => `docs/${path}`);
  expect([...pages, 'docs/README.md'].sort()).toEqual(SHIPPED.toSorted());
  const commands = [
    ...COMMANDS.map(({ name }) => name),
    ...Object.keys(GROUPS),
    'options',
    'topics',
  ];
  expect([...topicPages().keys()].filter((topic) => commands.includes(topic))).toEqual([]);
});

test('the page that the help of a command names is there', () => {
  const topics = COMMANDS.flatMap(({ name }) => topicAbout(name) ?? []);
  expect(topics.length).toBeGreaterThan(20);
  expect(topics.filter((topic) => !topicPages().has(topic))).toEqual([]);
  const named = Object.values(TOPICS).flatMap(({ commands }) => commands);
  expect(named.filter((name) => !COMMANDS.some((one) => one.name.split(' ')[0] === name))).toEqual(
    [],
  );
});

test.each(Object.entries(STORES))(
  'the pages name what the store %s is called and signs in with',
  (store, { protocols: [protocol], credentials }) => {
    expect(textOf('docs/stores.md')).toContain(`\`${store}: {`);
    expect(textOf('docs/stores.md')).toContain(`\`${protocol}//`);
    const unnamed = credentials.filter((one) => !textOf('docs/secrets.md').includes(`\`${one}\``));
    expect(unnamed.filter((one) => !one.startsWith('CALLSHEET_'))).toEqual([]);
  },
);

test('the pages name what a plan may be allowed, in a library and on the command line', () => {
  const options = ALLOWANCES.map(({ spelling }) => new Option(spelling));
  const library = textOf('docs/reference/library.md');
  const unnamed = options.filter((one) => !library.includes(`\`${one.attributeName()}\``));
  expect(unnamed.map(({ long }) => long)).toEqual([]);
  const pages = FOR_USERS.map(textOf).join('\n');
  expect(options.map(({ long }) => long).filter((long) => !pages.includes(`${long}`))).toEqual([]);
});

/** Whether a file comes with the package. */
function isShipped(file: string): boolean {
  return [...packageJson.files, 'README.md'].some(
    (entry) => matchesGlob(file, entry) || file.startsWith(`${entry}/`),
  );
}

test.each(SHIPPED.filter((file) => file !== 'docs/README.md'))(
  'every link of %s leads to a file that comes with the package',
  (file) => {
    const targets = readPage(textOf(file)).links.filter((link) => !/^(?:[a-z]+:|#)/.test(link));
    const files = targets.map((link) => {
      const [path = ''] = link.split('#');
      return relative(ROOT, resolve(ROOT, dirname(file), path));
    });
    expect(files.filter((path) => !isShipped(path) || !existsSync(join(ROOT, path)))).toEqual([]);
  },
);

/** Lines of code, and code within sentences. */
function codeIn({ prose, fences }: Page): readonly string[] {
  const spans = prose.flatMap((line) =>
    [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code),
  );
  return [...spans, ...fences.flatMap(({ text }) => text.replaceAll('\\\n', ' ').split('\n'))];
}

const FLAGS = new Map(
  COMMANDS.map(({ name, flags = [] }) => [
    name,
    new Set(
      [...flags, ...COMMON_FLAGS].map(({ spelling }) => /--[\w-]+/.exec(spelling)?.[0] ?? ''),
    ),
  ]),
);
const EVERY_FLAG = new Set([...FLAGS.values()].flatMap((flags) => [...flags]));

/** What is wrong with a command of a page: `plan --ot FILE`. */
function faultOf(typed: string): string | undefined {
  const words = typed.split(/\s+/).map((word) => word.replace(/[.,;:)]+$/, ''));
  const [first = '', second = ''] = words;
  if (first === 'help') {
    const known =
      topicPages().has(second) ||
      ['options', 'topics', 'COMMAND', 'TOPIC', ''].includes(second) ||
      COMMANDS.some(({ name }) => name.split(' ')[0] === second);
    return known ? undefined : `there is no help of ${second}`;
  }
  if (/^(?:COMMAND|__complete|--)/.test(first)) return undefined;
  const name = [`${first} ${second}`, first].find((one) => FLAGS.has(one));
  if (name === undefined)
    return first in GROUPS && !/^[a-z]/.test(second) ? undefined : `there is no command ${first}`;
  // What follows a pipe or belongs to a shell is somebody else's.
  const end = words.findIndex((word) => ['|', '>', '>>', '||', '&&', '2>'].includes(word));
  const own = end < 0 ? words : words.slice(0, end);
  const flags = own.flatMap((word) => /^\[?(--[a-z][\w-]*)/.exec(word)?.[1] ?? []);
  const known = FLAGS.get(name);
  const unknown = flags.filter((flag) => flag !== '--help' && known?.has(flag) !== true);
  return unknown.length === 0 ? undefined : `${name} has no ${unknown.join(', ')}`;
}

const PAGES = [
  ...SHIPPED,
  ...globSync('{README.md,CONTRIBUTING.md,examples/**/*.md}', { cwd: ROOT }).sort(),
];

test.each(PAGES)('every command in %s can be typed', (file) => {
  const lines = codeIn(readPage(textOf(file)));
  const typed = lines.flatMap((line) =>
    [...line.matchAll(/(?<![\w./@-])callsheet ((?:--)?[a-zA-Z_][^\n]*)/g)].flatMap(
      ([, rest = '']) => {
        const [one = ''] = rest.split(/ callsheet | # |; |\)"? |`/);
        return one;
      },
    ),
  );
  const short = lines.filter(
    (line) => /^[a-z]+ (?:[a-z]+ )?--/.test(line) && FLAGS.has(line.split(' ')[0] ?? ''),
  );
  const faults = [...typed, ...short].flatMap((one) => {
    const fault = faultOf(one);
    return fault === undefined ? [] : [`${one}: ${fault}`];
  });
  expect(faults).toEqual([]);
});

/** Flags of other programs that pages name. */
const FOREIGN =
  /^--(?:ignore-scripts|global|engine-strict|prefix|save-dev|package-lock-only|pack-destination|repo-config|url|branch)/;

test.each(FOR_USERS)('every flag that %s names is one of ours', (file) => {
  const spans = readPage(textOf(file)).prose.flatMap((line) =>
    [...line.matchAll(/`(--[a-z][\w-]*)/g)].map(([, flag = '']) => flag),
  );
  expect(spans.filter((flag) => !EVERY_FLAG.has(flag) && !FOREIGN.test(flag))).toEqual([]);
});

/** What readers of messages, of editors and of pipelines see. */
const SAID = globSync(
  '{src/**/*.{ts,tsx},schemas/**/*.json,examples/ci/**/*.{yaml,yml,mjs,json}}',
  {
    cwd: ROOT,
  },
);

function withoutOurComments(file: string): string {
  const text = textOf(file);
  return file.endsWith('.ts') || file.endsWith('.tsx')
    ? text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
    : text;
}

test('no message names a file of the documentation, which its reader may not have', () => {
  const found = SAID.flatMap((file) =>
    [...withoutOurComments(file).matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(
      ([name]) => `${file}: ${name}`,
    ),
  );
  expect(found).toEqual([]);
});

test('every page that a message names is there', () => {
  const named = SAID.flatMap((file) =>
    [...withoutOurComments(file).matchAll(/callsheet (help [a-z][\w/-]*)/g)].map(
      ([, help = '']) => ({
        file,
        fault: faultOf(help),
      }),
    ),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ fault }) => fault !== undefined)).toEqual([]);
});
