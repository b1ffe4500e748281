import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { ID } from './ids.ts';
import { expectReply } from './suite.ts';
import { type Ask, type Reply, records, type World } from './world.ts';

export const DESK = `/v1/agents/${ID.desk}`;

/** What every revert that goes through answers. */
export const DONE = { success: true, message: expect.stringMatching(/\S/) };

/** Entries of an agent's history, oldest first. */
export async function entriesOf({ get }: World, path = DESK): Promise<readonly JsonObject[]> {
  const entries = records(await get(`${path}/history`));
  return entries.toSorted((a, b) => Number(a.id) - Number(b.id));
}

/** Reverts an agent to its oldest entry. */
export async function revert(world: World, path = DESK, ask: Ask = {}): Promise<Reply> {
  const [oldest] = await entriesOf(world, path);
  return world.post(`${path}/history/${String(oldest?.id)}/revert`, ask);
}

/** Turns something on, then off; the last entry but one has it on. */
export async function onThenOff(world: World, on: object, off: object): Promise<string> {
  expectReply(await world.put(DESK, { body: on }), 200);
  const id = (await entriesOf(world)).at(-1)?.id;
  expectReply(await world.put(DESK, { body: off }), 200);
  return `${DESK}/history/${String(id)}/revert`;
}
