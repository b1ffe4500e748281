import { UnreadError } from '../core/errors.ts';
import { parsePath } from '../core/path.ts';
import type { HistoryEntry } from '../core/plan-document.ts';
import { namesField } from '../core/schema.ts';
import type { JsonObject, ValueObject } from '../core/value.ts';
import type { Call, Kind, Scope } from '../kinds/kind.ts';
import type { ResourceState } from '../state/model.ts';

/**
 * `plan/` works out what to do: which live resource each address stands for, how it differs, in which
 * steps that is mended, and whether a guard objects. It is pure: what it needs to know of the platform
 * it asks of a `Reader`, which `live/` provides.
 */

export type { HistoryEntry };

/** An item of a list: enough to recognise a resource, not always all of it. */
export type ListedResource = {
  readonly id: string;
  readonly scope: Scope;
  readonly record: JsonObject;
};

/** A live resource. */
export type LiveResource = {
  readonly id: string;
  readonly scope: Scope;
  readonly extent: Extent;
  /** In the shape of the configuration, facets included. */
  readonly document: JsonObject;
  /** As the platform returned it. */
  readonly record: JsonObject;
  /** Facets that the platform did not show, and its answer: `document` lacks them. */
  readonly unread?: Readonly<Record<string, string>>;
  /** Facets that were not asked for, since the record rules out that they can be switched on: `document` lacks them. */
  readonly unasked?: readonly string[];
  /** A time that the platform's clock had reached when it was read, in milliseconds since 1970; undefined: it did not say. */
  readonly readAt?: number | undefined;
};

/**
 * How much of a resource could be read: all of it, what its list shows where the platform cannot be asked
 * for one alone, or nothing, where there is no list either. Nothing means that `document` and `record`
 * are empty, not that the resource is.
 */
export type Extent = 'whole' | 'listed' | 'nothing';

/**
 * Why an operation cannot be used: `platform.assume: false` refuses it, since its place (`refused`) or its
 * request (`unshown`) is not documented, or the platform does not have it.
 */
export type Lack = 'refused' | 'unshown' | 'absent';

export type Reader = {
  /**
   * Every resource of a kind in a scope. Listed once; asked again, the same answer, unless it is to be
   * `fresh`. Undefined: the platform cannot be asked for the list. With `fields`, records have these and their
   * id alone.
   */
  readonly list: (
    kind: Kind,
    scope: Scope,
    fresh?: boolean,
    fields?: readonly string[],
  ) => Promise<readonly ListedResource[] | undefined>;
  /**
   * One resource, read afresh; `facets` names those to read too. Undefined: there is none. Where a kind's
   * list items are all that can be read, a `record` from the list is taken as it is. With `isUnread`, the
   * resource is known to exist without ever having been read, so that a 404 says nothing about it; with `isUnlisted`, its
   * list was read and does not have it, so that a 404 is enough. With `isFrugal`, facets are not asked for that the record
   * rules out; with `isKnown`, `record` is all of it as it is live, and facets alone are asked for.
   */
  readonly read: (
    kind: Kind,
    at: {
      readonly id: string;
      readonly scope: Scope;
      readonly record?: JsonObject;
      readonly isUnread?: boolean;
      readonly isUnlisted?: boolean;
      readonly isFrugal?: boolean;
      readonly isKnown?: boolean;
    },
    facets: ReadonlySet<string>,
  ) => Promise<LiveResource | undefined>;
  /** Why an operation cannot be used, as far as is known by now. Undefined: nothing speaks against it. */
  readonly findLack: (operation: string) => Lack | undefined;
  /**
   * The newest history entries, newest first; empty for kinds without a history. Throws `UnreadError` where the platform
   * refuses those of this resource.
   */
  readonly history: (kind: Kind, id: string, limit: number) => Promise<readonly HistoryEntry[]>;
  /**
   * True if history entries carry times (`history.list-shape`): then a write can be found by its time later. Asked of
   * the history of one resource, once; undefined where that has no entries.
   */
  readonly isHistoryDated: (kind: Kind, id: string) => Promise<boolean | undefined>;
  /** The platform's locks, catalogues and limits of the key; `fresh` asks again, otherwise the answers are the same. */
  readonly entitlements: (fresh?: boolean) => Entitlements;
};

/** The newest history entries, or none and why the platform does not show them. */
export async function historyIfShown(
  reader: Pick<Reader, 'history'>,
  ...asked: Parameters<Reader['history']>
): Promise<{ readonly entries: readonly HistoryEntry[]; readonly unread?: string }> {
  try {
    return { entries: await reader.history(...asked) };
  } catch (error) {
    if (!(error instanceof UnreadError)) throw error;
    return { entries: [], unread: error.message };
  }
}

