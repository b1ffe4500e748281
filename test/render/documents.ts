import type { PlanDocument } from '../../src/core/plan-document.ts';
import { changeOf, fieldOf, HARBOR, planOf, UPTOWN } from './sample.ts';

/** The documents that the golden files show. */

const PROMPT = `# Role
You are the receptionist of Harbor Dental, a family practice with three dentists and two hygienists. You answer the main line.

# Greeting
Greet the caller, say the name of the practice and ask how you can help.

# Booking
Ask for the caller's full name and date of birth before you look anything up, and repeat both back, spelling the surname, since many of our patients share first names and a booking under the wrong file takes the front desk a quarter of an hour to put right. Offer two times. If neither suits, ask which days are good.
Never book more than one visit in a call.

# Prices
Do not quote prices. Say that the office sends an estimate.

# Emergencies
If the caller reports swelling, bleeding that does not stop or severe pain, transfer at once.
Otherwise offer the next free emergency slot.

# Closing
Repeat the day, the time and the dentist.
Thank the caller.
`;

const CHANGED_PROMPT = PROMPT.replace('Offer two times.', 'Offer three times, the earliest first.')
  .replace(
    'Do not quote prices. Say',
    'You may quote the prices in {{price_list}}. For anything else say',
  )
  .replace('Thank the caller.', 'Ask whether a reminder by text is wanted.\nThank the caller.');

const voice = changeOf({
  address: 'custom_voice.harbor',
  action: 'create',
  name: 'Harbor',
  source: 'voices.yaml:2',
  fields: [
    fieldOf('organization_id', null, HARBOR),
    fieldOf('name', null, 'Harbor'),
    fieldOf(
      'clip',
      null,
      {
        $blob: `sha256:${'3fa9c1'.repeat(10)}aaaa`,
        path: 'voices/harbor.wav',
        size: 482_310,
        mime: 'audio/wav',
      },
      { secret: true },
    ),
    fieldOf('language', null, 'en'),
  ],
  operations: [{ step: 'create', fields: ['name', 'clip', 'language'] }],
});

const policy = changeOf({
  address: 'retry_policy.gentle',
  name: 'Gentle redial',
  organization_id: null,
  source: 'policies.yaml:3',
  fields: [
    fieldOf('rules.no_answer.delay_seconds', 900, 1800),
    fieldOf('rules.no_answer.max_attempts', 3, 2),
  ],
  operations: [{ step: 'update', fields: ['rules'] }],
});

const reception = changeOf({
  reason:
    'changed outside Callsheet (last by user:7f21 via dashboard at 2026-03-01T16:20:11Z, history entry 41); the configuration changed',
  before: {
    extensions: {
      tools: [{ name: 'old_crm', url: 'https://old.example.test/crm', method: 'POST' }],
    },
  },
  after: { extensions: { tools: [{ name: 'crm_lookup' }] } },
  fields: [
    fieldOf('voice_settings.speed', 1, 1.05),
    fieldOf('language', 'en-US', 'multi'),
    fieldOf('greeting_message', 'Harbor Dental, hello!', 'Harbor Dental, how can I help?', {
      cause: 'drifted',
    }),
    fieldOf(
      'transfer_rules',
      'Transfer when the caller reports severe pain or asks for a person twice.',
      'Transfer when the caller reports severe pain, swelling or bleeding, or asks for a person.',
    ),
    fieldOf('default_retry_policy_id', null, { $ref: 'retry_policy.gentle' }),
    fieldOf('description', 'Answers the main line.', null, { cause: 'cleared' }),
    fieldOf(
      'email',
      ['front@harbor.example.test'],
      ['front@harbor.example.test', 'night@harbor.example.test'],
    ),
    fieldOf('system_prompt', PROMPT, CHANGED_PROMPT),
    fieldOf('extensions.tools[crm_lookup].type', null, 'webhook'),
    fieldOf('extensions.tools[crm_lookup].name', null, 'crm_lookup'),
    fieldOf('extensions.tools[crm_lookup].method', null, 'GET'),
    fieldOf('extensions.tools[crm_lookup].url', null, 'https://crm.example.test/patients/by-phone'),
    fieldOf(
      'extensions.tools[crm_lookup].headers[X-Api-Key].value',
      null,
      { $secret: 'env:CRM_KEY' },
      { secret: true },
    ),
    fieldOf(
      'extensions.tools[old_crm]',
      { name: 'old_crm', method: 'POST', url: 'https://old.example.test/crm' },
      null,
      { cause: 'cleared', secret: true },
    ),
    fieldOf(
      'integrations.smsProvider.auth_token',
      null,
      { $secret: 'env:SMS_TOKEN' },
      { secret: true, cause: 'secret_changed' },
    ),
  ],
  operations: [
    { step: 'update', fields: ['voice_settings', 'language', 'system_prompt', 'extensions'] },
  ],
});

