import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import type { SeedDocument } from '../../src/simulator/index.ts';
import type { StageOptions } from '../apply/stage.ts';
import {
  account,
  BAY,
  compareWithPlatform,
  HARBOR,
  knowledge,
  liveAgent,
  RESELLER,
  withStack,
} from './stack.ts';

const KEY = { client_id: 'scoped', client_secret: 'scoped-secret' };
const AS_SCOPED = {
  CALLSHEET_CLIENT_ID: KEY.client_id,
  CALLSHEET_CLIENT_SECRET: KEY.client_secret,
};
const POLICY = '5a6a1fd8-6fd2-4b55-8f9a-1e6d7c3f9b21';
const BASE = '7c346549-f8c6-406a-809e-72392ed69b41';
const BAY_VOICE = '0f6f1fd8-6fd2-4b55-8f9a-1e6d7c3f9b99';

/** One change, and what becomes of it where nobody asks before. */
type Row = {
  readonly title: string;
  readonly wants: JsonObject;
  readonly seed: SeedDocument;
  readonly dialect?: StageOptions['dialect'];
  readonly env?: Readonly<Record<string, string>>;
  /** The first change unless given. */
  readonly address?: string;
  /** What the reason says; undefined: it is not refused. */
  readonly because?: string;
  /** What the platform answers. */
  readonly answers?: number;
};

const voice = { custom_voices: { one: { name: 'One', clip: 'voices/harbor.wav', consent: true } } };
const email = { email_templates: { one: { name: 'One', subject: 'Hi', body_html: '<p>Hi</p>' } } };
const sms = { sms_templates: { one: { name: 'One', message_type: 'sms', body: 'Hi' } } };
const page = knowledge({ one: { url: 'https://harbor.example.test/faq' } });
const source = {
  id: '9d1f0f3e-1b7e-4d0f-9e61-1f1c74a4a0c1',
  knowledge_base_id: BASE,
  organization_id: HARBOR,
  source_type: 'url',
  name: 'Other',
  url: 'https://harbor.example.test/other',
  status: 'active',
};

const kindLocks: readonly Row[] = (
  [
    ['custom_voices', voice, {}],
    ['email_templates', email, {}],
    ['sms_templates', sms, {}],
    ['knowledge_base', page, { sources: [source] }],
  ] as const
).flatMap(([lock, wants, more]) => [
  {
    title: `${lock}: nothing new while it is locked`,
    wants,
    seed: account([lock], 'reseller', more),
    because: `it needs the feature ${lock}, which is locked for organization harbor at its reseller`,
    answers: 403,
  },
  { title: `${lock}: something new otherwise`, wants, seed: account([], 'reseller', more) },
]);

const template = { id: POLICY, organization_id: HARBOR, name: 'One', version: 1, status: 'draft' };
const templateLocks: readonly Row[] = [
  {
    title: 'email_templates: no change either while it is locked',
    wants: email,
    seed: account(['email_templates'], 'organization', {
      email_templates: [{ ...template, subject: 'Old', body_html: '<p>Hi</p>' }],
    }),
    because: 'it needs the feature email_templates, which is locked',
    answers: 403,
  },
  {
    title: 'sms_templates: no change either while it is locked',
    wants: sms,
    seed: account(['sms_templates'], 'account', {
      sms_templates: [{ ...template, message_type: 'sms', body: 'Old' }],
    }),
    because:
      'it needs the feature sms_templates, which is locked for organization harbor at its account',
    answers: 403,
  },
];

const agent = (fields: JsonObject): JsonObject => ({
  agents: { desk: { name: 'Desk', ...fields } },
});
const live = (
  record: JsonObject,
  more: Partial<SeedDocument> = {},
  locks: readonly string[] = [],
) => account(locks, 'organization', { agents: [liveAgent('Desk', record)], ...more });

