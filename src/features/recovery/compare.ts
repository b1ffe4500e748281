import { type Address, nameInWords } from '../../core/address.ts';
import type { DesiredResource } from '../../core/desired.ts';
import { computeDigest } from '../../core/digest.ts';
import { formatCount, formatFirst } from '../../core/errors.ts';
import {
  type FindCallouts,
  type Note,
  type PlanDocument,
  type PlanOptions,
  summarise,
} from '../../core/plan-document.ts';
import { redact } from '../../core/redact.ts';
import {
  countEach,
  isObject,
  isSameJson,
  type Json,
  type JsonObject,
  mapTexts,
} from '../../core/value.ts';
import { NO_FINGERPRINTS } from '../../diff/leaves.ts';
import { kindNamed } from '../../kinds/index.ts';
import type { Kind, Scope } from '../../kinds/kind.ts';
import { listIn } from '../../kinds/making.ts';
import { withDigest } from '../../plan/document.ts';
import { makePlan } from '../../plan/make.ts';
import { getRecordKey } from '../../plan/natural-key.ts';
import type { Entitlements, ListedResource, Reader } from '../../plan/reader.ts';
import type { SnapshotFile } from '../../snapshot/file.ts';
import {
  type AnswerRecord,
  buildDocument,
  type ContentRecord,
  covers,
  type End,
  findKey,
  type ListRecord,
  type OrganizationRecord,
  type ResourceRecord,
} from '../../snapshot/format.ts';
import {
  type AppliedLeaf,
  getIdentity,
  type ResourceState,
  type State,
} from '../../state/model.ts';

/** Nothing is carried out, so nothing has to be allowed. */
const EVERYTHING: PlanOptions = {
  allow_delete: true,
  accept_conflicts: true,
  skip_refused: false,
  resend_secrets: false,
  target: [],
  exclude: [],
  force: true,
};

/**
 * How a snapshot differs from an earlier one, as a plan document: `before` is the earlier, `after` the later.
 * It goes through the ordinary plan, as if the earlier were to be made into the later. Only what differs is
 * held in memory.
 */
export async function compareSnapshots(
  earlier: SnapshotFile,
  later: SnapshotFile,
  now: Date,
  findCallouts: FindCallouts,
): Promise<PlanDocument> {
  const difference = await readDifference(earlier, later);
  const { before, after, organizations } = difference;
  const names = indexNames(difference);
  const { plan } = await makePlan({
    purpose: 'comparison',
    desired: after.map((record) => toDesired(record, before, names)),
    prune: true,
    state: buildState(difference, names, later),
    reader: readerOver([...before.values()]),
    isPreflighted: false,
    claims: [],
    // Documents of the platform hold no `$secret`, and nothing is known of what was written once.
    world: {
      findSecret: () => undefined,
      fingerprints: NO_FINGERPRINTS,
    },
    now,
    options: EVERYTHING,
    guards: {},
    rules: () => ({ refusals: [], notes: [] }),
    platform: later.header.platform,
    organizations,
    configDigest: computeDigest([earlier.header.made_at, later.header.made_at]),
    versions: new Map(),
    findCallouts,
    findAssumption: () => undefined,
    secondsPerRequest: () => 0,
  });
  const notes = [
    ...noteMoved(difference),
    ...difference.uncompared.map(noteUncompared),
    ...compareAnswers(difference),
  ];
  return asComparison(plan, difference.equal, notes);
}

/** Names each resource: by its address in the later snapshot, by that in the earlier, or by its kind and id. */
function indexNames({ before, after }: Difference): ReadonlyMap<string, Address> {
  const names = new Map<string, Address>();
  for (const record of [...before.values(), ...after]) {
    const key = getIdentity(record);
    const { address, kind, id } = record;
    names.set(key, address ?? names.get(key) ?? `${kind}.${id}`);
  }
  return names;
}

