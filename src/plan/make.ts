import { type Address, isChosen } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { UnreadError } from '../core/errors.ts';
import { overlaps, type Path, parsePaths, toPath } from '../core/path.ts';
import {
  type Behind,
  type Change,
  type DriftPolicy,
  type ExceededLimit,
  type FindCallouts,
  type Guards,
  isEdited,
  isKept,
  type KeptEdits,
  type MovedEndpoint,
  type Note,
  type Pin,
  type PlanDocument,
  type PlanOptions,
  type PlanRules,
  summarise,
} from '../core/plan-document.ts';
import { sharingTexts } from '../core/texts.ts';
import { getOwn, inTurns, isSameJson, type Json } from '../core/value.ts';
import { matchesApplied } from '../diff/applied.ts';
import { isStoredOddly, isWritten, type LeafChange, storedMark } from '../diff/compare.ts';
import { normalise, type World } from '../diff/leaves.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import {
  contentIn,
  getIdentity,
  openSharing,
  ownersIn,
  type ResourceState,
  type State,
} from '../state/model.ts';
import { type Agreed, buildBasis, describeAgreed } from './basis.ts';
import { isResent, planChange, storedNotes, unchanged } from './change.ts';
import { forecastRequests, type Undigested, withCallouts, withDigest } from './document.ts';
import { baseEntry, findAuthor, getSince, withoutRuns } from './drift.ts';
import { type FindSource, groupAlike, withTextSources } from './groups.ts';
import type { Approved, Claim } from './guards.ts';
import {
  checkGuards,
  checkTeamRules,
  type GuardInput,
  guardChange,
  guardChanges,
  overriddenLimits,
  overrideNotes,
  refusalsIn,
  withRefusals,
} from './guards.ts';
import { heldLightly } from './held-texts.ts';
import { describeEnded, endedHolds } from './holds.ts';
import {
  ambiguousIdentityError,
  findNamesakes,
  type Identity,
  identify,
  type Span,
} from './identify.ts';
import {
  asOwn,
  attributeDrift,
  attributeOthers,
  attributeUnrecorded,
  carriedNotes,
  dependentNotes,
  extentNotes,
  ignoreNotes,
  leafNotes,
  namesakeNote,
  protectionNotes,
  replacedVersionNote,
  unreadHistoryNote,
  unreadyNotes,
  withAuthor,
} from './messages.ts';
import { collectNames, type Names, namesShown } from './names.ts';
import {
  distinctNotes,
  type FindFormer,
  findOwners,
  findRefusals,
  type PreflightContext,
} from './preflight.ts';
import {
  type HistoryEntry,
  historyIfShown,
  type LiveResource,
  listFields,
  type Reader,
  type RecentCalls,
  readWith,
} from './reader.ts';
import { bindIds, deferInCircles, refuseReferenced, refuseUnresolved } from './references.ts';
import {
  buildPin,
  compareUnread,
  fastRefreshPin,
  isKnownLive,
  isSamePin,
  isWhollyRemembered,
  livePin,
} from './refresh.ts';
import { absentFacets, chooseRevertOrUpdate, leaveOutUnclearable, settleBarred } from './revert.ts';
import {
  accountsWithoutSecret,
  clearedSecretNotes,
  uncomparedNotes,
  withSharing,
} from './secrets.ts';
import {
  createdIn,
  keptSince,
  moveEntry,
  rememberAgreed,
  rememberResource,
} from './state-entry.ts';
import {
  carriedPaths,
  getSupport,
  listAssumptions,
  rememberedAssumptions,
  type Support,
  withSupport,
} from './steps.ts';

/** How much is read: all of it, or only what may have changed. */
export type Refresh = 'fast' | 'full';

/** Resources that are read and compared at once: more than are ever in flight, fewer than a large fleet has. */
const MOST_AT_ONCE = 256;

