import { join } from 'node:path';
import { type CommonFlags, type Context, chooseCalls } from '../../console/context.ts';
import { say } from '../../console/events.ts';
import { folderInRepository } from '../../console/named-file.ts';
import {
  getPageOptions,
  isTreeReview,
  type TreeReviewFormat,
  treeReview,
} from '../../console/plan.ts';
import { openTerminal } from '../../console/terminal.ts';
import { renderReport } from '../../console/validate.ts';
import { commandLine, commandSpan, quoted } from '../../core/command-line.ts';
import type { Diagnostic } from '../../core/diagnostics.ts';
import { type ExitCode, unreachable } from '../../core/errors.ts';
import { countEach } from '../../core/value.ts';
import { renderDiagnosticsText } from '../../render/diagnostics.ts';
import {
  type FleetDocument,
  type FleetStack,
  renderFleetText,
  renderStackTitle,
  type StackPart,
} from '../../render/fleet.ts';
import { renderLedgerText } from '../../render/runs.ts';
import type { RenderOptions, Way } from '../../render/terminal.ts';
import { renderPlanText } from '../../render/text.ts';
import { DEFAULT_CONCURRENCY } from '../../run/client.ts';
import { STACK_FILE } from '../../stack/folder.ts';
import { type Refusals, refuseOverlaps } from './claims.ts';
import { clearPlanSet, closePlanSet, digestOfPlans, writePlan } from './plan-set.ts';
import {
  type Chosen,
  type FoundStack,
  inTree,
  type StackCommand,
  type TreeRequest,
} from './request.ts';
import {
  eachStack,
  fleetJson,
  runStack,
  type StackDocument,
  type StackResult,
  type StackTask,
  summariseStack,
  treeExit,
} from './run-stack.ts';

type Work = {
  /** The task of a stack; a result where there is nothing to run. Unless given, what the request says. */
  readonly buildTask?: (stack: FoundStack) => Omit<StackTask, 'stack'> | StackResult;
  /** The digest of the plans that are carried out. */
  readonly digest?: string;
  /** It is a step on the way to the result: programs are shown nothing of it. */
  readonly isStep?: boolean;
  /** It was done elsewhere, and `buildTask` knows what came of it. */
  readonly isReport?: boolean;
  /** The stacks that workers are still at. */
  readonly working?: FleetDocument['working'];
};

type Worked = { readonly exit: ExitCode; readonly document: FleetDocument };

/** Works on the chosen stacks, shows each, and then all of them. */
export async function workOn(
  request: TreeRequest,
  { found, chosen }: Chosen,
  context: Context,
  work: Work = {},
): Promise<Worked> {
  const { command, flags, shard } = request;
  const out = command === 'plan' ? flags.out : undefined;
  if (out !== undefined) await clearPlanSet(out);
  const refusals: Refusals =
    work.isReport === true ? new Map() : await refuseOverlaps(request, found, context);
  const view = await openView(request, work, context);
  const stacks: FleetStack[] = [];
  await eachStack(
    chosen,
    { verb: VERBS[command], concurrency: flags.concurrency ?? DEFAULT_CONCURRENCY },
    context,
    (stack, onProgress) => runUnlessRefused(stack, request, refusals, work, context, onProgress),
    async (result) => {
      const { path, document } = result;
      const isPlanned = out !== undefined && document?.format === 'callsheet-plan';
      const file = isPlanned ? await writePlan(out, path, document) : null;
      const outcome = { ...summariseStack(result), plan_file: file };
      stacks.push(outcome);
      tellSaid(result, flags, context);
      view.add(result, outcome);
    },
  );
  const exit = treeExit(command, stacks);
  const document: FleetDocument = {
    format: 'callsheet-fleet',
    version: 1,
    command,
    found: found.length,
    shard: shard ?? null,
    exit,
    digest: work.digest ?? (command === 'plan' ? digestOfPlans(stacks) : null),
    totals: sumTotals(stacks),
    stacks,
    ...(work.working === undefined || work.working.length === 0 ? {} : { working: work.working }),
  };
  if (work.isStep !== true || flags.format !== 'json') await view.end(document);
  // After an interrupt the folder is no complete set, which must not be applied.
  if (out !== undefined && !context.stop.aborted) {
    await closePlanSet(out, document);
    const next = suggestNext(out, stacks, flags);
    if (work.isStep !== true && next !== undefined)
      say(context.terminal, `The plans are in ${out}: ${next}`);
  }
  return { exit, document };
}

