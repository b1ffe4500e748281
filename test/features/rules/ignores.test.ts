import { expect, test } from 'vitest';
import { agent, broken, load, MAIN, said } from '../../stack/stack-folder.ts';

const PROMPT = 'system_prompt: Use the crm_lookup tool.';
const says = (at: string, name = 'a') =>
  `agents.yaml:${at} warning prompt/unknown-tool agent.${name}: system_prompt mentions the tool crm_lookup, which the agent does not have`;
const unused = (at: string, rule = 'prompt/unknown-tool') =>
  `agents.yaml:${at} warning lint/unused-ignore callsheet-ignore silences ${rule}, which finds nothing here`;
const set = (lint: string) => ({ 'callsheet.yaml': `${MAIN}lint: ${lint}\n` });

broken([
  {
    title: 'tokens that do not open and close',
    files: {
      'p.md': 'First line\nHello {{name}, we are {{clinic}}.\n',
      ...agent(
        'system_prompt: { $file: p.md }',
        'outbound_greeting_message: { $file: p.md }',
        'greeting_message: "Hi {name}}"',
        'voicemail_message: |',
        '  Call {{name|you}}',
        '  on {{phone',
        `description: 'JSON such as {"a": {"b": 1}} and { is fine'`,
      ),
    },
    says: [
      'agents.yaml:6:27 warning template/unbalanced agent.a: greeting_message closes with }} a token that opens with one brace',
      'agents.yaml:9:10 warning template/unbalanced agent.a: voicemail_message opens a token with {{ that is not closed with }} on its line',
      'p.md:2:7 warning template/unbalanced agent.a: outbound_greeting_message opens a token with {{ that is not closed with }} on its line',
    ],
  },
  { title: 'nothing is silenced by itself', files: agent(PROMPT), says: [says('4:28')] },
  {
    title: 'a comment before the key silences it',
    files: agent('# callsheet-ignore prompt/unknown-tool: it is coming', PROMPT),
    says: [],
  },
  {
    title: 'other comments may stand between',
    files: agent('# callsheet-ignore prompt/unknown-tool', '# The tool is coming.', '', PROMPT),
    says: [],
  },
  {
    title: 'a comment at the end of the key silences it',
    files: agent(`${PROMPT} # callsheet-ignore prompt/unknown-tool: it is coming`),
    says: [],
  },
  {
    title: 'a comment before a resource silences what is below it, and no other',
    files: {
      'agents.yaml': `agents:
  # callsheet-ignore prompt/unknown-tool: it is coming
  a:
    name: A
    ${PROMPT}
  b:
    name: B
    ${PROMPT}
`,
    },
    says: [says('8:28', 'b')],
  },
  {
    title: 'a comment before a section silences all of it',
    files: {
      'agents.yaml': `# callsheet-ignore prompt/unknown-tool\nagents:\n  a: { name: A, ${PROMPT} }\n  b: { name: B, ${PROMPT} }\n`,
    },
    says: [],
  },
  {
    title: 'a finding in a file is silenced where the file is named',
    files: {
      ...agent(
        '# callsheet-ignore prompt/unknown-tool: it is coming',
        'system_prompt: { $file: p.md }',
      ),
      'p.md': 'Use the crm_lookup tool.',
    },
    says: [],
  },
  {
    title: 'several rules may be named',
    files: agent(
      '# callsheet-ignore prompt/unknown-tool, prompt/unknown-transfer: both are coming',
      'system_prompt: Use the crm_lookup tool and transfer the caller.',
    ),
    says: [],
  },
  {
    title: 'a comment that silences nothing is told',
    files: agent('# callsheet-ignore prompt/growth: long', 'model: m', PROMPT),
    says: [unused('4:24', 'prompt/growth'), says('6:28')],
  },
  {
    title: 'a comment that stands elsewhere silences nothing',
    files: agent(PROMPT, 'model: m # callsheet-ignore prompt/unknown-tool'),
    says: [says('4:28'), unused('5:33')],
  },
  {
    title: 'a rule that does not exist is told with the nearest',
    files: agent('# callsheet-ignore prompt/unknown-tols', PROMPT),
    says: [
      'agents.yaml:4:24 warning lint/unused-ignore callsheet-ignore names prompt/unknown-tols, which is not a rule that can be silenced',
      says('5:28'),
    ],
    hint: 'Did you mean prompt/unknown-tool?',
  },
  {
    title: 'a comment without a rule is told',
    files: agent('# callsheet-ignore: all', 'model: m'),
    says: ['agents.yaml:4:5 warning lint/unused-ignore callsheet-ignore names no rule'],
  },
  {
    title: 'what only looks like a comment is none',
    files: agent(
      'description: "# callsheet-ignore prompt/growth"',
      'greeting_message: |',
      '  # callsheet-ignore prompt/growth',
    ),
    says: [],
  },
  {
    title: 'a rule that is off finds nothing, and its comments are let be',
    files: {
      ...set('{ rules: { prompt/unknown-tool: off } }'),
      ...agent('# callsheet-ignore prompt/unknown-tool', PROMPT),
    },
    says: [],
  },
  {
    title: 'a rule can be an error, which no stack passes',
    files: { ...set('{ rules: { prompt/unknown-tool: error } }'), ...agent(PROMPT) },
    says: [says('4:28').replace('warning ', '')],
  },
  {
    title: 'unused comments can be let be',
    files: {
      ...set('{ rules: { lint/unused-ignore: off } }'),
      ...agent('model: m # callsheet-ignore prompt/growth'),
    },
    says: [],
  },
  {
    title: 'settings that are none',
    files: {
      ...set('{ rules: { prompt/grow: off, prompt/growth: on }, max_prompt_characters: 0 }'),
      ...agent('model: m'),
    },
    says: [
      'callsheet.yaml:4:18 schema/unknown-key callsheet.yaml: lint.rules has no field "prompt/grow"',
      'callsheet.yaml:4:51 schema/enum callsheet.yaml: lint.rules."prompt/growth" cannot be "on"',
      'callsheet.yaml:4:80 schema/limit callsheet.yaml: lint.max_prompt_characters must be at least 1',
    ],
    hint: 'Did you mean prompt/growth?',
  },
]);

test('a secret that is not at hand hides no finding', async () => {
  const auth = 'integrations: { smsProvider: { auth_token: { $secret: env:T } } }';
  const { diagnostics } = await load(agent(PROMPT, auth), { secrets: 'check' });
  expect(diagnostics.map(({ rule }) => rule)).toEqual(['prompt/unknown-tool', 'secret/missing']);
});

test('a stack that has an error is not looked at', async () => {
  const { diagnostics } = await load(agent(PROMPT, 'timezone: on'));
  expect(diagnostics.map(({ rule }) => rule)).toEqual(['schema/format']);
});

test('what many agents take from one place is told once', async () => {
  const rows = Array.from(
    { length: 20 },
    (_, at) => `  a${at}: { name: A${at}, system_prompt: { $file: p.md } }\n`,
  );
  const { diagnostics } = await load({
    'agents.yaml': `agents:\n${rows.join('')}`,
    'p.md': 'Use the crm_lookup tool or the sms_link tool.\n',
  });
  expect(diagnostics.map(said)).toEqual([
    'p.md:1:9 warning prompt/unknown-tool agent.a0 (and 19 others): system_prompt mentions the tool crm_lookup, which the agent does not have',
    'p.md:1:32 warning prompt/unknown-tool agent.a0 (and 19 others): system_prompt mentions the tool sms_link, which the agent does not have',
  ]);
});
