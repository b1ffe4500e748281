import { type CommonFlags, type Context, chooseCalls } from '../../console/context.ts';
import { isAgreed, openPlanReview } from '../../console/events.ts';
import { renderReview } from '../../console/plan.ts';
import { openProgress } from '../../console/progress.ts';
import { exitOfOutcome, showOutcome, tellWaysOn } from '../../console/result.ts';
import { type KeyFlags, keysFrom } from '../../console/snapshot-keys.ts';
import { CallsheetError, type ExitCode } from '../../core/errors.ts';
import type { CallsChoice } from '../../run/context.ts';
import { type Review, type UndoOutcome, undo } from '../../run/undo.ts';

export type RollbackFlags = CommonFlags &
  CallsChoice &
  KeyFlags & {
    /** The run to undo: its id, or as much of it as tells it apart. The last one where none is given. */
    readonly run?: string;
    /** A snapshot to go back to, instead of a run. */
    readonly to?: string;
    readonly allowDelete?: boolean;
    readonly autoApprove?: boolean;
    readonly undoEdited?: boolean;
    readonly deleteUsed?: boolean;
    readonly skipRefused?: boolean;
    readonly target?: readonly string[];
    readonly exclude?: readonly string[];
    readonly dryRun?: boolean;
    readonly overrideFreeze?: string;
    readonly concurrency?: number;
    readonly format: string;
  };

const UNASKED = 'To run this rollback, pass --auto-approve.';

/** `callsheet rollback`: undoes a run, or goes back to a snapshot. */
export async function rollback(flags: RollbackFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const format = resultFormat(flags);
  const review = openPlanReview(terminal);
  const calls = flags.dryRun === true ? flags.calls : chooseCalls(flags);
  const outcome = await rollBack({ ...flags, calls }, context, {
    show(plan) {
      if (format === 'text') review.show(plan);
    },
    agree: (question) => isAgreed(question, flags, terminal, UNASKED, review.confirm),
    observe: (plan) => openProgress(plan, flags, context),
  });
  if (outcome.type !== 'planned')
    return showOutcome(outcome, { flags: { ...flags, format }, context });
  terminal.out(await renderReview(outcome.plan, flags.format, context, flags.dir));
  if (flags.format === 'text') tellWaysOn(outcome, terminal);
  return exitOfOutcome(outcome);
}

async function rollBack(
  flags: RollbackFlags,
  context: Context,
  review: Review,
): Promise<UndoOutcome> {
  const { run, to, allowDelete } = flags;
  if (to === undefined) return undo(flags, context, review);
  if (run !== undefined) {
    throw new CallsheetError('usage', 'a run and --to exclude each other', {
      hint: 'A rollback undoes a run, or goes back to a snapshot.',
    });
  }
  const { openSnapshot } = await import('../../snapshot/file.ts');
  const { undoTo } = await import('../../run/undo-to.ts');
  const snapshot = await openSnapshot(to, keysFrom(flags, context));
  return undoTo(snapshot, { ...flags, allowDelete: allowDelete === true }, context, review);
}

/** The format of what came of a run: a plan alone can be a page. */
function resultFormat({ format, dryRun }: RollbackFlags): 'text' | 'json' {
  if (format === 'text' || format === 'json') return format;
  if (dryRun === true) return 'text';
  throw new CallsheetError('usage', `--format ${format} works only with --dry-run`, {
    hint: 'A rollback shows its result as text or json.',
  });
}
