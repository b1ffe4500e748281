import { expect, test } from 'vitest';
import { concealResource, secretsInClear } from '../../src/plan/state-entry.ts';
import type { AppliedLeaf } from '../../src/state/model.ts';
import { fingerprinter, HARBOR, world } from '../world.ts';

const URL = 'https://me:canary-1@crm.example.test/c?token=canary-2';
const OPTIONS = { private_key: 'canary-3' };
const own = {
  name: 'Desk',
  config: { note: 'plain' },
  extensions: {
    mcp_servers: [{ connection_name: 'C', mcp_endpoint_url: URL, initialization_options: OPTIONS }],
  },
};

/** What an earlier version wrote: in clear whatever neither list of names had. */
const then: Readonly<Record<string, AppliedLeaf>> = {
  'extensions.mcp_servers[C].mcp_endpoint_url': { value: URL },
  'extensions.mcp_servers[C].initialization_options': { value: OPTIONS },
};

/** A stack that an earlier version applied, and whose state is as it left it. */
async function older(live: object = {}) {
  const at = world()
    .desired({ 'agent.desk': own })
    .live({ agent: [{ id: 'a1', organization_id: HARBOR, ...own, ...live }] })
    .applied({ 'agent.desk': { id: 'a1', ...own } });
  const state = at.state();
  const known = state.resources['agent.desk'];
  if (known === undefined) throw new Error('nothing was applied');
  const resource = { ...known, leaves: { ...known.leaves, ...then } };
  return { at, resource, state: { ...state, resources: { 'agent.desk': resource } } };
}

test('a state with secrets in clear means what it meant: no change, and it is written anew', async () => {
  const { at, state, resource } = await older();
  const { plan, refresh } = await at.plan({ state });
  expect(plan.changes).toEqual([]);
  expect(plan.notes).toEqual([]);
  const now = refresh.get('agent.desk');
  expect(JSON.stringify(now)).not.toContain('canary');
  expect(secretsInClear(resource)).toEqual(Object.keys(then));
  expect(concealResource('agent.desk', resource, fingerprinter('key')).leaves).not.toMatchObject(
    then,
  );
});

test('what is concealed equals what was written, and tells a drift', async () => {
  const { at, state, resource } = await older({ greeting_message: 'theirs' });
  const { fingerprints } = at.given();
  const concealed = concealResource('agent.desk', resource, fingerprints);
  expect(JSON.stringify(concealed)).not.toContain('canary');
  expect(secretsInClear(concealed)).toEqual([]);
  expect(concealResource('agent.desk', concealed, fingerprints)).toBe(concealed);
  const again = await at.plan({ state: { ...state, resources: { 'agent.desk': concealed } } });
  expect(again.plan.changes).toEqual([]);
  const { leaves = {} } = again.refresh.get('agent.desk') ?? {};
  // Whoever concealed it did not know where it came from.
  expect(leaves).toMatchObject(concealed.leaves);
  expect(Object.keys(leaves)).toEqual(Object.keys(concealed.leaves));

  const moved = structuredClone(own);
  const [server] = moved.extensions.mcp_servers;
  if (server !== undefined) server.mcp_endpoint_url = URL.replace('canary-2', 'canary-9');
  const drifted = at.live({ agent: [{ id: 'a1', organization_id: HARBOR, ...moved }] });
  const { plan } = await drifted.plan({
    state: { ...state, resources: { 'agent.desk': concealed } },
  });
  expect(plan.changes.flatMap(({ fields }) => fields)).toMatchObject([
    {
      path: 'extensions.mcp_servers[C].mcp_endpoint_url',
      cause: 'drifted',
      before: 'https://me:(secret)@crm.example.test/c?token=(secret)',
      after: 'https://me:(secret)@crm.example.test/c?token=(secret)',
    },
  ]);
});
