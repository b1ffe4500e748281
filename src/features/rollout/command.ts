import { randomUUID } from 'node:crypto';
import { refusePlanningFlags } from '../../console/apply.ts';
import {
  type CommonFlags,
  type Context,
  chooseCalls,
  stackOptions,
} from '../../console/context.ts';
import { isAgreed, openPlanReview, reportFailure } from '../../console/events.ts';
import { deliver, type NotifyFlags, noticeAddress } from '../../console/notify.ts';
import { getPageOptions, readPlanFile } from '../../console/plan.ts';
import { openProgress } from '../../console/progress.ts';
import { refusedExit, tellRefused } from '../../console/result.ts';
import { commandLine } from '../../core/command-line.ts';
import type { Rollouts } from '../../core/documents.generated.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import type { PlanChoices, PlanDocument } from '../../core/plan-document.ts';
import { jsonText } from '../../render/untrusted.ts';
import { formatCount } from '../../render/wording.ts';
import type { CallsChoice } from '../../run/context.ts';
import { planOptions } from '../../run/plan.ts';
import { isoTime } from './observe.ts';
import { isUnderWay, type RolloutRecord } from './record.ts';
import { renderRolloutsMarkdown, renderRolloutsText } from './render.ts';
import {
  abortRollout,
  addedBy,
  goOn,
  promoteRollout,
  type RolloutEnd,
  type RolloutOptions,
  type RolloutOutcome,
  type RolloutReview,
  readRollouts,
  startRollout,
} from './rollout.ts';

export type RolloutFlags = CommonFlags &
  CallsChoice &
  NotifyFlags & {
    readonly autoApprove?: boolean;
    readonly lockTimeout?: number;
    readonly overrideFreeze?: string;
    readonly concurrency?: number;
    readonly format: 'text' | 'json' | 'markdown';
  };

/** The exit code for each end of a rollout, for pipelines. */
const EXITS: { readonly [end in RolloutEnd]: ExitCode } = {
  done: EXIT.done,
  waiting: EXIT.changes,
  rolled_back: EXIT.partial,
  held: EXIT.refused,
  interrupted: EXIT.interrupted,
  declined: EXIT.error,
};

const UNASKED = 'To answer yes without a terminal, pass --auto-approve.';

/** `callsheet rollout start PLANFILE|NAME`: records what was reviewed, and applies the first step. */
export async function start(
  what: string | undefined,
  flags: RolloutFlags &
    PlanChoices & {
      readonly rollout?: string;
      readonly expect?: string;
      readonly anyway?: boolean;
    },
  context: Context,
): Promise<ExitCode> {
  // A plan is a file, and names of rollouts have no dots and slashes.
  const isFile = what !== undefined && /[./\\]/.test(what);
  if (what !== undefined && !isFile && flags.rollout !== undefined)
    throw new CallsheetError('usage', `the rollout is named twice: ${what} and ${flags.rollout}`, {
      hint: 'Give the name alone, or a plan file with --rollout.',
    });
  const given = isFile ? await readPlanFile(what) : undefined;
  const planned = given?.options.strategy?.name;
  if (planned !== undefined && flags.rollout !== undefined && planned !== flags.rollout)
    throw new CallsheetError('usage', `the plan is for the rollout ${planned}`, {
      hint: 'Leave out --rollout: the plan names its own.',
    });
  const name = flags.rollout ?? planned ?? (isFile ? undefined : what);
  if (given !== undefined) refusePlanningFlags(flags);
  const { rollout: _, anyway, ...choices } = flags;
  const allowed = planOptions(choices);
  const calls = chooseCalls(flags);
  const wanted = {
    ...toRolloutOptions(flags),
    plan: given,
    allowed,
    name,
    expect: flags.expect,
    calls,
    anyway,
  };
  // A plan file was reviewed, so there is no second prompt.
  const outcome = await startRollout(
    wanted,
    context,
    openReview(flags, context, given === undefined),
  );
  if ('plan' in outcome) {
    if (outcome.end === 'refused') tellRefused(outcome.plan, context.terminal);
    else context.terminal.err('Nothing was written.');
    return outcome.end === 'refused' ? refusedExit(outcome.plan) : EXIT.error;
  }
  return finish([outcome], flags, context);
}

