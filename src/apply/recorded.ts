import type { Change } from '../core/plan-document.ts';
import type { ResourceState, State } from '../state/model.ts';

/** What the state remembers of the resource of a change, under this address or the one that it had before. */
export function recordedOf(
  { address, moved_from: former }: Change,
  { resources }: State,
): ResourceState | undefined {
  return resources[address] ?? (former === undefined ? undefined : resources[former]);
}
