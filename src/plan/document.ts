import { digestOf } from '../core/digest.ts';
import type { Change, PlanDocument, PlanSummary, RequestForecast } from '../core/plan-document.ts';
import type { Kind } from '../kinds/kind.ts';

/** Counts by action and by verdict. */
export function summarise(changes: readonly Change[], unchanged: number): PlanSummary {
  const count = (test: (change: Change) => boolean) => changes.filter(test).length;
  const acting = (action: Change['action']) => count((change) => change.action === action);
  return {
    create: acting('create'),
    update: acting('update'),
    replace: acting('replace'),
    delete: acting('delete'),
    adopt: acting('adopt'),
    forget: acting('forget'),
    no_op: unchanged + acting('no_op'),
    refused: count(({ verdict }) => verdict === 'refused'),
    held: count(({ verdict }) => verdict === 'held'),
    unsupported: count(({ verdict }) => verdict === 'unsupported'),
  };
}

/** Requests that a step makes: what it writes, and the reads before and after it. */
const WRITES_PER_FILE = 3;

/** Forecasts what apply asks of the platform. `secondsPerRequest` was measured while reading. */
export function forecastRequests(
  changes: readonly Change[],
  kindOf: (name: string) => Kind,
  secondsPerRequest: number,
): RequestForecast {
  let reads = 0;
  let writes = 0;
  for (const { kind: name, operations, verdict, fields } of changes) {
    if (verdict !== 'ok' || operations.length === 0) continue;
    const kind = kindOf(name);
    const isUpload = fields.some(({ path }) => path === 'file');
    writes += operations.length + (isUpload ? WRITES_PER_FILE - 1 : 0);
    reads += (kind.get ? 2 : 1) + (kind.history ? 2 : 0);
  }
  const seconds = Math.ceil((reads + writes) * secondsPerRequest);
  return { reads, writes, seconds };
}

/**
 * The digest of a plan: over everything that apply acts on, and nothing that varies from run to run
 * (times, forecasts, wording) or that means nothing (the order of fields).
 */
export function planDigest(plan: Omit<PlanDocument, 'digest'>): string {
  return digestOf({
    format: plan.format,
    version: plan.version,
    purpose: plan.purpose,
    undoes: plan.undoes,
    snapshot: plan.snapshot,
    platform: plan.platform,
    environment: plan.environment,
    config_digest: plan.config_digest,
    state: plan.state,
    options: plan.options,
    endpoints: plan.endpoints,
    changes: plan.changes.map(
      ({ reason: _, source: __, undoing: ___, fields, operations, ...acted }) => ({
        ...acted,
        // What is at hand to compare with may be different where it is applied; it writes nothing.
        fields: fields
          .filter(({ cause }) => cause !== 'unknown_secret')
          .sort((a, b) => (a.path < b.path ? -1 : 1)),
        operations: operations.map((one) => ({ ...one, fields: [...one.fields].sort() })),
      }),
    ),
  });
}

/** Whether carrying the plan out would change anything on the platform. */
export function hasChanges(plan: PlanDocument): boolean {
  return plan.changes.some(({ action }) => action !== 'no_op' && action !== 'adopt');
}

/** Whether a guard or the platform would refuse the plan as it stands. */
export function isRefused(plan: PlanDocument): boolean {
  const isStruck = plan.changes.some(({ verdict }) => verdict === 'refused');
  return (isStruck && !plan.options.skip_refused) || isHeldBack(plan);
}

/** Whether something stands against the plan as a whole, whatever it would do. */
export function isHeldBack({ refusals = [] }: PlanDocument): boolean {
  return refusals.length > 0;
}
