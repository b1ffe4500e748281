import { MASK } from '../core/credentials.ts';
import { unreachable } from '../core/errors.ts';
import {
  formatPath,
  identityOrdinal,
  identityText,
  isIdentity,
  type Path,
  parsePath,
  startsWith,
} from '../core/path.ts';
import {
  type Callout,
  type Change,
  type FieldCause,
  type FieldChange,
  type FindCallouts,
  isWritten,
  type PlanDocument,
} from '../core/plan-document.ts';
import { maskScalar } from '../core/redact.ts';
import { getOwn, isObject, isSameJson, type Json } from '../core/value.ts';
import type { Names, Shown } from './names.ts';
import { type ConflictPlace, type Detail, viewConflict } from './prose/view.ts';
import { listUnseen, looksAlike } from './unseen.ts';
import { sanitiseLine } from './untrusted.ts';
import { inlineValue, isFile, nameValue, standsForOther } from './value-text.ts';

/** `+` appears, `-` goes, `~` differs, `!` a conflict, blank in a new resource. */
type Sign = '+' | '-' | '~' | '!' | ' ';

/** One field of a change as every renderer shows it: what it says is decided here, the layout is not. */
export type FieldView<V = Shown> = {
  /** Sanitised. */
  readonly path: string;
  readonly sign: Sign;
  readonly content: Content<V>;
  readonly remark: string | null;
};

type Content<V> =
  /** An element of a list that appears or goes as a whole. */
  | ({ readonly type: 'element' } & Pick<Element<V>, 'summary' | 'members'>)
  /** One side only: set where there was nothing, or taken away. */
  | { readonly type: 'one'; readonly value: V }
  | {
      readonly type: 'both';
      readonly before: V;
      readonly after: V;
      readonly callouts: readonly Callout[];
    }
  /** `base`: what both sides came from; undefined where that is not known. `isDecided`: the live value is overwritten. */
  | {
      readonly type: 'conflict';
      readonly purpose: PlanDocument['purpose'];
      readonly isDecided: boolean;
      readonly base: V | undefined;
      readonly live: V;
      readonly wanted: V;
      readonly callouts: readonly Callout[];
    };

/**
 * The fields of a change, ready to be laid out, with names at the ids that the plan has names of. `verbose` leaves list
 * elements in their leaves.
 */
export function viewFields(
  change: Change,
  { purpose, names }: Pick<PlanDocument, 'purpose' | 'names'>,
  verbose: boolean,
): readonly FieldView[] {
  const views = viewValues(change, purpose, verbose);
  return names === undefined
    ? views
    : views.map((view) => ({ ...view, content: nameContent(view.content, names) }));
}

function nameContent(content: Content<Json>, names: Names): Content<Shown> {
  const named = (value: Json) => nameValue(value, names);
  switch (content.type) {
    case 'element':
      return {
        ...content,
        members: content.members.map(({ key, value }) => ({ key, value: named(value) })),
      };
    case 'one':
      return { ...content, value: named(content.value) };
    case 'both':
      return { ...content, before: named(content.before), after: named(content.after) };
    case 'conflict':
      return {
        ...content,
        base: content.base === undefined ? undefined : named(content.base),
        live: named(content.live),
        wanted: named(content.wanted),
      };
    default:
      return unreachable(content);
  }
}

function viewValues(
  change: Change,
  purpose: PlanDocument['purpose'],
  verbose: boolean,
): readonly FieldView<Json>[] {
  if (change.action === 'delete' && verbose) {
    const edited = new Set(change.fields.map(({ path }) => path));
    const others = listLeaves(change.before).filter(({ path }) => !edited.has(path));
    return [...viewChanged(change, purpose, true), ...others.map(viewGone)];
  }
  return viewChanged(change, purpose, verbose);
}

function viewChanged(
  change: Change,
  purpose: PlanDocument['purpose'],
  verbose: boolean,
): readonly FieldView<Json>[] {
  const isNew = change.action === 'create';
  const isShown = (field: FieldChange) => (isNew ? !isNamed(field, change) : isWritten(field));
  const own = change.fields.filter(isShown);
  const shown = {
    ...change,
    fields: isNew
      ? own.map((one) => ({ ...one, before: null }))
      : own.map((one) => (change.action === 'delete' && purpose === 'apply' ? asEdited(one) : one)),
  };
  const gathered = verbose ? shown.fields : gatherElements(shown);
  // The reason of the change says it of all fields then, unless it has to say why nothing is done.
  const isReasonGiven =
    change.verdict === 'ok' && shown.fields.every(({ cause }) => cause === 'drifted');
  const views = gathered.map((field) => {
    if ('appears' in field) return viewElement(field, purpose);
    const view = viewField(field, change, purpose, isReasonGiven);
    // The sides are what was written and what is live: nothing of it is written by the plan.
    const isGoing = change.action === 'delete' && field.cause === 'drifted' && purpose === 'apply';
    return isGoing
      ? { ...view, remark: 'edited outside Callsheet; the delete takes it along' }
      : view;
  });
  return isNew ? views.map((view) => ({ ...view, sign: ' ', remark: null })) : views;
}

