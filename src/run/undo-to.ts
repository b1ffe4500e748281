import type { Address } from '../core/address.ts';
import { commandSpan, quoted } from '../core/command-line.ts';
import { CallsheetError, UnreadError } from '../core/errors.ts';
import type { Note } from '../core/plan-document.ts';
import { findText, getOwn } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import { fileName, type Scope } from '../kinds/kind.ts';
import { askingOnce } from '../live/readings.ts';
import { baseEntry } from '../plan/drift.ts';
import { asKnown, findRecorded } from '../plan/identify.ts';
import {
  getNaturalKey,
  getRecordedKey,
  getScope,
  itemsNamed,
  listKnown,
} from '../plan/natural-key.ts';
import { formatCount } from '../render/wording.ts';
import { findEdits } from '../rollback/edits.ts';
import { type Kept, type Now, type SnapshotUndo, undoToSnapshot } from '../rollback/target.ts';
import { type Media, openMedia, type SnapshotFile } from '../snapshot/file.ts';
import {
  buildDocument,
  covers,
  filesIn,
  type Header,
  type ListRecord,
  type ResourceRecord,
} from '../snapshot/format.ts';
import { findBegan, isDone } from '../state/journal.ts';
import { getIdentity, ownersIn, type State } from '../state/model.ts';
import type { RunContext } from './context.ts';
import { findLastApplied, readRun } from './find-run.ts';
import { listClaims } from './plan.ts';
import { refuseBeside } from './recover.ts';
import { NO_LINEAGE, openSession, type Session } from './session.ts';
import { announceBroken } from './stack.ts';
import {
  carryOutUndo,
  chooseFrom,
  ENTRIES_READ,
  leaveOutEdited,
  leaveToOwners,
  type Review,
  type UndoOptions,
  type UndoOutcome,
  type UndoRequest,
} from './undo.ts';

/** Brings the stack's resources back to a snapshot. Resources that were made since are deleted with `allowDelete`. */
export async function undoTo(
  snapshot: SnapshotFile,
  options: UndoOptions & { readonly allowDelete?: boolean },
  context: RunContext,
  review: Review = {},
): Promise<UndoOutcome> {
  const { file } = snapshot;
  const media = openMedia(snapshot.records);
  const opened = await openSession(options, context, { evenBroken: true, openFile: media.open });
  const session = { ...opened, reader: askingOnce(opened.reader, ENTRIES_READ) };
  announceBroken(session, options, context);
  try {
    await refuseBeside(session);
    const read = await readRelevant(snapshot, media, session);
    const { sha256 } = read;
    const { state, reader } = session;
    const missing = await findMissing(session, read.kept);
    const isMissing = (kind: string, id: string) => missing.has(getIdentity({ kind, id }));
    const relevant = withoutTheirs(read, isMissing);
    const namesakes = await openNamesakes(session, relevant);
    const since = undoToSnapshot(relevant.kept, {
      state,
      isMissing,
      covers: relevant.covers,
      fileFor: ({ kind, document, files }, field) =>
        media.find(files[field], fileName(kindNamed(kind).schema, document)),
      namesakes,
      typed: (typed) => commandSpan(typed, options),
    });
    if (since.undo.addresses.length === 0 && since.undo.impossible.length === 0) {
      throw nothingOfStack(file);
    }
    const command = `rollback --to ${quoted(file)}`;
    const named = chooseFrom(since.undo, options, (flag) => stray(flag, file));
    const claims = await listClaims(context, session.state, options);
    const { undo: chosen, skipped: owned } = leaveToOwners(named, claims, session, options);
    const there = chosen.addresses.filter((address) => {
      const known = getOwn(state.resources, address);
      return known !== undefined && !isMissing(known.kind, known.id);
    });
    const isLookedFor = options.undoEdited !== true && !(await isGoneOnWith(session, sha256));
    const histories: ReadHistory = (kind, id, limit) => reader.history(kindNamed(kind), id, limit);
    const versions = await findVersions(there, since.stamps, state, histories);
    const dated = { ...chosen, versions: new Map([...chosen.versions, ...versions]) };
    const edits = isLookedFor ? await findEdits(there, dated.versions, state, histories) : [];
    const { undo, skipped } = leaveOutEdited(dated, edits, command, options);
    const { made_at } = snapshot.header;
    return await carryOutUndo(
      {
        undo,
        command,
        skipped: [...owned, ...skipped],
        what: `to the snapshot of ${made_at}`,
        snapshot: { made_at, sha256 },
        findFormer: async (kind, id) => relevant.scopes.get(getIdentity({ kind, id })),
        mayDelete: options.allowDelete === true,
        notes: notesOn(since, relevant),
        hold: await holdSince(session, made_at),
      },
      options,
      review,
      session,
      context,
    );
  } finally {
    await session.close();
  }
}

type ReadHistory = Parameters<typeof findEdits>[3];

/** As many as `findEdits` reads, and the largest page that other lists give (Limits). */
const FEW_ENTRIES = 20;
const MOST_ENTRIES = 100;

