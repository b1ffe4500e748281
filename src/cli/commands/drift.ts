import type { Context } from '../../console/context.ts';
import { type DriftFlags, driftNow } from '../../console/notify.ts';
import { renderReview } from '../../console/plan.ts';
import { CallsheetError, type ExitCode } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';

export type DriftCommandFlags = DriftFlags & {
  readonly format: string;
};

/** `callsheet drift`: what changed on the platform since Callsheet last wrote it, and who changed it. */
export async function drift(flags: DriftCommandFlags, context: Context): Promise<ExitCode> {
  if (flags.accept !== undefined) return acceptDrift(flags.accept, flags, context);
  const show = async (document: PlanDocument) =>
    context.terminal.out(await renderReview(document, flags.format, context, flags.dir));
  return (await driftNow(flags, context, show)).exit;
}

/** `drift --accept`: what the platform changed there is what should be from now on. */
async function acceptDrift(
  addresses: readonly string[],
  { format, notify, notifyAlways, detailedExitcode, ...flags }: DriftCommandFlags,
  context: Context,
): Promise<ExitCode> {
  const [chosen] = (['target', 'exclude'] as const).filter((name) => flags[name] !== undefined);
  if (chosen !== undefined) {
    throw new CallsheetError('usage', `--${chosen} cannot be used with --accept`, {
      hint: 'Name what is accepted after --accept itself: addresses, or kinds.',
    });
  }
  const [beside] = [
    notify !== undefined && '--notify',
    notifyAlways === true && '--notify-always',
    detailedExitcode === true && '--detailed-exitcode',
    format !== 'text' && format !== 'json' && `--format ${format}`,
  ].filter((flag) => flag !== false);
  if (beside !== undefined) {
    throw new CallsheetError('usage', `${beside} cannot be used with --accept`, {
      hint: 'Accept the drift first, then run `callsheet drift` for the rest.',
    });
  }
  const accept = await context.features.find((one) => one.accept !== undefined)?.accept?.();
  if (accept === undefined) throw new Error('no feature accepts drift');
  return accept(addresses, { ...flags, format: format === 'json' ? 'json' : 'text' }, context);
}
