import type { Address } from '../core/address.ts';
import type { Lifecycle } from '../core/desired.ts';
import { parsePath } from '../core/path.ts';
import { type FieldSchema, namesField } from '../core/schema.ts';
import { Blob } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Layer } from './bases.ts';
import type { Inherited } from './block.ts';
import type { ComposedResource } from './compose.ts';
import { checkIgnored, readLifecycle } from './lifecycle.ts';
import { type Looks, resolveMade } from './look.ts';
import {
  type Context,
  type FilledText,
  fail,
  leanDocument,
  membersOf,
  type RefUse,
  type Resolved,
  type ResolvedObject,
  rootField,
  type SecretUse,
  type Surroundings,
} from './resolved.ts';
import type { Row } from './rows.ts';
import { configName } from './schema.ts';
import type { Place } from './source.ts';
import { followPath, type Spot } from './trace.ts';
import { validate } from './validate.ts';
import { memberOf, type Written } from './written.ts';

/**
 * A resource with its forms followed and its schema checked; there may be holes. How it is written is made again
 * for whoever asks.
 */
export type ResolvedResource = {
  readonly kind: Kind;
  readonly address: Address;
  /** Where it is written; of a row, where all of them are. */
  readonly keyPlace: Place;
  /** Where what makes it this one is written: the row, or the resource itself. */
  readonly ownPlace: Place;
  /** What it is made of, the lowest first. */
  readonly layers: readonly Layer[];
  readonly row: Row | undefined;
  /** The whole of it as it was written and became, under the configuration's names. */
  readonly spot: Spot;
  /** In the platform's field names; what stood under `unchecked` is beside them. */
  readonly document: ResolvedObject;
  readonly lifecycle: Lifecycle;
  readonly refs: readonly RefUse[];
  readonly secrets: readonly SecretUse[];
  /** Where a field of `document` stands; undefined for one that is not written out. */
  readonly placeOf: (path: string) => Place | undefined;
};

/** A field that follows from something else, with the member that it follows from. */
type Derived = { readonly value: Resolved; readonly from: string };

/** What stands for an organization that is not given: the stack's. */
function missingOrganization(
  field: string,
  keyPlace: Place,
  context: Context,
): Resolved | undefined {
  const id = context.defaultOrganization;
  if (id === undefined) {
    context.report.add({
      rule: 'organization/missing',
      message: `${context.subject} belongs to no organization`,
      hint: organizationHint(context),
      address: context.address,
      path: field,
      place: keyPlace,
    });
  }
  return id === 'failed' ? undefined : id;
}

function organizationHint({ unchosen }: Context): string {
  const add = 'Add organization: NAME to it, or to callsheet.yaml for all resources';
  return unchosen.length === 0
    ? add
    : `Choose an environment with --env (${unchosen.join(', ')}), or add organization: NAME`;
}

/** The name of a document: on the platform it is known by its file's, so `name` itself cannot be given. */
function nameOfFile(kind: Kind, document: ResolvedObject): Derived | undefined {
  if (kind.schema.properties?.name?.['x-config'] !== false) return undefined;
  for (const [field, schema] of Object.entries(kind.schema.properties)) {
    const blob = schema['x-file'] === undefined ? undefined : document[field];
    if (blob instanceof Blob)
      return { value: blob.path.split('/').at(-1) ?? blob.path, from: field };
  }
  return undefined;
}

const configNamesOf = new WeakMap<Kind, ReadonlyMap<string, string>>();

/** From the platform's names to the configuration's. */
function configNames(kind: Kind): ReadonlyMap<string, string> {
  const known = configNamesOf.get(kind);
  if (known !== undefined) return known;
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(kind.schema.properties ?? {})) {
    const config = configName(name, schema);
    if (config !== undefined) names.set(name, config);
  }
  configNamesOf.set(kind, names);
  return names;
}

/** Where a field is looked for: at its key, or where its value is when that is elsewhere, as a cell is. */
function placeOfMember(
  member: { readonly keyPlace: Place | undefined; readonly value: Written | undefined } | undefined,
): Place | undefined {
  if (member === undefined) return undefined;
  const { keyPlace, value } = member;
  return value !== undefined && value.place.source !== keyPlace?.source ? value.place : keyPlace;
}

/** Resolves one resource and reports what is wrong with it by itself. */
export function resolveResource(
  composed: ComposedResource,
  inherited: Inherited | undefined,
  surroundings: Surroundings,
  looks: Looks,
): ResolvedResource {
  const { kind, address, keyPlace } = composed;
  const { made, spot, context, filled } = resolveMade(composed, surroundings);
  validate({ subject: address, address, root: spot }, context.report);
  const members = membersOf(spot.value);
  const document: Record<string, Resolved> = { ...inherited?.fields };
  const texts = new Map<string, FilledText>();
  const names = configNames(kind);
  for (const [field, member] of names) {
    const text = filled.get(member);
    if (text !== undefined) texts.set(field, text);
    if (Object.hasOwn(members, member)) document[field] = members[member] ?? null;
    else if (member === 'organization') {
      const id = missingOrganization(field, keyPlace, context);
      if (id !== undefined) document[field] = id;
    }
  }
  const name = nameOfFile(kind, document);
  if (name !== undefined) document.name = name.value;
  if (members.unchecked !== undefined) {
    const written = memberOf(made.body, 'unchecked')?.value;
    for (const [field, value] of Object.entries(membersOf(members.unchecked))) {
      const known = knownSpelling(kind, field);
      if (known === undefined) document[field] = value;
      else refuseKnown(kind, field, known, memberOf(written, field)?.keyPlace ?? keyPlace, context);
    }
  }
  const life = readLifecycle(members.lifecycle);
  checkIgnored(kind, life.ignore, memberOf(made.body, 'lifecycle')?.value, context);
  return new Lean(composed, looks, {
    document: leanDocument(document, texts),
    lifecycle: life,
    refs: kept(context.refs),
    secrets: kept(context.secrets),
    placeOf: openPlaces(composed, inherited, name?.from, looks),
  });
}

