/**
 * `apply/` carries a plan out: in the order that references ask for, one journalled request after the
 * other, each resource's pin checked right before it is touched and its leaves read back afterwards.
 * It takes everything that it acts through as arguments and tells its progress as events.
 *
 *   voices ─┐
 *           ├─▶ agents ─▶ their facets          then, in reverse:  agents ─▶ policies, voices, …
 *   policies┘     (templates and sources beside them)
 *
 * A failure blocks what depends on it, and nothing else.
 */
import pLimit from 'p-limit';
import { type Address, formatLabel, getKind } from '../core/address.ts';
import { findCircles } from '../core/circles.ts';
import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError, formatFirst, RunFailure } from '../core/errors.ts';
import type { Change, PlanDocument } from '../core/plan-document.ts';
import { plainId, type ValueObject } from '../core/value.ts';
import { idsIn } from '../core/walk.ts';
import { kindNamed, kinds } from '../kinds/index.ts';
import { getNaturalKey } from '../plan/natural-key.ts';
import { idsWith, laterFields, referencesWithout, referredKinds } from '../plan/references.ts';
import { sendsLeaf } from '../plan/secrets.ts';
import { type LedgerLine, lineNotDone } from '../state/journal.ts';
import { contentIn, getIdentity, type ResourceState } from '../state/model.ts';
import { applyChange } from './change.ts';
import { createJournalIo, type RunEvent, type RunStatus } from './journal.ts';
import { findRecorded, type RunDeps } from './work.ts';

export type RunResult = {
  readonly status: RunStatus;
  readonly ledger: readonly LedgerLine[];
  /** Changes whose resource moved since the plan. */
  readonly stale: readonly Address[];
  /** Changes in whose midst somebody else wrote, so that what they wrote may be overwritten. */
  readonly interleaved: readonly Address[];
  /** Resources as the state remembers them from now on. */
  readonly resources: Readonly<Record<Address, ResourceState>>;
};

