import { describe, expect, test } from 'vitest';
import {
  findCreated,
  freeAddress,
  journalledKey,
  listAnswered,
  type Recovery,
  recoverFailedChange,
  recoverRun,
  recoveryFindings,
} from '../../src/apply/recover.ts';
import { type Address, getKind, isAddress } from '../../src/core/address.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import type { HistoryEntry, Reader } from '../../src/plan/reader.ts';
import { buildPin } from '../../src/plan/refresh.ts';
import type {
  Intended,
  IntentRecorded,
  JournalEntry,
  OutcomeRecorded,
  SnapshotTaken,
} from '../../src/state/journal.ts';
import type { AppliedLeaf, ResourceState, State } from '../../src/state/model.ts';
import { replay } from '../../src/state/replay.ts';
import { began, intent, outcome, recorded, resource, stateWith } from '../state/sample.ts';
import { fingerprinter, HARBOR, KEY, type WorldBuilder, world } from '../world.ts';

type Leaves = ResourceState['leaves'];

/** A request that the run was about to make, and its answer, where that was written down. */
type Sent = Partial<IntentRecorded> & {
  readonly step: IntentRecorded['step'];
  /** The id that it brought, or that there was none. */
  readonly answer?: Pick<OutcomeRecorded, 'id'> & Partial<OutcomeRecorded>;
};

/** A change that a run died in. */
type Change = {
  /** `agent.desk` unless given. */
  readonly address?: Address;
  /** What it was before: a resource of id `a1` of which the state knows nothing, unless given. */
  readonly was?: Partial<SnapshotTaken>;
  /** Absent: the journal does not say. */
  readonly intended?: Partial<Intended> | null;
  /** One update without an answer, unless given. */
  readonly sent?: readonly Sent[];
};

type Given = {
  readonly live?: WorldBuilder;
  /** What the state has. The resource of the change unless given. */
  readonly known?: State['resources'];
  /** Instead of the one over `live`. */
  readonly reader?: Reader;
  readonly account?: string;
};

const DESK = 'agent.desk';
const TOKEN = 'integrations.smsProvider.auth_token';
const SCOPE = { organization_id: HARBOR };
const DIED = 'the run died before the platform confirmed this change';
const PIN = { digest: 'sha256:then', updated_at: '2026-03-01T00:00:00Z', history_id: 40 };

const secret = (value: string, key = KEY, path = TOKEN): AppliedLeaf => ({
  fingerprint: fingerprinter(key).of(DESK, path, value),
});
const OLD = secret('old');
const NEW = secret('new');
const UNSETTLED: AppliedLeaf = { unsettled: true };

function written(values: JsonObject): Leaves {
  return Object.fromEntries(Object.entries(values).map(([path, value]) => [path, { value }]));
}

function keyOf(fields: JsonObject): string {
  return JSON.stringify(Object.entries(fields));
}

function journal(change: Change, account: string): readonly JournalEntry[] {
  const { address = DESK, was = {}, intended, sent = [{ step: 'update' }] } = change;
  const snapshot: SnapshotTaken = {
    type: 'snapshot',
    address,
    kind: getKind(address),
    id: 'a1',
    document: null,
    pin: null,
    resource: null,
    withheld: [],
    intended: null,
    ...was,
  };
  const wanted = { scope: SCOPE, name: 'Desk', leaves: {}, protect: false, key: null };
  const full = intended && { ...wanted, unreadable: [], ...intended };
  const requests = sent.flatMap(({ answer, ...more }, index) => [
    { ...intent(index + 1, address, snapshot.id), ...more },
    ...(answer ? [{ ...outcome(index + 1, answer.id, answer.ok), ...answer }] : []),
  ]);
  return [
    { ...began('r1'), account_id: account },
    { ...snapshot, intended: full ?? null },
    ...requests,
  ];
}

async function settle(change: Change, given: Given = {}): Promise<Recovery> {
  const { live = world(), reader = live.reader(), account = 'account-1' } = given;
  const entries = journal(change, account);
  const before = change.was?.resource;
  const known = given.known ?? (before ? { [change.address ?? DESK]: before } : {});
  const replayed = replay(stateWith(known), entries);
  const recovery = await recoverRun(entries, replayed, { reader, world: live.given() });
  if (recovery === undefined) throw new Error('nothing was settled');
  return recovery;
}

/** The only change that there is. */
function only({ recovered }: Recovery) {
  expect(recovered).toHaveLength(1);
  const [one] = recovered;
  if (one === undefined) throw new Error('nothing was recovered');
  return one;
}

/** What the state is told of an address; undefined: nothing. */
function recordOf({ records }: Recovery, at: Address = DESK): ResourceState | null | undefined {
  return records.find(({ address }) => address === at)?.resource;
}

/** A reader, and what was asked of it to read. */
function listening(reader: Reader) {
  const asked: { readonly id: string; readonly scope: object; readonly isUnread: boolean }[] = [];
  const read: Reader['read'] = (kind, at, facets) => {
    asked.push({ id: at.id, scope: at.scope, isUnread: at.isUnread === true });
    return reader.read(kind, at, facets);
  };
  return { asked, reader: { ...reader, read } };
}

/** Of which nothing can be read. */
function blind(reader: Reader): Reader {
  return {
    ...reader,
    read: async (_kind, { id, scope }) => ({
      id,
      scope,
      extent: 'nothing',
      document: {},
      record: {},
    }),
  };
}

const desk = (more: JsonObject = {}) =>
  world().live({ agent: [{ id: 'a1', ...SCOPE, name: 'Desk', ...more }] });

