import type { RunResult } from '../../apply/execute.ts';
import type { Context, PlanFlags } from '../../console/context.ts';
import { openProgress } from '../../console/progress.ts';
import type { Address } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Change, PlanDocument } from '../../core/plan-document.ts';
import { isHeldBack } from '../../core/plan-document.ts';
import { type SkippedHeal, whyNotHealed } from '../../plan/drift.ts';
import type { Contested } from '../../render/notification.ts';
import { findStanding } from '../../run/behind.ts';
import { planConfiguration, planOptions } from '../../run/plan.ts';
import { findAtWork } from '../../run/recover.ts';
import { runPlan } from '../../run/run.ts';
import { openSession, openStore } from '../../run/session.ts';
import { openStack } from '../../run/stack.ts';
import { type LedgerLine, listLedger } from '../../state/journal.ts';
import type { Watching } from './events.ts';
import { markedIn, type Seen } from './look.ts';

/** Heals a stack, and remembers what it tried. */
export type Healer = {
  /** Gives what was put back, and what is contested. */
  readonly heal: (seen: Seen) => Promise<{
    readonly healed: ReadonlySet<Address>;
    readonly contested: readonly Contested[];
    /** True if an interrupt cut the healing short. */
    readonly isCut: boolean;
  }>;
};

/** A healer that has not tried anything yet; what was tried before a restart it reads from the receipts. */
export function openHealer({ stack, flags, context, log, metrics }: Watching): Healer {
  let tries: Tries = new Map();
  let hasReadPast = false;
  let contested: ReadonlySet<Address> = new Set();
  // These drifted in every pass so far: of them, those that were contested before the start still are.
  let unbroken: ReadonlySet<Address> | undefined;
  // Messages already logged about findings that are not healed.
  let said: ReadonlySet<string> = new Set();

  function tellContested(now: ReadonlySet<Address>): void {
    for (const address of now) {
      if (contested.has(address)) continue;
      const { times, since } = describeFight(address, tries);
      log({ event: 'heal_contested', stack, address, times, since });
    }
    for (const address of contested) {
      if (!now.has(address)) log({ event: 'heal_agreed', stack, address });
    }
    contested = now;
  }

  /** Says why something is not healed, once for as long as that is so. */
  function tellLeft(left: readonly SkippedHeal[], skipped: string | undefined): void {
    const now = new Set([...left.map(({ address, why }) => `${address} ${why}`), skipped ?? '']);
    for (const { address, why } of left) {
      if (!said.has(`${address} ${why}`)) log({ event: 'heal_left', stack, address, message: why });
    }
    if (skipped !== undefined && !said.has(skipped))
      log({ event: 'heal_skipped', stack, message: skipped });
    said = now;
  }

  function note(ended: Extract<Healed, { type: 'ran' }>): ReadonlySet<Address> {
    const tried = ended.lines.filter(isTried);
    const now = context.now().getTime();
    const { run } = ended;
    tries = recentTries(
      tries,
      tried.map(({ address }) => ({ address, at: now, run })),
      now,
    );
    for (const { address, name = address, status, fields, message } of ended.lines) {
      log({ event: 'heal_ended', stack, run, address, name, status, fields, message });
      metrics.healEnded(status);
    }
    return new Set(tried.flatMap(({ address, status }) => (status === 'done' ? address : [])));
  }

  return {
    async heal({ healing, drift, unsettled }) {
      const drifted = drift.changes.map(({ address }) => address);
      const now = context.now().getTime();
      unbroken = new Set(drifted.filter((address) => unbroken?.has(address) ?? true));
      let before = contested;
      // Most passes have nothing to heal, and receipts may be many.
      if (healing.heal.length > 0 && !hasReadPast) {
        tries = await readTries(flags, context);
        hasReadPast = true;
        const past = findGivenUp(tries, flags.healLimit).filter((one) => unbroken?.has(one));
        before = new Set([...contested, ...past]);
      }
      tries = recentTries(tries, [], now);
      tellContested(findContested(drifted, before, tries, { limit: flags.healLimit, now }));
      const fights = [...contested].map((address) => describeFight(address, tries));
      const wanted = healing.heal.filter((address) => !contested.has(address));
      if (wanted.length === 0 || unsettled !== undefined || context.stop.aborted) {
        tellLeft(healing.left, wanted.length === 0 ? undefined : unsettled);
        return { healed: new Set(), contested: fights, isCut: false };
      }
      const ended = await heal(wanted, flags, context);
      const left = 'left' in ended ? ended.left : [];
      tellLeft([...healing.left, ...left], ended.type === 'skipped' ? ended.why : undefined);
      const healed = ended.type === 'ran' ? note(ended) : new Set<Address>();
      const isCut = ended.type === 'ran' && ended.status === 'interrupted';
      return { healed, contested: fights, isCut };
    },
  };
}

