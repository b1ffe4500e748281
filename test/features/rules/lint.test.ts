import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lintRules, namedRules } from '../../../src/features/rules/lint.ts';
import sections from '../../../src/features/rules/settings.schema.json' with { type: 'json' };
import { longRows } from '../../long.ts';
import { agent, type Files, load, MAIN, said } from '../../stack/stack-folder.ts';

/** What the lint of a stack says, without places: rule and message. */
async function findings(files: Files, lint = ''): Promise<readonly string[]> {
  const main = lint === '' ? MAIN : `${MAIN}lint: ${lint}\n`;
  const { diagnostics } = await load({ 'callsheet.yaml': main, ...files });
  return diagnostics.map(({ rule, message }) => `${rule} ${message}`);
}

const TOOL =
  'extensions: { tools: [{ type: webhook, name: crm_lookup, condition: during_call, method: GET, url: "https://x.test", parameters: [{ key: phone_number, value: "" }] }] }';
const server = (allowed: string) =>
  `extensions: { mcp_servers: [{ connection_name: Cal, mcp_endpoint_url: "https://x.test", transport_type: http${allowed} }] }`;
const prompt = (text: string) => `system_prompt: ${JSON.stringify(text)}`;
const OPEN_SERVER = server('');
const CLOSED_SERVER = server(', allowed_tool_names: [find-slot, book_slot]');

describe('prompt/unknown-tool', () => {
  const told: readonly (readonly [text: string, name: string, ...lines: readonly string[]])[] = [
    ['Use the crm_lookup tool.', 'crm_lookup'],
    ['Ask the `calendar` tool for a day.', 'calendar', TOOL],
    ['First call crm_lokup, then answer.', 'crm_lokup', TOOL],
    ['Run `book_visit` when they agree.', 'book_visit', TOOL],
    ['Finish with end_call().', 'end_call', TOOL],
    ['Use the tool called "find-slots".', 'find-slots', CLOSED_SERVER],
    ['Call book_slott for it.', 'book_slott', server(', allowed_tool_names: [book_slot]')],
  ];
  test.each(told)('%s', async (text, name, ...lines) => {
    expect(await findings(agent(prompt(text), ...lines))).toEqual([
      `prompt/unknown-tool agent.a: system_prompt mentions the tool ${name}, which the agent does not have`,
    ]);
  });

  const silent: readonly (readonly [text: string, ...lines: readonly string[]])[] = [
    ['Use the crm_lookup tool, then call `crm_lookup` again: crm_lookup(phone).', TOOL],
    ['Call find-slot or use the `book_slot` tool.', CLOSED_SERVER],
    ['Use the `anything_else` tool.', OPEN_SERVER],
    ['Ask for phone_number and use phone_number as it is.', TOOL],
    ['Use the right tool. Use this tool. Use the tool.', TOOL],
    ['Use `metric` units and call the front desk.', TOOL],
    ['Say the visit_date field aloud; write {{first_name}} and use {{visit_date}}.', TOOL],
  ];
  test.each(silent)('says nothing of: %s', async (text, ...lines) => {
    expect(await findings(agent(prompt(text), ...lines))).toEqual([]);
  });

  test('takes a tool of the platform that the team names', async () => {
    expect(
      await findings(agent(prompt('Use the end_call tool.')), '{ tools: [end_call] }'),
    ).toEqual([]);
  });
});

describe('prompt/unknown-template', () => {
  const TEMPLATES = `sms_templates: { hello: { name: Hello there, message_type: sms } }
email_templates: { theirs: { name: Theirs, organization: bay } }
`;
  test.each([
    ['Send the "Hello ther" SMS template.', 'Hello ther'],
    ['Send the e-mail template `Goodbye`.', 'Goodbye'],
    ['Send the visit_reminder template.', 'visit_reminder'],
    ['Send the "Theirs" template.', 'Theirs'],
  ])('%s', async (text, name) => {
    expect(await findings({ ...agent(prompt(text)), 't.yaml': TEMPLATES })).toEqual([
      `prompt/unknown-template agent.a: system_prompt names the template ${JSON.stringify(name)}, which its organization does not have`,
    ]);
  });

  test.each([
    [
      'Send the "Hello there" SMS template, the `hello` template or the template "HELLO THERE".',
      TEMPLATES,
    ],
    ['Follow the template below. Say "please wait" and fill in the template.', TEMPLATES],
    ['Send the "Elsewhere" template.', ''],
  ])('says nothing of: %s', async (text, templates) => {
    expect(await findings({ ...agent(prompt(text)), 't.yaml': templates })).toEqual([]);
  });
});

