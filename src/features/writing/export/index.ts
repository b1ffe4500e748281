import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Address } from '../../../core/address.ts';
import type { DesiredResource } from '../../../core/desired.ts';
import { computeDigest } from '../../../core/digest.ts';
import type { Export } from '../../../core/documents.generated.ts';
import {
  compareTexts,
  escapeUnits,
  inTurns,
  isList,
  isObject,
  type JsonObject,
  Ref,
  Secret,
  type Value,
  valuesIn,
} from '../../../core/value.ts';
import { NO_FINGERPRINTS } from '../../../diff/leaves.ts';
import { kinds } from '../../../kinds/index.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { Organization } from '../../../live/organizations.ts';
import {
  type HeldSecret,
  nameSecrets,
  openSecrets,
  type SecretUse,
  secretUses,
  withNames,
} from '../../../live/secrets.ts';
import { facetsRead, type LiveResource, listFields, type Reader } from '../../../plan/reader.ts';
import { fastRefreshPin, livePin } from '../../../plan/refresh.ts';
import { rememberResource, renameSource } from '../../../plan/state-entry.ts';
import type { Disk } from '../../../state/file/disk.ts';
import { openFileStore } from '../../../state/file/store.ts';
import { openSharing, type ResourceState } from '../../../state/model.ts';
import { emptyState, nextState } from '../../../state/replay.ts';
import type { Seals } from '../../../state/seal.ts';
import {
  type Writable,
  type WriteOptions,
  type WrittenResources,
  writeBases,
} from '../edit/write.ts';
import { type Bases, type Census, openCensus } from './factor.ts';
import {
  type Remark,
  sayOne,
  UNCHECKED,
  unknownFields,
  withFinalNewlines,
  writeFile,
} from './resource.ts';
import {
  type Entry,
  formatNoun,
  getLayout,
  isStreamed,
  refusalIn,
  type Scopes,
  type Survey,
  survey,
  wayBack,
} from './survey.ts';

/**
 * `export/` turns what is live into a stack, as if a careful person had written it. It lists everything, gives
 * it names (`survey.ts`, `names.ts`), says each resource in the words of the configuration (`resource.ts`,
 * `live-document.ts`), names the variables of secrets (`secrets.ts`) and lifts what resources share into bases
 * (`factor.ts`). Both are known at the end, so resources are kept on disk until then: a fleet of any size fits.
 */

type ExportInput = {
  readonly scopes: Scopes;
  /** A reader that has nothing in mind. */
  readonly open: () => Reader;
  /** Resources that are read at once. */
  readonly concurrency: number;
  /** Path of the schema that editors use, from the folder of the stack. */
  readonly schema: string;
  /** True if common settings are lifted into bases. */
  readonly isFactored: boolean;
  /** True if fields that no schema knows are written, too, but for those that change by themselves. */
  readonly isUnchecked: boolean;
  /** Keeps texts until they are asked for, in the order in which they came. */
  readonly spool: Spool;
  /** Writes a file of the stack; several are under way at once. */
  readonly write: (path: string, text: string) => Promise<void>;
  /** Called with every resource of the stack, for its state. */
  readonly remember: (kind: Kind, writable: Writable, live: LiveResource, findId: FindId) => void;
  readonly onProgress: (done: number, total: number) => void;
};

type FindId = (address: Address) => string | undefined;
export type Spool = {
  readonly add: (text: string) => void;
  readonly each: () => AsyncIterable<string>;
};

/** The outcome of an export. */
export type ExportResult = {
  readonly organizations: readonly Organization[];
  /** Resources written, by kind, in the order of kinds. */
  readonly counts: ReadonlyMap<string, number>;
  readonly bases: number;
  /** Variables that stand for ids of what the stack cannot have: name → id. */
  readonly variables: ReadonlyMap<string, string>;
  readonly secrets: readonly SecretUse[];
  readonly remarks: readonly Remark[];
  /** The remarks on what the stack does not have. */
  readonly leftOut: readonly Remark[];
  readonly unlisted: Survey['unlisted'];
  /** Parts with a read of their own that were not asked for, since nobody can switch them on as the resources are. */
  readonly unasked: readonly Unasked[];
};

