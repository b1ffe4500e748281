import { describe, expect, test } from 'vitest';
import { computeDigest } from '../../src/core/digest.ts';
import type { Change, FieldCause, FieldChange, PlanOptions } from '../../src/core/plan-document.ts';
import { Blob } from '../../src/core/value.ts';
import { brokenHolds, describeHold, valuesUndone, withHoldChange } from '../../src/plan/holds.ts';
import type { AppliedLeaf, HeldValue, Hold } from '../../src/state/model.ts';
import {
  BAY,
  type Documents,
  desiredResource,
  fingerprinter,
  NO_OPTIONS,
  world,
} from '../world.ts';

const DESK = 'agent.desk';
const TOKEN = 'integrations.smsProvider.auth_token';
const LONG = 'You answer the phone of a clinic, politely. '.repeat(5);
const GUIDE = new Blob('guide.pdf', 'ab'.repeat(32), 10, 'application/pdf');

type Wrote = string | Partial<FieldChange>;

/** A change that carries something out at `agent.desk`, and the paths that it writes. */
function change(wrote: readonly Wrote[], more: Partial<Change> = {}): Change {
  const step = more.action === 'create' || more.action === 'delete' ? more.action : 'update';
  return {
    address: DESK,
    kind: 'agent',
    name: 'Desk',
    organization_id: null,
    id: 'a1',
    action: 'update',
    verdict: 'ok',
    reason: '',
    adopted: false,
    missing_id: null,
    before: null,
    after: null,
    pin: null,
    source: null,
    operations: [{ step, fields: [] }],
    ...more,
    fields: wrote.map((one) => {
      const plain = {
        path: '',
        before: null,
        after: null,
        secret: false,
        cause: 'changed',
      } as const;
      return typeof one === 'string' ? { ...plain, path: one } : { ...plain, ...one };
    }),
  };
}

/** What the state remembers of `agent.desk`, by hand. */
function remembering(leaves: Readonly<Record<string, AppliedLeaf>>) {
  const { resources } = world()
    .applied({ [DESK]: { id: 'a1', name: 'Desk' } })
    .state();
  const desk = resources[DESK];
  return { resources: desk ? { [DESK]: { ...desk, leaves } } : {} };
}

describe('what a rollback undoes is held', () => {
  const at = (path: string | null, value: string | null, id: string | null = 'a1') => ({
    address: DESK,
    id,
    path,
    value,
  });
  const greeting = { greeting_message: { value: 'Good day!' } } as const;
  const GREETING = at('greeting_message', computeDigest('Good day!'));

  test.each<
    [string, Readonly<Record<string, AppliedLeaf>>, Change, readonly ReturnType<typeof at>[]]
  >([
    ['by the digest of a value', greeting, change(['greeting_message']), [GREETING]],
    [
      'by the digest of a long text, which the state has already',
      { system_prompt: { digest: computeDigest(LONG) } },
      change(['system_prompt']),
      [at('system_prompt', computeDigest(LONG))],
    ],
    [
      'by the fingerprint of a secret',
      { [TOKEN]: { fingerprint: 'hmac:k:1' } },
      change([TOKEN]),
      [at(TOKEN, 'hmac:k:1')],
    ],
    ['but not a secret that nobody knows', { [TOKEN]: { unknown: true } }, change([TOKEN]), []],
    [
      'but not what nobody knows whether it was written',
      { [TOKEN]: { unsettled: true } },
      change([TOKEN]),
      [],
    ],
    [
      'as absent where the run took it away',
      greeting,
      change(['description']),
      [at('description', null)],
    ],
    [
      'leaf by leaf where the rollback puts a whole back',
      {
        'extensions.tools[crm].url': { value: 'https://one.test' },
        'extensions.tools[crm].method': { value: 'GET' },
        'extensions.tools[crm_two].url': { value: 'https://two.test' },
      },
      change(['extensions.tools[crm]']),
      [
        at('extensions.tools[crm].url', computeDigest('https://one.test')),
        at('extensions.tools[crm].method', computeDigest('GET')),
      ],
    ],
    [
      'value by value',
      { ...greeting, description: { value: 'Calls.' } },
      change(['description', 'greeting_message']),
      [at('description', computeDigest('Calls.')), GREETING],
    ],
    [
      'but not a value that the rollback only speaks of',
      greeting,
      change([{ path: 'greeting_message', cause: 'released' }]),
      [],
    ],
    [
      'but not a value that the platform would refuse',
      greeting,
      change([{ path: 'greeting_message', refused: 'the feature is locked' }]),
      [],
    ],
    [
      'but not where the rollback is refused',
      greeting,
      change(['greeting_message'], { verdict: 'refused' }),
      [],
    ],
    [
      'but not where nothing is written',
      greeting,
      change(['greeting_message'], { operations: [] }),
      [],
    ],
    [
      'as a delete, of a resource that gets another id',
      greeting,
      change(['greeting_message'], { action: 'create', id: null }),
      [at(null, null, null)],
    ],
  ])('%s', (_name, leaves, undoing, values) => {
    expect(valuesUndone({ changes: [undoing] }, remembering(leaves))).toEqual(values);
  });

  test('but not a value that the run only put back', () => {
    const undoing = change(['greeting_message']);
    const state = remembering(greeting);
    const restored = new Map(Object.entries(state.resources));
    expect(valuesUndone({ changes: [undoing] }, state, restored)).toEqual([]);
  });

  test('as absent where the state does not know the resource', () => {
    const changes = [change(['greeting_message'])];
    expect(valuesUndone({ changes }, { resources: {} })).toEqual([at('greeting_message', null)]);
  });

  test('as a whole where what the run made is deleted, by a digest', () => {
    const changes = [change([], { action: 'delete' })];
    expect(valuesUndone({ changes }, remembering(greeting))).toEqual([
      at(null, expect.stringMatching(/^sha256:[0-9a-f]{64}$/), null),
    ]);
    expect(valuesUndone({ changes }, { resources: {} })).toEqual([]);
  });
});

