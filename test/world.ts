import { type Address, getKind } from '../src/core/address.ts';
import type { DesiredResource } from '../src/core/desired.ts';
import type { Change, PlanOptions } from '../src/core/plan-document.ts';
import {
  isList,
  isObject,
  type JsonObject,
  Ref,
  Secret,
  type Value,
  type ValueObject,
} from '../src/core/value.ts';
import { compare, type LeafChange } from '../src/diff/compare.ts';
import { listLeaves, type World } from '../src/diff/leaves.ts';
import { features } from '../src/features/index.ts';
import { kindNamed } from '../src/kinds/index.ts';
import { getSides } from '../src/plan/change.ts';
import { identify } from '../src/plan/identify.ts';
import { makePlan, type PlanInput, type Planned } from '../src/plan/make.ts';
import { getScope } from '../src/plan/natural-key.ts';
import type { HistoryEntry, Reader } from '../src/plan/reader.ts';
import { rememberResource } from '../src/plan/state-entry.ts';
import { openCallouts } from '../src/run/context.ts';
import { createFingerprinter } from '../src/state/fingerprint.ts';
import type { ResourceState, State } from '../src/state/model.ts';
import { emptyState } from '../src/state/replay.ts';
import { type LiveRecords, memoryReader } from './memory-reader.ts';
import { NO_OPTIONS } from './render/sample.ts';

export { NO_OPTIONS };

/**
 * Small worlds for tests of the core: what is wanted, what is live and what was last written, each as
 * plain records. Nothing is mocked: fingerprints, state, plan and comparison are the real ones, and the
 * platform is a reader over the records.
 *
 *     const plan = await world()
 *       .desired({ 'agent.desk': { name: 'Desk', model: 'alpha-4o' } })
 *       .live({ agent: [{ id: 'a1', name: 'Desk', model: 'alpha-4.1' }] })
 *       .applied({ 'agent.desk': { id: 'a1', name: 'Desk', model: 'alpha-4.1' } })
 *       .plan();
 */

export const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
export const BAY = '9c24e74f-4564-4836-a0d8-0691bfe720fe';
export const LINEAGE = '8f0f7c52-6d0a-4a53-9a4e-0a1f5a6f2b11';
const RUN = '20260301t083000z-1f3a9c';
export const KEY = 'a fingerprint key that the team keeps';

/** A document as YAML has it: `{ $ref }` and `{ $secret }` are objects, `lifecycle` stands among the fields. */
export type Written = ValueObject;
export type Documents = { readonly [address: Address]: Written };

type Parts = {
  readonly desired: readonly DesiredResource[];
  readonly live: LiveRecords;
  readonly applied: Documents;
  /** True if a run wrote the state, which otherwise is as an export leaves it. */
  readonly isRun: boolean;
  /** Values of secrets now, and when `applied` was written. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly secretsThen: Readonly<Record<string, string>> | undefined;
  /** Paths of values with the name of a secret that the files have in clear, and had when `applied` was written. */
  readonly inClear: readonly string[];
  readonly inClearThen: readonly string[];
  readonly key: string | undefined;
  readonly keyThen: string | undefined;
  readonly options: Partial<PlanOptions>;
  readonly rest: Partial<PlanInput>;
};

const EMPTY: Parts = {
  desired: [],
  live: {},
  applied: {},
  isRun: false,
  secrets: {},
  secretsThen: undefined,
  inClear: [],
  inClearThen: [],
  key: KEY,
  keyThen: KEY,
  options: {},
  rest: {},
};

export type WorldBuilder = ReturnType<typeof world>;

