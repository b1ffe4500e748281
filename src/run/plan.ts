import schema from '../../schemas/plan.schema.json' with { type: 'json' };
import type { Address } from '../core/address.ts';
import { computeDigest } from '../core/digest.ts';
import { CallsheetError, formatFirst, formatSize } from '../core/errors.ts';
import { parsePath } from '../core/path.ts';
import type { Strategy } from '../core/plan-document.ts';
import {
  type Change,
  type Note,
  type PlanChoices,
  type PlanDocument,
  type PlanOptions,
  type Refusal,
  shortCommit,
} from '../core/plan-document.ts';
import type { FieldSchema } from '../core/schema.ts';
import { invert } from '../core/value.ts';
import { checkChosen, kinds } from '../kinds/index.ts';
import type { Scope } from '../kinds/kind.ts';
import { isWriting, withDigest } from '../plan/document.ts';
import type { FieldSource, Site } from '../plan/groups.ts';
import type { Claim } from '../plan/guards.ts';
import {
  checkGuards,
  checkTeamRules,
  driftPolicy,
  type GuardFinding,
  refusalsIn,
} from '../plan/guards.ts';
import { makePlan, type PlanInput, type Planned, type Refresh } from '../plan/make.ts';
import {
  getNaturalKey,
  getRecordKey,
  getScope,
  listKnown,
  listScopes,
} from '../plan/natural-key.ts';
import { addressesIn, markOrigins } from '../plan/origin.ts';
import type { Reader } from '../plan/reader.ts';
import { idsWith } from '../plan/references.ts';
import { findAssumption, movedEndpoints } from '../platform/endpoints.ts';
import { getSource, type Stack } from '../stack/index.ts';
import { isForgottenBy, priorAddresses } from '../stack/moves.ts';
import type { State } from '../state/model.ts';
import type { Expected } from '../state/store.ts';
import { describePlace, listAllowed } from './actor.ts';
import { type Base, keepReads, loadBase, readBase, whyUnplanned } from './base.ts';
import { doubtNotes, findStanding, type Standing } from './behind.ts';
import type { StackPlace, StrategyScope } from './context.ts';
import {
  type CallsChoice,
  openCallouts,
  type RunContext,
  type StackOptions,
  stage,
} from './context.ts';
import { returnedNotes, tellDeletions } from './deleted.ts';
import { findApproved } from './find-run.ts';
import { createConfiguredFinder, createWrittenFinder } from './last-written.ts';
import { findAtWork, recoveredRun } from './recover.ts';
import { findOverlaps, openSession, type Session } from './session.ts';

type PlanRequest = StackOptions & {
  readonly options: PlanOptions;
  /** A branch, tag or commit that is planned beside the checkout, so that each change says which of the two has it. */
  readonly base?: string | undefined;
  readonly refresh?: Refresh;
  readonly calls?: CallsChoice['calls'];
};

type PlanOutcome = {
  readonly plan: PlanDocument;
  /** Resources that other stacks manage as well, a line each: apply refuses if there are any. */
  readonly overlaps: readonly string[];
};

/** Plans what apply would do. Writes nothing. */
export async function planStack(
  { options, base: ref, refresh = 'fast', calls, ...stack }: PlanRequest,
  context: RunContext,
): Promise<PlanOutcome> {
  // Nothing is asked of the platform while something is wrong here.
  const base = ref === undefined ? undefined : await readBase(ref, stack);
  const session = await openSession(stack, context, { check: checkNamed(options), plans: true });
  try {
    announce(session, context);
    const standing = await findStanding(session, context);
    const reads = base === undefined ? undefined : keepReads(session.reader);
    const own = reads === undefined ? session : { ...session, reader: reads.reader };
    const findConfigured = createConfiguredFinder(session);
    const how = { refresh, calls, standing, findConfigured };
    const made = await planConfiguration(own, options, context, how);
    const planned = await tellDeletions(made, session);
    emitUnread(planned, context);
    await warnOfTraffic(planned.plan, session, context);
    const overlaps = await findOverlaps(planned, session);
    if (overlaps.length > 0) context.emit({ type: 'overlaps', lines: overlaps });
    if (base === undefined || reads === undefined) return { plan: planned.plan, overlaps };
    const beside = { ...session, reader: reads.kept };
    const request = { ...stack, options, refresh, findConfigured };
    const plan = await planBeside(base, planned, beside, request, context);
    return { plan, overlaps };
  } finally {
    await session.close();
  }
}