/** Names the command that carries the plans of a folder out; undefined where there are none. Those for a strategy are started one by one. */
function suggestNext(
  out: string,
  stacks: readonly FleetStack[],
  flags: TreeRequest['flags'],
): string | undefined {
  const planned = stacks.find(({ plan_file: file }) => file !== null);
  if (planned === undefined) return undefined;
  const { strategy } = flags;
  if (strategy === undefined) return commandSpan(`apply ${quoted(out)} --recursive`, flags);
  const dir = join(flags.dir, planned.path);
  const file = join(out, planned.plan_file ?? '');
  return `start each in its stack, such as ${commandSpan(`${strategy.command} ${quoted(file)}`, { ...flags, dir })}`;
}

const VERBS: { readonly [command in StackCommand]: string } = {
  validate: 'Checking',
  plan: 'Planning',
  apply: 'Applying',
  drift: 'Comparing',
};

async function runUnlessRefused(
  stack: FoundStack,
  { command, flags }: TreeRequest,
  refusals: Refusals,
  { buildTask }: Work,
  context: Context,
  onProgress: (line: string) => void,
): Promise<StackResult> {
  const refused = refusals.get(stack.path);
  if (refused !== undefined && command !== 'validate') return refused;
  const task = buildTask?.(stack) ?? { command, flags: ownFlags(flags) };
  if ('exit' in task) return task;
  const result = await runStack({ ...task, stack }, context, onProgress);
  // A stack's own mistakes are repaired first.
  return refused === undefined || result.exit !== 0
    ? result
    : { ...refused, document: result.document };
}

/** The flags of one stack, of those of all. */
export function ownFlags({
  dir: _dir,
  format,
  recursive: _recursive,
  shard: _shard,
  out,
  ...own
}: TreeRequest['flags']): StackTask['flags'] {
  // In JSON a tree has no plans, but for those in files.
  const isDecidedOn = own.autoApprove !== true && (format !== 'json' || out !== undefined);
  return { ...own, calls: chooseCalls(own, isDecidedOn) };
}

function sumTotals(stacks: readonly FleetStack[]): FleetDocument['totals'] {
  return Object.fromEntries(countEach(stacks.map(({ status }) => status)));
}

/** How results are shown, as they come and at the end. */
type View = {
  readonly add: (result: StackResult, outcome: FleetStack) => void;
  readonly end: (document: FleetDocument) => void | Promise<void>;
};

async function openView(request: TreeRequest, work: Work, context: Context): Promise<View> {
  const { dir, env, format } = request.flags;
  const { terminal } = context;
  switch (format) {
    case 'text':
      return {
        add(result, outcome) {
          const text = stackText(result, outcome, terminal.render);
          if (text !== '') terminal.out(`${text}\n`);
        },
        end: (document) => {
          const ways = work.isStep === true ? [] : listWays(document, request);
          terminal.out(renderFleetText(document, terminal.render, { environment: env, ways }));
        },
      };
    case 'json':
      return { add: () => undefined, end: (document) => terminal.out(fleetJson(document)) };
    default: {
      if (isTreeReview(format)) return openReview(format, request.flags, context);
      const results: StackResult[] = [];
      return {
        add: (result) => void results.push(result),
        end: async () => terminal.out(await reportTree(format, results, dir, context)),
      };
    }
  }
}

/** Plans are shown one by one, and put together at the end. */
async function openReview(
  format: TreeReviewFormat,
  { dir, env }: TreeRequest['flags'],
  { terminal }: Context,
): Promise<View> {
  const { part, whole } = await treeReview(format);
  const parts: StackPart[] = [];
  return {
    add({ path, document }, { status }) {
      // An unchanged stack needs no review.
      if (document?.format === 'callsheet-plan' && status !== 'unchanged')
        parts.push({ path, text: part(document, path) });
    },
    end: (document) =>
      terminal.out(whole(document, parts, { ...getPageOptions(dir), environment: env })),
  };
}

const STOPPED = ['refused', 'failed', 'partial', 'stale', 'locked', 'interrupted'] as const;

