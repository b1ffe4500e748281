import { describe, expect } from 'vitest';
import type { Moment } from '../kill/matrix.ts';
import { mortal } from '../kill/mortal.ts';
import { before as beforeRequest, type Parted, parted } from './parts-stage.ts';
import { wipe } from './restoring.ts';

const EDIT = { greeting_message: 'Who is there?' };
/** In the midst of a part, and with some of the agents made. */
const AMID: Moment = { name: 'after request POST createAgent', nth: 4 };

/** Restores into the empty account until it is killed. */
async function kill({ stage, restore }: Parted, at: Moment = AMID): Promise<void> {
  wipe(stage.sim);
  const { outside, isDead } = mortal(at);
  await restore({}, { outside, exit: 'any' });
  expect(isDead(), `${at.name} never came`).toBe(true);
}

async function goOn({ restore, before, now }: Parted, more: object = {}): Promise<void> {
  const { summary } = await restore(more);
  expect([summary().status, summary().remaining]).toEqual(['done', []]);
  expect(now()).toEqual(before);
}

describe('a restoration in parts that is stopped', () => {
  const between = 'between parts, before anything of the next is read';
  for (const [what, operation, nth] of [
    ['in the midst of a part', 'createAgent', 3],
    [between, 'getMe', 5],
    ['while the next part is read', 'listAgents', 6],
  ] as const)
    parted(`by an interrupt ${what} goes on`, async (fleet) => {
      const { stage, restore } = fleet;
      wipe(stage.sim);
      const stop = new AbortController();
      const outside = beforeRequest(operation, nth, () => stop.abort());
      const { out } = await restore({ format: 'text' }, { outside, stop: stop.signal, exit: 130 });
      expect(stop.signal.aborted).toBe(true);
      expect(out).toContain('Interrupted. Run the same command again');
      await goOn(fleet);
    });

  for (const at of [
    AMID,
    { name: 'before open new journal', nth: 3 },
    { name: 'before request POST createAgent', nth: 1 },
  ])
    parted(`by a kill ${at.name}, the ${at.nth}. time, goes on`, async (fleet) => {
      await kill(fleet, at);
      await goOn(fleet);
    });

  parted('asks for the right passphrase before it goes on', async (fleet) => {
    await kill(fleet);
    const { stage, restore } = fleet;
    const [asked, writes] = [stage.sim.requests.length, stage.writes().length];
    const env = { CALLSHEET_SNAPSHOT_PASSPHRASE: 'another one entirely' };
    const { err } = await restore({}, { env, exit: 1 });
    expect(err).toContain('passphrase');
    expect([stage.sim.requests.length, stage.writes().length]).toEqual([asked, writes]);
    await goOn(fleet);
  });

  parted('goes on with another fingerprint key, and makes nothing twice', async (fleet) => {
    await kill(fleet);
    const { restore, before, now } = fleet;
    const env = { CALLSHEET_FINGERPRINT_KEY: 'another key' };
    const { summary } = await restore({}, { env });
    expect(summary().status).toBe('done');
    expect(now()).toEqual(before);
  });

  parted('is refused on another account', async (fleet) => {
    await kill(fleet);
    const { stage, restore } = fleet;
    const writes = stage.writes().length;
    const { id } = stage.sim.store.account;
    Object.assign(stage.sim.store.account, { id: '00000000-0000-4000-8000-000000000001' });
    const { err } = await restore({}, { exit: 1 });
    expect(err.replaceAll(/\s+/g, ' ')).toContain('belongs to account');
    expect(stage.writes().length).toBe(writes);
    Object.assign(stage.sim.store.account, { id });
    await goOn(fleet);
  });
});

describe('what happens between a kill and going on', () => {
  parted('what was made and is gone again is made anew', async (fleet) => {
    await kill(fleet);
    const { agents, retryPolicies } = fleet.stage.sim.store;
    for (const all of [agents, retryPolicies]) {
      const [id = ''] = all.keys();
      all.delete(id);
    }
    await goOn(fleet);
  });

  parted('what was made and edited since is not written over without a word', async (fleet) => {
    await kill(fleet);
    const { stage, restore } = fleet;
    const [made] = stage.sim.store.agents.values();
    if (made === undefined) throw new Error();
    stage.sim.edit(made.id, EDIT);
    const writes = stage.writes().length;
    const { err } = await restore({}, { exit: 4 });
    expect(err.replaceAll(/\s+/g, ' ')).toContain('the target is not empty: 1 resource');
    expect(err).toContain(`${made.id}  differs`);
    expect(stage.writes().length).toBe(writes);
    await goOn(fleet, { over: true });
  });

  parted('what others made in its place is in the way', async (fleet) => {
    const { stage, restore } = fleet;
    const last = [...stage.sim.store.agents.values()].at(-1);
    if (last === undefined) throw new Error();
    await kill(fleet);
    const id = 'ffffffff-0000-4000-8000-000000000001';
    const record = { ...last.record, id, ...EDIT };
    stage.sim.store.agents.set(id, { ...last, id, record });
    const { err } = await restore({}, { exit: 4 });
    expect(err).toContain(`${id}  differs`);
    await goOn(fleet, { over: true });
  });
});
