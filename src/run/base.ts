import { join } from 'node:path';
import { quoted } from '../core/command-line.ts';
import { isError } from '../core/diagnostics.ts';
import { CallsheetError, errorCode, formatCount } from '../core/errors.ts';
import type { Note, PlanDocument } from '../core/plan-document.ts';
import type { Answer, Entitlements, LiveResource, Reader } from '../plan/reader.ts';
import { baseName } from '../render/wording.ts';
import { type Instead, isStack, resolveLinks, STACK_FILE } from '../stack/folder.ts';
import { loadStack, type Stack } from '../stack/index.ts';
import { runGit } from './actor.ts';
import { readCommit } from './commit.ts';
import type { RunContext, StackOptions } from './context.ts';
import { loadOptions } from './stack.ts';

/**
 * The base of a branch: what `plan --base REF` holds the plan of the checkout against. Its files are read from Git without
 * a checkout, as what differs from the files here, and it is planned from what was read of the platform already.
 *
 * The commit is the newest of REF where the checkout has it. A checkout that lacks some of REF is compared with the commit
 * where the two parted: whatever came later is no part of the branch, and the branch does not take it back.
 */
export type Base = {
  /** The plan's description of the base. */
  readonly about: NonNullable<PlanDocument['base']>;
  /** The files of the base that differ from the checkout, or why they cannot be read. */
  readonly instead: Instead | Note;
  readonly notes: readonly Note[];
};

/** Reads the base of a stack. Throws `CallsheetError('usage')` where Git does not know it. */
export async function readBase(
  ref: string,
  { dir, varFile = [] }: Pick<StackOptions, 'dir' | 'varFile'>,
): Promise<Base | undefined> {
  // Loading the stack reports a folder without one.
  if (!isStack(dir)) return undefined;
  const git = (...args: readonly string[]) => runGit(dir, ...args);
  await git('rev-parse', '--show-toplevel').catch((cause: unknown) => {
    throw new CallsheetError('usage', `--base ${quoted(ref)} needs Git: ${whyNot(cause)}`, {
      hint: 'Plan in a clone of the repository, or without --base.',
      cause,
    });
  });
  const isShallow = (await git('rev-parse', '--is-shallow-repository')).trim() === 'true';
  const tip = (await findCommit(ref, git)) ?? (await findCommit(`origin/${ref}`, git));
  if (tip === undefined) throw unknownBase(ref, isShallow);
  const parted = await git('merge-base', tip, 'HEAD').then(
    (text) => text.trim(),
    () => undefined,
  );
  const commit = parted ?? tip;
  const behind =
    parted === undefined
      ? undefined
      : parted === tip
        ? 0
        : Number(await git('rev-list', '--count', `HEAD..${tip}`));
  const about = { ref, commit, ...(behind === undefined ? {} : { behind }) };
  const instead = await readCommit(commit, { dir, varFile }).catch((error: unknown) =>
    // A clone may leave out what it did not check out, and have no leave to fetch it.
    whyUnplanned(about, `Git cannot read its files: ${whyNot(error)}`),
  );
  return { about, instead, notes: describeParting(about, isShallow) };
}

