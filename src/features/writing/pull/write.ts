import { existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommonFlags, Context } from '../../../console/context.ts';
import { refuseInterrupted, say } from '../../../console/events.ts';
import { draftBeside, writeAllOrNone } from '../../../console/named-file.ts';
import { type Address, getKind, isChosen } from '../../../core/address.ts';
import { type Diagnostic, isError } from '../../../core/diagnostics.ts';
import type { PullDocument, PullLeft } from '../../../core/documents.ts';
import { CallsheetError } from '../../../core/errors.ts';
import { Secret, valuesIn } from '../../../core/value.ts';
import type { Planned } from '../../../plan/make.ts';
import { formatFirst } from '../../../render/wording.ts';
import { runGit } from '../../../run/actor.ts';
import type { Session } from '../../../run/session.ts';
import { loadOptions } from '../../../run/stack.ts';
import { resolveLinks } from '../../../stack/folder.ts';
import { type Loaded, loadStack, type Stack } from '../../../stack/index.ts';
import { ownersIn } from '../../../state/model.ts';
import { SCHEMA_FILE, writeAll } from '../init/files.ts';
import { moved, type Pulled } from './index.ts';
import { findForeign, nameResources, type Proposed, proposeFiles } from './new.ts';
import { unifiedDiff } from './render.ts';

/** Writes the files of a stack, unless Git could not tell the change from others. */
export async function writePulled(
  { files }: Pulled,
  stack: Stack,
  flags: { readonly allowDirty?: boolean },
  context: Context,
): Promise<void> {
  const own = new Set([...stack.written().files, ...files.keys()]);
  const tree = await lookAtWorkingTree(stack.dir, { own, written: new Set(files.keys()) });
  if (tree.type === 'none') {
    say(
      context.terminal,
      `The stack is not under Git (${tree.reason}): nothing will show what pull changed, or bring it back.`,
    );
  }
  if (tree.type === 'unknown' && flags.allowDirty !== true) throw unknownTree(tree.reason);
  if (tree.type === 'dirty' && flags.allowDirty !== true) throw dirty(tree.files);
  refuseInterrupted(context);
  replaceFiles(stack.dir, files);
}

function unknownTree(reason: string): CallsheetError {
  const message = `nothing was written: git does not say whether the stack has changes (${reason})`;
  return new CallsheetError('refused', message, { hint: '--allow-dirty writes all the same.' });
}

const MOST_NAMED = 5;

function dirty(files: readonly string[]): CallsheetError {
  const named = formatFirst(files, MOST_NAMED);
  return new CallsheetError('refused', `nothing was written: ${named} changed and not committed`, {
    hint: 'Commit or stash the changes first, so that you can review the changes of pull alone. --allow-dirty writes anyway. --dry-run shows the changes.',
  });
}

/** New texts by path in a folder; `before` is what the file held when it was read, without its byte order mark. */
type NewTexts = ReadonlyMap<string, { readonly before: string; readonly after: string }>;

const MARK = '\uFEFF';

/**
 * Puts new texts in the place of files, all or none: drafts first, which are then renamed. A file keeps its
 * permissions and its byte order mark, and a link keeps leading to it. One that changed since it was read
 * stops everything.
 */
export function replaceFiles(dir: string, texts: NewTexts): void {
  writeAllOrNone((takeBack) => {
    const drafts = [...texts].map(([file, { before, after }]) => {
      const target = realpathSync(join(dir, file));
      const old = readFileSync(target);
      const text = old.toString('utf8');
      const mark = text.startsWith(MARK) ? MARK : '';
      if (text.slice(mark.length) !== before) throw moved(file);
      const draft = draftBeside(target, mark + after, 'pull');
      takeBack(() => rmSync(draft, { force: true }));
      return { target, draft, old };
    });
    for (const { target, draft, old } of drafts) {
      renameSync(draft, target);
      takeBack(() => writeFileSync(target, old));
    }
  });
}

/** Git's status of the folder of a stack. */
type WorkingTree =
  | { readonly type: 'none'; readonly reason: string }
  /** Git is there and does not say. */
  | { readonly type: 'unknown'; readonly reason: string }
  | { readonly type: 'clean' }
  /** Paths from the folder of the stack. */
  | { readonly type: 'dirty'; readonly files: readonly string[] };

const STATUS = [
  'status',
  '--porcelain=v1',
  '-z',
  '--untracked-files=all',
  // Folders that are ignored as a whole are not looked into.
  '--ignored=matching',
  '--',
  '.',
] as const;

/** Files by their paths from the folder of the stack. */
type StackFiles = {
  /** All that the stack is made of. */
  readonly own: ReadonlySet<string>;
  /** Those that pull writes. */
  readonly written: ReadonlySet<string>;
};