/** Returns the most that a plan can leave: as if all of it were carried out. */
export function getExpected({ changes }: PlanDocument, { resources }: State): Expected {
  const made = changes.filter(({ address }) => resources[address] === undefined).length;
  return {
    resources: Object.keys(resources).length + made,
    changes: changes.filter(isWriting).length,
  };
}

/** Bytes that a run may send to the store of its state before a plan speaks of it. */
const MUCH_TRAFFIC = 20 * 1024 * 1024;

/** Says what an apply will send to a store that takes the whole state with each batch, where that is much. */
async function warnOfTraffic(
  plan: PlanDocument,
  { store, state }: Session,
  { emit }: RunContext,
): Promise<void> {
  const expected = getExpected(plan, state);
  const { bytes, most } = (expected.changes > 0 && (await store.estimate(expected))) || NO_TRAFFIC;
  if (bytes <= MUCH_TRAFFIC) return;
  const refused = bytes > most ? ` Apply refuses to send more than ${formatSize(most)}.` : '';
  emit({
    type: 'notice',
    text: `An apply of this plan sends about ${formatSize(bytes)} to the store of the state, which takes the whole state with each batch.${refused} Keep a state of this size in PostgreSQL or S3: \`callsheet state migrate --to PLACE\``,
  });
}

const NO_TRAFFIC = { bytes: 0, most: 0 };

/** A plan that says of each change whether the base has it already. The session reads what was read for the plan. */
async function planBeside(
  base: Base,
  planned: Planned,
  session: Session,
  {
    options,
    refresh = 'fast',
    findConfigured,
    ...files
  }: PlanRequest & Required<Pick<PlanInput, 'findConfigured'>>,
  context: RunContext,
): Promise<PlanDocument> {
  const { about, notes } = base;
  const stack = await loadBase(base, session.stack, files, context);
  if ('message' in stack) return markOrigins(planned, undefined, about, [...notes, stack]);
  if (stack === session.stack) return markOrigins(planned, planned, about, notes);
  const { strategy, ...others } = options;
  const isThere = strategy !== undefined && hasStrategy(strategy, stack, context);
  const own = { ...others, target: [], exclude: [], ...(isThere && { strategy }) };
  const only = addressesIn(planned.plan);
  // It was seen once how the platform is read.
  const quiet = { ...context, emit: () => {}, telemetry: undefined };
  try {
    const how = { refresh, only, findConfigured };
    const other = await planConfiguration({ ...session, stack }, own, quiet, how);
    return markOrigins(planned, other, about, notes);
  } catch (error) {
    if (!(error instanceof CallsheetError) || error.code !== 'config') throw error;
    return markOrigins(planned, undefined, about, [...notes, whyUnplanned(about, error.message)]);
  }
}

/** The check of the resources that options name, for `openSession`. */
export function checkNamed(
  options: PlanOptions,
): (opened: Pick<Session, 'stack' | 'state'>) => void {
  return ({ stack, state }) => {
    const configured = stack.resources.map(({ address }) => address);
    checkChosen(options, [...configured, ...Object.keys(state.resources)]);
  };
}

/** Says what stands beside a session: warnings, and another run that is at work. */
export function announce(session: Session, { emit }: RunContext): void {
  const { warnings } = session;
  if (warnings.length > 0) emit({ type: 'warnings', diagnostics: warnings });
  // One that died is recovered, and the plan shows it.
  const run = findAtWork(session);
  if (run !== undefined) emit({ type: 'run_at_work', run });
}

/** Says how much a fast refresh did not read. */
export function emitUnread({ unread, plan }: Planned, { emit }: RunContext): void {
  if (unread === 0) return;
  emit({ type: 'unread', unread, all: plan.changes.length + plan.summary.no_op });
}

/**
 * Makes a plan of what a session has; `more` says what is allowed, and what is desired where that is not the
 * configuration. Most of its time goes into reading. `expected`: how many resources there are, as far as is known before.
 */
