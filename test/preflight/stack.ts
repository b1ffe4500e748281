import { showOutcome } from '../../src/console/result.ts';
import { EXIT } from '../../src/core/errors.ts';
import type { Change, PlanDocument } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { planConfiguration, planOptions } from '../../src/run/plan.ts';
import { runPlan } from '../../src/run/run.ts';
import { openSession } from '../../src/run/session.ts';
import type { SeedDocument } from '../../src/simulator/index.ts';
import type { LedgerLine } from '../../src/state/journal.ts';
import { openStage, type Stage, type StageOptions } from '../apply/stage.ts';

export const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
export const BAY = '9c24e74f-4564-4836-a0d8-0691bfe720fe';
export const RESELLER = '1b1f2a7e-3a55-4c59-9a37-0f3f7a5f6c01';
const BASE = '7c346549-f8c6-406a-809e-72392ed69b41';

export type Level = 'account' | 'reseller' | 'organization';

/** An account with a reseller that owns Harbor, and Bay beside it. */
export function account(
  locks: readonly string[] = [],
  level: Level = 'organization',
  more: Partial<SeedDocument> = {},
): SeedDocument {
  const at = (one: Level) => (one === level ? { locks } : {});
  return {
    ...at('account'),
    feature_administration_enabled: true,
    resellers: [{ id: RESELLER, name: 'Reseller', ...at('reseller') }],
    organizations: [
      { id: HARBOR, name: 'Harbor', reseller_id: RESELLER, ...at('organization') },
      { id: BAY, name: 'Bay' },
    ],
    knowledge_bases: [{ id: BASE, organization_id: HARBOR, name: 'Clinic' }],
    ...more,
  };
}

/** A live agent of Harbor. */
export function liveAgent(name: string, record: JsonObject = {}) {
  return { organization_id: HARBOR, name, greeting_message: 'Hello.', ...record };
}

/** The sources of Harbor's knowledge base. */
export function knowledge(sources: JsonObject): JsonObject {
  return { knowledge_bases: { clinic: { id: BASE, sources } } };
}

/** Works on a stage with the given resources, and closes it. */
export async function withStack(
  resources: JsonObject,
  options: StageOptions,
  body: (stage: Stage) => Promise<void>,
): Promise<void> {
  const stage = await openStage(options);
  try {
    await configure(stage, resources);
    await body(stage);
  } finally {
    await stage.close();
  }
}

/** Another configuration. JSON is YAML. */
export async function configure(stage: Stage, resources: JsonObject): Promise<void> {
  const head = { callsheet: 1, platform: { base_url: stage.sim.url }, organization: 'harbor' };
  const organizations = { harbor: HARBOR, bay: BAY };
  await stage.write('callsheet.yaml', JSON.stringify({ ...head, organizations }));
  await stage.write('agents.yaml', '');
  await stage.write('resources.yaml', JSON.stringify(resources));
}

/** What preflight says of each address, and what the platform does where nobody asked it before. */
export async function compareWithPlatform(
  stage: Stage,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Comparison[]> {
  const { plan, ledger } = await run(stage, env);
  return plan.changes.map((change) => {
    const line = ledger.find(({ address }) => address === change.address);
    return {
      address: change.address,
      change,
      predicted: change.verdict === 'refused' ? 'refused' : 'done',
      actual: line?.status === 'done' ? 'done' : 'refused',
      message: line?.message ?? '',
    };
  });
}

type Comparison = {
  readonly address: string;
  readonly change: Change;
  readonly predicted: 'refused' | 'done';
  readonly actual: 'refused' | 'done';
  /** What the ledger says. */
  readonly message: string;
};

/** Plans as everybody does, and applies a plan for which the platform was asked nothing. */
async function run(stage: Stage, env: Readonly<Record<string, string>>): Promise<Both> {
  const flags = { dir: stage.folder, format: 'json' } as const;
  const plans: PlanDocument[] = [];
  const said = await stage.run(
    async (context) => {
      const session = await openSession(flags, context);
      try {
        const options = planOptions({ ...flags, allowDelete: true });
        plans.push((await planConfiguration(session, options, context)).plan);
        const unasked = await planConfiguration(session, options, context, {
          isPreflighted: false,
        });
        const outcome = await runPlan(unasked, { session, context, purpose: 'apply' });
        const exit = showOutcome(outcome, { flags, context });
        return exit === EXIT.partial ? EXIT.done : exit;
      } finally {
        await session.close();
      }
    },
    { env },
  );
  const [plan] = plans;
  if (plan === undefined) throw new Error(`nothing was planned: ${said.err}`);
  return { plan, ledger: JSON.parse(said.out).ledger };
}

type Both = { readonly plan: PlanDocument; readonly ledger: readonly LedgerLine[] };