/**
 * Finds whether files of a stack have uncommitted changes, which would mix with what pull writes. A
 * file that Git does not know counts if it is one of the stack's own, and one that Git ignores if it is to be
 * written: nothing could bring it back.
 */
export async function lookAtWorkingTree(
  dir: string,
  { own, written }: StackFiles,
): Promise<WorkingTree> {
  const git = (...args: readonly string[]) => runGit(dir, ...args);
  try {
    const prefix = (await git('rev-parse', '--show-prefix')).trim();
    const status = await git(...STATUS);
    const files = listEntries(status).flatMap(({ state, path }) => {
      const file = path.startsWith(prefix) ? path.slice(prefix.length) : path;
      // Paths that begin with a dot are no part of the configuration: the state is kept there.
      if (file.split('/').some((part) => part.startsWith('.'))) return [];
      if (state === '!!') return [...written].filter((one) => one === file || isBelow(one, file));
      return state !== '??' || own.has(file) ? [file] : [];
    });
    return files.length === 0 ? { type: 'clean' } : { type: 'dirty', files };
  } catch (error) {
    return explainFailure(error);
  }
}

/** An ignored folder is named once, with a slash at its end. */
function isBelow(file: string, folder: string): boolean {
  return folder.endsWith('/') && file.startsWith(folder);
}

function listEntries(status: string): readonly { readonly state: string; readonly path: string }[] {
  const parts = status.split('\0').filter((part) => part !== '');
  const entries: { state: string; path: string }[] = [];
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? '';
    const state = part.slice(0, 2);
    entries.push({ state, path: part.slice(3) });
    // The old name of what was renamed follows.
    if (/[RC]/.test(state)) index += 1;
  }
  return entries;
}

function explainFailure(error: unknown): WorkingTree {
  const failure: { readonly code?: unknown; readonly stderr?: unknown } =
    typeof error === 'object' && error !== null ? error : {};
  if (failure.code === 'ENOENT') return { type: 'none', reason: 'git is not installed' };
  const words = String(failure.stderr ?? '');
  if (/not a git repository/i.test(words)) {
    return { type: 'none', reason: 'it is in no Git repository' };
  }
  return { type: 'unknown', reason: words.split('\n')[0] ?? '' };
}

type ProposeFlags = CommonFlags & {
  readonly dryRun?: boolean;
  readonly skipRefused?: boolean;
};

/**
 * `pull --new`: a file for each live resource that the stack does not have. What is written is read again;
 * what would be wrong is taken back and refused.
 */
export async function propose(
  patterns: readonly string[],
  planned: Planned,
  session: Session,
  flags: ProposeFlags,
  context: Context,
): Promise<PullDocument> {
  const { stack, state } = session;
  const managed = managedBy(planned, session);
  const found = await findForeign(session, (kind, id) => managed.has(`${kind} ${id}`));
  const taken = [...stack.resources.map(({ address }) => address), ...Object.keys(state.resources)];
  const all = nameResources(found.foreign, taken);
  const named = new Map([...all].filter(([, address]) => isChosen(address, { target: patterns })));
  if (patterns.length > 0 && named.size === 0 && all.size > 0) throw noneSuch([...all.values()]);
  const ids = new Map(
    [...all].map(([{ kind, live }, address]) => [`${kind.name} ${live.id}`, address]),
  );
  const { organizations, organization } = { ...stack, ...stack.written() };
  const variables = new Set(
    stack.resources.flatMap(({ document }) =>
      valuesIn(document).flatMap((value) => (value instanceof Secret ? value.source : [])),
    ),
  );
  const proposed = proposeFiles(named, {
    // One that is new refers to what is managed, and to what is written beside it.
    addressOf: (kind, id) => {
      const address = managed.get(`${kind} ${id}`) ?? ids.get(`${kind} ${id}`);
      return address !== undefined &&
        (isManaged(address, stack) || isChosen(address, { target: patterns }))
        ? address
        : undefined;
    },
    organizations,
    organization,
    isAmbiguous: found.isAmbiguous,
    schema: existsSync(join(stack.dir, SCHEMA_FILE)) ? SCHEMA_FILE : undefined,
    isTaken: (file) => existsSync(join(stack.dir, file)),
    isVariableTaken: (name) => variables.has(`env:${name}`),
  });
  return write(proposed, session, flags, context);
}

function isManaged(address: Address, { resources }: Stack): boolean {
  return resources.some((one) => one.address === address);
}

