import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { readSeed } from '../../src/simulator/index.ts';
import { VERSION } from '../../src/state/state-text.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { stateCommands } from '../cli/state-stage.ts';
import { agentId } from '../pull/stage.ts';
import { HARBOR, world } from '../world.ts';
import { parseKeyed } from './keyed.ts';

/**
 * States as earlier releases wrote them, each with its stack and what was live then. A change to what leaves are
 * compared and digested as makes these fail, unless the state gets another version.
 */
const OLDER = join(import.meta.dirname, 'fixtures', 'older');
const versions = await readdir(OLDER);

async function older(version: string, body: (stage: Stage) => Promise<void>): Promise<void> {
  const at = join(OLDER, version);
  const seed = readSeed(await readFile(join(at, 'seed.json'), 'utf8'));
  const stage = await openStage({ seed, stack: join(at, 'stack') });
  try {
    await mkdir(join(stage.folder, '.callsheet'), { recursive: true });
    await stage.write('.callsheet/state.json', await readFile(join(at, 'state.json'), 'utf8'));
    // It has no seal.
    await stateCommands(stage).adopt();
    await body(stage);
  } finally {
    await stage.close();
  }
}

const written = async (stage: Stage) => {
  const text = await stage.read('.callsheet/state.json');
  return { text, state: await parseKeyed(text) };
};

describe.each(versions)('a state of %s', (version) => {
  test('means what it meant: no changes, no drift, and apply writes this version', () =>
    older(version, async (stage) => {
      expect((await stage.plan()).changes).toEqual([]);
      const flags = { dir: stage.folder, format: 'json' as const, detailedExitcode: true };
      await stage.run((to) => drift(flags, to));
      await stage.apply();
      const { text, state } = await written(stage);
      expect(JSON.parse(text).version).toBe(VERSION);
      // Nothing is left in an older form, or in clear.
      expect(text).not.toMatch(/"form":|canary/);
      expect(Object.keys(state.resources)).toHaveLength(8);
      expect(stage.writes()).toEqual([]);
      expect((await stage.plan()).changes).toEqual([]);
    }));

  test('tells a change, a drift and a conflict apart', () =>
    older(version, async (stage) => {
      await stage.write('prompts/desk.md', 'You answer the phone.\n');
      const [changed] = (await stage.plan()).changes;
      expect(changed?.fields).toMatchObject([{ path: 'system_prompt', cause: 'changed' }]);
      stage.sim.edit(agentId(stage, 'Front desk'), { greeting_message: 'Theirs' });
      const [both] = (await stage.plan()).changes;
      expect(both?.fields.map(({ cause }) => cause)).toEqual(['drifted', 'changed']);
      stage.sim.edit(agentId(stage, 'Front desk'), { system_prompt: 'Theirs, and long.' });
      const [conflict] = (await stage.plan({}, { exit: 4 })).changes;
      expect(conflict).toMatchObject({ verdict: 'refused' });
      await stage.apply({ acceptConflicts: true });
      const recall = JSON.stringify(stage.sim.store.agents.get(agentId(stage, 'Recall'))?.record);
      expect(recall).toMatch(/"X-Tag","value":"one".*"X-Tag","value":"two"/);
    }));
});

test('a clean resource whose leaves are in an older form is read and remembered anew', async () => {
  const own = { name: 'Desk', system_prompt: 'Now.', organization_id: HARBOR };
  const made = world()
    .desired({ 'agent.desk': { ...own, system_prompt: 'Next.' } })
    .live({ agent: [{ id: 'a1', ...own }] })
    .applied({ 'agent.desk': { id: 'a1', ...own } });
  const state = made.state();
  const known = state.resources['agent.desk'];
  if (known === undefined) throw new Error('nothing was applied');
  const digest = `sha256:${'0'.repeat(64)}`;
  const resources = (leaf: { readonly digest: string; readonly form?: number }) => ({
    'agent.desk': { ...known, leaves: { ...known.leaves, system_prompt: leaf } },
  });
  const planOf = async (leaf: { readonly digest: string; readonly form?: number }) =>
    (await made.plan({ state: { ...state, resources: resources(leaf) } })).plan.changes[0];

  expect((await planOf({ digest }))?.fields).toMatchObject([{ cause: 'conflict' }]);
  expect(await planOf({ digest, form: 1 })).toMatchObject({
    verdict: 'ok',
    fields: [{ path: 'system_prompt', cause: 'changed' }],
  });
  const same = made.desired({ 'agent.desk': own });
  const { plan, refresh } = await same.plan({
    state: { ...state, resources: resources({ digest, form: 1 }) },
  });
  expect(plan.changes).toEqual([]);
  expect(refresh.get('agent.desk')?.leaves.system_prompt).toEqual({ value: 'Now.' });
});
