import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommonFlags, Context } from '../../console/context.ts';
import { listJobFlags, listPermissions, type QueuedCommand } from '../../console/flags.ts';
import { commandSpan } from '../../core/command-line.ts';
import { canonicalJson } from '../../core/digest.ts';
import { CallsheetError, EXIT, getExitCode } from '../../core/errors.ts';
import { allowanceFlags } from '../../core/plan-document.ts';
import type { Json } from '../../core/value.ts';
import { isBehind, parsePlan } from '../../plan/document.ts';
import { realPause } from '../../platform/rate.ts';
import { toFailure } from '../../run/document.ts';
import { openStack } from '../../run/stack.ts';
import { isSameSeal, sealingKey } from '../../state/seal.ts';
import { parseRecord } from '../../state/shape.ts';
import { QueueLost } from './queue/database.ts';
import { parseCommand, type Task, type TaskText } from './queue/enqueue.ts';
import { type Claim, type HandOut, type Left, taskKey } from './queue/hand-out.ts';
import type { StackFlags } from './request.ts';
import { runStack, type StackResult } from './run-stack.ts';

type WorkDeps = {
  readonly handOut: HandOut;
  /** Tasks at once. */
  readonly atOnce: number;
  /** True if the worker ends once nothing is left for it. */
  readonly untilEmpty: boolean;
  /** Aborted by the first interrupt: nothing is begun any more, and what is under way ends cleanly. */
  readonly stop: AbortSignal;
  /** The failure of a task that no worker may do; undefined for any other. */
  readonly refuse: (claim: Claim) => CallsheetError | undefined;
  /** Why a task is not for this worker; undefined where it is. */
  readonly misfit: (claim: Claim) => Promise<string | undefined>;
  readonly perform: (claim: Claim) => Promise<StackResult>;
  readonly tell: (event: WorkEvent) => void;
};

export type WorkEvent =
  | { readonly type: 'began'; readonly claim: Claim }
  | {
      readonly type: 'settled';
      readonly claim: Claim;
      readonly result: StackResult;
      readonly isWell: boolean;
      readonly seconds: number;
    }
  | {
      readonly type: 'again';
      readonly claim: Claim;
      readonly why: string;
      readonly seconds: number;
    }
  /** Another worker has the task by now; it finds what this one did. */
  | { readonly type: 'taken'; readonly claim: Claim }
  | { readonly type: 'lost'; readonly error: QueueLost }
  /** The queue answers again, after so long. */
  | { readonly type: 'back'; readonly seconds: number }
  /** Nothing is sent to a platform for so long, as it refused requests. */
  | { readonly type: 'held'; readonly baseUrl: string; readonly seconds: number }
  /** So many stacks are at work now. */
  | { readonly type: 'working'; readonly stacks: number }
  /** The contents of the queue were counted. */
  | { readonly type: 'looked'; readonly left: Left }
  /** It looked whether there is work. */
  | { readonly type: 'turned' }
  | { readonly type: 'elsewhere'; readonly commits: readonly string[]; readonly tasks: number };

type Worked = { readonly settled: number; readonly failed: number; readonly again: number };

const POLL_MS = 700;
/** A third of what pg-boss takes for silence. */
const BEAT_MS = 4_000;
/** How often it is looked what waits for others. */
const LOOK_MS = 10_000;
/** A task's result is reported up to so many times, and so far apart, while the queue is lost. */
const TRIES = 20;
export const TRY_AGAIN_MS = 1_000;
/** A queue that is away longer ends a worker that was to end some time; others go on trying. */
export const AWAY_MS = 60_000;

