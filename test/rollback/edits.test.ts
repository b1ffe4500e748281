import { expect, test } from 'vitest';
import type { HistoryEntry } from '../../src/plan/reader.ts';
import { findEdits } from '../../src/rollback/edits.ts';
import type { ResourceState } from '../../src/state/model.ts';
import { resource, stateWith } from '../state/sample.ts';

const entry = (id: number, actor = 'user:kim'): HistoryEntry => ({
  id,
  action: 'updated',
  actor,
  source: null,
  at: null,
  reverted_from_id: null,
});

/** A resource whose newest history entry was `last` when Callsheet wrote it. */
const written = (id: string, last: number | null): ResourceState =>
  resource(id, { pin: { digest: 'sha256:1', updated_at: null, history_id: last } });

type Told = {
  readonly resources: Readonly<Record<string, ResourceState>>;
  /** The newest entries when the snapshot was made. */
  readonly versions?: Readonly<Record<string, number>>;
  /** Entries by id of the resource, the newest first. */
  readonly history?: Readonly<Record<string, readonly HistoryEntry[]>>;
  readonly addresses?: readonly string[];
};

async function editsOf({ resources, versions = {}, history = {}, addresses }: Told) {
  const found = await findEdits(
    addresses ?? Object.keys(resources),
    new Map(Object.entries(versions)),
    stateWith(resources),
    async (kind, id, limit) => (kind === 'agent' ? (history[id] ?? []).slice(0, limit) : []),
  );
  return found;
}

const EDITED = [entry(9, 'user:lee'), entry(8), entry(7), entry(6)];

test('an edit since the last run is told with who made the newest one', async () => {
  const found = await editsOf({
    resources: { 'agent.desk': written('a1', 7), 'agent.night': written('a2', 7) },
    history: { a1: EDITED, a2: [entry(7), entry(6)] },
  });
  expect(found).toEqual([
    {
      address: 'agent.desk',
      message: 'agent.desk was edited since the last run, last by user:lee',
    },
  ]);
});

test.each<[string, Told, readonly string[]]>([
  [
    'entries that the snapshot has itself are no edits',
    { resources: { 'agent.desk': written('a1', 7) }, versions: { 'agent.desk': 9 } },
    [],
  ],
  [
    'an edit after both the snapshot and the last run is one',
    { resources: { 'agent.desk': written('a1', 7) }, versions: { 'agent.desk': 8 } },
    ['agent.desk'],
  ],
  [
    'a snapshot from before the last run makes no edit of what that wrote',
    { resources: { 'agent.desk': written('a1', 9) }, versions: { 'agent.desk': 6 } },
    [],
  ],
  [
    'a resource of which no entry is remembered has no edits',
    { resources: { 'agent.desk': written('a1', null) } },
    [],
  ],
  [
    'a resource that was never read has no edits',
    { resources: { 'agent.desk': resource('a1', { pin: null }) } },
    [],
  ],
  [
    'an address that the state does not have has no edits',
    {
      resources: { 'agent.desk': written('a1', 7) },
      addresses: ['agent.gone', 'constructor', 'agent.desk'],
    },
    ['agent.desk'],
  ],
  [
    'a resource that is not asked about is left out',
    {
      resources: { 'agent.desk': written('a1', 7), 'agent.night': written('a1', 7) },
      addresses: ['agent.night'],
    },
    ['agent.night'],
  ],
])('%s', async (_title, told, expected) => {
  const found = await editsOf({ history: { a1: EDITED }, ...told });
  expect(found.map(({ address }) => address)).toEqual(expected);
});
