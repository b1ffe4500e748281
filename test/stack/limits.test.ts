import { describe, expect, test } from 'vitest';
import { agent, type Files, load, PDF, WAV } from './stack-folder.ts';

/**
 * Every limit that the specification gives for what a stack writes (Limits; Events; Email templates; SMS templates;
 * Custom voices; Knowledge base sources), at its edge and one beyond.
 */
type Limit = {
  readonly of: string;
  readonly edge: Files;
  readonly beyond: Files;
  /** The rule that tells what is beyond, and a part of what it says. */
  readonly says: readonly [rule: string, text: string];
};

const n = (count: number) => 'x'.repeat(count);
const email = (fields: string): Files => ({ 't.yaml': `email_templates: { e: { ${fields} } }` });
const sms = (fields: string): Files => ({ 't.yaml': `sms_templates: { s: { ${fields} } }` });
const tools = (condition: string, count: number): Files =>
  agent(
    'extensions:',
    '  tools:',
    ...Array.from(
      { length: count },
      (_, at) =>
        `    - { type: webhook, name: t${at}, condition: ${condition}, method: GET, url: "https://x.test" }`,
    ),
  );
const clip = (bytes: number): Files => ({
  'a.wav': Buffer.concat([WAV, Buffer.alloc(bytes - WAV.length)]),
  't.yaml': 'custom_voices: { v: { name: V, clip: a.wav, consent: true } }',
});
const document = (bytes: number): Files => ({
  'a.pdf': Buffer.concat([PDF, Buffer.alloc(bytes - PDF.length)]),
  't.yaml':
    'knowledge_bases: { kb: { id: 0d0e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11, sources: { s: { file: a.pdf } } } }',
});
const voice = (fields: string): Files => ({
  'a.wav': WAV,
  't.yaml': `custom_voices: { v: { name: V, clip: a.wav, ${fields} } }`,
});

const LIMITS: readonly Limit[] = [
  {
    of: 'e-mail template name, 100',
    edge: email(`name: ${n(100)}`),
    beyond: email(`name: ${n(101)}`),
    says: ['schema/limit', 'name must have at most 100'],
  },
  {
    of: 'e-mail template subject, 998',
    edge: email(`name: E, subject: ${n(998)}`),
    beyond: email(`name: E, subject: ${n(999)}`),
    says: ['schema/limit', 'subject must have at most 998'],
  },
  {
    of: 'e-mail template from_name, 128',
    edge: email(`name: E, from_name: ${n(128)}`),
    beyond: email(`name: E, from_name: ${n(129)}`),
    says: ['schema/limit', 'from_name must have at most 128'],
  },
  {
    of: 'e-mail template subject when active',
    edge: email('name: E, status: active, subject: S'),
    beyond: email('name: E, status: active'),
    says: ['schema/required', 'subject'],
  },
  {
    of: 'e-mail template status',
    edge: email('name: E, status: draft'),
    beyond: email('name: E, status: drafts'),
    says: ['schema/enum', 'status'],
  },
  {
    of: 'SMS template name, 100',
    edge: sms(`name: ${n(100)}, message_type: sms`),
    beyond: sms(`name: ${n(101)}, message_type: sms`),
    says: ['schema/limit', 'name must have at most 100'],
  },
  {
    of: 'SMS template description, 300',
    edge: sms(`name: S, message_type: mms, description: ${n(300)}`),
    beyond: sms(`name: S, message_type: mms, description: ${n(301)}`),
    says: ['schema/limit', 'description must have at most 300'],
  },
  {
    of: 'SMS template message_type',
    edge: sms('name: S, message_type: mms'),
    beyond: sms('name: S, message_type: rcs'),
    says: ['schema/enum', 'message_type'],
  },
  {
    of: 'SMS template message_type, which it needs',
    edge: sms('name: S, message_type: sms'),
    beyond: sms('name: S'),
    says: ['schema/required', 'message_type'],
  },
  {
    of: 'webhooks before a call, 1',
    edge: tools('before_call', 1),
    beyond: tools('before_call', 2),
    says: ['schema/limit', 'before_call'],
  },
  {
    of: 'webhooks during a call, 4',
    edge: tools('during_call', 4),
    beyond: tools('during_call', 5),
    says: ['schema/limit', 'during_call'],
  },
  {
    of: 'webhooks after a call, 1',
    edge: tools('after_call', 1),
    beyond: tools('after_call', 2),
    says: ['schema/limit', 'after_call'],
  },
  {
    of: 'clip, 4 MB',
    edge: clip(4 * 1024 * 1024),
    beyond: clip(4 * 1024 * 1024 + 1),
    says: ['file/size', 'accepts 4 MB'],
  },
  {
    of: 'document, 50 MB',
    edge: document(50 * 1024 * 1024),
    beyond: document(50 * 1024 * 1024 + 1),
    says: ['file/size', 'accepts 50 MB'],
  },
  {
    of: 'language of a voice',
    edge: voice('consent: true, language: pa'),
    beyond: voice('consent: true, language: is'),
    says: ['schema/enum', 'language'],
  },
  {
    of: 'consent to a voice',
    edge: voice('consent: true'),
    beyond: voice('consent: false'),
    says: ['schema/enum', 'consent must be true'],
  },
  {
    of: 'language of an agent',
    edge: agent('language: multi'),
    beyond: agent('language: en-GB'),
    says: ['schema/enum', 'language'],
  },
  {
    of: 'status of an agent',
    edge: agent('status: pending'),
    beyond: agent('status: deleted'),
    says: ['schema/enum', 'status'],
  },
  {
    of: 'type of an agent',
    edge: agent('agent_type: opentable_reservation'),
    beyond: agent('agent_type: reservation'),
    says: ['schema/enum', 'agent_type'],
  },
  {
    of: 'speech of an agent',
    edge: agent('tts_model: minx'),
    beyond: agent('tts_model: min'),
    says: ['schema/enum', 'tts_model'],
  },
];