/** An edit of what is deleted, from the value that was last written, where that is known: all of it goes, and this is the news. */
function asEdited(field: FieldChange): FieldChange {
  const { base, before, cause } = field;
  return cause !== 'drifted' || base === undefined
    ? field
    : { ...field, before: base, after: before };
}

/** Tells whether the block of a new resource names a value anyway, and there is no more to say of it. */
function isNamed({ path, after }: FieldChange, { name, organization_id: owner }: Change): boolean {
  const isOwnName = path === 'name' && after === name && listUnseen(null, after).length === 0;
  return isOwnName || (after !== null && after === owner);
}

/** Finds the places in which two sides changed a text; undefined if they cannot be found, or if it is no text. */
export function conflictPlaces(
  content: FieldView['content'] & { readonly type: 'conflict' },
  detail: Detail,
): readonly ConflictPlace[] | undefined {
  const { base, live, wanted, purpose, isDecided } = content;
  if (typeof base !== 'string' || typeof live !== 'string' || typeof wanted !== 'string')
    return undefined;
  return viewConflict({ base, live, own: wanted }, { purpose, isDecided, detail });
}

/** Sentences on what cannot be seen of a field, for below it. Searching long texts takes a while. */
export function listUnseenInField({ path, sign, content }: FieldView): readonly string[] {
  const isNew = sign !== '-' && sign !== '~';
  switch (content.type) {
    case 'element':
      return isNew
        ? listUnseen(null, [path, content.summary, ...content.members.map(({ value }) => value)])
        : [];
    case 'one':
      return isNew ? listUnseen(null, content.value) : [];
    case 'both':
      return listUnseen(content.before, content.after);
    case 'conflict': {
      const { base = null, live, wanted } = content;
      const before = looksAlike(base, live) ? listUnseen(base, live) : [];
      return [
        ...listUnseen(live, wanted),
        ...before.map((text) => `live now, against last written: ${text}`),
      ];
    }
    default:
      return unreachable(content);
  }
}

/**
 * A value that was set, taken away or changed. What changed in a text is looked for, as no plan has found it; `find` is
 * given, so that the page of a plan does without the words of languages.
 */
export function viewSides(
  path: string,
  before: Json,
  after: Json,
  find: FindCallouts,
): Omit<FieldView<Json>, 'remark'> {
  const own = sanitiseLine(path);
  if (before === null) return { path: own, sign: '+', content: { type: 'one', value: after } };
  if (after === null) return { path: own, sign: '-', content: { type: 'one', value: before } };
  const isText = typeof before === 'string' && typeof after === 'string';
  const callouts = isText ? find(before, after) : [];
  return { path: own, sign: '~', content: { type: 'both', before, after, callouts } };
}

function viewGone({ path, before }: Pick<FieldChange, 'path' | 'before'>): FieldView<Json> {
  return {
    path: sanitiseLine(path),
    sign: '-',
    content: { type: 'one', value: before },
    remark: null,
  };
}

/** The leaves of a document, by the names of objects only. */
function listLeaves(
  document: Json,
  path: readonly string[] = [],
): readonly { readonly path: string; readonly before: Json }[] {
  if (isObject(document) && !standsForOther(document)) {
    return Object.entries(document).flatMap(([key, member]: readonly [string, Json]) =>
      listLeaves(member, [...path, key]),
    );
  }
  return document === null ? [] : [{ path: formatPath(path), before: document }];
}

function viewElement(element: Element, purpose: PlanDocument['purpose']): FieldView<Json> {
  const { path, appears, cause } = element;
  return {
    path: sanitiseLine(path),
    sign: cause === 'conflict' && purpose !== 'drift' ? '!' : appears ? '+' : '-',
    content: { type: 'element', summary: element.summary, members: element.members },
    remark: elementRemark(element, purpose),
  };
}

function elementRemark({ appears, cause }: Element, purpose: PlanDocument['purpose']) {
  if (purpose === 'drift') return cause === 'conflict' ? 'conflict: the files changed too' : null;
  if (cause === 'drifted') return appears ? 'removed outside Callsheet' : 'added outside Callsheet';
  if (cause !== 'conflict') return null;
  return appears
    ? 'conflict: changed in the configuration, and removed live'
    : 'conflict: changed live, and no longer configured';
}

