import { expect, test } from 'vitest';
import { UnreadError } from '../../src/core/errors.ts';
import type { HistoryEntry } from '../../src/core/plan-document.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { type Edited, readEdits } from '../../src/live/reader.ts';
import { ApiError } from '../../src/platform/errors.ts';

const NOW = new Date('2026-11-21T10:00:00Z');

function ago(seconds: number): string {
  return new Date(NOW.getTime() - seconds * 1000).toISOString();
}

function entry(id: number, at: string | null): HistoryEntry {
  return { id, action: 'updated', actor: 'user:jo', source: null, at, reverted_from_id: null };
}

const RUN = entry(1, ago(600));

/** Looks for edits in histories that are given one after the other, the last for good. */
async function look(
  histories: readonly (readonly HistoryEntry[] | Error)[],
  edited: Partial<Edited> = {},
) {
  const limits: number[] = [];
  let slept = 0;
  const edits = await readEdits(
    {
      kind: kindNamed('agent'),
      id: 'a1',
      since: { history_id: 1, updated_at: ago(600) },
      updatedAt: null,
      ...edited,
    },
    {
      reader: {
        history: async (_kind, _id, limit) => {
          limits.push(limit);
          const found = histories[Math.min(limits.length, histories.length) - 1] ?? [];
          if (found instanceof Error) throw found;
          return found.slice(0, limit);
        },
      },
      author: 'api:account',
      now: () => NOW,
      sleep: async (milliseconds) => {
        slept += milliseconds;
      },
    },
  );
  const ids = edits.entries.map(({ id }) => id);
  return { ids, doubt: edits.doubt, limits, slept };
}

test('what was read already is not read again', async () => {
  const found = await look([], { history: [entry(2, ago(60)), RUN] });
  expect(found).toEqual({ ids: [2], doubt: null, limits: [], slept: 0 });
});

test('more is read where the last run is further back', async () => {
  const many = Array.from({ length: 40 }, (_, at) => entry(41 - at, ago(60 + at)));
  const { ids, doubt, limits } = await look([[...many, RUN]]);
  expect([ids.length, doubt, limits]).toEqual([40, null, [20, 100]]);
});

test('a short history that does not reach back is not read again', async () => {
  const { doubt, limits } = await look([[entry(9, ago(60))]]);
  expect([doubt, limits]).toEqual(['retention', [20]]);
});

test('an entry that is about to appear is waited for', async () => {
  const { ids, doubt, slept } = await look([[RUN], [RUN], [RUN], [entry(2, ago(3)), RUN]], {
    updatedAt: ago(3),
  });
  expect([ids, doubt]).toEqual([[2], null]);
  expect(slept).toBeLessThan(1000);
});

test('an entry that does not appear leaves everything in doubt', async () => {
  const seen = [entry(2, ago(60)), RUN];
  const { ids, doubt, slept } = await look([seen], { updatedAt: ago(3) });
  expect([ids, doubt]).toEqual([[2], 'late']);
  expect(slept).toBeGreaterThan(3000);
  expect(slept).toBeLessThanOrEqual(5000);
});

test('a change that has had its time to appear makes no entry, and nothing is waited for', async () => {
  const { ids, doubt, slept } = await look([[entry(2, ago(600)), RUN]], { updatedAt: ago(90) });
  expect([ids, doubt, slept]).toEqual([[2], null, 0]);
});

/** The error of a reader whose history the platform refuses. */
const unread = (cause: ApiError) => new UnreadError(cause.message, cause);

test('what is gone has no history', async () => {
  const line = { method: 'GET', url: 'https://api.example.test/v1/agents/a1/history' } as const;
  const { ids, doubt } = await look([unread(new ApiError(line, 404, { error: 'not_found' }))]);
  expect([ids, doubt]).toEqual([[], 'retention']);
});

test('another refusal is no answer', async () => {
  const line = { method: 'GET', url: 'https://api.example.test/v1/agents/a1/history' } as const;
  await expect(look([unread(new ApiError(line, 403, { error: 'forbidden' }))])).rejects.toThrow(
    '403',
  );
});
