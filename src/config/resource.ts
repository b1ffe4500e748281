import type { Address } from '../core/address.ts';
import type { Lifecycle } from '../core/desired.ts';
import { parsePath } from '../core/path.ts';
import { Blob } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Layer } from './bases.ts';
import type { Inherited } from './block.ts';
import type { ComposedResource } from './compose.ts';
import { checkIgnored, readLifecycle } from './lifecycle.ts';
import { resolve } from './resolve.ts';
import {
  type Context,
  membersOf,
  type RefUse,
  type Resolved,
  type ResolvedObject,
  rootField,
  type SecretUse,
  type Surroundings,
} from './resolved.ts';
import type { Row } from './rows.ts';
import { configName, resourceSchema } from './schema.ts';
import type { Place } from './source.ts';
import { followPath, rootSpot, type Spot } from './trace.ts';
import { validate } from './validate.ts';
import { memberOf } from './written.ts';

/** A resource with its forms followed and its schema checked; there may be holes. */
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
  /** In the platform's field names. */
  readonly document: ResolvedObject;
  readonly lifecycle: Lifecycle;
  readonly unchecked: ResolvedObject;
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
function placeOfSpot(spot: Spot | undefined): Place | undefined {
  if (spot === undefined) return undefined;
  const { keyPlace, written } = spot;
  return written !== undefined && written.place.source !== keyPlace?.source
    ? written.place
    : keyPlace;
}

/** Resolves one resource and reports what is wrong with it by itself. */
export function resolveResource(
  written: ComposedResource,
  inherited: Inherited | undefined,
  surroundings: Surroundings,
): ResolvedResource {
  const { kind, address, keyPlace, body, foundation, row, layers } = written;
  const schema = resourceSchema(kind);
  const refs: RefUse[] = [];
  const secrets: SecretUse[] = [];
  const own = { root: schema, subject: address, address, refs, secrets };
  const context: Context = { ...surroundings, ...own, foundation, row };
  const value = resolve(body, rootField(schema), context);
  const root = rootSpot(schema, value, body, keyPlace);
  validate({ subject: address, address, root }, context.report);
  const members = membersOf(value);
  const document: Record<string, Resolved> = { ...inherited?.fields };
  const names = configNames(kind);
  for (const [field, member] of names) {
    if (Object.hasOwn(members, member)) document[field] = members[member] ?? null;
    else if (member === 'organization') {
      const id = missingOrganization(field, keyPlace, context);
      if (id !== undefined) document[field] = id;
    }
  }
  const name = nameOfFile(kind, document);
  if (name !== undefined) document.name = name.value;
  const life = readLifecycle(members.lifecycle);
  checkIgnored(kind, life.ignore, memberOf(body, 'lifecycle')?.value, context);
  return {
    kind,
    address,
    keyPlace,
    ownPlace: row?.cells.place ?? keyPlace,
    layers,
    row,
    spot: root,
    document,
    lifecycle: life,
    unchecked: membersOf(members.unchecked),
    refs,
    secrets,
    placeOf: (path) => {
      const [first, ...rest] = parsePath(path) ?? [];
      if (first === undefined) return undefined;
      const handedDown = inherited?.places.get(first);
      const own = first === 'name' ? name?.from : undefined;
      const member = own ?? names.get(first) ?? first;
      return handedDown ?? placeOfSpot(followPath(root, [member, ...rest]));
    },
  };
}
