import { describe, expect, test } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { readSeed, type SimulatorOptions } from '../../src/simulator/index.ts';
import { createWorld, IDS, SEED } from './world.ts';

const NOW = Date.parse('2026-03-06T12:34:56.000Z');
const DAY = 86_400_000;
const options = { now: () => new Date(NOW) };
const ACCOUNT = { ...options, resellers: 3, organizations: 12, agents: 500, calls: 5000 };

const callsOf = (world: Awaited<ReturnType<typeof createWorld>>) =>
  [...world.sim.store.calls.values()].flatMap(({ calls }) => calls);

describe('a whole account', () => {
  test('has as much of everything as was asked for', async () => {
    await using world = await createWorld(ACCOUNT);
    const { store } = world.sim;
    expect([store.resellers.size, store.organizations.size, store.agents.size]).toEqual([
      3, 12, 500,
    ]);
    expect(callsOf(world)).toHaveLength(5000);
  });

  test('is the same for the same numbers and the same clock', async () => {
    const dumps = [];
    for (let count = 0; count < 2; count += 1) {
      await using world = await createWorld({ ...ACCOUNT, agents: 40, calls: 100 });
      dumps.push(JSON.stringify(world.sim.dump()));
    }
    expect(dumps[0]).toBe(dumps[1]);
  });

  test('has organizations with each reseller and without one, and locks on every level', async () => {
    await using world = await createWorld({ ...ACCOUNT, calls: 0 });
    const { account, resellers, organizations } = world.sim.store;
    const owners = [...organizations.values()].map(({ resellerId }) => resellerId);
    expect(new Set(owners)).toEqual(new Set([...resellers.keys(), undefined]));
    const levels = [[account], [...resellers.values()], [...organizations.values()]];
    for (const level of levels) expect(level.some(({ locks }) => locks.size > 0)).toBe(true);
    const chained = [...organizations.values()].find(
      ({ resellerId, locks }) => resellerId !== undefined && locks.size > 0,
    );
    const { body } = await world.call('listFeatures', {
      query: { organization_id: chained?.id ?? '' },
    });
    const scopes = Object(body.data).map(
      ({ locked_scope: scope }: { locked_scope: unknown }) => scope,
    );
    expect(new Set(scopes)).toEqual(new Set([null, 'here', 'inherited']));
  });

  test('has agents in every state, with everything that an agent can have', async () => {
    await using world = await createWorld({ ...ACCOUNT, calls: 0 });
    const { store } = world.sim;
    const agents = [...store.agents.values()];
    const values = (field: string) => new Set(agents.map(({ record }) => record[field]));
    expect(values('status')).toEqual(new Set(['active', 'inactive', 'pending', 'cancelled']));
    expect(values('language')).toEqual(new Set(['en-US', 'es-US', 'multi']));
    expect(values('enable_recording')).toEqual(new Set([true, false]));
    for (const field of ['sip_registration_data', 'integrations', 'knowledgebase_links'])
      expect(agents.some(({ record }) => record[field] !== undefined)).toBe(true);
    expect(agents.some(({ payments }) => payments.enabled)).toBe(true);
    expect(
      agents.some(({ record }) => store.voices.has(String(Object(record.voice_settings).voice_id))),
    ).toBe(true);
    const kinds = [
      store.retryPolicies,
      store.emailTemplates,
      store.smsTemplates,
      store.knowledgeBases,
      store.sources,
      store.voices,
      store.profiles,
      store.claims,
    ];
    expect(kinds.every(({ size }) => size > 1)).toBe(true);
  });

  test('has a history that people and the API wrote, in order and in the past', async () => {
    await using world = await createWorld({ ...ACCOUNT, calls: 0 });
    const histories = [...world.sim.store.history.values()];
    const actors = new Set(histories.flatMap((entries) => entries.map(({ actor }) => actor)));
    expect(actors.size).toBeGreaterThan(4);
    expect(actors).toContain(`api:${world.sim.store.account.id}`);
    expect(Math.max(...histories.map(({ length }) => length))).toBe(4);
    for (const entries of histories) {
      const times = entries.map(({ createdAt }) => Date.parse(createdAt));
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times.at(-1)).toBeLessThan(NOW);
    }
  });

  test('can be saved again as it is, locks or not', async () => {
    await using world = await createWorld({ ...ACCOUNT, agents: 36, calls: 0 });
    for (const { id, record } of world.sim.store.agents.values()) {
      const body = { model: record.model, voiceSettings: record.voice_settings };
      expect((await world.call('updateAgent', { path: { agentId: id }, body })).status).toBe(200);
    }
  });

  test('has keys limited to a reseller and to an organization, and what sessions need', async () => {
    await using world = await createWorld({ ...ACCOUNT, agents: 24, calls: 0 });
    const { store } = world.sim;
    expect([...store.keys.values()].map(({ scope }) => scope?.level)).toEqual([
      undefined,
      'reseller',
      'organization',
    ]);
    const [claim] = store.claims.values();
    const [key = ''] = store.pbxApiKeys;
    const reply = await world.call('createPbxSession', {
      body: { profile_id: claim?.profileId, claim_id: claim?.id },
      headers: { 'x-pbx-api-key': key },
    });
    expect(reply.status).toBe(200);
  });
});

