import { describe, expect, test } from 'vitest';
import { computeDigest } from '../../src/core/digest.ts';
import type { Change, PlanOptions } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { plainTexts, planChange } from '../../src/plan/change.ts';
import { identify } from '../../src/plan/identify.ts';
import type { PlanInput } from '../../src/plan/make.ts';
import type { HistoryEntry, Reader } from '../../src/plan/reader.ts';
import type { ResourceState, State } from '../../src/state/model.ts';
import {
  BAY,
  desiredResource,
  fingerprinter,
  HARBOR,
  KEY,
  NO_OPTIONS,
  type WorldBuilder,
  world,
} from '../world.ts';
import { entitlementsOf, HERE } from './entitlements.ts';
import { changeOf, plans, stepsOf } from './rows.ts';

const DESK = { name: 'Desk', greeting_message: 'Hello' };
const UPDATED = '2026-03-01T00:00:00Z';
const LIVE = { id: 'a1', ...DESK, organization_id: HARBOR, updated_at: UPDATED };
const desk = (more: object = {}) => ({ 'agent.desk': { ...DESK, ...more } });
const APPLIED = { 'agent.desk': { id: 'a1', ...DESK } };

/** The state of a world in which more is remembered of a resource. */
function remembering(
  made: WorldBuilder,
  more: Partial<ResourceState>,
  address = 'agent.desk',
): State {
  const state = made.state();
  const resource = state.resources[address];
  if (resource === undefined) throw new Error(`nothing is remembered of ${address}`);
  return { ...state, resources: { ...state.resources, [address]: { ...resource, ...more } } };
}

/** What was read one by one while a plan was made: its id, and whether it is known without having been read. */
async function readsOf(made: WorldBuilder, input: Partial<PlanInput> = {}) {
  const reader = made.reader();
  const reads: (readonly [id: string, isUnread: boolean | undefined])[] = [];
  const watching: Reader = {
    ...reader,
    read(kind, at, facets) {
      reads.push([at.id, at.isUnread]);
      return reader.read(kind, at, facets);
    },
  };
  const planned = await made.plan({ ...input, reader: watching });
  return { ...planned, reads };
}

describe('with a fast refresh', () => {
  const made = world()
    .desired(desk())
    .live({ agent: [LIVE] })
    .applied(APPLIED);
  const pin = {
    digest: 'sha256:then',
    updated_at: UPDATED,
    history_id: null,
    certain: true as const,
  };
  const state = remembering(made, { pin });

  test('what provably did not change is not read, and the plan names what that rests on', async () => {
    const { plan, unread, reads } = await readsOf(made, { state, refresh: 'fast' });
    expect(plan).toMatchObject({
      changes: [],
      notes: [],
      summary: { no_op: 1 },
      assumptions: ['agent.updated-at'],
    });
    expect([unread, reads]).toEqual([1, []]);
  });

  test.each<[string, Partial<PlanInput>]>([
    ['unless the refresh is full', { state, refresh: 'full' }],
    ['unless nothing is said of the refresh', { state }],
    ['unless nothing is certain', { refresh: 'fast' }],
  ])('%s', async (_title, input) => {
    const { plan, unread, reads } = await readsOf(made, input);
    expect([unread, reads]).toEqual([0, [['a1', false]]]);
    expect(plan.assumptions).toEqual([]);
  });

  test('what the configuration changed is read and planned', async () => {
    const edited = made.desired(desk({ greeting_message: 'Good day' }));
    const { plan, unread, reads } = await readsOf(edited, { state, refresh: 'fast' });
    expect(plan.changes.map(({ address, action }) => `${action} ${address}`)).toEqual([
      'update agent.desk',
    ]);
    expect([unread, reads]).toEqual([0, [['a1', false]]]);
    expect(plan.assumptions).toEqual([]);
  });

  test('a secret that nobody can compare is noted as if it were read', async () => {
    const sms = { account_sid: 'AC1', auth_token: { $secret: 'env:TOKEN' } };
    const secret = world()
      .desired(desk({ integrations: { smsProvider: sms } }))
      .live({ agent: [{ ...LIVE, integrations: { smsProvider: { account_sid: 'AC1' } } }] })
      .applied({ 'agent.desk': { id: 'a1', ...DESK, integrations: { smsProvider: sms } } })
      .secrets({}, { 'env:TOKEN': 'canary' });
    const remembered = remembering(secret, { pin });
    const fast = await readsOf(secret, { state: remembered, refresh: 'fast' });
    const full = await readsOf(secret, { refresh: 'full' });
    expect([fast.unread, fast.reads]).toEqual([1, []]);
    expect(fast.plan.notes).toHaveLength(1);
    expect(fast.plan.notes).toEqual(full.plan.notes);
    expect([...fast.found].map(([at, leaves]) => [at, leaves.map(({ cause }) => cause)])).toEqual([
      ['agent.desk', ['unknown_secret']],
    ]);
  });

  test('what was not read is still known by its address where it stands in the way of a delete', async () => {
    const policy = { id: 'p1', name: 'Gentle' };
    const using = made
      .live({ agent: [{ ...LIVE, default_retry_policy_id: 'p1' }], retry_policy: [policy] })
      .applied({ ...APPLIED, 'retry_policy.gentle': policy })
      .options({ allow_delete: true });
    const { plan, unread } = await using.plan({
      state: remembering(using, { pin }),
      refresh: 'fast',
    });
    expect(unread).toBe(1);
    expect(plan.changes.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('1 live agent still uses it: agent.desk;'),
    ]);
  });
});

