import type { Address } from '../../../core/address.ts';
import { quoted } from '../../../core/command-line.ts';
import type { PullLeft } from '../../../core/documents.ts';
import {
  formatPath,
  identityOrdinal,
  identityText,
  isIdentity,
  type Path,
  startsWith,
} from '../../../core/path.ts';
import { type Change, isEdited } from '../../../core/plan-document.ts';
import {
  contextAt,
  type FieldContext,
  itemContext,
  memberContext,
  sensitivity,
} from '../../../core/redact.ts';
import { isList, isObject, Ref, Secret, type Value } from '../../../core/value.ts';
import { isElementName, schemasAlong } from '../../../core/walk.ts';
import type { LeafChange } from '../../../diff/compare.ts';
import { normalise } from '../../../diff/leaves.ts';
import { inAnyKind, kindNamed } from '../../../kinds/index.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { mergeVersions } from '../../../render/prose/three-way.ts';
import { isMultiline } from '../../../render/value-text.ts';
import { formatCount, formatFirst } from '../../../render/wording.ts';

/** The configured value that one leaf or element needs to agree with the live one. */
export type LiveEdit = {
  readonly address: Address;
  readonly kind: Kind;
  readonly path: Path;
  /** `path` as text. */
  readonly text: string;
  /**
   * `set`: the leaf gets `next`, undefined for nothing. `add`: the list gets the element `next`. `remove`: it loses
   * the element. `restore`: the configuration no longer has the leaf, and gets it again.
   */
  readonly action: 'set' | 'add' | 'remove' | 'restore';
  readonly next: Value | undefined;
  /** The configured value, as it was read. */
  readonly now: Value | undefined;
};

/** A leaf that differs and is left as it is. */
export type Left = PullLeft;

type LiveEdits = {
  readonly liveEdits: readonly LiveEdit[];
  /** Changed here and not applied yet: the platform did not move. */
  readonly kept: readonly Left[];
  readonly refused: readonly Left[];
  /** Changed on both sides: the configuration keeps its own until somebody decides. */
  readonly undecided: readonly Left[];
};

/** A command of Callsheet in code marks, as it is typed for this stack. */
export type Typed = (command: string) => string;

type Asked = LiveWords & {
  readonly typed: Typed;
  /** True if live values are taken even if the configuration changed, too. */
  readonly theirs: boolean;
  /** True if texts that both sides changed get the edits of both. */
  readonly merge: boolean;
};

/** Lists the values that would make the configuration of one resource agree with the live one. */
export function listLiveEdits(
  change: Change,
  leaves: readonly LeafChange[],
  asked: Asked,
): LiveEdits {
  const kind = kindNamed(change.kind);
  const gathered = withGone(kind, leaves, change.adopted);
  const liveEdits: LiveEdit[] = [];
  const kept: Left[] = [];
  const refused: Left[] = [];
  const undecided: Left[] = [];
  const twins = twinsAmong(kind, gathered);
  for (const leaf of gathered) {
    if (isUnreturned(leaf, leaves)) continue;
    const at = { address: change.address, path: leaf.text };
    if (twins.some((twin) => isTwin(twin, leaf.path))) {
      refused.push({ ...at, ...TWINS });
      continue;
    }
    const outcome = judge(leaf, kind, change, asked);
    if (outcome === 'nothing') continue;
    if (outcome !== 'taken') {
      (outcome.kept ? kept : refused).push({ ...at, ...outcome.words });
      continue;
    }
    const merged =
      asked.merge && leaf.cause === 'conflict'
        ? mergeLeaf(leaf, change.address, asked)
        : { before: leaf.before };
    if ('words' in merged) undecided.push({ ...at, ...merged.words });
    if (!('before' in merged)) continue;
    const made = toLiveEdit({ ...leaf, before: merged.before }, kind, change.address, asked);
    if ('reason' in made) refused.push({ ...at, ...made });
    else liveEdits.push(made);
  }
  return { liveEdits, kept, refused, undecided };
}

/**
 * True if the platform does not return the leaf, because the flag that it is returned with is off (`x-told-while`). The
 * configuration keeps its value.
 */
