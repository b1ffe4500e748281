import { expect, test } from 'vitest';
import { HOSTILE, HOSTILE_PROBLEMS, problem, reportOf } from '../../render/report/sample.ts';
import { rendered } from './rendered.ts';

type Command = {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly data: string;
};

function unescapeData(text: string): string {
  return text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
}

/** A line as the runner of GitHub Actions reads it; undefined for one that it only logs. */
function parse(line: string): Command | undefined {
  const text = line.trimStart();
  const end = text.indexOf('::', 2);
  if (!text.startsWith('::') || end < 0) return undefined;
  const [name = '', ...rest] = text.slice(2, end).split(' ');
  const pairs = rest
    .join(' ')
    .split(',')
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const)
    .map(([key, value]) => [
      key,
      unescapeData(value.replaceAll('%3A', ':').replaceAll('%2C', ',')),
    ]);
  return { name, properties: Object.fromEntries(pairs), data: unescapeData(text.slice(end + 2)) };
}

function commandsOf(text: string): readonly (Command | undefined)[] {
  return text
    .split(/\r\n|\r|\n/)
    .filter(Boolean)
    .map(parse);
}

test('a problem is an annotation at its place, from the root of the repository', () => {
  const text = rendered('github', reportOf([problem()], { folder: 'stacks/harbor' }));
  expect(text).toBe(
    '::error file=stacks/harbor/agents/desk.yaml,line=4,endLine=4,col=13,endColumn=15,title=schema/enum::agent.desk: status cannot be "on"%0AUse one of active, inactive\n',
  );
});

test('a problem without a place is one of the step, and a warning is a warning', () => {
  const text = rendered('github', reportOf([{ severity: 'warning', rule: 'a/b', message: 'c' }]));
  expect(text).toBe('::warning title=a/b::c\n');
});

test('no problem is no text', () => {
  expect(rendered('github', reportOf([]))).toBe('');
});

test('a file whose name has what the runner splits at keeps its name', () => {
  const file = 'a,b:c%0A=d e.yaml';
  const text = rendered('github', reportOf([problem({ position: { file, line: 1, column: 1 } })]));
  expect(parse(text)?.properties).toMatchObject({ file, line: '1', title: 'schema/enum' });
});

test('a hostile text is one command with that text in it, and no other', () => {
  const commands = commandsOf(rendered('github', reportOf(HOSTILE_PROBLEMS)));
  expect(commands).toHaveLength(HOSTILE_PROBLEMS.length);
  expect(commands.map((command) => command?.name)).toEqual([
    ...HOSTILE.map(() => 'error'),
    ...HOSTILE.map(() => 'warning'),
  ]);
  for (const command of commands) {
    expect(Object.keys(command?.properties ?? {}).filter((name) => name !== 'title')).toEqual(
      command?.name === 'error' ? ['file', 'line', 'endLine', 'col'] : [],
    );
  }
  expect(commands[3]?.data).toContain('\\n::add-mask::x\\r::error file=a::b');
});

test('errors come first; beyond ten of a severity the place is in the text, and a notice counts all', () => {
  const many = Array.from({ length: 23 }, (_, index) =>
    problem({
      severity: index < 12 ? 'warning' : 'error',
      position: { file: 'a.yaml', line: index + 1, column: 1 },
    }),
  );
  const commands = commandsOf(rendered('github', reportOf(many)));
  expect(commands.map((command) => command?.name)).toEqual([
    ...Array.from({ length: 11 }, () => 'error'),
    ...Array.from({ length: 12 }, () => 'warning'),
    'notice',
  ]);
  expect(commands[9]?.data).toMatch(/^agent\.desk: /);
  expect(commands[10]?.data).toMatch(/^a\.yaml:23:1: agent\.desk: /);
  expect(commands.at(-1)?.data).toBe(
    '11 errors and 12 warnings. GitHub shows 10 of each; the log of this step has all of them.',
  );
});

test('ten of each need no notice', () => {
  const ten = Array.from({ length: 10 }, () => problem());
  const text = rendered(
    'github',
    reportOf([...ten, ...ten.map((one) => ({ ...one, severity: 'warning' as const }))]),
  );
  expect(text).not.toContain('::notice');
});
