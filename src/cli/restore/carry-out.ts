import { CallsheetError } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import { isRefused } from '../../plan/document.ts';
import { renderLedgerText } from '../../render/ledger.ts';
import type { RestorationSummary } from '../../render/restoration.ts';
import { renderPlan } from '../commands/plan.ts';
import { confirm } from '../confirm.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { runPlan } from '../run.ts';
import type { Session } from '../session.ts';
import { tellRunning } from '../tell.ts';
import { unknownSecrets } from './exceptions.ts';
import type { Opened, OpenFlags } from './open.ts';
import {
  collisionsIn,
  isRecording,
  isWriting,
  neededSecrets,
  secretsMissing,
  targetNotEmpty,
} from './refusals.ts';
import { planRound, type Restoration, type Round, textNotes } from './round.ts';
import { type Progress, showSummary } from './summary.ts';
import { findObstacles, findStrangers } from './target.ts';

export type CarryOutFlags = OpenFlags &
  Restoration['flags'] & {
    readonly autoApprove?: boolean;
    readonly dryRun?: boolean;
    readonly mapTexts?: boolean;
    /** False with `--without-secrets`. */
    readonly withoutSecrets?: boolean;
    readonly format: 'text' | 'json';
  };

/**
 * What is made in one round can be told more in the next: its parts with endpoints of their own, the ids that
 * texts name. The last one finds nothing left and is the proof. More than this is a platform that does not
 * keep what it is told.
 */
const MOST_ROUNDS = 4;

/** A round, and why nothing can be put into some places. */
type Seen = Round & { readonly obstacles: ReadonlyMap<string, string> };

/** Makes the target hold what the snapshot does, and proves it. */
export async function carryOut(
  opened: Opened,
  flags: CarryOutFlags,
  context: Context,
): Promise<ExitCode> {
  const progress: Progress = { runs: [], exceptions: [], collisions: [], secrets: [] };
  for (let round = 1; ; round += 1) {
    const session = await opened.session();
    try {
      const exit = await takeRound(round, session, progress, opened, flags, context);
      if (exit !== undefined) return exit;
    } finally {
      await session.close();
    }
  }
}

/** One round; undefined where another one is to follow. */
async function takeRound(
  number: number,
  session: Session,
  progress: Progress,
  opened: Opened,
  flags: CarryOutFlags,
  context: Context,
): Promise<ExitCode | undefined> {
  if (number === 1) tellRunning(session.unfinished, context);
  const round = await lookAround(session, opened, flags, context);
  const { planned } = round;
  const { plan } = planned;
  const end = (status: RestorationSummary['status'], exit: ExitCode) => {
    showSummary(status, round, progress, { session, opened, flags, context });
    return exit;
  };
  if (number === 1) {
    const refused = await beforeFirst(round, session, progress, opened, flags, context);
    if (refused !== undefined) return end(...refused);
  }
  if (!isRecording(planned) && session.unfinished === undefined) {
    const isWhole = plan.changes.every(({ verdict }) => verdict === 'ok');
    return isWhole ? end('done', EXIT.done) : end('partial', EXIT.partial);
  }
  if (number > MOST_ROUNDS || isRefused(plan)) return end('partial', EXIT.partial);
  return carryOutRound(round, session, progress, { flags, context, end });
}

async function carryOutRound(
  { planned, rebuilt }: Round,
  session: Session,
  progress: Progress,
  {
    flags,
    context,
    end,
  }: {
    readonly flags: CarryOutFlags;
    readonly context: Context;
    readonly end: (status: RestorationSummary['status'], exit: ExitCode) => ExitCode;
  },
): Promise<ExitCode | undefined> {
  const exit = await runPlan(planned, {
    flags,
    session,
    context,
    purpose: 'restore',
    desired: rebuilt.desired,
    onResult(run, { ledger }) {
      progress.runs.push(run);
      if (flags.format === 'text')
        context.terminal.out(renderLedgerText(ledger, context.terminal.render));
    },
  });
  if (exit === EXIT.done) return undefined;
  return end(exit === EXIT.interrupted ? 'interrupted' : 'partial', exit);
}

async function lookAround(
  session: Session,
  opened: Opened,
  flags: CarryOutFlags,
  context: Context,
): Promise<Seen> {
  const { holding, choice, addresses, supplies, isSameAccount, organizations } = opened;
  const obstacles = await findObstacles(choice, session.reader);
  const restoration: Restoration = {
    holding,
    addresses,
    organizations,
    flags,
    site: {
      places: choice.places,
      isSameAccount,
      obstacleAt: (place) => obstacles.get(place),
      secretAt: supplies.secretAt,
      fileFor: supplies.fileFor,
      rewritesTexts: flags.mapTexts === true,
    },
  };
  return { ...(await planRound(restoration, session, context)), obstacles };
}

/** What has to be settled before the first write: what is in the way, what is missing, and whether to go on. */
async function beforeFirst(
  round: Seen,
  session: Session,
  progress: Progress,
  { choice }: Opened,
  flags: CarryOutFlags,
  context: Context,
): Promise<readonly [RestorationSummary['status'], ExitCode] | undefined> {
  const { planned, rebuilt, found } = round;
  const notes = [...planned.plan.notes, ...textNotes(rebuilt, flags.mapTexts === true)];
  const plan: PlanDocument = { ...planned.plan, notes };
  progress.collisions = collisionsIn(round);
  progress.secrets = neededSecrets(rebuilt.needs);
  progress.exceptions.push(...unknownSecrets(plan));
  const showPlan = () => {
    if (flags.format === 'text')
      context.terminal.out(renderPlan(briefly(plan, context), 'text', context.terminal));
  };
  if (flags.dryRun === true || !isWriting(planned)) showPlan();
  if (flags.dryRun === true) return ['planned', isRefused(plan) ? EXIT.refused : EXIT.done];
  if (!isWriting(planned)) return undefined;
  if (flags.over !== true) {
    const owners = new Set(Object.values(session.state.resources).map(keyOf));
    const isOurs = (kind: string, id: string) =>
      found.has(`${kind} ${id}`) || owners.has(`${kind} ${id}`);
    const strangers = await findStrangers(choice, round.obstacles, session.reader, isOurs);
    if (progress.collisions.length + strangers.length > 0)
      throw targetNotEmpty(progress.collisions, strangers.length);
  }
  if (rebuilt.needs.length > 0 && flags.withoutSecrets !== true)
    throw secretsMissing(rebuilt.needs);
  showPlan();
  if (isRefused(plan)) {
    context.terminal.err(
      'Nothing was written: the restoration holds changes that are refused. --skip-refused leaves them out and does the rest.',
    );
    return ['refused', EXIT.refused];
  }
  return (await isAgreed(flags, context)) ? undefined : ['refused', EXIT.error];
}

/** More of what is to be made is listed without its values: the snapshot has them all (`snapshot show`). */
const MOST_WHOLE = 30;

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

async function isAgreed({ autoApprove }: CarryOutFlags, { terminal }: Context): Promise<boolean> {
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
