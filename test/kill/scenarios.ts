import { expect } from 'vitest';
import type { ApplyFlags } from '../../src/console/apply.ts';
import type { SeedDocument } from '../../src/simulator/index.ts';
import type { Stage } from '../apply/stage.ts';
import { CANARIES, SEED } from '../e2e/clinic.ts';
import { mortal } from './mortal.ts';

/** What is killed, how it came to that, and how it goes on afterwards. */
export type Scenario = {
  readonly name: string;
  /** Up to the command that is killed. */
  readonly prepare: (stage: Stage) => Promise<void>;
  /** Runs the command. With `resumed` it comes after the one that was killed. */
  readonly act: (stage: Stage, options: Act) => Promise<unknown>;
  /** After all of it, down to the same end as if nothing had happened. */
  readonly finish?: (stage: Stage) => Promise<void>;
  /** Whether the command may be over by the time it is killed, so that there is nothing to go on with. */
  readonly mayBeOver?: boolean;
  /** Whether what is planned in between may be held: a rollback puts a hold on what it undoes. */
  readonly mayHold?: boolean;
  /** Secrets as the commands are given them; as they are to be in the end unless given. */
  readonly env?: Readonly<Record<string, string>>;
  /** Secrets as they are to be on the platform in the end. */
  readonly secrets: Readonly<Record<keyof typeof CANARIES, string>>;
  /** Resources that are there in the end, as `kind: name`. */
  readonly whole: readonly string[];
};

type Act = NonNullable<Parameters<Stage['apply']>[1]> & { readonly resumed?: boolean };

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const BASE = '7c346549-f8c6-406a-809e-72392ed69b41';

/** Somebody else's, one of each kind: nothing of it may ever change. */
export const OTHERS: SeedDocument = {
  ...SEED,
  agents: [{ id: '0a000000-0000-4000-8000-000000000001', organization_id: HARBOR, name: 'Theirs' }],
  retry_policies: [
    { id: '0a000000-0000-4000-8000-000000000002', name: 'Theirs', rules: {}, on_exhausted: 'end' },
  ],
  email_templates: [
    { id: '0a000000-0000-4000-8000-000000000003', organization_id: HARBOR, name: 'Theirs' },
  ],
  sms_templates: [
    {
      id: '0a000000-0000-4000-8000-000000000004',
      organization_id: HARBOR,
      name: 'Theirs',
      message_type: 'sms',
    },
  ],
  sources: [
    {
      id: '0a000000-0000-4000-8000-000000000005',
      knowledge_base_id: BASE,
      source_type: 'url',
      url: 'https://theirs.example.test/',
      name: 'https://theirs.example.test/',
      status: 'active',
    },
  ],
  custom_voices: [
    {
      id: '0a000000-0000-4000-8000-000000000006',
      organization_id: HARBOR,
      name: 'Theirs',
      language: 'en',
    },
  ],
};

const ROTATED = { ...CANARIES, SMS_TOKEN: 'canary-sms-rotated-19c4' } as const;

/** An old secret that the platform does not return, and two that are not at hand. */
const STALE = { SMS_TOKEN: 'canary-sms-stale-7d10', CRM_KEY: '', MCP_TOKEN: '' } as const;

const EXTRA = `agents:
  extra:
    name: Extra
    agent_type: simple
    payments: { max_attempts_per_call: 2 }
sms_templates:
  extra: { name: Extra, message_type: sms, body: Goodbye., status: draft }
`;

const CLINIC = [
  'agent: Front desk',
  'agent: Recall',
  'email_template: Reminder',
  'knowledge_source: https://harbor.example.test/faq',
  'knowledge_source: prices.csv',
  'retry_policy: Gentle redial',
  'sms_template: Reminder',
  'voice: Harbor',
];

/** Everything after the changes were taken back: of the document the first version, the second, the first again. */
const WHOLE_AGAIN = [
  ...CLINIC,
  'agent: Extra',
  'knowledge_source: prices.csv',
  'knowledge_source: prices.csv',
  'sms_template: Extra',
  'sms_template: Note',
];

/** None of them can be made with all of its fields before the others. */
const CIRCLE = `retry_policies:
  round: { name: Round, on_exhausted: call, on_exhausted_target: { agent_id: { $ref: agent.left } } }
agents:
  left: { name: Left, default_retry_policy_id: { $ref: retry_policy.round }, contact_policy: { next: { $ref: agent.right } } }
  right: { name: Right, contact_policy: { next: { $ref: agent.left } } }
`;

const ALLOWED: Partial<ApplyFlags> = { allowDelete: true, concurrency: 1 };

const NOTE = `sms_templates:
  note: { name: Note, message_type: sms, body: We called you., status: draft }
`;

async function applyExtra(stage: Stage): Promise<void> {
  await stage.write('note.yaml', NOTE);
  await stage.write('extra.yaml', EXTRA);
  await stage.apply({ concurrency: 1 });
}

/** A bit of everything: updates, facets, a rotated secret, an upload, replacements of both orders, deletes. */
async function editAll(stage: Stage): Promise<void> {
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.edit(
    'agents.yaml',
    '    status: active\n    model',
    '    payments: { max_attempts_per_call: 5 }\n    status: inactive\n    model',
  );
  await stage.edit('agents.yaml', 'who are due for a check-up', 'who are late');
  await stage.edit('resources.yaml', 'delay_seconds: 900', 'delay_seconds: 600');
  await stage.edit(
    'resources.yaml',
    'name: Reminder\n    subject',
    'name: Reminder two\n    subject',
  );
  // Made anew in place, and made anew beside the old one.
  await stage.edit('resources.yaml', 'message_type: sms', 'message_type: mms');
  await stage.edit(
    'note.yaml',
    'name: Note, message_type: sms',
    'name: Note two, message_type: mms',
  );
  await stage.write('documents/prices.csv', 'service,price\ncheck-up,90\nwhitening,300\n');
  await stage.remove('extra.yaml');
}