/** Carries a plan out. Never throws for a refusal by the platform: that is a line of the ledger. */
export async function executePlan(
  plan: PlanDocument,
  given: RunDeps,
  onEvent: (event: RunEvent) => void,
): Promise<RunResult> {
  const changes = plan.changes.filter(({ verdict }) => verdict === 'ok');
  onEvent({ type: 'run_started', run: given.run, changes: changes.length });

  const ids = idsWith(given.state, plan.changes);
  const resources = new Map(Object.entries(given.state.resources));
  const { lease, failure } = noteFailure(given.lease);
  const deps = { ...given, lease };
  const journalIo = createJournalIo(deps, onEvent);
  const world = { ...deps.world, findId: (address: Address) => ids.get(address) };
  const limit = pLimit(changesAtOnce(deps.concurrency, given.lease.gathers));
  const ledger = new Map<Address, LedgerLine>();
  /** The address of each resource by its identity; one that is to be made is added once it has an id. */
  const owners = new Map<string, Address>();
  for (const [address, id] of ids) owners.set(getIdentity({ kind: getKind(address), id }), address);
  const stale: Address[] = [];
  const running = new Map<Address, Promise<void>>();
  /** Resolved once a resource has an id, or has come to its end without one. */
  const births = new Map<Address, PromiseWithResolvers<void>>();
  const getBirth = (address: Address) => {
    const known = births.get(address) ?? Promise.withResolvers<void>();
    births.set(address, known);
    return known;
  };
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  const dependencies = listDependencies(changes, deps.desired);

  function run(change: Change): Promise<void> {
    // Begun in a turn of its own: thousands may wait for each other in one row.
    const started =
      running.get(change.address) ?? Promise.resolve(change).then(runAfterDependencies);
    running.set(change.address, started);
    return started;
  }

  /** Waits for other changes, and gives the first of them that did not come to what it is waited for. */
  async function waitFor(addresses: readonly Address[]): Promise<Address | undefined> {
    await Promise.all(
      addresses.flatMap((address) => {
        const other = byAddress.get(address);
        if (other === undefined) return [];
        // The change that waits may give it the id that it still lacks.
        return laterFields(other).size === 0
          ? run(other)
          : Promise.race([run(other), getBirth(address).promise]);
      }),
    );
    return addresses.find((address) => {
      const status = ledger.get(address)?.status;
      // A resource that the plan leaves out and that does not exist either has no id to refer to.
      return status === undefined ? !ids.has(address) : status !== 'done';
    });
  }

  async function runAfterDependencies(change: Change): Promise<void> {
    const blocker = await waitFor(dependencies.get(change.address) ?? []);
    await limit(async () => {
      const line = await runChange(change, blocker);
      ledger.set(change.address, line);
      getBirth(change.address).resolve();
      onEvent({ type: 'change_ended', line });
    });
  }

  /** Waits, between a create and the update that follows it, for what the later fields refer to. */
  async function waitForLater(change: Change, id: string): Promise<Address | undefined> {
    const later = laterFields(change);
    const desired = deps.desired.get(change.address);
    const first = new Set(dependencies.get(change.address));
    const others = (desired?.references ?? []).filter(
      (address) => !first.has(address) && address !== change.address,
    );
    ids.set(change.address, id);
    getBirth(change.address).resolve();
    if (later.size === 0 || others.length === 0) return undefined;
    // While it waits another one may run in its place.
    limit.concurrency += 1;
    const blocker = await waitFor(others);
    await limit(() => {
      limit.concurrency -= 1;
    });
    return blocker;
  }

  function isTaken({ address, kind }: Change, id: string): boolean {
    const owner = owners.get(getIdentity({ kind, id }));
    return owner !== undefined && owner !== address;
  }

  /** No id is ever claimed by two addresses: a platform may answer a create with the id of what it has already. */
  function claim(change: Change, id: string): void {
    if (!isTaken(change, id)) owners.set(getIdentity({ kind: change.kind, id }), change.address);
  }

  async function runChange(change: Change, blocker: Address | undefined): Promise<LedgerLine> {
    if (deps.stop.aborted)
      return lineNotDone(change, 'not_attempted', 'the run was stopped before this change');
    const broken = failure();
    if (broken !== undefined) return lineNotDone(change, 'not_attempted', whyBrokenOff(broken));
    if (blocker !== undefined) return lineNotDone(change, 'blocked', `waits for ${blocker}`);
    onEvent({ type: 'change_started', address: change.address, action: change.action });
    const desired = deps.desired.get(change.address);
    const isSent = sendsLeaf(change);
    const outcome = await applyChange(change, {
      kind: kindNamed(change.kind),
      desired,
      recorded: findRecorded(change, desired, deps.state, world),
      options: plan.options,
      organizations: plan.organizations,
      // A secret that the plan does not write is not at hand: what is set here by now may be another one.
      world: {
        ...world,
        findContent: contentIn(deps.state),
        findSecret: (source, path) => (isSent(path) ? world.findSecret(source, path) : undefined),
      },
      deps,
      isBrokenOff: () => failure() !== undefined,
      isTaken: (id) => isTaken(change, id),
      claim: (id) => claim(change, id),
      waitForLater: (id) => waitForLater(change, id),
      journalIo,
    });
    if (outcome.isStale) stale.push(change.address);
    if (outcome.id !== null) {
      ids.set(change.address, outcome.id);
      claim(change, outcome.id);
    }
    if (outcome.resource === null) resources.delete(change.address);
    else if (outcome.resource !== undefined) resources.set(change.address, outcome.resource);
    for (const [address, resource] of outcome.leftBehind ?? []) resources.set(address, resource);
    return outcome.line;
  }

  // An error that breaks the run off, as of a full store, is thrown once no change has a request under way.
  await Promise.allSettled(changes.map(run));
  await Promise.all(running.values());
  const sharedBy = findShared(plan);
  const lines = changes.flatMap(({ address }): readonly LedgerLine[] => {
    const line = ledger.get(address);
    const shared = sharedBy.get(address);
    return line === undefined ? [] : [{ ...line, ...(shared === undefined ? {} : { shared }) }];
  });
  const left = plan.changes.flatMap(leftOut);
  const broken = failure();
  if (broken !== undefined) {
    onEvent({ type: 'run_ended', run: deps.run, status: 'partial' });
    const known = Object.fromEntries(resources);
    const reported = (await given.onBrokenOff?.(broken, known)) ?? broken;
    throw brokenOff(reported, deps, [...lines, ...left]);
  }
  const status: RunStatus = deps.stop.aborted
    ? 'interrupted'
    : lines.every((line) => line.status === 'done')
      ? 'done'
      : 'partial';
  onEvent({ type: 'run_ended', run: deps.run, status });
  const interleaved = lines
    .filter((line) => line.interleaved?.some(({ order }) => order === 'before'))
    .map(({ address }) => address);
  return {
    status,
    ledger: [...lines, ...left],
    stale,
    interleaved,
    resources: Object.fromEntries(resources),
  };
}

