import { describe, expect } from 'vitest';
import { before as beforeRequest, FEW, parted } from '../features/recovery/parts-stage.ts';

const EDIT = { greeting_message: 'Who is there?' };

describe('a damaged fleet, in parts', () => {
  parted('becomes what it was, and keeps what is not of the snapshot', async (fleet) => {
    const { stage, restore, before, now } = fleet;
    const { agents, smsTemplates, retryPolicies } = stage.sim.store;
    const [first, second, third] = agents.values();
    if (first === undefined || second === undefined || third === undefined) throw new Error();
    agents.delete(first.id);
    stage.sim.edit(second.id, EDIT);
    for (const id of [...smsTemplates.keys()].slice(0, 2)) smsTemplates.delete(id);
    for (const id of [...retryPolicies.keys()].slice(0, 1)) retryPolicies.delete(id);
    const own = { ...third, id: 'ffffffff-0000-4000-8000-000000000001' };
    agents.set(own.id, { ...own, record: { ...third.record, id: own.id, name: 'Own' } });
    const refused = await restore({}, { exit: 4 });
    expect(refused.err).toContain('the target is not empty');
    expect(stage.writes()).toEqual([]);

    const { out, err } = await restore({ over: true, format: 'text' });
    expect(out).toContain('Verified: the platform matches the snapshot');
    expect(err).toContain(`[${FEW}/${FEW}]`);
    expect(agents.get(own.id)?.record.name).toBe('Own');
    agents.delete(own.id);
    expect(now()).toEqual(before);
    // The ledger names what was done once, whichever parts refer to it.
    const done = out.match(/^ {2}✓ \w+ +(\S+)/gm) ?? [];
    expect(new Set(done).size).toBe(done.length);
  });

  parted('names what it leaves out once', async ({ stage, restore }) => {
    const { voices } = stage.sim.store;
    for (const voice of voices.values())
      Object.assign(voice, { record: { ...voice.record, language: 'fi' } });
    const { out } = await restore({ over: true, format: 'text' }, { exit: 3 });
    expect(out).toMatch(new RegExp(`left out: ${voices.size} unsupported`));
  });

  parted('is left as it is where it moves after it was agreed to', async (fleet) => {
    const { stage, restore, before, now } = fleet;
    const { agents, retryPolicies } = stage.sim.store;
    const last = [...agents.values()].at(-1);
    if (last === undefined) throw new Error();
    retryPolicies.clear();
    const edit = () => stage.sim.edit(last.id, EDIT);
    const outside = beforeRequest('createRetryPolicy', 1, edit);
    const { out, err } = await restore({ over: true, format: 'text' }, { outside, exit: 5 });
    expect(err).toContain(' changed after the restore was approved');
    // What was done before is told all the same.
    expect(out).toMatch(/✓ created +retry_policy\./);
    expect(out).toContain('Run the same command again');
    expect(agents.get(last.id)?.record).toMatchObject(EDIT);
    await restore({ over: true });
    expect(now()).toEqual(before);
  });
});
