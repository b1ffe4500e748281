import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT_WORDS } from '../../scripts/reference/exits.ts';
import { referencePages, WRITTEN_PAGES } from '../../scripts/reference/pages.ts';
import { openTable } from '../../src/cli/command-table.ts';
import { buildProgram } from '../../src/cli/program.ts';
import type { FieldDocument } from '../../src/core/documents.ts';
import { EXIT } from '../../src/core/errors.ts';
import { features } from '../../src/features/index.ts';
import { kinds } from '../../src/kinds/index.ts';
import { explainField } from '../../src/stack/editor/explain-field.ts';
import { topSchema } from '../../src/stack/settings-schema.ts';
import { type Files, load, MAIN, PDF, said, WAV } from '../stack/stack-folder.ts';
import { readPage } from './markdown.ts';

const { commands: COMMANDS } = openTable(features);

const ROOT = join(import.meta.dirname, '../..');
const pages = referencePages();
const written = WRITTEN_PAGES.map(([path]) => path);

test('the pages are as the source says', () => {
  const folder = join(ROOT, 'docs/reference');
  const files = globSync('**/*.md', { cwd: folder });
  expect([...files].sort()).toEqual([...pages.keys(), ...written].sort());
  for (const [path, text] of pages) expect(readFileSync(join(folder, path), 'utf8')).toBe(text);
});

test.each([...pages])('%s has no line of prose that is too long', (_, text) => {
  const long = readPage(text).prose.filter(
    // A table is one line a row, and code is never broken.
    (line) => line.length > 120 && !line.startsWith('|') && !/^\s*`.*`,?$/.test(line),
  );
  expect(long).toEqual([]);
});

/** What examples refer to. */
const AROUND: Files = {
  'callsheet.yaml': MAIN,
  'clinics.csv': 'slug,name\nbay,Bay Clinic\n',
  'prompts/reception.md': 'You answer the phone of a dental clinic.\n',
  'templates/confirmation.html': '<p>Hello {{name|there}}</p>\n',
  'documents/prices.csv': 'treatment,price\ncleaning,90\n',
  'docs/prices.pdf': PDF,
  'voices/harbor.wav': WAV,
};

// Every kind has this field.
const BASES = 'bases: { common: { lifecycle: { protect: false } } }\n';
const VOICES =
  'custom_voices: { harbor: { name: Voice, clip: voices/harbor.wav, consent: true } }\n';
const POLICIES = 'retry_policies: { gentle: { name: Policy } }\n';

const RECEPTION = 'agents: { reception: { name: Desk } }\n';
/** Agents with what the example of the settings selects them by. */
const WEST = `${RECEPTION.trim().slice(0, -2)}, west: {
  for_each: [{ name: a, region: west }, { name: b, region: west }, { name: c, region: west }, { name: d, region: west }],
  key: "\${each.name}", name: "\${each.name}", contact_policy: {} } }\n`;

/** Resources beside the example of a page. */
const BESIDE: { readonly [page: string]: string } = { 'kinds/agent.md': BASES + VOICES };

async function problemsOf(files: Files): Promise<readonly string[]> {
  const { diagnostics } = await load({ ...AROUND, ...files });
  return diagnostics.map(said);
}

describe('the YAML of', () => {
  const examples = [...pages].flatMap(([path, text]) =>
    readPage(text)
      .fences.filter(({ language }) => language === 'yaml')
      .map(({ text: yaml }) => [path, yaml] as const),
  );

  test('every kind is shown', () => {
    const shown = examples.map(([path]) => path);
    for (const { name } of kinds) expect(shown).toContain(`kinds/${name}.md`);
  });

  test.each(examples)('%s loads without a word', async (path, yaml) => {
    const beside = BESIDE[path] ?? '';
    const files = yaml.startsWith('callsheet:')
      ? { 'callsheet.yaml': yaml, 'agents/a.yaml': WEST, 'more.yaml': '' }
      : { 'example.yaml': yaml, 'beside.yaml': beside };
    expect(await problemsOf(files)).toEqual([]);
  });
});

