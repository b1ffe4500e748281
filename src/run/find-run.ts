import { findWriter } from '../apply/history.ts';
import type { Address } from '../core/address.ts';
import { CallsheetError, formatFirst } from '../core/errors.ts';
import { isBefore } from '../core/moment.ts';
import { didYouMean } from '../core/nearest.ts';
import { kindNamed } from '../kinds/index.ts';
import { findAuthor } from '../plan/drift.ts';
import type { Approved } from '../plan/guards.ts';
import type { Span } from '../plan/identify.ts';
import type { FindFormer } from '../plan/preflight.ts';
import { moveEntry } from '../plan/state-entry.ts';
import type { EditsReader } from '../rollback/edits.ts';
import { underAddressesOfNow } from '../rollback/undo.ts';
import {
  findBegan,
  findEnded,
  isDone,
  type JournalEntry,
  type RunBegan,
} from '../state/journal.ts';
import { getIdentity, type ResourceState } from '../state/model.ts';
import { findAtWork, listEntries } from './recover.ts';
import type { CheckNamed, Session } from './session.ts';

type Entries = readonly JournalEntry[];

/** The run that is to be rolled back. */
export type FoundRun = {
  readonly run: string;
  readonly entries: Entries;
  /** Rollbacks of it, the newest first. */
  readonly rollbacks: readonly Entries[];
  /** True if the newest of those did not come to its end. */
  readonly isBegun: boolean;
} & Pick<EditsReader, 'undone' | 'later'>;

/**
 * The run that is asked for, or the newest one that changed something. Where that is a rollback which did
 * not come to its end, it is gone on with.
 */
export async function findRun(session: Session, given: string | undefined): Promise<FoundRun> {
  const rollbacks: Entries[] = [];
  const undone = new Map<string, string>();
  const later = new Map<Address, string>();
  /** Addresses that the rollbacks of a run wrote, by run. */
  const takenBack = new Map<string | undefined, Set<Address>>();
  let healing: string | undefined;
  const runs = await listRuns(session);
  let wanted = given === undefined ? undefined : wholeId(given, runs);
  const { last_run: last } = session.state;
  // The one before it is not the last one: undoing that would undo something else than what is asked for.
  if (wanted === undefined && last !== null && !runs.includes(last))
    throw recordGone(`run ${last}, the last one,`, session);
  for (const run of runs) {
    if (run === wanted) break;
    const entries = await readRun(session, run);
    if (entries === undefined || isIdle(entries)) continue;
    const { undoes, snapshot, purpose } = findBegan(entries) ?? {};
    if (wanted === undefined && snapshot !== undefined && purpose !== 'restore')
      throw redo(run, 'the changes since a snapshot');
    if (wanted === undefined && purpose === 'heal') {
      healing ??= run;
      continue;
    }
    if (healing !== undefined) throw healed(healing, run);
    if (wanted === undefined && undoes === undefined)
      return { run, entries, rollbacks: [], isBegun: false, undone, later };
    if (wanted === undefined && isDone(entries)) throw redo(run, `run ${undoes ?? ''}`);
    wanted ??= undoes;
    if (undoes === wanted) {
      rollbacks.push(entries);
      continue;
    }
    if (undoes !== undefined && isDone(entries)) undone.set(undoes, run);
    const written = writtenIn(readdress(entries, session).entries);
    // A rollback of what came later leaves what was there before that.
    const place = undoes === undefined ? -1 : runs.indexOf(undoes);
    if (place >= 0 && place < runs.indexOf(wanted ?? ''))
      takenBack.set(undoes, new Set([...written, ...(takenBack.get(undoes) ?? [])]));
    else
      for (const address of written)
        if (!later.has(address) && takenBack.get(run)?.has(address) !== true)
          later.set(address, run);
  }
  if (healing !== undefined) throw healed(healing, undefined);
  if (wanted === undefined) throw nothingToUndo();
  const entries = await readRun(session, wanted);
  const isBegun = rollbacks[0] !== undefined && !isDone(rollbacks[0]);
  if (entries !== undefined) return { run: wanted, entries, rollbacks, isBegun, undone, later };
  if (isKnown(wanted, session)) throw recordGone(`run ${wanted}`, session);
  throw notRecorded(wanted, runs);
}

/** Throws where a run that is asked for is none of a stack. Asks the platform nothing. */
export async function checkRecorded(
  given: string | undefined,
  { store, state, pendingRun }: Parameters<CheckNamed>[0],
): Promise<void> {
  if (given === undefined) return;
  const finished = (await store.runs()).map(({ run }) => run);
  const runs = pendingRun === undefined ? finished : [pendingRun, ...finished];
  const run = wholeId(given, runs);
  if (!runs.includes(run) && !isKnown(run, { state })) throw notRecorded(run, runs);
}

/** Reports that a run is not recorded, with the nearest one. */
export function notRecorded(run: string, runs: readonly string[]): CallsheetError {
  return new CallsheetError('usage', `run ${run} is not recorded`, {
    hint: didYouMean(
      run,
      runs,
      '`callsheet runs` lists the recorded runs. One of a restore is in the state that is named there.',
    ),
  });
}