/** Takes tasks and does them, until it is stopped or nothing is left for it. */
export async function work(deps: WorkDeps): Promise<Worked> {
  const { handOut, atOnce, untilEmpty, stop, tell } = deps;
  const running = new Map<Claim, Promise<void>>();
  const misfits = new Set<string>();
  const worked = { settled: 0, failed: 0, again: 0 };
  let awaySince: number | undefined;
  let lookedAt = 0;
  let elsewhere = '';
  let wake = () => {};
  let broken: { readonly error: unknown } | undefined;

  const beat = setInterval(() => {
    // A heartbeat's failure is also that of the next request to the queue, which reports it.
    handOut.touch([...running.keys()]).catch(() => {});
  }, BEAT_MS);
  const onStop = () => wake();
  stop.addEventListener('abort', onStop);

  async function handle(claim: Claim): Promise<void> {
    const { task } = claim;
    const refused = deps.refuse(claim);
    const misfit = refused === undefined ? await deps.misfit(claim) : undefined;
    if (misfit !== undefined) {
      const verdict = judgeMisfit(misfit, task);
      if (verdict.is === 'again') {
        if (untilEmpty) misfits.add(taskKey(task));
        return again(claim, verdict);
      }
    }
    misfits.delete(taskKey(task));
    tell({ type: 'began', claim });
    const began = Date.now();
    const failure =
      refused ??
      (misfit === undefined ? undefined : fitsNobody(task, misfit)) ??
      (task.deaths >= MOST_DEATHS ? poison(task) : undefined);
    const result =
      failure === undefined ? await deps.perform(claim) : failedResult(task.stack, failure);
    const verdict: Verdict =
      failure === undefined ? judge(result, task, stop.aborted) : { is: 'settled' };
    if (verdict.is === 'again') return again(claim, verdict);
    const isMine = await patiently(() => handOut.settle(claim, result.exit, asJson(result)));
    if (!isMine) return tell({ type: 'taken', claim });
    worked.settled += 1;
    // With --detailed-exitcode changes are what was asked for.
    const isWell = result.exit === EXIT.done || result.exit === EXIT.changes;
    if (!isWell) worked.failed += 1;
    tell({ type: 'settled', claim, result, isWell, seconds: (Date.now() - began) / 1000 });
  }

  async function again(
    claim: Claim,
    { why, seconds }: Extract<Verdict, { is: 'again' }>,
  ): Promise<void> {
    const isMine = await patiently(() => handOut.putOff(claim, why, seconds));
    if (!isMine) return tell({ type: 'taken', claim });
    worked.again += 1;
    tell({ type: 'again', claim, why, seconds });
  }

  function start(claim: Claim): void {
    const done = handle(claim)
      .catch((error: unknown) => {
        // The job is not ended, so it falls silent and another worker takes it.
        if (error instanceof QueueLost) lose(error);
        else broken ??= { error };
      })
      .finally(() => {
        running.delete(claim);
        tell({ type: 'working', stacks: running.size });
        wake();
      });
    running.set(claim, done);
    tell({ type: 'working', stacks: running.size });
  }

  /** Returns since when the queue is away, and hastens the next look, which reports its return. */
  function lose(error: QueueLost): number {
    if (awaySince === undefined) tell({ type: 'lost', error });
    awaySince ??= Date.now();
    lookedAt = 0;
    return awaySince;
  }

  async function look(): Promise<void> {
    if (Date.now() - lookedAt < LOOK_MS) return;
    await handOut.ask();
    const left = await handOut.left();
    lookedAt = Date.now();
    tell({ type: 'looked', left });
    if (awaySince !== undefined) tell({ type: 'back', seconds: (Date.now() - awaySince) / 1000 });
    awaySince = undefined;
    const others = left.elsewhere;
    const commits = others.map(({ commit }) => commit);
    if (commits.join() === elsewhere) return;
    elsewhere = commits.join();
    const tasks = others.reduce((sum, one) => sum + one.tasks, 0);
    if (tasks > 0) tell({ type: 'elsewhere', commits, tasks });
  }

  /** True: everything that was to be done is done. */
  async function turn(): Promise<boolean> {
    const free = atOnce - running.size;
    const claims = free > 0 ? await handOut.take(free, [...running.keys()]) : [];
    for (const claim of claims) start(claim);
    await look();
    if (claims.length > 0) return false;
    // Nothing is left that this worker could do, now or once another one died.
    return untilEmpty && running.size === 0 && (await handOut.isEmptyBut(misfits));
  }

  try {
    while (!stop.aborted && broken === undefined) {
      try {
        tell({ type: 'turned' });
        if (await turn()) break;
      } catch (error) {
        if (!(error instanceof QueueLost)) throw error;
        const since = lose(error);
        if (untilEmpty && Date.now() - since > AWAY_MS) throw error;
      }
      // A worker that has finished a task takes the next at once; waiting workers must not wait in step.
      const rest = new AbortController();
      wake = () => rest.abort();
      await realPause.sleep(POLL_MS * (0.5 + Math.random()), rest.signal);
    }
    await Promise.all(running.values());
    await handOut.giveBack(STOPPED).catch(() => {});
    if (broken !== undefined) throw broken.error;
    return worked;
  } finally {
    stop.removeEventListener('abort', onStop);
    clearInterval(beat);
  }
}

