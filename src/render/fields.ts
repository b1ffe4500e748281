import { formatPath } from '../core/path.ts';
import type { Change, FieldCause, FieldChange, PlanDocument } from '../core/plan-document.ts';
import { MASK } from '../core/redact.ts';
import { isSameJson } from '../core/same-json.ts';
import { isObject, type Json } from '../core/value.ts';
import { type Element, gatherElements } from './elements.ts';
import { onlyBlanksDiffer } from './prose/words.ts';
import { sanitiseLine } from './untrusted.ts';
import { isFile, standsForOther } from './value-text.ts';

/** `+` appears, `-` goes, `~` differs, `!` a conflict, blank in a new resource. */
export type Sign = '+' | '-' | '~' | '!' | ' ';

/** One field of a change as every renderer shows it: what it says is decided here, the layout is not. */
export type FieldView = {
  /** Sanitised. */
  readonly path: string;
  readonly sign: Sign;
  readonly content: Content;
  readonly remark: string | null;
};

export type Content =
  /** An element of a list that appears or goes as a whole. */
  | ({ readonly type: 'element' } & Pick<Element, 'summary' | 'members'>)
  /** One side only: set where there was nothing, or taken away. */
  | { readonly type: 'one'; readonly value: Json }
  | { readonly type: 'both'; readonly before: Json; readonly after: Json }
  /** `base`: what both sides came from; undefined where that is not known. */
  | {
      readonly type: 'conflict';
      readonly base: Json | undefined;
      readonly live: Json;
      readonly wanted: Json;
    };

/** Causes that write nothing: the plan has a note for each of them. */
const NOTED: ReadonlySet<FieldCause> = new Set(['released', 'unknown_secret', 'unknown_content']);

/** The fields of a change, ready to be laid out. `verbose` leaves list elements in their leaves. */
export function viewFields(
  change: Change,
  purpose: PlanDocument['purpose'],
  verbose: boolean,
): readonly FieldView[] {
  if (change.action === 'create') return viewNew(change, verbose);
  if (change.action === 'delete') return verbose ? leavesOf(change.before).map(viewGone) : [];
  const shown = { ...change, fields: change.fields.filter(({ cause }) => !NOTED.has(cause)) };
  const gathered = verbose ? shown.fields : gatherElements(shown);
  // The reason of the change says it of all fields then, unless it has to say why nothing is done.
  const isTold = change.verdict === 'ok' && shown.fields.every(({ cause }) => cause === 'drifted');
  return gathered.map((field) =>
    'appears' in field ? viewElement(field, purpose) : viewField(field, purpose, isTold),
  );
}

/** A new resource's values, without those that its block names anyway. */
function viewNew(change: Change, verbose: boolean): readonly FieldView[] {
  const told = ({ path, after }: FieldChange) =>
    (path === 'name' && after === change.name) ||
    (after !== null && after === change.organization_id);
  const shown = { ...change, fields: change.fields.filter((field) => !told(field)) };
  const gathered = verbose ? shown.fields : gatherElements(shown);
  return gathered.map((field) => ({
    path: sanitiseLine(field.path),
    sign: ' ',
    content:
      'appears' in field
        ? elementContent(field)
        : { type: 'one', value: masked(field, field.after) },
    remark: null,
  }));
}

function viewGone({ path, before }: Pick<FieldChange, 'path' | 'before'>): FieldView {
  return {
    path: sanitiseLine(path),
    sign: '-',
    content: { type: 'one', value: before },
    remark: null,
  };
}

/** The leaves of a document, by the names of objects only. */
function leavesOf(
  document: Json,
  path: readonly string[] = [],
): readonly { readonly path: string; readonly before: Json }[] {
  if (isObject(document) && !standsForOther(document)) {
    return Object.entries(document).flatMap(([key, member]: readonly [string, Json]) =>
      leavesOf(member, [...path, key]),
    );
  }
  return document === null ? [] : [{ path: formatPath(path), before: document }];
}

