import type { PlanDocument } from '../core/plan-document.ts';
import type { LeafChange } from '../diff/compare.ts';
import type { Identity } from './identify.ts';

const OUTSIDE = 'changed outside Callsheet';
const BOTH = 'the configuration and the platform both changed since the last apply';

/** Why a resource is updated, for people. */
export function updateReason(
  by: Identity['by'],
  written: readonly LeafChange[],
  purpose: PlanDocument['purpose'],
  isToSnapshot = false,
): string {
  const has = (cause: LeafChange['cause']) => written.some((leaf) => leaf.cause === cause);
  // A conflict says already that both sides moved.
  const parts = has('conflict')
    ? [
        isToSnapshot
          ? 'changed since the snapshot, and again outside Callsheet since the last run'
          : purpose === 'rollback'
            ? 'the run changed it, and it was changed again since'
            : BOTH,
      ]
    : [
        ...(has('drifted') ? [OUTSIDE] : []),
        ...(has('changed') || has('cleared') ? [changedReason(by, purpose, isToSnapshot)] : []),
      ];
  return [
    ...parts,
    ...(has('secret_changed') ? ['secret changed since our last write'] : []),
    ...(has('secret_resent') ? ['secrets are sent again, as asked'] : []),
  ].join('; ');
}

/** A reason that speaks of our own run in the place of whoever else might have changed the resource. */
export function asOwn(reason: string, own: string): string {
  return reason.replace(OUTSIDE, own).replace(BOTH, `the configuration changed, and ${own}`);
}

/** A reason with who changed the resource on the platform, beside the words that this is about. */
export function withAuthor(reason: string, who: string): string {
  return reason.startsWith(`${OUTSIDE};`)
    ? `${OUTSIDE} (${who})${reason.slice(OUTSIDE.length)}`
    : `${reason} (${who})`;
}

function changedReason(
  by: Identity['by'],
  purpose: PlanDocument['purpose'],
  isToSnapshot: boolean,
): string {
  if (isToSnapshot) return 'changed since the snapshot';
  if (purpose === 'rollback') return 'the run changed it';
  return by === 'state' ? 'the configuration changed' : `${foundBy(by)} and differs`;
}

/** How a resource was found that the state does not know. */
export function foundBy(by: Identity['by']): string {
  return by === 'adopt' ? 'found by lifecycle.adopt' : 'found by its name';
}