/** A queue that is away for a moment does not make a run for nothing. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof QueueLost) || tries === TRIES) throw error;
      await sleep(TRY_AGAIN_MS);
    }
  }
}

/** A result is made of documents, which are JSON; what is undefined in it is left out. */
function asJson(result: StackResult): Json {
  return JSON.parse(JSON.stringify(result));
}

type Verdict =
  /** It is done, well or not. */
  | { readonly is: 'settled' }
  /** It is given back, and comes again after so many seconds. */
  | { readonly is: 'again'; readonly why: string; readonly seconds: number };

/** A stack that takes its workers with it is left alone after so many that worked at it and at nothing else. */
export const MOST_DEATHS = 5;

/** How often in a row one reason gives a task back, and how long it then waits: twice as long each time, up to `longest`. */
type Patience = {
  readonly why: string;
  readonly most: number;
  readonly first: number;
  readonly longest?: number;
};
const LONGEST_SECONDS = 60;

const LOCKED: Patience = { why: 'its state is held by another run', most: 60, first: 2 };
const STALE: Patience = { why: 'something changed while it was planned', most: 3, first: 1 };
const LOST: Patience = { why: 'the platform or the state did not answer', most: 3, first: 5 };
const PARTIAL: Patience = { why: 'it ended in part', most: 1, first: 5 };
/** Any free worker goes on with it at once, as often as workers are stopped. */
const STOPPED = 'its worker was stopped';

/**
 * Judges how a command ended. What passes by itself is tried again, as often as `Patience` says: the leases keep two
 * from writing at once, and a new plan finds what was done already. An approved plan is carried out
 * once: after anything but a lock it is stale, and somebody has to look.
 */
export function judge(
  { exit, error, document }: Pick<StackResult, 'exit' | 'error' | 'document'>,
  task: Pick<Task, 'delays' | 'note' | 'plan'>,
  isStopping: boolean,
): Verdict {
  if (exit === EXIT.interrupted && isStopping) {
    return { is: 'again', why: STOPPED, seconds: 0 };
  }
  const patience = patienceWith(exit, error?.kind, task.plan !== undefined);
  // A checkout does not get newer by waiting.
  if (document !== undefined && 'refusals' in document && isBehind(document))
    return { is: 'settled' };
  if (patience === undefined) return { is: 'settled' };
  return wait(patience, task);
}

function wait(
  { why, most, first, longest = LONGEST_SECONDS }: Patience,
  { note, delays: before }: Pick<Task, 'delays' | 'note'>,
): Verdict {
  // Another reason has had tries of its own.
  const delays = note === why ? before : 0;
  if (delays >= most) return { is: 'settled' };
  return { is: 'again', why, seconds: Math.min(longest, first * 2 ** Math.min(delays, 10)) };
}

/** Another checkout may fit: somebody may be about to start a worker there. That is waited for more than an hour. */
const MISFIT = { most: 12, first: 15, longest: 600 };