type Unasked = NonNullable<Export.Document['unasked']>[number];

type Names = ReturnType<typeof nameSecrets>;

/** Reads everything and writes it as a stack. What it writes is the same for the same platform, byte for byte. */
export async function exportStack(input: ExportInput): Promise<ExportResult> {
  const { scopes, open, concurrency, isFactored } = input;
  const seen = await survey(scopes, open);
  const moving = input.isUnchecked ? await findMoving(seen, input) : undefined;
  const work = openWork(seen, moving, input);
  const { organizations, entries } = seen;
  const censuses = new Map<Kind, Census>();
  const streamed = entries.filter(({ kind }) => isStreamed(kind));
  await inTurns(streamed, concurrency, async (entry) => {
    const one = await work.read(entry);
    if (one === undefined) return;
    work.spool(one);
    if (!isFactored) return;
    const census = censuses.get(entry.kind) ?? openCensus(entry.kind, organizations);
    censuses.set(entry.kind, census);
    census.count(entry.organization ?? '', one.writable.document);
  });
  const grouped = entries.filter(({ kind }) => !isStreamed(kind));
  const rest = work.wanted(await readAll(grouped, concurrency, work.read));
  const names = work.nameSecrets();
  await work.writeSpooled(censuses, names);
  await work.writeGroups(rest, names);
  return work.result(names);
}

type Moving = ReadonlyMap<Kind, ReadonlySet<string>>;

/**
 * The fields that no schema knows and that change without anybody's doing, such as counters: those that differ between
 * two reads of any resource of a kind. All are read once before any is read again.
 */
async function findMoving(seen: Survey, input: ExportInput): Promise<Moving> {
  const before = await readUnknown(seen, input);
  const after = await readUnknown(await survey(input.scopes, input.open), input);
  const moving = new Map(kinds.map((kind) => [kind, new Set<string>()]));
  for (const [id, { kind, digests }] of before) {
    const again = after.get(id)?.digests;
    if (again === undefined) continue;
    for (const field of new Set([...digests.keys(), ...again.keys()]))
      if (digests.get(field) !== again.get(field)) moving.get(kind)?.add(field);
  }
  return moving;
}

/** Digests of the fields that no schema knows, for each resource that has any. */
async function readUnknown({ entries }: Survey, { open, concurrency }: ExportInput) {
  const reader = open();
  const found = new Map<
    string,
    { readonly kind: Kind; readonly digests: ReadonlyMap<string, string> }
  >();
  await inTurns(entries, concurrency, async ({ kind, id, scope, record }) => {
    const at = { id, scope, ...(record === undefined ? {} : { record }) };
    // A refused read is refused again when the whole resource is read, and is reported then.
    const live = await reader.read(kind, at, new Set()).catch((error: unknown) => {
      if (refusalIn(error) === undefined) throw error;
      return undefined;
    });
    if (live === undefined) return;
    const digests = unknownFields(kind, live.document).map(
      ([field, value]) => [field, computeDigest(value)] as const,
    );
    found.set(`${kind.name} ${id}`, { kind, digests: new Map(digests) });
  });
  return found;
}

async function readAll(
  entries: readonly Entry[],
  concurrency: number,
  read: (entry: Entry) => Promise<Done | undefined>,
): Promise<readonly Done[]> {
  const found: Done[] = [];
  await inTurns(entries, concurrency, async (entry) => {
    const one = await read(entry);
    if (one !== undefined) found.push(one);
  });
  return found.sort((a, b) => compareTexts(a.entry.address, b.entry.address));
}

/** A resource that was read, and what the stack says of it. */
type Done = {
  readonly entry: Entry;
  readonly live: LiveResource;
  readonly writable: Writable;
  readonly secrets: readonly HeldSecret[];
};

