import type { CommonFlags, Context } from '../../../console/context.ts';
import { kindNamed } from '../../../kinds/index.ts';
import { readOrganizations } from '../../../live/entitlements.ts';
import { nameOrganizations } from '../../../live/organizations.ts';
import { withPlatform } from '../../../run/platform-session.ts';

/** The part of the platform that the environment's credentials reach. */
export type Account = {
  /** In the order of their names, with the name that a stack gives them. */
  readonly organizations: readonly {
    readonly id: string;
    readonly name: string;
    readonly title: string;
    readonly agents: number;
  }[];
  readonly agents: number;
  /** True if there are more agents than were counted. */
  readonly isMore: boolean;
};

/** Agents are counted up to this number: the exact size of a larger account is not needed. */
const MOST_COUNTED = 1_000;

/** Reads which organizations there are, and how many agents they have. */
export async function readAccount(flags: CommonFlags, context: Context): Promise<Account> {
  return withPlatform({ ...flags, dir: '.' }, context, async ({ client }) => {
    const counts = new Map<string, number>();
    let agents = 0;
    for await (const { organization_id: id } of client.each(kindNamed('agent').list({}))) {
      if (agents === MOST_COUNTED) return found(true);
      agents += 1;
      if (typeof id === 'string') counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return found(false);

    async function found(isMore: boolean): Promise<Account> {
      const listed = await readOrganizations(client, context.now());
      const known = listed.type === 'answered' ? listed.value : [];
      const titles = new Map(known.flatMap(({ id, name }) => (name === null ? [] : [[id, name]])));
      const ids = [...known.map(({ id }) => id), ...counts.keys()];
      const organizations = nameOrganizations(ids, titles).map(({ id, name }) => ({
        id,
        name,
        title: titles.get(id) ?? id,
        agents: counts.get(id) ?? 0,
      }));
      return { organizations, agents, isMore };
    }
  });
}
