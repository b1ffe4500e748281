import { CallsheetError } from '../core/errors.ts';
import type { Scope } from '../kinds/kind.ts';
import { itemsNamed } from '../plan/items.ts';
import { naturalKeyOf, scopeOf } from '../plan/natural-key.ts';
import { pinOf } from '../plan/pin.ts';
import type { LiveResource } from '../plan/reader.ts';
import { readLive, type Work } from './work.ts';

/** Somebody changed a resource between plan and apply. */
export class StaleError extends CallsheetError {
  constructor(message: string) {
    super('stale', message, { hint: 'Plan again, review, and apply the new plan.' });
  }
}

/** The live resource, if it is still what the plan saw. Throws `StaleError` otherwise (DESIGN §5). */
export async function checkPin(
  work: Omit<Work, 'io' | 'options' | 'isTaken' | 'claim' | 'organizations' | 'refused'>,
): Promise<LiveResource | undefined> {
  const { change, kind, desired, deps } = work;
  if (change.id === null) {
    if (desired !== undefined) await checkAbsence(work);
    return undefined;
  }
  if (change.action === 'forget' || change.pin === null) return undefined;
  const scope = scopeIn(work);
  const live = await readLive(work, { id: change.id, scope });
  if (live === undefined) {
    if (change.action === 'delete') return undefined;
    throw new StaleError(`${change.address} (${change.id}) was deleted since the plan`);
  }
  const now = pinOf(kind, live, null);
  const isSame = now.digest === change.pin.digest && now.updated_at === change.pin.updated_at;
  if (isSame) return live;
  const [newest] = await deps.reader.history(kind, live.id, 1);
  const who = newest?.actor
    ? ` by ${newest.actor}${newest.source ? ` via ${newest.source}` : ''}`
    : '';
  const when = now.updated_at === null ? '' : ` at ${now.updated_at}`;
  throw new StaleError(`${change.address} (${change.id}) was changed since the plan${who}${when}`);
}

/** Nobody made a resource of that name since the plan. */
async function checkAbsence({
  change,
  kind,
  desired,
  deps,
}: Omit<
  Work,
  'io' | 'options' | 'isTaken' | 'claim' | 'organizations' | 'refused'
>): Promise<void> {
  if (desired === undefined) return;
  const scope = scopeOf(kind, desired.document);
  const key = naturalKeyOf(kind, desired.document);
  const listed = await deps.reader.list(kind, scope);
  const [twin] = listed && key !== undefined ? itemsNamed(listed, kind, scope, key) : [];
  if (twin !== undefined) {
    throw new StaleError(`${change.address}: one of its name (${twin.id}) was made since the plan`);
  }
}

export function scopeIn({
  change,
  kind,
  desired,
  recorded,
}: Omit<Work, 'io' | 'options' | 'isTaken' | 'claim' | 'organizations' | 'refused'>): Scope {
  if (recorded !== undefined && recorded.id === change.id) return recorded.scope;
  return desired ? scopeOf(kind, desired.document) : {};
}