describe('what is read', () => {
  const made = world()
    .desired(desk())
    .live({ agent: [LIVE] })
    .applied(APPLIED);

  test('is marked where it was never read since it was made, so that a 404 says nothing', async () => {
    const { reads } = await readsOf(made, { state: remembering(made, { pin: null }) });
    expect(reads).toEqual([['a1', true]]);
  });

  test('is not marked where it was read before', async () => {
    const { reads } = await readsOf(made);
    expect(reads).toEqual([['a1', false]]);
  });

  test('is not marked where another resource took the name of one that was never read', async () => {
    const other = made.live({ agent: [{ ...LIVE, id: 'a2' }] });
    const { reads } = await readsOf(other, { state: remembering(other, { pin: null }) });
    // The one that was known is asked for by its id, as its list does not have it.
    expect(reads).toEqual([
      ['a1', undefined],
      ['a2', false],
    ]);
  });

  test('is marked where it is looked for without a list, too', async () => {
    const alone = made.lacking({ listAgents: 'absent' });
    const never = await readsOf(alone, { state: remembering(alone, { pin: null }) });
    expect(never.reads).toEqual([
      ['a1', true],
      ['a1', true],
    ]);
    const once = await readsOf(alone);
    expect(once.reads).toEqual([
      ['a1', false],
      ['a1', false],
    ]);
  });
});

describe('a resource whose address was moved', () => {
  const token = { $secret: 'env:TOKEN' };
  const sms = { integrations: { smsProvider: { account_sid: 'AC1', auth_token: token } } };
  const PATH = 'integrations.smsProvider.auth_token';
  const made = world()
    .desired({ 'agent.front': { ...DESK, ...sms } })
    .live({ agent: [{ ...LIVE, integrations: { smsProvider: { account_sid: 'AC1' } } }] })
    .applied({ 'agent.desk': { id: 'a1', ...DESK, ...sms } })
    .secrets({ 'env:TOKEN': 'canary' })
    .having({ priorAddresses: (address) => (address === 'agent.front' ? ['agent.desk'] : []) });

  test('is taken over from its old address, and its secrets are not written again', async () => {
    const { plan, refresh } = await made.plan();
    expect(plan.changes).toMatchObject([
      {
        address: 'agent.front',
        action: 'adopt',
        reason: 'it was agent.desk before',
        moved_from: 'agent.desk',
        adopted: false,
      },
    ]);
    expect(plan.notes).toEqual([]);
    const { of } = fingerprinter(KEY);
    expect(refresh.get('agent.front')?.leaves[PATH]).toEqual({
      fingerprint: of('agent.front', PATH, 'canary'),
      source: computeDigest('env:TOKEN'),
    });
  });

  test('is sent a secret that changed along with the move', async () => {
    const { plan } = await made.secrets({ 'env:TOKEN': 'new' }, { 'env:TOKEN': 'old' }).plan();
    expect(plan.changes).toMatchObject([
      { action: 'update', moved_from: 'agent.desk', fields: [{ path: PATH }] },
    ]);
  });

  test('is read even where the refresh is fast', async () => {
    const { unread } = await made.plan({ refresh: 'fast' });
    expect(unread).toBe(0);
  });
});