/** Throws `UnreadError` where a facet, any unless given, could not be read, for those that cannot go on without it. */
export function requireRead({ id, unread = {} }: LiveResource, needed?: string): void {
  for (const [field, why] of Object.entries(unread))
    if (needed === undefined || needed === field)
      throw new UnreadError(`${field} of ${id} cannot be read: ${why}`, undefined);
}

/**
 * Reads a resource as those need it who want the given top-level fields of it: with their facets, and with what is
 * newer than the schema under the name that it was sent under, where the platform returns it in snake_case (Agent:
 * write names are camelCase).
 */
export async function readWith(
  reader: Pick<Reader, 'read'>,
  kind: Kind,
  at: Parameters<Reader['read']>[1],
  fields: Iterable<string>,
): Promise<LiveResource | undefined> {
  const names = new Set(fields);
  const live = await reader.read(kind, at, facetsRead(kind, names));
  const sent = [...names].filter((name) => !namesField(kind.schema, name));
  return live === undefined || sent.length === 0
    ? live
    : { ...live, document: undersent(live, sent) };
}

/** The facets that are read for those who want the given fields; what the record itself holds costs no request. */
export function facetsRead(
  { facets }: Pick<Kind, 'facets'>,
  names: ReadonlySet<string>,
): ReadonlySet<string> {
  return new Set(
    facets.flatMap(({ field, get }) => (get === undefined || names.has(field) ? [field] : [])),
  );
}

function undersent({ document }: LiveResource, names: readonly string[]): JsonObject {
  const sentAs = new Map(
    names.filter((name) => !Object.hasOwn(document, name)).map((name) => [snakeCase(name), name]),
  );
  return Object.fromEntries(
    Object.entries(document).map(([field, value]) => [sentAs.get(field) ?? field, value]),
  );
}

/** The name under which the platform returns what was sent in camelCase. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * The top-level fields that the configuration has, and those newer than the schema that the state remembers; of what
 * is to go, every facet that Callsheet ever wrote, since the copy of it is all that comes back.
 */
export function listFields(
  { schema, facets }: Kind,
  document: ValueObject | undefined,
  leaves: ResourceState['leaves'] | undefined,
): ReadonlySet<string> {
  const fields = new Set(Object.keys(document ?? {}));
  const going = new Set(document === undefined ? facets.map(({ field }) => field) : []);
  for (const text of Object.keys(leaves ?? {})) {
    if (namesField(schema, text)) continue;
    const field = text.startsWith('"') ? parsePath(text)?.[0] : text.split(/[.[]/, 1)[0];
    if (field !== undefined && (going.has(field) || !namesField(schema, field))) fields.add(field);
  }
  return fields;
}

/** How many calls the resources of organizations took lately. No plan fails for want of a figure, or waits long for one. */
export type RecentCalls = {
  /** Begins to ask for those of an organization, if it was not asked yet. */
  readonly ask: (organization: string) => void;
  /** The calls of a resource by its id, as far as answers came or come soon; undefined where they are not known. */
  readonly counts: () => Promise<(organization: string, id: string) => number | undefined>;
};

/**
 * The platform's answers on what it takes. Nothing is asked before a change raises the question, and nothing is asked
 * twice.
 */
export type Entitlements = {
  /** Locked features, by key; null asks for what the account locks for everybody. */
  readonly locks: (organization: string | null) => Promise<Answer<ReadonlyMap<string, Lock>>>;
  /** Ids that stand in a catalogue; see `kinds/catalogues.ts`. */
  readonly offers: (
    catalogue: string,
    organization: string | null,
  ) => Promise<Answer<ReadonlySet<string>>>;
  /** The answer of a call about one resource. */
  readonly about: (call: Call) => Promise<Answer<JsonObject>>;
  /** The level of the key, if that closes an operation to it; undefined if the operation is open. */
  readonly closedTo: (operation: string) => Promise<Answer<KeyLevel | undefined>>;
};

/** The answer, or why the platform gives none. */
export type Answer<T> =
  | { readonly type: 'answered'; readonly value: T }
  | { readonly type: 'unanswered'; readonly why: string };

/** A locked feature (Feature entry). */
export type Lock = {
  /** `here` or `inherited`; null where the platform does not say. */
  readonly scope: string | null;
  /** True if older settings decide, not the feature matrix. */
  readonly isLegacy: boolean;
};

/** The level of a scoped key (Authentication 5). */
export type KeyLevel = 'reseller' | 'organization';
