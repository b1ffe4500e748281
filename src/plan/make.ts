import { type Address, kindOf, matchesAddress } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError } from '../core/errors.ts';
import type { Guards } from '../core/guards.ts';
import { inTurns } from '../core/in-turns.ts';
import type {
  Change,
  MovedEndpoint,
  Note,
  PlanDocument,
  PlanOptions,
} from '../core/plan-document.ts';
import type { PlanRules } from '../core/plan-rules.ts';
import { isObject, type Json } from '../core/value.ts';
import type { LeafChange } from '../diff/compare.ts';
import type { World } from '../diff/world.ts';
import { kindNamed, kinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import type { ResourceState, State } from '../state/model.ts';
import { forecastRequests, planDigest, summarise } from './document.ts';
import { guardChanges } from './guard.ts';
import { identify, type Obscurity } from './identify.ts';
import {
  judgeByRules,
  objectionsTo,
  overrideNotes,
  refusalsIn,
  withRefusals,
} from './objections.ts';
import { assumptionsAlong, writesOf } from './operations.ts';
import { planOne, type Result, supportOf } from './plan-one.ts';
import { distinctNotes, ownersOf, type PreflightContext } from './preflight.ts';
import type { Reader } from './reader.ts';
import { uncomparedNote } from './secrets.ts';
import type { Support } from './unsupported.ts';
import { refuseUsed } from './uses.ts';

/** How much is read: all of it, or only what may have changed. */
export type Refresh = 'fast' | 'full';

/** Resources that are read and compared at once: more than are ever in flight, fewer than a large fleet has. */
const MOST_AT_ONCE = 256;

export type PlanInput = {
  readonly purpose: PlanDocument['purpose'];
  readonly undoes?: string;
  readonly snapshot?: PlanDocument['snapshot'];
  readonly desired: readonly DesiredResource[];
  /** Whether resources that are in the state and not desired are planned away. */
  readonly prune: boolean;
  readonly state: State;
  readonly reader: Reader;
  /**
   * `fast`: what provably did not change since the state remembered it is not read. The plan is the same
   * (`unmoved.ts`). `full` unless given.
   */
  readonly refresh?: Refresh;
  /** Addresses that a resource had before, the latest first. */
  readonly formerly?: (address: Address) => readonly Address[];
  /** Whether a resource that is no longer configured is let go of instead of deleted. */
  readonly isForgotten?: (address: Address) => boolean;
  /** Whether the platform is asked what it would refuse; drift carries nothing out, so it need not. */
  readonly isPreflighted: boolean;
  readonly world: Omit<World, 'idOf'>;
  readonly now: Date;
  readonly options: PlanOptions;
  readonly guards: Guards;
  /** The team's own rules over plans. */
  readonly rules: PlanRules;
  readonly platform: PlanDocument['platform'];
  readonly organizations: PlanDocument['organizations'];
  /** The organization of resources that name none. */
  readonly organization?: string | undefined;
  readonly configDigest: string;
  readonly environment?: string | undefined;
  /** The run that died before, where there is one. */
  readonly settled?: PlanDocument['settled'];
  /** History entries that a rollback reverts to. */
  readonly versions: ReadonlyMap<Address, number>;
  readonly assumptionOf: Support['assumptionOf'];
  /** Whether what is only assumed may be written; it may unless this is false. */
  readonly assume?: boolean;
  /** What the stack moved on the platform. */
  readonly endpoints?: readonly MovedEndpoint[];
  /** Measured while reading, with as many in flight as apply has; see `forecastRequests`. */
  readonly secondsPerRequest: () => number;
};

export type Planned = {
  readonly plan: PlanDocument;
  /** Resources that equal the configuration and that the state should remember so. */
  readonly refresh: ReadonlyMap<Address, ResourceState>;
  readonly ids: ReadonlyMap<Address, string>;
  /** What the comparison found, unmasked, of those that differ. It never leaves this process. */
  readonly found: ReadonlyMap<Address, readonly LeafChange[]>;
  /** How many resources were planned without being read. */
  readonly unread: number;
  /** What could not be compared, in words; the plan has it as a note. */
  readonly uncompared?: string | undefined;
};

/** Makes a plan. Throws `CallsheetError('config')` where a resource cannot be identified. */
export async function makePlan(input: PlanInput): Promise<Planned> {
  const { desired, state, reader, options } = input;
  const { identities, obscurities } = await identify(desired, state, reader, {
    moves: input.purpose !== 'rollback' && input.purpose !== 'restore',
    formerly: input.formerly,
  });
  if (obscurities.length > 0) throw obscure(obscurities, input.purpose);

  const ids = new Map<Address, string>();
  for (const { address, found } of identities) if (found) ids.set(address, found.id);
  const world: World = { ...input.world, idOf: (address) => ids.get(address) };

  const chosen = identities.filter(
    (identity) =>
      (input.prune || identity.desired !== undefined) && isChosen(identity.address, input),
  );
  const checks = input.isPreflighted ? preflightOf(input) : undefined;
  const results: Result[] = [];
  // Kind by kind, so that a resource that is about to be replaced has no id for those that refer to it.
  for (const kind of kinds) {
    const ofKind = chosen.filter((identity) => identity.kind === kind);
    const planned: Result[] = [];
    const one = { ...input, world, checks };
    await inTurns(ofKind.entries(), MOST_AT_ONCE, async ([index, identity]) => {
      planned[index] = await planOne(identity, one);
    });
    for (const result of planned) {
      results.push(result);
      const { action, verdict, address } = result.change;
      if (action === 'replace' && verdict === 'ok') ids.delete(address);
    }
  }

  const existing = identities.filter(({ found }) => found !== undefined).length;
  const guarded = guard(results, existing, input);
  const sound = refuseDangling(guarded, desired, ids);
  const uncompared = uncomparedNote(
    results.flatMap(({ leaves }) => leaves),
    input.world,
  );
  const plan = assemble(
    options.force ? sound : await refuseUsed(sound, input),
    results,
    uncompared,
    { ...input, world },
  );
  const refresh = new Map(
    results.flatMap(({ change, state }) => (state ? [[change.address, state] as const] : [])),
  );
  const found = new Map(
    results.flatMap(({ change, leaves }) =>
      leaves.length === 0 ? [] : [[change.address, leaves] as const],
    ),
  );
  const unread = results.filter(({ isUnread }) => isUnread).length;
  return { plan, refresh, ids, found, unread, uncompared: uncompared[0]?.message };
}

function isChosen(
  address: Address,
  { options: { target, exclude }, purpose }: Pick<PlanInput, 'options' | 'purpose'>,
): boolean {
  // A rollback names what its run touched: nothing else, whatever its address begins with.
  if (purpose === 'rollback' && target.length > 0) return target.includes(address);
  const isTargeted =
    target.length === 0 || target.some((pattern) => matchesAddress(pattern, address));
  return isTargeted && !exclude.some((pattern) => matchesAddress(pattern, address));
}

/** What thresholds, protection and permission to delete make of the changes. */
function guard(results: readonly Result[], existing: number, input: PlanInput): readonly Change[] {
  const { state, desired, options, guards, purpose } = input;
  const protectedNow = new Map(
    desired.map(({ address, lifecycle }) => [address, lifecycle.protect]),
  );
  return guardChanges(
    results.map(({ change }) => change),
    {
      purpose,
      options,
      guards,
      isProtected: (address) =>
        protectedNow.get(address) ?? state.resources[address]?.protect ?? false,
      existing,
      isConfigurationEmpty: purpose === 'apply' && desired.length === 0,
    },
  );
}

function assemble(
  all: readonly Change[],
  results: readonly Result[],
  uncompared: readonly Note[],
  input: Omit<PlanInput, 'world'> & { readonly world: World },
): PlanDocument {
  const { state, options, guards, now } = input;
  const changes = all.filter(({ action }) => action !== 'no_op');
  const undigested: Omit<PlanDocument, 'digest'> = {
    format: 'callsheet-plan',
    version: 1,
    created_at: now.toISOString(),
    purpose: input.purpose,
    ...(input.undoes === undefined ? {} : { undoes: input.undoes }),
    ...(input.snapshot === undefined ? {} : { snapshot: input.snapshot }),
    platform: input.platform,
    organizations: input.organizations,
    ...(input.environment === undefined ? {} : { environment: input.environment }),
    config_digest: input.configDigest,
    state: { lineage: state.lineage, serial: state.serial },
    options,
    summary: summarise(changes, all.length - changes.length),
    requests: forecastRequests(changes, kindNamed, input.secondsPerRequest()),
    assumptions: assumptionsOf(changes, unreadKinds(results), carriedBy(results), supportOf(input)),
    ...((input.endpoints ?? []).length === 0 ? {} : { endpoints: input.endpoints }),
    changes,
    notes: [...distinctNotes(results.flatMap(({ notes }) => notes)), ...uncompared],
    ...(input.settled === undefined ? {} : { settled: input.settled }),
  };
  const { holds = {} } = state;
  const { desired, world } = input;
  const objections = objectionsTo(undigested, { guards, holds, now, desired, world });
  const judged = judgeByRules(undigested, input);
  const notes = [...undigested.notes, ...overrideNotes(objections), ...judged.notes];
  const plan = { ...undigested, notes, digest: planDigest(undigested) };
  return withRefusals(plan, [...refusalsIn(objections), ...judged.refusals]);
}

function carriedBy(results: readonly Result[]): ReadonlyMap<Address, readonly string[]> {
  return new Map(results.map(({ change, carried = [] }) => [change.address, carried]));
}

/** The kinds of what was planned without being read. */
function unreadKinds(results: readonly Result[]): readonly Kind[] {
  const names = new Set(results.flatMap(({ change, isUnread }) => (isUnread ? [change.kind] : [])));
  return [...names].map(kindNamed);
}

function preflightOf(input: PlanInput): PreflightContext {
  const { reader, desired, organizations, organization } = input;
  return { reader, terms: reader.terms(), organizations, ...ownersOf(desired, organization) };
}

/**
 * Ids of the assumptions that reading and carrying out the changes relies on (DESIGN §9), sorted, and those that
 * make reading needless for resources of the kinds `unread`. `carried`: paths that go back as they were read. What is
 * unsupported is not carried out, and an operation that is known not to be usable is not called.
 */
function assumptionsOf(
  changes: readonly Change[],
  unread: readonly Kind[],
  carried: ReadonlyMap<Address, readonly string[]>,
  { assumptionOf, lackOf }: Support,
): readonly string[] {
  const found = new Set(unread.flatMap(({ stamp }) => (stamp ? [stamp.assumption] : [])));
  for (const change of changes) {
    const kind = kindNamed(change.kind);
    const isDone = change.verdict !== 'unsupported';
    const operations = [...kind.operations.read, ...(isDone ? writesOf(change, kind) : [])];
    for (const operation of operations) {
      const assumption = lackOf(operation) === undefined ? assumptionOf(operation) : undefined;
      if (assumption !== undefined) found.add(assumption);
    }
    if (!isDone) continue;
    const paths = [
      ...change.fields.map(({ path }) => path),
      ...(carried.get(change.address) ?? []),
    ];
    for (const path of paths) {
      for (const assumption of assumptionsAlong(kind.schema, path)) found.add(assumption);
    }
  }
  return [...found].sort();
}

/**
 * Refuses changes that would write the id of a resource which neither exists nor comes to exist by this
 * plan: it is left out with `--target`, or refused itself. Where it is unsupported, so is what refers to
 * it. Changes stand in an order in which what is referred to comes first.
 */
export function refuseDangling(
  changes: readonly Change[],
  desired: readonly DesiredResource[],
  ids: ReadonlyMap<Address, string>,
): readonly Change[] {
  const references = new Map(desired.map((one) => [one.address, one.references]));
  const born = new Set(ids.keys());
  const unsupported = new Set<Address>();
  const refused = new Set<Address>();
  return changes.map((change) => {
    if (change.verdict === 'unsupported') unsupported.add(change.address);
    if (change.verdict === 'refused') refused.add(change.address);
    const dangling = (references.get(change.address) ?? []).find(
      (address) => !born.has(address) && isWritten(change, address),
    );
    const isOk = change.verdict === 'ok';
    if (isOk && dangling === undefined && isMade(change)) born.add(change.address);
    if (!isOk || dangling === undefined) return change;
    const why = refused.has(dangling) ? 'is refused itself' : 'which this plan does not make';
    const reason = `${change.reason}; it refers to ${dangling}, which does not exist and ${why}`;
    if (!unsupported.has(dangling)) {
      refused.add(change.address);
      return { ...change, verdict: 'refused', reason };
    }
    unsupported.add(change.address);
    return { ...change, verdict: 'unsupported', reason, operations: [] };
  });
}

function isMade({ action }: Change): boolean {
  return action === 'create' || action === 'replace';
}

function isWritten({ fields, operations }: Change, address: Address): boolean {
  return operations.length > 0 && fields.some(({ after }) => refersTo(after, address));
}

/** Whether a value as a plan shows it is a reference to an address. */
function refersTo(value: Json, address: Address): boolean {
  return isObject(value) && value.$ref === address;
}

export function obscure(
  obscurities: readonly Obscurity[],
  purpose: PlanDocument['purpose'],
): CallsheetError {
  const isSeveral = obscurities.some(({ type }) => type === 'several');
  return new CallsheetError('config', obscurities.map(tellObscurity).join('\n'), {
    hint: isSeveral
      ? purpose === 'restore'
        ? 'Name the state of the restoration that made them with --state, rename those that are too many in the dashboard, or restore the other organizations with --organization.'
        : 'Say which one is meant with `callsheet import <address> <id>` or `lifecycle: { adopt: <id> }`, or rename the others.'
      : 'Correct the id in lifecycle.adopt, or take it out to make a new resource.',
  });
}

function tellObscurity(obscurity: Obscurity): string {
  const { address } = obscurity;
  if (obscurity.type === 'several') {
    const { ids } = obscurity;
    return `${address}: ${ids.length} live resources have its name: ${ids.join(', ')}`;
  }
  const { id, holder } = obscurity;
  return holder === undefined
    ? `${address}: lifecycle.adopt names ${id}, and the platform has no such ${kindNoun(address)}`
    : `${address}: lifecycle.adopt names ${id}, which ${holder} stands for`;
}

function kindNoun(address: Address): string {
  return kindOf(address).replaceAll('_', ' ');
}
