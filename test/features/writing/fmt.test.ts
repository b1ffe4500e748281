import {
  chmodSync,
  globSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { fmt } from '../../../src/features/writing/edit/fmt.ts';
import { openAuthorStage } from '../../cli/author-stage.ts';
import { temporaryFolder } from '../../temporary.ts';

const UGLY = "agents:\n    a:\n        model: 'x'\n        name: a\n";
const GOOD = 'agents:\n  a:\n    name: a\n    model: x\n';

function stack(files: Readonly<Record<string, string>>): string {
  const dir = temporaryFolder();
  for (const [path, text] of Object.entries({ 'callsheet.yaml': 'callsheet: 1\n', ...files })) {
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

async function run(dir: string, flags = {}, files: readonly string[] = []) {
  const { context, said } = openAuthorStage();
  const exit = await fmt(files, { dir, ...flags }, context);
  return { exit, said: said() };
}

test('every file of the stack is formatted, and no other', async () => {
  const dir = stack({
    'callsheet.yaml': 'callsheet: 1\ninclude: agents.yaml\n',
    'agents.yaml': UGLY,
    'other.yaml': UGLY,
    'prompt.md': 'a:   b',
  });
  expect(await run(dir)).toEqual({
    exit: 0,
    said: 'agents.yaml\n1 file formatted, 2 files checked.\n',
  });
  expect(readFileSync(join(dir, 'agents.yaml'), 'utf8')).toBe(GOOD);
  expect(readFileSync(join(dir, 'other.yaml'), 'utf8')).toBe(UGLY);
  expect(await run(dir)).toEqual({ exit: 0, said: 'Nothing formatted, 2 files checked.\n' });
});

test('what include names with a variable is formatted, and no other', async () => {
  const dir = stack({
    'callsheet.yaml':
      'callsheet: 1\nvariables: { part: { default: agents } }\ninclude: ${var.part}.yaml\n',
    'agents.yaml': UGLY,
    'other.yaml': UGLY,
  });
  const said = 'agents.yaml\n1 file to format, 2 files checked.\n';
  expect(await run(dir, { check: true })).toMatchObject({ exit: 1, said });
});

test.each(['', ' []'])(
  'where include names nothing (include:%s), every file is formatted',
  async (value) => {
    const main = `callsheet: 1\ninclude:${value}\n`;
    const dir = stack({ 'callsheet.yaml': main, 'agents.yaml': UGLY });
    const said = 'agents.yaml\n1 file to format, 2 files checked.\n';
    expect(await run(dir, { check: true })).toMatchObject({ exit: 1, said });
  },
);

test('--check lists what would change, changes nothing and exits 1', async () => {
  const dir = stack({ 'agents.yaml': UGLY });
  expect(await run(dir, { check: true })).toEqual({
    exit: 1,
    said: 'agents.yaml\n1 file to format, 2 files checked.\n',
  });
  expect(readFileSync(join(dir, 'agents.yaml'), 'utf8')).toBe(UGLY);
});

test('a file keeps its permissions and its link, and nothing is left beside it', async () => {
  const dir = stack({ 'real.txt': UGLY });
  chmodSync(join(dir, 'real.txt'), 0o640);
  symlinkSync('real.txt', join(dir, 'agents.yaml'));
  expect((await run(dir)).exit).toBe(0);
  expect(readFileSync(join(dir, 'real.txt'), 'utf8')).toBe(GOOD);
  expect(statSync(join(dir, 'real.txt')).mode & 0o777).toBe(0o640);
  expect(readdirSync(dir).sort()).toEqual(['agents.yaml', 'callsheet.yaml', 'real.txt']);
});

test('a byte order mark and Windows line endings go', async () => {
  const dir = stack({ 'agents.yaml': `\uFEFF${GOOD.replaceAll('\n', '\r\n')}` });
  expect((await run(dir)).exit).toBe(0);
  expect(readFileSync(join(dir, 'agents.yaml'), 'utf8')).toBe(GOOD);
});

test('a file with a mistake is left alone and shown, without its secrets; the others are formatted', async () => {
  const broken = 'agents:\n  a: { auth_token: hunter2, name: [\n';
  const dir = stack({ 'agents.yaml': UGLY, 'broken.yaml': broken });
  const { exit, said } = await run(dir);
  expect(exit).toBe(1);
  expect(said).toMatch(/^agents\.yaml\nbroken\.yaml:\d+:\d+ {2}error/);
  expect(said).not.toContain('hunter2');
  expect(readFileSync(join(dir, 'broken.yaml'), 'utf8')).toBe(broken);
});

test('files that are named need no stack', async () => {
  const dir = stack({ 'agents.yaml': UGLY, 'more.yaml': UGLY });
  expect((await run('nowhere', {}, [join(dir, 'agents.yaml')])).exit).toBe(0);
  expect(readFileSync(join(dir, 'agents.yaml'), 'utf8')).toBe(GOOD);
  expect(readFileSync(join(dir, 'more.yaml'), 'utf8')).toBe(UGLY);
});

test.each([
  [['none.yaml'], /fmt names "none\.yaml", which does not exist/],
  [['.'], /which is a folder/],
])('%j cannot be formatted, and it says why', async (files, message) => {
  const { exit, said } = await run('.', {}, files);
  expect(exit).toBe(1);
  expect(said).toMatch(message);
});

test('a folder that is no stack is refused', async () => {
  await expect(run(tmpdir())).rejects.toThrow(/there is no callsheet\.yaml/);
});

test('a file is looked for in the working directory, and one of the stack is what may be meant', async () => {
  const dir = stack({ 'messy.yaml': UGLY });
  const { exit, said } = await run(dir, {}, ['messy.yaml']);
  expect(exit).toBe(1);
  const plain = said.replace(/\s+/g, ' ');
  expect(plain).toContain('fmt looks for files in the working directory');
  expect(plain.replace(/ /g, '')).toContain(`Didyoumean"${join(dir, 'messy.yaml')}"?`);
  const gone = await run(dir, {}, ['gone.yaml']);
  expect(gone.said).not.toContain('Did you mean');
});

const EXAMPLES = join(import.meta.dirname, '../../../examples');

test.each(globSync('*/callsheet.yaml', { cwd: EXAMPLES }).map(dirname))(
  'the example %s is as fmt leaves it',
  async (name) => {
    const { exit, said } = await run(join(EXAMPLES, name), { check: true });
    expect([exit, said]).toEqual([0, expect.stringMatching(/^Nothing to format, \d+ files/)]);
  },
);
