import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CallsheetError } from '../../core/errors.ts';
import type { Task } from '../../queue/batch.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT } from '../exit.ts';
import { runStack, type StackFlags, type StackResult } from '../fleet/run-stack.ts';
import { openStack } from '../stack.ts';
import { travelled } from './travelling-flags.ts';

/** The worker's own flags: where its checkout is, and how it works. */
export type OwnFlags = CommonFlags & { readonly concurrency?: number };

/** Stands for the digest of a configuration that cannot be read; its command says why. */
const UNREADABLE = 'unreadable';

/** The digest of a stack's configuration, with the variables and the environment that are given. */
export async function digestAt(flags: CommonFlags, context: Context): Promise<string> {
  try {
    return (await openStack(flags, context, 'skip')).stack.digest;
  } catch (error) {
    if (error instanceof CallsheetError) return UNREADABLE;
    throw error;
  }
}

/** Why a task is not for this checkout; undefined where it is. */
export async function misfit(
  task: Task,
  own: OwnFlags,
  context: Context,
): Promise<string | undefined> {
  const dir = folderOf(task, own);
  if (dir === undefined || !existsSync(dir)) return 'the checkout of a worker has no such stack';
  const flags = { ...flagsOf(task, own), dir };
  const digest = await digestAt(flags, context);
  if (digest === task.digest) return undefined;
  return 'its configuration is another one at a worker: uncommitted changes, or another --var';
}

/** The folder of a task's stack. A path that leads out of the checkout is none. */
function folderOf({ stack }: Task, { dir }: OwnFlags): string | undefined {
  const isInside = !stack.startsWith('/') && !/\\|(^|\/)\.\.(\/|$)/.test(stack);
  return isInside ? join(dir, stack) : undefined;
}

/** Runs the command of a task on its stack. Prints nothing and never throws. */
export async function performTask(
  task: Task,
  own: OwnFlags,
  context: Context,
): Promise<StackResult> {
  const stack = { path: task.stack, dir: folderOf(task, own) ?? own.dir };
  const flags = flagsOf(task, own);
  if (task.plan === undefined) {
    return runStack({ command: task.command, stack, flags, isAlone: true }, context);
  }
  const folder = await mkdtemp(join(tmpdir(), 'callsheet-plan-'));
  try {
    const planFile = join(folder, 'plan.json');
    await writeFile(planFile, task.plan, { mode: 0o600 });
    const job = { command: task.command, stack, flags, planFile, isAlone: true };
    return await runStack(job, context);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function flagsOf(task: Task, { dir: _, ...own }: OwnFlags): StackFlags {
  return { ...own, ...travelled(task.flags) };
}

/** Stands for the result of a stack whose workers died one after the other. */
export function poisoned({ stack, deaths, command }: Task): StackResult {
  const message = `${deaths} workers died while they worked on this stack and on nothing else`;
  const hint = `Look at their logs, for lack of memory above all. Then run it by itself: callsheet ${command} --dir ${stack}. The next apply settles what was begun.`;
  return {
    path: stack,
    exit: EXIT.error,
    document: undefined,
    error: { kind: 'internal', exit: EXIT.error, message, hint, diagnostics: [], request: null },
    said: `Error: ${message}\n${hint}\n`,
  };
}
