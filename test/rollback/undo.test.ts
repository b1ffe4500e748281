import { describe, expect, test } from 'vitest';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import {
  goesBack,
  goneSince,
  narrowUndo,
  underAddressesOfNow,
  undoRun,
  unseal,
} from '../../src/rollback/undo.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import type { AppliedLeaf, ResourceState, State } from '../../src/state/model.ts';
import { began } from '../state/sample.ts';
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

const deleted = (before: JsonObject, more: Partial<Deed> = {}): Deed =>
  update([], { action: 'delete', before, ...more });

/** What the state says of the agent. */
const stateOf = (leaves: Readonly<Record<string, AppliedLeaf>>): ResourceState => ({
  kind: 'agent',
  id: 'a1',
  scope: { organization_id: HARBOR },
  name: 'Desk',
  leaves,
  pin: null,
  protect: false,
});
const known = (...paths: readonly string[]) =>
  stateOf(Object.fromEntries(paths.map((path) => [path, { fingerprint: 'hmac:0:0' }])));

const HEADERS = {
  extensions: { tools: [{ name: 'crm', headers: [{ key: 'X', value: 'canary' }] }] },
};
const HEADER = 'extensions.tools[crm].headers[X].value';
const TOKEN = 'integrations.smsProvider.auth_token';

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
    expect(desiredOf(update(['greeting_message']), { died: true })?.document).toEqual({
      organization_id: HARBOR,
      name: 'Desk',
      greeting_message: 'Hello',
    });
  });

  test('in nothing that the run did to another resource before it died', () => {
    const other = update(['description'], { address: 'agent.night', id: 'a2' });
    const gone = deleted(DESK, { address: 'agent.old', id: 'a3' });
    const { wanted } = undoRun(
      journalOf([update(['greeting_message']), other, gone], { died: true }),
    );
    expect([...wanted.values()].map(({ changed }) => changed)).toEqual([
      ['greeting_message'],
      ['description'],
      undefined,
    ]);
  });

  test('but for a path that cannot be read', () => {
    const before = { ...DESK, ...HEADERS };
    expect(desiredOf(update(['greeting_message', '['], { before }))?.document).toEqual({
      organization_id: HARBOR,
      name: 'Desk',
      greeting_message: 'Hello',
    });
  });

  test('and held against what was changed, and not against what nobody kept', () => {
    const { wanted } = undoRun(
      journalOf([update(['greeting_message'], { before: { ...DESK, ...HEADERS } })]),
    );
    expect([...wanted]).toEqual([
      [
        'agent.desk',
        {
          kind: 'agent',
          id: 'a1',
          document: {
            organization_id: HARBOR,
            name: 'Desk',
            greeting_message: 'Hello',
            voice_settings: { speed: 1, language: 'en' },
            extensions: { tools: [{ name: 'crm', headers: [{ key: 'X' }] }] },
          },
          withheld: [HEADER, 'extensions.tools[crm].headers[X]'],
          changed: ['greeting_message'],
        },
      ],
    ]);
  });

  test('and when it failed half-way', () => {
    expect(desiredOf(update(['greeting_message'], { status: 'failed' }))?.document).toMatchObject({
      greeting_message: 'Hello',
    });
  });
});

