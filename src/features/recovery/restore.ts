import { resolve } from 'node:path';
import { type Context, chooseCalls } from '../../console/context.ts';
import { isAgreed, openPlanReview, reportFailure, say } from '../../console/events.ts';
import { openProgress } from '../../console/progress.ts';
import { exitOfOutcome, tellOutcome, tellRefused } from '../../console/result.ts';
import { show } from '../../console/show.ts';
import { type KeyFlags, keysFrom } from '../../console/snapshot-keys.ts';
import { type Address, getKind } from '../../core/address.ts';
import { commandLine, quoted } from '../../core/command-line.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import {
  type Change,
  isRefused,
  isRunnable,
  type PlanDocument,
  summarise,
  toFlag,
} from '../../core/plan-document.ts';
import { isWriting, refuse, withDigest } from '../../plan/document.ts';
import { renderLedgerText } from '../../render/runs.ts';
import type { Way } from '../../render/terminal.ts';
import { formatPlanPlace } from '../../render/wording.ts';
import { announce } from '../../run/plan.ts';
import { runPlan } from '../../run/run.ts';
import type { Session } from '../../run/session.ts';
import { openSnapshot } from '../../snapshot/file.ts';
import type { LedgerLine } from '../../state/journal.ts';
import { ownersIn } from '../../state/model.ts';
import type { Part } from './addresses.ts';
import { readHolding } from './held.ts';
import {
  buildOverview,
  buildSummary,
  inBrief,
  neededSecrets,
  needsOver,
  type Overview,
  type Progress,
  type Round,
  secretsMissing,
  targetNotEmpty,
  textNotes,
  together,
  unknownSecrets,
  withoutValues,
} from './overview.ts';
import {
  type LookFlags,
  look,
  type Opened,
  type OpenFlags,
  openRestoration,
  survey,
} from './plan.ts';
import { describeStack, type RestorationSummary, renderRestorationText } from './restoration.ts';
import { listWritingRuns, type Remedy, recordRestored, writeIds } from './stack-state.ts';
import { findStrangers } from './target.ts';

type CarryOutFlags = OpenFlags & AgreeFlags & LookFlags;

/**
 * Resources made in one round get in the next their parts with endpoints of their own, and the ids that their
 * texts name. A failure ends none of that: the next round tries it again and goes on with the rest. The
 * last round finds nothing left and is the proof. If more are needed, the platform does not keep what
 * it is sent.
 */
const MOST_ROUNDS = 4;

/** The values that all rounds share. */
type Work = {
  readonly opened: Opened;
  readonly sessions: Sessions;
  readonly progress: Progress;
  readonly struck: Overview['struck'];
  readonly flags: CarryOutFlags;
  readonly context: Context;
  /** Failures that were shown: one that a later round meets again is not repeated. */
  readonly shown: Set<string>;
  /** Resources that were written with a remark, and that no plan has found equal since. */
  readonly unproven: Set<Address>;
};

/** `more`: flags that the command which goes on needs besides. */
type Ending = readonly [
  status: RestorationSummary['status'],
  exit: ExitCode,
  more?: readonly string[],
];

/**
 * Makes the target hold what the snapshot does, and proves it. All parts are planned before the first write, so
 * that a person sees and agrees to the whole. What is in one part is carried out by the plan that was shown; of
 * several, each is planned again when its turn comes, and may not go beyond what was agreed to.
 */