function isTried({ status }: Pick<LedgerLine, 'status'>): boolean {
  return status === 'done' || status === 'failed';
}

/** Reads the tries of the last week from the receipts: those before a restart, and those of another watch. */
async function readTries(flags: PlanFlags, context: Context): Promise<Tries> {
  const { stack } = await openStack(flags, context, 'skip');
  const store = openStore(stack, context);
  const now = context.now().getTime();
  try {
    const runs = (await store.runs()).filter(
      ({ purpose, at }) => purpose === 'heal' && now - Date.parse(at) < WEEK_MS,
    );
    const found = [];
    for (const { run, at } of runs) {
      const tried = listLedger((await store.run(run)) ?? []).filter(isTried);
      found.push(...tried.map(({ address }) => ({ address, at: Date.parse(at), run })));
    }
    return recentTries(new Map(), found, now);
  } finally {
    await store.close();
  }
}

/** An hour, in which healing an address is counted. */
export const HOUR_MS = 3_600_000;
/** A day, in which it is counted, too: a program that writes twice an hour would be fought for ever. */
export const DAY_MS = 24 * HOUR_MS;
/** The tries of a day, as a multiple of those of an hour. */
export const DAY_LIMITS = 2;
/** Tries are remembered for so long, so that a watch which starts again knows what it gave up. */
export const WEEK_MS = 7 * DAY_MS;

/** When an address was tried to be healed, as milliseconds since 1970, and by which run. */
type Try = { readonly at: number; readonly run: string };

/** The tries of each address, the oldest first. */
type Tries = ReadonlyMap<Address, readonly Try[]>;

/** The tries of the last week, with more of them: what is older says nothing any more. */
export function recentTries(
  tries: Tries,
  more: readonly (Try & { readonly address: Address })[],
  now: number,
): Tries {
  const all = new Map(tries);
  for (const { address, at, run } of more)
    all.set(address, [...(all.get(address) ?? []), { at, run }]);
  return new Map(
    [...all]
      .map(([address, times]) => [address, times.filter(({ at }) => now - at < WEEK_MS)] as const)
      .filter(([, times]) => times.length > 0)
      .map(([address, times]) => [address, times.toSorted((one, other) => one.at - other.at)]),
  );
}

/**
 * Finds the drifted addresses that are not healed any more, as they are changed again and again. One stays contested
 * until it is seen without drift, so that healing does not start again every hour.
 */
export function findContested(
  drifted: readonly Address[],
  before: ReadonlySet<Address>,
  tries: Tries,
  { limit, now }: { readonly limit: number; readonly now: number },
): ReadonlySet<Address> {
  return new Set(
    drifted.filter(
      (address) => before.has(address) || isLimitReached(tries.get(address) ?? [], limit, now),
    ),
  );
}

/** Finds the addresses whose last try was the last that was allowed: the watch that made it gave them up. */
export function findGivenUp(tries: Tries, limit: number): readonly Address[] {
  return [...tries].flatMap(([address, times]) =>
    isLimitReached(times, limit, times.at(-1)?.at ?? 0) ? address : [],
  );
}

function isLimitReached(times: readonly Try[], limit: number, now: number): boolean {
  const within = (span: number) => times.filter(({ at }) => now - at < span).length;
  return within(HOUR_MS) >= limit || within(DAY_MS) >= DAY_LIMITS * limit;
}

/** Describes the tries of the day that ended with the last one. */
function describeFight(address: Address, tries: Tries): Contested {
  const all = tries.get(address) ?? [];
  const last = all.at(-1);
  const counted = all.filter(({ at }) => (last?.at ?? 0) - at < DAY_MS);
  const iso = (one: Try | undefined) => (one === undefined ? null : new Date(one.at).toISOString());
  return {
    address,
    times: counted.length,
    since: iso(counted[0]),
    run: last?.run ?? null,
    at: iso(last),
  };
}

