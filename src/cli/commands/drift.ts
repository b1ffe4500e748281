import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import { driftStack } from '../../run/drift.ts';
import { planOptions } from '../../run/plan.ts';
import { type Context, type PlanFlags, stackOptions } from '../context.ts';
import { type NotifyFlags, noticeAddress, notifyDrift } from '../notify.ts';
import { renderReview } from './plan.ts';

export type DriftFlags = PlanFlags &
  NotifyFlags & {
    readonly format: 'text' | 'json' | 'markdown' | 'html';
    readonly detailedExitcode?: boolean;
    /** Addresses whose drift is written into the configuration. */
    readonly accept?: readonly string[];
  };

/** `callsheet drift`: what changed on the platform since Callsheet last wrote it, and who changed it. */
export async function drift(flags: DriftFlags, context: Context): Promise<ExitCode> {
  if (flags.accept !== undefined) return acceptDrift(flags.accept, flags, context);
  const show = async (document: PlanDocument) =>
    context.terminal.out(await renderReview(document, flags.format, context.terminal, flags.dir));
  return (await driftNow(flags, context, show)).exit;
}

/** The same for whoever shows it in another way. Whatever becomes of the notification, it is shown before. */
export async function driftNow(
  flags: Omit<DriftFlags, 'format' | 'accept'>,
  context: Context,
  show: (document: PlanDocument) => Promise<void> = async () => {},
): Promise<{ readonly document: PlanDocument; readonly exit: ExitCode }> {
  const address = noticeAddress(flags, context);
  const { refresh = 'fast' } = flags;
  const wanted = { ...stackOptions(flags), options: planOptions(flags), refresh };
  const document = await driftStack(wanted, context);
  await show(document);
  await notifyDrift(address, document, flags, context);
  const isDrifted = document.changes.length > 0;
  return {
    document,
    exit: isDrifted && flags.detailedExitcode === true ? EXIT.changes : EXIT.done,
  };
}

/** `drift --accept`: what the platform changed there is what should be from now on. */
async function acceptDrift(
  addresses: readonly string[],
  { format, notify, notifyAlways, detailedExitcode, ...flags }: DriftFlags,
  context: Context,
): Promise<ExitCode> {
  const [beside] = [
    notify !== undefined && '--notify',
    notifyAlways === true && '--notify-always',
    detailedExitcode === true && '--detailed-exitcode',
    (format === 'markdown' || format === 'html') && `--format ${format}`,
  ].filter((flag) => flag !== false);
  if (beside !== undefined) {
    throw new CallsheetError('usage', `${beside} cannot be used with --accept`, {
      hint: 'Accept the drift first, then run callsheet drift for the rest.',
    });
  }
  const { pull } = await import('./pull.ts');
  return pull(addresses, { ...flags, format: format === 'json' ? 'json' : 'text' }, context);
}