describe('the leaves of an update', () => {
  const DONE = 'was updated (id a1)';
  const PART = 'was updated in part (id a1); the rest is still to do';
  const DOUBT =
    'was updated in part (id a1); Callsheet cannot tell whether its secrets arrived, so it will write them again';
  const NOT = 'was not changed (id a1)';

  type Row = {
    readonly title: string;
    readonly before: Leaves;
    readonly intended: Leaves;
    readonly unreadable?: readonly string[];
    readonly live: WorldBuilder;
    /** What was live when the change began. */
    readonly found?: JsonObject;
    readonly sent?: readonly Sent[];
    readonly message: string;
    /** As the state has them from now on; absent: it stays as it is. */
    readonly leaves?: Leaves;
  };

  async function check(row: Row): Promise<void> {
    const { before, intended, unreadable = [], live, found = null, message, leaves } = row;
    const recovery = await settle(
      {
        was: { document: found, resource: resource('a1', { leaves: before }) },
        intended: { leaves: intended, unreadable },
        ...(row.sent ? { sent: row.sent } : {}),
      },
      { live },
    );
    expect(only(recovery)).toMatchObject({ message, isDone: message === DONE, id: 'a1' });
    expect(recordOf(recovery)?.leaves).toEqual(leaves);
  }

  const a = written({ model: 'a' });
  const b = written({ model: 'b' });

  test.each<Row>([
    {
      title: 'are those intended where they are live',
      before: a,
      intended: b,
      live: desk({ model: 'b' }),
      message: DONE,
      leaves: b,
    },
    {
      title: 'are those before where these are live',
      before: a,
      intended: b,
      live: desk({ model: 'a' }),
      message: NOT,
    },
    {
      title: 'are those before where somebody else wrote others since',
      before: a,
      intended: b,
      live: desk({ model: 'c' }),
      message: NOT,
    },
    {
      title: 'are told apart where some took',
      before: written({ model: 'a', status: 'active' }),
      intended: written({ model: 'b', status: 'inactive' }),
      live: desk({ model: 'b', status: 'active' }),
      message: PART,
      leaves: written({ model: 'b', status: 'active' }),
    },
    {
      title: 'lose what was to go and is gone',
      before: written({ model: 'a', greeting_message: 'Hi' }),
      intended: a,
      live: desk({ model: 'a' }),
      message: DONE,
      leaves: a,
    },
    {
      title: 'keep what was to go and is still there',
      before: written({ model: 'a', greeting_message: 'Hi' }),
      intended: a,
      live: desk({ model: 'a', greeting_message: 'Hi' }),
      message: NOT,
    },
    {
      title: 'gain what is new and there',
      before: a,
      intended: written({ model: 'a', greeting_message: 'Hi' }),
      live: desk({ model: 'a', greeting_message: 'Hi' }),
      message: DONE,
      leaves: written({ model: 'a', greeting_message: 'Hi' }),
    },
    {
      title: 'do not gain what is new and not there',
      before: written({ model: 'a' }),
      intended: written({ model: 'b', greeting_message: 'Hi' }),
      live: desk({ model: 'b' }),
      message: PART,
      leaves: b,
    },
    {
      title: 'may be wanted to be nothing',
      before: a,
      intended: written({ model: 'a', greeting_message: null }),
      live: desk({ model: 'a' }),
      message: DONE,
      leaves: written({ model: 'a', greeting_message: null }),
    },
    {
      title: 'that were not to be changed say nothing',
      before: written({ model: 'a', status: 'active' }),
      intended: written({ model: 'b', status: 'active' }),
      live: desk({ model: 'b', status: 'inactive' }),
      message: DONE,
      leaves: written({ model: 'b', status: 'active' }),
    },
    {
      title: 'are as intended where none was to be changed',
      before: a,
      intended: a,
      live: desk({ model: 'c' }),
      message: DONE,
      leaves: a,
    },
    {
      title: 'may be compared by a fingerprint',
      before: { greeting_message: secret('Hi', KEY, 'greeting_message') },
      intended: { greeting_message: secret('Ho', KEY, 'greeting_message') },
      live: desk({ greeting_message: 'Ho' }),
      message: DONE,
      leaves: { greeting_message: secret('Ho', KEY, 'greeting_message') },
    },
    {
      title: 'did not take where their fingerprint is another',
      before: { greeting_message: secret('Hi', KEY, 'greeting_message') },
      intended: { greeting_message: secret('Ho', KEY, 'greeting_message') },
      live: desk({ greeting_message: 'Hi' }),
      message: NOT,
    },
    {
      title: 'did not take where their fingerprint cannot be read',
      before: a,
      intended: { ...a, greeting_message: secret('Ho', 'another key', 'greeting_message') },
      live: desk({ model: 'a', greeting_message: 'Ho' }),
      message: NOT,
    },
  ])('$title', check);

  const payments = (enabled: boolean, more: JsonObject = {}) => ({
    'payments.tool_enabled': enabled,
    ...more,
  });
  const URL = { 'payments.success_url': 'https://harbor.example.test/paid' };
  const paying = (model: string, enabled: boolean, url?: string) =>
    desk({ model }).facets({
      a1: { payment_tool_enabled: enabled, ...(url ? { success_url: url } : {}) },
    });

  describe('that are not told', () => {
    test.each<Row>([
      {
        title: 'while a switch is off took with the rest',
        before: written({ model: 'a', ...payments(true) }),
        intended: written({ model: 'b', ...payments(false, URL) }),
        live: paying('b', false),
        message: DONE,
        leaves: written({ model: 'b', ...payments(false, URL) }),
      },
      {
        title: 'while a switch is off did not take where not all of the rest did',
        before: written({ model: 'a', ...payments(true) }),
        intended: written({ model: 'b', ...payments(false, URL) }),
        live: paying('a', false),
        message: PART,
        leaves: written({ model: 'a', ...payments(false) }),
      },
      {
        title: 'while a switch is off are compared once it is on',
        before: written({ model: 'a', ...payments(true) }),
        intended: written({ model: 'b', ...payments(true, URL) }),
        live: paying('b', true),
        message: PART,
        leaves: written({ model: 'b', ...payments(true) }),
      },
      {
        title: 'by a list took with what it shows',
        before: written({ model: 'a', status: 'active' }),
        intended: written({ model: 'b', status: 'inactive' }),
        live: desk({ model: 'a', status: 'inactive' }).lacking({ getAgent: 'absent' }),
        message: DONE,
        leaves: written({ model: 'b', status: 'inactive' }),
      },
      {
        title: 'by a list did not take where what it shows did not',
        before: written({ model: 'a', status: 'active' }),
        intended: written({ model: 'b', status: 'inactive' }),
        live: desk({ model: 'b', status: 'active' }).lacking({ getAgent: 'absent' }),
        message: NOT,
      },
      {
        title: 'since they are newer than the schema took with the rest',
        before: written({ model: 'a' }),
        intended: written({ model: 'b', brandNew: 1 }),
        live: desk({ model: 'b' }),
        message: DONE,
        leaves: written({ model: 'b', brandNew: 1 }),
      },
      {
        title: 'though newer than the schema are compared where they are',
        before: written({ model: 'a' }),
        intended: written({ model: 'b', brandNew: 1 }),
        live: desk({ model: 'b', brand_new: 2 }),
        message: PART,
        leaves: b,
      },
      {
        title: 'since their path is none took with the rest',
        before: a,
        intended: written({ model: 'b', '[': 1 }),
        live: desk({ model: 'b' }),
        message: DONE,
        leaves: written({ model: 'b', '[': 1 }),
      },
    ])('$title', check);
  });

  describe('with a secret', () => {
    const before = { ...a, [TOKEN]: OLD };
    const intended = { ...b, [TOKEN]: NEW };
    const ok = { id: null };
    const refused = { id: null, ok: false };

    test.each<Row>([
      {
        title: 'took where what went out with it did',
        before,
        intended,
        live: desk({ model: 'b' }),
        message: DONE,
        leaves: intended,
      },
      {
        title: 'did not where nothing did that went out with it',
        before,
        intended,
        live: desk({ model: 'a' }),
        message: NOT,
      },
      {
        title: 'are to be written again where some did that went out with it',
        before: { ...before, ...written({ status: 'active' }) },
        intended: { ...intended, ...written({ status: 'inactive' }) },
        live: desk({ model: 'b', status: 'active' }),
        message: DOUBT,
        leaves: { ...written({ model: 'b', status: 'active' }), [TOKEN]: UNSETTLED },
      },
      {
        title: 'did not take, and is to be written since there was none',
        before: a,
        intended,
        live: desk({ model: 'a' }),
        message: DOUBT,
        leaves: { ...a, [TOKEN]: UNSETTLED },
      },
      {
        title: 'alone is to be written again',
        before: { [TOKEN]: OLD },
        intended: { [TOKEN]: NEW },
        live: desk(),
        message: DOUBT,
        leaves: { [TOKEN]: UNSETTLED },
      },
      {
        title: 'alone took where its request was answered',
        before: { [TOKEN]: OLD },
        intended: { [TOKEN]: NEW },
        live: desk(),
        sent: [{ step: 'update', answer: ok }],
        message: DONE,
        leaves: { [TOKEN]: NEW },
      },
      {
        title: 'alone is to be written again where its request failed',
        before: { [TOKEN]: OLD },
        intended: { [TOKEN]: NEW },
        live: desk(),
        sent: [{ step: 'update', answer: refused }],
        message: DOUBT,
        leaves: { [TOKEN]: UNSETTLED },
      },
      {
        title: 'alone took where one of its requests was answered',
        before: { [TOKEN]: OLD },
        intended: { [TOKEN]: NEW },
        live: desk(),
        sent: [
          { step: 'update', answer: ok },
          { step: 'update', answer: refused },
          { step: 'facet' },
        ],
        message: DONE,
        leaves: { [TOKEN]: NEW },
      },
      {
        title: 'took where its request was answered, whatever somebody else wrote since',
        before,
        intended,
        live: desk({ model: 'c' }),
        sent: [{ step: 'update', answer: ok }],
        message: PART,
        leaves: { ...a, [TOKEN]: NEW },
      },
      {
        title: 'did not take where no request had it',
        before: { ...written(payments(false)), [TOKEN]: OLD },
        intended: { ...written(payments(true)), [TOKEN]: NEW },
        live: paying('a', true),
        sent: [{ step: 'facet', answer: ok }],
        message: PART,
        leaves: { ...written(payments(true)), [TOKEN]: OLD },
      },
      {
        title: 'is still to be written where no request had it, and there was none',
        before: written(payments(false)),
        intended: { ...written(payments(true)), [TOKEN]: NEW },
        live: paying('a', true),
        sent: [{ step: 'facet', answer: ok }],
        message: DOUBT,
        leaves: { ...written(payments(true)), [TOKEN]: UNSETTLED },
      },
      {
        title: 'is not told by what a request of its own writes',
        before: { ...written(payments(false)), [TOKEN]: OLD },
        intended: { ...written(payments(true)), [TOKEN]: NEW },
        live: paying('a', true),
        sent: [{ step: 'update' }, { step: 'facet', answer: ok }],
        message: DOUBT,
        leaves: { ...written(payments(true)), [TOKEN]: UNSETTLED },
      },
      {
        title: 'is told by the rest, whatever became of a request of its own',
        before: { ...before, ...written(payments(true)) },
        intended: { ...intended, ...written(payments(false)) },
        live: paying('b', true),
        sent: [{ step: 'update' }, { step: 'facet' }],
        message: PART,
        leaves: { ...intended, ...written(payments(true)) },
      },
      {
        title: 'is not told by what stood there before the change',
        before,
        intended,
        found: { model: 'b' },
        live: desk({ model: 'b' }),
        message: DOUBT,
        leaves: { ...b, [TOKEN]: UNSETTLED },
      },
      {
        title: 'is told by what did not stand there before the change',
        before,
        intended,
        found: { model: 'a' },
        live: desk({ model: 'b' }),
        message: DONE,
        leaves: intended,
      },
      {
        title: 'that is no longer wanted is forgotten',
        before,
        intended: b,
        unreadable: [],
        live: desk({ model: 'b' }),
        message: DONE,
        leaves: b,
      },
      {
        title: 'that is no longer wanted is forgotten where some of the rest took',
        before: { ...before, ...written({ status: 'active' }) },
        intended: written({ model: 'b', status: 'inactive' }),
        unreadable: [],
        live: desk({ model: 'b', status: 'active' }),
        message: PART,
        leaves: written({ model: 'b', status: 'active' }),
      },
      {
        title: 'that is no longer wanted is no sign that the rest took',
        before,
        intended: b,
        unreadable: [],
        live: desk({ model: 'a' }),
        message: NOT,
      },
    ])('$title', (row) => check({ unreadable: [TOKEN], ...row }));
  });

  describe('that are taken over and not written', () => {
    const moved = { before: written({ model: 'a', status: 'active' }) };
    const wanted = written({ model: 'b', status: 'inactive' });
    test.each<Row>([
      {
        title: 'are as intended where the rest took in part: a secret that is let alone',
        ...moved,
        intended: { ...wanted, 'unchecked.key': { unknown: true } },
        live: desk({ model: 'b', status: 'active' }),
        message: PART,
        leaves: {
          ...written({ model: 'b', status: 'active' }),
          'unchecked.key': { unknown: true },
        },
      },
      {
        title: 'are as intended where the rest took in part: what is never returned',
        ...moved,
        intended: { ...wanted, [TOKEN]: OLD },
        live: desk({ model: 'b', status: 'active' }),
        message: PART,
        leaves: { ...written({ model: 'b', status: 'active' }), [TOKEN]: OLD },
      },
      {
        title: 'are no sign that the change took',
        ...moved,
        intended: { ...wanted, [TOKEN]: OLD },
        live: desk({ model: 'a', status: 'active' }),
        message: NOT,
      },
    ])('$title', check);
  });
});

