import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { refusePlanningFlags } from '../../console/apply.ts';
import type { Context } from '../../console/context.ts';
import { isAgreed, say } from '../../console/events.ts';
import type { QueuedCommand } from '../../console/flags.ts';
import { stampDocument } from '../../console/show.ts';
import { commandLine, quoted } from '../../core/command-line.ts';
import {
  CallsheetError,
  EXIT,
  type ExitCode,
  explainSystemError,
  formatDuration,
} from '../../core/errors.ts';
import { parsePlan } from '../../plan/document.ts';
import { realPause } from '../../platform/rate.ts';
import { jsonText, sanitise, sanitiseLine } from '../../render/untrusted.ts';
import { formatCount } from '../../render/wording.ts';
import { describeCheckout, runId } from '../../run/actor.ts';
import { parseRecord } from '../../state/shape.ts';
import { refuseOverlaps } from './claims.ts';
import { readPlanSet } from './plan-set.ts';
import { QueueLost } from './queue/database.ts';
import {
  type Asking,
  type BatchStatus,
  countTasks,
  type Enqueued,
  enqueue,
  findAsking,
  type NewBatch,
  type NewTask,
  openQueue,
  type Queue,
  readBatch,
  type TaskAtWork,
} from './queue/enqueue.ts';
import { APPROVE, checkTree, chosenStacks, type FoundStack, type TreeRequest } from './request.ts';
import { type StackResult, summariseStack } from './run-stack.ts';
import { digestAt, failedResult, jobPayload, sealTask } from './work.ts';
import { stackText, workOn } from './work-on.ts';

export type QueueFlags = TreeRequest['flags'] & {
  readonly queue?: string;
  readonly wait?: boolean;
  /** With `wait`: milliseconds after which it is no longer waited for. */
  readonly timeout?: number;
};

/** `callsheet queue add`: one job for each stack of a tree. */
export async function add(
  command: QueuedCommand,
  plans: string | undefined,
  flags: QueueFlags,
  context: Context,
): Promise<ExitCode> {
  refuseOut(command, flags.wait === true, flags);
  refuseTimeoutAlone(flags);
  if (plans !== undefined && command !== 'apply') {
    throw new CallsheetError('usage', `${command} takes no folder of plans`, {
      hint: 'Name the folder of the stacks with --dir.',
    });
  }
  // A worker cannot ask for anything, so nothing is asked here either.
  const asking = { ...context.terminal, canAsk: false };
  const request = checkTree(command, flags, plans, context);
  if (command === 'apply' && plans === undefined) await isAgreed('', flags, asking, APPROVE);
  const payload = jobPayload(command, flags);
  const checkout = await describeCheckout(flags.dir);
  if (checkout?.isChanged === true)
    say(
      context.terminal,
      'There are uncommitted changes. A stack with such changes waits for a worker that has them.',
    );
  return withQueue(flags, context, async (queue) => {
    const tasks = await gatherTasks(request, context);
    const batch = { command, commit: checkout?.head, flags: payload, tasks };
    const enqueued = await enqueue(queue, batch, runId(context.now()), (task) =>
      sealTask(task, context),
    );
    const { id, isOld } = enqueued;
    const what = `${formatCount(tasks.length, 'stack')} to ${command}`;
    say(context.terminal, isOld ? `Already enqueued: ${what}.` : `Enqueued ${what}.`);
    if (flags.wait !== true) {
      const document = batchDocument(enqueued, batch);
      context.terminal.out(flags.format === 'json' ? jsonText(document) : id);
      say(context.terminal, `Its report: ${showCommand(id, flags)}`);
      return EXIT.done;
    }
    say(context.terminal, `The batch is ${id}.`);
    return report(queue, id, flags, context);
  });
}

/** `callsheet queue show`: what came of a batch, as the same command with `--recursive` would have said it. */
export async function show(id: string, flags: QueueFlags, context: Context): Promise<ExitCode> {
  refuseTimeoutAlone(flags);
  return withQueue(flags, context, (queue) => report(queue, id, flags, context));
}

async function report(
  queue: Queue,
  id: string,
  flags: QueueFlags,
  context: Context,
): Promise<ExitCode> {
  const read = () => queue.database.explainFailures(() => readBatch(queue.database.query, id));
  if ((await read()) === undefined) {
    throw new CallsheetError('usage', `the queue ${queue.database.location} has no batch ${id}`, {
      hint: '`callsheet queue add` prints the id of what it enqueues; batches are kept for 30 days.',
    });
  }
  if (flags.wait === true) await follow(queue, id, flags, context);
  const batch = await read();
  if (batch === undefined) throw new CallsheetError('state', `the batch ${id} was deleted`);
  refuseOut(batch.command, true, flags);
  return reportBatch(batch, flags, context);
}

async function withQueue(
  flags: QueueFlags,
  { env }: Context,
  work: (queue: Queue) => Promise<ExitCode>,
): Promise<ExitCode> {
  const queue = await openQueue(flags.queue, { env, isWorker: false, onTrouble: () => {} });
  try {
    return await work(queue);
  } finally {
    await queue.close();
  }
}

