import { readFile, stat } from 'node:fs/promises';
import { commandSpan, quoted } from '../core/command-line.ts';
import { CallsheetError, EXIT, type ExitCode, errorCode } from '../core/errors.ts';
import {
  findFreezeAlone,
  isRefused,
  isRefusedByBranch,
  type PlanDocument,
} from '../core/plan-document.ts';
import { hasChanges, parsePlan, parsePlanLines, signed } from '../plan/document.ts';
import type { FleetDocument, FleetPlace, StackPart } from '../render/fleet.ts';
import { planFilePieces, renderPlanJson } from '../render/json.ts';
import type { PageOptions } from '../render/markdown-text.ts';
import { renderPlanText } from '../render/text.ts';
import { planOptions, planStack } from '../run/plan.ts';
import { realDisk } from '../state/file/disk.ts';
import { type CommonFlags, type Context, type PlanFlags, stackOptions } from './context.ts';
import { say } from './events.ts';
import { folderInRepository, missingHint, writeNamedFile } from './named-file.ts';
import { refusedExit } from './result.ts';

export type PlanCommandFlags = PlanFlags & {
  readonly out?: string;
  readonly base?: string;
  readonly format: string;
  readonly detailedExitcode?: boolean;
};

/** `callsheet plan`: what apply would do, and nothing done. */
export async function plan(flags: PlanCommandFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const { document, exit } = await planNow(flags, context);
  terminal.out(await renderReview(document, flags.format, context, flags.dir));
  await tellStrategy(document, flags, context);
  if (flags.out !== undefined) {
    const { out } = flags;
    await writeNamedFile('--out', out, planFilePieces(signed(document)));
    const next =
      exit === EXIT.refused || exit === EXIT.stale || isRefused(document)
        ? `. Apply refuses it ${lasts(findFreezeAlone(document))}.`
        : `: ${commandSpan(`${flags.strategy?.command ?? 'apply'} ${quoted(out)}`, flags)}`;
    say(terminal, `The plan is in ${out}${next}`);
  }
  return exit;
}

/** Says line by line what the strategy of a plan will take. */
async function tellStrategy(
  document: PlanDocument,
  flags: PlanCommandFlags,
  context: Context,
): Promise<void> {
  const { strategy } = document.options;
  const found = context.features.find(({ name }) => name === strategy?.feature)?.strategy;
  const describe = await found?.forecast();
  const texts = (await describe?.(document, stackOptions(flags), context)) ?? [];
  for (const text of texts) context.emit({ type: 'notice', text });
}

function lasts(freeze: PlanDocument['freeze']): string {
  return freeze?.ends ? `until ${freeze.ends}` : 'now';
}

/** Returns the plan instead of printing it. */
export async function planNow(
  flags: Omit<PlanCommandFlags, 'format' | 'out'>,
  context: Context,
): Promise<{ readonly document: PlanDocument; readonly exit: ExitCode }> {
  const { refresh = 'fast', calls, base } = flags;
  const wanted = { ...stackOptions(flags), options: planOptions(flags), base, refresh, calls };
  const { plan, overlaps } = await planStack(wanted, context);
  const isOverlapping = overlaps.length > 0;
  const found = planExit(plan, flags.detailedExitcode === true);
  const exit = isOverlapping && found !== EXIT.stale ? EXIT.refused : found;
  return { document: plan, exit };
}

/** A page on a pull request does not name a stack outside of the current repository. */
export function getPageOptions(dir: string | undefined): PageOptions {
  const stack = dir === undefined ? '' : folderInRepository(dir, process.cwd());
  return stack.startsWith('..') ? {} : { stack };
}

/**
 * 4 where apply would refuse it, but for what it would refuse of the base already, and 5 where it would for the checkout;
 * with `--detailed-exitcode` 2 where there are changes; else 0.
 */
function planExit(document: PlanDocument, detailed: boolean): ExitCode {
  if (isRefusedByBranch(document)) return refusedExit(document);
  return detailed && hasChanges(document) ? EXIT.changes : EXIT.done;
}

/**
 * A plan in the wanted format, of the core or of a feature. `dir`: the folder of its stack, where there is one. What
 * renders it is loaded where it is asked for.
 */
export async function renderReview(
  document: PlanDocument,
  format: string,
  { terminal, features }: Pick<Context, 'terminal' | 'features'>,
  dir?: string,
): Promise<string> {
  switch (format) {
    case 'text':
      return renderPlanText(document, terminal.render);
    case 'json':
      return renderPlanJson(document);
    case 'markdown': {
      const { renderPlanMarkdown } = await import('../render/markdown.ts');
      return renderPlanMarkdown(document, getPageOptions(dir));
    }
    default: {
      const view = features.find(({ views }) => views?.[format] !== undefined)?.views?.[format];
      if (view === undefined) throw new Error(`no feature shows plans as ${format}`);
      return (await view())(document);
    }
  }
}

/** How the plans of many stacks make one text: a part for each as it comes, and what puts the parts together. */
type TreeReview = {
  readonly part: (plan: PlanDocument, path: string) => string;
  readonly whole: (fleet: FleetDocument, parts: readonly StackPart[], place: FleetPlace) => string;
};

/** The formats that have one. The others show one stack. */
const TREE_REVIEWS = {
  markdown: async () => {
    const { renderPlanMarkdown } = await import('../render/markdown.ts');
    const { renderFleetMarkdown } = await import('../render/fleet.ts');
    return { part: (plan) => renderPlanMarkdown(plan), whole: renderFleetMarkdown };
  },
} as const satisfies { readonly [format: string]: () => Promise<TreeReview> };

export type TreeReviewFormat = keyof typeof TREE_REVIEWS;

export function treeReview(format: TreeReviewFormat): Promise<TreeReview> {
  return TREE_REVIEWS[format]();
}

export function isTreeReview(format: string): format is TreeReviewFormat {
  return Object.hasOwn(TREE_REVIEWS, format);
}

type ShowFlags = CommonFlags & { readonly format: string };

/** `callsheet show PLANFILE`: a plan file as `plan` showed it. Its digest is checked; nothing is asked of the platform. */
export async function showPlan(
  file: string,
  { format, dir }: ShowFlags,
  context: Context,
): Promise<ExitCode> {
  context.terminal.out(await renderReview(await readPlanFile(file), format, context, dir));
  return EXIT.done;
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
};

const MAKE_ONE = 'Make one with: `callsheet plan --out plan.json`';

/** Bytes of a plan file that are read at once: more may be more than fits into a string. */
const MOST_AT_ONCE = 256 * 1024 * 1024;

/** The plan in a file. Throws `CallsheetError('usage')` where there is none. */
export async function readPlanFile(file: string, most = MOST_AT_ONCE): Promise<PlanDocument> {
  try {
    if ((await stat(file)).size <= most) return parsePlan(await readFile(file, 'utf8'), file);
    return await parsePlanLines((await realDisk.readLines(file)) ?? [], file);
  } catch (cause) {
    if (cause instanceof CallsheetError) throw cause;
    const code = errorCode(cause) ?? '';
    const folder = `If \`callsheet plan --recursive --out ${quoted(file)}\` wrote it: \`callsheet apply ${quoted(file)} --recursive\` carries its plans out.`;
    throw new CallsheetError('usage', `the plan file ${file} ${WHY[code] ?? 'cannot be read'}`, {
      hint: code === 'EISDIR' ? folder : missingHint(file, cause, MAKE_ONE),
      cause,
    });
  }
}
