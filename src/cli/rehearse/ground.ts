import type { Transport } from '../../api/transport.ts';
import type { PlanDocument, PlanOptions } from '../../core/plan-document.ts';
import type { RehearsalSource } from '../../core/rehearsal.ts';
import { type Replica, replicate } from '../../rehearse/seed.ts';
import type { Dialect } from '../../simulator/index.ts';
import type { Context } from '../context.ts';
import { planConfiguration } from '../make-plan.ts';
import type { PlanFlags } from '../plan-flags.ts';
import { openSession, type Session, tellWarnings } from '../session.ts';
import { knownBeside, lackedBy, levelOf, merchantsOf, readFleet } from './fleet.ts';

/** What a rehearsal stands on: a fleet, and the stack that the plan is of. */
export type Ground = Pick<
  Session,
  'stack' | 'state' | 'endpoints' | 'secretValues' | 'platform'
> & {
  readonly source: RehearsalSource;
  /** What would be planned now; undefined where the fleet cannot be planned on. */
  readonly planNow: ((options: PlanOptions) => Promise<PlanDocument>) | undefined;
  /** The fleet, for a copy on which that plan is tried. */
  readonly replica: (plan: PlanDocument | undefined) => Promise<Replica>;
  /** Operations that the platform is known not to have. Asked once the fleet is read. */
  readonly lacks: () => Pick<Dialect, 'absent'>;
  readonly close: () => Promise<void>;
};

/** The platform itself, through a wire that lets nothing but questions pass. */
export async function platformGround(flags: PlanFlags, context: Context): Promise<Ground> {
  const { wire } = context;
  const outside: Context = {
    ...context,
    wire: (transport) => readingOnly(wire === undefined ? transport : wire(transport)),
  };
  const session = await openSession(flags, outside);
  tellWarnings(session.warnings, context);
  return {
    ...session,
    source: { type: 'platform' },
    planNow: async (options) => (await planConfiguration(session, options, outside)).plan,
    async replica(plan) {
      const records = await readFleet(session, context.now());
      const merchants = plan === undefined ? new Map() : await merchantsOf(plan, session);
      const beside = knownBeside(session, { merchants, level: await levelOf(session) });
      return replicate(records, beside);
    },
    lacks: () => lackedBy(session),
  };
}

/**
 * A wire that lets nothing through but questions and the minting of a token: whatever a rehearsal does, no write
 * of it can reach the platform.
 */
export function readingOnly(transport: Transport): Transport {
  return {
    ...transport,
    async send(request) {
      const { method, about } = request;
      if (method === 'GET' || about?.operation === 'createToken') return transport.send(request);
      throw new Error(`a rehearsal may not send ${method} to the platform`);
    },
  };
}