test('holds on values that differ only in their path are kept side by side', () => {
  const by = { by: 'r2', at: '2026-03-03T08:30:00Z', user: 'sam' };
  const one = { address: DESK, id: 'a1', path: 'name', value: null };
  const values = [one, { ...one, path: 'description' }, one];
  const put = withHoldChange({}, { undid: 'r1', isHeld: true, values }, by);
  expect(Object.values(put).map(({ path }) => path)).toEqual(['name', 'description']);
});

type Given = {
  readonly hold: Partial<Hold>;
  readonly change?: Change;
  readonly desired?: Documents;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly key?: string;
  /** Ids of resources by their address. */
  readonly ids?: Readonly<Record<string, string>>;
  readonly purpose?: 'apply' | 'rollback' | 'restore';
  readonly options?: Partial<PlanOptions>;
};

/** Whether a plan would break a hold. */
function isBroken({ hold, ids = {}, key = 'a key', ...given }: Given): boolean {
  const { change: planned = change([hold.path ?? '']), secrets = {}, purpose = 'apply' } = given;
  const { desired = { [DESK]: { name: 'Desk', greeting_message: 'Good day!' } } } = given;
  const by = { undid: 'r1', by: 'r2', at: '2026-03-03T08:30:00Z', user: 'sam' };
  const stands: Hold = { address: DESK, id: null, path: null, value: null, ...by, ...hold };
  const broken = brokenHolds(
    {
      purpose,
      changes: [planned],
      options: { ...NO_OPTIONS, ...given.options },
    },
    {
      holds: { 'sha256:held': stands },
      desired: Object.entries(desired).map(([address, one]) => desiredResource(address, one)),
      world: {
        findId: (address) => ids[address],
        findSecret: (source) => secrets[source],
        fingerprints: fingerprinter(key),
      },
    },
  );
  expect([...broken.values()]).toEqual(broken.size === 0 ? [] : [stands]);
  return broken.size === 1;
}

const held = (path: string | null, value: string | null, more: Partial<HeldValue> = {}) => ({
  address: DESK,
  id: 'a1',
  path,
  value,
  ...more,
});
const GREETING = held('greeting_message', computeDigest('Good day!'));
const agent = (fields: Documents[string]): Documents => ({ [DESK]: { name: 'Desk', ...fields } });