const catalogueRows: readonly Row[] = [
  {
    title: 'a model that the platform does not have',
    wants: agent({ model: 'alpha-9' }),
    seed: live({ model: 'alpha-4.1' }),
    because:
      'model: the platform offers organization harbor no language model alpha-9; choose one of: alpha-4.1, alpha-4o',
    answers: 400,
  },
  {
    title: 'the same for an agent that is made',
    wants: agent({ model: 'alpha-9' }),
    seed: account(),
    because: 'no language model alpha-9',
    answers: 400,
  },
  {
    title: 'the floor model, whatever is locked',
    wants: agent({ model: 'alpha-4.1' }),
    seed: live({ model: 'alpha-4o' }, {}, ['llm.alpha-4o']),
  },
  {
    title: 'a speech provider that the platform does not have',
    wants: agent({ stt_model: 'earx' }),
    seed: live({ stt_model: 'voxc' }),
    because:
      'stt_model: the platform has no speech-to-text provider earx; choose one of: voxc (callsheet get stt_providers)',
    answers: 400,
  },
  {
    title: 'a model that is locked when an agent is made',
    wants: agent({ model: 'alpha-4o' }),
    seed: account(['llm.alpha-4o']),
    because: 'model needs the feature llm.alpha-4o',
    answers: 403,
  },
];

const voiceRows: readonly Row[] = [
  {
    title: "another organization's voice of the stack",
    wants: {
      ...agent({ voice_settings: { voice_id: { $ref: 'custom_voice.bay' } } }),
      custom_voices: {
        bay: { name: 'Bay', organization: 'bay', clip: 'voices/harbor.wav', consent: true },
      },
    },
    seed: live(
      {},
      { custom_voices: [{ id: BAY_VOICE, organization_id: BAY, name: 'Bay', language: 'en' }] },
    ),
    address: 'agent.desk',
    because:
      'voice_settings.voice_id refers to custom_voice.bay, which belongs to organization bay, not to harbor',
    answers: 400,
  },
  {
    title: 'a built-in voice while custom voices are locked',
    wants: agent({ voice_settings: { voice_id: 'a-built-in-voice' } }),
    seed: live({}, {}, ['custom_voices']),
  },
];

const texts = {
  smsProvider: { account_sid: 'AC1', auth_token: 'canary-sms-5f1c9a7e', fromNumber: '+15550100' },
};
const ready = { status: 'active' as const, charges: true };
const merchant = (one: NonNullable<SeedDocument['organizations']>[number]['merchant']) => ({
  organizations: [
    { id: HARBOR, name: 'Harbor', ...(one === undefined ? {} : { merchant: one }) },
    { id: BAY, name: 'Bay' },
  ],
});
const armed = agent({ payments: { tool_enabled: true } });
const fullTexts = {
  ...texts.smsProvider,
  auth_token: { $secret: 'env:SMS_TOKEN' },
};

const paymentRows: readonly Row[] = [
  {
    title: 'payments of an agent that is ready',
    wants: armed,
    seed: live({ integrations: texts }, merchant(ready)),
  },
  {
    title: 'payments where card payments are locked',
    wants: armed,
    seed: account(['card_payments'], 'account', {
      agents: [liveAgent('Desk', { integrations: texts })],
      ...merchant(ready),
    }),
    because:
      'payments.tool_enabled needs the feature card_payments, which is locked for organization harbor at its account',
    answers: 403,
  },
  {
    title: 'the same where the feature list does not have that key',
    wants: armed,
    seed: account(['card_payments'], 'account', {
      agents: [liveAgent('Desk', { integrations: texts })],
      ...merchant(ready),
    }),
    dialect: { featureRows: 'named', readiness: 'wrapped' },
    because: 'payments.tool_enabled: the agent cannot take payments yet: card payments are locked',
    answers: 403,
  },
  {
    title: 'payments before the merchant can charge',
    wants: armed,
    seed: live({ integrations: texts }, merchant({ status: 'onboarding', charges: false })),
    because: 'cannot take payments yet: its payment account is onboarding',
    answers: 400,
  },
  {
    title: 'payments without SMS credentials',
    wants: armed,
    seed: live({}, merchant(ready)),
    because: 'its SMS credentials are not complete (integrations.smsProvider)',
    answers: 400,
  },
  {
    title: 'payments with SMS credentials that come in the same change',
    wants: agent({ payments: { tool_enabled: true }, integrations: { smsProvider: fullTexts } }),
    seed: live({}, merchant(ready)),
  },
  {
    title: 'payments that stay armed while they are locked',
    wants: agent({ payments: { tool_enabled: true, max_attempts_per_call: 2 } }),
    seed: account(['card_payments'], 'account', {
      agents: [{ ...liveAgent('Desk'), payments: { enabled: true } }],
    }),
  },
  {
    title: 'payments that are disarmed while they are locked',
    wants: agent({ payments: { tool_enabled: false } }),
    seed: account(['card_payments'], 'account', {
      agents: [{ ...liveAgent('Desk'), payments: { enabled: true } }],
    }),
  },
];