export type PlanInput = {
  readonly purpose: PlanDocument['purpose'];
  readonly undoes?: string;
  readonly snapshot?: PlanDocument['snapshot'];
  readonly desired: readonly DesiredResource[];
  /** True if resources that are in the state and not desired are planned away. */
  readonly prune: boolean;
  readonly state: State;
  readonly reader: Reader;
  /**
   * `fast`: what provably did not change since the state remembered it is not read. The plan is the same
   * (`refresh.ts`). `full` unless given.
   */
  readonly refresh?: Refresh;
  /** Addresses that a resource had before, the latest first. */
  readonly priorAddresses?: (address: Address) => readonly Address[];
  /** True if a resource that is no longer configured is removed from the state instead of deleted. */
  readonly isForgotten?: (address: Address) => boolean;
  /** True if the platform is asked what it would refuse; drift carries nothing out, so it need not. */
  readonly isPreflighted: boolean;
  readonly world: Omit<World, 'findId'>;
  readonly now: Date;
  readonly options: PlanOptions;
  /** The addresses that are planned, of those that the options choose; all of them unless given. */
  readonly only?: ReadonlySet<Address>;
  readonly guards: Guards;
  /** The policy for edits on the platform; `undo` unless given. */
  readonly drift?: DriftPolicy;
  /** The team's own rules over plans. */
  readonly rules: PlanRules;
  readonly platform: PlanDocument['platform'];
  readonly organizations: PlanDocument['organizations'];
  /** The organization of resources that name none. */
  readonly organization?: string | undefined;
  readonly configDigest: string;
  readonly environment?: string | undefined;
  /** The name of the stack and its commit, which may be known later than what is read. */
  readonly place?: Promise<PlanDocument['stack']>;
  /** Resources that features have for their own; see `GuardInput`. */
  readonly claims: readonly Claim[];
  /** Most changes that are carried out before somebody judges them; see `GuardInput`. */
  readonly atOnce?: number | undefined;
  /** The commit that was applied last, where the checkout does not have it. */
  readonly behind?: Behind | undefined;
  /** Finds what was approved beyond the limits and is still to be done. Asked only where a limit stands against the plan. */
  readonly findApproved?: () => Promise<Approved | undefined>;
  /** Who gave the flags that lift a guard, where the environment tells. */
  readonly allowed?: PlanDocument['allowed'];
  /** The run that died before, where there is one. */
  readonly settled?: PlanDocument['settled'];
  /** History entries that a rollback reverts to. */
  readonly versions: ReadonlyMap<Address, number>;
  /**
   * When the run lasted that a rollback undoes, or the one that made what stands at an address by now; undefined where it
   * goes back to a snapshot.
   */
  readonly ranAt?: ((address: Address) => Span | undefined) | undefined;
  /** Finds what a rollback knows of a resource that the state has no more. */
  readonly findFormer?: FindFormer | undefined;
  readonly findAssumption: Support['findAssumption'];
  /** False if fields whose form is only assumed must not be written. */
  readonly assume?: boolean;
  /** The endpoints that the stack moved. */
  readonly endpoints?: readonly MovedEndpoint[];
  readonly findSource?: FindSource;
  /** Addresses of the configuration, of which a rollback plans only some. */
  readonly configured?: readonly Address[];
  /** Finds a value that was written last, of which the state has a digest; asked of conflicts alone. */
  readonly findWritten?: FindWritten;
  /** Finds what the files had since the last apply; asked where live and the files differ from it, and from each other. */
  readonly findConfigured?: FindConfigured;
  /** The calls of changed resources, for a plan that shows them or is judged by them. */
  readonly recentCalls?: RecentCalls | undefined;
  readonly findCallouts: FindCallouts;
  /** Measured while reading, with as many in flight as apply has; see `forecastRequests`. */
  readonly secondsPerRequest: () => number;
};

/** Finds what stood at a path of a resource when `isWanted` held; undefined if it was not kept. */
export type FindWritten = (
  at: {
    readonly kind: Kind;
    readonly id: string;
    readonly address: Address;
    readonly path: Path;
  },
  isWanted: (value: Json) => boolean,
) => Promise<Json | undefined>;

/** Gives a resource as the files had it since the last apply, the newest first. `addresses`: its own, and those before. */
export type FindConfigured = (addresses: readonly Address[]) => AsyncIterable<DesiredResource>;

export type Planned = {
  readonly plan: PlanDocument;
  /** Resources that equal the configuration and that the state should remember so. */
  readonly refresh: ReadonlyMap<Address, ResourceState>;
  readonly ids: ReadonlyMap<Address, string>;
  /** The differences that the comparison found, unmasked. They never leave this process. */
  readonly found: ReadonlyMap<Address, readonly LeafChange[]>;
  /** How many resources were planned without being read. */
  readonly unread: number;
  /** The secrets that could not be compared, in words; the plan has them as notes. */
  readonly uncompared?: string | undefined;
};

