import { readFile, stat } from 'node:fs/promises';
import { CallsheetError } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import { hasChanges, isRefused } from '../../plan/document.ts';
import type { Planned } from '../../plan/make.ts';
import { withRefusals } from '../../plan/objections.ts';
import { parsePlan, parsePlanLines } from '../../plan/parse.ts';
import { failureDocument } from '../../render/failure.ts';
import { renderRehearsalText } from '../../render/text.ts';
import { escapeInJson } from '../../render/untrusted.ts';
import { realDisk } from '../../state/disk.ts';
import { systemCode } from '../../state/disk-failures.ts';
import { confirm } from '../confirm.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { beganOf, readRun } from '../find-run.ts';
import { planConfiguration, refusalsNow } from '../make-plan.ts';
import { type PlanFlags, planOptions, refreshOf } from '../plan-flags.ts';
import { failureOf, reportFailure } from '../report.ts';
import { showNothingDone, tellRefused } from '../result.ts';
import { needSecrets, type RunRequest, runPlan } from '../run.ts';
import {
  openSession,
  type Session,
  tellOwed,
  tellUndone,
  tellUnread,
  tellWarnings,
} from '../session.ts';
import { checkExpectation, checkPlanFile, checkUses } from '../vouch.ts';
import { type PlanFormat, renderPlan } from './plan.ts';

export type ApplyFlags = PlanFlags & {
  readonly autoApprove?: boolean;
  readonly expect?: string;
  readonly events?: string;
  readonly rollbackOnFailure?: boolean;
  /** Milliseconds to wait for another run that holds the state. */
  readonly lockTimeout?: number;
  readonly format: Exclude<PlanFormat, 'markdown'>;
};

/** `callsheet apply [PLANFILE]`: carries out a plan, the given one or one made now and agreed to. */
export async function apply(
  file: string | undefined,
  flags: ApplyFlags,
  context: Context,
): Promise<ExitCode> {
  if (file === undefined && flags.autoApprove !== true && !context.terminal.canAsk) {
    throw new CallsheetError('usage', 'nobody is there to agree: stdin is not a terminal', {
      hint: 'Apply a plan file (callsheet plan --out plan.json), or pass --auto-approve.',
    });
  }
  if (file !== undefined) refusePlanningFlags(flags);
  return flags.rollbackOnFailure === true
    ? applyOrUndo(file, flags, context)
    : (await applyInTurn(file, flags, context)).exit;
}

/** What came of one apply. */
type Applied = {
  readonly exit: ExitCode;
  /** The run that failed in part. */
  readonly failed?: string | undefined;
  /** A run before that is to be undone first; then nothing was applied. */
  readonly owed?: string | undefined;
};

/** Whoever waits for others plans again where they wrote in between: a plan that nobody has is no one's decision. */
async function applyInTurn(
  file: string | undefined,
  flags: ApplyFlags,
  context: Context,
): Promise<Applied> {
  const freeBy = Date.now() + (flags.lockTimeout ?? 0);
  for (;;) {
    try {
      return await applyOnce(file, flags, context, freeBy);
    } catch (error) {
      const isMoved = error instanceof CallsheetError && error.code === 'stale';
      const isVouched = file !== undefined || flags.expect !== undefined;
      if (!isMoved || isVouched || Date.now() >= freeBy) throw error;
      context.terminal.err(`Planning again: ${error.message}.`);
    }
  }
}

async function applyOnce(
  file: string | undefined,
  flags: ApplyFlags,
  context: Context,
  freeBy: number,
): Promise<Applied> {
  // A wrong file is said before anything is asked of anybody.
  const given = file === undefined ? undefined : await readPlanFile(file);
  if (given !== undefined) checkExpectation(given, flags.expect);
  const session = await openSession(flags, context, { freeBy });
  try {
    tellWarnings(session.warnings, context);
    const owed = await findOwed(session, flags.rollbackOnFailure === true);
    if (owed !== undefined && flags.rollbackOnFailure === true) return { exit: EXIT.partial, owed };
    if (owed !== undefined) tellOwed(owed, context);
    let failed: string | undefined;
    const ended: Ended = (run, { status }) => {
      if (status === 'partial') failed = run;
    };
    const exit =
      given === undefined
        ? await applyNow(flags, session, context, { onEnded: ended, freeBy })
        : await applyFile(given, flags, session, context, { onEnded: ended, freeBy });
    return { exit, failed };
  } finally {
    await session.close();
  }
}

