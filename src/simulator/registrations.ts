import { isRecord } from './json.ts';
import type { Platform } from './platform.ts';

/**
 * Whether the registrar has an agent registered by now: the flag is stored at once and picked up later
 * (SIP registration). An agent whose flag nobody flipped is what its flag says.
 */
export function isRegistered({ store, now }: Platform, agentId: string): boolean {
  const changes = store.sipChanges.filter((change) => change.agentId === agentId);
  const time = now().getTime();
  const done = changes.findLast(({ pickedUpAt }) => Date.parse(pickedUpAt) <= time);
  const [first] = changes;
  if (done !== undefined) return done.enabled;
  if (first !== undefined) return first.before;
  const stored = store.agents.get(agentId)?.record.sip_registration_data;
  return isRecord(stored) && stored.registrationEnabled === true;
}