/**
 * The name that the configuration has for a field given under `unchecked`, where the schema knows it, however it is
 * spelled: as it is read, as it is written, or with other cases and hyphens. Undefined for a field that is new.
 */
function knownSpelling(kind: Kind, given: string): string | undefined {
  let known = spellings.get(kind);
  if (known === undefined) {
    const names = Object.entries(kind.schema.properties ?? {}).flatMap(([name, schema]) => {
      const config = configName(name, schema) ?? name;
      const written = schema['x-write'] ?? name;
      return [name, written, config].map((one) => [folded(one), config] as const);
    });
    known = new Map([...impliedNames(kind).map((one) => [folded(one), one] as const), ...names]);
    spellings.set(kind, known);
  }
  return known.get(folded(given));
}

/** What a kind adds to its bodies by itself, with and without a file. */
function impliedNames({ implied }: Kind): readonly string[] {
  const file = new Blob('', '', 0, '');
  const common = { body: {}, scope: {}, again: true, isTaken: () => false };
  const drafts = [{}, { file }].map((files) => implied?.({ ...common, files }) ?? {});
  return drafts.flatMap(Object.keys);
}

const spellings = new WeakMap<Kind, ReadonlyMap<string, string>>();

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

function refuseKnown(
  { schema }: Kind,
  given: string,
  known: string,
  place: Place,
  context: Context,
): void {
  fail(context, { ...rootField(schema), path: ['unchecked', given] }, place, {
    rule: 'unchecked/known',
    message: `is a field that the schema knows${given === known ? '' : `, as ${known}`}`,
    hint: isGivable(schema, known)
      ? `Write ${known} in the resource itself, where it is checked`
      : 'Remove it: the platform or Callsheet sets it',
  });
}

function isGivable({ properties = {} }: FieldSchema, known: string): boolean {
  return Object.entries(properties).some(([name, field]) => configName(name, field) === known);
}

const NONE: readonly never[] = [];

/** A list that grew has room for more, and there are two for every resource. */
function kept<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NONE : list.slice();
}

/** What follows from how a resource is written is asked for by few, and a getter of each would be an object of each. */
class Lean implements ResolvedResource {
  readonly document: ResolvedObject;
  readonly lifecycle: Lifecycle;
  readonly refs: readonly RefUse[];
  readonly secrets: readonly SecretUse[];
  readonly placeOf: ResolvedResource['placeOf'];
  readonly #composed: ComposedResource;
  readonly #looks: Looks;

  constructor(composed: ComposedResource, looks: Looks, became: Became) {
    this.#composed = composed;
    this.#looks = looks;
    this.document = became.document;
    this.lifecycle = became.lifecycle;
    this.refs = became.refs;
    this.secrets = became.secrets;
    this.placeOf = became.placeOf;
  }

  get kind() {
    return this.#composed.kind;
  }
  get address() {
    return this.#composed.address;
  }
  get keyPlace() {
    return this.#composed.keyPlace;
  }
  get ownPlace() {
    return this.#composed.ownPlace;
  }
  get layers() {
    return this.#looks.made(this.#composed).layers;
  }
  get row() {
    return this.#looks.made(this.#composed).row;
  }
  get spot() {
    return this.#looks.spot(this.#composed);
  }
}

type Became = Pick<ResolvedResource, 'document' | 'lifecycle' | 'refs' | 'secrets' | 'placeOf'>;

/** Apart from what resolves a resource, so that nothing of that is held for it. */
function openPlaces(
  composed: ComposedResource,
  inherited: Inherited | undefined,
  nameFrom: string | undefined,
  looks: Looks,
): ResolvedResource['placeOf'] {
  return (path) => {
    const [first, ...rest] = parsePath(path) ?? [];
    if (first === undefined) return undefined;
    const handedDown = inherited?.places.get(first);
    if (handedDown !== undefined) return handedDown;
    const own = first === 'name' ? nameFrom : undefined;
    const isNew = own === undefined && !namesField(composed.kind.schema, first);
    const member = own ?? configNames(composed.kind).get(first) ?? first;
    // Of a field as a whole it does not matter what it became.
    if (rest.length === 0 && !isNew)
      return placeOfMember(looks.made(composed).body.members.get(member));
    const at = isNew ? ['unchecked', first, ...rest] : [member, ...rest];
    const spot = followPath(looks.spot(composed), at);
    return spot && placeOfMember({ keyPlace: spot.keyPlace, value: spot.written });
  };
}
