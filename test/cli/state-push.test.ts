import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { State } from '../../src/state/model.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { formatKeyed } from '../state/keyed.ts';
import { STATE, stateCommands, stateIn } from './state-stage.ts';

const save = async (stage: Stage, state: State) =>
  writeFile(join(stage.folder, 'pushed.json'), await formatKeyed(state));

const asides = async (stage: Stage) =>
  (await readdir(join(stage.folder, '.callsheet'))).filter((name) => name.includes('.before-'));

describe('state pull', () => {
  staged('prints the state as it is stored, and push takes it back', async (stage) => {
    await stage.apply();
    const { out } = await stateCommands(stage).pull();
    expect(out).toBe(await stage.read(STATE));
    await stage.write('pushed.json', out);
    expect((await stateCommands(stage, 'text').push('pushed.json')).out).toContain(
      'The state is already the same. Nothing was written.',
    );
    expect(await stage.read(STATE)).toBe(out);
    await stage.forget();
    await stateCommands(stage).push('pushed.json');
    expect((await stateIn(stage)).resources).toEqual(JSON.parse(out).resources);
    expect((await stage.plan()).changes).toEqual([]);
  });

  staged('of a stack without a state says so', async (stage) => {
    const { out, err } = await stateCommands(stage).pull({ exit: 1 });
    expect([out, err]).toEqual(['', expect.stringContaining('there is no state yet')]);
  });
});

describe('state push', () => {
  staged('puts a newer state there, one serial on', async (stage) => {
    await stage.apply();
    const state = await stateIn(stage);
    const { 'agent.recall': _, ...resources } = state.resources;
    await save(stage, { ...state, serial: 7, resources });
    const { out } = await stateCommands(stage).push('pushed.json');
    expect(JSON.parse(out)).toMatchObject({
      serial: 8,
      ledger: [{ address: 'agent.recall', action: 'forget' }],
    });
    const pushed = await stateIn(stage);
    expect([pushed.serial, Object.keys(pushed.resources)]).toEqual([8, Object.keys(resources)]);
    expect(await asides(stage)).toHaveLength(1);
    await stage.apply();
  });

  const rows: readonly (readonly [string, (state: State) => State, RegExp])[] = [
    ['an older one', (state) => ({ ...state, serial: 0 }), /is older \(serial 0, here 1\)/],
    [
      'one of the same serial that differs',
      (state) => ({ ...state, resources: {} }),
      /differs, though it has the same serial \(1\)/,
    ],
    [
      'one of another lineage',
      (state) => ({ ...state, lineage: 'other', serial: 9 }),
      /is of another stack \(lineage other, here /,
    ],
    [
      'one of another account',
      (state) => ({ ...state, account_id: 'other', serial: 9 }),
      /is of account other, this of /,
    ],
  ];
  for (const [name, make, words] of rows) {
    staged(`refuses ${name}, and --overwrite keeps what was there`, async (stage) => {
      await stage.apply();
      const before = await stage.read(STATE);
      await save(stage, make(await stateIn(stage)));
      const { push } = stateCommands(stage);
      const { err } = await push('pushed.json', false, { exit: 4 });
      expect(err).toMatch(words);
      expect(err).toContain('The old state is kept next to it');
      expect(await stage.read(STATE)).toBe(before);
      await push('pushed.json', true);
      const pushed = await stateIn(stage);
      const given = make({ ...pushed });
      expect([pushed.lineage, pushed.account_id]).toEqual([given.lineage, given.account_id]);
      expect(pushed.serial).toBeGreaterThan(1);
      const [aside = ''] = await asides(stage);
      expect(await stage.read(join('.callsheet', aside))).toBe(before);
    });
  }

  staged('--overwrite puts a good copy over a damaged state', async (stage) => {
    await stage.apply();
    await stage.write('pushed.json', await stage.read(STATE));
    await stage.write(STATE, '<<<<<<< HEAD\n');
    const { push } = stateCommands(stage);
    const { err } = await push('pushed.json', false, { exit: 1 });
    expect(err).toContain('callsheet state push --overwrite FILE');
    await push('pushed.json', true);
    expect((await stage.plan()).changes).toEqual([]);
  });

  const files: readonly (readonly [string, string, RegExp])[] = [
    ['is cut off', '{"format":"callsheet-state",\n"ver', /was cut off: its end is missing/],
    ['is another JSON file', '{}', /is not a Callsheet state/],
    ['is empty', '', /is empty/],
  ];
  staged('takes no file that is no state', async (stage) => {
    await stage.apply();
    const before = await stage.read(STATE);
    for (const [name, text, words] of files) {
      await stage.write('pushed.json', text);
      const { err } = await stateCommands(stage).push('pushed.json', true, { exit: 1 });
      expect(err, name).toMatch(words);
      expect(err).toContain('Nothing was pushed');
    }
    const { err } = await stateCommands(stage).push('none.json', true, { exit: 1 });
    expect(err).toMatch(/the file \S+none\.json cannot be read/);
    expect(await stage.read(STATE)).toBe(before);
  });
});