type Ended = NonNullable<RunRequest['onEnded']>;
type Terms = Pick<RunRequest, 'onEnded' | 'freeBy'>;

/** Applies, and undoes what the run did should it fail. It ends as the apply did. */
async function applyOrUndo(
  file: string | undefined,
  flags: ApplyFlags,
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  const printed: string[] = [];
  // A program gets one document: that of the apply, with that of the rollback in it.
  const out = flags.format === 'json' ? (text: string) => void printed.push(text) : terminal.out;
  const flush = () => {
    for (const text of printed.splice(0)) terminal.out(text);
  };
  try {
    const applied = await applyInTurn(file, flags, { ...context, terminal: { ...terminal, out } });
    const { exit, failed, owed } = applied;
    const run = failed ?? owed;
    if (run === undefined) return exit;
    if (owed !== undefined) tellOwed(owed, context);
    const { isUndone, document } = await undoFailed(run, flags, context);
    tellUndone(run, isUndone, owed !== undefined, context);
    if (flags.format === 'json') {
      const own = printed.splice(0).map((text) => JSON.parse(text))[0];
      terminal.out(
        escapeInJson(
          JSON.stringify(own === undefined ? document : { ...own, rollback: document }, null, 2),
        ),
      );
    }
    return exit;
  } finally {
    flush();
  }
}