const BEFORE = ['agents.yaml', 'note.yaml', 'resources.yaml', 'documents/prices.csv'];

async function remember(stage: Stage) {
  const texts = await Promise.all(BEFORE.map((file) => stage.read(file)));
  return async () => {
    for (const [index, file] of BEFORE.entries()) await stage.write(file, texts[index] ?? '');
    await stage.write('extra.yaml', EXTRA);
  };
}

/** A secret, which nobody can read, and a document, whose bytes nobody keeps. */
const NOT_UNDONE = ['integrations.smsProvider.auth_token', 'file'];

const undo = new WeakMap<Stage['sim'], () => Promise<void>>();

async function applyAsBefore(stage: Stage): Promise<void> {
  await undo.get(stage.sim)?.();
  // Everything is as it was, but for what no rollback can put back.
  const { changes } = await stage.plan();
  const left = changes.flatMap(({ fields }) => fields.map(({ path }) => path));
  expect(left.filter((path) => !NOT_UNDONE.includes(path))).toEqual([]);
  await stage.apply(ALLOWED);
}

/** A rollback that ends names what no rollback can put back, with exit 3; one that may be over already ends as it likes. */
function leaving<O extends { readonly exit?: unknown }>(options: O) {
  return (options.exit ?? 0) === 0 ? { ...options, exit: 3 } : options;
}

/** Runs a command that dies at a moment. */
async function die(
  stage: Stage,
  name: string,
  flags: Partial<ApplyFlags>,
  env = {},
): Promise<void> {
  const { outside, isDead } = mortal({ name, nth: 1 });
  await stage.apply(flags, { outside, env, exit: 'any' });
  expect(isDead()).toBe(true);
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'apply that makes everything',
    prepare: async () => {},
    act: (stage, options) => stage.apply({ concurrency: 1 }, options),
    secrets: CANARIES,
    whole: CLINIC,
  },
  {
    name: 'apply that changes, replaces, uploads and deletes',
    async prepare(stage) {
      await applyExtra(stage);
      await editAll(stage);
    },
    act: (stage, options) => stage.apply(ALLOWED, { ...options, env: ROTATED }),
    secrets: ROTATED,
    whole: [
      ...CLINIC.filter((one) => !one.startsWith('email')),
      'email_template: Reminder two',
      'sms_template: Note two',
      // The platform deletes no document: the older version stays beside the newer one.
      'knowledge_source: prices.csv',
    ],
  },
  {
    name: 'apply that makes resources which refer to each other',
    prepare: (stage) => stage.write('circle.yaml', CIRCLE),
    act: (stage, options) => stage.apply({ concurrency: 1 }, options),
    secrets: CANARIES,
    whole: [...CLINIC, 'agent: Left', 'agent: Right', 'retry_policy: Round'],
  },
  {
    name: 'apply that takes over what others made',
    async prepare(stage) {
      await stage.apply();
      await stage.forget();
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await stage.edit(
        'agents.yaml',
        'speed: 1.05 }',
        'speed: 1.05 }\n    payments: { max_attempts_per_call: 5 }',
      );
      await stage.edit('agents.yaml', 'who are due for a check-up', 'who are late');
      await stage.edit('resources.yaml', 'delay_seconds: 900', 'delay_seconds: 600');
      await stage.edit('resources.yaml', 'body: See you on', 'body: Come on');
    },
    act: (stage, options) => stage.apply(ALLOWED, { ...options, env: STALE }),
    env: STALE,
    secrets: CANARIES,
    whole: CLINIC,
  },
  {
    name: 'rollback of that apply',
    async prepare(stage) {
      await applyExtra(stage);
      undo.set(stage.sim, await remember(stage));
      await editAll(stage);
      await stage.apply(ALLOWED, { env: ROTATED });
      // Of two runs of one second nobody can tell whose an entry of the history is.
      stage.sim.advance(1_000);
    },
    act: (stage, { resumed, ...options }) =>
      stage.rollback({ concurrency: 1 }, { ...leaving(options), env: ROTATED }),
    finish: applyAsBefore,
    mayBeOver: true,
    mayHold: true,
    secrets: CANARIES,
    whole: WHOLE_AGAIN,
  },
  {
    name: 'apply after one that died',
    prepare: (stage) => die(stage, 'after request POST createAgent', { concurrency: 1 }),
    act: (stage, options) => stage.apply({ concurrency: 1 }, options),
    secrets: CANARIES,
    whole: CLINIC,
  },
  {
    name: 'rollback of an apply that died',
    async prepare(stage) {
      await applyExtra(stage);
      undo.set(stage.sim, await remember(stage));
      await editAll(stage);
      await die(stage, 'after request PUT updateAgent', ALLOWED, ROTATED);
    },
    act: (stage, { resumed, ...options }) =>
      stage.rollback({ concurrency: 1 }, { ...leaving(options), env: ROTATED }),
    finish: applyAsBefore,
    mayBeOver: true,
    mayHold: true,
    secrets: CANARIES,
    whole: WHOLE_AGAIN,
  },
];
