import { isSigned, locateWrites } from '../apply/history.ts';
import { type Address, getKind, isChosen, matchesAddress } from '../core/address.ts';
import { commandSpan, quoted } from '../core/command-line.ts';
import type { Verification } from '../core/documents.ts';
import { CallsheetError, foldSentences } from '../core/errors.ts';
import { fieldIn, formatPath } from '../core/path.ts';
import {
  isChanging,
  isHeldBack,
  isRefused,
  isRunnable,
  liftingFlags,
  type Note,
  type PlanDocument,
  type PlanOptions,
} from '../core/plan-document.ts';
import { isNothing, isObject } from '../core/value.ts';
import { valueAt } from '../core/walk.ts';
import { UNCLEARABLE } from '../diff/compare.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { createReader } from '../live/reader.ts';
import { askingOnce, openReadings } from '../live/readings.ts';
import { withDigest } from '../plan/document.ts';
import { findAuthor } from '../plan/drift.ts';
import type { Claim } from '../plan/guards.ts';
import { type HoldChange, holdsWhenUndone, valuesUndone } from '../plan/holds.ts';
import type { Span } from '../plan/identify.ts';
import type { PlanInput, Planned } from '../plan/make.ts';
import { getScope } from '../plan/natural-key.ts';
import { type HistoryEntry, historyIfShown, type Reader, readWith } from '../plan/reader.ts';
import { findUses, type Use } from '../plan/references.ts';
import { buildPin } from '../plan/refresh.ts';
import { listSecretsBelow, secretsGone } from '../plan/secrets.ts';
import { rollbackQuestion } from '../render/wording.ts';
import {
  afterRollbacks,
  deletedSince,
  type Edited,
  type EditsReader,
  findInterleaved,
  replacedSince,
} from '../rollback/edits.ts';
import {
  goesBack,
  goneSince,
  indexOwners,
  listDifferences,
  type Naming,
  narrowUndo,
  type Seen,
  type Undo,
  undoRun,
  unseal,
  type Wanted,
  withRelinked,
} from '../rollback/undo.ts';
import {
  findBegan,
  findEnded,
  type JournalEntry,
  lineNotDone,
  type NotUndone,
} from '../state/journal.ts';
import {
  getIdentity,
  ownersIn,
  type RememberedPin,
  type ResourceState,
  type State,
} from '../state/model.ts';
import { findRevert } from './actor.ts';
import type { CallsChoice, Observe, RunContext, StackOptions } from './context.ts';
import type { Revert, RunDocument } from './document.ts';
import {
  checkRecorded,
  createFormerFinder,
  createMakerFinder,
  createWriterFinder,
  type FoundRun,
  findRun,
  listRuns,
  readBegan,
  readdress,
  refuseAtWork,
  withoutCopies,
} from './find-run.ts';
import { listClaims, overrideOptions, planInstead } from './plan.ts';
import { refuseBeside } from './recover.ts';
import { isDisturbed, type Left, type RunOutcome, runPlan } from './run.ts';
import { openSession, type Session, sealerFor } from './session.ts';
import { announceBroken } from './stack.ts';

export type UndoOptions = StackOptions & {
  /** The run to undo: its id, or as much of it as tells it apart. The last one where none is given. */
  readonly run?: string;
  /** The part that is undone; all of it where none is given. */
  readonly target?: readonly string[];
  /** The part that is left as it is. */
  readonly exclude?: readonly string[];
  /** True if edits that somebody made since are undone, too. */
  readonly undoEdited?: boolean;
  /** True if resources that live ones still use are deleted, too. */
  readonly deleteUsed?: boolean;
  /** True if refused changes are left out, and the rest is undone. */
  readonly skipRefused?: boolean;
  readonly overrideFreeze?: string;
  /** The entry of a feature that takes its own part back: `rollout careful`. Its claims stop nothing then. */
  readonly by?: string;
  /** True if it is planned only. */
  readonly dryRun?: boolean;
  readonly calls?: CallsChoice['calls'];
};

/** Who looks on, and decides. Without `agree` whatever nothing stands against is carried out. */
export type Review = {
  /** Shown each plan before anything else is done with it. */
  readonly show?: (plan: PlanDocument) => void;
  /** If it returns false, nothing is written. */
  readonly agree?: (question: string) => Promise<boolean>;
  readonly observe?: Observe | undefined;
};

export type UndoOutcome =
  /** `waysOn`: commands that go on where it is refused. `isHeld`: plan and apply refuse to write the values again. */
  | (RunOutcome & { readonly waysOn?: readonly string[]; readonly isHeld?: boolean })
  /** It was to be planned alone. */
  | { readonly type: 'planned'; readonly plan: PlanDocument; readonly waysOn?: readonly string[] }
  | { readonly type: 'declined' }
  /** The run asked nothing of the platform, or nothing that is not undone already. */
  | { readonly type: 'nothing'; readonly run: string };

