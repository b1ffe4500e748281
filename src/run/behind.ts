import { type Behind, type Note, shortCommit } from '../core/plan-document.ts';
import { inSeconds } from '../core/value.ts';
import type { AppliedCommit, State } from '../state/model.ts';
import { askGit, type Checkout, describeCheckout, isInRepository } from './actor.ts';
import type { RunContext } from './context.ts';

/**
 * How the checkout of a stack stands to the commit that was applied last. Neither member: it has that commit, or there is
 * nothing to compare.
 */
export type Standing = {
  readonly behind?: Behind;
  /** Why that is unknown. */
  readonly doubt?: string;
};

/**
 * Compares the checkout of a stack with the commit that was applied last, in this order:
 *
 * | the applied commit                                                                  | the checkout   |
 * |-------------------------------------------------------------------------------------|----------------|
 * | is that of the checkout, or one of its ancestors                                    | has it         |
 * | has the stack's folder as the checkout has it                                       | has it         |
 * | has it as a commit of the checkout has it that was made since, as a squash merge is | has it         |
 * | is none of these, and the clone is shallow                                          | is not known   |
 * | has commits that the checkout lacks, and none touches the stack's folder            | has it         |
 * | is none of these                                                                    | is behind      |
 *
 * That some older commit has the same content proves nothing: the applied commit may be the revert of a later one.
 */
export async function findStanding(
  { stack, state }: { readonly stack: { readonly dir: string }; readonly state: State },
  { sandbox }: Pick<RunContext, 'sandbox'>,
): Promise<Standing> {
  const { applied } = state;
  const { dir } = stack;
  if (applied === undefined || sandbox !== undefined || !isInRepository(dir)) return {};
  const checkout = await describeCheckout(dir);
  if (checkout === undefined)
    return { doubt: formatDoubt(applied, 'Git cannot read the repository') };
  if (checkout.head === applied.commit || hasContent(checkout, applied)) return {};
  return compareCommits(dir, applied, checkout);
}

async function compareCommits(
  dir: string,
  applied: AppliedCommit,
  { head }: Checkout,
): Promise<Standing> {
  const { commit } = applied;
  const isAncestor = (one: string, other: string) =>
    succeeds(dir, 'merge-base', '--is-ancestor', one, other);
  if (await isAncestor(commit, head)) return {};
  const behind = (found: Behind['found']): Standing => {
    const { tree: _, ...known } = applied;
    return { behind: { applied: known, head, found } };
  };
  if (await hasCopySince(dir, applied)) return {};
  const isContained = await isAncestor(head, commit);
  if (!isContained && (await isShallow(dir)))
    return { doubt: formatDoubt(applied, 'the clone is shallow') };
  const touched = await findTouched(dir, head, commit);
  if (touched === 'nothing') return {};
  if (touched === 'unknown')
    return { doubt: formatDoubt(applied, 'the clone lacks objects of that commit') };
  if (isContained) return behind('contained');
  const isThere = await succeeds(dir, 'cat-file', '-e', `${commit}^{commit}`);
  return behind(isThere ? 'diverged' : 'missing');
}

function hasContent({ tree, isChanged }: Checkout, applied: AppliedCommit): boolean {
  return tree !== undefined && !isChanged && tree === applied.tree;
}

/** The missing commits, and the files of the stack's folder that they touch. */
async function findTouched(
  dir: string,
  head: string,
  commit: string,
): Promise<'nothing' | 'something' | 'unknown'> {
  const base = await askGit(dir, 'merge-base', head, commit).catch(() => undefined);
  if (base === undefined) return 'something';
  const quiet = ['--quiet', '--no-ext-diff', '--no-textconv', '--no-renames'];
  try {
    await askGit(dir, 'diff', ...quiet, base, commit, '--', '.');
    return 'nothing';
  } catch (error) {
    return Object(error).code === 1 ? 'something' : 'unknown';
  }
}

/** Commits made since the apply that are looked at for its content. */
const MOST_COMMITS = 200;

/** Tells whether a commit that was made since the apply has the content that was applied. */
async function hasCopySince(dir: string, { commit, tree, at }: AppliedCommit): Promise<boolean> {
  if (tree === null) return false;
  const limits = [`--max-count=${MOST_COMMITS}`, `--since=${inSeconds(at)}`, '--ignore-missing'];
  const range = ['HEAD', `^${commit}`, '--', '.'];
  const commits = await askGit(dir, 'rev-list', ...limits, ...range).catch(() => '');
  const folders = commits.split('\n').flatMap((one) => (one === '' ? [] : `${one}:./`));
  if (folders.length === 0) return false;
  // One that removed the folder ends the list.
  const trees = await askGit(dir, 'rev-parse', ...folders).catch(({ stdout }) => String(stdout));
  return trees.split('\n').includes(tree);
}

async function isShallow(dir: string): Promise<boolean> {
  return (await askGit(dir, 'rev-parse', '--is-shallow-repository').catch(() => '')) === 'true';
}

async function succeeds(dir: string, ...args: readonly string[]): Promise<boolean> {
  return askGit(dir, ...args).then(
    () => true,
    () => false,
  );
}

function formatDoubt({ commit }: AppliedCommit, why: string): string {
  return `Callsheet cannot tell whether this checkout has the last applied commit ${shortCommit(commit)}: ${why}. To be told, clone all commits (\`git fetch --unshallow\`, in a pipeline fetch-depth: 0 or GIT_DEPTH: 0)`;
}

/** The note of a plan whose checkout cannot be compared. */
export function doubtNotes({ doubt }: Standing): readonly Note[] {
  return doubt === undefined
    ? []
    : [{ severity: 'warning', address: null, message: doubt, varies: true }];
}

/**
 * The commit that a run applies, as the state is to remember it. Undefined where that stays as it is: from an older one,
 * as `--behind` allows, the newest one stays what every checkout is to have.
 */
export function commitApplied(
  checkout: Checkout | undefined,
  { behind }: Standing,
  { run, user }: Pick<AppliedCommit, 'run' | 'user'>,
  { now }: Pick<RunContext, 'now'>,
): AppliedCommit | undefined {
  if (checkout?.tree === undefined || behind?.found === 'contained') return undefined;
  const { head, tree, isChanged } = checkout;
  return {
    commit: head,
    tree: isChanged ? null : tree,
    run,
    at: now().toISOString(),
    user,
  };
}
