import { describe, expect, test } from 'vitest';
import { Ref, type ValueObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { type PriorState, remapReferences, undoTo } from '../../src/rollback/undo.ts';
import { HARBOR, world } from '../world.ts';

const POLICY: PriorState = {
  address: 'retry_policy.gentle',
  kind: 'retry_policy',
  id: 'p1',
  document: { name: 'Gentle', rules: { no_answer: { delay_seconds: 9 } } },
  pin: null,
  resource: null,
  withheld: [],
};
const DESK: PriorState = {
  address: 'agent.desk',
  kind: 'agent',
  id: 'a1',
  document: { organization_id: HARBOR, name: 'Desk', default_retry_policy_id: 'p1' },
  pin: { digest: 'sha256:then', updated_at: null, history_id: 41 },
  resource: null,
  withheld: [],
};

test('documents are a desired side: exactly these, references in the place of ids', async () => {
  const undo = undoTo([DESK, POLICY]);
  expect(undo.addresses).toEqual(['agent.desk', 'retry_policy.gentle']);
  expect([...undo.versions]).toEqual([['agent.desk', 41]]);
  expect(undo.desired[0]?.document.default_retry_policy_id).toBeInstanceOf(Ref);
  const { plan } = await world()
    .wanting(undo.desired)
    .live({ agent: [{ id: 'a1', organization_id: HARBOR, name: 'Desk', description: 'Since' }] })
    .having({ purpose: 'rollback' })
    .plan({ versions: undo.versions });
  expect(plan.changes).toMatchObject([
    { address: 'retry_policy.gentle', action: 'create' },
    {
      address: 'agent.desk',
      action: 'update',
      fields: [
        { path: 'default_retry_policy_id', after: { $ref: 'retry_policy.gentle' } },
        { path: 'description', before: 'Since', after: null },
      ],
    },
  ]);
});

test('a resource that was not there is taken away, or named where nothing deletes it', () => {
  const gone = { id: null, document: null, pin: null };
  const undo = undoTo([
    { ...POLICY, ...gone },
    { ...POLICY, ...gone, address: 'custom_voice.new', kind: 'custom_voice' },
  ]);
  expect(undo.desired).toEqual([]);
  expect(undo.impossible).toMatchObject([
    {
      address: 'custom_voice.new',
      why: expect.stringContaining('no endpoint that deletes'),
      advice: 'Delete it in the dashboard.',
    },
  ]);
  expect(undo.wanted.get('retry_policy.gentle')?.document).toBeNull();
});

test('a resource that nothing deletes is no matter where it is to be there', () => {
  const voice = { ...POLICY, address: 'custom_voice.harbor', kind: 'custom_voice' };
  expect(undoTo([{ ...voice, document: { name: 'Harbor' } }]).impossible).toEqual([]);
});

test('the result is held against all of each document', () => {
  const withheld = ['integrations.smsProvider.auth_token'];
  const { wanted } = undoTo([{ ...DESK, withheld }, POLICY]);
  expect([...wanted]).toEqual([
    [
      'agent.desk',
      {
        kind: 'agent',
        id: 'a1',
        document: { ...DESK.document, default_retry_policy_id: new Ref('retry_policy.gentle') },
        withheld,
        changed: undefined,
      },
    ],
    [
      'retry_policy.gentle',
      {
        kind: 'retry_policy',
        id: 'p1',
        document: POLICY.document,
        withheld: [],
        changed: undefined,
      },
    ],
  ]);
});

test('a resource without a name is not given one', () => {
  const document = { knowledge_base_id: 'kb1', url: 'https://harbor.example.test/faq' };
  const { desired } = undoTo([
    { ...POLICY, address: 'knowledge_source.kb.faq', kind: 'knowledge_source', document },
  ]);
  expect(Object.keys(desired[0]?.document ?? {})).not.toContain('name');
});

describe('a field that the schema does not name', () => {
  const document = { ...DESK.document, brand_new: 'then' };
  const resource = {
    kind: 'agent',
    id: 'a1',
    scope: { organization_id: HARBOR },
    name: 'Desk',
    leaves: { brand_new: { value: 'then' } },
    pin: null,
    protect: false,
  };
  const desk = (former: Partial<PriorState>) =>
    undoTo([{ ...DESK, document, ...former }]).desired[0]?.document;

  test('is not written back, as nobody knows under which name', () => {
    expect(desk({})).not.toHaveProperty('brand_new');
  });

  test('is written back where Callsheet wrote it', () => {
    expect(desk({ resource })).toMatchObject({ name: 'Desk', brand_new: 'then' });
  });
});

describe('an id in a document is turned into a reference', () => {
  const relinked = (document: ValueObject) =>
    remapReferences(kindNamed('agent').schema, document, (kind, id) =>
      id === 'unknown' ? undefined : `${kind}.${id}`,
    );
  test.each<[string, ValueObject, ValueObject, readonly string[]]>([
    [
      'wherever it stands',
      { default_retry_policy_id: 'p1', voice_settings: { voice_id: 'v1', speed: 1 } },
      {
        default_retry_policy_id: new Ref('retry_policy.p1'),
        voice_settings: { voice_id: new Ref('custom_voice.v1'), speed: 1 },
      },
      ['retry_policy.p1', 'custom_voice.v1'],
    ],
    [
      'but for what nobody knows',
      { default_retry_policy_id: 'unknown' },
      { default_retry_policy_id: 'unknown' },
      [],
    ],
    ['but for none', { default_retry_policy_id: null }, { default_retry_policy_id: null }, []],
    [
      'and nothing else is',
      { name: 'p1', transfer_rules: [{ name: 'p1' }], enable_recording: true },
      { name: 'p1', transfer_rules: [{ name: 'p1' }], enable_recording: true },
      [],
    ],
  ])('%s', (_title, document, expected, references) => {
    expect(relinked(document)).toEqual({ document: expected, references });
  });
});

test('values that no snapshot holds are left alone', () => {
  const [desk] = undoTo([{ ...DESK, withheld: ['integrations.smsProvider.auth_token'] }]).desired;
  expect(desk?.lifecycle.ignore).toEqual(['integrations.smsProvider.auth_token']);
});
