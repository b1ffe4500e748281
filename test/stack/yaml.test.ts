import { expect, test } from 'vitest';
import { agent, broken, load, MAIN, said } from './stack-folder.ts';

const lines = (...rows: string[]) => rows.join('\n');
const bomb = lines(
  'a: &a [x, x, x, x, x, x, x, x, x, x]',
  ...['b', 'c', 'd', 'e', 'f', 'g'].map((name, index) => {
    const before = `*${'abcdef'[index]}`;
    return `${name}: &${name} [${Array(10).fill(before).join(', ')}]`;
  }),
);

broken([
  {
    title: 'a bracket that is not closed',
    files: { 'x.yaml': lines('agents:', '  a: { name: A', '  b: { name: B }') },
    says: ['x.yaml:3:3 yaml/syntax a { or [ is not closed, or its content is not indented'],
  },
  {
    title: 'a text that begins with a token and has no quotes',
    files: { 'x.yaml': lines('agents:', '  a:', '    name: {{caller_id}} hi') },
    says: ['x.yaml:3:25 yaml/syntax YAML does not allow this here'],
    hint: 'A text that begins with {{ needs quotes around all of it',
  },
  {
    title: 'a quote that is not closed',
    files: { 'x.yaml': lines('agents:', '  a:', '    name: "A') },
    says: ['x.yaml:3:13 yaml/syntax a quoted text has no closing quote'],
  },
  {
    title: 'a tab as indentation',
    files: { 'x.yaml': 'agents:\n\ta: 1\n' },
    says: ['x.yaml:2:1 yaml/syntax a tab is used as indentation'],
    hint: 'spaces',
  },
  {
    title: 'two keys on a line',
    files: { 'x.yaml': 'agents: a: b\n' },
    says: ['x.yaml:1:9 yaml/syntax a line has a second `key: value`'],
  },
  {
    title: 'a key twice in one map, in a file with Windows line endings',
    files: { 'x.yaml': 'agents:\r\n  a:\r\n    name: A\r\n    name: B\r\n' },
    says: ['x.yaml:4:5 yaml/duplicate-key the key "name" is twice in one map, first at x.yaml:3:5'],
  },
  {
    title: 'columns count characters, not bytes or code units',
    files: { 'x.yaml': 'agents: { a: { name: "😀é", naem: x } }\n' },
    says: ['x.yaml:1:28 schema/unknown-key agent.a has no field "naem"'],
  },
  {
    title: 'two documents in one file',
    files: { 'x.yaml': 'agents: {}\n---\nagents: {}\n' },
    says: ['x.yaml:2:1 yaml/documents the file holds more than one YAML document'],
  },
  {
    title: 'another version of YAML',
    files: { 'x.yaml': '%YAML 1.1\n---\nagents: {}\n' },
    says: ['x.yaml:1:1 yaml/version the file asks for another version of YAML than 1.2'],
  },
  {
    title: 'a tag',
    files: agent('description: !file x.md'),
    says: ['agents.yaml:4:18 yaml/tag YAML tags are not supported'],
    hint: '$file',
  },
  {
    title: 'a merge key',
    files: { 'x.yaml': lines('agents:', '  a: &a { name: A }', '  b: { <<: *a, name: B }') },
    says: ['x.yaml:3:8 yaml/merge-key YAML 1.2 has no merge keys'],
  },
  {
    title: 'an alias without an anchor',
    files: agent('description: *nothing'),
    says: ['agents.yaml:4:18 yaml/alias the alias *nothing has no anchor &nothing before it'],
  },
  {
    title: 'an alias inside its own anchor',
    files: agent('config: &c { x: *c }'),
    says: ['agents.yaml:4:21 yaml/alias the alias *c is inside the value that it refers to'],
  },
  {
    title: 'aliases that multiply',
    files: { 'x.yaml': bomb },
    says: ['x.yaml:5:36 yaml/alias the aliases of the file repeat too many values'],
  },
  {
    title: 'a key that is a list, as from braces without quotes',
    files: agent('description: {{name}}'),
    says: [
      'agents.yaml:4:18 schema/type agent.a: description must be text, not a map',
      'agents.yaml:4:19 yaml/key a key must be plain text',
    ],
    hint: 'quotes',
  },
  {
    title: 'numbers whose spelling would be lost, where no schema asks for one',
    files: agent(
      'integrations: { ehrProvider: { dial: +14155550123, code: 0042, ok: 42, half: 0.5, low: -3, hex: 0x1F, exp: 1e3, price: 1.50 } }',
      'voice_settings: { speed: 1.10 }',
    ),
    says: ['dial', 'code', 'hex', 'exp', 'price'].map((name) =>
      expect.stringContaining(
        `yaml/number agent.a: integrations.ehrProvider.${name} is a number whose spelling would be lost`,
      ),
    ),
    hint: 'quotes',
  },
  {
    title: 'a number too long to carry',
    files: agent('place_id: 12345678901234567890'),
    says: [
      'agents.yaml:4:15 yaml/number the number has too many digits',
      'agents.yaml:4:15 schema/type agent.a: place_id must be text, not a number',
    ],
    hint: 'quotes',
  },
  {
    title: 'infinity',
    files: agent('voice_settings: { speed: .inf }'),
    says: ['agents.yaml:4:30 yaml/number infinity and not-a-number cannot be sent to the platform'],
  },
  {
    title: 'a byte order mark is a warning, and columns do not count it',
    files: { 'x.yaml': '\uFEFFagnets: {}\n' },
    says: [
      'x.yaml:1:1 warning yaml/bom x.yaml begins with a byte order mark',
      'x.yaml:1:1 schema/unknown-key "agnets" is not a section that Callsheet knows',
    ],
  },
  {
    title: 'bytes that are not UTF-8',
    files: { 'x.yaml': Buffer.from([0x61, 0xff, 0xfe]) },
    says: ['x.yaml:1:1 file/encoding the stack names "x.yaml", which is not UTF-8 text'],
  },
  {
    title: 'a file larger than may be read',
    files: { 'x.yaml': `# ${'x'.repeat(11 * 1024 * 1024)}` },
    says: [
      'x.yaml:1:1 file/size the stack names "x.yaml", which has 11.1 MB; texts may have 10 MB',
    ],
  },
  {
    title: 'a list where sections belong',
    files: { 'x.yaml': '- a\n' },
    says: ['x.yaml:1:1 schema/type x.yaml must be a map of sections, not a list'],
  },
  {
    title: 'a malformed file hides no problem of another',
    files: { 'x.yaml': 'agents: [', ...agent('status: on') },
    says: [
      'agents.yaml:4:13 warning schema/enum agent.a: status is "on", which the specification does not have',
      'x.yaml:1:10 yaml/syntax a { or [ is not closed, or its content is not indented',
    ],
  },
  {
    title: 'a malformed callsheet.yaml hides no problem of the others, and adds none',
    files: {
      'callsheet.yaml': `${MAIN}guards: {`,
      ...agent('organization: somewhere', `description: \${var.x}`, 'status: on'),
      'other.yaml': 'services: {}',
    },
    says: [
      'agents.yaml:6:13 warning schema/enum agent.a: status is "on", which the specification does not have',
      'callsheet.yaml:4:10 yaml/syntax a { or [ is not closed, or its content is not indented',
    ],
  },
]);