const WHY: { readonly [cause in FieldCause]?: string } = {
  drifted: 'changed outside Callsheet',
  cleared: 'cleared',
  secret_changed: 'changed since Callsheet last wrote it',
  secret_source_changed: 'another source than last applied',
  secret_account_changed: 'written with the account that it belongs to',
  secret_unwritten: 'not written to this resource yet',
  secret_resent: 'sent again, as asked',
};

/** A configured value of this many characters has room in a remark. */
const SHORT_VALUE = 40;

/** The state keeps only a digest of a long text, so the value last written cannot be shown. */
function conflictRemark({ base, secret, configured }: FieldChange): string {
  if (base === undefined && !secret)
    return 'conflict: the files changed too; shown against the files';
  if (configured === null) return 'conflict: the files no longer have it';
  const text = configured === undefined || secret ? undefined : inlineValue(configured);
  return text === undefined || text.length > SHORT_VALUE
    ? 'conflict: the files changed too'
    : `conflict: the files have ${text}`;
}

function viewField(
  field: FieldChange,
  { verdict, callouts: called = [] }: Change,
  purpose: PlanDocument['purpose'],
  isReasonGiven: boolean,
): FieldView<Json> {
  const { cause } = field;
  const callouts = called.filter((one) => one.path === field.path);
  const path = sanitiseLine(field.path);
  const isConflict = cause === 'conflict' && purpose !== 'drift';
  const isDecided = verdict === 'ok';
  const both = isDecided ? 'both changed: live is overwritten' : 'both changed';
  const remark = isConflict ? both : findRemark(field, purpose, isReasonGiven);
  const [before, after] = [masked(field, field.before), masked(field, field.after)];
  const one = (value: Json) => ({ type: 'one', value }) as const;
  if (isFile(after)) return { path, sign: '~', content: one(after), remark };
  const sign = isConflict ? '!' : getSign(field);
  if (before === MASK && after === MASK) {
    return { path, sign, content: one(MASK), remark: remark ?? 'changed' };
  }
  if (isConflict) {
    return {
      path,
      sign,
      content: {
        type: 'conflict',
        purpose,
        isDecided,
        base: field.secret ? undefined : field.base,
        live: before,
        wanted: after,
        callouts,
      },
      remark,
    };
  }
  if (before === null || after === null) {
    return { path, sign, content: one(after ?? before), remark };
  }
  // They differ in what is masked.
  if (isSameJson(before, after)) {
    return { path, sign, content: one(after), remark: remark ?? 'the masked value changed' };
  }
  return { path, sign, content: { type: 'both', before, after, callouts }, remark };
}

/** A secret that the platform never returns has no `before`, and is no new field for that. */
function getSign({ before, after, cause }: FieldChange): '+' | '-' | '~' {
  if (cause.startsWith('secret_') && cause !== 'secret_unwritten') return '~';
  return before === null ? '+' : after === null ? '-' : '~';
}

/**
 * One side of a field as it is shown. The document masks secrets already; should one have slipped through, it is not shown either.
 * Objects and lists are masked leaf by leaf, so that their shape can be seen.
 */
export function masked({ secret }: FieldChange, value: Json): Json {
  return secret && value !== null && typeof value !== 'object' ? maskScalar(value) : value;
}

/** The remark on values that differ as platforms change what is sent. */
const ALIKE = 'the platform may have changed this on the way';

function findRemark(
  field: FieldChange,
  purpose: PlanDocument['purpose'],
  isReasonGiven: boolean,
): string | null {
  const { after, cause } = field;
  const reasons =
    purpose === 'drift'
      ? [cause === 'conflict' ? conflictRemark(field) : undefined]
      : [
          field.refused === undefined
            ? undefined
            : `${purpose === 'rollback' ? 'stays as it is' : 'left out'}: ${sanitiseLine(field.refused)}`,
          isReasonGiven ? undefined : WHY[cause],
          isFile(after) && cause === 'changed' ? 'new content' : undefined,
        ];
  const alike = field.is_alike === true ? ALIKE : undefined;
  const remarks = [...reasons, alike, field.source && sanitiseLine(field.source)].filter(
    (remark) => remark !== undefined,
  );
  return remarks.length > 0 ? remarks.join('; ') : null;
}

/** An element of a keyed list that appears or goes as a whole, such as a new webhook. */
type Element<V = Json> = {
  readonly path: string;
  readonly appears: boolean;
  /** Why, where all its leaves have the same cause. */
  readonly cause: FieldChange['cause'];
  /** `GET https://crm.example.test/c`: where it leads; empty where it leads nowhere. Sanitised. */
  readonly summary: string;
  /** Everything else that it is made of, by sanitised paths below it. */
  readonly members: readonly ElementLeaf<V>[];
};

type ElementLeaf<V = Json> = { readonly key: string; readonly value: V };