test('one that was not moved says nothing of a former address', async () => {
  const { plan } = await world()
    .desired(desk())
    .live({ agent: [LIVE] })
    .plan();
  expect(
    plan.changes.map((change) => [change.action, Object.hasOwn(change, 'moved_from')]),
  ).toEqual([['adopt', false]]);
});

test('a resource that stays as it is is planned without its documents', async () => {
  const made = world()
    .desired(desk())
    .live({ agent: [LIVE] })
    .applied(APPLIED);
  const { identities } = await identify(made.wanted(), made.state(), made.reader());
  const [identity] = identities;
  const live = await made.reader().read(kindNamed('agent'), { id: 'a1', scope: {} }, new Set());
  if (identity === undefined || live === undefined) throw new Error('there is no agent');
  const { change } = planChange(identity, live, {
    pin: null,
    world: made.given(),
    options: NO_OPTIONS,
    now: new Date(),
    purpose: 'apply',
    isToSnapshot: false,
    version: undefined,
    isForgotten: false,
    isPlanned: () => true,
    support: { findLack: () => undefined, findAssumption: () => undefined, assume: true },
  });
  expect(change).toEqual({
    address: 'agent.desk',
    kind: 'agent',
    name: 'Desk',
    organization_id: HARBOR,
    id: 'a1',
    adopted: false,
    missing_id: null,
    source: 'stack.yaml:3',
    action: 'no_op',
    verdict: 'ok',
    reason: 'nothing to change',
    before: null,
    after: null,
    fields: [],
    pin: null,
    operations: [],
  });
});

function entry(id: number, actor: string | null): HistoryEntry {
  return { id, action: 'updated', actor, source: null, at: null, reverted_from_id: null };
}