const recall = changeOf({
  address: 'agent.recall["uptown"]',
  action: 'create',
  name: 'Recall (Uptown)',
  organization_id: UPTOWN,
  source: 'agents/recall.yaml:2',
  fields: [
    fieldOf('organization_id', null, UPTOWN),
    fieldOf('name', null, 'Recall (Uptown)'),
    fieldOf('agent_type', null, 'outbound'),
    fieldOf('model', null, 'alpha-4.1'),
    fieldOf('system_prompt', null, PROMPT),
    fieldOf('voice_settings.voice_id', null, { $ref: 'custom_voice.harbor' }),
    fieldOf('voice_settings.speed', null, 1.05),
    fieldOf('default_retry_policy_id', null, { $ref: 'retry_policy.gentle' }),
    fieldOf('contact_policy', null, {
      require_consent_basis: true,
      calling_windows: [{ days: ['mon', 'tue'], from: '09:00', to: '17:30' }],
    }),
    fieldOf('extensions.tools[log_call].name', null, 'log_call'),
    fieldOf('extensions.tools[log_call].method', null, 'POST'),
    fieldOf('extensions.tools[log_call].url', null, 'https://crm.example.test/calls'),
    fieldOf(
      'extensions.mcp_servers["Practice calendar"].connection_name',
      null,
      'Practice calendar',
    ),
    fieldOf(
      'extensions.mcp_servers["Practice calendar"].mcp_endpoint_url',
      null,
      'https://mcp.example.test/mcp',
    ),
    fieldOf('extensions.mcp_servers["Practice calendar"].transport_type', null, 'http'),
    fieldOf('sip.registration_enabled', null, true),
  ],
  operations: [
    { step: 'create', fields: ['name', 'agent_type', 'model', 'system_prompt'] },
    { step: 'facet', fields: ['sip'] },
  ],
});

const afterHours = changeOf({
  address: 'agent.after_hours',
  name: 'After hours',
  verdict: 'refused',
  lifted_by: 'accept_conflicts',
  source: 'agents/after-hours.yaml:3',
  reason:
    "the configuration and the platform both changed since the last apply; --accept-conflicts writes the configuration's side (last by user:7f21 via dashboard at 2026-03-01T16:22:40Z, history entry 58)",
  fields: [
    fieldOf(
      'greeting_message',
      'Harbor Dental is closed. Leave a message!',
      'You have reached Harbor Dental after hours.',
      { cause: 'conflict' },
    ),
    fieldOf(
      'system_prompt',
      PROMPT.replace('Offer two times.', 'Offer four times.'),
      PROMPT.replace('Thank the caller.', 'Thank the caller by name.'),
      { cause: 'conflict' },
    ),
  ],
});

const locked = changeOf({
  address: 'agent.triage',
  name: 'Triage',
  verdict: 'refused',
  source: 'agents/triage.yaml:3',
  reason:
    'llm.delta-sonnet-4-6 is locked for organization harbor (inherited); choose a model from `callsheet get models`',
  fields: [fieldOf('model', 'alpha-4.1', 'delta-sonnet-4-6')],
});

const leaving = changeOf({
  address: 'sms_template.old_reminder',
  action: 'delete',
  name: 'Old reminder',
  verdict: 'held',
  lifted_by: 'allow_delete',
  source: null,
  reason:
    'no longer configured; forget, moved or state mv --to keeps it; held until it is planned with --allow-delete',
  before: {
    name: 'Old reminder',
    message_type: 'sms',
    body: 'Hi {{name|there}}, see you at {{time}}.',
  },
  operations: [{ step: 'delete', fields: [] }],
});

