import { CallsheetError } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import { isRefused } from '../../plan/document.ts';
import type { RestorationSummary } from '../../render/restoration.ts';
import { renderPlan } from '../commands/plan.ts';
import { confirm } from '../confirm.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type Session, say } from '../session.ts';
import { unknownSecrets } from './exceptions.ts';
import type { Opened } from './open.ts';
import { MOST_WHOLE, type Overview } from './overview.ts';
import { isWriting, neededSecrets, secretsMissing, targetNotEmpty } from './refusals.ts';
import { textNotes } from './round.ts';
import type { Progress } from './summary.ts';
import { findStrangers } from './target.ts';

export type AgreeFlags = {
  readonly autoApprove?: boolean;
  readonly dryRun?: boolean;
  readonly over?: boolean;
  readonly mapTexts?: boolean;
  /** False with `--without-secrets`. */
  readonly withoutSecrets?: boolean;
  readonly format: 'text' | 'json';
};

/** What has to be settled before the first write: what is in the way, what is missing, and whether to go on. */
export async function beforeFirst(
  overview: Overview,
  obstacles: ReadonlyMap<string, string>,
  session: Session,
  progress: Progress,
  { choice }: Opened,
  flags: AgreeFlags,
  context: Context,
): Promise<readonly [RestorationSummary['status'], ExitCode] | undefined> {
  const { needs, found } = overview;
  const notes = [...overview.plan.notes, ...textNotes(overview, flags.mapTexts === true)];
  const plan: PlanDocument = { ...overview.plan, notes };
  progress.collisions = overview.collisions;
  progress.secrets = neededSecrets(needs);
  progress.exceptions.push(...unknownSecrets(plan));
  const showPlan = () => {
    if (flags.format === 'text')
      context.terminal.out(renderPlan(briefly(plan, context), 'text', context.terminal));
  };
  const isIdle = !isWriting({ plan }) && !isRefused(plan);
  if (flags.dryRun === true || isIdle) showPlan();
  if (flags.dryRun === true) return ['planned', isRefused(plan) ? EXIT.refused : EXIT.done];
  if (isIdle) return undefined;
  if (flags.over !== true) {
    const owners = new Set(Object.values(session.state.resources).map(keyOf));
    const isOurs = (kind: string, id: string) =>
      found.has(`${kind} ${id}`) || owners.has(`${kind} ${id}`);
    const strangers = await findStrangers(choice, obstacles, session.reader, isOurs);
    if (progress.collisions.length + strangers.length > 0)
      throw targetNotEmpty(progress.collisions, strangers.length);
  }
  if (needs.length > 0 && flags.withoutSecrets !== true) throw secretsMissing(needs);
  showPlan();
  if (isRefused(plan)) {
    say(
      context.terminal,
      'Nothing was written: the restoration holds changes that are refused. --skip-refused leaves them out and does the rest.',
    );
    return ['refused', EXIT.refused];
  }
  return (await isAgreed(flags, context)) ? undefined : ['refused', EXIT.error];
}

function briefly(plan: PlanDocument, { terminal }: Context): PlanDocument {
  if (terminal.render.verbose || plan.summary.create <= MOST_WHOLE) return plan;
  const changes = plan.changes.map((change) =>
    change.action === 'create' ? { ...change, fields: [] } : change,
  );
  const message = 'values of what is made are left out here; --verbose shows them';
  return { ...plan, changes, notes: [...plan.notes, { severity: 'info', address: null, message }] };
}

function keyOf({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return `${kind} ${id}`;
}

async function isAgreed({ autoApprove }: AgreeFlags, { terminal }: Context): Promise<boolean> {
  if (autoApprove === true) return true;
  if (!terminal.canAsk) {
    const message = 'nothing was written: nobody is there to agree, as stdin is not a terminal';
    throw new CallsheetError('usage', message, {
      hint: 'To carry this out, pass --auto-approve; to look at it only, --dry-run.',
    });
  }
  const agreed = await confirm('Restore this?', terminal);
  if (!agreed) terminal.err('Nothing was written.');
  return agreed;
}