/** The resources to bring back, and what is reported and remembered of it. */
export type UndoRequest = {
  readonly undo: Undo;
  /** The run that it undoes; none where it goes back to a snapshot. */
  readonly run?: string;
  readonly ranAt?: PlanInput['ranAt'];
  readonly findFormer?: PlanInput['findFormer'];
  /** The command that is at work, as it is typed: `rollback RUN`. */
  readonly command: string;
  /** The thing that a person is asked about: `run 20260302t083000z-1f3a9c`. */
  readonly what: string;
  /** The run whose values it takes back, and whether they are held from now on; absent where that is unknown. */
  readonly hold?: Omit<HoldChange, 'values'> | undefined;
  /** True if the run was to be undone on failure, and is not: it is owed a rollback until there is a record of one. */
  readonly isOwed?: boolean;
  /** The run's own records of resources, which show what is held of those that the state no longer knows. */
  readonly recorded?: State['resources'];
  /** The snapshot that it goes back to. */
  readonly snapshot?: PlanDocument['snapshot'];
  /** True, or absent, if resources that were made meanwhile are deleted. */
  readonly mayDelete?: boolean;
  /** The way to take the change back in Git; absent if no apply is undone. */
  readonly revert?: Revert | null | undefined;
  /** Further notes of the plan. */
  readonly notes?: readonly Note[];
  /** Changes that were asked for and are left out. */
  readonly skipped?: readonly NotUndone[];
  /** The same where these are gone since. Throws `CallsheetError('refused')` where their creation was not asked for. */
  readonly without?: (gone: ReadonlySet<Address>) => UndoRequest;
};

/** Undoes a run through the platform's own history, and an update for the rest. */
export async function undo(
  options: UndoOptions,
  context: RunContext,
  review: Review = {},
): Promise<UndoOutcome> {
  const opened = await openSession(options, context, {
    check: (opened) => checkRecorded(options.run, opened),
    evenBroken: true,
  });
  // One page has the run's own entries, edits since, and the entry to go back to.
  const session = { ...opened, reader: askingOnce(opened.reader, ENTRIES_READ) };
  // A feature that takes its own part back said so already.
  if (options.by === undefined) announceBroken(session, options, context);
  try {
    await refuseAtWork(options.run, session);
    await refuseBeside(session);
    const {
      run,
      entries: written,
      rollbacks,
      isBegun,
      undone,
      later,
    } = await findRun(session, options.run);
    if (isBegun) context.emit({ type: 'rollback_resumed', run });
    // Opened first: what is kept encrypted is bound to the address of then.
    const { entries, displaced } = readdress(
      unseal(written, openerFor(session, written, context)),
      session,
      rollbacks,
    );
    refuseWithoutCopies(run, entries, options);
    const { readHistory, unread } = openHistories(session);
    const author = findAuthor(session.platform.account_id);
    const located = await locateWrites(
      entries,
      author,
      (kind, id) => readHistory(kind, id, ENTRIES_READ),
      run === session.state.last_run,
    );
    const before = rollbacks.map((rollback) => readdress(rollback, session, rollbacks).entries);
    const undoWithout = (gone?: ReadonlySet<Address>) =>
      afterRollbacks(undoRun(located, gone), before);
    const all = undoWithout();
    const ours = new Set([run, ...rollbacks.flatMap((rollback) => findBegan(rollback)?.run ?? [])]);
    const newest = session.unfinished?.run ?? session.state.last_run ?? '';
    const isOwed = findBegan(written)?.on_failure === 'rollback' && ours.has(newest);
    if (all.addresses.length === 0 && !isOwed) return { type: 'nothing', run };
    const command = `rollback ${run}`;
    const claims = await listClaims(context, session.state, options, options.by);
    const choose = (undo: Undo) =>
      leaveToOwners(
        chooseFrom(undo, options, (flag) => untouched(flag, run)),
        claims,
        session,
        options,
      );
    const { undo: chosen } = choose(all);
    const edited =
      options.undoEdited === true
        ? []
        : await findEdited(
            chosen,
            { ours: new Set([...ours, ...(await earlierRuns(session, run))]), undone, later },
            readHistory,
            session,
          );
    const unchecked =
      options.undoEdited === true
        ? []
        : [...chosen.wanted].flatMap(([address, { id }]): readonly Edited[] => {
            const why = id === null ? undefined : unread.get(id);
            const message = `${address} may have been edited since the run: ${why}`;
            return why === undefined ? [] : [{ address, message }];
          });
    const isHeld = await holdsWhenUndone(run, (id) => readBegan(session, id));
    const hold = isHeld === undefined ? undefined : { undid: run, isHeld };
    const { purpose, actor, at: from } = findBegan(entries) ?? {};
    // One that died is settled after what it made was found, and has no time of its end until then.
    const to = findEnded(entries)?.at || context.now().toISOString();
    const ran = from === undefined ? undefined : { from, to };
    /** Another run may have made what is there by now. */
    const ranAt = (address: Address) => others.madeIn.get(address) ?? ran;
    const revert =
      purpose === 'apply' && actor !== undefined
        ? await findRevert(session.stack.dir, actor)
        : undefined;
    const byRun = recordedIn(entries);
    const { recorded } = byRun;
    const others = await findOthers(chosen, byRun, options, session);
    const what = `run ${run}`;
    const findFormer = createFormerFinder(session);
    const requestFor = (gone: ReadonlySet<Address>): UndoRequest => {
      const found = [
        ...edited,
        ...unchecked,
        ...(options.undoEdited === true
          ? []
          : [...others.replaced, ...[...gone].map(deletedSince)]),
      ];
      const whole = choose(undoWithout(gone));
      const known = narrowUndo(whole.undo, (address) => !others.left.has(address));
      const { undo, skipped: left } = leaveOutEdited(known, found, command, options);
      const skipped = [
        ...whole.skipped,
        ...left,
        ...others.left.values(),
        ...displaced.filter((address) => isChosen(address, options)).map(takenOver),
      ];
      const without = (more: ReadonlySet<Address>) => requestFor(new Set([...gone, ...more]));
      return {
        undo,
        run,
        ranAt,
        findFormer,
        command,
        what,
        hold,
        isOwed,
        recorded,
        revert,
        skipped,
        without,
      };
    };
    return await carryOutUndo(requestFor(new Set()), options, review, session, context);
  } finally {
    await session.close();
  }
}