describe('prompt/unknown-transfer', () => {
  const order = 'Then transfer the caller to the desk.';
  test.each([
    [
      order,
      [],
      'tells the model to transfer calls, and the agent has neither transfer_rules nor transfer_enabled: true',
    ],
    [
      order,
      ['transfer_enabled: false', 'transfer_rules: Pain.'],
      'tells the model to transfer calls, and transfer_enabled is false',
    ],
    [
      'Follow the "Billing" transfer rule.',
      ['transfer_rules: Pain goes to the desk.'],
      'names the transfer rule "Billing", which transfer_rules does not mention',
    ],
    [
      'Follow the transfer rule `night_desk`.',
      ['transfer_rules: Pain.'],
      'names the transfer rule "night_desk", which transfer_rules does not mention',
    ],
  ])('%s %j', async (text, lines, message) => {
    expect(await findings(agent(prompt(text), ...lines))).toEqual([
      `prompt/unknown-transfer agent.a: system_prompt ${message}`,
    ]);
  });

  test.each([
    [order, ['transfer_enabled: true']],
    [order, ['transfer_rules: When it hurts.']],
    [
      'Never transfer the caller. If they insist, do not transfer them.',
      ['transfer_enabled: false'],
    ],
    [
      'Follow the "billing" transfer rule.',
      ['transfer_rules: "Billing: money goes to the office."'],
    ],
  ])('says nothing of: %s %j', async (text, lines) => {
    expect(await findings(agent(prompt(text), ...lines))).toEqual([]);
  });
});

describe('a long prompt', () => {
  const long = (piece: string) => piece.repeat(Math.ceil(700_000 / piece.length));
  const most = '{ max_prompt_characters: 1000000 }';
  const prompts = [
    ['no end of a sentence', long('never transfer the caller ')],
    ['orders on one line', long('transfer the caller, ')],
    ['one long name', long('a_')],
    ['a long name in capitals and small letters', `${long('ab')}_${long('Ab')}`],
    ['names and blanks', `a_b${long(' ')}tool`],
    ['blanks behind names', long(`a_b${' '.repeat(1000)}`)],
    ['quotes that never end', long('"`“')],
    ['quotes and blanks', long(`"a"${' '.repeat(1000)}`)],
    ['words before nothing', long('transfer rule called ')],
    ['verbs and blanks', long(`call${' '.repeat(1000)}`)],
    [
      'tools without end',
      Array.from({ length: 15_000 }, (_, at) => `use the tool_${at} tool`).join(),
    ],
    ['tokens without end', Array.from({ length: 25_000 }, (_, at) => `{{token_${at}}}`).join()],
    ['tokens that never end', long('{{ a')],
    ['tokens and blanks', long(`{{a${' '.repeat(1000)}`)],
    ['tokens of one name', `{{${long('a.')}`],
    ['tokens with fallbacks that never end', long('{{a|b')],
  ] as const;
  // In short: one of sentences, of names, of quotes, of tools and of tokens.
  const SHORT = [
    'orders on one line',
    'one long name',
    'quotes and blanks',
    'tools without end',
    'tokens of one name',
  ];
  test.each(longRows(prompts, ([what]) => SHORT.includes(what)))(
    'is read in time: %s',
    { timeout: 8000 },
    async (_, text) => {
      const started = performance.now();
      await findings(agent(prompt(text)), most);
      expect(performance.now() - started).toBeLessThan(4000);
    },
  );

  test('one rule speaks of one field twenty times at most', async () => {
    const text = Array.from({ length: 50 }, (_, at) => `Use the tool_${at} tool.`).join(' ');
    expect(await findings(agent(prompt(text)))).toHaveLength(20);
  });

  test('a denial far before an order does not count, one just before it does', async () => {
    const blank = 'x '.repeat(400);
    const told = (text: string) => findings(agent(prompt(text), 'transfer_enabled: false'));
    expect(await told(`Never mind ${blank} transfer the caller`)).toHaveLength(1);
    expect(await told(`${blank} never transfer the caller`)).toEqual([]);
  });
});

describe('prompt/unsupplied-token', () => {
  const sms = (...bodies: readonly string[]): Files => ({
    't.yaml': `sms_templates:\n${bodies.map((body, at) => `  t${at}: { name: T${at}, message_type: sms, body: ${JSON.stringify(body)} }\n`).join('')}`,
  });
  const says = (text: string) => [`prompt/unsupplied-token sms_template.${text}`];
  test.each([
    [
      'a slip of a documented one',
      sms('{{caler_id}}'),
      '',
      says('t0: body holds {{caler_id}}, which nothing else uses'),
    ],
    [
      'a slip of one that others use',
      sms('{{form_link|x}}', '{{form_link}}', '{{from_link}}'),
      '',
      says('t2: body holds {{from_link}}, which nothing else uses'),
    ],
    [
      'one that the list lacks, told once',
      sms('{{day}}', '{{day}} {{name}}', '{{day}}'),
      '{ tokens: [name] }',
      says('t0: body holds {{day}}, which lint.tokens does not list; 2 other texts hold it too'),
    ],
    [
      'with an empty list, every one',
      sms('{{day}}'),
      '{ tokens: [] }',
      says('t0: body holds {{day}}, which lint.tokens does not list'),
    ],
  ])('tells %s', async (_, files, lint, expected) => {
    expect(await findings(files, lint)).toEqual(expected);
  });

  test.each([
    [
      'without a list, any that is no slip',
      sms('{{day}} {{date}}', '{{first_name}} {{last_name}}', '{{first_name}}'),
      '',
    ],
    ['numbered ones', sms('{{line_1}} {{line_2}}', '{{line_1}}'), ''],
    ['a fallback', sms('{{day|today}}'), '{ tokens: [] }'],
    ['a pattern of the list', sms('{{contact.city}}'), '{ tokens: [contact.*] }'],
    ['a documented one', sms('{{caller_id}}'), '{ tokens: [] }'],
  ])('says nothing of %s', async (_, files, lint) => {
    expect(await findings(files, lint)).toEqual([]);
  });
});

