import { describe, expect, test } from 'vitest';
import { holdsWhenUndone, withHoldChange } from '../../src/plan/holds.ts';
import { began } from '../state/sample.ts';

/** Runs by id: `apply` is an apply, `snapshot` a rollback to one, anything else a rollback of that run. */
function journalOf(runs: Readonly<Record<string, string>>) {
  return async (run: string) => {
    const what = runs[run];
    if (what === undefined) return undefined;
    if (what === 'apply') return began(run);
    const rollback = { ...began(run), purpose: 'rollback' as const };
    return what === 'snapshot' ? rollback : { ...rollback, undoes: what };
  };
}

describe('undoing', () => {
  const runs = { a: 'apply', r1: 'a', r2: 'r1', r3: 'r2', s: 'snapshot', s2: 's', lost: 'gone' };
  test.each([
    ['an apply holds what it wrote', 'a', true],
    ['a rollback releases it', 'r1', false],
    ['that holds it again', 'r2', true],
    ['and that releases it again', 'r3', false],
    ['a rollback to a snapshot releases it', 's', false],
    ['that holds it again', 's2', true],
    ['a rollback of a run that is not recorded releases what it held', 'lost', false],
    ['what is not recorded says nothing', 'gone', undefined],
  ])('%s', async (_name, run, says) => {
    expect(await holdsWhenUndone(run, journalOf(runs))).toBe(says);
  });
});

test('rollbacks that undo each other are read once each', async () => {
  const read: string[] = [];
  const beganOf = journalOf({ r1: 'r2', r2: 'r1' });
  const says = holdsWhenUndone('r1', (run) => {
    read.push(run);
    return beganOf(run);
  });
  expect(await says).toBeTypeOf('boolean');
  expect(read).toEqual(['r1', 'r2']);
});

test('a hold is put beside the others, and lifted with those of its rollback', () => {
  const about = { address: 'agent.desk', id: 'a1', path: 'status', value: 'sha256:0a' };
  const other = { ...about, undid: 'r0', by: 'r00', at: '2026-03-02T08:30:00Z', user: null };
  const by = { by: 'r2', at: '2026-03-03T08:30:00Z', user: 'sam' };
  const value = { address: 'agent.desk', id: 'a1', path: 'name', value: 'sha256:0b' };
  const put = withHoldChange({ d0: other }, { undid: 'r1', isHeld: true, values: [value] }, by);
  expect(Object.values(put)).toEqual([other, { undid: 'r1', ...by, ...value }]);
  expect(withHoldChange(put, { undid: 'r2', isHeld: false, values: [value] }, by)).toEqual({
    d0: other,
  });
});
