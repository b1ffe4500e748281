import { CallsheetError } from '../core/errors.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { refuseUsed } from '../plan/uses.ts';
import { NO_LINEAGE, type Session } from './session.ts';

const PLAN_AGAIN = 'Plan again, review, and apply the new plan.';

/** `--expect sha256:…`: only the plan that was approved is applied. */
export function checkExpectation({ digest }: PlanDocument, expected: string | undefined): void {
  if (expected === undefined || expected === digest) return;
  throw new CallsheetError('stale', `the plan's digest is ${digest}, not ${expected}`, {
    hint: `It is not the plan that was approved. ${PLAN_AGAIN}`,
  });
}

/** A plan file belongs to one account, one configuration and one state (DESIGN §5, Pins first). */
export function checkPlanFile(
  plan: PlanDocument,
  { platform, stack, state }: Pick<Session, 'platform' | 'stack' | 'state'>,
): void {
  if (plan.environment !== stack.environment) {
    const flag =
      plan.environment === undefined ? 'without --env' : `with --env ${plan.environment}`;
    throw new CallsheetError(
      'stale',
      `the plan was made ${nameOf(plan)}; this is ${nameOf(stack)}`,
      {
        hint: `Apply it ${flag}.`,
      },
    );
  }
  const { base_url: planned, account_id: account } = plan.platform;
  if (planned !== platform.base_url || account !== platform.account_id) {
    throw new CallsheetError(
      'stale',
      `the plan is for account ${account} at ${planned}; this is account ${platform.account_id} at ${platform.base_url}`,
      { hint: 'Apply it with the credentials and the base_url that it was planned with.' },
    );
  }
  if (plan.config_digest !== stack.digest) {
    throw new CallsheetError('stale', 'the configuration changed since the plan', {
      hint: PLAN_AGAIN,
    });
  }
  const isFirst = plan.state.lineage === NO_LINEAGE;
  if (plan.state.lineage !== state.lineage && !isFirst) {
    throw new CallsheetError('stale', 'the plan was made from the state of another stack', {
      hint: `Check CALLSHEET_STATE and --dir. ${PLAN_AGAIN}`,
    });
  }
  if (plan.state.serial !== state.serial) {
    throw new CallsheetError(
      'stale',
      `the state was written since the plan (serial ${plan.state.serial}, now ${state.serial}): the plan may have been applied already`,
      { hint: PLAN_AGAIN },
    );
  }
}

function nameOf({ environment }: { readonly environment?: string | undefined }): string {
  return environment === undefined ? 'for no environment' : `for the environment ${environment}`;
}

/** What a plan file deletes may be used by somebody since it was planned: a pin of its own does not tell. */
export async function checkUses(
  { changes, options }: PlanDocument,
  { stack, state, reader }: Session,
): Promise<void> {
  if (options.force) return;
  const now = await refuseUsed(changes, { desired: stack.resources, state, reader });
  const struck = now.filter((change) => !changes.includes(change));
  if (struck.length === 0) return;
  const told = struck.map(({ address, reason }) => `${address} was to be deleted: ${reason}`);
  throw new CallsheetError('refused', told.join('\n'), {
    hint: `Nothing was written. ${PLAN_AGAIN}`,
  });
}