describe('generated calls', () => {
  test('lie in the 90 days before the clock and are over by then', async () => {
    await using world = await createWorld({ ...ACCOUNT, agents: 60 });
    const calls = callsOf(world);
    expect(Math.min(...calls.map(({ startedAt }) => startedAt))).toBeGreaterThan(NOW - 90 * DAY);
    const ends = calls.map(({ startedAt, duration }) => startedAt + duration * 1000);
    expect(Math.max(...ends)).toBeLessThan(NOW);
  });

  test('come on weekdays and in business hours', async () => {
    await using world = await createWorld({ ...options, agents: 60, calls: 4000 });
    const starts = callsOf(world).map(({ startedAt }) => new Date(startedAt));
    const share = (wanted: (start: Date) => boolean) =>
      starts.filter(wanted).length / starts.length;
    expect(share((start) => start.getUTCDay() % 6 === 0)).toBeLessThan(0.15);
    // From eight to six in New York, where these agents are.
    expect(share((start) => start.getUTCHours() >= 13 && start.getUTCHours() < 23)).toBeGreaterThan(
      0.6,
    );
  });

  test('are also held by agents that are deleted, and by a seed of one', async () => {
    await using whole = await createWorld(ACCOUNT);
    const { agents, calls } = whole.sim.store;
    expect([...calls.keys()].some((id) => !agents.has(id))).toBe(true);
    await using seeded = await createWorld({ ...options, seed: SEED, calls: 50 });
    expect(callsOf(seeded)).toHaveLength(50);
  });

  test('are younger than their agents', async () => {
    await using world = await createWorld({ ...options, agents: 20, calls: 200 });
    for (const { agentId, calls } of world.sim.store.calls.values()) {
      const created = Date.parse(String(world.sim.store.agents.get(agentId)?.record.created_at));
      for (const { startedAt } of calls) expect(startedAt).toBeGreaterThan(created);
    }
  });

  test('need an agent', async () => {
    const start = createWorld({ ...options, calls: 1 });
    await expect(start).rejects.toThrow(CallsheetError);
    await expect(start).rejects.toThrow('there is no agent to take calls');
  });
});

test.each([
  { given: { agents: 10 }, organizations: 5, agents: 10 },
  { given: { resellers: 2 }, organizations: 8, agents: 0 },
  { given: { organizations: 3, agents: 7 }, organizations: 3, agents: 7 },
  { given: { seed: SEED, organizations: 4, agents: 8 }, organizations: 6, agents: 11 },
] satisfies { given: SimulatorOptions; organizations: number; agents: number }[])(
  '$given gives $organizations organizations and $agents agents',
  async ({ given, organizations, agents }) => {
    await using world = await createWorld({ ...options, ...given });
    const { store } = world.sim;
    expect([store.organizations.size, store.agents.size]).toEqual([organizations, agents]);
  },
);

describe('seeds', () => {
  test('edits are made in order, dated, and signed', async () => {
    const [desk, ...others] = SEED.agents ?? [];
    if (desk === undefined) throw new Error('the seed has a desk');
    const edits = [
      { actor: 'user:anna', at: '2026-01-02T00:00:00.000Z', changes: { greeting_message: 'One' } },
      { actor: 'user:ben', source: 'import', changes: { voice_settings: { speed: 1.2 } } },
    ];
    const made = { created_at: '2026-01-01T00:00:00.000Z' };
    const seed = { ...SEED, agents: [{ ...desk, ...made, edits }, ...others] };
    await using world = await createWorld({ seed, ...options });
    const { body } = await world.call('listAgentHistory', { path: { agentId: IDS.desk } });
    expect(body.data).toMatchObject([
      { version: 3, action: 'updated', actor: { id: 'user:ben' }, source: 'import' },
      { version: 2, actor: { id: 'user:anna' }, source: 'dashboard', created_at: edits[0]?.at },
      { version: 1, action: 'created', ...made },
    ]);
    expect(world.sim.store.agents.get(IDS.desk)?.record).toMatchObject({
      greeting_message: 'One',
      voice_settings: { voice_id: 'builtin-1', speed: 1.2 },
    });
  });

  test.each([
    {
      text: `calls: [{ agent_id: ${IDS.desk}, call_started_at: '2026-01-01T00:00:00Z', call_duration: 1 }]`,
      says: /calls: one names the agent/,
    },
    {
      text: `calls: [{ agent_id: ${IDS.desk}, call_started_at: today, call_duration: 1 }]`,
      says: /calls.0.call_started_at/,
    },
    {
      text: `profiles: [{ id: ${IDS.desk}, organization_id: ${IDS.harbor} }]`,
      says: /profiles: .* names the organization/,
    },
    {
      text: `claims: [{ id: ${IDS.desk}, profile_id: ${IDS.harbor} }]`,
      says: /claims: .* names the profile/,
    },
  ])('$text is refused in words', ({ text, says }) => {
    expect(() => readSeed(text)).toThrow(says);
  });
});
