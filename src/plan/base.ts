import type { SourcePosition } from '../core/diagnostics.ts';
import type { Change } from '../core/plan-document.ts';
import type { Identity } from './identify.ts';

/** What a change says of its resource, whatever is done to it. */
export function base(identity: Identity) {
  const { address, kind, desired, recorded, scope, by, missing, movedFrom } = identity;
  const name = desired?.document.name;
  return {
    address,
    kind: kind.name,
    name: typeof name === 'string' ? name : (recorded?.name ?? address),
    organization_id: scope.organization_id ?? null,
    id: null,
    adopted: by === 'natural_key' || by === 'adopt',
    missing_id: missing ?? null,
    ...(movedFrom === undefined ? {} : { moved_from: movedFrom }),
    source: desired?.position ? formatPosition(desired.position) : null,
  };
}

/** What need be known of a resource that stays as it is: the documents of a large fleet would fill the memory. */
export function unchanged(identity: Identity, id: string | null): Change {
  return {
    ...base(identity),
    id,
    action: 'no_op',
    verdict: 'ok',
    reason: 'nothing to change',
    before: null,
    after: null,
    fields: [],
    pin: null,
    operations: [],
  };
}

function formatPosition({ file, line }: SourcePosition): string {
  return `${file}:${line}`;
}
