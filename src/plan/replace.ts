import type { Action, PlannedOperation, Verdict } from '../core/plan-document.ts';
import type { ValueObject } from '../core/value.ts';
import { facetsSetUpElsewhere, type Kind } from '../kinds/kind.ts';
import { naturalKeyOf } from './natural-key.ts';
import type { LiveResource } from './reader.ts';
import { createSteps } from './steps.ts';

/** What is done about a resource that is there. */
export type Shape = {
  readonly action: Action;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly operations: readonly PlannedOperation[];
};

/** Another value of an immutable field means another resource. */
export function planReplace(
  kind: Kind,
  document: ValueObject,
  live: LiveResource,
  fields: readonly string[],
): Shape {
  const what = `${fields.join(', ')} cannot be changed once it exists`;
  const [absent] = facetsSetUpElsewhere(kind, document);
  if (absent) {
    const reason = `${what}, and for a new one ${absent.field} cannot be set: ${absent.absent}`;
    return { action: 'replace', verdict: 'refused', reason, operations: [] };
  }
  const isSameKey = naturalKeyOf(kind, document) === naturalKeyOf(kind, live.document);
  const create = createSteps(kind, Object.keys(document));
  if (kind.delete === undefined) {
    return isSameKey
      ? {
          action: 'replace',
          verdict: 'unsupported',
          reason: `${what}, and the platform cannot delete the old one; give it a new name`,
          operations: [],
        }
      : {
          action: 'replace',
          verdict: 'ok',
          reason: `${what}; a new one is made, and the old one (${live.id}) stays, as the platform cannot delete it`,
          operations: create,
        };
  }
  const remove: PlannedOperation = { step: 'delete', fields: [] };
  return {
    action: 'replace',
    verdict: 'ok',
    reason: `${what}; it is made anew under another id${goingWith(kind, live)}`,
    // A name that stays the same must be free first; otherwise the new one exists before the old one goes.
    operations: isSameKey ? [remove, ...create] : [...create, remove],
  };
}

/** What else goes with a resource that is deleted and that nobody can make again from here; empty: nothing. */
export function goingWith(kind: Kind, { document }: LiveResource): string {
  const gone = facetsSetUpElsewhere(kind, document).map(({ field, goes = field }) => goes);
  return gone.length === 0 ? '' : `; with it goes ${gone.join(' and ')}`;
}
