import { assumptionOf, movedEndpoints } from '../api/endpoints.ts';
import { formerAddresses } from '../config/moves.ts';
import { type Address, matchesAddress } from '../core/address.ts';
import type { PlanDocument, PlanOptions, Refusal } from '../core/plan-document.ts';
import { makePlan, type PlanInput, type Planned } from '../plan/make.ts';
import { judgeByRules, type Objection, objectionsTo, refusalsIn } from '../plan/objections.ts';
import type { Reader } from '../plan/reader.ts';
import { formatNumber } from '../render/wording.ts';
import type { Context } from './context.ts';
import { stage } from './monitor/telemetry.ts';
import { checkChosen } from './plan-flags.ts';
import { type Session, settledBy } from './session.ts';

/** What every plan of a session is made from; commands say what is desired and what is allowed. */
function planInput(session: Session, context: Context): Omit<PlanInput, 'options' | 'purpose'> {
  const { stack, state, reader, world, platform, client, endpoints } = session;
  return {
    desired: stack.resources,
    prune: true,
    isPreflighted: true,
    state,
    reader,
    world,
    now: context.now(),
    guards: stack.guards,
    rules: stack.rules,
    platform,
    organizations: Object.fromEntries(
      Object.entries(stack.organizations).map(([name, id]) => [id, name]),
    ),
    organization: stack.organization,
    configDigest: stack.digest,
    environment: stack.environment,
    settled: settledBy(session.unfinished),
    versions: new Map(),
    assumptionOf: (operation) => assumptionOf(operation, endpoints),
    assume: endpoints.assume,
    endpoints: movedEndpoints(endpoints),
    secondsPerRequest: () => {
      const { requests, seconds } = client.spent();
      return requests === 0 ? 0 : seconds / requests / session.concurrency;
    },
  };
}

/** Plans what the configuration asks for. */
export async function planConfiguration(
  session: Session,
  options: PlanOptions,
  context: Context,
  how: Partial<Pick<PlanInput, 'isPreflighted' | 'prune' | 'refresh'>> = {},
): Promise<Planned> {
  const { stack, state } = session;
  const configured = stack.resources.map(({ address }) => address);
  checkChosen(options, [...configured, ...Object.keys(state.resources)]);
  const { moved, forget } = stack.moves;
  const expected = new Set([...configured, ...Object.keys(state.resources)]).size;
  return showPlanning(expected, context, {
    ...planInput(session, context),
    formerly: formerAddresses(moved),
    isForgotten: (address) => forget.some((pattern) => matchesAddress(pattern, address)),
    ...how,
    purpose: 'apply',
    options,
  });
}

/** Most of the time of a plan goes into reading. */
function showPlanning(expected: number, context: Context, input: PlanInput): Promise<Planned> {
  return stage(context, 'plan', () =>
    whileReading(input.reader, expected, context, (reader) => makePlan({ ...input, reader })),
  );
}

/** Plans something else than the configuration: a rollback, a restoration. */
export function planInstead(
  session: Session,
  instead: Pick<PlanInput, 'desired' | 'purpose' | 'options' | 'versions' | 'undoes' | 'snapshot'> &
    Partial<Pick<PlanInput, 'prune' | 'guards' | 'organizations' | 'configDigest'>>,
  context: Context,
): Promise<Planned> {
  // Thresholds stop a bad configuration. A rollback touches only what its run touched.
  const { freeze } = session.stack.guards;
  const guards = freeze === undefined ? {} : { freeze };
  const input = { ...planInput(session, context), guards, ...instead };
  return showPlanning(input.desired.length, context, input);
}

/** What stands against running a plan now, by the clock, the state and the configuration of now. */
export function objectionsNow(
  plan: PlanDocument,
  { stack, state, world: known }: Pick<Session, 'stack' | 'state' | 'world'>,
  { now }: Context,
): readonly Objection[] {
  const { guards, resources: desired } = stack;
  const ids = new Map(plan.changes.map(({ address, id }) => [address, id]));
  const idOf = (address: Address) => ids.get(address) ?? state.resources[address]?.id;
  const world = { ...known, idOf };
  return objectionsTo(plan, { guards, holds: state.holds ?? {}, now: now(), desired, world });
}

/** The part of it that nobody overrode, and what the team's own rules refuse. */
export function refusalsNow(
  plan: PlanDocument,
  session: Pick<Session, 'stack' | 'state' | 'world'>,
  context: Context,
): readonly Refusal[] {
  const judged = judgeByRules(plan, { rules: session.stack.rules, now: context.now() });
  return [...refusalsIn(objectionsNow(plan, session, context)), ...judged.refusals];
}

/** How often the display is drawn anew: fast enough to see that it moves. */
const EVERY_MS = 120;
/** Resources between two lines in a log. */
const STRIDE = 1000;

/**
 * Shows that the platform is being read while `work` goes on: drawn anew on a terminal, elsewhere a line for each
 * thousand resources. `expected`: how many there are, as far as is known before.
 */
export async function whileReading<T>(
  reader: Reader,
  expected: number,
  { terminal }: Pick<Context, 'terminal'>,
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  let read = 0;
  const { live } = terminal;
  const watched: Reader = {
    ...reader,
    async read(...asked) {
      const found = await reader.read(...asked);
      read += 1;
      if (live === undefined && read % STRIDE === 0) terminal.err(`${words(read, expected)} read`);
      return found;
    },
  };
  const draw = () => live?.draw(`Reading what is live: ${words(read, expected)}`);
  draw();
  const timer = live === undefined ? undefined : setInterval(draw, EVERY_MS).unref();
  try {
    return await work(watched);
  } finally {
    clearInterval(timer);
    live?.end();
  }
}

/** Facets and second looks are reads, too: once there are more than resources, their number is all that is said. */
function words(read: number, expected: number): string {
  const of = read <= expected && expected > 0 ? ` of ${formatNumber(expected)}` : '';
  return `${formatNumber(read)}${of} ${expected === 1 ? 'resource' : 'resources'}`;
}
