import { driftOf } from '../../plan/drift.ts';
import { renderDriftText } from '../../render/drift.ts';
import { renderPlanJson } from '../../render/json.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { planConfiguration } from '../make-plan.ts';
import { type PlanFlags, planOptions } from '../plan-flags.ts';
import { openSession } from '../session.ts';
import { tellRunning, tellWarnings } from '../tell.ts';

export type DriftFlags = PlanFlags & {
  readonly format: 'text' | 'json';
  readonly detailedExitcode?: boolean;
  /** Addresses whose drift is written into the configuration. */
  readonly accept?: readonly string[];
};

/** `callsheet drift`: what changed on the platform since Callsheet last wrote it, and who changed it. */
export async function drift(flags: DriftFlags, context: Context): Promise<ExitCode> {
  if (flags.accept !== undefined) return acceptDrift(flags.accept, flags, context);
  const session = await openSession(flags, context);
  try {
    tellWarnings(session.warnings, context);
    tellRunning(session.unfinished, context);
    const { plan } = await planConfiguration(session, planOptions(flags), context, {
      isPreflighted: false,
    });
    const document = driftOf(plan);
    const { terminal } = context;
    terminal.out(
      flags.format === 'json'
        ? renderPlanJson(document)
        : renderDriftText(document, terminal.render),
    );
    const isDrifted = document.changes.length > 0;
    return isDrifted && flags.detailedExitcode === true ? EXIT.changes : EXIT.done;
  } finally {
    await session.close();
  }
}

/** `drift --accept`: what the platform changed there is what should be from now on. */
async function acceptDrift(
  addresses: readonly string[],
  { format, ...flags }: DriftFlags,
  context: Context,
): Promise<ExitCode> {
  const { pull } = await import('./pull.ts');
  return pull(addresses, { ...flags, format: format === 'json' ? 'json' : 'text' }, context);
}