async function carryOut(opened: Opened, flags: RestoreFlags, context: Context): Promise<ExitCode> {
  const sessions = openSessions(opened.session);
  try {
    const session = await sessions.current();
    const { platform } = session;
    announce(session, context);
    const shown = { ...flags, calls: chooseCalls(flags) };
    const { overview, only } = await survey(opened, session, shown, context);
    const { collisions, needs, struck } = overview;
    const progress: Progress = {
      runs: [],
      exceptions: unknownSecrets(overview.plan, opened),
      collisions,
      secrets: neededSecrets(needs),
    };
    const unproven = new Set<Address>();
    const end = async (overview: Overview, [status, exit, more = []]: Ending) => {
      const isOver = status !== 'planned' && status !== 'refused';
      const { stack, remedy } = isOver
        ? await recordRestored(opened, flags, context)
        : { stack: null };
      const ids = isOver ? await writeIds(opened, context) : null;
      const summary = {
        ...buildSummary(status, overview, { ...progress, unproven }, platform, opened, stack),
        ids,
      };
      const back = isOver ? await listWritingRuns(opened) : [];
      const ways = listWays(summary, { remedy, back, more }, opened, flags, context);
      show(flags, summary, (to) => renderRestorationText(summary, ways, to), context);
      return exit;
    };
    const refused = await beforeFirst(overview, session, opened, flags, context);
    if (refused !== undefined) return await end(overview, refused);
    const unseen = { ...flags, calls: false };
    const work: Work = {
      opened,
      sessions,
      progress,
      struck,
      flags: unseen,
      context,
      shown: new Set(),
      unproven,
    };
    let first: FirstRound | undefined = { only, agreement: agreementOn(overview.plan) };
    let last = overview;
    for (let number = 1; ; number += 1) {
      const taken = await takeRound(number, first, last, work).catch(async (error: unknown) => {
        const { stack } = await recordRestored(opened, flags, context);
        if (stack !== null) context.terminal.err(describeStack(stack));
        throw error;
      });
      if (taken.ending !== undefined) return await end(taken.overview, taken.ending);
      first = undefined;
      last = taken.overview;
    }
  } finally {
    await sessions.close();
  }
}

/** The plan that was shown, where there is one part, and what was agreed to. */
type FirstRound = { readonly only: Round | undefined; readonly agreement: Agreement };

/** One round through all parts; without an ending, another one is to follow. */
async function takeRound(
  number: number,
  first: FirstRound | undefined,
  last: Overview,
  work: Work,
): Promise<{ readonly overview: Overview; readonly ending: Ending | undefined }> {
  const { opened, flags, context } = work;
  const taken: Taken = { seen: [], ledger: [], failures: [], isIdle: true };
  try {
    for (const part of opened.parts) {
      await takePart(part, number, first, taken, work);
      const { failures } = taken;
      if (failures.includes(EXIT.interrupted) || failures.includes(EXIT.stale)) break;
    }
  } catch (error) {
    // The interrupt breaks off reads that are under way.
    if (!context.stop.aborted || !isBrokenOff(error)) throw error;
    taken.failures.push(EXIT.interrupted);
  } finally {
    // Finished changes are reported even if the disk or the network ends the restore.
    const news = taken.ledger.filter(({ status, address, message }) => {
      const key = `${address} ${message}`;
      const isNews = status === 'done' || !work.shown.has(key);
      work.shown.add(key);
      return isNews;
    });
    if (news.length > 0 && flags.format === 'text')
      context.terminal.out(
        renderLedgerText(news, context.terminal.render, { place: formatPlanPlace(last.plan) }),
      );
  }
  const [one, ...others] = taken.seen;
  const seen = one && together([one, ...others], {});
  const unseen = opened.parts.slice(taken.seen.length).flatMap(({ own }) => [...own]);
  const overview = seen === undefined ? last : withUnseen(seen, new Set(unseen), last);
  return { overview: withoutDone(overview, taken.ledger), ending: findEnding(overview, taken) };
}

/** With what the parts that a round did not come to were to do before it. */
function withUnseen(seen: Overview, unseen: ReadonlySet<Address>, last: Overview): Overview {
  const isUnseen = ({ address }: { readonly address: Address | null }) =>
    address !== null && unseen.has(address);
  const changes = [...seen.plan.changes, ...last.plan.changes.filter(isUnseen)];
  const exceptions = [...seen.exceptions, ...last.exceptions.filter(isUnseen)];
  const deferred = new Map([
    ...seen.deferred,
    ...[...last.deferred].filter(([address]) => unseen.has(address)),
  ]);
  return { ...seen, plan: { ...seen.plan, changes }, exceptions, deferred };
}

/** A plan without what of it is done, and with the reasons for which the rest failed. */
function withoutDone(overview: Overview, ledger: readonly LedgerLine[]): Overview {
  const lines = new Map(ledger.map((line) => [line.address, line]));
  const changes = overview.plan.changes.flatMap((change) => {
    const line = lines.get(change.address);
    if (line?.status === 'done') return [];
    return [line?.message == null ? change : { ...change, reason: line.message }];
  });
  return { ...overview, plan: { ...overview.plan, changes } };
}

function isBrokenOff(error: unknown): boolean {
  return (
    error instanceof CallsheetError && (error.code === 'network' || error.code === 'interrupted')
  );
}

