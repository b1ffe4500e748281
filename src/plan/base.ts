import type { SourcePosition } from '../core/diagnostics.ts';
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

function formatPosition({ file, line }: SourcePosition): string {
  return `${file}:${line}`;
}
