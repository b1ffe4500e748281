import type { PlanDocument } from '../../core/plan-document.ts';
import { kindNamed } from '../../kinds/index.ts';
import { formatCount, kindTitle } from '../../render/wording.ts';
import type { Exception } from '../../restore/exceptions.ts';
import type { Rebuilt } from '../../restore/rebuild.ts';
import type { Opened } from './open.ts';

/** What of these resources is not as it was, as far as the snapshot and the target tell. */
export function restorationExceptions(
  { exceptions }: Pick<Rebuilt, 'exceptions'>,
  { holding }: Opened,
): readonly Exception[] {
  return [...exceptions, ...holding.gaps];
}

/** Secrets of what was there already: the platform returns none, so nothing can be said of them. */
export function unknownSecrets({ changes }: PlanDocument): readonly Exception[] {
  return changes.flatMap(({ address, fields }) => {
    const paths = fields.filter(({ cause }) => cause === 'unknown_secret').map(({ path }) => path);
    if (paths.length === 0) return [];
    const message = `${paths.join(', ')}: there already, and no secret can be compared; left as it is`;
    return [{ what: 'secret' as const, address, message }];
  });
}

/** What no restoration brings back, whatever the snapshot holds. */
export function endingsOf({ choice, addresses }: Opened): readonly Exception[] {
  const kinds = new Set([...addresses.keys()].map(({ kind }) => kind));
  const withHistory = [...kinds].filter((kind) => kindNamed(kind).history !== undefined);
  const never = (message: string): Exception => ({ what: 'never', address: null, message });
  return [
    ...withHistory.map((kind) =>
      never(`history, call logs and metrics of ${kindTitle(kind)} begin anew where they were made`),
    ),
    never(
      'ids, versions, timestamps and what the platform finds out by itself (tests of MCP connections, business listings) are new where it was made',
    ),
    ...(choice.others === 0
      ? []
      : [
          never(
            `${formatCount(choice.others, 'resource')} of the snapshot ${choice.others === 1 ? 'was' : 'were'} not asked for`,
          ),
        ]),
  ];
}