describe('a value that the platform does not return', () => {
  const leaves = {
    'brand_new.one': { value: 1 },
    'brand_new.two': { value: ['b'] },
    description: { value: 'From the state' },
  };
  const changed = update(['brand_new.one', 'brand_new.two'], { resource: stateOf(leaves) });

  test('is put back as the state remembers it', () => {
    expect(desiredOf(changed)?.document).toMatchObject({ brand_new: { one: 1, two: ['b'] } });
  });

  test.each<[string, Deed, JsonObject]>([
    [
      'the platform returned the field',
      { ...changed, before: { ...DESK, brand_new: { one: 2, two: null } } },
      { brand_new: { one: 2, two: null } },
    ],
    [
      'the schema names it, so that it was not there',
      { ...changed, fields: ['description'] },
      { description: null },
    ],
  ])('is not taken from the state where %s', (_title, deed, document) => {
    expect(desiredOf(deed)?.document).toMatchObject(document);
  });

  test('comes back with the agent that the run deleted, and is not held against the result', () => {
    const undo = undoRun(journalOf([deleted(DESK, { resource: stateOf(leaves) })]));
    expect(undo.desired[0]?.document).toMatchObject({ brand_new: { one: 1, two: ['b'] } });
    expect(undo.wanted.get('agent.desk')?.document).not.toHaveProperty('brand_new');
    expect(undo.impossible).toEqual([]);
  });

  const digested = stateOf({ brand_new: { digest: 'sha256:then' } });
  const now: AppliedLeaf = { digest: 'sha256:now' };

  test('and of which the state has no more than a digest stays as the run left it, which is said', () => {
    const undo = undoRun(
      journalOf([
        update(['brand_new', 'greeting_message'], {
          resource: digested,
          recorded: stateOf({ brand_new: now }),
        }),
      ]),
    );
    expect(undo.desired[0]?.document).not.toHaveProperty('brand_new');
    expect(undo.impossible).toMatchObject([
      { path: 'brand_new', why: expect.stringContaining('stays as the run left it') },
    ]);
    expect(undo.restored.get('agent.desk')?.leaves).toEqual({ brand_new: now });
  });

  test('and of which the state has no more than a digest does not come back with a deleted agent', () => {
    const undo = undoRun(journalOf([deleted(DESK, { resource: digested })]));
    expect(undo.desired[0]?.document).not.toHaveProperty('brand_new');
    expect(undo.impossible).toMatchObject([
      { path: 'brand_new', why: expect.stringContaining('the resource is restored without it') },
    ]);
    expect(undo.restored.get('agent.desk')?.leaves).toEqual({ brand_new: { unsettled: true } });
  });
});

describe('what is gone since', () => {
  test('is made anew as a whole, without its secrets, and not of what the run changed alone', () => {
    const journal = journalOf([
      update(['greeting_message'], { resource: known(TOKEN) }),
      { ...update(['description']), address: 'agent.other', id: 'a2' },
    ]);
    const undo = undoRun(journal, new Set(['agent.desk']));
    const [desk, other] = undo.desired;
    expect(desk?.document).toMatchObject({
      greeting_message: 'Hello',
      voice_settings: { speed: 1 },
    });
    expect(other?.document).not.toHaveProperty('voice_settings');
    expect(undo.impossible).toMatchObject([{ address: 'agent.desk', path: TOKEN }]);
    expect(undo.wanted.get('agent.desk')?.changed).toBeUndefined();
  });

  test('is what a plan would make of which a part alone is wanted', () => {
    const undo = undoRun(
      journalOf([
        update(['greeting_message']),
        { ...deleted(DESK), address: 'agent.deleted', id: 'a2' },
        { ...update(['greeting_message']), address: 'agent.there', id: 'a3' },
      ]),
    );
    const changes = [
      { address: 'agent.desk', action: 'create' },
      { address: 'agent.deleted', action: 'create' },
      { address: 'agent.there', action: 'update' },
    ] as unknown as PlanDocument['changes'];
    expect(goneSince(undo, { changes })).toEqual(new Set(['agent.desk']));
  });
});

