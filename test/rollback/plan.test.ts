import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import type { HistoryEntry } from '../../src/plan/reader.ts';
import { undoRun } from '../../src/rollback/undo.ts';
import { type Documents, HARBOR, world } from '../world.ts';
import { type Deed, journalOf } from './runs.ts';

const DESK = { organization_id: HARBOR, name: 'Desk' };
const BEFORE = { id: 'a1', ...DESK, greeting_message: 'Hello', status: 'active' };
const AFTER = { id: 'a1', ...DESK, greeting_message: 'Good day', status: 'inactive' };

const entry = (id: number): HistoryEntry => ({
  id,
  action: 'updated',
  actor: 'api:acc',
  source: 'dashboard-api',
  at: null,
  reverted_from_id: null,
});
const HISTORY = [entry(42), entry(41)];

/** The plan that undoes a run, from what is live and what the state says now. */
async function rollback(
  deeds: readonly Deed[],
  live: Readonly<Record<string, readonly JsonObject[]>>,
  applied: Documents,
  history: readonly HistoryEntry[] = HISTORY,
): Promise<readonly Change[]> {
  const undo = undoRun(journalOf(deeds));
  const { plan } = await world()
    .wanting(undo.desired)
    .live(live)
    .history({ a1: history })
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
      undoing: { way: 'revert_and_update', why: 'a revert does not restore status' },
    });
    expect(change?.fields).toMatchObject([
      { path: 'greeting_message', before: 'Good day', after: 'Hello' },
      { path: 'status', before: 'inactive', after: 'active' },
    ]);
  });

  const { history: _, ...unversioned } = updated;
  test.each<[string, Deed, readonly HistoryEntry[], string]>([
    ['no version is known', unversioned, HISTORY, 'no history entry from before is known'],
    [
      'retention took the version',
      updated,
      [entry(42)],
      'its history no longer has entry 41, the newest one from before',
    ],
    [
      'the version is not among those around it',
      updated,
      [entry(42), ...Array.from({ length: 30 }, (_, at) => entry(40 - at))],
      'its history no longer has entry 41, the newest one from before',
    ],
    [
      'history records none of it',
      { ...updated, fields: ['status'] },
      HISTORY,
      'a revert restores none of it',
    ],
  ])('only updates where %s', async (_why, deed, history, why) => {
    const [change] = await rollback([deed], { agent: [AFTER] }, WRITTEN, history);
    expect(change?.operations).toEqual([{ step: 'update', fields: deed.fields }]);
    expect(change?.undoing).toEqual({ way: 'update', why });
  });

  test('reverts where there are too many newer entries to tell', async () => {
    const newer = Array.from({ length: 30 }, (_, at) => entry(80 - at));
    const [change] = await rollback([updated], { agent: [AFTER] }, WRITTEN, newer);
    expect(change?.operations[0]).toMatchObject({ step: 'revert', version: 41 });
  });

  test('reverts alone where history records all of it', async () => {
    const deed = { ...updated, fields: ['greeting_message'] };
    const [change] = await rollback([deed], { agent: [AFTER] }, WRITTEN);
    expect(change?.operations).toEqual([
      { step: 'revert', fields: ['greeting_message'], version: 41 },
    ]);
    expect(change?.undoing).toEqual({ way: 'revert', why: 'history records all of it' });
  });

  test('puts web transfer back, which a revert takes along with call transfer', async () => {
    const before = { ...BEFORE, transfer_enabled: false, web_transfer_enabled: true };
    const now = { ...BEFORE, transfer_enabled: true, web_transfer_enabled: true };
    const deed = { ...updated, before, fields: ['transfer_enabled'] };
    const [change] = await rollback([deed], { agent: [now] }, { 'agent.desk': now });
    expect(change?.operations).toEqual([
      { step: 'revert', fields: ['transfer_enabled'], version: 41 },
      { step: 'update', fields: ['web_transfer_enabled'] },
    ]);
    expect(change?.undoing).toEqual({
      way: 'revert_and_update',
      why: 'a revert that switches transfer_enabled off takes web_transfer_enabled with it',
    });
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
      'extensions.tools[new]': 'cleared',
    });
    expect(JSON.stringify(change)).not.toContain('canary');
  });
});