function isUnreturned({ schema }: LeafChange, leaves: readonly LeafChange[]): boolean {
  const flag = schema['x-told-while'];
  return flag !== undefined && leaves.some(({ text, before }) => text === flag && before !== true);
}

/** Elements that came to be beside others of an identity that must be unique. */
function twinsAmong({ schema }: Kind, leaves: readonly LeafChange[]): readonly Path[] {
  return leaves.flatMap(({ path, before }) => {
    const list = schemasAlong(schema, path.slice(0, -1)).at(-1);
    const isTwin =
      before !== undefined &&
      isIdentity(path.at(-1) ?? '') &&
      identityOrdinal(path.at(-1) ?? '') > 1 &&
      list?.['x-repeats'] !== true;
    return isTwin ? [path] : [];
  });
}

/** True if a path leads to an element of the twin's identity, or into one. */
function isTwin(twin: Path, path: Path): boolean {
  const [list, own] = [twin.slice(0, -1), path[twin.length - 1] ?? ''];
  return (
    startsWith(path, list) &&
    isIdentity(own) &&
    identityText(own) === identityText(twin.at(-1) ?? '')
  );
}

const TWINS = {
  reason: 'the platform has several of that name, and which one is meant cannot be told',
  advice: 'rename or delete one of them in the dashboard and pull again',
};

type Outcome =
  | 'taken'
  | 'nothing'
  | { readonly kept: boolean; readonly words: Pick<Left, 'reason' | 'advice'> };

/** Which side moved, and whether its value may stand in the configuration. */
function judge(
  leaf: LeafChange,
  kind: Kind,
  { address, adopted }: Change,
  { theirs, merge, typed }: Asked,
): Outcome {
  const pending = { kept: true, words: pendingWords(address, typed) };
  const isElement = isElementPath(kind, leaf.path);
  const isUnseen = leaf.unreadable && !isElement;
  switch (leaf.cause) {
    case 'released':
    case 'unknown_secret':
    case 'unknown_content':
    // It is written only because its account is, which is taken from the platform or kept here.
    case 'secret_account_changed':
      return 'nothing';
    case 'secret_changed':
    case 'secret_source_changed':
    case 'secret_unwritten':
    case 'secret_resent':
      return pending;
    case 'stored_as':
      if (!theirs) return 'nothing';
      break;
    case 'changed':
    case 'cleared':
      if (isUnseen) return pending;
      if ((!theirs || merge) && !(adopted && leaf.cause === 'changed')) return pending;
      break;
    case 'conflict':
      if (!theirs && !merge) return { kept: false, words: conflictWords(leaf, address, typed) };
      break;
    case 'drifted':
      break;
  }
  if (leaf.sensitive && !isElement) {
    return isEdited(leaf) || adopted ? { kept: false, words: SECRET } : pending;
  }
  return 'taken';
}

function pendingWords(address: Address, typed: Typed): Pick<Left, 'reason' | 'advice'> {
  const take = typed(`pull ${quoted(address)} --theirs`);
  return {
    reason: 'changed here and not applied yet',
    advice: `apply writes it; to take the live value instead: ${take}`,
  };
}

function conflictWords(
  { before, after, base }: LeafChange,
  address: Address,
  typed: Typed,
): Pick<Left, 'reason' | 'advice'> {
  const isMerged = [base, before, after].every(
    (text) => typeof text === 'string' && isMultiline(text),
  );
  const merge = isMerged
    ? `to get the edits of both into the files: ${typed(`pull ${quoted(address)} --merge`)}; `
    : '';
  const take = typed(`pull ${quoted(address)} --theirs`);
  const write = typed(`apply --target ${quoted(address)} --accept-conflicts`);
  return {
    reason: 'changed here and on the platform',
    advice: `${merge}to take the live value: ${take}; to write the value of the files: ${write}`,
  };
}

/**
 * A leaf that both sides changed. A text gets the edits of both, by paragraphs; where both changed a paragraph, and of
 * every other value, the configuration keeps its own, which is reported, unless live values are asked for. Without
 * `before` there is nothing to write.
 */