describe('an update', () => {
  const was = {
    resource: resource('a1', { leaves: written({ model: 'a' }), protect: true, pin: PIN }),
  };
  const intended = { name: 'Front desk', leaves: written({ model: 'b' }) };
  const updated_at = '2026-03-02T08:31:00Z';

  test('that took is remembered as it was intended, with what is live now', async () => {
    const live = desk({ model: 'b', updated_at });
    const recovery = await settle({ was: { ...was, pin: PIN }, intended }, { live });
    const read = await live
      .reader()
      .read(kindNamed('agent'), { id: 'a1', scope: SCOPE }, new Set());
    if (read === undefined) throw new Error('there is no agent');
    expect(recovery.records).toEqual([
      {
        type: 'resource',
        address: DESK,
        resource: {
          kind: 'agent',
          id: 'a1',
          scope: SCOPE,
          name: 'Front desk',
          leaves: intended.leaves,
          pin: buildPin(kindNamed('agent'), read, 40),
          protect: false,
        },
      },
    ]);
    expect(recovery.state.resources[DESK]).toEqual(recordOf(recovery));
  });

  test('that took in part keeps its pin and its protection', async () => {
    const wanted = { ...intended, leaves: written({ model: 'b', status: 'inactive' }) };
    const recovery = await settle(
      { was: { ...was, pin: PIN }, intended: wanted },
      { live: desk({ model: 'b', updated_at }) },
    );
    expect(recordOf(recovery)).toMatchObject({ name: 'Front desk', pin: PIN, protect: true });
  });

  test('of what the state did not know has the pin of what is live where it took in part', async () => {
    const wanted = { protect: true, leaves: written({ model: 'b', status: 'inactive' }) };
    const entry = { id: 41, action: 'updated', actor: null, source: null, at: null };
    const live = desk({ model: 'b', updated_at }).history({
      a1: [{ ...entry, reverted_from_id: null }],
    });
    const recovery = await settle({ intended: wanted }, { live });
    expect(recordOf(recovery)).toMatchObject({
      leaves: written({ model: 'b' }),
      pin: { updated_at, history_id: null },
      protect: true,
    });
  });

  test('of what is gone leaves it to the plan', async () => {
    const recovery = await settle({ was, intended }, { live: world() });
    expect(only(recovery)).toMatchObject({
      isDone: false,
      severity: 'info',
      message: 'is gone (id a1)',
    });
    expect(recovery.records).toEqual([]);
  });

  test.each<[string, Change, Given]>([
    ['what cannot be read', { was, intended }, { reader: blind(world().reader()) }],
    ['what the journal does not describe', { was }, { live: desk({ model: 'b' }) }],
    ['what the journal intends to forget', { was, intended: null }, { live: desk() }],
  ])('of %s is not known to have taken', async (_title, change, given) => {
    const recovery = await settle(change, given);
    expect(only(recovery)).toMatchObject({
      isDone: false,
      severity: 'warning',
      message: 'cannot be read, so Callsheet cannot tell whether it was changed (id a1)',
    });
    expect(recovery.records).toEqual([]);
  });

  const elsewhere = { organization_id: 'elsewhere' };
  test.each<[string, Change, object]>([
    [
      'the state says',
      { was: { resource: resource('a1', { scope: elsewhere }) }, intended: {} },
      elsewhere,
    ],
    ['the change says, where the state does not', { intended: { scope: elsewhere } }, elsewhere],
    ['nobody says, where the journal does not', {}, {}],
  ])('is looked for where %s', async (_title, change, scope) => {
    const { asked, reader } = listening(world().reader());
    await settle(change, { reader });
    expect(asked).toEqual([{ id: 'a1', scope, isUnread: false }]);
  });
});

/** An entry of a history: an update by the run's account unless said otherwise. */
function entry(id: number, more: Partial<HistoryEntry> = {}): HistoryEntry {
  const own = { actor: 'api:account-1', source: 'dashboard-api', at: null };
  return { id, action: 'updated', reverted_from_id: null, ...own, ...more };
}

describe('the history entry of an update', () => {
  const theirs = { actor: 'user:kim', source: 'dashboard' };
  const anybody = { account: '' };
  type Row = readonly [string, readonly HistoryEntry[], number | null, Change & Given];

  test.each<Row>([
    ['is none where there is none since', [entry(39), entry(40)], null, {}],
    ['is the one that the run signed', [entry(40), entry(41)], 41, {}],
    ['is not one that somebody else signed', [entry(41, theirs)], null, {}],
    ['is the run’s where somebody wrote on top of it', [entry(41), entry(42, theirs)], 41, {}],
    ['is not told where somebody wrote below it', [entry(41, theirs), entry(42)], null, {}],
    ['is not told where there are more than the run made', [entry(41), entry(42)], null, {}],
    [
      'is the newest of those that the run made',
      [entry(41), entry(42)],
      42,
      { sent: [{ step: 'update' }, { step: 'update' }] },
    ],
    ['may be a return to a version', [entry(41, { action: 'reverted' })], 41, {}],
    ['is anybody’s where the account is unknown', [entry(41, theirs)], 41, anybody],
  ])('%s', async (_title, entries, after, more) => {
    const recovery = await settle(
      {
        was: { pin: PIN, resource: resource('a1', { leaves: {} }) },
        intended: { leaves: written({ model: 'b' }) },
        ...more,
      },
      { live: desk({ model: 'b' }).history({ a1: entries }), ...more },
    );
    expect(recovery.ledger[0]?.history).toEqual({ before: 40, after });
    expect(recordOf(recovery)?.pin?.history_id).toBe(after ?? 40);
  });

  test('is the first where there was none before', async () => {
    const recovery = await settle(
      { intended: { leaves: written({ model: 'b' }) } },
      { live: desk({ model: 'b' }).history({ a1: [entry(1)] }) },
    );
    expect(recovery.ledger[0]?.history).toEqual({ before: null, after: 1 });
    expect(recordOf(recovery)?.pin?.history_id).toBe(1);
  });
});

const REMINDER = 'sms_template.reminder';
const template = (id: string, more: JsonObject = {}) => ({
  id,
  ...SCOPE,
  name: 'Reminder',
  body: 'See you',
  ...more,
});
const templates = (...records: readonly JsonObject[]) => world().live({ sms_template: records });
const known = (id: string, more: Partial<ResourceState> = {}) =>
  resource(id, {
    kind: 'sms_template',
    name: 'Reminder',
    leaves: written({ body: 'Hello' }),
    ...more,
  });

