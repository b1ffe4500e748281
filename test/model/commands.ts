import fc from 'fast-check';
import type { Environment, Fields, Value } from './files.ts';

/** Members of the files that one edit sets, by path below the resource; undefined takes them out. */
type Setting = readonly [path: string, value?: Value];

/** What happens in the life of a stack: plain JSON, so that a sequence can be kept. What is not given is off. */
export type Command =
  | { readonly do: 'edit'; readonly agent: string; readonly set: readonly Setting[] }
  | { readonly do: 'add' | 'remove'; readonly section: Section; readonly key: string }
  | {
      readonly do: 'rename';
      readonly from: string;
      readonly to: string;
      readonly isSaid: boolean;
    }
  | { readonly do: 'prompt'; readonly agent: string; readonly how: 'append' | 'replace' }
  | { readonly do: 'document'; readonly key: string; readonly text: string }
  | { readonly do: 'policy'; readonly key: string; readonly delay: number }
  | { readonly do: 'let go'; readonly agent: string }
  | { readonly do: 'plan'; readonly isKept?: boolean; readonly allowDelete?: boolean }
  | ({ readonly do: 'apply'; readonly environment?: Environment } & Apply)
  | {
      readonly do: 'rollback';
      /** Runs before the last one. */
      readonly back?: number;
      readonly undoEdited?: boolean;
      readonly dies?: number | null;
      readonly fault?: Trouble | null;
    }
  | { readonly do: 'state mv'; readonly from: string; readonly to: string }
  | { readonly do: 'state rm'; readonly agent: string }
  | { readonly do: 'dashboard'; readonly agent: string; readonly patch: Fields }
  | { readonly do: 'dashboard prompt'; readonly agent: string }
  | { readonly do: 'dashboard delete'; readonly agent: string }
  | { readonly do: 'rotate'; readonly secret: string }
  | { readonly do: Bare };

/** Commands that are given nothing. */
type Bare =
  | 'undo edits'
  | 'apply kept'
  | 'apply elsewhere'
  | 'drift'
  | 'pull'
  | 'import'
  | 'migrate'
  | 'snapshot'
  | 'restore'
  | 'rollback to'
  | 'counter'
  | 'lose state'
  | 'keep state'
  | 'bring state back';

type Section = 'agents' | 'policies' | 'voices';

/** Something that the platform refuses or fails at, once. */
export type Trouble = {
  readonly operation:
    | 'createAgent'
    | 'updateAgent'
    | 'revertAgent'
    | 'deleteAgent'
    | 'setPaymentTool';
  readonly status: 403 | 500;
  readonly skip: number;
};

type Apply = {
  readonly allowDelete?: boolean;
  readonly acceptConflicts?: boolean;
  readonly releaseHold?: boolean;
  readonly rollbackOnFailure?: boolean;
  /** At which of the moments that change something the process is killed. */
  readonly dies?: number | null;
  readonly fault?: Trouble | null;
  /** Whether the same is done once more by a plan file, on a copy of the world. */
  readonly isCompared?: boolean;
};

const agent = fc.constantFrom('a', 'a', 'a', 'b', 'b', 'c');

const secret = (name: string): Value => ({ $secret: `env:${name}` });

const TOOL = (url: string, header: string): Value => ({
  type: 'webhook',
  name: 'crm',
  condition: 'during_call',
  method: 'GET',
  url,
  headers: [{ key: 'X-Key', value: secret(header) }],
});

const SMS: readonly Setting[] = [
  ['integrations.smsProvider.account_sid', 'AC1'],
  ['integrations.smsProvider.auth_token', secret('S1')],
  ['integrations.smsProvider.fromNumber', '+15550100'],
];