function refuseOut(command: QueuedCommand, isReady: boolean, { out }: QueueFlags): void {
  if (out === undefined || (command === 'plan' && isReady)) return;
  throw new CallsheetError('usage', '--out writes the plans of workers, once they are done', {
    hint: 'Give it to queue add plan with --wait, or to queue show once the batch is done.',
  });
}

function refuseTimeoutAlone({ wait, timeout }: QueueFlags): void {
  if (timeout === undefined || wait === true) return;
  throw new CallsheetError('usage', '--timeout needs --wait');
}

/** The command that shows what came of a batch. A queue that the environment names is there the next time, too. */
function showCommand(id: string, flags: QueueFlags): string {
  const queue = flags.queue === undefined ? '' : ` --queue ${quoted(flags.queue)}`;
  return commandLine(`queue show ${id}${queue}`, flags);
}

/** Returns the output for a batch that is not waited for: `schemas/batch.schema.json`. */
function batchDocument({ id, isOld }: Enqueued, { command, commit, tasks }: NewBatch) {
  const batch = { batch: id, command, commit: commit ?? null, stacks: tasks.length, new: !isOld };
  return stampDocument('callsheet-batch', batch);
}

const LOOK_MS = 1_000;
/** A queue that is away longer ends the waiting, not the work. */
const AWAY_MS = 60_000;
/** How often it is said that nobody is there to do it. */
const SAY_MS = 30_000;

/**
 * Waits until nothing of a batch is left to be done, or the time is over, and says how far it is whenever that changes.
 * Where no worker asks for its commit, it says so each half minute.
 */
async function follow(
  queue: Queue,
  id: string,
  flags: QueueFlags,
  { terminal, stop, now, pause = realPause }: Context,
): Promise<void> {
  const began = now().getTime();
  let unaskedSince = began;
  let shown = '';
  let awaySince: number | undefined;
  while (!stop.aborted) {
    try {
      const { done, running, waiting, notes } = await queue.database.explainFailures(() =>
        countTasks(queue.database.query, id),
      );
      awaySince = undefined;
      if (running + waiting === 0) return;
      const asking = await queue.database.explainFailures(() =>
        findAsking(queue.database.query, id),
      );
      if (running > 0 || asking.isAsked) unaskedSince = now().getTime();
      if (now().getTime() - unaskedSince >= SAY_MS) {
        say(terminal, describeUnasked(asking, waiting));
        unaskedSince = now().getTime();
      }
      const text = [
        `${done} done, ${running} running, ${waiting} waiting`,
        ...notes.map((note) => `  ${sanitiseLine(note)}`),
      ].join('\n');
      if (terminal.live !== undefined) terminal.live.draw(text);
      else if (text !== shown) say(terminal, text);
      shown = text;
    } catch (error) {
      if (!(error instanceof QueueLost)) throw error;
      awaySince ??= now().getTime();
      if (now().getTime() - awaySince > AWAY_MS) throw error;
    }
    if (now().getTime() - began >= (flags.timeout ?? Number.POSITIVE_INFINITY)) {
      terminal.live?.end();
      const waited = formatDuration((flags.timeout ?? 0) / 1_000);
      say(terminal, `It was waited for ${waited}. The batch ${id} continues in the background.`);
      return;
    }
    await pause.sleep(LOOK_MS, stop);
  }
  terminal.live?.end();
  throw new CallsheetError('interrupted', `the batch ${id} continues in the background`, {
    hint: `Its report: ${showCommand(id, flags)}`,
  });
}

/** Both commits are named: a worker of another one takes nothing of this. */
function describeUnasked({ commit, others }: Asking, waiting: number): string {
  const wanted = commit === null ? 'outside of a repository' : `of commit ${named(commit)}`;
  const asked =
    others.length === 0
      ? 'No other asks either.'
      : `Others ask for ${others.map(named).join(', ')}.`;
  const count = formatCount(waiting, 'stack waits', 'stacks wait');
  return `${count}, and no worker ${wanted} asks. ${asked} Start \`callsheet queue work\` in a checkout of it.`;
}

function named(commit: string): string {
  return sanitiseLine(commit).slice(0, 12);
}

/** Shows what came of a batch, as the same command with `--recursive` would have. 6 while some of it is not done. */
async function reportBatch(
  { id, command, tasks }: BatchStatus,
  { out, ...flags }: TreeRequest['flags'],
  context: Context,
): Promise<ExitCode> {
  const done = new Map(
    tasks.filter(({ status }) => status === 'done').map((task) => [task.stack, task]),
  );
  const stacks = [...done.keys()].map((path) => ({ path, dir: path }));
  const rest = tasks.length - done.size;
  // A folder of plans is written only once it is complete, so that applying it leaves nothing out.
  const shown = rest > 0 || out === undefined ? flags : { ...flags, out };
  const request = { command, flags: shown, shard: undefined, planSet: undefined };
  const { exit } = await workOn(request, { found: stacks, chosen: stacks }, context, {
    isReport: true,
    working: tasks.flatMap(({ stack: path, working }) =>
      working === undefined ? [] : { path, ...working },
    ),
    buildTask: ({ path }) => buildResult(path, done.get(path)?.result, flags),
  });
  if (rest === 0) return exit;
  for (const { stack, working } of tasks)
    if (working !== undefined) say(context.terminal, describeWork(stack, working));
  const open = `${rest} of the ${tasks.length} stacks of ${id} are not done yet.`;
  say(context.terminal, out === undefined ? open : `${open} No plans were written.`);
  return EXIT.locked;
}

