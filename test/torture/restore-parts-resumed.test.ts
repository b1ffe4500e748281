import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateIdentity } from 'age-encryption';
import { describe, expect } from 'vitest';
import { parted } from '../features/recovery/parts-stage.ts';
import { goOn, interruptedAt, kill } from '../features/recovery/stopped.ts';

const EDIT = { greeting_message: 'Who is there?' };
const flat = (text: string) => text.replaceAll(/\s+/g, ' ');

describe('a restoration in parts that is stopped', () => {
  // Others, and kills, are taken by `npm run torture`.
  interruptedAt('between parts, before anything of the next is read', 'getMe', 5);

  parted('goes on with the right keys alone', async (fleet) => {
    await kill(fleet);
    const { stage, restore, before, now } = fleet;
    const [asked, writes] = [stage.sim.requests.length, stage.writes().length];
    const other = join(stage.folder, 'other.txt');
    await writeFile(other, `${await generateIdentity()}\n`);
    expect((await restore({ identity: [other] }, { exit: 1 })).err).toContain('key');
    expect(stage.sim.requests.length).toBe(asked);

    const { account } = stage.sim.store;
    const { id } = account;
    Object.assign(account, { id: '00000000-0000-4000-8000-000000000001' });
    expect(flat((await restore({}, { exit: 1 })).err)).toContain('belongs to account');
    expect(stage.writes().length).toBe(writes);
    Object.assign(account, { id });

    // Without its key a fingerprint tells nothing, and no secret is in doubt for it.
    const key = { CALLSHEET_FINGERPRINT_KEY: 'another key' };
    expect((await restore({}, { env: key })).summary().status).toBe('done');
    expect(now()).toEqual(before);
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

  parted('what others edited, or made in its place, is in the way', async (fleet) => {
    const { stage, restore } = fleet;
    const { agents } = stage.sim.store;
    const last = [...agents.values()].at(-1);
    await kill(fleet);
    const [made] = agents.values();
    if (made === undefined || last === undefined) throw new Error('the fleet has no agents');
    stage.sim.edit(made.id, EDIT);
    const id = 'ffffffff-0000-4000-8000-000000000001';
    agents.set(id, { ...last, id, record: { ...last.record, id, ...EDIT } });
    const writes = stage.writes().length;
    const { err } = await restore({}, { exit: 4 });
    expect(flat(err)).toContain('the target is not empty: 2 resources');
    expect(err).toContain(`${made.id}  differs`);
    expect(err).toContain(`${id}  differs`);
    expect(stage.writes().length).toBe(writes);
    await goOn(fleet, { over: true });
  });
});
