import { type Address, getKind, nameInWords } from '../core/address.ts';
import { codeSpan, quoted } from '../core/command-line.ts';
import { formatFirst } from '../core/errors.ts';
import { isBefore } from '../core/moment.ts';
import { isWithin, parsePaths, toPath } from '../core/path.ts';
import { type Change, type Note, shortCommit } from '../core/plan-document.ts';
import { findText, inSeconds, isSameJson } from '../core/value.ts';
import { listLeaves } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import { withDigest } from '../plan/document.ts';
import type { Planned } from '../plan/make.ts';
import {
  getRecordedKey,
  getScope,
  itemsNamed,
  listKnown,
  listScopes,
} from '../plan/natural-key.ts';
import type { ListedResource } from '../plan/reader.ts';
import { formatCount } from '../render/wording.ts';
import { type Deletions, getIdentity } from '../state/model.ts';
import { listReceipts, type Receipt, readInOrder } from './receipts.ts';
import type { Session } from './session.ts';

/**
 * A plan that says of each resource which it creates whether an earlier run deleted it: a rollback of that run brings
 * back what the files never had, a create does not. The state knows of the deletions; the receipt of such a run is read,
 * and nothing is asked of the platform.
 */
export async function tellDeletions(planned: Planned, session: Session): Promise<Planned> {
  const { plan } = planned;
  const creates = plan.changes.filter(
    ({ action, missing_id: missing }) => action === 'create' && missing === null,
  );
  const found = await findDeletions(creates, session);
  if (found.size === 0) return planned;
  const changes = plan.changes.map((change) => {
    const deleted = found.get(change.address);
    return deleted === undefined ? change : { ...change, deleted_by: deleted };
  });
  const notes = [...Map.groupBy(found, ([, { run }]) => run).values()].flatMap(describeDeletions);
  return { ...planned, plan: withDigest({ ...plan, changes, notes: [...plan.notes, ...notes] }) };
}

/**
 * Notes on live resources that nothing here stands for, made since a run deleted the one of their name, or since a commit
 * took it out: a checkout without this state made it again, or somebody did in the dashboard. It may be another stack's by
 * right, so nothing is planned. What was read to find resources tells it.
 */
export async function returnedNotes(
  { ids }: Pick<Planned, 'ids'>,
  { stack, reader, state }: Pick<Session, 'stack' | 'reader' | 'state'>,
): Promise<readonly Note[]> {
  const managed = new Set(
    [...ids]
      .map(([address, id]) => getIdentity({ kind: getKind(address), id }))
      .concat(Object.values(state.resources).map(getIdentity)),
  );
  const notes = await Promise.all(
    Object.entries(state.deleted ?? {}).map(async ([address, deleted]) => {
      const kind = kindNamed(deleted.kind);
      const key = getRecordedKey(kind, deleted);
      const isRead = listScopes(kind, stack.resources, state).some((scope) =>
        isSameJson(scope, deleted.scope),
      );
      if (key === undefined || !isRead) return [];
      const listed = (await listKnown(reader, kind, deleted.scope)) ?? [];
      return itemsNamed(listed, kind, deleted.scope, key)
        .filter(({ id, record: { created_at: created } }) => {
          const isNew = !isBefore(findText(created) ?? null, deleted.at, -A_SECOND_MS);
          return isNew && !managed.has(getIdentity({ kind: kind.name, id }));
        })
        .map((item) => describeReturned(address, deleted, item));
    }),
  );
  return notes.flat();
}

function describeReturned(
  address: Address,
  { kind, name, run, commit, at }: Deletions[string],
  { id, record: { created_at: created } }: ListedResource,
): Note {
  const since = findText(created);
  const made = since === undefined ? '' : `, made at ${inSeconds(since)}`;
  const end = codeSpan(`callsheet state rm ${quoted(address)}`);
  const went =
    run === null ? `commit ${shortCommit(commit ?? '')} took it out` : `run ${run} deleted it`;
  const message = `${went} at ${inSeconds(at)}, and a live ${nameInWords(kind)} has its name ${JSON.stringify(name)} again: ${id}${made}. Nothing here manages it, so apply does not change it. Delete it on the platform; if it is somebody else's by right, ${end} ends this note`;
  return { severity: 'warning', address, message, returned: id, varies: true };
}

