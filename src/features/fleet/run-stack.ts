import pLimit from 'p-limit';
import type { Context } from '../../console/context.ts';
import { endedBy, onTerminal, reportFailure } from '../../console/events.ts';
import { tellBrokenOff, tellOutcome } from '../../console/result.ts';
import { drawEvery, messagesOnly, type Terminal } from '../../console/terminal.ts';
import { type Diagnostic, isError } from '../../core/diagnostics.ts';
import {
  CallsheetError,
  EXIT,
  type ExitCode,
  failureIn,
  RunFailure,
  unreachable,
} from '../../core/errors.ts';
import { isOnBase, type PlanDocument, summarise } from '../../core/plan-document.ts';
import { countEach } from '../../core/value.ts';
import { hasChanges } from '../../plan/document.ts';
import type { Failure, FailureDocument } from '../../render/diagnostics.ts';
import {
  type FleetDocument,
  type FleetStack,
  renderFleetProgress,
  type StackStatus,
} from '../../render/fleet.ts';
import type { DiagnosticsDocument } from '../../render/report.ts';
import { jsonText } from '../../render/untrusted.ts';
import { formatNumber, titleOnBase } from '../../render/wording.ts';
import { type RunDocument, toFailure } from '../../run/document.ts';
import type { UndoOutcome } from '../../run/undo.ts';
import { type FoundStack, inTree, type StackCommand, type StackFlags } from './request.ts';

/** One command on one stack. */
export type StackTask = {
  readonly command: StackCommand;
  readonly stack: FoundStack;
  readonly flags: StackFlags;
  /** The plan that `apply` carries out; without one it plans. It never prompts. */
  readonly plan?: (() => Promise<PlanDocument>) | undefined;
  /** True if the process runs for days: the trace of the stack is its own. */
  readonly isAlone?: boolean;
  /** Gets the id of each run that `apply` begins. */
  readonly onRun?: ((run: string) => void) | undefined;
};

export type StackDocument = PlanDocument | RunDocument | DiagnosticsDocument;

export type StackResult = {
  readonly path: string;
  readonly exit: ExitCode;
  /** Undefined where it ended before it had anything to print; `error` says why it failed, then or later. */
  readonly document: StackDocument | undefined;
  readonly error: Failure | undefined;
  /** Output beside the result, for people: warnings, progress, why it failed. Ends in a line break. */
  readonly said: string;
};

/**
 * Runs a command on one stack, and prints nothing. Failures are in the result: it never throws, so one stack never
 * stops another. Once `context.stop` is aborted nothing is begun. `onProgress` gets a line of progress.
 */
export async function runStack(
  task: StackTask,
  context: Context,
  onProgress: (line: string) => void = () => undefined,
): Promise<StackResult> {
  const said: string[] = [];
  const terminal = messagesOnly(context.terminal, said, onProgress);
  // To why it failed `--quiet` means nothing.
  const spoken = task.flags.quiet === true ? { ...terminal, err: () => undefined } : terminal;
  const work = () => end(task, { ...context, ...onTerminal(spoken) }, terminal);
  const ended = await (context.telemetry?.task(`callsheet ${task.command}`, work, {
    isRoot: task.isAlone === true,
    failure: ({ exit }) => failureIn(exit),
  }) ?? work());
  return { path: task.stack.path, ...ended, said: said.join('') };
}

type Ended = Pick<StackResult, 'exit' | 'document' | 'error'>;

/** Returns how the command ended, and prints why it failed to `terminal`. */
async function end(task: StackTask, context: Context, terminal: Terminal): Promise<Ended> {
  let found: StackDocument | undefined;
  try {
    if (context.stop.aborted) throw new CallsheetError('interrupted', 'not begun');
    const { exit, document } = await perform(task, context, (early) => {
      found = early;
    });
    return document?.format === 'callsheet-error'
      ? { exit, document: undefined, error: document.error }
      : { exit, document, error: undefined };
  } catch (thrown) {
    const error = endedBy(thrown, context.stop);
    if (error instanceof RunFailure) tellBrokenOff(error, { ...terminal, out: terminal.err });
    return {
      exit: reportFailure(error, terminal, task.flags.verbose === true),
      document: found,
      error: toFailure(error),
    };
  }
}