/** Makes a plan. Throws `CallsheetError('config')` where a resource cannot be identified. */
export async function makePlan(input: PlanInput): Promise<Planned> {
  const { desired, state, reader, options } = input;
  // A rollback names what its run touched: nothing else, whatever its address begins with.
  const isNamed = input.purpose === 'rollback' && options.target.length > 0;
  const isPicked = ({ address, desired }: Identity) =>
    (input.prune || desired !== undefined) &&
    (input.only?.has(address) ?? true) &&
    (isNamed ? options.target.includes(address) : isChosen(address, options));
  const readAhead = openReadAhead(input);
  const { identities, ambiguities } = await identify(desired, state, reader, {
    moves: input.purpose !== 'rollback' && input.purpose !== 'restore',
    priorAddresses: input.priorAddresses,
    onIdentified: (identity) => {
      if (isPicked(identity)) readAhead.begin(identity);
    },
  });
  if (ambiguities.length > 0) throw ambiguousIdentityError(ambiguities, input);

  const ids = new Map<Address, string>();
  for (const { address, found } of identities) if (found) ids.set(address, found.id);
  const world: World = {
    ...input.world,
    findContent: contentIn(state),
    findId: (address) => ids.get(address),
  };

  const chosen = identities.filter(isPicked);
  const existing = identities.filter(({ found }) => found !== undefined).length;
  const guarding = guardInput(existing, input);
  const checks = input.isPreflighted ? openPreflight(input) : undefined;
  const share = openSharing();
  let planned: ReadonlySet<Address> | undefined;
  const isPlanned = (address: Address) => {
    planned ??= new Set(chosen.map((one) => one.address));
    return planned.has(address);
  };
  const slots: Slot[] = [];
  const unread: Kind[] = [];
  const askedOwners = new Map<Address, string>();
  const priorIds = new Map(desired.map(({ address, lifecycle }) => [address, lifecycle.adopt]));
  const findPriorId = (address: Address) => priorIds.get(address);
  const common = { checks, share, unread, askedOwners, isPlanned, findPriorId, readAhead };
  const one = { ...input, world, ...common };
  const planSlot = async (slot: Slot): Promise<void> => {
    const result = await planOne(slot.identity, one);
    slot.result = result && heldLightly(result);
  };
  // Kind by kind, so that a resource that is about to be replaced has no id for those that refer to it.
  for (const kind of kinds) {
    const ofKind = chosen.filter((identity) => identity.kind === kind);
    const planned = ofKind.map((identity): Slot => ({ identity, result: undefined }));
    await inTurns(planned, MOST_AT_ONCE, planSlot);
    for (const { result } of planned)
      if (result !== undefined) bindIds(ids, [guardChange(result.change, guarding)]);
    slots.push(...planned);
  }
  // A change that was planned before its reference turned out to be replaced still has the old id.
  await inTurns(findOutdated(slots, ids), MOST_AT_ONCE, planSlot);
  const results = slots.flatMap(({ result }) => result ?? []);

  const made = results.map(({ change }) => change);
  const measured = guardChanges(made, guarding);
  const isOver = measured.some(({ lifted_by: lift }) => lift === 'override_limits');
  const approved = isOver ? await input.findApproved?.() : undefined;
  const judging = { ...guarding, approved };
  const limited = approved === undefined ? measured : guardChanges(made, judging);
  // Limits, which count all changes, may have kept more of them from being replaced.
  bindIds(ids, limited);
  const guarded = deferInCircles(limited, desired, ids);
  const sound = withSharing(refuseUnresolved(guarded, desired, ids), desired);
  const uncompared = uncomparedNotes(
    results.map(({ change: { address }, leaves }) => ({ address, leaves })),
    input.world,
    state,
  );
  const settled = options.force ? sound : await refuseReferenced(sound, { ...input, chosen });
  // A fleet in which nothing changes shows none.
  const names =
    results.length === 0 ? new Map<string, string>() : await collectNames({ ...input, identities });
  const namesakes =
    input.purpose === 'apply'
      ? await findNamesakes(identities, reader)
      : new Map<Address, readonly string[]>();
  const doubled = chosen.flatMap((identity) => {
    const others = namesakes.get(identity.address);
    return others === undefined ? [] : [namesakeNote(identity, others, input.organizations)];
  });
  const plan = assemble(
    await withCalls(settled, askedOwners, input.recentCalls),
    { results, chosen: chosen.length, unread: [...new Set(unread)] },
    [...uncompared, ...doubled],
    overriddenLimits(guarded, judging),
    { ...input, world },
    names,
    await input.place,
  );
  const refresh = new Map(
    results.flatMap(({ change, state }) => (state ? [[change.address, state] as const] : [])),
  );
  const found = new Map(
    results.flatMap(({ change, leaves }) =>
      leaves.length === 0 ? [] : [[change.address, leaves] as const],
    ),
  );
  return {
    plan,
    refresh,
    ids,
    found,
    unread: unread.length,
    uncompared:
      uncompared.flatMap(({ known, message }) => (known === true ? [] : message)).join(' ') ||
      undefined,
  };
}

/** Requests of a plan that are sent before what they wait for otherwise, since they are sent in any case. */
type ReadAhead = {
  /** Reads a resource that is read whatever other lists show: all but those that the state may show to be unchanged. */
  readonly begin: (identity: Identity) => void;
  /** The live resource of an identity, which may have been read ahead. */
  readonly read: (identity: Identity) => Promise<LiveResource | undefined>;
  /**
   * Asks beside the read of a resource that is going to be changed what is asked of changes: what is live is known, and the
   * files want something else. Of any other one the read has to show that first. Returns the answer of `isHistoryDated`, the
   * first time.
   */
  readonly askOfChange: (identity: Identity) => ReturnType<Reader['isHistoryDated']> | undefined;
};

function openReadAhead({
  reader,
  refresh,
  recentCalls,
}: Pick<PlanInput, 'reader' | 'refresh' | 'recentCalls'>): ReadAhead {
  const begun = new Map<Address, Promise<LiveResource | undefined>>();
  let isDatedAsked = false;
  return {
    begin(identity) {
      const { kind, address, found, movedFrom } = identity;
      const isRead = refresh !== 'fast' || kind.stamp === undefined;
      // The record of a moved resource is not bound to its new address yet.
      if (!isRead || found === undefined || movedFrom !== undefined) return;
      if (begun.size >= MOST_AT_ONCE) return;
      const reading = readIdentity(identity, reader);
      // The failure is thrown where it is planned.
      reading.catch(() => {});
      begun.set(address, reading);
    },
    read(identity) {
      const reading = begun.get(identity.address);
      begun.delete(identity.address);
      return reading ?? readIdentity(identity, reader);
    },
    askOfChange(identity) {
      const { kind, found } = identity;
      if (refresh !== 'fast' || found === undefined || !isKnownLive(identity)) return undefined;
      const { organization_id: owner } = found.scope;
      if (kind.takesCalls === true && owner !== undefined) recentCalls?.ask(owner);
      if (isDatedAsked || kind.history === undefined) return undefined;
      isDatedAsked = true;
      const dated = reader.isHistoryDated(kind, found.id);
      // The change may turn out to need no history.
      dated.catch(() => {});
      return dated;
    },
  };
}

