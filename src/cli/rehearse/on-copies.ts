import { assumptionOf } from '../../api/endpoints.ts';
import { operations } from '../../api/operations.generated.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { PlanDocument, PlanOptions } from '../../core/plan-document.ts';
import type { Manners } from '../../rehearse/copies.ts';
import { type Rehearsed, rehearse } from '../../rehearse/rehearse.ts';
import type { Context } from '../context.ts';
import type { PlanFlags } from '../plan-flags.ts';
import type { Ground } from './ground.ts';
import { handsOn } from './hands.ts';

type Trial = {
  /** Undefined: the plan is the one that the copy gives. */
  readonly plan: PlanDocument | undefined;
  readonly options: PlanOptions;
  readonly manners: Manners;
  readonly faults: readonly string[];
};

/** Reads the fleet and tries a plan on copies of it. */
export async function tryOnCopies(
  { plan, options, manners, faults }: Trial,
  ground: Ground,
  flags: PlanFlags,
  context: Context,
): Promise<Rehearsed> {
  const { state, endpoints, secretValues, source } = ground;
  const tell = (text: string) => context.terminal.err(text);
  tell('Reading the fleet.');
  const replica = await ground.replica(plan);
  const absent = [...ground.lacks().absent, ...(manners.dialect.absent ?? [])];
  const addresses = new Map(
    Object.entries(state.resources).map(([address, { kind, id }]) => [`${kind} ${id}`, address]),
  );
  for (const { kind, id, address } of plan?.changes ?? []) addresses.set(`${kind} ${id}`, address);
  return rehearse({
    plan,
    source,
    replica,
    manners: { ...manners, dialect: { ...manners.dialect, absent } },
    faults,
    handsOn: (copy) => handsOn(copy, { flags, options, state, context }),
    // The log of a copy has uploads, too, which are no operation of the platform.
    assumptionOf: (operation) =>
      Object.hasOwn(operations, operation) ? assumptionOf(operation, endpoints) : undefined,
    words: {
      addressOf: (kind, id) => addresses.get(`${kind} ${id}`) ?? null,
      secrets: secretValues,
    },
    now: context.now,
    goOn: () => {
      if (context.stop.aborted)
        throw new CallsheetError('interrupted', 'interrupted; nothing was written');
    },
    tell,
  });
}
