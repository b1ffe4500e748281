import type { Change, PlanDocument } from '../core/plan-document.ts';
import { kindTitle } from './wording.ts';

/** The changes of one kind in one organization. */
export type Group = {
  /** `harbor · agents`, not sanitised; kinds that belong to the account stand alone. */
  readonly title: string;
  readonly changes: readonly Change[];
};

/**
 * What a plan shows, by organization and then kind: the account's own kinds first, organizations by
 * name, kinds and changes in the plan's order.
 */
export function groupChanges(
  changes: readonly Change[],
  organizations: PlanDocument['organizations'],
): readonly Group[] {
  const kinds = [...new Set(changes.map(({ kind }) => kind))];
  const owners = Map.groupBy(changes, ({ organization_id: id }) =>
    id === null ? '' : (organizations[id] ?? id),
  );
  return [...owners]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([owner, owned]) => {
      const byKind = Map.groupBy(owned, ({ kind }) => kind);
      return kinds.map((kind) => ({
        title: [owner, kindTitle(kind)].filter((part) => part !== '').join(' · '),
        changes: byKind.get(kind) ?? [],
      }));
    })
    .filter((group) => group.changes.length > 0);
}
