import type { Address } from '../core/address.ts';
import { codeSpan, quoted } from '../core/command-line.ts';
import { formatFirst } from '../core/errors.ts';
import { isWithin, parsePaths, toPath } from '../core/path.ts';
import type { Change, Note } from '../core/plan-document.ts';
import { inSeconds, type ValueObject } from '../core/value.ts';
import { listLeaves } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import { withDigest } from '../plan/document.ts';
import type { Planned } from '../plan/make.ts';
import { getNaturalKey } from '../plan/natural-key.ts';
import { formatCount } from '../render/wording.ts';
import { listReceipts, type Receipt, readInOrder } from './receipts.ts';
import { NO_LINEAGE, type Session } from './session.ts';

/** Runs that are looked through, from the newest on: what was deleted before those is taken for new. */
const MOST_READ = 50;

/**
 * A plan that says of each resource which it creates whether an earlier run deleted it: a rollback of that run brings
 * back what the files never had, a create does not. Receipts are read where there is something to create, and nothing is
 * asked of the platform.
 */
export async function tellDeletions(planned: Planned, session: Session): Promise<Planned> {
  const { plan } = planned;
  const creates = plan.changes.filter(
    ({ action, missing_id: missing }) => action === 'create' && missing === null,
  );
  if (creates.length === 0 || session.state.lineage === NO_LINEAGE) return planned;
  const found = await findDeletions(creates, session);
  if (found.size === 0) return planned;
  const changes = plan.changes.map((change) => {
    const deleted = found.get(change.address);
    return deleted === undefined ? change : { ...change, deleted_by: deleted };
  });
  const notes = [...Map.groupBy(found, ([, { run }]) => run).values()].flatMap(describeDeletions);
  return { ...planned, plan: withDigest({ ...plan, changes, notes: [...plan.notes, ...notes] }) };
}

type Deleted = NonNullable<Change['deleted_by']>;

async function findDeletions(
  creates: readonly Change[],
  { store, stack }: Session,
): Promise<ReadonlyMap<Address, Deleted>> {
  const documents = new Map(stack.resources.map(({ address, document }) => [address, document]));
  const byAddress = new Map(creates.map((change) => [change.address, change]));
  const byKey = new Map(
    creates.flatMap((change) => {
      const key = findKey(change.kind, documents.get(change.address) ?? {});
      return key === undefined ? [] : [[key, change] as const];
    }),
  );
  const found = new Map<Address, Deleted>();
  const open = new Set(byAddress.keys());
  const ids = (await store.runIds()).toSorted().reverse().slice(0, MOST_READ);
  for await (const { entries = [] } of readInOrder(ids, undefined, store.run)) {
    for (const receipt of listReceipts(entries)) {
      const change = byAddress.get(receipt.line.address) ?? byKey.get(keyIn(receipt) ?? '');
      if (change === undefined || !open.delete(change.address)) continue;
      const deleted = describeReceipt(receipt, change);
      if (deleted !== undefined) found.set(change.address, deleted);
    }
    if (open.size === 0) break;
  }
  return found;
}

function findKey(kind: string, document: ValueObject): string | undefined {
  const key = getNaturalKey(kindNamed(kind), document);
  return key && `${kind} ${key}`;
}

function keyIn({ line, snapshot }: Receipt): string | undefined {
  const isGone = line.action === 'delete' && snapshot?.document;
  return isGone ? findKey(snapshot.kind, isGone) : undefined;
}

/** The newest run that did something with a resource, where it deleted it. */
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
