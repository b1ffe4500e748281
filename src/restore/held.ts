import type { Address } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import { type Blob, type Json, type JsonObject, ownOf, type Secret } from '../core/value.ts';
import { leavesOf } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Scope } from '../kinds/kind.ts';
import { naturalKeyOf } from '../plan/natural-key.ts';
import type { RestorationException } from '../render/restoration.ts';
import { documentOf, type ResourceRecord } from '../snapshot/format.ts';
import { isConcealed, type ResourceState } from '../state/model.ts';

/**
 * `restore/` turns what a snapshot holds into a desired side for an account that may be another one: names
 * for resources that had none, ids that follow what is made anew, secrets and files in their places, and a
 * list of what cannot come back. What becomes of it goes through the ordinary diff, plan and apply. Only the
 * snapshot, what the target lists and what is supplied are read here; nothing is written.
 *
 * This file: a resource of a snapshot with what restoring needs to know of it.
 */

export type Held = {
  readonly kind: string;
  readonly id: string;
  readonly scope: Scope;
  /** What people call it: its name, its page, or its id. */
  readonly name: string;
  /** What tells it from others of its kind and place; its id where nothing else does. */
  readonly key: string;
  /** The organization that it belongs to, also where that is not what its list is narrowed to. */
  readonly organization: string | undefined;
  /** Kinds and ids of the resources that it refers to: `retry_policy 2f0c…`. */
  readonly references: readonly string[];
  /**
   * In the shape of the configuration, without what no schema knows. It is made anew each time, so that a large
   * snapshot is not held as documents.
   */
  readonly document: () => JsonObject;
  /** Paths of sensitive values that the snapshot leaves out. */
  readonly withheld: readonly string[];
  /** Top-level fields that this version does not know how to write. */
  readonly unknown: readonly string[];
  /** Its address in the stack that the snapshot was made in. */
  readonly address: Address | null;
  /** Paths of secrets that were written to it; undefined where nobody kept a record. */
  readonly secrets: readonly string[] | undefined;
  /** `sha256:…` of the files that it was made of, by path, as far as a state knew them. */
  readonly files: { readonly [path: string]: string };
  readonly protect: boolean;
  /** Whether all of it could be read; otherwise what its list shows is known. */
  readonly isWhole: boolean;
};

/** Keeps a document of a group, and gives it back each time it is asked for. */
export type Keep = (group: string, document: JsonObject) => () => JsonObject;

export function heldFrom(record: ResourceRecord, keep: Keep): Held {
  const { kind, id, scope, withheld, address, state, extent } = record;
  const { properties } = kindNamed(kind).schema;
  const all = Object.entries(documentOf(record));
  const known = all.filter(([field]) => ownOf(properties, field) !== undefined);
  const leaves = Object.entries(state?.leaves ?? {});
  const document = Object.fromEntries(known);
  return {
    kind,
    id,
    scope,
    name: nameIn(document) ?? id,
    key: naturalKeyOf(kindNamed(kind), document) ?? id,
    organization: ownerIn(scope.organization_id ?? document.organization_id),
    references: referencesIn(kind, document),
    document: keep(`${kind} ${placeOf({ kind, scope }) ?? ''}`, document),
    withheld,
    unknown: all.map(([field]) => field).filter((field) => ownOf(properties, field) === undefined),
    address,
    secrets:
      state === null
        ? undefined
        : leaves.filter(([, leaf]) => isConcealed(leaf)).map(([path]) => path),
    files: Object.fromEntries(
      leaves.flatMap(([path, leaf]) =>
        'digest' in leaf && ownOf(properties, path)?.['x-file'] !== undefined
          ? [[path, leaf.digest]]
          : [],
      ),
    ),
    protect: state?.protect ?? false,
    isWhole: extent === 'whole',
  };
}

function nameIn({ name, url }: JsonObject): string | undefined {
  if (typeof name === 'string' && name !== '') return name;
  return typeof url === 'string' && url !== '' ? url : undefined;
}

function ownerIn(owner: Json | undefined): string | undefined {
  return typeof owner === 'string' && owner !== '' ? owner : undefined;
}

function referencesIn(kind: string, document: JsonObject): readonly string[] {
  const referred = new Set<string>();
  for (const { schema, value } of leavesOf(kindNamed(kind).schema, document).leaves.values()) {
    const other = schema['x-ref'];
    if (other !== undefined && typeof value === 'string') referred.add(`${other} ${value}`);
  }
  return [...referred];
}

/** Ids of organizations and knowledge bases: what each was → where its resources go. */
export type IdMap = ReadonlyMap<string, string>;

/** Where what stands in a place goes: where it is mapped to, or where it was. */
export function mappedId(places: IdMap, id: string): string {
  return places.get(id) ?? id;
}