/** Finds the newest history entries of then by the times that resources were last changed at. */
async function findVersions(
  there: readonly Address[],
  stamps: SnapshotUndo['stamps'],
  { resources }: State,
  readHistory: ReadHistory,
): Promise<readonly (readonly [Address, number])[]> {
  const found = await Promise.all(
    there.map(async (address) => {
      const [stamp, known] = [stamps.get(address), getOwn(resources, address)];
      if (stamp === undefined || known === undefined) return [];
      const then = { history_id: null, updated_at: stamp };
      const read = (limit: number) =>
        readHistory(known.kind, known.id, limit).catch((error: unknown) => {
          // Without its history a resource is put back by an update alone.
          if (error instanceof UnreadError) return [];
          throw error;
        });
      const few = await read(FEW_ENTRIES);
      const isCut = few.length === FEW_ENTRIES;
      const version =
        baseEntry(few, then) ?? (isCut ? baseEntry(await read(MOST_ENTRIES), then) : null);
      return version === null ? [] : [[address, version] as const];
    }),
  );
  return found.flat();
}

/** Holds what was applied since the snapshot, so that it is not applied again unawares. */
async function holdSince(session: Session, madeAt: string): Promise<UndoRequest['hold']> {
  const undid = await findLastApplied(session, madeAt);
  return undid === undefined ? undefined : { undid, isHeld: true };
}

function stray(flag: string, to: string): CallsheetError {
  return new CallsheetError('usage', `${flag}: the snapshot ${to} does not contain it`, {
    hint: 'To see its contents: `callsheet snapshot show`. To see addresses: `callsheet state list`.',
  });
}

/**
 * Finds the resources, of the state and of the snapshot, that are gone from the platform: no list has them, and they cannot
 * be read by their ids. Lists are read once, and planning uses the same.
 */
async function findMissing(
  { state, reader }: Session,
  kept: readonly Kept[],
): Promise<ReadonlySet<string>> {
  const sought = new Map<string, { readonly kind: string } & ReturnType<typeof asKnown>>(
    kept.map(({ kind, id, document }) => {
      const scope = getScope(kindNamed(kind), document);
      // The snapshot has read it.
      return [getIdentity({ kind, id }), { kind, id, scope, isUnread: false }];
    }),
  );
  for (const one of Object.values(state.resources))
    sought.set(getIdentity(one), { kind: one.kind, ...asKnown(one) });
  const missing = new Set<string>();
  await Promise.all(
    [...sought].map(async ([key, known]) => {
      const kind = kindNamed(known.kind);
      const listed = await listKnown(reader, kind, known.scope);
      if ((await findRecorded(kind, known, reader, listed)) === undefined) missing.add(key);
    }),
  );
  return missing;
}

/**
 * Finds live resources of the same name that the snapshot does not have, of kinds of which the platform takes several of one
 * name. They are in the lists that were read already.
 */
async function openNamesakes(
  { reader }: Session,
  { kept, scopes }: Relevant,
): Promise<Now['namesakes']> {
  const found = new Map<Kept, readonly string[]>();
  await Promise.all(
    kept.map(async (one) => {
      const kind = kindNamed(one.kind);
      if (kind.tie !== 'newest') return;
      const scope = getScope(kind, one.document);
      const key = getNaturalKey(kind, one.document);
      const listed = (await listKnown(reader, kind, scope)) ?? [];
      const named = key === undefined ? [] : itemsNamed(listed, kind, scope, key);
      const since = named.filter(({ id }) => !scopes.has(getIdentity({ kind: one.kind, id })));
      found.set(
        one,
        since.map(({ id }) => id),
      );
    }),
  );
  return (one) => found.get(one) ?? [];
}

/** An interrupted rollback to the same snapshot has edited, too: its edits are not somebody else's. */
async function isGoneOnWith(session: Session, sha256: string): Promise<boolean> {
  const { unfinished, state } = session;
  const run = unfinished?.run ?? state.last_run;
  const entries = (run === null ? undefined : await readRun(session, run)) ?? [];
  return !isDone(entries) && findBegan(entries)?.snapshot?.sha256 === sha256;
}

/** Notes what is left alone. */
function notesOn(
  { uncovered, foreign }: SnapshotUndo,
  { kept, others }: Relevant,
): readonly Note[] {
  const withheld = kept.reduce((sum, one) => sum + one.withheld.length, 0);
  const unmanaged = foreign + others;
  const said: Note[] = uncovered.map((address) => ({
    severity: 'warning',
    address,
    message: 'the snapshot does not contain all of it, so it will not be changed',
  }));
  if (withheld > 0) {
    const message = `${formatCount(withheld, 'sensitive value')} of these resources ${withheld === 1 ? 'is' : 'are'} not in the snapshot, which is not encrypted; the live values stay`;
    said.push({ severity: 'info', address: null, message });
  }
  if (unmanaged > 0) {
    const message = `${formatCount(unmanaged, 'resource')} of the snapshot ${unmanaged === 1 ? 'is' : 'are'} not managed by this stack and not touched`;
    said.push({ severity: 'info', address: null, message });
  }
  return said;
}

