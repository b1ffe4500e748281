import type { FieldSchema, KindSchema } from '../core/schema.ts';
import {
  type Blob,
  getOwn,
  isObject,
  type Json,
  type JsonObject,
  type ValueObject,
} from '../core/value.ts';

/**
 * `kinds/` describes the types of resources: one schema and one declarative file each. Everything that
 * is particular to a kind stands here; `diff/`, `plan/`, `live/` and `apply/` treat all kinds alike.
 *
 * A kind says which calls read and write its resources. It makes no request itself: the calls are data,
 * and the few writes that take several steps get an `Io` to perform them with, so that the executor can
 * journal every step.
 */
export type Kind = {
  /** `agent`: what addresses begin with. */
  readonly name: string;
  /** `agents`: the top-level key of the configuration. */
  readonly section: string;
  /** For kinds that stand inside a block of their section, as sources stand in a knowledge base. */
  readonly nested?: {
    /** The block's key that holds the resources. */
    readonly key: string;
    /** The members that the block hands down: member of the block → field of the resource. */
    readonly inherit: { readonly [member: string]: string };
  };
  readonly schema: KindSchema;
  /** The operations behind the functions below, so that a plan can name the assumptions it relies on. */
  readonly operations: KindOperations;
  /** Which fields, taken together, name a resource. The first whose fields are all present is used. */
  readonly naturalKey: readonly (readonly string[])[];
  /** Several live resources with one natural key are an error, or versions of each other. */
  readonly tie: 'error' | 'newest';
  /** True if the platform refuses a second resource of one natural key, so that none is made unawares. */
  readonly refusesTwins: boolean;
  /** The fields that say which list a resource is found in. */
  readonly scope: readonly string[];
  readonly list: (scope: Scope) => Call;
  /**
   * That `updated_at` gets another value with every change, so that a list which has it tells what did not
   * change since it was read. Kinds without it are read whenever they are compared.
   */
  readonly stamp?: Stamp;
  /** True if its list, asked without a scope, holds every resource that the key has access to. */
  readonly listsAll?: boolean;
  /** Reads one resource whole. Kinds whose list items are whole have none. */
  readonly get?: (id: string) => Call;
  /** Its resources take calls, which metrics count (Metrics, agentPerformance). */
  readonly takesCalls?: boolean;
  /** Fields that tell resources apart in a list, beside name and id: the most telling first. */
  readonly columns: readonly string[];
  /** Returns the platform's record in the shape of the configuration. Facets are added by their own `read`. */
  readonly document: (record: JsonObject, scope: Scope) => JsonObject;
  /**
   * Members of its bodies, in their write names, that follow from what a plan shows and are no fields: a
   * source's type, a file's name and size. `create` and `update` send just these beside the draft's body.
   */
  readonly implied?: (draft: Draft) => JsonObject;
  readonly create: (draft: Draft, io: Io) => Promise<Created>;
  /** Kinds without it cannot be changed: another value replaces the resource. */
  readonly update?: (id: string, draft: Draft, io: Io) => Promise<void>;
  /** Every way that a resource of the kind is made: see `making.ts`. */
  readonly making: readonly Making[];
  /**
   * How far a resource is that the platform goes on working on after the last request, by what it returns. Undefined: it
   * is ready. Kinds whose resources are ready once their requests were answered have no such function.
   */
  readonly unready?: (record: JsonObject) => Unready | undefined;
  readonly delete?: (id: string, io: Io) => Promise<void>;
  readonly facets: readonly Facet[];
  readonly history?: {
    readonly list: (id: string, limit: number) => Call;
    readonly revert: (id: string, entry: number) => Call;
  };
  /**
   * Why a resource that equals the configuration must be written all the same, such as its age. `asked`: when a run had
   * the platform work on it last, where the state knows (ISO 8601).
   */
  readonly due?: (
    record: JsonObject,
    wanted: JsonObject,
    now: Date,
    asked?: string,
  ) => string | undefined;
};

/**
 * A resource that the platform does not confirm to be ready.
 *
 * | phase     | the platform               | apply                                                            |
 * |-----------|----------------------------|------------------------------------------------------------------|
 * | `failed`  | gave up                    | has it work on the resource again                                |
 * | `running` | is at work                 | leaves it alone, however old it is                               |
 * | `unknown` | shows nothing that is known | leaves it alone, unless the making may have ended half-way (no state) |
 */