/** Reads resources and writes them, and keeps account of what that came to. */
function openWork(
  { organizations, entries, unlisted }: Survey,
  moving: Moving | undefined,
  input: ExportInput,
) {
  const reader = input.open();
  const layout = getLayout(organizations);
  const byAddress = new Map(entries.map((entry) => [entry.address, entry]));
  const byId = new Map(entries.map((entry) => [`${entry.kind.name} ${entry.id}`, entry]));
  const findId = (address: Address) => byAddress.get(address)?.id;
  const names = Object.fromEntries(organizations.map(({ id, name }) => [name, id]));
  const [only, ...others] = organizations;
  const common = {
    kinds,
    organizations: names,
    organization: others.length === 0 ? only?.id : undefined,
    expressionFor: expression,
  };
  const counts = new Map<string, number>();
  const variables = new Map<string, string>();
  const used = new Set<Address>();
  const titles = new Map(organizations.map(({ id, name }) => [id, name]));
  const { standIn } = openSecrets();
  const secrets: HeldSecret[] = [];
  const remarks: Remark[] = [];
  const unasked: { readonly kind: string; readonly path: string }[] = [];
  let bases = 0;
  let read = 0;

  /** A resource that the stack cannot have is called by a variable. */
  function expression(kind: string, id: string): string | undefined {
    const entry = byId.get(`${kind} ${id}`);
    if (entry === undefined || !isNameable(entry.kind)) return undefined;
    const name = `${formatNoun(entry.kind)}_${entry.address.split('.').slice(1).join('_')}`;
    variables.set(name, id);
    return `\${var.${name}}`;
  }

  function getAddress(kind: string, id: string): Address | undefined {
    const entry = byId.get(`${kind} ${id}`);
    return entry === undefined || isNameable(entry.kind) ? undefined : entry.address;
  }

  /** Reads a live resource, or returns why there is none. */
  async function readLive({
    kind,
    id,
    scope,
    record,
    address,
  }: Entry): Promise<LiveResource | string> {
    const at = { id, scope, ...(record === undefined ? {} : { record }) };
    const facets = kind.facets.map(({ field }) => field);
    try {
      const live =
        (await reader.read(kind, { ...at, isFrugal: true }, new Set(facets))) ??
        'it was deleted while this was exported';
      if (typeof live === 'string') return live;
      for (const field of live.unasked ?? []) unasked.push({ kind: kind.name, path: field });
      for (const [path, reason] of Object.entries(live.unread ?? {}))
        remarks.push({ address, path, reason });
      return live;
    } catch (error) {
      const reason = refusalIn(error);
      if (reason === undefined) throw error;
      return `the platform does not show it: ${reason}`;
    }
  }

  /** A resource in the words of the stack; undefined where there are none, and then a remark says why. */
  async function readOne(entry: Entry): Promise<Done | undefined> {
    const { kind, address } = entry;
    if (isNameable(kind)) return undefined;
    const live = await readLive(entry);
    read += 1;
    input.onProgress(read, entries.length);
    if (typeof live === 'string') {
      remarks.push({ address, path: null, reason: live });
      return undefined;
    }
    const { isTwin, file, organization = '' } = entry;
    const owner = titles.get(organization) ?? '';
    const context = {
      kind,
      address,
      isTwin,
      findAddress: getAddress,
      own: file,
      organization: owner,
      standIn,
      moving: moving?.get(kind),
    };
    const { one, remarks: own } = sayOne(live, context, optionsFor(layout.getFile(entry)));
    remarks.push(...own);
    if (one === undefined) return undefined;
    for (const value of valuesIn(one.writable.document))
      if (value instanceof Ref) used.add(value.address);
    return { entry, live, ...one };
  }

  function optionsFor(file: string): WriteOptions {
    return {
      ...common,
      schema: `${wayBack(file)}${input.schema}`,
      fileFor: (text) => {
        const entry = byAddress.get(text.address);
        return entry && layout.getTextFile(entry, text);
      },
    };
  }

  async function put(file: string, { text, files }: WrittenResources): Promise<void> {
    await Promise.all(
      [[file, text] as const, ...files].map(([path, own]) => input.write(path, own)),
    );
  }

  async function putResources(
    file: string,
    resources: readonly Writable[],
    names: Names,
  ): Promise<void> {
    const named = resources.map((one) => ({ ...one, document: withNames(one.document, names) }));
    await put(file, writeFile(named, optionsFor(file)));
  }

  function account({ entry: { kind }, writable, live, secrets: own }: Done): void {
    counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1);
    secrets.push(...own);
    input.remember(kind, writable, live, findId);
  }

  async function putBases(all: ReadonlyMap<Kind, Bases>, names: Names): Promise<void> {
    const found = [...all].flatMap(([kind, of]) => of.all.map((base) => ({ kind, base })));
    bases = found.length;
    if (found.length === 0) return;
    const kinds = new Map(found.map(({ kind, base }) => [base.name, kind]));
    const written = writeBases(
      found.map(({ base }) => ({ ...base, document: withNames(base.document, names) })),
      {
        ...common,
        schema: input.schema,
        fileFor: (text) => {
          const kind = kinds.get(text.address);
          return kind && layout.baseTextFile(kind, text);
        },
      },
    );
    await put('bases.yaml', withFinalNewlines(written));
  }

  return {
    read: readOne,
    /** Keeps one on disk until all were seen. */
    spool(done: Done): void {
      input.spool.add(toLine(done.writable));
      account(done);
    },

    /** Returns all resources that share files; without their account, only those that something refers to. */
    wanted(all: readonly Done[]): readonly Done[] {
      const wanted = all.filter(
        ({ entry: { kind, address } }) =>
          input.scopes.only === undefined || kind.scope.length > 0 || used.has(address),
      );
      for (const done of wanted) account(done);
      return wanted;
    },

    /** Names the variables of everything that is going to be written. */
    nameSecrets: (): Names => nameSecrets(secrets),

    /** Writes what was kept on disk, over what all of it has in common. */
    async writeSpooled(censuses: ReadonlyMap<Kind, Census>, names: Names): Promise<void> {
      const found = new Map([...censuses].map(([kind, census]) => [kind, census.bases()]));
      await putBases(found, names);
      for await (const line of input.spool.each()) {
        const writable = fromLine(line);
        const entry = byAddress.get(writable.address);
        if (entry === undefined) continue;
        const laid = found.get(entry.kind)?.layOver(entry.organization ?? '', writable.document);
        await putResources(layout.getFile(entry), [{ ...writable, ...laid }], names);
      }
    },

    /** Writes resources that share files. */
    async writeGroups(all: readonly Done[], names: Names): Promise<void> {
      for (const [file, group] of Map.groupBy(all, ({ entry }) => layout.getFile(entry))) {
        const resources = group.map(({ writable }) => writable);
        await putResources(file, resources, names);
      }
    },

    result(names: Names): ExportResult {
      const order = (a: Remark, b: Remark) =>
        compareTexts(a.address, b.address) || compareTexts(a.path ?? '', b.path ?? '');
      return {
        organizations,
        counts: new Map(
          kinds.flatMap(({ name }) => {
            const count = counts.get(name);
            return count === undefined ? [] : [[name, count] as const];
          }),
        ),
        bases,
        variables: new Map([...variables].sort(([a], [b]) => compareTexts(a, b))),
        secrets: secretUses(secrets, names),
        remarks: remarks.sort(order),
        leftOut: remarks.filter(({ reason }) => reason !== UNCHECKED),
        unlisted,
        unasked: countUnasked(unasked),
      };
    },
  };
}