describe('a hold on a value', () => {
  test.each<[string, boolean, Given]>([
    ['is broken by writing it again', true, { hold: GREETING }],
    [
      'is not broken by another value',
      false,
      { hold: GREETING, desired: agent({ greeting_message: 'Hello!' }) },
    ],
    [
      'is broken by the same text with the line break that a YAML block ends with',
      true,
      { hold: GREETING, desired: agent({ greeting_message: 'Good day!\n' }) },
    ],
    [
      'is not broken where something else is written',
      false,
      { hold: GREETING, change: change(['name']) },
    ],
    [
      'is broken where it is written beside something else',
      true,
      { hold: GREETING, change: change(['name', 'greeting_message']) },
    ],
    ...(['released', 'unknown_secret', 'unknown_content'] satisfies FieldCause[]).map(
      (cause): [string, boolean, Given] => [
        `is not broken by what is only said of it: ${cause}`,
        false,
        { hold: GREETING, change: change([{ path: 'greeting_message', cause }]) },
      ],
    ),
    [
      'is not broken by a change that is refused',
      false,
      { hold: GREETING, change: change(['greeting_message'], { verdict: 'refused' }) },
    ],
    [
      'is not broken by a change that asks nothing of the platform',
      false,
      { hold: GREETING, change: change(['greeting_message'], { operations: [] }) },
    ],
    ['does not keep a rollback from writing it', false, { hold: GREETING, purpose: 'rollback' }],
    ['does not keep a restoration from writing it', false, { hold: GREETING, purpose: 'restore' }],
    [
      'is on the resource, at whichever address that is by now',
      true,
      {
        hold: GREETING,
        change: change(['greeting_message'], { address: 'agent.front' }),
        desired: { 'agent.front': { name: 'Desk', greeting_message: 'Good day!' } },
      },
    ],
    [
      'is not broken by another resource with the same value',
      false,
      {
        hold: GREETING,
        change: change(['greeting_message'], { address: 'agent.front', id: 'a2' }),
        desired: { 'agent.front': { name: 'Front', greeting_message: 'Good day!' } },
      },
    ],
    [
      'is broken at its address, whichever resource is there by now',
      true,
      { hold: GREETING, change: change(['greeting_message'], { id: 'a2' }) },
    ],
    [
      'is not broken by a delete',
      false,
      { hold: GREETING, change: change(['greeting_message'], { action: 'delete' }), desired: {} },
    ],
    [
      'is not broken by a value of which the resource is not known yet',
      false,
      {
        hold: held('default_retry_policy_id', computeDigest('p1')),
        desired: agent({ default_retry_policy_id: { $ref: 'retry_policy.gentle' } }),
      },
    ],
    [
      'is broken by a reference to the resource whose id it was',
      true,
      {
        hold: held('default_retry_policy_id', computeDigest('p1')),
        desired: agent({ default_retry_policy_id: { $ref: 'retry_policy.gentle' } }),
        ids: { 'retry_policy.gentle': 'p1' },
      },
    ],
    [
      'is not broken by a reference to another resource',
      false,
      {
        hold: held('default_retry_policy_id', computeDigest('p1')),
        desired: agent({ default_retry_policy_id: { $ref: 'retry_policy.gentle' } }),
        ids: { 'retry_policy.gentle': 'p2' },
      },
    ],
    [
      'is not broken by another resource that is configured with it',
      false,
      {
        hold: GREETING,
        desired: {
          'agent.front': { name: 'Front', greeting_message: 'Good day!' },
          ...agent({ greeting_message: 'Hello!' }),
        },
      },
    ],
    [
      'is not broken where the configuration no longer says it',
      false,
      { hold: GREETING, desired: agent({}) },
    ],
  ])('%s', (_name, says, given) => {
    expect(isBroken(given)).toBe(says);
  });

  const tool = (url: string) => ({
    extensions: { tools: [{ type: 'webhook', name: 'crm', method: 'GET', url }] },
  });
  const URL = held('extensions.tools[crm].url', computeDigest('https://crm.test'));
  test.each<[string, boolean, Given]>([
    [
      'is broken where its whole is written',
      true,
      {
        hold: URL,
        change: change(['extensions.tools[crm]']),
        desired: agent(tool('https://crm.test')),
      },
    ],
    [
      'is not broken where another element of its list is written',
      false,
      {
        hold: URL,
        change: change(['extensions.tools[other]']),
        desired: agent(tool('https://crm.test')),
      },
    ],
    [
      'is not broken where its whole is written with another value',
      false,
      {
        hold: URL,
        change: change(['extensions.tools[crm]']),
        desired: agent(tool('https://two.test')),
      },
    ],
    [
      'that an element is absent is broken where a part of it is taken away',
      true,
      {
        hold: held('extensions.tools[crm]', null),
        change: change(['extensions.tools[crm].url']),
        desired: agent({}),
      },
    ],
  ])('inside of another: %s', (_name, says, given) => {
    expect(isBroken(given)).toBe(says);
  });
});