/** An empty world. Every method returns another one. */
export function world(parts: Parts = EMPTY) {
  const having = (more: Partial<Parts>) => world({ ...parts, ...more });
  const state = () => stateOf(parts);
  const reader = () => memoryReader(parts.live);
  const given = (findId: World['findId'] = () => undefined): World => ({
    findId,
    findSecret: (source) => parts.secrets[source],
    fingerprints: fingerprinter(parts.key),
  });
  const plan = async (more: Partial<PlanInput> = {}): Promise<Planned> =>
    makePlan({
      purpose: 'apply',
      desired: parts.desired.map((one) => ({ ...one, inClear: parts.inClear })),
      prune: true,
      isPreflighted: true,
      claims: [],
      state: state(),
      reader: reader(),
      world: given(),
      now: new Date('2026-03-02T08:30:00.000Z'),
      options: { ...NO_OPTIONS, ...parts.options },
      guards: {},
      rules: () => ({ refusals: [], notes: [] }),
      platform: { base_url: 'https://platform.example.test', account_id: 'account-1' },
      organizations: { [HARBOR]: 'harbor', [BAY]: 'bay' },
      configDigest: 'sha256:configuration',
      versions: new Map(),
      findCallouts: await openCallouts(features),
      findAssumption: () => undefined,
      secondsPerRequest: () => 0.1,
      ...parts.rest,
      ...more,
    });

  return {
    desired: (documents: Documents) =>
      having({ desired: Object.entries(documents).map(([at, one]) => desiredResource(at, one)) }),
    /** Instead of documents, such as what a rollback wants. */
    wanting: (desired: readonly DesiredResource[]) => having({ desired }),
    live: (records: NonNullable<LiveRecords['records']>) =>
      having({ live: { ...parts.live, records } }),
    /** Entries by the id of their resource, in any order. */
    history: (history: Readonly<Record<string, readonly HistoryEntry[]>>) =>
      having({ live: { ...parts.live, history } }),
    /** What the platform answers where a facet has a read of its own, by the id of the resource. */
    facets: (facets: Readonly<Record<string, JsonObject>>) =>
      having({ live: { ...parts.live, facets } }),
    /** Operations that cannot be used, and why. */
    lacking: (lacks: NonNullable<LiveRecords['lacks']>) =>
      having({ live: { ...parts.live, lacks } }),
    /** What the platform says that it takes; everything unless given. */
    entitlements: (entitlements: NonNullable<LiveRecords['entitlements']>) =>
      having({ live: { ...parts.live, entitlements } }),
    /** What was last written, with the `id` and the `history_id` that the state remembers. */
    applied: (applied: Documents) => having({ applied }),
    /** The state is the one of a run. */
    run: () => having({ isRun: true }),
    /** Values by source; `then` those of the time when `applied` was written, the same unless given. */
    secrets: (secrets: Parts['secrets'], then?: Parts['secrets']) =>
      having({ secrets, secretsThen: then }),
    /** Paths of values with the name of a secret that the files have in clear now, and had when `applied` was written. */
    inClear: (inClear: Parts['inClear'], then: Parts['inClear'] = inClear) =>
      having({ inClear, inClearThen: then }),
    /** The key of fingerprints now, and when `applied` was written; undefined: there is none. */
    keys: (key: string | undefined, then: string | undefined) => having({ key, keyThen: then }),
    options: (options: Partial<PlanOptions>) => having({ options }),
    /** Anything else that a plan is made from. */
    having: (rest: Partial<PlanInput>) => having({ rest: { ...parts.rest, ...rest } }),

    wanted: () => parts.desired,
    state,
    reader,
    /** What a comparison looks things up in. */
    given,
    plan,
    /** The plan's changes by address. */
    changes: async (): Promise<ReadonlyMap<Address, Change>> => {
      const { plan: made } = await plan();
      return new Map(made.changes.map((change) => [change.address, change]));
    },
    /** What the comparison finds for one address, or for the only one. */
    compare: (address: Address = parts.desired[0]?.address ?? '') =>
      compareOne(address, parts, state(), reader(), given),
  };
}