function mergeLeaf(
  { before, after, base }: LeafChange,
  address: Address,
  { theirs, typed }: Asked,
): { readonly before?: Value | undefined; readonly words?: Pick<Left, 'reason' | 'advice'> } {
  const write = typed(`apply --target ${quoted(address)} --accept-conflicts`);
  const advice = `to take the live words there: ${typed(`pull ${quoted(address)} --merge --theirs`)}; or write there what is meant, then: ${write}`;
  const isText = typeof before === 'string' && typeof after === 'string';
  if (!isText || (base === undefined && ![before, after].some(isMultiline))) {
    if (theirs) return { before };
    return { words: { reason: 'both changed it, and it keeps the value of the files', advice } };
  }
  const merged =
    typeof base === 'string'
      ? mergeVersions({ base, live: before, own: after }, theirs ? 'live' : 'own')
      : undefined;
  if (merged === undefined) {
    const reason =
      base === undefined
        ? 'both changed it, and what was last applied is not known'
        : 'both changed too much of it to be merged';
    const take = typed(`pull ${quoted(address)} --theirs`);
    return { words: { reason, advice: `to take the live text whole: ${take}; or: ${write}` } };
  }
  const text = withFinalBreak(merged.text, after);
  const own = text === after ? {} : { before: text };
  if (theirs || merged.both === 0) return own;
  const where = merged.places.length === 0 ? '' : `: ${formatFirst(merged.places, MOST_PLACES)}`;
  const count = formatCount(merged.both, 'place');
  return {
    ...own,
    words: { reason: `both changed ${count}, of which the files keep theirs${where}`, advice },
  };
}

/** Places of a text that are named. */
const MOST_PLACES = 5;

const SECRET = {
  reason: 'it is a secret, which is never written into the configuration',
  advice: 'put its new value where $secret reads it from, or apply to set the old one again',
};

function toLiveEdit(
  leaf: LeafChange,
  kind: Kind,
  address: Address,
  words: LiveWords,
): LiveEdit | Pick<Left, 'reason' | 'advice'> {
  const { path, text, before, after, schema } = leaf;
  const at = { address, kind, path, text, now: after };
  const isElement = isElementPath(kind, path);
  if (isElement && before === undefined) return { ...at, action: 'remove', next: undefined };
  if (before === undefined || (!isElement && normalise(schema, before) === null)) {
    return { ...at, action: 'set', next: undefined };
  }
  const live = fromLive(kind, path, before, words);
  if ('reason' in live) return live;
  const next = withFinalBreak(live.value, after);
  const action = isElement ? 'add' : after === undefined ? 'restore' : 'set';
  return { ...at, action, next };
}

/** The platform and block texts differ in their final line break, which says nothing: the old text's stays. */
function withFinalBreak(next: Value, before: Value | undefined): Value {
  if (typeof next !== 'string' || typeof before !== 'string') return next;
  const bare = next.endsWith('\n') ? next.slice(0, -1) : next;
  return before.endsWith('\n') || bare.endsWith('\n') ? `${bare}\n` : bare;
}

/** The names for ids. */
type LiveWords = {
  /** The address that stands for a live resource; undefined where none does. */
  readonly addressOf: (kind: string, id: string) => Address | undefined;
};

/**
 * A live value in the words of the configuration: without what the platform owns, with references in the
 * place of ids. What holds sensitive values is refused: they have no place in a file.
 */
