import type { Address } from '../../../core/address.ts';
import { quoted } from '../../../core/command-line.ts';
import { formatPosition } from '../../../core/diagnostics.ts';
import { formatCount } from '../../../core/errors.ts';
import { formatPath } from '../../../core/path.ts';
import type { FieldChange } from '../../../core/plan-document.ts';
import { formatFirst } from '../../../render/wording.ts';
import type { Scope } from '../../../stack/expressions.ts';
import { valuesBelow } from '../../../stack/resolved.ts';
import type { ResolvedResource } from '../../../stack/resource.ts';
import { resourceSchema } from '../../../stack/schema.ts';
import { type SourceRange, toPosition } from '../../../stack/source.ts';
import type { Variables } from '../../../stack/variables.ts';
import { fileKey, findHome, getRangeKey, type Home, pathOfFile, writtenPath } from './home.ts';
import type { Left, LiveEdit, Typed } from './live-edit.ts';

/** One place to write in, and the values wanted there. */
export type Group = {
  /** If there are several, all want the same. */
  readonly liveEdits: readonly [LiveEdit, ...LiveEdit[]];
  /** The other resources that read the place, and get the value with it. */
  readonly along?: readonly LiveEdit[];
  readonly home: (Home & { readonly type: 'value' | 'file' }) | { readonly type: 'own' };
};

/** A value that follows from edits for others, and the refusal where it does not. */
export type Follower = { readonly liveEdit: LiveEdit; readonly refusal: Left };

type Grouped = {
  readonly groups: readonly Group[];
  /** Values that are put together from others: they are right once those are, or not at all. */
  readonly followers: readonly Follower[];
  readonly refused: readonly Left[];
  /** The refusals that a person can decide on. */
  readonly questions: readonly SharedPlace[];
};

/**
 * `own`: written on the resource itself, where it wins over what it shares. `shared`: written where it is shared, so
 * that it changes for all who read it there.
 */
export type Choice = 'own' | 'shared';

/** A place that resources share, where some of them are to have another value. */
export type SharedPlace = {
  readonly key: string;
  /** `bases.yaml:12`, or a file. */
  readonly where: string;
  /** The addresses and fields that are to have another value. */
  readonly liveEdits: readonly (Pick<LiveEdit, 'address' | 'text'> & {
    /** The configured and the live value, masked as in a plan; absent if a plan shows them in parts. */
    readonly values?: Pick<FieldChange, 'before' | 'after'>;
  })[];
  /** Who else reads it. */
  readonly others: readonly Address[];
  readonly choices: readonly Choice[];
};

type GroupInput = {
  readonly typed: Typed;
  /** True if live values are taken even if the configuration changed, too. */
  readonly theirs: boolean;
  readonly merge: boolean;
  readonly byAddress: ReadonlyMap<Address, ResolvedResource>;
  readonly variables: Variables;
  /** Decides on a place that others share, and want otherwise; undefined: it is refused. */
  readonly choose: (key: string) => Choice | undefined;
};

type Homed = { readonly liveEdit: LiveEdit; readonly home: Home };

/** Groups wanted values by the place to write in, where all readers of the place want the same. */
export function groupLiveEdits(liveEdits: readonly LiveEdit[], input: GroupInput): Grouped {
  const { byAddress, variables } = input;
  const sorting: Sorting = {
    input,
    groups: [],
    followers: [],
    refused: [],
    questions: [],
  };
  const homed = liveEdits.flatMap((liveEdit): Homed[] => {
    const resource = byAddress.get(liveEdit.address);
    return resource === undefined
      ? []
      : [{ liveEdit, home: findHome(liveEdit, resource, variables) }];
  });
  const placed = homed.filter((one): one is Placed => isPlaced(one));
  for (const one of homed) if (!isPlaced(one)) sortUnplaced(one, sorting);
  const uses = indexUses(
    new Set(placed.map(({ home }) => home.key)),
    [...byAddress.values()],
    variables,
  );
  for (const sharing of Map.groupBy(placed, groupKey).values()) agree(sharing, uses, sorting);
  return sorting;
}

type Placed = {
  readonly liveEdit: LiveEdit;
  readonly home: Home & { readonly type: 'value' | 'file' };
};

type Sorting = { readonly input: GroupInput } & {
  readonly [part in keyof Grouped]: Grouped[part][number][];
};

function isPlaced({ liveEdit, home }: Homed): boolean {
  return liveEdit.action !== 'restore' && (home.type === 'value' || home.type === 'file');
}

function isRow({ address }: LiveEdit, { byAddress }: GroupInput): boolean {
  return byAddress.get(address)?.row !== undefined;
}

