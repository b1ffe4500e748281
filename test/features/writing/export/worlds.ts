import fc from 'fast-check';
import type { JsonObject } from '../../../../src/core/value.ts';
import type { SeedDocument } from '../../../../src/simulator/index.ts';
import { oddNames } from './odd-names.ts';

/** Ids that are the same for the same numbers. */
function idOf(kind: number, index: number): string {
  return `${String(kind).padStart(8, '0')}-0000-4000-8000-${String(index).padStart(12, '0')}`;
}

/** Texts that YAML, Markdown, interpolation or the platform's own tokens could trip over. */
const oddTexts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 6 })
    .map((lines) => lines.join('\n')),
  fc.constantFrom(
    '',
    ' ',
    '\n',
    'one\r\ntwo\r\n',
    '\ufeffmark',
    '${var.secret}',
    '$${literal}',
    '{{name|friend}}',
    '{{open',
    'env:HOME',
    '- a\n- b',
    '---\nkey: value\n...',
    '"quoted"',
    "it's",
    '# no comment',
    '12:30',
    'yes',
    '0x1F',
    'agent.reception',
    '  indented\n    more',
    'tab\there',
    'trailing  \nspaces  ',
    '\u0085\u2028',
    'x'.repeat(400),
    'line\n'.repeat(30),
  ),
);

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const tools = fc.uniqueArray(
  fc.record({
    type: fc.constant('webhook'),
    name: oddNames.filter((name) => name !== ''),
    description: oddTexts,
    condition: fc.constantFrom('during_call', 'after_call'),
    method: fc.constantFrom('GET', 'POST'),
    url: fc.constantFrom('https://a.example.test/x?y=1', 'http://b.example.test'),
    headers: fc.uniqueArray(
      fc.record({
        key: fc.constantFrom('X-Key', 'Accept', 'x-key', 'Weird Key!'),
        value: oddTexts,
      }),
      { selector: ({ key }) => key, maxLength: 3 },
    ),
  }),
  { selector: ({ name }) => name, maxLength: 2 },
);

const fields = fc
  .record({
    name: oddNames.map((name) => name || 'Unnamed'),
    description: optional(oddTexts),
    greeting_message: optional(oddTexts),
    system_prompt: optional(oddTexts),
    transfer_rules: optional(oddTexts),
    status: fc.constantFrom('active', 'inactive'),
    model: fc.constantFrom('alpha-4.1', 'alpha-4o'),
    language: fc.constantFrom('en-US', 'es-US'),
    enable_recording: optional(fc.boolean()),
    config: optional(
      fc.record(
        { inactivity_timeout: fc.nat(90), note: oddTexts, $file: oddTexts },
        { requiredKeys: [] },
      ),
    ),
    email: optional(fc.uniqueArray(fc.constantFrom('b@example.test', 'a@example.test'))),
    extensions: optional(tools.map((list) => ({ tools: list, mcp_servers: [] }))),
    integrations: optional(
      fc.record({
        smsProvider: fc.record({
          account_sid: fc.constant('AC1'),
          auth_token: fc.constant('hidden'),
        }),
      }),
    ),
    policy: fc.nat(3),
  })
  .map(({ policy, ...rest }): JsonObject => {
    const own = { ...rest, ...(policy < 2 ? { default_retry_policy_id: idOf(3, policy) } : {}) };
    // A record has no members that are undefined.
    return JSON.parse(JSON.stringify(own));
  });

/** Accounts of a few organizations, with names and texts that nobody would think of. */
export const oddAccounts = fc
  .record({
    organizations: fc.array(oddNames, { minLength: 1, maxLength: 3 }),
    policies: fc.uniqueArray(
      oddNames.filter((name) => name !== ''),
      { minLength: 2, maxLength: 2 },
    ),
    agents: fc.array(fields, { minLength: 1, maxLength: 6 }),
    templates: fc.uniqueArray(
      fc.tuple(
        oddNames.filter((name) => name !== '' && [...name].length <= 100),
        oddTexts,
      ),
      {
        selector: ([name]) => name,
        maxLength: 3,
      },
    ),
  })
  .map(({ organizations, policies, agents, templates }): SeedDocument => {
    const owner = (index: number) => idOf(1, index % organizations.length);
    return {
      organizations: organizations.map((name, index) => ({ id: idOf(1, index), name })),
      retry_policies: policies.map((name, index) => ({
        id: idOf(3, index),
        name,
        rules: { no_answer: { delay_seconds: 60, max_attempts: 1 } },
      })),
      agents: agents.map((record, index) => ({
        name: '',
        ...record,
        id: idOf(2, index),
        organization_id: owner(index),
      })),
      sms_templates: templates.map(([name, body], index) => ({
        id: idOf(4, index),
        organization_id: owner(index),
        name,
        message_type: 'sms',
        body,
      })),
    };
  });