/** The live resource of an identity, with the facets that its documents have; undefined where there is none. */
async function readIdentity(
  { kind, found, desired, recorded }: Identity,
  reader: Reader,
): Promise<LiveResource | undefined> {
  if (found === undefined) return undefined;
  // A resource that could not be read when it was made looks like one that is gone.
  const isUnread = recorded?.id === found.id && recorded.pin === null;
  const fields = listFields(kind, desired?.document, recorded?.leaves);
  const live = await readWith(reader, kind, { ...found, isUnread }, fields);
  if (live === undefined || desired === undefined) return live;
  // A change of something else holds both sides.
  return { ...live, document: sharingTexts(live.document, desired.document) };
}

/** Those of some resources that refer to one of their own or a later kind which is replaced. */
function findOutdated(slots: readonly Slot[], ids: ReadonlyMap<Address, string>): readonly Slot[] {
  const replaced = new Map(
    slots.flatMap(({ identity: { address, kind }, result }) =>
      result?.change.action === 'replace' && !ids.has(address) ? [[address, kind] as const] : [],
    ),
  );
  if (replaced.size === 0) return [];
  return slots.filter(({ identity: { kind, desired } }) =>
    (desired?.references ?? []).some((address) => {
      const other = replaced.get(address);
      return other !== undefined && kinds.indexOf(kind) <= kinds.indexOf(other);
    }),
  );
}

/** A resource, and what was planned for it. */
type Slot = { readonly identity: Identity; result: Result | undefined };

function guardInput(existing: number, input: PlanInput): GuardInput {
  const { state, desired, options, guards, purpose } = input;
  let protectedNow: ReadonlyMap<Address, boolean> | undefined;
  return {
    purpose,
    options,
    guards,
    drift: input.drift,
    isProtected: (address) => {
      protectedNow ??= new Map(desired.map((one) => [one.address, one.lifecycle.protect]));
      return protectedNow.get(address) ?? state.resources[address]?.protect === true;
    },
    existing,
    atOnce: input.atOnce,
    isConfigurationEmpty: purpose === 'apply' && desired.length === 0,
    claims: input.claims,
    environment: input.environment,
  };
}

function assemble(
  all: readonly Change[],
  { results, chosen, unread }: Outcome,
  more: readonly Note[],
  overridden: readonly ExceededLimit[],
  input: Omit<PlanInput, 'world'> & { readonly world: World },
  known: Names,
  place: PlanDocument['stack'],
): PlanDocument {
  const { state, options, guards, now } = input;
  const { findSource = () => undefined, configured } = input;
  const acting = all.filter(({ action }) => action !== 'no_op');
  const changes = withTextSources(acting, findSource).map((change) =>
    withCallouts(change, input.findCallouts),
  );
  const assumptions = listAssumptions(changes, unread, carriedBy(results), getSupport(input));
  const remembered = rememberedAssumptions(assumptions, state, getSupport(input));
  const groups = groupAlike(changes, findSource, configured);
  const agreed = results.flatMap((one) => one.agreed ?? []);
  const kept = results.flatMap((one) => one.kept ?? []);
  const undigested: Undigested = {
    format: 'callsheet-plan',
    version: 1,
    created_at: now.toISOString(),
    purpose: input.purpose,
    ...(input.undoes === undefined ? {} : { undoes: input.undoes }),
    ...(input.snapshot === undefined ? {} : { snapshot: input.snapshot }),
    platform: input.platform,
    organizations: input.organizations,
    ...(input.environment === undefined ? {} : { environment: input.environment }),
    ...(place === undefined ? {} : { stack: place }),
    config_digest: input.configDigest,
    state: { lineage: state.lineage, serial: state.serial },
    options,
    ...(overridden.length === 0 ? {} : { overridden_limits: overridden }),
    summary: summarise(changes, chosen - changes.length),
    requests: forecastRequests(changes, input.secondsPerRequest()),
    assumptions,
    ...(remembered.length === 0 ? {} : { known_assumptions: remembered }),
    ...((input.endpoints ?? []).length === 0 ? {} : { endpoints: input.endpoints }),
    changes,
    ...(groups.length === 0 ? {} : { groups }),
    ...(agreed.length === 0 ? {} : { agreed }),
    ...(kept.length === 0 ? {} : { kept }),
    notes: [...distinctNotes(results.flatMap(({ notes }) => notes)), ...more],
    ...(input.allowed && { allowed: input.allowed }),
    ...(input.behind && { behind: input.behind }),
    ...(input.settled === undefined ? {} : { settled: input.settled }),
  };
  const { holds = {} } = state;
  const { desired, world, behind } = input;
  const findings = checkGuards(undigested, { guards, holds, now, desired, world, behind });
  const judged = checkTeamRules(undigested, input);
  const ended = input.purpose === 'apply' ? endedHolds({ ...state, desired }) : NOTHING_ENDED;
  const found = [
    ...overrideNotes(findings),
    ...judged.notes,
    ...[...ended.values()].map(endedNote),
  ];
  const notes = [...undigested.notes, ...found.map((note) => ({ ...note, varies: true as const }))];
  const refusals = [...refusalsIn(findings), ...judged.refusals];
  const names = namesShown(changes, notes, known);
  const named = { ...undigested, ...(names === undefined ? {} : { names }), notes };
  const freeze = findings.find((one) => one.freeze && !one.isOverridden)?.freeze;
  return withDigest(withRefusals(named, refusals, freeze));
}