function sortUnplaced({ liveEdit, home }: Homed, sorting: Sorting): void {
  const { refused, followers, input } = sorting;
  if (home.type === 'layered') refused.push(layeredWords(liveEdit, home));
  else if (isWrittenOnItself(liveEdit, unplacedKey(liveEdit), sorting)) return;
  else if (home.type !== 'filled') refused.push(unwritableWords(liveEdit, NOWHERE));
  else {
    const refusal = filledWords(liveEdit, home, input);
    if (liveEdit.action === 'set') followers.push({ liveEdit, refusal });
    else refused.push(refusal);
    if (canBeOwn(liveEdit, input))
      sorting.questions.push({
        key: unplacedKey(liveEdit),
        where: `${home.by} (${formatLine(home.range)})`,
        liveEdits: [liveEdit],
        others: [],
        choices: ['own'],
      });
  }
}

/** A value without a place of its own is shared with no other resource. */
function unplacedKey({ address, text }: LiveEdit): string {
  return `${address} ${text}`;
}

function canBeOwn(liveEdit: LiveEdit, input: GroupInput): boolean {
  return liveEdit.action !== 'remove' && !isRow(liveEdit, input);
}

/** Has a value written on the resource itself, where that is asked for and there is such a place. */
function isWrittenOnItself(liveEdit: LiveEdit, key: string, { input, groups }: Sorting): boolean {
  const isAsked = liveEdit.action === 'restore' || input.choose(key) === 'own';
  if (!isAsked || !canBeOwn(liveEdit, input)) return false;
  groups.push({ liveEdits: [liveEdit], home: { type: 'own' } });
  return true;
}

/** One group of all that want one place changed, or what becomes of them where not all want the same. */
function agree(
  sharing: readonly Placed[],
  uses: ReadonlyMap<string, readonly Use[]>,
  sorting: Sorting,
): void {
  const [first, ...rest] = sharing;
  if (first === undefined) return;
  const all = sharing.map(({ liveEdit }) => liveEdit);
  const others = othersThan(all, uses.get(first.home.key) ?? []);
  if (others.length === 0 && new Set(all.map(nextText)).size === 1) {
    sorting.groups.push({
      liveEdits: [first.liveEdit, ...rest.map(({ liveEdit }) => liveEdit)],
      home: first.home,
    });
    return;
  }
  const { key } = first.home;
  const along = deriveSharedEdits(all, others, sorting.input);
  if (along !== undefined && sorting.input.choose(key) === 'shared') {
    sorting.groups.push({
      liveEdits: [first.liveEdit, ...rest.map(({ liveEdit }) => liveEdit)],
      along,
      home: first.home,
    });
    return;
  }
  const dissent = [...new Set((others.length > 0 ? others : all).map(({ address }) => address))];
  const asked: LiveEdit[] = [];
  for (const { liveEdit, home } of sharing) {
    if (home.type === 'value' && home.alias !== undefined) {
      // An alias can be written out without a word to the others.
      const { alias, ...at } = home;
      sorting.groups.push({
        liveEdits: [liveEdit],
        home: { ...at, key: getRangeKey(alias), range: alias },
      });
    } else if (!isWrittenOnItself(liveEdit, key, sorting)) {
      const canShare = along !== undefined && along.length > 0;
      const advice = adviceFor(liveEdit, canShare ? dissent.length : undefined, sorting.input);
      sorting.refused.push(sharedWords(liveEdit, home, dissent, advice));
      asked.push(liveEdit);
    }
  }
  const choices: readonly Choice[] = [
    ...(asked.some((liveEdit) => canBeOwn(liveEdit, sorting.input)) ? ['own' as const] : []),
    ...(along !== undefined && along.length > 0 ? ['shared' as const] : []),
  ];
  if (asked.length > 0 && choices.length > 0) {
    const where = formatPlace(first.home);
    sorting.questions.push({ key, where, liveEdits: asked, others: dissent, choices });
  }
}

/**
 * Returns the values for the other readers of a place if it changes for all; undefined if that cannot be: not all want
 * one value, or it is another field of another resource.
 */
function deriveSharedEdits(
  liveEdits: readonly LiveEdit[],
  others: readonly Use[],
  { byAddress }: GroupInput,
): readonly LiveEdit[] | undefined {
  const [first] = liveEdits;
  if (first === undefined || new Set(liveEdits.map(nextText)).size > 1) return undefined;
  const { path } = toUse(first);
  const along = others.map((other) => {
    const isSame = byAddress.get(other.address)?.kind === first.kind && other.path === path;
    return isSame ? { ...first, address: other.address } : undefined;
  });
  return along.every((one) => one !== undefined) ? along : undefined;
}

/** Additions of one element to a list belong together, those of another do not. */
function groupKey({ liveEdit, home }: Placed): string {
  return liveEdit.action === 'add' ? `${home.key} ${liveEdit.path.at(-1)}` : home.key;
}

