import { generateAccount } from './account/generate-account.ts';
import { DAY, DAYS_OF_CALLS } from './calls/calendar.ts';
import { generateCalls } from './calls/generate-calls.ts';
import { generateFleet } from './fleet.ts';
import { plantSeed } from './plant.ts';
import type { Platform } from './platform.ts';
import type { SeedDocument } from './seed.ts';

/** What a simulator makes up beside its seed. */
export type GeneratedOptions = {
  /** Generates that many agents, over the seed's organizations or over five of its own. */
  readonly agents?: number | undefined;
  /** Generates that many calls of the last 90 days, over all agents. */
  readonly calls?: number | undefined;
  /** Generates a whole account with that many resellers; there are none unless given. */
  readonly resellers?: number | undefined;
  /** Generates a whole account with that many organizations; four for each reseller unless given. */
  readonly organizations?: number | undefined;
};

/** Plants what was asked for: a whole account where resellers or organizations are, otherwise agents alone. */
export function plantGenerated(
  platform: Platform,
  seed: SeedDocument,
  { agents, calls = 0, resellers, organizations }: GeneratedOptions,
): void {
  const now = platform.now().getTime();
  if (resellers !== undefined || organizations !== undefined) {
    const size = {
      resellers: resellers ?? 0,
      organizations: organizations ?? 4 * (resellers ?? 0),
      agents: agents ?? 0,
    };
    plantSeed(platform, generateAccount(size, platform.store.account.id, now));
  } else if (agents !== undefined || seed.organizations === undefined) {
    // Agents are older than their calls.
    const made = new Date(now - (DAYS_OF_CALLS + 30) * DAY).toISOString();
    const fleet = generateFleet(agents ?? 0, seed.organizations, calls > 0 ? made : undefined);
    plantSeed(platform, fleet);
  }
  generateCalls(platform, calls);
}
