import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as moment } from 'node:timers/promises';
import { NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { fmt } from '../../src/cli/commands/fmt.ts';
import { type InitFlags, init } from '../../src/cli/commands/init.ts';
import { validate } from '../../src/cli/commands/validate.ts';
import { addressName } from '../../src/cli/init/answers.ts';
import { ask, type Streams } from '../../src/cli/init/ask.ts';
import { githubWorkflow, gitlabPipeline } from '../../src/cli/init/pipelines.ts';
import { writeAll } from '../../src/cli/init/place.ts';
import { temporaryFolder } from '../temporary.ts';
import { openAuthorStage } from './author-stage.ts';

const ID = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const ORGANIZATION = `harbor=${ID}`;

function folder(files: Readonly<Record<string, string>> = {}): string {
  const dir = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

function filesIn(dir: string): readonly string[] {
  const found = readdirSync(dir, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort();
}

async function begin(dir: string, flags: Partial<InitFlags> = {}): Promise<string> {
  const { context, said } = openAuthorStage();
  expect(await init({ dir, organization: ORGANIZATION, ...flags }, context)).toBe(0);
  return said();
}

async function expectSound(dir: string): Promise<void> {
  const { context, said } = openAuthorStage();
  expect([await validate({ dir, format: 'text' }, context), said()]).toEqual([
    0,
    expect.stringMatching(/^The configuration is valid: \d resources?\.\n$/),
  ]);
  expect(await fmt([], { dir, check: true }, context)).toBe(0);
}

describe('a new stack is valid at once, and formatted', () => {
  test.each<Partial<InitFlags>>([
    {},
    { baseUrl: 'https://voice.example.test', agent: 'Ünïque: "desk" #1' },
    { ci: 'github' },
    { ci: 'gitlab' },
    { empty: true },
    { organization: `no=${ID}` },
  ])('%j', async (flags) => {
    const dir = folder();
    await begin(dir, flags);
    await expectSound(dir);
  });

  test('in a folder with other files, which it leaves alone', async () => {
    const others = {
      'compose.yaml': 'services: {}\n',
      'README.md': 'Hi',
      '.gitignore': '*.log\n.env\n',
    };
    const dir = folder(others);
    const said = await begin(dir);
    await expectSound(dir);
    for (const [path, text] of Object.entries(others)) {
      expect(readFileSync(join(dir, path), 'utf8')).toBe(text);
    }
    expect(said).toContain('! .gitignore is yours; add to it:\n      .callsheet/\n      .env.*\n');
  });

  test('with the schema of the Callsheet that is installed there', async () => {
    const dir = folder({ 'node_modules/callsheet/schemas/callsheet.schema.json': '{}' });
    await begin(dir);
    const line = (path: string) => readFileSync(join(dir, path), 'utf8').split('\n')[0];
    const schema = 'node_modules/callsheet/schemas/callsheet.schema.json';
    expect(line('callsheet.yaml')).toBe(`# yaml-language-server: $schema=${schema}`);
    expect(line('agents/front_desk.yaml')).toBe(`# yaml-language-server: $schema=../${schema}`);
    expect(filesIn(dir)).not.toContain('.callsheet-schema.json');
  });
});

test('what it says ends with the three commands to type', async () => {
  const dir = folder();
  const said = await begin(dir, { baseUrl: 'https://voice.example.test' });
  // It is quoted where a shell would take it apart.
  expect(said.replaceAll(JSON.stringify(dir), dir)).toBe(`  + callsheet.yaml
  + agents/front_desk.yaml
  + prompts/front_desk.md
  + .callsheet-schema.json
  + .gitignore
  + .gitattributes

Next:
  callsheet validate --dir ${dir}
  callsheet plan --dir ${dir}
  callsheet apply --dir ${dir}

plan and apply read CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET from the
environment.
`);
});

describe('nothing is written', () => {
  test.each<readonly [string, Readonly<Record<string, string>>, Partial<InitFlags>, RegExp]>([
    ['over a stack', { 'callsheet.yaml': 'callsheet: 1\n' }, {}, /is a stack already/],
    [
      'over other files',
      { 'prompts/front_desk.md': 'Mine' },
      {},
      /other files at prompts\/front_desk\.md/,
    ],
    ['inside another stack', { '../callsheet.yaml': '' }, {}, /lies inside the stack/],
    ['for an id that is none', {}, { organization: 'harbor=1' }, /--organization harbor=1 cannot/],
    ['without an organization', {}, { organization: '' }, /cannot be used/],
    ['for an address that is none', {}, { baseUrl: 'voice.example' }, /--base-url/],
    ['for an agent in an empty stack', {}, { empty: true, agent: 'Desk' }, /--agent cannot/],
    [
      'for an address with a password, which is not repeated',
      {},
      { baseUrl: 'https://u:pw@voice.example.com' },
      /^--base-url cannot be used$/,
    ],
    [
      'for a foreign address that is plain http',
      {},
      { baseUrl: 'http://voice.example.com' },
      /--base-url/,
    ],
    ['for an agent without letters', {}, { agent: '42' }, /--agent 42 cannot be used/],
  ])('%s', async (_, files, flags, message) => {
    const outer = folder();
    const dir = join(outer, 'new');
    mkdirSync(dir);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    const before = filesIn(outer);
    const { context } = openAuthorStage();
    const made = init({ dir, organization: ORGANIZATION, ...flags }, context);
    await expect(made).rejects.toThrow(message);
    expect(filesIn(outer)).toEqual(before);
  });

  test('where an agent needs an organization and nobody can be asked', async () => {
    const { context } = openAuthorStage();
    await expect(init({ dir: folder() }, context)).rejects.toThrow(/none is given/);
  });

  test('when one of the files cannot be, and its folders go again', () => {
    const dir = folder({ b: 'a file, no folder' });
    const files = ['a/deep/x', 'b/y'].map((path) => ({ path, text: '' }));
    expect(() => writeAll(dir, files)).toThrow(/nothing was written/);
    expect(readdirSync(dir)).toEqual(['b']);
  });
});

test('--keep-existing leaves what is there and writes the rest', async () => {
  const dir = folder({ 'prompts/front_desk.md': 'Mine' });
  const said = await begin(dir, { keepExisting: true });
  expect(said).toContain('= prompts/front_desk.md (was there)');
  expect(readFileSync(join(dir, 'prompts/front_desk.md'), 'utf8')).toBe('Mine');
  await expectSound(dir);
});

test('--keep-existing adds a pipeline to a stack, and touches none of its YAML', async () => {
  const dir = folder();
  await begin(dir);
  const { context, said } = openAuthorStage();
  expect(await init({ dir, keepExisting: true, ci: 'github' }, context)).toBe(0);
  expect(said()).toContain('+ .github/workflows/callsheet.yml');
  expect(said()).not.toContain('callsheet.yaml\n');
  await expectSound(dir);
  const more = init({ dir, keepExisting: true, ci: 'github', agent: 'Desk' }, context);
  await expect(more).rejects.toThrow('--agent cannot be used');
});

describe('a pipeline', () => {
  test.each([
    ['', 'callsheet'],
    ['stacks/harbor', 'callsheet-stacks-harbor'],
  ])('of GitHub Actions is one that GitHub reads, in %j', (place, name) => {
    const content = githubWorkflow(place, '1.2.3');
    const { context, value } = parseWorkflow(
      { name: 'a.yml', content },
      new NoOperationTraceWriter(),
    );
    expect(context.errors.getErrors().map(String)).toEqual([]);
    expect(value).toBeDefined();
    expect(parse(content).name).toBe(name);
    for (const uses of content.matchAll(/uses: (\S+)/g)) expect(uses[1]).toMatch(/@[0-9a-f]{40}$/);
  });

  test('that GitHub does not read is noticed', () => {
    const content = githubWorkflow('', '1.2.3').replace('runs-on', 'runs-onn');
    const { context } = parseWorkflow({ name: 'a.yml', content }, new NoOperationTraceWriter());
    expect(context.errors.getErrors()).not.toEqual([]);
  });

  const steps = (document: unknown): readonly string[] => {
    const lines: string[] = [];
    JSON.stringify(document, (key, value: unknown) => {
      if (['run', 'script', 'before_script'].includes(key)) lines.push([value].flat().join('\n'));
      return value;
    });
    return lines;
  };

  test.each([
    ['GitHub Actions', githubWorkflow('a', '1.2.3')],
    ['GitLab CI', gitlabPipeline('a b', '1.2.3')],
  ])('of %s has steps that a shell reads', (_, content) => {
    const lines = steps(parse(content));
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) execFileSync('bash', ['-n', '-c', line]);
  });

  test('of a folder of a repository stands where the service looks for it', async () => {
    const top = folder({ '.git/HEAD': '' });
    await begin(join(top, 'stacks/harbor'), { ci: 'github' });
    expect(existsSync(join(top, '.github/workflows/callsheet-stacks-harbor.yml'))).toBe(true);
    await begin(join(top, 'stacks/bay'), { ci: 'gitlab' });
    expect(existsSync(join(top, 'stacks/bay/.gitlab-ci.yml'))).toBe(true);
  });
});

describe('on a terminal', () => {
  function terminal(): Streams & { readonly type: (keys: string) => Promise<void> } {
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
    output.resume();
    const streams = { input, output } as unknown as Streams;
    return {
      ...streams,
      // Each question reads the keys from when it is asked; a turn of the loop puts the next one up.
      type: async (keys) => {
        await moment(0);
        input.write(keys);
        await moment(0);
      },
    };
  }

  test('what no flag answers is asked', async () => {
    const { type, ...streams } = terminal();
    const answers = ask({ isEmpty: false, agent: 'Desk' }, streams);
    for (const keys of [
      'https://voice.example.test',
      '\r',
      'harbor',
      '\r',
      ID,
      '\r',
      '\x1b[B',
      '\r',
    ]) {
      await type(keys);
    }
    expect(await answers).toEqual({
      baseUrl: 'https://voice.example.test',
      organization: { name: 'harbor', id: ID },
      agent: 'Desk',
      ci: 'github',
    });
  });

  test('an interrupt writes nothing', async () => {
    const { type, ...streams } = terminal();
    const answers = ask({ isEmpty: true }, streams);
    const ended = expect(answers).rejects.toMatchObject({ code: 'interrupted' });
    await type('\x03');
    await ended;
  });
});

test.each([
  ['Front desk', 'front_desk'],
  ['Ünïque — Desk!', 'unique_desk'],
  ['1st line', 'st_line'],
  ['受付', ''],
])('an agent called %j has the address %j', (display, name) => {
  expect(addressName(display)).toBe(name);
});