/** Ids that are listed where several begin alike. */
const MOST_LISTED = 5;

/** The id that a shortened one stands for: how it begins, or what follows its time. Throws where several do. */
export function wholeId(given: string, runs: readonly string[]): string {
  if (given === '' || runs.includes(given)) return given;
  const meant = runs.filter((run) => run.startsWith(given) || run.split('-')[1]?.startsWith(given));
  const [only = given] = meant;
  if (meant.length <= 1) return only;
  const listed = formatFirst(meant, MOST_LISTED);
  throw new CallsheetError('usage', `several runs begin with ${given}: ${listed}`, {
    hint: 'Give more characters of the id. `callsheet runs` lists all of them.',
  });
}

/** A run that is still at work cannot be undone yet. Throws where it is the one that is asked for. */
export async function refuseAtWork(given: string | undefined, session: Session): Promise<void> {
  const run = findAtWork(session);
  if (given === undefined || run === undefined) return;
  if (wholeId(given, await listRuns(session)) !== run) return;
  throw new CallsheetError('usage', `run ${run} is still running`, {
    hint: 'Wait until it ends or interrupt it, then roll it back. `callsheet state unlock` shows who runs it.',
  });
}

/** The run that applied something last since a time; undefined where none did. */
export async function findLastApplied(
  { store }: Session,
  since: string,
): Promise<string | undefined> {
  const applied = (await store.runs()).find(({ purpose }) => purpose === 'apply');
  return applied && !isBefore(applied.at, since, 0) ? applied.run : undefined;
}

function writtenIn(entries: Entries): ReadonlySet<Address> {
  return new Set(entries.flatMap((entry) => (entry.type === 'resource' ? entry.address : [])));
}

/** Returns true if a run changed nothing: it sent no request. */
function isIdle(entries: Entries): boolean {
  return entries.every(({ type }) => type !== 'intent');
}

/** Returns true if the state still refers to a run. */
function isKnown(
  run: string,
  { state: { last_run: last, holds = {} } }: Pick<Session, 'state'>,
): boolean {
  return run === last || Object.values(holds).some(({ undid, by }) => run === undid || run === by);
}

/** Without its record, what a run found before it wrote is unknown. */
function recordGone(which: string, { store }: Session): CallsheetError {
  return new CallsheetError('usage', `the record of ${which} and its copies are missing`, {
    hint: `Restore the record next to ${store.location} from a backup, or revert the change in the configuration and run \`callsheet plan\`. To roll back an earlier run: \`callsheet rollback RUN\`.`,
  });
}

/** Addresses that a run wrote to and that its record has no copy of: they cannot be undone. */
export function withoutCopies(entries: Entries): readonly string[] {
  const kept = new Set(
    entries.flatMap((entry) => (entry.type === 'snapshot' ? entry.address : [])),
  );
  const written = entries.flatMap((entry) => (entry.type === 'intent' ? entry.address : []));
  return [...new Set(written)].filter((address) => !kept.has(address));
}

/** The one that died first: it came last. */
export async function listRuns({ store, unfinished }: Session): Promise<readonly string[]> {
  const finished = (await store.runs()).map(({ run }) => run);
  return unfinished === undefined ? finished : [unfinished.run, ...finished];
}

/** The journal of a run, an interrupted one that is not recovered yet among them. */
export async function readRun(
  { store, unfinished }: Session,
  run: string,
): Promise<Entries | undefined> {
  return run === unfinished?.run ? listEntries(unfinished) : store.run(run);
}

/**
 * What the last run left of a plan that was approved beyond the limits, if the configuration is still the one of that
 * plan: what was approved is not measured anew because somebody cancelled the run.
 */
export async function findApproved(session: Session): Promise<Approved | undefined> {
  const { state, stack } = session;
  if (state.last_run === null) return undefined;
  const entries = await readRun(session, state.last_run);
  const began = entries && findBegan(entries);
  const ended = entries && findEnded(entries);
  if (began === undefined || ended === undefined || ended.status === 'done') return undefined;
  const isOver = began.overrides?.some(({ guard }) => guard === 'limit') === true;
  if (!isOver || began.purpose !== 'apply' || began.config_digest !== stack.digest)
    return undefined;
  const left = ended.ledger.filter(({ status }) => status !== 'done');
  return { run: began.run, addresses: new Set(left.map(({ address }) => address)) };
}

/** The same under the addresses of now; `unseal` opens what copies keep encrypted under the address of then. */
export function readdress(
  entries: Entries,
  { state, stack, world: given }: Pick<Session, 'state' | 'stack' | 'world'>,
  rollbacks: readonly Entries[] = [],
) {
  const world = { ...given, findId: () => undefined };
  const documents = new Map(stack.resources.map(({ address, document }) => [address, document]));
  const rebind = (resource: ResourceState, from: Address, to: Address) => {
    const document = documents.get(to) ?? {};
    return moveEntry(kindNamed(resource.kind), { address: to, document }, resource, from, world);
  };
  return underAddressesOfNow(entries, state, rebind, rollbacks);
}

