import { describe, expect, test } from 'vitest';
import type { HistoryEntry } from '../../../src/core/plan-document.ts';
import { isMadeBy } from '../../../src/run/receipts.ts';
import type { LedgerLine, SnapshotTaken } from '../../../src/state/journal.ts';

type Receipt = Parameters<typeof isMadeBy>[1];

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
  intended: null,
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
    const made = entries.filter((one) => isMadeBy(one, given)).map(({ id }) => id);
    expect(made.toSorted((a, b) => b - a)).toEqual(marked);
  });
});
