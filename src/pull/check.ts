import type { Loaded } from '../config/index.ts';
import { hasErrors } from '../core/diagnostics.ts';
import { isAbout, mismatches } from './expected.ts';
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

/** Reads the stack with the new texts, and finds whom to blame for what is not as it should be. */
export async function check(
  texts: ReadonlyMap<string, string>,
  ready: readonly Ready[],
  followers: readonly Follower[],
  { stack, planned, reload }: PullInput,
): Promise<'right' | (Failure & { readonly lost: readonly Follower[] })> {
  const none = { failed: [], lost: [], words: [] };
  if (ready.length === 0) {
    if (followers.length === 0) return 'right';
    return { ...none, lost: followers, words: followers.map(({ refusal }) => refusal) };
  }
  const { stack: read, diagnostics } = await reload(texts);
  if (read === undefined) {
    const errors = diagnostics.filter((one) => hasErrors([one]));
    const first = errors[0]?.message ?? 'the configuration would have errors';
    const named = ready.filter(({ group, edit }) =>
      errors.some(
        ({ address, position }) =>
          group.wishes.some((wish) => wish.address === address) || position?.file === edit.file,
      ),
    );
    const failed = narrowed(named, errors) ?? (named.length > 0 ? named : ready);
    return { ...none, failed, words: refuseAll(failed, `what is live is not valid: ${first}`) };
  }
  const all = [...ready.flatMap(({ group }) => group.wishes), ...followers.map(({ wish }) => wish)];
  const wrong = mismatches(stack.resources, read.resources, all, (one) => planned.ids.get(one));
  if (wrong.length === 0) return 'right';
  const lost = followers.filter(({ wish }) =>
    wrong.some(({ address, path }) => address === wish.address && isAbout(wish, path)),
  );
  if (lost.length > 0) return { ...none, lost, words: lost.map(({ refusal }) => refusal) };
  const about = ready.filter(({ group }) =>
    group.wishes.some((wish) =>
      wrong.some(({ address, path }) => address === wish.address && isAbout(wish, path)),
    ),
  );
  const near = ready.filter(({ group }) =>
    group.wishes.some((wish) => wrong.some(({ address }) => address === wish.address)),
  );
  const failed = about.length > 0 ? about : near.length > 0 ? near : ready;
  const [{ address, path } = { address: '', path: '' }] = wrong;
  const what = path === '' ? address : `${address} ${path}`;
  const reason =
    about.length > 0
      ? 'it would not read as what is live: something beneath it, or beside it, wins'
      : `writing it would change ${what} as well`;
  return { ...none, failed, words: refuseAll(failed, reason) };
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
