/**
 * `pull/` brings what is live into the configuration: for each leaf that the platform moved it finds where
 * the value is written, changes it there, and shows by reading everything again that nothing else changed.
 * It computes texts; the command line writes them.
 *
 * ```
 * changes of a plan → wishes → places to write in → edits → new texts → read again and compared
 * ```
 */
import { Uneditable } from '../config/edit/index.ts';
import type { Loaded, Stack } from '../config/index.ts';
import { positionOf, type Source } from '../config/source.ts';
import type { Address } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import type { Planned } from '../plan/make.ts';
import { check, type Failure, type Follower, type Ready, refuseAll } from './check.ts';
import { groupWishes } from './group.ts';
import { plainPath } from './home.ts';
import { editOf, textAfter } from './texts.ts';
import { type Left, type Wish, wishesOf } from './wish.ts';
import { unwritableWords } from './words.ts';

export type PullInput = {
  readonly stack: Stack;
  readonly planned: Planned;
  /** Whether live values are taken where the configuration changed, too. */
  readonly theirs: boolean;
  /** Whether what others share is written on the resource itself. */
  readonly override: boolean;
  /** The text of a file of the stack, as it was read. */
  readonly textOf: (file: string) => string;
  /** Loads the stack with other texts in the place of what some files hold. */
  readonly reload: (texts: ReadonlyMap<string, string>) => Promise<Loaded>;
};

/** A leaf whose live value is written. */
export type PulledLeaf = {
  readonly address: Address;
  readonly path: string;
  /** Where it is written; of a value that follows from others, what it is put together from. */
  readonly file: string;
  /** Where it stood; null for a text that is a file of its own. */
  readonly line: number | null;
};

export type Pulled = {
  readonly pulled: readonly PulledLeaf[];
  readonly kept: readonly Left[];
  readonly refused: readonly Left[];
  /** By path in the stack folder. */
  readonly files: ReadonlyMap<string, { readonly before: string; readonly after: string }>;
};

/** Works out what is to be written where. Nothing is written. */
export async function pullLive(input: PullInput): Promise<Pulled> {
  const { stack, planned } = input;
  const { wishes, kept, refused } = collect(input);
  const written = stack.written();
  const byAddress = new Map(written.resources.map((one) => [one.address, one]));
  const { variables } = written;
  const grouped = groupWishes(wishes, { byAddress, variables, override: input.override });
  refused.push(...grouped.refused);
  const idOf = (address: Address) => planned.ids.get(address);
  let ready: readonly Ready[] = grouped.groups.flatMap((group) => {
    const edit = editOf(group, { byAddress, variables, idOf });
    if (!('reason' in edit)) return [{ group, edit }];
    refused.push(...group.wishes.map((wish) => unwritableWords(wish, edit.reason)));
    return [];
  });
  let followers: readonly Follower[] = grouped.followers;
  for (;;) {
    const made = textsOf(ready, input);
    if ('failed' in made) {
      refused.push(...made.words);
      ready = ready.filter((one) => !made.failed.includes(one));
      continue;
    }
    const outcome = await check(made.texts, ready, followers, input);
    if (outcome === 'right') {
      return { kept, refused, files: made.files, pulled: pulledOf(ready, followers) };
    }
    refused.push(...outcome.words);
    ready = ready.filter((one) => !outcome.failed.includes(one));
    followers = followers.filter((one) => !outcome.lost.includes(one));
  }
}

function collect({ planned, theirs }: PullInput) {
  const holders = new Map<string, Address>();
  for (const [address, id] of planned.ids) {
    const kind = address.slice(0, address.indexOf('.'));
    holders.set(`${kind} ${id}`, address);
  }
  const addressOf = (kind: string, id: string) => holders.get(`${kind} ${id}`);
  const wishes: Wish[] = [];
  const kept: Left[] = [];
  const refused: Left[] = [];
  for (const change of planned.plan.changes) {
    const gone = goneWords(change);
    if (gone !== undefined) refused.push(gone);
    const leaves = planned.found.get(change.address);
    if (leaves === undefined || change.verdict === 'unsupported') continue;
    const found = wishesOf(change, leaves, { addressOf, theirs });
    wishes.push(...found.wishes);
    kept.push(...found.kept);
    refused.push(...found.refused);
  }
  return { wishes, kept, refused };
}

/** A resource that somebody deleted: that is for a person to repeat. */
function goneWords({ address, action, missing_id: id, source }: PlanDocument['changes'][number]) {
  if (action !== 'create' || id === null) return undefined;
  const where = source === null ? '' : ` from ${source}`;
  return {
    address,
    path: '',
    reason: `${id} is gone from the platform`,
    advice: `apply makes it again; take it out${where} where it is to stay away`,
  };
}

type Texts = Pick<Pulled, 'files'> & { readonly texts: ReadonlyMap<string, string> };

/** The new text of every file, or what cannot be written. */
function textsOf(ready: readonly Ready[], { textOf }: PullInput): Texts | Failure {
  const files = new Map<string, { before: string; after: string }>();
  const texts = new Map<string, string>();
  for (const [file, own] of Map.groupBy(ready, ({ edit }) => plainPath(edit.file))) {
    const source: Source = { file, text: sourceText(file, own, textOf) };
    const after = attempt(source, own);
    if (typeof after !== 'string') {
      const alone = own.filter((one) => typeof attempt(source, [one]) !== 'string');
      const failed = alone.length > 0 ? alone : own;
      return { failed, words: refuseAll(failed, after.reason) };
    }
    files.set(file, { before: source.text, after });
    texts.set(file, after);
  }
  return { files, texts };
}

/** A file that is edited in places is the one that the places are of. */
function sourceText(file: string, ready: readonly Ready[], textOf: PullInput['textOf']): string {
  const within = ready.find(({ edit }) => edit.type !== 'text');
  if (within !== undefined) return within.edit.place.source.text;
  const text = textOf(file);
  // Planning takes its time, and somebody may have gone on writing.
  if (ready.some(({ edit }) => edit.type === 'text' && edit.now !== text)) throw moved(file);
  return text;
}

function moved(file: string): CallsheetError {
  return new CallsheetError('stale', `${file} was changed while pull was at work`, {
    hint: 'Nothing was written. Run it again.',
  });
}

function attempt(source: Source, ready: readonly Ready[]): string | { readonly reason: string } {
  try {
    return textAfter(
      source,
      ready.map(({ edit }) => edit),
    );
  } catch (error) {
    if (error instanceof Uneditable) return { reason: error.message };
    throw error;
  }
}

function pulledOf(ready: readonly Ready[], followers: readonly Follower[]): readonly PulledLeaf[] {
  const named = ({ address, text }: Wish) => ({ address, path: text });
  return [
    ...ready.flatMap(({ group, edit }) =>
      group.wishes.map((wish) => ({
        ...named(wish),
        file: plainPath(edit.file),
        line: edit.type === 'text' ? null : positionOf(edit.place).line,
      })),
    ),
    ...followers.map(({ wish }) => ({
      ...named(wish),
      file: 'follows from another value',
      line: null,
    })),
  ];
}
