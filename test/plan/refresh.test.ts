import { describe, expect, test } from 'vitest';
import { computeDigest } from '../../src/core/digest.ts';
import { Blob } from '../../src/core/value.ts';
import type { State } from '../../src/state/model.ts';
import { type Documents, fingerprinter, HARBOR, KEY, type WorldBuilder, world } from '../world.ts';

/** The world after its plan's refresh was stored. */
async function refreshed(made: WorldBuilder): Promise<{ state: State; again: WorldBuilder }> {
  const { refresh } = await made.plan();
  const before = made.state();
  const resources = { ...before.resources, ...Object.fromEntries(refresh) };
  const state = { ...before, serial: before.serial + 1, resources };
  return { state, again: made.having({ state }) };
}

const DESK = { name: 'Desk', greeting_message: 'Hello' };
const LIVE = { agent: [{ id: 'a1', ...DESK, updated_at: '2026-03-01T00:00:00Z' }] };
const SMS = {
  integrations: { smsProvider: { account_sid: 'AC1', auth_token: { $secret: 'env:TOKEN' } } },
};
const SMS_LIVE = {
  agent: [{ id: 'a1', ...DESK, integrations: { smsProvider: { account_sid: 'AC1' } } }],
};
const SECRET = 'integrations.smsProvider.auth_token';

describe('what equals the configuration', () => {
  test('is remembered when it was found', async () => {
    const made = world().desired({ 'agent.desk': DESK }).live(LIVE);
    const { state, again } = await refreshed(made);
    expect(state.resources['agent.desk']).toEqual({
      kind: 'agent',
      id: 'a1',
      scope: { organization_id: HARBOR },
      name: 'Desk',
      leaves: {
        organization_id: { value: HARBOR },
        name: { value: 'Desk' },
        greeting_message: { value: 'Hello' },
      },
      pin: expect.objectContaining({ updated_at: '2026-03-01T00:00:00Z', history_id: null }),
      protect: false,
    });
    const { plan, refresh } = await again.plan();
    expect(plan.changes).toEqual([]);
    expect(refresh.size).toBe(0);
  });

  test('is remembered when both sides came to agree', async () => {
    const made = world()
      .desired({ 'agent.desk': { ...DESK, greeting_message: 'Good day' } })
      .live({ agent: [{ id: 'a1', ...DESK, greeting_message: 'Good day' }] })
      .applied({ 'agent.desk': { id: 'a1', ...DESK } });
    const { state } = await refreshed(made);
    expect(state.resources['agent.desk']?.leaves.greeting_message).toEqual({ value: 'Good day' });
  });

  test('is not remembered while anything is to be done', async () => {
    const made = world()
      .desired({ 'agent.desk': { ...DESK, status: 'inactive' } })
      .live(LIVE)
      .applied({ 'agent.desk': { id: 'a1', ...DESK } });
    expect((await made.plan()).refresh.size).toBe(0);
  });

  test('keeps the history entry that is known', async () => {
    const made = world()
      .desired({ 'agent.desk': { ...DESK, lifecycle: { protect: true } } })
      .live(LIVE)
      .applied({ 'agent.desk': { id: 'a1', history_id: 41, ...DESK } });
    const { state } = await refreshed(made);
    expect(state.resources['agent.desk']).toMatchObject({ protect: true, pin: { history_id: 41 } });
  });

  test('does not remember what is ignored', async () => {
    const ignoring = { ...DESK, lifecycle: { ignore: ['greeting_message', 'extensions.tools'] } };
    const made = world()
      .desired({ 'agent.desk': { ...ignoring, extensions: { tools: [] } } })
      .live(LIVE);
    const { state } = await refreshed(made);
    expect(Object.keys(state.resources['agent.desk']?.leaves ?? {})).toEqual([
      'organization_id',
      'name',
    ]);
  });

  test('remembers that a list is owned, though it is empty', async () => {
    const made = world()
      .desired({ 'agent.desk': { ...DESK, extensions: { tools: [] } } })
      .live(LIVE);
    const { state, again } = await refreshed(made);
    expect(state.resources['agent.desk']?.leaves['extensions.tools']).toEqual({ value: null });
    const edited = again.live({
      agent: [{ ...LIVE.agent[0], extensions: { tools: [{ name: 'x' }] } }],
    });
    expect((await edited.changes()).get('agent.desk')?.fields).toMatchObject([
      { path: 'extensions.tools[x]', cause: 'drifted' },
    ]);
  });
});

