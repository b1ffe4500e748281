import { expect, test } from 'vitest';
import { renderRunText } from '../../src/render/runs.ts';
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