const NOTHING_ENDED: ReturnType<typeof endedHolds> = new Map();

/** The next apply forgets it. */
function endedNote(ended: Parameters<typeof describeEnded>[0]): Note {
  const { address = null } = ended.hold;
  return {
    severity: 'info',
    address,
    message: `${describeEnded(ended)}; the next apply releases it`,
  };
}

function carriedBy(results: readonly Result[]): ReadonlyMap<Address, readonly string[]> {
  return new Map(results.map(({ change, carried = [] }) => [change.address, carried]));
}

function openPreflight(input: PlanInput): PreflightContext {
  const { reader, desired, organizations, organization, state, purpose } = input;
  let owners: ReadonlyMap<string, Address> | undefined;
  const findFormer: FindFormer = async (kind, id) => {
    owners ??= ownersIn(state);
    const recorded = state.resources[owners.get(getIdentity({ kind, id })) ?? ''];
    return recorded ?? (await input.findFormer?.(kind, id));
  };
  return {
    reader,
    entitlements: reader.entitlements(),
    organizations,
    ...findOwners(desired, organization),
    ...(purpose === 'rollback' ? { findFormer } : {}),
  };
}

/** The outcome of planning all resources. */
type Outcome = {
  /** Results of those resources that have something to report. */
  readonly results: readonly Result[];
  /** How many were planned. */
  readonly chosen: number;
  /** The kinds of what was planned without being read. */
  readonly unread: readonly Kind[];
};

/** The outcome of planning one resource. */
type Result = {
  readonly change: Change;
  readonly notes: readonly Note[];
  /** How the configuration and what is live differ. */
  readonly leaves: readonly LeafChange[];
  /** The entry that the state should remember although nothing is written; undefined if it has that already. */
  readonly state: ResourceState | undefined;
  /** The same as the plan carries it. */
  readonly agreed?: Agreed;
  /** Paths of what goes back with the change as it was read. */
  readonly carried?: readonly string[];
  readonly kept?: KeptEdits | undefined;
};

/** The inputs that all resources of a plan share. */
type OneInput = Omit<PlanInput, 'world'> & {
  readonly world: World;
  readonly checks: PreflightContext | undefined;
  readonly share: ReturnType<typeof openSharing>;
  /** Tells whether a resource is part of the plan, and may give its name up by it. */
  readonly isPlanned: (address: Address) => boolean;
  /** Takes the kind of each resource that is planned without being read. */
  readonly unread: Kind[];
  /** Takes the organization of each resource whose calls are asked for. */
  readonly askedOwners: Map<Address, string>;
  readonly readAhead: ReadAhead;
  /** The id that a resource had before what a rollback undoes. */
  readonly findPriorId: (address: Address) => string | undefined;
};

/**
 * Plans one resource: reads it, compares it, and asks what the platform would refuse of the change. Undefined: it is as
 * the state remembers it and as it is configured, and nothing need be held of it, which in a large fleet counts.
 */