function nothingOfStack(file: string): CallsheetError {
  return new CallsheetError('usage', `the snapshot ${file} holds nothing that this stack manages`, {
    hint: 'It was made before the stack was applied for the first time, or of other organizations: `callsheet snapshot show`.',
  });
}

/** The part of a snapshot that concerns a stack. */
type Relevant = {
  readonly kept: readonly Kept[];
  /** Those of another lineage that have the address and the name of one of the stack. */
  readonly byName: ReadonlySet<Kept>;
  /** The place of each resource of the snapshot, by kind and id. */
  readonly scopes: ReadonlyMap<string, { readonly scope: Scope }>;
  /** How many resources it holds beside them. */
  readonly others: number;
  readonly sha256: string;
  readonly covers: Now['covers'];
};

/**
 * Reads what the stack manages out of a snapshot; the rest only goes by, so that a stack of a large account
 * needs no more memory than it is large itself.
 */
async function readRelevant(
  snapshot: SnapshotFile,
  media: Media,
  session: Session,
): Promise<Relevant> {
  checkOrigin(snapshot, session);
  const { state } = session;
  const owners = ownersIn(state);
  const scopes = new Map<string, { readonly scope: Scope }>();
  const isOurs = isOfStack(snapshot.header, state);
  const kept: Kept[] = [];
  const byName = new Set<Kept>();
  const lists: ListRecord[] = [];
  /**
   * Resources that existed and could not be read as a whole, by kind and id and by address: they were not made since.
   */
  const unread = new Set<string>();
  let others = 0;
  let sha256 = '';
  for await (const record of snapshot.records()) {
    if (record.type === 'end') sha256 = record.sha256;
    if (record.type === 'list') lists.push(record);
    if (record.type === 'gap') unread.add(record.of);
    if (record.type === 'media') media.note(record);
    if (record.type !== 'resource') continue;
    const { kind, id, extent } = record;
    const isOwned = owners.has(`${kind} ${id}`);
    const isAlike = !isOurs && !isOwned && isNamedAlike(record, state);
    const address = isOurs || isAlike ? record.address : null;
    scopes.set(getIdentity(record), { scope: record.scope });
    if (!isOwned && address === null) others += 1;
    else if (extent === 'whole') {
      const one = { ...keptFrom(record, isOurs), address };
      kept.push(one);
      if (isAlike) byName.add(one);
    }
    // A resource that only a list shows is unknown beyond that: it would look emptied.
    else for (const one of [`${kind} ${id}`, address ?? '']) unread.add(one);
  }
  return {
    kept,
    byName,
    scopes,
    others,
    sha256,
    covers: (address, { kind, id, scope }) =>
      !unread.has(address) && !unread.has(`${kind} ${id}`) && covers(lists, kind, scope),
  };
}

/** Returns true if its addresses mean the same here. A stack whose state was thrown away takes them as they are. */
function isOfStack({ stack }: Header, { lineage }: State): boolean {
  return stack !== null && (lineage === NO_LINEAGE || stack.lineage === lineage);
}

/** Without resources of another lineage that have the names of ours and are live themselves: they are another stack's. */
function withoutTheirs(relevant: Relevant, isMissing: Now['isMissing']): Relevant {
  const { kept, byName } = relevant;
  const ours = kept.filter((one) => !byName.has(one) || isMissing(one.kind, one.id));
  return { ...relevant, kept: ours, others: relevant.others + kept.length - ours.length };
}

/**
 * True if the state has a resource of the same kind and name at the address. A state that was lost has another lineage once
 * the next run made one, and its addresses still mean the same.
 */
function isNamedAlike(record: ResourceRecord, { resources }: State): boolean {
  const { address, kind: name } = record;
  const own = address === null ? undefined : getOwn(resources, address);
  if (own?.kind !== name) return false;
  const kind = kindNamed(name);
  const key = getRecordedKey(kind, own);
  return key !== undefined && key === getNaturalKey(kind, buildDocument(record));
}

function keptFrom(record: ResourceRecord, isOurs: boolean): Kept {
  const { kind, id, history, withheld, address, state } = record;
  return {
    kind,
    id,
    address: isOurs ? address : null,
    document: buildDocument(record),
    version: history?.id ?? null,
    updatedAt: findText(record.record.updated_at) ?? null,
    withheld,
    state: isOurs ? state : null,
    files: filesIn(record),
  };
}

/** Ids mean something only on the platform and in the account that they are of. */
function checkOrigin({ file, header }: SnapshotFile, { platform }: Session): void {
  const { account_id: account, base_url: url } = header.platform;
  if (account === platform.account_id && url === platform.base_url) return;
  const [what, theirs, ours] =
    account === platform.account_id
      ? ['platform', url, platform.base_url]
      : ['account', account, platform.account_id];
  throw new CallsheetError(
    'usage',
    `the snapshot ${file} is of ${what} ${theirs}, and this stack is on ${what} ${ours}`,
    { hint: 'A rollback goes back to a snapshot of its own account: `callsheet snapshot list`.' },
  );
}