/** `callsheet rollout run [NAME]`: does what is due in one rollout, or in all that are under way, and ends. */
export async function run(
  name: string | undefined,
  flags: RolloutFlags,
  context: Context,
): Promise<ExitCode> {
  const options = toRolloutOptions(flags);
  const { records } = await readRollouts(name, options, context);
  const due = name === undefined ? records.filter(isUnderWay) : records;
  // In a comment it would take the place of what the last rollout came to, so it has no marker.
  if (due.length === 0 && (flags.format === 'text' || flags.format === 'markdown')) {
    context.terminal.out('No rollout is under way.');
    return EXIT.done;
  }
  const outcomes: RolloutOutcome[] = [];
  // Without a terminal, a rollout that has to ask is held: no flag answers what the calls have not said yet.
  const review = openReview(flags, context, context.terminal.canAsk);
  const failures: unknown[] = [];
  for (const { name } of due) {
    try {
      outcomes.push(await goOn(name, options, context, review));
    } catch (error) {
      // Callers of the others do not wait until this one can go on.
      failures.push(error);
      if (context.stop.aborted) break;
    }
  }
  const isShown = outcomes.length > 0 || failures.length === 0;
  const exit = isShown ? await finish(outcomes, flags, context) : EXIT.error;
  const { terminal } = context;
  const [failure, ...others] = failures;
  for (const one of others) reportFailure(one, terminal, terminal.render.verbose);
  if (failure !== undefined) throw failure;
  return exit;
}

/** `callsheet rollout show [NAME]`: rollouts, and what calls say of them now. Nothing is written. */
export async function show(
  name: string | undefined,
  flags: RolloutFlags,
  context: Context,
): Promise<ExitCode> {
  const { records, now } = await readRollouts(name, toRolloutOptions(flags), context, true);
  const document = buildDocument(
    records.map((record) => ({ record })),
    now,
    flags,
  );
  context.terminal.out(render(document, flags, context));
  return EXIT.done;
}

/** `callsheet rollout promote [NAME]`: goes on without waiting for a verdict. */
export async function promote(
  name: string | undefined,
  flags: RolloutFlags,
  context: Context,
): Promise<ExitCode> {
  return finish(
    [await promoteRollout(name, toRolloutOptions(flags), context, openReview(flags, context))],
    flags,
    context,
  );
}

/** `callsheet rollout abort [NAME]`: takes it back. */
export async function abort(
  name: string | undefined,
  flags: RolloutFlags,
  context: Context,
): Promise<ExitCode> {
  const outcome = await abortRollout(
    name,
    toRolloutOptions(flags),
    context,
    openReview(flags, context),
  );
  const exit = await finish([outcome], flags, context);
  // That it is rolled back is what was asked for.
  const isWhole = outcome.end === 'rolled_back' && outcome.record.left.length === 0;
  return isWhole ? EXIT.done : exit;
}

function toRolloutOptions(flags: RolloutFlags): RolloutOptions {
  const { lockTimeout, overrideFreeze } = flags;
  return { ...stackOptions(flags), lockTimeout, overrideFreeze };
}

function openReview(flags: RolloutFlags, context: Context, isAsked = true): RolloutReview {
  const { terminal } = context;
  const { show, confirm } = openPlanReview(terminal);
  const agree = (question: string) => isAgreed(question, flags, terminal, UNASKED, confirm);
  return {
    ...(isAsked && { agree }),
    show(plan) {
      if (flags.format === 'text') show(plan);
    },
    looked: ({ look, ...record }) => {
      const next = record.steps[record.step + 1];
      const isGood = look?.verdict === 'no_worse' || look?.verdict === 'better';
      if (next === undefined || !isGood || look.broken.length > 0) return;
      const text = `Step ${record.step + 1} of the rollout ${record.name}: callers fare no worse, by ${formatCount(look.calls, 'call')}. Next: ${next.agents} of ${formatCount(record.agents.length, 'agent')}.`;
      context.emit({ type: 'notice', text });
    },
    observe: (plan: PlanDocument) => openProgress(plan, flags, context),
  };
}