function countUnasked(all: readonly Pick<Unasked, 'kind' | 'path'>[]): readonly Unasked[] {
  const groups = Map.groupBy(all, ({ kind, path }) => `${kind}.${path}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first, resources: group.length }];
  });
}

/** True if resources of a kind need a file that the platform does not return: they can only be named. */
function isNameable({ schema }: Kind): boolean {
  return (schema.required ?? []).some(
    (field) => schema.properties?.[field]?.['x-file'] !== undefined,
  );
}

/**
 * A resource as a line of text and back. Every list and map is wrapped, so that data that looks like a reference or a
 * secret is not taken for one. It holds no value of a secret.
 */
function toLine(writable: Writable): string {
  const text = JSON.stringify({ ...writable, document: encode(writable.document) });
  // Readers of lines end one there, too.
  return text.replace(/[\u0085\u2028\u2029]/g, escapeUnits);
}

function fromLine(line: string): Writable {
  const written: Omit<Writable, 'document'> & { readonly document: JsonObject } = JSON.parse(line);
  const document = decode(written.document);
  return { ...written, document: isObject(document) ? document : {} };
}

type Wrapped =
  | { readonly ref: string }
  | { readonly secret: string }
  | { readonly list: readonly unknown[] }
  | { readonly map: readonly (readonly [string, unknown])[] }
  | { readonly plain: Value };

function encode(value: Value): Wrapped {
  if (value instanceof Ref) return { ref: value.address };
  if (value instanceof Secret) return { secret: value.source };
  if (isList(value)) return { list: value.map(encode) };
  if (!isObject(value)) return { plain: value };
  return { map: Object.entries(value).map(([key, member]) => [key, encode(member)]) };
}

function decode(given: unknown): Value {
  // Only `encode` writes it.
  const wrapped = given as Wrapped;
  if ('ref' in wrapped) return new Ref(wrapped.ref);
  if ('secret' in wrapped) return new Secret(wrapped.secret);
  if ('list' in wrapped) return wrapped.list.map(decode);
  if ('plain' in wrapped) return wrapped.plain;
  return Object.fromEntries(wrapped.map.map(([key, member]) => [key, decode(member)]));
}

/** The inputs of the new store. */
type StoreWorld = {
  readonly disk?: Disk;
  readonly now: () => Date;
  readonly seals: Seals;
};

/** Gathers what the state remembers of resources that were exported: that they are as the stack says. */
export function openMemory() {
  const resources = new Map<Address, ResourceState>();
  const share = openSharing();

  return {
    remember(kind: Kind, writable: Writable, live: LiveResource, findId: FindId): void {
      const desired: DesiredResource = {
        ...writable,
        isPartial: false,
        references: [],
        position: undefined,
        locate: () => undefined,
      };
      // The written values are the live ones, so the next plan need not read them, and one that does finds the same
      // digest.
      const pin = fastRefreshPin(kind, live, livePin(kind, asPlanned(kind, live, desired)));
      const at = { id: live.id, scope: live.scope, pin };
      // The values of secrets are not remembered before somebody supplies them.
      const world = { findId, findSecret: () => undefined, fingerprints: NO_FINGERPRINTS };
      const { address } = writable;
      const remembered = rememberResource(kind, desired, at, undefined, new Set(), world);
      resources.set(address, share(remembered));
    },

    /** Writes the state of a new stack. `secrets`: the variables, which were named after the resources were gathered. */
    async write(
      file: string,
      account: string,
      secrets: readonly SecretUse[],
      world: StoreWorld,
    ): Promise<void> {
      for (const { address, path, name } of secrets) {
        const resource = resources.get(address);
        if (resource === undefined) continue;
        resources.set(address, renameSource(resource, path, new Secret(`env:${name}`)));
      }
      const { seals, disk } = world;
      const store = openFileStore(file, { seals, ...(disk && { disk }) });
      try {
        const lease = await store.acquire({
          run: '',
          command: 'export',
          user: null,
          host: hostname(),
          pid: process.pid,
          since: world.now().toISOString(),
        });
        const owner = { stack: null, environment: null };
        const first = { ...emptyState(randomUUID()), account_id: account, owner };
        const sorted = [...resources].sort(([a], [b]) => (a < b ? -1 : 1));
        await lease.commit(nextState(first, null, Object.fromEntries(sorted)));
      } finally {
        await store.close();
      }
    },
  };
}

/** A resource as a plan of its configuration reads it: without the facets that nothing was written of. */
function asPlanned(kind: Kind, live: LiveResource, { document }: DesiredResource): LiveResource {
  const read = facetsRead(kind, listFields(kind, document, undefined));
  const unread = new Set(kind.facets.map(({ field }) => field).filter((one) => !read.has(one)));
  const members = Object.entries(live.document).filter(([field]) => !unread.has(field));
  return { ...live, document: Object.fromEntries(members) };
}
