import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { digestOf } from '../core/digest.ts';
import type { Note, PlanDocument, PlanOptions } from '../core/plan-document.ts';
import { redact } from '../core/redact.ts';
import { kindNamed } from '../kinds/index.ts';
import { planDigest, summarise } from '../plan/document.ts';
import { makePlan } from '../plan/make.ts';
import type { AppliedLeaf, ResourceState, State } from '../state/model.ts';
import { compareAnswers } from './compare-answers.ts';
import { type Difference, differenceOf } from './difference.ts';
import type { ResourceRecord } from './format.ts';
import { readerOver } from './memory-reader.ts';
import type { SnapshotFile } from './read-file.ts';
import { documentOf } from './read-resource.ts';

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
): Promise<PlanDocument> {
  const difference = await differenceOf(earlier, later);
  const { before, after, organizations } = difference;
  const names = namesOf(difference);
  const { plan } = await makePlan({
    purpose: 'comparison',
    desired: after.map((record) => desiredOf(record, before, names)),
    prune: true,
    state: stateOf(difference, names, later),
    reader: readerOver([...before.values()]),
    isPreflighted: false,
    // Documents of the platform hold no `$secret`, and nothing is known of what was written once.
    world: { secretOf: () => undefined, fingerprints: { of: () => '', matches: () => 'unknown' } },
    now,
    options: EVERYTHING,
    guards: {},
    rules: () => ({ refusals: [], notes: [] }),
    platform: later.header.platform,
    organizations,
    configDigest: digestOf([earlier.header.made_at, later.header.made_at]),
    versions: new Map(),
    assumptionOf: () => undefined,
    secondsPerRequest: () => 0,
  });
  return asComparison(plan, difference.equal, compareAnswers(difference));
}

/** What each resource is called: the address in the later snapshot, the one in the earlier, or its kind and id. */
function namesOf({ before, after }: Difference): ReadonlyMap<string, Address> {
  const names = new Map<string, Address>();
  for (const record of [...before.values(), ...after]) {
    const key = keyOfResource(record);
    const { address, kind, id } = record;
    names.set(key, address ?? names.get(key) ?? `${kind}.${id}`);
  }
  return names;
}

function keyOfResource({ kind, id }: ResourceRecord): string {
  return `${kind} ${id}`;
}

function desiredOf(
  record: ResourceRecord,
  before: Difference['before'],
  names: ReadonlyMap<string, Address>,
): DesiredResource {
  const key = keyOfResource(record);
  return {
    address: names.get(key) ?? key,
    kind: record.kind,
    document: { ...record.scope, ...documentOf(record) },
    // What one of them leaves out says nothing of the other.
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

/** The earlier snapshot as a state, by which its resources are found. */
function stateOf(
  { before, after }: Difference,
  names: ReadonlyMap<string, Address>,
  { header }: SnapshotFile,
): State {
  const later = new Map(after.map((record) => [keyOfResource(record), record]));
  const resources = [...before].map(([key, record]): [Address, ResourceState] => {
    const { kind, id, scope } = record;
    const name = typeof record.record.name === 'string' ? record.record.name : id;
    const leaves = { ...hidden(record), ...hidden(later.get(key)) };
    return [names.get(key) ?? key, { kind, id, scope, name, leaves, pin: null, protect: false }];
  });
  return {
    format: 'callsheet-state',
    version: 2,
    lineage: '',
    serial: 0,
    account_id: header.platform.account_id,
    salt: '',
    resources: Object.fromEntries(resources),
    last_run: null,
  };
}

/** What may be a secret although no schema names it is masked as what was written as one. */
function hidden(record: ResourceRecord | undefined): Readonly<Record<string, AppliedLeaf>> {
  if (record === undefined) return {};
  const { schema } = kindNamed(record.kind);
  const { withheld } = redact(schema, documentOf(record), { how: 'withhold' });
  return Object.fromEntries(withheld.map((path) => [path, { unknown: true }]));
}

/** A plan that nobody carries out: without verdicts, steps and reasons, which speak of applying. */
function asComparison(
  { digest: _, refusals: __, ...plan }: PlanDocument,
  equal: number,
  notes: readonly Note[],
): PlanDocument {
  const changes = plan.changes.map((change) => ({
    ...change,
    // What the platform has no endpoint to delete is gone all the same.
    action: change.action === 'forget' ? ('delete' as const) : change.action,
    verdict: 'ok' as const,
    reason: REASONS[change.action] ?? '',
    operations: [],
  }));
  const undigested = {
    ...plan,
    changes,
    notes,
    summary: summarise(changes, equal + plan.summary.no_op),
    requests: { reads: 0, writes: 0, seconds: 0 },
    assumptions: [],
  };
  return { ...undigested, digest: planDigest(undigested) };
}

const REASONS: { readonly [action: string]: string } = {
  create: 'only the later snapshot has it',
  delete: 'only the earlier snapshot has it',
  forget: 'only the earlier snapshot has it',
  update: 'it changed in between',
  replace: 'another resource took its place in between',
};