/**
 * Leaves out what a feature has for its own and has written: it would go on judging what is no longer there, and give it to
 * more. Throws `CallsheetError('refused')` where there is any and `--skip-refused` is not given.
 */
export function leaveToOwners(
  undo: Undo,
  claims: readonly Claim[],
  { state }: Session,
  options: UndoOptions,
): { readonly undo: Undo; readonly skipped: readonly NotUndone[] } {
  const undone = new Set(undo.addresses);
  const now = new Map(Object.entries(state.resources).map(([address, { id }]) => [id, address]));
  const skipped = claims.flatMap(({ id, written, ...claim }) => {
    const address = now.get(id) ?? claim.address;
    return written === null || !undone.has(address) ? [] : [{ address, path: null, ...written }];
  });
  const [first] = skipped;
  if (first === undefined) return { undo, skipped };
  if (options.skipRefused !== true) {
    const sentences = skipped.map(({ address, why }) => ({
      address,
      name: state.resources[address]?.name,
      message: `${address} ${why}`,
    }));
    throw new CallsheetError('refused', foldSentences(sentences), { hint: first.advice });
  }
  const left = new Set(skipped.map(({ address }) => address));
  return { undo: narrowUndo(undo, (address) => !left.has(address)), skipped };
}

/**
 * Finds resources of the run whose address the state does not have, or has for another one. `left`: what stays as it
 * is, by address. A resource outside the state is not planned away, and one that is there under another address would
 * be made twice. `replaced`: another one has the address, which is not the run's to change or to delete, unless a
 * rollback put it in the place of the first. `madeIn`: when the run lasted that made the other one.
 */
async function findOthers(
  { addresses, made, wanted }: Undo,
  { recorded, deleted, lineage, isBrought }: RecordedByRun,
  options: UndoOptions,
  session: Session,
) {
  const { reader, state } = session;
  const findMaker = createMakerFinder(session);
  // A run may have ten thousand resources, and each is looked for.
  const byId = Map.groupBy(Object.entries(state.resources), ([, one]) => getIdentity(one));
  const isLive = async ({ kind, id, scope }: Pick<ResourceState, 'kind' | 'id' | 'scope'>) =>
    (await reader.read(kindNamed(kind), { id, scope }, new Set())) !== undefined;
  const findOther = async (
    address: Address,
  ): Promise<{ left?: NotUndone; replaced?: Edited; madeIn?: readonly [Address, Span] }> => {
    const prior = wanted.get(address);
    const now = state.resources[address];
    const id = recorded[address]?.id ?? prior?.id ?? undefined;
    const own = made.get(address);
    const twin = byId.get(`${prior?.kind} ${prior?.id}`)?.find(([at]) => at !== address);
    if (twin !== undefined && now !== undefined && (await isLive(twin[1])))
      return { left: stillThere(address, now.id, twin, options) };
    if (id === undefined || now?.id === id) return {};
    if (now === undefined) {
      const isLost = !isBrought && lineage !== state.lineage;
      const known = own ?? (isLost ? undefined : (recorded[address] ?? prior));
      if (known === undefined || deleted.has(address)) return {};
      const scope =
        'scope' in known ? known.scope : getScope(kindNamed(known.kind), known.document ?? {});
      // If it is not live, somebody deleted it.
      return (await isLive({ kind: known.kind, id, scope }))
        ? { left: letGo(address, id, own !== undefined, options) }
        : {};
    }
    if (now.id === prior?.id) return {};
    const maker = await findMaker(now);
    return {
      ...(maker && { madeIn: [address, maker.ran] as const }),
      ...(maker?.purpose !== 'rollback' && {
        replaced: replacedSince(address, id, now.id, own !== undefined),
      }),
    };
  };
  const found = await Promise.all(addresses.map(findOther));
  return {
    left: new Map(found.flatMap(({ left }) => (left ? [[left.address, left] as const] : []))),
    replaced: found.flatMap(({ replaced }) => replaced ?? []),
    madeIn: new Map(found.flatMap(({ madeIn }) => (madeIn ? [madeIn] : []))),
  };
}