describe('who changed a resource', () => {
  const drifted = { ...LIVE, greeting_message: 'Hi' };
  const made = world()
    .desired(desk())
    .live({ agent: [drifted] })
    .applied(APPLIED);
  const OUTSIDE = 'changed outside Callsheet (';

  /** The plan's only change, where the state remembers more of the resource. */
  async function reasonOf(
    more: Partial<ResourceState>,
    {
      having = (same) => same,
      ...input
    }: Partial<PlanInput> & {
      having?: (world: WorldBuilder) => WorldBuilder;
    } = {},
  ): Promise<string | undefined> {
    const built = having(made);
    const { plan } = await built.plan({ ...input, state: remembering(built, more) });
    return plan.changes[0]?.reason;
  }

  /** The pin that the resource has as it is live. */
  async function pinNow() {
    const { plan } = await made.plan();
    const pin = plan.changes[0]?.pin;
    if (!pin) throw new Error('the change is not pinned');
    return pin;
  }

  test('is the rollback that put it back, where nobody changed it since', async () => {
    const pin = await pinNow();
    expect(await reasonOf({ restored_by: 'run-7', pin })).toBe('put back by run run-7, a rollback');
  });

  test('is not the rollback where that put back other fields', async () => {
    const pin = await pinNow();
    const by = (...paths: readonly string[]) =>
      reasonOf({ restored_by: 'run-7', restored_paths: paths, pin });
    expect(await by('greeting_message')).toBe('put back by run run-7, a rollback');
    expect(await by('description')).toContain(OUTSIDE);
    expect(await by()).toContain(OUTSIDE);
  });

  test('is not the rollback where more drifted than that put back', async () => {
    const more = made
      .desired(desk({ description: 'Opens at eight' }))
      .applied({ 'agent.desk': { ...APPLIED['agent.desk'], description: 'Opens at eight' } });
    const having = () => more;
    const pin = await pinNow();
    const restored = { restored_by: 'run-7', restored_paths: ['greeting_message'], pin };
    expect(await reasonOf(restored, { having })).toContain(OUTSIDE);
  });

  test('is the rollback where the configuration changed as well', async () => {
    const pin = await pinNow();
    const having = (one: WorldBuilder) => one.desired(desk({ greeting_message: 'Good day' }));
    expect(await reasonOf({ restored_by: 'run-7', pin }, { having })).toBe(
      'put back by run run-7, a rollback, and the configuration changed',
    );
  });

  test('is not the rollback where somebody changed it since', async () => {
    const pin = { ...(await pinNow()), digest: 'sha256:another' };
    expect(await reasonOf({ restored_by: 'run-7', pin })).toContain(OUTSIDE);
    const later = { ...(await pinNow()), updated_at: '2026-02-01T00:00:00Z' };
    expect(await reasonOf({ restored_by: 'run-7', pin: later })).toContain(OUTSIDE);
  });

  test('is not the rollback where it was not read afterwards', async () => {
    expect(await reasonOf({ restored_by: 'run-7', pin: null })).toBe(
      'changed outside Callsheet (the author is unknown: no history entry of the last apply is known)',
    );
  });

  test('is no rollback where none wrote it', async () => {
    expect(await reasonOf({ pin: await pinNow() })).toContain(OUTSIDE);
  });

  const finding = (address: string) => ({
    severity: 'warning' as const,
    address,
    message: 'it may have been carried out',
  });
  const died = (...addresses: readonly string[]) => ({
    settled: { run: 'run-9', findings: addresses.map(finding) },
  });
  const DIED = 'changed by run run-9, which died';

  test.each<[string, readonly string[], readonly HistoryEntry[], string]>([
    ['is a dead run that asked for it', ['agent.desk'], [], DIED],
    ['is a dead run that asked for more', ['agent.other', 'agent.desk'], [], DIED],
    [
      'is a dead run where the newest entry is of its account',
      ['agent.desk'],
      [entry(7, 'api:account-1'), entry(6, 'user:kim')],
      DIED,
    ],
    [
      'is not a dead run where somebody else came after it',
      ['agent.desk'],
      [entry(7, 'user:kim'), entry(6, 'api:account-1')],
      `${OUTSIDE}the author is unknown: no history entry of the last apply is known)`,
    ],
    [
      'is not a dead run where nobody is named',
      ['agent.desk'],
      [entry(7, null)],
      `${OUTSIDE}the author is unknown: no history entry of the last apply is known)`,
    ],
    [
      'is not a dead run that asked for something else',
      ['agent.other'],
      [],
      `${OUTSIDE}the author is unknown: no history entry of the last apply is known)`,
    ],
    [
      'is not a dead run that left nothing open',
      [],
      [],
      `${OUTSIDE}the author is unknown: no history entry of the last apply is known)`,
    ],
  ])('%s', async (_title, addresses, history, expected) => {
    const having = (one: WorldBuilder) => one.history({ a1: history });
    expect(await reasonOf({}, { having, ...died(...addresses) })).toBe(expected);
  });

  test('is not told of what the configuration alone changed', async () => {
    const having = (one: WorldBuilder) =>
      one.live({ agent: [LIVE] }).desired(desk({ greeting_message: 'Good day' }));
    expect(await reasonOf({}, { having, ...died('agent.desk') })).toBe('the configuration changed');
  });

  test('is not told of what cannot be written, which is not pinned to its history either', async () => {
    const { plan } = await made
      .history({ a1: [entry(7, 'user:kim')] })
      .lacking({ updateAgent: 'absent' })
      .plan();
    expect(plan.changes).toMatchObject([{ verdict: 'unsupported', pin: { history_id: null } }]);
    expect(plan.changes[0]?.reason).toMatch(/^changed outside Callsheet; it needs updateAgent, /);
  });
});

