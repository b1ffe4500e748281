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
import { type Address, getKind, labelOf } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError, formatFirst, RunFailure } from '../core/errors.ts';
import type { Change, PlanDocument } from '../core/plan-document.ts';
import type { ValueObject } from '../core/value.ts';
import { kindNamed, kinds } from '../kinds/index.ts';
import { getNaturalKey } from '../plan/natural-key.ts';
import { idsWith, referredKinds } from '../plan/references.ts';
import { sendsLeaf } from '../plan/secrets.ts';
import { type LedgerLine, lineNotDone } from '../state/journal.ts';
import { getIdentity, type ResourceState } from '../state/model.ts';
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
  const world = { ...deps.world, idOf: (address: Address) => ids.get(address) };
  const limit = pLimit(changesAtOnce(deps.concurrency));
  const ledger = new Map<Address, LedgerLine>();
  /** Whose each is, or is to be once it is made. */
  const owners = new Map<string, Address>();
  for (const [address, id] of ids) owners.set(getIdentity({ kind: getKind(address), id }), address);
  const stale: Address[] = [];
  const running = new Map<Address, Promise<void>>();
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  const dependencies = listDependencies(changes, deps.desired);

  function run(change: Change): Promise<void> {
    // Begun in a turn of its own: thousands may wait for each other in one row.
    const started =
      running.get(change.address) ?? Promise.resolve(change).then(runAfterDependencies);
    running.set(change.address, started);
    return started;
  }

  async function runAfterDependencies(change: Change): Promise<void> {
    const before = dependencies.get(change.address) ?? [];
    await Promise.all(before.flatMap((address) => byAddress.get(address) ?? []).map(run));
    const blocker = before.find((address) => {
      const status = ledger.get(address)?.status;
      // What the plan leaves out and does not exist either has no id to refer to.
      return status === undefined ? !ids.has(address) : status !== 'done';
    });
    await limit(async () => {
      const line = await runChange(change, blocker);
      ledger.set(change.address, line);
      onEvent({ type: 'change_ended', line });
    });
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
        secretOf: (source, path) => (isSent(path) ? world.secretOf(source, path) : undefined),
      },
      deps,
      isBrokenOff: () => failure() !== undefined,
      isTaken: (id) => isTaken(change, id),
      claim: (id) => claim(change, id),
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
  const lines = changes.flatMap(({ address }) => ledger.get(address) ?? []);
  const left = plan.changes.flatMap(leftOut);
  const broken = failure();
  if (broken !== undefined) {
    onEvent({ type: 'run_ended', run: deps.run, status: 'partial' });
    throw brokenOff(broken, deps, [...lines, ...left]);
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
  const sent = lease.unconfirmed().map((address) => labelOf(address, names.get(address)));
  const more =
    sent.length > 0
      ? `. After its last confirmed heartbeat it sent requests for ${formatFirst(sent, MOST_NAMED)}, which another run may have made as well`
      : '';
  return new RunFailure(failure, { run, ledger, more });
}

/** What the plan leaves out has its line too: the ledger lists every change of the plan. */
function leftOut(change: Change): readonly LedgerLine[] {
  const { verdict, reason } = change;
  return verdict === 'ok' ? [] : [lineNotDone(change, 'not_attempted', reason)];
}

/**
 * Changes that are under way at once. One that waits for the disk, as each does before and after its write, sends
 * nothing meanwhile; another one may. `--concurrency 1` asks for one after the other.
 */
function changesAtOnce(requests: number): number {
  return requests === 1 ? 1 : 2 * requests;
}

/**
 * Which changes each change waits for. What a document refers to comes first, and so does what gives up the name that
 * another one takes. A delete comes last: after every change of a kind that could still refer to what goes, deleted
 * ones included.
 */
export function listDependencies(
  changes: readonly Change[],
  desired: ReadonlyMap<Address, DesiredResource>,
): ReadonlyMap<Address, readonly Address[]> {
  const referring = new Map(kinds.map((kind) => [kind.name, referredKinds(kind.schema)]));
  const needed = (change: Change): readonly Address[] =>
    change.action === 'delete'
      ? changes
          .filter((other) => referring.get(other.kind)?.has(change.kind) === true)
          .map(({ address }) => address)
      : (desired.get(change.address)?.references ?? []);
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
  const circlesOf = (waits: (change: Change) => readonly Address[]) => {
    const circles = findCircles([...holders.keys()], (change) => [
      ...waits(change).flatMap((address) => byAddress.get(address) ?? []),
      ...(holders.get(change) ?? []),
    ]);
    return (one: Change, other: Change | undefined) =>
      circles.has(one) && other !== undefined && circles.get(one) === circles.get(other);
  };
  // The id of what is only changed is known before: a name in the same circle can then be waited for.
  const isRound = circlesOf(needed);
  const required = (change: Change) =>
    needed(change).filter((address) => {
      const other = byAddress.get(address);
      return other?.action !== 'update' || change.action === 'delete' || !isRound(change, other);
    });
  // Those that exchange their names would wait for each other.
  const isExchanged = circlesOf(required);
  const inTurn = (change: Change) =>
    (holders.get(change) ?? []).filter((other) => !isExchanged(change, other));
  return new Map(
    changes.map((change) => [
      change.address,
      [...required(change), ...inTurn(change).map(({ address }) => address)],
    ]),
  );
}

/**
 * Tells what leads to each other by the same value, of some and all that they lead to; what is in no circle has one of
 * its own.
 */
function findCircles<T>(starts: readonly T[], next: (one: T) => readonly T[]): ReadonlyMap<T, T> {
  const ended = [...walkFrom(starts, next, new Set())];
  const leading = new Map<T, T[]>(ended.map((one) => [one, []]));
  for (const one of ended) for (const other of next(one)) leading.get(other)?.push(one);
  const seen = new Set<T>();
  const circles = new Map<T, T>();
  // Against the order in which a walk ended, a walk back comes no further than round the circle.
  for (const first of ended.toReversed())
    for (const one of walkFrom([first], (other) => leading.get(other) ?? [], seen))
      circles.set(one, first);
  return circles;
}

/** Each once, after all that it leads to; without recursion, as thousands may stand in one row. */
function* walkFrom<T>(
  starts: readonly T[],
  next: (one: T) => readonly T[],
  seen: Set<T>,
): Generator<T> {
  const path: { readonly one: T; readonly left: T[] }[] = [];
  const enter = (one: T) => {
    if (seen.has(one)) return;
    seen.add(one);
    path.push({ one, left: [...next(one)] });
  };
  for (const start of starts) {
    enter(start);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const following = last.left.pop();
      if (following !== undefined) enter(following);
      else {
        path.pop();
        yield last.one;
      }
    }
  }
}