const registration = {
  sipDomain: 'sip.example.test',
  username: 'desk',
  registrationEnabled: false,
};
const sipRows: readonly Row[] = [
  {
    title: 'the SIP flag of an agent that has a registration',
    wants: agent({ sip: { registration_enabled: true } }),
    seed: live({ sip_registration_data: registration }),
  },
];

const policy = { retry_policies: { one: { name: 'One', on_exhausted: 'end' } } };
const scopes = [
  { level: 'organization' as const, id: HARBOR },
  { level: 'reseller' as const, id: RESELLER },
];
const keyRows: readonly Row[] = scopes.flatMap((scope) =>
  (['nested', 'flat'] as const).flatMap((meScope): readonly Row[] => [
    {
      title: `a new retry policy with a key of one ${scope.level}, told ${meScope}`,
      wants: policy,
      seed: account([], 'account', { keys: [{ ...KEY, scope }] }),
      dialect: { meScope, me: meScope === 'flat' ? 'wrapped' : 'bare' },
      env: AS_SCOPED,
      because: `createRetryPolicy is closed to this key, which is limited to one ${scope.level}`,
      answers: 403,
    },
  ]),
);
const keyMore: readonly Row[] = [
  {
    title: 'a retry policy that is changed with a scoped key',
    wants: policy,
    seed: account([], 'account', {
      keys: [{ ...KEY, scope: { level: 'organization', id: HARBOR } }],
      retry_policies: [{ id: POLICY, name: 'One', rules: {}, on_exhausted: 'voicemail' }],
    }),
    env: AS_SCOPED,
    because: 'updateRetryPolicy is closed to this key',
    answers: 403,
  },
  { title: 'a retry policy with a key of the account', wants: policy, seed: account() },
  {
    title: 'an agent with a scoped key',
    wants: agent({ greeting_message: 'Changed.', model: 'alpha-4o' }),
    seed: live({}, { keys: [{ ...KEY, scope: { level: 'organization', id: HARBOR } }] }),
    env: AS_SCOPED,
  },
];

test.each([
  ...kindLocks,
  ...templateLocks,
  ...catalogueRows,
  ...voiceRows,
  ...paymentRows,
  ...sipRows,
  ...keyRows,
  ...keyMore,
])('$title', async ({ wants, seed, dialect = {}, env = {}, address, because, answers }) => {
  await withStack(wants, { seed, dialect }, async (stage) => {
    const found = await compareWithPlatform(stage, env);
    const [first] = found;
    const one = address === undefined ? first : found.find((other) => other.address === address);
    const expected = because === undefined ? 'done' : 'refused';
    expect([one?.predicted, one?.actual, one?.message, one?.change.reason]).toEqual([
      expected,
      expected,
      expect.stringContaining(answers === undefined ? '' : `answered ${answers}`),
      expect.stringContaining(because ?? ''),
    ]);
  });
});