describe('a history', () => {
  const dated = (id: number): HistoryEntry => ({ ...entry(id, null), at: UPDATED });
  const desired = desk({ extensions: { tools: [{ name: 'crm', description: 'Finds' }] } });
  const carrying = { ...LIVE, extensions: { mcp_servers: [{ connection_name: 'C' }] } };
  const changed = world()
    .desired(desk({ status: 'inactive' }))
    .applied(APPLIED);
  const policy = { id: 'p1', name: 'Gentle', on_exhausted: 'end' };

  test.each<[string, WorldBuilder, JsonObject, HistoryEntry, Partial<PlanInput>, boolean]>([
    ['is not asked for where a write is found by its time', changed, LIVE, dated(4), {}, false],
    ['is asked for where it has no times', changed, LIVE, entry(4, null), {}, true],
    ['is asked for by a rollback', changed, LIVE, dated(4), { purpose: 'rollback' }, true],
    [
      'is asked for where something drifted',
      changed,
      { ...LIVE, greeting_message: 'Hi' },
      dated(4),
      {},
      true,
    ],
    [
      'is asked for where something goes back as it was read',
      world().desired(desired).applied(APPLIED),
      carrying,
      dated(4),
      {},
      true,
    ],
  ])('%s', async (_title, made, live, newest, input, isAsked) => {
    const { plan } = await made
      .live({ agent: [live] })
      .history({ a1: [newest] })
      .plan(input);
    expect(plan.changes.map(({ pin }) => pin?.history_id)).toEqual([isAsked ? 4 : null]);
  });

  test('is not asked for where the kind has none', async () => {
    const made = world()
      .desired({ 'retry_policy.gentle': { name: 'Gentle', on_exhausted: 'voicemail' } })
      .live({ retry_policy: [policy] })
      .applied({ 'retry_policy.gentle': policy });
    const asked: string[] = [];
    const watching: Reader = {
      ...made.reader(),
      history: async (kind) => {
        asked.push(kind.name);
        return [];
      },
      isHistoryDated: async (kind) => {
        asked.push(kind.name);
        return undefined;
      },
    };
    const { plan } = await made.plan({ reader: watching });
    expect(plan.changes).toMatchObject([{ action: 'update' }]);
    expect(asked).toEqual([]);
  });
});

describe('what the state should remember of what is not written', () => {
  test('is nothing of the resource whose place another one has', async () => {
    const made = world()
      .desired(desk())
      .live({ agent: [{ ...LIVE, id: 'a2' }] })
      .applied({ 'agent.desk': { ...APPLIED['agent.desk'], history_id: 7 } });
    const { plan, refresh } = await made.plan();
    expect(plan.changes).toMatchObject([
      {
        action: 'adopt',
        reason:
          'the resource with the recorded id a1 is gone, and another one has its place; found by its name',
      },
    ]);
    expect(refresh.get('agent.desk')).toMatchObject({ id: 'a2', pin: { history_id: null } });
  });

  test('is what it remembers already where nothing can be read', async () => {
    const made = world()
      .desired(desk())
      .live({ agent: [LIVE] })
      .applied({ 'agent.desk': { ...APPLIED['agent.desk'], history_id: 7 } })
      .lacking({ getAgent: 'absent', listAgents: 'absent' });
    const { plan, refresh } = await made.plan();
    expect(plan.summary.no_op).toBe(1);
    expect([...refresh]).toEqual([]);
  });
});