/** The results of a round, part by part. */
type Taken = {
  readonly seen: Overview[];
  readonly ledger: LedgerLine[];
  readonly failures: ExitCode[];
  isIdle: boolean;
};

async function takePart(
  part: Part,
  number: number,
  first: FirstRound | undefined,
  taken: Taken,
  work: Work,
): Promise<void> {
  const { opened, sessions, context, unproven } = work;
  const { seen, ledger, failures } = taken;
  const session = await sessions.current();
  const round = first?.only ?? (await lookAgain(part, session, work));
  const { plan } = round.planned;
  for (const address of part.own) unproven.delete(address);
  seen.push(withoutValues(buildOverview(round, part.own)));
  if (!isRunnable(plan) && session.unfinished === undefined) return;
  taken.isIdle = false;
  if (number > MOST_ROUNDS || isRefused(plan)) {
    failures.push(EXIT.partial);
    return;
  }
  const moved = first && !first.only ? beyondAgreement(plan, first.agreement) : undefined;
  if (moved !== undefined) {
    failures.push(reportFailure(moved, context.terminal, false));
    return;
  }
  if (opened.parts.length > 1)
    context.terminal.err(`Part ${seen.length} of ${opened.parts.length}:`);
  const exit = await runRound(round, part, ledger, work);
  await sessions.renew();
  if (exit !== EXIT.done) failures.push(exit);
}

function findEnding({ plan }: Overview, { failures, ledger, isIdle }: Taken): Ending | undefined {
  if (failures.includes(EXIT.interrupted)) return ['interrupted', EXIT.interrupted];
  const failure = failures.find((exit) => exit !== EXIT.partial) ?? failures[0];
  const isFurther = ledger.some(({ status }) => status === 'done');
  if (failure === EXIT.partial && isFurther) return undefined;
  if (failure !== undefined) return ['partial', failure];
  if (!isIdle) return undefined;
  const isWhole = plan.changes.every(({ verdict }) => verdict === 'ok');
  return isWhole ? ['done', EXIT.done] : ['partial', EXIT.partial];
}

/** Plans a part again, without the changes that limits of the whole refuse. */
async function lookAgain(
  part: Part,
  session: Session,
  { opened, struck, flags, context }: Work,
): Promise<Round> {
  const round = await look(part, opened, session, flags, context);
  const { planned } = round;
  return { ...round, planned: { ...planned, plan: strike(planned.plan, struck) } };
}

async function runRound(
  { planned, rebuilt }: Round,
  { own }: Part,
  lines: LedgerLine[],
  { opened, sessions, progress, flags, context, unproven }: Work,
): Promise<ExitCode> {
  const outcome = await runPlan(planned, {
    session: await sessions.current(),
    context,
    purpose: 'restore',
    desired: rebuilt.desired,
    observe: (plan) => openProgress(plan, flags, context),
    readings: opened.readings,
  });
  if (outcome.type === 'ran') {
    progress.runs.push(outcome.run);
    // A referenced resource is reported by its own part, unless it was changed here.
    const { ledger } = outcome.result;
    for (const line of ledger.filter(hasRemark)) unproven.add(line.address);
    for (const { action, status, address, id } of ledger)
      if (action === 'create' && status === 'done' && id !== null)
        opened.made.add(`${getKind(address)} ${id}`);
    lines.push(...ledger.filter(({ address, status }) => own.has(address) || status === 'done'));
  } else tellOutcome(outcome, { flags, context });
  return exitOfOutcome(outcome);
}

/** True if a run says more of what it did than that a resource was made again: not all may be as it was sent. */
function hasRemark({ status, message, former_id: former }: LedgerLine): boolean {
  return status === 'done' && message !== null && (former === undefined || message.includes('; '));
}

/** The overwrites that a person approved: addresses with the resource and its pin. */
type Agreement = ReadonlyMap<Address, string>;

export function agreementOn({ changes }: PlanDocument): Agreement {
  return new Map(changes.filter(isOverwriting).map((change) => [change.address, pinKey(change)]));
}