export function judgeMisfit(why: string, task: Pick<Task, 'delays' | 'note'>): Verdict {
  return wait({ why, ...MISFIT }, task);
}

function patienceWith(
  exit: number,
  kind: string | undefined,
  isApproved: boolean,
): Patience | undefined {
  if (exit === EXIT.locked) return LOCKED;
  if (exit === EXIT.error && (kind === 'network' || kind === 'state')) return LOST;
  if (isApproved) return undefined;
  if (exit === EXIT.stale) return STALE;
  return exit === EXIT.partial ? PARTIAL : undefined;
}

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
  const dir = findFolder(task, own);
  if (dir === undefined || !existsSync(dir)) return 'the checkout of a worker has no such stack';
  const flags = { ...own, ...readAsked(task).flags, dir };
  const digest = await digestAt(flags, context);
  if (digest === task.digest) return undefined;
  return 'its configuration differs at a worker: uncommitted changes, or another --var';
}

/** The folder of a task's stack. A path that leads out of the checkout is none. */
function findFolder({ stack }: Task, { dir }: OwnFlags): string | undefined {
  const isInside = !stack.startsWith('/') && !/\\|(^|\/)\.\.(\/|$)/.test(stack);
  return isInside ? join(dir, stack) : undefined;
}

/** Seals a task as it is in the queue; undefined without a key. */
export function sealTask(
  { batch, number, command, flags, stack, digest, plan }: TaskText,
  { env }: Pick<Context, 'env'>,
): string | undefined {
  const key = sealingKey(env.CALLSHEET_FINGERPRINT_KEY);
  const text = canonicalJson(['task', batch, number, command, flags, stack, digest, plan ?? null]);
  return key?.mac(text);
}

/**
 * The failure of a task that no worker may do; undefined for any other: its row is none that `queue add` writes; there is
 * a key, and it was not enqueued with that; or there is none, and it has a permission that this worker lacks
 * (`allowed`: as `queue work --allow` takes them).
 */
export function refuseTask(
  task: Task,
  allowed: ReadonlySet<string>,
  context: Pick<Context, 'env'>,
): CallsheetError | undefined {
  try {
    const { flags } = readAsked(task);
    const seal = sealTask(task, context);
    if (seal !== undefined)
      return task.seal !== null && isSameSeal(seal, task.seal) ? undefined : notSealed(task);
    const planned = flagsOfPlan(task.plan);
    const missing = listPermissions().filter(
      ({ name, spelling, allowedAs }) =>
        (Object.hasOwn(flags, name) || planned.has(spelling)) && !allowed.has(allowedAs),
    );
    if (missing.length === 0) return undefined;
    const spellings = missing.map(({ spelling }) => spelling).join(', ');
    const allow = missing.map(({ allowedAs }) => `--allow ${allowedAs}`).join(' ');
    return new CallsheetError(
      'refused',
      `the batch has ${spellings}, and this worker takes no such permission from the queue`,
      {
        hint: `Anyone who can write to the queue can give it. If it is meant: \`callsheet queue work ${allow}\``,
      },
    );
  } catch (error) {
    if (error instanceof CallsheetError) return error;
    throw error;
  }
}

function notSealed({ seal, batch }: Task): CallsheetError {
  const why =
    seal === null
      ? 'has no seal, and CALLSHEET_FINGERPRINT_KEY is set'
      : 'has a seal that does not fit';
  return new CallsheetError('refused', `the task of the batch ${batch} ${why}`, {
    hint: 'Anyone who can write to the queue could have written it. Enqueue again where the same CALLSHEET_FINGERPRINT_KEY is set.',
  });
}

/** The flags that a plan of a batch was made with, as they are typed. Throws `CallsheetError` for what is no plan. */
function flagsOfPlan(plan: string | undefined): ReadonlySet<string | undefined> {
  if (plan === undefined) return new Set();
  const { options } = parsePlan(plan, PLAN_OF_BATCH);
  return new Set(allowanceFlags(options).map((flag) => flag.split(' ', 1)[0]));
}

