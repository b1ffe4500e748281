import { hash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ApplyFlags, refusePlanningFlags } from '../../console/apply.ts';
import type { Context } from '../../console/context.ts';
import type { DriftFlags } from '../../console/notify.ts';
import { isTreeReview, type PlanCommandFlags } from '../../console/plan.ts';
import { findReport, type ValidateFlags } from '../../console/validate.ts';
import type { Fleet } from '../../core/documents.generated.ts';
import { CallsheetError, explainSystemError } from '../../core/errors.ts';
import { compareTexts } from '../../core/value.ts';
import { kinds } from '../../kinds/index.ts';
import { isSkipped } from '../../stack/discover.ts';
import { STACK_FILE } from '../../stack/folder.ts';
import { isPerStack } from '../../stack/state-place.ts';

/**
 * `fleet/` runs a command in every stack of a tree, in one process: finds them and takes the part of them that is this
 * job's (here), refuses those that reach for the same thing (`claims.ts`), runs the command in each, a few at a time
 * (`run-stack.ts`), and tells what came of all in one summary (`work-on.ts`).
 */

/** Flags of a command that runs in every stack of a tree. */
export type TreeFlags = StackFlags & {
  /** The folder that the stacks lie in. */
  readonly dir: string;
  readonly format: string;
  readonly recursive?: boolean;
  readonly shard?: string;
};

/** A request for a tree, once it is known to make sense. */
export type TreeRequest = {
  readonly command: StackCommand;
  readonly flags: TreeFlags;
  readonly shard: Shard | undefined;
  /** The folder that `plan --out` wrote, for `apply`. */
  readonly planSet: string | undefined;
};

/** Throws `CallsheetError('usage')` for what makes no sense for many stacks at once. */
export function checkTree(
  command: StackCommand,
  flags: TreeFlags,
  planSet: string | undefined,
  context: Pick<Context, 'env' | 'features'>,
): TreeRequest {
  const shard = flags.shard === undefined ? undefined : parseShard(flags.shard);
  refuseAddresses(flags);
  refuseBeside('--accept', flags.accept, 'Accept drift in one stack at a time, with --dir.');
  refuseBeside(
    '--events',
    flags.events,
    'Events do not name their stack. Apply one stack, with --dir.',
  );
  if (!isTreeFormat(flags.format, context)) {
    const hint = 'It shows one stack: choose another format, or one stack with --dir.';
    throw besideRecursive(`--format ${flags.format}`, hint);
  }
  refuseOneState('--recursive', context.env);
  if (command === 'apply' && planSet !== undefined) refusePlanningFlags(flags);
  return { command, flags, shard, planSet };
}

/** True if a format shows many stacks. What a command knows beside these shows one. */
function isTreeFormat(format: string, context: Pick<Context, 'features'>): boolean {
  const isReport = findReport(format, context) !== undefined;
  return ['text', 'json'].includes(format) || isTreeReview(format) || isReport;
}

/** The hint on how to apply a tree without a prompt. */
export const APPROVE =
  'Apply the folder of `callsheet plan --recursive --out FOLDER`, or pass --auto-approve.';

/** Throws where the environment names one state for all, with nothing that tells the stacks apart: each stack would delete what the one before it made. */
export function refuseOneState(
  what: string,
  { CALLSHEET_STATE: state = '' }: Context['env'],
): void {
  if (state === '' || isPerStack(state)) return;
  const message = `CALLSHEET_STATE names one state, and ${what} works on many stacks`;
  throw new CallsheetError('usage', message, {
    hint: 'Put {stack} into it, such as s3://states/{stack}.json, or unset it: then the callsheet.yaml of each stack sets the location of its state.',
  });
}

/** Throws where `--shard` stands alone. */
export function refuseShardAlone(shard: string | undefined): void {
  if (shard === undefined) return;
  parseShard(shard);
  throw new CallsheetError('usage', '--shard splits a tree of stacks, and this is one stack', {
    hint: 'Also pass --recursive.',
  });
}

function refuseBeside(flag: string, value: unknown, hint: string): void {
  if (value !== undefined) throw besideRecursive(flag, hint);
}

function besideRecursive(flag: string, hint: string): CallsheetError {
  return new CallsheetError('usage', `${flag} cannot be used with --recursive`, { hint });
}

