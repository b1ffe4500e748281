import { describe, expect, test } from 'vitest';
import { HARBOR } from '../world.ts';
import { bodyOf, writes } from './writes.ts';

describe('the body of a write', () => {
  writes([
    {
      title: 'has the write names of top-level fields, and only those asked for',
      desired: { greeting_message: 'Hello', system_prompt: 'Be kind.', model: 'alpha-4o' },
      live: {},
      fields: ['greeting_message', 'system_prompt', 'organization_id'],
      body: { greetingMessage: 'Hello', systemPrompt: 'Be kind.', organizationId: HARBOR },
    },
    {
      title: 'never re-cases what lies below them',
      desired: { voice_settings: { voice_id: 'v-1' }, amd_config: { on_machine: 'hangup' } },
      live: {},
      fields: ['voice_settings', 'amd_config'],
      body: { voiceSettings: { voice_id: 'v-1' }, amdConfig: { on_machine: 'hangup' } },
    },
    {
      title: 'has nested objects whole: what is live with what is desired laid over it',
      desired: { voice_settings: { speed: 1.1 } },
      live: { voice_settings: { speed: 1, language: 'en', stability: { low: 1 } } },
      fields: ['voice_settings'],
      body: { voiceSettings: { speed: 1.1, language: 'en', stability: { low: 1 } } },
    },
    {
      title: 'keeps what is live below an empty object, which owns none of it',
      desired: { voice_settings: {} },
      live: { voice_settings: { speed: 1, language: 'en' } },
      cleared: ['voice_settings.speed'],
      fields: ['voice_settings'],
      body: { voiceSettings: { speed: null, language: 'en' } },
    },
    {
      title: 'has null for what goes away',
      desired: { voice_settings: { language: 'en' } },
      live: { greeting_message: 'Hello', voice_settings: { speed: 1, language: 'en' } },
      cleared: ['greeting_message', 'voice_settings.speed'],
      fields: ['greeting_message', 'voice_settings'],
      body: { greetingMessage: null, voiceSettings: { speed: null, language: 'en' } },
    },
    {
      title: 'has an explicit null for an object as it is',
      desired: { interpreter_config: null },
      live: { interpreter_config: { pair: 'en-es' } },
      cleared: ['interpreter_config'],
      fields: ['interpreter_config'],
      body: { interpreterConfig: null },
    },
    {
      title: 'has no null that changes nothing, given or live',
      desired: {
        integrations: {
          smsProvider: { account_sid: 'AC2', fromNumber: null },
          ehrProvider: null,
          calendarA: { username: null },
        },
      },
      live: { integrations: { smsProvider: { account_sid: 'AC1' }, pbxProvider: null } },
      fields: ['integrations'],
      body: { integrations: { smsProvider: { account_sid: 'AC2' } } },
    },
    {
      title: 'has nothing of what the platform owns',
      desired: { name: 'Desk' },
      live: { id: 'a1', is_active: true, place_data: { a: 1 }, created_at: 'x', name: 'Old' },
      fields: ['name', 'id', 'is_active', 'place_data', 'created_at'],
      body: { name: 'Desk' },
    },
    {
      title: 'has an id for a reference',
      desired: { default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
      live: { default_retry_policy_id: 'p-0' },
      fields: ['default_retry_policy_id'],
      body: { defaultRetryPolicyId: 'p-1' },
    },
    {
      title: 'keeps what is ignored as it is live',
      desired: { voice_settings: { speed: 1.1, language: 'de' } },
      live: { voice_settings: { speed: 1, language: 'en' } },
      ignore: ['voice_settings.speed'],
      fields: ['voice_settings'],
      body: { voiceSettings: { speed: 1, language: 'de' } },
    },
    {
      title: 'leaves out what is ignored and not live',
      desired: { voice_settings: { speed: 1.1, language: 'de' } },
      live: {},
      ignore: ['voice_settings.speed'],
      fields: ['voice_settings'],
      body: { voiceSettings: { language: 'de' } },
    },
    {
      title: 'does not mix an object that is one leaf with the one that is live',
      desired: {
        extensions: { mcp_servers: [{ connection_name: 'C', initialization_options: { a: 1 } }] },
      },
      live: {
        extensions: { mcp_servers: [{ connection_name: 'C', initialization_options: { b: 2 } }] },
      },
      fields: ['extensions'],
      body: {
        extensions: { mcp_servers: [{ connectionName: 'C', initializationOptions: { a: 1 } }] },
      },
    },
    {
      title: 'has no file: its bytes go another way',
      address: 'custom_voice.harbor',
      desired: { name: 'Harbor', consent: true, language: 'en' },
      live: { clip: 'sha256:aa' },
      fields: ['name', 'clip', 'consent', 'language'],
      body: { name: 'Harbor', language: 'en' },
    },
  ]);

  test('waits for an id that is not known yet', () => {
    const desired = { default_retry_policy_id: { $ref: 'retry_policy.unborn' } };
    expect(() => bodyOf({ desired, live: {}, fields: [] })).toThrow('retry_policy.unborn');
  });
});

describe('a retry policy in a write', () => {
  const address = 'retry_policy.gentle';
  const RULE = { delay_seconds: 900, max_attempts: 3 };
  const BUSY = { delay_seconds: 60 };
  writes([
    {
      title: 'has its rules whole',
      address,
      desired: { name: 'Gentle', rules: { no_answer: { max_attempts: 2 } } },
      live: { name: 'Gentle', rules: { no_answer: RULE, busy: BUSY } },
      fields: ['rules'],
      body: { rules: { no_answer: { delay_seconds: 900, max_attempts: 2 }, busy: BUSY } },
    },
    {
      title: 'has no trace of a rule that goes away',
      address,
      desired: { name: 'Gentle', rules: { busy: BUSY } },
      live: { name: 'Gentle', rules: { no_answer: RULE, busy: BUSY } },
      cleared: ['rules.no_answer.delay_seconds', 'rules.no_answer.max_attempts'],
      fields: ['rules'],
      body: { rules: { busy: BUSY } },
    },
    {
      title: 'keeps a rule that the configuration has, whatever goes away in it',
      address,
      desired: { name: 'Gentle', rules: { no_answer: {}, busy: {} } },
      live: { name: 'Gentle', rules: { no_answer: RULE, busy: BUSY } },
      cleared: ['rules.busy.delay_seconds'],
      fields: ['rules'],
      body: { rules: { no_answer: RULE, busy: {} } },
    },
    {
      title: 'has on_exhausted whenever its target changes',
      address,
      desired: { name: 'Gentle', on_exhausted_target: 'agent-2' },
      live: { on_exhausted: 'transfer', on_exhausted_target: 'agent-1' },
      fields: ['on_exhausted_target'],
      body: { on_exhausted: 'transfer', on_exhausted_target: 'agent-2' },
    },
    {
      title: 'has null for caps that go away',
      address,
      desired: { name: 'Gentle', contact_policy: null },
      live: { contact_policy: { per_day: 3 } },
      cleared: ['contact_policy'],
      fields: ['contact_policy'],
      body: { contact_policy: null },
    },
  ]);
});