describe('what a run made', () => {
  const made: Deed = { address: 'agent.new', action: 'create' };
  test('is absent, and so is planned away', () => {
    const undo = undoRun(journalOf([{ ...made, recorded: { ...stateOf({}), id: 'a9' } }]));
    expect(undo).toMatchObject({ desired: [], addresses: ['agent.new'], impossible: [] });
    expect(undo.restored.get('agent.new')).toBeNull();
  });

  test('stays where the platform cannot delete it, which is said', () => {
    const recorded = { ...stateOf({}), kind: 'custom_voice', id: 'v9' };
    const undo = undoRun(journalOf([{ address: 'custom_voice.new', action: 'create', recorded }]));
    expect(undo.impossible).toEqual([
      {
        address: 'custom_voice.new',
        path: null,
        why: 'the run created it, and the platform has no endpoint that deletes a custom_voice',
        advice: 'Delete it in the dashboard.',
      },
    ]);
  });

  test.each<[string, Deed]>([
    ['was refused', { ...made, status: 'failed' }],
    ['was to be deleted and was gone', { ...made, action: 'delete', recorded: null }],
  ])('is nothing of the run where it %s', (_, deed) => {
    const undo = undoRun(journalOf([deed]));
    expect(undo).toMatchObject({ desired: [], addresses: [], impossible: [] });
  });

  test('is told as the run left it where a rollback deletes it', () => {
    const recorded = { ...stateOf({}), id: 'a9' };
    const voice: Deed = { address: 'custom_voice.new', action: 'create', recorded };
    const unknown: Deed = { address: 'agent.unknown', action: 'create', recorded: null };
    const changed = update(['greeting_message'], { recorded });
    const undo = undoRun(journalOf([{ ...made, recorded }, voice, unknown, changed]));
    expect([...undo.made]).toEqual([['agent.new', recorded]]);
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

  test('comes back without what only looked like a setting of it', () => {
    const payments = { tool_enabled: false, success_url: 'https://harbor.example.test' };
    expect(desiredOf(deleted({ ...DESK, payments }))?.document).not.toHaveProperty('payments');
    expect(
      desiredOf(deleted({ ...DESK, payments: { ...payments, tool_enabled: true } }))?.document,
    ).toMatchObject({ payments: { tool_enabled: true } });
  });

  test('comes back without what only the dashboard sets up, which is named', () => {
    const undo = undoRun(journalOf([deleted({ ...DESK, sip: { registration_enabled: true } })]));
    expect(undo.desired[0]?.document).toMatchObject({ name: 'Desk', greeting_message: 'Hello' });
    expect(undo.desired[0]?.document).not.toHaveProperty('sip');
    expect(undo.desired[0]?.lifecycle.ignore).toEqual(['sip']);
    expect(undo.wanted.get('agent.desk')).toMatchObject({ withheld: ['sip'], changed: undefined });
    expect(undo.impossible).toEqual([
      {
        address: 'agent.desk',
        path: 'sip',
        why: 'is not restored: the delete also removed its SIP registration, which only the dashboard sets up',
        advice: 'Set it up in the dashboard.',
      },
    ]);
  });

  test('comes back without providers of which nothing but secrets was there, which are named once', () => {
    const integrations = { smsProvider: {}, pbxProvider: {}, ehrProvider: { username: 'desk' } };
    const token = 'integrations.pbxProvider.client_secret';
    const resource = stateOf({ [token]: { fingerprint: 'hmac:then' } });
    const undo = undoRun(journalOf([deleted({ ...DESK, integrations }, { resource })]));
    expect(undo.desired[0]?.document.integrations).toEqual({ ehrProvider: { username: 'desk' } });
    expect(undo.impossible.map(({ path }) => path)).toEqual([token, 'integrations.smsProvider']);
    expect(undo.restored.get('agent.desk')?.leaves).toEqual({ [token]: { unsettled: true } });
  });

  test('comes back without an empty object that providers would be in', () => {
    for (const integrations of [{}, { smsProvider: {} }]) {
      const [desk] = undoRun(journalOf([deleted({ ...DESK, integrations })])).desired;
      expect(desk?.document).not.toHaveProperty('integrations');
    }
  });

  test('comes back without fields that nobody knows how to write, which are named', () => {
    const before = { ...DESK, brand_new: 1, newer: 2, newest: null };
    const resource = stateOf({ newer: { value: 2 } });
    const undo = undoRun(journalOf([deleted(before, { resource })]));
    expect(undo.desired[0]?.document).toMatchObject({ newer: 2 });
    expect(undo.desired[0]?.document).not.toHaveProperty('brand_new');
    expect(undo.impossible).toEqual([
      {
        address: 'agent.desk',
        path: 'brand_new',
        why: 'is a field that this version of Callsheet does not know; the resource is restored without it',
        advice: 'Set it in the dashboard.',
      },
    ]);
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

describe('what a run put another in the place of', () => {
  test('comes back whole where the other one can be deleted', () => {
    const undo = undoRun(journalOf([{ ...deleted(DESK), action: 'replace' }]));
    expect(undo.desired[0]?.document).toMatchObject({ greeting_message: 'Hello' });
    expect(undo.wanted.get('agent.desk')?.changed).toBeUndefined();
    expect(undo.impossible).toEqual([]);
  });

  test('also when the run died between the two', () => {
    const deed: Deed = { ...deleted(DESK), action: 'replace' };
    expect(desiredOf(deed, { died: true })?.document).toMatchObject({ greeting_message: 'Hello' });
  });

  const resource = {
    ...stateOf({
      name: { value: 'Harbor' },
      clip: { digest: 'sha256:clip' },
      description: { unsettled: true },
    }),
    kind: 'custom_voice',
    id: 'v1',
  };
  const voice: Deed = {
    address: 'custom_voice.harbor',
    action: 'replace',
    id: 'v2',
    before: { name: 'Harbor', language: 'en' },
    fields: ['name', 'clip'],
    resource,
  };

  test('is taken up again as it is where the other one cannot, which stays', () => {
    const undo = undoRun(journalOf([voice]));
    expect(undo.desired[0]?.document).toMatchObject({ name: 'Harbor', language: 'en' });
    expect(undo.restored.get('custom_voice.harbor')).toEqual(resource);
    expect(undo.impossible).toEqual([
      {
        address: 'custom_voice.harbor',
        path: null,
        why: 'the one (v2) that the run created in its place stays, because the platform has no endpoint that deletes a custom_voice',
        advice: 'Delete it in the dashboard.',
      },
    ]);
  });

  test('is told without an id where nobody knows that of the other one', () => {
    const { id: _, ...unknown } = voice;
    expect(undoRun(journalOf([unknown])).impossible).toMatchObject([
      { why: expect.stringMatching(/^the one that the run created in its place stays/) },
    ]);
  });

  test('is all that is said of it: what was only changed left nothing behind', () => {
    const { impossible } = undoRun(journalOf([{ ...voice, action: 'update', fields: ['name'] }]));
    expect(impossible).toEqual([]);
  });
});

describe('an element of which nobody kept more than what it is known by', () => {
  const withHeaders = (...headers: readonly JsonObject[]) => ({
    ...DESK,
    extensions: { tools: [{ name: 'crm', headers }] },
  });
  const headersOf = (deed: Deed) => desiredOf(deed)?.document.extensions;
  const SECRET = { key: 'X', value: 'canary' };
  const OPEN = { key: 'Lang', value: '' };
  const AT = 'extensions.tools[crm].headers[X]';

  test('does not come back broken with what was deleted', () => {
    expect(headersOf(deleted(withHeaders(SECRET, OPEN)))).toEqual({
      tools: [{ name: 'crm', headers: [OPEN] }],
    });
    expect(headersOf(deleted(withHeaders(SECRET)))).toEqual({
      tools: [{ name: 'crm', headers: [] }],
    });
  });

  test.each<[string, Deed]>([
    ['deleted', deleted(withHeaders(SECRET, OPEN))],
    ['changed', update(['extensions.tools[crm].url'], { before: withHeaders(SECRET, OPEN) })],
  ])('stays where it is still there, though the agent was %s', (_what, deed) => {
    const desired = desiredOf(deed);
    expect(desired?.lifecycle.ignore).toEqual([AT]);
    expect(desired?.whole?.withheld).toEqual([`${AT}.value`, AT]);
  });

  test('comes back where more of it is left', () => {
    const server = { connection_name: 'Calendar', mcp_endpoint_url: 'https://mcp.example.test' };
    const mcp = [{ ...server, auth_headers: { Authorization: 'canary' } }];
    const desired = desiredOf(deleted({ ...DESK, extensions: { mcp_servers: mcp } }));
    expect(desired?.document.extensions).toEqual({
      mcp_servers: [{ ...server, auth_headers: {} }],
    });
    expect(desired?.lifecycle.ignore).toEqual([]);
  });

  test('is no other one of the same name', () => {
    const cookies = [{ key: 'X', value: '' }, SECRET, OPEN];
    expect(headersOf(deleted(withHeaders(...cookies)))).toEqual({
      tools: [{ name: 'crm', headers: [{ key: 'X', value: '' }, OPEN] }],
    });
    expect(headersOf(deleted(withHeaders(...cookies.toReversed())))).toEqual({
      tools: [{ name: 'crm', headers: [OPEN, { key: 'X', value: '' }] }],
    });
    expect(headersOf(deleted(withHeaders(SECRET, SECRET, OPEN)))).toEqual({
      tools: [{ name: 'crm', headers: [OPEN] }],
    });
  });
});

describe('an element whose name holds a credential, of which nobody kept all', () => {
  const server = (name: string) => ({ connection_name: name, mcp_endpoint_url: 'https://m.test' });
  const before = {
    ...DESK,
    extensions: { mcp_servers: [server('https://m.test/?token=canary'), server('Calendar')] },
  };
  const AT = 'extensions.mcp_servers["https://m.test/?token=(secret)"]';
  const NAME = `${AT}.connection_name`;
  const told = (deed: Deed) => {
    const desired = desiredOf(deed);
    return [desired?.lifecycle.ignore, desired?.whole?.withheld];
  };

  test.each<[string, Deed]>([
    ['something else was changed', update(['name'], { before })],
    ['something else in it was changed', update([`${AT}.mcp_endpoint_url`], { before })],
    ['something in another one was', update(['extensions.mcp_servers[Calendar]'], { before })],
  ])('keeps the name that it has where %s', (_what, deed) => {
    expect(told(deed)).toEqual([[NAME], [NAME]]);
  });

  test.each<[string, Deed]>([
    ['it was changed as a whole', update([AT], { before })],
    ['what it belongs to was deleted', deleted(before)],
  ])('stays where it is still there, and is not made again, where %s', (_what, deed) => {
    expect(told(deed)).toEqual([
      [AT, NAME],
      [NAME, AT],
    ]);
  });

  test('does not come back under half of its name', () => {
    expect(desiredOf(deleted(before))?.document.extensions).toEqual({
      mcp_servers: [server('Calendar')],
    });
  });
});

describe('nothing is undone', () => {
  test.each<[string, Partial<Deed>]>([
    ['of a change that the ledger says was not attempted', { status: 'not_attempted' }],
    ['of a change that was not attempted', { status: 'not_attempted', steps: [] }],
    ['of a change that was blocked', { status: 'blocked', steps: [] }],
    ['of a change that sent nothing', { steps: [] }],
  ])('%s', (_title, more) => {
    expect(undoRun(journalOf([update(['greeting_message'], more)]))).toMatchObject({
      desired: [],
      addresses: [],
    });
  });

  test('of a change that sent nothing, whatever else the run did', () => {
    const silent = update(['greeting_message'], { address: 'agent.night', steps: [] });
    const { addresses } = undoRun(journalOf([silent, update(['greeting_message'])]));
    expect(addresses).toEqual(['agent.desk']);
  });
});

/** Whatever cannot be put back is said, so that nobody takes it for undone. */
describe('what cannot be undone', () => {
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
      'a sensitive value of one of several elements that were changed',
      update(['greeting_message', 'extensions.tools[crm]'], { before: { ...DESK, ...HEADERS } }),
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

  test('is told with why, and what to do about it', () => {
    const told = (deed: Deed) =>
      undoRun(journalOf([deed])).impossible.map(({ why, advice }) => [why, advice]);
    expect(told(update([TOKEN]))).toEqual([
      [
        'is secret, so no snapshot holds it; it stays as the run left it, until an apply writes it',
        'Set the secret to its previous value and apply.',
      ],
    ]);
    expect(told(update([HEADER], { before: { ...DESK, ...HEADERS } }))).toEqual([
      [
        'is secret, so no snapshot holds it; it is not restored, and is removed where the run removed it (with CALLSHEET_FINGERPRINT_KEY runs keep such values encrypted)',
        'Set the secret to its previous value and apply.',
      ],
    ]);
    expect(told(deleted({ ...DESK, ...HEADERS }, { resource: known(TOKEN) }))).toEqual(
      [TOKEN, HEADER].map(() => [
        'is secret, so no snapshot holds it; the resource is restored without it, until an apply writes it',
        'Apply writes it if it is configured.',
      ]),
    );
    expect(told(FILE)).toEqual([
      [
        'is a file, whose bytes no snapshot holds; it stays as the run left it',
        'Put the previous file back into the stack and apply.',
      ],
    ]);
  });

  test.each<[string, Deed, Readonly<Record<string, AppliedLeaf>>]>([
    [
      'what the run wrote',
      update([TOKEN, HEADER], {
        before: { ...DESK, ...HEADERS },
        resource: known(TOKEN, HEADER),
        recorded: stateOf({
          [TOKEN]: { fingerprint: 'hmac:0:1' },
          [HEADER]: { fingerprint: 'hmac:0:2' },
        }),
      }),
      { [TOKEN]: { fingerprint: 'hmac:0:1' }, [HEADER]: { fingerprint: 'hmac:0:2' } },
    ],
    [
      'nothing of a sensitive value and that a secret is unsettled, where nobody knows what the run wrote',
      update([TOKEN, HEADER], {
        before: { ...DESK, ...HEADERS },
        resource: known(TOKEN, HEADER),
      }),
      { [TOKEN]: { unsettled: true } },
    ],
    [
      'nothing of a secret that it did not know before either',
      update([TOKEN], { resource: stateOf({ name: { value: 'Desk' } }) }),
      { name: { value: 'Desk' } },
    ],
  ])('has the state say %s', (_what, deed, leaves) => {
    expect(undoRun(journalOf([deed])).restored.get('agent.desk')?.leaves).toEqual(leaves);
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
    [
      'a plain value that the state knows of what was deleted',
      deleted(DESK, { resource: stateOf({ description: { value: 'At the door' } }) }),
    ],
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
      {
        address: 'retry_policy.new',
        action: 'create',
        recorded: { ...resource, kind: 'retry_policy', id: 'p9' },
      },
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

test('entries that others made while the run wrote are found by address', () => {
  const theirs = { entry: 41, action: null, actor: 'user:kim', source: null, at: null } as const;
  const interleaved = [{ ...theirs, order: 'before' }] as const;
  const undo = undoRun(
    journalOf([
      update(['greeting_message'], { interleaved }),
      update(['greeting_message'], { address: 'agent.night', id: 'a2' }),
    ]),
  );
  expect([...undo.interleaved]).toEqual([['agent.desk', interleaved]]);
});

describe('where a run that died stands in the history', () => {
  const history = { before: 41, after: 42 };
  test.each<[string, Deed, object | undefined]>([
    [
      'is told by the newest entry from before',
      update(['greeting_message'], { history }),
      { id: 'a1', entry: 41, isBefore: true },
    ],
    ['is not told where there was none', update(['greeting_message']), undefined],
    ['is not told of what it made', { address: 'agent.desk', action: 'create' }, undefined],
  ])('%s', (_title, deed, produced) => {
    expect(undoRun(journalOf([deed], { died: true })).produced.get('agent.desk')).toEqual(produced);
  });
});

test('an undo is narrowed in all that it has', () => {
  const theirs = { entry: 41, action: null, actor: null, source: null, at: null } as const;
  const deeds = (name: string): readonly Deed[] => [
    {
      ...update([TOKEN, 'greeting_message'], { resource: known(TOKEN) }),
      address: `agent.${name}`,
      id: name,
      history: { before: 41, after: 42 },
      interleaved: [{ ...theirs, order: 'after' }],
    },
    { address: `sms_template.${name}`, action: 'create', recorded: stateOf({}) },
  ];
  const isOne = (address: string) => address.endsWith('.one');
  const narrowed = narrowUndo(undoRun(journalOf([...deeds('one'), ...deeds('two')])), isOne);
  const alone = undoRun(journalOf(deeds('one')));
  const { desired, ...rest } = narrowed;
  expect(desired.map(({ address }) => address)).toEqual(['agent.one']);
  expect(alone).toMatchObject(rest);
  expect(narrowUndo(narrowed, () => false)).toEqual({
    desired: [],
    addresses: [],
    versions: new Map(),
    produced: new Map(),
    rewritten: [],
    made: new Map(),
    interleaved: new Map(),
    restored: new Map(),
    wanted: new Map(),
    impossible: [],
  });
});

describe('what a copy keeps encrypted', () => {
  const [snapshot, ...others] = journalOf([update([HEADER], { before: { ...DESK, ...HEADERS } })]);
  if (snapshot?.type !== 'snapshot') throw new Error('a run begins with a copy');
  const sealed = { [HEADER]: 'sealed header' };
  const opens = ({ address }: { readonly address: string }, path: string, text: string) =>
    `${address} ${path} ${text}`;
  const OPENED = {
    tools: [{ name: 'crm', headers: [{ key: 'X', value: `agent.desk ${HEADER} sealed header` }] }],
  };

  test('is put into it, and is no longer missing', () => {
    const [opened, ...rest] = unseal([{ ...snapshot, sealed }, ...others], opens);
    expect(opened).toEqual({
      ...snapshot,
      sealed,
      document: { ...snapshot.document, extensions: OPENED },
      withheld: [],
    });
    expect(rest).toEqual(others);
  });

  test('is put back like any other value', () => {
    const undo = undoRun(unseal([{ ...snapshot, sealed }, ...others], opens));
    expect(undo.desired[0]?.document.extensions).toEqual(OPENED);
    expect(undo.desired[0]?.lifecycle.ignore).toEqual([]);
    expect(undo.impossible).toEqual([]);
  });

  const PIN = 'integrations.ehrProvider.pin';
  const integrations = { ehrProvider: { username: 'desk', pin: 'canary' } };
  test.each<[string, string, Deed]>([
    [
      'a sensitive value of what was deleted',
      HEADER,
      deleted({ ...DESK, ...HEADERS }, { resource: known(HEADER) }),
    ],
    [
      'a secret that the platform returns',
      PIN,
      update([PIN], { before: { ...DESK, integrations }, resource: known(PIN) }),
    ],
  ])('is not named as missing: %s', (_what, path, deed) => {
    const entries = journalOf([deed]).map((entry) =>
      entry.type === 'snapshot' ? { ...entry, sealed: { [path]: 'sealed' } } : entry,
    );
    expect(undoRun(entries).impossible).toMatchObject([{ path }]);
    const undo = undoRun(unseal(entries, (_copy, _path, text) => text));
    expect(undo.impossible).toEqual([]);
    expect(JSON.stringify(undo.desired[0]?.document)).toContain('"sealed"');
    expect(undo.restored.get('agent.desk')?.leaves).toEqual(deed.resource?.leaves);
  });

  test.each<[string, Parameters<typeof unseal>[1], object]>([
    ['no key is given', undefined, { sealed }],
    ['the key is another one', () => undefined, { sealed }],
    ['it stands at a path that cannot be read', opens, { sealed: { '[': 'sealed' } }],
    ['there is no copy to put it into', opens, { sealed, document: null }],
    ['there is none', opens, {}],
  ])('stays out of it where %s', (_title, open, more) => {
    const entry = { ...snapshot, ...more };
    expect(unseal([entry, ...others], open)).toEqual([entry, ...others]);
  });
});

describe('what a copy keeps encrypted goes back', () => {
  const at = (address: string, id: string) => ({
    [address]: { kind: 'agent', id, scope: {}, name: id, leaves: {}, pin: null, protect: false },
  });
  const own = { address: 'agent.desk', kind: 'agent', id: 'a1' };
  const [changed, removed] = [update(['name']), deleted(DESK)].map((deed) => journalOf([deed]));
  test.each<[string, readonly JournalEntry[] | undefined, State['resources'], boolean]>([
    ['to its resource', changed, at('agent.desk', 'a1'), true],
    ['to its resource at another address', changed, at('agent.line', 'a1'), true],
    ['where the address has none', changed, {}, true],
    ['to what is made again', removed, at('agent.desk', 'b1'), true],
    ['not to another resource', changed, at('agent.desk', 'b1'), false],
  ])('%s', (_, entries = [], resources, isOwn) => {
    expect(goesBack(entries, { resources })(own)).toBe(isOwn);
  });
});

describe('a journal under the addresses of now', () => {
  const agent = (id: string): ResourceState => ({
    kind: 'agent',
    id,
    scope: {},
    name: id,
    leaves: {},
    pin: null,
    protect: false,
  });
  const deed = (address: string, id: string) =>
    ({ address, action: 'update', id, before: { id, name: id }, fields: ['name'] }) as const;
  const rebound = (resource: ResourceState, from: string, to: string) => {
    return { ...resource, name: `${from} as ${to}` };
  };
  const readdressed = (
    deeds: readonly Deed[],
    resources: Readonly<Record<string, ResourceState>>,
  ) => underAddressesOfNow(journalOf(deeds), { resources }, rebound);
  const idsAt = (entries: readonly JournalEntry[]) =>
    Object.fromEntries(
      undoRun(entries).desired.map(({ address, lifecycle }) => [address, lifecycle.adopt]),
    );

  test('has two that swapped theirs the other way round', () => {
    const { entries, displaced } = readdressed([deed('agent.a', 'a1'), deed('agent.b', 'b1')], {
      'agent.a': agent('b1'),
      'agent.b': agent('a1'),
    });
    expect(idsAt(entries)).toEqual({ 'agent.b': 'a1', 'agent.a': 'b1' });
    expect(displaced).toEqual([]);
  });

  test('leaves out what is gone and whose address another one of the run has', () => {
    const { entries, displaced } = readdressed([deed('agent.a', 'a1'), deed('agent.b', 'b1')], {
      'agent.b': agent('a1'),
    });
    expect(idsAt(entries)).toEqual({ 'agent.b': 'a1' });
    expect(displaced).toEqual(['agent.b']);
    expect(entries.filter((one) => typeof one !== 'object')).toEqual([]);
    const addresses = entries.flatMap((one) => (one.type === 'ended' ? one.ledger : []));
    expect(addresses.map(({ address, id }) => [address, id])).toEqual([['agent.b', 'a1']]);
  });

  test.each([
    ['the first', 0],
    ['the last', 1],
  ])(
    'leaves out a create that failed at an address that another one of the run has: %s of the two',
    (_, at) => {
      const moved = { ...deed('agent.a', 'a1'), recorded: agent('a1') };
      const failed = { address: 'agent.b', action: 'create', status: 'failed' } as const;
      const deeds = at === 0 ? [failed, moved] : [moved, failed];
      const { entries, displaced } = readdressed(deeds, { 'agent.b': agent('a1') });
      const { addresses, made } = undoRun(entries);
      expect([addresses, [...made]]).toEqual([['agent.b'], []]);
      expect(idsAt(entries)).toEqual({ 'agent.b': 'a1' });
      // Nothing of it is gone, as nothing of it was there.
      expect(displaced).toEqual([]);
    },
  );

  test.each([
    ['that came to its end', false],
    ['that died', true],
  ])('has what a run %s made, deleted and asked for under the other address', (_, died) => {
    const made = { address: 'agent.a', action: 'create', recorded: agent('a1') } as const;
    const gone = { ...deed('agent.b', 'b1'), action: 'delete', recorded: null } as const;
    const begun = began('r1');
    const stays = { ...deed('agent.c', 'c1'), recorded: agent('c1') };
    const { entries, displaced } = underAddressesOfNow(
      [begun, ...journalOf([made, gone, stays], { died })],
      { resources: { 'agent.z': agent('a1'), 'agent.y': agent('b1'), 'agent.c': agent('c1') } },
      rebound,
    );
    const undo = undoRun(entries);
    const said = entries.flatMap((one) => (one.type === 'resource' ? [one.resource] : []));
    expect(said).toEqual([{ ...agent('a1'), name: 'agent.a as agent.z' }, null, agent('c1')]);
    expect(displaced).toEqual([]);
    expect(entries[0]).toBe(begun);
    expect(undo.addresses).toEqual(['agent.z', 'agent.y', 'agent.c']);
    expect([...undo.made].map(([address, { name }]) => [address, name])).toEqual([
      ['agent.z', 'agent.a as agent.z'],
    ]);
    expect(undo.desired.map(({ address }) => address)).toEqual(['agent.y', 'agent.c']);
  });

  test('has what the run made at an address of its own once a rollback made the former one again', () => {
    const replaced = { ...deed('agent.a', 'a1'), recorded: agent('a2') };
    const resources = { 'agent.a': agent('a3'), 'agent.a.replaced': agent('a2') };
    const rollback: JournalEntry = { type: 'resource', address: 'agent.a', resource: agent('a3') };
    const { entries } = underAddressesOfNow(
      journalOf([replaced]).map((entry) =>
        entry.type === 'intent' ? { ...entry, step: 'create' } : entry,
      ),
      { resources },
      rebound,
      [[rollback]],
    );
    const { desired, made } = undoRun(entries);
    expect(desired.map(({ address }) => address)).toEqual(['agent.a']);
    expect([...made].map(([address, { id }]) => [address, id])).toEqual([
      ['agent.a.replaced', 'a2'],
    ]);
  });

  test('leaves what is gone where it was', () => {
    const journal = journalOf([deed('agent.a', 'a1')]);
    expect(underAddressesOfNow(journal, { resources: {} }, rebound).entries).toBe(journal);
  });

  test('has what the state said bound to the other address', () => {
    const { entries } = readdressed(
      [{ ...deed('agent.a', 'a1'), resource: agent('a1'), recorded: agent('a1') }],
      { 'agent.z': agent('a1') },
    );
    const said = entries.flatMap((one) =>
      one.type === 'snapshot' || one.type === 'resource' ? one.resource : [],
    );
    expect(said.map((one) => one?.name)).toEqual(['agent.a as agent.z', 'agent.a as agent.z']);
  });
});