async function planOne(given: Identity, input: OneInput): Promise<Result | undefined> {
  const { world, share } = input;
  const identity = atItsAddress(given, world);
  const { kind, desired, recorded, address, by } = identity;
  const resent = isResent(address, input.options);
  if (input.refresh === 'fast') {
    const unwritten = compareUnread(identity, world, resent);
    if (unwritten !== undefined) {
      input.unread.push(kind);
      return asRemembered(identity, unwritten, input);
    }
  }
  const reading = input.readAhead.read(identity);
  const dated = input.readAhead.askOfChange(identity);
  const live = await reading;
  const seen = live === undefined ? null : livePin(kind, live);
  const support = getSupport(input);
  const context = {
    pin: seen,
    world,
    options: input.options,
    keepsEdits: input.drift === 'keep',
    now: input.now,
    purpose: input.purpose,
    isToSnapshot: input.snapshot !== undefined,
    version: input.versions.get(address),
    ran: input.ranAt?.(address),
    isForgotten: input.isForgotten?.(address) ?? false,
    isPlanned: input.isPlanned,
    support,
  };
  const first = planChange(identity, live, context);
  const compared = await withAgreed(identity, live, first.leaves, input);
  const second = compared === identity ? first : planChange(compared, live, context);
  const bases = await findBases(compared, second.leaves, input);
  const { change: planned, leaves } =
    bases.size === 0 ? second : planChange(compared, live, { ...context, bases });
  if (live !== undefined) askForCalls(planned, kind, live, input);
  const written = { document: desired?.document ?? {}, leaves, live: live?.document ?? {} };
  const carried = carriedPaths(planned, kind, written);
  const supported = withSupport(planned, identity, support, carried);
  const { change, notes: unanswered } = await ask(supported, written, identity, live, input);
  const reported = findReported(identity, input);
  const notes = [
    ...leafNotes(address, leaves, reported?.leaves),
    ...storedNotes(identity, leaves),
    ...extentNotes(change, live, reported),
    ...carriedNotes(change, kind, written),
    ...clearedSecretNotes(change, kind, { leaves: recorded?.leaves ?? {}, live: written.live }),
    ...protectionNotes(identity, change),
    ...ignoreNotes(identity, change),
    ...dependentNotes(identity, change, live, reported?.leaves),
    ...(input.purpose === 'apply' ? unreadyNotes(identity, change, live) : []),
    ...replacedVersionNote(identity, change, leaves),
    ...unanswered,
  ];
  let unreadHistory: readonly Note[] = [];
  const allNotes = () => [...notes, ...unreadHistory];
  const sources = { kind, desired, recorded: given.recorded, live };
  const withBasis = (one: Change): Change => ({ ...one, basis: buildBasis(one, sources, world) });
  let history: ReturnType<typeof historyIfShown> | undefined;
  const readHistory = async (): Promise<readonly HistoryEntry[]> => {
    if (kind.history === undefined || live === undefined) return [];
    history ??= historyIfShown(input.reader, kind, live.id, ENTRIES_READ);
    const { entries, unread } = await history;
    if (unread !== undefined) unreadHistory = [unreadHistoryNote(address, unread)];
    return entries;
  };
  const kept = await keptEdits(identity, change, live, readHistory, input);
  const isSame = change.action === 'no_op' || change.action === 'adopt';
  if (isSame && desired && live) {
    // The state of a resource that is gone says nothing of the one that took its name.
    const known = by === 'state' ? recorded : undefined;
    const { history_id = null } = known?.pin ?? {};
    const own = seen === null ? (known?.pin ?? null) : { ...seen, history_id };
    const pin =
      kept !== undefined
        ? (known?.pin ?? null)
        : isWhollyRemembered(kind, desired) && !leaves.some(isStoredOddly)
          ? fastRefreshPin(kind, live, own, known?.pin)
          : own;
    // A state of before learns it with the next write.
    const created = known === undefined ? createdIn(live) : {};
    const at = { id: live.id, scope: live.scope, document: live.document, pin, ...created };
    const said = leaves.filter(({ cause }) => cause === 'stored_as');
    const marks = new Map(said.map((leaf) => [leaf.text, storedMark(leaf, change, world)]));
    const state = {
      ...rememberResource(kind, desired, at, known, new Set(), world, marks),
      ...(kept === undefined ? {} : keptSince(known)),
    };
    if (change.action === 'no_op' && isSameJson(state, recorded))
      return { change, notes: allNotes(), leaves, kept, state: undefined };
    const based = change.action === 'adopt' ? withBasis(change) : change;
    const agreed = describeAgreed(address, { ...sources, desired, live }, known, state, marks);
    return { change: based, notes: allNotes(), leaves, kept, state: share(state), agreed };
  }
  if (live === undefined || change.pin === null || change.verdict === 'unsupported') {
    return { change: withBasis(change), notes: allNotes(), leaves, kept, state: undefined };
  }
  const isUnknown = input.purpose === 'apply' && recorded === undefined;
  const asked = { kind, live, leaves, carried, isUnknown, dated };
  const entries = (await isHistoryAsked(asked, input)) ? await readHistory() : [];
  const pinned = pinHistory(identity, change, change.pin, leaves, entries, input);
  const isUndone = input.purpose === 'rollback' && change.action === 'update' && desired;
  const result = (one: Change): Result => {
    return { change: withBasis(one), notes: allNotes(), leaves, carried, kept, state: undefined };
  };
  if (!isUndone) return result(pinned);
  if (kind.history === undefined) return result(leaveOutUnclearable(pinned, kind));
  const version = input.versions.get(address);
  const known = { read: entries, isAll: entries.length < ENTRIES_READ };
  const isOtherNow = (other: Address) => {
    const id = world.findId(other);
    return id === undefined || id !== (input.findPriorId(other) ?? id);
  };
  const sides = { kind, desired, live: live.document, version, entries: known, world, isOtherNow };
  return result(leaveOutUnclearable(chooseRevertOrUpdate(pinned, sides), kind));
}

/**
 * Takes values that the files had since the last apply, and that are live, as last written. No run recorded that both
 * agreed, and the later edit of the files started from these values: overwriting them is no surprise.
 */