/** How each command goes on from stacks that came out so: `one` in the first of them, else in the tree. */
const WAYS: {
  readonly [command in StackCommand]: readonly {
    readonly after: readonly FleetStack['status'][];
    readonly one?: string;
    readonly all?: string;
    readonly does: string;
  }[];
} = {
  validate: [{ after: STOPPED, one: 'validate', does: 'checks it again' }],
  plan: [
    { after: ['changes'], all: 'apply', does: 'applies them, after a question' },
    { after: STOPPED, one: 'plan', does: 'plans it again' },
  ],
  apply: [
    { after: STOPPED, one: 'plan', does: 'shows what is left there' },
    { after: ['done'], one: 'runs', does: 'lists the runs there, to take one back' },
  ],
  drift: [
    { after: ['changes'], one: 'pull --dry-run', does: 'shows how to keep the edits there' },
    { after: ['changes'], all: 'plan', does: 'shows what apply would overwrite' },
    { after: STOPPED, one: 'drift', does: 'compares it again' },
  ],
};

/** The commands that go on from a tree. Plans in a folder have a sentence of their own. */
function listWays({ stacks }: FleetDocument, { command, flags }: TreeRequest): readonly Way[] {
  return WAYS[command].flatMap(({ after, one, all, does }) => {
    const first = stacks.find(({ status }) => after.includes(status));
    if (first === undefined || (all !== undefined && flags.out !== undefined)) return [];
    const line =
      one === undefined
        ? commandLine(`${all} --recursive`, flags)
        : commandLine(one, { ...flags, dir: join(flags.dir, first.path) });
    return [[line, does] as const];
  });
}

/** The result of one stack as it stands among those of others; empty where there is nothing to see. */
export function stackText(
  { path, document }: StackResult,
  { status }: FleetStack,
  options: RenderOptions,
): string {
  if (document === undefined || (status === 'unchanged' && !options.verbose)) return '';
  const body = renderBody(document, options);
  return body === '' ? '' : `${renderStackTitle(path, options)}\n${body}`;
}

function renderBody(document: StackDocument, options: RenderOptions): string {
  switch (document.format) {
    case 'callsheet-diagnostics':
      return document.diagnostics.length === 0
        ? ''
        : renderDiagnosticsText(document.diagnostics, options);
    case 'callsheet-run':
      return document.ledger.length === 0 ? '' : renderLedgerText(document.ledger, options);
    case 'callsheet-plan':
      return renderPlanText(document, options);
    default:
      return unreachable(document);
  }
}

/**
 * Prints the output of a stack beside its result. With `--quiet` that is why it failed, which is printed all the
 * same.
 */
function tellSaid(
  { path, said }: StackResult,
  flags: Pick<CommonFlags, 'quiet' | 'color' | 'verbose'>,
  { terminal, env }: Context,
): void {
  if (said === '') return;
  const { err, renderErr } =
    flags.quiet === true ? openTerminal({ ...flags, quiet: false }, env) : terminal;
  err(`${renderStackTitle(path, renderErr)}\n${said}\n`);
}

/**
 * Returns the findings of `validate` in all stacks as one report for another program, with places as seen from the
 * tree.
 */
async function reportTree(
  format: string,
  results: readonly StackResult[],
  dir: string,
  context: Context,
): Promise<string> {
  const report = {
    diagnostics: results.flatMap(listDiagnostics),
    files: results.map(({ path }) => inTree(path, STACK_FILE)),
    folder: folderInRepository(dir, process.cwd()),
    version: context.version,
  };
  return renderReport(format, report, context);
}

function listDiagnostics({ path, document, error }: StackResult): readonly Diagnostic[] {
  const found = document?.format === 'callsheet-diagnostics' ? document.diagnostics : [];
  const all = error === undefined ? found : [...found, ...problemsIn(error)];
  return all.map((one) => {
    const at = one.position ?? { file: STACK_FILE, line: 1, column: 1 };
    return { ...one, position: { ...at, file: inTree(path, at.file) } };
  });
}

function problemsIn(error: NonNullable<StackResult['error']>): readonly Diagnostic[] {
  if (error.diagnostics.length > 0) return error.diagnostics;
  const { message, hint } = error;
  return [{ severity: 'error', rule: 'fleet/stack', message, ...(hint === null ? {} : { hint }) }];
}