function toDesired(
  record: ResourceRecord,
  before: Difference['before'],
  names: ReadonlyMap<string, Address>,
): DesiredResource {
  const key = getIdentity(record);
  return {
    address: names.get(key) ?? key,
    kind: record.kind,
    document: { ...record.scope, ...lost(before.get(key), record), ...buildDocument(record) },
    // A field that one snapshot withholds cannot be compared.
    lifecycle: {
      protect: false,
      ignore: [...record.withheld, ...(before.get(key)?.withheld ?? [])],
    },
    isPartial: true,
    isExact: true,
    references: [],
    position: undefined,
    locate: () => undefined,
  };
}

/** Null for each part that only the earlier record has: an answer that says nothing of a part says that there is none. */
function lost(before: ResourceRecord | undefined, { kind: name, record }: ResourceRecord) {
  if (before === undefined) return {};
  const fields = kindNamed(name).facets.flatMap((facet) =>
    facet.get === undefined &&
    facet.read(before.record) !== undefined &&
    facet.read(record) === undefined
      ? [facet.field]
      : [],
  );
  return Object.fromEntries(fields.map((field) => [field, null]));
}

/** The earlier snapshot as a state, by which its resources are found. */
function buildState(
  { before, after }: Difference,
  names: ReadonlyMap<string, Address>,
  { header }: SnapshotFile,
): State {
  const later = new Map(after.map((record) => [getIdentity(record), record]));
  const resources = [...before].map(([key, record]): [Address, ResourceState] => {
    const { kind, id, scope } = record;
    const name = typeof record.record.name === 'string' ? record.record.name : id;
    const leaves = { ...hidden(record), ...hidden(later.get(key)) };
    return [names.get(key) ?? key, { kind, id, scope, name, leaves, pin: null, protect: false }];
  });
  return {
    format: 'callsheet-state',
    version: 1,
    lineage: '',
    serial: 0,
    account_id: header.platform.account_id,
    salt: '',
    resources: Object.fromEntries(resources),
    last_run: null,
  };
}

/** A field that may be a secret although no schema names it is masked like one that was written as a secret. */
function hidden(record: ResourceRecord | undefined): Readonly<Record<string, AppliedLeaf>> {
  if (record === undefined) return {};
  const { schema } = kindNamed(record.kind);
  const { withheld } = redact(schema, buildDocument(record), { how: 'withhold' });
  return Object.fromEntries(withheld.map((path) => [path, { unknown: true }]));
}

/** Turns a plan into a comparison: without verdicts, steps and reasons, which speak of applying. */
function asComparison(
  { refusals: _, ...plan }: PlanDocument,
  equal: number,
  notes: readonly Note[],
): PlanDocument {
  const changes = plan.changes.map((change) => ({
    ...change,
    // A resource without a delete endpoint is gone all the same.
    action: change.action === 'forget' ? ('delete' as const) : change.action,
    verdict: 'ok' as const,
    reason: REASONS[change.action] ?? '',
    operations: [],
  }));
  return withDigest({
    ...plan,
    changes,
    notes,
    summary: summarise(changes, equal + plan.summary.no_op),
    requests: { reads: 0, writes: 0, seconds: 0 },
    assumptions: [],
  });
}

const REASONS: { readonly [action: string]: string } = {
  create: 'only the later snapshot has it',
  delete: 'only the earlier snapshot has it',
  forget: 'only the earlier snapshot has it',
  update: 'it changed in between',
  replace: 'another resource replaced it in between',
};

function noteMoved({ moved }: Difference): readonly Note[] {
  if (moved === 0) return [];
  const have = `${formatCount(moved, 'resource')} ${moved === 1 ? 'has another id' : 'have another id'}`;
  const message = `${have} in the later snapshot, as a restore gives them; they were found by address or name, and references to them were followed`;
  return [{ severity: 'info', address: null, message }];
}