/** The edits that each resource shares with others, so that a receipt tells once what the plan showed once. */
function findShared({ groups = [] }: PlanDocument) {
  const shared = new Map<Address, NonNullable<LedgerLine['shared']>>();
  for (const [group, { action, addresses, fields }] of groups.entries()) {
    if (action !== 'update') continue;
    const edits = fields.map(({ path, source }) => ({ group, path, source }));
    for (const address of addresses)
      shared.set(address, [...(shared.get(address) ?? []), ...edits]);
  }
  return shared;
}

/** The lease, and why it was lost or failed to write something down: nothing is begun any more then. */
function noteFailure(lease: RunDeps['lease']) {
  let failure: unknown;
  const noting =
    <T>(work: (given: T) => Promise<void>) =>
    async (given: T) => {
      try {
        await work(given);
      } catch (error) {
        failure ??= error;
        throw error;
      }
    };
  return {
    lease: { ...lease, append: noting(lease.append), confirm: noting(lease.confirm) },
    failure: () => failure,
  };
}

function whyBrokenOff(failure: unknown): string {
  return failure instanceof CallsheetError && failure.code === 'locked'
    ? 'the run no longer holds the lock'
    : 'the state could not be written';
}

/** Resources that the end of a run names one by one. */
const MOST_NAMED = 20;

/**
 * The end of a run whose lease or store failed it, with all its ledger. It names what left after the last heartbeat that
 * the store confirmed, since another run may have done the same.
 */
export function brokenOff(
  failure: unknown,
  { run, lease }: Pick<RunDeps, 'run' | 'lease'>,
  ledger: readonly LedgerLine[],
): unknown {
  if (!(failure instanceof CallsheetError)) return failure;
  const names = new Map(ledger.map(({ address, name }) => [address, name]));
  const sent = lease.unconfirmed().map((address) => formatLabel(address, names.get(address)));
  const more =
    sent.length > 0
      ? `. After its last confirmed heartbeat it sent requests for ${formatFirst(sent, MOST_NAMED)}, which another run may have made as well`
      : '';
  return new RunFailure(failure, { run, ledger, more });
}

/** Returns the line of a change that the plan leaves out: the ledger lists every change of the plan. */
function leftOut(change: Change): readonly LedgerLine[] {
  const { verdict, reason } = change;
  return verdict === 'ok' ? [] : [lineNotDone(change, 'not_attempted', reason)];
}

/**
 * Changes that are under way at once. One that waits for the disk, as each does before and after its write, sends
 * nothing meanwhile; another one may. A store whose writes are large gathers the entries of more of them.
 * `--concurrency 1` asks for one after the other.
 */
function changesAtOnce(requests: number, gathered = 0): number {
  return requests === 1 ? 1 : Math.max(2 * requests, gathered);
}

