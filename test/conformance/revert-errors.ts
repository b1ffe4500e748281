import { expect } from 'vitest';
import { ID } from './ids.ts';
import { DESK, DONE, entriesOf, revert } from './revert-steps.ts';
import { answers, coded, expectReply, type Row, reads, section, writes } from './suite.ts';
import { record } from './world.ts';

export const revertErrors: readonly Row[] = [
  ...section(
    'Endpoints · Agents · Revert errors',
    ...['0', '-1', '1.5', 'latest'].map((version) =>
      reads(
        `a version of ${version} is invalid`,
        answers(
          ({ post }) => post(`${DESK}/history/${version}/revert`),
          400,
          coded('invalid_request'),
        ),
      ),
    ),
    reads(
      'a version that the agent never had is not found',
      answers(({ post }) => post(`${DESK}/history/99999/revert`), 404, coded('not_found')),
    ),
    reads('a version of another agent is not found', async (world) => {
      const [other] = await entriesOf(world, `/v1/agents/${ID.recall}`);
      const reply = await world.post(`${DESK}/history/${String(other?.id)}/revert`);
      expectReply(reply, 404, coded('not_found'));
    }),
    writes(
      'a version that retention removed is not found',
      async (world) => {
        const [oldest] = await entriesOf(world);
        for (const name of ['One', 'Two', 'Three']) await world.put(DESK, { body: { name } });
        const reply = await world.post(`${DESK}/history/${String(oldest?.id)}/revert`);
        expectReply(reply, 404, coded('not_found'));
      },
      { dialect: { historyRetention: 2 } },
    ),
    reads(
      'a request without the header is told so',
      answers(
        ({ post }) => post(`${DESK}/history/1/revert`, { authorization: null }),
        401,
        coded('invalid_request', /Authorization/i),
      ),
    ),
    writes('a token from before a rotation is told otherwise', async (world) => {
      const authorization = await world.bearer();
      world.sim.rotateSecret();
      const { status, body } = await world.post(`${DESK}/history/1/revert`, { authorization });
      expect(status).toBe(401);
      expect(body.error_description).not.toMatch(/missing|malformed/i);
    }),
    writes('while it is unavailable nothing is saved', async (world) => {
      await world.put(DESK, { body: { systemPrompt: 'Other' } });
      world.sim.faults.add({ operation: 'revertAgent', status: 503 });
      expectReply(await revert(world), 503, coded('temporarily_unavailable'));
      expect(record(await world.get(DESK)).system_prompt).toBe('Other');
      expectReply(await revert(world), 200, DONE);
    }),
    writes('an internal error is a 500', async (world) => {
      world.sim.faults.add({ operation: 'revertAgent', status: 500 });
      expect((await revert(world)).status).toBe(500);
    }),
  ),
];
