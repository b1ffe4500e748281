import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Address, nameInWords } from '../../core/address.ts';
import { CallsheetError, firstLines } from '../../core/errors.ts';
import { type Blob, findFilled, getOwn, type JsonObject, type Secret } from '../../core/value.ts';
import { listLeaves } from '../../diff/leaves.ts';
import { kindNamed } from '../../kinds/index.ts';
import type { Scope } from '../../kinds/kind.ts';
import { getNaturalKey } from '../../plan/natural-key.ts';
import { type Media, openMedia, type SnapshotFile } from '../../snapshot/file.ts';
import {
  buildDocument,
  type ContentRecord,
  type End,
  filesIn,
  type Header,
  type ResourceRecord,
} from '../../snapshot/format.ts';
import { type AppliedLeaf, concealedPaths, type ResourceState } from '../../state/model.ts';
import type { RestorationException } from './restoration.ts';

/**
 * `recovery/` turns what a snapshot holds into a desired side for an account that may be another one: names
 * for resources that had none, ids that follow the new resources, secrets and files in their places, and a
 * list of what cannot come back. What becomes of it goes through the ordinary diff, plan and apply. Only the
 * snapshot, what the target lists and what is supplied are read here; nothing is written.
 *
 * This file: a resource of a snapshot with what restoring needs to know of it, and all of them as they are read.
 */

export type Held = {
  readonly kind: string;
  readonly id: string;
  readonly scope: Scope;
  /** Its name, its page, or its id. */
  readonly name: string;
  /** Its natural key within its kind and place; its id if it has none. */
  readonly key: string;
  /** The organization that it belongs to, also where that is not what its list is narrowed to. */
  readonly organization: string | undefined;
  /** Kinds and ids of the resources that it refers to: `retry_policy 2f0c…`. */
  readonly references: readonly string[];
  /**
   * In the shape of the configuration, without what no schema knows. It is built on each call, so that a large
   * snapshot is not held as documents.
   */
  readonly document: () => JsonObject;
  /** Paths of sensitive values that the snapshot leaves out. */
  readonly withheld: readonly string[];
  /** Top-level fields that this version does not know how to write. */
  readonly unknown: readonly string[];
  /** Its address in the stack that the snapshot was made in. */
  readonly address: Address | null;
  /** Paths of secrets that were written to it; undefined if no state recorded them. */
  readonly secrets: readonly string[] | undefined;
  /** `sha256:…` of the files that it was made of, by path, as far as a state knew them. */
  readonly files: { readonly [path: string]: string };
  /** The state's entries of values that the platform had stored as others, by path. */
  readonly storedLeaves: { readonly [path: string]: AppliedLeaf };
  readonly protect: boolean;
  /** False if the snapshot has only the fields in its list. */
  readonly isWhole: boolean;
};

/** Keeps a document of a group, and gives it back each time it is asked for. */
export type Keep = (group: string, document: JsonObject) => () => JsonObject;

function heldFrom(record: ResourceRecord, keep: Keep): Held {
  const { kind, id, scope, withheld, address, state, extent } = record;
  const { properties } = kindNamed(kind).schema;
  const all = Object.entries(buildDocument(record));
  const known = all.filter(([field]) => getOwn(properties, field) !== undefined);
  const document = Object.fromEntries(known);
  return {
    kind,
    id,
    scope,
    name: nameIn(document) ?? id,
    key: getNaturalKey(kindNamed(kind), document) ?? id,
    organization: findFilled(scope.organization_id ?? document.organization_id),
    references: referencesIn(kind, document),
    document: keep(`${kind} ${findPlace({ kind, scope }) ?? ''}`, document),
    withheld,
    unknown: all.map(([field]) => field).filter((field) => getOwn(properties, field) === undefined),
    address,
    secrets: state === null ? undefined : concealedPaths(state.leaves),
    files: filesIn(record),
    storedLeaves: Object.fromEntries(
      Object.entries(state?.leaves ?? {}).filter(([, leaf]) => 'stored' in leaf),
    ),
    protect: state?.protect ?? false,
    isWhole: extent === 'whole',
  };
}

function nameIn({ name, url }: JsonObject): string | undefined {
  return findFilled(name) ?? findFilled(url);
}

function referencesIn(kind: string, document: JsonObject): readonly string[] {
  const referred = new Set<string>();
  for (const { schema, value } of listLeaves(kindNamed(kind).schema, document).leaves.values()) {
    const other = schema['x-ref'];
    if (other !== undefined && typeof value === 'string') referred.add(`${other} ${value}`);
  }
  return [...referred];
}

/** Ids of organizations and knowledge bases: what each was → where its resources go. */
export type IdMap = ReadonlyMap<string, string>;