async function compareOne(
  address: Address,
  parts: Parts,
  state: State,
  reader: Reader,
  given: (findId: World['findId']) => World,
): Promise<readonly LeafChange[]> {
  const { identities } = await identify(parts.desired, state, reader);
  const ids = new Map(identities.map(({ address: at, found }) => [at, found?.id]));
  const identity = identities.find((one) => one.address === address);
  const { desired, found, kind } = identity ?? {};
  if (!identity || !desired || !found || !kind) throw new Error(`${address} has only one side`);
  const fields = kind.facets.map(({ field }) => field);
  const facets = new Set(fields.filter((field) => desired.document[field] !== undefined));
  const live = await reader.read(kind, found, facets);
  const keepsEdits = parts.options.keep_drift === true;
  const sides = { ...getSides(identity, desired, { ...NO_OPTIONS, ...parts.options }), keepsEdits };
  const looked = given((at) => ids.get(at));
  return compare(kind.schema, desired.document, live?.document ?? {}, sides, looked);
}

/** A resource as the configuration would want it. The organization is Harbor unless the document has one. */
export function desiredResource(address: Address, written: Written): DesiredResource {
  const { lifecycle, ...fields } = written;
  const kind = kindNamed(getKind(address));
  const asked = isObject(lifecycle) ? lifecycle : {};
  const scope = kind.scope.includes('organization_id') ? { organization_id: HARBOR } : {};
  const document = materialise({ ...scope, ...fields });
  if (!isObject(document)) throw new Error(`${address} is not a document`);
  const place = { file: 'stack.yaml', line: 3, column: 3 };
  return {
    address,
    kind: kind.name,
    document,
    lifecycle: {
      protect: asked.protect === true,
      ignore: isList(asked.ignore) ? asked.ignore.map(String) : [],
      ...(typeof asked.adopt === 'string' ? { adopt: asked.adopt } : {}),
    },
    isPartial: false,
    references: referencesIn(document),
    position: place,
    locate: () => place,
  };
}

/** YAML's `$` objects as the values that they stand for. */
export function materialise(value: Value): Value {
  if (isList(value)) return value.map(materialise);
  if (!isObject(value)) return value;
  const members = Object.entries<Value>(value);
  const [key, source] = members[0] ?? [];
  if (members.length === 1 && key === '$ref') return new Ref(String(source));
  if (members.length === 1 && key === '$secret') return new Secret(String(source));
  return Object.fromEntries(members.map(([name, member]) => [name, materialise(member)]));
}

function referencesIn(value: Value): readonly Address[] {
  if (value instanceof Ref) return [value.address];
  if (isList(value)) return value.flatMap(referencesIn);
  return isObject(value) ? Object.values(value).flatMap(referencesIn) : [];
}

export function fingerprinter(key: string | undefined) {
  return createFingerprinter({
    ...(key === undefined ? {} : { key }),
    salt: emptyState(LINEAGE).salt,
    stack: LINEAGE,
  });
}

/** The state that a run would have left which wrote these documents. */
function stateOf({ applied, isRun, secrets, secretsThen, inClearThen, keyThen }: Parts): State {
  const ids = new Map(Object.entries(applied).map(([at, { id }]) => [at, String(id)]));
  const then: World = {
    findId: (address) => ids.get(address),
    findSecret: (source) => (secretsThen ?? secrets)[source],
    fingerprints: fingerprinter(keyThen),
  };
  const resources = Object.entries(applied).map(([address, written]) => {
    const { id, history_id: entry, ...fields } = written;
    const desired = { ...desiredResource(address, fields), inClear: inClearThen };
    return [address, resourceState(desired, String(id), Number(entry ?? 0), then)] as const;
  });
  const lastRun = isRun ? RUN : null;
  return {
    ...emptyState(LINEAGE),
    serial: 4,
    last_run: lastRun,
    resources: Object.fromEntries(resources),
  };
}

function resourceState(
  desired: DesiredResource,
  id: string,
  entry: number,
  then: World,
): ResourceState {
  const kind = kindNamed(desired.kind);
  const scope = getScope(kind, desired.document);
  const pin = { digest: 'sha256:then', updated_at: null, history_id: entry === 0 ? null : entry };
  const all = new Set(listLeaves(kind.schema, desired.document).leaves.keys());
  return rememberResource(kind, desired, { id, scope, pin }, undefined, all, then);
}
