import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import * as commands from '../../src/cli/commands/state.ts';
import type { Context } from '../../src/console/context.ts';
import { plan } from '../../src/console/plan.ts';
import { openFileStore } from '../../src/state/file/store.ts';
import { formatState } from '../../src/state/state-text.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { STATE, stateCommands, stateIn, storeOf } from './state-stage.ts';

const NO_KEY = { CALLSHEET_FINGERPRINT_KEY: undefined };
const joined = (text: string) => text.replace(/\s+/g, ' ');

/** What a plan says on the way out. */
async function refused(stage: Stage, env: Readonly<Record<string, string | undefined>> = {}) {
  const requests = stage.sim.requests.length;
  const { err } = await stageList(stage, env);
  expect(stage.sim.requests).toHaveLength(requests);
  return joined(err);
}

const stageList = (stage: Stage, env: Readonly<Record<string, string | undefined>>) =>
  stateCommands(stage, 'text').list([], { env, exit: 1 });

/** Applies without a key, as before a team had one. */
async function unsealed(stage: Stage): Promise<void> {
  await stage.apply();
  const file = join(stage.folder, STATE);
  const state = await stateIn(stage);
  const runs = await storeOf(stage).runs();
  const receipts = await Promise.all(
    runs.map(async ({ run }) => ({
      run,
      entries: structuredClone((await storeOf(stage).run(run)) ?? []),
    })),
  );
  await rm(join(stage.folder, '.callsheet'), { recursive: true });
  const store = openFileStore(file);
  const holder = { run: '', command: 'x', user: null, host: 'x', pid: process.pid, since: '' };
  const lease = await store.acquire(holder);
  await lease.receive(state, receipts);
  await store.close();
}

describe('a state that was written before there was a key', () => {
  staged('is refused with both ways on, until a person adopts it', async (stage) => {
    await unsealed(stage);
    const said = await refused(stage);
    expect(said).toContain('has no seal, and CALLSHEET_FINGERPRINT_KEY is set');
    expect(said).toContain('`callsheet state repair`');
    expect(said).toContain('`callsheet state adopt`');
    const { out } = await stateCommands(stage, 'text').adopt();
    expect(joined(out)).toContain('It is sealed from now on, with 1 receipt.');
    expect((await stage.plan()).changes).toEqual([]);
    const [first, ...more] = (await storeOf(stage).runs()).toReversed();
    expect(more).toHaveLength(1);
    expect(first?.status).toBe('done');
    const again = await stateCommands(stage, 'text').adopt();
    expect(joined(again.out)).toContain('Nothing was written.');
    await stage.rollback({ run: first?.run ?? '' }, { exit: [0, 3, 4] });
  });

  staged('is rebuilt from the platform alone by a repair', async (stage) => {
    await unsealed(stage);
    const state = await openFileStore(join(stage.folder, STATE)).load();
    const { 'agent.desk': desk, 'agent.recall': recall, ...others } = state.state?.resources ?? {};
    if (state.state === undefined || desk === undefined || recall === undefined)
      throw new Error('not there');
    // The ids exchanged: of a text that nobody sealed none is taken.
    const resources = {
      ...others,
      'agent.desk': { ...desk, id: recall.id },
      'agent.recall': { ...recall, id: desk.id },
    };
    await stage.write(STATE, await formatState({ ...state.state, resources }));
    await stateCommands(stage).repair();
    const after = await stateIn(stage);
    expect(after.resources['agent.desk']?.id).toBe(desk.id);
    expect(after.resources['agent.recall']?.id).toBe(recall.id);
    expect(after.lineage).not.toBe(state.state.lineage);
  });
});

describe('a sealed state', () => {
  staged('is not read without its key, nor with another one', async (stage) => {
    await stage.apply();
    expect(await refused(stage, NO_KEY)).toContain('CALLSHEET_FINGERPRINT_KEY is not set');
    const repair = await stateCommands(stage, 'text').repair({ env: NO_KEY, exit: 1 });
    expect(joined(repair.err)).toContain('CALLSHEET_FINGERPRINT_KEY is not set');
    const other = { CALLSHEET_FINGERPRINT_KEY: 'canary-another-key' };
    expect(await refused(stage, other)).toContain('sealed with another CALLSHEET_FINGERPRINT_KEY');
    await stateCommands(stage).repair({ env: other });
    expect((await stage.plan({}, { env: other })).changes).toEqual([]);
  });

  staged('whose copy in another place is read there once it is adopted', async (stage) => {
    await stage.apply();
    await stage.write('desk.json', await stage.read(STATE));
    const env = { CALLSHEET_STATE: 'desk.json' };
    expect(await refused(stage, env)).toContain('was sealed in another place');
    await stateCommands(stage).adopt({ env });
    expect((await stage.plan({}, { env })).changes).toEqual([]);
  });

  staged('is printed by pull with its seal, and pushed with no other', async (stage) => {
    await stage.apply();
    const { out } = await stateCommands(stage).pull();
    expect(out).toContain('"seal":"hmac-sha256:');
    await stage.write('pulled.json', out.replace(/"seal":"[^"]*",/, ''));
    const { err } = await stateCommands(stage, 'text').push('pulled.json', false, { exit: 4 });
    expect(joined(err)).toContain('has no seal');
    await stateCommands(stage).push('pulled.json', true);
    expect((await stage.plan()).changes).toEqual([]);
  });
});

describe('a stack without a key', () => {
  staged('says that its state is not sealed where others can write it', async (stage) => {
    const says = 'The state is not sealed';
    const flags = { dir: stage.folder, format: 'text' } as const;
    const saidBy = async (
      command: (context: Context) => Promise<number>,
      env: Readonly<Record<string, string | undefined>>,
    ) => joined((await stage.run(command, { env })).err);
    const elsewhere = { CALLSHEET_STATE: '../elsewhere/state.json' };
    const planned = (env: Readonly<Record<string, string | undefined>>) =>
      saidBy((to) => plan(flags, to), env);
    expect(await planned({ ...elsewhere, ...NO_KEY })).toContain(says);
    expect(await planned(elsewhere)).not.toContain(says);
    expect(await planned(NO_KEY)).not.toContain(says);
    const listed = (to: Context) => commands.list([], flags, to);
    expect(await saidBy(listed, NO_KEY)).toContain(says);
    expect(await saidBy(listed, {})).not.toContain(says);
  });
});
