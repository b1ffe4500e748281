import { isWritten } from '../diff/finding.ts';
import { leavesOf } from '../diff/leaves.ts';
import { naturalKeyOf, scopeOf } from '../plan/natural-key.ts';
import type { LiveResource } from '../plan/reader.ts';
import { rememberResource } from '../plan/remember.ts';
import type { Intended } from '../state/journal.ts';
import type { Work } from './work.ts';

/** Steps that send all that a resource has, secrets and files among it. */
const WHOLE: ReadonlySet<string> = new Set(['create', 'again']);

/** What the state is to say of a resource once a change took, `live` being what it was before; null: nothing. */
export function intendedBy(work: Work, live: LiveResource | undefined): Intended | null {
  const { change, kind, desired, recorded, world, deps } = work;
  const restored = deps.restored?.get(change.address);
  if (desired === undefined || restored === null) return null;
  const key = naturalKeyOf(kind, desired.document) ?? null;
  const scope = scopeOf(kind, desired.document);
  if (restored !== undefined) {
    const { name, leaves, protect } = restored;
    return { key, scope, name, leaves, protect, unreadable: [] };
  }
  const isWhole = change.operations.some(({ step }) => WHOLE.has(step));
  const sent = new Set(change.fields.filter(isWritten).map(({ path }) => path));
  const written = [...leavesOf(kind.schema, desired.document).leaves.values()].filter(
    ({ text }) => isWhole || sent.has(text),
  );
  const unreadable = written.filter(({ facts }) => facts.unreadable).map(({ text }) => text);
  const known = recorded?.id === change.id ? recorded : undefined;
  const at = { id: '', scope, pin: null, ...(live ? { document: live.document } : {}) };
  const { name, leaves, protect } = rememberResource(
    kind,
    desired,
    at,
    known,
    new Set(written.map(({ text }) => text)),
    world,
  );
  return { key, scope, name, leaves, protect, unreadable };
}
