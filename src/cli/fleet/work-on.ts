import { renderFleetText } from '../../render/fleet.ts';
import type { FleetDocument, FleetStack, StackStatus } from '../../render/fleet-document.ts';
import { renderFleetMarkdown, type StackPage } from '../../render/markdown-fleet.ts';
import { commandLine } from '../command-line.ts';
import { pageOf } from '../commands/plan.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { DEFAULT_CONCURRENCY } from '../open-client.ts';
import type { Chosen } from './choose.ts';
import { eachStack } from './each-stack.ts';
import type { FoundStack } from './find-stacks.ts';
import type { TreeFormat, TreeRequest } from './flags.ts';
import { fleetJson } from './fleet-json.ts';
import { outcomeOf, worstExit } from './outcome.ts';
import { clearPlanSet, closePlanSet, digestOfPlans, writePlan } from './plan-set.ts';
import { type Refusals, refuseOverlaps } from './refuse-overlaps.ts';
import { runStack, type StackCommand, type StackResult, type StackTask } from './run-stack.ts';
import { stackPage, stackText, tellSaid } from './show.ts';
import { reportTree } from './validate-report.ts';

/** What is to be done in each stack, and what is known of all of them. */
export type Work = {
  /** The task of a stack; a result where there is nothing to run. Unless given, what the request says. */
  readonly taskOf?: (stack: FoundStack) => Omit<StackTask, 'stack'> | StackResult;
  /** The digest of the plans that are carried out. */
  readonly digest?: string;
  /** It is a step on the way to the result: programs are shown nothing of it. */
  readonly isStep?: boolean;
  /** It was done elsewhere, and `taskOf` knows what came of it. */
  readonly isReport?: boolean;
};

/** What came of the whole. */
export type Worked = { readonly exit: ExitCode; readonly document: FleetDocument };

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
  const view = openView(request, context, work.isStep === true);
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
      const outcome = { ...outcomeOf(result), plan_file: file };
      stacks.push(outcome);
      view.add(result, outcome);
    },
  );
  const exit = worstExit(stacks.map((stack) => stack.exit));
  const document: FleetDocument = {
    format: 'callsheet-fleet',
    version: 1,
    command,
    found: found.length,
    shard: shard ?? null,
    exit,
    digest: work.digest ?? (command === 'plan' ? digestOfPlans(stacks) : null),
    totals: totalsOf(stacks),
    stacks,
  };
  view.end(document);
  // What an interrupt left is no set: nobody is to apply it.
  if (out !== undefined && !context.stop.aborted) {
    await closePlanSet(out, document);
    const isAny = stacks.some((stack) => stack.plan_file !== null);
    if (work.isStep !== true && isAny) tellWhere(out, flags, context);
  }
  return { exit, document };
}

function tellWhere(out: string, flags: TreeRequest['flags'], { terminal }: Context): void {
  terminal.err(`The plans are in ${out}: ${commandLine(`apply ${out} --recursive`, flags)}`);
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
  { taskOf }: Work,
  context: Context,
  onProgress: (line: string) => void,
): Promise<StackResult> {
  const refused = refusals.get(stack.path);
  if (refused !== undefined && command !== 'validate') return refused;
  const task = taskOf?.(stack) ?? { command, flags: ownFlags(flags) };
  if ('exit' in task) return task;
  const result = await runStack({ ...task, stack }, context, onProgress);
  // What is wrong in a stack itself is repaired first.
  return refused === undefined || result.exit !== 0
    ? result
    : { ...refused, document: result.document };
}

/** The flags of one stack, of those of all. */
export function ownFlags({
  dir: _dir,
  format: _format,
  recursive: _recursive,
  shard: _shard,
  out: _out,
  ...own
}: TreeRequest['flags']): StackTask['flags'] {
  return own;
}

function totalsOf(stacks: readonly FleetStack[]): FleetDocument['totals'] {
  const totals: { [status in StackStatus]?: number } = {};
  for (const { status } of stacks) totals[status] = (totals[status] ?? 0) + 1;
  return totals;
}

/** How results are shown, as they come and at the end. */
type View = {
  readonly add: (result: StackResult, outcome: FleetStack) => void;
  readonly end: (document: FleetDocument) => void;
};

function openView({ flags }: TreeRequest, context: Context, isStep: boolean): View {
  const view = viewOf(flags.format, flags, context);
  return {
    add(result, outcome) {
      tellSaid(result, flags, context);
      view.add(result, outcome);
    },
    end: (document) => (isStep && flags.format === 'json' ? undefined : view.end(document)),
  };
}

function viewOf(format: TreeFormat, { dir, env }: TreeRequest['flags'], context: Context): View {
  const { terminal } = context;
  switch (format) {
    case 'text':
      return {
        add(result, outcome) {
          const text = stackText(result, outcome, terminal.render);
          if (text !== '') terminal.out(`${text}\n`);
        },
        end: (document) => terminal.out(renderFleetText(document, terminal.render)),
      };
    case 'json':
      return { add: () => undefined, end: (document) => terminal.out(fleetJson(document)) };
    // checkTree lets no page through.
    case 'html':
    case 'markdown': {
      const pages: StackPage[] = [];
      return {
        add(result, outcome) {
          const markdown = stackPage(result, outcome);
          if (markdown !== undefined) pages.push({ path: result.path, markdown });
        },
        end: (document) =>
          terminal.out(renderFleetMarkdown(document, pages, { ...pageOf(dir), environment: env })),
      };
    }
    default: {
      const results: StackResult[] = [];
      return {
        add: (result) => void results.push(result),
        end: () => terminal.out(reportTree(format, results, dir, context)),
      };
    }
  }
}
