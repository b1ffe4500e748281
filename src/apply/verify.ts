/**
 * Verifies each request, as a witness (DESIGN §4.8): right before a request leaves, it holds the body against what was reviewed. Every leaf
 * must be a field that the plan shows, with the value that it shows, or what was just read from the platform and goes
 * back unchanged; and nothing that is live may be missing from an object or a list that is sent whole, unless the
 * plan shows that it goes. It knows nothing of how bodies are made: it reads them back from the wire's names.
 */
import { CallsheetError } from '../core/errors.ts';
import { isWithin, type Path, toPath } from '../core/path.ts';
import { type FieldSchema, memberSchema } from '../core/schema.ts';
import {
  Blob,
  formText,
  isList,
  isObject,
  isSameJson,
  type Json,
  type JsonObject,
  type Value,
} from '../core/value.ts';
import { isFieldReturned, listFollowers, schemaAt, schemasAlong, valueAt } from '../core/walk.ts';
import { isSent } from '../diff/compare.ts';
import {
  type Leaf,
  listLeaves,
  normalise,
  pathTo,
  resolveLeaf,
  Unknown,
  walkLeaves,
} from '../diff/leaves.ts';
import { documentInBody, facetInBody } from '../diff/merge.ts';
import { judgeLeaf, type Outcome } from '../diff/outcome.ts';
import type { Call } from '../kinds/kind.ts';
import type { Evidence, Work } from './work.ts';

/** A leaf that is sent as it was read. */
export type Carried = { readonly path: Path; readonly value: Json };

/** The origins of a body's values, by the text of the path. */
type BodyCheck = {
  readonly carried: ReadonlyMap<string, Carried>;
  /** Leaves that the plan shows. */
  readonly shown: ReadonlySet<string>;
};

type Reviewed = Pick<Work, 'change' | 'kind' | 'desired' | 'world'> & {
  /** The resource as it was before the first step; undefined where there was none. */
  readonly before: JsonObject | undefined;
};

/**
 * Checks one request. Throws `CallsheetError('internal')` naming the leaves that were not reviewed; the request is
 * not to be sent then.
 */
export function checkBody(call: Call, evidence: Evidence, given: Reviewed): BodyCheck {
  const carried = new Map<string, Carried>();
  const shown = new Set<string>();
  for (const file of Object.values(call.form?.files ?? {})) checkFile(file, given);
  const body = getBody(call);
  if (body === undefined) return { carried, shown };
  const { kind, change, desired, world, before } = given;
  const root = kind.schema;
  const unseen: string[] = [];
  /** Those that the plan shows as written. */
  const fields = change.fields.filter(isSent).map(({ path }) => toPath(path));
  const read = [evidence.live, before].filter((one) => one !== undefined && one !== null);
  const wanted = listLeaves(root, desired?.document ?? {}).leaves;
  const { draft } = evidence;
  // The kind adds these, as they follow from what is made; a refusal of twins is answered with `again`.
  const implied = draft && {
    ...kind.implied?.({ ...draft, again: true }),
    ...kind.implied?.(draft),
  };
  const own = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !isSameJson(implied?.[name], value)),
  );
  const document =
    evidence.facet === undefined
      ? documentInBody(root, own)
      : facetInBody(root, evidence.facet, own);

  function check(schema: FieldSchema, value: Json, path: Path, text: string): void {
    const leaf = wanted.get(text);
    if (isWithin(path, fields) && isWanted(leaf, schema, value, call)) shown.add(text);
    else if (isCarried(schema, value, path)) carried.set(text, { path, value });
    else unseen.push(text);
  }

  function isWanted(leaf: Leaf | undefined, schema: FieldSchema, value: Json, { form }: Call) {
    if (leaf === undefined) return isEmpty(value);
    const resolved = resolveLeaf(leaf, world);
    if (resolved === undefined || resolved instanceof Unknown) return false;
    const [sent, meant] = [normalise(schema, value), normalise(schema, resolved)];
    // A form has texts alone.
    return form === undefined
      ? isSameJson(sent, meant)
      : sent === meant || sent === formText(meant);
  }

  function isCarried(schema: FieldSchema, value: Json, path: Path): boolean {
    const found = read.map((one) => valueAt(root, one, path));
    if (!isEmpty(value)) {
      const sent = normalise(schema, value);
      return found.some((one) => isSameJson(normalise(schema, one), sent));
    }
    // `lostBy` finds what it would remove; but a secret is there without being returned, and null wipes it.
    const isNothing = found.every((one) => one === undefined || isEmpty(one));
    // A secret is omitted, so an empty text that was read is no secret, and wipes none.
    const isText = value === '' && found.includes('');
    const isWiping =
      !isText && (value === null || value === '') && mayHideSecret(root, schema, path);
    return (isNothing || evidence.facet === undefined) && !isWiping;
  }

  walkLeaves(root, document, {
    everything: true,
    // A body is JSON.
    leaf: (text, value, { schema }, linkedPath) =>
      check(schema, value as Json, pathTo(linkedPath), text),
    list: (text, { size }, _, linkedPath, { schema }) =>
      size === 0 && check(schema, [], pathTo(linkedPath), text),
  });
  const lost = evidence.facet === undefined ? lostBy(document, evidence, given, fields) : [];
  if (unseen.length > 0 || lost.length > 0) throw unreviewed(change.address, call, unseen, lost);
  return { carried, shown };
}

