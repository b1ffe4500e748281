import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import type { PlanFlags } from '../../src/console/context.ts';
import type { PlanDocument } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import type { Dialect, SeedDocument } from '../../src/simulator/index.ts';
import { openStage, type Stage, type StageOptions } from '../apply/stage.ts';
import { formatKeyed, parseKeyed } from '../state/keyed.ts';
import { temporaryFolder } from '../temporary.ts';

export const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

/** A policy that no stack has. */
export const FOREIGN_POLICY = '0d5c7e4a-5f2e-4a3b-9a51-2c8f0a7d3e0a';

const SEED: SeedDocument = {
  organizations: [{ id: HARBOR, name: 'Harbor', merchant: { status: 'active', charges: true } }],
  retry_policies: [{ id: FOREIGN_POLICY, name: 'foreign' }],
  agents: [
    {
      name: 'sip',
      organization_id: HARBOR,
      sip_registration_data: { username: 'u', registrationEnabled: true },
    },
  ],
};

/** A plan that apply would refuse is one too. */
const SHOWN = { exit: [0, 4] };

/** Longer than it takes until no two changes can have one `updated_at`. */
export const A_WHILE_MS = 60_000;

/** A stack of agents and policies, as `callsheet.yaml` has it. */
export type Stack = {
  readonly agents: { readonly [key: string]: JsonObject };
  readonly retry_policies?: { readonly [key: string]: JsonObject };
  readonly platform?: JsonObject;
  readonly moved?: readonly JsonObject[];
};

export type RefreshStage = Stage & {
  readonly configure: (stack: Stack) => Promise<void>;
  /** Applies, and once more when some time has passed. */
  readonly settle: () => Promise<void>;
  /** Plans, and says which agents were read for it, by name, and which payment settings: `desk payments`. */
  readonly reads: (flags?: Partial<PlanFlags>) => Promise<readonly string[]>;
  /** Plans in all ways, checks that the plans are the same, and returns it. */
  readonly agree: () => Promise<PlanDocument>;
  readonly drift: (flags?: Partial<PlanFlags>) => Promise<PlanDocument>;
  /** The stored record of an agent, to be changed behind everybody's back. */
  readonly record: (name: string) => Record<string, unknown> & { readonly id: string };
  /** What somebody does in the dashboard. */
  readonly alter: (name: string, changes: JsonObject) => void;
};

/** A stage whose stack is given in a test, on a platform of a dialect. It is closed after the test. */
export async function refreshStage(
  stack: Stack,
  dialect: Partial<Dialect> = {},
  options: Omit<StageOptions, 'stack' | 'dialect'> = {},
): Promise<RefreshStage> {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'callsheet.yaml'), '');
  const stage = await openStage({
    stack: folder,
    seed: SEED,
    dialect,
    secrets: { TOKEN: 'canary-token' },
    ...options,
  });
  onTestFinished(() => stage.close());
  const { sim } = stage;
  const agentOf = (name: string) => {
    const found = [...sim.store.agents.values()].find(({ record }) => record.name === name);
    if (found === undefined) throw new Error(`no agent ${name}`);
    return found;
  };

  const own: Omit<RefreshStage, keyof Stage> = {
    configure: ({ agents, retry_policies, platform = {}, moved = [] }) =>
      stage.write(
        'callsheet.yaml',
        JSON.stringify({
          callsheet: 1,
          platform: { base_url: sim.url, ...platform },
          organizations: { harbor: HARBOR },
          organization: 'harbor',
          agents,
          moved,
          ...(retry_policies ? { retry_policies } : {}),
        }),
      ),
    async settle() {
      await stage.apply();
      sim.advance(A_WHILE_MS);
      await stage.apply();
      sim.advance(A_WHILE_MS);
    },
    async reads(flags = {}) {
      const before = sim.requests.length;
      await stage.plan(flags, SHOWN);
      return readsIn(sim.requests.slice(before), (id) =>
        String(sim.store.agents.get(id)?.record.name),
      );
    },
    async agree() {
      const fast = await stage.plan({ refresh: 'fast' }, SHOWN);
      const full = () => stage.plan({ refresh: 'full' }, SHOWN);
      for (const other of [await full(), await doubting(stage, full)]) {
        expect(told(fast)).toEqual(told(other));
        expect(fast.digest).toBe(other.digest);
      }
      return fast;
    },
    drift: async (flags = {}) =>
      JSON.parse(
        (await stage.run((to) => drift({ dir: stage.folder, format: 'json', ...flags }, to))).out,
      ),
    record: (name) => {
      const agent = agentOf(name);
      const record = { ...agent.record, id: agent.id };
      Object.assign(agent, { record });
      return record;
    },
    alter: (name, changes) => void sim.edit(agentOf(name).id, changes),
  };
  const refreshed = { ...stage, ...own };
  await own.configure(stack);
  return refreshed;
}

/** Works with a state that is certain of nothing, so that all of what is read is compared. */
export async function doubting<T>(
  { folder, write }: Pick<Stage, 'folder' | 'write'>,
  work: () => Promise<T>,
): Promise<T> {
  const file = '.callsheet/state.json';
  const text = await readFile(join(folder, file), 'utf8').catch(() => undefined);
  if (text === undefined) return work();
  const state = await parseKeyed(text, file);
  const resources = Object.entries(state.resources).map(([address, resource]) => {
    const { certain: _, ...pin } = resource.pin ?? {};
    return [address, resource.pin === null ? resource : { ...resource, pin }];
  });
  await write(file, await formatKeyed({ ...state, resources: Object.fromEntries(resources) }));
  try {
    return await work();
  } finally {
    await write(file, text);
  }
}

/** What all ways of reading must agree on. */
function told({ changes, summary, notes, config_digest }: PlanDocument) {
  return { changes, summary, notes, config_digest };
}

function readsIn(
  requests: Stage['sim']['requests'],
  nameOf: (id: string) => string,
): readonly string[] {
  return requests
    .flatMap(({ operation, path }) => {
      const name = nameOf(path.split('/')[3] ?? '');
      if (operation === 'getAgent') return [name];
      return operation === 'getPaymentReadiness' ? [`${name} payments`] : [];
    })
    .sort();
}