/** What becomes of a template that is to be made. */
const MAKING = {
  address: REMINDER,
  was: { id: null },
  intended: {
    name: 'Reminder',
    key: keyOf({ ...SCOPE, name: 'Reminder' }),
    leaves: written({ name: 'Reminder', body: 'See you' }),
  },
  sent: [{ step: 'create' }],
} as const satisfies Change;

describe('a removal', () => {
  const was = { id: 't1', resource: known('t1') };
  const REMOVAL: Change = { address: REMINDER, was, intended: null, sent: [{ step: 'delete' }] };

  test('is settled by a 404', async () => {
    const recovery = await settle(REMOVAL, { live: templates() });
    expect(only(recovery)).toMatchObject({
      id: 't1',
      isDone: true,
      severity: 'info',
      message: 'was deleted (id t1)',
    });
    expect(recovery.records).toEqual([{ type: 'resource', address: REMINDER, resource: null }]);
    expect(recovery.state.resources).toEqual({});
  });

  test('did not take where it is still there', async () => {
    const recovery = await settle(REMOVAL, { live: templates(template('t1')) });
    expect(only(recovery)).toMatchObject({
      id: 't1',
      isDone: false,
      severity: 'info',
      message: 'was not deleted (id t1)',
    });
    expect(recovery.state.resources).toEqual({ [REMINDER]: known('t1') });
  });

  test('of what also was written to is one', async () => {
    const sent: Sent[] = [{ step: 'update' }, { step: 'delete' }];
    const recovery = await settle({ ...REMOVAL, sent }, { live: templates() });
    expect(only(recovery).message).toBe('was deleted (id t1)');
  });

  const elsewhere = { organization_id: 'elsewhere' };
  test.each<[string, Change, object]>([
    [
      'by the id and where the state says',
      { ...REMOVAL, was: { ...was, resource: known('t1', { scope: elsewhere }) } },
      { id: 't1', scope: elsewhere },
    ],
    [
      'where the change says, where the state does not',
      { ...REMOVAL, was: { id: 't1' }, intended: { scope: elsewhere } },
      { id: 't1', scope: elsewhere },
    ],
    [
      'by the id of the last request, where there is no other',
      {
        ...REMOVAL,
        was: { id: null },
        sent: [
          { step: 'delete', id: 't6' },
          { step: 'delete', id: 't7' },
          { step: 'delete', id: 't8' },
        ],
      },
      { id: 't8', scope: {} },
    ],
  ])('is looked for %s', async (_title, change, asked) => {
    const listener = listening(templates().reader());
    const recovery = await settle(change, { reader: listener.reader });
    expect(listener.asked).toEqual([{ ...asked, isUnread: false }]);
    expect(only(recovery).id).toBe(listener.asked[0]?.id);
  });
});

describe('a making', () => {
  const refused = { id: null, ok: false };
  const at = (minutes: number) =>
    new Date(Date.parse('2026-03-02T08:30Z') + minutes * 60_000).toISOString();
  const FOUND = 'was created (id t9)';
  const NONE = 'was not created';

  type Row = {
    readonly title: string;
    readonly sent?: readonly Sent[];
    readonly live: readonly JsonObject[];
    readonly known?: State['resources'];
    readonly id: string | null;
  };
  test.each<Row>([
    {
      title: 'brought the id that was answered',
      sent: [{ step: 'create', answer: { id: 't9' } }],
      live: [template('t8'), template('t9')],
      id: 't9',
    },
    {
      title: 'brought the last of several ids',
      sent: [
        { step: 'create', answer: { id: 't8' } },
        { step: 'create', answer: { id: 't9' } },
        { step: 'create', answer: { id: null } },
        { step: 'create', answer: { id: 't7', ok: false } },
        { step: 'create' },
      ],
      live: [template('t7'), template('t8'), template('t9')],
      id: 't9',
    },
    {
      title: 'brought an id whatever other requests were answered',
      sent: [
        { step: 'create', answer: { id: 't9' } },
        { step: 'update', answer: { id: 't8' } },
      ],
      live: [template('t8'), template('t9')],
      id: 't9',
    },
    {
      title: 'is not there where what was answered is gone, whatever else is',
      sent: [{ step: 'create', answer: { id: 't9' } }],
      live: [template('t8')],
      id: null,
    },
    { title: 'without an answer is found by its name', live: [template('t9')], id: 't9' },
    {
      title: 'that failed is found by its name',
      sent: [{ step: 'create', answer: refused }],
      live: [template('t9')],
      id: 't9',
    },
    {
      title: 'is not found under another name',
      live: [template('t9', { name: 'Other' })],
      id: null,
    },
    {
      title: 'is not what was there before the first request',
      sent: [
        { step: 'update', at: at(-30) },
        { step: 'create', at: at(0) },
        { step: 'create', at: at(60) },
      ],
      live: [template('t8', { created_at: at(-15) }), template('t9', { created_at: at(15) })],
      id: 't9',
    },
    {
      title: 'may be as old as its request, and older by as much as clocks differ',
      live: [template('t8', { created_at: at(-6) }), template('t9', { created_at: at(-5) })],
      id: 't9',
    },
    {
      title: 'is not what another address stands for',
      live: [template('t8'), template('t9')],
      known: { 'sms_template.other': known('t8') },
      id: 't9',
    },
    {
      title: 'may have the id of a resource of another kind',
      live: [template('t9')],
      known: { [DESK]: resource('t9') },
      id: 't9',
    },
    {
      title: 'may be what its own address stands for',
      live: [template('t9')],
      known: { [REMINDER]: known('t9') },
      id: 't9',
    },
  ])('$title', async ({ sent = [{ step: 'create' }], live, known: resources = {}, id }) => {
    const recovery = await settle(
      { ...MAKING, sent },
      { live: templates(...live), known: resources },
    );
    expect(only(recovery)).toMatchObject({
      id,
      isDone: id !== null,
      severity: 'info',
      message: id === null ? NONE : FOUND,
    });
    expect(recordOf(recovery, REMINDER)?.id).toBe(id ?? undefined);
  });

  test('is remembered as it was intended, with what is live', async () => {
    const intended = { ...MAKING.intended, protect: true };
    const record = template('t9', { updated_at: at(1) });
    const recovery = await settle({ ...MAKING, intended }, { live: templates(record) });
    expect(recordOf(recovery, REMINDER)).toEqual({
      kind: 'sms_template',
      id: 't9',
      scope: SCOPE,
      name: 'Reminder',
      leaves: intended.leaves,
      pin: {
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        updated_at: at(1),
        history_id: null,
      },
      protect: true,
    });
    expect(recovery.state.resources).toEqual({ [REMINDER]: recordOf(recovery, REMINDER) });
    expect(recovery.ledger[0]?.history).toBeNull();
  });

  test('that has the name and is not as it was sent may be a stranger’s', async () => {
    const live = templates(template('t9', { body: 'Bye' }));
    const recovery = await settle(MAKING, { live });
    expect(only(recovery)).toMatchObject({
      isDone: false,
      severity: 'warning',
      message:
        'may have been created: another sms template may have its name: t9, where body is not as sent. If it is there, name its id in lifecycle.adopt',
    });
    expect(recovery.records).toEqual([]);
  });

  test('of which nothing but the name can be compared may be a stranger’s', async () => {
    const intended = { ...MAKING.intended, leaves: written({ name: 'Reminder' }) };
    const live = templates(template('t9', { body: 'Bye' }));
    const recovery = await settle({ ...MAKING, intended }, { live });
    expect(only(recovery).message).toContain('t9, of which nothing but its name can be compared');
    expect(recovery.records).toEqual([]);
  });

  test('whose request was refused was not, whoever has its name', async () => {
    const answer = { id: null, ok: false, refused: true } as const;
    const { asked, reader } = listening(templates(template('t9')).reader());
    const recovery = await settle({ ...MAKING, sent: [{ step: 'create', answer }] }, { reader });
    expect(only(recovery)).toMatchObject({ isDone: false, message: 'was not created' });
    expect([recovery.records, asked]).toEqual([[], []]);
  });

  test('has the history entry that it began with', async () => {
    const change: Change = {
      ...MAKING,
      address: DESK,
      sent: [{ step: 'create', answer: { id: 'a1' } }],
    };
    const live = desk({ name: 'Reminder', body: 'See you' }).history({ a1: [entry(3)] });
    const recovery = await settle({ ...change, intended: { leaves: {} } }, { live });
    expect(recovery.ledger[0]?.history).toEqual({ before: null, after: 3 });
    expect(recordOf(recovery)?.pin?.history_id).toBe(3);
  });

  test('that cannot be read is taken to be as intended', async () => {
    const recovery = await settle(
      { ...MAKING, sent: [{ step: 'create', answer: { id: 't9' } }] },
      { reader: blind(templates().reader()) },
    );
    expect(only(recovery)).toMatchObject({ isDone: true, message: FOUND });
    expect(recordOf(recovery, REMINDER)).toMatchObject({
      leaves: MAKING.intended.leaves,
      pin: null,
    });
  });

  test('that is not found is not read', async () => {
    const { asked, reader } = listening(templates(template('t9', { name: 'Other' })).reader());
    await settle(MAKING, { reader });
    expect(asked).toEqual([]);
  });

  test('is read as what was never read before', async () => {
    const { asked, reader } = listening(templates(template('t9')).reader());
    await settle(MAKING, { reader });
    expect(asked).toEqual([{ id: 't9', scope: SCOPE, isUnread: true }]);
  });

  test.each<[string, Change, Given, string]>([
    [
      'the journal does not describe it',
      { address: REMINDER, was: { id: null }, sent: MAKING.sent },
      { live: templates(template('t9')) },
      'its journal does not record the intended configuration',
    ],
    [
      'the platform does not list its kind',
      MAKING,
      { live: templates(template('t9')).lacking({ listSmsTemplates: 'absent' }) },
      'the platform has no list to search',
    ],
  ])('is unknown where %s', async (_title, change, given, why) => {
    const recovery = await settle(change, given);
    expect(only(recovery)).toMatchObject({
      id: null,
      isDone: false,
      severity: 'warning',
      message: `may have been created: ${why}. If it is there, name its id in lifecycle.adopt`,
    });
    expect(recovery.records).toEqual([]);
  });

  test('that may be one of several is for a person to tell', async () => {
    const recovery = await settle(MAKING, { live: templates(template('t8'), template('t9')) });
    expect(only(recovery)).toMatchObject({
      id: null,
      isDone: false,
      severity: 'warning',
      message:
        'may have been created: 2 live resources with its name exist since then, t8, t9. Name the id of the right one in lifecycle.adopt, or delete the duplicates in the dashboard',
      candidates: ['t8', 't9'],
    });
    expect(recovery.records).toEqual([]);
  });

  test('of what is told by id has no candidates', async () => {
    const recovery = await settle(MAKING, { live: templates(template('t9')) });
    expect(only(recovery).candidates).toBeUndefined();
  });
});

