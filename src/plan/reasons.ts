import { ownOf } from '../core/own.ts';
import { formatPath, identitySegment } from '../core/path.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { maskAt } from '../core/redact.ts';
import type { FieldSchema } from '../core/schema.ts';
import { isObject } from '../core/value.ts';
import { schemasAlong, type Twins } from '../diff/along.ts';
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
  return reason.replace(OUTSIDE, own).replace(BOTH, `the configuration changed; ${own}`);
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

/** Why nothing is written about elements of a list that share the identity that they are recognised by. */
export function twinsReason(root: FieldSchema, { list, key, name, elements }: Twins): string {
  const items = schemasAlong(root, [...list, identitySegment(name)]).at(-1) ?? {};
  const address = items['x-destination'];
  const which = elements.map((element, index) => {
    const at = [...list, identitySegment(name, index + 1)];
    const id = isObject(element) ? ownOf(element, 'id') : undefined;
    const url = isObject(element) && address !== undefined ? ownOf(element, address) : undefined;
    const where = typeof url === 'string' ? String(maskAt(root, [...at, address ?? ''], url)) : '';
    return [formatPath(at), ...(typeof id === 'string' ? [`id ${id}`] : []), where]
      .filter((part) => part !== '')
      .join(' ');
  });
  return `the platform has ${elements.length} entries of ${formatPath(list)} whose ${key} is ${JSON.stringify(name)} (${which.join('; ')}), and which one is meant cannot be told: rename or delete one of them in the dashboard and plan again, or leave the list alone with lifecycle.ignore: [${formatPath(list)}]`;
}

/** How a resource was found that the state does not know. */
export function foundBy(by: Identity['by']): string {
  return by === 'adopt' ? 'found by lifecycle.adopt' : 'found by its name';
}
