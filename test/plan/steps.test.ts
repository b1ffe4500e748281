import { describe, expect, test } from 'vitest';
import { agent } from '../../src/kinds/agent.ts';
import { customVoice } from '../../src/kinds/custom-voice.ts';
import { emailTemplate } from '../../src/kinds/email-template.ts';
import { knowledgeSource } from '../../src/kinds/knowledge-source.ts';
import { retryPolicy } from '../../src/kinds/retry-policy.ts';
import { createSteps, updateSteps } from '../../src/plan/steps.ts';

/** Fields that a history revert leaves as they are (history revert, rule 1). */
const LEFT_ALONE = [
  'status',
  'outbound_greeting_message',
  'outbound_static_greeting',
  'voicemail_message',
  'voicemail_message_audio_url',
  'agent_type',
  'integrations',
  'extensions',
  'amd_config',
  'ivr_navigation',
  'screenshare_enabled',
  'web_transfer_enabled',
  'default_retry_policy_id',
];

describe('an agent that exists', () => {
  test.each([
    [
      'without a version is updated',
      ['name', 'status'],
      undefined,
      [{ step: 'update', fields: ['name', 'status'] }],
    ],
    [
      'with a version is reverted',
      ['greeting_message', 'model'],
      41,
      [{ step: 'revert', fields: ['greeting_message', 'model'], version: 41 }],
    ],
    [
      'is reverted and then updated where a revert does not reach',
      ['status', 'greeting_message', 'integrations'],
      41,
      [
        { step: 'revert', fields: ['greeting_message'], version: 41 },
        { step: 'update', fields: ['status', 'integrations'] },
      ],
    ],
    [
      'has one step for each facet, after everything else, in an order of their own',
      ['payments', 'system_prompt', 'sip', 'status'],
      41,
      [
        { step: 'revert', fields: ['system_prompt'], version: 41 },
        { step: 'update', fields: ['status'] },
        { step: 'facet', fields: ['sip'] },
        { step: 'facet', fields: ['payments'] },
      ],
    ],
    [
      'whose facets alone change has no update',
      ['sip'],
      undefined,
      [{ step: 'facet', fields: ['sip'] }],
    ],
    ['has nothing to do', [], 41, []],
  ])('%s', (_title, fields, version, expected) => {
    expect(updateSteps(agent, fields, version)).toEqual(expected);
  });

  test.each(LEFT_ALONE)('is updated for %s, whatever the version', (field) => {
    expect(updateSteps(agent, [field], 41)).toEqual([{ step: 'update', fields: [field] }]);
  });
});

test.each([
  [
    'a policy has no history to revert to',
    retryPolicy,
    ['rules'],
    [{ step: 'update', fields: ['rules'] }],
  ],
  [
    'a source that cannot be updated is made again',
    knowledgeSource,
    ['file'],
    [{ step: 'again', fields: ['file'] }],
  ],
] as const)('%s', (_title, kind, fields, expected) => {
  expect(updateSteps(kind, fields, 41)).toEqual(expected);
});

test.each([
  [agent, ['name', 'sip', 'payments'], {}, ['create name', 'facet sip', 'facet payments']],
  [customVoice, ['name', 'clip'], {}, ['create name,clip']],
  [emailTemplate, ['name', 'status'], { status: 'active' }, ['create name,status']],
  [emailTemplate, ['name', 'status'], { status: 'archived' }, ['create name', 'update status']],
] as const)('a new one is made, and then what follows', (kind, fields, document, expected) => {
  const steps = createSteps(kind, fields, document).map(
    ({ step, fields: names }) => `${step} ${names}`,
  );
  expect(steps).toEqual(expected);
});