describe('an answer to a creation that names what another resource has', () => {
  test("is nobody's: nothing is recorded, and a person is to look", async () => {
    const recovery = await settle(
      { ...MAKING, sent: [{ step: 'create', answer: { id: 't9' } }] },
      { live: templates(template('t9')), known: { 'sms_template.other': known('t9') } },
    );
    expect(only(recovery)).toMatchObject({
      id: null,
      severity: 'warning',
      message: expect.stringContaining(
        'the platform answered with the id t9, which another resource already has',
      ),
    });
    expect(recovery.records).toEqual([]);
  });

  test('is of the first of two changes that were answered with it', async () => {
    const made = { ...MAKING, sent: [{ step: 'create', answer: { id: 't9' } }] } as const;
    const [start, ...first] = journal(made, 'account-1');
    const [, ...second] = journal({ ...made, address: 'sms_template.other' }, 'account-1');
    const later = second.map((entry) =>
      'seq' in entry ? { ...entry, seq: entry.seq + 10 } : entry,
    );
    const entries = [...(start ? [start] : []), ...first, ...later];
    const live = templates(template('t9'));
    const deps = { reader: live.reader(), world: live.given() };
    const recovery = await recoverRun(entries, replay(stateWith({}), entries), deps);
    expect(recovery?.records.map(({ address }) => address)).toEqual([REMINDER]);
    expect(Object.keys(recovery?.state.resources ?? {})).toEqual([REMINDER]);
  });
});

describe('a replacement', () => {
  const was = { id: 't1', resource: known('t1') };
  const REPLACEMENT: Change = {
    ...MAKING,
    was,
    sent: [{ step: 'create', answer: { id: 't2' } }, { step: 'delete' }],
  };
  const unmade: Change = { ...REPLACEMENT, sent: [{ step: 'delete' }, { step: 'create' }] };
  const SPARE = `${REMINDER}.replaced`;

  test('of which the old one is gone is done', async () => {
    const recovery = await settle(REPLACEMENT, { live: templates(template('t2')) });
    expect(only(recovery)).toMatchObject({ isDone: true, message: 'was created (id t2)' });
    expect(recovery.state.resources).toEqual({ [REMINDER]: recordOf(recovery, REMINDER) });
    expect(recordOf(recovery, REMINDER)).toMatchObject({
      id: 't2',
      leaves: MAKING.intended.leaves,
    });
    expect(recovery.ledger[0]).toMatchObject({ action: 'replace', status: 'done', id: 't2' });
  });

  test('of which the old one is still there keeps that under an address of its own', async () => {
    const recovery = await settle(REPLACEMENT, {
      live: templates(template('t1'), template('t2')),
    });
    expect(only(recovery)).toMatchObject({
      id: 't2',
      isDone: false,
      message: `was created (id t2); the old resource (id t1) still exists, and is tracked as ${SPARE} until it is deleted`,
    });
    expect(recordOf(recovery, SPARE)).toEqual(known('t1'));
    // Its own record settles the change, so it comes last.
    expect(recovery.records.map(({ address }) => address)).toEqual([SPARE, REMINDER]);
    expect(Object.keys(recovery.state.resources).sort()).toEqual([REMINDER, SPARE]);
  });

  test('of which the old one has that address already keeps it there, settled by its own record', async () => {
    const recovery = await settle(REPLACEMENT, {
      live: templates(template('t1'), template('t2')),
      known: { [REMINDER]: known('t1'), [SPARE]: known('t1') },
    });
    expect(Object.keys(recovery.state.resources).sort()).toEqual([REMINDER, SPARE]);
    expect(recovery.records.map(({ address }) => address)).toEqual([SPARE, REMINDER]);
  });

  test('keeps nothing that the state did not know', async () => {
    const recovery = await settle(
      { ...REPLACEMENT, was: { id: 't1' } },
      { live: templates(template('t1'), template('t2')) },
    );
    expect(only(recovery)).toMatchObject({ isDone: true, message: 'was created (id t2)' });
    expect(recovery.records.map(({ address }) => address)).toEqual([REMINDER]);
  });

  test.each<[string, Sent]>([
    [
      'brought the id that was there',
      { step: 'create', operation: 'createSmsTemplate', answer: { id: 't1' } },
    ],
    ['wrote anew what was there', { step: 'again', answer: { id: 't2' } }],
  ])('keeps nothing where a request %s', async (_title, sent) => {
    const recovery = await settle(
      { ...REPLACEMENT, sent: [sent] },
      { live: templates(template('t1'), template('t2')) },
    );
    expect(only(recovery)).toMatchObject({
      isDone: true,
      message: `was created (id ${sent.answer?.id})`,
    });
    expect(recovery.records.map(({ address }) => address)).toEqual([REMINDER]);
  });

  test('keeps nothing of a kind that nobody can delete', async () => {
    const voice = (id: string) => ({ id, ...SCOPE, name: 'Harbor' });
    const address = 'custom_voice.harbor';
    const recovery = await settle(
      {
        address,
        was: { id: 'v1', resource: known('v1', { kind: 'custom_voice' }) },
        intended: { name: 'Harbor', leaves: written({ name: 'Harbor' }) },
        sent: [{ step: 'create', answer: { id: 'v2' } }],
      },
      { live: world().live({ custom_voice: [voice('v1'), voice('v2')] }) },
    );
    expect(only(recovery)).toMatchObject({ isDone: true, message: 'was created (id v2)' });
    expect(recovery.records.map(({ address: one }) => one)).toEqual([address]);
  });

  test('is found beside the old one, and is not older than that', async () => {
    const [older, old] = ['2026-03-02T08:31:00Z', '2026-03-02T08:32:00Z'];
    const recovery = await settle(
      { ...REPLACEMENT, sent: [{ step: 'create' }] },
      {
        live: templates(
          template('t0', { created_at: older }),
          template('t1', { created_at: old }),
          template('t2', { created_at: old }),
        ),
      },
    );
    expect(only(recovery).id).toBe('t2');
  });

  test('of which nothing new is there says what became of the old one', async () => {
    const gone = await settle(unmade, { live: templates() });
    expect(only(gone)).toMatchObject({
      isDone: false,
      message: 'was deleted (id t1); its replacement was not created yet',
    });
    expect(recordOf(gone, REMINDER)).toBeNull();
    const there = await settle(unmade, { live: templates(template('t1')) });
    expect(only(there)).toMatchObject({ isDone: false, message: 'was not deleted (id t1)' });
  });

  test('that did not come to delete the old one is not made', async () => {
    const recovery = await settle(
      { ...REPLACEMENT, sent: [{ step: 'create' }] },
      { live: templates(template('t1')) },
    );
    expect(only(recovery)).toMatchObject({ id: 't1', isDone: false, message: 'was not created' });
    expect(recovery.records).toEqual([]);
  });
});