describe('a facet that only the dashboard sets up', () => {
  const SIP =
    'sip cannot be set: the agent has no SIP registration, and only the dashboard sets one up';
  const PAYMENTS = 'payments cannot be set: the platform reports no payment settings for the agent';
  const wayOut = (field: string) =>
    `. --skip-refused leaves ${field} out and writes the rest; lifecycle.ignore: [${field}] leaves it to the dashboard from then on`;
  const CHANGED = '(the configuration changed)';
  const sip = { sip: { registration_enabled: true } };
  const payments = { payments: { tool_enabled: true } };
  const skip = { skip_refused: true };

  type Given = {
    readonly title: string;
    readonly wanted: object;
    readonly isThere?: boolean;
    readonly options?: Partial<PlanOptions>;
    readonly verdict: Change['verdict'];
    readonly reason: string;
    readonly steps?: readonly string[];
    /** Paths of what is left out. */
    readonly left?: readonly string[];
  };
  test.each<Given>([
    {
      title: 'stands against a new resource',
      wanted: sip,
      isThere: false,
      verdict: 'refused',
      reason: `${SIP}${wayOut('sip')} (not on the platform yet)`,
    },
    {
      title: 'is left out of a new resource where that is wanted',
      wanted: sip,
      isThere: false,
      options: skip,
      verdict: 'ok',
      reason: 'not on the platform yet',
      steps: ['create organization_id name greeting_message'],
      left: ['sip.registration_enabled'],
    },
    {
      title: 'stands against a change',
      wanted: { ...sip, status: 'inactive' },
      verdict: 'refused',
      reason: `${SIP}${wayOut('sip')} ${CHANGED}`,
    },
    {
      title: 'is left out of a change where that is wanted',
      wanted: { ...sip, status: 'inactive' },
      options: skip,
      verdict: 'ok',
      reason: 'the configuration changed',
      steps: ['update status'],
      left: ['sip.registration_enabled'],
    },
    {
      title: 'is told with another one',
      wanted: { ...sip, ...payments, status: 'inactive' },
      verdict: 'refused',
      reason: `${SIP}${wayOut('sip')}; ${PAYMENTS}${wayOut('payments')} ${CHANGED}`,
    },
    {
      title: 'leaves no rest to write where it is all that changes',
      wanted: sip,
      verdict: 'refused',
      reason: `${SIP} ${CHANGED}`,
    },
    {
      title: 'leaves no rest where it is all that changes, though it may be left out',
      wanted: sip,
      options: skip,
      verdict: 'refused',
      reason: `${SIP} ${CHANGED}`,
    },
  ])('$title', async (given) => {
    const { wanted, isThere = true, options = {}, verdict, reason, steps = [], left = [] } = given;
    const change = await changeOf({
      title: '',
      desired: desk(wanted),
      live: { agent: isThere ? [LIVE] : [] },
      applied: isThere ? APPLIED : {},
      options,
      says: '',
    });
    expect(change).toMatchObject({ verdict, reason });
    expect(stepsOf(change)).toEqual(steps);
    const refused = change?.fields.filter((field) => field.refused !== undefined);
    expect(refused?.map(({ path }) => path)).toEqual(left);
  });

  const registered = { ...LIVE, sip_registration_data: { registrationEnabled: true } };
  const GOES = '; this also deletes its SIP registration, which only the dashboard sets up';
  test.each<[string, JsonObject, string]>([
    ['goes with the resource, and the plan says so', registered, `no longer configured${GOES}`],
    ['is not told of where there is none', LIVE, 'no longer configured'],
  ])('%s', async (_title, live, reason) => {
    const made = world()
      .desired({})
      .live({ agent: [live] })
      .applied(APPLIED);
    const { plan } = await made.options({ allow_delete: true, target: ['agent.desk'] }).plan();
    expect(plan.changes).toMatchObject([{ action: 'delete', reason }]);
  });
});

test('rules of a kind see plain texts alone', () => {
  const { document } = desiredResource('agent.desk', {
    name: 'Desk',
    voice_settings: { speed: 1 },
    model: { $secret: 'env:MODEL' },
    organization_id: HARBOR,
  });
  expect(plainTexts(document)).toEqual({ name: 'Desk', organization_id: HARBOR });
});