export type Unready = {
  readonly phase: 'failed' | 'running' | 'unknown';
  /** As the platform returns it. */
  readonly status: string | null;
  /** When it was last ready, else when it was made, as the platform returns it (ISO 8601). */
  readonly since: string | null;
  /** One clause with the facts, for people. No text of it is sanitised. */
  readonly says: string;
};

/** One way of making a resource. */
export type Making = {
  /** `document`. */
  readonly name: string;
  /** The field of what is read that tells that it was made this way; absent: it is the only one left. */
  readonly when?: string;
  /** The requests in their order. The first brings the id. */
  readonly requests: readonly MakingRequest[];
};

export type MakingRequest = {
  /** Its operation, or `upload`. */
  readonly operation: string;
  /** True if it needs something from the answer before it that is not kept: that request is sent again first. */
  readonly isBound?: boolean;
  /** The effect of going on with this request: `it is queued for ingestion again`. */
  readonly resumed: string;
};

/** A stamp marks what it does not cover: fields by `x-stamped: false`, facets by `isStamped`. */
type Stamp = {
  /** The assumption that it rests on. */
  readonly assumption: string;
};

/** Names of operations in `platform.openapi.yaml`. Fields may need more of them (`x-operations`). */
type KindOperations = {
  readonly read: readonly string[];
  readonly create: readonly string[];
  readonly update: readonly string[];
  readonly delete: readonly string[];
  readonly revert: readonly string[];
};

/** Values of a kind's `scope` fields. */
export type Scope = { readonly [field: string]: string };

/** One request to the platform, by the name of its operation in `platform.openapi.yaml`. */
export type Call = {
  readonly operation: string;
  readonly path?: { readonly [name: string]: string };
  /** A name that ends in `[]` is repeated for each value of a list; otherwise commas part them. */
  readonly query?: { readonly [name: string]: string | readonly string[] };
  readonly body?: Json;
  /** Multipart form data instead of a JSON body. */
  readonly form?: {
    readonly fields: { readonly [name: string]: string };
    readonly files: { readonly [name: string]: Blob };
  };
};

/** The content of a write. */
export type Draft = {
  /** In the platform's write names, secrets filled in, ids known, read-only fields gone. */
  readonly body: JsonObject;
  readonly scope: Scope;
  readonly files: { readonly [field: string]: Blob };
  /** True if the resource exists and is written again (a knowledge source that is ingested afresh). */
  readonly again: boolean;
  /** The part of its making that was done before a run died or lost an answer: it is to be finished, not doubled. */
  readonly begun?: Begun | undefined;
  /** True if another address stands for the resource of an id. */
  readonly isTaken: (id: string) => boolean;
};

/** A resource whose making has begun, and the operation of the request that it goes on with. */
export type Begun = { readonly id: string; readonly next: string };

export type Created = {
  readonly id: string;
  /** True if the platform had it before. It is taken over if it is complete, and made `again` otherwise. */
  readonly isFound?: boolean;
  /** A note for people on how it came about. */
  readonly remark?: string;
};

/** How a kind performs its calls. Answers are the parsed JSON bodies. */
export type Io = {
  /** Throws `ConflictError` where the platform has already what is to be made. */
  readonly call: (call: Call) => Promise<Json>;
  /** PUTs a file's bytes to a presigned address, without the bearer token. */
  readonly upload: (url: string, file: Blob) => Promise<void>;
};

/** A part of a document that is read and written through endpoints of its own. */
export type Facet = {
  /** Top-level field of the document. */
  readonly field: string;
  /** Its operations in `platform.openapi.yaml`. */
  readonly operations: readonly string[];
  /** True if a change of it is known to move the stamp of its resource. Otherwise it is read each time. */
  readonly isStamped: boolean;
  /** True if the platform carries a write out some time after its answer: until then reads may show the old value. */
  readonly isAsynchronous?: boolean;
  /** The extra read it needs, or none where the resource's own record holds it. */
  readonly get?: (id: string) => Call;
  /**
   * True if the record does not rule out that the part is switched on. If it does, nobody can switch it on while the record
   * is so, but a part that was on before may still be.
   */
  readonly mayBeOn?: (record: JsonObject) => boolean;
  /** Its value from the resource's record or from the answer of `get`; undefined where there is none. */
  readonly read: (record: JsonObject) => JsonObject | undefined;
  readonly write: (id: string, body: JsonObject) => Call;
  /** The message if it is wanted and `read` finds nothing. */
  readonly absent: string;
  /** The name of the thing that only the dashboard sets up and without which the part is absent. */
  readonly byHand?: string;
  /** The things that go with the resource and cannot be made again, for a facet that no request makes. */
  readonly goes?: string;
  /** The question to ask before a member marked `x-ready` is switched on. */
  readonly readiness?: Readiness;
};

