import { expect, test } from 'vitest';
import { renderRunsText, renderRunText } from '../../src/render/runs.ts';
import { began, ended } from '../state/sample.ts';

test('a receipt says which guards were overridden and why, in full', () => {
  const frozen = 'guards.freeze is in force until Fri 2026-11-20 18:00 America/New_York';
  const overrides = [
    { guard: 'freeze', message: frozen, reason: 'INC-4711: \u001b[31mthe greeting is wrong' },
    { guard: 'hold', message: 'this configuration was rolled back', reason: null },
  ] as const;
  const options = { width: 60, color: false, verbose: false };
  const text = renderRunText([{ ...began('r1'), overrides }, ended()], options);
  expect(text.split('\n').filter((line) => line.length > 60)).toEqual([]);
  expect(text.replace(/\s+/g, ' ')).toContain(
    `overrode ${frozen}; reason: INC-4711: \\x1b[31mthe greeting is wrong overrode this configuration`,
  );
  expect(text).not.toContain('\u001b');
});

const PLAIN = { width: 100, color: false, verbose: false };
const COMMIT = '1f3a9c2d5e6f708192a3b4c5d6e7f8091a2b3c4d';
const runOf = (run: string, user: string | null, commit: string | null, changes = 3) => ({
  run,
  at: '2026-03-02T08:30:00.000Z',
  purpose: 'apply',
  status: 'done',
  changes,
  user,
  commit,
});

test('runs are listed with who ran them and from which commit', () => {
  const runs = [
    runOf('r3', 'kim', COMMIT, 12),
    runOf('r2', 'lee', `${COMMIT} with uncommitted changes`, 1),
    runOf('r1', null, null),
  ];
  expect(renderRunsText(runs, PLAIN)).toBe(
    [
      'r3  apply  done  12 changes  by kim at 1f3a9c2',
      'r2  apply  done  1 change    by lee at 1f3a9c2 with uncommitted changes',
      'r1  apply  done  3 changes',
      '',
    ].join('\n'),
  );
});