async function findCommit(
  ref: string,
  git: (...args: readonly string[]) => Promise<string>,
): Promise<string | undefined> {
  // It would be taken for an option.
  if (ref === '' || ref.startsWith('-')) return undefined;
  try {
    return (await git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`)).trim();
  } catch {
    return undefined;
  }
}

function unknownBase(ref: string, isShallow: boolean): CallsheetError {
  const message = `--base ${quoted(ref)} names no branch, tag or commit of this repository`;
  return new CallsheetError('usage', message, {
    hint: isShallow
      ? 'This clone is shallow. Fetch all of it: `git fetch --unshallow origin`; in a pipeline fetch-depth: 0 (GitHub) or GIT_DEPTH: "0" (GitLab).'
      : 'Check the name, or fetch it first: `git fetch origin`.',
  });
}

/** Why Git does not answer, in its own words. */
function whyNot(error: unknown): string {
  if (errorCode(error) === 'ENOENT') return 'git is not in PATH';
  const { stderr }: { readonly stderr?: unknown } = Object(error);
  const [line = ''] = String(stderr ?? '')
    .trim()
    .split('\n');
  return line.replace(/^fatal: /, '') || 'it does not answer';
}

function describeParting(about: Base['about'], isShallow: boolean): readonly Note[] {
  const { commit, behind } = about;
  if (behind === 0) return [];
  const name = baseName(about);
  const short = commit.slice(0, SHORT);
  const warn = (message: string): readonly Note[] => [
    { severity: 'warning', address: null, message },
  ];
  if (behind !== undefined)
    return warn(
      `this checkout lacks ${formatCount(behind, 'commit')} of ${name} and is compared with ${short}, where it left ${name}: what was changed since is planned as if it were taken back. To see what merging gives, merge ${name} into the branch and plan again`,
    );
  return warn(
    isShallow
      ? `this clone is shallow, so Git cannot tell where the checkout left ${name}: it is compared with ${short}, the newest commit. To fetch the rest: \`git fetch --unshallow origin\``
      : `this checkout and ${name} have no commit in common: it is compared with ${short}, the newest commit of ${name}`,
  );
}

/** Digits by which a commit is known again. */
const SHORT = 12;

/** The stack of a base, or why there is none. */
export async function loadBase(
  { about, instead }: Base,
  stack: Stack,
  options: StackOptions,
  context: RunContext,
): Promise<Stack | Note> {
  if ('message' in instead) return instead;
  if (instead.size === 0) return stack;
  const name = baseName(about);
  const every = 'every change counts as of this pull request';
  if (instead.get(join(resolveLinks(stack.dir), STACK_FILE)) === null)
    return {
      severity: 'info',
      address: null,
      message: `${name} does not have this stack: ${every}`,
    };
  const loaded = await loadStack({ ...loadOptions(options, context), secrets: 'skip', instead });
  if (loaded.stack !== undefined) return loaded.stack;
  const first = loaded.diagnostics.find(isError);
  const place = first?.position && `${first.position.file}:${first.position.line}: `;
  return whyUnplanned(about, `${place ?? ''}${first?.message}`);
}

/** Says that a base cannot be planned. */
export function whyUnplanned(about: Base['about'], why: string): Note {
  const [line = ''] = why.split('\n');
  const message = `${baseName(about)} cannot be planned (${line}), so every change counts as of this pull request`;
  return { severity: 'warning', address: null, message };
}

/**
 * A reader that keeps what it reads, and one that answers from that alone: what is planned with it asks nothing more of
 * the platform.
 */
export function keepReads(reader: Reader): { readonly reader: Reader; readonly kept: Reader } {
  const reads = new Map<string, LiveResource | undefined>();
  const histories = new Map<string, Awaited<ReturnType<Reader['history']>>>();
  const lists = new Set<string>();
  const asked = new Set<string>();
  const formatKey = (...parts: readonly unknown[]) => JSON.stringify(parts);
  return {
    reader: {
      ...reader,
      list(kind, scope, fresh, fields) {
        lists.add(formatKey(kind.name, scope, fields));
        return reader.list(kind, scope, fresh, fields);
      },
      async read(kind, at, facets) {
        const found = await reader.read(kind, at, facets);
        reads.set(formatKey(kind.name, at.id), found);
        return found;
      },
      async history(kind, id, limit) {
        const entries = await reader.history(kind, id, limit);
        histories.set(formatKey(kind.name, id), entries);
        return entries;
      },
      entitlements: (fresh) => {
        const { locks, offers, about, closedTo } = reader.entitlements(fresh);
        const noting =
          <A extends readonly unknown[], T>(name: string, ask: (...args: A) => T) =>
          (...args: A) => {
            asked.add(formatKey(name, ...args));
            return ask(...args);
          };
        return {
          locks: noting('locks', locks),
          offers: noting('offers', offers),
          about: noting('about', about),
          closedTo: noting('closedTo', closedTo),
        };
      },
    },
    kept: {
      list: async (kind, scope, _, fields) =>
        lists.has(formatKey(kind.name, scope, fields))
          ? reader.list(kind, scope, false, fields)
          : undefined,
      read: async (kind, { id }) => reads.get(formatKey(kind.name, id)),
      history: async (kind, id) => histories.get(formatKey(kind.name, id)) ?? [],
      // The base's plan reads nothing that the plan itself did not read.
      isHistoryDated: async () => true,
      findLack: reader.findLack,
      entitlements: () =>
        answered(reader.entitlements(), (...question) => asked.has(formatKey(...question))),
    },
  };
}

/** A reader that answers from earlier reads alone. */
function answered(
  { locks, offers, about, closedTo }: Entitlements,
  isAsked: (...question: readonly unknown[]) => boolean,
): Entitlements {
  const known = async <T>(question: readonly unknown[], ask: () => Promise<Answer<T>>) =>
    isAsked(...question) ? ask() : ({ type: 'unanswered', why: 'it was not asked' } as const);
  return {
    locks: (organization) => known(['locks', organization], () => locks(organization)),
    offers: (catalogue, organization) =>
      known(['offers', catalogue, organization], () => offers(catalogue, organization)),
    about: (call) => known(['about', call], () => about(call)),
    closedTo: (operation) => known(['closedTo', operation], () => closedTo(operation)),
  };
}