/** Every field that can be given below one, with its example. */
function fieldsBelow(name: string): readonly FieldDocument[] {
  const field = explainField(name, kinds);
  if ('message' in field) throw new Error(field.message);
  const at = field.type.includes('list of maps') ? `${name}[]` : name;
  const members = field.members.filter(({ settable }) => settable);
  return [field, ...members.flatMap((member) => fieldsBelow(`${at}.${member.name}`))];
}

/** What an object must have one of, which no member alone can tell. */
const ONE_OF: { readonly [holder: string]: readonly [name: string, value: string] } = {
  'rules.NAME': ['require', '"true"'],
  'guards.freeze[]': ['weekdays', '[sat]'],
};

/** A field in YAML with everything around it that its objects must have. */
function inYaml(name: string, value: string, unique: string): string {
  if (name.endsWith('[]')) return inYaml(name.slice(0, -2), `[${value}]`, unique);
  const at = name.lastIndexOf('.');
  if (at < 0) return value;
  const holder = name.slice(0, at);
  const member = name.slice(at + 1);
  const beside = documentOf(holder.replace(/\[\]$/, ''))
    .members.filter((other) => other.required && other.name !== member)
    .map((other) => `${other.name}: ${exampleOf(`${holder}.${other.name}`, unique)}`);
  const [one, any] = ONE_OF[holder] ?? [];
  if (one !== undefined && one !== member) beside.push(`${one}: ${any}`);
  return inYaml(holder, `{ ${[...beside, `${member}: ${value}`].join(', ')} }`, unique);
}

function exampleOf(name: string, unique: string): string | null {
  return /^\w+\.name$/.test(name) ? unique : documentOf(name).example;
}

function documentOf(name: string): FieldDocument {
  const field = explainField(name, kinds);
  if ('message' in field) throw new Error(field.message);
  return field;
}

/** What says something of `for_each`, and nothing without it. */
const TOGETHER: { readonly [name: string]: string } = {
  key: 'for_each: { $file: clinics.csv }',
  allow_empty: 'for_each: { $file: clinics.csv }, key: "${each.slug}"',
  for_each: 'key: "${each.slug}"',
};

/** What a value asks for beside it. */
const ASKED: { readonly [field: string]: string } = {
  'email_template.status': 'subject: Hello',
  'retry_policy.on_exhausted_target': 'on_exhausted: queue',
};

test.each(kinds)('the example of each field of $name loads', async (kind) => {
  const fields = fieldsBelow(kind.name).filter(
    ({ field, example }) => field !== kind.name && example !== null,
  );
  // A line each, so that a line of a diagnostic tells the field.
  const lines = fields.map(({ field, example }, at) => {
    const own = field.slice(kind.name.length + 1);
    const isSource = kind.nested !== undefined && own !== 'url' && own !== 'file';
    const more = [
      TOGETHER[own],
      ASKED[field],
      isSource ? `url: "https://harbor.example.test/${at}"` : undefined,
    ];
    const body = inYaml(field, example ?? '', `Unique ${at}`);
    const members = [...more.filter((one) => one !== undefined), body.slice(2)].join(', ');
    return `    f${at}: { ${members}`;
  });
  const [block, head] =
    kind.nested === undefined
      ? [kind.section, '']
      : [
          `${kind.section}: { b: { id: 7c346549-f8c6-406a-809e-72392ed69b41, ${kind.nested.key}`,
          ' {',
        ];
  const yaml =
    head === ''
      ? `${block}:\n${lines.join('\n')}\n`
      : `${block}: {\n${lines.join(',\n')}\n    } } }\n`;
  const beside =
    BASES +
    (kind.name === 'custom_voice' ? '' : VOICES) +
    (kind.name === 'retry_policy' ? '' : POLICIES);
  const { diagnostics } = await load({ ...AROUND, 'example.yaml': yaml, 'beside.yaml': beside });
  const told = diagnostics.map((one) => {
    const isHere = one.position?.file === 'example.yaml';
    const field = isHere ? fields[(one.position?.line ?? 0) - 2]?.field : undefined;
    return `${field ?? ''}: ${said(one)}`;
  });
  expect(told).toEqual([]);
});

/** Every setting that shows an example, free keys among them. */
function settingsBelow(name: string): readonly FieldDocument[] {
  const field = documentOf(name);
  const at = field.type.startsWith('list of maps') ? `${name}[]` : name;
  const free = explainField(`${at}.NAME`, kinds);
  const below = 'message' in free || field.members.length > 0 ? [] : [`${at}.NAME`];
  return [
    field,
    ...[...field.members.map((one) => `${at}.${one.name}`), ...below].flatMap(settingsBelow),
  ];
}

