import type { RunResult } from '../../apply/execute.ts';
import type { Address } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Change } from '../../core/plan-document.ts';
import { isHeldBack } from '../../plan/document.ts';
import { type LeftAlone, whyLeft } from '../../plan/heal.ts';
import type { LedgerLine } from '../../state/journal.ts';
import type { Context } from '../context.ts';
import { planConfiguration } from '../make-plan.ts';
import { type PlanFlags, planOptions } from '../plan-flags.ts';
import { runPlan } from '../run.ts';
import { openSession } from '../session.ts';
import { markedIn } from './look.ts';

/** What came of healing. */
export type Healed =
  | {
      readonly type: 'ran';
      readonly run: string;
      readonly status: RunResult['status'];
      readonly lines: readonly LedgerLine[];
      readonly left: readonly LeftAlone[];
    }
  /** Nothing was written. */
  | { readonly type: 'skipped'; readonly why: string }
  | { readonly type: 'refused'; readonly left: readonly LeftAlone[] };

/**
 * Puts back what drifted at these addresses: an ordinary plan of them alone, made anew from the configuration as it
 * is now, and carried out under the lease like any other. What guards, rules or the platform refuse of it is left
 * out, and nothing at all is written where it would do more than put back.
 */
export async function heal(
  addresses: readonly Address[],
  flags: PlanFlags,
  context: Context,
): Promise<Healed> {
  try {
    return await planAndRun(addresses, flags, context);
  } catch (error) {
    if (error instanceof CallsheetError && PASSING.has(error.code))
      return { type: 'skipped', why: [error.message, ...problemsOf(error)].join(': ') };
    throw error;
  }
}

async function planAndRun(
  addresses: readonly Address[],
  flags: PlanFlags,
  context: Context,
): Promise<Healed> {
  const session = await openSession(flags, context);
  try {
    const { unfinished } = session;
    if (unfinished !== undefined && unfinished.settlement === undefined)
      return { type: 'skipped', why: `run ${unfinished.run} is at work` };
    // What was marked when it was seen may be gone from the configuration by now.
    const marked = markedIn(session);
    const target = addresses.filter((address) => marked.has(address));
    if (target.length === 0) return { type: 'skipped', why: MEANWHILE };
    const options = { ...planOptions({ dir: flags.dir, target }), skip_refused: true };
    const planned = await planConfiguration(session, options, context);
    const { plan } = planned;
    const refusals = (plan.refusals ?? []).map(({ message }) => message);
    if (isHeldBack(plan)) return { type: 'skipped', why: refusals.join('; ') };
    const able = plan.changes.filter(({ verdict }) => verdict === 'ok');
    if (able.some((change) => !target.includes(change.address) || whyLeft(change) !== undefined))
      return { type: 'skipped', why: MEANWHILE };
    const left = plan.changes.filter(({ verdict }) => verdict !== 'ok').map(leftAs);
    if (able.length === 0) return { type: 'refused', left };
    // Whoever stops it now wants no run to begin.
    if (context.stop.aborted) throw new CallsheetError('interrupted', 'it was asked to stop');
    const ended = Promise.withResolvers<Healed>();
    await runPlan(planned, {
      flags: { ...flags, format: 'text' },
      session,
      context,
      purpose: 'heal',
      onResult: (run, { status, ledger }) =>
        ended.resolve({ type: 'ran', run, status, lines: linesOf(ledger, able), left }),
    });
    // A run that began has told its result by now.
    ended.resolve({ type: 'skipped', why: MEANWHILE });
    return await ended.promise;
  } finally {
    await session.close();
  }
}

/**
 * Somebody else was there first, or came in between, or a secret that only writing needs is not there: what was seen
 * stands all the same, and the next pass sees what is left to do.
 */
const PASSING: ReadonlySet<string> = new Set(['config', 'locked', 'stale', 'refused']);

/** The first thing that is wrong with the configuration. */
function problemsOf({ diagnostics }: CallsheetError): readonly string[] {
  return diagnostics.slice(0, 1).map(({ message }) => message);
}

const MEANWHILE = 'the configuration or the platform changed while it was looked at';

function leftAs({ address, reason }: Change): LeftAlone {
  return { address, why: reason };
}

/** What came of each, with the fields that were put back: the ledger names those that were left alone, too. */
function linesOf(ledger: RunResult['ledger'], able: readonly Change[]): readonly LedgerLine[] {
  const drifted = new Map(
    able.map(({ address, fields }) => [
      address,
      fields.flatMap(({ path, cause }) => (cause === 'drifted' ? path : [])),
    ]),
  );
  return ledger.flatMap((line) => {
    const fields = drifted.get(line.address);
    return fields === undefined ? [] : [{ ...line, fields }];
  });
}