type Performed = {
  readonly exit: ExitCode;
  readonly document: StackDocument | FailureDocument | undefined;
};

/** The commands load on demand, as everywhere. `show` is given what there is to show whatever follows. */
async function perform(
  { command, stack, flags: given, plan, onRun }: StackTask,
  context: Context,
  show: (early: StackDocument) => void,
): Promise<Performed> {
  const flags = { ...given, dir: stack.dir };
  switch (command) {
    case 'validate':
      return (await import('../../console/validate.ts')).validateNow(flags, context);
    case 'plan':
      return (await import('../../console/plan.ts')).planNow(flags, context);
    case 'apply': {
      const { applyNow, applyExit, tellRollback } = await import('../../console/apply.ts');
      const { applyDocument } = await import('../../run/apply.ts');
      const shown = { flags: { ...flags, format: 'json' }, context } as const;
      const ended = (outcome: UndoOutcome) => tellOutcome(outcome, shown);
      const outcome = await applyNow(plan, flags, context, {
        ended,
        onEvent: (event) => {
          if (event.type === 'run_started') onRun?.(event.run);
        },
      });
      tellRollback(outcome, shown);
      return { exit: applyExit(outcome), document: applyDocument(outcome) };
    }
    case 'drift':
      return (await import('../../console/notify.ts')).driftNow(flags, context, async (drift) =>
        show(drift),
      );
    default:
      return unreachable(command);
  }
}

/** Stacks at work at once, unless fewer requests are. One limiter holds all of them to the account's pace. */
const MOST_AT_ONCE = 4;

/**
 * Works on stacks, some at once, and hands what came of each on in the order in which they were given, as soon as it
 * and all before it are there. `verb`: what is seen meanwhile, such as `Planning`.
 */
export async function eachStack<S extends FoundStack, T>(
  stacks: readonly S[],
  { verb, concurrency = MOST_AT_ONCE }: { readonly verb: string; readonly concurrency?: number },
  context: Context,
  work: (stack: S, onProgress: (line: string) => void) => Promise<T>,
  take: (result: T) => Promise<void> | void,
): Promise<void> {
  const limit = pLimit(Math.max(1, Math.min(MOST_AT_ONCE, concurrency)));
  const running = new Map<string, string>();
  let ended = 0;
  let isOver = false;
  const { terminal } = context;
  const stopDrawing = drawEvery(terminal.live, () => {
    const progress = { ended, total: stacks.length, running: [...running] };
    return renderFleetProgress(verb, progress, terminal.renderErr);
  });
  const waiting = stacks.map((stack) =>
    limit(async () => {
      if (isOver) throw new Error(`${stack.path} was not begun`);
      running.set(stack.path, '');
      try {
        return await work(stack, (line) => void running.set(stack.path, line));
      } finally {
        running.delete(stack.path);
        ended += 1;
      }
    }),
  );
  try {
    for (const [at, one] of waiting.entries()) {
      await take(await one);
      // A result that was shown need not be kept.
      delete waiting[at];
    }
  } finally {
    isOver = true;
    stopDrawing();
    await Promise.allSettled(waiting);
  }
}

/**
 * The exit code of the whole is that of the stack that needs a person most: an interrupt first, then unforeseen errors,
 * stacks that were left half done, refusals, stale plans, locked stacks, and changes.
 */
const WORST_FIRST: readonly ExitCode[] = [
  EXIT.interrupted,
  EXIT.error,
  EXIT.partial,
  EXIT.refused,
  EXIT.stale,
  EXIT.locked,
  EXIT.changes,
  EXIT.done,
];

export function worstExit(exits: readonly number[]): ExitCode {
  return WORST_FIRST.find((exit) => exits.includes(exit)) ?? EXIT.done;
}

/**
 * Returns the exit code of a command on a tree. Stacks that could not be planned leave a plan in part if others were
 * planned, so that a pipeline can go on with the plans that there are (DESIGN §3).
 */