async function planSession(
  session: Session,
  expected: number,
  context: RunContext,
  {
    calls,
    by,
    ...more
  }: Pick<PlanInput, 'options' | 'purpose'> &
    Omit<Partial<PlanInput>, 'recentCalls'> &
    CallsChoice & { readonly by?: string | undefined },
): Promise<Planned> {
  const { stack, state, reader, recentCalls, world, platform, client } = session;
  // No rule judges what is not the configuration.
  const isCounted = calls ?? (more.purpose === 'apply' && stack.rules.readsCalls === true);
  const input: PlanInput = {
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
    organizations: invert(stack.organizations),
    organization: stack.organization,
    configDigest: stack.digest,
    environment: stack.environment,
    claims: await listClaims(context, state, { dir: '.', env: stack.environment }, by),
    settled: recoveredRun(session.unfinished),
    versions: new Map(),
    findCallouts: await openCallouts(context.features),
    findAssumption: (operation) => findAssumption(operation, client.endpoints),
    assume: client.endpoints.assume,
    endpoints: movedEndpoints(client.endpoints),
    // No line of the files says what a rollback or a restore writes, but their rows are those of the run.
    findSource: (site) => ({ parts: partsAt(stack, site) }),
    configured: stack.resources.map(({ address }) => address),
    secondsPerRequest: () => {
      const { requests, seconds } = client.spent();
      return requests === 0 ? 0 : seconds / requests / session.concurrency;
    },
    ...(isCounted && { recentCalls }),
    ...more,
  };
  // Git is asked while the platform is read.
  const place = context.sandbox === undefined ? describePlace(stack) : Promise.resolve(undefined);
  return stage(context, 'plan', () =>
    whileReading(reader, expected, context, (reader) => makePlan({ ...input, place, reader })),
  );
}

/**
 * Plans what the configuration asks for. That what did not change need not be read again (`refresh: fast`) is an
 * assumption: where the stack allows none, everything is read.
 */
export async function planConfiguration(
  session: Session,
  options: PlanOptions,
  context: RunContext,
  {
    refresh,
    standing = {},
    ...how
  }: Partial<
    Pick<
      PlanInput,
      'isPreflighted' | 'prune' | 'refresh' | 'atOnce' | 'only' | 'drift' | 'findConfigured'
    >
  > &
    CallsChoice & { readonly standing?: Standing; readonly by?: string } = {},
): Promise<Planned> {
  const { stack, state } = session;
  const configured = stack.resources.map(({ address }) => address);
  // A session was not opened for these options alone.
  checkNamed(options)(session);
  const scope = options.strategy && findScope(options.strategy, stack, context);
  const { moved } = stack.moves;
  const expected = new Set([...configured, ...Object.keys(state.resources)]).size;
  const planned = await planSession(session, expected, context, {
    findSource: ({ address, path }) => {
      const origin = stack.traceOrigin(address, parsePath(path) ?? [path]);
      return { ...(origin && getSource(origin)), parts: partsAt(stack, { address, path }) };
    },
    findWritten: createWrittenFinder(session),
    findConfigured: createConfiguredFinder(session),
    priorAddresses: priorAddresses(moved),
    isForgotten: isForgottenBy(stack.moves),
    drift: driftPolicy(stack.guards, options),
    ...(scope && { atOnce: scope.atOnce, configDigest: computeScopeDigest(stack, scope) }),
    behind: standing.behind,
    allowed: listAllowed(context, options),
    findApproved: () => findApproved(session),
    ...how,
    ...(refresh === undefined
      ? {}
      : { refresh: session.client.endpoints.assume ? refresh : 'full' }),
    purpose: 'apply',
    options:
      scope === undefined || options.target.length > 0
        ? options
        : { ...options, target: scope.target },
  });
  // The note says to reviewers that not all of the plan is applied at once.
  const stepped = scope === undefined ? planned : withNotes(planned, [asNote(scope.note)]);
  const { plan } = withNotes(stepped, [
    ...allowedNotes(stepped),
    ...doubtNotes(standing),
    ...recallNotes(stepped, session),
    ...(await returnedNotes(stepped, session)),
  ]);
  const unknown = plan.changes.filter(
    ({ adopted, address }) => adopted && !Object.hasOwn(state.resources, address),
  );
  if (unknown.length === 0) return { ...planned, plan };
  return withNotes({ ...planned, plan }, await statelessNotes(unknown, planned, session));
}