/** An address belongs to one stack, and would be a mistake in all others. A kind is in any. */
function refuseAddresses({ target, exclude, resendSecrets }: TreeFlags): void {
  const names = new Set(kinds.map(({ name }) => name));
  const given = [
    ...(target ?? []).map((one) => ['--target', one] as const),
    ...(exclude ?? []).map((one) => ['--exclude', one] as const),
    ...(Array.isArray(resendSecrets) ? resendSecrets : []).map(
      (one) => ['--resend-secrets', String(one)] as const,
    ),
  ];
  const single = given.find(([, pattern]) => !names.has(pattern));
  if (single === undefined) return;
  const [flag, pattern] = single;
  throw new CallsheetError(
    'usage',
    `${flag} ${pattern} cannot be used with --recursive: an address belongs to one stack`,
    {
      hint: `Choose a kind, such as ${flag} agent, or work on one stack with --dir.`,
    },
  );
}

/** The commands that run in a stack among many. */
const STACK_COMMANDS = ['validate', 'plan', 'apply', 'drift'] as const;

export type StackCommand = (typeof STACK_COMMANDS)[number];

/** Their flags, but for where the stack is and how the result is shown. */
export type StackFlags = Omit<
  Omit<ValidateFlags, 'format'> &
    Omit<PlanCommandFlags, 'format'> &
    Omit<ApplyFlags, 'format'> &
    DriftFlags,
  'dir'
>;

/** The part of a tree that one job of a pipeline works on. */
export type Shard = NonNullable<Fleet.Document['shard']>;

/** A stack as the split sees it. */
export type Weighed = {
  readonly path: string;
  /** How much work it is, in any unit. */
  readonly weight: number;
};

/** More jobs than any pipeline's matrix has. A larger number is a slip of the finger. */
export const MAX_SHARDS = 1024;

/** `--shard 2/4`. Throws `CallsheetError('usage')` for anything else. */
export function parseShard(text: string): Shard {
  const [, first = '', second = ''] = /^(\d{1,9})\/(\d{1,9})$/.exec(text) ?? [];
  if (second === '') {
    throw wrong(text, 'is not of the form I/N', 'The second of four jobs is --shard 2/4.');
  }
  const [index, count] = [Number(first), Number(second)];
  if (count < 1 || count > MAX_SHARDS) {
    throw wrong(text, 'has an invalid number of parts', `N is 1 to ${MAX_SHARDS}.`);
  }
  if (index < 1 || index > count) {
    throw wrong(
      text,
      `names part ${index} of ${count}`,
      `Parts are counted from 1: 1/${count} to ${count}/${count}.`,
    );
  }
  return { index, count };
}

function wrong(text: string, why: string, hint: string): CallsheetError {
  return new CallsheetError('usage', `--shard ${text} ${why}`, { hint });
}

/** The stacks of one part, in the order in which they were given. */
export function takeShard<T extends Weighed>(stacks: readonly T[], shard: Shard): readonly T[] {
  const shards = assignShards(stacks, shard.count);
  return stacks.filter(({ path }) => shards.get(path) === shard.index);
}

/**
 * Gives each stack the number of its part, by path. Every part is a function of the paths and weights alone, in
 * whatever order they come, so that jobs on different machines agree without a word between them.
 *
 * The heaviest first, each goes to the part that has the least so far (LPT), which keeps parts even. Weights are
 * rounded before: so a stack that changes a little stays where it is, and so do all others. Among equals the order is
 * that of hashes, so that neighbours in the tree, which often are alike, do not all land together.
 */
export function assignShards(
  stacks: readonly Weighed[],
  count: number,
): ReadonlyMap<string, number> {
  const sorted = stacks
    .map(({ path, weight }) => ({ path, weight: roundWeight(weight), hash: hash('sha256', path) }))
    .sort(
      (a, b) => b.weight - a.weight || compareTexts(a.hash, b.hash) || compareTexts(a.path, b.path),
    );
  const loads = Array.from({ length: count }, () => 0);
  const shards = new Map<string, number>();
  for (const { path, weight } of sorted) {
    const least = findLeast(loads);
    loads[least] = (loads[least] ?? 0) + weight;
    shards.set(path, least + 1);
  }
  return shards;
}

/**
 * A weight to its first three binary digits: 4, 5, 6 or 7 times a power of two. Whole numbers and powers of two alone,
 * which every machine computes alike.
 */
export function roundWeight(weight: number): number {
  let step = 1;
  while (weight / step >= 8) step *= 2;
  return Math.max(1, Math.round(weight / step) * step);
}

function findLeast(loads: readonly number[]): number {
  let least = 0;
  for (const [at, load] of loads.entries()) if (load < (loads[least] ?? 0)) least = at;
  return least;
}