/** Returns the place that another is mapped to, or the place itself if it is not mapped. */
export function mappedId(places: IdMap, id: string): string {
  return places.get(id) ?? id;
}

/** The place of a resource; undefined for what belongs to the account as a whole. */
export function findPlace({ kind, scope }: Pick<Held, 'kind' | 'scope'>): string | undefined {
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
    all.filter((held) => findPlace(held) !== undefined),
    (held) =>
      JSON.stringify([
        held.kind,
        mappedId(places, findPlace(held) ?? ''),
        held.name.normalize('NFC').toLowerCase(),
      ]),
  );
  for (const sharing of byName.values()) {
    const origins = new Set(sharing.map(findPlace));
    if (origins.size < 2) continue;
    const names = [...new Set(sharing.map((held) => JSON.stringify(held.name)))];
    const kind = nameInWords(sharing[0]?.kind ?? '');
    const how = names.length > 1 ? ', which only differ by case' : '';
    clashes.push(`${kind} ${names.join(' and ')} of ${[...origins].join(' and ')}${how}`);
  }
  if (clashes.length === 0) return;
  throw new CallsheetError(
    'usage',
    `resources would have the same name in one place:${formatLines(clashes)}`,
    {
      hint: 'Restore one of them to another place, or rename resources between two restores.',
    },
  );
}

/** Lines of a list in a message: the whole of it is in the JSON of a dry run. */
const MOST_LISTED = 10;

/** The first of a list as lines that follow a sentence; `more` says where the others are. */
export function formatLines(all: readonly string[], more = ''): string {
  return firstLines(all, MOST_LISTED, more)
    .map((line) => `\n  ${line}`)
    .join('');
}

/** Returns the scope of the list of a resource at its new place. */
export function scopeAt({ kind, scope }: Pick<Held, 'kind' | 'scope'>, places: IdMap): Scope {
  const fields = kindNamed(kind).scope;
  return Object.fromEntries(fields.map((field) => [field, mappedId(places, scope[field] ?? '')]));
}

/** The account that a snapshot is restored to, as far as it is known. */
export type Target = {
  readonly places: IdMap;
  /** True if it is the account of the snapshot, whose ids may still be valid. */
  readonly isSameAccount: boolean;
  /** Why nothing can be put into a place; undefined where it can. */
  readonly obstacleAt: (place: string) => string | undefined;
  readonly exists: (address: Address) => boolean;
  /** True if the existing resource is the one of the snapshot (same account and id), with its own secrets. */
  readonly isOriginal: (held: Held, address: Address) => boolean;
  /** True if this restore made the existing resource, so that it has no part with an endpoint of its own yet. */
  readonly isMade: (address: Address) => boolean;
  /** True if the resource exists without the object, or the list element, that a secret stood in. */
  readonly isPlaceGone: (address: Address, path: string) => boolean;
  /** The entry of the resource in the state of the restoration. */
  readonly recorded: (address: Address) => ResourceState | undefined;
  /** The secret of a path, where it is at hand; of what an element is known by its text, as nothing else tells it. */
  readonly secretAt: (address: Address, path: string) => Secret | string | undefined;
  /** The environment variable that the secret of a path is looked for in. */
  readonly variableAt: (address: Address, path: string) => string;
  /** The file that a resource was made of, where it is at hand. */
  readonly fileFor: (held: Held, address: Address, field: string) => Blob | undefined;
  /** The file whose name several resources have, so that its owner is unknown; undefined if there is none. */
  readonly sharedFile: (held: Held) =>
    | {
        readonly file: string;
        readonly wantedBy: readonly Address[];
        /** The id of the organization or knowledge base that the resource is in. */
        readonly place: string | undefined;
      }
    | undefined;
  /** Why a part with an endpoint of its own is left out, by address and field. */
  readonly leftOut: (address: Address, field: string) => string | undefined;
  /** True in the folder of a stack, whose next apply writes secrets that a restore leaves out. */
  readonly hasStack: boolean;
  /** True if ids in texts are replaced (`--map-texts`). */
  readonly rewritesTexts: boolean;
};

/**
 * An exception is a part that is not as the snapshot has it, or not provably so.
 *
 * | what    | means                                                                          |
 * |---------|--------------------------------------------------------------------------------|
 * | `never` | no endpoint writes it: histories, call logs, ids, timestamps                    |
 * | `secret`| a secret or sensitive value that was not supplied, or cannot be compared        |
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

/** All that a snapshot holds which can be made again. */
export type Holding = {
  readonly file: string;
  readonly header: Header;
  readonly sha256: string;
  readonly all: readonly Held[];
  /** Names of organizations by id; null where the snapshot knows none. */
  readonly organizations: ReadonlyMap<string, string | null>;
  /** Parts of the account that the snapshot lacks. */
  readonly gaps: readonly Exception[];
  /** The files that it holds. */
  readonly media: Media;
};