async function withAgreed(
  identity: Identity,
  live: LiveResource | undefined,
  leaves: readonly LeafChange[],
  { findConfigured, priorAddresses, drift = 'undo', world }: OneInput,
): Promise<Identity> {
  const { kind, recorded, by, address } = identity;
  // If edits are put back anyway, it makes no difference that the files had one.
  const isContested = ({ cause }: LeafChange) =>
    cause === 'conflict' || (drift !== 'undo' && (cause === 'drifted' || cause === 'kept'));
  const contested = leaves.filter(isContested).map(({ path }) => path);
  if (findConfigured === undefined || live === undefined || contested.length === 0) return identity;
  if (recorded === undefined || by !== 'state') return identity;
  const versions = findConfigured([address, ...(priorAddresses?.(address) ?? [])]);
  const agreed = await rememberAgreed(
    { kind, recorded, address, live },
    contested,
    versions,
    world,
  );
  return agreed === recorded ? identity : { ...identity, recorded: agreed };
}

/**
 * The values that conflicts came from, and those that edits of what is deleted came from, as far as the state has no more
 * than a digest of them.
 */
async function findBases(
  { kind, address, found, recorded, by, desired }: Identity,
  leaves: readonly LeafChange[],
  { findWritten, world }: Pick<OneInput, 'findWritten' | 'world'>,
): Promise<ReadonlyMap<string, Json>> {
  const bases = new Map<string, Json>();
  if (findWritten === undefined || found === undefined || by !== 'state') return bases;
  for (const { cause, text, path, schema } of leaves) {
    const isContested = cause === 'conflict' || (desired === undefined && cause === 'drifted');
    const last = isContested ? getOwn(recorded?.leaves, text) : undefined;
    if (last === undefined || !('digest' in last)) continue;
    const isWanted = (value: Json) =>
      matchesApplied(last, normalise(schema, value), address, text, world) === 'equal';
    const base = await findWritten({ kind, id: found.id, address, path }, isWanted);
    if (base !== undefined) bases.set(text, normalise(schema, base));
  }
  return bases;
}

/** Asks for the calls of a resource that is changed, replaced or deleted, while others are still being read. */
function askForCalls(
  { address, action }: Change,
  { takesCalls = false }: Kind,
  { scope, document: { organization_id: owner = scope.organization_id } }: LiveResource,
  { recentCalls, askedOwners }: Pick<OneInput, 'recentCalls' | 'askedOwners'>,
): void {
  const isNoticed = action === 'update' || action === 'replace' || action === 'delete';
  if (!takesCalls || !isNoticed || typeof owner !== 'string') return;
  recentCalls?.ask(owner);
  askedOwners.set(address, owner);
}

async function withCalls(
  changes: readonly Change[],
  askedOwners: OneInput['askedOwners'],
  recentCalls: RecentCalls | undefined,
): Promise<readonly Change[]> {
  if (recentCalls === undefined || askedOwners.size === 0) return changes;
  const count = await recentCalls.counts();
  return changes.map((change) => {
    const { address, id } = change;
    const organization = askedOwners.get(address);
    if (organization === undefined || id === null) return change;
    const calls = count(organization, id);
    return calls === undefined ? change : { ...change, calls };
  });
}

/** Returns a resource without a write, whose only notes are of secrets that cannot be compared. */
function asRemembered(
  identity: Identity,
  leaves: readonly LeafChange[],
  input: Pick<OneInput, 'state'>,
): Result | undefined {
  if (leaves.length === 0) return undefined;
  const notes = leafNotes(identity.address, leaves, findReported(identity, input)?.leaves);
  const change = unchanged(identity);
  return { change, notes, leaves, state: undefined };
}

/** Returns a resource as a run recorded it, after reporting it. The state of an export reported nothing. */
function findReported(
  { by, recorded }: Identity,
  { state }: Pick<OneInput, 'state'>,
): ResourceState | undefined {
  return by === 'state' && state.last_run !== null ? recorded : undefined;
}

/** Asks what the platform would refuse, and what would part an account from its secret. */
async function ask(
  change: Change,
  written: Parameters<typeof findRefusals>[1],
  { kind, desired, recorded, by }: Identity,
  live: LiveResource | undefined,
  { checks, purpose, options }: OneInput,
): Promise<{ readonly change: Change; readonly notes: readonly Note[] }> {
  const absent = absentFacets(change, kind, live);
  const settled = { purpose, skipsRefused: options.skip_refused };
  if (checks === undefined)
    return { change: settleBarred(change, kind, absent, settled), notes: [] };
  const { barred, notes } = await findRefusals(change, written, checks);
  const isUpdate = change.verdict === 'ok' && change.action === 'update';
  const parted = accountsWithoutSecret(isUpdate ? written.leaves : [], {
    kind,
    document: written.document,
    ignore: parsePaths(desired?.lifecycle.ignore ?? []),
    applied: by === 'state' ? recorded?.leaves : undefined,
    isRollback: purpose === 'rollback',
  });
  const all = [...absent, ...barred, ...parted];
  return { change: settleBarred(change, kind, all, settled), notes };
}

/** A resource that was moved, with what the state says of it bound to where it is now. */
function atItsAddress(identity: Identity, world: World): Identity {
  const { kind, desired, recorded, movedFrom } = identity;
  if (!desired || !recorded || movedFrom === undefined) return identity;
  return { ...identity, recorded: moveEntry(kind, desired, recorded, movedFrom, world) };
}