/** A live resource that the state does not have any more, whether the run created it or not. */
function letGo(address: Address, id: string, isMade: boolean, options: UndoOptions): NotUndone {
  const bind = commandSpan(`import ${quoted(address)} ${id}`, options);
  const deed = isMade
    ? `stays: the run created it (${id})`
    : `is not changed: the run changed it (${id})`;
  const otherwise = isMade
    ? 'Otherwise delete it in the dashboard.'
    : 'Otherwise change it in the dashboard.';
  return {
    address,
    path: null,
    why: `${deed}, and the state does not have it any more`,
    advice: `If it is still configured: ${bind}, and roll back again. ${otherwise}`,
  };
}

function stillThere(
  address: Address,
  now: string,
  [at, { id }]: readonly [Address, ResourceState],
  options: UndoOptions,
): NotUndone {
  const forget = commandSpan(`state rm ${quoted(address)} ${quoted(at)}`, options);
  return {
    address,
    path: null,
    why: `is not made once more: what was there before the run (${id}) still is, as ${at}`,
    advice: `To go back to that: revert the change in the configuration, and ${forget}. The next plan finds it by its name. Then delete the new one (${now}) in the dashboard.`,
  };
}

/** Reports a resource that is gone and whose address another resource of the run has by now. */
function takenOver(address: Address): NotUndone {
  const why = 'belongs to another resource of the run by now; the one that it belonged to is gone';
  return { address, path: null, why, advice: 'Configure the other one again, and apply.' };
}

/**
 * The newest entries of histories, each read once; none where the resource is gone, nor where the platform does not show
 * them: `unread` then says why, by id.
 */
function openHistories({ reader }: Session): {
  readonly readHistory: Reader['history'];
  readonly unread: ReadonlyMap<string, string>;
} {
  const known = new Map<string, Promise<readonly HistoryEntry[]>>();
  const unread = new Map<string, string>();
  const read = async (kind: Kind, id: string) => {
    const { entries, unread: why } = await historyIfShown(reader, kind, id, ENTRIES_READ);
    // A resource that is gone has taken its history along.
    const isThere = async () =>
      (await reader.read(kind, { id, scope: {} }, new Set())) !== undefined;
    if (why !== undefined && (await isThere())) unread.set(id, why);
    return entries;
  };
  const readHistory: Reader['history'] = async (kind, id, limit) => {
    const reading = known.get(id) ?? read(kind, id);
    known.set(id, reading);
    return (await reading).slice(0, limit);
  };
  return { readHistory, unread };
}

/** Entries that are read to find what a run wrote, and what was edited since: the largest page (Limits). */
export const ENTRIES_READ = 100;

/** Opens what the copies of a run keep encrypted, where it goes back to what it was taken of. */
function openerFor(
  session: Session,
  entries: readonly JournalEntry[],
  context: RunContext,
): Parameters<typeof unseal>[1] {
  const began = findBegan(entries);
  // A run of another state bound its copies to that state.
  const origin = began?.brought_by === undefined ? session.state : began;
  const sealer = sealerFor(origin, session, context);
  if (sealer === undefined) return undefined;
  const isOwn = goesBack(entries, session.state);
  return (copy, path, text) => (isOwn(copy) ? sealer.open(copy, path, text) : undefined);
}

/** A record whose copies were taken out of it must not read as a run that changed nothing. */
function refuseWithoutCopies(
  run: string,
  entries: FoundRun['entries'],
  options: UndoOptions,
): void {
  const lost = withoutCopies(entries).filter((address) => isChosen(address, options));
  if (lost.length === 0) return;
  const message = `the record of run ${run} has no copy of ${lost.join(', ')}, so it cannot be undone`;
  throw new CallsheetError('usage', message, {
    hint: 'Restore the record from a backup, select the resources that it has copies of with --target or leave out the others with --exclude, or revert the change in the configuration.',
  });
}

function untouched(flag: string, run: string): CallsheetError {
  return new CallsheetError('usage', `${flag}: run ${run} did not change that address`, {
    hint: `To see what it changed: \`callsheet runs ${run}\``,
  });
}

/** Runs before a run: an entry of theirs that came late is no edit since. */
async function earlierRuns(session: Session, run: string): Promise<readonly string[]> {
  const runs = await listRuns(session);
  const at = runs.indexOf(run);
  return at < 0 ? [] : runs.slice(at + 1);
}

/** Resources that somebody edited since the run: undoing the run would undo that too (DESIGN §6). */
function findEdited(
  undo: Undo,
  runs: Pick<EditsReader, 'ours' | 'undone' | 'later'>,
  readHistory: Reader['history'],
  session: Session,
): Promise<readonly Edited[]> {
  const { reader, platform } = session;
  const author = findAuthor(platform.account_id);
  return findInterleaved(undo, {
    history: (address, id, limit) => readHistory(kindNamed(getKind(address)), id, limit),
    isOwn: (entry) => isSigned(entry, { author, isRevert: true }),
    pin: async ({ kind: name, id, scope }) => {
      const kind = kindNamed(name);
      const live = await reader.read(kind, { id, scope }, new Set());
      return live && buildPin(kind, live);
    },
    findEntryRun: createWriterFinder(session),
    ...runs,
  });
}