/** By the address of each delete, the changes of what names it in settings or texts. */
function indexNaming(changes: readonly Change[]): ReadonlyMap<Address, ReadonlySet<Address>> {
  const going = new Map(
    changes.flatMap(({ action, id, address }) =>
      action === 'delete' && id !== null ? [[plainId(id), address] as const] : [],
    ),
  );
  if (going.size === 0) return new Map();
  const found = changes.flatMap(({ address, kind, before }) =>
    before === null
      ? []
      : idsIn(kindNamed(kind).schema, before).flatMap(({ id }) => {
          const other = going.get(id);
          return other === undefined || other === address ? [] : [{ address, other }];
        }),
  );
  const grouped = Map.groupBy(found, ({ other }) => other);
  return new Map(
    [...grouped].map(([other, all]) => [other, new Set(all.map(({ address }) => address))]),
  );
}

/**
 * Which changes each change waits for. What a document refers to comes first, and so does what gives up the name that
 * another one takes. A delete comes last: after every change of a kind that could still refer to what goes, and of what
 * names it in settings or texts, deleted ones included.
 */
export function listDependencies(
  changes: readonly Change[],
  desired: ReadonlyMap<Address, DesiredResource>,
): ReadonlyMap<Address, readonly Address[]> {
  const referring = new Map(kinds.map((kind) => [kind.name, referredKinds(kind.schema)]));
  const naming = indexNaming(changes);
  const needed = (change: Change): readonly Address[] =>
    change.action === 'delete'
      ? changes
          .filter(
            (other) =>
              referring.get(other.kind)?.has(change.kind) === true ||
              naming.get(change.address)?.has(other.address) === true,
          )
          .map(({ address }) => address)
      : listReferences(change);
  const listReferences = (change: Change) => {
    const own = desired.get(change.address);
    return own === undefined ? [] : referencesWithout(own, laterFields(change));
  };
  const nameIn = ({ kind, organization_id: owner }: Change, document: ValueObject = {}) => {
    const key = getNaturalKey(kindNamed(kind), document);
    return key && `${kind} ${owner} ${key}`;
  };
  const giving = changes.filter(({ action }) => action === 'update' || action === 'delete');
  const named = Map.groupBy(giving, (change) => nameIn(change, change.before ?? {}));
  const holders = new Map(
    changes.flatMap((change) => {
      const isNamed = change.action === 'create' || change.action === 'update';
      const name = isNamed ? nameIn(change, desired.get(change.address)?.document) : undefined;
      const found = name === undefined ? [] : (named.get(name) ?? []);
      const others = found.filter((other) => other !== change);
      return others.length === 0 ? [] : [[change, others] as const];
    }),
  );
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  // No other change can be part of a circle.
  const starts = changes.filter(
    (change) =>
      holders.has(change) || naming.has(change.address) || listReferences(change).length > 0,
  );
  const listCircles = (waits: (change: Change) => readonly Address[]) => {
    const circles = findCircles(starts, (change) => [
      ...waits(change).flatMap((address) => byAddress.get(address) ?? []),
      ...(holders.get(change) ?? []),
    ]);
    return (one: Change, other: Change | undefined) =>
      circles.has(one) && other !== undefined && circles.get(one) === circles.get(other);
  };
  // The id of what is not made now is known before: nothing of the same circle waits for it.
  const isRound = listCircles(needed);
  const required = (change: Change) =>
    needed(change).filter((address) => {
      const other = byAddress.get(address);
      const isMade = other?.action === 'create' || other?.action === 'replace';
      const isLast = change.action === 'delete' && other?.action !== 'delete';
      return other === undefined || isMade || isLast || !isRound(change, other);
    });
  // Those that exchange their names would wait for each other.
  const isExchanged = listCircles(required);
  const inTurn = (change: Change) =>
    (holders.get(change) ?? []).filter((other) => !isExchanged(change, other));
  return new Map(
    changes.map((change) => [
      change.address,
      [...required(change), ...inTurn(change).map(({ address }) => address)],
    ]),
  );
}
