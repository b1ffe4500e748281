import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { undoRun } from '../../src/rollback/undo.ts';
import { HARBOR, world } from '../world.ts';
import { type Deed, journalOf } from './runs.ts';

const DESK = {
  id: 'a1',
  organization_id: HARBOR,
  name: 'Desk',
  greeting_message: 'Hello',
  voice_settings: { speed: 1, language: 'en' },
};
const update = (fields: readonly string[], more: Partial<Deed> = {}): Deed => ({
  address: 'agent.desk',
  action: 'update',
  id: 'a1',
  before: DESK,
  fields,
  ...more,
});

/** The only resource that is to be there again. */
function desiredOf(deed: Deed, options = {}) {
  const { desired } = undoRun(journalOf([deed], options));
  expect(desired).toHaveLength(1);
  return desired[0];
}

describe('an update is undone', () => {
  test('in the leaves that it changed, and no others', () => {
    expect(desiredOf(update(['greeting_message', 'voice_settings.speed']))).toMatchObject({
      address: 'agent.desk',
      document: {
        organization_id: HARBOR,
        name: 'Desk',
        greeting_message: 'Hello',
        voice_settings: { speed: 1 },
      },
      isPartial: true,
      lifecycle: { adopt: 'a1', protect: false, ignore: [] },
    });
    expect(desiredOf(update(['greeting_message']))?.document).toEqual({
      organization_id: HARBOR,
      name: 'Desk',
      greeting_message: 'Hello',
    });
  });

  test('by null for what was not there', () => {
    const { document } = desiredOf(update(['description', 'config.user_timezone'])) ?? {};
    expect(document).toMatchObject({ description: null, config: { user_timezone: null } });
  });

  test('with the list that an element belongs to, whole', () => {
    const tools = [{ name: 'crm', url: 'https://x.test' }, { name: 'ticket' }];
    const before = { ...DESK, extensions: { tools } };
    const { document } = desiredOf(update(['extensions.tools[crm].url'], { before })) ?? {};
    expect(document?.extensions).toEqual({ tools });
  });

  test('with no list where there was none', () => {
    const { document } = desiredOf(update(['extensions.tools[crm].url'])) ?? {};
    expect(document?.extensions).toEqual({ tools: [] });
  });

  test('also when the run died before it could say so', () => {
    expect(desiredOf(update(['greeting_message']), { died: true })?.document).toMatchObject({
      greeting_message: 'Hello',
    });
  });

  test('and when it failed half-way', () => {
    expect(desiredOf(update(['greeting_message'], { status: 'failed' }))?.document).toMatchObject({
      greeting_message: 'Hello',
    });
  });
});

describe('what a run made', () => {
  const made: Deed = { address: 'agent.new', action: 'create' };
  test('is absent, and so is planned away', () => {
    const undo = undoRun(journalOf([made]));
    expect(undo).toMatchObject({ desired: [], addresses: ['agent.new'], impossible: [] });
    expect(undo.restored.get('agent.new')).toBeNull();
  });

  test('stays where the platform cannot delete it, which is said', () => {
    const undo = undoRun(journalOf([{ address: 'custom_voice.new', action: 'create' }]));
    expect(undo.impossible).toMatchObject([
      { address: 'custom_voice.new', why: expect.stringContaining('no endpoint that deletes') },
    ]);
  });
});

describe('what a run deleted', () => {
  const POLICY: JsonObject = {
    id: 'p1',
    name: 'Gentle',
    rules: { no_answer: { delay_seconds: 9 } },
  };
  const gone: Deed = { address: 'retry_policy.gentle', action: 'delete', id: 'p1', before: POLICY };

  test('comes back whole', () => {
    expect(desiredOf(gone)?.document).toEqual({ name: 'Gentle', rules: POLICY.rules });
    expect(desiredOf(gone, { died: true })?.document).toEqual({
      name: 'Gentle',
      rules: POLICY.rules,
    });
  });

  test('comes back first, and what referred to it does so again under the new id', async () => {
    const before = { ...DESK, default_retry_policy_id: 'p1' };
    const undo = undoRun(journalOf([update(['default_retry_policy_id'], { before }), gone]));
    const agent = undo.desired.find(({ kind }) => kind === 'agent');
    expect(agent?.references).toEqual(['retry_policy.gentle']);
    const { plan } = await world()
      .wanting(undo.desired)
      .live({ agent: [{ ...DESK, default_retry_policy_id: null }] })
      .having({ purpose: 'rollback' })
      .plan();
    expect(plan.changes).toMatchObject([
      { address: 'retry_policy.gentle', action: 'create', verdict: 'ok' },
      {
        address: 'agent.desk',
        action: 'update',
        verdict: 'ok',
        fields: [{ after: { $ref: 'retry_policy.gentle' } }],
      },
    ]);
  });

  test('keeps an id of what the run left alone', () => {
    const before = { ...DESK, default_retry_policy_id: 'p7' };
    const [agent] = undoRun(
      journalOf([update(['default_retry_policy_id'], { before }), gone]),
    ).desired;
    expect(agent?.document.default_retry_policy_id).toBe('p7');
  });
});