/** Edits that a team makes of an agent. */
const EDITS: readonly (readonly Setting[])[] = [
  ...['one', 'two', null].map((value): Setting[] => [['greeting_message', value]]),
  [['greeting_message']],
  ...['leave', 'call back', null].map((value): Setting[] => [['voicemail_message', value]]),
  [['voicemail_message']],
  ...['d1', 'd2'].map((value): Setting[] => [['description', value]]),
  [['description']],
  [['email', ['a@x.test']]],
  [['email', ['b@x.test', 'a@x.test']]],
  [['email']],
  [['voice_settings.voice_id', 'builtin-1']],
  [['voice_settings.voice_id', { $ref: 'custom_voice.v' }]],
  [['voice_settings.speed', 1.5]],
  [['voice_settings.language', 'en']],
  [['voice_settings.language']],
  [['voice_settings']],
  [['config.inactivity_timeout', 10]],
  [['config.inactivity_timeout', null]],
  [['config.user_timezone', 'Europe/Vienna']],
  [['config']],
  SMS,
  SMS,
  [['integrations.smsProvider.account_sid', 'AC2']],
  [
    ['integrations.smsProvider.account_sid', 'AC2'],
    ['integrations.smsProvider.fromNumber', null],
  ],
  [['integrations.smsProvider.fromNumber', null]],
  [['integrations.smsProvider.auth_token', secret('S2')]],
  [['integrations.smsProvider', null]],
  [['integrations.smsProvider']],
  [
    ['integrations.ehrProvider.username', 'u1'],
    ['integrations.ehrProvider.password', secret('S3')],
  ],
  [['integrations.ehrProvider', null]],
  [['integrations']],
  [['extensions.tools', [TOOL('https://x.test/1', 'S1')]]],
  [['extensions.tools', [TOOL('https://x.test/2', 'S3')]]],
  [['extensions.tools', []]],
  [['extensions']],
  [...SMS, ['payments.tool_enabled', true], ['payments.max_single_charge_cents', 500]],
  [
    ['payments.tool_enabled', false],
    ['payments.max_single_charge_cents', 500],
  ],
  [['payments.tool_enabled', false]],
  [['payments']],
  [['default_retry_policy_id', { $ref: 'retry_policy.p' }]],
  [['default_retry_policy_id']],
  [['organization', 'bay']],
  [['organization']],
  [['transfer_enabled', true]],
  [
    ['transfer_enabled', false],
    ['web_transfer_enabled', false],
  ],
  [['lifecycle.protect', true]],
  [['lifecycle.protect']],
  [['lifecycle.ignore', ['greeting_message']]],
  [['lifecycle.ignore']],
];

/** What somebody changes in the dashboard. */
const PATCHES: readonly Fields[] = [
  { greeting_message: 'by hand' },
  { greeting_message: 'two' },
  { voicemail_message: 'by hand' },
  { description: 'by hand' },
  { transfer_rules: 'by hand' },
  { enable_recording: true },
  { timezone: 'Europe/Vienna' },
  { status: 'inactive' },
  { voice_settings: { language: 'es' } },
  { config: { inactivity_timeout: 99 } },
  { integrations: { smsProvider: { fromNumber: '+15550177' } } },
  { integrations: { calendarA: { calendar_name: 'Desk', access_token: 'by-hand-token' } } },
  { email: ['c@x.test'] },
];

const fault: fc.Arbitrary<Trouble | null> = fc.option(
  fc.record({
    operation: fc.constantFrom<Trouble['operation']>(
      'createAgent',
      'updateAgent',
      'updateAgent',
      'revertAgent',
      'deleteAgent',
      'setPaymentTool',
    ),
    status: fc.constantFrom<Trouble['status']>(403, 500),
    skip: fc.nat(1),
  }),
  { freq: 7 },
);
const dies = fc.option(fc.nat(30), { freq: 7 });
const section = fc.constantFrom<Section>('agents', 'agents', 'policies', 'voices');
const keys: Readonly<Record<Section, readonly string[]>> = {
  agents: ['a', 'a', 'b', 'c'],
  policies: ['p'],
  voices: ['v'],
};

const only = (...names: readonly Bare[]): fc.Arbitrary<Command> =>
  fc.constantFrom(...names).map((name) => ({ do: name }));

const often =
  (freq: number) =>
  <T>(rare: T, usual: T) =>
    fc.nat(freq - 1).map((drawn) => (drawn === 0 ? rare : usual));
const [yes, no] = [fc.constant(true), fc.constant(false)];

type Of<Name extends Command['do']> = Extract<Command, { readonly do: Name }>;

/** One command of a name, with what it is given. */
const command = <Name extends Command['do']>(
  name: Name,
  given: {
    readonly [member in Exclude<keyof Of<Name>, 'do'>]-?: fc.Arbitrary<NonNullable<
      Of<Name>[member]
    > | null>;
  },
): fc.Arbitrary<Command> =>
  // The members are those of the command of that name.
  fc.record({ do: fc.constant(name), ...given }) as unknown as fc.Arbitrary<Command>;