describe('what goes back as it was read', () => {
  const server = { connection_name: 'C' };
  const made = world()
    .desired(desk({ extensions: { tools: [{ name: 'crm', description: 'Finds' }] } }))
    .live({ agent: [{ ...LIVE, extensions: { mcp_servers: [server] } }] })
    .applied(APPLIED);

  test('brings the assumption about its form along', async () => {
    expect((await made.plan()).plan.assumptions).toEqual(['mcp.write-shape']);
  });

  test('is not written where no form may be assumed', async () => {
    const { plan } = await made.plan({ assume: false });
    expect(plan.changes).toMatchObject([{ verdict: 'unsupported', operations: [] }]);
    expect(plan.changes[0]?.reason).toBe(
      'the configuration changed; it sends back extensions.mcp_servers[C].connection_name (assumption mcp.write-shape), whose form the specification does not show and platform.assume: false refuses; otherwise make the change in the dashboard',
    );
    expect(plan.assumptions).toEqual([]);
  });

  test('is nothing where another field is written', async () => {
    const other = made.desired(desk({ status: 'inactive' }));
    const { plan } = await other.plan({ assume: false });
    expect(plan.changes).toMatchObject([{ action: 'update', verdict: 'ok' }]);
    expect(plan.assumptions).toEqual([]);
  });
});

describe('what the platform would refuse', () => {
  const model = { name: 'Desk', model: 'alpha-4o' };
  const refusing = world()
    .desired({ 'agent.desk': { ...model, greeting_message: 'Good day' } })
    .live({ agent: [{ ...LIVE, model: 'alpha-4.1' }] })
    .entitlements(entitlementsOf({ harbor: { 'llm.alpha-4o': HERE } }));

  test('is refused', async () => {
    expect((await refusing.changes()).get('agent.desk')?.verdict).toBe('refused');
  });

  test('is not asked where nothing is carried out', async () => {
    const { plan } = await refusing.plan({ isPreflighted: false });
    expect(plan).toMatchObject({ changes: [{ action: 'update', verdict: 'ok' }], notes: [] });
  });

  test('is left out of a rollback, which does the rest', async () => {
    const { plan } = await refusing.applied(APPLIED).plan({ purpose: 'rollback' });
    const [change] = plan.changes;
    expect(change?.verdict).toBe('ok');
    expect(stepsOf(change)).toEqual(['update greeting_message']);
    expect(change?.fields.map(({ path, refused }) => [path, refused !== undefined])).toEqual([
      ['model', true],
      ['greeting_message', false],
    ]);
  });
});