/** Platforms give times in whole seconds, too. */
const A_SECOND_MS = 1000;

type Deleted = NonNullable<Change['deleted_by']>;

async function findDeletions(
  creates: readonly Change[],
  { store, stack, state: { deleted = {} } }: Session,
): Promise<ReadonlyMap<Address, Deleted>> {
  const gone = Object.entries(deleted);
  if (creates.length === 0 || gone.length === 0) return new Map();
  const wanted = new Map(stack.resources.map((one) => [one.address, one]));
  // The last that had a name comes last.
  const byName = new Map(gone.map(([address, one]) => [formatKey(one), address]));
  const receipts = new Map<string, ReturnType<typeof readReceipts>>();
  const found = await Promise.all(
    creates.map(async (change): Promise<readonly [Address, Deleted] | undefined> => {
      const { address, kind, name } = change;
      const desired = wanted.get(address);
      const scope = desired === undefined ? {} : getScope(kindNamed(kind), desired.document);
      const former = Object.hasOwn(deleted, address)
        ? address
        : byName.get(formatKey({ kind, scope, name }));
      const { run } = (former && deleted[former]) || {};
      if (run === undefined || run === null) return undefined;
      const reading = receipts.get(run) ?? readReceipts(run, store);
      receipts.set(run, reading);
      const receipt = (await reading).find(({ line }) => line.address === former);
      const description = receipt && describeReceipt(receipt, change);
      return description && [address, description];
    }),
  );
  return new Map(found.filter((one) => one !== undefined));
}

function formatKey({
  kind,
  scope,
  name,
}: Pick<Deletions[string], 'kind' | 'scope' | 'name'>): string {
  const places = Object.entries(scope).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([kind, name, places]);
}

/** None where the receipt is gone or damaged: nothing could roll the run back then. */
async function readReceipts(
  run: string,
  { run: read }: Pick<Session['store'], 'run'>,
): Promise<readonly Receipt[]> {
  for await (const { entries = [] } of readInOrder([run], undefined, read))
    return listReceipts(entries);
  return [];
}

/** The change of a run that deleted a resource. */
function describeReceipt(
  { line, began, snapshot }: Receipt,
  { address, fields }: Change,
): Deleted | undefined {
  if (line.action !== 'delete' || line.status !== 'done' || !snapshot?.document) return undefined;
  const set = parsePaths(fields.map(({ path }) => path));
  const had = [...listLeaves(kindNamed(snapshot.kind).schema, snapshot.document).leaves.keys()];
  const { run, at } = began;
  return {
    run,
    at,
    ...(line.address === address ? {} : { address: line.address }),
    settings: had.filter((path) => !isWithin(toPath(path), set)).length,
  };
}

/** Resources of one run that have a note each; of more one note speaks. */
const MOST_NOTES = 3;

function describeDeletions(found: readonly (readonly [Address, Deleted])[]): readonly Note[] {
  const [first] = found;
  if (first === undefined) return [];
  const { run, at } = first[1];
  const noteOn = (address: Address | null, what: string, targets: readonly string[]): Note => {
    const narrowed = targets.length === 0 ? '' : ` --target ${targets.map(quoted).join(' ')}`;
    const command = codeSpan(`callsheet rollback ${run}${narrowed}`);
    const message = `run ${run} deleted ${what}: ${command} brings back all of it, under a new id`;
    return { severity: 'warning', address, message, varies: true };
  };
  if (found.length > MOST_NOTES) {
    const names = formatFirst(
      found.map(([address]) => address),
      MOST_NOTES,
    );
    const what = `${names} at ${inSeconds(at)}, with settings that these creates do not set`;
    return [noteOn(null, what, [])];
  }
  return found.map(([address, { settings, address: was = address }]) => {
    const named = was === address ? 'it' : `it, as ${was},`;
    const had =
      settings === 0
        ? ''
        : `, with ${formatCount(settings, 'setting')} that this create does not set`;
    return noteOn(address, `${named} at ${inSeconds(at)}${had}`, [was]);
  });
}