const edit = command('edit', { agent, set: fc.constantFrom(...EDITS) });
const dashboard = command('dashboard', {
  agent: fc.constantFrom('a', 'a', 'b', 'foreign'),
  patch: fc.constantFrom(...PATCHES),
});
const dashboardPrompt = command('dashboard prompt', { agent });
const prompt = command('prompt', { agent, how: fc.constantFrom('append', 'append', 'replace') });
const letGo = command('let go', { agent });
const rename = command('rename', {
  from: fc.constantFrom('a', 'b'),
  to: fc.constantFrom('a2', 'b'),
  isSaid: fc.boolean(),
});
const rotate = command('rotate', { secret: fc.constantFrom('S1', 'S1', 'S3') });
const keptPlan = command('plan', { isKept: yes, allowDelete: fc.boolean() });
const rollback = command('rollback', {
  back: often(3)(1, 0),
  undoEdited: often(6)(true, false),
  dies,
  fault,
});
const lastRollback = command('rollback', {
  back: fc.constant(0),
  undoEdited: no,
  dies: fc.constant(null),
  fault: fc.constant(null),
});

/** An apply by which everything may go wrong, one by which nothing does, and one that takes no side. */
const apply = command('apply', {
  environment: often(8)('staging', 'default'),
  allowDelete: fc.boolean(),
  acceptConflicts: fc.boolean(),
  releaseHold: fc.boolean(),
  rollbackOnFailure: fc.boolean(),
  dies,
  fault,
  isCompared: often(3)(true, false),
});
const calm = {
  environment: fc.constant<Environment>('default'),
  allowDelete: yes,
  rollbackOnFailure: no,
  dies: fc.constant(null),
  fault: fc.constant(null),
  isCompared: often(3)(true, false),
};
const good = command('apply', { ...calm, acceptConflicts: yes, releaseHold: yes });
const careful = command('apply', { ...calm, acceptConflicts: no, releaseHold: no });

const single = fc.oneof(
  { weight: 6, arbitrary: edit },
  {
    weight: 2,
    arbitrary: section.chain((one) =>
      fc
        .record({
          do: fc.constantFrom<'add' | 'remove'>('add', 'remove'),
          key: fc.constantFrom(...keys[one]),
        })
        .map((drawn) => ({ ...drawn, section: one })),
    ),
  },
  { weight: 1, arbitrary: rename },
  { weight: 1, arbitrary: prompt },
  {
    weight: 1,
    arbitrary: command('document', {
      key: fc.constantFrom('faq', 'prices'),
      text: fc.constantFrom('same', 'other', 'third'),
    }),
  },
  {
    weight: 1,
    arbitrary: command('policy', { key: fc.constant('p'), delay: fc.constantFrom(60, 900) }),
  },
  { weight: 1, arbitrary: letGo },
  { weight: 1, arbitrary: only('undo edits') },
  { weight: 6, arbitrary: apply },
  {
    weight: 2,
    arbitrary: only('apply elsewhere', 'drift', 'import', 'migrate', 'pull', 'counter'),
  },
  { weight: 2, arbitrary: rollback },
  {
    weight: 1,
    arbitrary: command('state mv', {
      from: fc.constantFrom('a', 'b'),
      to: fc.constantFrom('a2', 'b'),
    }),
  },
  { weight: 1, arbitrary: command('state rm', { agent }) },
  { weight: 3, arbitrary: dashboard },
  { weight: 1, arbitrary: command('dashboard delete', { agent }) },
  { weight: 1, arbitrary: only('lose state') },
  { weight: 1, arbitrary: rotate },
);

/** What follows each other in the life of a team. Any step of it may be left out. */
const stories: readonly (readonly [weight: number, ...steps: fc.Arbitrary<Command>[]])[] = [
  [12, single],
  [6, edit, good],
  [3, edit, edit, apply],
  [3, dashboard, careful],
  [3, edit, good, rollback, only('undo edits'), careful],
  [3, dashboard, edit, good, lastRollback, only('undo edits')],
  [2, dashboard, edit, apply],
  [3, edit, keptPlan, single, only('apply kept')],
  [2, dashboardPrompt, only('pull'), prompt, careful],
  [1, dashboard, only('pull'), careful],
  [1, letGo, good, rollback],
  [1, rename, good, rotate, careful],
  [1, only('keep state'), edit, good, only('bring state back'), careful],
  [1, only('snapshot'), edit, good, only('restore', 'rollback to')],
  [1, only('lose state'), only('drift'), careful],
];

/** Some commands that belong together; null stands for one that is left out. */
export const story: fc.Arbitrary<readonly (Command | null)[]> = fc.oneof(
  ...stories.map(([weight, ...steps]) => ({
    weight,
    arbitrary: fc.tuple(...steps.map((one) => fc.option(one, { freq: 12 }))),
  })),
);