/**
 * Finds the run that made an entry of a history, as the receipts say; undefined where none of this stack did. Each is
 * read once, however many resources are asked for, and its copies are not kept.
 */
export function createWriterFinder(session: Session): EditsReader['findEntryRun'] {
  const author = findAuthor(session.platform.account_id);
  const read = async (run: string) => {
    const { entries } = readdress((await readRun(session, run)) ?? [], session);
    const each = entries.flatMap((entry): readonly (readonly [Address, JournalEntry])[] => {
      if (entry.type === 'snapshot') return [[entry.address, { ...entry, document: null }]];
      if (entry.type === 'ended')
        return entry.ledger.map((line) => [line.address, { ...entry, ledger: [line] }]);
      return 'address' in entry ? [[entry.address, entry]] : [];
    });
    return Map.groupBy(each, ([address]) => address);
  };
  const journals = new Map<string, ReturnType<typeof read>>();
  let runs: Promise<readonly string[]> | undefined;
  return async (address, entry, history) => {
    runs ??= listRuns(session);
    const known = await runs;
    async function* writtenBy() {
      for (const run of known) {
        const reading = journals.get(run) ?? read(run);
        journals.set(run, reading);
        yield { run, entries: ((await reading).get(address) ?? []).map(([, one]) => one) };
      }
    }
    const wanted = history.find(({ id }) => id === entry);
    return wanted && findWriter(writtenBy(), wanted, history, author);
  };
}

/** The run that made a resource, of which it had no copy before. */
export type Maker = Pick<RunBegan, 'purpose'> & { readonly ran: Span };

/** Finds out which run made a resource that the state has; undefined where none is recorded. Journals are read once. */
export function createMakerFinder(
  session: Session,
): (resource: Pick<ResourceState, 'kind' | 'id'>) => Promise<Maker | undefined> {
  const read = async () => {
    const makers = new Map<string, Maker>();
    for (const run of await listRuns(session)) {
      const entries = (await readRun(session, run)) ?? [];
      const { purpose, at: from } = findBegan(entries) ?? {};
      if (purpose === undefined || from === undefined) continue;
      const ran = { from, to: findEnded(entries)?.at || from };
      // The resource's kind may have no delete: the undo does not list such resources among the created ones.
      const found = new Set(entries.map((entry) => (entry.type === 'snapshot' ? entry.id : null)));
      for (const entry of entries) {
        if (entry.type !== 'resource' || entry.resource === null) continue;
        const { kind, id } = entry.resource;
        if (!found.has(id)) makers.set(`${kind} ${id}`, { purpose, ran });
      }
    }
    return makers;
  };
  let makers: ReturnType<typeof read> | undefined;
  return async ({ kind, id }) => {
    makers ??= read();
    return (await makers).get(`${kind} ${id}`);
  };
}

/** Finds a resource that any run of the stack recorded. Journals are read once, and only if one is looked for. */
export function createFormerFinder(session: Session): FindFormer {
  const read = async () => {
    const known = new Map<string, ResourceState>();
    for (const run of await listRuns(session))
      for (const entry of (await readRun(session, run)) ?? [])
        if (entry.type === 'resource' && entry.resource !== null)
          known.set(getIdentity(entry.resource), entry.resource);
    return known;
  };
  let known: ReturnType<typeof read> | undefined;
  return async (kind, id) => {
    known ??= read();
    return (await known).get(getIdentity({ kind, id }));
  };
}

/** Reads how a run began; undefined if there is none of that id. */
export async function readBegan(session: Session, run: string): Promise<RunBegan | undefined> {
  const entries = await readRun(session, run);
  return entries && findBegan(entries);
}

/** Undoing a rollback brings back what it undid, so it must be asked for by its id. */
function redo(run: string, undoes: string): CallsheetError {
  return new CallsheetError('usage', `the last run was itself a rollback, of ${undoes}`, {
    hint: `To apply again what it undid: \`callsheet rollback ${run}\`. To undo an earlier run: \`callsheet rollback RUN\`, with an id of \`callsheet runs\`.`,
  });
}

/** Reports that the last run undid drift: a rollback of the last run means one that a person wanted. */
function healed(run: string, before: string | undefined): CallsheetError {
  const earlier = before === undefined ? '' : ` The run before: \`callsheet rollback ${before}\`.`;
  return new CallsheetError('usage', `the last run, ${run}, undid drift`, {
    hint: `To bring the drift back: \`callsheet rollback ${run}\`.${earlier}`,
  });
}

function nothingToUndo(): CallsheetError {
  const message = 'no recorded run changed anything, so there is nothing to roll back';
  return new CallsheetError('usage', message, {
    hint: 'Runs are recorded beside the state: check --dir and CALLSHEET_STATE.',
  });
}