/**
 * Brings resources back to what they were, through the ordinary plan and executor: plans, runs and holds the result
 * against what is wanted. Every rollback ends here, whatever its desired side was made from.
 */
export async function carryOutUndo(
  request: UndoRequest,
  options: UndoOptions,
  review: Review,
  opened: Session,
  context: RunContext,
): Promise<UndoOutcome> {
  const { run, what, hold, isOwed, snapshot, mayDelete = true, notes: said = [] } = request;
  const readings = openReadings(opened.client.endpoints);
  const session = { ...opened, reader: readings.keeping(opened.reader) };
  const planUndo = (undo: Undo) =>
    planInstead(
      session,
      {
        purpose: 'rollback',
        ...(run === undefined ? {} : { undoes: run }),
        ...(snapshot === undefined ? {} : { snapshot }),
        desired: undo.desired,
        versions: undo.versions,
        ranAt: request.ranAt,
        findFormer: request.findFormer,
        options: { ...undoOptions(undo, options), allow_delete: mayDelete },
        calls: options.calls,
      },
      context,
    );
  const first = await planUndo(request.undo);
  const gone = goneSince(request.undo, first.plan);
  if (gone.size > 0 && request.without !== undefined)
    return carryOutUndo(request.without(gone), options, review, opened, context);
  const { undo, left: unlinked } = await relink(request.undo, first, options, session);
  const planned = undo === request.undo ? first : await planUndo(undo);
  const skipped = [...(request.skipped ?? []), ...unlinked];
  const notes = [...undo.impossible, ...skipped].map(noteOn);
  const plan = withDigest({
    ...planned.plan,
    ...(request.revert === undefined ? {} : { revert: request.revert }),
    notes: [...planned.plan.notes, ...notes, ...said],
  });
  const left = [...undo.impossible, ...skipped, ...leftBy(planned)];
  const { desired, restored } = undo;
  const whole = { ...planned, plan, refresh: asRestored(planned.refresh, restored) };
  const onwards = isRefused(plan)
    ? { waysOn: waysPastRefusals(request.command, plan, options) }
    : {};
  if (options.dryRun === true) return { type: 'planned', plan, ...onwards };
  review.show?.(plan);
  if (isRefused(plan)) return { type: 'refused', plan, ...onwards };
  const running = { session, context, purpose: 'rollback', observe: review.observe } as const;
  const isIdle = !isRunnable(plan);
  if (isIdle && isOwed !== true) {
    // Nothing is asked of the platform, but an interrupted run is recovered for good.
    if (session.unfinished !== undefined) await runPlan(whole, running);
    const isLeft = left.length > 0 || plan.changes.some(({ verdict }) => verdict === 'unsupported');
    const verification = { differs: [], equal: 0, problem: null, left };
    return { type: 'unchanged', plan, status: isLeft ? 'partial' : 'done', verification };
  }
  if (!isIdle && (await review.agree?.(rollbackQuestion(what, plan))) === false)
    return { type: 'declined' };
  const resources = { ...request.recorded, ...session.state.resources };
  const outcome = await runPlan(whole, {
    ...running,
    isAwaited: isIdle,
    desired,
    restored,
    readings,
    verify: async (result) => {
      const reader = readings.afterWrites(createReader(session.client));
      const agreed = withoutAgreed(undo, plan);
      const { gone, ...verified } = await verifyUndo(agreed, result, { ...session, reader });
      return { ...verified, left: [...left, ...gone.filter((one) => !isAmong(one, left))] };
    },
    ...(hold && { hold: { ...hold, values: valuesUndone(plan, { resources }, restored) } }),
  });
  return { ...outcome, isHeld: hold?.isHeld === true && isCarriedOut(outcome) };
}

/**
 * Finds live resources that name what a rollback makes again by the id that it had, and has those of the stack get the
 * new one. Other uses of the old id are reported.
 */
async function relink(
  undo: Undo,
  { plan }: Pick<Planned, 'plan'>,
  options: UndoOptions,
  { reader, state }: Session,
): Promise<{ readonly undo: Undo; readonly left: readonly NotUndone[] }> {
  const remade = plan.changes.flatMap(({ address, kind, action, verdict }) => {
    const id = undo.wanted.get(address)?.id ?? null;
    return action === 'create' && verdict === 'ok' && id !== null ? [{ address, kind, id }] : [];
  });
  if (remade.length === 0) return { undo, left: [] };
  const uses = [
    ...(await findUses(remade, { desired: undo.desired, state, reader })).values(),
  ].flat();
  const owners = ownersIn(state);
  const findAddress = indexOwners(remade);
  const naming: Naming[] = [];
  const left: NotUndone[] = [];
  const target = { target: options.target ?? [], exclude: options.exclude ?? [] };
  for (const own of Map.groupBy(uses, getUser).values()) {
    const [first] = own;
    const address = first && owners.get(getUser(first));
    const recorded = address === undefined ? undefined : state.resources[address];
    const wanted = address === undefined ? undefined : undo.wanted.get(address);
    // A document that goes back as a whole has the new ids already.
    if (first === undefined || (wanted !== undefined && wanted.changed === undefined)) continue;
    const { kind, id, scope, name } = first;
    const paths = [...new Set(own.map(({ path }) => path))];
    const isOurs = address !== undefined && recorded !== undefined && isChosen(address, target);
    const live = isOurs && (await readWith(reader, kind, { id, scope }, paths.map(fieldIn)));
    if (live) naming.push({ address, kind, live, paths, recorded });
    else {
      const label = address ?? `${name} (${id})`;
      left.push(
        ...own.flatMap((use) => stillNamed(use, findAddress(use.to.kind, use.to.id), label)),
      );
    }
  }
  return { undo: naming.length === 0 ? undo : withRelinked(undo, naming, findAddress), left };
}

