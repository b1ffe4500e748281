import type { Change } from '../../../core/plan-document.ts';
import type { Entry, Plan } from './plan.ts';

/** One edit of a resource that drifted. */
export type Edit = {
  readonly entry: Entry;
  readonly id: number;
  /** ISO 8601; null where the history does not say. */
  readonly at: string | null;
  readonly actor: string;
  readonly source: string | null;
  readonly action: string | null;
  readonly revertedFrom: number | null;
  /** Fields that it is known to have changed, and those that it may have. */
  readonly changed: readonly string[];
  readonly maybe: readonly string[];
};

/** Who changed what and when, the newest first. */
export function editsOf(plan: Plan): readonly Edit[] {
  if (plan.head.purpose !== 'drift') return [];
  return plan.entries
    .flatMap((entry) => editsOfChange(entry, plan.changeOf(entry)))
    .sort((a, b) => ((a.at ?? '') > (b.at ?? '') ? -1 : 1));
}

function editsOfChange(entry: Entry, { edits = [], fields }: Change): readonly Edit[] {
  return edits.map((edit) => {
    const own = fields.filter(({ attribution }) => attribution?.entries.includes(edit.id) === true);
    const isSure = ({ attribution }: Change['fields'][number]) =>
      attribution?.certainty === 'entry';
    return {
      entry,
      id: edit.id,
      at: edit.at,
      actor: edit.actor ?? 'someone',
      source: edit.source,
      action: edit.action,
      revertedFrom: edit.reverted_from_id,
      changed: own.filter(isSure).map(({ path }) => path),
      maybe: own.filter((field) => !isSure(field)).map(({ path }) => path),
    };
  });
}

/** The day of an edit, as its platform wrote it. */
export function dayOf({ at }: Pick<Edit, 'at'>): string {
  return at === null ? 'At an unknown time' : at.slice(0, 10);
}

/** `10:12:03` */
export function timeOf(at: string): string {
  return at.slice(11, 19);
}