test('a hold is broken by any change that it is on: its resource moved, and another has its address', async () => {
  const made = world()
    .desired({
      [DESK]: { name: 'Second', greeting_message: 'Hello!' },
      'agent.front': { name: 'Desk', greeting_message: 'Good day!' },
    })
    .live({
      agent: [
        { id: 'a1', name: 'Desk', greeting_message: 'Hi.' },
        { id: 'a2', name: 'Second', greeting_message: 'Hi.' },
      ],
    })
    .applied({
      [DESK]: { id: 'a2', name: 'Second', greeting_message: 'Hi.' },
      'agent.front': { id: 'a1', name: 'Desk', greeting_message: 'Hi.' },
    });
  const { plan } = await made.plan();
  const hold = { undid: 'r1', by: 'r2', at: '2026-03-03T08:30:00Z', user: 'sam', ...GREETING };
  const given = { holds: { k1: hold }, desired: made.wanted(), world: made.given() };
  for (const changes of [plan.changes, plan.changes.toReversed()])
    expect([...brokenHolds({ ...plan, changes }, given).keys()]).toEqual(['k1']);
});

describe('a hold on the absence of a value', () => {
  const ABSENT = held('greeting_message', null);
  test.each<[string, boolean, Documents]>([
    ['is broken by taking it away again', true, agent({})],
    ['is broken by clearing it', true, agent({ greeting_message: null })],
    ['is not broken by any value', false, agent({ greeting_message: 'Hello!' })],
  ])('%s', (_name, says, desired) => {
    expect(isBroken({ hold: ABSENT, desired })).toBe(says);
  });
});

describe('a hold on a secret', () => {
  const fingerprint = fingerprinter('a key').of(DESK, TOKEN, 'canary-token-1');
  const desired = agent({
    integrations: { smsProvider: { account_sid: 'AC1', auth_token: { $secret: 'env:TOKEN' } } },
  });
  const given = { hold: held(TOKEN, fingerprint), desired };
  test.each<[string, boolean, Given]>([
    ['is broken by the same one', true, { ...given, secrets: { 'env:TOKEN': 'canary-token-1' } }],
    ['is not by another one', false, { ...given, secrets: { 'env:TOKEN': 'canary-token-2' } }],
    ['is not by one that is not at hand', false, given],
    [
      'is not where nobody can tell, under another key',
      false,
      { ...given, secrets: { 'env:TOKEN': 'canary-token-1' }, key: 'another key' },
    ],
  ])('%s', (_name, says, row) => {
    expect(isBroken(row)).toBe(says);
  });

  test('is broken by the same one where its resource has another address', () => {
    const front = { 'agent.front': desired[DESK] ?? {} };
    const planned = change([TOKEN], { address: 'agent.front' });
    const secrets = { 'env:TOKEN': 'canary-token-1' };
    expect(isBroken({ ...given, desired: front, change: planned, secrets })).toBe(true);
  });
});

describe('a hold on a file', () => {
  const at = 'knowledge_source.guide';
  const source = (sha256: string): Documents => ({
    [at]: { name: 'Guide', file: new Blob(GUIDE.path, sha256, GUIDE.size, GUIDE.mime) },
  });
  const hold = held('file', `sha256:${GUIDE.sha256}`, { address: at, id: null });
  const planned = change(['file'], { address: at, kind: 'knowledge_source', id: 's1' });
  test.each([
    ['is broken by the same content', true, GUIDE.sha256],
    ['is not by another one', false, 'cd'.repeat(32)],
  ])('%s', (_name, says, sha256) => {
    expect(isBroken({ hold, change: planned, desired: source(sha256) })).toBe(says);
  });
});

test.each([
  ['is broken by deleting it again', true, change([], { action: 'delete', id: 'a9' })],
  ['is not by changing it', false, change(['greeting_message'], { id: 'a9' })],
  ['is not while the delete waits', false, change([], { action: 'delete', verdict: 'held' })],
])('a hold on the delete of a resource %s', (_name, says, planned) => {
  const hold = held(null, null, { id: null });
  expect(isBroken({ hold, change: planned, desired: {} })).toBe(says);
});

test('a hold without an id is not on every resource that has none yet', () => {
  const hold = held(null, null, { id: null });
  const planned = change([], { address: 'agent.other', action: 'delete', id: null });
  expect(isBroken({ hold, change: planned, desired: {} })).toBe(false);
});

