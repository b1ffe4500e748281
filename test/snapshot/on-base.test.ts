import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import type { Dialect, SeedDocument, Simulator } from '../../src/simulator/index.ts';
import type { ContentRecord } from '../../src/snapshot/format.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { temporaryFolder } from '../temporary.ts';
import { readAll } from './files.ts';
import { FOR_KEY, take, withKey } from './taking.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const POLICY = '0d5c7e4a-5f2e-4a3b-9a51-2c8f0a7d3e0a';
const SMS = { smsProvider: { account_sid: 'AC0123', auth_token: 'canary-token' } };

/** Agents by what a list alone does not show of them. */
const SEED: SeedDocument = {
  organizations: [{ id: HARBOR, name: 'Harbor', merchant: { status: 'active', charges: true } }],
  retry_policies: [{ id: POLICY, name: 'Gentle' }],
  agents: [
    { name: 'plain', organization_id: HARBOR, system_prompt: 'You answer.' },
    { name: 'follower', organization_id: HARBOR, default_retry_policy_id: POLICY },
    {
      name: 'registered',
      organization_id: HARBOR,
      sip_registration_data: { username: 'u', registrationEnabled: true },
    },
    { name: 'texting', organization_id: HARBOR, integrations: SMS },
    { name: 'armed', organization_id: HARBOR, payments: { enabled: true } },
  ],
};

/** Everybody that is asked again in any case: payments may be on, or were. */
const PAYING = ['armed payments', 'texting payments'];
const ALL = ['armed', 'follower', 'plain', 'registered', 'texting'];
const EVERYTHING = ALL.flatMap((name) => [name, `${name} payments`]);

type Row = {
  readonly change: string;
  readonly act: (sim: Simulator) => void;
  /** What is asked of agents on top of the base: by name, and their payments. */
  readonly asked: readonly string[];
  readonly dialect?: Partial<Dialect>;
};

const nothing = () => {};
const agentOf = (sim: Simulator, name: string) => {
  const found = [...sim.store.agents.values()].find(({ record }) => record.name === name);
  if (found === undefined) throw new Error(`no agent ${name}`);
  return found;
};

/** Changes a stored agent behind everybody's back. */
function alter(agent: ReturnType<typeof agentOf>, fields: JsonObject): void {
  agent.record = { ...agent.record, ...fields };
}

const CHANGES: readonly Row[] = [
  { change: 'nothing', act: nothing, asked: PAYING },
  {
    change: 'a prompt',
    act: (sim) => sim.edit(agentNamed(sim, 'plain').id, { system_prompt: 'By hand.' }),
    asked: [...PAYING, 'plain', 'plain payments'],
  },
  {
    change: 'a registration',
    act: (sim) => sim.edit(agentNamed(sim, 'registered').id, { sip_registration_data: null }),
    asked: [...PAYING, 'registered', 'registered payments'],
  },
  {
    change: 'payments, which no list shows',
    act(sim) {
      agentOf(sim, 'texting').payments = { enabled: true, limits: {} };
      agentOf(sim, 'armed').payments = { enabled: false, limits: {} };
    },
    asked: PAYING,
  },
  {
    change: 'credentials for texts',
    act: (sim) => sim.edit(agentNamed(sim, 'plain').id, { integrations: SMS }),
    asked: [...PAYING, 'plain', 'plain payments'],
  },
  {
    change: 'a policy that is gone, which no stamp shows',
    act(sim) {
      sim.store.retryPolicies.delete(POLICY);
      alter(agentOf(sim, 'follower'), { default_retry_policy_id: null });
    },
    asked: ['armed payments', 'follower', 'follower payments', 'texting payments'],
  },
  {
    change: 'a name, without a stamp',
    act(sim) {
      alter(agentOf(sim, 'plain'), { name: 'renamed' });
    },
    asked: [...PAYING, 'renamed', 'renamed payments'],
  },
  {
    change: 'an agent that is gone',
    act: (sim) => void sim.store.agents.delete(agentNamed(sim, 'plain').id),
    asked: PAYING,
  },
];