/** The place of a resource; undefined for what belongs to the account as a whole. */
export function placeOf({ kind, scope }: Pick<Held, 'kind' | 'scope'>): string | undefined {
  const [field = ''] = kindNamed(kind).scope;
  return scope[field] || undefined;
}

/** A document at its new place. */
export function moved(kind: string, document: JsonObject, places: IdMap): JsonObject {
  const fields = new Set([...kindNamed(kind).scope, 'organization_id']);
  return Object.fromEntries(
    Object.entries(document).map(([field, value]) => [
      field,
      fields.has(field) && typeof value === 'string' ? mappedId(places, value) : value,
    ]),
  );
}

/**
 * Refuses two places that come to be one where resources of both would get in each other's way: of one name,
 * or of names that only differ by case, which some lists take for one.
 */
export function refuseClashes(all: readonly Held[], places: IdMap): void {
  const clashes: string[] = [];
  const byName = Map.groupBy(
    all.filter((held) => placeOf(held) !== undefined),
    (held) =>
      JSON.stringify([
        held.kind,
        mappedId(places, placeOf(held) ?? ''),
        held.name.normalize('NFC').toLowerCase(),
      ]),
  );
  for (const sharing of byName.values()) {
    const origins = new Set(sharing.map(placeOf));
    if (origins.size < 2) continue;
    const names = [...new Set(sharing.map((held) => JSON.stringify(held.name)))];
    const kind = sharing[0]?.kind.replaceAll('_', ' ');
    const how = names.length > 1 ? ', which only differ by case' : '';
    clashes.push(`${kind} ${names.join(' and ')} of ${[...origins].join(' and ')}${how}`);
  }
  if (clashes.length === 0) return;
  throw new CallsheetError(
    'usage',
    `resources would have the same name in one place:${linesOf(clashes)}`,
    {
      hint: 'Restore one of them to another place, or rename resources between two restores.',
    },
  );
}

/** Lines of a list in a message: the whole of it is in the JSON of a dry run. */
const MOST_LISTED = 10;

/** The first of a list as lines that follow a sentence; `more` says where the others are. */
export function linesOf(all: readonly string[], more = ''): string {
  const lines = all.slice(0, MOST_LISTED);
  if (all.length > lines.length) lines.push(`and ${all.length - lines.length} more${more}`);
  return lines.map((line) => `\n  ${line}`).join('');
}

/** What the list of a resource is narrowed to, at its new place. */
export function scopeAt({ kind, scope }: Pick<Held, 'kind' | 'scope'>, places: IdMap): Scope {
  const fields = kindNamed(kind).scope;
  return Object.fromEntries(fields.map((field) => [field, mappedId(places, scope[field] ?? '')]));
}

/** What is known of where a snapshot is restored to. */
export type Target = {
  readonly places: IdMap;
  /** Whether it is the account that the snapshot is of, so that its ids may still mean something. */
  readonly isSameAccount: boolean;
  /** Why nothing can be put into a place; undefined where it can. */
  readonly obstacleAt: (place: string) => string | undefined;
  /** Whether the platform has it already. */
  readonly exists: (address: Address) => boolean;
  /** Whether what is there is the resource of the snapshot itself, with whatever secrets it had. */
  readonly isOriginal: (held: Held, address: Address) => boolean;
  /** What the state of the restoration says of it. */
  readonly recorded: (address: Address) => ResourceState | undefined;
  /** The secret of a path, where it is at hand. */
  readonly secretAt: (address: Address, path: string) => Secret | undefined;
  /** The environment variable that the secret of a path is looked for in. */
  readonly variableAt: (address: Address, path: string) => string;
  /** The file that a resource was made of, where it is at hand. */
  readonly fileFor: (held: Held, address: Address, field: string) => Blob | undefined;
  /** Why a part with an endpoint of its own is left out, by address and field. */
  readonly leftOut: (address: Address, field: string) => string | undefined;
  /** Whether ids are replaced in what people wrote. */
  readonly rewritesTexts: boolean;
};

/**
 * What is not as the snapshot has it, or not provably so.
 *
 * | what    | means                                                                          |
 * |---------|--------------------------------------------------------------------------------|
 * | `never` | no endpoint writes it: histories, call logs, ids, timestamps                    |
 * | `secret`| a secret or a sensitive value that nobody supplied, or that cannot be compared  |
 * | `file`  | it was made of a file whose bytes are not at hand                               |
 * | `part`  | a part that the platform does not take, such as a registration                  |
 * | `place` | its knowledge base or organization is not there                                 |
 * | `unread`| the snapshot does not hold it                                                   |
 * | `field` | a field that this version does not know how to write                            |
 */
export type Exception = RestorationException & {
  /** Any text in the document, so that a later version may know others. */
  readonly what: 'never' | 'secret' | 'file' | 'part' | 'place' | 'unread' | 'field';
};