describe('pages of which a journal says the same, as it leaves credentials out', () => {
  const scope = { knowledge_base_id: 'kb' };
  const pageAt = (token: string) => `https://x.test/faq?token=${token}`;
  const addresses = { one: 'knowledge_source.kb.one', two: 'knowledge_source.kb.two' };

  /** Both were asked for, and the run died before it had an answer. */
  async function settlePages(live: readonly JsonObject[]): Promise<Recovery> {
    const made = world().live({ knowledge_source: live });
    const entries = Object.entries(addresses).flatMap(([token, address], index) => {
      const url: AppliedLeaf = {
        fingerprint: fingerprinter(KEY).of(address, 'url', pageAt(token)),
      };
      const change: Change = {
        address,
        was: { id: null },
        intended: {
          scope,
          name: token,
          key: keyOf({ ...scope, url: pageAt('(secret)') }),
          leaves: { url },
        },
        sent: [{ step: 'create', operation: 'createKnowledgeSource', seq: index + 1 }],
      };
      return journal(change, 'account-1').slice(index === 0 ? 0 : 1);
    });
    const replayed = replay(stateWith({}), entries);
    const deps = { reader: made.reader(), world: made.given() };
    const recovery = await recoverRun(entries, replayed, deps);
    if (recovery === undefined) throw new Error('nothing was settled');
    return recovery;
  }
  const page = (id: string, token: string) => ({ id, ...scope, url: pageAt(token) });

  test('are told apart', async () => {
    const recovery = await settlePages([page('s1', 'one'), page('s2', 'two')]);
    expect(recordOf(recovery, addresses.one)?.id).toBe('s1');
    expect(recordOf(recovery, addresses.two)?.id).toBe('s2');
  });

  test('are not taken for each other', async () => {
    const recovery = await settlePages([page('s1', 'one')]);
    expect(recordOf(recovery, addresses.one)?.id).toBe('s1');
    expect(recordOf(recovery, addresses.two)).toBeUndefined();
    expect(recovery.recovered.map(({ message }) => message)).toContain('was not created');
  });
});

test('of what a list has, only what has the name that is sought is asked whose it is', async () => {
  const kind = kindNamed('agent');
  const names = ['Desk', 'Line', 'Desk'];
  const more = { ...SCOPE, status: 'active' };
  const agents = names.map((name, index) => ({ id: `a${index}`, ...more, name }));
  const reader = world().live({ agent: agents }).reader();
  const asked: string[] = [];
  const found = await findCreated(
    {
      address: 'agent.desk',
      kind,
      scope: SCOPE,
      isNamed: (key) => key === keyOf({ ...SCOPE, name: 'Desk' }),
      leaves: { status: { value: 'active' } },
      world: world().given(),
      read: (id) => reader.read(kind, { id, scope: SCOPE }, new Set()),
      since: '2026-03-02T08:30:00.000Z',
      old: null,
      isTaken: (id) => asked.push(id) === 1,
    },
    reader,
  );
  expect([found?.made.map(({ id }) => id), asked]).toEqual([['a2'], ['a0', 'a2']]);
});

describe('a document', () => {
  const PRICES = 'knowledge_source.prices';
  const scope = { knowledge_base_id: 'kb' };
  const THEN = { digest: 'sha256:then' };
  const NOW = { digest: 'sha256:now' };
  const source = (id: string, more: JsonObject = {}) => ({
    id,
    ...scope,
    name: 'prices.pdf',
    ...more,
  });
  const INGESTED = { status: 'active', chunk_count: 3 };
  const live = (...records: readonly JsonObject[]) => world().live({ knowledge_source: records });
  const document = (id: string, unfinished?: readonly string[]) =>
    resource(id, {
      kind: 'knowledge_source',
      scope,
      leaves: { file: THEN },
      ...(unfinished ? { unfinished } : {}),
    });
  const [DECLARE, UPLOAD, QUEUE] = [
    'createKnowledgeSource',
    'upload',
    'enqueueKnowledgeSource',
  ] as const;
  const sending = (
    step: Sent['step'],
    answered: readonly string[],
    open: readonly string[] = [],
  ) => [
    ...answered.map((operation) => ({
      step,
      operation,
      answer: { id: operation === DECLARE ? 's1' : null },
    })),
    ...open.map((operation) => ({ step, operation })),
  ];
  const change = (sent: readonly Sent[], resourceBefore?: ResourceState): Change => ({
    address: PRICES,
    was: { id: resourceBefore?.id ?? null, resource: resourceBefore ?? null },
    intended: {
      scope,
      name: 'prices.pdf',
      key: keyOf({ ...scope, name: 'prices.pdf' }),
      leaves: { file: NOW },
      unreadable: ['file'],
    },
    sent,
  });
  const REST = ', but is not complete yet';

  type Row = {
    readonly title: string;
    readonly sent: readonly Sent[];
    readonly before?: ResourceState;
    readonly live: readonly JsonObject[];
    readonly message: string;
    /** Absent where nothing of it is missing. */
    readonly unfinished?: readonly string[];
    readonly file: AppliedLeaf;
  };
  test.each<Row>([
    {
      title: 'that was queued is done',
      sent: sending('create', [DECLARE, UPLOAD, QUEUE]),
      live: [source('s1')],
      message: 'was created (id s1)',
      file: NOW,
    },
    {
      title: 'that was declared and uploaded is still to be queued',
      sent: sending('create', [DECLARE, UPLOAD], [QUEUE]),
      live: [source('s1')],
      message: `was created (id s1)${REST}`,
      unfinished: [DECLARE, UPLOAD],
      file: NOW,
    },
    {
      title: 'that is there without an answer has all still to be done',
      sent: sending('create', [], [DECLARE]),
      live: [source('s1', { created_at: '2026-03-02T09:00:00Z' })],
      message: `was created (id s1)${REST}`,
      unfinished: [],
      file: UNSETTLED,
    },
    {
      title: 'that is ingested is done, whatever was not answered',
      sent: sending('create', [DECLARE], [UPLOAD]),
      live: [source('s1', INGESTED)],
      message: 'was created (id s1)',
      file: NOW,
    },
    {
      title: 'that was declared twice has what was answered since',
      sent: sending('create', [DECLARE, UPLOAD, DECLARE], [UPLOAD]),
      live: [source('s1')],
      message: `was created (id s1)${REST}`,
      unfinished: [DECLARE],
      file: NOW,
    },
    {
      title: 'that took the place of another has nothing of that one’s making',
      sent: sending('create', [DECLARE], [UPLOAD]),
      before: document('s0', [DECLARE, UPLOAD]),
      live: [source('s0'), source('s1')],
      message: `was created (id s1)${REST}`,
      unfinished: [DECLARE],
      file: NOW,
    },
    {
      title: 'that took the place of another and is ingested is done, too',
      sent: sending('create', [DECLARE], [UPLOAD]),
      before: document('s0', [DECLARE, UPLOAD]),
      live: [source('s0'), source('s1', INGESTED)],
      message: 'was created (id s1)',
      file: NOW,
    },
    {
      title: 'that an earlier run had uploaded is done once it was queued',
      sent: [{ step: 'again', operation: QUEUE, answer: { id: 's1' } }],
      before: document('s1', [DECLARE, UPLOAD]),
      live: [source('s1')],
      message: 'was created (id s1)',
      file: NOW,
    },
    {
      title: 'that an earlier run had uploaded has the old one’s content until it is queued',
      sent: sending('again', [DECLARE], [UPLOAD]),
      before: document('s1', [DECLARE, UPLOAD]),
      live: [source('s1', INGESTED)],
      message: `was created (id s1)${REST}`,
      unfinished: [DECLARE],
      file: THEN,
    },
    {
      title: 'that no earlier run had begun is not done by its last request alone',
      sent: [{ step: 'again', operation: QUEUE, answer: { id: 's1' } }],
      before: document('s1'),
      live: [source('s1')],
      message: `was created (id s1)${REST}`,
      unfinished: [QUEUE],
      file: THEN,
    },
  ])('$title', async ({ sent, before: was, live: records, message, unfinished, file: content }) => {
    const recovery = await settle(change(sent, was), { live: live(...records) });
    expect(only(recovery)).toMatchObject({
      id: 's1',
      isDone: unfinished === undefined,
      message,
    });
    const one = recordOf(recovery, PRICES);
    expect(one?.leaves).toEqual({ file: content });
    expect(one?.unfinished).toEqual(unfinished);
    expect(Object.keys(one ?? {}).includes('unfinished')).toBe(unfinished !== undefined);
  });

  const since = (minute: number) => ({ created_at: `2026-03-02T08:3${minute}:00Z` });
  const versions = [source('s0', since(1)), source('s1', since(3)), source('s2', since(2))];
  test.each<[string, readonly JsonObject[]]>([
    ['whatever comes first', versions],
    ['whatever comes last', versions.toReversed()],
    ['where an older one does not tell its age', [source('s0'), source('s1', since(1))]],
    ['where an older one listed later does not', [source('s1', since(1)), source('s0')]],
  ])('of which there are several versions is the newest, %s', async (_title, records) => {
    const recovery = await settle(change([{ step: 'create', operation: DECLARE }]), {
      live: live(...records),
    });
    expect(only(recovery).id).toBe('s1');
    expect(only(recovery).candidates).toBeUndefined();
  });

  test('of which no new version is there was not written anew', async () => {
    const recovery = await settle(change(sending('again', [], [DECLARE]), document('s1')), {
      live: live(source('s1', INGESTED)),
    });
    expect(only(recovery)).toMatchObject({
      id: 's1',
      isDone: false,
      severity: 'info',
      message: 'was not written again (id s1)',
    });
    expect(recovery.records).toEqual([]);
  });

  test('that was there before, and that the run came to write anew, has the id of that', async () => {
    const sent: Sent[] = [
      { step: 'create', operation: DECLARE, answer: { id: null, ok: false } },
      { step: 'again', operation: DECLARE, id: 's0' },
    ];
    const recovery = await settle(change(sent), {
      live: live(source('s0', { created_at: '2025-01-01T00:00:00Z' })),
    });
    expect(only(recovery)).toMatchObject({
      id: 's0',
      isDone: false,
      message: 'was not written again (id s0)',
    });
  });

  test('that the state did not know has nothing of what was there before', async () => {
    const { was, ...rest } = change(sending('again', [DECLARE], [UPLOAD]));
    const recovery = await settle(
      { ...rest, was: { ...was, id: 's1' } },
      { live: live(source('s1', INGESTED)) },
    );
    expect(only(recovery).message).toBe(`was created (id s1)${REST}`);
    expect(recordOf(recovery, PRICES)).toMatchObject({
      leaves: { file: NOW },
      unfinished: [DECLARE],
    });
  });

  test('that cannot be read is taken to be as intended, be it unfinished', async () => {
    const recovery = await settle(change(sending('again', [DECLARE], [UPLOAD]), document('s1')), {
      reader: blind(live().reader()),
    });
    expect(recordOf(recovery, PRICES)).toMatchObject({
      leaves: { file: NOW },
      pin: null,
      unfinished: [DECLARE],
    });
  });
});