function fromLive(
  kind: Kind,
  path: Path,
  value: Value,
  { addressOf }: LiveWords,
): { readonly value: Value } | Pick<Left, 'reason' | 'advice'> {
  const secret = new Set<string>();
  let isPart = true;

  /** `isListed`: it lies in a list, which is written whole, so that a null that is left out would be taken away. */
  function take(field: FieldContext, given: Value, name: string, isListed = false): Value {
    if (isObject(given)) {
      const members = Object.entries(given).flatMap(([key, member]): [string, Value][] => {
        const inner = memberContext(field, key, given);
        const isNone = member === null && !(isListed && inner.node.isFree);
        if (inner.node.isReadOnly || isNone || member === undefined) return [];
        return [[key, take(inner, member, key, isListed)]];
      });
      return Object.fromEntries(members);
    }
    if (isList(given)) {
      const items = itemContext(field);
      return given.map((item) => take(items, item, name, true));
    }
    const found = sensitivity(field, given);
    if (found !== 'open') secret.add(name);
    if (found === 'whole') isPart = false;
    const target = field.node.refersTo;
    const address =
      target !== undefined && typeof given === 'string'
        ? inAnyKind(addressOf)(target, given)
        : undefined;
    return address === undefined ? given : new Ref(address);
  }

  const taken = take(contextAt(kind.schema, path), value, String(path.at(-1)));
  if (secret.size === 0) return { value: taken };
  const names = [...secret].join(', ');
  return isPart
    ? {
        reason: `it holds a credential in clear (${names}), which is never written into the configuration`,
        advice: FROM_VARIABLE,
      }
    : {
        reason: `it holds secret values (${names}), which are never written into the configuration`,
        advice: 'write it by hand with $secret, or apply to take it away again',
      };
}

const FROM_VARIABLE =
  'write it by hand with the credential in a variable, or apply to set the old value again';

/** Returns the differences, with everything that is gone as a whole reported once and not leaf by leaf. */
function withGone(
  kind: Kind,
  leaves: readonly LeafChange[],
  adopted: boolean,
): readonly LeafChange[] {
  const gone = outermost([...goneElements(kind, leaves), ...goneObjects(kind, leaves, adopted)]);
  const listed = new Set<Path>();
  return leaves.flatMap((leaf) => {
    const path = gone.find((one) => startsWith(leaf.path, one));
    if (path === undefined) return [leaf];
    if (listed.has(path)) return [];
    listed.add(path);
    return [asWhole(kind, path, leaves)];
  });
}

/** True if a path leads to an element of a list that is keyed by identity. */
function isElementPath(kind: Kind, path: Path): boolean {
  if (!isIdentity(path.at(-1) ?? '')) return false;
  return schemasAlong(kind.schema, path.slice(0, -1)).at(-1)?.['x-identity'] !== undefined;
}

function outermost(paths: readonly Path[]): readonly Path[] {
  const distinct = [...new Map(paths.map((path) => [formatPath(path), path])).values()];
  return distinct.filter(
    (path) => !distinct.some((other) => other.length < path.length && startsWith(path, other)),
  );
}

/** Elements of keyed lists that the configuration has and the platform no longer. */
function goneElements(kind: Kind, leaves: readonly LeafChange[]): readonly Path[] {
  return leaves.flatMap(({ path, before, after }) => {
    const isLost = after !== undefined && (before ?? null) === null;
    return isLost && isElementName(kind.schema, path) ? [path.slice(0, -1)] : [];
  });
}

/**
 * Objects of which the platform has nothing, so that it cannot have their secrets either: nothing else
 * makes a secret drift, or differ where there is no state.
 */
function goneObjects(kind: Kind, leaves: readonly LeafChange[], adopted: boolean): readonly Path[] {
  return leaves.flatMap(({ path, after, unreadable, cause }) => {
    const isLost = cause === 'drifted' || (adopted && cause === 'changed');
    const object = path.slice(0, -1);
    const isObject = object.length > 0 && !isElementPath(kind, object);
    return unreadable && after instanceof Secret && isLost && isObject ? [object] : [];
  });
}

function asWhole(kind: Kind, path: Path, leaves: readonly LeafChange[]): LeafChange {
  const inside = leaves.filter((leaf) => startsWith(leaf.path, path));
  const has = (wanted: LeafChange['cause']) => inside.some(({ cause }) => cause === wanted);
  const isBoth = has('conflict') || (has('changed') && has('drifted'));
  return {
    path,
    text: formatPath(path),
    before: undefined,
    after: null,
    cause: isBoth ? 'conflict' : has('changed') ? 'changed' : 'drifted',
    sensitive: false,
    unreadable: false,
    schema: schemasAlong(kind.schema, path).at(-1) ?? {},
  };
}