test.each([
  ['brackets', '['.repeat(1_000_000)],
  ['indentation', Array.from({ length: 2000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
  ['list items', '- '.repeat(100_000)],
])('deep nesting of %s ends at its hundredth level', async (_, text) => {
  const { diagnostics } = await load({ 'x.yaml': text });
  expect(diagnostics).toHaveLength(1);
  expect(diagnostics[0]).toMatchObject({
    rule: 'yaml/depth',
    message: 'maps and lists are nested more than 100 levels deep',
  });
});

test('an empty file and one of comments hold nothing', async () => {
  const { stack } = await load({ 'a.yaml': '', 'b.yml': '# nothing yet\n' });
  expect(stack?.resources).toEqual([]);
});

test('an alias stands for what it names, within bounds', async () => {
  const files = {
    'x.yaml':
      'agents:\n  a: &a { name: A, voice_settings: &v { speed: 2 } }\n  b: { name: B, voice_settings: *v }\n',
  };
  const { stack, diagnostics } = await load(files);
  expect(diagnostics.map(said)).toEqual([]);
  expect(stack?.resources[1]?.document.voice_settings).toEqual({ speed: 2 });
  expect(stack?.resources[1]?.locate('voice_settings.speed')).toEqual({
    file: 'x.yaml',
    line: 2,
    column: 41,
  });
});
