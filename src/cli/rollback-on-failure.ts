import { failureDocument } from '../render/failure.ts';
import type { ApplyFlags } from './commands/apply.ts';
import type { Context } from './context.ts';
import { EXIT } from './exit.ts';
import { beganOf, readRun } from './find-run.ts';
import { failureOf, reportFailure } from './report.ts';
import type { Session } from './session.ts';

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
 *
 * This file: which run is still to be undone, and undoing one.
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
export type Undone = {
  readonly isUndone: boolean;
  /** What the rollback printed with `--format json`; undefined where it printed nothing. */
  readonly document: unknown;
};

/** Undoes a run as far as it can be, and asks nobody: the flag agreed to it. */
export async function undoFailed(
  run: string,
  flags: ApplyFlags,
  context: Context,
): Promise<Undone> {
  const { rollback } = await import('./commands/rollback.ts');
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