/** Says who let the plan pass its guards, to those who review it. */
function allowedNotes({ plan: { allowed = [] } }: Planned): readonly Note[] {
  if (allowed.length === 0) return [];
  const given = allowed.map(({ flag, by }) => `${flag} by ${by}`).join(', ');
  const message = `guards passed by review: ${given}`;
  return [{ severity: 'info', address: null, message, varies: true }];
}

/**
 * Resources that features have for their own, but for one that plans itself: `rollout careful`. Throws
 * `CallsheetError('refused')` where the state has something under way of a feature that this Callsheet does not have:
 * its resources cannot be known.
 */
export async function listClaims(
  { features }: Pick<RunContext, 'features'>,
  state: State,
  place: StackPlace,
  but?: string,
): Promise<readonly Claim[]> {
  for (const [feature, entries] of Object.entries(state.kept ?? {})) {
    const open = Object.entries(entries).find(([, entry]) => entry.open)?.[0];
    if (open === undefined || features.some(({ name }) => name === feature)) continue;
    throw new CallsheetError(
      'refused',
      `the state has the ${feature} ${open} under way, and this Callsheet has no ${feature}`,
      { hint: 'End it with a Callsheet that has it, or plan with that one.' },
    );
  }
  const all = await Promise.all(features.map((one) => one.claims?.(state, place) ?? []));
  return all.flat().filter(({ by }) => by !== but);
}

/** A plan with notes before its own. */
function withNotes(planned: Planned, notes: readonly Note[]): Planned {
  if (notes.length === 0) return planned;
  const { plan } = planned;
  return { ...planned, plan: withDigest({ ...plan, notes: [...notes, ...plan.notes] }) };
}

function partsAt(
  { readTextParts }: Session['stack'],
  { address, path }: Site,
): FieldSource['parts'] {
  return () => readTextParts(address, parsePath(path) ?? [path]);
}

/** A plan file is held against this digest, which for a strategy also has how it goes about it. */
export function plannedDigest(
  { options: { strategy } }: PlanDocument,
  { stack }: Pick<Session, 'stack'>,
  context: Pick<RunContext, 'features'>,
): string {
  return strategy === undefined
    ? stack.digest
    : computeScopeDigest(stack, findScope(strategy, stack, context));
}

function computeScopeDigest({ digest }: Stack, { settings }: StrategyScope): string {
  return computeDigest([digest, settings]);
}

/** Throws `CallsheetError` where no feature has the strategy, or the stack none of the name. */
export function findScope(
  { feature, name }: Strategy,
  stack: Stack,
  { features }: Pick<RunContext, 'features'>,
): StrategyScope {
  const found = features.find((one) => one.name === feature)?.strategy;
  if (found !== undefined) return found.find(name, stack);
  throw new CallsheetError('usage', `the plan is for the ${feature} ${name}`, {
    hint: `This Callsheet has no feature ${feature}. Plan again without it.`,
  });
}

function hasStrategy(strategy: Strategy, stack: Stack, context: RunContext): boolean {
  try {
    findScope(strategy, stack, context);
    return true;
  } catch (error) {
    if (error instanceof CallsheetError) return false;
    throw error;
  }
}

function asNote(message: string): Note {
  return { severity: 'info', address: null, message };
}

/** Says which resources are taken for managed though no state knows them, and how to let go of them. */
function recallNotes({ plan }: Planned, { recalled }: Session): readonly Note[] {
  const byCommit = Map.groupBy(
    plan.changes.filter(({ address, moved_from: prior = address }) => recalled.has(prior)),
    ({ address, moved_from: prior = address }) => recalled.get(prior)?.commit ?? '',
  );
  return [...byCommit].map(([commit, changes]): Note => {
    const it = changes.length === 1 ? 'it' : 'them';
    const message = `no state knows ${formatNames(changes)}: commit ${shortCommit(commit)} was the last to configure ${it}, and this account created or changed ${it} until then, so ${it === 'it' ? 'it counts' : 'they count'} as managed. To leave ${it} as ${it === 'it' ? 'it is' : 'they are'}, list ${it} under \`forget\``;
    return { severity: 'warning', address: null, message };
  });
}

