import { describe, expect, it } from 'vitest';
import { interleavedMessage, type OwnWrites, readOwnWrites } from '../../src/apply/history.ts';
import type { HistoryEntry } from '../../src/plan/reader.ts';

const OURS = 'api:account';
const MINA = { actor: 'user:mina', source: 'dashboard' };
const LATE = '2026-03-02T09:00:05Z';

const entry = (id: number, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  id,
  action: 'updated',
  actor: OURS,
  source: 'dashboard-api',
  at: LATE,
  reverted_from_id: null,
  ...more,
});

const writes: OwnWrites = {
  author: OURS,
  than: 40,
  most: 1,
  isRevert: false,
  checkedAt: '2026-03-02T08:00:00Z',
  isEditKnown: false,
};

type Row = {
  readonly title: string;
  readonly entries: readonly HistoryEntry[];
  readonly writes?: Partial<OwnWrites>;
  readonly own: number | null;
  readonly found?: readonly (readonly [entry: number, order: 'before' | 'after' | 'unknown'])[];
};

const rows: readonly Row[] = [
  { title: 'ours alone', entries: [entry(41), entry(40, MINA)], own: 41 },
  { title: 'nothing new', entries: [entry(40, MINA)], own: null },
  {
    title: 'theirs, ours',
    entries: [entry(42), entry(41, MINA)],
    own: 42,
    found: [[41, 'before']],
  },
  { title: 'ours, theirs', entries: [entry(42, MINA), entry(41)], own: 41, found: [[42, 'after']] },
  {
    title: 'theirs on both sides, oldest first',
    entries: [entry(41, MINA), entry(42), entry(43, MINA)],
    own: 42,
    found: [
      [41, 'before'],
      [43, 'after'],
    ],
  },
  {
    title: 'theirs alone: ours is late, or was cut off by retention',
    entries: [entry(42, MINA)],
    own: null,
    found: [[42, 'before']],
  },
  {
    title: 'theirs, which the check had seen already',
    entries: [entry(42), entry(41, { ...MINA, at: '2026-03-02T07:59:59Z' })],
    own: 42,
  },
  {
    title: 'update, facet and facet of one change',
    entries: [entry(41), entry(42), entry(43)],
    writes: { most: 3 },
    own: 43,
  },
  {
    title: 'one of theirs among several of ours',
    entries: [entry(41), entry(42, MINA), entry(43)],
    writes: { most: 2 },
    own: 43,
    found: [[42, 'before']],
  },
  {
    title: 'more of our account than the change makes',
    entries: [entry(41), entry(42)],
    own: 42,
    found: [[41, 'before']],
  },
  {
    title: 'a late entry of our last run',
    entries: [entry(41, { at: '2026-03-02T08:00:00.400Z' }), entry(42)],
    own: 42,
  },
  {
    title: 'ours in the second of the edit before, where times are cut to seconds',
    entries: [entry(41, { at: '2026-03-02T08:00:00Z' })],
    own: 41,
  },
  {
    title: 'more of our account, without times: one may be late',
    entries: [entry(41, { at: null }), entry(42, { at: null })],
    own: 42,
  },
  {
    title: 'theirs, without a time',
    entries: [entry(41, { ...MINA, at: null }), entry(42, { at: null })],
    own: 42,
    found: [[41, 'before']],
  },
  {
    title: 'theirs, without a time, where an edit of theirs is mended: its entry may be late',
    entries: [entry(41, { ...MINA, at: null }), entry(42, { at: null })],
    writes: { isEditKnown: true },
    own: 42,
    found: [[41, 'unknown']],
  },
  {
    title: 'a revert by our account that the change did not make',
    entries: [entry(41, { action: 'reverted', reverted_from_id: 12 }), entry(42)],
    own: 42,
    found: [[41, 'before']],
  },
  {
    title: 'a revert that it did make, and the update for the rest',
    entries: [entry(41, { action: 'reverted', reverted_from_id: 12 }), entry(42)],
    writes: { isRevert: true, most: 2 },
    own: 42,
  },
  {
    title: 'our account through another source',
    entries: [entry(41, { source: 'assistant' }), entry(42)],
    own: 42,
    found: [[41, 'before']],
  },
  {
    title: 'entries that say nothing of an author',
    entries: [entry(41, { actor: null, source: null })],
    own: 41,
  },
  {
    title: 'an unknown account: nobody can be told apart',
    entries: [entry(41, MINA), entry(42)],
    writes: { author: undefined },
    own: 42,
  },
];

describe('whose history entries are whose', () => {
  it.each(rows)('$title', ({ entries, writes: more, own, found = [] }) => {
    const read = readOwnWrites(entries, { ...writes, ...more });
    expect(read.own).toBe(own);
    expect(read.interleaved.map((one) => [one.entry, one.order])).toEqual(found);
  });

  it('is told with author, source, time and entry', () => {
    const { interleaved } = readOwnWrites([entry(43, MINA), entry(42), entry(41, MINA)], writes);
    expect(interleavedMessage('agent.desk', interleaved)).toBe(
      `somebody else edited it between the check and this write (user:mina via dashboard at ${LATE} (history entry 41)), and this run overwrote the fields that both set; it was edited again right after this write: user:mina via dashboard at ${LATE} (history entry 43) (\`callsheet history agent.desk\`)`,
    );
    expect(interleavedMessage('agent.desk', [])).toBeUndefined();
  });
});
