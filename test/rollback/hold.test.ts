import { describe, expect, test } from 'vitest';
import { holdChangeOf, withHoldChange } from '../../src/rollback/hold.ts';
import { began } from '../state/sample.ts';

/** Runs by id: `d1` is an apply of that configuration, `r1` a rollback of that run. */
function journalOf(runs: Readonly<Record<string, string>>) {
  return async (run: string) => {
    const what = runs[run];
    if (what === undefined) return undefined;
    return what.startsWith('d')
      ? { ...began(run), config_digest: what }
      : { ...began(run), config_digest: 'another', purpose: 'rollback' as const, undoes: what };
  };
}

describe('undoing', () => {
  const runs = { r1: 'd1', r2: 'r1', r3: 'r2', r4: 'r3', lost: 'gone', a: 'b', b: 'a' };
  test.each([
    ['an apply holds its configuration', 'r1', { undid: 'r1', isHeld: true }],
    ['a rollback releases it', 'r2', { undid: 'r1', isHeld: false }],
    ['that holds it again', 'r3', { undid: 'r1', isHeld: true }],
    ['and that releases it again', 'r4', { undid: 'r1', isHeld: false }],
    ['a rollback of a run that is not recorded says nothing', 'lost', undefined],
    ['what goes round in a circle says nothing', 'a', undefined],
  ])('%s', async (_name, run, says) => {
    const change = await holdChangeOf(run, journalOf(runs));
    expect(change).toEqual(says && { config_digest: 'd1', ...says });
  });
});

describe('what was applied last', () => {
  const last = { config_digest: 'd9', undid: 'r9' };
  const held = { d9: { undid: 'r9', by: 'r2', at: '2026-03-02T08:30:00Z', user: null } };
  const runs = journalOf({ r1: 'd1', r2: 'r1', r3: 'r2' });
  const withHolds = async (run: string) => {
    const found = await runs(run);
    return found && (run === 'r2' ? { ...found, holds: held } : found);
  };

  test('is held where an earlier apply is undone', async () => {
    expect(await holdChangeOf('r1', withHolds, last)).toEqual({ ...last, isHeld: true });
  });

  test('is released where that is undone, and held again by undoing that', async () => {
    expect(await holdChangeOf('r2', withHolds, last)).toEqual({ ...last, isHeld: false });
    expect(await holdChangeOf('r3', withHolds, last)).toEqual({ ...last, isHeld: true });
  });
});

test('holds of other configurations stay, and one that is put again is the new one', () => {
  const by = { by: 'r2', at: '2026-03-02T08:30:00Z', user: 'sam' };
  const other = { undid: 'r0', by: 'r1', at: '2026-03-01T08:30:00Z', user: null };
  const change = { config_digest: 'd1', undid: 'r3', isHeld: true };
  expect(withHoldChange({ d0: other, d1: other }, change, by)).toEqual({
    d0: other,
    d1: { undid: 'r3', ...by },
  });
  expect(withHoldChange({ d0: other, d1: other }, { ...change, isHeld: false }, by)).toEqual({
    d0: other,
  });
});
