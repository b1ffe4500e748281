import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/state/journal.ts';
import type { State } from '../../src/state/model.ts';
import { emptyState, nextState, replay } from '../../src/state/replay.ts';
import {
  APPLIED,
  began,
  ended,
  HOLDS,
  intent,
  LINEAGE,
  outcome,
  recorded,
  resource,
  snapshot,
  stateWith,
} from './sample.ts';

const desk = resource('a1');
const line = resource('a2');
const HOLD = {
  ...{ address: 'agent.desk', id: 'a1', path: 'name', value: 'sha256:0b' },
  ...{ undid: 'r0', by: 'r1', at: '2026-03-01T08:30:00Z', user: null },
};
const before = stateWith({ 'agent.desk': desk });

describe('replay', () => {
  test('the commit of a run that died is the one that was applied last', () => {
    const later = { ...APPLIED, commit: '0c'.repeat(20), run: 'r2' };
    const { state } = replay(before, [{ ...began('r2', 1), applied: later }]);
    expect(nextState(state ?? before).applied).toEqual(later);
    expect(replay(before, [began('r2', 1)]).state?.applied).toEqual(APPLIED);
  });

  test.each<[string, JournalEntry, State['holds']]>([
    ['a run that puts a hold', { ...began('r1', 1), holds: HOLDS }, HOLDS],
    ['a run that releases the last one', { ...began('r1', 1), holds: {} }, undefined],
    ['a run that does neither', began('r1', 1), { kept: HOLD }],
  ])('%s leaves the holds so', (_name, entry, holds) => {
    const { state } = replay({ ...before, holds: { kept: HOLD } }, [entry]);
    const { holds: _, ...rest } = { ...before, holds };
    expect(state).toEqual(holds === undefined ? rest : { ...rest, holds });
    expect(nextState(state ?? before).holds).toEqual(holds);
  });

  test.each<[string, JournalEntry[], Record<string, typeof desk>]>([
    ['nothing', [], { 'agent.desk': desk }],
    ['a new resource', [recorded('agent.line', line)], { 'agent.desk': desk, 'agent.line': line }],
    ['a changed one', [recorded('agent.desk', line)], { 'agent.desk': line }],
    ['a deleted one', [recorded('agent.desk', null)], {}],
    [
      'the last word',
      [recorded('agent.line', desk), recorded('agent.line', line)],
      { 'agent.desk': desk, 'agent.line': line },
    ],
    [
      'a name that looks special',
      [recorded('agent.__proto__', line)],
      Object.fromEntries([
        ['agent.desk', desk],
        ['agent.__proto__', line],
      ]),
    ],
  ])('applies %s', (_name, entries, resources) => {
    const { state } = replay(before, [began('r1', 1), ...entries]);
    expect(state).toEqual({ ...before, resources });
    expect(replay(state, entries).state).toEqual(state);
  });

  test.each<[string, JournalEntry[], number[], number[]]>([
    ['an intent alone', [intent(1, 'agent.desk', 'a1')], [1], []],
    // What was refused, or seemed so, may have been done all the same.
    ['a failure is open', [intent(1, 'agent.desk'), outcome(1, null, false)], [], [1]],
    ['a success is not recorded yet', [intent(1, 'agent.desk'), outcome(1, 'a1')], [], [1]],
    [
      'now it is',
      [intent(1, 'agent.desk'), outcome(1, 'a1'), recorded('agent.desk', desk)],
      [],
      [],
    ],
    [
      'another address is',
      [intent(1, 'agent.desk'), outcome(1, 'a1'), recorded('agent.line', line)],
      [],
      [1],
    ],
    [
      'one of several',
      [intent(1, 'agent.desk'), intent(2, 'agent.line'), outcome(2, 'a2')],
      [1],
      [2],
    ],
    [
      'a step after the record',
      [
        intent(1, 'agent.desk'),
        outcome(1, 'a1'),
        recorded('agent.desk', desk),
        intent(2, 'agent.desk', 'a1'),
        outcome(2, 'a1'),
      ],
      [],
      [2],
    ],
  ])('tells what is open: %s', (_name, entries, unanswered, answered) => {
    const result = replay(before, [began('r1', 1), ...entries, ended()]);
    const made = result.open.flatMap(({ requests }) => requests);
    const seqs = (test: (request: (typeof made)[number]) => boolean) =>
      made.filter(test).map(({ intent: { seq } }) => seq);
    expect(seqs(({ outcome: known }) => known === undefined)).toEqual(unanswered);
    expect(seqs(({ outcome: known }) => known !== undefined)).toEqual(answered);
  });

  test('keeps the first snapshot of each address', () => {
    const first = snapshot('agent.desk', 'a1');
    const { snapshots } = replay(before, [
      first,
      snapshot('agent.line', null),
      snapshot('agent.desk', null),
    ]);
    expect(snapshots).toEqual([first, snapshot('agent.line', null)]);
  });

  test('without a state begins from what the run began from', () => {
    const { state, began: run } = replay(undefined, [began('r1', 7), recorded('agent.desk', desk)]);
    expect(run?.run).toBe('r1');
    expect(state).toEqual({
      ...emptyState(LINEAGE),
      serial: 7,
      account_id: 'account-1',
      resources: { 'agent.desk': desk },
    });
  });

  test('of nothing over nothing is nothing', () => {
    expect(replay(undefined, []).state).toBeUndefined();
  });
});

describe('states', () => {
  test('of one lineage have one salt, of two lineages two', () => {
    expect(emptyState('a').salt).toBe(emptyState('a').salt);
    expect(emptyState('a').salt).not.toBe(emptyState('b').salt);
    expect(emptyState('a').salt).toMatch(/^[0-9a-f]{32}$/);
    expect(emptyState('a', 'c0ffee').salt).toBe('c0ffee');
  });

  test('follow one another', () => {
    expect(nextState(before, 'r1')).toEqual({ ...before, serial: 2, last_run: 'r1' });
    expect(nextState(nextState(before, 'r1')).last_run).toBe('r1');
    expect(nextState(before, 'r1', {}).resources).toEqual({});
    expect(before.serial).toBe(1);
  });
});