/** Refuses a plan that overwrites a resource that changed since the approval, or that was not shown then. */
export function beyondAgreement(
  { changes }: PlanDocument,
  agreement: Agreement,
): CallsheetError | undefined {
  const moved = changes.find(
    (change) => isOverwriting(change) && agreement.get(change.address) !== pinKey(change),
  );
  if (moved === undefined) return undefined;
  return new CallsheetError('stale', `${moved.address} changed after the restore was approved`, {
    hint: 'Run the same command again: it shows the live values of now, and continues from here.',
  });
}

/** The plan of a part without what limits of the whole refuse. */
function strike(plan: PlanDocument, struck: Overview['struck']): PlanDocument {
  if (plan.changes.every(({ address }) => !struck.has(address))) return plan;
  const changes = plan.changes.map((change) => {
    const reason = struck.get(change.address);
    return reason === undefined || change.verdict !== 'ok' ? change : refuse(change, reason);
  });
  return withDigest({ ...plan, changes, summary: summarise(changes, plan.summary.no_op) });
}

function isOverwriting(change: Change): boolean {
  return isWriting(change) && change.pin !== null;
}

function pinKey({ id, pin, action }: Change): string {
  return `${action} ${id} ${pin?.digest}`;
}

/** One session after the other: what was read before a write is old after it. */
type Sessions = {
  readonly current: () => Promise<Session>;
  /** The next one that is asked for is another. */
  readonly renew: () => Promise<void>;
  readonly close: () => Promise<void>;
};

function openSessions(open: () => Promise<Session>): Sessions {
  let session: Session | undefined;
  async function renew(): Promise<void> {
    const old = session;
    session = undefined;
    await old?.close();
  }
  return {
    async current() {
      session ??= await open();
      return session;
    },
    renew,
    close: renew,
  };
}

type AgreeFlags = {
  readonly autoApprove?: boolean;
  readonly dryRun?: boolean;
  readonly asIfGone?: boolean;
  readonly over?: boolean;
  readonly mapTexts?: boolean;
  /** False with `--without-secrets`. */
  readonly withoutSecrets?: boolean;
  readonly format: 'text' | 'json';
};

const UNASKED = 'To run this restore, pass --auto-approve. To see it only, pass --dry-run.';

/** Refuses collisions, missing secrets and refused changes before the first write, and asks for approval. */
async function beforeFirst(
  overview: Overview,
  session: Session,
  { choice }: Opened,
  flags: AgreeFlags,
  context: Context,
): Promise<Ending | undefined> {
  const { needs, obstacles, found, collisions } = overview;
  const notes = [...overview.plan.notes, ...textNotes(overview, flags.mapTexts === true)];
  const plan: PlanDocument = { ...overview.plan, notes };
  const review = openPlanReview(context.terminal);
  const showPlan = () => {
    if (flags.format !== 'text') return;
    if (context.terminal.render.verbose === true) review.show(plan);
    else review.show({ ...inBrief(overview), notes }, plan, plan.summary.create);
  };
  const isIdle = !plan.changes.some(isWriting) && !isRefused(plan);
  const isInTheWay = async () => {
    const owners = ownersIn(session.state);
    const isOurs = (kind: string, id: string) =>
      found.has(`${kind} ${id}`) || owners.has(`${kind} ${id}`);
    const strangers = await findStrangers(choice, obstacles, session.reader, isOurs);
    // Resources that are equal already are taken over, and nothing of them is written.
    return collisions.every((one) => one.is_equal) && strangers.length === 0
      ? undefined
      : targetNotEmpty(collisions, strangers.length, {
          isVerbose: context.terminal.render.verbose,
        });
  };
  const isFree = isIdle || flags.over === true || flags.asIfGone === true;
  const inTheWay = isFree ? undefined : await isInTheWay();
  if (flags.asIfGone === true) say(context.terminal, DRILL);
  if (flags.dryRun === true || isIdle) showPlan();
  if (flags.dryRun === true) {
    if (inTheWay !== undefined) say(context.terminal, needsOver(inTheWay));
    const more = [
      ...(inTheWay === undefined ? [] : ['--over']),
      ...(isRefused(plan) ? ['--skip-refused'] : []),
    ];
    return ['planned', more.length > 0 ? EXIT.refused : EXIT.done, more];
  }
  if (inTheWay !== undefined) throw inTheWay;
  if (needs.length > 0 && flags.withoutSecrets !== true) throw secretsMissing(needs);
  if (isIdle) return undefined;
  showPlan();
  if (isRefused(plan)) {
    tellRefused(plan, context.terminal);
    return ['refused', EXIT.refused];
  }
  const { terminal } = context;
  if (await isAgreed('Restore this?', flags, terminal, UNASKED, review.confirm)) return undefined;
  terminal.err('Nothing was written.');
  return ['refused', EXIT.error];
}