/**
 * The fields of a change, with the leaves of every new or removed element of a keyed list taken together,
 * so that a webhook of eight leaves is one thing to read. Order is kept, and nothing is left out.
 */
function gatherElements(change: Change): readonly (FieldChange | Element)[] {
  const gathered: (FieldChange | Element)[] = [];
  const rest = change.fields.map((field) => ({ field, path: getPath(field) }));
  for (let first = rest.shift(); first !== undefined; first = rest.shift()) {
    const root = elementRoot(first.path, first.field, change);
    const count = root === undefined ? 0 : rest.findIndex(({ path }) => !startsWith(path, root));
    const members = rest.slice(0, count === -1 ? rest.length : count);
    const fields = [first.field, ...members.map(({ field }) => field)];
    if (root === undefined || !alike(fields)) {
      gathered.push(first.field);
      continue;
    }
    rest.splice(0, members.length);
    gathered.push({
      path: formatPath(root),
      appears: first.field.before === null,
      cause: fields.find(({ secret }) => !secret)?.cause ?? first.field.cause,
      ...summarise(root, fields),
    });
  }
  return gathered;
}

/** A path that cannot be read is one segment, shown as it is. */
function getPath({ path }: FieldChange): Path {
  return parsePath(path) ?? [path];
}

/** The outermost keyed element on the way to the leaf that only one side has. */
function elementRoot(path: Path, field: FieldChange, change: Change): Path | undefined {
  if ((field.before === null) === (field.after === null)) return undefined;
  const other = field.before === null ? change.before : change.after;
  for (const [index, segment] of path.entries()) {
    const root = path.slice(0, index + 1);
    if (isIdentity(segment) && !contains(other, root)) return root;
  }
  return undefined;
}

/** True if a document has a value at a path; null is none. */
function contains(document: Json, path: Path): boolean {
  let at: Json | undefined = document;
  for (const segment of path) {
    if (at === undefined || at === null) return false;
    if (isIdentity(segment)) at = findElement(at, segment);
    else at = isObject(at) ? getOwn(at, segment) : undefined;
  }
  return at !== undefined && at !== null;
}

/** The element with a member of that value: which member is the key is the schema's affair. */
function findElement(list: Json, segment: string): Json | undefined {
  const identity = identityText(segment);
  if (isObject(list)) return getOwn(list, identity) ?? getOwn(list, segment);
  if (!Array.isArray(list)) return undefined;
  const named = list.filter((item: Json) =>
    isObject(item) ? Object.values(item).includes(identity as never) : item === identity,
  );
  return named[identityOrdinal(segment) - 1];
}

/** True if the leaves all come or all go, for one reason; a secret has causes of its own. */
function alike(fields: readonly FieldChange[]): boolean {
  const [first, ...others] = fields.filter(({ secret }) => !secret);
  const appears = fields.every(({ before }) => before === null);
  const goes = fields.every(({ after }) => after === null);
  return (appears || goes) && others.every(({ cause }) => cause === first?.cause);
}

/** Summarises an element: where it leads, and its other members. Its name stands in its path. */
function summarise(
  root: Path,
  fields: readonly FieldChange[],
): Pick<Element, 'summary' | 'members'> {
  const leaves = fields.flatMap((field) => elementLeaves(field, root));
  const named = (pattern: RegExp) =>
    leaves.find(({ key, value }) => pattern.test(key) && typeof value === 'string');
  const url = named(/^(?:\w+_)?url$/);
  const verb = url && named(/^(?:method|transport_type)$/);
  const members = leaves.filter(
    (leaf) => leaf !== url && leaf !== verb && !namesElement(leaf, root),
  );
  return {
    summary: sanitiseLine([verb, url].flatMap((leaf) => leaf?.value ?? []).join(' ')),
    members: members.map(({ key, value }) => ({ key: sanitiseLine(key), value })),
  };
}

/** Members by which elements are recognised. */
const IDENTITY = /^(?:key|(?:\w+_)?name)$/;

/** True if a leaf says no more than the path of its element does. */
function namesElement({ key, value }: ElementLeaf, root: Path): boolean {
  const path = [...root, ...(parsePath(key) ?? [key])];
  const above = path.at(-2);
  return (
    IDENTITY.test(path.at(-1) ?? '') &&
    above !== undefined &&
    isIdentity(above) &&
    value === identityText(above)
  );
}

/** A field's leaf under the element, or the members of an element given whole. */
function elementLeaves(field: FieldChange, root: Path): readonly ElementLeaf[] {
  const value = field.after ?? field.before;
  const below = getPath(field).slice(root.length);
  if (below.length === 0 && isObject(value)) {
    return Object.entries(value).map(([key, member]: readonly [string, Json]) => ({
      key,
      value: member,
    }));
  }
  return [{ key: formatPath(below), value: masked(field, value) }];
}
