import { expect } from 'vitest';
import { createEmail } from './email-templates.ts';
import { ID } from './ids.ts';
import { DESK, entriesOf, revert } from './revert-steps.ts';
import { withAgent } from './seed.ts';
import { type Row, reads, section, writes } from './suite.ts';
import { record, records, type World } from './world.ts';

const flip = ({ patch }: World, registrationEnabled: boolean) =>
  patch(`${DESK}/sip/registration`, { body: { registrationEnabled } });

export const states: readonly Row[] = [
  ...section(
    'States · Agent',
    writes('is_active follows the status', async ({ get, put }) => {
      const seen: unknown[] = [];
      for (const status of ['inactive', 'active', 'cancelled', 'pending']) {
        await put(DESK, { body: { status } });
        seen.push(record(await get(DESK)).is_active);
      }
      expect(seen).toEqual([false, true, false, false]);
    }),
  ),
  ...section(
    'States · SIP registration',
    writes('a deregistered agent stays active', async (world) => {
      await flip(world, false);
      expect(record(await world.get(DESK))).toMatchObject({ status: 'active', is_active: true });
    }),
    writes(
      'registering an agent does not make it active',
      async (world) => {
        await flip(world, true);
        expect(record(await world.get(DESK)).status).toBe('inactive');
      },
      withAgent(ID.desk, { status: 'inactive' }),
    ),
    writes('the change is handed on for the registrar to pick up', async (world) => {
      await flip(world, false);
      expect(world.sim.store.sipChanges).toEqual([
        expect.objectContaining({ agentId: ID.desk, enabled: false }),
      ]);
    }),
    writes(
      'the registrar picks the change up later',
      async (world) => {
        await flip(world, false);
        const seen = [world.sim.isRegistered(ID.desk)];
        world.sim.advance(3000);
        seen.push(world.sim.isRegistered(ID.desk));
        expect(seen).toEqual([true, false]);
      },
      { dialect: { sipLagMs: 2000 } },
    ),
    reads('it needs a registration that exists', async ({ patch }) => {
      const { status } = await patch(`/v1/agents/${ID.bare}/sip/registration`, {
        body: { registrationEnabled: true },
      });
      expect(status).toBe(404);
    }),
  ),
  ...section(
    'States · Agent settings version',
    writes('a revert makes an entry of its own', async (world) => {
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      const before = (await entriesOf(world)).length;
      await revert(world);
      expect((await entriesOf(world)).slice(before)).toEqual([
        expect.objectContaining({ action: 'reverted' }),
      ]);
    }),
    writes('none where the version matches already', async (world) => {
      const before = (await entriesOf(world)).length;
      await revert(world);
      expect(await entriesOf(world)).toHaveLength(before);
    }),
  ),
  ...section(
    'States · Email template',
    ...['draft', 'active'].map((status) =>
      writes(`one made as ${status} is ${status}, in version 1`, async (world) => {
        const made = record(await createEmail(world, { status, subject: 'Hi' }));
        expect(made).toMatchObject({ status, version: 1 });
      }),
    ),
  ),
  ...section(
    'States · Feature',
    writes('a lock moves a feature from available to locked, and back', async (world) => {
      const state = async () =>
        records(await world.get(`/v1/features?organization_id=${ID.harbor}`)).find(
          ({ key }) => key === 'knowledge_base',
        )?.state;
      const seen = [await state()];
      world.sim.lock('reseller', ID.tidewater, 'knowledge_base');
      seen.push(await state());
      world.sim.unlock('reseller', ID.tidewater, 'knowledge_base');
      seen.push(await state());
      expect(seen).toEqual(['available', 'locked', 'available']);
    }),
  ),
  ...section(
    'States · Knowledge base source',
    writes(
      'an ingestion that is done leaves the source active',
      async (world) => {
        const path = `/v1/knowledge-bases/${ID.base}/sources`;
        const url = 'https://harbor.example.test/new';
        const { sourceId } = record(await world.post(path, { body: { sourceType: 'url', url } }));
        const look = async () => records(await world.get(path)).find(({ id }) => id === sourceId);
        const seen = [await look(), await look(), await look()];
        expect(seen[0]?.last_synced_at ?? null).toBeNull();
        expect(seen.at(-1)?.status).toBe('active');
      },
      { dialect: { ingestionReads: 2 } },
    ),
  ),
  ...section(
    'States · Deleted retry policy',
    writes('agents that followed it are still there', async (world) => {
      await world.delete(`/v1/retry-policies/${ID.gentle}`);
      expect(record(await world.get(DESK)).status).toBe('active');
    }),
    writes('such an agent can be saved', async (world) => {
      await world.delete(`/v1/retry-policies/${ID.gentle}`);
      expect((await world.put(DESK, { body: { name: 'Without' } })).status).toBe(200);
    }),
  ),
];