/** What a plan was allowed is in its file; apply allows nothing more (DESIGN §3). */
export function refusePlanningFlags(flags: PlanFlags): void {
  const given = Object.entries({
    '--target': flags.target,
    '--exclude': flags.exclude,
    '--allow-delete': flags.allowDelete,
    '--accept-conflicts': flags.acceptConflicts,
    '--skip-refused': flags.skipRefused,
    '--resend-secrets': flags.resendSecrets,
    '--force': flags.force,
    '--release-hold': flags.releaseHold,
    '--override-freeze': flags.overrideFreeze,
    '--refresh': flags.refresh,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length === 0) return;
  const message = `${given.join(', ')} cannot be given with a plan file: that was settled when it was planned`;
  throw new CallsheetError('usage', message, {
    hint: 'Plan again with the flag and --out, or apply without a plan file.',
  });
}

async function applyNow(
  flags: ApplyFlags,
  session: Session,
  context: Context,
  terms: Terms,
): Promise<ExitCode> {
  const { terminal } = context;
  const refresh = refreshOf(flags, session.endpoints);
  const planned = await planConfiguration(session, planOptions(flags), context, { refresh });
  tellUnread(planned, flags, context);
  checkExpectation(planned.plan, flags.expect);
  if (flags.format === 'text') terminal.out(renderPlan(planned.plan, 'text', terminal));
  if (isRefused(planned.plan)) return tellRefused(planned.plan, { flags, context });
  const isWorth =
    hasChanges(planned.plan) || planned.refresh.size > 0 || planned.plan.changes.length > 0;
  if (!isWorth && session.unfinished === undefined) {
    showNothingDone(planned.plan, 'done', { flags, context });
    return EXIT.done;
  }
  // Said before anybody is asked.
  await needSecrets(planned.plan, { session });
  const needsConsent = hasChanges(planned.plan) && flags.autoApprove !== true;
  if (needsConsent && !(await confirm('Apply this plan?', terminal))) {
    terminal.err('Nothing was written.');
    return EXIT.error;
  }
  return runPlan(planned, requestOf(flags, session, context, terms));
}

async function applyFile(
  given: PlanDocument,
  flags: ApplyFlags,
  session: Session,
  context: Context,
  terms: Terms,
): Promise<ExitCode> {
  checkPlanFile(given, session);
  if (flags.format === 'text' && given.rehearsal !== undefined)
    context.terminal.out(renderRehearsalText(given, context.terminal.render));
  // What stood against it when it was planned may be over, and something else may have begun.
  const document = withRefusals(given, refusalsNow(given, session, context));
  if (isRefused(document)) return tellRefused(document, { flags, context });
  await checkUses(document, session);
  const planned: Planned = {
    plan: document,
    refresh: new Map(),
    ids: new Map(),
    found: new Map(),
    unread: 0,
  };
  return runPlan(planned, { ...requestOf(flags, session, context, terms), checkFirst: true });
}

function requestOf(
  flags: ApplyFlags,
  session: Session,
  context: Context,
  terms: Terms,
): RunRequest {
  const wish = flags.rollbackOnFailure === true ? { onFailure: 'rollback' as const } : {};
  return { flags, session, context, purpose: 'apply', ...terms, ...wish };
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
};

/** Bytes of a plan file that are read at once: more may be more than fits into a string. */
const MOST_AT_ONCE = 256 * 1024 * 1024;

/** The plan in a file. Throws `CallsheetError('usage')` where there is none. */
export async function readPlanFile(file: string, most = MOST_AT_ONCE): Promise<PlanDocument> {
  try {
    if ((await stat(file)).size <= most) return parsePlan(await readFile(file, 'utf8'), file);
    return await parsePlanLines((await realDisk.readLines(file)) ?? [], file);
  } catch (cause) {
    if (cause instanceof CallsheetError) throw cause;
    const code = systemCode(cause) ?? '';
    const folder = `Pass --recursive, too, if callsheet plan --recursive --out ${file} wrote it.`;
    throw new CallsheetError('usage', `the plan file ${file} ${WHY[code] ?? 'cannot be read'}`, {
      hint: code === 'EISDIR' ? folder : 'Make one with: callsheet plan --out plan.json',
      cause,
    });
  }
}

/**
 * `apply --rollback-on-failure`. That a run is to be undone should it fail stands in its first line, so that
 * whatever dies afterwards, the run or its rollback, can be gone on with:
 *
 *   apply ──▶ done
 *     ├─────▶ failed in part ──▶ rollback ──▶ undone
 *     ╳ died                        ╳ died
 *     └──────────────┬──────────────┘
 *                    ▼
 *   the next `apply --rollback-on-failure`, or `rollback`, goes on with the rollback
 */

/**
 * A run that was to be undone should it fail, did, and is not undone; undefined where there is none. Only one
 * that died is looked at unless it `isAsked`: reading the journal of each last run would cost every apply.
 */
export async function findOwed(session: Session, isAsked: boolean): Promise<string | undefined> {
  const { unfinished, state } = session;
  // One that is at work may still come to its end.
  if (unfinished !== undefined && unfinished.settlement === undefined) return undefined;
  const newest = unfinished?.run ?? (isAsked ? state.last_run : null);
  const entries = newest === null ? undefined : await readRun(session, newest);
  if (newest === null || entries === undefined) return undefined;
  const { on_failure: wish, undoes } = beganOf(entries) ?? {};
  const status = entries.find((one) => one.type === 'ended')?.status ?? 'settled';
  // Whoever interrupts a run decides what becomes of it.
  if (wish === 'rollback') return status === 'partial' || status === 'settled' ? newest : undefined;
  // A rollback that ended said what it could not do; one that died did not come to it.
  const undone =
    undoes === undefined || status !== 'settled' ? undefined : await readRun(session, undoes);
  return undone && beganOf(undone)?.on_failure === 'rollback' ? undoes : undefined;
}

/** What came of undoing a run that failed. */
type Undone = {
  readonly isUndone: boolean;
  /** What the rollback printed with `--format json`; undefined where it printed nothing. */
  readonly document: unknown;
};

/** Undoes a run as far as it can be, and asks nobody: the flag agreed to it. */
async function undoFailed(run: string, flags: ApplyFlags, context: Context): Promise<Undone> {
  const { rollback } = await import('./rollback.ts');
  const { terminal } = context;
  const printed: string[] = [];
  const isJson = flags.format === 'json';
  const out = isJson ? (text: string) => void printed.push(text) : terminal.out;
  const { dir, env, var: variables, varFile, allowEnv, concurrency, format } = flags;
  const given = {
    dir,
    ...(env === undefined ? {} : { env }),
    ...(variables === undefined ? {} : { var: variables }),
    ...(varFile === undefined ? {} : { varFile }),
    ...(allowEnv === undefined ? {} : { allowEnv }),
    ...(concurrency === undefined ? {} : { concurrency }),
    format,
  };
  const agreed = {
    run,
    autoApprove: true,
    skipRefused: true,
    overrideFreeze: flags.overrideFreeze ?? `run ${run} failed, and was begun before`,
  };
  terminal.err(`Run ${run} is rolled back, as --rollback-on-failure asks.`);
  try {
    const exit = await rollback(
      { ...given, ...agreed },
      { ...context, terminal: { ...terminal, out } },
    );
    return { isUndone: exit === EXIT.done, document: read(printed) };
  } catch (error) {
    reportFailure(error, terminal, flags.verbose === true);
    return { isUndone: false, document: failureDocument(failureOf(error)) };
  }
}

function read([text]: readonly string[]): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}