/** Throws where a file is none of those that the configuration names for the resource. */
export function checkFile(
  file: Blob,
  { change, desired }: Pick<Reviewed, 'change' | 'desired'>,
): void {
  const known = Object.values(desired?.document ?? {});
  if (known.some((one) => one instanceof Blob && one.sha256 === file.sha256)) return;
  throw new CallsheetError(
    'refused',
    `${change.address}: would upload ${file.path}, which the plan does not show, so it was not sent`,
  );
}

/** Judges a leaf that was sent back as it was read. */
export function judgeCarried(
  { path, value }: Carried,
  root: FieldSchema,
  live: JsonObject,
  seen: { readonly isOwned: boolean; readonly hasOthers: boolean },
): Outcome {
  const schema = schemaAt(root, path);
  const found = valueAt(root, live, path);
  const isGone = found === undefined || isEmpty(found);
  const isSame = isSameJson(normalise(schema, found), normalise(schema, value));
  const isAsSent = isSame || (isEmpty(value) && isGone);
  return judgeLeaf({
    ...seen,
    isChanged: false,
    isReturned: isFieldReturned(root, schema, live),
    isAsSent,
    isAsBefore: isAsSent,
    isAlike: false,
    isGone,
  });
}

/** Finds live values that would be gone without the plan saying so: objects and lists are sent whole. */
function lostBy(
  document: JsonObject,
  { live }: Evidence,
  { kind: { schema: root }, before }: Reviewed,
  fields: readonly Path[],
): readonly string[] {
  if (live === null) return [];
  const sent = Object.fromEntries(
    Object.entries(live).filter(([field]) => Object.hasOwn(document, field)),
  );
  const kept = listLeaves(root, document).leaves;
  // The platform sets those itself.
  const followers = listFollowers(root, fields).map(({ path }) => path);
  return [...listLeaves(root, sent).leaves.values()].flatMap(({ text, path, value }) => {
    const left = kept.get(text)?.value ?? null;
    // A revert may have brought it back, which takes what others did beside it along.
    const isNew = before !== undefined && isEmpty(valueAt(root, before, path) ?? null);
    const isLeft = isNew || isWithin(path, [...fields, ...followers]);
    return isEmpty(value) || !isEmpty(left) || isLeft ? [] : [text];
  });
}

function getBody({ body, form }: Call): JsonObject | undefined {
  if (form !== undefined) return form.fields;
  if (body === undefined || isObject(body)) return body;
  throw new Error('a request body is an object');
}

/** Returns true if the platform may have a secret at the path or below it, which it does not return. */
function mayHideSecret(root: FieldSchema, schema: FieldSchema, path: Path): boolean {
  const along = schemasAlong(root, path);
  if (along.some((one) => one.writeOnly === true || one['x-secrets-inside'] === true)) return true;
  return Object.keys(schema.properties ?? {}).some(
    (key) => memberSchema(root, schema, key).writeOnly === true,
  );
}

function isEmpty(value: Value): boolean {
  if (value instanceof Blob) return false;
  if (isList(value)) return value.length === 0;
  return value === null || value === '' || (isObject(value) && Object.keys(value).length === 0);
}

function unreviewed(
  address: string,
  { operation }: Call,
  unseen: readonly string[],
  lost: readonly string[],
): CallsheetError {
  const parts = [
    ...(unseen.length > 0 ? [`would write ${unseen.join(', ')}`] : []),
    ...(lost.length > 0 ? [`would remove ${lost.join(', ')}`] : []),
  ];
  return new CallsheetError(
    'refused',
    `${address}: the request ${operation} ${parts.join(' and ')}, which the plan does not show, so it was not sent`,
    {
      hint: 'Nothing of this request has taken effect. Please report this with the plan (`callsheet plan --out FILE`).',
    },
  );
}