describe('a secret', () => {
  const desired: Documents = { 'agent.desk': { ...DESK, ...SMS } };
  const found = world().desired(desired).live(SMS_LIVE).secrets({ 'env:TOKEN': 'one' });
  const source = computeDigest('env:TOKEN');

  test('that was taken over is remembered as that, and stays unknown', async () => {
    const { state, again } = await refreshed(found);
    expect(state.resources['agent.desk']?.leaves[SECRET]).toEqual({ unknown: true, source });
    expect((await again.plan()).plan.notes).toHaveLength(1);
  });

  test('that was written stays remembered', async () => {
    const made = found.applied({ 'agent.desk': { id: 'a1', ...DESK, ...SMS } });
    const { plan, refresh } = await made.plan();
    expect(plan.changes).toEqual([]);
    expect(plan.notes).toEqual([]);
    const [, remembered] = [...refresh][0] ?? [];
    const { of } = fingerprinter(KEY);
    expect(remembered?.leaves[SECRET]).toEqual({
      fingerprint: of('agent.desk', SECRET, 'one'),
      source,
    });
  });

  /** The other resource was never sent it: to take it for equal would leave an agent without its secret. */
  test('of a resource that is gone is written to the one that took its name', async () => {
    const made = found.applied({ 'agent.desk': { id: 'gone', history_id: 7, ...DESK, ...SMS } });
    const { plan } = await made.plan();
    expect(plan.changes).toMatchObject([
      { id: 'a1', action: 'update', fields: [{ path: SECRET, cause: 'secret_unwritten' }] },
    ]);
  });

  test('that is newer than the schema is sent again, too, though nothing moved since', async () => {
    const desk = { ...DESK, bargeInToken: { $secret: 'env:TOKEN' } };
    const made = world()
      .desired({ 'agent.desk': desk })
      .live(LIVE)
      .applied({ 'agent.desk': { id: 'a1', ...desk } })
      .secrets({ 'env:TOKEN': 'one' });
    const { 'agent.desk': known } = made.state().resources;
    if (known?.pin === null || known === undefined) throw new Error('nothing is remembered');
    const updated_at = '2026-03-01T00:00:00Z';
    const pin = { ...known.pin, updated_at, certain: true as const };
    const state = { ...made.state(), resources: { 'agent.desk': { ...known, pin } } };
    const again = made.having({ state, refresh: 'fast' });
    expect([...(await again.changes()).keys()]).toEqual([]);
    const resent = await again.options({ resend_secrets: true }).changes();
    expect(resent.get('agent.desk')?.fields).toMatchObject([
      { path: 'bargeInToken', cause: 'secret_resent' },
    ]);
  });

  test('that is no longer configured is spoken of once', async () => {
    const bare = { integrations: { smsProvider: { account_sid: 'AC1' } } };
    const made = found
      .desired({ 'agent.desk': { ...DESK, ...bare } })
      .applied({ 'agent.desk': { id: 'a1', ...DESK, ...SMS } });
    expect((await made.plan()).plan.notes).toMatchObject([{ severity: 'warning' }]);
    const { again } = await refreshed(made);
    expect((await again.plan()).plan.notes).toEqual([]);
  });
});

test('a file that was taken over is remembered, so that the next version is noticed', async () => {
  const file = (sha256: string) => new Blob('docs/prices.pdf', sha256, 9, 'application/pdf');
  const source = { knowledge_base_id: 'kb1', name: 'prices.pdf' };
  const address = 'knowledge_source.kb.prices';
  const made = world()
    .desired({ [address]: { ...source, file: file('aa') } })
    .live({ knowledge_source: [{ id: 's1', ...source, status: 'active', chunk_count: 1 }] });
  const { again } = await refreshed(made);
  expect((await again.plan()).plan).toMatchObject({ changes: [], notes: [] });
  const next = again.desired({ [address]: { ...source, file: file('bb') } });
  expect((await next.changes()).get(address)?.action).toBe('update');
});