const DIALECTS: readonly Row[] = [
  { listFields: 'all' as const },
  { listFields: 'fewest' as const },
  { listUpdatedAt: false },
  { timestamps: 'seconds' as const },
  { timestamps: 'seconds' as const, dates: false },
  { historyCreatedAt: false },
  { unknownFields: true, keyOrder: 'shuffled' as const, numbers: 'decimal' as const },
].map((dialect) => ({
  change: JSON.stringify(dialect),
  act: nothing,
  dialect,
  asked:
    dialect.listUpdatedAt === false || (dialect.timestamps !== undefined && dialect.dates === false)
      ? EVERYTHING
      : PAYING,
}));

async function openAccount(dialect: Partial<Dialect> = {}) {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'callsheet.yaml'), 'callsheet: 1\n');
  const secrets = { TOKEN: 'canary-token' };
  const stage = await openStage({ stack: folder, seed: SEED, dialect, secrets });
  onTestFinished(() => stage.close());
  // Longer than a stamp of whole seconds is in doubt.
  stage.sim.advance(60_000);
  return stage;
}

/** Takes a snapshot, and says what was asked of agents, and how many requests that were in all. */
async function takeAsking(
  stage: Stage,
  ...given: Parameters<typeof take> extends [Stage, ...infer R] ? R : never
) {
  const { sim } = stage;
  const before = sim.requests.length;
  const { file } = await take(stage, ...given);
  const requests = sim.requests.slice(before);
  const asked = requests.flatMap(({ operation, path }) => {
    const [, id = ''] = /agents\/([^/?]+)/.exec(path) ?? [];
    const name = String(sim.store.agents.get(id)?.record.name);
    if (operation === 'getAgent') return [name];
    return operation === 'getPaymentReadiness' ? [`${name} payments`] : [];
  });
  const histories = requests.filter(({ operation }) => operation === 'listAgentHistory');
  return { file, asked: asked.sort(), histories: histories.length };
}

/** What a snapshot holds, without where it ends and in no order. */
async function contents(file: string): Promise<readonly string[]> {
  const { records } = await readAll(file);
  const held = records.filter((one): one is ContentRecord => one.type !== 'end');
  return held.map((one) => JSON.stringify(sorted(one))).sort();
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, one]) => [key, sorted(one)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe('a snapshot', () => {
  test.each([
    [{}, 1],
    [{ historyCreatedAt: false }, 6],
  ] as const)(
    'asks two requests of an agent, and for versions where no time tells them: %j',
    async (dialect, most) => {
      const { asked, histories } = await takeAsking(await openAccount(dialect), 'a.snapshot');
      expect(asked).toEqual(EVERYTHING);
      expect(histories).toBe(most);
    },
  );

  test.each([...CHANGES, ...DIALECTS])(
    'on a base asks for what the lists do not prove, and holds what a whole one does: $change',
    async ({ act, asked, dialect }) => {
      const stage = await openAccount(dialect);
      const base = await take(stage, 'base.snapshot', FOR_KEY);
      act(stage.sim);
      const onBase = { ...FOR_KEY, base: base.file, ...(await withKey(stage)) };
      const small = await takeAsking(stage, 'small.snapshot', onBase);
      expect(small.asked).toEqual([...asked].sort());
      const whole = await take(stage, 'whole.snapshot', FOR_KEY);
      expect(await contents(small.file)).toEqual(await contents(whole.file));
      // On top of that one as well.
      const third = await takeAsking(stage, 'third.snapshot', { ...onBase, base: small.file });
      expect(await contents(third.file)).toEqual(await contents(whole.file));
    },
  );

  test.each([
    ['of another kind', FOR_KEY, {}],
    ['of another kind, the other way round', {}, FOR_KEY],
  ])('takes nothing over from a base %s: it has other values', async (_, first, second) => {
    const stage = await openAccount();
    const base = await take(stage, 'base.snapshot', first);
    const flags = { ...second, base: base.file, ...(await withKey(stage)) };
    expect((await takeAsking(stage, 'small.snapshot', flags)).asked).toEqual(EVERYTHING);
  });
});
