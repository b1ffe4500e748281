import { stripVTControlCharacters } from 'node:util';
import { CallsheetError, unreachable } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import type { Failure, FailureDocument } from '../../render/failure.ts';
import type { DiagnosticsDocument } from '../../render/report/json.ts';
import type { ApplyFlags } from '../commands/apply.ts';
import type { DriftFlags } from '../commands/drift.ts';
import type { PlanCommandFlags } from '../commands/plan.ts';
import type { ValidateFlags } from '../commands/validate.ts';
import type { Context } from '../context.ts';
import { type ExitCode, failureIn } from '../exit.ts';
import { endedBy, failureOf, reportFailure } from '../report.ts';
import type { RunDocument } from '../result.ts';
import type { Terminal } from '../terminal.ts';
import type { FoundStack } from './find-stacks.ts';

/** The commands that run in a stack among many. */
const STACK_COMMANDS = ['validate', 'plan', 'apply', 'drift'] as const;
export type StackCommand = (typeof STACK_COMMANDS)[number];

/** Their flags, but for where the stack is and how the result is shown. */
export type StackFlags = Omit<
  Omit<ValidateFlags, 'format'> &
    Omit<PlanCommandFlags, 'format'> &
    Omit<ApplyFlags, 'format'> &
    Omit<DriftFlags, 'format'>,
  'dir'
>;

/** One command on one stack. */
export type StackTask = {
  readonly command: StackCommand;
  readonly stack: FoundStack;
  readonly flags: StackFlags;
  /** The plan that `apply` carries out; without one it plans, and asks nobody: `flags.autoApprove` must be set. */
  readonly planFile?: string | undefined;
  /** Whether whoever runs it runs for days: its trace is its own. */
  readonly isAlone?: boolean;
};

/** What a command prints for programs. */
export type StackDocument = PlanDocument | RunDocument | DiagnosticsDocument;

/** What came of it. */
export type StackResult = {
  readonly path: string;
  readonly exit: ExitCode;
  /** Undefined where it ended before it had anything to print; then `error` says why. */
  readonly document: StackDocument | undefined;
  readonly error: Failure | undefined;
  /** What it said beside its result, for people: warnings, progress, why it failed. Ends in a line break. */
  readonly said: string;
};

/**
 * Runs a command on one stack, and prints nothing. Whatever becomes of it is in the result: it never throws, and so
 * one stack never stops another. Once `context.stop` is aborted nothing is begun. `onProgress` is told in a line how
 * far it is.
 */
export async function runStack(
  task: StackTask,
  context: Context,
  onProgress: (line: string) => void = () => undefined,
): Promise<StackResult> {
  const { stack, flags } = task;
  const printed: string[] = [];
  const said: string[] = [];
  const terminal = keepingTerminal(context.terminal, printed, said, onProgress);
  const spoken = flags.quiet === true ? { ...terminal, err: () => undefined } : terminal;
  const work = () => end(task, { ...context, terminal: spoken }, terminal);
  const ended = await (context.telemetry?.task(`callsheet ${task.command}`, work, {
    isRoot: task.isAlone === true,
    failure: ({ exit }) => failureIn(exit),
  }) ?? work());
  const document = documentIn(printed);
  const isFailure = document?.format === 'callsheet-error';
  return {
    path: stack.path,
    exit: ended.exit,
    document: isFailure ? undefined : document,
    error: ended.error ?? (isFailure ? document.error : undefined),
    said: said.join(''),
  };
}

/** How the command ended. Why it failed is told to `terminal`, to which `--quiet` means nothing. */
async function end(
  task: StackTask,
  context: Context,
  terminal: Terminal,
): Promise<Pick<StackResult, 'exit' | 'error'>> {
  try {
    if (context.stop.aborted) throw new CallsheetError('interrupted', 'not begun');
    return { exit: await perform(task, context), error: undefined };
  } catch (thrown) {
    const error = endedBy(thrown, context.stop);
    return {
      exit: reportFailure(error, terminal, task.flags.verbose === true),
      error: failureOf(error),
    };
  }
}

/** The commands load on demand, as everywhere. */
async function perform(
  { command, stack, flags: given, planFile }: StackTask,
  context: Context,
): Promise<ExitCode> {
  const flags = { ...given, dir: stack.dir, format: 'json' } as const;
  switch (command) {
    case 'validate':
      return (await import('../commands/validate.ts')).validate(flags, context);
    case 'plan':
      return (await import('../commands/plan.ts')).plan(flags, context);
    case 'apply':
      return (await import('../commands/apply.ts')).apply(planFile, flags, context);
    case 'drift':
      return (await import('../commands/drift.ts')).drift(flags, context);
    default:
      return unreachable(command);
  }
}

/** A terminal that keeps what it is told. Nobody can be asked anything there. Of what is drawn the first line counts. */
export function keepingTerminal(
  terminal: Terminal,
  printed: string[],
  said: string[],
  onProgress: (line: string) => void = () => undefined,
): Terminal {
  return {
    // With it a log of each change is spared, which the result has, too.
    live: {
      draw: (text) => onProgress(stripVTControlCharacters(text.split('\n')[0] ?? '')),
      end: () => undefined,
    },
    out: (text) => void printed.push(text),
    err: (text) => void said.push(text.endsWith('\n') ? text : `${text}\n`),
    render: terminal.render,
    get renderErr() {
      return terminal.renderErr;
    },
    wrapsErr: terminal.wrapsErr,
    canAsk: false,
    ask: () => Promise.reject(new CallsheetError('usage', 'nobody can be asked about one of many')),
  };
}

/** A command prints one document at most. */
function documentIn(printed: readonly string[]): StackDocument | FailureDocument | undefined {
  return printed.length === 0 ? undefined : JSON.parse(printed.join(''));
}