const DRILL =
  'A drill: everything in the snapshot counts as gone, whatever the platform has. Nothing is written.';

export type RestoreFlags = CarryOutFlags & KeyFlags;

/** Letters of an account's id in the name of a file. */
const ACCOUNT_LETTERS = 8;

/** Flags that the next call of a restore has as this one had them. */
const KEPT_FLAGS = [
  ...([
    'passphraseFile',
    'identity',
    'organization',
    'mapOrganization',
    'mapKnowledgeBase',
  ] as const),
  ...(['mapTexts', 'over', 'secrets', 'withoutSecrets', 'media', 'state', 'skipRefused'] as const),
  ...(['overrideFreeze', 'overrideLimits'] as const),
];

/** The commands that go on from a restore: the same one again where something is left to do, or what takes it back. */
function listWays(
  { status, snapshot, state, stack, platform, exceptions }: RestorationSummary,
  {
    remedy,
    back: runs,
    more,
  }: {
    readonly remedy: Remedy | undefined;
    readonly back: readonly string[];
    readonly more: readonly string[];
  },
  { hasStack }: Pick<Opened, 'hasStack'>,
  flags: RestoreFlags,
  { env }: Pick<Context, 'env'>,
): readonly Way[] {
  const given: { readonly [flag: string]: unknown } = flags;
  const kept = KEPT_FLAGS.flatMap((flag) =>
    [given[flag] ?? []].flat().map((value) => {
      const name = toFlag(flag.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`));
      return value === true ? name : `${name} ${quoted(String(value))}`;
    }),
  );
  const added = more.filter((flag) => !kept.includes(flag));
  const again = commandLine(['restore', quoted(snapshot.file), ...kept, ...added].join(' '), flags);
  if (status === 'refused') return [];
  if (status === 'planned')
    return [[again, more.includes('--skip-refused') ? 'restores the rest' : 'restores it']];
  const ways: Way[] = status === 'done' ? [] : [[again, 'continues']];
  if (remedy === 'repair') ways.push([commandLine('state repair', flags), 'rebuilds the state']);
  const own = `.callsheet/state-${platform.account_id.slice(0, ACCOUNT_LETTERS)}.json`;
  const beside = `CALLSHEET_STATE=${quoted(resolve(flags.dir, own))} ${again}`;
  if (remedy === 'own state') ways.push([beside, 'records it in a state of its own']);
  else if (remedy !== undefined && status === 'done') ways.push([again, 'records it in the state']);
  if (status !== 'done') return ways;
  const isLacking = exceptions.some(({ what }) => what === 'secret');
  if (!hasStack && isLacking) ways.push([again, 'writes the secrets that are set by then']);
  // A place may hold a password, a path does not.
  const { CALLSHEET_STATE: place = '' } = env;
  const at = place === '' || place.includes('://') ? '' : `CALLSHEET_STATE=${quoted(place)} `;
  // A part that only the dashboard sets up is refused by an apply until it is.
  const apply = exceptions.some(({ part }) => part != null) ? 'apply --skip-refused' : 'apply';
  if (stack !== null && stack.secrets > 0)
    ways.push([`${at}${commandLine(apply, flags)}`, 'writes the secrets of the stack']);
  const back = runs.map(
    (run): Way => [
      `CALLSHEET_STATE=${quoted(state)} ${commandLine(`rollback ${run}`, flags)}`,
      'takes it back, with the state that records it',
    ],
  );
  return [...ways, ...back];
}

/** `callsheet restore FILE`: brings what a snapshot holds into an account, and proves that it is there. */
export async function restore(
  file: string,
  flags: RestoreFlags,
  context: Context,
): Promise<ExitCode> {
  if (flags.asIfGone === true && flags.dryRun !== true)
    throw new CallsheetError('usage', '--as-if-gone is for a drill and needs --dry-run', {
      hint: 'Without it a restore keeps what the platform has.',
    });
  const holding = await readHolding(await openSnapshot(file, keysFrom(flags, context)));
  const opened = await openRestoration(holding, flags, context);
  return carryOut(opened, flags, context);
}