function getUser({ kind, id }: Use): string {
  return getIdentity({ kind: kind.name, id });
}

/** A resource that is made again gets another id, and one that the rollback does not touch still has the old one. */
function stillNamed(
  { path, to }: Use,
  address: Address | undefined,
  user: string,
): readonly NotUndone[] {
  if (address === undefined) return [];
  const why = `gets a new id, and ${user} still has the old one (${to.id}) in ${path}`;
  return [{ address, path: null, why, advice: 'Put the new id there.' }];
}

type RecordedByRun = {
  /** Resources as the run left them. */
  readonly recorded: State['resources'];
  /** Addresses that the run deleted. */
  readonly deleted: ReadonlySet<Address>;
  /** The lineage of its state: another one knows nothing of what the run changed. */
  readonly lineage: string | undefined;
  /** True if the record came from another state with its resources: what this one lacks, it let go of. */
  readonly isBrought: boolean;
};

/** The resources that a run recorded. */
function recordedIn(entries: FoundRun['entries']): RecordedByRun {
  const last = new Map(
    entries.flatMap((entry) =>
      entry.type === 'resource' ? [[entry.address, entry.resource] as const] : [],
    ),
  );
  const kept = [...last].flatMap(([address, one]) => (one ? [[address, one] as const] : []));
  const gone = [...last].flatMap(([address, one]) => (one ? [] : address));
  const { lineage, brought_by: by } = findBegan(entries) ?? {};
  const isBrought = by !== undefined;
  return { recorded: Object.fromEntries(kept), deleted: new Set(gone), lineage, isBrought };
}

/** Returns true if it went on to its end: failures on the way are in its ledger. */
function isCarriedOut(outcome: RunOutcome): boolean {
  if (outcome.type !== 'ran') return outcome.type === 'unchanged';
  return outcome.result.status !== 'interrupted' && !isDisturbed(outcome.result);
}

/** Notes in the plan what will not be undone; what to do about it is said afterwards. */
function noteOn({ address, path, why }: NotUndone): Note {
  const message = `${path === null ? '' : `${path} `}${why}`;
  return { severity: 'warning', address, message };
}

/** Lists what the plan itself leaves as it is: what cannot be cleared, and what `--skip-refused` leaves out. */
function leftBy({ plan, found }: Planned): readonly NotUndone[] {
  const released = [...found].flatMap(([address, leaves]) =>
    leaves
      .filter(({ cause }) => cause === 'released')
      .map(({ text: path }) => {
        return {
          address,
          path,
          why: UNCLEARABLE,
          advice: 'Set it in the configuration and apply.',
        };
      }),
  );
  const refused = plan.changes
    .filter(({ verdict }) => verdict === 'refused')
    .map((change) => {
      const [lifting] = liftingFlags([change], 'rollback');
      const advice =
        lifting === undefined
          ? 'See the reason: no flag lifts it.'
          : `${lifting.flag} ${lifting.does}.`;
      return { address: change.address, path: null, why: change.reason, advice };
    });
  return [...released, ...refused];
}

/** Applies `--target` and `--exclude` to an undo. `stray`: what is wrong with an address of neither. */
export function chooseFrom(
  undo: Undo,
  chosen: Pick<UndoOptions, 'target' | 'exclude'>,
  stray: (flag: string) => CallsheetError,
): Undo {
  const { target = [], exclude = [] } = chosen;
  const known = [...undo.addresses, ...undo.impossible.map(({ address }) => address)];
  for (const [flag, patterns] of Object.entries({ target, exclude })) {
    const unknown = patterns.find((one) => !known.some((address) => matchesAddress(one, address)));
    if (unknown !== undefined) throw stray(`--${flag} ${unknown}`);
  }
  return narrowUndo(undo, (address) => isChosen(address, chosen));
}

/**
 * Leaves out edits that somebody made since, with `--skip-refused`. Without it throws `CallsheetError('refused')`
 * with the commands to type if there are any.
 */