describe('the operations of a making that were answered', () => {
  type Step = readonly [operation: string, ok?: boolean, step?: Sent['step']];

  test.each<[string, readonly Step[], readonly string[]]>([
    ['are none where none was sent', [], []],
    ['are those that were', [['declare', true], ['upload', false], ['queue']], ['declare']],
    [
      'are those since it last began',
      [
        ['declare', true],
        ['upload', true],
        ['declare', true],
      ],
      ['declare'],
    ],
    ['are none where its last beginning was not', [['declare', true], ['declare']], []],
    [
      'are none of other steps',
      [
        ['update', true, 'update'],
        ['declare', true, 'again'],
        ['update', true, 'facet'],
      ],
      ['declare'],
    ],
  ])('%s', (_title, steps, expected) => {
    const sent = steps.map(
      ([operation, ok, step = 'create']): Sent => ({
        step,
        operation,
        ...(ok === undefined ? {} : { answer: { id: null, ok } }),
      }),
    );
    const [open] = replay(undefined, journal({ sent }, '')).open;
    expect(listAnswered(open?.requests ?? [])).toEqual(expected);
  });
});

describe('a run that died', () => {
  const UPDATE: Change = {
    was: { resource: resource('a1', { leaves: written({ model: 'a' }) }) },
    intended: { leaves: written({ model: 'b' }) },
  };

  test('is there only where a journal says that it began', async () => {
    const deps = { reader: world().reader(), world: world().given() };
    expect(await recoverRun([], replay(stateWith({}), []), deps)).toBeUndefined();
    const begun = { ...replay(undefined, [began('r1')]), state: undefined };
    expect(await recoverRun([], begun, deps)).toBeUndefined();
  });

  test('is told by its name and its journal, with what became of each change', async () => {
    const recovery = await settle(UPDATE, { live: desk({ model: 'b' }) });
    expect(recovery.run).toBe('r1');
    expect(recovery.entries).toEqual(journal(UPDATE, 'account-1'));
    expect(recoveryFindings(recovery)).toEqual([
      { severity: 'info', address: DESK, message: 'was updated (id a1)' },
    ]);
    expect(recovery.ledger).toEqual([
      {
        address: DESK,
        action: 'update',
        status: 'done',
        id: 'a1',
        message: 'was updated (id a1)',
        fields: ['name'],
        history: { before: null, after: null },
      },
    ]);
  });

  test('failed where a change did not take', async () => {
    const recovery = await settle(UPDATE, { live: desk({ model: 'a' }) });
    expect(recovery.ledger).toMatchObject([
      { status: 'failed', id: 'a1', message: 'was not changed (id a1)', history: null },
    ]);
  });

  test('has the id that it asked for where nobody can tell another one', async () => {
    const sent = [{ step: 'create', id: 't7' }] as const;
    const { ledger } = await settle({ ...MAKING, sent }, { live: templates() });
    expect(ledger).toMatchObject([{ status: 'failed', id: 't7', message: 'was not created' }]);
  });

  test('is as its journal says where it was recorded', async () => {
    const entries = [
      began('r1'),
      intent(1, DESK, 'a1'),
      outcome(1, null),
      recorded(DESK, resource('a1')),
    ];
    const deps = { reader: world().reader(), world: world().given() };
    const recovery = await recoverRun(entries, replay(stateWith({}), entries), deps);
    expect(recovery).toMatchObject({ recovered: [], records: [] });
    expect(recovery?.ledger).toMatchObject([{ status: 'done', id: 'a1', message: null }]);
    expect(recovery?.state.resources).toEqual({ [DESK]: resource('a1') });
  });

  test('is told by what it recorded of each resource', async () => {
    const agent = (name: string) => `agent.${name}`;
    const step = (seq: number, name: string, id: string | null, one: IntentRecorded['step']) => ({
      ...intent(seq, agent(name), id),
      step: one,
      fields: [one],
    });
    const entries = [
      began('r1'),
      step(1, 'new', null, 'create'),
      step(2, 'changed', 'a2', 'update'),
      step(3, 'changed', 'a2', 'facet'),
      step(4, 'gone', 'a3', 'delete'),
      step(5, 'other', null, 'create'),
      step(6, 'other', 'a4', 'delete'),
      recorded(agent('new'), resource('n1')),
      recorded(agent('changed'), resource('a2')),
      recorded(agent('gone'), null),
      recorded(agent('other'), resource('n4')),
    ];
    const recovery = await recoverRun(entries, replay(stateWith({}), entries), undefined);
    expect(
      recovery?.ledger.map(({ address, action, id, fields }) => [address, action, id, fields]),
    ).toEqual([
      ['agent.new', 'create', 'n1', ['create']],
      ['agent.changed', 'update', 'a2', ['update', 'facet']],
      ['agent.gone', 'delete', 'a3', ['delete']],
      ['agent.other', 'replace', 'n4', ['create', 'delete']],
    ]);
  });

  test.each<[string, Change, boolean]>([
    ['nothing can be asked of the platform', UPDATE, false],
    ['its journal does not say what there was before', UPDATE, true],
  ])('is left open where %s', async (_title, change, isAsked) => {
    const all = journal(change, 'account-1');
    const entries = isAsked ? all.filter(({ type }) => type !== 'snapshot') : all;
    const deps = isAsked ? { reader: desk().reader(), world: world().given() } : undefined;
    const recovery = await recoverRun(entries, replay(stateWith({}), entries), deps);
    expect(recovery).toMatchObject({ recovered: [], records: [], state: stateWith({}) });
    expect(recovery?.ledger).toMatchObject([{ status: 'failed', message: DIED }]);
  });

  test('is settled change by change', async () => {
    const two = journal({ ...MAKING, sent: [{ step: 'create', seq: 7 }] }, 'account-1');
    const entries = [...journal(UPDATE, 'account-1'), ...two.slice(1)];
    const live = world().live({
      agent: [{ id: 'a1', ...SCOPE, model: 'b' }],
      sms_template: [template('t9')],
    });
    const deps = { reader: live.reader(), world: live.given() };
    const recovery = await recoverRun(entries, replay(stateWith({}), entries), deps);
    expect(recovery?.ledger.map(({ address, message }) => [address, message])).toEqual([
      [DESK, 'was updated (id a1)'],
      [REMINDER, 'was created (id t9)'],
    ]);
  });
});