function describeWork(stack: string, { worker, run, attempts, since }: TaskAtWork): string {
  const parts = [
    `worker ${worker ?? 'unknown'}`,
    run === null ? 'no run yet' : `run ${run}`,
    `try ${attempts}`,
    `since ${since ?? 'an unknown time'}`,
  ];
  return sanitiseLine(`${stack} is being worked on: ${parts.join(', ')}`);
}

/**
 * Reads the result that `runStack` gave the worker. It is checked, as others can write to the database. The exit code
 * for changes follows the flags of the report.
 */
function buildResult(
  path: string,
  text: string | undefined,
  { detailedExitcode: isDetailed }: TreeRequest['flags'],
): StackResult {
  const written = text === undefined ? undefined : readResult(path, text);
  if (written === undefined) {
    const failure = new CallsheetError('state', 'the queue has no result of it that can be read', {
      hint: 'Find out who writes to the database of the queue, then enqueue again.',
    });
    return failedResult(path, failure);
  }
  const isChanged = isDetailed === true && summariseStack(written).status === 'changes';
  return isChanged ? { ...written, exit: EXIT.changes } : written;
}

/** A result that can be shown; undefined for any other text. */
function readResult(path: string, text: string): StackResult | undefined {
  const { exit, said, document, error } = parseRecord(text) ?? {};
  if (!Object.values<unknown>(EXIT).includes(exit) || typeof said !== 'string') return undefined;
  const plain = sanitise(stripVTControlCharacters(said));
  const result = { path, exit, document, error, said: plain } as StackResult;
  try {
    if (result.document?.format === 'callsheet-plan')
      parsePlan(JSON.stringify(result.document), `the plan of ${path}`);
    stackText(result, summariseStack(result), { width: 80, color: false, verbose: true });
    return result;
  } catch {
    return undefined;
  }
}

/** The tasks of a tree: one for each stack, or for each approved plan. Throws where stacks reach for the same thing. */
async function gatherTasks(request: TreeRequest, context: Context): Promise<readonly NewTask[]> {
  const { flags, planSet } = request;
  const { found, chosen } = chosenStacks(request);
  await refuseSharing(request, found, context);
  if (planSet !== undefined) return plannedTasks(planSet, request, context);
  const tasks: NewTask[] = [];
  for (const { path, dir } of chosen)
    tasks.push({ stack: path, digest: await digestAt({ ...flags, dir }, context) });
  return tasks;
}

/** The approved plan itself goes into the job, so that it is what runs. */
async function plannedTasks(
  folder: string,
  { flags }: TreeRequest,
  context: Context,
): Promise<readonly NewTask[]> {
  refusePlanningFlags(flags);
  const { stacks } = await readPlanSet(folder);
  const unplanned = stacks.filter(({ plan_file: file }) => file === null).map(({ path }) => path);
  if (unplanned.length > 0)
    throw new CallsheetError('usage', `there is no plan for ${unplanned.join(', ')}`, {
      hint: 'Planning them failed. Fix them, plan again, and enqueue the new plans.',
    });
  const tasks: NewTask[] = [];
  for (const { path, plan_digest: wanted, plan_file: name } of stacks) {
    const file = join(folder, name ?? '');
    const plan = await readFile(file, 'utf8').catch((error: unknown) => {
      throw explainSystemError(error, `the plan file ${file} cannot be read`, {
        hint: 'Give the folder that `callsheet plan --recursive --out` wrote.',
      });
    });
    const { digest } = parsePlan(plan, file);
    if (digest !== wanted)
      throw new CallsheetError('stale', `the plan file ${file} is not the one that was planned`, {
        hint: 'Plan again, review, and enqueue the new plans.',
      });
    const dir = join(flags.dir, path);
    tasks.push({ stack: path, digest: await digestAt({ ...flags, dir }, context), plan });
  }
  return tasks;
}

async function refuseSharing(
  request: TreeRequest,
  found: readonly FoundStack[],
  context: Context,
): Promise<void> {
  const refusals = await refuseOverlaps(request, found, context);
  const [first] = refusals.values();
  if (first === undefined) return;
  throw new CallsheetError('refused', first.error?.message ?? 'stacks overlap', {
    hint: `Nothing was enqueued. ${first.error?.hint ?? ''}`.trim(),
  });
}
