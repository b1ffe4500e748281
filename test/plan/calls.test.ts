import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import type { RecentCalls } from '../../src/plan/reader.ts';
import { BAY, HARBOR, world } from '../world.ts';

/** Figures by organization and agent, and the organizations that were asked for, as often as they were. */
function figures(known: Readonly<Record<string, Readonly<Record<string, number>>>> = {}) {
  const asked: string[] = [];
  let isCounted = false;
  const recentCalls: RecentCalls = {
    ask: (organization) => void asked.push(organization),
    counts: async () => {
      isCounted = true;
      return (organization, id) => known[organization]?.[id];
    },
  };
  return { recentCalls, asked, isCounted: () => isCounted };
}

const agent = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  organization_id: HARBOR,
  name: id.toUpperCase(),
  ...more,
});
const { id: _, ...A } = agent('a');
const APPLIED = { 'agent.a': agent('a') };

describe('calls are asked for', () => {
  const changed = world().desired({ 'agent.a': { ...A, model: 'alpha-4o' } });
  test.each([
    [
      'of an agent that changes',
      changed.live({ agent: [agent('a', { model: 'alpha-4.1' })] }).applied(APPLIED),
      'update',
    ],
    [
      'of one that drifted',
      world()
        .desired({ 'agent.a': { ...A, model: 'alpha-4o' } })
        .live({ agent: [agent('a', { model: 'alpha-4.1' })] })
        .applied({ 'agent.a': agent('a', { model: 'alpha-4o' }) }),
      'update',
    ],
    [
      'of one that is deleted',
      world()
        .live({ agent: [agent('a')] })
        .applied(APPLIED),
      'delete',
    ],
    [
      'of one that is replaced, in the organization that it is in',
      world()
        .desired({ 'agent.a': { ...A, organization_id: BAY } })
        .live({ agent: [agent('a')] })
        .applied(APPLIED),
      'replace',
    ],
  ])('%s', async (_title, made, action) => {
    const { recentCalls, asked } = figures({ [HARBOR]: { a: 412 } });
    const { plan } = await made.plan({ recentCalls });
    expect(plan.changes).toMatchObject([{ address: 'agent.a', action, calls: 412 }]);
    expect(asked).toEqual([HARBOR]);
  });

  test.each([
    ['of one that is made', world().desired({ 'agent.a': A })],
    [
      'of one that is taken over as it is',
      world()
        .desired({ 'agent.a': A })
        .live({ agent: [agent('a')] }),
    ],
    [
      'of one that stays as it is',
      world()
        .desired({ 'agent.a': A })
        .live({ agent: [agent('a')] })
        .applied(APPLIED),
    ],
    [
      'of one that is made again',
      world().desired({ 'agent.a': A }).live({ agent: [] }).applied(APPLIED),
    ],
    [
      'of one that is let go of',
      world()
        .live({ agent: [agent('a')] })
        .applied(APPLIED)
        .having({ isForgotten: () => true }),
    ],
    [
      'of a policy that changes',
      world()
        .desired({ 'retry_policy.p': { name: 'P', on_exhausted: 'voicemail' } })
        .live({ retry_policy: [{ id: 'p', name: 'P', on_exhausted: 'end' }] })
        .applied({ 'retry_policy.p': { id: 'p', name: 'P', on_exhausted: 'end' } }),
    ],
  ])('not %s', async (_title, made) => {
    const { recentCalls, asked, isCounted } = figures({ [HARBOR]: { a: 412 } });
    const { plan } = await made.plan({ recentCalls });
    expect(plan.changes.filter((change) => 'calls' in change)).toEqual([]);
    expect(asked).toEqual([]);
    expect(isCounted()).toBe(false);
  });
});

describe('the calls of a plan', () => {
  const ids = ['a', 'b', 'c'];
  const fleet = world()
    .desired(
      Object.fromEntries(
        ids.map((id) => [`agent.${id}`, { name: id.toUpperCase(), model: 'alpha-4o' }]),
      ),
    )
    .live({ agent: ids.map((id) => agent(id, { model: 'alpha-4.1' })) })
    .applied(
      Object.fromEntries(ids.map((id) => [`agent.${id}`, agent(id, { model: 'alpha-4.1' })])),
    );
  const known = { [HARBOR]: { a: 0, b: 1200 } };

  test('stand beside each change of which they are known', async () => {
    const { plan } = await fleet.plan(figures(known));
    expect(plan.changes.map(({ calls }) => calls)).toEqual([0, 1200, undefined]);
    expect(Object.keys(plan.changes[2] ?? {})).not.toContain('calls');
  });

  test('change nothing else of it: neither digest, nor pins, nor what apply is to send', async () => {
    const without = (await fleet.plan()).plan;
    const { plan } = await fleet.plan(figures(known));
    const changes = plan.changes.map(({ calls: _, ...change }) => change);
    const { calls, ...checks } = plan.checks;
    expect(calls).not.toBe(without.checks.calls);
    expect({ ...plan, changes, checks: { ...checks, calls: without.checks.calls } }).toEqual(
      without,
    );
    const unknown = (await fleet.plan(figures())).plan;
    expect(unknown).toEqual(without);
  });

  test('are there for the rules of the team', async () => {
    const seen: (number | undefined)[] = [];
    await fleet.plan({
      ...figures(known),
      rules: ({ changes }) => {
        seen.push(...changes.map(({ calls }) => calls));
        return { refusals: [], notes: [] };
      },
    });
    expect(seen).toEqual([0, 1200, undefined]);
  });

  test('are there of what is held or refused, too', async () => {
    const gone = world()
      .live({ agent: [agent('a')] })
      .applied(APPLIED);
    const { plan } = await gone.plan(figures({ [HARBOR]: { a: 3 } }));
    expect(plan.changes).toMatchObject([{ action: 'delete', verdict: 'held', calls: 3 }]);
  });
});
