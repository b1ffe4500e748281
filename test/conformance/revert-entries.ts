import { expect } from 'vitest';
import { ID } from './ids.ts';
import { DESK, DONE, entriesOf, revert } from './revert-steps.ts';
import { coded, expectReply, type Row, reads, section, writes } from './suite.ts';
import { record } from './world.ts';

export const revertEntries: readonly Row[] = [
  ...section(
    'Endpoints · Agents · Revert 4',
    writes('a version that matches makes no entry', async (world) => {
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      const entries = await entriesOf(world);
      const path = `${DESK}/history/${String(entries.at(-1)?.id)}/revert`;
      expectReply(await world.post(path), 200, DONE);
      expect(await entriesOf(world)).toEqual(entries);
    }),
    writes('the agent is left as it was', async (world) => {
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      const before = record(await world.get(DESK));
      const id = (await entriesOf(world)).at(-1)?.id;
      await world.post(`${DESK}/history/${String(id)}/revert`);
      expect(record(await world.get(DESK))).toEqual(before);
    }),
    writes('a difference only in what a revert leaves is a match', async (world) => {
      await world.put(DESK, { body: { status: 'inactive' } });
      const before = (await entriesOf(world)).length;
      expectReply(await revert(world), 200, DONE);
      expect(await entriesOf(world)).toHaveLength(before);
    }),
  ),
  ...section(
    'Endpoints · Agents · Revert 5',
    writes('the new entry says what was restored, by whom and from where', async (world) => {
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      const [oldest] = await entriesOf(world);
      await revert(world);
      expect((await entriesOf(world)).at(-1)).toMatchObject({
        action: 'reverted',
        reverted_from_id: oldest?.id,
        actor: { id: `api:${ID.account}` },
        source: 'dashboard-api',
      });
    }),
    writes(
      'the entry may take some seconds to appear, and then does',
      async (world) => {
        world.sim.advance(5000);
        await world.put(DESK, { body: { systemPrompt: 'Other' } });
        world.sim.advance(5000);
        await revert(world);
        const actions = async () => (await entriesOf(world)).map(({ action }) => action);
        expect(await actions()).not.toContain('reverted');
        world.sim.advance(5000);
        expect(await actions()).toContain('reverted');
      },
      { dialect: { historyLagMs: 3000 } },
    ),
    writes('a revert can be reverted', async (world) => {
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      const changed = (await entriesOf(world)).at(-1)?.id;
      await revert(world);
      expectReply(await world.post(`${DESK}/history/${String(changed)}/revert`), 200, DONE);
      expect(record(await world.get(DESK)).system_prompt).toBe('Other');
    }),
    writes('an entry of a revert can be restored itself', async (world) => {
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      await revert(world);
      const reverted = (await entriesOf(world)).at(-1)?.id;
      await world.put(DESK, { body: { systemPrompt: 'Third' } });
      expectReply(await world.post(`${DESK}/history/${String(reverted)}/revert`), 200, DONE);
      expect(record(await world.get(DESK)).system_prompt).toBe('You answer the phone.');
    }),
  ),
  ...section(
    'Endpoints · Agents · Revert 6',
    writes('the restored settings hold at once', async (world) => {
      await world.put(DESK, { body: { greetingMessage: 'Other' } });
      await revert(world);
      expect(record(await world.get(DESK)).greeting_message).toBe('Harbor Dental, how can I help?');
    }),
  ),
  ...section(
    'Endpoints · Agents · Revert 7',
    reads('an agent on another provider is not reverted', async (world) => {
      expectReply(await revert(world, `/v1/agents/${ID.elsewhere}`), 403, coded('forbidden'));
    }),
  ),
  ...section(
    'Endpoints · Agents · Revert 8',
    writes('a scoped key reverts inside its scope', async (world) => {
      const path = `/v1/agents/${ID.recall}`;
      await world.put(path, { body: { systemPrompt: 'Other' } });
      expectReply(await revert(world, path, { as: 'north-key' }), 200, DONE);
    }),
    reads('outside its scope the answer is that of a missing agent', async (world) => {
      const outside = await revert(world, DESK, { as: 'north-key' });
      const missing = await world.post(`/v1/agents/${ID.nobody}/history/1/revert`, {
        as: 'north-key',
      });
      expectReply(outside, 404, coded('not_found'));
      expect(outside.body).toEqual(missing.body);
    }),
  ),
];