export function leaveOutEdited(
  undo: Undo,
  edited: readonly Edited[],
  command: string,
  options: UndoOptions,
): { readonly undo: Undo; readonly skipped: readonly NotUndone[] } {
  if (edited.length === 0) return { undo, skipped: [] };
  if (options.skipRefused !== true) {
    const sentences = edited.map((one) => ({ ...one, name: nameIn(undo, one.address) }));
    throw new CallsheetError('refused', foldSentences(sentences), {
      hint: [
        'Nothing was written. To see the edits: `callsheet drift`. Then type one of these:',
        ...waysPastEdits(command, edited, undo, options),
      ].join('\n'),
    });
  }
  const addresses = new Set(edited.map(({ address }) => address));
  return {
    undo: narrowUndo(undo, (address) => !addresses.has(address)),
    skipped: edited.map((one) => ({
      address: one.address,
      path: null,
      why: `is not changed: it${one.message.slice(one.address.length)}`,
      advice: `${whatUndoing(one)}: ${commandSpan(`${command} --undo-edited`, options)}`,
    })),
  };
}

function nameIn({ restored, made }: Undo, address: Address): string | undefined {
  return (restored.get(address) ?? made.get(address))?.name;
}

function whatUndoing({ isGone, isMade }: Edited): string {
  if (isMade) return 'To delete it all the same';
  return isGone
    ? 'To create it again as it was before the run'
    : 'To undo the fields that the run changed there as well';
}

/** More addresses than this make no line that anybody types. */
const MOST_NAMED = 5;

/** How the edits of others are gone on with, a command a line. */
function waysPastEdits(
  command: string,
  edited: readonly Edited[],
  { addresses }: Undo,
  options: UndoOptions,
): readonly string[] {
  const line = formatCommand(command, options);
  const excluded = [...new Set(edited.map(({ address }) => address))];
  const isAll = addresses.every((address) => excluded.includes(address));
  return [
    ...(isAll ? [] : [line(' --skip-refused', 'leaves them out, undoes the rest')]),
    ...(isAll || excluded.length > MOST_NAMED
      ? []
      : [line(excluded.map((one) => ` --exclude ${quoted(one)}`).join(''), 'the same, by name')]),
    line(' --undo-edited', 'undoes the changes of the run in them as well'),
  ];
}

/** How a refused plan is gone on with, a command a line: only flags that lift one of its refusals, and none where none does. */
function waysPastRefusals(
  command: string,
  plan: PlanDocument,
  options: UndoOptions,
): readonly string[] {
  const line = formatCommand(command, options);
  // A refusal of the plan as a whole itself says what lifts it, and nothing is left to leave out.
  if (isHeldBack(plan)) return [];
  const refused = plan.changes.filter(({ verdict }) => verdict === 'refused');
  return [
    ...(plan.changes.some(isChanging)
      ? [line(' --skip-refused', 'leaves them out, undoes the rest')]
      : []),
    ...liftingFlags(refused, 'rollback').map(({ flag, does }) => line(` ${flag}`, does)),
  ];
}

function formatCommand(command: string, options: UndoOptions) {
  const chosen = [
    ...(options.target ?? []).map((one) => ` --target ${quoted(one)}`),
    ...(options.exclude ?? []).map((one) => ` --exclude ${quoted(one)}`),
    ...(options.undoEdited === true ? [' --undo-edited'] : []),
    ...(options.deleteUsed === true ? [' --delete-used'] : []),
  ].join('');
  return (more: string, does: string) =>
    `  ${commandSpan(`${command}${chosen}${more}`, options)}   # ${does}`;
}

/** Changes skipped by `--skip-refused`, and held deletes, were agreed to: they do not make the result partial. */
function withoutAgreed(
  { wanted, restored }: Undo,
  { changes }: PlanDocument,
): Pick<Undo, 'wanted' | 'restored'> {
  const agreed = changes.filter(({ verdict }) => verdict === 'refused' || verdict === 'held');
  const addresses = new Set(agreed.map(({ address }) => address));
  return {
    restored,
    wanted: new Map([...wanted].filter(([address]) => !addresses.has(address))),
  };
}

/**
 * Returns the state's new records of resources that are already as they are to be: the whole former record, not a
 * part of it. The pin is not certain: only the part of that record that is undone was compared with the live
 * resource.
 */
function asRestored(refresh: Planned['refresh'], restored: Undo['restored']): Planned['refresh'] {
  return new Map(
    [...refresh].map(([address, now]) => {
      const then = restored.get(address);
      if (!then) return [address, now];
      const { id, scope, created_at: created } = now;
      // The plan found nothing left to make of it.
      const { unfinished: _, created_at: __, ...entry } = then;
      const known = created === undefined ? {} : { created_at: created };
      const pin = now.pin && withoutCertainty(now.pin);
      return [address, { ...entry, ...known, id, scope, pin }];
    }),
  );
}

function withoutCertainty({ certain: _, ...pin }: RememberedPin): RememberedPin {
  return pin;
}

/**
 * A rollback only touches what is to be undone, and takes away what was made. What was made and no endpoint deletes goes
 * on being managed: let go of, it would be found by its name, and taken for what the files say by then.
 */
function undoOptions({ addresses, wanted }: Undo, options: UndoOptions): PlanOptions {
  const { undoEdited, deleteUsed, skipRefused } = options;
  return {
    allow_delete: true,
    accept_conflicts: undoEdited === true,
    skip_refused: skipRefused === true,
    resend_secrets: false,
    target: addresses.filter((address) => {
      const { kind, document } = wanted.get(address) ?? {};
      return kind === undefined || document !== null || kindNamed(kind).delete !== undefined;
    }),
    exclude: [],
    force: deleteUsed === true,
    ...overrideOptions(options),
  };
}