/** Addresses by kind and id of everything that the stack stands for. */
function managedBy({ ids }: Planned, { state }: Session): ReadonlyMap<string, Address> {
  const live = [...ids].map(([address, id]) => [`${getKind(address)} ${id}`, address] as const);
  return new Map([...ownersIn(state), ...live]);
}

function noneSuch(addresses: readonly Address[]): CallsheetError {
  return new CallsheetError('usage', 'no new resource has such an address', {
    hint: `There would be ${formatFirst(addresses, MOST_NAMED)}.`,
  });
}

/** Writes what can be written; with refusals only where they may be skipped. */
async function write(
  proposed: readonly Proposed[],
  session: Session,
  flags: ProposeFlags,
  context: Context,
): Promise<PullDocument> {
  const { stack } = session;
  const refused: PullLeft[] = [];
  for (const one of proposed) {
    if (one.file === undefined) refused.push(refusal(one, one.remarks[0]?.reason ?? ''));
  }
  let left = proposed.filter(isWritten);
  while (left.length > 0) {
    const wrong = await wrongIn(left, session, flags, context);
    if (wrong.length === 0) break;
    refused.push(...wrong.map(({ one, why }) => refusal(one, why)));
    left = left.filter((one) => !wrong.some((other) => other.one === one));
  }
  const status = getStatus(left.length, refused, flags);
  const shown = status === 'refused' ? [] : left;
  if (status === 'written') {
    refuseInterrupted(context);
    const files = shown.flatMap(({ texts }) => [...texts]);
    writeAll(
      stack.dir,
      files.map(([path, text]) => ({ path, text })),
    );
  }
  return {
    format: 'callsheet-pull',
    version: 1,
    status,
    pulled: shown.map(({ address, file }) => ({ address, path: '', file, line: null })),
    kept: [],
    refused,
    remarks: shown.flatMap(({ remarks }) => remarks),
    secrets: shown.flatMap(({ secrets }) => secrets),
    files: shown.flatMap(({ texts }) =>
      [...texts].map(([path, text]) => ({
        path,
        created: true,
        ...(status === 'dry_run' && {
          diff: unifiedDiff({ file: path, before: undefined, after: text }),
        }),
      })),
    ),
  };
}

/** Returns the outcome for so many texts: with refusals they are written only if those may be skipped. */
export function getStatus(
  texts: number,
  refused: readonly PullLeft[],
  { dryRun, skipRefused }: ProposeFlags,
): PullDocument['status'] {
  if (refused.length > 0 && skipRefused !== true && dryRun !== true) return 'refused';
  if (texts === 0) return 'nothing';
  return dryRun === true ? 'dry_run' : 'written';
}

/** One that the configuration has words for. */
type Written = Proposed & { readonly file: string };

function isWritten(one: Proposed): one is Written {
  return one.file !== undefined;
}

function refusal({ address, id }: Proposed, why: string): PullLeft {
  return {
    address,
    path: '',
    reason: `${id}: ${why}`,
    advice: 'write it by hand, or leave it to the dashboard',
  };
}

/** Those of the new resources that the stack, read with them, has something against. */
async function wrongIn(
  proposed: readonly Written[],
  { stack }: Session,
  flags: ProposeFlags,
  context: Context,
): Promise<readonly { readonly one: Written; readonly why: string }[]> {
  const texts = proposed.flatMap((one) => [...one.texts]);
  const read = await readAgain(stack.dir, texts, flags, context);
  if (read.stack !== undefined) {
    const known = new Set(read.stack.resources.map(({ address }) => address));
    return proposed
      .filter(({ address }) => !known.has(address))
      .map((one) => ({
        one,
        why: `${one.file} is not a file of the stack: include leaves it out`,
      }));
  }
  const errors = read.diagnostics.filter(isError);
  const about = (one: Written, { address, position }: Diagnostic) =>
    address === one.address || (position !== undefined && one.texts.has(position.file));
  const wrong = proposed.flatMap((one) => {
    const error = errors.find((each) => about(one, each));
    return error === undefined ? [] : [{ one, why: error.message }];
  });
  if (wrong.length > 0) return wrong;
  const why = errors[0]?.message ?? `${stack.dir} would have errors`;
  return proposed.map((one) => ({ one, why }));
}

/** The stack as it would be with other texts, by path in its folder; files that are not there yet may be among them. */
export function readAgain(
  dir: string,
  texts: Iterable<readonly [string, string]>,
  flags: CommonFlags,
  context: Context,
): Promise<Loaded> {
  const folder = realpathSync.native(dir);
  const instead = new Map(
    [...texts].map(([file, text]) => [resolveLinks(join(folder, file)), text]),
  );
  return loadStack({
    ...loadOptions(flags, context),
    secrets: 'skip',
    instead,
  });
}