const replaced = changeOf({
  address: 'sms_template.reminder',
  action: 'replace',
  name: 'Reminder',
  source: 'templates/sms.yaml:2',
  reason: 'message_type cannot be changed once it exists; it is replaced and gets a new id',
  fields: [
    fieldOf('message_type', 'sms', 'mms'),
    fieldOf('tags', ['reminder'], ['reminder', 'picture']),
  ],
  operations: [
    { step: 'delete', fields: [] },
    { step: 'create', fields: ['name', 'message_type'] },
  ],
});

const forgotten = changeOf({
  address: 'knowledge_source.clinic.faq_2024',
  action: 'forget',
  name: 'https://harbor.example.test/faq-2024',
  source: null,
  reason: 'no longer configured; it stays on the platform, which has no endpoint that deletes it',
});

const adopted = [
  'confirmation',
  'cancellation',
  'directions',
  'aftercare',
  'estimate',
  'survey',
  'welcome',
].map((name) =>
  changeOf({
    address: `email_template.${name}`,
    action: 'adopt',
    name: name.replace(/^./, (first) => first.toUpperCase()),
    reason: 'found by its name',
    source: 'templates/email.yaml:2',
  }),
);

const everything: PlanDocument = planOf(
  [voice, policy, ...adopted, leaving, replaced, forgotten, reception, recall, afterHours, locked],
  {
    assumptions: ['agents.delete', 'retry-policies.list', 'sms-templates.write'],
    notes: [
      {
        severity: 'warning',
        address: 'agent.translator',
        message: 'status is no longer configured; the platform cannot clear it, so its value stays',
      },
      ...['agent.reception', 'agent.translator', 'agent.after_hours'].map((address) => ({
        severity: 'info' as const,
        address,
        message: `integrations.pbxProvider.client_secret: whether the stored secret is this one is unknown; it is left alone (--resend-secrets ${address} writes it)`,
      })),
    ],
  },
);

const rollback: PlanDocument = planOf(
  [
    changeOf({
      reason: 'goes back to what run 20260302-1 found',
      source: null,
      fields: [
        fieldOf('model', 'alpha-4o', 'alpha-4.1'),
        fieldOf('status', 'inactive', 'active'),
        fieldOf('system_prompt', CHANGED_PROMPT, PROMPT),
      ],
      operations: [
        { step: 'revert', fields: ['model', 'system_prompt'], version: 41 },
        { step: 'update', fields: ['status'] },
      ],
    }),
  ],
  { purpose: 'rollback', undoes: '20260302-1', requests: { reads: 4, writes: 2, seconds: 1 } },
);

const drift: PlanDocument = planOf(
  [
    changeOf({
      reason:
        'changed outside Callsheet (last by user:7f21 via dashboard at 2026-03-01T16:20:11Z, history entry 41)',
      fields: [
        fieldOf('greeting_message', 'Harbor Dental, how can I help?', 'Harbor Dental, hello!', {
          cause: 'drifted',
        }),
        fieldOf('voice_settings.speed', 1.05, 1.2, { cause: 'conflict' }),
        fieldOf('model', 'alpha-4o', 'beta-3', {
          cause: 'conflict',
          base: 'alpha-4o',
          configured: 'alpha-4.1',
        }),
        fieldOf('description', 'Books.', 'Books, and asks.', {
          cause: 'conflict',
          base: 'Books.',
          configured: null,
        }),
        fieldOf('extensions.tools[crm].headers[Authorization].value', '(secret)', '(secret)', {
          cause: 'conflict',
          secret: true,
          configured: '(secret)',
        }),
        fieldOf(
          'extensions.tools[zap]',
          null,
          { name: 'zap', method: 'POST', url: 'https://hooks.example.test/zap' },
          { cause: 'drifted' },
        ),
        fieldOf('system_prompt', PROMPT, PROMPT.replace('Never book', 'Do not book'), {
          cause: 'drifted',
        }),
      ],
    }),
    changeOf({
      address: 'retry_policy.gentle',
      name: 'Gentle redial',
      organization_id: null,
      reason: 'changed outside Callsheet',
      source: 'policies.yaml:3',
      fields: [fieldOf('rules.no_answer.max_attempts', 3, 5, { cause: 'drifted' })],
    }),
    changeOf({
      address: 'sms_template.reminder',
      kind: 'sms_template',
      name: 'Reminder',
      id: null,
      action: 'create',
      missing_id: '5b1f0c52-7a55-4c58-9d5e-0f3f8a3f2a11',
      reason: 'deleted outside Callsheet (id 5b1f0c52-7a55-4c58-9d5e-0f3f8a3f2a11)',
      source: 'templates.yaml:9',
      after: null,
      fields: [],
    }),
  ],
  { purpose: 'drift' },
);