describe('a limit of the specification', () => {
  test.each(LIMITS)('$of', async ({ edge, beyond, says: [rule, text] }) => {
    expect((await load(edge)).diagnostics).toEqual([]);
    const { diagnostics } = await load(beyond);
    expect(diagnostics.map((one) => one.rule)).toEqual([rule]);
    expect(diagnostics[0]?.message).toContain(text);
  });
});

const from = (number: string) =>
  sms(`name: S, message_type: sms, from_number: ${JSON.stringify(number)}`);

describe('a sender of text messages', () => {
  test.each(['+15550100', '+4930123456', '55501', 'HARBOR', 'Harbor 24'])(
    'may be %s',
    async (number) => {
      expect((await load(from(number))).diagnostics).toEqual([]);
    },
  );

  test.each([
    ['+1 (555) 010-0100', 'Did you mean +15550100100?'],
    ['0049 30 123456', 'Did you mean +4930123456?'],
    ['+05550100', 'For example'],
    ['(555) 010-0100', 'For example'],
    ['5550100100', 'For example'],
    ['Harbor Dental Group', 'For example'],
    ['Harbor-24', 'For example'],
    ['', 'For example'],
  ])('cannot be %s', async (number, hint) => {
    const { diagnostics } = await load(from(number));
    expect(diagnostics.map(({ rule }) => rule)).toEqual(['schema/format']);
    expect(diagnostics[0]?.hint).toContain(hint);
  });

  test('stands in an integration, too', async () => {
    const { diagnostics } = await load(
      agent('integrations: { smsProvider: { fromNumber: "555-0100" } }'),
    );
    expect(diagnostics.map(({ rule, path }) => [rule, path])).toEqual([
      ['schema/format', 'integrations.smsProvider.fromNumber'],
    ]);
  });
});

const tool = (url: string) =>
  `extensions: { tools: [{ type: webhook, name: t, condition: after_call, method: GET, url: ${JSON.stringify(url)} }] }`;

describe('an address that is called or shown', () => {
  test.each([
    ['voicemail_message_audio_url: "file:///etc/passwd"', 'it begins with file:'],
    ['knowledgebase_links: ["ftp://x.test/a"]', 'it begins with ftp:'],
    ['payments: { success_url: "javascript:alert(1)" }', 'it begins with javascript:'],
    [tool('ws://x.test'), 'it begins with ws:'],
    [tool('x.test/path'), 'should be an address'],
  ])('is one of the web: %s', async (line, text) => {
    const { diagnostics } = await load(agent(line));
    expect(diagnostics.map(({ rule }) => rule)).toEqual(['schema/format']);
    expect(diagnostics[0]?.message).toContain(text);
  });

  test.each([tool('https://x.test/{{caller_id}}'), tool('http://x.test')])(
    'may be %s',
    async (line) => {
      expect((await load(agent(line))).diagnostics).toEqual([]);
    },
  );
});