function nextText({ next }: LiveEdit): string {
  return next === undefined ? 'nothing' : JSON.stringify(next);
}

function toUse(liveEdit: LiveEdit): Use {
  const full = writtenPath(liveEdit);
  return {
    address: liveEdit.address,
    path: formatPath(liveEdit.action === 'add' ? full.slice(0, -1) : full),
  };
}

function othersThan(liveEdits: readonly LiveEdit[], uses: readonly Use[]): readonly Use[] {
  const own = new Set(liveEdits.map(toUse).map(({ address, path }) => `${address} ${path}`));
  return uses.filter(({ address, path }) => !own.has(`${address} ${path}`));
}

/** A field of a resource that reads a value. */
type Use = {
  readonly address: Address;
  /** As the configuration names it. */
  readonly path: string;
};

/**
 * Who reads each of the values: several resources may have one from the same base, row, anchor or file. What
 * is changed there changes for all of them.
 */
function indexUses(
  keys: ReadonlySet<string>,
  resources: readonly ResolvedResource[],
  variables: Variables,
): ReadonlyMap<string, readonly Use[]> {
  const uses = new Map<string, Use[]>();
  if (keys.size === 0) return uses;
  const note = (key: string, use: Use) => {
    if (!keys.has(key)) return;
    const known = uses.get(key);
    if (known === undefined) uses.set(key, [use]);
    else known.push(use);
  };
  for (const resource of resources) {
    const { address, kind, located, row } = resource;
    const scope: Scope = { variables, row };
    for (const { written, path } of valuesBelow(resourceSchema(kind), located)) {
      if (written === undefined) continue;
      const use = { address, path: formatPath(path) };
      note(getRangeKey(written.range), use);
      if (written.origin !== undefined) note(getRangeKey(written.origin), use);
      const file = pathOfFile(written, scope);
      if (file !== undefined) note(fileKey(file), use);
    }
  }
  return uses;
}

/** Everything that pull says of a value that it does not write. */

/** Advises on a shared value; `others` if it can be changed for them as well. */
function adviceFor(liveEdit: LiveEdit, others: number | undefined, input: GroupInput): string {
  const all =
    others === undefined
      ? ''
      : `; to change it there, for ${others === 1 ? 'the other one' : `the ${formatCount(others, 'other')}`}, too: ${again(liveEdit, '--change-shared', input)}`;
  return isRow(liveEdit, input)
    ? `give the row a column for it, or name all rows that have the same live value${all}`
    : `to write it on the resource itself: ${again(liveEdit, '--override', input)}${all}`;
}

/** The command once more, for one resource and with a flag. */
function again({ address }: LiveEdit, flag: string, { typed, theirs, merge }: GroupInput): string {
  const asked = `${merge ? ' --merge' : ''}${theirs ? ' --theirs' : ''}`;
  return typed(`pull ${quoted(address)}${asked} ${flag}`);
}

const MOST_NAMED = 3;

function sharedWords(
  liveEdit: LiveEdit,
  home: Home & { readonly type: 'value' | 'file' },
  others: readonly Address[],
  advice: string,
): Left {
  const names = others.filter((one) => one !== liveEdit.address);
  const who = names.length === 0 ? 'another field of it' : formatFirst(names, MOST_NAMED);
  const reads = names.length > 1 ? 'read' : 'reads';
  const reason = `${formatPlace(home)} is also what ${who} ${reads}, with another live value`;
  return left(liveEdit, reason, advice);
}

function filledWords(
  liveEdit: LiveEdit,
  { by, range }: Home & { readonly type: 'filled' },
  input: GroupInput,
): Left {
  const own = isRow(liveEdit, input)
    ? ''
    : `, or write it on the resource itself: ${again(liveEdit, '--override', input)}`;
  const reason = `it is put together from ${by} (${formatLine(range)}), and nobody can say which part changed`;
  return left(liveEdit, reason, `change the text or what fills it in by hand${own}`);
}

function layeredWords(
  liveEdit: LiveEdit,
  { by, range }: Home & { readonly type: 'layered' },
): Left {
  const reason = `${by.join(' and ')} each say something of it (${formatLine(range)})`;
  return left(liveEdit, reason, 'take it out by hand, with $remove where a base has it');
}

const NOWHERE = 'it follows from where the resource stands and is not written out';

export function unwritableWords(liveEdit: LiveEdit, reason: string): Left {
  return left(liveEdit, reason, 'change the configuration by hand');
}

function left({ address, text }: LiveEdit, reason: string, advice: string): Left {
  return { address, path: text, reason, advice };
}

function formatPlace(home: Placed['home']): string {
  return home.type === 'file' ? home.file : formatLine(home.range);
}

/** `agents.yaml:12` */
function formatLine(range: SourceRange): string {
  return formatPosition(toPosition(range)).replace(/:\d+$/, '');
}