const PLAN_OF_BATCH = 'the plan of the batch';

/** Runs the command of a task on its stack. Prints nothing and never throws. `onRun` gets the id of each run that begins. */
export async function performTask(
  task: Task,
  own: OwnFlags,
  context: Context,
  onRun?: (run: string) => void,
): Promise<StackResult> {
  const stack = { path: task.stack, dir: findFolder(task, own) ?? own.dir };
  const { command, flags } = readAsked(task);
  const { plan } = task;
  const read = plan === undefined ? {} : { plan: async () => parsePlan(plan, PLAN_OF_BATCH) };
  const all = { ...withoutDir(own), ...flags };
  return runStack({ command, stack, flags: all, isAlone: true, onRun, ...read }, context);
}

function withoutDir({ dir: _, ...own }: OwnFlags): Omit<OwnFlags, 'dir'> {
  return own;
}

/** A result that says why nothing was done. */
export function failedResult(path: string, failure: CallsheetError): StackResult {
  const error = toFailure(failure);
  const { message, hint } = error;
  const said = `Error: ${message}\n${hint === null ? '' : `${hint}\n`}`;
  return { path, exit: getExitCode(failure.code), document: undefined, error, said };
}

/** Stands for the result of a stack whose workers died one after the other. */
function poison(task: Task): CallsheetError {
  const { command, flags } = readAsked(task);
  const { env } = flags;
  const alone = commandSpan(command, { dir: task.stack, ...(env === undefined ? {} : { env }) });
  return new CallsheetError(
    'config',
    `${task.deaths} workers died while they worked only on this stack`,
    {
      hint: `Check their logs, first for lack of memory. Then run the stack alone: ${alone}. The next apply recovers the interrupted changes.`,
    },
  );
}

function fitsNobody({ digest }: Task, why: string): CallsheetError {
  return new CallsheetError('config', `no worker could do it in more than an hour: ${why}`, {
    hint: `Start a worker in the checkout that it was enqueued from (its configuration has the digest ${digest}), or enqueue again from a clean one.`,
  });
}

const QUEUED: readonly QueuedCommand[] = ['plan', 'apply', 'drift'];

/** The flags of a command that go into its jobs. Throws for one that the command does not know. */
export function jobPayload(
  command: QueuedCommand,
  flags: StackFlags,
): { readonly [flag: string]: Json } {
  const given = Object.entries(flags).flatMap(([name, value]) =>
    value !== undefined && QUEUED.some((one) => listJobFlags(one).has(name))
      ? [[name, value] as const]
      : [],
  );
  const own = listJobFlags(command);
  const wrong = given.filter(([name]) => !own.has(name));
  if (wrong.length > 0) {
    const names = wrong.map(([name]) => spelt(name)).join(', ');
    throw new CallsheetError('usage', `${names} is not a flag of ${command}`, {
      hint: `\`callsheet ${command} --help\` lists its flags.`,
    });
  }
  return Object.fromEntries(given);
}

/** A command with its flags, as a task has them. */
type Asked = { readonly command: QueuedCommand; readonly flags: StackFlags };

/**
 * Reads what a task asks for. What no Callsheet of this version puts there is left out. Throws `CallsheetError` for a
 * command that is none, and for flags whose values the command would not take.
 */
function readAsked(task: Pick<Task, 'command' | 'flags'>): Asked {
  const command = parseCommand(task.command);
  const known = listJobFlags(command);
  const given = Object.entries(parseRecord(task.flags) ?? fail('are no JSON object'));
  const flags = given.filter(([name]) => known.has(name));
  for (const [name, value] of flags)
    if (known.get(name)?.(value) !== true) fail(`have a wrong value for ${spelt(name)}`);
  return { command, flags: Object.fromEntries(flags) };
}

function fail(why: string): never {
  throw new CallsheetError('state', `the flags of its batch ${why}`, {
    hint: 'Find out who writes to the database of the queue, then enqueue again.',
  });
}

function spelt(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
