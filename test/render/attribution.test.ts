import { describe, expect, test } from 'vitest';
import type { Attribution, HistoryEntry } from '../../src/core/plan-document.ts';
import { renderPlanText } from '../../src/render/text.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

const ACTORS = ['user:maria', 'user:jo', 'api:e7ac'];

/** So many edits, newest first, by three actors in turn. */
function editsOf(count: number): readonly HistoryEntry[] {
  return Array.from({ length: count }, (_, at) => ({
    id: 100 + count - at,
    action: 'updated',
    actor: ACTORS[at % ACTORS.length] ?? null,
    source: 'dashboard',
    at: `2026-11-21T10:${String(count - at).padStart(2, '0')}:00Z`,
    reverted_from_id: null,
  }));
}

function drifted(
  attribution: Attribution,
  edits: readonly HistoryEntry[],
  verbose = false,
): readonly string[] {
  const fields = [{ ...fieldOf('speed', 1, 2, { cause: 'drifted' }), attribution }];
  const plan = planOf([changeOf({ fields, edits })], { purpose: 'drift' });
  return renderPlanText(plan, { width: 80, color: false, verbose }).split('\n');
}

const oneOf = (edits: readonly HistoryEntry[]): Attribution => ({
  certainty: 'one_of',
  because: null,
  entries: edits.map(({ id }) => id),
});

describe('edits that may have been it', () => {
  test('are listed, and counted by who made them where they are many', () => {
    const edits = editsOf(20);
    const lines = drifted(oneOf(edits), edits);
    const at = lines.indexOf('    field:');
    expect(lines.slice(at + 1, at + 11)).toEqual([
      ...edits
        .slice(0, 8)
        .map(({ id, at: when, actor }) => `      ${id}  ${when}  ${actor} via dashboard`),
      '      ⋯ 12 more: 4 by api:e7ac, 4 by user:maria, 4 by user:jo',
      '    ~ speed  1 → 2',
    ]);
  });

  test.each([
    [9, false, 9],
    [10, false, 8],
    [20, true, 20],
  ])('%i, verbose %j: %i are listed', (count, verbose, listed) => {
    const edits = editsOf(count);
    const lines = drifted(oneOf(edits), edits, verbose);
    expect(lines.filter((line) => line.includes(' via dashboard'))).toHaveLength(listed);
  });
});

test.each([
  ['no_entry', 'no history entry since the last run explains it; last changed at'],
  ['no_beginning', 'the newest history entry at the last run is not known; last changed at'],
  ['retention', 'its history no longer reaches back to the last run; it has 2 edits since:'],
  ['late', 'the newest change, at 2026-03-02T09:00:00Z, has no history entry yet; it has'],
] as const)('why nobody is named is said in words: %s', (because, words) => {
  const edits = because === 'retention' || because === 'late' ? editsOf(2) : [];
  const entries = edits.map(({ id }) => id);
  const lines = drifted({ certainty: 'unknown', because, entries }, edits);
  expect(lines.map((line) => line.trim()).join(' ')).toContain(`the author is unknown: ${words}`);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
});

test('an edit that names nobody is by someone', () => {
  const [edit] = editsOf(1);
  if (edit === undefined) throw new Error('there is one');
  const nobody = { ...edit, actor: null, source: null, at: null };
  const lines = drifted({ certainty: 'entry', because: null, entries: [nobody.id] }, [nobody]);
  expect(lines).toContain('    by someone (history entry 101)');
});
