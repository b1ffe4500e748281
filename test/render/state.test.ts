import { expect, test } from 'vitest';
import { renderRepair } from '../../src/render/state.ts';

type Repair = Parameters<typeof renderRepair>[0];

const one = (finding: Repair['findings'][number]['finding']) => (_: unknown, index: number) => ({
  address: `agent.${finding}_${index}`,
  finding,
  id: 'x',
});

const REPAIR: Repair = {
  location: 'state.json',
  problem: 'the state was cut off',
  read: 'part',
  journals: [],
  run: 'r1',
  serial: 7,
  set_aside: [],
  findings: [
    ...Array.from({ length: 40 }, one('kept')),
    ...Array.from({ length: 40 }, one('differs')),
  ],
};

test('of what a repair kept a few are listed, of what it did not find as it was all', () => {
  const said = (verbose: boolean) => renderRepair(REPAIR, { width: 80, color: false, verbose });
  const count = (text: string, of: string) => text.split(`agent.${of}_`).length - 1;
  expect([count(said(false), 'kept'), count(said(false), 'differs')]).toEqual([10, 40]);
  expect(said(false)).toContain('  ⋯ 30 more; --verbose lists them\n');
  expect(count(said(true), 'kept')).toBe(40);
});
