import { describe, expect, test } from 'vitest';
import { type Overview, together } from '../../../src/features/recovery/overview.ts';
import { before, parted } from './parts-stage.ts';
import { wipe } from './restoring.ts';

const flat = (text: string) => text.replaceAll(/\s+/g, ' ');
const EDIT = { greeting_message: 'Who is there?' };

describe('limits of the stack', () => {
  parted('count the changes of all parts together', async (fleet) => {
    const { stage, restore, guard } = fleet;
    for (const id of stage.sim.store.agents.keys()) stage.sim.edit(id, EDIT);
    const dir = await guard('max_change_percent: 25');
    const { out, err } = await restore({ dir, over: true, format: 'text' }, { exit: 4 });
    expect(flat(out)).toMatch(
      /changes 6 of 1\d resources, and guards\.max_change_percent: 25 allows [234]\. Raise the limit, or restore a part with --organization\. To override the limit once, pass --override-limits REASON/,
    );
    expect(flat(err)).toContain('Nothing was written');
    // To leave all of it out would help nobody.
    expect(err).not.toContain('--skip-refused');
    expect(stage.writes()).toEqual([]);
    const { summary } = await restore({ dir, over: true, overrideLimits: 'the fleet is gone' });
    expect(summary().status).toBe('done');
  });

  parted('let pass what is much of one part and little of the whole', async (fleet) => {
    const { stage, restore, guard, before, now } = fleet;
    const [first, ...others] = stage.sim.store.agents.values();
    const own = others.filter(
      ({ record }) => record.organization_id === first?.record.organization_id,
    );
    for (const { id } of own.slice(0, 3)) stage.sim.edit(id, EDIT);
    const dir = await guard('max_change_percent: 25');
    const { summary } = await restore({ dir, over: true });
    expect([summary().status, summary().runs.length > 1]).toEqual(['done', true]);
    expect(now()).toEqual(before);
  });

  parted('hold in every part and round where what is refused is left out', async (fleet) => {
    const { stage, restore, guard } = fleet;
    for (const id of stage.sim.store.agents.keys()) stage.sim.edit(id, EDIT);
    stage.sim.store.emailTemplates.clear();
    const dir = await guard('max_change_percent: 25');
    const flags = { dir, over: true, skipRefused: true };
    const { summary } = await restore(flags, { exit: 3 });
    const { status, remaining } = summary();
    const left = remaining.filter(({ verdict }) => verdict === 'refused');
    expect([status, left.length, remaining.length]).toEqual(['partial', 6, 6]);
    expect(stage.sim.store.emailTemplates.size).toBeGreaterThan(0);
    expect(stage.writes().filter(({ operation }) => operation === 'updateAgent')).toEqual([]);
  });

  test('count the deletes of all parts together', () => {
    const part = (...addresses: readonly string[]) =>
      ({
        plan: {
          changes: addresses.map((address) => ({
            address,
            action: 'replace',
            verdict: 'ok',
            reason: 'language cannot be changed once it exists',
            operations: [{ step: 'delete', fields: [] }],
          })),
          summary: { no_op: 0 },
          requests: { reads: 0, writes: 0, seconds: 0 },
          options: { allow_delete: true, target: [] },
          purpose: 'restore',
          assumptions: [],
          notes: [],
        },
        exceptions: [],
        needs: [],
        mentions: new Map(),
        deferred: new Map(),
        collisions: [],
        found: new Set(addresses),
        struck: new Map(),
        proof: { resources: addresses.length, values: 0 },
      }) as unknown as Overview;
    const parts = [part('custom_voice.a', 'custom_voice.b'), part('custom_voice.c')] as const;
    const { plan, struck } = together(parts, { max_delete: 2 });
    expect(plan.changes.map(({ verdict }) => verdict)).toEqual(['refused', 'refused', 'refused']);
    expect([...struck.values()]).toContainEqual(
      'the plan deletes 3 resources, more than guards.max_delete: 2 allows. Raise the limit, or restore a part with --organization. To override the limit once, pass --override-limits REASON',
    );
    const allowed = together(parts, { max_delete: 3 });
    expect([allowed.struck.size, allowed.plan.summary.replace]).toEqual([0, 3]);
  });
});

parted('an interrupt in one part leaves what the parts after it were to do', async (fleet) => {
  wipe(fleet.stage.sim);
  const dry = await fleet.restore({ dryRun: true });
  const planned = dry.summary().remaining.map(({ address }) => address);
  const stop = new AbortController();
  const outside = before('createRetryPolicy', 2, () => stop.abort());
  const { summary } = await fleet.restore({}, { outside, stop: stop.signal, exit: 130 });
  const { status, remaining } = summary();
  expect(status).toBe('interrupted');
  const left = new Set(remaining.map(({ address }) => address));
  const made = fleet.now();
  const isLast = planned.at(-1) ?? '';
  expect(left).toContain(isLast);
  expect(left.size).toBeLessThan(planned.length);
  expect(made).not.toEqual(fleet.before);
  // What is told as left is what the next one still does.
  const again = await fleet.restore({ dryRun: true });
  expect([...left].sort()).toEqual(
    again
      .summary()
      .remaining.map(({ address }) => address)
      .sort(),
  );
});
