import { describe, expect, test } from 'vitest';
import { knownVersions, markEntries, type Receipt } from '../../src/cli/commands/history.ts';
import type { HistoryEntry } from '../../src/core/plan-document.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import type { LedgerLine, SnapshotTaken } from '../../src/state/journal.ts';

const AGENT = kindNamed('agent');
const PIN = {
  digest: `sha256:${'0'.repeat(64)}`,
  updated_at: '2026-11-21T10:00:00Z',
  history_id: 5,
};

const line: LedgerLine = {
  address: 'agent.desk',
  action: 'update',
  status: 'done',
  id: 'a1',
  message: null,
  fields: ['greeting_message'],
  history: { before: 5, after: 7 },
};
const snapshot: SnapshotTaken = {
  type: 'snapshot',
  address: 'agent.desk',
  kind: 'agent',
  id: 'a1',
  document: { name: 'Desk', greeting_message: 'Hello', status: 'active' },
  pin: PIN,
  resource: null,
  withheld: [],
};

function receipt(changed: Partial<LedgerLine> = {}, taken: Partial<SnapshotTaken> = {}): Receipt {
  return {
    began: {
      type: 'began',
      run: 'r1',
      at: '2026-11-21T10:00:05Z',
      purpose: 'apply',
      actor: { user: 'kim', host: null, pid: 1, commit: null, pipeline: null },
      plan_digest: '',
      config_digest: '',
      account_id: 'acc',
      base_url: '',
      lineage: '',
      serial: 1,
    },
    entries: [
      { ...snapshot, ...taken },
      {
        type: 'resource',
        address: 'agent.desk',
        resource: {
          kind: 'agent',
          id: 'a1',
          scope: {},
          name: 'Desk',
          leaves: { greeting_message: { value: 'Hi' } },
          pin: { ...PIN, history_id: 7 },
          protect: false,
        },
      },
      {
        type: 'ended',
        at: '2026-11-21T10:00:09Z',
        status: 'done',
        verified: true,
        ledger: [{ ...line, ...changed }],
      },
    ],
  };
}

function entry(id: number, more: Partial<HistoryEntry> = {}): HistoryEntry {
  const by = { actor: 'api:acc', source: 'dashboard-api' };
  return { id, action: 'updated', ...by, at: null, reverted_from_id: null, ...more };
}

const theirs = {
  entry: 6,
  action: 'updated',
  actor: 'user:jo',
  source: 'dashboard',
  at: null,
  order: 'before',
} as const;

describe('the entries of a run', () => {
  const history = [8, 7, 6, 5].map((id) => entry(id));
  test.each([
    ['are those since what it found, up to its last', receipt(), history, [7, 6]],
    ['are not what others made meanwhile', receipt({ interleaved: [theirs] }), history, [7]],
    ['are signed by the account', receipt(), [entry(7), entry(6, { actor: 'user:jo' })], [7]],
    [
      'are no reverts where it made none',
      receipt(),
      [entry(7), entry(6, { action: 'reverted' })],
      [7],
    ],
    [
      'are all of what it made',
      receipt({ action: 'create', history: { before: null, after: 6 } }),
      history,
      [6, 5],
    ],
    [
      'are only the last where it saw none before',
      receipt({ history: { before: null, after: 6 } }),
      history,
      [6],
    ],
    ['are none where it saw none', receipt({ history: null }), history, []],
  ] as const)('%s', (_, given, entries, marked) => {
    expect(markEntries(entries, [given]).map((mark) => mark.entry)).toEqual(marked);
  });
});

describe('the versions that are known', () => {
  const known = (given: Receipt, entries: readonly HistoryEntry[] = []) =>
    [...knownVersions(AGENT, entries, [given], undefined).values()].map(
      ({ entry: id, settings }) => [id, settings.get('greeting_message')],
    );
  test('are the one that a run found and the one that it left, without what is not recorded', () => {
    expect(known(receipt())).toEqual([
      [5, { value: 'Hello' }],
      [7, { value: 'Hi' }],
    ]);
    const [version] = knownVersions(AGENT, [], [receipt()], undefined).values();
    expect([...(version?.settings.keys() ?? [])]).toEqual(['name', 'greeting_message']);
  });

  test('do not count the one that a run left together with somebody else', () => {
    expect(known(receipt({ interleaved: [theirs] }))).toEqual([[5, { value: 'Hello' }]]);
  });

  test('do not count a copy that held an edit before its entry appeared', () => {
    const late = entry(6, { at: '2026-11-21T09:59:59Z' });
    expect(known(receipt(), [late])).toEqual([]);
    expect(known(receipt(), [entry(6, { at: '2026-11-21T10:00:01Z' })])).toHaveLength(2);
  });

  test('do not count what failed', () => {
    expect(known(receipt({ status: 'failed' }))).toEqual([[5, { value: 'Hello' }]]);
  });

  test('do not tell what the run no longer configured, or left out', () => {
    expect(known(receipt({ fields: ['description'] }))).toEqual([
      [5, { value: 'Hello' }],
      [7, { value: 'Hello' }],
    ]);
    const versions = knownVersions(
      AGENT,
      [],
      [receipt({ fields: ['description'] }, { withheld: ['greeting_message'] })],
      undefined,
    );
    expect(versions.get(7)?.settings.get('description')).toEqual({ unknown: true });
    expect(versions.get(5)?.settings.get('greeting_message')).toEqual({ unknown: true });
  });

  test('are the one that a run made, as far as it configured it', () => {
    const made = receipt(
      { action: 'create', history: { before: null, after: 7 } },
      { document: null, pin: null, id: null },
    );
    const [version] = knownVersions(AGENT, [], [made], undefined).values();
    expect(version).toMatchObject({ entry: 7, isPartial: true, from: 'made by run r1' });
    expect([...(version?.settings ?? [])]).toEqual([['greeting_message', { value: 'Hi' }]]);
  });

  test('are equal across a revert, either way', () => {
    const entries = [
      entry(9, { action: 'reverted', reverted_from_id: 5 }),
      entry(8, { action: 'reverted', reverted_from_id: 9 }),
      entry(5, { action: 'reverted', reverted_from_id: 3 }),
    ];
    const versions = knownVersions(AGENT, entries, [receipt()], undefined);
    expect([...versions.keys()].sort()).toEqual([3, 5, 7, 8, 9]);
    expect(versions.get(3)?.from).toBe('restored as 5');
  });
});
