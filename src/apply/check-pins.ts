import { CallsheetError } from '../core/errors.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { kindNamed } from '../kinds/index.ts';
import { checkPin } from './check-pin.ts';
import type { RunDeps } from './deps.ts';
import { recordedOf } from './recorded.ts';

/**
 * Checks every pin of a plan before its first write, so that a plan that is out of date writes nothing at
 * all. Throws `CallsheetError('stale')` that lists what moved and who moved it.
 */
export async function checkPins(plan: PlanDocument, deps: RunDeps): Promise<void> {
  const world = { ...deps.world, idOf: () => undefined };
  const moved = await Promise.all(
    plan.changes
      .filter(({ verdict }) => verdict === 'ok')
      .map(async (change) => {
        try {
          const desired = deps.desired.get(change.address);
          await checkPin({
            change,
            kind: kindNamed(change.kind),
            desired,
            recorded: recordedOf(change, desired, deps.state, world),
            world,
            deps,
          });
          return undefined;
        } catch (error) {
          if (error instanceof CallsheetError && error.code === 'stale') return error.message;
          throw error;
        }
      }),
  );
  const messages = moved.filter((message) => message !== undefined);
  if (messages.length === 0) return;
  throw new CallsheetError('stale', messages.join('\n'), {
    hint: 'Nothing was written. Plan again, review, and apply the new plan.',
  });
}