describe('a hold on a resource that was made', () => {
  const MADE = {
    name: 'Desk',
    greeting_message: 'Good day!',
    system_prompt: LONG,
    default_retry_policy_id: { $ref: 'retry_policy.gentle' },
    voice_settings: { voice_id: { $ref: 'custom_voice.mia' } },
    integrations: { smsProvider: { account_sid: 'AC1', auth_token: { $secret: 'env:TOKEN' } } },
  };
  const was = world()
    .applied({
      [DESK]: { id: 'a1', ...MADE },
      'retry_policy.gentle': { id: 'p1', name: 'Gentle' },
      'custom_voice.mia': { id: 'v1', name: 'Mia' },
    })
    .secrets({ 'env:TOKEN': 'canary-token-1' });
  const [value] = valuesUndone({ changes: [change([], { action: 'delete' })] }, was.state());
  const paths = [
    'name',
    'greeting_message',
    'system_prompt',
    'default_retry_policy_id',
    'voice_settings.voice_id',
    'integrations.smsProvider.account_sid',
    TOKEN,
  ];
  const create = change(paths, { action: 'create', id: null });
  const given: Given = { hold: value ?? {}, change: create, desired: { [DESK]: MADE } };

  test.each<[string, boolean, Given]>([
    ['is broken by making it again as it was', true, given],
    [
      'is broken whatever its secrets and the ids that it refers to are by now',
      true,
      {
        ...given,
        secrets: { 'env:TOKEN': 'canary-token-2' },
        ids: { 'retry_policy.gentle': 'p2', 'custom_voice.mia': 'v2' },
      },
    ],
    [
      'is broken whatever reference it has in that place',
      true,
      { ...given, desired: { [DESK]: { ...MADE, default_retry_policy_id: 'p3' } } },
    ],
    [
      'is not broken by making it with another value',
      false,
      { ...given, desired: { [DESK]: { ...MADE, greeting_message: 'Hello!' } } },
    ],
    [
      'is not broken by making it with another long text',
      false,
      { ...given, desired: { [DESK]: { ...MADE, system_prompt: `${LONG}!` } } },
    ],
    [
      'is not broken by making it with more fields',
      false,
      { ...given, desired: { [DESK]: { ...MADE, description: 'Calls.' } } },
    ],
    [
      'is not broken by making it with one that the schema does not name',
      false,
      {
        ...given,
        change: change([...paths, 'brand_new'], { action: 'create', id: null }),
        desired: { [DESK]: { ...MADE, brand_new: 'yes' } },
      },
    ],
    [
      'is not broken by making it in another organization',
      false,
      { ...given, desired: { [DESK]: { ...MADE, organization_id: BAY } } },
    ],
    ['is not broken by changing it', false, { ...given, change: change(paths) }],
    [
      'is not broken where another address is made',
      false,
      {
        ...given,
        change: { ...create, address: 'agent.other' },
        desired: { 'agent.other': MADE },
      },
    ],
  ])('%s', (_name, says, row) => {
    expect(isBroken(row)).toBe(says);
  });

  test('counts the file that it was made with', () => {
    const at = 'knowledge_source.guide';
    const page: Documents[string] = { name: 'Guide', file: GUIDE, knowledge_base_id: 'k1' };
    const { resources } = world()
      .applied({ [at]: { id: 's1', ...page } })
      .state();
    const there = { address: at, kind: 'knowledge_source' };
    const gone = change([], { ...there, action: 'delete', id: 's1' });
    const [hold = {}] = valuesUndone({ changes: [gone] }, { resources });
    const again = change(['name', 'file'], { ...there, action: 'create', id: null });
    const other = new Blob(GUIDE.path, 'cd'.repeat(32), GUIDE.size, GUIDE.mime);
    expect(isBroken({ hold, change: again, desired: { [at]: page } })).toBe(true);
    expect(isBroken({ hold, change: again, desired: { [at]: { ...page, file: other } } })).toBe(
      false,
    );
  });
});

test.each([
  [held('greeting_message', null), 'agent.desk greeting_message'],
  [held(null, null), 'agent.desk'],
])('%j is described as %s', (hold, says) => {
  expect(describeHold({ undid: 'r1', by: 'r2', at: '', user: null, ...hold })).toBe(says);
});

test.each<[string, Partial<Change>, Partial<PlanOptions>, boolean]>([
  ['is told beside a limit, which may be overridden', { lifted_by: 'override_limits' }, {}, true],
  ['is told beside a conflict, which may be accepted', { lifted_by: 'accept_conflicts' }, {}, true],
  [
    'is not met by what is left out',
    { lifted_by: 'override_limits' },
    { skip_refused: true },
    false,
  ],
  ['is not met by what no option lets through', {}, {}, false],
])('a hold on a refused change %s', (_, more, options, broken) => {
  const refused: Change = { ...change(['greeting_message']), verdict: 'refused', ...more };
  expect(isBroken({ hold: GREETING, change: refused, options })).toBe(broken);
});
