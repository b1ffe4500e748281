import { describe, expect, test } from 'vitest';
import { kindNamed } from '../../src/kinds/index.ts';
import type { HistoryEntry } from '../../src/plan/reader.ts';
import { findInterleaved } from '../../src/rollback/interleaved.ts';
import { undoRun } from '../../src/rollback/undo.ts';
import { memoryReader } from '../memory-reader.ts';
import { journalOf } from './runs.ts';

const undo = undoRun(
  journalOf(
    (['one', 'two'] as const).map((id) => ({
      address: `agent.${id}`,
      action: 'update',
      id,
      before: { name: id },
      fields: ['name'],
      history: { before: 40, after: 42 },
    })),
  ),
);

const entry = (id: number, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  id,
  action: 'updated',
  actor: 'user:kim',
  source: 'dashboard',
  at: '2026-03-02T09:00:00Z',
  reverted_from_id: null,
  ...more,
});

function interleaved(history: Readonly<Record<string, readonly HistoryEntry[]>>) {
  const { history: read } = memoryReader({ history });
  return findInterleaved(undo, {
    history: (_address, id, limit) => read(kindNamed('agent'), id, limit),
    isOwn: ({ actor }) => actor === 'api:own',
    pin: async () => undefined,
    runOf: async (_address, id) => (id === 45 ? '20261121t101203z-7f3a19' : undefined),
  });
}

describe('an edit since the run', () => {
  test.each<[string, readonly HistoryEntry[], readonly string[]]>([
    ['is none where the newest entry is its own', [entry(42), entry(40)], []],
    ['is none where the history is gone', [], []],
    ['is none where only older entries are left', [entry(12)], []],
    [
      'is told with who, through what and when',
      [entry(42), entry(43), entry(44, { actor: 'user:lee' })],
      [
        'agent.one was edited since the run, last by user:lee via dashboard at 2026-03-02T09:00:00Z',
      ],
    ],
    [
      'is told with the run, where it was one of this stack',
      [entry(42), entry(45, { actor: 'api:account' })],
      ['agent.one was edited since the run, last by run 20261121t101203z-7f3a19'],
    ],
    [
      'is told on one line whatever its author is called',
      [entry(43, { actor: 'user:kim\nagent.two is fine', source: 'a\r\nb', at: null })],
      ['agent.one was edited since the run, last by user:kim agent.two is fine via a b'],
    ],
    [
      'is told though nothing is known of it',
      [entry(50, { actor: null, source: null, at: null })],
      ['agent.one was edited since the run, last by someone'],
    ],
  ])('%s', async (_title, one, expected) => {
    const found = await interleaved({ one, two: [entry(42)] });
    expect(found.map(({ message }) => message)).toEqual(expected);
  });

  test('is told for every resource', async () => {
    expect(await interleaved({ one: [entry(43)], two: [entry(43)] })).toHaveLength(2);
  });
});