/** The note on resources that only one snapshot has, where the other did not read all of their list. */
function noteUncompared({ kind, count, in: one }: Uncompared): Note {
  const other = one === 'earlier' ? 'later' : 'earlier';
  const have = count === 1 ? 'was' : 'were';
  const message = `${formatCount(count, 'resource')} of kind ${nameInWords(kind)} in the ${one} snapshot ${have} not compared: the ${other} snapshot has a gap there (\`callsheet snapshot show\`)`;
  return { severity: 'warning', address: null, message };
}

/** Entries that are named in one sentence. */
const MOST_NAMED = 5;

/** Notes the answers that differ, one sentence each. */
function compareAnswers({ answers, organizations }: Difference): readonly Note[] {
  return [...answers.values()].flatMap(({ before, after }): readonly Note[] => {
    const one = after ?? before;
    if (one === undefined) return [];
    const message =
      before === undefined || after === undefined
        ? `only the ${before === undefined ? 'later' : 'earlier'} snapshot has what ${one.operation} answered`
        : differences(before, after);
    const place = one.organization_id ?? one.reseller_id;
    const where = place === null ? 'the account' : (organizations[place] ?? place);
    return [{ severity: 'info', address: null, message: `${where}: ${message}` }];
  });
}

function differences(before: AnswerRecord, after: AnswerRecord): string {
  const old = indexEntries(before.answer);
  const now = indexEntries(after.answer);
  const names = [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) => !isSameJson(old.get(name) ?? null, now.get(name) ?? null),
  );
  if (names.length === 0) return `${after.operation} has another answer`;
  const changes = names.map((name) => wordsFor(name, old.get(name), now.get(name)));
  return `${after.operation}: ${formatFirst(changes, MOST_NAMED)}`;
}

/** Entries of a list by what names them. */
function indexEntries(answer: Json): ReadonlyMap<string, JsonObject> {
  return new Map(listIn(answer).map((one) => [String(one.key ?? one.id ?? ''), one]));
}

function wordsFor(
  name: string,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): string {
  if (before === undefined) return `${name} appeared`;
  if (after === undefined) return `${name} went`;
  const { state: old } = before;
  const { state: now } = after;
  return typeof now === 'string' && old !== now ? `${name} is ${now}` : `${name} changed`;
}

const UNANSWERED = { type: 'unanswered', why: 'a snapshot is not asked' } as const;

/** A platform that is not asked what it takes. */
const NO_ENTITLEMENTS: Entitlements = {
  locks: async () => UNANSWERED,
  offers: async () => UNANSWERED,
  about: async () => UNANSWERED,
  closedTo: async () => UNANSWERED,
};

/** Reads resources out of records, as `live/` reads them from the platform. */
function readerOver(records: readonly ResourceRecord[]): Reader {
  const byId = new Map(records.map((record) => [`${record.kind} ${record.id}`, record]));
  const byKind = Map.groupBy(records, ({ kind }) => kind);
  const listed = ({ id, scope, record }: ResourceRecord): ListedResource => ({ id, scope, record });
  return {
    list: async (kind, scope) =>
      (byKind.get(kind.name) ?? []).filter((one) => isWithin(one, kind, scope)).map(listed),
    read: async (kind, { id }) => {
      const found = byId.get(`${kind.name} ${id}`);
      if (found === undefined) return undefined;
      const { scope, record } = found;
      // A resource that only a list shows is compared as it stands: both snapshots know the same of it.
      return { id, scope, extent: 'whole', document: buildDocument(found), record };
    },
    history: async () => [],
    isHistoryDated: async () => true,
    findLack: () => undefined,
    entitlements: () => NO_ENTITLEMENTS,
  };
}

function isWithin({ scope: own, record }: ResourceRecord, kind: Kind, scope: Scope): boolean {
  const known = isObject(record) ? { ...own, ...record } : own;
  return kind.scope.every((field) => scope[field] === undefined || known[field] === scope[field]);
}

