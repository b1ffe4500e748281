import { CallsheetError } from '../core/errors.ts';
import type { Note, PlanDocument, PlanOptions } from '../core/plan-document.ts';
import { isRefused } from '../plan/document.ts';
import type { Planned } from '../plan/make.ts';
import type { HoldChange } from '../rollback/hold.ts';
import type { Undo } from '../rollback/undo.ts';
import { renderPlan } from './commands/plan.ts';
import { confirm } from './confirm.ts';
import type { CommonFlags, Context } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { planInstead } from './make-plan.ts';
import { overrideOption } from './plan-flags.ts';
import { showNothingDone, tellRefused } from './result.ts';
import { runPlan } from './run.ts';
import type { Session } from './session.ts';
import { tellHeld } from './tell.ts';
import { verifyUndo } from './verify-undo.ts';

export type UndoFlags = CommonFlags & {
  readonly autoApprove?: boolean;
  readonly force?: boolean;
  readonly skipRefused?: boolean;
  readonly overrideFreeze?: string;
  readonly concurrency?: number;
  readonly format: 'text' | 'json';
};

/** What is to be brought back, and what is said and remembered of it. */
export type UndoRequest = {
  readonly undo: Undo;
  /** The run that it undoes; none where it goes back to a snapshot. */
  readonly run?: string;
  /** What a person is asked. */
  readonly question: string;
  /** What it means for the configuration that it undoes. */
  readonly hold?: HoldChange | undefined;
  /** The snapshot that it goes back to. */
  readonly snapshot?: PlanDocument['snapshot'];
  /** Whether what was made meanwhile is deleted; it is, unless this says no. */
  readonly mayDelete?: boolean;
  /** What else is to be said of the plan. */
  readonly notes?: readonly Note[];
};

/**
 * Brings resources back to what they were, through the ordinary plan and executor: plans, shows, asks, runs
 * and holds the result against what is wanted. Every rollback ends here, whatever its desired side was
 * made from.
 */
export async function carryOutUndo(
  { undo, run, question, hold, snapshot, mayDelete = true, notes: said = [] }: UndoRequest,
  flags: UndoFlags,
  session: Session,
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  const planned = await planInstead(
    session,
    {
      purpose: 'rollback',
      ...(run === undefined ? {} : { undoes: run }),
      ...(snapshot === undefined ? {} : { snapshot }),
      desired: undo.desired,
      versions: undo.versions,
      options: { ...undoOptions(undo, flags), allow_delete: mayDelete },
    },
    context,
  );
  const notes: readonly Note[] = undo.impossible.map((note) => ({ severity: 'warning', ...note }));
  const plan = { ...planned.plan, notes: [...planned.plan.notes, ...notes, ...said] };
  const { desired, restored } = undo;
  const whole = { ...planned, plan, refresh: asRestored(planned.refresh, restored) };
  if (flags.format === 'text') terminal.out(renderPlan(plan, 'text', terminal));
  if (isRefused(plan)) return tellRefused(plan, { flags, context });
  const request = { flags, session, context, purpose: 'rollback' } as const;
  const isLeft = plan.changes.some(({ verdict }) => verdict === 'unsupported');
  if (!plan.changes.some(({ verdict }) => verdict === 'ok')) {
    // Nothing is asked of the platform, but a run that died is settled for good.
    if (session.unfinished !== undefined) await runPlan(whole, request);
    else showNothingDone(plan, isLeft ? 'partial' : 'done', { flags, context });
    return isLeft ? EXIT.partial : EXIT.done;
  }
  if (!(await isAgreed(question, flags, context))) return EXIT.error;
  const exit = await runPlan(whole, {
    ...request,
    desired,
    restored,
    verify: (left) => verifyUndo(withoutAgreed(undo, plan), left, session),
    ...(hold === undefined ? {} : { hold }),
  });
  if (hold?.isHeld === true && (exit === EXIT.done || exit === EXIT.partial)) tellHeld(context);
  return exit;
}

/** What `--skip-refused` leaves out, or waits to be deleted, was agreed to, and is not held against the result. */
function withoutAgreed({ wanted }: Undo, { changes }: PlanDocument): Pick<Undo, 'wanted'> {
  const agreed = changes.filter(({ verdict }) => verdict === 'refused' || verdict === 'held');
  const addresses = new Set(agreed.map(({ address }) => address));
  return { wanted: new Map([...wanted].filter(([address]) => !addresses.has(address))) };
}

/** What the state says from now on of what is as it is to be already: what it said then, not a part of it. */
function asRestored(refresh: Planned['refresh'], restored: Undo['restored']): Planned['refresh'] {
  return new Map(
    [...refresh].map(([address, now]) => {
      const { id, scope, pin } = now;
      const then = restored.get(address);
      return [address, then ? { ...then, id, scope, pin } : now];
    }),
  );
}

async function isAgreed(
  question: string,
  { autoApprove }: UndoFlags,
  { terminal }: Context,
): Promise<boolean> {
  if (autoApprove === true) return true;
  if (!terminal.canAsk) {
    const message = 'nothing was written: nobody is there to agree, as stdin is not a terminal';
    throw new CallsheetError('usage', message, {
      hint: 'To carry this out, pass --auto-approve.',
    });
  }
  const agreed = await confirm(question, terminal);
  if (!agreed) terminal.err('Nothing was written.');
  return agreed;
}

/** A rollback only touches what is to be undone, and takes away what was made. */
function undoOptions({ addresses }: Undo, flags: UndoFlags): PlanOptions {
  const { force, skipRefused } = flags;
  return {
    allow_delete: true,
    accept_conflicts: force === true,
    skip_refused: skipRefused === true,
    resend_secrets: false,
    target: addresses,
    exclude: [],
    force: force === true,
    ...overrideOption(flags),
  };
}