/** A question to the platform about one resource, and how its answer is understood. */
export type Readiness = {
  readonly ask: (id: string) => Call;
  /**
   * Why the platform would refuse, or undefined where it would not. `written` are the top-level fields
   * that the same change writes: what depends on them is not known yet.
   */
  readonly refusal: (answer: JsonObject, written: ReadonlySet<string>) => string | undefined;
};

/**
 * True if an update after the create can write a top-level field, so that the resource can be made without it: the way
 * in which resources that refer to each other are made.
 */
export function canFollowCreate({ schema, update, facets }: Kind, field: string): boolean {
  const own = getOwn(schema.properties, field);
  const isRequired = schema.required?.includes(field) === true;
  const isFacet = facets.some((facet) => facet.field === field);
  return (
    update !== undefined &&
    own !== undefined &&
    own['x-immutable'] !== true &&
    own['x-local'] !== true &&
    !isRequired &&
    !isFacet
  );
}

/** The field of a file that a resource cannot be made without: no document holds what is in it. */
export function fileMissing(
  { properties, required = [], oneOf = [{}] }: FieldSchema,
  document: () => JsonObject,
): string | undefined {
  const isFile = (name: string) => getOwn(properties, name)?.['x-file'] !== undefined;
  if (!Object.keys(properties ?? {}).some(isFile)) return undefined;
  const given = document();
  const ways = oneOf.map((way) => [...required, ...(way.required ?? [])]);
  const lacks = (name: string) =>
    isFile(name) ||
    (getOwn(properties, name)?.writeOnly !== true && (given[name] ?? null) === null);
  return ways.every((names) => names.some(lacks)) ? ways.flat().find(isFile) : undefined;
}

/** The name of the file that a document was made of, where the platform goes by it (`name` is `x-local`). */
export function fileName({ properties }: FieldSchema, { name }: JsonObject): string | undefined {
  const isFileName = getOwn(properties, 'name')?.['x-local'] === true;
  return isFileName && typeof name === 'string' ? name : undefined;
}

/** True if the list's call is incomplete without a scope. */
export function isListedWithin(kind: Kind): boolean {
  const { path = {}, query = {} } = kind.list({});
  return [...Object.values(path), ...Object.values(query)].includes('');
}

/** The facets of a document that nothing new can have: they are set up elsewhere, and no request makes them. */
export function facetsSetUpElsewhere({ facets }: Kind, document: ValueObject): readonly Facet[] {
  return facets.filter(({ field, get }) => get === undefined && document[field] !== undefined);
}

/** Facets with a read of their own of which a record rules out that they are switched on. */
export function facetsRuledOut({ facets }: Kind, record: JsonObject): ReadonlySet<string> {
  const ruledOut = facets.filter(({ get, mayBeOn }) => get && mayBeOn?.(record) === false);
  return new Set(ruledOut.map(({ field }) => field));
}

/** True if something of a facet is switched on. */
export function isOn(value: Json | undefined): boolean {
  return isObject(value) && Object.values(value).includes(true);
}

/** A live document without facets of which nothing is switched on: they say what would be if they were. */
export function withoutIdleFacets({ facets }: Kind, document: JsonObject): JsonObject {
  const isIdle = ({ field, get }: Facet) => {
    const value = document[field];
    return get !== undefined && isObject(value) && !isOn(value);
  };
  const idle = new Set(facets.filter(isIdle).map(({ field }) => field));
  return idle.size === 0
    ? document
    : Object.fromEntries(Object.entries(document).filter(([field]) => !idle.has(field)));
}