describe('a change that failed in the middle', () => {
  const answered = { step: 'create', answer: { id: 't9' } } as const;
  const refused = { step: 'create', answer: { id: null, ok: false } } as const;
  const REPLACING: Change = { ...MAKING, was: { id: 't1', resource: known('t1') } };
  const SPARE = `${REMINDER}.replaced`;

  /** What is left of it, and what the journal was told of that. */
  async function fail(change: Change, given: Given = {}) {
    const { live = templates(), account, known: resources = {} } = given;
    const { list, ...reader } = given.reader ?? live.reader();
    const appended: JournalEntry[] = [];
    const left = await recoverFailedChange(
      {
        kind: kindNamed(getKind(change.address ?? DESK)),
        world: live.given(),
        isTaken: (id) => Object.values(resources).some((one) => one.id === id),
        deps: {
          // What was listed before the change began does not have what it made.
          reader: { ...reader, list: async (kind, at, fresh) => (fresh ? list(kind, at) : []) },
          state: stateWith(resources, account === undefined ? {} : { account_id: account }),
          lease: {
            append: async (entry) => void appended.push(entry),
            note: () => {},
            confirm: async () => {},
            unconfirmed: () => [],
          },
        },
      },
      journal(change, ''),
    );
    return { left, appended };
  }

  const unreachable: Reader = {
    ...world().reader(),
    list: () => Promise.reject(new Error('the platform does not answer')),
    read: () => Promise.reject(new Error('the platform does not answer')),
  };

  test.each<[string, Change, Given]>([
    ['nothing was sent', { ...MAKING, sent: [] }, { live: templates(template('t9')) }],
    ['nothing was to be made', { intended: {}, sent: [{ step: 'update' }] }, { live: desk() }],
    ['it was refused, and is not there', { ...MAKING, sent: [refused] }, {}],
    [
      'nobody can tell which one it made',
      MAKING,
      { live: templates(template('t8'), template('t9')) },
    ],
    [
      'only the old one of a replacement is gone',
      { ...REPLACING, sent: [{ step: 'delete', answer: { id: null } }, refused] },
      {},
    ],
    [
      'the journal does not say what was intended',
      { address: REMINDER, was: { id: null }, sent: [answered] },
      { live: templates(template('t9')) },
    ],
    [
      'the platform answered with what another resource has',
      { ...MAKING, sent: [answered] },
      { reader: unreachable, known: { 'sms_template.other': known('t9') } },
    ],
    ['the platform does not answer, and never did', MAKING, { reader: unreachable }],
    [
      'the platform does not answer, and did so only to other requests',
      { ...MAKING, sent: [{ step: 'create' }, { step: 'facet', answer: { id: 't9' } }] },
      { reader: unreachable },
    ],
  ])('left nothing where %s', async (_title, change, given) => {
    expect(await fail(change, given)).toEqual({ left: undefined, appended: [] });
  });

  test.each<[string, Sent]>([
    ['by the id that was answered', answered],
    ['by its name where no answer came', { step: 'create' }],
  ])('left what it made, known %s', async (_title, sent) => {
    const live = templates(template('t9'));
    const { left, appended } = await fail({ ...MAKING, sent: [sent] }, { live });
    expect(left).toMatchObject({ id: 't9', message: 'it was created (id t9)' });
    expect(left?.resource).toMatchObject({ id: 't9', leaves: MAKING.intended.leaves });
    expect(left?.leftBehind).toEqual(new Map());
    expect(appended).toEqual([{ type: 'resource', address: REMINDER, resource: left?.resource }]);
  });

  test.each<[string, State['resources'], Address]>([
    ['an address of its own', {}, SPARE],
    ['the first address that is free', { [SPARE]: known('t0') }, `${SPARE}-2`],
  ])('left the old one of a replacement, under %s', async (_title, others, at) => {
    const sent: Sent[] = [{ step: 'create', answer: { id: 't2' } }, { step: 'delete' }];
    const { left, appended } = await fail(
      { ...REPLACING, sent },
      { live: templates(template('t1'), template('t2')), known: others },
    );
    expect(left).toMatchObject({
      id: 't2',
      message: `it was created (id t2); the old resource (id t1) still exists, and is tracked as ${at} until it is deleted`,
    });
    expect(left?.leftBehind).toEqual(new Map([[at, known('t1')]]));
    expect(appended).toEqual([
      { type: 'resource', address: at, resource: known('t1') },
      { type: 'resource', address: REMINDER, resource: left?.resource },
    ]);
  });

  test.each<[string, Change, Partial<ResourceState>]>([
    [
      'but for its facets, which are written later',
      {
        was: { id: null },
        intended: {
          leaves: written({ name: 'Desk', 'payments.tool_enabled': true }),
          protect: true,
        },
        sent: [{ step: 'create', answer: { id: 'a9' } }],
      },
      { kind: 'agent', id: 'a9', leaves: written({ name: 'Desk' }), protect: true },
    ],
    [
      'with how far its making came',
      {
        address: 'knowledge_source.prices',
        was: { id: null },
        intended: { leaves: { file: { digest: 'sha256:now' } } },
        sent: [
          { step: 'create', operation: 'createKnowledgeSource', answer: { id: 's9' } },
          { step: 'create', operation: 'upload', answer: { id: null } },
          { step: 'create', operation: 'enqueueKnowledgeSource' },
        ],
      },
      {
        kind: 'knowledge_source',
        id: 's9',
        leaves: { file: { digest: 'sha256:now' } },
        unfinished: ['createKnowledgeSource', 'upload'],
      },
    ],
  ])('left what was answered where nobody can look, %s', async (_title, change, expected) => {
    const { left } = await fail(change, { reader: unreachable });
    expect(left?.message).toBe(
      `it was created (id ${expected.id}), but Callsheet could not check whether it is complete`,
    );
    const common = { scope: SCOPE, name: 'Desk', pin: null, protect: false };
    expect(left?.resource).toStrictEqual({ ...common, ...expected });
  });

  test.each<[string, string | undefined, number | null]>([
    ['that its account signed', 'account-1', 3],
    ['unless another account signed it', 'account-2', null],
    ['whoever signed it, where its account is unknown', undefined, 3],
  ])('is known by its history entry %s', async (_title, account, entryId) => {
    const live = desk({ name: 'Desk' }).history({ a1: [entry(3)] });
    const sent: Sent[] = [{ step: 'create', answer: { id: 'a1' } }];
    const { left } = await fail(
      { was: { id: null }, intended: { leaves: {} }, sent },
      { live, ...(account === undefined ? {} : { account }) },
    );
    expect(left?.resource.pin?.history_id).toBe(entryId);
  });
});

test.each<[string, readonly Address[], Address]>([
  ['is told by its name', [], 'agent.desk.replaced'],
  ['has a number where that is taken', ['agent.desk.replaced'], 'agent.desk.replaced-2'],
  [
    'has the first number that is free',
    ['agent.desk.replaced', 'agent.desk.replaced-2', 'agent.desk.replaced-4'],
    'agent.desk.replaced-3',
  ],
])('an address for what was replaced %s', (_title, taken, expected) => {
  const resources = Object.fromEntries(taken.map((address) => [address, resource('a1')]));
  expect(freeAddress(DESK, 'a0', stateWith(resources))).toBe(expected);
});

test.each([
  [[], 'agent.clinic.replaced["a.b[c]"]'],
  [['agent.clinic.replaced["a.b[c]"]'], 'agent.clinic.replaced-2["a.b[c]"]'],
])('of a row, the other copy has an address as well: beside %j', (taken, expected) => {
  const resources = Object.fromEntries(taken.map((address) => [address, resource('a1')]));
  const spare = freeAddress('agent.clinic["a.b[c]"]', 'a0', { resources });
  expect(spare).toBe(expected);
  expect(isAddress(spare)).toBe(true);
});

test.each<[string | undefined, string | null]>([
  ['Front desk', 'Front desk'],
  ['https://a.test/?token=canary-1', 'https://a.test/?token=(secret)'],
  [undefined, null],
])('a natural key %s is kept in a journal as %s', (key, kept) => {
  expect(journalledKey(key)).toBe(kept);
});