/**
 * True if the history is needed now: to say who made it drift, to go back to a version, or to notice afterwards that
 * carried values overwrote somebody's edit. Later, a write is found by its time, unless entries have none.
 */
async function isHistoryAsked(
  found: {
    readonly kind: Kind;
    readonly live: LiveResource;
    readonly leaves: readonly LeafChange[];
    readonly carried: readonly string[];
    /** True if no state knows it. */
    readonly isUnknown: boolean;
    /** The answer of `isHistoryDated`, where it was asked already. */
    readonly dated: ReturnType<Reader['isHistoryDated']> | undefined;
  },
  { purpose, reader }: Pick<OneInput, 'purpose' | 'reader'>,
): Promise<boolean> {
  const { kind, live, leaves, carried, isUnknown, dated } = found;
  if (kind.history === undefined) return false;
  const written = new Set(leaves.filter(isWritten).map(({ text }) => text));
  const isCarrying = carried.some((path) => !written.has(path));
  if (purpose === 'rollback' || isCarrying) return true;
  if (leaves.some((leaf) => isEdited(leaf) || isKept(leaf) || (isUnknown && isWritten(leaf))))
    return true;
  try {
    return (await (dated ?? reader.isHistoryDated(kind, live.id))) !== true;
  } catch (error) {
    if (!(error instanceof UnreadError)) throw error;
    // The history that was asked may be another one's. If it is this one's, a note says so.
    return true;
  }
}

/** A change to a resource with a history is pinned to its newest entry, and says who made it drift. */
function pinHistory(
  { kind, recorded }: Identity,
  change: Change,
  seen: Pin,
  leaves: readonly LeafChange[],
  history: readonly HistoryEntry[],
  input: Pick<OneInput, 'settled' | 'platform' | 'purpose'>,
): Change {
  const pin = { ...seen, history_id: history[0]?.id ?? null };
  const moved = leaves.some(isEdited);
  const author = nameAuthor(kind, recorded, history, pin.updated_at, input);
  const own = moved ? ownRun(recorded, seen, history[0], change, input) : undefined;
  if (own !== undefined) return { ...change, pin, reason: asOwn(change.reason, own) };
  const others =
    recorded === undefined && input.purpose === 'apply' && leaves.some(isWritten)
      ? attributeOthers(history, findAuthor(input.platform.account_id))
      : undefined;
  const who = moved ? author : others;
  return {
    ...change,
    pin,
    reason: who === undefined ? change.reason : withAuthor(change.reason, who),
  };
}

/** Who edited a resource, as far as the platform tells; undefined where it tells nothing. */
function nameAuthor(
  { history: hasHistory }: Kind,
  recorded: ResourceState | undefined,
  history: readonly HistoryEntry[],
  updated: string | null,
  { platform }: Pick<PlanInput, 'platform'>,
): string | undefined {
  const since = getSince(recorded);
  // A run after the edit was the last change.
  if (hasHistory === undefined) return attributeUnrecorded(since?.lastRun ? null : updated);
  const own = findAuthor(platform.account_id);
  const others = withoutRuns(history, since, own);
  return attributeDrift(others, baseEntry(others, since), own);
}

/** The edits of a resource that stay, with who made them; undefined where there are none. */
async function keptEdits(
  { kind, recorded }: Identity,
  { address, fields }: Change,
  live: LiveResource | undefined,
  readHistory: () => Promise<readonly HistoryEntry[]>,
  input: Pick<PlanInput, 'platform'>,
): Promise<KeptEdits | undefined> {
  const edits = fields.filter(isKept);
  if (live === undefined || edits.length === 0) return undefined;
  const { updated_at: updated } = buildPin(kind, live);
  const by =
    nameAuthor(kind, recorded, await readHistory(), updated, input) ?? 'by an unrecorded author';
  const turned = edits.map(({ path, before, after, secret }) => ({
    path,
    before: after,
    after: before,
    secret,
    by,
  }));
  return { address, kind: kind.name, id: live.id, fields: turned };
}

/**
 * Finds which run of ours left the moved fields of a resource as they are now, in words: a rollback that put back all
 * of them and whose result is unchanged since, or a run that died in the middle, where no later entry is somebody
 * else's. Undefined: it may have been anybody.
 */
function ownRun(
  recorded: ResourceState | undefined,
  now: Pin,
  newest: HistoryEntry | undefined,
  { address, fields }: Change,
  { settled, platform }: Pick<OneInput, 'settled' | 'platform'>,
): string | undefined {
  const { restored_by: run, restored_paths: paths, pin } = recorded ?? {};
  const isRestored = (text: string) =>
    paths === undefined || paths.some((one) => overlaps(toPath(one), toPath(text)));
  const isPutBack = fields.every((field) => !isEdited(field) || isRestored(field.path));
  if (run !== undefined && isPutBack && pin && isSamePin(pin, now))
    return `put back by run ${run}, a rollback`;
  const isDead = settled?.findings.some((one) => one.address === address) === true;
  const isOthers = newest !== undefined && newest.actor !== findAuthor(platform.account_id);
  return isDead && !isOthers ? `changed by run ${settled.run}, which died` : undefined;
}

/** Entries that are read to say who changed a resource since the last run. */
const ENTRIES_READ = 20;
