import { CallsheetError } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import { driftOf } from '../../plan/drift.ts';
import { renderDriftText } from '../../render/drift.ts';
import { renderPlanJson } from '../../render/json.ts';
import { renderDriftMarkdown } from '../../render/markdown-drift.ts';
import { attributeDrift, keepHistories } from '../attribute-drift.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { planConfiguration } from '../make-plan.ts';
import { type NotifyFlags, noticeAddress, notifyDrift } from '../notify.ts';
import { type PlanFlags, planOptions, refreshOf } from '../plan-flags.ts';
import { openSession, tellRunning, tellUncompared, tellUnread, tellWarnings } from '../session.ts';
import { pageOf } from './plan.ts';

export type DriftFlags = PlanFlags &
  NotifyFlags & {
    readonly format: 'text' | 'json' | 'markdown' | 'html';
    readonly detailedExitcode?: boolean;
    /** Addresses whose drift is written into the configuration. */
    readonly accept?: readonly string[];
  };

const RENDER = {
  text: (document: PlanDocument, { terminal }: Context) =>
    renderDriftText(document, terminal.render),
  json: renderPlanJson,
  markdown: (document: PlanDocument, _: Context, dir: string) =>
    renderDriftMarkdown(document, pageOf(dir)),
  html: async (document: PlanDocument) =>
    (await import('../../page/report.ts')).renderReport(document),
} as const;

/** `callsheet drift`: what changed on the platform since Callsheet last wrote it, and who changed it. */
export async function drift(flags: DriftFlags, context: Context): Promise<ExitCode> {
  if (flags.accept !== undefined) return acceptDrift(flags.accept, flags, context);
  const address = noticeAddress(flags, context);
  const session = await openSession(flags, context);
  try {
    tellWarnings(session.warnings, context);
    tellRunning(session.unfinished, context);
    const { reader, histories } = keepHistories(session.reader);
    const planning = { ...session, reader };
    const planned = await planConfiguration(planning, planOptions(flags), context, {
      isPreflighted: false,
      refresh: refreshOf(flags, session.endpoints),
    });
    const { plan } = planned;
    tellUnread(planned, flags, context);
    tellUncompared(planned, context);
    const document = await attributeDrift(driftOf(plan), histories, session, context);
    context.terminal.out(await RENDER[flags.format](document, context, flags.dir));
    // Whatever becomes of the notification, the result is out.
    await notifyDrift(address, document, flags, context);
    const isDrifted = document.changes.length > 0;
    return isDrifted && flags.detailedExitcode === true ? EXIT.changes : EXIT.done;
  } finally {
    await session.close();
  }
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
    throw new CallsheetError('usage', `${beside} cannot stand beside --accept`, {
      hint: 'Accept what drifted first; what callsheet drift then finds is what is left.',
    });
  }
  const { pull } = await import('./pull.ts');
  return pull(addresses, { ...flags, format: format === 'json' ? 'json' : 'text' }, context);
}