type Healed =
  | {
      readonly type: 'ran';
      readonly run: string;
      readonly status: RunResult['status'];
      readonly lines: readonly LedgerLine[];
      readonly left: readonly SkippedHeal[];
    }
  /** Nothing was written. */
  | { readonly type: 'skipped'; readonly why: string }
  | { readonly type: 'refused'; readonly left: readonly SkippedHeal[] };

/**
 * Puts back what drifted at these addresses: an ordinary plan of them alone, made from the configuration as it is
 * now, and carried out under the lease like any other. What guards, rules or the platform refuse of it is left
 * out, and nothing at all is written where it would do more than put back.
 */
async function heal(
  addresses: readonly Address[],
  flags: PlanFlags,
  context: Context,
): Promise<Healed> {
  try {
    return await planAndRun(addresses, flags, context);
  } catch (error) {
    if (error instanceof CallsheetError && PASSING.has(error.code))
      return { type: 'skipped', why: [error.message, ...listProblems(error)].join(': ') };
    throw error;
  }
}

async function planAndRun(
  addresses: readonly Address[],
  flags: PlanFlags,
  context: Context,
): Promise<Healed> {
  const session = await openSession(flags, context);
  try {
    const run = findAtWork(session);
    if (run !== undefined) return { type: 'skipped', why: `run ${run} is running` };
    // A resource that was marked when its drift was seen may no longer be in the configuration.
    const marked = markedIn(session);
    const target = addresses.filter((address) => marked.has(address));
    if (target.length === 0) return { type: 'skipped', why: MEANWHILE };
    const options = { ...planOptions({ target }), skip_refused: true };
    const standing = await findStanding(session, context);
    const planned = await planConfiguration(session, options, context, { standing });
    const { plan } = planned;
    const refusals = (plan.refusals ?? []).map(({ message }) => message);
    if (isHeldBack(plan)) return { type: 'skipped', why: refusals.join('; ') };
    const able = plan.changes.filter(({ verdict }) => verdict === 'ok');
    if (
      able.some((change) => !target.includes(change.address) || whyNotHealed(change) !== undefined)
    )
      return { type: 'skipped', why: MEANWHILE };
    const left = plan.changes.filter(({ verdict }) => verdict !== 'ok').map(leftAs);
    if (able.length === 0) return { type: 'refused', left };
    // An interrupt at this point means that no run is to begin.
    if (context.stop.aborted) throw new CallsheetError('interrupted', 'it was asked to stop');
    const observe = (of: PlanDocument) => openProgress(of, flags, context);
    const outcome = await runPlan(planned, { session, context, purpose: 'heal', observe });
    if (outcome.type !== 'ran') return { type: 'skipped', why: MEANWHILE };
    const { status, ledger } = outcome.result;
    return { type: 'ran', run: outcome.run, status, lines: listLines(ledger, able), left };
  } finally {
    await session.close();
  }
}

/**
 * Somebody else was there first, or came in between, or a secret that only writing needs is not there: what was seen
 * stands all the same, and the next pass sees what is left to do.
 */
const PASSING: ReadonlySet<string> = new Set(['config', 'locked', 'stale', 'refused']);

/** The first thing that is wrong with the configuration. */
function listProblems({ diagnostics }: CallsheetError): readonly string[] {
  return diagnostics.slice(0, 1).map(({ message }) => message);
}

const MEANWHILE = 'the configuration or the platform changed during the check';

function leftAs({ address, reason }: Change): SkippedHeal {
  return { address, why: reason };
}

/** Returns the result of each with the fields that were put back: the ledger also names fields that were left alone. */
function listLines(ledger: RunResult['ledger'], able: readonly Change[]): readonly LedgerLine[] {
  const drifted = new Map(
    able.map(({ address, fields }) => [
      address,
      fields.flatMap(({ path, cause }) => (cause === 'drifted' ? path : [])),
    ]),
  );
  return ledger.flatMap((line) => {
    const fields = drifted.get(line.address);
    return fields === undefined ? [] : [{ ...line, fields }];
  });
}