describe('nothing is undone', () => {
  test.each<[string, Partial<Deed>]>([
    ['of a change that was not attempted', { status: 'not_attempted', steps: [] }],
    ['of a change that was blocked', { status: 'blocked', steps: [] }],
    ['of a change that sent nothing', { steps: [] }],
  ])('%s', (_title, more) => {
    expect(undoRun(journalOf([update(['greeting_message'], more)]))).toMatchObject({
      desired: [],
      addresses: [],
    });
  });
});

/** Whatever cannot be put back is said, so that nobody takes it for undone. */
describe('what cannot be undone', () => {
  const HEADERS = {
    extensions: { tools: [{ name: 'crm', headers: [{ key: 'X', value: 'canary' }] }] },
  };
  const HEADER = 'extensions.tools[crm].headers[X].value';
  const TOKEN = 'integrations.smsProvider.auth_token';
  const known = (...paths: readonly string[]) => ({
    kind: 'agent',
    id: 'a1',
    scope: { organization_id: HARBOR },
    name: 'Desk',
    leaves: Object.fromEntries(paths.map((path) => [path, { fingerprint: 'hmac:0:0' }])),
    pin: null,
    protect: false,
  });
  const FILE: Deed = {
    address: 'knowledge_source.kb.prices',
    action: 'update',
    id: 's1',
    before: { knowledge_base_id: 'kb1', name: 'prices.pdf' },
    fields: ['file'],
    steps: ['again'],
  };

  test('is left alone: a secret that the platform returns is not emptied', () => {
    const path = 'integrations.ehrProvider.pin';
    const before = { ...DESK, integrations: { ehrProvider: { username: 'desk', pin: 'canary' } } };
    const deed = update([path, 'greeting_message'], { before, resource: known(path) });
    const { document } = desiredOf(deed) ?? {};
    expect(document).toMatchObject({ greeting_message: 'Hello' });
    expect(document).not.toHaveProperty('integrations');
  });

  test.each<[string, Deed, readonly string[]]>([
    ['a secret that was written', update([TOKEN, 'greeting_message']), [TOKEN]],
    [
      'a secret of a calendar',
      update(['integrations.calendarA.access_token']),
      ['integrations.calendarA.access_token'],
    ],
    [
      'a secret of a name that no schema knows',
      update(['integrations.ehrProvider.pass_phrase'], {
        recorded: known('integrations.ehrProvider.pass_phrase'),
      }),
      ['integrations.ehrProvider.pass_phrase'],
    ],
    [
      'a sensitive value that was changed',
      update([HEADER], { before: { ...DESK, ...HEADERS } }),
      [HEADER],
    ],
    [
      'a sensitive value of an element that was taken away',
      update(['extensions.tools[crm]'], { before: { ...DESK, ...HEADERS } }),
      [HEADER],
    ],
    [
      'a sensitive value of a list that was taken away as a whole',
      update(['extensions.tools'], { before: { ...DESK, ...HEADERS } }),
      [HEADER],
    ],
    ['a file that was replaced', FILE, ['file']],
    [
      'the secrets of what was deleted',
      {
        ...update([]),
        action: 'delete',
        before: { ...DESK, ...HEADERS },
        resource: known(TOKEN, HEADER),
      },
      [HEADER, TOKEN],
    ],
  ])('is %s', (_title, deed, paths) => {
    const { impossible } = undoRun(journalOf([deed]));
    expect(impossible.map(({ address }) => address)).toEqual(paths.map(() => deed.address));
    expect(impossible.map(({ path }) => path).sort()).toEqual([...paths].sort());
    expect(JSON.stringify(impossible)).not.toContain('canary');
  });

  test.each<[string, Deed]>([
    [
      'a sensitive value of another element',
      update(['extensions.tools[crm].url'], { before: { ...DESK, ...HEADERS } }),
    ],
    [
      'an element that the run added, sensitive as it is',
      update(['extensions.tools[crm].name', HEADER], { recorded: known(HEADER) }),
    ],
    ['a plain value', update(['greeting_message'], { resource: known(TOKEN) })],
    ['a plain value of an integration', update(['integrations.smsProvider.account_sid'])],
  ])('is not %s', (_title, deed) => {
    expect(undoRun(journalOf([deed])).impossible).toEqual([]);
  });
});

test('what a run did is found by address: versions, entries and what the state said', () => {
  const resource = {
    kind: 'agent',
    id: 'a1',
    scope: {},
    name: 'Desk',
    leaves: {},
    pin: null,
    protect: true,
  };
  const undo = undoRun(
    journalOf([
      update(['greeting_message'], { history: { before: 41, after: 42 }, resource }),
      { address: 'retry_policy.new', action: 'create' },
    ]),
  );
  expect(undo.addresses).toEqual(['agent.desk', 'retry_policy.new']);
  expect([...undo.versions]).toEqual([['agent.desk', 41]]);
  expect([...undo.produced]).toEqual([['agent.desk', { id: 'a1', entry: 42 }]]);
  expect([...undo.restored]).toEqual([
    ['agent.desk', resource],
    ['retry_policy.new', null],
  ]);
  expect(undo.desired[0]?.lifecycle.protect).toBe(true);
});