describe('prompt/growth', () => {
  test('begins above the threshold', async () => {
    expect(await findings(agent(prompt('x'.repeat(20_000))))).toEqual([]);
    expect(await findings(agent(prompt('x'.repeat(20_001))))).toEqual([
      'prompt/growth agent.a: system_prompt has 20,001 characters; more than 20,000 make every turn of a call slow',
    ]);
    expect(
      await findings(agent(prompt('12345678901')), '{ max_prompt_characters: 10 }'),
    ).toHaveLength(1);
  });
});

describe('prompt/duplicated', () => {
  const long = 'You are kind. '.repeat(30);
  const two = (first: string, second: string): Files => ({
    'a.yaml': `agents:\n  a: { name: A, system_prompt: ${first} }\n  b: { name: B, system_prompt: ${second} }\n`,
    'p.md': long,
    'q.md': long,
  });
  test.each([
    ['two texts', two(long, long), 'a.yaml:2'],
    ['two files', two('{ $file: p.md }', '{ $file: "q.md" }'), 'p.md'],
    ['a file and a text', two('{ $file: p.md }', `"${long}"`), 'p.md'],
  ])('tells of %s', async (_, files, label) => {
    expect(await findings(files)).toEqual([
      `prompt/duplicated agent.b: system_prompt is word for word the system_prompt of agent.a (${label})`,
    ]);
  });

  test.each([
    ['one file', two('{ $file: p.md }', "{ $file: 'p.md' }")],
    [
      'one file, by a variable',
      {
        ...two('{ $file: "${var.name}.md" }', '{ $file: p.md }'),
        'callsheet.yaml': `${MAIN}variables: { name: { default: p } }\n`,
      },
    ],
    ['one node', two(`&p "${long}"`, '*p')],
    ['other texts', two(long, `${long} Really.`)],
    ['short texts', two('You are kind.', 'You are kind.')],
  ])('says nothing of %s', async (_, files) => {
    expect(await findings(files)).toEqual([]);
  });
});

describe('prompt/one-greeting', () => {
  const greets = (field: string, language: string, how: string) => [
    `prompt/one-greeting agent.a: ${field} greets in ${language} alone, but ${how}`,
  ];
  test.each([
    [
      ['language: multi', 'greeting_message: Hello, how can I help?'],
      greets('greeting_message', 'English', 'language is multi'),
    ],
    [
      ['language: multi', 'outbound_greeting_message: ¿Hola?'],
      greets('outbound_greeting_message', 'Spanish', 'language is multi'),
    ],
    [
      ['language: en-US', 'voice_settings: { language: es }', 'greeting_message: Hello!'],
      greets('greeting_message', 'English', 'language is en-US with voice_settings.language es'),
    ],
    [['language: multi', 'greeting_message: "Hello! Para español, diga español."'], []],
    [['language: en-US', 'greeting_message: Hello, how can I help?'], []],
    [['language: multi', 'greeting_message: Harbor Dental.'], []],
  ])('%j', async (lines, expected) => {
    expect(await findings(agent(...lines))).toEqual(expected);
  });
});

test('the schema has every rule, and says what it finds in one sentence', () => {
  const { properties } = sections.lint.schema.properties.rules;
  expect(Object.keys(properties)).toEqual(namedRules.map(({ name }) => name));
  for (const { name } of lintRules) expect(name).toMatch(/^(?:prompt|template)\/[a-z-]+$/);
  for (const { description } of Object.values(properties)) {
    expect(description).toMatch(/^[A-Z][^\n]+\.$/);
  }
});

test('docs/rules.md has a row for every rule', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/rules.md'), 'utf8');
  const rows = [...docs.matchAll(/^\| `((?:prompt|template|lint)\/[a-z-]+)` \|/gm)].map(
    ([, name]) => name,
  );
  expect(rows).toEqual(namedRules.map(({ name }) => name));
});

test('a place is that of the word, in the YAML and in a file', async () => {
  const { diagnostics } = await load({
    ...agent(
      'system_prompt: { $file: p.md }',
      'transfer_rules: |',
      '  First.',
      '  Use the find_desk tool.',
    ),
    'p.md': 'One line.\nUse the crm_lookup tool.\n',
  });
  expect(diagnostics.map(said)).toEqual([
    'agents.yaml:7:15 warning prompt/unknown-tool agent.a: transfer_rules mentions the tool find_desk, which the agent does not have',
    'p.md:2:9 warning prompt/unknown-tool agent.a: system_prompt mentions the tool crm_lookup, which the agent does not have',
  ]);
});
