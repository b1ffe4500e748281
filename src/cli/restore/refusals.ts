import { CallsheetError } from '../../core/errors.ts';
import type { Change } from '../../core/plan-document.ts';
import { kindNamed } from '../../kinds/index.ts';
import type { Collision, NeededSecret } from '../../render/restoration.ts';
import { formatCount } from '../../render/wording.ts';
import type { Need } from '../../restore/secrets.ts';
import type { Round } from './round.ts';

/** Lines of a list in a message: the whole of it is in the JSON of a dry run. */
const MOST_LISTED = 10;

/**
 * What stands where something of the snapshot is to go, made by nobody that this restoration knows, or made by it
 * and edited since by somebody else.
 */
export function collisionsIn({ planned, foreign }: Round): readonly Collision[] {
  const changes = new Map(planned.plan.changes.map((change) => [change.address, change]));
  const edited = planned.plan.changes.flatMap((change): readonly Collision[] => {
    const { address, kind, id } = change;
    if (foreign.has(address) || id === null || !isEdited(change)) return [];
    return [{ address, kind, id, name: nameIn(change), is_equal: false }];
  });
  const met = [...foreign].flatMap(([address, { kind, id }]): readonly Collision[] => {
    const change = changes.get(address);
    const isEqual = change === undefined || change.action === 'adopt' || change.action === 'no_op';
    // What belongs to the account as a whole and is as it was is in nobody's way.
    if (isEqual && kindNamed(kind).scope.length === 0) return [];
    return [{ address, kind, id, name: nameIn(change), is_equal: isEqual }];
  });
  return [...met, ...edited];
}

/** Whether a value is live that is neither the snapshot's nor what the restoration wrote. */
function isEdited({ fields }: Change): boolean {
  return fields.some(({ cause }) => cause === 'drifted' || cause === 'conflict');
}

function nameIn(change: Change | undefined): string | null {
  return change === undefined || change.name === '' ? null : change.name;
}

/** Whether a plan asks anything of the platform. */
export function isWriting({ plan }: Pick<Round['planned'], 'plan'>): boolean {
  return plan.changes.some(({ verdict, operations }) => verdict === 'ok' && operations.length > 0);
}

/** Whether it does, or has something to remember that was there already. */
export function isRecording({ plan }: Pick<Round['planned'], 'plan'>): boolean {
  return plan.changes.some(({ verdict, action }) => verdict === 'ok' && action !== 'no_op');
}

export function targetNotEmpty(
  collisions: readonly Collision[],
  strangers: number,
): CallsheetError {
  const differing = collisions.filter((one) => !one.is_equal);
  const lines = [...differing, ...collisions.filter((one) => one.is_equal)]
    .slice(0, MOST_LISTED)
    .map(
      ({ address, id, is_equal: equal }) => `  ${address}  ${id}  ${equal ? 'equal' : 'differs'}`,
    );
  const more = collisions.length - lines.length;
  if (more > 0) lines.push(`  and ${more} more`);
  const parts = [
    ...(collisions.length > 0
      ? [
          `${formatCount(collisions.length, 'resource')} of the snapshot ${collisions.length === 1 ? 'is' : 'are'} there already (${differing.length} of them not as it was)`,
        ]
      : []),
    ...(strangers > 0 ? [`${formatCount(strangers, 'other resource')} beside them`] : []),
  ];
  return new CallsheetError(
    'refused',
    `the target is not empty: ${parts.join(', and ')}${lines.length > 0 ? `\n${lines.join('\n')}` : ''}`,
    {
      hint: 'Nothing was written. --dry-run --over shows what would be changed; --over makes those that are there what they were and leaves others alone.',
    },
  );
}

/** A table for people and for `--format json`: which secret, of what, and where it is looked for. */
export function neededSecrets(needs: readonly Need[]): readonly NeededSecret[] {
  return needs.map(({ address, paths, variables }) => ({
    address,
    any_of: paths.map((path, index) => ({ path, variable: variables[index] ?? '' })),
  }));
}

export function secretsMissing(needs: readonly Need[]): CallsheetError {
  const lines = needs
    .slice(0, MOST_LISTED)
    .flatMap(({ address, paths, variables }) => [
      `  ${address}  ${paths.join(' or ')}`,
      `    ${variables[0]}`,
    ]);
  const more = needs.length - Math.min(needs.length, MOST_LISTED);
  if (more > 0) lines.push(`  and ${more} more; --dry-run --format json lists them all`);
  return new CallsheetError(
    'usage',
    `${formatCount(needs.length, 'secret')} must be supplied, as no snapshot holds them:\n${lines.join('\n')}`,
    {
      hint: 'Nothing was written. Set those variables, or name a file with --secrets; --without-secrets restores all the rest.',
    },
  );
}