/** Collects what can be made again while the records of a snapshot go by. */
export function collectHeld(records: SnapshotFile['records']): {
  readonly note: (record: ContentRecord | End) => void;
  readonly held: Pick<Holding, 'all' | 'organizations' | 'gaps' | 'media'>;
} {
  const all: Held[] = [];
  const organizations = new Map<string, string | null>();
  const gaps: Exception[] = [];
  const media = openMedia(records);
  const keep = packDocuments();
  const note = (record: ContentRecord | End) => {
    if (record.type === 'organization') organizations.set(record.id, record.name);
    if (record.type === 'media') media.note(record);
    if (record.type === 'gap') gaps.push(toGap(record));
    if (record.type !== 'resource') return;
    const held = heldFrom(record, keep);
    all.push(held);
    const { organization_id: owner } = held.scope;
    if (owner && !organizations.has(owner)) organizations.set(owner, null);
  };
  return { note, held: { all, organizations, gaps, media } };
}

/** Reads a snapshot from end to end, so that one that is damaged is refused before anything is asked. */
export async function readHolding({ file, header, records }: SnapshotFile): Promise<Holding> {
  const { note, held } = collectHeld(records);
  let sha256 = '';
  for await (const record of records()) {
    if (record.type === 'end') sha256 = record.sha256;
    note(record);
  }
  return { file, header, sha256, ...held };
}

function toGap({ of, why }: { readonly of: string; readonly why: string }): Exception {
  return { what: 'unread', address: null, message: `${of}: not in the snapshot (${why})` };
}

/** Documents of one group: as they are while there are few, packed with one call once there are enough. */
type Block = {
  texts: Buffer[];
  size: number;
  /** `starts`: the offset of each text; the last one is the end. */
  packed: { readonly bytes: Buffer; readonly starts: readonly number[] } | undefined;
};

/** So many bytes of text are packed together: what they have in common is kept once. */
const BLOCK = 256 * 1024;
/** So many bytes stay unpacked, over all groups: a snapshot of an account that is not large is never packed. */
const MOST_OPEN = 8 * 1024 * 1024;
/** So many blocks stay unpacked after they were read: a resource and the few that it refers to. */
const MOST_READ = 12;

/**
 * Packing each document on its own was tried, and left more behind in memory than it saved: every call of zlib
 * does, until a large collection. So blocks of a group are packed, a group being what is read together.
 */
export function packDocuments(
  { block: full, open: mostOpen }: { readonly block: number; readonly open: number } = {
    block: BLOCK,
    open: MOST_OPEN,
  },
): Keep {
  const filling = new Map<string, Block>();
  const read = new Map<Block, Buffer>();
  let open = 0;

  function pack(group: string, block: Block): void {
    filling.delete(group);
    open -= block.size;
    const starts = [0];
    for (const { length } of block.texts) starts.push((starts.at(-1) ?? 0) + length);
    // A copy: what zlib returns may lie in a larger piece of memory.
    const bytes = Buffer.from(deflateRawSync(Buffer.concat(block.texts), { level: LEVEL }));
    block.packed = { bytes, starts };
    block.texts = [];
  }

  function unpack(block: Block, packed: NonNullable<Block['packed']>): Buffer {
    const known = read.get(block);
    read.delete(block);
    const whole = known ?? inflateRawSync(packed.bytes, { chunkSize: Math.max(block.size, 64) });
    read.set(block, whole);
    const [oldest] = read.keys();
    if (read.size > MOST_READ && oldest !== undefined) read.delete(oldest);
    return whole;
  }

  function textAt(block: Block, index: number): string {
    const { packed, texts } = block;
    if (packed === undefined) return texts[index]?.toString() ?? '';
    const { [index]: start, [index + 1]: end } = packed.starts;
    return unpack(block, packed).toString('utf8', start, end);
  }

  return (group, document) => {
    const block = filling.get(group) ?? { texts: [], size: 0, packed: undefined };
    filling.set(group, block);
    const text = Buffer.from(JSON.stringify(document));
    const index = block.texts.push(text) - 1;
    block.size += text.length;
    open += text.length;
    if (block.size >= full) pack(group, block);
    else if (open > mostOpen) pack(...findLargest(filling, [group, block]));
    return () => JSON.parse(textAt(block, index));
  };
}

/** Quick: it is done while a person waits for the first plan. */
const LEVEL = 1;

function findLargest(
  filling: ReadonlyMap<string, Block>,
  first: readonly [string, Block],
): readonly [string, Block] {
  let largest = first;
  for (const one of filling) if (one[1].size > largest[1].size) largest = one;
  return largest;
}
