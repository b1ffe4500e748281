import type { Part } from '../../restore/parts.ts';
import type { Context } from '../context.ts';
import type { Session } from '../session.ts';
import type { Opened } from './open.ts';
import { type Overview, overviewOf, together, withoutValues } from './overview.ts';
import { planRound, type Restoration, type Round } from './round.ts';
import { findObstacles } from './target.ts';

export type LookFlags = Restoration['flags'] & {
  readonly mapTexts?: boolean;
  readonly format: 'text' | 'json';
};

/** Plans one part, and says why nothing can be put into some places. */
export async function look(
  part: Part,
  opened: Opened,
  session: Session,
  flags: LookFlags,
  context: Context,
): Promise<{ readonly round: Round; readonly obstacles: ReadonlyMap<string, string> }> {
  const { holding, choice, addresses, parts, supplies, isSameAccount, organizations } = opened;
  const obstacles = await findObstacles(choice, session.reader);
  const { guards } = session.stack;
  // How much of the whole is touched is no question about a part of it.
  const { freeze } = guards;
  const ofPart = freeze === undefined ? {} : { freeze };
  const restoration: Restoration = {
    holding,
    addresses,
    organizations,
    flags,
    guards: parts.length === 1 ? guards : ofPart,
    site: {
      places: choice.places,
      isSameAccount,
      obstacleAt: (place) => obstacles.get(place),
      secretAt: supplies.secretAt,
      fileFor: supplies.fileFor,
      rewritesTexts: flags.mapTexts === true,
    },
  };
  return { round: await planRound(part, restoration, session, context), obstacles };
}

/** Everything that is to be done, before anything is. Of several parts only what is shown is kept. */
export async function survey(
  opened: Opened,
  session: Session,
  flags: LookFlags,
  context: Context,
): Promise<{
  readonly overview: Overview;
  readonly obstacles: ReadonlyMap<string, string>;
  readonly only: Round | undefined;
}> {
  const [first, ...others] = opened.parts;
  if (first === undefined) throw new Error('a restoration has no part');
  const seen = await look(first, opened, session, flags, context);
  const { obstacles } = seen;
  if (others.length === 0)
    return { overview: overviewOf(seen.round, first.own), obstacles, only: seen.round };
  const isShownWhole = flags.format === 'text' && context.terminal.render.verbose === true;
  const kept = (overview: Overview) => (isShownWhole ? overview : withoutValues(overview));
  const overviews: [Overview, ...Overview[]] = [kept(overviewOf(seen.round, first.own))];
  for (const part of others) {
    const { round } = await look(part, opened, session, flags, context);
    overviews.push(kept(overviewOf(round, part.own)));
  }
  return { overview: together(overviews, session.stack.guards), obstacles, only: undefined };
}