/**
 * Reads every resource of a rollback once all of it is done, unless a list shows that it still is as it was read back,
 * and holds it against what it was: that a write took says nothing of what the next one did to it.
 */
async function verifyUndo(
  { wanted, restored }: Pick<Undo, 'wanted' | 'restored'>,
  { resources, found }: Left,
  { reader, world }: Pick<Session, 'reader' | 'world'>,
): Promise<Omit<Verification, 'left'> & { readonly gone: readonly NotUndone[] }> {
  const now = { ...world, findId: (address: Address) => resources[address]?.id };
  const read = async ([address, one]: readonly [Address, Wanted]) => {
    const before = found.get(address);
    const id = resources[address]?.id ?? before?.id ?? one.id;
    if (id === null) return NOTHING;
    const kind = kindNamed(one.kind);
    const scope =
      resources[address]?.scope ?? getScope(kind, one.document ?? before?.document ?? {});
    const after = await readWith(reader, kind, { id, scope }, Object.keys(one.document ?? {}));
    const seen = { before: before?.document, after };
    const unread = Object.entries(after?.unread ?? {}).map(
      ([field, why]) => `${address}: ${field} cannot be read (${why})`,
    );
    return {
      unread,
      differs: listDifferences(address, one, seen, now),
      gone: listSecretsGone(address, kind, restored.get(address)?.leaves, seen),
    };
  };
  try {
    const all = await Promise.all([...wanted].map(read));
    return {
      differs: all.flatMap(({ differs }) => differs),
      gone: all.flatMap(({ gone }) => gone),
      equal: all.filter((one) =>
        [one.differs, one.gone, one.unread].every((each) => each.length === 0),
      ).length,
      problem: all.flatMap(({ unread }) => unread).join('; ') || null,
    };
  } catch (error) {
    if (!(error instanceof CallsheetError)) throw error;
    return { differs: [], gone: [], equal: 0, problem: error.message };
  }
}

const NOTHING = { unread: [], differs: [], gone: [] };

/** The secrets of objects that a rollback put back where nothing was: nothing that it writes has them. */
function listSecretsGone(
  address: Address,
  { schema }: Kind,
  leaves: ResourceState['leaves'] | undefined,
  { before, after }: Seen,
): readonly NotUndone[] {
  if (!before || after === undefined) return [];
  const missing = new Set(secretsGone(schema, leaves, after.document));
  const written = secretsGone(schema, leaves, before).filter((path) => !missing.has(path));
  // One that the stack never had is gone as well.
  const others = listSecretsBelow(schema, [], after.document).filter((path) => {
    const [then, now] = [before, after.document].map((one) =>
      valueAt(schema, one, path.slice(0, -1)),
    );
    // An object that shows nothing and did so before has what it had.
    return isNothing(then) && !(isNothing(now) && isObject(then));
  });
  return [...new Set([...written, ...others.map(formatPath)])].map((path) => ({
    address,
    path,
    why: 'is secret, so no snapshot holds it; what it is part of was gone, and may be back without it',
    advice: 'Apply writes it if it is configured.',
  }));
}

function isAmong({ address, path }: NotUndone, all: readonly NotUndone[]): boolean {
  return all.some((one) => one.address === address && one.path === path);
}

const HEAD = { format: 'callsheet-run', version: 1 } as const;

/** The document of what a command did that writes; of a plan alone and of what a person declined there is none. */
export function runDocument(
  outcome: Exclude<UndoOutcome, { type: 'planned' | 'declined' }>,
): RunDocument {
  if (outcome.type === 'nothing') {
    return {
      ...HEAD,
      run: null,
      plan_digest: null,
      status: 'done',
      undoes: outcome.run,
      ledger: [],
    };
  }
  const { plan } = outcome;
  const { digest: plan_digest, refusals, revert, kept } = plan;
  const refused = {
    ...(revert === undefined ? {} : { revert }),
    ...(refusals && { refusals }),
    ...(kept && { kept }),
  };
  if (outcome.type === 'ran') {
    const { run, result, traffic } = outcome;
    const { status, ledger, verification } = result;
    const verified = verification && { verification };
    const bytes = traffic && { state_bytes: traffic };
    return { ...HEAD, run, plan_digest, status, ...refused, ...verified, ...bytes, ledger };
  }
  const status = outcome.type === 'refused' ? 'refused' : outcome.status;
  const verified = outcome.type === 'unchanged' &&
    outcome.verification && { verification: outcome.verification };
  const isBefore = outcome.type === 'unchanged' && outcome.by !== undefined;
  const ledger = isBefore
    ? []
    : plan.changes.map((change) =>
        lineNotDone(change, 'not_attempted', change.verdict === 'ok' ? null : change.reason),
      );
  const run = (outcome.type === 'unchanged' && outcome.by) || null;
  return { ...HEAD, run, plan_digest, status, ...refused, ...verified, ledger };
}
