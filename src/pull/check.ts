import type { Loaded } from '../config/index.ts';
import { hasErrors } from '../core/diagnostics.ts';
import { isAbout, type Mismatch, mismatches } from './expected.ts';
import type { Group } from './group.ts';
import type { PullInput } from './index.ts';
import type { FileEdit } from './texts.ts';
import type { Left, Wish } from './wish.ts';
import { unwritableWords } from './words.ts';

/** A group with the edit that fulfils it. */
export type Ready = { readonly group: Group; readonly edit: FileEdit };

/** A wish that is fulfilled where others are, and what to say where it is not. */
export type Follower = { readonly wish: Wish; readonly refusal: Left };

/** Edits that are not to be made, and why. */
export type Failure = { readonly failed: readonly Ready[]; readonly words: readonly Left[] };

type Verdict = 'right' | (Failure & { readonly lost: readonly Follower[] });

/** Reads the stack with the new texts, and finds whom to blame for what is not as it should be. */
export async function check(
  texts: ReadonlyMap<string, string>,
  ready: readonly Ready[],
  followers: readonly Follower[],
  { stack, planned, reload }: PullInput,
): Promise<Verdict> {
  if (ready.length === 0) return followers.length === 0 ? 'right' : withoutFollowers(followers);
  const { stack: read, diagnostics } = await reload(texts);
  if (read === undefined) return blameErrors(ready, diagnostics);
  const all = [...ready.flatMap(({ group }) => group.wishes), ...followers.map(({ wish }) => wish)];
  const wrong = mismatches(stack.resources, read.resources, all, (one) => planned.ids.get(one));
  return wrong.length === 0 ? 'right' : blameMismatches(ready, followers, wrong);
}

function withoutFollowers(lost: readonly Follower[]): Verdict {
  return { failed: [], lost, words: lost.map(({ refusal }) => refusal) };
}

/** The texts cannot be loaded: what is live breaks a rule that the configuration has to keep. */
function blameErrors(ready: readonly Ready[], diagnostics: Loaded['diagnostics']): Verdict {
  const errors = diagnostics.filter((one) => hasErrors([one]));
  const first = errors[0]?.message ?? 'the configuration would have errors';
  const addresses = new Set(errors.map(({ address }) => address));
  const files = new Set(errors.map(({ position }) => position?.file));
  const named = ready.filter(
    ({ group, edit }) =>
      files.has(edit.file) || group.wishes.some(({ address }) => addresses.has(address)),
  );
  const failed = narrowed(named, errors) ?? (named.length > 0 ? named : ready);
  return { failed, lost: [], words: refuseAll(failed, `what is live is not valid: ${first}`) };
}

/** Something reads otherwise than it should: first those that only follow, then what is written there or nearby. */
function blameMismatches(
  ready: readonly Ready[],
  followers: readonly Follower[],
  wrong: readonly Mismatch[],
): Verdict {
  const byAddress = Map.groupBy(wrong, ({ address }) => address);
  const isMeant = (wish: Wish) =>
    (byAddress.get(wish.address) ?? []).some(({ path }) => isAbout(wish, path));
  const lost = followers.filter(({ wish }) => isMeant(wish));
  if (lost.length > 0) return withoutFollowers(lost);
  const about = ready.filter(({ group }) => group.wishes.some(isMeant));
  const near = ready.filter(({ group }) =>
    group.wishes.some((wish) => byAddress.has(wish.address)),
  );
  const failed = about.length > 0 ? about : near.length > 0 ? near : ready;
  const [{ address, path } = { address: '', path: '' }] = wrong;
  const what = path === '' ? address : `${address} ${path}`;
  const reason =
    about.length > 0
      ? 'it would not read as what is live: something beneath it, or beside it, wins'
      : `writing it would change ${what} as well`;
  return { failed, lost: [], words: refuseAll(failed, reason) };
}

/** Those of the groups that an error names by address and field. */
function narrowed(
  ready: readonly Ready[],
  errors: Loaded['diagnostics'],
): readonly Ready[] | undefined {
  const exact = ready.filter(({ group }) =>
    group.wishes.some((wish) =>
      errors.some(
        ({ address, path }) =>
          address === wish.address &&
          path !== undefined &&
          (isAbout(wish, path) || wish.text.startsWith(path)),
      ),
    ),
  );
  return exact.length > 0 ? exact : undefined;
}

export function refuseAll(ready: readonly Ready[], reason: string): readonly Left[] {
  return ready.flatMap(({ group }) => group.wishes.map((wish) => unwritableWords(wish, reason)));
}
