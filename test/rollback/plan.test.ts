import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { undoRun } from '../../src/rollback/undo.ts';
import { type Documents, HARBOR, world } from '../world.ts';
import { type Deed, journalOf } from './runs.ts';

const DESK = { organization_id: HARBOR, name: 'Desk' };
const BEFORE = { id: 'a1', ...DESK, greeting_message: 'Hello', status: 'active' };
const AFTER = { id: 'a1', ...DESK, greeting_message: 'Good day', status: 'inactive' };

/** The plan that undoes a run, from what is live and what the state says now. */
async function rollback(
  deeds: readonly Deed[],
  live: Readonly<Record<string, readonly JsonObject[]>>,
  applied: Documents,
): Promise<readonly Change[]> {
  const undo = undoRun(journalOf(deeds));
  const { plan } = await world()
    .wanting(undo.desired)
    .live(live)
    .applied(applied)
    .options({ allow_delete: true, target: undo.addresses })
    .plan({ purpose: 'rollback', undoes: 'run-1', versions: undo.versions });
  return plan.changes;
}

const updated: Deed = {
  address: 'agent.desk',
  action: 'update',
  id: 'a1',
  before: BEFORE,
  fields: ['greeting_message', 'status'],
  history: { before: 41, after: 42 },
};
const WRITTEN = { 'agent.desk': { ...AFTER, history_id: 42 } };

describe('the plan of a rollback', () => {
  test('reverts what history records and updates the rest', async () => {
    const [change, ...others] = await rollback([updated], { agent: [AFTER] }, WRITTEN);
    expect(others).toEqual([]);
    expect(change).toMatchObject({
      action: 'update',
      verdict: 'ok',
      reason: 'the run changed it',
      operations: [
        { step: 'revert', fields: ['greeting_message'], version: 41 },
        { step: 'update', fields: ['status'] },
      ],
    });
    expect(change?.fields).toMatchObject([
      { path: 'greeting_message', before: 'Good day', after: 'Hello' },
      { path: 'status', before: 'inactive', after: 'active' },
    ]);
  });

  test('only updates where no version is known', async () => {
    const { history: _, ...unversioned } = updated;
    const [change] = await rollback([unversioned], { agent: [AFTER] }, WRITTEN);
    expect(change?.operations).toEqual([
      { step: 'update', fields: ['greeting_message', 'status'] },
    ]);
  });

  test('has nothing to do where somebody put it back already', async () => {
    expect(await rollback([updated], { agent: [BEFORE] }, WRITTEN)).toEqual([]);
  });

  test('leaves alone what the run did not touch', async () => {
    const live = {
      agent: [
        { ...AFTER, description: 'Edited since' },
        { id: 'a2', name: 'Other' },
      ],
    };
    const state = { ...WRITTEN, 'agent.other': { id: 'a2', name: 'Other' } };
    const [change, ...others] = await rollback([updated], live, state);
    expect(others).toEqual([]);
    expect(change?.fields.map(({ path }) => path)).toEqual(['greeting_message', 'status']);
  });

  test('is refused where somebody edited the same field since', async () => {
    const live = { agent: [{ ...AFTER, greeting_message: 'Ahoy' }] };
    const [change] = await rollback([updated], live, WRITTEN);
    expect(change).toMatchObject({
      verdict: 'refused',
      reason: expect.stringContaining('changed again since'),
      fields: [{ cause: 'conflict' }, {}],
    });
  });

  test('deletes what the run made', async () => {
    const made: Deed = { address: 'agent.desk', action: 'create' };
    expect(await rollback([made], { agent: [AFTER] }, WRITTEN)).toMatchObject([
      { action: 'delete', verdict: 'ok', id: 'a1' },
    ]);
  });

  test('makes again what the run deleted', async () => {
    const gone: Deed = { ...updated, action: 'delete', fields: [] };
    expect(await rollback([gone], {}, {})).toMatchObject([
      { action: 'create', verdict: 'ok', id: null, after: { greeting_message: 'Hello' } },
    ]);
  });

  test('takes over what is there again under its name, instead of a second one', async () => {
    const gone: Deed = { ...updated, action: 'delete', fields: [] };
    expect(await rollback([gone], { agent: [{ ...BEFORE, id: 'a9' }] }, {})).toMatchObject([
      { action: 'adopt', id: 'a9' },
    ]);
  });

  test('brings a list back as it was, but for values that nobody keeps', async () => {
    const tool = (name: string) => ({
      type: 'webhook',
      name,
      url: `https://${name}.example.test`,
      headers: [{ key: 'X', value: `canary ${name}` }],
    });
    const before = { ...BEFORE, extensions: { tools: [tool('crm'), tool('old')] } };
    const live = { ...BEFORE, extensions: { tools: [tool('crm'), tool('new')] } };
    const fields = ['extensions.tools[new].name', 'extensions.tools[old]'];
    const [change] = await rollback(
      [{ ...updated, before, fields }],
      { agent: [live] },
      { 'agent.desk': live },
    );
    const causes = Object.fromEntries(
      (change?.fields ?? []).map(({ path, cause }) => [path, cause]),
    );
    expect(causes).toEqual({
      'extensions.tools[old].type': 'changed',
      'extensions.tools[old].name': 'changed',
      'extensions.tools[old].url': 'changed',
      'extensions.tools[old].headers[X].key': 'changed',
      'extensions.tools[new]': 'cleared',
    });
    expect(JSON.stringify(change)).not.toContain('canary');
  });
});