/** Shows what came of it, posts it where something was decided, and gives the exit code: the worst of all. */
async function finish(
  outcomes: readonly RolloutOutcome[],
  flags: RolloutFlags,
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  const address = noticeAddress(flags, context);
  const now = outcomes[0]?.now ?? context.now().getTime();
  const document = buildDocument(outcomes, now, flags);
  terminal.out(render(document, flags, context));
  const isDecided = outcomes.some(({ end }) => end !== 'waiting');
  if (address !== undefined && (isDecided || flags.notifyAlways === true))
    await deliver(address, randomUUID(), jsonText(document), context);
  const ends = outcomes.map(({ end }) => end);
  const worst = (['interrupted', 'declined', 'held', 'rolled_back', 'waiting'] as const).find(
    (end) => ends.includes(end),
  );
  return EXITS[worst ?? 'done'];
}

function render(
  document: Rollouts.Document,
  { format, dir }: RolloutFlags,
  { terminal }: Context,
): string {
  switch (format) {
    case 'text':
      return renderRolloutsText(document, terminal.render);
    case 'json':
      return jsonText(document);
    case 'markdown':
      return renderRolloutsMarkdown(document, getPageOptions(dir));
  }
}

/** The document of rollouts as they are now. */
function buildDocument(
  outcomes: readonly Pick<RolloutOutcome, 'record' | 'waitsFor'>[],
  now: number,
  flags: RolloutFlags,
): Rollouts.Document {
  return {
    format: 'callsheet-rollouts',
    version: 1,
    now: isoTime(now),
    environment: flags.env ?? null,
    rollouts: outcomes.map(({ record, waitsFor }) => toShownRollout(record, now, waitsFor, flags)),
  };
}

function toShownRollout(
  record: RolloutRecord,
  now: number,
  waitsFor: string | undefined,
  flags: RolloutFlags,
): Rollouts.Rollout {
  const { settings, agents, steps, step, status } = record;
  const { judge, guardRails } = settings;
  const { settings: _, logs: __, allowed: ___, judged_from: ____, ...rest } = record;
  const at = steps[step]?.at ?? null;
  const since = Date.parse(at ?? record.started_at);
  return {
    ...rest,
    overdue: isUnderWay(record) && now - since > settings.overdueAfter,
    agents: agents.length,
    step: step + 1,
    steps: steps.map((one, index) => ({
      number: index + 1,
      agents: one.agents,
      adds: addedBy(record, index).map(({ address }) => address),
      status: stepStatus(record, index),
      at: one.at,
      runs: one.runs,
    })),
    judge: {
      min_calls: judge.minCalls,
      min_days: judge.minDays,
      baseline_weeks: judge.baselineWeeks,
    },
    guard_rails: { errors: guardRails.errors ?? null, silence: guardRails.silence },
    next: waitsFor ?? NEXT[status](record),
    commands: COMMANDS[status].map((command) =>
      commandLine(`rollout ${command} ${record.name}`, flags),
    ),
  };
}

function stepStatus(
  { status, step, steps }: RolloutRecord,
  index: number,
): Rollouts.Rollout['steps'][number]['status'] {
  const { at = null, runs = [] } = steps[index] ?? {};
  if (status === 'rolled_back') return runs.length > 0 ? 'undone' : 'pending';
  if (at !== null) return 'applied';
  return index === step && status !== 'done' ? 'applying' : 'pending';
}

type Status = RolloutRecord['status'];

const NEXT: { readonly [status in Status]: (record: RolloutRecord) => string } = {
  applying: () => 'The step is not applied in full. The next rollout run continues it.',
  judging: ({ step, steps, agents }) => {
    const next = steps[step + 1];
    return next === undefined
      ? 'All of its agents have the change. The next rollout run looks at the calls again.'
      : `The next rollout run looks at the calls again. If callers fare no worse, ${next.agents} of ${agents.length} agents have the change then.`;
  },
  held: ({ steps }) =>
    `It stays as it is until somebody decides: promote tries its step again or continues, abort rolls it back.${steps.some(({ at }) => at !== null) ? ' Calls are still looked at.' : ''}`,
  rolling_back: () => 'It is not rolled back in full. The next rollout run continues that.',
  done: ({ agents }) => `All ${agents.length} agents have the change.`,
  rolled_back: () =>
    'The values are held: plan and apply refuse to write them again until the configuration changes, or --release-hold is given.',
};

const COMMANDS: { readonly [status in Status]: readonly string[] } = {
  applying: ['run', 'abort'],
  judging: ['run', 'promote', 'abort'],
  held: ['promote', 'abort'],
  rolling_back: ['run'],
  done: [],
  rolled_back: [],
};