/** Notes what is unknown of resources that the state does not have, and what the lists that were read show. */
async function statelessNotes(
  unknown: readonly Change[],
  planned: Planned,
  session: Session,
): Promise<readonly Note[]> {
  const { resources } = session.state;
  const isStateless = Object.keys(resources).every((address) => session.recalled.has(address));
  const without = (some: readonly Change[]) =>
    isStateless ? 'without a state' : `without ${formatNames(some)} in the state`;
  const overwritten = unknown.filter(({ action }) => action === 'update' || action === 'replace');
  const unnamed = await countUnnamed(planned, session);
  const counts = unnamed.map(([kind, some]) => `${kind}: ${some}`).join(', ');
  const notes: readonly (Pick<Note, 'severity' | 'message'> | false)[] = [
    overwritten.length > 0 && {
      severity: 'warning',
      message: `${without(overwritten)}, Callsheet cannot tell somebody's edit on the platform from a change of the files, and apply overwrites it. \`callsheet history ADDRESS\` shows who edited a resource`,
    },
    {
      severity: 'info',
      message: isStateless
        ? `the state knows none of these resources, so holds of earlier rollbacks${session.recalled.size > 0 ? '' : ', resources that are no longer configured,'} and secrets that were left out are not known`
        : `the state does not know ${formatNames(unknown)}, so holds of earlier rollbacks and secrets that were left out of ${unknown.length === 1 ? 'it' : 'them'} are not known`,
    },
    unnamed.length > 0 && {
      severity: 'info',
      message: `live resources that no file names, and that apply does not touch: ${counts}. \`callsheet pull --new --dry-run\` lists them`,
    },
  ];
  return notes.flatMap((note) => (note === false ? [] : [{ ...note, address: null }]));
}

/** Addresses that a note names; the plan shows all of them. */
const MOST_NAMED = 3;

function formatNames(changes: readonly Change[]): string {
  const names = changes.map(({ address }) => address);
  return formatFirst(names, MOST_NAMED);
}

/** How many live resources of each kind no file names, as far as the lists tell that planning read anyway. */
async function countUnnamed(
  { ids, plan }: Planned,
  { stack, reader }: Session,
): Promise<readonly (readonly [kind: string, count: number])[]> {
  const named = new Set([...ids.values(), ...plan.changes.flatMap(({ id }) => id ?? [])]);
  const counts = await Promise.all(
    kinds.map(async (kind) => {
      const desired = stack.resources.filter((one) => one.kind === kind.name);
      const keyAt = (scope: Scope, key: string | undefined) => `${JSON.stringify(scope)} ${key}`;
      // Only the newest of several versions of a page has an address.
      const keys = new Set(
        desired.map(({ document }) =>
          keyAt(getScope(kind, document), getNaturalKey(kind, document)),
        ),
      );
      const lists = await Promise.all(
        listScopes(kind, desired, undefined).map(async (scope) =>
          ((await listKnown(reader, kind, scope)) ?? []).filter(
            ({ id, record }) =>
              !named.has(id) && !keys.has(keyAt(scope, getRecordKey(kind, record, scope))),
          ),
        ),
      );
      return [kind.name, lists.flat().length] as const;
    }),
  );
  return counts.filter(([, count]) => count > 0);
}

/** Plans something else than the configuration: a rollback, a restoration. */
export function planInstead(
  session: Session,
  instead: Pick<PlanInput, 'desired' | 'purpose' | 'options' | 'versions' | 'undoes' | 'snapshot'> &
    Partial<
      Pick<
        PlanInput,
        'prune' | 'guards' | 'organizations' | 'configDigest' | 'ranAt' | 'findFormer'
      >
    > &
    CallsChoice,
  context: RunContext,
): Promise<Planned> {
  // Thresholds stop a bad configuration. A rollback touches only what its run touched.
  const { freeze } = session.stack.guards;
  const guards = freeze === undefined ? {} : { freeze };
  // It takes away only what it names: of nothing that is left to do, no target would name the whole fleet.
  const prune = instead.options.target.length > 0;
  const { length } = instead.desired;
  return planSession(session, length, context, { guards, prune, ...instead });
}