describe('a rollback', () => {
  const rollback = { purpose: 'rollback' } as const;
  const policy = { id: 'p1', name: 'Gentle', on_exhausted: 'end' };
  const snapshot = { made_at: '2026-03-01T00:00:00Z', sha256: 'aa' };
  const edited = { agent: [{ ...LIVE, greeting_message: 'Hi' }] };
  plans([
    {
      title: 'writes a resource without a history, as nothing can be reverted',
      address: 'retry_policy.gentle',
      desired: { 'retry_policy.gentle': { name: 'Gentle', on_exhausted: 'end' } },
      live: { retry_policy: [{ ...policy, on_exhausted: 'voicemail' }] },
      applied: { 'retry_policy.gentle': { ...policy, on_exhausted: 'voicemail' } },
      input: rollback,
      says: 'update',
      because: ['the run changed it'],
      steps: ['update on_exhausted'],
    },
    {
      title: 'makes a resource anew that moved to another organization, and reverts nothing of it',
      desired: desk({ organization_id: BAY }),
      live: { agent: [LIVE] },
      applied: { 'agent.desk': { id: 'a1', ...DESK, organization_id: HARBOR } },
      options: { allow_delete: true },
      input: { ...rollback, versions: new Map([['agent.desk', 4]]) },
      says: 'replace',
      steps: ['create organization_id name greeting_message', 'delete'],
    },
    {
      title: 'that goes back to a snapshot says so',
      desired: desk(),
      live: edited,
      applied: { 'agent.desk': { id: 'a1', ...DESK, greeting_message: 'Hi' } },
      input: { ...rollback, snapshot },
      says: 'update',
      because: ['changed since the snapshot'],
    },
    {
      title: 'that undoes a run says so',
      desired: desk(),
      live: edited,
      applied: { 'agent.desk': { id: 'a1', ...DESK, greeting_message: 'Hi' } },
      input: rollback,
      says: 'update',
      because: ['the run changed it'],
    },
    {
      title: 'that goes back to a snapshot deletes what was made since',
      desired: { 'agent.other': { name: 'Other' } },
      live: { agent: [LIVE] },
      applied: APPLIED,
      options: { allow_delete: true },
      input: { ...rollback, snapshot },
      says: 'delete',
      because: ['created since the snapshot'],
    },
  ]);

  test('says no way of undoing where there is only one', async () => {
    const gentle = { ...policy, on_exhausted: 'voicemail' };
    const change = await changeOf({
      title: '',
      address: 'retry_policy.gentle',
      desired: { 'retry_policy.gentle': { name: 'Gentle', on_exhausted: 'end' } },
      live: { retry_policy: [gentle] },
      applied: { 'retry_policy.gentle': gentle },
      input: rollback,
      says: '',
    });
    expect(change).toMatchObject({ action: 'update' });
    expect(change?.undoing).toBeUndefined();
  });

  const undoingOf = async (more: object, purpose: PlanInput['purpose']) => {
    const change: Change | undefined = await changeOf({
      title: '',
      desired: desk(),
      live: edited,
      applied: { 'agent.desk': { id: 'a1', ...DESK, greeting_message: 'Hi' } },
      having: (made) => made.history({ a1: [entry(6, null), entry(4, null)] }),
      input: { purpose, ...more },
      says: '',
    });
    return [change?.undoing?.way, ...stepsOf(change)];
  };
  test('reverts what its history records, and says so', async () => {
    const versions = new Map([['agent.desk', 4]]);
    expect(await undoingOf({ versions }, 'rollback')).toEqual([
      'revert',
      'revert to 4 greeting_message',
    ]);
    expect(await undoingOf({}, 'rollback')).toEqual(['update', 'update greeting_message']);
    expect(await undoingOf({}, 'apply')).toEqual([undefined, 'update greeting_message']);
  });

  /** Enough entries that there may be older ones. */
  const entries = (count: number, newest: number) =>
    Array.from({ length: count }, (_, index) => entry(newest - index, null));
  test.each([
    ['reverts to an entry that lies behind those that were read', 20, 'revert'],
    ['does not revert to an entry that is gone from a history that was read whole', 19, 'update'],
  ])('%s', async (_title, count, way) => {
    const change = await changeOf({
      title: '',
      desired: desk(),
      live: edited,
      applied: { 'agent.desk': { id: 'a1', ...DESK, greeting_message: 'Hi' } },
      having: (made) => made.history({ a1: entries(count, 60) }),
      input: { ...rollback, versions: new Map([['agent.desk', 4]]) },
      says: '',
    });
    expect(change?.undoing?.way).toBe(way);
  });
});

describe('a resource that is let go of', () => {
  const rest: readonly JsonObject[] = [LIVE];
  plans([
    {
      title: 'stays on the platform where forget lists it',
      desired: { 'agent.other': { name: 'Other' } },
      live: { agent: rest },
      applied: APPLIED,
      input: { isForgotten: (address) => address === 'agent.desk' },
      says: 'forget',
      because: ['forget lists it'],
      steps: [],
    },
    {
      title: 'is deleted where forget names another',
      desired: { 'agent.other': { name: 'Other' } },
      live: { agent: rest },
      applied: APPLIED,
      options: { allow_delete: true },
      input: { isForgotten: (address) => address === 'agent.other' },
      says: 'delete',
    },
  ]);
});
