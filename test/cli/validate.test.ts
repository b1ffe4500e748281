import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ValidateFlags, validate } from '../../src/console/validate.ts';
import { type Files, folderOf, MAIN } from '../stack/stack-folder.ts';
import { quietContext } from './quiet-context.ts';

/** A repository whose stack is in the folder `stacks/harbor`. */
function repositoryOf(files: Files): string {
  const root = folderOf(
    Object.fromEntries(
      Object.entries({ 'callsheet.yaml': MAIN, ...files }).map(([path, content]) => [
        `stacks/harbor/${path}`,
        content,
      ]),
    ),
  );
  mkdirSync(join(root, '.git'));
  return root;
}

/** Runs `callsheet validate` for the stack of a repository. */
async function validateIn(root: string, flags: Partial<ValidateFlags> = {}) {
  const { context, said } = quietContext();
  const dir = join(root, 'stacks/harbor');
  const exit = await validate({ format: 'text', dir, ...flags }, context);
  return { exit, ...said };
}

const SECRET = 'canary-9f27';
const WRONG = `agents:
  a:
    name: A
    config: on
    integrations:
      smsProvider: { auth_token: ${SECRET}, from: "::add-mask::x" }
`;
const ODD = 'agents: { a: { name: A, system_prompt: { $file: a.md } } }\n';
const ONLY_WARNINGS: Files = { 'agents.yaml': ODD, 'a.md': 'Hello\r\n' };

/** What a format says of the first error of `WRONG`: its file from the root, its line and column. */
const FORMATS: readonly (readonly [string, (out: string) => unknown])[] = [
  [
    'sarif',
    (out) => {
      const [result] = JSON.parse(out).runs[0].results;
      const { artifactLocation, region } = result.locations[0].physicalLocation;
      return [artifactLocation.uri, region.startLine, region.startColumn, region.endColumn];
    },
  ],
  [
    'junit',
    (out) => {
      expect(out).toMatch(/^<\?xml[\s\S]*<\/testsuites>\n$/);
      const [, file, line, column] = />(\S+):(\d+):(\d+) {2}error/.exec(out) ?? [];
      return [file, Number(line), Number(column), 15];
    },
  ],
  [
    'github',
    (out) => {
      expect(out).toMatch(/^(::(error|warning|notice) [^\n]*\n)+$/);
      const place = /file=(\S+),line=(\d+),endLine=\d+,col=(\d+),endColumn=(\d+)/.exec(out) ?? [];
      const [, file, ...numbers] = place;
      return [file, ...numbers.map(Number)];
    },
  ],
];

test.each(FORMATS)(
  '--format %s shows a problem from the root of the repository',
  async (format, read) => {
    const root = repositoryOf({ 'agents.yaml': WRONG });
    const { exit, out, err } = await validateIn(root, { format });
    expect(exit).toBe(1);
    expect(read(out)).toEqual(['stacks/harbor/agents.yaml', 4, 13, 15]);
    expect(`${out}${err}`).not.toContain(SECRET);
  },
);

test.each<[string, (out: string) => void]>([
  ['json', (out) => expect(JSON.parse(out).counts).toEqual({ errors: 0, warnings: 0 })],
  ['sarif', (out) => expect(JSON.parse(out).runs[0].results).toEqual([])],
  ['junit', (out) => expect(out).toContain('tests="2" failures="0"')],
  ['github', (out) => expect(out).toBe('')],
  ['text', (out) => expect(out).toBe('The configuration is valid: 1 resource.')],
])('--format %s of a stack without a problem', async (format, check) => {
  const root = repositoryOf({ 'agents.yaml': 'agents: { a: { name: A } }\n' });
  const { exit, out, err } = await validateIn(root, { format });
  check(out);
  expect([exit, err]).toEqual([0, '']);
});

test.each([
  ['a folder that does not exist', { dir: '/nowhere/at/all' }, 'stack/missing'],
  ['a flag that cannot be read', { var: ['x'] }, 'usage/invalid'],
])('%s is a document of the format, too', async (_, flags, rule) => {
  const root = repositoryOf({});
  const sarif = await validateIn(root, { format: 'sarif', ...flags });
  expect(JSON.parse(sarif.out).runs[0].results).toMatchObject([{ ruleId: rule }]);
  const junit = await validateIn(root, { format: 'junit', ...flags });
  expect(junit.out).toContain(`<failure type="${rule}"`);
  const github = await validateIn(root, { format: 'github', ...flags });
  expect(github.out).toMatch(new RegExp(`^::error title=${rule}::[^\\n]*\\n$`));
  expect([sarif.exit, junit.exit, github.exit]).toEqual([1, 1, 1]);
});

test('a failure as text or JSON is the failure that every command has', async () => {
  const root = repositoryOf({});
  for (const format of ['text', 'json'] as const) {
    await expect(validateIn(root, { format, var: ['x'] })).rejects.toThrow('name=value');
  }
});

test('--strict takes warnings for errors', async () => {
  const root = repositoryOf(ONLY_WARNINGS);
  const usual = await validateIn(root);
  expect([usual.exit, usual.out.includes('1 warning\n')]).toEqual([0, true]);
  expect(usual.out).toContain('The configuration is valid');
  const strict = await validateIn(root, { strict: true });
  expect(strict.exit).toBe(1);
  expect(strict.out).toMatch(/a\.md:1:1 {2}error [\s\S]*1 error\n$/);
  expect(strict.out).not.toContain('is valid');
  const github = await validateIn(root, { strict: true, format: 'github' });
  expect(github.out).toMatch(/^::error file=/);
});

test.each<[string, string]>([
  ['sarif', '1 warning'],
  ['junit', '1 warning'],
])('--format %s goes to a file, so the log tells the problems, too', async (format, said) => {
  const { err } = await validateIn(repositoryOf(ONLY_WARNINGS), { format });
  expect(err).toContain(said);
});

test.each([
  ['yes', 'true'],
  ['Off', 'false'],
])('a switch that is written %s is told as %s', async (written, meant) => {
  const root = repositoryOf({
    'agents.yaml': `agents: { a: { name: A, transfer_enabled: ${written} } }\n`,
  });
  const { exit, out, err } = await validateIn(root);
  expect(exit).toBe(1);
  expect(`${out}${err}`).toContain(`Did you mean ${meant}? In YAML 1.2 ${written} is a text`);
});