function viewElement(element: Element, purpose: PlanDocument['purpose']): FieldView {
  const { path, appears, cause } = element;
  return {
    path: sanitiseLine(path),
    sign: cause === 'conflict' && purpose !== 'drift' ? '!' : appears ? '+' : '-',
    content: elementContent(element),
    remark: elementRemark(element, purpose),
  };
}

function elementContent({ summary, members }: Element): Content {
  return { type: 'element', summary, members };
}

function elementRemark({ appears, cause }: Element, purpose: PlanDocument['purpose']) {
  if (purpose === 'drift') return cause === 'conflict' ? CONFIGURED_TOO : null;
  if (cause === 'drifted') return appears ? 'removed outside Callsheet' : 'added outside Callsheet';
  return cause === 'conflict' ? 'conflict: changed live, and no longer configured' : null;
}

const WHY: { readonly [cause in FieldCause]?: string } = {
  drifted: 'changed outside Callsheet',
  cleared: 'cleared',
  conflict: 'conflict',
  secret_changed: 'changed since Callsheet last wrote it',
  secret_resent: 'sent again, as asked',
};
const CONFIGURED_TOO = 'the configuration changed too';

function viewField(
  field: FieldChange,
  purpose: PlanDocument['purpose'],
  isTold: boolean,
): FieldView {
  const { cause } = field;
  const path = sanitiseLine(field.path);
  const remark = remarkOf(field, purpose, isTold);
  const [before, after] = [masked(field, field.before), masked(field, field.after)];
  const one = (value: Json) => ({ type: 'one', value }) as const;
  if (isFile(after)) return { path, sign: '~', content: one(after), remark };
  const isConflict = cause === 'conflict' && purpose !== 'drift';
  const sign = isConflict ? '!' : signOf(field);
  if (before === MASK && after === MASK) {
    return { path, sign, content: one(MASK), remark: remark ?? 'changed' };
  }
  if (isConflict) {
    return {
      path,
      sign,
      content: {
        type: 'conflict',
        base: field.secret ? undefined : field.base,
        live: before,
        wanted: after,
      },
      remark,
    };
  }
  if (before === null || after === null) {
    return { path, sign, content: one(after ?? before), remark };
  }
  // They differ in what is masked.
  if (isSameJson(before, after)) {
    return { path, sign, content: one(after), remark: remark ?? 'what is masked changed' };
  }
  return { path, sign, content: { type: 'both', before, after }, remark };
}

/** A secret that the platform never returns has no `before`, and is no new field for that. */
function signOf({ before, after, cause }: FieldChange): '+' | '-' | '~' {
  if (cause === 'secret_changed' || cause === 'secret_resent') return '~';
  return before === null ? '+' : after === null ? '-' : '~';
}

/**
 * The document masks secrets already; should a value have slipped through, it is not shown either.
 * Objects and lists are masked leaf by leaf, so that their shape can be seen.
 */
function masked({ secret }: FieldChange, value: Json): Json {
  return secret && value !== null && typeof value !== 'object' ? MASK : value;
}

function remarkOf(
  field: FieldChange,
  purpose: PlanDocument['purpose'],
  isTold: boolean,
): string | null {
  const { before, after, cause } = field;
  const told =
    purpose === 'drift'
      ? [cause === 'conflict' ? CONFIGURED_TOO : undefined]
      : [
          field.refused === undefined
            ? undefined
            : `stays as it is: ${sanitiseLine(field.refused)}`,
          isTold ? undefined : WHY[cause],
          isFile(after) && cause === 'changed' ? 'new content' : undefined,
        ];
  const remarks = [
    ...told,
    onlyWhiteSpace(before, after) ? 'only white space differs' : undefined,
  ].filter((remark) => remark !== undefined);
  return remarks.length > 0 ? remarks.join('; ') : null;
}

function onlyWhiteSpace(before: Json, after: Json): boolean {
  if (typeof before !== 'string' || typeof after !== 'string' || before === after) return false;
  return onlyBlanksDiffer(before, after);
}