/** The records by which two snapshots differ. */
type Difference = {
  /** Records of the earlier, by kind and id. */
  readonly before: ReadonlyMap<string, ResourceRecord>;
  readonly after: readonly ResourceRecord[];
  /** Answers of both, by their question. */
  readonly answers: ReadonlyMap<string, AnswerPair>;
  /** Names by id. */
  readonly organizations: Readonly<Record<string, string>>;
  /** How many resources are the same in both. */
  readonly equal: number;
  /** Resources that only one has, and that the other may have missed. */
  readonly uncompared: readonly Uncompared[];
  /** How many resources have another id in the later. */
  readonly moved: number;
};

type Uncompared = {
  readonly kind: string;
  readonly count: number;
  readonly in: 'earlier' | 'later';
};

type AnswerPair = { readonly before?: AnswerRecord; readonly after?: AnswerRecord };

/** A resource or an organization of a snapshot is recognised by these, beside its id. */
type Known = { readonly type: string; readonly id: string } & {
  readonly [by in 'address' | 'key']: string | undefined;
};

async function readKnown({ records }: SnapshotFile): Promise<readonly Known[]> {
  const known: Known[] = [];
  for await (const one of records()) {
    if (one.type === 'organization')
      known.push({ type: one.type, id: one.id, address: undefined, key: one.name ?? undefined });
    if (one.type !== 'resource') continue;
    const { kind, id, address, record, scope } = one;
    const key = getRecordKey(kindNamed(kind), record, scope);
    known.push({ type: kind, id, address: address ?? undefined, key });
  }
  return known;
}

/**
 * The ids of the later snapshot by those of the earlier, where one resource has two: a fleet that was restored, or
 * brought into another organization. It is recognised by its address, else by its natural key, where both snapshots have
 * one such resource. Organizations come first, since natural keys name them.
 */
async function pairIds(
  earlier: SnapshotFile,
  later: SnapshotFile,
): Promise<{ readonly ids: ReadonlyMap<string, string>; readonly moved: number }> {
  const [old, now] = [await readKnown(earlier), await readKnown(later)];
  const toKey = ({ type, id }: Known) => `${type} ${id}`;
  const [inOld, inNow] = [old, now].map((all) => new Set(all.map(toKey)));
  const [gone, come] = [
    old.filter((one) => !inNow?.has(toKey(one))),
    now.filter((one) => !inOld?.has(toKey(one))),
  ];
  const ids = new Map<string, string>();
  const pair = (isMeant: (one: Known) => boolean, getName: (one: Known) => string | undefined) => {
    const taken = new Set(ids.values());
    const open = (all: readonly Known[]) =>
      Map.groupBy(
        all.filter((one) => isMeant(one) && !ids.has(one.id) && !taken.has(one.id)),
        (one) => {
          const name = getName(one);
          return name === undefined ? undefined : `${one.type} ${name}`;
        },
      );
    const others = open(come);
    for (const [name, [one, ...more]] of open(gone)) {
      const [other, ...rest] = (name !== undefined && others.get(name)) || [];
      if (one && other && more.length + rest.length === 0) ids.set(one.id, other.id);
    }
  };
  const isPlace = ({ type }: Known) => type === 'organization';
  pair(isPlace, ({ key }) => key);
  pair(
    (one) => !isPlace(one),
    ({ address }) => address,
  );
  pair(
    (one) => !isPlace(one),
    ({ key }) => key && JSON.stringify(mapTexts(JSON.parse(key), (text) => ids.get(text) ?? text)),
  );
  return { ids, moved: gone.filter((one) => !isPlace(one) && ids.has(one.id)).length };
}

/** Records of the earlier snapshot under the ids of the later. */
async function* follow(
  records: AsyncGenerator<ContentRecord | End>,
  ids: ReadonlyMap<string, string>,
): AsyncGenerator<ContentRecord | End> {
  const now = (text: string) => ids.get(text) ?? text;
  for await (const record of records) {
    if (ids.size === 0 || record.type === 'media' || record.type === 'end') yield record;
    else if (record.type === 'gap')
      yield { ...record, of: record.of.split(' ').map(now).join(' ') };
    else yield Object.assign({}, record, mapTexts({ ...record }, now));
  }
}