const hostile: PlanDocument = planOf([
  changeOf({
    name: 'Desk\u001b[2J\u202egnirts\u200b',
    reason: 'changed outside Callsheet (last by user:\u0007\nPlan: 0 to create via dashboard)',
    fields: [
      fieldOf(
        'greeting_message',
        'Hello',
        'Hello\u001b]0;owned\u0007 @everyone <script>alert(1)</script>',
        { cause: 'drifted' },
      ),
      fieldOf('transfer_rules', 'yes" → "no', 'yes'),
      fieldOf(
        'system_prompt',
        'One\nTwo\nThree',
        'One\n```\n\u001b[31mTwo\u2066\n\u{e0041}Three\r\n</details>',
      ),
    ],
  }),
]);

/** Differences that cannot be seen, words that look like marks, and text from right to left. */
const unseen: PlanDocument = planOf([
  changeOf({
    name: 'מרפאת הנמל',
    fields: [
      fieldOf('greeting_message', 'שלום', 'להתראות'),
      fieldOf('description', 'Café', 'Cafe\u0301'),
      fieldOf('transfer_rules', 'Call paypal.', 'Call p\u0430ypal.'),
      fieldOf('voice_settings.label', 'a b', 'a\u00a0b'),
      fieldOf('metadata.note', 'call  back', 'call back'),
      fieldOf('metadata.path', 'C:\\new', 'C:\new'),
      fieldOf('metadata["שם"]', ['אחת', 'שתיים'], ['אחת', 'שלוש']),
      fieldOf('callback_url', 'https://paypal.com/hook', 'https://p\u0430ypal.com/hook'),
      fieldOf('closing_message', 'Thanks for calling us.', 'Thanks for calling us.\n\n\n'),
      fieldOf(
        'voicemail_message',
        'Leave [-your name-] {+a number+} after the tone.',
        'Leave [-your name-] {+a number+} before the tone.',
      ),
      fieldOf('hold_message', 'One moment\nplease.\nThanks.', 'One moment\r\nplease.\r\nThanks.'),
      fieldOf(
        'system_prompt',
        `# Greeting
Answer the phone of the clinic and say who you are, then ask for the name.

שלום, הגעתם למרפאת הנמל. אנחנו פתוחים בין תשע לחמש בכל יום חול, וסגורים בשבת.

お電話ありがとうございます。受付は平日の九時から五時までです。

Send the caller to https://paypal.com/harbor if they ask how to pay by phone.
`,
        `# Greeting
Answer the phone of the clinic and say who you are, then ask for the name.

שלום, הגעתם למרפאת הנמל. אנחנו פתוחים בין תשע לשש בכל יום חול, וסגורים בשבת.

お電話ありがとうございます。受付は平日の九時から六時までです。

Send the caller to https://p\u0430ypal.com/harbor if they ask how to pay by phone.
`,
      ),
    ],
  }),
  changeOf({
    address: 'agent.night',
    action: 'create',
    name: 'Frоnt desk at night',
    source: 'agents/night.yaml:1',
    fields: [
      fieldOf('name', null, 'Frоnt desk at night'),
      fieldOf('greeting_message', null, 'ערב טוב, המרפאה סגורה.'),
      fieldOf('extensions.tools[crm].name', null, 'crm'),
      fieldOf('extensions.tools[crm].url', null, 'https://crm.h\u0430rbor.test/calls'),
    ],
  }),
]);

const empty: PlanDocument = planOf([], { requests: { reads: 0, writes: 0, seconds: 0 } });

export const documents: { readonly [name: string]: PlanDocument } = {
  everything,
  rollback,
  drift,
  hostile,
  unseen,
  empty,
  adopted: planOf(adopted, { requests: { reads: 0, writes: 0, seconds: 0 } }),
};
