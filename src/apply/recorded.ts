import type { DesiredResource } from '../core/desired.ts';
import type { Change } from '../core/plan-document.ts';
import type { World } from '../diff/world.ts';
import { kindNamed } from '../kinds/index.ts';
import { rebind } from '../plan/rebind.ts';
import type { ResourceState, State } from '../state/model.ts';

/** What the state remembers of the resource of a change, under this address or the one that it had before. */
export function recordedOf(
  { address, kind, moved_from: former }: Change,
  desired: DesiredResource | undefined,
  { resources }: State,
  world: World,
): ResourceState | undefined {
  const known = resources[address];
  const before = former === undefined ? undefined : resources[former];
  if (known !== undefined || before === undefined || former === undefined) return known;
  return desired === undefined ? before : rebind(kindNamed(kind), desired, before, former, world);
}