/** Refusals of a plan at this moment, by clock, state, configuration and checkout. */
export function guardFindingsNow(
  plan: PlanDocument,
  { stack, state, world: known }: Pick<Session, 'stack' | 'state' | 'world'>,
  { behind }: Standing,
  { now }: RunContext,
): readonly GuardFinding[] {
  const { guards, resources: desired } = stack;
  const ids = idsWith(state, plan.changes);
  const world = { ...known, findId: (address: Address) => ids.get(address) };
  const holds = state.holds ?? {};
  return checkGuards(plan, { guards, holds, now: now(), desired, world, behind });
}

/** Returns the refusals that no override lifts, and those of the team's own rules. */
export function refusalsNow(
  plan: PlanDocument,
  session: Pick<Session, 'stack' | 'state' | 'world'>,
  standing: Standing,
  context: RunContext,
): readonly Refusal[] {
  const judged = checkTeamRules(plan, { rules: session.stack.rules, now: context.now() });
  const findings = guardFindingsNow(plan, session, standing, context);
  return [...refusalsIn(findings), ...judged.refusals];
}

/** A reader that tells how much was read while `work` uses it. `expected`: how many resources there are, as far as is known before. */
export async function whileReading<T>(
  reader: Reader,
  expected: number,
  { emit }: Pick<RunContext, 'emit'>,
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  let read = 0;
  const watched: Reader = {
    ...reader,
    async read(...asked) {
      const found = await reader.read(...asked);
      read += 1;
      emit({ type: 'reading', read, expected });
      return found;
    },
  };
  emit({ type: 'reading', read, expected });
  try {
    return await work(watched);
  } finally {
    emit({ type: 'read' });
  }
}

/** The reasons that guards are overridden for. Throws where one is empty. */
export function overrideOptions({
  overrideFreeze,
  overrideLimits,
  behind: given,
}: Pick<PlanChoices, 'overrideFreeze' | 'overrideLimits' | 'behind'>): Pick<
  PlanOptions,
  'override_freeze' | 'override_limits' | 'behind'
> {
  const freeze = findReason('--override-freeze', overrideFreeze, 'Say why it cannot wait');
  const limits = findReason('--override-limits', overrideLimits, 'Say why so much is to change');
  const behind = findReason('--behind', given, 'Say why the last applied commit is left out');
  return {
    ...(freeze === undefined ? {} : { override_freeze: freeze }),
    ...(limits === undefined ? {} : { override_limits: limits }),
    ...(behind === undefined ? {} : { behind }),
  };
}

function findReason(flag: string, given: string | undefined, what: string): string | undefined {
  const reason = given?.trim();
  if (reason !== '') return reason;
  throw new CallsheetError('usage', `${flag} needs a reason`, {
    hint: `${what}; the reason is recorded with the run.`,
  });
}

/** The options of a plan, as its schema has them. What every plan has to say has a default there. */
const OPTIONS: { readonly [option: string]: FieldSchema } = schema.properties.options.properties;

/** Returns a person's choices as a plan records them: under the names that the options have in the schema. */
export function planOptions(choices: PlanChoices): PlanOptions {
  if (choices.keepDrift === true && choices.undoDrift === true)
    throw new CallsheetError('usage', '--keep-drift and --undo-drift exclude each other', {
      hint: 'Give one of them.',
    });
  const given = new Map<string, unknown>(Object.entries({ ...choices, force: choices.deleteUsed }));
  const options = Object.entries(OPTIONS).flatMap(([option, { default: byDefault }]) => {
    const value = given.get(toFlag(option)) ?? byDefault;
    return value === undefined || (value === false && byDefault === undefined)
      ? []
      : [[option, value]];
  });
  return { ...(Object.fromEntries(options) as PlanOptions), ...overrideOptions(choices) };
}

/** `allow_delete`: `allowDelete`. */
function toFlag(option: string): string {
  return option.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
