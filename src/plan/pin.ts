import { digestOfMembers } from '../core/digest.ts';
import type { Pin } from '../core/plan-document.ts';
import { liveForm } from '../diff/leaves.ts';
import type { Kind } from '../kinds/kind.ts';
import type { LiveResource } from './reader.ts';

/** The pin of a live resource. `history_id` is filled in where a plan would change it. */
export function pinOf(kind: Kind, live: LiveResource, history: number | null): Pin {
  const updated = live.record.updated_at;
  return {
    digest: digestOfMembers(liveForm(kind.schema, live.document)),
    updated_at: typeof updated === 'string' ? updated : null,
    history_id: history,
  };
}

/** The pin to remember of a resource; what could not be read has none, or the one that it had. */
export function livePin(
  kind: Kind,
  live: LiveResource,
  known: Pin | null,
  history = known?.history_id ?? null,
): Pin | null {
  return live.extent === 'nothing' ? known : pinOf(kind, live, history);
}