export function treeExit(command: StackCommand, stacks: readonly FleetStack[]): ExitCode {
  const exit = worstExit(stacks.map((stack) => stack.exit));
  const isPlanned = stacks.some(({ plan_digest: digest }) => digest !== null);
  return command === 'plan' && exit === EXIT.error && isPlanned ? EXIT.partial : exit;
}

export function summariseStack({ path, exit, document, error }: StackResult): FleetStack {
  const summary = document === undefined ? EMPTY_SUMMARY : summariseDocument(document, path);
  const reason = error === undefined ? summary.reason : reasonOfFailure(path, error);
  const failure = failureIn(exit);
  return {
    path,
    status: failure === 'error' ? 'failed' : (failure ?? summary.status),
    exit,
    counts: summary.counts,
    plan_digest: document?.format === 'callsheet-plan' ? document.digest : null,
    plan_file: null,
    run: document?.format === 'callsheet-run' ? document.run : null,
    reason: reason ?? null,
    error: error ?? null,
  };
}

/** The summary of a stack that its document gives. */
type StackSummary = Pick<FleetStack, 'counts'> & {
  /** How a command came out that did all that it was asked. */
  readonly status: StackStatus;
  /** The obstacle, if any. */
  readonly reason: string | undefined;
};

const EMPTY_SUMMARY: StackSummary = { status: 'unchanged', counts: {}, reason: undefined };

function summariseDocument(document: StackDocument, path: string): StackSummary {
  switch (document.format) {
    case 'callsheet-diagnostics': {
      const { counts, diagnostics } = document;
      return { status: 'done', counts, reason: reasonOfProblems(path, diagnostics) };
    }
    case 'callsheet-run': {
      const { ledger, refusals = [] } = document;
      const counts = Object.fromEntries(countEach(ledger.map(({ status }) => status)));
      const failed = ledger.filter(
        ({ status, verdict }) => status === 'failed' || verdict === 'refused',
      );
      return {
        status: counts.done === undefined ? 'unchanged' : 'done',
        counts,
        reason: getFirst([
          ...refusals.map(({ message }) => message),
          ...failed.map(({ address, message }) => `${address}: ${message ?? 'failed'}`),
        ]),
      };
    }
    case 'callsheet-plan': {
      const { purpose, changes, refusals = [] } = document;
      const isDrift = purpose === 'drift';
      const isChanged = isDrift ? changes.length > 0 : hasChanges(document);
      const struck = changes.filter(({ verdict }) => verdict === 'refused');
      return {
        status: isChanged ? 'changes' : 'unchanged',
        counts: isDrift ? { drifted: changes.length } : ownSummary(document),
        reason: getFirst([
          ...refusals.map(({ message }) => message),
          ...struck.map(({ address, reason }) => `${address}: ${reason}`),
          ...(changes.some(isOnBase) ? [titleOnBase(document)] : []),
        ]),
      };
    }
    default:
      return unreachable(document);
  }
}

/** Counts of a plan without what its base has already. */
function ownSummary({ base, changes, summary }: PlanDocument): PlanDocument['summary'] {
  const own = changes.filter((change) => !isOnBase(change));
  return base === undefined ? summary : summarise(own, summary.no_op);
}

/** Why a stack ended: the first problem, with its place as seen from where the tree is. */
function reasonOfFailure(path: string, { message, diagnostics }: Failure): string {
  const [line = '', ...more] = message.split('\n');
  return reasonOfProblems(path, diagnostics) ?? `${line}${moreWords(more.length)}`;
}

function reasonOfProblems(path: string, diagnostics: readonly Diagnostic[]): string | undefined {
  return getFirst(
    diagnostics
      .filter(isError)
      .map(({ position: at, message }) =>
        at === undefined ? message : `${inTree(path, at.file)}:${at.line}: ${message}`,
      ),
  );
}

function getFirst(reasons: readonly string[]): string | undefined {
  const [first, ...others] = reasons;
  return first === undefined ? undefined : `${first}${moreWords(others.length)}`;
}

function moreWords(count: number): string {
  return count === 0 ? '' : ` (and ${formatNumber(count)} more)`;
}

/** Returns the result of all stacks as JSON. Ends in a line break. */
export function fleetJson(document: FleetDocument): string {
  return `${jsonText(document)}\n`;
}