/**
 * The weight of every stack, however small: a session, its lists, its state. About that of ten more agents, which
 * have some 400 bytes of YAML each where they share a base.
 */
const EVERY_STACK = 4096;

/** Files of resources: rows of a table are resources, too. */
const CONFIGURATION = /\.(?:ya?ml|csv)$/;

/**
 * A stack with its weight: the bytes of its YAML and CSV files, so that no stack has to be sound to be weighed.
 * Carriage returns do not count: Git on Windows adds them, and jobs on other machines must come to the same number.
 */
export function weighStack<T extends FoundStack>(stack: T): T & Weighed {
  return { ...stack, weight: EVERY_STACK + bytesBelow(stack.dir) };
}

function bytesBelow(dir: string): number {
  let bytes = 0;
  const pending = [dir];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const entries = readdirSync(folder, { withFileTypes: true });
    // A stack inside a stack is weighed by itself.
    if (folder !== dir && entries.some(({ name }) => name === STACK_FILE)) continue;
    for (const entry of entries) {
      if (isSkipped(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isFile() && CONFIGURATION.test(entry.name)) bytes += countBytes(path);
    }
  }
  return bytes;
}

const CARRIAGE_RETURN = 0x0d;

function countBytes(file: string): number {
  const bytes = readFileSync(file);
  let returns = 0;
  for (
    let at = bytes.indexOf(CARRIAGE_RETURN);
    at !== -1;
    at = bytes.indexOf(CARRIAGE_RETURN, at + 1)
  ) {
    returns += 1;
  }
  return bytes.length - returns;
}

/** A stack of a tree. */
export type FoundStack = {
  /** Its folder below the root, with forward slashes on every machine; `.` for the root itself. */
  readonly path: string;
  /** Its folder as the commands take it: `--dir`. */
  readonly dir: string;
};

/** A file of a stack, or a folder below it, as seen from the tree. */
export function inTree(path: string, file: string): string {
  return path === '.' ? file : `${path}/${file}`;
}

/**
 * Every stack below a folder, and the folder itself where it is one, by path. A stack may stand inside another one.
 * Folders that the loader passes over (whose names begin with a dot, `node_modules`) are passed over here, and no link
 * is followed. Throws `CallsheetError` where a folder cannot be read: a stack must not go missing silently.
 */
export function findStacks(root: string): readonly FoundStack[] {
  refuseNoFolder(root);
  const paths: string[] = [];
  const pending = ['.'];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const folder = path;
    const entries = readFolder(join(root, folder), folder);
    if (entries.some((entry) => entry.name === STACK_FILE && !entry.isDirectory())) {
      paths.push(folder);
    }
    pending.push(
      ...entries
        .filter((entry) => entry.isDirectory() && !isSkipped(entry.name))
        .map(({ name }) => inTree(folder, name)),
    );
  }
  return paths.toSorted().map((path) => ({ path, dir: join(root, path) }));
}

function refuseNoFolder(root: string): void {
  const found = statSync(root, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  const why = found === undefined ? 'does not exist' : 'is not a folder';
  throw new CallsheetError('usage', `--dir ${root} ${why}`, {
    hint: 'With --recursive, --dir is the folder that contains the stacks.',
  });
}

function readFolder(absolute: string, path: string): readonly Dirent[] {
  try {
    return readdirSync(absolute, { withFileTypes: true });
  } catch (error) {
    throw explainSystemError(error, `the folder ${path} cannot be read`, {
      code: 'config',
      hint: 'It may contain a stack, so nothing was started. Check its permissions.',
    });
  }
}

/** The stacks of a tree, and those of them that are to be worked on. */
export type Chosen = {
  readonly found: readonly FoundStack[];
  readonly chosen: readonly FoundStack[];
};

/** Finds the stacks, and takes those of the shard. */
export function chosenStacks({ flags, shard }: Pick<TreeRequest, 'flags' | 'shard'>): Chosen {
  const found = findStacks(flags.dir);
  if (found.length === 0) {
    throw new CallsheetError('usage', `there is no stack in ${flags.dir} or below it`, {
      hint: 'A stack is a folder with a callsheet.yaml. Set --dir to the folder that contains the stacks.',
    });
  }
  if (shard === undefined) return { found, chosen: found };
  if (found.length === 1 && found[0]?.path === '.') {
    throw new CallsheetError('usage', `--shard splits a tree, and ${flags.dir} is a single stack`, {
      hint: 'Set --dir to the folder that contains the stacks, or remove --shard.',
    });
  }
  return { found, chosen: takeShard(found.map(weighStack), shard) };
}