test('the example of each setting has the form of the setting', async () => {
  const names = Object.keys(topSchema.properties ?? {});
  const shown = names
    .flatMap(settingsBelow)
    // What an environment lays over is a setting of the stack itself.
    .filter(
      ({ field, example }) => example !== null && !/^environments\.NAME\.(?!p.*es)/.test(field),
    );
  expect(shown.length).toBeGreaterThan(40);
  const told = await Promise.all(
    shown.map(async ({ field, example }) => {
      const [top = ''] = field.split(/[.[]/);
      const others = MAIN.split('\n').filter((line) => !line.startsWith(`${top}:`));
      const yaml = [...others, `${top}: ${inYaml(field, example ?? '', '')}`].join('\n');
      const { diagnostics } = await load({ 'callsheet.yaml': yaml });
      // What it names, such as a file or an address, is not there.
      const problems = diagnostics.filter(({ rule }) => rule.startsWith('schema/'));
      return problems.map((problem) => `${field}: ${said(problem)}`);
    }),
  );
  expect(told.flat()).toEqual([]);
});

test('the examples of patches are laid over a resource', async () => {
  const names = [
    'environments.NAME',
    'environments.NAME.patches',
    'environments.NAME.patches.NAME',
  ];
  for (const name of names) {
    const body = inYaml(name, documentOf(name).example ?? '', '');
    const yaml = `${MAIN}environments: ${body.replace(/\bNAME(?=: \{ greeting)/, 'agent')}\n`;
    const files = { 'callsheet.yaml': yaml, 'agents.yaml': RECEPTION };
    const { diagnostics } = await load(files, { environment: 'NAME' });
    expect(diagnostics.map(said)).toEqual([]);
  }
});

describe('commands', () => {
  const examples = COMMANDS.flatMap(({ name, examples: lines }) =>
    lines.map((line) => [name, line] as const),
  );

  test.each(examples)('%s can be typed: %s', async (path, line) => {
    const [, typed = ''] = /callsheet (.*?)(?: > .*|\))?$/.exec(line) ?? [];
    const argv = [...typed.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, plain = '']) => quoted ?? plain,
    );
    expect(`${argv.join(' ')} `.startsWith(`${path} `)).toBe(true);
    let called = 0;
    const program = buildProgram(openTable(features), () => async () => void called++, '0.0.0');
    await program.parseAsync(argv, { from: 'user' });
    expect(called).toBe(1);
  });

  /** The commands of each file, as the table and the features load it. */
  const tables = [
    'src/cli/command-table.ts',
    ...globSync('src/features/*/index.ts', { cwd: ROOT }),
  ];
  const loaded = tables.flatMap((table) =>
    [
      ...readFileSync(join(ROOT, table), 'utf8').matchAll(
        /^ {4,6}name: '([^']+)',[\s\S]*?import\('(\.{1,2}\/[^']+)'\)/gm,
      ),
    ].map(([, name = '', file = '']) => ({ name, file: join(dirname(table), file) })),
  );
  const files = Map.groupBy(loaded, ({ file }) => file);

  test.each([...files])(
    'the commands of %s name every exit code that it returns',
    (file, found) => {
      const names = found.map(({ name }) => name);
      const named = COMMANDS.filter(({ name }) => names.includes(name)).flatMap(
        ({ exits }) => exits,
      );
      const text = readFileSync(join(ROOT, file), 'utf8');
      const returned = [...text.matchAll(/\bEXIT\.(\w+)/g)].map(([, name]) => name);
      expect(named.length).toBeGreaterThan(1);
      expect(returned.filter((name) => !named.some((one) => one === name))).toEqual([]);
    },
  );

  test('each is carried out by a file of its own or of its group', () => {
    expect(loaded.map(({ name }) => name).sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
  });
});

test('the README has the exit codes in the same words', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  for (const [name, { means }] of Object.entries(EXIT_WORDS))
    expect(readme).toContain(`| ${EXIT[name as keyof typeof EXIT]} | ${means} |`);
});