/**
 * Finds what differs in three passes: digests of the earlier, the later against them, and then the earlier
 * again for what turned out to differ.
 */
async function readDifference(original: SnapshotFile, later: SnapshotFile): Promise<Difference> {
  const { ids, moved } = await pairIds(original, later);
  const earlier = { ...original, records: () => follow(original.records(), ids) };
  const old = new Map<string, string>();
  const readings = { earlier: nothingRead(), later: nothingRead() };
  for await (const [key, record] of keyed(earlier, readings.earlier))
    old.set(key, contentDigest(record));
  const after: ResourceRecord[] = [];
  const answers = new Map<string, AnswerPair>();
  const organizations: Record<string, string> = {};
  let equal = 0;
  for await (const [key, record] of keyed(later, readings.later)) {
    if (record.type === 'organization') nameIn(organizations, record);
    const isSame = old.get(key) === contentDigest(record);
    if (isSame) old.delete(key);
    if (isSame && record.type === 'resource') equal += 1;
    if (isSame) continue;
    if (record.type === 'resource') after.push(record);
    if (record.type === 'answer') answers.set(key, { after: record });
  }
  const before = new Map<string, ResourceRecord>();
  for await (const [key, record] of keyed(earlier)) {
    if (!old.has(key)) continue;
    if (record.type === 'organization') nameIn(organizations, record);
    if (record.type === 'resource') before.set(getIdentity(record), record);
    if (record.type === 'answer') answers.set(key, { ...answers.get(key), before: record });
  }
  const isOfBoth = new Set(after.map(getIdentity).filter((key) => before.has(key)));
  const isCovered = (record: ResourceRecord, { lists, gaps }: Read) => {
    const key = getIdentity(record);
    return isOfBoth.has(key) || (!gaps.has(key) && covers(lists, record.kind, record.scope));
  };
  const gone = Map.groupBy(before.values(), (one) => isCovered(one, readings.later));
  const come = Map.groupBy(after, (one) => isCovered(one, readings.earlier));
  return {
    before: new Map(gone.get(true)?.map((record) => [getIdentity(record), record])),
    after: come.get(true) ?? [],
    answers,
    organizations,
    equal,
    moved,
    uncompared: [
      ...countUncompared('earlier', gone.get(false)),
      ...countUncompared('later', come.get(false)),
    ],
  };
}

function countUncompared(
  which: Uncompared['in'],
  records: readonly ResourceRecord[] = [],
): readonly Uncompared[] {
  const counts = countEach(records.map(({ kind }) => kind));
  return [...counts].map(([kind, count]) => ({ kind, count, in: which }));
}

/** The lists that a snapshot has to their end, and what it says that it lacks: `agent 3c6e…`. */
type Read = { readonly lists: ListRecord[]; readonly gaps: Set<string> };

function nothingRead(): Read {
  return { lists: [], gaps: new Set() };
}

/** The records that are about something, by what that is. `read`: is given what else it says. */
async function* keyed(
  snapshot: SnapshotFile,
  read = nothingRead(),
): AsyncGenerator<readonly [string, ContentRecord]> {
  for await (const record of snapshot.records()) {
    if (record.type === 'end') continue;
    if (record.type === 'list') read.lists.push(record);
    if (record.type === 'gap') read.gaps.add(record.of);
    const key = findKey(record);
    if (key !== undefined) yield [key, record];
  }
}

/** Over what the platform said, not over what a stack calls it or remembers of it. */
function contentDigest(record: ContentRecord): string {
  if (record.type !== 'resource') return computeDigest(record);
  return computeDigest([record.record, record.facets, record.withheld]);
}

function nameIn(names: Record<string, string>, { id, name }: OrganizationRecord): void {
  if (name !== null) names[id] ??= name;
}
